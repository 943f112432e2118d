"""A bet that was made, in a tree that need not have its size.

Between two sizes A < x < B of the tree (in pots) a bet of x counts as A with the chance

    (B − x)(1 + A) / ((B − A)(1 + x))

and as B otherwise: the pseudo-harmonic mapping (Ganzfried and Sandholm, "Action Translation in
Extensive-Form Games with Large Action Spaces", 2013), under which a player who answers a pot-size
bet as he should gains nothing by bets a little below or above it. Outside all sizes the nearest one
counts; a bet never counts as a check or a call. All-in is all-in, whatever the stacks.
"""

from dataclasses import dataclass
from random import Random

from allstreets.betting import (
    BIG_BLINDS,
    Action,
    ActionKind,
    BettingTree,
    action_text,
    choices,
    pot_share,
)
from allstreets.interop import Moment

SAME = 1e-3  # pots: what rounding to chips can cost, and no one plays differently for


@dataclass(frozen=True)
class Draws:
    """A random number for every action of a hand, the same in every run with a seed."""

    seed: int
    hand: str

    def at(self, place: int) -> float:
        """From 0 to 1, for an action by its place."""
        return Random(f"{self.seed}:{self.hand}:{place}").random()


@dataclass(frozen=True)
class Mapped:
    """Where an action leads in a tree."""

    node: int  # the child
    place: int  # among the actions of the decision
    same: bool  # whether it is what was done, to rounding
    words: tuple[str, ...]  # [A]: the actions of the decision, amounts in big blinds


def chance_of_smaller(smaller: float, larger: float, size: float) -> float:
    """How often a bet of `size` counts as the smaller of two sizes, all in pots.

    >>> chance_of_smaller(0.5, 1.0, 0.5), chance_of_smaller(0.5, 1.0, 1.0)
    (1.0, 0.0)
    """
    return (larger - size) * (1 + smaller) / ((larger - smaller) * (1 + size))


def map_action(tree: BettingTree, node: int, moment: Moment, draw: float) -> Mapped | None:
    """The action of a decision that a played one counts as; `draw` from 0 to 1 decides.

    None: nothing like it is offered there.
    """
    offered = list(choices(tree, node))
    place, same = _place(tree, offered, moment, draw)
    if place is None:
        return None
    words = tuple(action_text(action, BIG_BLINDS) for _, action in offered)
    return Mapped(offered[place][0], place, same, words)


def _place(
    tree: BettingTree, offered: list[tuple[int, Action]], moment: Moment, draw: float
) -> tuple[int | None, bool]:
    """The place of an action among those that are offered, and whether it is the same one."""
    kinds = [action.kind for _, action in offered]
    kind = moment.action.kind
    sizes = [
        (float(pot_share(tree, child) or 0), place)
        for place, (child, action) in enumerate(offered)
        if action.kind >= ActionKind.BET
    ]
    if kind < ActionKind.BET:
        return (kinds.index(kind) if kind in kinds else None), True
    if not sizes:
        # Who raises where the tree is all-in already puts in all that he can: he calls.
        call = ActionKind.CALL
        return (kinds.index(call) if call in kinds else None), False
    if moment.is_all_in:
        place = sizes[-1][1]
        return place, kinds[place] == ActionKind.ALL_IN
    size = float(moment.pot_share)
    gap, place = min((abs(share - size), place) for share, place in sizes)
    return (place, True) if gap <= SAME else (_between(sizes, size, draw), False)


def _between(sizes: list[tuple[float, int]], size: float, draw: float) -> int:
    below = [one for one in sizes if one[0] < size]
    above = [one for one in sizes if one[0] > size]
    if not below:
        return above[0][1]
    if not above:
        return below[-1][1]
    (smaller, low), (larger, high) = below[-1], above[0]
    return low if draw < chance_of_smaller(smaller, larger, size) else high
