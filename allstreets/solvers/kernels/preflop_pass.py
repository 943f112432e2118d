"""A half-iteration before the flop: a forward pass of reach and a backward pass of values.

With trembles, an action that is hardly taken is still reached (`add_trembles`): the opponent learns
his answers against the hands for which it costs least.

The tree is tiny, but all cores wait while it is traversed: a millisecond of Python and NumPy is a
tenth of an iteration of all flops on sixteen cores.

Axis letters: D decisions (parents first), S their actions, N nodes, E nodes where the hand ends
before the flop, H hands.
"""

import math
from typing import NamedTuple

from allstreets.base import Flags, Floats, Longs, Singles, inner_kernel, kernel

POSITIVE, NEGATIVE, LOWEST, AVERAGE, WEIGHT = range(5)
"""Indices of the discounts of an iteration."""

COMBOS = 1326.0
OPPOSING = 1225.0  # combos that fit beside any combo


class Trembles(NamedTuple):
    """The share of a range that takes an off-path action, and its hands."""

    share: float  # of a player's whole range, at the least; 0: no trembles
    below: float  # the same, of what gets to the decision: the smaller of the two counts
    temperature: float  # chips: a loss that makes a hand e times rarer
    spread: float  # the part of the trembles that all hands share alike
    losses: float  # how many iterations the stored losses add up


class PreflopLayout(NamedTuple):
    """The tree, its payoffs, and how often hands meet; built once, never changed."""

    decision: Longs  # [D]: nodes
    player: Longs  # [D]
    first: Longs  # [D + 1]: slots of a decision's actions
    child: Longs  # [S]: nodes
    ends: Longs  # [E]: nodes
    on_pairs: Floats  # [2, E]: by player, chips for every pair of combos …
    on_margin: Floats  # [2, E]: … and for the margin of an all-in
    pairs: Floats  # [H, H]: by the other's hand, then by own
    margin: Floats  # [H, H]: the same
    sizes: Floats  # [H]: combos


@inner_kernel
def match_regrets(regrets: Floats, closed: Flags, strategies: Floats) -> None:
    """Positive regrets [A, H] divided by their sum; uniform where there are none, closed ones 0."""
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


@inner_kernel
def add_trembles(
    sizes: Floats,
    gains: Floats,
    here: Floats,
    opponent: Floats,
    trembles: Trembles,
    below: Floats,
) -> float:
    """Raise a player's reach [H] below an action, where it is off-path, to the least share.

    Returns the part of the new reach that was there before.

    `gains` [H] are those of the action over the player's strategy, in chips times pairs of combos;
    −∞ are hands that may not take it. `here` [H] is his reach at the decision, `opponent` [H] the
    other's. The missing reach goes to the hands that lose least: logit weights exp(−loss / T),
    mixed with a small uniform part, so that no hand is a surprise.
    """
    arrives, takes, meets = 0.0, 0.0, 0.0
    for hand in range(len(sizes)):
        arrives += sizes[hand] * here[hand]
        takes += sizes[hand] * below[hand]
        meets += sizes[hand] * opponent[hand]
    missing = min(trembles.share * COMBOS, trembles.below * arrives) - takes
    if missing <= 0.0 or meets <= 0.0:
        return 1.0
    unit = trembles.temperature * trembles.losses * OPPOSING * meets / COMBOS
    least = -math.inf
    for hand in range(len(sizes)):
        if here[hand] > 0.0:
            least = max(least, min(gains[hand], 0.0) / sizes[hand])
    if least == -math.inf:
        return 1.0  # nobody may
    cheap, all_hands = 0.0, 0.0
    for hand in range(len(sizes)):
        if here[hand] > 0.0 and gains[hand] > -math.inf:
            loss = least - min(gains[hand], 0.0) / sizes[hand]
            cheap += sizes[hand] * here[hand] * math.exp(-loss / unit)
            all_hands += sizes[hand] * here[hand]
    for hand in range(len(sizes)):
        if here[hand] > 0.0 and gains[hand] > -math.inf:
            loss = least - min(gains[hand], 0.0) / sizes[hand]
            share = (1.0 - trembles.spread) * math.exp(-loss / unit) / cheap
            share += trembles.spread / all_hands
            below[hand] = min(below[hand] + missing * share * here[hand], here[hand])
    return takes / (takes + missing)


@kernel
def trembling_reach(
    layout: PreflopLayout,
    strategies: Floats,
    gains: Floats,
    trembles: Trembles,
    reach: Floats,
    meant: Floats,
) -> None:
    """Fill reach [N, 2, H] of strategies [S, H] with trembles; `gains` [S, H] of every action.

    `meant` [S] is the part of the reach below each action that does not tremble.
    """
    reach[0] = 1.0
    for decision in range(len(layout.decision)):
        node, acts = layout.decision[decision], layout.player[decision]
        for slot in range(layout.first[decision], layout.first[decision + 1]):
            below = reach[layout.child[slot]]
            for hand in range(strategies.shape[1]):
                below[acts, hand] = reach[node, acts, hand] * strategies[slot, hand]
                below[1 - acts, hand] = reach[node, 1 - acts, hand]
            meant[slot] = 1.0
            if trembles.share > 0.0:
                meant[slot] = add_trembles(
                    layout.sizes, gains[slot], reach[node, acts], reach[node, 1 - acts], trembles,
                    below[acts],
                )  # fmt: skip


@kernel
def preflop_forward(
    layout: PreflopLayout,
    player: int,
    regrets: Floats,
    closed: Flags,
    held: Flags,
    trembles: Trembles,
    strategies: Floats,
    reach: Floats,
    meant: Floats,
    values: Floats,
) -> None:
    """Fill strategies [S, H], reach [N, 2, H], and own values [N, H] of the ends before the flop.

    `closed` [S, H], or [0, H], are the actions that may not be played; `held` [S, H], or [0, H],
    those of hands that are locked, which do not tremble.
    """
    hands = regrets.shape[1]
    for decision in range(len(layout.decision)):
        first, last = layout.first[decision], layout.first[decision + 1]
        match_regrets(regrets[first:last], closed[first:last], strategies[first:last])
    gains = regrets
    if trembles.share > 0.0 and (len(closed) or len(held)):
        gains = regrets.copy()
        for slot in range(len(gains)):
            for hand in range(hands):
                if (len(closed) and closed[slot, hand]) or (len(held) and held[slot, hand]):
                    gains[slot, hand] = -math.inf
    trembling_reach(layout, strategies, gains, trembles, reach, meant)
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
def preflop_backward(
    layout: PreflopLayout,
    player: int,
    regrets: Floats,
    sums: Floats,
    strategies: Floats,
    reach: Floats,
    meant: Floats,
    values: Floats,
    mask: Flags,
    now: Floats,
    small_share: float,
) -> None:
    """Values of all nodes from those of the ends and leaves; regrets and sums [S, H] on the way.

    `mask` [N, H], or [0, H] for all, are the player's hands that get to a node by open actions: a
    closed action gains nothing, and nothing below it changes. `now` [5] are the discounts. The
    effect of the opponent's trembles stays below the action by which he trembles.
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
                    row[hand] += meant[slot] * below[hand]
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
