"""Training from a program: the jobs of `allstreets train`, without a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from weakref import finalize

from allstreets.base import InputError
from allstreets.training.config import check_config
from allstreets.training.loop import Observer
from allstreets.training.train_config import FIRST_RUN, TrainConfig, read_train_config

if TYPE_CHECKING:
    from allstreets.solvers.flops.result import PostflopResult
    from allstreets.solvers.unified.result import PreflopResult, UnifiedResult


def train(
    config: str | Path | Mapping[str, Any] | TrainConfig | None = None,
    output: str | Path | None = None,
    *,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> "UnifiedResult | PreflopResult | PostflopResult":
    """Run the job of a training file, or of a mapping with its keys, and return the solution.

    Without `config` it is the first example. `output` is the folder in which the solution, its
    checkpoints and metrics are kept; without one, nothing is. Observers are called with a
    `Progress` a few times a second (not by the job postflop_model).
    """
    given = _config(config)
    folder = Path(output) if output is not None else None
    if given.job == "unified_cfr":
        return _unified(given, folder, resume, observers)
    if folder is None:
        return _in_passing(given, resume, observers)
    return _in_parts(given, folder, resume, observers)


def _config(config: str | Path | Mapping[str, Any] | TrainConfig | None) -> TrainConfig:
    if isinstance(config, TrainConfig):
        return config
    if isinstance(config, Mapping):
        return check_config(dict(config), TrainConfig, "config")
    return read_train_config(Path(config) if config is not None else FIRST_RUN)


def _unified(
    config: TrainConfig, folder: Path | None, resume: bool, observers: Sequence[Observer]
) -> "UnifiedResult":
    from allstreets.solvers.unified.result import UnifiedResult
    from allstreets.training.solver_config import UnifiedConfig
    from allstreets.training.unified_run import plan_unified, run_unified

    assert isinstance(config.solver, UnifiedConfig)
    job = plan_unified(config.solver, config.name, config.description)
    outcome = run_unified(job, output=folder, resume=resume, observers=observers)
    return UnifiedResult.of(
        outcome.solver,
        outcome.kept,
        seconds=outcome.training.progress.seconds,
        metrics=tuple(check.to_row() for check in outcome.training.history),
        name=config.name,
    )


def _in_passing(
    config: TrainConfig, resume: bool, observers: Sequence[Observer]
) -> "PreflopResult | PostflopResult":
    """`_in_parts` in a folder that is gone when its result is.

    The parts of these jobs hand their results on through files, and flops are read when asked for.
    """
    if resume:
        raise InputError("resume needs output, the folder to go on from")
    temporary = TemporaryDirectory()
    try:
        result = _in_parts(config, Path(temporary.name) / "run", False, observers)
    except BaseException:
        temporary.cleanup()
        raise
    finalize(result, temporary.cleanup)
    return result


def _in_parts(
    config: TrainConfig, folder: Path, resume: bool, observers: Sequence[Observer]
) -> "PreflopResult | PostflopResult":
    from allstreets.storage.flop_bundle import load_postflop
    from allstreets.training.postflop_run import PostflopJob
    from allstreets.training.preflop_run import (
        MODELS,
        plan_preflop,
        require_preflop,
        run_preflop,
    )

    if config.solver is None:
        assert config.postflop_model is not None
        PostflopJob(config.postflop_model, folder, resume=resume, name=config.name).run()
        return load_postflop(folder)
    job = plan_preflop(config, folder)
    require_preflop(job, folder, resume)
    if config.postflop_model is not None:
        models = folder / MODELS
        again = resume and models.exists()
        flops = PostflopJob(config.postflop_model, models, resume=again).run()
        if flops.interrupted:
            raise KeyboardInterrupt
        if flops.missing:
            fault = f": {flops.faults[0].message}" if flops.faults else ""
            raise InputError(f"{len(flops.missing):,} flops could not be solved{fault}")
    return run_preflop(job, output=folder, resume=resume, observers=observers).result
