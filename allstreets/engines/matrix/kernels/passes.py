"""A pass through matrix games: forward with the other player's reach, backward with own values.

The average strategy of a player is summed while his opponent is updated: his reach after an
action, which the forward pass computes anyway, is what the action adds to its sum.

Pruning leaves out a pair (own action, **block** of sixteen hands): where the action's regret is
below the threshold for each of the sixteen, and each has an action with positive regret, none of
them plays it, and the node's values do without the action's. That block is then not needed in the
value row of the action, nor in any row below it. A pruned pass

1. marks, parents before children, the blocks that each value row needs (`mark_needed`), from
   those that are wanted at the root;
2. runs products and folds over the blocks that any of the rows at hand needs;
3. in the backward pass leaves alone what is not needed, neither discounted nor updated. An action
   that is left out at a node that is needed is discounted and otherwise not written.

Blocks are computed in the same order as in a full pass: bit-identical.
"""

import numpy as np

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.engines.matrix.kernels.layout import (
    BEST_RESPONSE,
    EVALUATE,
    UPDATE,
    Pot,
    StageCards,
    StagePlan,
    StageSpace,
)
from allstreets.engines.matrix.kernels.terminals import add_folds, add_showdowns, own_combos
from allstreets.engines.simd.iteration_weights import KernelWeights
from allstreets.engines.simd.regret_matching import (
    add_gain,
    best_value,
    look_ahead,
    mean_value,
    new_regret,
    no_gains,
    normalised,
    normaliser,
    positive_sum,
    split_reach,
)
from allstreets.engines.simd.row_products import multiply_rows, unite
from allstreets.engines.simd.vectors import (
    TINY,
    any_positive,
    fma,
    load,
    splat,
    store,
    where_positive,
)
from allstreets.engines.simd.work_counter import Counter, take

ZERO = np.float32(0.0)
ONE = np.float32(1.0)
NEVER = np.float32(-np.inf)
SMALL_SHARE = np.float32(0.01)
"""Every hand enters the average with at least this share of the largest reach: theory asks for
own reach alone, but then strategies at nodes that a player hardly ever reaches never change."""
LEAST_SHARE = np.float32(1e-9)
"""And with at least this much, where no hand gets there at all."""


@inner_kernel
def split_and_gather(
    reach: Singles,
    row: int,
    child: int,
    regrets: Singles,
    average: Singles,
    slot: int,
    actions: int,
    hands: int,
    weights: KernelWeights,
    least: np.float32,
) -> None:
    """`split_reach` by regrets, and sums ← average · sums + weight · strategy · (reach + least).

    `average` and `weight` are those of the iteration weights.
    """
    one, factor, floor = splat(ONE), splat(weights.average), splat(least)
    weight = splat(weights.weight)
    for block in range(0, hands, 16):
        base = slot + block * actions
        strategy = normaliser(regrets, base, actions, one)
        here = load(reach, row * hands + block)
        part = weight * (here + floor)
        for a in range(actions):
            offset = base + 16 * a
            chance = normalised(load(regrets, offset), strategy)
            store(reach, (child + a) * hands + block, here * chance)
            store(average, offset, fma(factor, load(average, offset), part * chance))


@inner_kernel
def update_node(
    values: Singles,
    target: int,
    child: int,
    regrets: Singles,
    slot: int,
    actions: int,
    hands: int,
    weights: KernelWeights,
    needed: Bytes,
) -> None:
    """Own node: value under regret matching, then the regrets, in one pass.

    The node above gets the value moved by `weights.ahead` towards the strategy of the new regrets.
    A block of hands that a pruned pass does not need is left alone; an action that is not needed
    while the node is, since it is not played, is discounted and otherwise not written. Where
    `needed` is empty, nothing is pruned.
    """
    blocks, pruned = hands // 16, len(needed) > 0
    zero, one, ahead = splat(ZERO), splat(ONE), splat(weights.ahead)
    for block in range(0, hands, 16):
        if pruned and not needed[target * blocks + block // 16]:
            continue
        base = slot + block * actions
        strategy = normaliser(regrets, base, actions, one)
        value = zero
        for a in range(actions):
            if pruned and not needed[(child + a) * blocks + block // 16]:
                continue
            chance = normalised(load(regrets, base + 16 * a), strategy)
            value = fma(chance, load(values, (child + a) * hands + block), value)
        gains = no_gains()
        for a in range(actions):
            place, gain = base + 16 * a, zero
            if not pruned or needed[(child + a) * blocks + block // 16]:
                gain = load(values, (child + a) * hands + block) - value
            updated = new_regret(load(regrets, place), gain, weights)
            store(regrets, place, updated)
            gains = add_gain(gains, updated, gain)
        row = target * hands + block
        store(values, row, load(values, row) + look_ahead(value, gains, ahead))


@inner_kernel
def evaluate_node(
    values: Singles,
    target: int,
    child: int,
    average: Singles,
    slot: int,
    actions: int,
    hands: int,
    mode: int,
) -> None:
    """Own node, nothing updated: value of the best action, of the average, or of uniform play."""
    uniform = splat(ONE / np.float32(actions))
    for block in range(0, hands, 16):
        base, first = slot + block * actions, child * hands + block
        if mode == BEST_RESPONSE:
            value = best_value(values, first, hands, actions)
        elif mode == EVALUATE:
            strategy = normaliser(average, base, actions, splat(ONE))
            value = mean_value(average, base, actions, strategy, values, first, hands)
        else:
            value = splat(ZERO)
            for a in range(actions):
                value = fma(uniform, load(values, first + a * hands), value)
        row = target * hands + block
        store(values, row, load(values, row) + value)


@inner_kernel
def mark_needed(
    plan: StagePlan,
    hands: int,
    regrets: Singles,
    combos: Singles,
    threshold: np.float32,
    needed: Bytes,
) -> int:
    """Mark the blocks that own actions need; returns how many they do not.

    The marks of the stage's lines are given. A hand without combos [H] needs nothing.
    """
    blocks = hands // 16
    zero, one, tiny, limit = splat(ZERO), splat(ONE), splat(TINY), splat(threshold)
    needed[plan.lines * blocks : (plan.lines + 1) * blocks] = 0
    left_out = 0
    for node in range(len(plan.own_value) - 1, -1, -1):  # parents before children
        above, below = plan.own_value[node] * blocks, plan.own_child[node] * blocks
        actions, slot = plan.own_actions[node], plan.own_slot[node] * hands
        for block in range(blocks):
            if not needed[above + block]:
                for a in range(actions):
                    needed[below + a * blocks + block] = 0
                left_out += actions
                continue
            if threshold == NEVER:
                for a in range(actions):
                    needed[below + a * blocks + block] = 1
                continue
            base = slot + 16 * block * actions
            playing = positive_sum(regrets, base, actions)
            present = load(combos, 16 * block)
            for a in range(actions):
                under = where_positive(limit - load(regrets, base + 16 * a), zero, one)
                objecting = where_positive(playing - tiny, under, one)
                wanted = any_positive(where_positive(present, objecting, zero))
                needed[below + a * blocks + block] = wanted
                left_out += not wanted
    return left_out


@inner_kernel
def mark_lines_below(
    plan: StagePlan, needed: Bytes, union: Bytes, below: Bytes, union_below: Bytes
) -> None:
    """Mark the lines into the next stage: all hands of it, if any of this stage's is needed."""
    blocks = len(union_below)
    for exit_number in range(len(plan.exit_value)):
        start = plan.exit_line[exit_number] * blocks
        below[start : start + blocks] = unite(needed, plan.exit_value, exit_number, 1, union)


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
            split_reach(reach, row, child, stored, slot, actions, hands, ZERO)
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
    needed: Bytes,
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
def beside(wanted: Bytes, needed: Bytes) -> Bytes:
    """`needed` in a pruned pass, else nothing of it."""
    return needed[: len(needed) if len(wanted) else 0]


@inner_kernel
def run_flop(
    pot: Pot,
    cards: tuple[StageCards, ...],
    spaces: tuple[StageSpace, ...],
    flop: int,
    mode: int,
    weights: KernelWeights,
    wanted: Bytes,
) -> None:
    """One pass on one flop, between the first rows of the first stage's space.

    The other's reach [Hₒ] at the root goes in, own values [Hₓ] come out.

    A pruned pass, which must be an update, is given the blocks of own hands that are `wanted`,
    [Hₓ / 16]; the others' values come out as 0. Its forward pass is complete: the other's average
    strategy does not depend on which own hands are looked at. Where none are listed, nothing is
    pruned.
    """
    stages, plans, hands, stores = pot  # taken apart once: Numba counts references
    last = stages - 1
    first_space = spaces[0]
    least = max(SMALL_SHARE * largest(first_space.reach[: hands[0].other_length]), LEAST_SHARE)
    pruned = len(wanted) > 0
    if pruned:
        for block in range(len(wanted)):
            first_space.needed[block] = wanted[block]
    for stage in range(stages):
        plan, space, learned, table = plans[stage], spaces[stage], stores[stage], cards[stage]
        here = hands[stage]
        space.reach[plan.lines * here.other_length : (plan.lines + 1) * here.other_length] = ZERO
        space.values[: plan.value_rows * here.own_length] = ZERO
        needed = beside(wanted, space.needed)
        if pruned:
            space.left_out[0] += mark_needed(
                plan, here.own_length, learned.own_regrets[flop],
                own_combos(table, here, space, flop), weights.threshold, space.needed,
            )  # fmt: skip
        forward(
            plan, here.other_length, learned.other_regrets[flop], learned.other_average[flop],
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
                space.needed[:0], below.union,
            )  # fmt: skip
            if pruned:
                mark_lines_below(plan, space.needed, space.union, below.needed, below.union)
    for stage in range(last, -1, -1):
        plan, space, learned, table = plans[stage], spaces[stage], stores[stage], cards[stage]
        needed = beside(wanted, space.needed)
        if stage < last:
            below, deeper = spaces[stage + 1], cards[stage + 1]
            multiply_rows(
                below.values, plan.exit_line, deeper.hands, deeper.up[flop],
                space.values, plan.exit_value, table.hands, plan.ones, space.sums, below.terms,
                needed, space.union,
            )  # fmt: skip
        backward(
            plan, hands[stage].own_length, learned.own_regrets[flop], learned.own_average[flop],
            space.values, mode, weights, needed,
        )  # fmt: skip
    # Blocks not wanted at the root are needed nowhere in the first stage: their value is still 0.


@kernel
def sum_positive(counter: Counter, stored: Singles, flops: Longs, sums: Floats) -> None:
    """Put the sum of the positive numbers of flops [K], and the largest, into sums [K, 2].

    Only for the flops that this thread takes; `stored` is [F, …].
    """
    while True:
        item = take(counter)
        if item >= len(flops):
            break
        total, largest = np.float64(0.0), ZERO
        for number in stored[flops[item]]:
            if number > ZERO:
                total += number
                largest = max(largest, number)
        sums[item, 0], sums[item, 1] = total, largest


@kernel
def move_numbers(old: Singles, new: Singles, source: Longs, first: int, last: int) -> None:
    """new[f, i] = old[f, source[i]] for flops first, …, last − 1; 0 where `source` is negative."""
    for flop in range(first, last):
        for place in range(len(source)):
            origin = source[place]
            new[flop, place] = old[flop, origin] if origin >= 0 else ZERO
