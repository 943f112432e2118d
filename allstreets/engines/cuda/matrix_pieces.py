"""Betting trees cut into pieces whose rows fit a block's memory (`kernels/matrix.cu`).

A pot's tree is a *top*, the decisions around its root, and *pieces*: some of the subtrees below it.
The root of each of these is a *line* of its piece. All ends are in pieces, a lone one as a subtree
of itself, and a piece needs nothing of the others: reach comes from the top by its lines, and
values go back there.

Rows are those of `engines.matrix.kernels.layout`, but none is shared by two that may write at once:
an own decision leaves its value in the row of its first action, whose own is not needed any more,
and whoever reads a row adds up those that lead to it (`adders`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Ints, Longs
from allstreets.betting import BettingTree, NodeKind, Outcome, Player
from allstreets.engines.matrix.plan import node_slots

NODE = np.dtype([(name, np.int32) for name in ("row", "child", "actions", "slot")])
TERM = np.dtype([("reach", np.int32), ("value", np.int32), ("factor", np.float32)])


@dataclass(frozen=True)
class Step:
    """A decision: the row of its reach or value, its actions' first row, and what is stored."""

    row: int
    child: int
    actions: int
    slot: int


@dataclass
class Part:
    """A top or a piece, for one own player."""

    lines: int
    reach_rows: int
    value_rows: int
    down: list[list[Step]] = field(default_factory=list)  # the other's, parents before children
    up: list[list[Step]] = field(default_factory=list)  # own ones, children before parents
    adders: list[list[int]] = field(default_factory=list)  # by value row: rows that lead there
    folds: list[tuple[int, int, float]] = field(default_factory=list)  # reach, value, factor
    shows: list[tuple[int, int, float]] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)  # reach rows of the lines below a top


@dataclass(frozen=True, eq=False)
class CutTree:
    """A pot for one own player.

    The lines of the pieces, one piece after the other, are the exits of the top; their values stand
    behind its own value rows.
    """

    top: Part
    pieces: list[Part]


class TreeCutter:
    """A betting tree with its payoffs [N, 2, 3], for one own player."""

    def __init__(self, tree: BettingTree, payoffs: Floats, own: Player) -> None:
        self.tree, self.payoffs, self.own = tree, payoffs, own
        self.slots = node_slots(tree, np.zeros(tree.node_count, np.int64))
        self.sizes = self._sizes()

    def _sizes(self) -> Longs:
        """[N, 2]: rows that the subtree of each node takes as a line, and its showdowns."""
        tree = self.tree
        sizes = np.zeros((tree.node_count, 2), np.int64)
        for node in reversed(range(tree.node_count)):
            if tree.kind[node] == NodeKind.DECISION:
                sizes[node, 0] += tree.child_count[node]
            elif tree.kind[node] == NodeKind.SHOWDOWN:
                sizes[node] += (1 if self._rake(node) else 0, 1)  # rake may need a row
            if node:
                sizes[tree.parent[node]] += sizes[node]
        sizes[:, 0] += 2  # those of a line
        return sizes

    def _rake(self, node: int) -> float:
        """Half of what both players together get less than the pot."""
        win, _, loss = self.payoffs[node, self.own]
        return float(win + loss) / 2

    def cut(self, most_rows: int, most_shows: int) -> CutTree:
        """Pieces of at most so many rows and showdowns, as few as the first that fits will do."""
        most = np.array([most_rows, most_shows])
        subtrees, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            if (self.sizes[node] <= most).all() or not self.tree.child_count[node]:
                subtrees.append(node)
            else:
                waiting.extend(self.tree.children_of(node).tolist())
        used: list[Longs] = []
        pieces: list[list[int]] = []
        for node in sorted(subtrees, key=lambda one: (-int(self.sizes[one, 0]), one)):
            need = self.sizes[node]
            place = next((i for i, so_far in enumerate(used) if (so_far + need <= most).all()), -1)
            if place < 0:
                used.append(need.copy())
                pieces.append([node])
            else:
                used[place] += need
                pieces[place].append(node)
        below = [node for nodes in pieces for node in nodes]
        return CutTree(self._part([0], below), [self._part(nodes) for nodes in pieces])

    def _part(self, roots: Sequence[int], below: Sequence[int] = ()) -> Part:
        """The subtrees of some nodes, down to where others begin."""
        tree, part = self.tree, Part(len(roots), len(roots), len(roots))
        exits: dict[int, tuple[int, int]] = {}
        own: list[Step] = []
        ended = set(below)
        waiting = [(node, line, line, 0) for line, node in enumerate(roots)][::-1]
        folds: list[tuple[int, int, float]] = []
        while waiting:
            node, reach, value, level = waiting.pop()
            children = tree.children_of(node).tolist()
            kind = tree.kind[node]
            if node in ended:
                exits[node] = reach, value
            elif kind == NodeKind.CHANCE:
                waiting.extend((child, reach, value, level) for child in reversed(children))
            elif kind == NodeKind.FOLD:
                won = float(self.payoffs[node, self.own, Outcome.WIN])
                folds.append((reach, value, won))
            elif kind != NodeKind.DECISION:
                win, _, loss = self.payoffs[node, self.own]
                part.shows.append((reach, value, float(win - loss) / 2))
                if self._rake(node):
                    folds.append((reach, value, self._rake(node)))
            elif tree.player[node] == self.own:
                first, count = part.value_rows, len(children)
                own.append(Step(value, first, count, int(self.slots[node])))
                part.value_rows += count
                rows = enumerate(children, first)
                waiting.extend([(child, reach, row, level) for row, child in rows][::-1])
            else:
                first, count = part.reach_rows, len(children)
                part.down.extend([] for _ in range(level + 1 - len(part.down)))
                part.down[level].append(Step(reach, first, count, int(self.slots[node])))
                part.reach_rows += count
                rows = enumerate(children, first)
                waiting.extend([(child, row, value, level + 1) for row, child in rows][::-1])
        part.adders = [[] for _ in range(part.value_rows)]
        part.folds = self._apart(part, folds)
        part.shows = self._apart(part, part.shows)
        self._rise(part, own)
        for number, node in enumerate(below):
            reach, value = exits[node]
            part.exits.append(reach)
            part.adders[value].append(part.value_rows + number)
        return part

    @staticmethod
    def _apart(part: Part, ends: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
        """Ends of which no two have the same value row: further ones get rows that lead there."""
        taken: set[int] = set()
        found = []
        for reach, value, factor in ends:
            row = value
            if value in taken:
                row, part.value_rows = part.value_rows, part.value_rows + 1
                part.adders[value].append(row)
                part.adders.append([])
            taken.add(row)
            found.append((reach, row, factor))
        return found

    @staticmethod
    def _rise(part: Part, own: list[Step]) -> None:
        """Own decisions by how many of them are below one another."""
        height = [0] * part.value_rows
        for step in reversed(own):
            level = max(height[step.child : step.child + step.actions])
            part.up.extend([] for _ in range(level + 1 - len(part.up)))
            part.up[level].append(step)
            part.adders[step.row].append(step.child)
            height[step.row] = max(height[step.row], level + 1)


PIECE = (
    "pot", "lines", "reach_rows", "value_rows", "first_line", "down", "down_levels", "up",
    "up_levels", "adders", "folds", "fold_count", "shows", "show_count", "reach_room", "value_room",
)  # fmt: skip
"""Numbers of a part as `Piece` of the kernels has them."""


class Lists:
    """The parts of all pots in a few arrays, for one own player."""

    def __init__(self, pots: Sequence[CutTree]) -> None:
        self._nodes: list[Step] = []
        self._levels: list[int] = []
        self._adds: list[int] = []
        self._adders: list[int] = []
        self._folds: list[tuple[int, int, float]] = []
        self._shows: list[tuple[int, int, float]] = []
        self.reach_rows = self.value_rows = 0  # of the tops and lines of all pots on a flop
        line_reach: list[int] = []
        line_value: list[int] = []
        tops, pieces = [], []
        for pot, cut in enumerate(pots):
            top, reach, value = cut.top, self.reach_rows, self.value_rows
            tops.append(self._place(top, pot, 0, reach, value))
            for part in cut.pieces:
                pieces.append(self._place(part, pot, len(line_reach), 0, 0))
                done = len(line_reach) - sum(len(before.top.exits) for before in pots[:pot])
                for line in range(done, done + part.lines):
                    line_reach.append(reach + top.exits[line])
                    line_value.append(value + top.value_rows + line)
            self.reach_rows += top.reach_rows
            self.value_rows += top.value_rows + len(top.exits)
        self.tops, self.pieces = (_ints(each).reshape(-1, len(PIECE)) for each in (tops, pieces))
        self.line_reach, self.line_value = _ints(line_reach), _ints(line_value)

    def _place(self, part: Part, pot: int, first_line: int, reach: int, value: int) -> list[int]:
        down, up = self._ranges(part.down), self._ranges(part.up)
        adds, folds, shows = len(self._adds), len(self._folds), len(self._shows)
        for rows in part.adders:
            self._adds.append(len(self._adders))
            self._adders.extend(rows)
        self._adds.append(len(self._adders))
        self._folds.extend(part.folds)
        self._shows.extend(part.shows)
        return [
            pot, part.lines, part.reach_rows, part.value_rows, first_line,
            down, len(part.down), up, len(part.up), adds,
            folds, len(part.folds), shows, len(part.shows), reach, value,
        ]  # fmt: skip

    def _ranges(self, levels: Iterable[list[Step]]) -> int:
        """Where the bounds of the levels stand, each a range of nodes."""
        first = len(self._levels)
        for level in levels:
            self._levels.append(len(self._nodes))
            self._nodes.extend(level)
        self._levels.append(len(self._nodes))
        return first

    @property
    def arrays(self) -> dict[str, NDArray[np.void] | Ints]:
        """As the kernels read them, by field."""
        nodes = [(one.row, one.child, one.actions, one.slot) for one in self._nodes]
        return {
            "tops": self.tops,
            "pieces": self.pieces,
            "line_reach": self.line_reach,
            "line_value": self.line_value,
            "nodes": np.array(nodes, NODE),
            "levels": _ints(self._levels),
            "adds": _ints(self._adds),
            "adders": _ints(self._adders),
            "folds": np.array(self._folds, TERM),
            "shows": np.array(self._shows, TERM),
        }


def _ints(numbers: Sequence[object]) -> Ints:
    return np.array(numbers, np.int32)
