"""Own nodes with regrets as 16-bit integers, one scale for each node and board.

Regret matching and normalising do not depend on the scale, so only the update uses it: the new
regrets of a node are put where the values of its actions stood, which are no longer needed, and
when the largest is known all are rounded to the scale that makes it 32767.
"""

import numpy as np

from allstreets.base import Singles, inner_kernel
from allstreets.engines.exact.kernels.layout import Discounts, NodePlace, Storage
from allstreets.engines.simd.quantise import dither
from allstreets.engines.simd.regret_matching import (
    add_gain,
    look_ahead,
    mean_value,
    move_mean,
    new_regret,
    no_gains,
    normalised,
    normaliser,
    regret_weights,
)
from allstreets.engines.simd.vectors import (
    LARGEST,
    load,
    maximum,
    prefetch,
    splat,
    store,
    store_dithered,
)

TOP = np.float32(LARGEST)
ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@inner_kernel
def update_scaled_node(
    node: NodePlace,
    values: Singles,
    storage: Storage,
    actions: int,
    hands: int,
    live: int,
    discounts: Discounts,
) -> None:
    """As `update_node`, for integers; `live` of the hands are real, the rest padding."""
    regrets, average = storage.own_regrets, storage.own_average
    weights = regret_weights(discounts.positive, discounts.negative, discounts.floor)
    zero, one, weight = splat(ZERO), splat(ONE), splat(discounts.average)
    ahead = splat(discounts.ahead)
    averages, wobble = discounts.average > ZERO, dither(discounts.phase)
    scale = splat(storage.own_scales[node.number])
    largest = zero
    for block in range(0, hands, 16):
        base = node.slot + block * actions
        strategy = normaliser(regrets, base, actions, one)
        first = node.child * hands + block
        value = mean_value(regrets, base, actions, strategy, values, first, hands)
        gains = no_gains()
        for a in range(actions):
            place, row = base + 16 * a, first + a * hands
            prefetch(storage.other_regrets, node.soon + block * actions + 16 * a)
            stored, gain = load(regrets, place), load(values, row) - value
            store(values, row, new_regret(stored * scale, gain, weights))
            for lane in range(max(live - block, 0), 16):
                values[row + lane] = ZERO  # padding must not set the scale
            updated = load(values, row)
            gains = add_gain(gains, updated, gain)
            largest = maximum(largest, maximum(updated, zero - updated))
            if averages:
                move_mean(average, place, normalised(stored, strategy), weight, wobble)
        value = look_ahead(value, gains, ahead)
        if node.adds:
            value = value + load(values, node.target * hands + block)
        store(values, node.target * hands + block, value)
    first = node.child * hands
    spared = load(values, first)
    store(values, first, largest)
    top = ZERO
    for lane in range(16):
        top = max(top, values[first + lane])
    store(values, first, spared)
    if top == ZERO:
        top = ONE
    storage.own_scales[node.number] = top / TOP
    inverse_scale = splat(TOP / top)
    for block in range(0, hands, 16):
        base = node.slot + block * actions
        for a in range(actions):
            updated = load(values, (node.child + a) * hands + block)
            store_dithered(regrets, base + 16 * a, updated * inverse_scale, wobble)
