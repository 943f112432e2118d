"""A stored strategy in the hands of real combos on real boards.

A solution of classes or buckets says what a *row* of hands does, whatever the turn and the river
are; in the real game every combo plays the row that it belongs to on the board that lies there.
`RealPlay` is that: on a board, the row of every combo, and what each row does. `let_play` writes it
into an exact subgame, whose passes then evaluate it like an average strategy of its own, and whose
best responses see every card.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Arrays
from allstreets.betting import POSTFLOP, BettingTree, Player, Street
from allstreets.cards import HAND_OF_COMBO, Flop
from allstreets.kernels.simd import LANES
from allstreets.subgames.buckets import BucketCounts, build_bucket_model
from allstreets.subgames.card_model import CardModel
from allstreets.subgames.exact import ExactSubgame
from allstreets.subgames.packed import PackedStrategies

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Rows = NDArray[np.integer[Any]]
Board = tuple[int, ...]


class RealPlay(Protocol):
    """What both players do in one pot on one flop, with real cards."""

    def rows(self, player: Player, board: Board) -> Rows:
        """[1326]: the row of every combo of a player on a board; any where the board blocks it."""

    def strategies(self, player: Player, board: Board) -> Floats:
        """[slots, R]: what the rows do at the player's decisions on the board's street.

        Decisions stand in the order of the tree, one line per action.
        """


@dataclass(frozen=True, eq=False)
class PackedPlay:
    """Strategies that depend on the row and not on the board: hand classes, and buckets."""

    packed: PackedStrategies
    row_of: Callable[[Board], Rows]

    def rows(self, player: Player, board: Board) -> Rows:
        """[1326]: the row of every combo, the same for both players."""
        del player
        return self.row_of(board)

    def strategies(self, player: Player, board: Board) -> Floats:
        """[slots, R]: the same on all boards of a street."""
        return self._tables[player, POSTFLOP[len(board) - 3]]

    @cached_property
    def _tables(self) -> dict[tuple[Player, Street], Floats]:
        tree, at = self.packed.tree, self.packed.at
        return {
            (player, street): np.concatenate(
                [np.zeros((0, 1)), *map(at, nodes)][bool(nodes) :]  # of no decisions: no rows
            )
            for player in Player
            for street in POSTFLOP
            for nodes in [_decisions(tree, player, street)]
        }


def _decisions(tree: BettingTree, player: Player, street: Street) -> list[int]:
    return [node for node in tree.decisions(street) if tree.player[node] == player]


def real_plays(
    model: CardModel, flop: Flop, trees: Sequence[BettingTree], arrays: Arrays
) -> list[RealPlay]:
    """How the pots of a flop are played by what a bundle stores of it (`packed`), a pot each."""
    row_of = _rows_by_board(model, flop)
    streets = model.streets
    return [
        PackedPlay(
            PackedStrategies(
                tree,
                streets,
                tuple(arrays[f"strategy.{pot}.{stage}"] for stage in range(len(streets))),
            ),
            row_of,
        )
        for pot, tree in enumerate(trees)
    ]


def _rows_by_board(model: CardModel, flop: Flop) -> Callable[[Board], Rows]:
    if model.plays_classes:
        return lambda _: HAND_OF_COMBO
    if model.kind == "buckets":
        return build_bucket_model(flop.cards, BucketCounts(*model.buckets), model.seed).buckets_on
    raise ValueError(f"{model} does not store what is played after the flop")


def let_play(subgame: ExactSubgame, play: RealPlay) -> None:
    """Let the average strategies of an exact subgame be what real combos play."""
    for level, street in enumerate(subgame.levels):
        for player in Player:
            nodes = _decisions(subgame.tree, player, street)
            actions = subgame.tree.child_count[nodes].astype(np.int64)
            if len(nodes):
                _let_play_street(subgame, level, player, play, actions)


def _let_play_street(
    subgame: ExactSubgame, level: int, player: Player, play: RealPlay, actions: Longs
) -> None:
    boards, stored = subgame.boards[player][level], subgame.averages[level][player]
    places: dict[int, Longs] = {}
    for number, board in enumerate(subgame.streets[level].boards):
        hands = subgame.streets[level].hands[player][number].first
        length = int(boards.own_start[number + 1] - boards.own_start[number])
        if length not in places:
            places[length] = slot_places(actions, length)
        chances = play.strategies(player, board)[:, play.rows(player, board)[hands]]
        start = int(boards.own_slots[number])
        stored[start + places[length][:, : len(hands)]] = chances


def slot_places(actions: Longs, rows: int) -> Longs:
    """[slots, rows]: where they stand in [node][row / 16][action][16]; `actions` by node."""
    first = np.repeat(np.cumsum(actions) - actions, actions)  # [slots]: slots of earlier nodes
    number = np.repeat(actions, actions)
    action = np.arange(len(first)) - first
    row = np.arange(rows)
    start = first * rows + action * LANES
    places: Longs = start[:, None] + number[:, None] * (row // LANES * LANES) + row % LANES
    return places
