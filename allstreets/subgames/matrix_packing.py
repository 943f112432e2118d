"""The strategies of one pot of a matrix game as a bundle stores them.

All decisions of a flop are packed at once, since there are thousands of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import NodeKind, Player
from allstreets.kernels.simd import LANES
from allstreets.subgames.matrix_model import padded
from allstreets.subgames.matrix_store import MatrixStore
from allstreets.subgames.packed import Numbers, Shares, encode

Longs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Group:
    """Decisions of one player and stage with the same number of actions."""

    player: Player
    hands: Longs  # that are stored, in their order
    stored: Longs  # [nodes, actions · H]: where their sums stand
    rows: Longs  # [nodes, actions]: where their probabilities go


class MatrixPacker:
    """Packs one flop after the other; any number of threads may use one."""

    def __init__(self, game: MatrixStore) -> None:
        self._game = game
        tree = game.tree
        self._groups: list[list[_Group]] = []
        self._shapes: list[tuple[int, int]] = []
        for stage in range(game.cards.stages):
            here = (tree.kind == NodeKind.DECISION) & (game.stage_of_node == stage)
            counts = np.where(here, tree.child_count, 0)
            first = np.cumsum(counts) - counts
            groups = []
            for player in Player:
                kept = game.stored_hands(stage, player)
                length = padded(len(kept))
                for actions in np.unique(counts[here & (tree.player == player)]).tolist():
                    nodes = np.flatnonzero(here & (tree.player == player) & (counts == actions))
                    starts = game.slot_of_node[nodes] * length
                    groups.append(
                        _Group(
                            player,
                            kept[: game.cards.hands[stage]],
                            starts[:, None] + np.arange(actions * length),
                            first[nodes][:, None] + np.arange(actions),
                        )
                    )
            self._groups.append(groups)
            self._shapes.append((int(counts.sum()), game.cards.hands[stage]))

    def pack(self, flop: int, numbers: Numbers) -> tuple[Shares, ...]:
        """[actions, H] by stage: the average strategies of all its decisions."""
        found = []
        for stage, (groups, shape) in enumerate(zip(self._groups, self._shapes, strict=True)):
            # All-in on the flop leaves the later stages without decisions.
            packed: Shares = np.zeros(shape if shape[0] else (0, 0), numbers)
            for group in groups:
                sums = self._game.averages[stage][group.player][flop, group.stored]
                nodes, actions = group.rows.shape
                by_lane = sums.reshape(nodes, -1, actions, LANES)
                by_action = by_lane.transpose(0, 2, 1, 3).reshape(nodes, actions, -1)
                of_all = np.zeros((nodes, actions, shape[1]), np.float32)
                of_all[:, :, group.hands] = by_action[:, :, : len(group.hands)]
                packed[group.rows] = encode(of_all, numbers, axis=1)
            found.append(packed)
        return tuple(found)
