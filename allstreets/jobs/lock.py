"""A spot or a whole game that was solved, to be solved again with locks, as it was solved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from allstreets.analysis import LockRequest, with_game_locks, with_locks
from allstreets.base import InputError, Place
from allstreets.engines import AGREEMENT, CPU
from allstreets.games import Lock, lock_mapping
from allstreets.jobs.config.reading import check_config
from allstreets.jobs.config.spot import SpotConfig
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.spot import SpotJob
from allstreets.jobs.whole_game import UnifiedJob, UnifiedOutcome, plan_unified
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage import folder_kind, load, mirrored, packed_name, read_spot_manifest

# A solution may be exploitable for less, and need not be again:
LEAST_SHARE = 0.0005  # of the pot of a spot
LEAST_MBB = 0.05  # mbb/hand
LONGER = 10  # times the iterations of the other solution, at most: locks may make a game harder
OTHER_ENDS = ("time_limit_seconds", "regret_threshold")
NAMED_LOCKS = 2


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
) -> tuple[SpotJob | UnifiedJob, SpotSolution | WholeSolution, list[str]]:
    """The job that solves what lies in a folder again, with what is requested locked.

    It ends when it is solved as well as the other one, or to `target`. The solution as it was comes
    along, and the lines that are locked.
    """
    folder = mirrored(folder)
    kind, where = folder_kind(folder), str(folder.absolute())
    if kind == "unified":
        game = load(folder, WholeSolution)
        locks = request.of_game(game, where)
        if packed_name(folder) is not None:
            device = device or CPU  # it was made on another machine
        job = lock_game(
            folder,
            game,
            locks,
            output,
            resume=resume,
            iterations=iterations,
            exploitability_threshold=target,
            time_limit_seconds=seconds,
            threads=threads,
            device=device,
        )
        return job, game, [lock.line for lock in locks]
    if kind != "spot":
        raise InputError(f"{folder}: spots and whole games can be locked, and this is none")
    solution = load(folder, SpotSolution)
    spot = with_locks(solution.spot, request.of_spot(solution))
    _ = spot.locked_nodes  # errors are raised now
    solving = SpotJob(
        lock_spot_config(folder, solution, target, device),
        spot,
        iterations,
        seconds,
        threads,
        output,
        resume,
        made_from={"folder": where, "line": request.lines[0]},
    )
    return solving, solution, [line for line in request.lines if "*" not in line]


def lock_spot_config(
    folder: Path, result: SpotSolution, target: str | float | None = None, device: str | None = None
) -> SpotConfig:
    """How the spot in a folder was solved, and so will be what is locked.

    It ends when it is solved as well as the other one, or to `target`.
    """
    solved = read_spot_manifest(folder)["config"]
    precision = solved["precision"]
    keys = {
        "algorithm": solved["algorithm"],
        # Which is as small, and leaves locks as they are.
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
    **changes: Any,
) -> UnifiedJob:
    """The job that solves the game in a folder with more locks, as it was solved.

    It ends when it is no more exploitable than the other one, also as it is stored, or after
    `iterations`; without these, after `LONGER` times as many as the other one took. What else ended
    that one does not count. `changes` are keys of training files that are otherwise than there.
    """
    game = with_game_locks(result.game, locks)
    _ = game.locks  # errors are raised now
    keys = {key: value for key, value in result.facts.config.items() if value is not None}
    if result.exploitability is not None:
        # What is stored is at most so much more exploitable than what is trained.
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
    lines = [lock.line or "first decision" for lock in locks]
    more = f" and {len(lines) - NAMED_LOCKS} more" if len(lines) > NAMED_LOCKS else ""
    name = f"{result.facts.name or folder.name}, locked at {', '.join(lines[:NAMED_LOCKS])}{more}"
    made_from = {"folder": str(folder.absolute()), "line": locks[0].line}
    return plan_unified(config, output, resume=resume, name=name, made_from=made_from)


def cut_short(outcome: UnifiedOutcome, solved: float | None) -> str | None:
    """That a locked game has ended before it was `solved` as well as the other one, for people."""
    reached = outcome.figures.exploitability
    if reached is None or solved is None or reached <= max(solved, LEAST_MBB):
        return None
    return (
        f"Stopped at {outcome.solver.iterations:,} iterations at {reached:.3g} mbb/hand, the "
        f"original stands at {solved:.3g}."
    )
