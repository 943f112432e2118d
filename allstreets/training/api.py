"""Training and certifying from a program: the jobs of the commands, without a terminal."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import finalize

from allstreets.analysis import LockRequest, with_locks
from allstreets.base import InputError, Place, place_of
from allstreets.solutions import Certificate, SpotSolution, WholeSolution
from allstreets.storage import folder_kind, load
from allstreets.training.certify_run import CertifyObserver, plan_certify
from allstreets.training.config import check_config
from allstreets.training.jobs import plan, run
from allstreets.training.locking import lock_game, lock_spot_config
from allstreets.training.loop import Observer
from allstreets.training.spot_run import solve_job
from allstreets.training.train_config import FIRST_RUN, TrainConfig, read_train_config
from allstreets.training.watch import Watch


def train(
    config: str | Path | Mapping[str, Any] | TrainConfig | None = None,
    output: str | Place | None = None,
    *,
    resume: bool = False,
    observers: Sequence[Observer] = (),
) -> WholeSolution:
    """Run the job of a training file, or of a mapping with its keys, and return the solution.

    Without `config` it is the first example. `output` is the folder for the solution, its
    checkpoints and metrics (on a cluster also a URL); without one, nothing is stored. Observers are
    called with a `Progress` a few times per second (not by the job postflop_model).
    """
    given, watch = _config(config), Watch(progress=tuple(observers))
    if output is not None:
        return run(plan(given, place_of(output), resume=resume), watch)
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


def lock(
    folder: str | Path,
    request: LockRequest,
    output: str | Path | None = None,
    *,
    observers: Sequence[Observer] = (),
) -> SpotSolution | WholeSolution:
    """Solve the spot or the whole game in a folder again, with what is requested locked.

    It is solved as the other one was, to its exploitability. `solvers.difference` of the two says
    what changes. `output` is the folder for the new solution.
    """
    folder, place = Path(folder), None if output is None else Path(output)
    made_from = {"folder": str(folder.absolute()), "line": request.lines[0]}
    kind = folder_kind(folder)
    if kind == "unified":
        game = load(folder, WholeSolution)
        locks = request.of_game(game, str(folder.absolute()))
        return run([lock_game(folder, game, locks, place)], Watch(progress=tuple(observers)))
    if kind != "spot":
        raise InputError(f"{folder}: spots and whole games can be locked, and this is none")
    result = load(folder, SpotSolution)
    spot = with_locks(result.spot, request.of_spot(result))
    config = lock_spot_config(folder, result)
    outcome = solve_job(config, spot, output=place, observers=observers, made_from=made_from)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return outcome.result


def certify(
    folder: str | Path,
    flops: str | int | None = None,
    *,
    seed: int = 1,
    threads: int | None = None,
    cluster: str | None = None,
    observers: Sequence[CertifyObserver] = (),
) -> Certificate:
    """How exploitable the whole game in a folder is with real cards; the answer is kept there.

    `flops` is "all", "own" for those that it was trained on, or how many are drawn, of those that
    it was trained on and of the others. What was judged before is not judged again.
    `cluster` (auto, local or HOST:PORT) judges them on the machines of a Ray cluster.
    """
    job = plan_certify(Path(folder), flops, seed=seed, threads=threads, cluster=cluster)
    outcome = job.run(observers)
    if outcome.certificate is None:
        raise KeyboardInterrupt
    return outcome.certificate


def _config(config: str | Path | Mapping[str, Any] | TrainConfig | None) -> TrainConfig:
    if isinstance(config, TrainConfig):
        return config
    if isinstance(config, Mapping):
        return check_config(dict(config), TrainConfig, "config")
    return read_train_config(Path(config) if config is not None else FIRST_RUN)
