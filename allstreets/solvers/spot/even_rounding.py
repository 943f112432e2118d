"""Rounding a strategy so that its actions are taken as often as before.

What is stored of a strategy is rounded hand by hand, and so is how often it takes an action. Here
some hands are moved by a step or two of what can be stored, until the frequencies are met again.
Steps of hands differ in size, as their weights do: one step, or two that nearly cancel out, change
a frequency by as little as it takes.
"""

from collections.abc import Callable
from itertools import permutations

import numpy as np

from allstreets.base import Floats, Longs

Stored = Callable[[Floats], Floats]
"""Rounds strategies [A, H] to what can be stored."""

STEPS = (2.0**-24, 2.0**-20, 2.0**-16, 2.0**-15)  # of probabilities; some are rounded away
CLOSE = 1e-13  # of frequencies
ROUNDS = 1_000  # a dozen are usual
PAIRED = 600  # steps of which two are taken at once


def evenly_rounded(wanted: Floats, weights: Floats, alike: Longs, stored: Stored) -> Floats:
    """[A, H]: the strategy `wanted` [A, H] as it can be stored, its actions taken as often.

    Hands with the same number in `alike` [H] and the same strategy keep playing alike. A hand that
    never takes an action never will.
    """
    _, first, group = np.unique(
        np.vstack([alike, wanted]), axis=1, return_index=True, return_inverse=True
    )
    group = group.reshape(-1)
    shares = np.bincount(group, weights / weights.sum(), minlength=len(first))
    goal, played = wanted[:, first] @ shares, stored(wanted[:, first])
    for _ in range(ROUNDS):
        error = goal - played @ shares
        worst = np.abs(error).max()
        if worst <= CLOSE:
            break
        hands, moved = _steps(played, stored)
        effects = shares[hands] * (moved - played[:, hands])  # [A, M]
        left = np.abs(error[:, None] - effects).max(axis=0)
        chosen = [int(left.argmin())] if left.min(initial=np.inf) < worst else []
        if not chosen:
            chosen = _pair(hands, effects, error)
        if not chosen:
            break
        played[:, hands[chosen]] = moved[:, chosen]
    return played[:, group]


def _steps(played: Floats, stored: Stored) -> tuple[Longs, Floats]:
    """(hands [M], strategies [A, M]): every step of a hand from one action to another."""
    found = [(np.zeros(0, np.int64), played[:, :0])]
    for more, less in permutations(range(len(played)), 2):
        hands = np.flatnonzero((played[more] > 0) & (played[less] > 0))
        for step in STEPS:
            moved = played[:, hands]
            steps = np.minimum(step, moved[less])
            moved[more] += steps
            moved[less] -= steps
            found.append((hands, stored(moved)))
    hands, moved = (np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
    differ = (moved != played[:, hands]).any(axis=0)
    return hands[differ], moved[:, differ]


def _pair(hands: Longs, effects: Floats, error: Floats) -> list[int]:
    """Two steps of different hands that together leave less of the error; none: []."""
    sizes = np.abs(effects).max(axis=0)
    order = np.argsort(sizes, kind="stable")
    some = order[np.linspace(0, len(order) - 1, min(PAIRED, len(order))).astype(np.int64)]
    both = effects[:, some, None] + effects[:, None, some]  # [A, M, M]
    left = np.abs(error[:, None, None] - both).max(axis=0)
    left[hands[some][:, None] == hands[some]] = np.inf
    if left.min(initial=np.inf) >= np.abs(error).max():
        return []
    one, other = np.unravel_index(int(left.argmin()), left.shape)
    return [int(some[one]), int(some[other])]
