"""Whole games as training files: read by the code of `allstreets train`, measured, described."""

import json
from functools import lru_cache
from pathlib import Path

import allstreets
from allstreets.base import InputError, available_bytes
from allstreets.explorer.models.base import FormError, Problem
from allstreets.explorer.models.solves import GameEstimate, GameForm, LockedSource, SampleGame
from allstreets.games import UNCERTAINTY, require_room
from allstreets.jobs import (
    FIRST_RUN,
    ConfigError,
    TrainConfig,
    UnifiedConfig,
    UnifiedJob,
    parse_train_config,
    plan_unified,
)

SOURCE = "the training file"
SAMPLES = Path(allstreets.__file__).parents[1] / "sample_configurations"  # of a checkout
ELSEWHERE = "run it with allstreets train: {}"


def read_game(text: str, locked: LockedSource | None = None) -> tuple[TrainConfig, UnifiedConfig]:
    """A training file of a whole game; a `FormError` names every key that is wrong.

    `locked`: the server has written the file, from one of its own solutions.
    """
    try:
        config = parse_train_config(text, SOURCE)
    except ConfigError as error:
        raise FormError(
            [Problem(message=str(problem), field=problem.key or None) for problem in error.problems]
        ) from None
    except InputError as error:
        raise FormError([Problem(message=str(error))]) from None
    solver = config.solver
    if not isinstance(solver, UnifiedConfig):
        raise _refused("solver.type", "only whole games (unified_cfr) are trained here")
    if solver.cluster is not None:
        raise _refused("solver.cluster", "this server does not use clusters")
    if solver.fitted_from is not None:
        raise _refused("solver.fitted_from", "folders cannot be read from this page")
    if locked is None and any(lock.solution is not None for lock in solver.lock):
        raise _refused("solver.lock", "folders cannot be read from this page")
    return config, solver


def _refused(key: str, why: str) -> FormError:
    return FormError([Problem(message=f"{key}: {ELSEWHERE.format(why)}", field=key)])


def plan_game(
    text: str,
    output: Path | None = None,
    *,
    resume: bool = False,
    locked: LockedSource | None = None,
) -> UnifiedJob:
    """The job of a training file."""
    config, solver = read_game(text, locked)
    try:
        return plan_unified(
            solver,
            output,
            resume=resume,
            name=config.name,
            description=config.description,
            made_from=None if locked is None else locked.model_dump(include={"folder", "line"}),
        )
    except FormError:
        raise
    except InputError as error:
        raise FormError([Problem(message=str(error))]) from None


def game_form(config: UnifiedConfig, name: str) -> GameForm:
    """A whole game as a training file."""
    keys = config.model_dump(mode="json", by_alias=True, exclude_none=True)
    return GameForm(text=json.dumps({"name": name, "solver": keys}, indent=1))


@lru_cache(maxsize=64)
def game_outline(
    form: GameForm, locked: LockedSource | None = None
) -> tuple[str, str, float | None]:
    """Name, title and target of a game, whether its file can be read or not."""
    try:
        config, solver = read_game(form.text, locked)
    except InputError:
        return "a whole game", "its training file cannot be read", None
    seen = solver.limp or bool(solver.raise_sizes)  # flops
    what = f"flops {solver.flops}, cards {solver.cards}" if seen else "push or fold"
    title = f"{solver.stack_depth:g} bb, {what}"
    return config.name or title, title, solver.exploitability_threshold


def game_bytes(form: GameForm, free: int | None, locked: LockedSource | None = None) -> int:
    """The memory that training takes; raises `InputError` if that much is not free."""
    job = plan_game(form.text, locked=locked)
    problems = _short_of(job, free)
    if problems:
        raise FormError(problems)
    return job.need.resident_bytes


def _short_of(job: UnifiedJob, free: int | None) -> list[Problem]:
    """The problem to report if memory is short; empty: it suffices or is unknown."""
    if free is None:
        return []
    try:
        require_room(job.game, job.need, job.config.card_model(), job.config.memory, free)
    except InputError as error:
        return [Problem(message=str(error))]
    return []


def estimate_game(form: GameForm) -> GameEstimate:
    """The memory and time that training a game takes, or the problems of its file."""
    free = available_bytes()
    try:
        job = plan_game(form.text)
    except FormError as error:
        return GameEstimate(problems=list(error.problems), free_bytes=free)
    need, limit = job.need, job.config.time_limit_seconds
    seconds = need.seconds_to(job.iterations)
    name, title, target = game_outline(form)
    expected, cards = job.expected, job.config.card_model()
    return GameEstimate.of(
        need,
        problems=_short_of(job, free),
        free_bytes=free,
        name=name,
        title=title,
        memory_bytes=need.resident_bytes,
        disk_bytes=need.memory_bytes if job.config.memory == "memmap" else None,
        iterations=job.iterations,
        seconds=min(seconds, limit) if limit else seconds,
        target=target,
        buckets=cards.groups if cards.kind == "boards" else None,
        expected_mbb=expected.whole if expected else None,
        expected_before_mbb=expected.before if expected else None,
        expected_factor=UNCERTAINTY if expected else None,
    )


def sample_games() -> list[SampleGame]:
    """Training files to start with."""
    # The one of a first run, and those of a checkout.
    samples = []
    for path in (FIRST_RUN, *sorted(SAMPLES.glob("*.yaml"))):
        text = path.read_text()
        try:
            config, _ = read_game(text)
        except InputError:
            continue  # of another job
        samples.append(
            SampleGame(
                name=config.name or path.stem.replace("_", " "),
                description=config.description or "",
                text=text,
            )
        )
    return samples
