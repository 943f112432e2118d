"""What every engine does at a decision: regret matching, the value, new regrets, the average.

The kernels on vectors are about sixteen hands. Stored numbers stand there as [hand / 16][action]
[16], so that those of a block's actions are neighbours, from `base` on; action a's values stand at
`row` + a · `stride`. Regrets are matched and sums of strategies normalised in the same way: an
action's share is the positive part of its number divided by the sum of these, and all actions' are
alike where that is 0.
"""

from typing import Any, NamedTuple

import numpy as np

from allstreets.base import Singles, inlined_kernel, inner_kernel
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


class Sharing(NamedTuple):
    """How sixteen hands share something out among their actions: max(number, 0) · factor + even."""

    factor: Any
    even: Any


class Following(NamedTuple):
    """What sixteen hands gain by the strategy of their new regrets, added up action by action."""

    total: Any  # of the positive parts of the new regrets
    gains: Any  # of their products with what the actions gain


class Keeping(NamedTuple):
    """What an iteration does to regrets, each sixteen times the same number."""

    positive: Any  # factor on positive regrets
    negative: Any  # factor on negative ones
    lowest: Any  # no regret falls below this


@inlined_kernel
def positive_sum(stored: Singles, base: int, actions: int) -> Any:
    """The sum of the positive parts of a block's numbers over its actions."""
    zero = splat(ZERO)
    total = zero
    for a in range(actions):
        total = total + maximum(load(stored, base + 16 * a), zero)
    return total


@inlined_kernel
def sharing(stored: Singles, base: int, actions: int, whole: Any) -> Sharing:
    """How a block's hands share out `whole`: 1 for their strategy, their reach for that below."""
    return sharing_by(positive_sum(stored, base, actions), actions, whole)


@inlined_kernel
def sharing_by(total: Any, actions: int, whole: Any) -> Sharing:
    """The same where the sum of the positive parts is known."""
    zero, some = splat(ZERO), total - splat(TINY)
    factor = where_positive(some, whole / total, zero)
    return Sharing(factor, where_positive(some, zero, whole * splat(ONE / np.float32(actions))))


@inlined_kernel
def share(number: Any, shared: Sharing) -> Any:
    """The share of an action with this stored number."""
    return fma(maximum(number, splat(ZERO)), shared.factor, shared.even)


@inlined_kernel
def mean_value(
    stored: Singles,
    base: int,
    actions: int,
    strategy: Sharing,
    values: Singles,
    row: int,
    stride: int,
) -> Any:
    """The value of a node under a strategy."""
    value = splat(ZERO)
    for a in range(actions):
        chance = share(load(stored, base + 16 * a), strategy)
        value = fma(chance, load(values, row + a * stride), value)
    return value


@inlined_kernel
def nothing_follows() -> Following:
    """Before the first action."""
    zero = splat(ZERO)
    return Following(zero, zero)


@inlined_kernel
def follow(so_far: Following, regret: Any, gain: Any) -> Following:
    """With one more action: its new regret, and by how much it was better than the node."""
    positive = maximum(regret, splat(ZERO))
    return Following(so_far.total + positive, fma(positive, gain, so_far.gains))


@inlined_kernel
def look_ahead(value: Any, following: Following, ahead: Any) -> Any:
    """The value of a node, moved by `ahead` towards that under the strategy which follows.

    It stays where no new regret is positive.
    """
    some, total = following.total - splat(TINY), following.total
    return fma(following.gains, where_positive(some, ahead / total, splat(ZERO)), value)


@inlined_kernel
def best_value(values: Singles, row: int, stride: int, actions: int) -> Any:
    """The value of a node's best action."""
    value = load(values, row)
    for a in range(1, actions):
        value = maximum(value, load(values, row + a * stride))
    return value


@inlined_kernel
def keeping(positive: np.float32, negative: np.float32, lowest: np.float32) -> Keeping:
    """The discounts of an iteration as vectors."""
    return Keeping(splat(positive), splat(negative), splat(lowest))


@inlined_kernel
def new_regret(regret: Any, gain: Any, keep: Keeping) -> Any:
    """A regret after an iteration in which its action was better than the node by `gain`."""
    kept = regret * where_positive(regret, keep.positive, keep.negative)
    return maximum(kept + gain, keep.lowest)


@inlined_kernel
def move_mean(average: Singles, place: int, chance: Any, weight: Any, wobble: Any) -> None:
    """Move a running mean, stored as fractions, towards what is played now by its weight."""
    mean = load(average, place)
    store_dithered(average, place, fma(weight, chance * steps(average) - mean, mean), wobble)


@inner_kernel
def split_reach(
    reach: Singles, row: int, child: int, stored: Singles, slot: int, actions: int, hands: int
) -> None:
    """Reach rows of one node's actions: the node's reach times the strategy.

    `stored` holds regrets, or an average strategy (a sum, or rounded to 16 bits).
    """
    for block in range(0, hands, 16):
        base = slot + block * actions
        shared = sharing(stored, base, actions, load(reach, row * hands + block))
        for a in range(actions):
            part = share(load(stored, base + 16 * a), shared)
            store(reach, (child + a) * hands + block, part)
