"""Training from a program: the jobs of `allstreets train`, without a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

from allstreets.base import InputError
from allstreets.storage import Solution
from allstreets.training.config import check_config
from allstreets.training.jobs import plan, run
from allstreets.training.loop import Observer
from allstreets.training.train_config import FIRST_RUN, TrainConfig, read_train_config
from allstreets.training.watch import Watch


def train(
    config: str | Path | Mapping[str, Any] | TrainConfig | None = None,
    output: str | Path | None = None,
    *,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> Solution:
    """Run the job of a training file, or of a mapping with its keys, and return the solution.

    Without `config` it is the first example. `output` is the folder for the solution, its
    checkpoints and metrics; without one, nothing is stored. Observers are called with a
    `Progress` a few times per second (not by the job postflop_model).
    """
    given, watch = _config(config), Watch(progress=tuple(observers))
    if output is not None:
        return run(plan(given, Path(output), resume=resume), watch)
    if given.job == "unified_cfr":
        return run(plan(given, None, resume=resume), watch)
    if resume:
        raise InputError("resume needs output, the folder to go on from")
    # Jobs hand their solutions on through files, and flops are read when they are needed: the
    # folder is gone when the solution is.
    temporary = TemporaryDirectory()
    try:
        result = run(plan(given, Path(temporary.name) / "run"), watch)
    except BaseException:
        temporary.cleanup()
        raise
    finalize(result, temporary.cleanup)
    return result


def _config(config: str | Path | Mapping[str, Any] | TrainConfig | None) -> TrainConfig:
    if isinstance(config, TrainConfig):
        return config
    if isinstance(config, Mapping):
        return check_config(dict(config), TrainConfig, "config")
    return read_train_config(Path(config) if config is not None else FIRST_RUN)
