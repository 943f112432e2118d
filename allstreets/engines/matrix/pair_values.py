"""The value of every hand against every other hand, when both play stored strategies.

Values are chips that OOP wins on average, over the turns and rivers and over both players' mixed
actions; IP wins as much less. Where no combos of two hands fit beside the flop and each other they
cannot meet, and 0 stands there.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.betting import OOP, NodeKind, Outcome, Player
from allstreets.cards import COMBO_MASKS, HAND_COUNT, HAND_OF_COMBO
from allstreets.engines.matrix.game import MatrixGame
from allstreets.engines.matrix.kernels.pair_sums import PairTree, mean_over_pairs

COMBO_BITS = COMBO_MASKS.astype(np.int64)
HANDS = HAND_OF_COMBO.astype(np.int64)


def pair_tree(game: MatrixGame, payoffs: Floats) -> PairTree:
    """A game of one stage as the kernel reads it; good as long as it stores the same hands."""
    tree = game.tree
    decides = tree.kind == NodeKind.DECISION
    starts = np.zeros(tree.node_count, np.int64)
    for player in Player:
        nodes, first = game.decisions_of(0, player)
        starts[nodes] = first
    depth, action = np.zeros((2, tree.node_count), np.int64)
    for node in np.flatnonzero(~tree.is_terminal).tolist():
        children = tree.children_of(node)
        depth[children] = depth[node] + 1
        action[children] = np.arange(len(children))
    win, loss = payoffs[:, OOP, Outcome.WIN], payoffs[:, OOP, Outcome.LOSE]
    return PairTree(
        tree.parent.astype(np.int64),
        depth,
        np.where(decides, tree.player, -1).astype(np.int64),
        tree.child_count.astype(np.int64),
        action,
        starts,
        np.where(tree.is_terminal, (win - loss) / 2, 0.0),
        np.where(tree.is_terminal, (win + loss) / 2, 0.0),
    )


def first_stage_values(evaluate: Callable[[Floats], Floats], pairs: Floats) -> Floats:
    """[H, H]: the same for the hands of the first stage, in a game of any number of stages.

    `evaluate` gives OOP's values [H] against a reach [H] of IP. Those against a range that holds a
    single hand are those against that hand, times the `pairs` [H, H] of combos.
    """
    totals = np.stack([evaluate(alone) for alone in np.eye(len(pairs))], axis=1)
    return np.divide(totals, pairs, out=np.zeros_like(totals), where=pairs > 0)


def class_values(buckets: NDArray[np.int16], values: Floats) -> Floats:
    """[169, 169]: values of buckets [K, K] as means over the combos that fit beside each other.

    `buckets` [1326] gives each combo's bucket, −1 where the flop blocks it.
    """
    means = np.empty((HAND_COUNT, HAND_COUNT))
    combos, groups = np.flatnonzero(buckets >= 0), buckets.astype(np.int64)
    mean_over_pairs(combos, COMBO_BITS, HANDS, groups, values, means)
    return means
