"""Streets of exact subgames and of real boards as the CUDA kernels read them (`streets.cuh`).

Boards, hands and stored numbers are those of the kernels for processors. Betting is theirs, too,
except for the lines of a street, which are in one list and are worked on one by one, and for rows
and tiles that only fill vectors, which are left out.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from allstreets.base import Ints, Longs
from allstreets.betting import Player
from allstreets.engines.cuda.kernels.lists import CARDS, list_by_card
from allstreets.engines.cuda.programs import Array, Arrays, ints
from allstreets.engines.exact.forest import DUMP_ROWS, build_forests, street_lines
from allstreets.engines.exact.kernels.layout import Boards, Forest
from allstreets.engines.trees import Trees, deal_streets, side_by_side

TILE = 4  # terminals that a block works on side by side: LANES of the kernels
SEGMENTS = 32
PIECE = 128  # hands of a board that a block takes

TERMINAL = np.dtype([("rows", np.int32, 4), ("amounts", np.float32, 4)])
BELOW = np.dtype(
    [("start", np.int32), ("hands", np.int32), ("hand", np.int32), ("weight", np.float32)]
)


@dataclass(frozen=True, eq=False)
class StreetBetting:
    """A street's betting for one player, all lines of all pots."""

    forest: Forest
    line_pot: Ints  # [L]

    @property
    def lines(self) -> int:
        """L."""
        return len(self.line_pot)

    @cached_property
    def _lanes(self) -> Longs:
        """[L]: the lanes of the lines that there are."""
        return np.flatnonzero(self.forest.line_value >= DUMP_ROWS)

    @property
    def reach_rows(self) -> int:
        """Without the row of zeros."""
        return self.forest.reach_rows - 1

    @property
    def value_rows(self) -> int:
        """Without rows that are never read."""
        return self.forest.value_rows - DUMP_ROWS

    @cached_property
    def line_reach(self) -> Ints:
        """[L]: rows of reach."""
        return ints(self.forest.line_reach[self._lanes] - 1)

    @cached_property
    def line_value(self) -> Ints:
        """[L]: rows of values, rising; those of what is below a line stand behind its own."""
        return ints(self.forest.line_value[self._lanes] - DUMP_ROWS)

    def line_of(self, rows: Array) -> Array:
        """The lines that rows of values belong to."""
        return np.searchsorted(self.line_value, rows, side="right") - 1

    @cached_property
    def line_nodes(self) -> Ints:
        """[L+1]: the nodes before those of each line; all-ins that run out have none."""
        lines = self.line_of(self.forest.value_row - DUMP_ROWS)
        return ints(np.searchsorted(lines, np.arange(self.lines + 1)))

    def _by_line(self, rows: Array) -> Ints:
        """[L+1]: how many rows of values, rising, are below the lines before each."""
        return ints(np.searchsorted(rows, [*self.line_value, self.value_rows]))

    def leaves(self, below: "StreetBetting") -> tuple[Ints, Ints]:
        """[L'], [L']: rows of reach and of values at which the lines of the street below begin."""
        forest = self.forest
        reach, value = (each[below._lanes] for each in (forest.leaf_reach, forest.leaf_value))
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
    def terminals(self) -> Array:
        """The player's choices, then the opponent's answers, as `Terminal` has them."""
        forest = self.forest
        called, folded = forest.answer_showdown - 1, forest.answer_fold - 1
        none, nothing = np.full(len(forest.choice_reach), -1), np.zeros_like(forest.choice_stake)
        choices = _terminals(
            [
                forest.choice_reach - 1, none, _written(forest.choice_showdown),
                _written(forest.choice_fold),
            ],
            [forest.choice_stake, forest.choice_rake, forest.choice_loss, nothing],
        )  # fmt: skip
        none, nothing = np.full(len(called), -1), np.zeros_like(forest.answer_stake)
        answers = _terminals(
            [called, folded, _written(forest.answer_value), none],
            [forest.answer_stake, forest.answer_rake, forest.answer_gain, nothing],
        )
        return np.concatenate([choices, answers])

    def fields(self) -> dict[str, int | Array]:
        """The fields of a `Street` of the kernels."""
        zeros = ints(np.sort(self.forest.zeros) - DUMP_ROWS)
        leaf_sums = ints(self.forest.leaf_sums - DUMP_ROWS).reshape(-1, 2)
        return {
            "nodes": self.nodes,
            "lines": self.lines,
            "line_nodes": self.line_nodes,
            "line_zeros": self._by_line(zeros),
            "line_sums": self._by_line(leaf_sums[:, 0]),
            "line_reach": self.line_reach,
            "line_value": self.line_value,
            "zeros": zeros,
            "leaf_sums": leaf_sums,
            "reach_rows": self.reach_rows,
            "value_rows": self.value_rows,
            "piece": PIECE,
        }


def _written(rows: Longs) -> Longs:
    """Rows of values; −1: nothing reads it."""
    return np.where(rows >= DUMP_ROWS, rows - DUMP_ROWS, -1)


def _terminals(rows: list[Any], amounts: list[Any]) -> Array:
    """The terminals of which something is read."""
    terminals = np.zeros(len(rows[0]), TERMINAL)
    terminals["rows"], terminals["amounts"] = np.stack(rows, axis=1), np.stack(amounts, axis=1)
    read: Array = terminals[(terminals["rows"][:, 2:] >= 0).any(axis=1)]
    return read


def in_tiles(terminals: Array) -> Array:
    """[TILE · …]: padded with terminals whose rows are −1, which nothing reads."""
    spare = np.zeros(-len(terminals) % TILE, terminals.dtype)
    spare["rows"] = -1
    return np.concatenate([terminals, spare])


def street_bettings(
    trees: Trees, player: Player, longest: int, *, run_out: bool = False
) -> list[StreetBetting]:
    """The streets of all pots for a player, street by street.

    `longest` is the longer of the two padded hand lists. All-ins before the river are showdowns of
    their street, or run out card by card.
    """
    tree, first = side_by_side([tree for tree, _ in trees])
    chips = [float(tree.pot) if tree.pot else 1.0 for tree, _ in trees]
    payoffs = np.concatenate([each / pot for (_, each), pot in zip(trees, chips, strict=True)])
    forests = build_forests(tree, payoffs, player, longest, run_out, first, together=True)
    bettings = []
    for street, forest in zip(deal_streets(tree, run_out), forests, strict=True):
        roots = street_lines(tree, street, longest, run_out, first, True).roots
        pots = np.searchsorted(first, roots, side="right") - 1
        bettings.append(StreetBetting(forest.kernel, ints(pots)))
    return bettings


def hands_below(boards: Boards, below: Boards, parent: Longs) -> tuple[Array, Array]:
    """[player's hands + 1], […]: where the values of each hand of a street come from, as `Below`.

    `parent` [B'] are the boards above those below.
    """
    start, count = below.own_start, np.diff(below.own_start)
    board = np.repeat(np.arange(len(count)), count)
    held = np.flatnonzero(below.own_weight > 0)  # padding weighs nothing
    board = board[held]
    above = boards.own_start[parent[board]] + below.own_parent[held]
    order = np.argsort(above, kind="stable")
    held, board, above = held[order], board[order], above[order]
    hands = np.zeros(len(held), BELOW)
    hands["start"], hands["hands"] = start[board], count[board]
    hands["hand"], hands["weight"] = held - start[board], below.own_weight[held]
    first = np.searchsorted(above, np.arange(int(boards.own_start[-1]) + 1))
    return ints(first), hands


def card_lists(boards: Boards) -> Arrays:
    """The hands of the opponent's combos with each card, board by board."""
    start = np.zeros((len(boards.combo_start) - 1) * (CARDS + 1), np.uint16)
    hand = np.zeros(2 * int(boards.combo_start[-1]), np.uint16)
    list_by_card(boards.combo_start, boards.combo_cards, boards.combo_hand, start, hand)
    return {"card_start": start, "card_hand": hand}
