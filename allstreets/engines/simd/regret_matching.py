"""The step at a decision that all vector engines share: strategy, value, regrets, average, reach.

Kernels on vectors work on sixteen hands. Stored numbers stand there as [hand / 16][action] [16], so
that those of a block's actions are neighbours, from `base` on; action a's values stand at `row` + a
· `stride`. Regrets are matched and sums of strategies normalised in the same way: an action's share
is the positive part of its number divided by their sum, and uniform where that is 0.
"""

from typing import Any, NamedTuple

import numpy as np

from allstreets.base import Singles, inlined_kernel, inner_kernel
from allstreets.engines.simd.iteration_weights import KernelWeights
from allstreets.engines.simd.vectors import (
    TINY,
    fma,
    load,
    maximum,
    splat,
    steps,
    store,
    store_dithered,
    where_positive,
)

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


class Normaliser(NamedTuple):
    """Shares of actions from stored numbers of sixteen hands: max(number, 0) · factor + even."""

    factor: Any
    even: Any


class NextGains(NamedTuple):
    """The gain of sixteen hands by the strategy of their new regrets, summed action by action."""

    total: Any  # of the positive parts of the new regrets
    gains: Any  # of their products with what the actions gain


@inlined_kernel
def positive_sum(stored: Singles, base: int, actions: int) -> Any:
    """The sum of the positive parts of a block's numbers over its actions."""
    zero = splat(ZERO)
    total = zero
    for a in range(actions):
        total = total + maximum(load(stored, base + 16 * a), zero)
    return total


@inlined_kernel
def normaliser(stored: Singles, base: int, actions: int, whole: Any) -> Normaliser:
    """The normaliser of a block whose shares sum to `whole`: 1, or the reach of the hands."""
    return normaliser_of(positive_sum(stored, base, actions), actions, whole)


@inlined_kernel
def normaliser_of(total: Any, actions: int, whole: Any) -> Normaliser:
    """The same where the sum of the positive parts is known."""
    zero, some = splat(ZERO), total - splat(TINY)
    factor = where_positive(some, whole / total, zero)
    return Normaliser(factor, where_positive(some, zero, whole * splat(ONE / np.float32(actions))))


@inlined_kernel
def normalised(number: Any, by: Normaliser) -> Any:
    """The share of an action with this stored number."""
    return fma(maximum(number, splat(ZERO)), by.factor, by.even)


@inlined_kernel
def mean_value(
    stored: Singles,
    base: int,
    actions: int,
    strategy: Normaliser,
    values: Singles,
    row: int,
    stride: int,
) -> Any:
    """The value of a node under a strategy."""
    value = splat(ZERO)
    for a in range(actions):
        chance = normalised(load(stored, base + 16 * a), strategy)
        value = fma(chance, load(values, row + a * stride), value)
    return value


@inlined_kernel
def no_gains() -> NextGains:
    """The gains before the first action."""
    zero = splat(ZERO)
    return NextGains(zero, zero)


@inlined_kernel
def add_gain(so_far: NextGains, regret: Any, gain: Any) -> NextGains:
    """One more action: its new regret, and by how much it was better than the node."""
    positive = maximum(regret, splat(ZERO))
    return NextGains(so_far.total + positive, fma(positive, gain, so_far.gains))


@inlined_kernel
def look_ahead(value: Any, gains: NextGains, ahead: Any) -> Any:
    """The value of a node, moved by `ahead` towards that under the strategy which follows.

    It stays where no new regret is positive.
    """
    some, total = gains.total - splat(TINY), gains.total
    return fma(gains.gains, where_positive(some, ahead / total, splat(ZERO)), value)


@inlined_kernel
def best_value(values: Singles, row: int, stride: int, actions: int) -> Any:
    """The value of a node's best action."""
    value = load(values, row)
    for a in range(1, actions):
        value = maximum(value, load(values, row + a * stride))
    return value


@inlined_kernel
def new_regret(regret: Any, gain: Any, weights: KernelWeights) -> Any:
    """A regret after an iteration in which its action was better than the node by `gain`."""
    factor = where_positive(regret, splat(weights.positive), splat(weights.negative))
    return maximum(regret * factor + gain, splat(weights.floor))


@inlined_kernel
def move_mean(average: Singles, place: int, chance: Any, weight: Any, wobble: Any) -> None:
    """Move a running mean, stored as fractions, towards the current strategy by its weight."""
    mean = load(average, place)
    store_dithered(average, place, fma(weight, chance * steps(average) - mean, mean), wobble)


@inlined_kernel
def trembling(by: Normaliser, whole: Any, actions: int, tremble: np.float32) -> Normaliser:
    """The same shares with trembles: (1 − A · ε) · share + ε · `whole`."""
    rest = splat(ONE - np.float32(actions) * tremble)
    return Normaliser(by.factor * rest, fma(by.even, rest, whole * splat(tremble)))


@inner_kernel
def split_reach(
    reach: Singles,
    row: int,
    child: int,
    stored: Singles,
    slot: int,
    actions: int,
    hands: int,
    tremble: np.float32,
) -> None:
    """Reach rows of one node's actions: the node's reach times the strategy.

    `stored` holds regrets, or an average strategy (a sum, or rounded to 16 bits). A `tremble` of
    the reach takes every action, whatever the strategy.
    """
    for block in range(0, hands, 16):
        base, whole = slot + block * actions, load(reach, row * hands + block)
        portions = normaliser(stored, base, actions, whole)
        if tremble > ZERO:
            portions = trembling(portions, whole, actions, tremble)
        for a in range(actions):
            part = normalised(load(stored, base + 16 * a), portions)
            store(reach, (child + a) * hands + block, part)
