"""Decision nodes of matrix games: the other's reach on the way down, own values on the way up.

The average strategy of a player is summed while his opponent is updated: his reach after an
action, which is on the way down there anyway, is what the action adds to its sum.
"""

import numpy as np

from allstreets.base import Bytes, Singles, inner_kernel
from allstreets.engines.matrix.kernels.layout import BEST_RESPONSE, EVALUATE, Discounting
from allstreets.engines.simd.regret_matching import (
    add_gain,
    best_value,
    look_ahead,
    mean_value,
    new_regret,
    no_gains,
    normalised,
    normaliser,
    regret_weights,
)
from allstreets.engines.simd.vectors import fma, load, splat, store

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


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
    keep: np.float32,
    weight: np.float32,
    least: np.float32,
) -> None:
    """`split_reach` by regrets, and sums ← keep · sums + weight · strategy · (reach + least)."""
    one, kept, weights, floor = splat(ONE), splat(keep), splat(weight), splat(least)
    for block in range(0, hands, 16):
        base = slot + block * actions
        strategy = normaliser(regrets, base, actions, one)
        here = load(reach, row * hands + block)
        part = weights * (here + floor)
        for a in range(actions):
            place = base + 16 * a
            chance = normalised(load(regrets, place), strategy)
            store(reach, (child + a) * hands + block, here * chance)
            store(average, place, fma(kept, load(average, place), part * chance))


@inner_kernel
def update_node(
    values: Singles,
    target: int,
    child: int,
    regrets: Singles,
    slot: int,
    actions: int,
    hands: int,
    now: Discounting,
    needed: Bytes | None,
) -> None:
    """Own node: value under regret matching, then the regrets, in one pass.

    The node above hears the value moved by `now.ahead` towards what the new regrets will play.
    A block of hands that a pruned pass does not need is left alone; an action that is not needed
    while the node is, since it is not played, is discounted and otherwise not written.
    """
    blocks = hands // 16
    zero, one, ahead = splat(ZERO), splat(ONE), splat(now.ahead)
    weights = regret_weights(now.positive, now.negative, now.lowest)
    for block in range(0, hands, 16):
        if needed is not None and not needed[target * blocks + block // 16]:
            continue
        base = slot + block * actions
        strategy = normaliser(regrets, base, actions, one)
        value = zero
        for a in range(actions):
            if needed is not None and not needed[(child + a) * blocks + block // 16]:
                continue
            chance = normalised(load(regrets, base + 16 * a), strategy)
            value = fma(chance, load(values, (child + a) * hands + block), value)
        gains = no_gains()
        for a in range(actions):
            place, gain = base + 16 * a, zero
            if needed is None or needed[(child + a) * blocks + block // 16]:
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
