"""Matrix games of hand classes on a GPU (`matrix_classes.cu`): trees in pieces, and their passes.

A half-iteration of all pots on a part of the flops is three launches. Every block works on a piece
of a pot's tree on one flop, in shared memory from the forward pass to the backward pass.

A pot's tree is a *top*, the decisions around its root, and *pieces*: some of the subtrees below it.
The root of each of these is a *line* of its piece. All terminals are in pieces, a lone one as a
subtree of itself, and a piece needs nothing of the others: reach comes from the top by its lines,
and values go back there.

Rows are those of `engines.matrix.kernels.layout`, but none is shared by two that may write at once:
a player's decision leaves its value in the row of its first action, which is no longer needed, and
reading a row adds up the rows that lead to it (`adders`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles
from allstreets.betting import BettingTree, NodeKind, Outcome, Player
from allstreets.engines.cuda.matrix_passes import NODE, FlopLaunch, Passes, Step
from allstreets.engines.cuda.programs import Array, Arrays, ints
from allstreets.engines.device import Device
from allstreets.engines.matrix.cards import StageMatrices
from allstreets.engines.matrix.plan import node_slots
from allstreets.engines.trees import Trees

CARDS = 52
ROW_GAP = 4  # numbers between rows: LINE of the kernels
TILE_ROWS = 3 * 8  # of the matrix in shared memory: TILES of the kernels
TALL = 8  # showdowns that a thread works on
PLAYERS = 256  # threads of a block that plays a piece; two such blocks share a multiprocessor
THREADS = 176  # of the others
RESERVED = 1024  # bytes of shared memory that a block has without asking

TERM = np.dtype([("reach", np.int32), ("value", np.int32), ("factor", np.float32)])

Product = tuple[int, int, float]
"""A terminal: the row of reach, the row of values, and a factor."""


@dataclass
class Part:
    """A top or a piece, for one player."""

    lines: int
    reach_rows: int
    value_rows: int
    forward: list[list[Step]] = field(default_factory=list)  # the opponent's, parents first
    backward: list[list[Step]] = field(default_factory=list)  # the player's, children first
    adders: list[list[int]] = field(default_factory=list)  # by value row: rows that lead there
    folds: list[Product] = field(default_factory=list)
    shows: list[Product] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)  # reach rows of the lines below a top


@dataclass(frozen=True, eq=False)
class CutTree:
    """A pot for one player.

    The lines of the pieces, one piece after the other, are the exits of the top; their values stand
    behind its own value rows.
    """

    top: Part
    pieces: list[Part]


class TreeCutter:
    """A betting tree with its payoffs [N, 2, 3], for one player."""

    def __init__(self, tree: BettingTree, payoffs: Floats, player: Player) -> None:
        self.tree, self.payoffs, self.player = tree, payoffs, player
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
        win, _, loss = self.payoffs[node, self.player]
        return float(win + loss) / 2

    def cut(self, most_rows: int, most_shows: int) -> CutTree:
        """Cut into pieces of at most this many rows and showdowns, and as few as possible."""
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
        for node in sorted(subtrees, key=lambda root: (-int(self.sizes[root, 0]), root)):
            need = self.sizes[node]
            piece = next((i for i, so_far in enumerate(used) if (so_far + need <= most).all()), -1)
            if piece < 0:
                used.append(need.copy())
                pieces.append([node])
            else:
                used[piece] += need
                pieces[piece].append(node)
        below = [node for nodes in pieces for node in nodes]
        return CutTree(self._part([0], below), [self._part(nodes) for nodes in pieces])

    def _part(self, roots: Sequence[int], below: Sequence[int] = ()) -> Part:
        """The subtrees of some nodes, down to where others begin."""
        tree, part = self.tree, Part(len(roots), len(roots), len(roots))
        exits: dict[int, tuple[int, int]] = {}
        decisions: list[Step] = []
        ended = set(below)
        waiting = [(node, line, line, 0) for line, node in enumerate(roots)][::-1]
        folds: list[Product] = []
        while waiting:
            node, reach, value, level = waiting.pop()
            children = tree.children_of(node).tolist()
            kind = tree.kind[node]
            if node in ended:
                exits[node] = reach, value
            elif kind == NodeKind.CHANCE:
                waiting.extend((child, reach, value, level) for child in reversed(children))
            elif kind == NodeKind.FOLD:
                won = float(self.payoffs[node, self.player, Outcome.WIN])
                folds.append((reach, value, won))
            elif kind != NodeKind.DECISION:
                win, _, loss = self.payoffs[node, self.player]
                part.shows.append((reach, value, float(win - loss) / 2))
                if self._rake(node):
                    folds.append((reach, value, self._rake(node)))
            elif tree.player[node] == self.player:
                first, count = part.value_rows, len(children)
                slot, locked = int(self.slots[node]), node in tree.locks
                decisions.append(Step(value, first, slot, count, locked))
                part.value_rows += count
                rows = enumerate(children, first)
                waiting.extend([(child, reach, row, level) for row, child in rows][::-1])
            else:
                first, count = part.reach_rows, len(children)
                part.forward.extend([] for _ in range(level + 1 - len(part.forward)))
                part.forward[level].append(Step(reach, first, int(self.slots[node]), count))
                part.reach_rows += count
                rows = enumerate(children, first)
                waiting.extend([(child, row, value, level + 1) for row, child in rows][::-1])
        part.adders = [[] for _ in range(part.value_rows)]
        part.folds = self._apart(part, folds)
        part.shows = self._apart(part, part.shows)
        self._rise(part, decisions)
        for number, node in enumerate(below):
            reach, value = exits[node]
            part.exits.append(reach)
            part.adders[value].append(part.value_rows + number)
        return part

    @staticmethod
    def _apart(part: Part, terminals: list[Product]) -> list[Product]:
        """Terminals with a value row each: a second one in a row gets a row that leads there."""
        taken: set[int] = set()
        apart = []
        for reach, value, factor in terminals:
            row = value
            if value in taken:
                row, part.value_rows = part.value_rows, part.value_rows + 1
                part.adders[value].append(row)
                part.adders.append([])
            taken.add(row)
            apart.append((reach, row, factor))
        return apart

    @staticmethod
    def _rise(part: Part, decisions: list[Step]) -> None:
        """The player's decisions by how many of them are below one another."""
        height = [0] * part.value_rows
        for step in reversed(decisions):
            level = max(height[step.child : step.child + step.actions])
            part.backward.extend([] for _ in range(level + 1 - len(part.backward)))
            part.backward[level].append(step)
            part.adders[step.row].append(step.child)
            height[step.row] = max(height[step.row], level + 1)


PIECE = (
    "pot", "lines", "reach_rows", "value_rows", "first_line", "forward", "forward_levels",
    "backward", "backward_levels", "adders", "folds", "fold_count", "shows", "show_count",
    "reach_room", "value_room",
)  # fmt: skip
"""Numbers of a part as `Piece` of the kernels has them."""


class Lists:
    """The parts of all pots in a few arrays, for one player."""

    def __init__(self, pots: Sequence[CutTree]) -> None:
        self._nodes: list[Step] = []
        self._levels: list[int] = []
        self._adds: list[int] = []
        self._adders: list[int] = []
        self._folds: list[Product] = []
        self._shows: list[Product] = []
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
        self.tops, self.pieces = (ints(each).reshape(-1, len(PIECE)) for each in (tops, pieces))
        self.line_reach, self.line_value = ints(line_reach), ints(line_value)

    def _place(self, part: Part, pot: int, first_line: int, reach: int, value: int) -> list[int]:
        forward, backward = self._ranges(part.forward), self._ranges(part.backward)
        adds, folds, shows = len(self._adds), len(self._folds), len(self._shows)
        for rows in part.adders:
            self._adds.append(len(self._adders))
            self._adders.extend(rows)
        self._adds.append(len(self._adders))
        self._folds.extend(part.folds)
        self._shows.extend(part.shows)
        return [
            pot, part.lines, part.reach_rows, part.value_rows, first_line,
            forward, len(part.forward), backward, len(part.backward), adds,
            folds, len(part.folds), shows, len(part.shows), reach, value,
        ]  # fmt: skip

    def _ranges(self, levels: Iterable[list[Step]]) -> int:
        """The bounds of the levels, each a range of nodes."""
        first = len(self._levels)
        for level in levels:
            self._levels.append(len(self._nodes))
            self._nodes.extend(level)
        self._levels.append(len(self._nodes))
        return first

    @cached_property
    def arrays(self) -> Arrays:
        """The arrays that the kernels read, by field."""
        return {
            "tops": self.tops,
            "pieces": self.pieces,
            "line_reach": self.line_reach,
            "line_value": self.line_value,
            "nodes": np.array(self._nodes, NODE),
            "levels": ints(self._levels),
            "adds": ints(self._adds),
            "adders": ints(self._adders),
            "folds": np.array(self._folds, TERM),
            "shows": np.array(self._shows, TERM),
        }


class ClassPasses(Passes):
    """Passes of games of one stage."""

    def __init__(self, device: Device, trees: Trees, cards: StageMatrices) -> None:
        length = cards.lengths[0]
        defines = f"HANDS={length}", f"PLAYERS={PLAYERS}", f"TOPS={THREADS}"
        super().__init__(device, "matrix_classes.cu", defines)
        self.cards, self._pots = cards, len(trees)
        self.root_length, self._row = length, length + ROW_GAP
        budget = (device.shared_bytes + RESERVED) // 2 - RESERVED
        most_rows = (budget - 4 * TILE_ROWS * length) // (4 * self._row)
        most_shows = max(PLAYERS // (length // 4), 1) * TALL
        self.lists = [
            Lists([TreeCutter(*tree, player).cut(most_rows, most_shows) for tree in trees])
            for player in Player
        ]
        self._reach_rows = max(lists.reach_rows for lists in self.lists)
        self._value_rows = max(lists.value_rows for lists in self.lists)
        self.room_bytes = 4 * self._row * (self._reach_rows + self._value_rows)

    def make_room(self, flops: int) -> None:
        """Rows, matrices and lists of cards."""
        self.buffers.zeros("reach", flops * self._reach_rows * self._row)
        self.buffers.zeros("values", flops * self._value_rows * self._row)
        self._cards = self._card_fields()

    def launches_of(self, player: Player, mode: int, part: int) -> list[FlopLaunch]:
        """Tops, pieces, and tops again."""
        lists, put = self.lists[player], self.buffers.address
        argument = self.structure(
            f"matrix.{player}.{mode}.{part}",
            "Matrix",
            part,
            {
                **self._cards,
                **self.buffers.addresses(str(player), lists.arrays),
                **{name: self.request.address(f"{name}.{player}") for name in ("root", "least")},
                "mode": mode,
                "stores": self.stores(part, 0, player),
                "reach": put("reach"),
                "values": put("values"),
                "out": self.out,
                "hands": self.cards.hands[0],
                "piece_count": len(lists.pieces),
                "reach_rows": lists.reach_rows,
                "value_rows": lists.value_rows,
            },
        )
        rows = lists.pieces[:, 2] + lists.pieces[:, 3]  # of reach and of values
        shared = 4 * (TILE_ROWS * self.root_length + int(rows.max()) * self._row)
        return [
            FlopLaunch("forward", self._pots, 1, THREADS, 0, argument),
            FlopLaunch("play", len(lists.pieces), 1, PLAYERS, shared, argument),
            FlopLaunch("backward", self._pots, 1, THREADS, 0, argument),
        ]

    def _card_fields(self) -> Mapping[str, int]:
        """The flops' matrices and lists of cards."""
        cards = self.cards.kernel[0]
        hand, count = _side_by_side(CARDS, cards.card_start, cards.card_hand, cards.card_count)
        card, many = _side_by_side(cards.hands, cards.hand_start, cards.hand_card, cards.hand_count)
        given: dict[str, int | Array] = {
            "margin": cards.margin,
            "combos": cards.combos,
            "twins": cards.twins,
            "card_most": hand.shape[1],
            "card_hand": hand,
            "card_count": count,
            "held_most": card.shape[1],
            "held_card": card,
            "held_count": many,
        }
        return self.buffers.addresses("cards", given)


def _side_by_side(
    count: int, start: NDArray[np.int16], places: Bytes, numbers: Singles
) -> tuple[Bytes, Singles]:
    """Lists [F, …] of `count` owners as [F, longest, count], filled up with zeros."""
    sizes = np.diff(start.astype(np.int64), axis=1)  # [F, count]
    longest = max(1, int(sizes.max(initial=0)))
    spread = np.zeros((len(start), longest, count), np.uint8)
    many = np.zeros(spread.shape, np.float32)
    for flop, each in enumerate(sizes):
        owner = np.repeat(np.arange(count), each)
        column = np.arange(len(owner)) - np.repeat(start[flop, :-1].astype(np.int64), each)
        spread[flop, column, owner] = places[flop, : len(owner)]
        many[flop, column, owner] = numbers[flop, : len(owner)]
    return spread, many
