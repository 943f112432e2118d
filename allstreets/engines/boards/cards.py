"""The boards below a flop, with both players' hands on the turn and on each river in buckets.

Flop and turn are those of the exact engine: combos, isomorphic ones taken together. A river board
keeps what the kernels of bucketed rivers need: the combos of each bucket, and two matrices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles
from allstreets.betting import Player
from allstreets.cards import (
    COMBO_CARDS,
    COMBO_COUNT,
    HAND_OF_COMBO,
    combo_orbits,
    combo_strengths,
)
from allstreets.cards.kernels.evaluator import DEAD
from allstreets.engines.boards.kernels.bucketing import (
    CLASS_STEP,
    bucket_river_hands,
    bucket_turn_hands,
    weigh_hands,
)
from allstreets.engines.boards.kernels.layout import BucketBoards, BucketCombos
from allstreets.engines.boards.kernels.river_cards import (
    bucket_lists,
    bucket_matrices,
    count_hands,
    list_hands,
    share_buckets,
)
from allstreets.engines.exact.buckets import HandBuckets
from allstreets.engines.exact.cards import (
    StreetBoards,
    every_combo,
    first_street,
    kernel_boards,
    next_street,
    starts_of,
    whole_vectors,
)
from allstreets.engines.exact.kernels.layout import PADDING_CARD, Boards, HandLists
from allstreets.engines.machine import Pool

LEAST_WEIGHT = 0.01
"""Of the largest: hands that a range hardly contains count a little, so that they get a bucket."""

WEIGHT_ONE = 4096
"""Weights are whole numbers, so that sums are exact; this is the weight of a hand always held."""

CANDIDATES = 2  # points tried for each first centre
PIECES = 4
"""Of the boards of a flop, for each thread that makes their buckets."""

ROUNDS = 6  # of k-means: more rounds change the figures less than another seed does


@dataclass(frozen=True)
class RiverStreet:
    """B river boards in lists alone, with the hands of a player.

    They are those of `exact.cards.next_street`, board for board and hand for hand. A flop has some
    two thousand: a kernel makes their lists, without an object for each.
    """

    parents: Sequence[int]  # [B]: board one street up
    same: Longs  # [B]: cards that the last one stands for, itself too
    hands: HandLists  # of the player; of both where they may hold the same combos
    mass: NDArray[np.uint16]  # by hand: the pairs of river card and combo that it stands for

    @property
    def children(self) -> Longs:
        """[T+1]: river boards before those of each turn board."""
        return starts_of(np.bincount(self.parents))

    @property
    def chance(self) -> Singles:
        """[B]: of the river cards of each board, given both hands."""
        return self.same.astype(np.float32) / np.float32(44)


def river_street(turn: StreetBoards, player: int = 0) -> RiverStreet:
    """The river boards below all turn boards of a flop, with the hands of a player."""
    boards, parents, same, orbit_of = [], [], [], []
    orbits: dict[tuple[int, ...], int] = {}
    for number, here in enumerate(turn.runouts):
        for card, count in zip(here.representatives, here.multiplicities, strict=True):
            boards.append((*here.board, card))
            parents.append(number)
            same.append(count)
            orbit_of.append(orbits.setdefault(here.symmetries_after(card), len(orbits)))
    above = np.zeros((len(turn.runouts), COMBO_COUNT), np.uint16)
    above_sizes = np.ones((len(turn.runouts), COMBO_COUNT), np.int64)
    held = np.zeros(COMBO_COUNT, bool)
    for number, hands in enumerate(turn.hands[player]):
        above[number, hands.combos] = hands.hand
        above_sizes[number, hands.combos] = hands.sizes[hands.hand]
        held[hands.combos] = True
    strengths = combo_strengths(boards)
    strengths[:, ~held] = DEAD
    which = np.array(orbit_of)
    tables = np.stack([combo_orbits(renamings) for renamings in orbits]).astype(np.uint16)
    hand_counts, combo_counts = np.zeros((2, len(boards)), np.int64)
    count_hands(strengths, which, tables, hand_counts, combo_counts)
    start = starts_of([whole_vectors(count) for count in hand_counts.tolist()])
    combo_start = starts_of(combo_counts)
    total, combos = int(start[-1]), int(combo_start[-1])
    lists = HandLists(
        start,
        hand_counts,
        cards=np.full(2 * total, PADDING_CARD, np.uint8),
        strengths=np.zeros(total, np.uint16),
        parent=np.zeros(total, np.uint16),
        weight=np.zeros(total, np.float32),
        combo_start=combo_start,
        combo_cards=np.zeros(2 * combos, np.uint8),
        combo_strengths=np.zeros(combos, np.uint16),
        combo_hand=np.zeros(combos, np.uint16),
    )
    counts, mass = np.array(same, np.int64), np.zeros(total, np.uint16)
    absent = [whole_vectors(len(hands.first)) for hands in turn.hands[player]]
    list_hands(
        strengths,
        which,
        tables,
        np.array(parents, np.int64),
        above,
        above_sizes,
        np.array(absent, np.int64),
        counts,
        COMBO_CARDS,
        lists,
        mass,
    )
    return RiverStreet(tuple(parents), counts, lists, mass)


@dataclass(frozen=True)
class BoardBuckets:
    """Both players' buckets on turn and river, for one pair of ranges."""

    turn: tuple[HandBuckets, HandBuckets] | None  # None: every hand is its own bucket
    river: tuple[Bytes, Bytes]  # [H]: of each hand of the river street, padded
    combos: tuple[BucketCombos, BucketCombos]  # of the river
    chance: Singles  # [B]
    margin: NDArray[np.int8]  # [B, K, K]
    pairs: NDArray[np.int8]  # [B, K, K]


@dataclass(frozen=True)
class FlopBoards:
    """The boards that all pots on a flop share."""

    streets: tuple[StreetBoards, StreetBoards]  # flop and turn
    kernel: tuple[tuple[Boards, Boards], tuple[Boards, Boards]]  # by player and street
    river_boards: int
    buckets: tuple[BoardBuckets, ...]  # by pair of ranges
    turn_share: Singles  # by hand of the turn: 1 / its combos

    def bucketed(self, player: Player, ranges: int) -> BucketBoards:
        """The river boards as a player sees them."""
        buckets = self.buckets[ranges]
        return BucketBoards(
            buckets.combos[player],
            buckets.combos[player.opponent],
            player == Player.OOP,
            buckets.chance,
            buckets.margin.reshape(-1),
            buckets.pairs.reshape(-1),
            self.turn_share,
        )


@dataclass(frozen=True)
class BucketSettings:
    """The settings of buckets, beside cards and ranges."""

    river: int  # buckets of each player on a river board
    turn: int = 0  # on a turn board; 0: every hand its own
    seed: int = 1

    def draws(self, count: int) -> Singles:
        """[K, candidates]: numbers that choose the first centres of K buckets."""
        most = max(self.river, self.turn)
        draws = np.random.default_rng(self.seed).random((most, CANDIDATES))
        first: Singles = draws.astype(np.float32)[:count]
        return first


Bucketing = Callable[
    [StreetBoards, RiverStreet, Sequence[Floats], BucketSettings], tuple[BoardBuckets, ...]
]
"""Buckets both players' hands on turn and river, for pairs of ranges [2, 169] that start a pot."""


def flop_boards(
    flop: tuple[int, ...],
    ranges: Sequence[Floats],
    settings: BucketSettings,
    bucketing: Bucketing | None = None,
) -> FlopBoards:
    """The boards below a flop; `ranges` [2, 169] are those that start its pots."""
    first = first_street(*every_combo(flop))
    turn = next_street(first)
    river = river_street(turn)
    oop, ip = (
        (
            kernel_boards(first, turn, player, all_ins=False),
            kernel_boards(turn, river, player, all_ins=False),
        )
        for player in Player
    )
    lists = turn.lists[0]
    share = np.ones(len(lists.parent), np.float32)
    for start, hands in zip(lists.start.tolist(), turn.hands[0], strict=False):
        share[start : start + len(hands.first)] = 1.0 / hands.sizes
    buckets = (bucketing or bucket_hands)(turn, river, ranges, settings)
    return FlopBoards((first, turn), (oop, ip), len(river.parents), buckets, share)


def bucket_hands(
    turn: StreetBoards,
    river: RiverStreet,
    ranges: Sequence[Floats],
    settings: BucketSettings,
    pool: Pool | None = None,
) -> tuple[BoardBuckets, ...]:
    """The `Bucketing` of processors; the threads of a pool that is free share the boards."""
    return tuple(_board_buckets(turn, river, both, settings, pool) for both in ranges)


def _board_buckets(
    turn: StreetBoards,
    river: RiverStreet,
    ranges: Floats,
    settings: BucketSettings,
    pool: Pool | None,
) -> BoardBuckets:
    """The buckets for a pair of ranges. A piece of work is a run of turn boards with their rivers:

    no board's buckets depend on another's, and lists say where a board's hands begin, so that a
    kernel takes the lists of some boards as it takes those of all.
    """
    of_turn, of_river, count = turn.lists[0], river.hands, settings.river
    boards, hands = len(river.parents), int(of_river.start[-1])
    weights = np.stack([class_weights(row) for row in ranges])
    turn_weights = [hand_weights(of_turn, row) for row in ranges]
    river_buckets = np.zeros((2, hands), np.uint8)
    turn_buckets = np.zeros((2, int(of_turn.start[-1])), np.uint8)
    equity = np.zeros((2, hands), np.float32)
    first = np.zeros((2, boards, count + 1), np.uint16)
    parent = np.zeros((2, int(of_river.combo_start[-1])), np.uint16)
    margin, pairs = np.zeros((2, boards, count, count), np.int8)
    threads = 1 if pool is None else pool.threads
    pieces = 1 if threads == 1 else min(len(of_turn.counts), PIECES * threads)
    cuts = [len(of_turn.counts) * piece // pieces for piece in range(pieces + 1)]

    def work(_: int, piece: int) -> None:
        begin, end = cuts[piece], cuts[piece + 1]
        rivers = slice(int(river.children[begin]), int(river.children[end]))
        below = _some_boards(of_river, rivers)
        for player in Player:
            bucket_river_hands(
                below,
                HAND_CLASS,
                weights[player],
                weights[player.opponent],
                settings.draws(count),
                ROUNDS,
                river_buckets[player],
                equity[player],
            )
            if settings.turn:  # by the equities of the rivers
                bucket_turn_hands(
                    _some_boards(of_turn, slice(begin, end)),
                    of_river,
                    river.children[begin : end + 1],
                    turn_weights[player],
                    river.mass,
                    equity[player],
                    settings.draws(settings.turn),
                    ROUNDS,
                    turn_buckets[player],
                )
            bucket_lists(
                below,
                river_buckets[player],
                count,
                first[player, rivers].reshape(-1),
                parent[player],
            )
        bucket_matrices(
            below,
            (river_buckets[0], river_buckets[1]),
            HAND_CLASS,
            weights,
            count,
            margin[rivers].reshape(-1),
            pairs[rivers].reshape(-1),
        )

    if pool is None:
        work(0, 0)
    else:
        pool.run(pieces, work)
    return BoardBuckets(
        turn_bucket_rows(turn, ranges, (turn_buckets[0], turn_buckets[1]), settings),
        (river_buckets[0], river_buckets[1]),
        (
            BucketCombos(of_river.combo_start, first[0].reshape(-1), parent[0]),
            BucketCombos(of_river.combo_start, first[1].reshape(-1), parent[1]),
        ),
        river.chance,
        margin,
        pairs,
    )


def _some_boards(lists: HandLists, boards: slice) -> HandLists:
    """The lists of a run of boards; their entries on hands and combos are not copied."""
    with_end = slice(boards.start, boards.stop + 1)
    return lists._replace(
        start=lists.start[with_end],
        counts=lists.counts[boards],
        combo_start=lists.combo_start[with_end],
    )


def turn_bucket_rows(
    turn: StreetBoards, ranges: Floats, buckets: Sequence[Bytes], settings: BucketSettings
) -> tuple[HandBuckets, HandBuckets] | None:
    """Both players' rows on the turn, from the bucket of every hand; None without any."""
    if not settings.turn:
        return None
    lists = turn.lists[0]
    starts = whole_vectors(settings.turn) * np.arange(len(turn.runouts) + 1, dtype=np.int64)
    oop, ip = (
        bucket_rows(lists, by_hand, starts, hand_weights(lists, row))
        for by_hand, row in zip(buckets, ranges, strict=True)
    )
    return oop, ip


def bucket_rows(
    lists: HandLists, buckets: Bytes, starts: Longs, weights: Floats | None
) -> HandBuckets:
    """Rows from the bucket of every hand; a hand's share in its row is by `weights`, or uniform.

    `starts` [B+1] are the rows before each board.
    """
    share = np.zeros(len(buckets), np.float32)
    given = np.zeros(0) if weights is None else weights
    share_buckets(lists.start, lists.counts, buckets, starts, given, share)
    return HandBuckets(starts, buckets.astype(np.uint16), share)


def class_weights(row: Floats) -> Floats:
    """[169]: what a combo of each class weighs in a range [169]; whole numbers."""
    weights: Floats = np.rint(WEIGHT_ONE * (row / row.max() + LEAST_WEIGHT))
    return weights


def hand_weights(lists: HandLists, row: Floats) -> Floats:
    """[H]: the weights of all hands of a street, padding included, for a range [169]."""
    weights = np.zeros(int(lists.start[-1]))
    weigh_hands(lists, HAND_CLASS, class_weights(row), weights)
    return weights


def class_table() -> Bytes:
    """[64 · 64]: the class of the combo of two cards, as the kernels look it up."""
    table = np.zeros(CLASS_STEP * CLASS_STEP, np.uint8)
    high, low = COMBO_CARDS.astype(np.int64).T
    table[CLASS_STEP * high + low] = table[CLASS_STEP * low + high] = HAND_OF_COMBO
    return table


HAND_CLASS = class_table()
