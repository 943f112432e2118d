"""Decision nodes of matrix games: the other's reach, own values, and what pruning leaves out.

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

Blocks are computed in the same order as in a full pass, to the same bits.
"""

import numpy as np

from allstreets.base import Bytes, Singles, inner_kernel
from allstreets.engines.matrix.kernels.layout import BEST_RESPONSE, EVALUATE, StagePlan
from allstreets.engines.simd.matrix_product import unite
from allstreets.engines.simd.regret_matching import (
    KernelWeights,
    add_regret,
    best_value,
    look_ahead,
    mean_value,
    new_regret,
    no_regrets,
    normaliser,
    positive_sum,
    share,
)
from allstreets.engines.simd.vectors import (
    TINY,
    any_positive,
    fma,
    load,
    splat,
    store,
    where_positive,
)

ZERO = np.float32(0.0)
ONE = np.float32(1.0)
NEVER = np.float32(-np.inf)


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
            place = base + 16 * a
            chance = share(load(regrets, place), strategy)
            store(reach, (child + a) * hands + block, here * chance)
            store(average, place, fma(factor, load(average, place), part * chance))


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
    needed: Bytes | None,
) -> None:
    """Own node: value under regret matching, then the regrets, in one pass.

    The node above hears the value moved by `weights.ahead` towards what the new regrets will play.
    A block of hands that a pruned pass does not need is left alone; an action that is not needed
    while the node is, since it is not played, is discounted and otherwise not written.
    """
    blocks = hands // 16
    zero, one, ahead = splat(ZERO), splat(ONE), splat(weights.ahead)
    for block in range(0, hands, 16):
        if needed is not None and not needed[target * blocks + block // 16]:
            continue
        base = slot + block * actions
        strategy = normaliser(regrets, base, actions, one)
        value = zero
        for a in range(actions):
            if needed is not None and not needed[(child + a) * blocks + block // 16]:
                continue
            chance = share(load(regrets, base + 16 * a), strategy)
            value = fma(chance, load(values, (child + a) * hands + block), value)
        sums = no_regrets()
        for a in range(actions):
            place, gain = base + 16 * a, zero
            if needed is None or needed[(child + a) * blocks + block // 16]:
                gain = load(values, (child + a) * hands + block) - value
            updated = new_regret(load(regrets, place), gain, weights)
            store(regrets, place, updated)
            sums = add_regret(sums, updated, gain)
        row = target * hands + block
        store(values, row, load(values, row) + look_ahead(value, sums, ahead))


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
