"""How much of a player's hands gets to his decisions of a street, by his own actions."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from allstreets.base import Floats
from allstreets.betting import BettingTree, NodeKind, Street

Weights = dict[int, Floats]  # node → [H]
CACHED_STREETS = 256


class _Step(NamedTuple):
    node: int
    player: int  # −1: a card is dealt
    children: tuple[int, ...]


@lru_cache(CACHED_STREETS)
def _steps(tree: BettingTree, street: Street) -> tuple[_Step, ...]:
    """Decisions and deals of a street in pre-order; trees are compared by identity."""
    kinds = np.isin(tree.kind, (NodeKind.DECISION, NodeKind.CHANCE))
    nodes = np.flatnonzero(kinds & (tree.street == street)).tolist()
    return tuple(
        _Step(node, int(tree.player[node]), tuple(tree.children_of(node).tolist()))
        for node in nodes
    )


def own_reach(
    tree: BettingTree,
    street: Street,
    player: int,
    entering: Weights,
    chances: Mapping[int, Floats],
) -> tuple[Weights, Weights]:
    """Weights at the player's decisions of a street, and at the first nodes of the next one.

    `entering` are those with which the street begins, `chances` [A, H] his strategies there.
    """
    found = dict(entering)
    at: Weights = {}
    leaving: Weights = {}
    for node, acts, children in _steps(tree, street):
        here = found.pop(node, None)
        if here is None:
            continue
        if tree.kind[node] == NodeKind.CHANCE:
            leaving |= dict.fromkeys(children, here)
        elif acts == player:
            at[node] = here
            found |= dict(zip(children, chances[node] * here, strict=True))
        else:
            found |= dict.fromkeys(children, here)
    return at, leaving
