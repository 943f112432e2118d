"""The betting tree laid out street by street for the exact kernels.

Every street becomes a `Forest` for each own player: decision nodes in groups, rows for reach and
values, and tiles of sixteen terminal places. `kernels.layout`
says what the rows mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BettingTree, NodeKind, Player, Street
from allstreets.engines.exact.kernels.layout import (
    BOTH_FOLD,
    OTHER_FOLDS,
    OWN_FOLDS,
    ZERO_ROW,
    Forest,
)
from allstreets.engines.simd.vectors import LANES
from allstreets.engines.trees import deal_streets, node_slots

DUMP_ROWS = LANES  # value rows 0..15: for the lanes that are never read, one each
GROUP_BYTES = 640 * 1024
"""Rows of a group: with tiles and tables they stay in a second-level cache of a megabyte, and fewer
groups leave fewer tiles half empty."""


@dataclass(frozen=True)
class StreetLines:
    """The lines into a street and the groups in which they are worked on."""

    roots: tuple[int, ...]  # tree nodes at which the street begins, one per line
    groups: tuple[tuple[int, ...], ...]  # lines, by group
    lane: dict[int, int]  # root node → lane among all lane groups
    lane_groups: tuple[int, ...]  # lane groups before each group, and all of them


def street_lines(
    tree: BettingTree,
    street: Street,
    hands: int,
    run_out: bool = False,
    first: Sequence[int] = (0,),
    together: bool = False,
) -> StreetLines:
    """Lines of a street; on the river in groups of at most sixteen that fit the cache.

    Before the river one group holds everything: those streets cost next to nothing. So it does on
    the river where lines are `together`. Where all-ins are `run_out`, each of them is a line of the
    streets after its own, without any decision.
    """
    if street == tree.first_street:
        roots = list(first)
    else:
        over = (tree.kind == NodeKind.CHANCE) & (tree.street == street - 1)
        roots = [int(tree.children_of(node)[0]) for node in np.flatnonzero(over).tolist()]
        if run_out:
            shown = (tree.kind == NodeKind.SHOWDOWN) & (tree.street < street)
            roots += np.flatnonzero(shown).tolist()
    groups: list[list[int]] = []
    used = 0
    for line, root in enumerate(roots):
        size = 4 * hands * sum(len(tree.children_of(n)) for n in nodes_below(tree, root, street))
        full = groups and (len(groups[-1]) == LANES or used + size > GROUP_BYTES)
        if not groups or (street == Street.RIVER and full and not together):
            groups.append([])
            used = 0
        groups[-1].append(line)
        used += size
    lane: dict[int, int] = {}
    lane_groups = [0]
    for group in groups:
        for place, line in enumerate(group):
            lane[roots[line]] = LANES * lane_groups[-1] + place
        lane_groups.append(lane_groups[-1] + -(-len(group) // LANES))
    return StreetLines(tuple(roots), tuple(map(tuple, groups)), lane, tuple(lane_groups))


def nodes_below(tree: BettingTree, root: int, street: Street) -> list[int]:
    """The decision nodes of one line on one street, parents first."""
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if tree.kind[node] == NodeKind.DECISION and tree.street[node] == street:
            found.append(node)
            waiting += reversed(tree.children_of(node).tolist())
    return found


def _actions_before(
    tree: BettingTree, street: Street, first: Sequence[int], player: Player
) -> Longs:
    """[P+1]: actions of a player's nodes on a street in the pots before each."""
    chosen = (tree.kind == NodeKind.DECISION) & (tree.street == street) & (tree.player == player)
    before = np.concatenate([[0], np.cumsum(np.where(chosen, tree.child_count, 0))])
    return before[[*first, tree.node_count]].astype(np.int64)


@dataclass(frozen=True)
class StreetForest:
    """A street for the kernels, and the positions of its tree nodes."""

    kernel: Forest
    place: dict[int, int]  # tree node → decision node of the forest


class Terminal(NamedTuple):
    """A node's showdown and its fold; of rows, −1 stands for none."""

    shown_reach: int
    folded_reach: int
    value: int
    own_fold_value: int
    amounts: tuple[float, float, float, float]  # stake, rake, gain and loss


NO_TERMINAL = Terminal(-1, -1, -1, -1, (0.0, 0.0, 0.0, 0.0))


@dataclass
class _Tiles:
    """The terminals of both players' nodes, in whole tiles at the end of each group.

    What is left of both kinds after their full tiles shares a tile if it fits.
    """

    kinds: list[int] = field(default_factory=list)  # of the tiles
    terminals: list[Terminal] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0])  # of the groups, in tiles
    own: list[Terminal] = field(default_factory=list)  # of the group so far
    other: list[Terminal] = field(default_factory=list)

    def close_group(self) -> None:
        parts, rest = [(OWN_FOLDS, self.own), (OTHER_FOLDS, self.other)], list[Terminal]()
        left = [len(part) % LANES for _, part in parts]
        together = all(left) and sum(left) <= LANES
        for (kind, part), count in zip(parts, left, strict=True):
            full = len(part) - count if together else len(part)
            self._add(kind, part[:full])
            rest += part[full:]
        self._add(BOTH_FOLD, rest)
        self.ends.append(len(self.kinds))
        self.own, self.other = [], []

    def _add(self, kind: int, terminals: Sequence[Terminal]) -> None:
        spare = -len(terminals) % LANES
        self.terminals += [*terminals, *[NO_TERMINAL] * spare]
        self.kinds += [kind] * ((len(terminals) + spare) // LANES)

    def fields(self) -> dict[str, Any]:
        """The fields of `Forest` that describe these tiles."""
        rows = np.array([each[:4] for each in self.terminals], np.int64).reshape(-1, 4)
        amounts = np.array([each.amounts for each in self.terminals], np.float32).reshape(-1, 4)
        # What is not there counts for nothing, and is written to a row of its own.
        dump = np.arange(len(rows)) % LANES
        shown, folded, value, own_fold = rows.T
        stake, rake, gain, loss = np.ascontiguousarray(amounts.T)
        return {
            "group_tiles": np.array(self.ends),
            "tile_kind": np.array(self.kinds, np.int64),
            "shown_reach": np.where(shown < 0, ZERO_ROW, shown),
            "folded_reach": np.where(folded < 0, ZERO_ROW, folded),
            "terminal_value": np.where(value < 0, dump, value),
            "own_fold_value": np.where(own_fold < 0, dump, own_fold),
            "terminal_stake": stake,
            "terminal_rake": rake,
            "terminal_gain": gain,
            "terminal_loss": loss,
        }


class _Builder:
    """Numbers the rows of one street for one own player."""

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Floats,
        own: Player,
        street: Street,
        lines: StreetLines,
        run_out: bool,
        first: Sequence[int],
    ) -> None:
        self.tree, self.payoffs, self.own, self.lines = tree, payoffs, own, lines
        self.street = street
        self.runs_on = run_out and street < Street.RIVER
        self.slots = node_slots(tree, self.street)
        self.first = np.array(first)
        self.actions_before = [_actions_before(tree, street, first, player) for player in Player]
        self.columns: dict[str, list[int]] = {
            name: []
            for name in (
                "is_own", "actions", "reach_row", "child_row", "value_row", "adds", "pot", "slot",
                "number",
            )
        }  # fmt: skip
        self.order: list[int] = []
        self.tiles = _Tiles()
        self.zeros: list[int] = []
        self.zero_ends, self.node_ends = [0], [0]
        self.leaves: dict[int, tuple[int, int]] = {}  # first node below → reach row, value row
        self.leaf_sums: list[int] = []
        self.reach_rows = self.value_rows = 0
        self.most_reach = self.most_values = 0

    def new_rows(self, count: int, *, reach: bool) -> int:
        if reach:
            self.reach_rows += count
            return self.reach_rows - count
        self.value_rows += count
        return self.value_rows - count

    def build(self, next_lines: StreetLines | None) -> StreetForest:
        lanes = LANES * self.lines.lane_groups[-1]
        line_reach, line_value = np.zeros(lanes, np.int64), np.zeros(lanes, np.int64)
        line_value[:] = np.arange(lanes) % LANES  # dump rows
        for group in self.lines.groups:
            self.reach_rows, self.value_rows = 1, DUMP_ROWS
            for line in group:
                root = self.lines.roots[line]
                reach_row = self.new_rows(1, reach=True)
                value_row = self.new_rows(1, reach=False)
                line_reach[self.lines.lane[root]] = reach_row
                line_value[self.lines.lane[root]] = value_row
                self.place(root, reach_row, value_row, adds=False)
            self.tiles.close_group()
            self.zero_ends.append(len(self.zeros))
            self.node_ends.append(len(self.columns["actions"]))
            self.most_reach = max(self.most_reach, self.reach_rows)
            self.most_values = max(self.most_values, self.value_rows)
        forest = self.finish(line_reach, line_value, next_lines)
        return StreetForest(forest, {node: place for place, node in enumerate(self.order)})

    def place(self, node: int, reach_row: int, value_row: int, *, adds: bool) -> None:
        """Give a decision node and everything below it on this street their rows."""
        tree = self.tree
        if tree.kind[node] == NodeKind.SHOWDOWN:  # a line without any decision
            if self.runs_on:
                self.leaves[node] = reach_row, value_row
                return
            self.tiles.own.append(
                Terminal(reach_row, -1, value_row, -1, (*self.showdown(node), 0.0, 0.0))
            )
            return
        children = tree.children_of(node).tolist()
        player = int(tree.player[node])
        is_own = player == self.own
        pot = int(np.searchsorted(self.first, node, side="right")) - 1
        child_row = self.new_rows(len(children), reach=not is_own)
        self.order.append(node)
        record = (
            is_own,
            len(children),
            reach_row,
            child_row,
            value_row,
            adds,
            pot,
            self.slots.slot[node] - int(self.actions_before[player][pot]),
            self.slots.number[node],
        )
        for column, entry in zip(self.columns.values(), record, strict=True):
            column.append(int(entry))
        fold = next((c for c in children if tree.kind[c] == NodeKind.FOLD), None)
        shown = next((c for c in children if tree.kind[c] == NodeKind.SHOWDOWN), None)
        run_out = shown if self.runs_on else None
        shown = None if self.runs_on else shown
        ends = fold is not None or shown is not None
        fold_row = -1 if fold is None else child_row + children.index(fold)
        shown_row = -1 if shown is None else child_row + children.index(shown)
        fold_amount = 0.0 if fold is None else float(self.payoffs[fold, self.own, 0])
        stake, rake = self.showdown(shown)
        if is_own and ends:
            amounts = stake, rake, 0.0, fold_amount
            self.tiles.own.append(Terminal(reach_row, -1, shown_row, fold_row, amounts))
        elif ends:
            amounts = stake, rake, fold_amount, 0.0
            self.tiles.other.append(Terminal(shown_row, fold_row, value_row, -1, amounts))
        elif not is_own:
            self.zeros.append(value_row)
        for place, child in enumerate(children):
            row = child_row + place
            if tree.kind[child] == NodeKind.CHANCE or child == run_out:
                below = child if child == run_out else int(tree.children_of(child)[0])
                self.place_leaf(below, reach_row, row, value_row, is_own=bool(is_own))
            elif tree.kind[child] == NodeKind.DECISION:
                if is_own:
                    self.place(child, reach_row, row, adds=False)
                else:
                    self.place(child, row, value_row, adds=True)

    def place_leaf(
        self, below: int, reach_row: int, row: int, value_row: int, *, is_own: bool
    ) -> None:
        """The line `below` begins with the next card; a node's value row gets the sum of his."""
        if is_own:
            self.leaves[below] = reach_row, row
            return
        leaf_value = self.new_rows(1, reach=False)
        self.leaves[below] = row, leaf_value
        self.leaf_sums += [leaf_value, value_row]

    def showdown(self, node: int | None) -> tuple[float, float]:
        """Stake and rake of a showdown: value = stake · (won − lost) + rake · (all)."""
        if node is None:
            return 0.0, 0.0
        win, tie, _ = self.payoffs[node, self.own]
        return float(win - tie), float(tie)

    def finish(
        self, line_reach: Longs, line_value: Longs, next_lines: StreetLines | None
    ) -> Forest:
        lanes = LANES * next_lines.lane_groups[-1] if next_lines else 0
        leaf_reach = np.full(lanes, ZERO_ROW, np.int64)
        leaf_value = np.arange(lanes, dtype=np.int64) % LANES
        for root, (reach_row, value_row) in self.leaves.items():
            assert next_lines is not None
            leaf_reach[next_lines.lane[root]] = reach_row
            leaf_value[next_lines.lane[root]] = value_row
        columns: dict[str, Any] = {
            name: np.array(column, np.bool_ if name in ("is_own", "adds") else np.int64)
            for name, column in self.columns.items()
        }
        slots, is_own = columns["slot"], columns["is_own"]
        group_slots = [
            min(slots[first:last][is_own[first:last]].tolist(), default=0)
            for first, last in pairwise(self.node_ends)
        ]
        return Forest(
            group_nodes=np.array(self.node_ends),
            group_lanes=np.array(self.lines.lane_groups),
            reach_rows=self.most_reach,
            value_rows=self.most_values,
            **columns,
            locked=np.array([node in self.tree.locks for node in self.order], np.bool_),
            own_nodes=self.slots.nodes[self.own],
            own_actions=self.actions_before[self.own],
            other_actions=self.actions_before[self.own.opponent],
            group_slots=np.array(group_slots, np.int64),
            line_reach=line_reach,
            line_value=line_value,
            group_zeros=np.array(self.zero_ends),
            zeros=np.array(self.zeros, np.int64),
            **self.tiles.fields(),
            leaf_reach=leaf_reach,
            leaf_value=leaf_value,
            leaf_sums=np.array(self.leaf_sums, np.int64),
        )


def build_forests(
    tree: BettingTree,
    payoffs: Floats,
    own: Player,
    hands: int,
    run_out: bool = False,
    first: Sequence[int] = (0,),
    together: bool = False,
) -> list[StreetForest]:
    """The streets of a tree, laid out for the player `own`.

    `payoffs` [N, 2, 3] may be in any unit; `hands` is the longer of the two padded hand lists.
    All-ins before the river are showdowns of their street, or continue to it card by card
    (`run_out`). Where several pots are in one list of nodes (`trees`), `first` are their roots.
    One group holds all lines of the river if they are to be `together`.
    """
    streets = deal_streets(tree, run_out)
    lines = [street_lines(tree, street, hands, run_out, first, together) for street in streets]
    return [
        _Builder(tree, payoffs, own, street, here, run_out, first).build(below)
        for street, here, below in zip(streets, lines, [*lines[1:], None], strict=True)
    ]
