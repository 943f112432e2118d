"""Passes of matrix games whose hands change between streets, on a GPU (`kernels/matrix_chain.cu`).

A half-iteration of all pots on a part of the flops:

    reach of classes · root → the lines of the first stage
    for each stage:    down through its betting; showdowns: reach · margins; folds: combos · reach;
                       reach at its exits · down → the lines of the next stage
    for each, back:    up through its betting; values of its lines · up → the exits of the stage
                       before
    values of the first lines · rootᵀ → values of classes

Hands meet at the products alone, in which all pots of a flop take part; at decisions a thread has
four hands. Own values are never stored by action: whoever reads one adds up what leads to it
(`Betting.sources`), ends, exits and decisions below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Ints, Longs, Singles
from allstreets.betting import BettingTree, Player, Street
from allstreets.cards import HAND_COUNT
from allstreets.engines.cuda.exact_layout import ints
from allstreets.engines.cuda.matrix_request import Asked
from allstreets.engines.cuda.mirrors import Buffers
from allstreets.engines.cuda.residence import FlopStore, store_table
from allstreets.engines.cuda.sources import LEAVING, PRODUCT, STAGE, packed, stages_source
from allstreets.engines.device import Buffer, Device
from allstreets.engines.matrix.cards import StageMatrices, padded
from allstreets.engines.matrix.kernels.layout import StagePlan
from allstreets.engines.matrix.plan import build_plans

# As the kernels have them.
TASKS, FOLDS, SEGMENTS, ROWS, COLUMNS, DEPTH, TALL = 128, 8, 16, 64, 64, 16, 8
TILE_BYTES = 3 * 4 * (ROWS * (DEPTH + 4) + DEPTH * COLUMNS)
DECISION, SHOWDOWN, FOLD, EXIT = range(4)
THREADS = 192  # of what is neither

SOURCE = np.dtype([("kind", np.int32), ("row", np.int32), ("factor", np.float32)])

Trees = Sequence[tuple[BettingTree, Floats]]
Rows = list[tuple[int, int, int]]
Line = tuple[int, int, int, int, int, int, int]
Node = tuple[int, int, int, int]


@dataclass
class Betting:
    """A stage of all pots for one own player: rows are counted through, pot after pot."""

    lines: list[Line] = field(default_factory=list)
    down: list[Node] = field(default_factory=list)
    up: list[Node] = field(default_factory=list)
    sources: list[list[tuple[int, int, float]]] = field(default_factory=list)  # by value row
    reach_rows: int = 0
    fold_rows: Rows = field(default_factory=list)  # (row, number, pot)
    show_rows: Rows = field(default_factory=list)
    exit_rows: Rows = field(default_factory=list)  # (row, line of the next stage, pot)

    def add(self, pot: int, plan: StagePlan, below: int) -> None:
        """Put a pot behind the others; the next stage has so many lines of those already."""
        rows, values, spare = self.reach_rows, len(self.sources), plan.lines
        self.reach_rows += plan.reach_rows
        self.sources += [[] for _ in range(plan.value_rows)]
        downs = _by_line(
            plan.lines, plan.reach_rows,
            [plan.other_reach, plan.other_child, plan.other_actions, plan.other_slot],
        )  # fmt: skip
        ups = _by_line(
            plan.lines, plan.value_rows,
            [each[::-1] for each in (plan.own_value, plan.own_child, plan.own_actions,
                                     plan.own_slot)],
        )  # fmt: skip
        for line in range(plan.lines):
            first, last = len(self.down), len(self.up)
            for row, child, actions, slot in downs[line]:
                self.down.append((rows + row, rows + child, actions, slot))
            for value, child, actions, slot in reversed(ups[line]):
                number = len(self.up)
                self.sources[values + value].append((DECISION, number, 1.0))
                self.up.append((number, values + child, actions, slot))
            bounds = first, len(self.down), last, len(self.up)
            self.lines.append((pot, rows + line, values + line, *bounds))
        ends = {
            FOLD: (plan.fold_reach, plan.fold_value, plan.fold_factor),
            SHOWDOWN: (plan.show_reach, plan.show_value, plan.show_factor),
        }
        for kind, lists in ends.items():
            numbers: dict[int, int] = {}  # ends that the other reaches alike share a row
            found = self.fold_rows if kind == FOLD else self.show_rows
            for reach, value, factor in zip(*(each.tolist() for each in lists), strict=True):
                if value == spare:
                    continue
                if reach not in numbers:
                    numbers[reach] = len(found)
                    found.append((rows + reach, len(found), pot))
                self.sources[values + value].append((kind, numbers[reach], factor))
        exits = plan.exit_reach, plan.exit_value, plan.exit_line
        for reach, value, line in zip(*(each.tolist() for each in exits), strict=True):
            if value != spare:
                self.exit_rows.append((rows + reach, below + line, pot))
                self.sources[values + value].append((EXIT, below + line, 1.0))

    @cached_property
    def arrays(self) -> dict[str, Ints | NDArray[np.void]]:
        """As the kernels read them, by field."""
        every = [source for sources in self.sources for source in sources]
        return {
            "line": ints(self.lines),
            "down": ints(self.down),
            "up": ints(self.up),
            "source_first": ints(np.cumsum([0, *(len(each) for each in self.sources)])),
            "sources": np.array(every, SOURCE),
            "fold_row": ints([row for row, *_ in self.fold_rows]),
        }

    @property
    def room_rows(self) -> int:
        """Rows of a flop."""
        lists = self.show_rows, self.exit_rows, self.up, self.lines
        return self.reach_rows + sum(len(each) for each in lists)


def _by_line(lines: int, rows: int, nodes: Sequence[Longs]) -> list[list[Node]]:
    """Nodes (row, first child, actions, slot), parents first, by the line that they are below."""
    line_of = [*range(lines), *([-1] * (rows - lines))]
    found: list[list[Node]] = [[] for _ in range(lines)]
    for row, child, actions, slot in zip(*(each.tolist() for each in nodes), strict=True):
        line_of[child : child + actions] = [line_of[row]] * actions
        found[line_of[row]].append((row, child, actions, slot))
    return found


def stage_betting(
    trees: Trees, own: Player, streets: tuple[tuple[Street, ...], ...]
) -> list[Betting]:
    """All pots, stage by stage."""
    stages = [Betting() for _ in streets]
    for pot, (tree, payoffs) in enumerate(trees):
        plans = build_plans(tree, payoffs, own, streets)
        below = [len(stage.lines) for stage in stages[1:]]
        for number, plan in enumerate(plans):
            stages[number].add(pot, plan, below[number] if number < len(below) else 0)
    return [stage for stage in stages if stage.lines]


class StagePasses:
    """Passes of games of several stages, with the roots [F, 169, H] that lead to the first."""

    root_length = padded(HAND_COUNT)

    def __init__(self, device: Device, trees: Trees, cards: StageMatrices, roots: Floats) -> None:
        self.cards, self._roots, self._buffers = cards, roots, Buffers(device, {})
        self._pots, self.betting = (
            len(trees),
            [stage_betting(trees, player, cards.streets) for player in Player],
        )
        self._kernels = device.compile(stages_source())
        self.room_bytes = 4 * max(
            sum(
                stage.room_rows * length for stage, length in zip(both, cards.lengths, strict=False)
            )
            for both in self.betting
        )
        self._passes: dict[tuple[Player, int, int], list[_Launch]] = {}

    def launch(self, player: Player, mode: int, part: int, places: int) -> None:
        """A pass on a part of the flops, so many of them."""
        for one in self._passes[player, mode, part]:
            blocks = -(-places * one.tasks // one.block)
            self._kernels.launch(one.kernel, blocks, one.threads, one.shared, one.argument)

    def arrange(self, asked: Asked, store: FlopStore, out: Buffer) -> None:
        """The structures of all passes, for each player, mode and part."""
        _Arranger(self, self._buffers, asked, store, out).arrange(self._passes)

    @property
    def pots(self) -> int:
        """P."""
        return self._pots

    @property
    def roots(self) -> Singles:
        """[F, 176, H]: from classes to the hands of the first stage; padding is 0."""
        flops, classes, hands = self._roots.shape
        found = np.zeros((flops, padded(classes), self.cards.lengths[0]), np.float32)
        found[:, :classes, :hands] = self._roots
        return found


@dataclass(frozen=True)
class _Launch:
    """A kernel on a part of the flops: so many tasks for each flop, `block` of them a block."""

    kernel: str
    tasks: int
    block: int
    threads: int
    shared: int
    argument: int


class _Arranger:
    """Puts what passes need on a device, and lists their launches."""

    def __init__(
        self, passes: StagePasses, buffers: Buffers, asked: Asked, store: FlopStore, out: Buffer
    ) -> None:
        self.passes, self.buffers, self.asked, self.store = passes, buffers, asked, store
        self.cards, self.out, self.put = passes.cards, out, buffers.address
        self.length = passes.root_length
        self.most = max(len(part) for part in store.parts)
        roots = passes.roots
        self.put("roots", roots)
        self.put("leaving", roots.transpose(0, 2, 1))
        for stage, cards in enumerate(self.cards.kernel):
            for name in ("margin", "combos", "down", "up"):
                self.put(f"{name}.{stage}", getattr(cards, name))
        self._rooms()

    def _rooms(self) -> None:
        """Rows of either player, the same memory for both."""
        device, kept = self.buffers.device, self.buffers.kept
        kept["least"] = device.zeros(self.most * self.passes.pots)
        kept["classes"] = device.zeros(self.most * self.passes.pots * self.length)
        for stage, length in enumerate(self.cards.lengths):
            both = [one[stage] for one in self.passes.betting if stage < len(one)]
            for name, rows in (
                ("reach", [one.reach_rows for one in both]),
                ("shows", [len(one.show_rows) for one in both]),
                ("exits", [len(one.exit_rows) for one in both]),
                ("decisions", [len(one.up) for one in both]),
                ("line_values", [len(one.lines) for one in both]),
            ):
                kept[f"{name}.{stage}"] = device.zeros(self.most * max([1, *rows]) * length)
            folds = max([1, *(len(one.fold_rows) for one in both)])
            kept[f"folds.{stage}"] = device.zeros(self.most * folds)

    def arrange(self, passes: dict[tuple[Player, int, int], list[_Launch]]) -> None:
        """All of them."""
        for player in Player:
            for part in range(len(self.store.parts)):
                for mode in range(3):
                    passes[player, mode, part] = self._pass(player, mode, part)

    def _pass(self, player: Player, mode: int, part: int) -> list[_Launch]:
        """The launches of a pass, in order."""
        betting, pots = self.passes.betting[player], self.passes.pots
        numbers = range(len(betting))
        lengths, lines = self.cards.lengths, [len(stage.lines) for stage in betting]
        structs = [self._stage(player, mode, part, stage) for stage in numbers]

        def product(
            name: str, terms: Rows, inputs: tuple[int, int, int], outputs: tuple[int, int, int],
            matrix: str,
        ) -> list[_Launch]:  # fmt: skip
            """Rows of (address, rows, hands) times a matrix."""
            if not terms:
                return []
            argument = self.put(
                f"{name}.{player}.{part}.product",
                packed(
                    PRODUCT,
                    **self.asked.fields(part),
                    count=len(terms),
                    terms=self.put(f"{name}.{player}.terms", ints(terms)),
                    inputs=inputs[0],
                    input_rows=inputs[1],
                    input_hands=inputs[2],
                    outputs=outputs[0],
                    output_rows=outputs[1],
                    output_hands=outputs[2],
                    matrix=self.put(matrix),
                ),
            )
            tiles = -(-len(terms) // ROWS) * -(-outputs[2] // COLUMNS)
            threads = ROWS // TALL * (COLUMNS // 4)
            return [_Launch("multiply", tiles, 1, threads, TILE_BYTES, argument)]

        reach = [
            (self.put(f"reach.{stage}"), betting[stage].reach_rows, lengths[stage])
            for stage in numbers
        ]
        values = [
            (self.put(f"line_values.{stage}"), lines[stage], lengths[stage]) for stage in numbers
        ]
        root = self.asked.address(f"root.{player}"), 0, self.length
        # Each pot has one line in the first stage.
        terms = [(pot, row, pot) for pot, row, *_ in betting[0].lines]
        found = product("enter", terms, root, reach[0], "roots")
        found.append(_Launch("find_least", pots, TASKS, TASKS, 0, structs[0]))
        for stage in numbers:
            here = betting[stage]
            tasks = lines[stage] * lengths[stage] // 4
            found.append(_Launch("stage_down", tasks, TASKS, TASKS, 0, structs[stage]))
            shows = self.put(f"shows.{stage}"), len(here.show_rows), lengths[stage]
            name = f"shows.{stage}"
            found += product(name, here.show_rows, reach[stage], shows, f"margin.{stage}")
            if here.fold_rows:
                tiles = -(-len(here.fold_rows) // FOLDS)
                shared = 4 * FOLDS * SEGMENTS
                found.append(
                    _Launch("sum_folds", tiles, 1, FOLDS * SEGMENTS, shared, structs[stage])
                )
            if here.exit_rows:
                below = betting[stage + 1].lines
                terms = [(row, below[line][1], pot) for row, line, pot in here.exit_rows]
                matrix = f"down.{stage + 1}"
                found += product(f"down.{stage}", terms, reach[stage], reach[stage + 1], matrix)
        for stage in reversed(numbers):
            tasks = lines[stage] * lengths[stage] // 4
            found.append(_Launch("stage_up", tasks, TASKS, TASKS, 0, structs[stage]))
            if stage:
                terms = [(line, line, here[0]) for line, here in enumerate(betting[stage].lines)]
                exits = self.put(f"exits.{stage - 1}"), lines[stage], lengths[stage - 1]
                found += product(f"up.{stage}", terms, values[stage], exits, f"up.{stage}")
        classes = self.put("classes"), pots, self.length
        terms = [(pot, pot, pot) for pot in range(pots)]
        found += product("leave", terms, values[0], classes, "leaving")
        found.append(_Launch("leave", pots, 1, THREADS, 0, self._leaving(player, part)))
        return found

    def _leaving(self, player: Player, part: int) -> int:
        words = packed(
            LEAVING,
            **self.asked.fields(part),
            hands=HAND_COUNT,
            length=self.length,
            rows=self.put("classes"),
            out=self.buffers.device.address(self.out),
        )
        return self.put(f"leaving.{player}.{part}", words)

    def _stage(self, player: Player, mode: int, part: int, stage: int) -> int:
        """The structure of a stage."""
        here, put = self.passes.betting[player][stage], self.put
        stores = store_table(self.store, part, stage, player)
        words = packed(
            STAGE,
            **self.asked.fields(part),
            **{name: put(f"{name}.{player}.{stage}", each) for name, each in here.arrays.items()},
            **{
                name: put(f"{name}.{stage}")
                for name in (
                    "combos", "reach", "folds", "shows", "exits", "decisions", "line_values",
                )
            },
            mode=mode,
            hands=self.cards.lengths[stage],
            lines=len(here.lines),
            fold_count=len(here.fold_rows),
            stores=put(f"stores.{player}.{part}.{stage}", stores),
            least=put("least"),
            reach_rows=here.reach_rows,
            show_rows=len(here.show_rows),
            exit_rows=len(here.exit_rows),
            decision_rows=len(here.up),
        )  # fmt: skip
        return put(f"stage.{player}.{mode}.{part}.{stage}", words)
