"""Average strategies of an exact subgame, read and set by combo.

Numbers of a node on a board are in R rows, padding included: a row is a hand, or a bucket.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs
from allstreets.betting import BettingTree, Player, Street
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.simd.vectors import LANES, LARGEST, widen

CACHED_STREETS = 64
Averages = list[list[NDArray[Any]]]  # by street and player, as `ExactSubgame.averages`


def average_strategy(subgame: ExactSubgame, level: int, number: int, node: int) -> Floats:
    """[A, C]: the average strategy of a tree node on board `number` of its street, by combo."""
    player = Player(int(subgame.tree.player[node]))
    actions = int(subgame.tree.child_count[node])
    stored = widen(subgame.stored_at(subgame.averages, level, number, node))
    by_action = stored.transpose(1, 0, 2).reshape(actions, -1)
    weights = by_action[:, combo_rows(subgame, level, number, player)].astype(np.float64)
    weights = np.maximum(weights, 0.0)
    total = weights.sum(axis=0)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 1.0 / actions)


def set_average_strategy(
    subgame: ExactSubgame, level: int, number: int, node: int, strategy: Floats
) -> None:
    """Let the average strategy of a tree node on a board be `strategy` [A, C], by combo.

    A bucket plays the mean of its hands' strategies. At a locked node it becomes the strategy that
    is played there.
    """
    player = Player(int(subgame.tree.player[node]))
    stored = subgame.stored_at(subgame.averages, level, number, node)
    rows = np.zeros((len(strategy), len(stored) * LANES))
    hands, buckets = subgame.streets[level].hands[player][number], subgame.buckets[level]
    if buckets is None:
        rows[:, hands.hand] = strategy
    else:
        by_hand = np.zeros((len(strategy), len(hands.first)))
        by_hand[:, hands.hand] = strategy
        row, share = buckets[player].of_board(subgame.streets[level].lists[player], number)
        for chances, played in zip(rows, by_hand * share, strict=True):
            chances[:] = np.bincount(row, played, len(chances))
    block = rows.reshape(len(rows), -1, LANES).transpose(1, 0, 2)
    subgame.put_strategy(level, number, node, block)


def combo_rows(subgame: ExactSubgame, level: int, number: int, player: Player) -> Longs:
    """[C]: the stored row of each of a player's combos on a board."""
    hand, buckets = subgame.streets[level].hands[player][number].hand, subgame.buckets[level]
    if buckets is None:
        return hand
    return buckets[player].of_board(subgame.streets[level].lists[player], number)[0][hand]


@dataclass(frozen=True, eq=False)
class BoardRows:
    """The rows of the strategies of a player's decisions on a board: R rows, padding included."""

    subgame: ExactSubgame
    level: int
    number: int  # of the board among those of its street
    player: Player

    @property
    def nodes(self) -> tuple[int, ...]:
        """The player's decisions on the street, in the order of the tree."""
        return _nodes(self.subgame.tree, self.subgame.levels[self.level], self.player)

    @property
    def combos(self) -> Longs:
        """[C]: the player's combos on the board."""
        return self.subgame.streets[self.level].combos(self.player, self.number)

    @cached_property
    def row(self) -> Longs:
        """[C]: the row of each combo."""
        return combo_rows(self.subgame, self.level, self.number, self.player)

    @property
    def rows(self) -> int:
        """R."""
        starts = self.subgame.boards[self.player][self.level].own_rows
        return int(starts[self.number + 1] - starts[self.number])

    def by_row(self, weights: Floats) -> Floats:
        """[R]: weights of combos [C] added up."""
        rows: Floats = np.bincount(self.row, weights, self.rows).astype(np.float64)
        return rows

    def chances(self, averages: Averages) -> dict[int, Floats]:
        """Node → [A, R]: the strategies that `averages` hold; even where they hold nothing."""
        strategies = {}
        for node in self.nodes:
            sums = self.sums(averages, node)
            total, even = sums.sum(axis=0), np.full_like(sums, 1 / len(sums))
            strategies[node] = np.divide(sums, total, out=even, where=total > 0)
        return strategies

    def sums(self, averages: Averages, node: int) -> Floats:
        """[A, R]: what strategies are the shares of."""
        stored = np.maximum(widen(self._block(averages, node)).astype(np.float64), 0.0)
        by_hand: Floats = stored.transpose(1, 0, 2).reshape(stored.shape[1], -1)
        return by_hand

    def put(self, averages: Averages, chances: Mapping[int, Floats]) -> None:
        """Store these strategies [A, R], or sums that are proportional to them, in `averages`.

        In 16-bit integers they must be strategies.
        """
        for node, given in chances.items():
            stored = self._block(averages, node)
            block = given.reshape(len(given), -1, LANES).transpose(1, 0, 2)
            stored[:] = np.rint(block * LARGEST) if stored.dtype == np.int16 else block

    def locked(self, node: int) -> Flags:
        """[R]: rows that play a strategy that was given (`locks`)."""
        flags = self.subgame.locked[self.level][self.player]
        if node in self.subgame.tree.locks or not flags.size:
            return np.full(self.rows, node in self.subgame.tree.locks)
        boards, slots = self.subgame.boards[self.player][self.level], self.subgame.slots[self.level]
        first = int(boards.own_start[self.number]) * slots.nodes[self.player]
        first += slots.number[node] * self.rows
        locked_rows: Flags = flags[first : first + self.rows] > 0
        return locked_rows

    def _block(self, averages: Averages, node: int) -> NDArray[Any]:
        """[R / 16, A, 16]: a view."""
        return self.subgame.stored_at(averages, self.level, self.number, node)


@lru_cache(CACHED_STREETS)
def _nodes(tree: BettingTree, street: Street, player: Player) -> tuple[int, ...]:
    """A player's decisions on a street; a street has thousands of boards."""
    return tuple(node for node in tree.decisions(street) if tree.player[node] == player)
