"""Playing one postflop tree with the strategies of another: which node stands for which.

Trees of the same bet sizes and different stack-to-pot ratios have the same lines of play until
a player is all-in in one of them. Both are walked from the root at once:

1. Check, call and fold stand for themselves.
2. A bet or raise stands for the one that is nearest in size, by the ratio of their shares of the
   pot; of two that are equally near, for the smaller.
3. Where the hand is over in the other tree, or had no bet to match, nothing is known. As far as the
player knows, his chips are already in: he checks, and calls.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats
from allstreets.betting.tree import ActionKind, BettingTree, NodeKind
from allstreets.betting.words import pot_share

PASSIVE = (ActionKind.CHECK, ActionKind.CALL)


@dataclass(frozen=True)
class Match:
    """The counterpart of a tree's decision in another tree, the `model`."""

    node: int  # of the model
    places: tuple[int, ...]  # [A of the model]: the action of the tree that each is played as


def match_trees(tree: BettingTree, model: BettingTree) -> dict[int, Match | None]:
    """Every decision of `tree` with its counterpart; `None` where there is none."""
    matches: dict[int, Match | None] = {}
    waiting: list[tuple[int, int | None]] = [(0, 0)]
    while waiting:
        node, other = waiting.pop()
        if tree.is_terminal[node]:
            continue
        children = tree.children_of(node).tolist()
        if other is None or model.kind[other] != tree.kind[node]:
            waiting += [(child, None) for child in children]
            if tree.kind[node] == NodeKind.DECISION:
                matches[node] = None
            continue
        others = model.children_of(other).tolist()
        if tree.kind[node] == NodeKind.CHANCE:
            waiting.append((children[0], others[0]))
            continue
        places = tuple(_played_as(tree, children, model, choice) for choice in others)
        matches[node] = Match(other, places)
        for child in children:
            place = _nearest(model, others, tree, child)
            waiting.append((child, None if place is None else others[place]))
    return matches


def matched_strategy(
    tree: BettingTree, node: int, match: Match | None, model: Callable[[int], Floats], hands: int
) -> Floats:
    """[A, H]: the strategy at a decision, given the model's [A', H] by node."""
    children = tree.children_of(node).tolist()
    strategy = np.zeros((len(children), hands))
    if match is None:
        strategy[_passive(tree, children)] = 1.0
    else:
        np.add.at(strategy, list(match.places), model(match.node))
    return strategy


def _played_as(tree: BettingTree, children: Sequence[int], model: BettingTree, choice: int) -> int:
    """The index among `children` of the action that an action of the model is played as."""
    place = _nearest(tree, children, model, choice)
    return _passive(tree, children) if place is None else place


def _nearest(
    tree: BettingTree, children: Sequence[int], other: BettingTree, action: int
) -> int | None:
    """The index among `children` of the action nearest to the one that led to `other`'s node."""
    share = pot_share(other, action)
    if share is None:
        kinds = [_kind(tree, child) for child in children]
        return kinds.index(_kind(other, action))
    gaps = [
        (max(share / child_share, child_share / share), child_share, index)
        for index, child in enumerate(children)
        if (child_share := pot_share(tree, child)) is not None
    ]
    return min(gaps)[2] if gaps else None


def _passive(tree: BettingTree, children: Sequence[int]) -> int:
    return next(place for place, child in enumerate(children) if _kind(tree, child) in PASSIVE)


def _kind(tree: BettingTree, node: int) -> ActionKind:
    action = tree.actions[node]
    assert action is not None  # it is a child of a decision
    return action.kind
