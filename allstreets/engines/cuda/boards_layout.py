"""Boards and hands as the CUDA kernels of real boards read them (`kernels/boards.cu`).

Boards of all flops are numbered through, and so are their hands, combos and stored rows.
"""

from collections.abc import Callable, Sequence

import numpy as np

from allstreets.base import Ints, Longs
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
from allstreets.engines.boards.cards import FlopBoards
from allstreets.engines.cuda.boards_street import Array, Arrays
from allstreets.engines.cuda.exact_layout import ints, places_below
from allstreets.engines.cuda.kernels.bucket_entries import FOUR, list_dealt, list_entries
from allstreets.engines.cuda.kernels.card_lists import CARDS, list_by_card
from allstreets.engines.machine import Pool

FLOP, TURN, RIVER = range(3)
MOST_HANDS = 1136  # of a turn: 1,128 combos in whole vectors


def lines_together(shared_bytes: int) -> int:
    """Lines that are dealt and collected together: WIDE of the kernels.

    32 of them are read without conflicts of banks.
    """
    return 32 if shared_bytes >= 4 * 32 * (MOST_HANDS + 1) else 16


def river_parts(most: int, groups: int, shared_bytes: int) -> tuple[int, int]:
    """In how many parts the river boards of a turn, `most` of them, are collected; their boards."""
    places = shared_bytes // (4 * lines_together(shared_bytes)) - 1  # one holds zeros
    parts = -(-most // max(1, places // groups))
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
        groups: int,
        shared_bytes: int,
        threads: int,
    ) -> None:
        self.cards, self.groups, self._row = cards, groups, 4 * lines_together(shared_bytes)
        self.rivers = [each.buckets[number] for each in cards]
        boards = [[each.kernel[0][level] for each in cards] for level in (FLOP, TURN)]
        self.boards = boards
        counts = [[len(each.own_start) - 1 for each in row] for row in boards]
        counts.append([each.river_boards for each in cards])
        self.flop_first = [starts(count) for count in counts]
        self.start = [one_after_the_other([each.own_start for each in row]) for row in boards]
        self.children = one_after_the_other([each.children for each in boards[TURN]])
        most = int(np.diff(self.children).max())
        self.parts, self.part = river_parts(most, groups, shared_bytes)
        self._pool = Pool(threads)
        self._rows: dict[tuple[int, Player], Ints] = {}

    @property
    def most_hands(self) -> int:
        """Of a board."""
        return max(int(np.diff(start).max()) for start in self.start)

    @property
    def dealing_bytes(self) -> int:
        """Shared memory of the hands of a turn, and of a place of zeros."""
        return self._row * (int(np.diff(self.start[TURN]).max()) + 1)

    @property
    def collecting_bytes(self) -> int:
        """Shared memory of the groups of a part's river boards, and of a place of zeros."""
        return self._row * (self.part * self.groups + 1)

    def street(self, level: int) -> Arrays:
        """What both players share of a street."""
        first = self.flop_first[level]
        flop_of = np.repeat(np.arange(len(first) - 1), np.diff(first))
        found: Arrays = {"flop_of": ints(flop_of), "flop_first": ints(first)}
        if level == RIVER:
            return found | {
                "chance": np.concatenate([each.chance for each in self.rivers]),
                "margin": np.concatenate([each.margin.reshape(-1) for each in self.rivers]),
                "pairs": np.concatenate([each.pairs.reshape(-1) for each in self.rivers]),
            }
        boards = self.boards[level]
        start = self.start[level]
        combos = one_after_the_other([each.combo_start for each in boards])
        card_start, card_hand = [], []
        for each in boards:
            begin = np.zeros((len(each.combo_start) - 1) * (CARDS + 1), np.uint16)
            hand = np.zeros(2 * int(each.combo_start[-1]), np.uint16)
            list_by_card(each.combo_start, each.combo_cards, each.combo_hand, begin, hand)
            card_start.append(begin)
            card_hand.append(hand)
        size = np.zeros(int(start[-1]), np.uint8)
        place = 0
        for flop in self.cards:
            for hands in flop.streets[level].hands[0]:
                size[start[place] : start[place] + len(hands.sizes)] = hands.sizes
                place += 1
        found |= {
            "start": start,
            "combo_start": combos,
            "card_start": np.concatenate(card_start),
            "card_hand": np.concatenate(card_hand),
            "size": size,
            "cards": np.concatenate([each.own_cards for each in boards]),
        }
        return found | (self._flop() if level == FLOP else self._turn())

    def _flop(self) -> Arrays:
        start, hands = self.start[FLOP], [each.streets[0].hands[0][0] for each in self.cards]
        of_hand = np.full(int(start[-1]), HAND_COUNT, np.uint16)
        class_start = np.zeros((len(hands), HAND_COUNT + 1), np.uint16)
        class_hand = np.zeros(int(start[-1]), np.uint16)
        for flop, each in enumerate(hands):
            classes = HAND_OF_COMBO[each.first]
            place = slice(int(start[flop]), int(start[flop]) + len(classes))
            of_hand[place] = classes
            order = np.argsort(classes, kind="stable")
            class_hand[place] = order
            class_start[flop] = np.searchsorted(classes[order], np.arange(HAND_COUNT + 1))
        below_start, below = [], []
        for flop, (above, turn) in enumerate(zip(*self.boards, strict=True)):
            parents = np.zeros(len(turn.own_start) - 1, np.int64)
            begin, places = places_below(above, turn, parents)
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
        """[B+1]: stored rows of a player before each board."""
        if (level, player) not in self._rows:
            shared = [each.turn[player].start for each in self.rivers if each.turn is not None]
            if level == RIVER:
                rows = ints(self.groups * np.arange(self.flop_first[RIVER][-1] + 1))
            elif level == TURN and shared:
                rows = one_after_the_other(shared)
            else:
                rows = self.start[level]
            self._rows[level, player] = rows
        return self._rows[level, player]

    def live_rows(self, level: int, player: Player) -> Ints:
        """[B]: stored rows of a player on each board, without padding."""
        if level == RIVER:
            return np.full(int(self.flop_first[RIVER][-1]), self.groups, np.int32)
        counts = []
        for cards, rivers in zip(self.cards, self.rivers, strict=True):
            lists = cards.streets[level].lists[player]
            shared = rivers.turn if level == TURN else None
            counts.append(lists.counts if shared is None else shared[player].counts(lists))
        return ints(np.concatenate(counts))

    def row_of_hand(self, player: Player) -> Array | None:
        """The stored row of each hand of the turn; None: its own."""
        rows = [each.turn[player].row for each in self.rivers if each.turn is not None]
        return np.concatenate(rows) if rows else None

    def members(self, player: Player) -> Arrays:
        """The hands of each stored row of the turn, with their shares."""
        first, members, shares = [], [], []
        for boards, rivers in zip(self.boards[TURN], self.rivers, strict=True):
            if rivers.turn is None:
                return {}
            rows, start = rivers.turn[player], boards.own_start
            held = np.flatnonzero(rows.weight)
            board = np.searchsorted(start, held, side="right") - 1
            row = rows.start[board] + rows.row[held]
            order = np.argsort(row, kind="stable")
            first.append(np.searchsorted(row[order], np.arange(int(rows.start[-1]) + 1)))
            members.append((held - start[board])[order].astype(np.uint16))
            shares.append(rows.weight[held][order])
        return {
            "member_first": one_after_the_other(first),
            "members": np.concatenate(members),
            "member_share": np.concatenate(shares).astype(np.float32),
        }

    def dealt(self, other: Player) -> Arrays:
        """The other's combos on the rivers, by group."""

        def work(flop: int) -> tuple[Array, Array, Array]:
            combos, turn = self.rivers[flop].combos[other], self.boards[TURN][flop]
            start = np.zeros(len(combos.start), np.int32)
            bounds = np.zeros_like(combos.first)
            places = np.zeros(len(combos.parent) + (FOUR - 1) * len(combos.first), np.uint16)
            list_dealt(
                turn.children, turn.own_start, combos.start, combos.first, combos.parent,
                self.groups, start, bounds, places,
            )  # fmt: skip
            return start, bounds, places[: FOUR * start[-1]].copy()

        starts, bounds, places = self._of_flops(work)
        return {
            "other_combos": one_after_the_other(starts),
            "other_first": np.concatenate(bounds),
            "other_parent": np.concatenate(places),
        }

    def collected(self, own: Player) -> Arrays:
        """Where the values of each own hand of the turn come from."""

        def work(flop: int) -> tuple[Array, Array]:
            combos, turn = self.rivers[flop].combos[own], self.boards[TURN][flop]
            keys = int(turn.own_start[-1]) * self.parts
            start, used = np.zeros(keys + 1, np.int32), np.zeros(keys, np.int32)
            most = len(combos.parent) + (FOUR - 1) * keys
            entries = np.full(most, self.part * self.groups, np.uint16)
            list_entries(
                turn.children, turn.own_start, combos.start, combos.first, combos.parent,
                self.groups, self.part, self.parts, start, used, entries,
            )  # fmt: skip
            return start, entries[: FOUR * start[-1]].copy()

        starts, entries = self._of_flops(work)
        return {
            "entry_start": one_after_the_other(starts),
            "entries": np.concatenate(entries),
        }

    def _of_flops(self, work: Callable[[int], tuple[Array, ...]]) -> list[list[Array]]:
        """What `work` finds of each flop, kind by kind."""
        found: dict[int, tuple[Array, ...]] = {}

        def run(_: int, flop: int) -> None:
            found[flop] = work(flop)

        self._pool.run(len(self.cards), run)
        rows = [found[flop] for flop in range(len(self.cards))]
        return [list(each) for each in zip(*rows, strict=True)]
