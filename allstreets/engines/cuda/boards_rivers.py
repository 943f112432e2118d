"""Rivers as the CUDA kernels play them (`rivers.cuh`): lines in pieces.

A piece is small enough to be played in the shared memory of a block, and has no more products than
the registers of its warps hold: sixteen rows of values are a tile, one warp's work.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allstreets.base import InputError, Ints, Longs
from allstreets.engines.boards.kernels.layout import Products
from allstreets.engines.boards.subgame import river_products
from allstreets.engines.cuda.programs import Array, Arrays, ints
from allstreets.engines.cuda.streets import StreetBetting
from allstreets.engines.exact.forest import DUMP_ROWS

PLAYERS = 256  # threads of a block that plays lines of a river
MOST_TABLES = 3  # such blocks that share a multiprocessor, unless the matrices are too large
RESERVED = 1024  # bytes of shared memory that a block has without asking
ROW_GAP = 4  # numbers between rows: LINE of the kernels
POT_BYTES = 64
ROWS_OF_TILE = 16
MOST_COLUMNS = 13  # eights of columns whose sums a warp keeps
SHOWS, FOLDS, RAKES = 1, 2, 4  # kinds of terms

TERM = np.dtype(
    [
        ("value", np.int32), ("show", np.int32), ("fold", np.int32), ("rake", np.int32),
        ("show_factor", np.float32), ("fold_factor", np.float32), ("rake_factor", np.float32),
        ("kinds", np.int32),
    ]
)  # fmt: skip
PIECE_NUMBERS = 16


@dataclass(frozen=True)
class Table:
    """The resources of a block: its share of a multiprocessor, and of a tile's columns."""

    buckets: int
    shared_bytes: int  # that a block of its own may have

    @property
    def blocks(self) -> int:
        """Blocks that share a multiprocessor; rows must have more room than matrices."""
        every = range(MOST_TABLES, 1, -1)
        return next((many for many in every if self._share(many) > 2 * self.matrices), 1)

    @property
    def matrices(self) -> int:
        """Bytes of both, two for each number."""
        return 2 * 2 * self.buckets**2

    @property
    def budget(self) -> int:
        """Bytes of shared memory that a block has."""
        return self._share(self.blocks)

    def _share(self, blocks: int) -> int:
        return (self.shared_bytes + RESERVED) // blocks - RESERVED

    @property
    def parts(self) -> int:
        """The number of parts in which columns are shared out among warps."""
        eights = self.buckets // 8
        every = (parts for parts in range(1, eights + 1) if eights % parts == 0)
        return next(parts for parts in every if eights // parts <= MOST_COLUMNS)

    @property
    def held(self) -> int:
        """Tiles that a warp keeps the sums of."""
        return max(1, 8 * self.parts // (self.buckets // 8))

    @property
    def most_tiles(self) -> int:
        """The most tiles of a piece."""
        return PLAYERS // 32 * self.held // self.parts

    def defines(self) -> dict[str, int]:
        """The constants of the kernels."""
        return {
            "BUCKETS": self.buckets, "PLAYERS": PLAYERS, "TABLES": self.blocks, "PARTS": self.parts,
            "HELD": self.held,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class RiverPieces:
    """The lines of a river in pieces."""

    betting: StreetBetting
    pots: int
    table: Table

    @property
    def buckets(self) -> int:
        """The buckets of a board."""
        return self.table.buckets

    @property
    def _always(self) -> int:
        """Bytes of two matrices, and of what is known of each pot."""
        return self.table.matrices + POT_BYTES * self.pots

    @cached_property
    def terms(self) -> Array:
        """Terms of the rows of values, by row; reach and values count from the street's."""
        return _terms(river_products(self.betting.forest))

    @cached_property
    def _counts(self) -> Array:
        """[L, 5]: rows of reach and of values, actions of both, terms, of each line."""
        betting, forest = self.betting, self.betting.forest
        reach = np.diff([*betting.line_reach.tolist(), betting.reach_rows])
        values = np.diff([*betting.line_value.tolist(), betting.value_rows])
        before = [
            np.concatenate([[0], np.cumsum(np.where(forest.is_own == mine, forest.actions, 0))])
            for mine in (False, True)
        ]
        terms = np.bincount(betting.line_of(self.terms["value"]), minlength=len(reach))
        actions = (np.diff(each[betting.line_nodes]) for each in before)
        return np.stack([reach, values, *actions, terms], axis=1)

    @property
    def _bytes(self) -> Array:
        """[L]: shared memory of each line."""
        reach, values, opponent, player, _ = self._counts.T
        rows, numbers = np.maximum(reach, values), np.maximum(opponent, player) + player
        sizes: Array = 4 * (self.buckets + ROW_GAP) * rows + 2 * self.buckets * numbers
        return sizes

    @cached_property
    def cuts(self) -> list[int]:
        """The first lines of pieces, and the end: few pieces, about as large as each other."""
        sizes, room = self._bytes, self.table.budget - self._always
        terms, most = self._counts[:, 4], ROWS_OF_TILE * self.table.most_tiles
        if sizes.max() > room or terms.max() > most:
            raise InputError(
                f"boards with {self.buckets} buckets do not fit the shared memory of the GPU;\n"
                "use fewer buckets, or device: cpu"
            )
        middle = np.cumsum(sizes) - sizes / 2
        count = -(-int(sizes.sum()) // room)
        while True:
            of_line = (middle * count / sizes.sum()).astype(np.int64)
            cuts = np.unique(of_line, return_index=True)[1]
            large, many = (np.add.reduceat(each, cuts).max() for each in (sizes, terms))
            if large <= room and many <= most:
                return [*cuts.tolist(), len(sizes)]
            count += 1

    @property
    def shared(self) -> int:
        """Bytes of shared memory that the largest piece takes."""
        sums = np.add.reduceat(self._bytes, self.cuts[:-1])
        return self._always + int(sums.max())

    def arrays(self) -> Arrays:
        """The arrays that the kernel of the river reads: rows count from those of the piece."""
        betting, cuts = self.betting, np.array(self.cuts)
        forest, counts = betting.forest, self._counts
        first = cuts[:-1]
        reach, values, opponent, player, _ = np.add.reduceat(counts, first, axis=0).T
        of_line = np.repeat(np.arange(len(first)), np.diff(cuts))
        of_node = of_line[betting.line_of(forest.value_row - DUMP_ROWS)]
        below_reach, below_value = betting.line_reach[first], betting.line_value[first]
        nodes = betting.nodes
        nodes["reach"] -= below_reach[of_node]
        nodes["child"] -= np.where(forest.is_own, below_value[of_node], below_reach[of_node])
        nodes["value"] -= below_value[of_node]
        runs = self._runs(nodes, of_node)
        terms, ends = self._tiles(of_line, below_reach, below_value)
        zeros = np.setdiff1d(np.arange(betting.value_rows), self.terms["value"])
        of_zero = of_line[betting.line_of(zeros)]
        bounds = betting.line_nodes[cuts]
        first_run = np.searchsorted(runs[:, 5], np.arange(len(first) + 1))
        first_zero = np.searchsorted(of_zero, np.arange(len(first) + 1))
        pieces = np.zeros((len(first), PIECE_NUMBERS), np.int32)
        pieces[:, :13] = np.stack(
            [
                first, np.diff(cuts), np.maximum(reach, values), bounds[:-1], np.diff(bounds),
                ends[:-1], np.diff(ends) // ROWS_OF_TILE, first_zero[:-1], np.diff(first_zero),
                np.maximum(opponent, player), player, first_run[:-1], np.diff(first_run),
            ],
            axis=1,
        )  # fmt: skip
        return {
            "nodes": nodes,
            "line_nodes": betting.line_nodes,
            "line_reach": ints(betting.line_reach - below_reach[of_line]),
            "line_value": ints(betting.line_value - below_value[of_line]),
            "line_pot": betting.line_pot,
            "player_actions": ints(forest.own_actions),
            "opponent_actions": ints(forest.other_actions),
            "river_pieces": pieces,
            "runs": runs,
            "products": terms,
            "zeros": ints(zeros - below_value[of_zero]),
        }

    def _runs(self, nodes: Array, of_node: Array) -> Ints:
        """[…, 8]: numbers of a piece's nodes that are stored one after the other, by piece.

        As `Run` has them, with the piece behind its place in the block; nodes learn their places.
        """
        forest, runs = self.betting.forest, list[list[int]]()
        order = np.lexsort((forest.slot, forest.pot, forest.is_own, of_node))
        used = 0
        for node in order.tolist():
            mine, pot = int(forest.is_own[node]), int(forest.pot[node])
            slot, actions = int(forest.slot[node]), int(forest.actions[node])
            piece = int(of_node[node])
            before = runs[-1] if runs else [-1] * 8
            same = before[0] == mine and before[5] == piece
            used = used if same else 0
            if same and before[1] == pot and before[2] + before[3] == slot:
                before[3] += actions
            else:
                runs.append([mine, pot, slot, actions, used, piece, 0, 0])
            nodes["number"][node] = used
            used += actions
        return ints(runs).reshape(-1, 8)

    def _tiles(self, of_line: Array, below_reach: Array, below_value: Array) -> tuple[Array, Longs]:
        """The terms of all pieces in whole tiles, and where those of each piece begin.

        Terms of a kind stand together. What fills up a tile reads the piece's first row, by 0.
        """
        piece = of_line[self.betting.line_of(self.terms["value"])]
        every, ends = [], [0]
        for number, (reach, value) in enumerate(zip(below_reach, below_value, strict=True)):
            here = self.terms[piece == number]
            here = here[np.argsort(here["kinds"], kind="stable")]
            here["value"] -= value
            for name in ("show", "fold", "rake"):
                here[name] = np.where(here[f"{name}_factor"] != 0, here[name] - reach, 0)
            tiles = np.zeros(-(-len(here) // ROWS_OF_TILE) * ROWS_OF_TILE, TERM)
            tiles["value"] = -1
            tiles[: len(here)] = here
            each = tiles["kinds"].reshape(-1, ROWS_OF_TILE)
            each[:] = np.bitwise_or.reduce(each, axis=1, keepdims=True)
            every.append(tiles)
            ends.append(ends[-1] + len(tiles))
        return np.concatenate(every), np.array(ends)


def _terms(products: Products) -> Array:
    """Terms of the rows of values, by row: a showdown, and two of folds and rake at most."""
    shows, folds = products.shows.factor != 0, products.folds.factor != 0
    values = np.union1d(products.shows.value[shows], products.folds.value[folds])
    terms = np.zeros(len(values), TERM)
    terms["value"] = values - DUMP_ROWS
    rows = (products.shows.reach, products.shows.value, products.shows.factor, shows)
    _place(terms, values, "show", SHOWS, *rows)
    rows = (products.folds.reach, products.folds.value, products.folds.factor, folds)
    _place(terms, values, "fold", FOLDS, *rows)
    return terms


def _place(
    terms: Array,
    values: Array,
    name: str,
    kind: int,
    reach: Array,
    value: Array,
    factor: Array,
    real: Array,
) -> None:
    """Write products with one matrix into the terms of their rows."""
    for row, target, by in zip(reach[real], value[real], factor[real], strict=True):
        term = terms[np.searchsorted(values, target)]
        into, bit = (name, kind) if not term["kinds"] & kind else ("rake", RAKES)
        assert kind == FOLDS or into == name, "a row has one showdown"
        assert not term["kinds"] & bit, "a row has no more than two of folds and rake"
        term[into], term[f"{into}_factor"] = row - 1, by
        term["kinds"] |= bit
