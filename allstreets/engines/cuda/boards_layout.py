"""Boards and hands as the CUDA kernels of real boards read them (`boards.cu`), and their memory.

Boards of all flops are numbered through, and so are their hands, combos and buckets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allstreets.base import Ints, Longs
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
from allstreets.engines.boards.cards import FlopBoards
from allstreets.engines.boards.subgame import FLOP_COMBOS, TURN_COMBOS
from allstreets.engines.cuda.kernels.lists import FOUR, list_dealt, list_entries
from allstreets.engines.cuda.programs import Array, Arrays, ints
from allstreets.engines.cuda.streets import (
    StreetBetting,
    bucket_members,
    card_lists,
    hands_below,
    street_bettings,
)
from allstreets.engines.exact.cards import whole_vectors
from allstreets.engines.machine import Pool
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS
from allstreets.engines.trees import Trees

FLOP, TURN, RIVER = range(3)
MOST_HANDS = 1136  # of a turn: 1,128 combos in whole vectors
RIVER_COMBOS = 1081
SPARE = 1.5  # places that fill up a list, in the mean
SHARED_BYTES = 227 * 1024  # of a block on the GPUs that such games are for
ROOM_BYTES = 4_000_000_000  # of the rows of turns and rivers, for as many flops as fit
AT_ONCE = 64  # iterations whose weights are sent together
ROWS = "reach_rows", "value_rows"


def lines_together(shared_bytes: int) -> int:
    """Lines that are dealt and collected together: WIDE of the kernels.

    32 of them are read without conflicts of banks.
    """
    return 32 if shared_bytes >= 4 * 32 * (MOST_HANDS + 1) else 16


def river_parts(most: int, buckets: int, shared_bytes: int) -> tuple[int, int]:
    """The parts in which the `most` river boards of a turn are collected; boards of each."""
    places = shared_bytes // (4 * lines_together(shared_bytes)) - 1  # one holds zeros
    parts = -(-most // max(1, places // buckets))
    return parts, -(-most // parts)


def starts(sizes: Sequence[int]) -> Longs:
    """Sums before each, and all."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def one_after_the_other(parts: Sequence[Array]) -> Array:
    """Starts of all flops in one row: each counts from the end of the one before."""
    shifts = starts([int(part[-1]) for part in parts])
    shifted = [part[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
    return ints(np.concatenate([*shifted, shifts[-1:]]))


class FlatBoards:
    """The boards of all flops for one set of ranges, street by street.

    Both players may hold every combo, so their hands are the same up to the turn.
    """

    def __init__(
        self,
        cards: Sequence[FlopBoards],
        number: int,
        buckets: int,
        shared_bytes: int,
        threads: int,
    ) -> None:
        self.cards, self.buckets, self._row = cards, buckets, 4 * lines_together(shared_bytes)
        self.rivers = [each.buckets[number] for each in cards]
        boards = [[each.kernel[0][level] for each in cards] for level in (FLOP, TURN)]
        self.boards = boards
        counts = [[len(each.own_start) - 1 for each in row] for row in boards]
        counts.append([each.river_boards for each in cards])
        self.flop_first = [starts(count) for count in counts]
        self.start = [one_after_the_other([each.own_start for each in row]) for row in boards]
        self.children = one_after_the_other([each.children for each in boards[TURN]])
        most = int(np.diff(self.children).max())
        self.parts, self.part = river_parts(most, buckets, shared_bytes)
        self._pool = Pool(threads)
        self._rows: dict[tuple[int, Player], Ints] = {}

    @property
    def most_hands(self) -> int:
        """The most hands of a board."""
        return max(int(np.diff(start).max()) for start in self.start)

    @property
    def dealing_bytes(self) -> int:
        """Shared memory of the hands of a turn, and of a place of zeros."""
        return self._row * (int(np.diff(self.start[TURN]).max()) + 1)

    @property
    def collecting_bytes(self) -> int:
        """Shared memory of the buckets of a part's river boards, and of a place of zeros."""
        return self._row * (self.part * self.buckets + 1)

    def street(self, level: int) -> Arrays:
        """The arrays of a street that both players share."""
        first = self.flop_first[level]
        flop_of = np.repeat(np.arange(len(first) - 1), np.diff(first))
        arrays: Arrays = {"flop_of": ints(flop_of), "flop_first": ints(first)}
        if level == RIVER:
            return arrays | {
                "chance": np.concatenate([each.chance for each in self.rivers]),
                "margin": np.concatenate([each.margin.reshape(-1) for each in self.rivers]),
                "pairs": np.concatenate([each.pairs.reshape(-1) for each in self.rivers]),
            }
        boards = self.boards[level]
        start = self.start[level]
        lists = [card_lists(each) for each in boards]
        size = np.zeros(int(start[-1]), np.uint8)
        board = 0
        for flop in self.cards:
            for hands in flop.streets[level].hands[0]:
                size[start[board] : start[board] + len(hands.sizes)] = hands.sizes
                board += 1
        arrays |= {
            "player_start": start,
            "combo_start": one_after_the_other([each.combo_start for each in boards]),
            "card_start": np.concatenate([each["card_start"] for each in lists]),
            "card_hand": np.concatenate([each["card_hand"] for each in lists]),
            "size": size,
            "cards": np.concatenate([each.own_cards for each in boards]),
        }
        return arrays | (self._flop() if level == FLOP else self._turn())

    def _flop(self) -> Arrays:
        start, hands = self.start[FLOP], [each.streets[0].hands[0][0] for each in self.cards]
        of_hand = np.full(int(start[-1]), HAND_COUNT, np.uint16)
        class_start = np.zeros((len(hands), HAND_COUNT + 1), np.uint16)
        class_hand = np.zeros(int(start[-1]), np.uint16)
        for flop, each in enumerate(hands):
            classes = HAND_OF_COMBO[each.first]
            rows_here = slice(int(start[flop]), int(start[flop]) + len(classes))
            of_hand[rows_here] = classes
            order = np.argsort(classes, kind="stable")
            class_hand[rows_here] = order
            class_start[flop] = np.searchsorted(classes[order], np.arange(HAND_COUNT + 1))
        below_start, below = [], []
        for flop, (above, turn) in enumerate(zip(*self.boards, strict=True)):
            parents = np.zeros(len(turn.own_start) - 1, np.int64)
            begin, places = hands_below(above, turn, parents)
            places["start"] += self.start[TURN][self.flop_first[TURN][flop]]
            below_start.append(begin)
            below.append(places)
        return {
            "parent_hand": of_hand,
            "class_start": class_start,
            "class_hand": class_hand,
            "below_start": one_after_the_other(below_start),
            "below": np.concatenate(below),
        }

    def _turn(self) -> Arrays:
        flop_of = np.repeat(np.arange(len(self.cards)), np.diff(self.flop_first[TURN]))
        return {
            "parent": ints(flop_of),
            "parent_hand": np.concatenate([each.own_parent for each in self.boards[TURN]]),
            "children": self.children,
            "share": np.concatenate([each.turn_share for each in self.cards]),
        }

    def stored_rows(self, level: int, player: Player) -> Ints:
        """[B+1]: what a player stores before each board: hands, or buckets."""
        if (level, player) not in self._rows:
            shared = [each.turn[player].start for each in self.rivers if each.turn is not None]
            if level == RIVER:
                rows = ints(self.buckets * np.arange(self.flop_first[RIVER][-1] + 1))
            elif level == TURN and shared:
                rows = one_after_the_other(shared)
            else:
                rows = self.start[level]
            self._rows[level, player] = rows
        return self._rows[level, player]

    def live_rows(self, level: int, player: Player) -> Ints:
        """[B]: what a player stores on each board, without padding."""
        if level == RIVER:
            return np.full(int(self.flop_first[RIVER][-1]), self.buckets, np.int32)
        counts = []
        for cards, rivers in zip(self.cards, self.rivers, strict=True):
            lists = cards.streets[level].lists[player]
            shared = rivers.turn if level == TURN else None
            counts.append(lists.counts if shared is None else shared[player].counts(lists))
        return ints(np.concatenate(counts))

    def bucket_of_hand(self, player: Player) -> Array | None:
        """The turn bucket of each hand of the turn; None: every hand its own."""
        rows = [each.turn[player].row for each in self.rivers if each.turn is not None]
        return np.concatenate(rows) if rows else None

    def members(self, player: Player) -> Arrays:
        """The hands of each turn bucket, with their shares."""
        firsts, hands = [], []
        for boards, rivers in zip(self.boards[TURN], self.rivers, strict=True):
            if rivers.turn is None:
                return {}
            first, members = bucket_members(rivers.turn[player], boards.own_start)
            firsts.append(first)
            hands.append(members)
        return {
            "member_first": one_after_the_other(firsts),
            **{name: np.concatenate([each[name] for each in hands]) for name in hands[0]},
        }

    def dealt(self, opponent: Player) -> Arrays:
        """The opponent's combos on the rivers, by bucket."""

        def work(flop: int) -> tuple[Array, Array, Array]:
            combos, turn = self.rivers[flop].combos[opponent], self.boards[TURN][flop]
            start = np.zeros(len(combos.start), np.int32)
            bounds = np.zeros_like(combos.first)
            places = np.zeros(len(combos.parent) + (FOUR - 1) * len(combos.first), np.uint16)
            list_dealt(
                turn.children, turn.own_start, combos.start, combos.first, combos.parent,
                self.buckets, start, bounds, places,
            )  # fmt: skip
            return start, bounds, places[: FOUR * start[-1]].copy()

        starts, bounds, places = self._of_flops(work)
        return {
            "bucket_fours": one_after_the_other(starts),
            "bucket_first": np.concatenate(bounds),
            "bucket_hand": np.concatenate(places),
        }

    def collected(self, player: Player) -> Arrays:
        """The rows that the values of each of the player's hands of the turn come from."""

        def work(flop: int) -> tuple[Array, Array]:
            combos, turn = self.rivers[flop].combos[player], self.boards[TURN][flop]
            keys = int(turn.own_start[-1]) * self.parts
            start, used = np.zeros(keys + 1, np.int32), np.zeros(keys, np.int32)
            most = len(combos.parent) + (FOUR - 1) * keys
            entries = np.full(most, self.part * self.buckets, np.uint16)
            list_entries(
                turn.children, turn.own_start, combos.start, combos.first, combos.parent,
                self.buckets, self.part, self.parts, start, used, entries,
            )  # fmt: skip
            return start, entries[: FOUR * start[-1]].copy()

        starts, entries = self._of_flops(work)
        return {
            "entry_start": one_after_the_other(starts),
            "entries": np.concatenate(entries),
        }

    def _of_flops(self, work: Callable[[int], tuple[Array, ...]]) -> list[list[Array]]:
        """Collect the results of `work` for each flop, kind by kind."""
        by_flop: dict[int, tuple[Array, ...]] = {}

        def run(_: int, flop: int) -> None:
            by_flop[flop] = work(flop)

        self._pool.run(len(self.cards), run)
        rows = [by_flop[flop] for flop in range(len(self.cards))]
        return [list(each) for each in zip(*rows, strict=True)]


Hands = Sequence[tuple[Longs, Longs]]
"""For each street the padded hands of both players on every board."""


@dataclass(frozen=True)
class FlopCounts:
    """Boards and hands of a flop."""

    flop_hands: int
    turns: int
    turn_hands: int
    most_rivers: int  # of a turn
    rivers: int

    @classmethod
    def of(cls, hands: Hands) -> "FlopCounts":
        """The counts from the hands on all boards."""
        flop, turn, river = (each[0] for each in hands)
        # A turn has as many river boards as there are cards that play differently: 48 at most.
        return cls(int(flop.sum()), len(turn), int(turn.sum()), min(48, len(river)), len(river))


@dataclass(frozen=True, eq=False)
class BoardsMemory:
    """Bytes of all pots on some flops: `flops` are how many are alike, and their boards.

    Numbers, matrices and rooms are counted as they are allocated (`boards_passes`). How far lists
    are filled up depends on the buckets: a list is taken to be SPARE longer than its places.
    """

    trees: Trees
    flops: Sequence[tuple[int, FlopCounts]]
    buckets: int  # on a river board
    turn_buckets: int  # 0: every hand its own
    sets: int  # of ranges

    def numbers(self, flop: FlopCounts) -> int:
        """Bytes of regrets and averages, two each."""
        rows = flop.flop_hands, self._turn_rows(flop), self.buckets * flop.rivers
        total = 0
        for betting in self._betting:
            actions = (int(street.forest.own_actions[-1]) for street in betting)
            total += 4 * sum(each * count for each, count in zip(actions, rows, strict=True))
        return total

    def _turn_rows(self, flop: FlopCounts) -> int:
        """The stored rows of all turns: buckets, or hands."""
        padded = whole_vectors(self.turn_buckets)
        return flop.turns * padded if self.turn_buckets else flop.turn_hands

    def matrices(self, flop: FlopCounts) -> int:
        """Bytes of the matrices of one set, one for each number."""
        return 2 * self.buckets**2 * flop.rivers

    def lists(self, flop: FlopCounts) -> int:
        """Bytes of the lists of one set: hands by bucket, blocked hands, first boards and hands."""
        buckets, rivers, hands = self.buckets, flop.rivers, flop.turn_hands
        parts = river_parts(flop.most_rivers, buckets, SHARED_BYTES)[0]
        dealt = rivers * (4 + 2 * (buckets + 1) + 2 * (RIVER_COMBOS + SPARE * buckets))
        collected = 4 * hands * parts + 2 * (rivers * RIVER_COMBOS + SPARE * hands * parts)
        shared = 2 * (4 * self._turn_rows(flop) + 8 * hands) if self.turn_buckets else 0
        river = 24 * rivers
        turn = flop.turns * (144 + 4 * TURN_COMBOS) + 9 * hands + shared
        above = 16 * hands + 11 * flop.flop_hands + 4 * FLOP_COMBOS + 340
        return int(2 * (dealt + collected) + river + turn + above)

    def rooms(self) -> int:
        """Rows of the flops that are worked on at once, the same for all sets."""
        flops = [max(4 * getattr(each[FLOP], name) for each in self._betting) for name in ROWS]
        turns = max(each[TURN].reach_rows + each[TURN].value_rows for each in self._betting)
        lines = self._betting[0][RIVER].lines
        whole = sum(
            like * 4 * (flop.turn_hands * turns + flop.rivers * lines * self.buckets)
            for like, flop in self.flops
        )
        share = min(1.0, ROOM_BYTES / max(whole, 1))
        hands = sum(like * flop.flop_hands for like, flop in self.flops)
        return int(share * (whole + hands * sum(flops)))

    @property
    def whole(self) -> int:
        """Everything."""
        each = [
            like * (self.numbers(flop) + self.sets * (self.matrices(flop) + self.lists(flop)))
            for like, flop in self.flops
        ]
        games = len(self.trees) * sum(like for like, _ in self.flops)
        transfers = games * (8 * (HAND_COUNT + 2) + 1 + 4 * 2 * AT_ONCE * len(NO_WEIGHTS))
        return sum(each) + self.rooms() + transfers

    @cached_property
    def _betting(self) -> list[list[StreetBetting]]:
        return [
            street_bettings(self.trees, player, self.buckets, run_out=True) for player in Player
        ]
