"""A half-iteration before the flop: down with both players' reach, back up with values.

The tree is tiny, but below it all cores are at work, and above it they wait: what takes Python and
NumPy a millisecond is a tenth of an iteration of all flops on sixteen cores.

Axis letters: D decisions (parents first), S their actions, N nodes, E nodes where the hand ends
before the flop, H hands.
"""

from typing import NamedTuple

from allstreets.base import Flags, Floats, Longs, Singles, inner_kernel, kernel

POSITIVE, NEGATIVE, LOWEST, AVERAGE, WEIGHT = range(5)
"""Places in the discounts of an iteration."""


class PreflopLayout(NamedTuple):
    """The tree, what its ends pay, and how often hands meet; built once, never changed."""

    decision: Longs  # [D]: nodes
    player: Longs  # [D]
    first: Longs  # [D + 1]: slots of a decision's actions
    child: Longs  # [S]: nodes
    ends: Longs  # [E]: nodes
    on_pairs: Floats  # [2, E]: by player, chips for every pair of combos …
    on_margin: Floats  # [2, E]: … and for the margin of an all-in
    pairs: Floats  # [H, H]: by the other's hand, then by own
    margin: Floats  # [H, H]: the same


@inner_kernel
def match_regrets(regrets: Floats, closed: Flags, strategies: Floats) -> None:
    """Positive regrets [A, H] divided by their sum; even where there are none, closed ones 0."""
    actions, hands = regrets.shape
    for hand in range(hands):
        total, opened = 0.0, 0
        for action in range(actions):
            is_open = len(closed) == 0 or not closed[action, hand]
            opened += is_open
            positive = regrets[action, hand] if is_open and regrets[action, hand] > 0.0 else 0.0
            strategies[action, hand] = positive
            total += positive
        for action in range(actions):
            if total > 0.0:
                strategies[action, hand] /= total
            else:
                is_open = len(closed) == 0 or not closed[action, hand]
                strategies[action, hand] = 1.0 / opened if is_open else 0.0


@kernel
def preflop_down(
    layout: PreflopLayout,
    player: int,
    regrets: Floats,
    closed: Flags,
    strategies: Floats,
    reach: Floats,
    values: Floats,
) -> None:
    """Fill strategies [S, H], reach [N, 2, H], and own values [N, H] of the ends before the flop.

    `closed` [S, H], or [0, H], are the actions that may not be played.
    """
    hands = regrets.shape[1]
    reach[0] = 1.0
    for decision in range(len(layout.decision)):
        first, last = layout.first[decision], layout.first[decision + 1]
        match_regrets(regrets[first:last], closed[first:last], strategies[first:last])
        node, acts = layout.decision[decision], layout.player[decision]
        for slot in range(first, last):
            below = reach[layout.child[slot]]
            below[:] = reach[node]
            for hand in range(hands):
                below[acts, hand] *= strategies[slot, hand]
    for end in range(len(layout.ends)):
        values[layout.ends[end]] = 0.0
    for other in range(hands):
        met, margin = layout.pairs[other], layout.margin[other]
        for end in range(len(layout.ends)):
            node = layout.ends[end]
            comes = reach[node, 1 - player, other]
            if comes > 0.0:
                row = values[node]
                each = comes * layout.on_pairs[player, end]
                shown = comes * layout.on_margin[player, end]
                if shown != 0.0:
                    for hand in range(hands):
                        row[hand] += shown * margin[hand] + each * met[hand]
                else:
                    for hand in range(hands):
                        row[hand] += each * met[hand]


@kernel
def preflop_up(
    layout: PreflopLayout,
    player: int,
    regrets: Floats,
    sums: Floats,
    strategies: Floats,
    reach: Floats,
    values: Floats,
    mask: Flags,
    now: Floats,
    small_share: float,
) -> None:
    """Values of all nodes from those of the ends and leaves; regrets and sums [S, H] on the way.

    `mask` [N, H], or [0, H] for all, are the own hands that get to a node by open actions: a closed
    action gains nothing, and below it nothing changes at all. `now` [5] are the discounts.
    """
    hands = regrets.shape[1]
    for decision in range(len(layout.decision) - 1, -1, -1):
        first, last = layout.first[decision], layout.first[decision + 1]
        node = layout.decision[decision]
        row = values[node]
        row[:] = 0.0
        if layout.player[decision] != player:
            share = reach[node, 1 - player]
            for slot in range(first, last):
                below = values[layout.child[slot]]
                for hand in range(hands):
                    row[hand] += below[hand]
                    added = now[WEIGHT] * strategies[slot, hand] * (share[hand] + small_share)
                    sums[slot, hand] = sums[slot, hand] * now[AVERAGE] + added
            continue
        for slot in range(first, last):
            below = values[layout.child[slot]]
            for hand in range(hands):
                row[hand] += strategies[slot, hand] * below[hand]
        for slot in range(first, last):
            child = layout.child[slot]
            below = values[child]
            for hand in range(hands):
                before = regrets[slot, hand]
                kept = before * (now[POSITIVE] if before > 0.0 else now[NEGATIVE])
                gain = below[hand] - row[hand]
                if len(mask):
                    gain = gain if mask[child, hand] else 0.0
                    kept = kept if mask[node, hand] else before
                regrets[slot, hand] = max(kept + gain, now[LOWEST])


@kernel
def add_weighted(
    weights: Floats,
    values: Floats | Singles,
    totals: Floats,
) -> None:
    """Add Σ over flops of weights [K] · values [P, K, H] to totals [P, H], flop after flop."""
    for pot in range(values.shape[0]):
        total = totals[pot]
        for flop in range(values.shape[1]):
            weight, row = weights[flop], values[pot, flop]
            for hand in range(len(total)):
                total[hand] += weight * row[hand]
