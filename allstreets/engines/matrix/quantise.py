"""The strategies of one pot of a matrix game as a bundle stores them.

All decisions of a flop are packed at once, since there are thousands of them.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Longs
from allstreets.betting import NodeKind, Player
from allstreets.engines.matrix.store import MatrixStore
from allstreets.engines.quantised import Numbers, Shares
from allstreets.engines.simd.quantise import pack_shares


@dataclass(frozen=True, eq=False)
class _Decisions:
    """The decisions of one player in one stage."""

    player: Player
    starts: Longs  # [nodes]: where their sums begin
    actions: Longs  # [nodes]
    rows: Longs  # [nodes]: where the probabilities of their first actions go
    places: Longs  # [H]: where hands are stored


class MatrixPacker:
    """Packs one flop after the other; any number of threads may use one."""

    def __init__(self, game: MatrixStore) -> None:
        self._game = game
        tree = game.tree
        self._decisions: list[list[_Decisions]] = []
        self._shapes: list[tuple[int, int]] = []
        for stage in range(game.cards.stages):
            here = (tree.kind == NodeKind.DECISION) & (game.stage_of_node == stage)
            counts = np.where(here, tree.child_count, 0).astype(np.int64)
            first = np.cumsum(counts) - counts
            both = []
            for player in Player:
                nodes, starts = game.decisions_of(stage, player)
                places = game.places_of_hands(stage, player)
                both.append(_Decisions(player, starts, counts[nodes], first[nodes], places))
            self._decisions.append(both)
            self._shapes.append((int(counts.sum()), game.cards.hands[stage]))

    def pack(self, flop: int, numbers: Numbers) -> tuple[Shares, ...]:
        """[actions, H] by stage: the average strategies of all its decisions."""
        found = []
        largest = int(np.iinfo(numbers).max)
        for stage, (both, shape) in enumerate(zip(self._decisions, self._shapes, strict=True)):
            # All-in on the flop leaves the later stages without decisions.
            packed: Shares = np.empty(shape if shape[0] else (0, 0), numbers)
            for one in both if shape[0] else ():
                sums = self._game.averages[stage][one.player][flop]
                pack_shares(sums, one.starts, one.actions, one.rows, one.places, largest, packed)
            found.append(packed)
        return tuple(found)
