"""Games with real boards as the CUDA kernels read them (`kernels/cuda/boards.cu`).

Betting is that of the kernels for processors, with all lines of a street in one group. The river
is cut into pieces of neighbouring lines, each small enough to be played in shared memory. Boards of
all flops are numbered through, and so are their hands, combos and stored rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
from allstreets.kernels.card_lists import CARDS, list_by_card
from allstreets.kernels.exact_layout import Forest
from allstreets.kernels.group_entries import list_entries
from allstreets.kernels.group_layout import Products
from allstreets.subgames.boards import river_products
from allstreets.subgames.boards_cards import FlopBoards
from allstreets.subgames.cuda_layout import Betting, ints, places_below
from allstreets.subgames.exact_forest import DUMP_ROWS, build_forests, street_lines
from allstreets.subgames.pool import Pool
from allstreets.subgames.side_by_side import Trees, side_by_side
from allstreets.subgames.street_nodes import deal_streets

FLOP, TURN, RIVER = range(3)
LANES = 4  # folds that a block works on side by side
SEGMENTS = 32
WIDE = 16  # lines that are dealt and collected together
ROW_GAP = 4  # numbers between rows of a river board: LINE of the kernels
POT_BYTES = 48
PART_BYTES = 70_000  # of the river boards that are collected at once: three blocks find room

Array = NDArray[Any]
Arrays = dict[str, Array]
FOLD = np.dtype([("rows", np.int32, 2), ("factor", np.float32), ("pot", np.int32)])
TERM = np.dtype([("rows", np.int32, 2), ("factor", np.float32), ("round", np.int32)])


@dataclass(frozen=True, eq=False)
class StreetBetting:
    """A street's betting for one own player, all pots of a set."""

    forest: Forest
    line_pot: NDArray[np.int32]  # [L]

    @cached_property
    def rows(self) -> Betting:
        """Its rows."""
        return Betting(self.forest)

    @property
    def lines(self) -> int:
        """L."""
        return len(self.line_pot)

    @cached_property
    def line_nodes(self) -> NDArray[np.int32]:
        """[L+1]: the nodes before those of each line; all-ins that run out have none."""
        found = self.line_of(self.forest.value_row - DUMP_ROWS)
        return ints(np.searchsorted(found, np.arange(self.lines + 1)))

    def line_of(self, rows: Array) -> Array:
        """The lines that rows of values belong to."""
        return np.searchsorted(self.rows.line_value, rows, side="right") - 1

    @property
    def folds(self) -> Array:
        """[LANES · …]: own folds and the other's, filled up with some that nobody reads."""
        ends = self.rows.ends
        ends = ends[(ends["rows"][:, 2:] >= 0).any(axis=1)]  # without those of the filling
        called, folded, value, fold_value = ends["rows"].T
        found = np.zeros(-(-len(ends) // LANES) * LANES, FOLD)
        found["rows"][:, 1] = -1
        real = found[: len(ends)]
        real["rows"][:, 0] = np.where(folded < 0, called, folded)
        real["rows"][:, 1] = np.where(folded < 0, fold_value, value)
        real["factor"] = ends["amounts"][:, 2]
        real["pot"] = self.line_pot[self.line_of(real["rows"][:, 1])]
        return found

    def arrays(self) -> Arrays:
        """As the kernels of flop and turn read them."""
        rows = self.rows
        return {
            "nodes": rows.nodes,
            "line_nodes": self.line_nodes,
            "line_zeros": rows.by_line(rows.zeros),
            "line_sums": rows.by_line(rows.leaf_sums[:, 0]),
            "line_reach": rows.line_reach,
            "line_value": rows.line_value,
            "line_pot": self.line_pot,
            "folds": self.folds,
            "zeros": rows.zeros,
            "leaf_sums": rows.leaf_sums,
            "own_actions": ints(self.forest.own_actions),
            "other_actions": ints(self.forest.other_actions),
        }


def street_bettings(trees: Trees, own: Player, groups: int) -> list[StreetBetting]:
    """Flop, turn and river of all pots of a set."""
    tree, first = side_by_side([tree for tree, _ in trees])
    chips = [float(one.pot) if one.pot else 1.0 for one, _ in trees]
    payoffs = np.concatenate([each / pot for (_, each), pot in zip(trees, chips, strict=True)])
    forests = build_forests(tree, payoffs, own, groups, run_out=True, first=first, together=True)
    found = []
    for street, forest in zip(deal_streets(tree, run_out=True), forests, strict=True):
        roots = street_lines(tree, street, groups, True, first, True).roots
        pots = np.searchsorted(first, roots, side="right") - 1
        found.append(StreetBetting(forest.kernel, ints(pots)))
    return found


@dataclass(frozen=True, eq=False)
class RiverPieces:
    """The lines of a river in pieces."""

    betting: StreetBetting
    pots: int
    groups: int
    budget: int  # bytes of shared memory that a block has
    tall: int  # rows of a product that a thread works on

    @property
    def _always(self) -> int:
        """Bytes of two matrices, and of what is known of each pot."""
        return 2 * 4 * self.groups**2 + POT_BYTES * self.pots

    @cached_property
    def _counts(self) -> Array:
        """[L, 4]: rows of reach and of values, actions of the other and own, of each line."""
        forest, rows, nodes = self.betting.forest, self.betting.rows, self.betting.line_nodes
        reach = np.diff([*rows.line_reach.tolist(), rows.reach_rows])
        values = np.diff([*rows.line_value.tolist(), rows.value_rows])
        before = [
            np.concatenate([[0], np.cumsum(np.where(forest.is_own == own, forest.actions, 0))])
            for own in (False, True)
        ]
        return np.stack([reach, values, *(np.diff(each[nodes]) for each in before)], axis=1)

    @property
    def _bytes(self) -> Array:
        """[L]: shared memory of each line."""
        reach, values, other, own = self._counts.T
        rows, numbers = reach + values, other + 2 * own
        found: Array = 4 * (self.groups + ROW_GAP) * rows + 2 * self.groups * numbers
        return found

    @cached_property
    def cuts(self) -> list[int]:
        """Where pieces begin, and the end: as few as fit, about as large as each other."""
        sizes, room = self._bytes, self.budget - self._always
        if sizes.max() > room:
            raise InputError(
                f"boards with {self.groups} groups do not fit the shared memory of the GPU;\n"
                "take fewer groups, or the cpu"
            )
        middle = np.cumsum(sizes) - sizes / 2
        count = -(-int(sizes.sum()) // room)
        while True:
            of_line = (middle * count / sizes.sum()).astype(np.int64)
            cuts = np.unique(of_line, return_index=True)[1]
            if np.add.reduceat(sizes, cuts).max() <= room:
                return [*cuts.tolist(), len(sizes)]
            count += 1

    @property
    def shared(self) -> int:
        """Bytes of shared memory that the largest piece takes."""
        sums = np.add.reduceat(self._bytes, self.cuts[:-1])
        return self._always + int(sums.max())

    def arrays(self) -> Arrays:
        """As the kernel of the river reads them: rows count from those of the piece."""
        betting, cuts = self.betting, np.array(self.cuts)
        forest, rows, counts = betting.forest, betting.rows, self._counts
        first = cuts[:-1]
        reach, values, other, own = np.add.reduceat(counts, first, axis=0).T
        of_line = np.repeat(np.arange(len(first)), np.diff(cuts))
        of_node = of_line[betting.line_of(forest.value_row - DUMP_ROWS)]
        below_reach, below_value = rows.line_reach[first], rows.line_value[first]
        nodes = rows.nodes
        nodes[:, 2] -= below_reach[of_node]
        nodes[:, 3] -= np.where(forest.is_own, below_value[of_node], below_reach[of_node])
        nodes[:, 4] -= below_value[of_node]
        runs = self._runs(nodes, of_node)
        terms, ends = self._terms(of_line, below_reach, below_value)
        bounds = betting.line_nodes[cuts]
        pieces = np.zeros((len(first), 12), np.int32)
        first_run = np.searchsorted(runs[:, 5], np.arange(len(first) + 1))
        pieces[:] = np.stack(
            [
                first, np.diff(cuts), reach, values, bounds[:-1], np.diff(bounds), ends[:-1],
                np.diff(ends) // self.tall, other, own, first_run[:-1], np.diff(first_run),
            ],
            axis=1,
        )  # fmt: skip
        return {
            "nodes": nodes,
            "line_nodes": betting.line_nodes,
            "line_reach": ints(rows.line_reach - below_reach[of_line]),
            "line_value": ints(rows.line_value - below_value[of_line]),
            "line_pot": betting.line_pot,
            "own_actions": ints(forest.own_actions),
            "other_actions": ints(forest.other_actions),
            "river_pieces": pieces,
            "runs": runs,
            "products": terms,
        }

    def _runs(self, nodes: Array, of_node: Array) -> NDArray[np.int32]:
        """[…, 8]: numbers of a piece's nodes that are stored one after the other, by piece.

        (own, pot, slot, actions, place in the piece's room, piece, 0, 0); nodes learn their places.
        """
        forest, runs = self.betting.forest, list[list[int]]()
        order = np.lexsort((forest.slot, forest.pot, forest.is_own, of_node))
        used = 0
        for node in order.tolist():
            own, pot = int(forest.is_own[node]), int(forest.pot[node])
            slot, actions = int(forest.slot[node]), int(forest.actions[node])
            piece = int(of_node[node])
            before = runs[-1] if runs else [-1] * 8
            same = before[0] == own and before[5] == piece
            used = used if same else 0
            if same and before[1] == pot and before[2] + before[3] == slot:
                before[3] += actions
            else:
                runs.append([own, pot, slot, actions, used, piece, 0, 0])
            nodes[node, 7] = used
            used += actions
        return ints(runs).reshape(-1, 8)

    def _terms(
        self, of_line: Array, below_reach: Array, below_value: Array
    ) -> tuple[Array, NDArray[np.int64]]:
        """Products of all pieces, and where those of each begin.

        Products of one round go to different rows. In round 0 they are with the margins. Those that
        a thread works on are of one round: what is missing to a multiple of `tall` is filled up.
        """
        reach, value, factor, rounds = _rounds(river_products(self.betting.forest))
        piece = of_line[self.betting.line_of(value)]
        found, ends = [], [0]
        for number in range(len(below_reach)):
            for which in range(int(rounds.max(initial=0)) + 1):
                here = np.flatnonzero((piece == number) & (rounds == which))
                some = np.zeros(-(-len(here) // self.tall) * self.tall, TERM)
                some["round"], some["rows"][:, 1] = which, -1
                some["rows"][: len(here), 0] = reach[here] - below_reach[number]
                some["rows"][: len(here), 1] = value[here] - below_value[number]
                some["factor"][: len(here)] = factor[here]
                found.append(some)
            ends.append(sum(map(len, found)))
        return np.concatenate(found), np.array(ends)


def _rounds(products: Products) -> tuple[Array, Array, Array, Array]:
    """Rows of reach and of values, factors and rounds of all products."""
    shows, folds = products.show_factor != 0, products.fold_factor != 0
    reach = np.concatenate([products.show_reach[shows], products.fold_reach[folds]]) - 1
    value = np.concatenate([products.show_value[shows], products.fold_value[folds]]) - DUMP_ROWS
    factor = np.concatenate([products.show_factor[shows], products.fold_factor[folds]])
    rounds = np.zeros(len(value), np.int32)
    seen: dict[int, int] = {}
    for place in range(int(shows.sum()), len(value)):
        rounds[place] = seen[int(value[place])] = seen.get(int(value[place]), 0) + 1
    return reach, value, factor, rounds


# -- cards


def starts(sizes: Sequence[int]) -> NDArray[np.int64]:
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

    def __init__(self, cards: Sequence[FlopBoards], number: int, groups: int, threads: int) -> None:
        self.cards, self.groups = cards, groups
        self.rivers = [each.rivers[number] for each in cards]
        boards = [[each.kernel[0][level] for each in cards] for level in (FLOP, TURN)]
        self.boards = boards
        counts = [[len(each.own_start) - 1 for each in row] for row in boards]
        counts.append([each.river_boards for each in cards])
        self.flop_first = [starts(count) for count in counts]
        self.start = [one_after_the_other([each.own_start for each in row]) for row in boards]
        self.children = one_after_the_other([each.children for each in boards[TURN]])
        most = int(np.diff(self.children).max())
        self.part = min(most, max(1, PART_BYTES // (4 * WIDE * groups)))
        self.parts = -(-most // self.part)
        self._pool = Pool(threads)
        self._rows: dict[tuple[int, Player], NDArray[np.int32]] = {}

    @property
    def most_hands(self) -> int:
        """Of a board."""
        return max(int(np.diff(start).max()) for start in self.start)

    def street(self, level: int) -> Arrays:
        """What both players share of a street."""
        first = self.flop_first[level]
        flop_of = np.repeat(np.arange(len(first) - 1), np.diff(first))
        found: Arrays = {"flop_of": ints(flop_of), "flop_first": ints(first)}
        if level == RIVER:
            return found | {
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
            "chance": np.concatenate([each.chance for each in self.rivers]),
            "share": np.concatenate([each.own_share for each in self.cards]),
        }

    def stored_rows(self, level: int, player: Player) -> NDArray[np.int32]:
        """[B+1]: stored rows of a player before each board."""
        if (level, player) not in self._rows:
            shared = [each.rows[player].start for each in self.rivers if each.rows is not None]
            if level == RIVER:
                rows = ints(self.groups * np.arange(self.flop_first[RIVER][-1] + 1))
            elif level == TURN and shared:
                rows = one_after_the_other(shared)
            else:
                rows = self.start[level]
            self._rows[level, player] = rows
        return self._rows[level, player]

    def row_of_hand(self, player: Player) -> Array | None:
        """The stored row of each hand of the turn; None: its own."""
        rows = [each.rows[player].row for each in self.rivers if each.rows is not None]
        return np.concatenate(rows) if rows else None

    def members(self, player: Player) -> Arrays:
        """The hands of each stored row of the turn, with their shares."""
        first, members, shares = [], [], []
        for boards, rivers in zip(self.boards[TURN], self.rivers, strict=True):
            if rivers.rows is None:
                return {}
            rows, start = rivers.rows[player], boards.own_start
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
        combos = [each.combos[other] for each in self.rivers]
        return {
            "other_combos": one_after_the_other([each.start for each in combos]),
            "other_first": np.concatenate([each.first for each in combos]),
            "other_parent": np.concatenate([each.parent for each in combos]),
        }

    def collected(self, own: Player) -> Arrays:
        """Where the values of each own hand of the turn come from."""
        found: list[tuple[Array, Array]] = [(np.zeros(1), np.zeros(0))] * len(self.cards)

        def work(_: int, flop: int) -> None:
            combos, turn = self.rivers[flop].combos[own], self.boards[TURN][flop]
            start = np.zeros(int(turn.own_start[-1]) * self.parts + 1, np.int32)
            entries = np.zeros(len(combos.parent), np.uint16)
            list_entries(
                turn.children, turn.own_start, combos.start, combos.first, combos.parent,
                self.groups, self.part, self.parts, start, entries,
            )  # fmt: skip
            found[flop] = start, entries

        self._pool.run(len(self.cards), work)
        return {
            "entry_start": one_after_the_other([start for start, _ in found]),
            "entries": np.concatenate([entries for _, entries in found]),
        }
