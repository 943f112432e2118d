"""Streets of an exact subgame as the CUDA kernels read them (`kernels/exact.cu`).

Boards, hands and stored numbers are those of the kernels for processors. Betting is theirs, too,
but for the lines of the river, each of which is worked on alone, and for rows and tiles that only
fill vectors, which are left out.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Ints, Longs, Singles
from allstreets.engines.cuda.kernels.card_lists import CARDS, list_by_card, place_in_lists
from allstreets.engines.exact.forest import DUMP_ROWS
from allstreets.engines.exact.kernels.layout import Boards, Forest

TILE = 4  # LANES of the kernels
SEGMENTS = 32
PIECE = 128  # hands of a board that a block takes

Array = NDArray[Any]
END = np.dtype([("rows", np.int32, 4), ("amounts", np.float32, 4)])


def ints(array: Any) -> Ints:
    """As the kernels count."""
    return np.ascontiguousarray(array, np.int32)


@dataclass(frozen=True, eq=False)
class Betting:
    """A street's betting for one own player, all lines in one group."""

    forest: Forest

    @cached_property
    def lanes(self) -> Longs:
        """[L]: the lanes of the lines that there are."""
        return np.flatnonzero(self.forest.line_value >= DUMP_ROWS)

    @property
    def reach_rows(self) -> int:
        """Without that of zeros."""
        return self.forest.reach_rows - 1

    @property
    def value_rows(self) -> int:
        """Without those that are never read."""
        return self.forest.value_rows - DUMP_ROWS

    @property
    def line_reach(self) -> Ints:
        """[L]: rows of reach."""
        return ints(self.forest.line_reach[self.lanes] - 1)

    @cached_property
    def line_value(self) -> Ints:
        """[L]: rows of values, rising; those of what is below a line stand behind its own."""
        return ints(self.forest.line_value[self.lanes] - DUMP_ROWS)

    @property
    def line_nodes(self) -> Ints:
        """[L+1]: the nodes before those of each line."""
        rows, first = np.unique(self.forest.value_row - DUMP_ROWS, return_index=True)
        roots = first[np.searchsorted(rows, self.line_value)]
        return ints([*roots, len(self.forest.value_row)])

    def by_line(self, rows: NDArray[Any]) -> Ints:
        """[L+1]: how many rows of values, rising, are below the lines before each."""
        return ints(np.searchsorted(rows, [*self.line_value, self.value_rows]))

    def leaves(self, below: "Betting") -> tuple[Ints, Ints]:
        """[L'], [L']: rows of reach and of values at which the lines of the street below begin."""
        forest = self.forest
        reach, value = (each[below.lanes] for each in (forest.leaf_reach, forest.leaf_value))
        return ints(reach - 1), ints(value - DUMP_ROWS)

    @property
    def nodes(self) -> Ints:
        """[D, 8]: as `Node` has them."""
        forest = self.forest
        child = forest.child_row - np.where(forest.is_own, DUMP_ROWS, 1)
        return ints(
            np.stack(
                [
                    forest.is_own, forest.actions, forest.reach_row - 1, child,
                    forest.value_row - DUMP_ROWS, forest.adds, forest.slot, forest.number,
                ],
                axis=1,
            )
        )  # fmt: skip

    @cached_property
    def ends(self) -> Array:
        """[TILE · …]: own choices, then the other's answers, as `End` has them."""
        forest = self.forest
        called, folded = forest.answer_showdown - 1, forest.answer_fold - 1
        none, nothing = np.full(len(forest.choice_reach), -1), np.zeros_like(forest.choice_stake)
        choices = _ends(
            [
                forest.choice_reach - 1, none, _written(forest.choice_showdown),
                _written(forest.choice_fold),
            ],
            [forest.choice_stake, forest.choice_rake, forest.choice_loss, nothing],
        )  # fmt: skip
        none, nothing = np.full(len(called), -1), np.zeros_like(forest.answer_stake)
        answers = _ends(
            [called, folded, _written(forest.answer_value), none],
            [forest.answer_stake, forest.answer_rake, forest.answer_gain, nothing],
        )
        spare = np.zeros(TILE, END)
        spare["rows"] = -1
        found = np.concatenate([choices, answers])
        return np.concatenate([found, spare[: -len(found) % TILE]])

    @property
    def tiles(self) -> int:
        """Of `TILE` ends."""
        return len(self.ends) // TILE

    @cached_property
    def leaf_sums(self) -> Ints:
        """[…, 2]: rows of leaves, and those that they are added to."""
        return ints(self.forest.leaf_sums - DUMP_ROWS).reshape(-1, 2)

    @cached_property
    def zeros(self) -> Ints:
        """Rows of values that are only ever added to."""
        return ints(np.sort(self.forest.zeros) - DUMP_ROWS)


def _written(rows: Longs) -> Longs:
    """Rows of values; −1: nobody reads it."""
    return np.where(rows >= DUMP_ROWS, rows - DUMP_ROWS, -1)


def _ends(rows: list[Any], amounts: list[Any]) -> Array:
    """Those of which something is read."""
    found = np.zeros(len(rows[0]), END)
    found["rows"], found["amounts"] = np.stack(rows, axis=1), np.stack(amounts, axis=1)
    kept: Array = found[(found["rows"][:, 2:] >= 0).any(axis=1)]
    return kept


BELOW = np.dtype(
    [("start", np.int32), ("hands", np.int32), ("hand", np.int32), ("weight", np.float32)]
)


def places_below(boards: Boards, below: Boards, parent: Longs) -> tuple[Array, Array]:
    """[own hands + 1], […]: where the values of each own hand of a street come from.

    `parent` [B'] are the boards above those below.
    """
    start, count = below.own_start, np.diff(below.own_start)
    board = np.repeat(np.arange(len(count)), count)
    held = np.flatnonzero(below.own_weight > 0)  # padding weighs nothing
    board = board[held]
    above = boards.own_start[parent[board]] + below.own_parent[held]
    order = np.argsort(above, kind="stable")
    held, board, above = held[order], board[order], above[order]
    found = np.zeros(len(held), BELOW)
    found["start"], found["hands"] = start[board], count[board]
    found["hand"], found["weight"] = held - start[board], below.own_weight[held]
    first = np.searchsorted(above, np.arange(int(boards.own_start[-1]) + 1))
    return ints(first), found


def card_tables(boards: Boards) -> dict[str, Array]:
    """The lists of the other's combos by card, and where own hands stand in them."""
    count = len(boards.combo_start) - 1
    start = np.zeros(count * (CARDS + 1), np.uint16)
    hand = np.zeros(2 * int(boards.combo_start[-1]), np.uint16)
    list_by_card(boards.combo_start, boards.combo_cards, boards.combo_hand, start, hand)
    tables = np.zeros(8 * int(boards.own_start[-1]), np.uint16)
    place_in_lists(
        boards.own_start, boards.own_cards, boards.below, boards.upto, boards.combo_start,
        boards.combo_cards, start, tables,
    )  # fmt: skip
    return {"card_start": start, "card_hand": hand, "tables": tables}


def turned(boards: Boards) -> Singles:
    """The matrices of all-ins as [other hand][own hand]."""
    found = np.zeros_like(boards.equity)
    own, other = np.diff(boards.own_start), np.diff(boards.other_start)
    for start, mine, his in zip(boards.equity_start.tolist(), own, other, strict=True):
        matrix = boards.equity[start : start + mine * his].reshape(mine, his)
        found[start : start + mine * his] = matrix.T.reshape(-1)
    return found


def sum_bytes(boards: Boards) -> int:
    """Shared memory of a block that works on a tile of ends."""
    combos, hands = (int(np.diff(s).max()) for s in (boards.combo_start, boards.other_start))
    entries = 2 * hands + (combos + 1) + (2 * combos + CARDS) + CARDS + 2 * SEGMENTS + 2
    return 4 * TILE * entries + 2 * 3 * combos
