"""Streets of exact subgames and of real boards as the CUDA kernels read them (`streets.cuh`).

Boards, hands and stored numbers are those of the kernels for processors. Betting is theirs, too,
except for the lines of a street, which are in one list and are worked on one by one, and for rows
and tiles that only fill vectors, which are left out.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allstreets.base import Ints, Longs
from allstreets.betting import Player
from allstreets.engines.cuda.kernels.lists import CARDS, list_by_card
from allstreets.engines.cuda.programs import Array, Arrays, ints
from allstreets.engines.exact.buckets import HandBuckets
from allstreets.engines.exact.forest import DUMP_ROWS, build_forests, street_lines
from allstreets.engines.exact.kernels.layout import Boards, Forest
from allstreets.engines.trees import Trees, deal_streets, side_by_side

TILE = 4  # terminals that a block works on side by side: LANES of the kernels
SEGMENTS = 32
PIECE = 128  # hands of a board that a block takes

NODE = np.dtype(
    [
        *((name, np.uint8) for name in ("is_player", "adds", "locked", "unused")),
        *((name, np.int32) for name in ("actions", "reach", "child", "value", "slot")),
        ("number", np.int32), ("spare", np.int32),
    ]
)  # fmt: skip
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
    def nodes(self) -> Array:
        """[D]: as `Node` has them."""
        forest, nodes = self.forest, np.zeros(len(self.forest.actions), NODE)
        nodes["is_player"], nodes["adds"] = forest.is_own, forest.adds
        nodes["locked"] = forest.locked
        for name in ("actions", "slot", "number"):
            nodes[name] = getattr(forest, name)
        nodes["reach"] = forest.reach_row - 1
        nodes["child"] = forest.child_row - np.where(forest.is_own, DUMP_ROWS, 1)
        nodes["value"] = forest.value_row - DUMP_ROWS
        return nodes

    @property
    def free_actions(self) -> Longs:
        """[P]: the actions of the player's decisions in each pot that are not locked."""
        forest = self.forest
        free = forest.is_own & ~forest.locked
        pots = len(forest.own_actions) - 1
        return np.bincount(forest.pot[free], forest.actions[free], pots).astype(np.int64)

    @property
    def pot_locked(self) -> Array:
        """[P]: whether some decision of the player's is locked."""
        return (self.free_actions < np.diff(self.forest.own_actions)).astype(np.uint8)

    @cached_property
    def terminals(self) -> Array:
        """The terminals of which something is read, as `Terminal` has them."""
        forest = self.forest
        rows = [
            forest.shown_reach - 1, forest.folded_reach - 1, _written(forest.terminal_value),
            _written(forest.own_fold_value),
        ]  # fmt: skip
        fold = forest.terminal_gain + forest.terminal_loss  # one of them is 0
        amounts = [forest.terminal_stake, forest.terminal_rake, fold, np.zeros_like(fold)]
        terminals = np.zeros(len(fold), TERMINAL)
        terminals["rows"], terminals["amounts"] = np.stack(rows, axis=1), np.stack(amounts, axis=1)
        read: Array = terminals[(terminals["rows"][:, 2:] >= 0).any(axis=1)]
        return read

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
            "player_nodes": self.forest.own_nodes,
            "piece": PIECE,
        }


def _written(rows: Longs) -> Longs:
    """Rows of values; −1: nothing reads it."""
    return np.where(rows >= DUMP_ROWS, rows - DUMP_ROWS, -1)


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


def bucket_members(buckets: HandBuckets, start: Longs) -> tuple[Longs, Arrays]:
    """[buckets + 1]: the members before each bucket's; and the hands, each with its share.

    The hands of the boards begin at `start` [B+1].
    """
    held = np.flatnonzero(buckets.weight)
    board = np.searchsorted(start, held, side="right") - 1
    row = buckets.start[board] + buckets.row[held]
    order = np.argsort(row, kind="stable")
    first = np.searchsorted(row[order], np.arange(int(buckets.start[-1]) + 1))
    return first, {
        "members": (held - start[board])[order].astype(np.uint16),
        "member_share": buckets.weight[held][order].astype(np.float32),
    }


def card_lists(boards: Boards) -> Arrays:
    """The hands of the opponent's combos with each card, board by board."""
    start = np.zeros((len(boards.combo_start) - 1) * (CARDS + 1), np.uint16)
    hand = np.zeros(2 * int(boards.combo_start[-1]), np.uint16)
    list_by_card(boards.combo_start, boards.combo_cards, boards.combo_hand, start, hand)
    return {"card_start": start, "card_hand": hand}
