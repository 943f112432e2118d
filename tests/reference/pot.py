"""The value of a pot on a flop from a node on, by recursion: the slow version of `PotValues`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.engines import PackedStrategies
from allstreets.engines.matrix.cards import Stage

Array = NDArray[np.float64]


def value(
    tree: BettingTree,
    payoffs: Any,
    stages: Sequence[Stage],
    strategies: PackedStrategies,
    node: int,
    player: Player,
    other: Array,
) -> Array:
    """[H]: a player's counterfactual values at a node, given the opponent's reach there [H]."""

    def below(child: int, reach: Array) -> Array:
        return value(tree, payoffs, stages, strategies, child, player, reach)

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
            return below(children[0], other)
        moved: Array = down @ below(children[0], other @ down)
        return moved
    chances = strategies.at(node)[:, : len(stage.combos)]
    total: Array = np.zeros(len(stage.combos))
    for chance, child in zip(chances, children, strict=True):
        own = tree.player[node] == player
        total += chance * below(child, other) if own else below(child, other * chance)
    return total
