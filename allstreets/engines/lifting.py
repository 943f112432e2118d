"""A stored strategy in the hands of real combos on real boards.

A solution of classes or buckets says what a *row* of hands does, whatever the turn and the river
are; in the real game every combo plays the row that it belongs to on the board that lies there.
With real boards the rows are those of each board. An exact subgame in which the hands of a row
share what is stored takes such a play as its average strategy: its passes evaluate it, and its best
responses see every card. Who stores nothing may solve that subgame for his ranges instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Arrays, Floats, Longs, Singles
from allstreets.betting import BettingTree, Player
from allstreets.cards import HAND_OF_COMBO, Flop
from allstreets.cfr import IterationWeights
from allstreets.engines.boards.cards import rows_of
from allstreets.engines.card_model import CardModel, Precision
from allstreets.engines.exact.buckets import (
    HandBuckets,
    StreetBuckets,
    SuitBuckets,
    hand_buckets,
)
from allstreets.engines.exact.cards import StreetBoards, whole_vectors
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.matrix.buckets import BucketCounts, build_bucket_model
from allstreets.engines.quantised import PackedStrategies
from allstreets.engines.simd.vectors import LANES

Rows = NDArray[np.integer[Any]]
Board = tuple[int, ...]

FLOP, TURN, RIVER = range(3)  # levels of an exact subgame


class RealPlay(Protocol):
    """What both players do in one pot on one flop, with real cards."""

    @property
    def learns(self) -> bool:
        """Whether the subgame needs regrets, because it is solved there."""

    @property
    def precision(self) -> Precision:
        """How the subgame stores what it holds."""

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """Which hands play alike, street by street."""

    def give(self, subgame: ExactSubgame) -> None:
        """Let the average strategies of a subgame with this sharing be what is played."""


def plays_all_streets(model: CardModel) -> bool:
    """Whether what is stored of a flop says how turn and river are played."""
    return model.kind != "exact"


def real_plays(
    model: CardModel, flop: Flop, trees: Sequence[BettingTree], arrays: Arrays
) -> list[RealPlay]:
    """How the pots of a flop are played by what a bundle stores of it (`packed`), a pot each."""
    if model.kind == "boards":
        return [BoardsPlay(model, pot, arrays) for pot in range(len(trees))]
    rows, streets = FlopRows(_rows_by_board(model, flop)), model.streets
    stored = [
        tuple(arrays[f"strategy.{pot}.{stage}"] for stage in range(len(streets)))
        for pot in range(len(trees))
    ]
    return [
        PackedPlay(PackedStrategies(tree, streets, one), rows)
        for tree, one in zip(trees, stored, strict=True)
    ]


def _rows_by_board(model: CardModel, flop: Flop) -> Callable[[Board], Rows]:
    if model.plays_classes:
        return lambda _: HAND_OF_COMBO
    if model.kind == "buckets":
        return build_bucket_model(flop.cards, BucketCounts(*model.buckets), model.seed).buckets_on
    raise ValueError(f"{model} does not store what is played after the flop")


@dataclass(frozen=True, eq=False)
class FlopRows:
    """The rows of a flop's boards, found once for all pots; the same for both players."""

    row_of: Callable[[Board], Rows]  # [1326]: the row of every combo on a board
    _known: list[tuple[HandBuckets, HandBuckets]] = field(default_factory=list)

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The rows of these streets."""
        for street in streets[len(self._known) :]:
            rows = [
                self.row_of(board)[hands.first].astype(np.int64)
                for board, hands in zip(street.boards, street.hands[Player.OOP], strict=True)
            ]
            shared = hand_buckets(street, Player.OOP, rows)
            self._known.append((shared, shared))
        return self._known[: len(streets)]


@dataclass(frozen=True, eq=False)
class PackedPlay:
    """Strategies that depend on the row and not on the board: hand classes, and buckets."""

    packed: PackedStrategies
    rows: FlopRows
    learns: bool = False
    precision: Precision = "float32"

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The rows of these streets."""
        return self.rows.sharing(streets)

    def give(self, subgame: ExactSubgame) -> None:
        """Write the same strategies on all boards of a street."""
        tree = subgame.tree
        for level, street in enumerate(subgame.levels):
            for player in Player:
                nodes = [node for node in tree.decisions(street) if tree.player[node] == player]
                if not nodes:
                    continue
                strategies = np.concatenate([self.packed.at(node) for node in nodes])
                shared = subgame.buckets[level]
                assert shared is not None
                start = shared[player].start
                blocks = {
                    length: slot_block(strategies, subgame.slot_actions(level, player), length)
                    for length in np.unique(np.diff(start)).tolist()
                }
                stored = subgame.averages[level][player]
                for first, last in pairwise(start.tolist()):
                    stored[first * len(strategies) : last * len(strategies)] = blocks[last - first]


@dataclass(frozen=True, eq=False)
class BoardsPlay:
    """Strategies of real boards: combos on the flop, and rows and groups of every board below."""

    model: CardModel
    pot: int
    arrays: Arrays
    learns: bool = False
    precision: Precision = "float32"

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The rows of turn and river boards."""
        found: list[tuple[HandBuckets, HandBuckets] | None] = [None]
        counts = {"rows": self.model.rows, "groups": self.model.groups}
        for street, (kind, count) in zip(streets[1:], counts.items(), strict=False):
            if not count:  # every hand its own row
                found.append(None)
                continue
            lists = street.lists[Player.OOP]
            starts = whole_vectors(count) * np.arange(len(lists.start), dtype=np.int64)
            number = int(self.arrays["sets"][self.pot])
            oop, ip = (
                rows_of(lists, self.arrays[f"{kind}.{number}.{name}"], starts, None)
                for name in ("oop", "ip")
            )
            found.append((oop, ip))
        return found

    def give(self, subgame: ExactSubgame) -> None:
        """Write what is stored, which stands in the same order."""
        tree = subgame.tree
        hands = subgame.streets[FLOP].hands[Player.OOP][0]
        place = np.argsort(np.argsort(hands.combos))  # combos rise in what is stored
        first = place[np.searchsorted(hands.hand, np.arange(len(hands.first)))]
        flop = self.arrays[f"strategy.{self.pot}.0"]
        decisions = tree.decisions(subgame.levels[FLOP])
        players = np.repeat(tree.player[decisions], tree.child_count[decisions])
        for player in Player:
            if (players == player).any():
                actions = subgame.slot_actions(FLOP, player)
                length = len(subgame.averages[FLOP][player]) // int(actions.sum())
                mine = flop[players == player][:, first]
                subgame.averages[FLOP][player][:] = slot_block(mine, actions, length)
            for level in range(TURN, len(subgame.levels)):
                stored = self.arrays[f"average.{self.pot}.{level}.{player.name.lower()}"]
                subgame.averages[level][player][:] = stored


@dataclass(frozen=True, eq=False)
class SolvedPlay:
    """Strategies of the subgame itself: it is solved for the ranges that start the pot."""

    rows: SuitBuckets | None  # None: every hand of a river board plays for itself
    reach: Floats  # [2, 169]
    every: Sequence[IterationWeights]  # of the iterations
    precision: Precision = "float32"
    learns: bool = True

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The rows of river boards, if hands share any."""
        return [None] * len(streets) if self.rows is None else self.rows.of(streets)

    def give(self, subgame: ExactSubgame) -> None:
        """Solve it."""
        hands = HAND_OF_COMBO[subgame.streets[FLOP].combos(Player.OOP, 0)]
        oop, ip = self.reach[:, hands]
        subgame.iterate((oop, ip), self.every)


def solved_plays(
    model: CardModel, reach: Floats, every: Sequence[IterationWeights]
) -> list[RealPlay]:
    """The pots of a flop solved with `exact` cards, for the reach [2, P, 169] of their roots."""
    rows = None if model.river_groups == "none" else SuitBuckets()
    pots = range(reach.shape[1])
    return [SolvedPlay(rows, reach[:, pot], every, model.precision) for pot in pots]


def slot_block(strategies: NDArray[Any], actions: Longs, rows: int) -> Singles:
    """[slots, R] of a board's nodes as [node][row / 16][action][16]; `actions` of each node.

    There are at most so many `rows`, a multiple of 16.
    """
    first = np.repeat(np.cumsum(actions) - actions, actions)  # [slots]: slots of earlier nodes
    number = np.repeat(actions, actions)
    action = np.arange(len(first)) - first
    row = np.arange(min(rows, strategies.shape[1]))
    start = first * rows + action * LANES
    block = np.zeros(len(first) * rows, np.float32)
    block[start[:, None] + number[:, None] * (row // LANES * LANES) + row % LANES] = strategies[
        :, : len(row)
    ]
    return block
