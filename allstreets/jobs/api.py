"""Jobs from a program: what a training file asks for, locks and certificates, without a terminal.

| the file has                              | jobs                                              |
|-------------------------------------------|---------------------------------------------------|
| `solver: {type: unified_cfr}`             | the whole game                                    |
| `postflop_model`                          | flops one by one                                  |
| `solver: {type: preflop_cfr}` and models  | the betting before the flop                       |
| `solver: {type: preflop_cfr}` and         | flops one by one, in `models/`, then the betting  |
| `postflop_model`                          | before the flop on top of them                    |
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar
from weakref import finalize

from allstreets.analysis import LockRequest, with_locks
from allstreets.base import InputError, Place, Remote, place_of
from allstreets.jobs.certificate import CertifyObserver, plan_certify
from allstreets.jobs.config.flops import PostflopModelConfig
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.train import FIRST_RUN, TrainConfig, read_train_config
from allstreets.jobs.config.whole_game import PreflopConfig, UnifiedConfig
from allstreets.jobs.flops import FlopsJob, plan_flops
from allstreets.jobs.job import NOBODY, Watch
from allstreets.jobs.lock import lock_game, lock_spot_config
from allstreets.jobs.loop import Observer
from allstreets.jobs.preflop import PreflopJob
from allstreets.jobs.spot import solve_job
from allstreets.jobs.whole_game import UnifiedJob, plan_unified
from allstreets.solutions import Certificate, SpotSolution, WholeSolution
from allstreets.storage import folder_kind, load

MODELS = "models"

Job = UnifiedJob | PreflopJob | FlopsJob


class Outcome(Protocol):
    """The outcome of a job."""

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""

    @property
    def problem(self) -> str | None:
        """Why no other job can build on it, for people."""

    def result(self) -> WholeSolution:
        """The solution."""

    def to_json(self) -> dict[str, Any]:
        """The job in figures."""


def plan(
    config: TrainConfig,
    output: Place | None,
    *,
    resume: bool = False,
    threads: int | None = None,
    device: str | None = None,
    cluster: str | None = None,
) -> list[Job]:
    """The jobs of a training file; `threads`, `device` and `cluster` override its own.

    The last one has the solution.
    """
    labels: dict[str, Any] = {"name": config.name, "description": config.description}
    solver, models = config.solver, config.postflop_model
    for key, value in (("device", device), ("cluster", cluster)):
        if value is None:
            continue
        if key == "cluster" and models is None and not isinstance(solver, UnifiedConfig):
            raise InputError("--cluster: whole games and flops one by one run on a cluster")
        solver = changed(solver, key, value) if isinstance(solver, UnifiedConfig) else solver
        models = changed(models, key, value) if models is not None else None
    if isinstance(solver, UnifiedConfig):
        if threads is not None:
            solver = solver.model_copy(update={"threads": threads})
        return [plan_unified(solver, output, resume=resume, **labels)]
    if output is None:
        raise InputError("this job needs --output, the folder of its solution")
    if solver is None:
        assert models is not None
        return [plan_flops(models, output, resume=resume, threads=threads, **labels)]
    assert isinstance(solver, PreflopConfig)
    if isinstance(output, Remote):
        raise InputError(
            f"--output {output}: type preflop_cfr is solved on this machine.\nName a folder of it."
        )
    folder = Path(solver.models) if solver.models else output / MODELS
    preflop = PreflopJob(solver, folder, output, resume, **labels)
    preflop.require()
    jobs: list[Job] = [preflop]
    if models is not None:
        again = resume and folder.exists()
        jobs.insert(0, plan_flops(models, folder, resume=again, threads=threads, **labels))
    return jobs


Config = TypeVar("Config", UnifiedConfig, PostflopModelConfig)


def changed(config: Config, key: str, value: str) -> Config:
    """The same with another `device` or `cluster`, if it can be solved there."""
    given = config.model_dump(exclude_unset=True, by_alias=True)
    return check_config({**given, key: value}, type(config), f"--{key}")


def run(jobs: list[Job], watch: Watch = NOBODY) -> WholeSolution:
    """Run jobs to their end; an `InputError` or a `KeyboardInterrupt` where one fails to."""
    outcome: Outcome
    for job in jobs:
        outcome = job.run(watch)
        if job is jobs[-1]:
            break
        if outcome.interrupted:
            raise KeyboardInterrupt
        if outcome.problem:
            raise InputError(outcome.problem)
    return outcome.result()


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
