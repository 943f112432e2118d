"""A solved spot or whole game, solved again with locks and the same settings.

A frequency is locked for the hands that get to a decision. In the new solution other hands may get
there, so that the action is taken more or less often than requested. So there are rounds: hands are
moved again, for the ranges that get there now, and the game is solved again, until the frequency
holds, and no more hands than necessary have moved, or `ROUNDS` are over. `LockJob` is these rounds
as one job. Nothing in them is random.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from allstreets.analysis import (
    LockRequest,
    frequency_gap,
    game_frequency_gap,
    with_game_locks,
    with_locks,
)
from allstreets.base import InputError, Place, Remote
from allstreets.engines import AGREEMENT, CPU
from allstreets.games import Bound, Lock, lock_mapping
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.spot import SpotConfig
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Job, Plan
from allstreets.jobs.spot import SpotJob, SpotOutcome
from allstreets.jobs.whole_game import UnifiedJob, UnifiedOutcome, plan_unified
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage import (
    drop,
    folder_kind,
    load,
    mirrored,
    packed_name,
    read_spot_manifest,
)

# A solution may be exploitable for less, which need not be reached again:
LEAST_SHARE = 0.0005  # of the pot of a spot
LEAST_MBB = 0.05  # mbb/hand
LONGER = 10  # times the iterations of the other solution, at most: locks may make a game harder
OTHER_ENDS = ("time_limit_seconds", "regret_threshold")
NAMED_LOCKS = 2
ROUNDS = 12  # of solving, at most; each leaves half to two thirds of the error
STALLED = 3  # rounds without one that is better by this factor end it: the ranges keep moving
BETTER = 0.9
HOLDS = 0.0025  # of a frequency: the tolerance
TOO_FAR = 0.01  # of a frequency that meets its bound: more than necessary
TOO_FAR_ROUNDS = 6  # in which this counts

Ended = TypeVar("Ended", SpotOutcome, UnifiedOutcome)


@dataclass(frozen=True, eq=False)
class LockJob(Generic[Ended]):
    """A game with locks, solved in rounds until their frequencies hold."""

    first: Job[Ended]
    again: Callable[[Ended, Path | None, int], tuple[float, Job[Ended]] | None]
    """The error of the frequencies, and a job with better locks for a folder; None: they hold.

    The number is that of the round that has ended.
    """
    output: Place | None = None  # the folder of the solution, in every round

    def plan(self) -> Plan:
        """Plan a round."""
        return self.first.plan()

    def run(self, callbacks: Callbacks = NO_CALLBACKS) -> Ended:
        """Solve in rounds; the last round is the solution.

        A round is written beside the previous one, and replaces it when it ends.
        """
        outcome = self.first.run(callbacks)
        beside = _beside(self.output, "round") if isinstance(self.output, Path) else None
        least, stalled = float("inf"), 0
        for number in range(2, ROUNDS + 1):
            better = None
            if not (outcome.interrupted or outcome.unsaved or isinstance(self.output, Remote)):
                with suppress(InputError):  # no hand gets to one of the decisions any more
                    better = self.again(outcome, beside, number - 1)
            if better is None:
                break
            gap, job = better
            stalled = 0 if gap < BETTER * least else stalled + 1
            if stalled == STALLED:
                break
            least = min(least, gap)
            callbacks.say(
                f"Other hands get there now, and a frequency is off by {100 * gap:.1f} "
                f"percentage points: round {number} of at most {ROUNDS} …"
            )
            del outcome  # its memory is needed
            if beside is not None:
                drop(beside)  # of a run that was killed
            outcome = job.run(replace(callbacks, ready=None))
            if isinstance(self.output, Path) and beside is not None and not outcome.unsaved:
                _put(beside, self.output)
                outcome = outcome.moved(self.output)
        return outcome


def _put(folder: Path, output: Path) -> None:
    """Replace a folder by another; `_put_back` undoes a replacement that was killed half-way."""
    before = _beside(output, "before")
    drop(before)
    output.rename(before)
    folder.rename(output)
    drop(before)


def _put_back(output: Path) -> None:
    """Restore the round that was being replaced when a run was killed."""
    before = _beside(output, "before")
    if before.exists() and not output.exists():
        before.rename(output)


def _beside(output: Path, name: str) -> Path:
    return output.with_name(f".{output.name}.{name}")


def plan_lock(
    folder: Path,
    request: LockRequest,
    output: Path | None = None,
    *,
    target: str | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    threads: int | None = None,
    device: str | None = None,
    resume: bool = False,
) -> tuple[LockJob[Any], SpotSolution | WholeSolution, list[str]]:
    """The job that solves the solution in a folder again, with the requested locks.

    Each round ends at the accuracy of the original, or at `target`, after `iterations` or
    `seconds`. Returns the original solution and the locked lines, too.
    """
    folder = mirrored(folder)
    kind, where = folder_kind(folder), str(folder.absolute())
    if output is not None:
        _put_back(output)
    if kind == "unified":
        game = load(folder, WholeSolution)
        request = request.named_by(game.named_line)
        if packed_name(folder) is not None:
            device = device or CPU  # it was made on another machine
        options: dict[str, Any] = {
            "iterations": iterations,
            "exploitability_threshold": target,
            "time_limit_seconds": seconds,
            "threads": threads,
            "device": device,
            "asked": request.bounds,
        }

        def game_again(
            outcome: UnifiedOutcome, beside: Path | None, number: int
        ) -> tuple[float, UnifiedJob] | None:
            there = outcome.result()
            gap = _error(game_frequency_gap(game, request.bounds, there), number)
            if gap is None or not request.bounds:
                return None
            locks = request.of_game(game, where, there)
            return gap, lock_game(folder, game, locks, beside, **options)

        locks = request.of_game(game, where)
        lines = [lock.line for lock in locks]
        if resume and output is not None:
            locks = _kept_locks(output, WholeSolution) or locks
        job = lock_game(folder, game, locks, output, resume=resume, **options)
        return LockJob(job, game_again, output), game, lines
    if kind != "spot":
        raise InputError(f"{folder}: spots and whole games can be locked, and this is neither")
    solution = load(folder, SpotSolution)
    request = request.named_by(solution.named_line)
    locks = request.of_spot(solution)
    if resume and output is not None:
        locks = _kept_locks(output, SpotSolution) or locks
    spot = with_locks(solution.spot, locks)
    _ = spot.locked_nodes  # errors are raised now
    config = lock_spot_config(folder, solution, target, device)
    name = read_spot_manifest(folder).get("name") or folder.name
    name = _locked_name(name, request.lines, request.bounds)
    solving = SpotJob(
        config.model_copy(update={"name": name}),
        spot,
        iterations,
        seconds,
        threads,
        output,
        resume,
        made_from=_made_from(folder, request.lines[0], request.bounds),
    )

    def spot_again(
        outcome: SpotOutcome, beside: Path | None, number: int
    ) -> tuple[float, SpotJob] | None:
        there = outcome.result()
        gap = _error(frequency_gap(solution, request.bounds, there), number)
        if gap is None:
            return None
        better = with_locks(solution.spot, request.of_spot(solution, there))
        return gap, replace(solving, spot=better, output=beside, resume=False)

    lines = [line for line in request.lines if "*" not in line]
    return LockJob(solving, spot_again, output), solution, lines


def _error(gap: tuple[float, float], number: int) -> float | None:
    """The error that another round should mend, after round `number`; None: frequencies hold."""
    missed, too_far = gap
    if missed > HOLDS:
        return missed
    return too_far if too_far > TOO_FAR and number <= TOO_FAR_ROUNDS else None


def _kept_locks(output: Path, kind: type[SpotSolution | WholeSolution]) -> tuple[Lock, ...]:
    """The locks of the round in a folder; none: it has no solution yet."""
    with suppress(InputError):
        return tuple(load(output, kind).locks)
    return ()


def _locked_name(name: str, lines: Sequence[str], asked: Sequence[Bound] = ()) -> str:
    """The name of a solution with locks at these lines, or for these frequencies."""
    texts: dict[str, list[str]] = {bound.line: [] for bound in asked} or {at: [] for at in lines}
    for bound in asked:
        texts[bound.line].append(f"{bound.action} {bound.words}")
    lines = [
        ": ".join(filter(None, (line or "first decision", " and ".join(wanted))))
        for line, wanted in texts.items()
    ]
    named = ", ".join(lines[:NAMED_LOCKS])
    more = f" and {len(lines) - NAMED_LOCKS} more" if len(lines) > NAMED_LOCKS else ""
    return f"{name}, locked at {named}{more}"


def _made_from(folder: Path, line: str, asked: Sequence[Bound]) -> dict[str, Any]:
    """The source of a solution with locks, as its manifest names it."""
    wanted = [{"line": b.line, "action": b.action, "frequency": b.text} for b in asked]
    made = {"folder": str(folder.absolute()), "line": line}
    return {**made, "asked": wanted} if wanted else made


def lock_spot_config(
    folder: Path, result: SpotSolution, target: str | float | None = None, device: str | None = None
) -> SpotConfig:
    """The settings of the spot in a folder, for solving it with locks.

    It ends at the accuracy of the original, or at `target`.
    """
    solved = read_spot_manifest(folder)["config"]
    precision = solved["precision"]
    keys = {
        "algorithm": solved["algorithm"],
        # Which is as small, and leaves locks unchanged.
        "precision": "float16" if precision == "int16" else precision,
        "river_groups": solved.get("river_groups", "none"),
        "tremble": solved.get("tremble", 0.0),
        "exploitability_threshold": target or max(result.exploitability, LEAST_SHARE),
        **({} if device is None else {"device": device}),
    }
    return check_config(keys, SpotConfig, "command line")


def lock_game(
    folder: Path,
    result: WholeSolution,
    locks: Sequence[Lock],
    output: Place | None,
    *,
    resume: bool = False,
    iterations: int | None = None,
    asked: Sequence[Bound] = (),
    **changes: Any,
) -> UnifiedJob:
    """The job that solves the game in a folder again, with more locks.

    It ends when it is no more exploitable than the original, also in its stored form, or after
    `iterations` (by default `LONGER` times those of the original). Other ends of the original do
    not count. `asked` are the frequencies that the locks are for, and `changes` keys of training
    files that differ from the original's.
    """
    game = with_game_locks(result.game, locks)
    _ = game.locks  # errors are raised now
    keys = {key: value for key, value in result.facts.config.items() if value is not None}
    if result.exploitability is not None:
        # The stored strategies are at most this much more exploitable than the trained ones.
        goal = max(result.exploitability, LEAST_MBB) / (1 + AGREEMENT)
        keys = {key: value for key, value in keys.items() if key not in OTHER_ENDS}
        keys["exploitability_threshold"] = goal
        iterations = iterations or LONGER * result.facts.iterations
    keys = {
        **keys,
        **{key: value for key, value in changes.items() if value is not None},
        "lock": [lock_mapping(lock) for lock in game.lock],
    }
    keys.pop("cluster", None)  # it is solved here
    config = check_config(keys, UnifiedConfig, str(folder))
    if iterations is not None:
        epoch = config.batches().epoch_iterations(len(game.flops.flops))
        config = config.model_copy(update={"epochs": -(-iterations // epoch)})
    name = _locked_name(result.facts.name or folder.name, [lock.line for lock in locks], asked)
    made_from = _made_from(folder, locks[0].line, asked)
    return plan_unified(config, output, resume=resume, name=name, made_from=made_from)


def cut_short(outcome: UnifiedOutcome, solved: float | None) -> str | None:
    """The note that a locked game ended before it was `solved` as well as the original."""
    reached = outcome.figures.exploitability
    if reached is None or solved is None or reached <= max(solved, LEAST_MBB):
        return None
    return (
        f"Stopped at {outcome.solver.iterations:,} iterations at {reached:.3g} mbb/hand, the "
        f"original stands at {solved:.3g}."
    )
