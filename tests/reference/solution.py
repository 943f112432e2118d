"""The values of a decision, pair of hands by pair of hands: the slow version of the view."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind

Array = NDArray[np.float64]
Strategy = Callable[[int], Array]  # node → [A, hands]
Shares = Callable[[int], Array]  # node → [hands, hands]: share of the pot that the row wins


def pair_result(
    tree: BettingTree, payoffs: Any, at: Strategy, share: Shares, node: int, hands: tuple[int, int]
) -> tuple[float, float]:
    """Mean results of OOP and IP with these hands from a node on, hands staying as they are.

    A showdown is won with its share and lost with the rest: ties count half either way.
    """
    kind = tree.kind[node]
    if kind == NodeKind.FOLD:
        return float(payoffs[node, 0, 0]), float(payoffs[node, 1, 0])
    if kind == NodeKind.SHOWDOWN:
        won = float(share(node)[hands])
        first = won * payoffs[node, 0, 0] + (1 - won) * payoffs[node, 0, 2]
        second = (1 - won) * payoffs[node, 1, 0] + won * payoffs[node, 1, 2]
        return float(first), float(second)
    children = tree.children_of(node).tolist()
    if kind == NodeKind.CHANCE:
        return pair_result(tree, payoffs, at, share, children[0], hands)
    chances = at(node)[:, hands[int(tree.player[node])]]
    results = [pair_result(tree, payoffs, at, share, child, hands) for child in children]
    return (
        sum(float(p) * result[0] for p, result in zip(chances, results, strict=True)),
        sum(float(p) * result[1] for p, result in zip(chances, results, strict=True)),
    )


def reach_of(tree: BettingTree, at: Strategy, node: int, start: Array) -> Array:
    """[2, hands]: both players' reach at a node, from `start` [2, hands] at the root."""
    reach = start.copy()
    for here, below in pairwise(tree.path_to(node)):
        if tree.kind[here] == NodeKind.DECISION:
            action = tree.children_of(here).tolist().index(below)
            reach[int(tree.player[here])] *= at(here)[action]
    return reach


def hand_ev(
    tree: BettingTree,
    payoffs: Any,
    at: Strategy,
    share: Shares,
    pairs: Array,
    other: Array,
    node: int,
    player: int,
    hand: int,
) -> float:
    """EV in chips of a player's hand at a node against the other's reach [hands]."""
    total = met = 0.0
    for theirs, weight in enumerate((pairs[hand] * other).tolist()):
        if weight:
            hands = (hand, theirs) if player == 0 else (theirs, hand)
            total += weight * pair_result(tree, payoffs, at, share, node, hands)[player]
            met += weight
    return total / met
