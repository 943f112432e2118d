"""Stored strategies lifted to real combos on real boards, and their values there.

A solution of classes or buckets gives a strategy to each *row* of hands, whatever the turn and
river are; in the real game every combo plays the row to which it belongs on the actual board. With
real boards the rows are the buckets of each board. An exact subgame in which the hands of a row
share what is stored takes such strategies as its average: its passes evaluate them, and its best
responses see every card. Where nothing is stored, that subgame may be solved for the ranges
instead.

The pots of a flop share what depends on the cards only, and are evaluated one after the other: no
more than one exact game is in memory at a time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Arrays, Floats, Longs, Singles
from allstreets.betting import BettingTree, Player
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, Flop, Runouts
from allstreets.cfr import IterationWeights
from allstreets.engines.boards.cards import bucket_rows
from allstreets.engines.card_model import CardModel, Precision
from allstreets.engines.device import Device
from allstreets.engines.exact.buckets import HandBuckets, StreetBuckets, SuitBuckets, hand_buckets
from allstreets.engines.exact.cards import (
    StreetBoards,
    TurnPart,
    every_combo,
    turn_alone,
    turn_parts,
    whole_vectors,
)
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.matrix.buckets import BucketCounts, build_bucket_model
from allstreets.engines.quantised import PackedStrategies
from allstreets.engines.simd.vectors import LANES
from allstreets.engines.spec import exact_subgame
from allstreets.engines.trees import Trees

Rows = NDArray[np.integer[Any]]
Board = tuple[int, ...]

FLOP, TURN, RIVER = range(3)  # levels of an exact subgame
CACHED_FLOPS = 16

LEAST_REACH = 1e-12
"""A pot that no hand of a player reaches more often than this is worth nothing."""


class Lift(Protocol):
    """The strategies of both players in one pot on one flop, for an exact subgame to play."""

    @property
    def learns(self) -> bool:
        """Whether the subgame needs regrets, because it is solved there."""

    @property
    def precision(self) -> Precision:
        """The precision at which the subgame stores its numbers."""

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The hands that play alike, street by street."""

    def fill(self, subgame: ExactSubgame, players: Sequence[Player] = tuple(Player)) -> None:
        """Let the average strategies of a subgame with this sharing be the lifted ones.

        Only those of `players`, so that each player may follow another solution.
        """


def lift_flop(
    model: CardModel, flop: Flop, trees: Sequence[BettingTree], arrays: Arrays
) -> list[Lift]:
    """Lift what a bundle stores of a flop (`quantised`), a pot each."""
    if model.stores_cards:
        return [BoardsLift(model, pot, arrays) for pot in range(len(trees))]
    rows, streets = FlopRows(_rows_by_board(model, flop)), model.streets
    lifts: list[Lift] = []
    for pot, tree in enumerate(trees):
        stored = tuple(arrays[f"strategy.{pot}.{stage}"] for stage in range(len(streets)))
        lifts.append(PackedLift(PackedStrategies(tree, streets, stored), rows))
    return lifts


def _rows_by_board(model: CardModel, flop: Flop) -> Callable[[Board], Rows]:
    if not model.stores_all_streets:
        raise ValueError(f"{model} does not store play after the flop")
    if model.plays_classes:
        return lambda _: HAND_OF_COMBO
    return build_bucket_model(flop.cards, BucketCounts(*model.buckets), model.seed).buckets_on


@dataclass(frozen=True, eq=False)
class FlopRows:
    """The rows of a flop's boards, found once for all pots; the same for both players."""

    row_of: Callable[[Board], Rows]  # [1326]: the row of every combo on a board
    _known: list[tuple[HandBuckets, HandBuckets]] = field(default_factory=list)

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The rows of these streets."""
        for street in streets[len(self._known) :]:
            rows: list[Longs] = []
            combos: list[Floats] = []
            for board, hands in zip(street.boards, street.hands[Player.OOP], strict=True):
                rows.append(self.row_of(board)[hands.first].astype(np.int64))
                combos.append(hands.sizes.astype(np.float64))
            shared = hand_buckets(street, Player.OOP, rows, combos)
            self._known.append((shared, shared))
        return self._known[: len(streets)]


@dataclass(frozen=True, eq=False)
class PackedLift:
    """Strategies that depend on the row and not on the board: hand classes, and buckets."""

    packed: PackedStrategies
    rows: FlopRows
    learns: bool = False
    precision: Precision = "float32"

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The rows of these streets."""
        return self.rows.sharing(streets)

    def fill(self, subgame: ExactSubgame, players: Sequence[Player] = tuple(Player)) -> None:
        """Write the same strategies on all boards of a street."""
        tree = subgame.tree
        for level, street in enumerate(subgame.levels):
            for player in players:
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


@lru_cache(CACHED_FLOPS)
def _parts_of_all_combos(flop: Board) -> dict[int, TurnPart]:
    return turn_parts(*every_combo(flop))


@dataclass(frozen=True, eq=False)
class BoardsLift:
    """Strategies of real boards: combos on the flop, and the buckets of every board below.

    With a `part` the subgame has one turn; the others are neither built nor read.
    """

    model: CardModel
    pot: int
    arrays: Arrays
    learns: bool = False
    precision: Precision = "float32"
    part: TurnPart | None = None

    def on_turn(self, flop: Board, card: int) -> tuple["BoardsLift", Runouts]:
        """The same for one turn card of a flop, and the root of the subgame that has no other."""
        root, _ = every_combo(flop)
        alone = turn_alone(root, card)
        return replace(self, part=_parts_of_all_combos(flop)[alone.representatives[0]]), alone

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The buckets of turn and river boards."""
        sharing: list[tuple[HandBuckets, HandBuckets] | None] = [None]
        counts = {"rows": self.model.rows, "groups": self.model.groups}  # as they are stored
        for street, (kind, count) in zip(streets[1:], counts.items(), strict=False):
            if not count:  # every hand its own row
                sharing.append(None)
                continue
            lists = street.lists[Player.OOP]
            starts = whole_vectors(count) * np.arange(len(lists.start), dtype=np.int64)
            number = int(self.arrays["sets"][self.pot])
            hands = (
                slice(None) if self.part is None else self.part.hands[len(sharing) - 1][Player.OOP]
            )
            oop, ip = (
                bucket_rows(lists, self.arrays[f"{kind}.{number}.{name}"][hands], starts, None)
                for name in ("oop", "ip")
            )
            sharing.append((oop, ip))
        return sharing

    def fill(self, subgame: ExactSubgame, players: Sequence[Player] = tuple(Player)) -> None:
        """Write the stored strategies, which have the same order."""
        tree = subgame.tree
        hands = subgame.streets[FLOP].hands[Player.OOP][0]
        rank = np.argsort(np.argsort(hands.combos))  # combos rise in what is stored
        first = rank[np.searchsorted(hands.hand, np.arange(len(hands.first)))]
        flop = self.arrays[f"strategy.{self.pot}.0"]
        decisions = tree.decisions(subgame.levels[FLOP])
        owners = np.repeat(tree.player[decisions], tree.child_count[decisions])
        for player in players:
            if (owners == player).any():
                actions = subgame.slot_actions(FLOP, player)
                length = len(subgame.averages[FLOP][player]) // int(actions.sum())
                strategies = flop[owners == player][:, first]
                subgame.averages[FLOP][player][:] = slot_block(strategies, actions, length)
            for level in range(TURN, len(subgame.levels)):
                stored = self.arrays[f"average.{self.pot}.{level}.{player.name.lower()}"]
                slots = int(subgame.slot_actions(level, player).sum())
                subgame.averages[level][player][:] = stored[self._rows(level, slots)]

    def _rows(self, level: int, slots: int) -> slice:
        """The rows of a level's boards in the stored strategies, with this many slots a row."""
        if self.part is None:
            return slice(None)
        count = self.model.rows if level == TURN else self.model.groups
        rows = self.part.boards[level - TURN]
        each = whole_vectors(count)
        if not count:  # every hand its own row
            rows, each = self.part.hands[level - TURN][Player.OOP], 1
        return slice(rows.start * each * slots, rows.stop * each * slots)


@dataclass(frozen=True, eq=False)
class SolvedLift:
    """Strategies of the subgame itself: it is solved for the ranges that start the pot."""

    rows: SuitBuckets | None  # None: every hand of a river board plays for itself
    reach: Floats  # [2, 169]
    weights: Sequence[IterationWeights]  # of the iterations
    precision: Precision = "float32"
    learns: bool = True

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        """The rows of river boards, if hands share any."""
        return [None] * len(streets) if self.rows is None else self.rows.of(streets)

    def fill(self, subgame: ExactSubgame, players: Sequence[Player] = tuple(Player)) -> None:
        """Solve it, for both players."""
        assert len(players) == len(Player)
        hands = HAND_OF_COMBO[subgame.streets[FLOP].combos(Player.OOP, 0)]
        oop, ip = self.reach[:, hands]
        subgame.iterate((oop, ip), self.weights)


def solved_lifts(
    model: CardModel, reach: Floats, weights: Sequence[IterationWeights]
) -> list[Lift]:
    """The pots of a flop solved with `exact` cards, for the reach [2, P, 169] of their roots."""
    rows = None if model.river_groups == "none" else SuitBuckets()
    pots = range(reach.shape[1])
    return [SolvedLift(rows, reach[:, pot], weights, model.precision) for pot in pots]


def slot_block(strategies: NDArray[Any], actions: Longs, rows: int) -> Singles:
    """[slots, R] of a board's nodes as [node][row / 16][action][16]; `actions` of each node.

    `rows` is the most there are, a multiple of 16.
    """
    first = np.repeat(np.cumsum(actions) - actions, actions)  # [slots]: slots of earlier nodes
    number = np.repeat(actions, actions)
    action = np.arange(len(first)) - first
    row = np.arange(min(rows, strategies.shape[1]))
    start = first * rows + action * LANES
    block = np.zeros(len(first) * rows, np.float32)
    slots = start[:, None] + number[:, None] * (row // LANES * LANES) + row % LANES
    block[slots] = strategies[:, : len(row)]
    return block


@dataclass(frozen=True, eq=False)
class LiftedValues:
    """[2, P, 169]: the values of a flop's pots by hand class, in chips times pairs of combos.

    The first axis is the player who holds the hands; the opponent plays the lifted strategies.
    """

    best: Floats  # by best responses that see every card
    own: Floats | None = None  # when the player plays the lifted strategies, too; None: unknown


def evaluate_flop(
    trees: Trees,
    flop: Flop,
    lifts: Sequence[Lift],
    reach: Floats,
    *,
    own: bool = True,
    players: Sequence[Player] = tuple(Player),
    threads: int = 1,
    device: Device | None = None,
) -> LiftedValues:
    """Evaluate the pots of a flop with real cards; `reach` [2, P, 169] is that of their roots.

    Pots that are solved for it are solved on `device`; without one, on this machine. Values are
    those of `players`, and 0 for others.
    """
    root, combos = every_combo(flop.cards)
    best, average = np.zeros((2, 2, len(trees), HAND_COUNT))
    first: ExactSubgame | None = None
    # The smallest first: its players are all-in soonest, so that the others find its matrices.
    for pot in sorted(range(len(trees)), key=lambda number: trees[number][0].node_count):
        (tree, payoffs), lift = trees[pot], lifts[pot]
        if not (reach[:, pot].max(axis=1) > LEAST_REACH).any():
            continue
        game = exact_subgame(
            tree, payoffs, root, combos, threads, lift.precision, first, lift.sharing, lift.learns,
            device,
        )  # fmt: skip
        lift.fill(game)
        hands = HAND_OF_COMBO[game.streets[0].combos(Player.OOP, 0)]
        for player in players:
            opponent_reach = reach[player.opponent, pot][hands]
            best[player, pot] = np.bincount(
                hands, game.best_response(player, opponent_reach), HAND_COUNT
            )
            if own:
                average[player, pot] = np.bincount(
                    hands, game.evaluate(player, opponent_reach), HAND_COUNT
                )
        first = first or game
    return LiftedValues(best, average if own else None)
