"""Jobs from a program: the jobs of a training file, locks and certificates, without a terminal.

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
from typing import Any
from weakref import finalize

from allstreets.analysis import LockRequest
from allstreets.base import Floats, InputError, Place, Remote, place_of
from allstreets.betting import BIG_BLINDS, line_text
from allstreets.games import Spot
from allstreets.jobs.certificate import plan_certify
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.spot import read_spot
from allstreets.jobs.config.train import FIRST_RUN, TrainConfig, read_train_config
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.flops import FlopsJob, FlopsOutcome, plan_flops
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Observer
from allstreets.jobs.lock import plan_lock
from allstreets.jobs.preflop import PreflopJob, PreflopOutcome
from allstreets.jobs.whole_game import UnifiedJob, UnifiedOutcome, plan_unified
from allstreets.solutions import Certificate, Solution, SpotSolution, WholeSolution
from allstreets.storage import folder_of, load, origin, packed_name

NOT_KEPT = ("cluster", "lock")  # solved on this machine, without locks
OF_A_PACK = ("device", "threads", "store", "time_limit_seconds")  # of the machine that made it


def read_spot_file(path: Path | str) -> Spot:
    """The spot of a spot file, for `solve` and `solve_many`.

    Targets and other settings of the solver in the file are not part of a spot.
    """
    return read_spot(Path(path), {})[1]


def load_neighbour(solution: Path | str) -> WholeSolution:
    """A whole game for `--like`; an `InputError` for other solutions."""
    neighbour = load(solution)
    if not isinstance(neighbour, WholeSolution) or not neighbour.is_game:
        raise InputError(f"--like {solution}: this is not a whole game; name one")
    return neighbour


def like_config(neighbour: WholeSolution, flags: Mapping[str, Any]) -> TrainConfig:
    """The settings of a solution, overridden by those that are given.

    A game can be trained like an existing solution at another stack. It takes over the settings
    (tree, sizes, cards, flops) and the ranges: hands are bucketed for the ranges of the solution's
    pots, line by line, where other runs begin with those of a quick solve by hand classes.
    Strategies are not carried over: if the first iterations play them, flops learn only their
    answers to these, and the run lags behind until its end. docs/library.md has the figures.
    """
    assert neighbour.folder is not None  # it was loaded
    packed = packed_name(neighbour.folder) is not None
    without = (*NOT_KEPT, *(OF_A_PACK if packed else ()))
    own = {key: value for key, value in neighbour.facts.config.items() if key not in without}
    given = {key: value for key, value in flags.items() if value is not None}
    keys = {key: value for key, value in {**own, **given}.items() if value is not None}
    name = neighbour.facts.name or neighbour.folder.name
    called = f"like {name}, {float(keys['stack_depth']):g} bb"
    solver = {"type": "unified_cfr", **keys}
    return check_config({"name": called, "solver": solver}, TrainConfig, origin(neighbour.folder))


def known_ranges(neighbour: WholeSolution) -> dict[str, Floats]:
    """[2, 169] by line: the ranges of a solution's pots; none for a pot that is never reached."""
    before = neighbour.before
    ranges = before.pot_ranges
    lines = [
        line_text(before.tree, pot.node, notation=BIG_BLINDS) for pot in neighbour.stored.flop_pots
    ]
    return {
        line: ranges[:, pot]
        for pot, line in enumerate(lines)
        if (ranges[:, pot].sum(axis=1) > 0).all()
    }


MODELS = "models"

TrainingJob = UnifiedJob | PreflopJob | FlopsJob
TrainingJobOutcome = UnifiedOutcome | PreflopOutcome | FlopsOutcome


def plan(
    config: TrainConfig,
    output: Place | None,
    *,
    resume: bool = False,
    like: WholeSolution | None = None,
) -> list[TrainingJob]:
    """The jobs of a training file; the last one has the solution.

    A whole game may begin with the ranges of another one that it is `like`.
    """
    labels: dict[str, Any] = {"name": config.name, "description": config.description}
    solver, models = config.solver, config.postflop_model
    if isinstance(solver, UnifiedConfig):
        known = {} if like is None else known_ranges(like)
        return [plan_unified(solver, output, resume=resume, known_ranges=known, **labels)]
    if like is not None:
        raise InputError("--like is for whole games, solver: {type: unified_cfr}")
    if output is None:
        raise InputError("this job needs --output, the folder of its solution")
    if solver is None:
        assert models is not None
        return [plan_flops(models, output, resume=resume, **labels)]
    if isinstance(output, Remote):
        raise InputError(
            f"--output {output}: type preflop_cfr is solved on this machine.\nName a folder of it."
        )
    folder = Path(solver.models) if solver.models else output / MODELS
    preflop = PreflopJob(solver, folder, output, resume, **labels)
    preflop.require()
    if models is None:
        return [preflop]
    again = resume and folder.exists()
    return [plan_flops(models, folder, resume=again, **labels), preflop]


def run(jobs: list[TrainingJob], callbacks: Callbacks = NO_CALLBACKS) -> WholeSolution:
    """Run jobs to their end; an `InputError` or a `KeyboardInterrupt` if a job does not finish."""
    outcome: TrainingJobOutcome
    for job in jobs:
        outcome = job.run(callbacks)
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
    called with a `Progress` a few times per second.
    """
    given, callbacks = _config(config), Callbacks(progress=tuple(observers))
    if output is not None:
        return run(plan(given, place_of(output), resume=resume), callbacks)
    if given.job == "unified_cfr":
        return run(plan(given, None, resume=resume), callbacks)
    if resume:
        raise InputError("resume needs output, the folder to resume")
    # Jobs pass their solutions through files, and flops are read on demand: the folder is removed
    # with the solution.
    temporary = TemporaryDirectory()
    try:
        result = run(plan(given, Path(temporary.name) / "run"), callbacks)
    except BaseException:
        temporary.cleanup()
        raise
    finalize(result, temporary.cleanup)
    return result


def lock(
    solution: Solution | Path | str,
    request: LockRequest,
    output: str | Path | None = None,
    *,
    observers: Sequence[Observer] = (),
) -> SpotSolution | WholeSolution:
    """Solve a spot or a whole game again, with what is requested locked.

    `solution` was loaded, or is its folder. It is solved with the same settings, to the same
    exploitability. `analysis.difference` of the two shows the changes. `output` is the folder for
    the new solution.
    """
    job, _, _ = plan_lock(_folder(solution), request, None if output is None else Path(output))
    outcome = job.run(Callbacks(progress=tuple(observers)))
    if outcome.interrupted:
        raise KeyboardInterrupt
    result: SpotSolution | WholeSolution = outcome.result()
    return result


def certify(
    solution: Solution | Path | str,
    flops: str | int | None = None,
    *,
    seed: int = 1,
    threads: int | None = None,
    cluster: str | None = None,
    observers: Sequence[Observer] = (),
) -> Certificate:
    """Certify a whole game with real cards; the certificate is stored in its folder.

    `solution` was loaded, or is its folder. `flops` is "all", "own" (those that it was trained on),
    or how many to draw, both of those and of the others. Evaluated flops are not evaluated again.
    `cluster` (auto, local or HOST:PORT) evaluates them on the machines of a Ray cluster.
    """
    job = plan_certify(_folder(solution), flops, seed=seed, threads=threads, cluster=cluster)
    outcome = job.run(Callbacks(progress=tuple(observers)))
    if outcome.certificate is None:
        raise KeyboardInterrupt
    return outcome.certificate


def _folder(solution: Solution | Path | str) -> Path:
    return Path(str(folder_of(solution)))


def _config(config: str | Path | Mapping[str, Any] | TrainConfig | None) -> TrainConfig:
    if isinstance(config, TrainConfig):
        return config
    if isinstance(config, Mapping):
        return check_config(dict(config), TrainConfig, "config")
    return read_train_config(Path(config) if config is not None else FIRST_RUN)
