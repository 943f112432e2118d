"""A pass through matrix games: forward with the other player's reach, backward with own values."""

import numpy as np

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.engines.matrix.kernels.layout import (
    EVALUATE,
    UPDATE,
    Pot,
    StageCards,
    StagePlan,
    StageSpace,
)
from allstreets.engines.matrix.kernels.nodes import (
    evaluate_node,
    mark_lines_below,
    mark_needed,
    split_and_gather,
    update_node,
)
from allstreets.engines.matrix.kernels.terminals import (
    add_folds,
    add_showdowns,
    own_combos,
)
from allstreets.engines.simd.matrix_product import multiply_rows
from allstreets.engines.simd.regret_matching import KernelWeights, split_reach
from allstreets.engines.simd.work_counter import Counter, take

ZERO = np.float32(0.0)
SMALL_SHARE = np.float32(0.01)
"""Every hand enters the average with at least this share of the largest reach: the theory has
own reach alone, but then strategies at nodes that a player hardly ever reaches stay what they were
at first."""
LEAST_SHARE = np.float32(1e-9)
"""And with at least this much, where no hand gets there at all."""


@inner_kernel
def forward(
    plan: StagePlan,
    hands: int,
    regrets: Singles,
    average: Singles,
    reach: Singles,
    mode: int,
    weights: KernelWeights,
    least: np.float32,
) -> None:
    """Fill the reach rows of a stage from those of its lines."""
    gathers = mode == UPDATE and weights.weight > ZERO
    stored = regrets if mode == UPDATE else average
    for node in range(len(plan.other_reach)):
        row, child = plan.other_reach[node], plan.other_child[node]
        actions = plan.other_actions[node]
        slot = plan.other_slot[node] * hands
        if not gathers:
            split_reach(reach, row, child, stored, slot, actions, hands)
        elif actions == 2:  # known numbers of actions let the compiler unroll
            split_and_gather(reach, row, child, regrets, average, slot, 2, hands, weights, least)
        elif actions == 3:
            split_and_gather(reach, row, child, regrets, average, slot, 3, hands, weights, least)
        else:
            split_and_gather(
                reach, row, child, regrets, average, slot, actions, hands, weights, least
            )


@inner_kernel
def backward(
    plan: StagePlan,
    hands: int,
    regrets: Singles,
    average: Singles,
    values: Singles,
    mode: int,
    weights: KernelWeights,
    needed: Bytes | None,
) -> None:
    """Fold the values of a stage's terminals into those of its lines, children before parents."""
    for node in range(len(plan.own_value)):
        target, child = plan.own_value[node], plan.own_child[node]
        actions = plan.own_actions[node]
        slot = plan.own_slot[node] * hands
        # At a locked node there is nothing to learn, and a best response has no choice.
        here = EVALUATE if plan.own_locked[node] else mode
        if here != UPDATE:
            evaluate_node(values, target, child, average, slot, actions, hands, here)
        elif actions == 2:
            update_node(values, target, child, regrets, slot, 2, hands, weights, needed)
        elif actions == 3:
            update_node(values, target, child, regrets, slot, 3, hands, weights, needed)
        else:
            update_node(values, target, child, regrets, slot, actions, hands, weights, needed)


@inner_kernel
def largest(row: Singles) -> np.float32:
    """The largest number of a row, at least 0."""
    most = ZERO
    for number in row:
        if number > most:
            most = number
    return most


@inner_kernel
def beside(wanted: Bytes | None, needed: Bytes) -> Bytes | None:
    """`needed` in a pruned pass, else `None`: one type each, where a choice would have both."""
    if wanted is None:
        return None
    return needed


@inner_kernel
def run_flop(
    pot: Pot,
    cards: tuple[StageCards, ...],
    spaces: tuple[StageSpace, ...],
    flop: int,
    mode: int,
    weights: KernelWeights,
    wanted: Bytes | None,
) -> None:
    """One pass on one flop, between the first rows of the first stage's space.

    The other's reach [Hₒ] at the root goes in there, own values [Hₓ] come out.

    A pruned pass, which must be an update, is given the blocks of own hands that are `wanted`,
    [Hₓ / 16]; the others' values come out as 0. Its forward pass is complete: the other's average
    strategy does not depend on which own hands are looked at. `None` is no pruning, and compiled
    without it.
    """
    stages, plans, hands, stores = pot  # taken apart once: Numba counts references
    last = stages - 1
    first_space = spaces[0]
    least = max(SMALL_SHARE * largest(first_space.reach[: hands[0].other_length]), LEAST_SHARE)
    if wanted is not None:
        first_space.needed[: len(wanted)] = wanted
    for stage in range(stages):
        plan, space, store, table = plans[stage], spaces[stage], stores[stage], cards[stage]
        here = hands[stage]
        space.reach[plan.lines * here.other_length : (plan.lines + 1) * here.other_length] = ZERO
        space.values[: plan.value_rows * here.own_length] = ZERO
        needed = beside(wanted, space.needed)
        if wanted is not None:
            space.left_out[0] += mark_needed(
                plan, here.own_length, store.own_regrets[flop],
                own_combos(table, here, space, flop), weights.threshold, space.needed,
            )  # fmt: skip
        forward(
            plan, here.other_length, store.other_regrets[flop], store.other_average[flop],
            space.reach, mode, weights, least,
        )  # fmt: skip
        add_folds(plan, table, here, space, flop, needed)
        add_showdowns(plan, table, here, space, flop, needed)
        if stage < last:  # then a pass is about all hands
            below, deeper = spaces[stage + 1], cards[stage + 1]
            below.reach[: (plans[stage + 1].lines + 1) * deeper.hands] = ZERO
            multiply_rows(
                space.reach, plan.exit_reach, table.hands, deeper.down[flop],
                below.reach, plan.exit_line, deeper.hands, plan.ones, space.sums, space.terms,
                None, below.union,
            )  # fmt: skip
            if wanted is not None:
                mark_lines_below(plan, space.needed, space.union, below.needed, below.union)
    for stage in range(last, -1, -1):
        plan, space, store, table = plans[stage], spaces[stage], stores[stage], cards[stage]
        needed = beside(wanted, space.needed)
        if stage < last:
            below, deeper = spaces[stage + 1], cards[stage + 1]
            multiply_rows(
                below.values, plan.exit_line, deeper.hands, deeper.up[flop],
                space.values, plan.exit_value, table.hands, plan.ones, space.sums, below.terms,
                needed, space.union,
            )  # fmt: skip
        backward(
            plan, hands[stage].own_length, store.own_regrets[flop], store.own_average[flop],
            space.values, mode, weights, needed,
        )  # fmt: skip
    # What is not wanted at the root is needed nowhere in the first stage: its value is still 0.


@kernel
def sum_positive(counter: Counter, stored: Singles, flops: Longs, sums: Floats) -> None:
    """Put the sum of the positive numbers of flops [K], and the largest, into sums [K, 2].

    Of those flops that this thread gets hold of; `stored` is [F, …].
    """
    while True:
        place = take(counter)
        if place >= len(flops):
            break
        total, largest = np.float64(0.0), ZERO
        for number in stored[flops[place]]:
            if number > ZERO:
                total += number
                largest = max(largest, number)
        sums[place, 0], sums[place, 1] = total, largest


@kernel
def move_numbers(old: Singles, new: Singles, source: Longs, first: int, last: int) -> None:
    """new[f, i] = old[f, source[i]] for flops first, …, last − 1; 0 where `source` is negative."""
    for flop in range(first, last):
        for place in range(len(source)):
            origin = source[place]
            new[flop, place] = old[flop, origin] if origin >= 0 else ZERO
