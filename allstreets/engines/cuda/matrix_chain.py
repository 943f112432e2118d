"""Matrix games whose hands change between streets, on a GPU (`matrix_chain.cu`).

A half-iteration of all pots on a part of the flops:

    reach of classes · root → the lines of the first stage
    for each stage:    forward through its betting; showdowns: reach · margins; folds: combos ·
                       reach; reach at its exits · down → the lines of the next stage
    for each, back:    backward through its betting; values of its lines · up → the exits of the
                       stage before
    values of the first lines · rootᵀ → values of classes

Hands meet only in the products, which all pots of a flop share; at decisions a thread has
four hands. A player's values are never stored by action: reading one adds up its sources
(`Betting.sources`): terminals, exits and decisions below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from allstreets.base import Floats, Longs, Singles
from allstreets.betting import Player, Street
from allstreets.cards import HAND_COUNT
from allstreets.engines.cuda.matrix_passes import NODE, THREADS, FlopLaunch, Passes, Step
from allstreets.engines.cuda.programs import Arrays, ints
from allstreets.engines.device import Device
from allstreets.engines.matrix.cards import StageMatrices, padded
from allstreets.engines.matrix.kernels.layout import StagePlan
from allstreets.engines.matrix.plan import build_plans
from allstreets.engines.trees import Trees

# As the kernels have them.
TASKS, FOLDS, SEGMENTS, ROWS, COLUMNS, DEPTH, TALL = 128, 8, 16, 64, 64, 16, 8
TILE_BYTES = 3 * 4 * (ROWS * (DEPTH + 4) + DEPTH * COLUMNS)
DECISION, SHOWDOWN, FOLD, EXIT = range(4)

SOURCE = np.dtype([("kind", np.int32), ("row", np.int32), ("factor", np.float32)])

Rows = list[tuple[int, int, int]]
Line = tuple[int, int, int, int, int, int, int]


@dataclass
class Betting:
    """A stage of all pots for one player: rows are counted through, pot after pot."""

    lines: list[Line] = field(default_factory=list)
    forward: list[Step] = field(default_factory=list)  # the opponent's decisions
    backward: list[Step] = field(default_factory=list)  # the player's
    sources: list[list[tuple[int, int, float]]] = field(default_factory=list)  # by value row
    reach_rows: int = 0
    fold_rows: Rows = field(default_factory=list)  # (row, number, pot)
    show_rows: Rows = field(default_factory=list)
    exit_rows: Rows = field(default_factory=list)  # (row, line of the next stage, pot)

    def add(self, pot: int, plan: StagePlan, below: int) -> None:
        """Put a pot behind the others, whose lines the next stage has already."""
        rows, values, spare = self.reach_rows, len(self.sources), plan.lines
        self.reach_rows += plan.reach_rows
        self.sources += [[] for _ in range(plan.value_rows)]
        forward = _by_line(
            plan.lines, plan.reach_rows,
            [plan.other_reach, plan.other_child, plan.other_slot, plan.other_actions],
        )  # fmt: skip
        backward = _by_line(
            plan.lines, plan.value_rows,
            [each[::-1] for each in (plan.own_value, plan.own_child, plan.own_slot,
                                     plan.own_actions, plan.own_locked)],
        )  # fmt: skip
        for line in range(plan.lines):
            first, last = len(self.forward), len(self.backward)
            for step in forward[line]:
                moved = step._replace(row=rows + step.row, child=rows + step.child)
                self.forward.append(moved)
            for step in reversed(backward[line]):
                number = len(self.backward)
                self.sources[values + step.row].append((DECISION, number, 1.0))
                self.backward.append(step._replace(row=number, child=values + step.child))
            bounds = first, len(self.forward), last, len(self.backward)
            self.lines.append((pot, rows + line, values + line, *bounds))
        terminals = {
            FOLD: (plan.fold_reach, plan.fold_value, plan.fold_factor),
            SHOWDOWN: (plan.show_reach, plan.show_value, plan.show_factor),
        }
        for kind, lists in terminals.items():
            numbers: dict[int, int] = {}  # terminals that the opponent reaches alike share a row
            rows_of_kind = self.fold_rows if kind == FOLD else self.show_rows
            for reach, value, factor in zip(*(each.tolist() for each in lists), strict=True):
                if value == spare:
                    continue
                if reach not in numbers:
                    numbers[reach] = len(rows_of_kind)
                    rows_of_kind.append((rows + reach, len(rows_of_kind), pot))
                self.sources[values + value].append((kind, numbers[reach], factor))
        exits = plan.exit_reach, plan.exit_value, plan.exit_line
        for reach, value, line in zip(*(each.tolist() for each in exits), strict=True):
            if value != spare:
                self.exit_rows.append((rows + reach, below + line, pot))
                self.sources[values + value].append((EXIT, below + line, 1.0))

    @cached_property
    def arrays(self) -> Arrays:
        """The arrays that the kernels read, by field."""
        every = [source for sources in self.sources for source in sources]
        return {
            "line": ints(self.lines),
            "forward": np.array(self.forward, NODE),
            "backward": np.array(self.backward, NODE),
            "source_first": ints(np.cumsum([0, *(len(each) for each in self.sources)])),
            "sources": np.array(every, SOURCE),
            "fold_row": ints([row for row, *_ in self.fold_rows]),
        }

    @property
    def room_rows(self) -> int:
        """Rows of a flop."""
        lists = self.show_rows, self.exit_rows, self.backward, self.lines
        return self.reach_rows + sum(len(each) for each in lists)


def _by_line(lines: int, rows: int, nodes: Sequence[Longs]) -> list[list[Step]]:
    """Nodes, given as the columns of `Step`, parents first, by the line that they are below."""
    line_of = [*range(lines), *([-1] * (rows - lines))]
    nodes_of: list[list[Step]] = [[] for _ in range(lines)]
    for columns in zip(*(each.tolist() for each in nodes), strict=True):
        step = Step(*columns)
        line_of[step.child : step.child + step.actions] = [line_of[step.row]] * step.actions
        nodes_of[line_of[step.row]].append(step)
    return nodes_of


def stage_betting(
    trees: Trees, player: Player, streets: tuple[tuple[Street, ...], ...]
) -> list[Betting]:
    """All pots, stage by stage."""
    stages = [Betting() for _ in streets]
    for pot, (tree, payoffs) in enumerate(trees):
        plans = build_plans(tree, payoffs, player, streets)
        below = [len(stage.lines) for stage in stages[1:]]
        for number, plan in enumerate(plans):
            stages[number].add(pot, plan, below[number] if number < len(below) else 0)
    return [stage for stage in stages if stage.lines]


@dataclass(frozen=True)
class RowsThere:
    """Rows [places, rows, hands] on the device."""

    address: int
    rows: int  # 0: the same at every place
    hands: int


class ChainPasses(Passes):
    """Passes of games of several stages, with the roots [F, 169, H] that lead to the first."""

    root_length = padded(HAND_COUNT)

    def __init__(self, device: Device, trees: Trees, cards: StageMatrices, roots: Floats) -> None:
        super().__init__(device, "matrix_chain.cu")
        self.cards, self._roots, self._pots = cards, roots, len(trees)
        self.betting = [stage_betting(trees, player, cards.streets) for player in Player]
        self.room_bytes = 4 * max(
            sum(
                stage.room_rows * length
                for stage, length in zip(stages, cards.lengths, strict=False)
            )
            for stages in self.betting
        )

    def _padded_roots(self) -> Singles:
        """[F, 176, H]: from classes to the hands of the first stage; padding is 0."""
        flops, classes, hands = self._roots.shape
        roots = np.zeros((flops, padded(classes), self.cards.lengths[0]), np.float32)
        roots[:, :classes, :hands] = self._roots
        return roots

    def make_room(self, flops: int) -> None:
        """Matrices, and rows of every stage."""
        put, zeros, roots = self.buffers.address, self.buffers.zeros, self._padded_roots()
        put("roots", roots)
        put("leaving", roots.transpose(0, 2, 1))
        for stage, cards in enumerate(self.cards.kernel):
            for name in ("margin", "combos", "down", "up"):
                put(f"{name}.{stage}", getattr(cards, name))
        zeros("least", flops * self._pots)
        zeros("classes", flops * self._pots * self.root_length)
        for stage, length in enumerate(self.cards.lengths):
            both = [stages[stage] for stages in self.betting if stage < len(stages)]
            for name, rows in (
                ("reach", [betting.reach_rows for betting in both]),
                ("shows", [len(betting.show_rows) for betting in both]),
                ("exits", [len(betting.exit_rows) for betting in both]),
                ("decisions", [len(betting.backward) for betting in both]),
                ("line_values", [len(betting.lines) for betting in both]),
            ):
                zeros(f"{name}.{stage}", flops * max([1, *rows]) * length)
            zeros(f"folds.{stage}", flops * max([1, *(len(each.fold_rows) for each in both)]))

    def launches_of(self, player: Player, mode: int, part: int) -> list[FlopLaunch]:
        """The launches from the first stage to the last, and back."""
        betting, put = self.betting[player], self.buffers.address
        stages = range(len(betting))
        lengths, lines = self.cards.lengths, [len(stage.lines) for stage in betting]
        structures = [self._stage(player, mode, part, stage) for stage in stages]

        def product(
            name: str, terms: Rows, inputs: RowsThere, outputs: RowsThere, matrix: str
        ) -> list[FlopLaunch]:
            return self._product(f"{name}.{player}", part, terms, inputs, outputs, matrix)

        def tasks_of(stage: int) -> int:
            return lines[stage] * lengths[stage] // 4

        reach = [
            RowsThere(put(f"reach.{stage}"), betting[stage].reach_rows, lengths[stage])
            for stage in stages
        ]
        values = [
            RowsThere(put(f"line_values.{stage}"), lines[stage], lengths[stage]) for stage in stages
        ]
        root = RowsThere(self.request.address(f"root.{player}"), 0, self.root_length)
        # Each pot has one line in the first stage.
        terms = [(pot, row, pot) for pot, row, *_ in betting[0].lines]
        launches = product("enter", terms, root, reach[0], "roots")
        launches.append(FlopLaunch("find_least", self._pots, TASKS, TASKS, 0, structures[0]))
        for stage in stages:
            here, argument = betting[stage], structures[stage]
            launches.append(FlopLaunch("forward", tasks_of(stage), TASKS, TASKS, 0, argument))
            name = f"shows.{stage}"
            shows = RowsThere(put(name), len(here.show_rows), lengths[stage])
            launches += product(name, here.show_rows, reach[stage], shows, f"margin.{stage}")
            if here.fold_rows:
                tiles, threads = -(-len(here.fold_rows) // FOLDS), FOLDS * SEGMENTS
                launches.append(FlopLaunch("sum_folds", tiles, 1, threads, 4 * threads, argument))
            if here.exit_rows:
                below = betting[stage + 1].lines
                terms = [(row, below[line][1], pot) for row, line, pot in here.exit_rows]
                matrix = f"down.{stage + 1}"
                launches += product(f"down.{stage}", terms, reach[stage], reach[stage + 1], matrix)
        for stage in reversed(stages):
            argument = structures[stage]
            launches.append(FlopLaunch("backward", tasks_of(stage), TASKS, TASKS, 0, argument))
            if stage:
                terms = [(line, line, pot) for line, (pot, *_) in enumerate(betting[stage].lines)]
                exits = RowsThere(put(f"exits.{stage - 1}"), lines[stage], lengths[stage - 1])
                launches += product(f"up.{stage}", terms, values[stage], exits, f"up.{stage}")
        classes = RowsThere(put("classes"), self._pots, self.root_length)
        terms = [(pot, pot, pot) for pot in range(self._pots)]
        launches += product("leave", terms, values[0], classes, "leaving")
        given = {"hands": HAND_COUNT, "length": self.root_length, "out": self.out}
        given["rows"] = classes.address
        argument = self.structure(f"leaving.{player}.{part}", "Leaving", part, given)
        launches.append(FlopLaunch("leave", self._pots, 1, THREADS, 0, argument))
        return launches

    def _product(
        self,
        name: str,
        part: int,
        terms: Rows,
        inputs: RowsThere,
        outputs: RowsThere,
        matrix: str,
    ) -> list[FlopLaunch]:
        """Rows times a matrix of their flop: (row of inputs, row of outputs, pot) each."""
        if not terms:
            return []
        put = self.buffers.address
        given = {
            "count": len(terms),
            "terms": put(f"{name}.terms", ints(terms)),
            "inputs": inputs.address,
            "input_rows": inputs.rows,
            "input_hands": inputs.hands,
            "outputs": outputs.address,
            "output_rows": outputs.rows,
            "output_hands": outputs.hands,
            "matrix": put(matrix),
        }
        argument = self.structure(f"{name}.{part}.product", "Product", part, given)
        tiles = -(-len(terms) // ROWS) * -(-outputs.hands // COLUMNS)
        threads = ROWS // TALL * (COLUMNS // 4)
        return [FlopLaunch("multiply", tiles, 1, threads, TILE_BYTES, argument)]

    def _stage(self, player: Player, mode: int, part: int, stage: int) -> int:
        """The structure of a stage."""
        here, put = self.betting[player][stage], self.buffers.address
        rooms = "combos", "reach", "folds", "shows", "exits", "decisions", "line_values"
        given = {
            **self.buffers.addresses(f"{player}.{stage}", here.arrays),
            **{name: put(f"{name}.{stage}") for name in rooms},
            "mode": mode,
            "hands": self.cards.lengths[stage],
            "lines": len(here.lines),
            "fold_count": len(here.fold_rows),
            "stores": self.stores(part, stage, player),
            "least": put("least"),
            "reach_rows": here.reach_rows,
            "show_rows": len(here.show_rows),
            "exit_rows": len(here.exit_rows),
            "decision_rows": len(here.backward),
        }
        return self.structure(f"stage.{player}.{mode}.{part}.{stage}", "Stage", part, given)
