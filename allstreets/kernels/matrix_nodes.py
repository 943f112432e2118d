"""Decision nodes of matrix games: the other's reach on the way down, own values on the way up.

The average strategy of a player is gathered while his opponent is updated: his reach after an
action, which is on the way down there anyway, is what the action adds to its sum.
"""

import numpy as np

from allstreets.kernels.jit import kernel
from allstreets.kernels.matrix_layout import (
    BEST_RESPONSE,
    EVALUATE,
    Bytes,
    Discounting,
    Floats,
)
from allstreets.kernels.simd import TINY, fma, load, maximum, splat, store, where_positive

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@kernel
def split_and_gather(
    reach: Floats,
    row: int,
    child: int,
    regrets: Floats,
    average: Floats,
    slot: int,
    actions: int,
    hands: int,
    keep: np.float32,
    weight: np.float32,
    least: np.float32,
) -> None:
    """`split_reach` by regrets, and sums ← keep · sums + weight · strategy · (reach + least)."""
    zero = splat(ZERO)
    uniform, tiny = splat(ONE / np.float32(actions)), splat(TINY)
    kept, weights, floor = splat(keep), splat(weight), splat(least)
    for block in range(0, hands, 16):
        base = slot + block * actions
        total = zero
        for a in range(actions):
            total = total + maximum(load(regrets, base + 16 * a), zero)
        here = load(reach, row * hands + block)
        inverse = where_positive(total - tiny, splat(ONE) / total, zero)
        even = where_positive(total - tiny, zero, uniform)
        share = weights * (here + floor)
        for a in range(actions):
            place = base + 16 * a
            strategy = fma(maximum(load(regrets, place), zero), inverse, even)
            store(reach, (child + a) * hands + block, here * strategy)
            store(average, place, fma(kept, load(average, place), share * strategy))


@kernel
def update_node(
    values: Floats,
    target: int,
    child: int,
    regrets: Floats,
    slot: int,
    actions: int,
    hands: int,
    now: Discounting,
    needed: Bytes | None,
) -> None:
    """Own node: value under regret matching, then the regrets, in one pass.

    A block of hands that a pruned pass does not need is left alone; an action that is not needed
    while the node is, since it is not played, is discounted and otherwise not written.
    """
    blocks = hands // 16
    zero = splat(ZERO)
    uniform, tiny = splat(ONE / np.float32(actions)), splat(TINY)
    keep_positive, keep_negative = splat(now.positive), splat(now.negative)
    lowest = splat(now.lowest)
    for block in range(0, hands, 16):
        if needed is not None and not needed[target * blocks + block // 16]:
            continue
        base = slot + block * actions
        total = zero
        for a in range(actions):
            total = total + maximum(load(regrets, base + 16 * a), zero)
        inverse = where_positive(total - tiny, splat(ONE) / total, zero)
        even = where_positive(total - tiny, zero, uniform)
        value = zero
        for a in range(actions):
            if needed is not None and not needed[(child + a) * blocks + block // 16]:
                continue
            strategy = fma(maximum(load(regrets, base + 16 * a), zero), inverse, even)
            value = fma(strategy, load(values, (child + a) * hands + block), value)
        for a in range(actions):
            place = base + 16 * a
            regret = load(regrets, place)
            kept = regret * where_positive(regret, keep_positive, keep_negative)
            if needed is not None and not needed[(child + a) * blocks + block // 16]:
                store(regrets, place, maximum(kept, lowest))
                continue
            gain = load(values, (child + a) * hands + block) - value
            store(regrets, place, maximum(kept + gain, lowest))
        row = target * hands + block
        store(values, row, load(values, row) + value)


@kernel
def judge_node(
    values: Floats,
    target: int,
    child: int,
    average: Floats,
    slot: int,
    actions: int,
    hands: int,
    mode: int,
) -> None:
    """Own node, nothing updated: value of the best action, of the average, or of playing evenly."""
    zero = splat(ZERO)
    uniform, tiny = splat(ONE / np.float32(actions)), splat(TINY)
    for block in range(0, hands, 16):
        base = slot + block * actions
        value = load(values, child * hands + block)
        if mode == BEST_RESPONSE:
            for a in range(1, actions):
                value = maximum(value, load(values, (child + a) * hands + block))
        else:
            total, inverse, even = zero, zero, uniform
            if mode == EVALUATE:
                for a in range(actions):
                    total = total + maximum(load(average, base + 16 * a), zero)
                inverse = where_positive(total - tiny, splat(ONE) / total, zero)
                even = where_positive(total - tiny, zero, uniform)
            value = zero
            for a in range(actions):
                strategy = even
                if mode == EVALUATE:
                    strategy = fma(maximum(load(average, base + 16 * a), zero), inverse, even)
                value = fma(strategy, load(values, (child + a) * hands + block), value)
        row = target * hands + block
        store(values, row, load(values, row) + value)
