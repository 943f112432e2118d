"""Own nodes whose regrets are 16-bit integers with one scale for each node and board.

Regret matching and normalising do not care for a scale, so only the update knows of it: the new
regrets of a node are put where the values of its actions stood, which nobody needs any more, and
when the largest is known all are rounded to the scale that makes it 32767.
"""

import numpy as np

from allstreets.kernels.dither import dither
from allstreets.kernels.exact_layout import Discounts, Floats, NodePlace, Storage
from allstreets.kernels.jit import kernel
from allstreets.kernels.simd import (
    LARGEST,
    TINY,
    fma,
    load,
    maximum,
    prefetch,
    splat,
    steps,
    store,
    store_dithered,
    where_positive,
)

TOP = np.float32(LARGEST)
ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@kernel
def update_scaled_node(
    node: NodePlace,
    values: Floats,
    storage: Storage,
    actions: int,
    hands: int,
    live: int,
    discounts: Discounts,
) -> None:
    """As `update_node`, for integers; `live` of the hands are real, the rest padding."""
    regrets, average = storage.own_regrets, storage.own_average
    zero = splat(ZERO)
    uniform, tiny = splat(ONE / np.float32(actions)), splat(TINY)
    keep_positive, keep_negative = splat(discounts.positive), splat(discounts.negative)
    floor, weight = splat(discounts.floor), splat(discounts.average)
    averages, wobble = discounts.average > ZERO, dither(discounts.phase)
    scale = splat(storage.own_scales[node.number])
    largest = zero
    for block in range(0, hands, 16):
        base = node.slot + block * actions
        total = zero
        for a in range(actions):
            total = total + maximum(load(regrets, base + 16 * a), zero)
        inverse = where_positive(total - tiny, splat(ONE) / total, zero)
        even = where_positive(total - tiny, zero, uniform)
        value = zero
        for a in range(actions):
            strategy = fma(maximum(load(regrets, base + 16 * a), zero), inverse, even)
            value = fma(strategy, load(values, (node.child + a) * hands + block), value)
        for a in range(actions):
            place, row = base + 16 * a, (node.child + a) * hands + block
            prefetch(storage.other_regrets, node.soon + block * actions + 16 * a)
            stored = load(regrets, place)
            regret = stored * scale
            gain = load(values, row) - value
            kept = regret * where_positive(regret, keep_positive, keep_negative)
            store(values, row, maximum(kept + gain, floor))
            for lane in range(max(live - block, 0), 16):
                values[row + lane] = ZERO  # padding must not set the scale
            updated = load(values, row)
            largest = maximum(largest, maximum(updated, zero - updated))
            if averages:
                strategy = fma(maximum(stored, zero), inverse, even)
                mean = load(average, place)
                moved = fma(weight, strategy * steps(average) - mean, mean)
                store_dithered(average, place, moved, wobble)
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
