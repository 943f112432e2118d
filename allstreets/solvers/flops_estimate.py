"""Estimate a job of flops: memory, and time at most, computed before anything is built.

Constants are those of a usual core; the time is a guess, and most flops end before their last
iteration.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from allstreets.base import InputError
from allstreets.betting import POSTFLOP
from allstreets.cards import HAND_COUNT
from allstreets.engines import CardModel, deals_for
from allstreets.games import PROGRAM_BYTES, PotGame
from allstreets.solvers.flops import FlopTargets

SECONDS_PER_HAND = 1.5e-9  # an action of a hand, in one iteration
SECONDS_PER_PAIR = 1.2e-11  # the same, times the hands of its stage
SECONDS_PER_DEAL = 1.4e-8  # a deal, times the square root of the actions
SETUP_SECONDS = {"classes": 0.05, "buckets": 0.6, "sampled": 0.05}
TREE_SECONDS_PER_ACTION = 5e-5  # laying a tree out and reading its strategies
CHECK_ITERATIONS = 2.0  # what a check costs
TABLE_BYTES = 114_244  # that a flop in use leaves in memory: 169 · 169 · 4
GROUP_BYTES = 200_000_000  # of regrets and strategies of a group
LARGEST_GROUP = 64  # flops
PIECES_PER_THREAD = 2  # pots on flops in work: with fewer, threads wait for the last one
MANY_THREADS = (
    8  # train a group as quickly as it is laid out and stored: a third one fills the gaps
)


@dataclass(frozen=True)
class FlopEstimate:
    """The size of a job."""

    nodes: int  # of the betting trees of all stack-to-pot ratios
    slots: int  # actions of all their decisions
    memory_bytes: int  # everything, the program itself included
    seconds: float  # if no flop ended before its last iteration
    at_once: int = 1  # groups of flops that are in work


def estimate_flops(
    flops: int,
    pots: Sequence[PotGame],
    model: CardModel,
    iterations: int,
    targets: FlopTargets,
    threads: int,
    free: int | None = None,
) -> FlopEstimate:
    """Estimate the work of solving so many flops at every stack-to-pot ratio.

    On more than one thread several groups are in work: while one lays out its flops, stores them,
    or waits for its last one, threads find work in another. No more than fit into half of `free`
    memory, or two where that is not known.
    """
    each, size = sum(flop_bytes(pot, model) for pot in pots), group_size(pots, model)
    busy = -(-PIECES_PER_THREAD * threads // (size * len(pots)))
    least = 2 if threads < MANY_THREADS else 3
    fit = 2 if free is None else max(1, free // 2 // (size * each))
    at_once = 1 if threads == 1 else min(-(-flops // size), max(least, busy), fit)
    side_by_side = min(flops, at_once * size)
    workers = min(threads, side_by_side * len(pots))
    seconds = sum(_seconds(pot, model, iterations, targets) for pot in pots) * flops / workers
    return FlopEstimate(
        nodes=sum(pot.tree.node_count for pot in pots),
        slots=sum(_slots(pot) for pot in pots),
        memory_bytes=PROGRAM_BYTES + side_by_side * each + flops * TABLE_BYTES,
        seconds=seconds,
        at_once=at_once,
    )


def group_size(pots: Sequence[PotGame], model: CardModel) -> int:
    """How many flops make a group; it does not depend on the threads."""
    each = sum(flop_bytes(pot, model) for pot in pots)
    return min(LARGEST_GROUP, max(1, GROUP_BYTES // each))


def require_flop_room(need: FlopEstimate, free: int | None) -> None:
    """Refuse a job that does not fit into `free` bytes."""
    if free is not None and need.memory_bytes > free:
        raise InputError(
            f"this job needs {need.memory_bytes / 1e9:.1f} GB and {free / 1e9:.1f} GB are free.\n"
            "Use fewer bet sizes, raises or buckets."
        )


def _slots(pot: PotGame) -> int:
    return int(pot.tree.child_count[pot.tree.decisions()].sum())


def _stages(pot: PotGame, model: CardModel) -> list[tuple[int, int]]:
    """(actions, hands) of every stage."""
    if model.kind != "buckets":
        return [(_slots(pot), HAND_COUNT)]
    tree = pot.tree
    return [
        (int(tree.child_count[tree.decisions(street)].sum()), hands)
        for street, hands in zip(POSTFLOP, model.buckets, strict=True)
    ]


def flop_bytes(pot: PotGame, model: CardModel) -> int:
    """Regrets and averages, rows of reach and values, matrices."""
    return sum(4 * (4 * slots * hands + 5 * hands * hands) for slots, hands in _stages(pot, model))


def _seconds(pot: PotGame, model: CardModel, iterations: int, targets: FlopTargets) -> float:
    """One flop on one thread, all its iterations."""
    vector = sum(
        slots * hands * (SECONDS_PER_HAND + SECONDS_PER_PAIR * hands)
        for slots, hands in _stages(pot, model)
    )
    iteration = vector
    if model.kind == "sampled":
        iteration = 2 * deals_for(model.sample_pct) * SECONDS_PER_DEAL * float(_slots(pot)) ** 0.5
    checks = iterations / targets.check_interval
    values = HAND_COUNT * vector / 2
    setup = SETUP_SECONDS[model.kind] + TREE_SECONDS_PER_ACTION * _slots(pot)
    return setup + iterations * iteration + checks * CHECK_ITERATIONS * vector + values
