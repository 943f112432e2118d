"""What a model of flops takes: memory, and time at most, worked out before anything is made.

Constants are those of a usual core; the time is a guess, and most flops end before their last
iteration.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from allstreets.base import InputError
from allstreets.betting import NodeKind, Street
from allstreets.cards import HAND_COUNT
from allstreets.solvers.flops.game import FlopGame
from allstreets.solvers.flops.model import FlopEnds, FlopModel
from allstreets.solvers.spot.estimate import PROGRAM_BYTES
from allstreets.subgames.matrix_model import POSTFLOP
from allstreets.subgames.sampled import deals_for

SECONDS_A_HAND = 1.5e-9  # an action of a hand, in one iteration
SECONDS_A_PAIR = 1.2e-11  # the same, times the hands of its stage
SECONDS_A_DEAL = 1.4e-8  # a deal, times the square root of the actions
SETUP_SECONDS = {"exhaustive": 0.05, "bucketed": 0.6, "mccfr": 0.05}
TREE_SECONDS_AN_ACTION = 5e-5  # of laying a tree out and of reading its strategies
CHECK_ITERATIONS = 2.0  # what a check costs
TABLE_BYTES = 114_244  # that a flop in use leaves in memory: 169 · 169 · 4


@dataclass(frozen=True)
class FlopEstimate:
    """The size of a job."""

    nodes: int  # of the betting trees of all stack-to-pot ratios
    slots: int  # actions of all their decisions
    memory_bytes: int  # everything, the program itself included
    seconds: float  # if no flop ended before its last iteration


def estimate_flops(
    flops: int, games: Sequence[FlopGame], model: FlopModel, ends: FlopEnds, threads: int
) -> FlopEstimate:
    """What it takes to solve so many flops at every stack-to-pot ratio."""
    of_game = [_bytes(game, model) for game in games]
    side_by_side = min(threads, flops * len(games))
    seconds = sum(_seconds(game, model, ends) for game in games) * flops / side_by_side
    return FlopEstimate(
        nodes=sum(game.tree.node_count for game in games),
        slots=sum(game.slots for game in games),
        memory_bytes=PROGRAM_BYTES + side_by_side * max(of_game) + flops * TABLE_BYTES,
        seconds=seconds,
    )


def require_room(need: FlopEstimate, free: int | None) -> None:
    """Refuse a job that does not fit into `free` bytes."""
    if free is not None and need.memory_bytes > free:
        raise InputError(
            f"this job needs {need.memory_bytes / 1e9:.1f} GB and {free / 1e9:.1f} GB are free.\n"
            "Use fewer threads, bet sizes, raises or buckets."
        )


def _stages(game: FlopGame, model: FlopModel) -> list[tuple[int, int]]:
    """(actions, hands) of every stage."""
    if model.solve_type != "bucketed":
        return [(game.slots, HAND_COUNT)]
    counts = model.buckets
    tree = game.tree
    hands = {Street.FLOP: counts.flop, Street.TURN: counts.turn, Street.RIVER: counts.river}
    return [
        (
            int(tree.child_count[(tree.kind == NodeKind.DECISION) & (tree.street == street)].sum()),
            hands[street],
        )
        for street in POSTFLOP
    ]


def _bytes(game: FlopGame, model: FlopModel) -> int:
    """Regrets and averages, rows of reach and values, matrices."""
    stages = _stages(game, model)
    return sum(4 * (4 * slots * hands + 5 * hands * hands) for slots, hands in stages)


def _seconds(game: FlopGame, model: FlopModel, ends: FlopEnds) -> float:
    """One flop on one thread, all its iterations."""
    vector = sum(
        slots * hands * (SECONDS_A_HAND + SECONDS_A_PAIR * hands)
        for slots, hands in _stages(game, model)
    )
    iteration = vector
    if model.solve_type == "mccfr":
        iteration = 2 * deals_for(model.sample_pct) * SECONDS_A_DEAL * float(game.slots) ** 0.5
    checks = ends.iterations / ends.check_interval
    values = HAND_COUNT * vector / 2
    setup = SETUP_SECONDS[model.solve_type] + TREE_SECONDS_AN_ACTION * game.slots
    return setup + ends.iterations * iteration + checks * CHECK_ITERATIONS * vector + values
