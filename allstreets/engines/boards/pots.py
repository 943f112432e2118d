"""All pots on a flop whose rivers are in the same groups, worked on together.

What belongs to the cards, the lists of combos and the matrices, is read once for all pots, and the
lines of all pots fill the lanes of the vectors. The pots stay games of their own (`subgames`):
their numbers stand one after the other in arrays that they share.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Singles
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
from allstreets.cfr import IterationWeights
from allstreets.engines.boards.cards import FlopBoards
from allstreets.engines.boards.subgame import BoardsLayout, BoardsSubgame, NewArray, PartOf
from allstreets.engines.exact.cards import whole_vectors
from allstreets.engines.exact.kernels.layout import UPDATE
from allstreets.engines.exact.strategies import play_hand_locks, play_locks
from allstreets.engines.joined_trees import Trees
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS, KernelWeights
from allstreets.engines.simd.vectors import aligned


class BoardsPots:
    """The layouts of P pots, each by itself and all together: the same on every flop."""

    def __init__(self, trees: Trees, groups: int, new: NewArray = aligned) -> None:
        self.each = [BoardsLayout([tree], groups) for tree in trees]
        self.together = BoardsLayout(trees, groups, new)

    def on(self, cards: FlopBoards, ranges: int) -> "PotsOnFlop":
        """The games of a flop, in the groups of a pair of ranges."""
        return PotsOnFlop(self, cards, ranges)


class PotsOnFlop:
    """P pots on one flop; reach and values are by class, [P, 169]."""

    def __init__(self, pots: BoardsPots, cards: FlopBoards, ranges: int) -> None:
        self._together = BoardsSubgame(pots.together, cards, ranges)
        self.subgames = [
            BoardsSubgame(layout, cards, ranges, part)
            for layout, part in zip(pots.each, _parts(self._together, pots.each), strict=True)
        ]
        for subgame in self.subgames:
            play_locks(subgame)
        play_hand_locks(self._together)  # whose numbers are theirs, but which knows other flags
        hands = cards.streets[0].hands[Player.OOP][0]
        self._class = HAND_OF_COMBO[hands.first].astype(np.int64)
        self._combos = hands.sizes.astype(np.float64)
        self._padded = whole_vectors(len(self._class))

    def step(self, player: Player, opponent_reach: Floats, now: IterationWeights) -> Floats:
        """[P, 169]: a half-iteration of a player against the opponent's reach [P, 169]."""
        weights = [subgame.kernel_weights(player, now) for subgame in self.subgames]
        if all(found == weights[0] for found in weights):
            return self.run(player, opponent_reach, UPDATE, weights[0])
        # Some have learned for longer than others.
        return np.stack(
            [
                self._by_class(
                    subgame.pass_through(player, self._by_hand(row[None]), UPDATE, found),
                    [subgame.scale[player]],
                )[0]
                for subgame, row, found in zip(self.subgames, opponent_reach, weights, strict=True)
            ]
        )

    def run(
        self, player: Player, opponent_reach: Floats, mode: int, weights: KernelWeights = NO_WEIGHTS
    ) -> Floats:
        """[P, 169]: values from one pass, in chips times pairs of combos."""
        found = self._together.pass_through(player, self._by_hand(opponent_reach), mode, weights)
        return self._by_class(found, [subgame.scale[player] for subgame in self.subgames])

    def iterate(self, reach: Floats, chosen: Flags, every: Sequence[IterationWeights]) -> None:
        """Whole iterations of the chosen pots [P] with a fixed reach [2, P, 169]."""
        if chosen.all():
            for now in every:
                for player in Player:
                    self.step(player, reach[player.opponent], now)
            return
        combos = HAND_OF_COMBO[self._together.streets[0].combos(Player.OOP, 0)]
        for pot in np.flatnonzero(chosen).tolist():
            oop, ip = reach[:, pot, combos]
            self.subgames[pot].iterate((oop, ip), every)

    def _by_hand(self, opponent_reach: Floats) -> Singles:
        """[P, H]: reach by hand of the flop in the scale of the subgames, padding zero."""
        rows = np.zeros((len(opponent_reach), self._padded), np.float32)
        rows[:, : len(self._class)] = opponent_reach[:, self._class] / self._combos.sum()
        return rows

    def _by_class(self, values: Singles, scale: Sequence[float]) -> Floats:
        """[P, 169]: totals of the classes, from values [P, H] of one combo of each hand."""
        totals = values[:, : len(self._class)] * self._combos
        return np.stack(
            [
                np.bincount(self._class, row, HAND_COUNT) * factor
                for row, factor in zip(totals, scale, strict=True)
            ]
        )


def _parts(whole: BoardsSubgame, layouts: Sequence[BoardsLayout]) -> Iterator[PartOf]:
    """Every pot's part of the arrays of all of them."""
    ends = [[0, 0] for _ in whole.levels]  # of the pots so far, by street and player
    for layout in layouts:
        regrets: list[list[NDArray[Any]]] = []
        averages: list[list[NDArray[Any]]] = []
        for level, slots in enumerate(layout.slots):
            parts = []
            for player in Player:
                rows = int(whole.boards[player][level].own_rows[-1])
                end = ends[level][player] + slots.actions[player] * rows
                parts.append(slice(ends[level][player], end))
                ends[level][player] = end
            for kept, arrays in ((regrets, whole.regrets), (averages, whole.averages)):
                kept.append([arrays[level][player][parts[player]] for player in Player])
        yield PartOf(whole, (regrets, averages))
