"""The values of a pot on a flop at every node, by recursion: the slow version of `PotValues`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.engines import PackedStrategies
from allstreets.engines.matrix.cards import Stage

Array = NDArray[np.float64]


def values_below(
    tree: BettingTree,
    payoffs: Any,
    stages: Sequence[Stage],
    strategies: PackedStrategies,
    root: int,
    player: Player,
    other: Array,
) -> dict[int, tuple[Array, Array]]:
    """By node, a player's counterfactual values [H], and the opponent's reach [H] they are for.

    `other` is his reach at `root`; he plays the strategies from there on.
    """
    every: dict[int, tuple[Array, Array]] = {}

    def values(node: int, other: Array) -> Array:
        found = below(node, other)
        every[node] = other, found
        return found

    def below(node: int, other: Array) -> Array:
        number = int(strategies.stages[node])
        stage, kind = stages[number], tree.kind[node]
        win, _, lose = payoffs[node, player].tolist()
        if kind == NodeKind.FOLD:
            folded: Array = win * (stage.pairs @ other)
            return folded
        if kind == NodeKind.SHOWDOWN:
            won: Array = (win - lose) / 2 * (stage.margin @ other)
            won += (win + lose) / 2 * (stage.pairs @ other)
            return won
        children = tree.children_of(node).tolist()
        if kind == NodeKind.CHANCE:
            after = int(strategies.stages[children[0]])
            down = stages[after].down
            if after == number or down is None:
                return values(children[0], other)
            moved: Array = down @ values(children[0], other @ down)
            return moved
        chances = strategies.at(node)[:, : len(stage.combos)]
        total: Array = np.zeros(len(stage.combos))
        for chance, child in zip(chances, children, strict=True):
            own = tree.player[node] == player
            total += chance * values(child, other) if own else values(child, other * chance)
        return total

    values(root, other)
    return every
