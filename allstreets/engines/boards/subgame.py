"""Pots on a flop with real boards: combos on flop and turn, buckets of hands on every river board.

The exact engine down to the turn; below it the betting of a river board is solved with K buckets of
hands for each player. All-ins before the river run through the same buckets, card by card, so that
all showdowns are computed alike and no matrix has all hands against all.

Pots whose rivers are in the same buckets are worked on together: what belongs to the cards, the
lists of combos and the matrices, is read once for all of them, and the lines of all pots fill the
lanes of the vectors. Each pot stays a separate game (`PotsOnFlop.subgames`): its numbers follow
those of the earlier pots in shared arrays.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
from allstreets.cfr import IterationWeights
from allstreets.engines.boards.cards import FlopBoards
from allstreets.engines.boards.kernels.layout import (
    BucketSpace,
    FlopLeaves,
    ProductRows,
    Products,
    RiverGame,
    StreetGame,
)
from allstreets.engines.boards.kernels.rivers import bucketed_turns
from allstreets.engines.exact.buckets import with_buckets, with_slots
from allstreets.engines.exact.cards import whole_vectors
from allstreets.engines.exact.forest import DUMP_ROWS, build_forests
from allstreets.engines.exact.kernels.layout import (
    UPDATE,
    ZERO_ROW,
    Boards,
    Forest,
    Workspace,
)
from allstreets.engines.exact.kernels.streets import (
    SPARE_ROWS,
    Passes,
    early_backward,
    early_forward,
)
from allstreets.engines.exact.kernels.terminals import TILE_ROWS as TILE_SPARE
from allstreets.engines.exact.subgame import (
    ExactSubgame,
    play_hand_locks,
    play_locks,
)
from allstreets.engines.machine import Pool
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS, KernelWeights
from allstreets.engines.simd.matrix_product import TILE_ROWS
from allstreets.engines.simd.vectors import aligned
from allstreets.engines.simd.work_counter import new_counter
from allstreets.engines.trees import Trees, deal_streets, node_slots, side_by_side

FLOP, TURN, RIVER = range(3)  # levels
FLOP_COMBOS, TURN_COMBOS = 1176, 1128

StoredArrays = tuple[list[list[NDArray[Any]]], list[list[NDArray[Any]]]]
"""Regrets and average strategies, by street and player."""


NewArray = Callable[[int, Any], NDArray[Any]]
"""Makes an array of zeros, of a size and a kind."""


class BoardsLayout:
    """The betting of one pot, or of several, laid out for the kernels: the same on every flop.

    `new` makes what games store there; the threads of `pool` share the turns of a flop.
    """

    def __init__(
        self, trees: Trees, buckets: int, new: NewArray = aligned, pool: Pool | None = None
    ) -> None:
        self.buckets, self.new, self.pool = buckets, new, pool or Pool(1)
        self.tree, first = side_by_side([tree for tree, _ in trees])
        self.chips = [float(tree.pot) if tree.pot else 1.0 for tree, _ in trees]
        payoffs = np.concatenate(
            [payoffs / chips for (_, payoffs), chips in zip(trees, self.chips, strict=True)]
        )
        self.levels = deal_streets(self.tree, run_out=True)
        self.slots = [node_slots(self.tree, street) for street in self.levels]
        laid_out = [
            build_forests(self.tree, payoffs, player, buckets, run_out=True, first=first)
            for player in Player
        ]
        self.forests = [[forest.kernel for forest in forests] for forests in laid_out]
        self.places = [[forest.place for forest in forests] for forests in laid_out]
        self.products = [river_products(forests[RIVER]) for forests in self.forests]
        self._of_thread = local()

    @property
    def spaces(self) -> list[Workspace]:
        """The workspaces of the running thread, by level."""
        if not hasattr(self._of_thread, "spaces"):
            lengths = (whole_vectors(FLOP_COMBOS), whole_vectors(TURN_COMBOS), self.buckets)
            self._of_thread.spaces = [
                self._workspace(level, size) for level, size in enumerate(lengths)
            ]
        spaces: list[Workspace] = self._of_thread.spaces
        return spaces

    @property
    def other_values(self) -> Singles:
        """The running thread's value rows for every second turn board."""
        if not hasattr(self._of_thread, "other_values"):
            self._of_thread.other_values = aligned(len(self.spaces[TURN].values))
        values: Singles = self._of_thread.other_values
        return values

    @property
    def bucket_space(self) -> BucketSpace:
        """The running thread's workspace for the matrices of a board."""
        if not hasattr(self._of_thread, "buckets"):
            size = self.buckets
            margin, pairs, turned = (aligned(size * size) for _ in range(3))
            self._of_thread.buckets = BucketSpace(margin, pairs, turned, np.arange(size))
        space: BucketSpace = self._of_thread.buckets
        return space

    def _workspace(self, level: int, longest: int) -> Workspace:
        forests = [self.forests[player][level] for player in Player]
        leaf = max(len(forest.leaf_reach) for forest in forests) // 16 * (longest + SPARE_ROWS) * 16
        return Workspace(
            reach=aligned(max(forest.reach_rows for forest in forests) * longest),
            values=aligned(max(forest.value_rows for forest in forests) * longest),
            tile=aligned(16 * (3 * longest + TILE_SPARE)),
            leaf_reach=aligned(leaf),
            leaf_values=aligned(leaf),
            rows=aligned(longest * 2 * (1 + max(int(f.actions.max(initial=0)) for f in forests))),
        )


def river_products(forest: Forest) -> Products:
    """The folds and showdowns of a river forest by group of lines, in whole tiles of rows."""
    shows, folds, sums, ends = _Rows(), _Rows(), [], [0]
    for group in range(len(forest.group_nodes) - 1):
        for at in range(16 * forest.group_tiles[group], 16 * forest.group_tiles[group + 1]):
            shown, value = int(forest.shown_reach[at]), int(forest.terminal_value[at])
            shows.add(shown, value, float(forest.terminal_stake[at]))
            folds.add(shown, value, float(forest.terminal_rake[at]))
            folds.add(int(forest.folded_reach[at]), value, float(forest.terminal_gain[at]))
            folds.add(shown, int(forest.own_fold_value[at]), float(forest.terminal_loss[at]))
        sums += sorted(shows.close_group() | folds.close_group())
        ends.append(len(sums))
    return Products(shows.kernel, folds.kernel, np.array(ends), np.array(sums, np.int64))


@dataclass
class _Rows:
    """Rows of products with one matrix, filled up to whole tiles at the end of each group."""

    rows: list[tuple[int, int, float]] = field(default_factory=list)  # reach, value, factor
    ends: list[int] = field(default_factory=lambda: [0])
    targets: set[int] = field(default_factory=set)  # of the group: value rows that must be zeroed

    def add(self, reach: int, value: int, factor: float) -> None:
        if reach != ZERO_ROW and value >= DUMP_ROWS:
            self.targets.add(value)
            if factor:
                self.rows.append((reach, value, factor))

    def close_group(self) -> set[int]:
        self.rows += [(ZERO_ROW, 0, 0.0)] * (-len(self.rows) % TILE_ROWS)
        self.ends.append(len(self.rows))
        targets, self.targets = self.targets, set()
        return targets

    @property
    def kernel(self) -> ProductRows:
        reach, value = (np.array([row[at] for row in self.rows], np.int64) for at in (0, 1))
        factor = np.array([row[2] for row in self.rows], np.float32)
        return ProductRows(np.array(self.ends), reach, value, factor)


class BoardsSubgame(ExactSubgame):
    """A pot on a flop whose rivers are solved in buckets; `ranges` is their pair of ranges.

    What the exact engine does holds here too, with K hands on every river board. Regrets and
    strategies take 16 bits each, by street and player; they may be parts of larger arrays.
    """

    def __init__(
        self,
        layout: BoardsLayout,
        cards: FlopBoards,
        ranges: int = 0,
        part: "PartOf | None" = None,
    ) -> None:
        self.layout, self.cards, self.ranges = layout, cards, ranges
        self.tree, self.levels, self.slots = layout.tree, layout.levels, layout.slots
        self.forests, self.places, self.chips = layout.forests, layout.places, layout.chips[0]
        self.threads, self.precision, self._work = 1, "float16", None
        self.learns, self.tremble = True, 0.0
        self.streets = list(cards.streets)
        self.buckets = [None, cards.buckets[ranges].turn, None]
        hands = len(self.streets[0].combos(Player.OOP, 0))
        self.scale = [self.chips * hands] * 2
        self.boards = part.boards(layout) if part else self._boards()
        self.bucketed = [cards.bucketed(player, ranges) for player in Player]
        self.regrets, self.averages = part.stored if part else self._stored_arrays()
        self.scales = [[np.zeros(0, np.float32) for _ in Player] for _ in self.levels]
        self.locked = [[np.zeros(0, np.float32) for _ in Player] for _ in self.levels]
        self.steps, self.weights, self.waiting = [0, 0], [0.0, 0.0], [0.0, 0.0]

    def _boards(self) -> list[list[Boards]]:
        """The boards by player and street, with the places of what is stored."""
        # Of the rest of a turn's fields, bucketed rivers read nothing.
        starts = self.layout.buckets * np.arange(self.cards.river_boards + 1, dtype=np.int64)
        live = np.zeros(2 * int(starts[-1]), np.uint8)
        boards = []
        for player in Player:
            flop, turn = self.cards.kernel[player]
            river = turn._replace(own_start=starts, other_start=starts, own_cards=live)
            streets = zip((flop, turn, river), self.slots, self.buckets, strict=True)
            boards.append(
                [with_buckets(street, player, slots.actions, by) for street, slots, by in streets]
            )
        return boards

    def _stored_arrays(self) -> StoredArrays:
        """Regrets and averages, by street and player."""
        new, streets = self.layout.new, list(zip(*self.boards, strict=True))
        sizes = [[int(boards.own_slots[-1]) for boards in street] for street in streets]
        regrets = [[new(size, np.uint16) for size in pair] for pair in sizes]
        return regrets, [[new(size, np.int16) for size in pair] for pair in sizes]

    @property
    def spaces(self) -> list[list[Workspace]]:  # type: ignore[override]
        """The workspaces of the running thread."""
        return [self.layout.spaces]

    def _pass(self, passes: Passes) -> None:
        """Passes from the root and back, one after the other."""
        for player, row in zip(passes.players.tolist(), passes.weights, strict=True):
            reach = passes.reach[player][None]
            self.pass_through(Player(player), reach, passes.mode, KernelWeights(*row))

    def pass_through(
        self, player: Player, reach: Singles, mode: int, weights: KernelWeights
    ) -> Singles:
        """[P, Hₚ]: the player's values from the opponent's reach [P, Hₒ], by padded flop hand."""
        forest, boards, storage, space = self._street(FLOP, player)
        hands, opponent_hands = int(boards.own_start[1]), int(boards.other_start[1])
        rows = forest.line_reach[: len(reach)]
        space.reach[: forest.reach_rows * opponent_hands].reshape(-1, opponent_hands)[rows] = reach
        early_forward(forest, boards, storage, space, 0, mode)
        leaves = FlopLeaves(
            new_counter(), np.zeros(1, np.int64), space.leaf_reach, space.leaf_values, hands,
            opponent_hands,
        )  # fmt: skip
        self.layout.pool.share(partial(self._turns, player, leaves, mode, weights))
        early_backward(forest, boards, storage, space, space.leaf_values, 0, mode, weights)
        values = space.values[: forest.value_rows * hands].reshape(-1, hands)
        return values[forest.line_value[: len(reach)]]

    def _turns(self, player: Player, leaves: FlopLeaves, mode: int, weights: KernelWeights) -> None:
        """The turns that the running thread takes."""
        layout = self.layout
        river = RiverGame(
            self._street(RIVER, player),
            self.bucketed[player],
            layout.products[player],
            layout.bucket_space,
        )
        turn = self._street(TURN, player)
        bucketed_turns(turn, layout.other_values, river, leaves, mode, weights)

    def _street(self, level: int, player: Player) -> StreetGame:
        """A street, in the space of the running thread."""
        return StreetGame(
            self.layout.forests[player][level],
            self.boards[player][level],
            self.storage(level, player),
            self.layout.spaces[level],
        )

    def row_counts(self, level: int, player: Player) -> Longs:
        """[B]: the stored rows of a player's nodes on each board of a street, without padding."""
        if level == RIVER:
            return np.full(self.cards.river_boards, self.layout.buckets)
        return super().row_counts(level, player)


@dataclass(frozen=True)
class PartOf:
    """One of several pots that are worked on together: their boards, and its numbers in theirs."""

    whole: BoardsSubgame
    stored: StoredArrays

    def boards(self, layout: BoardsLayout) -> list[list[Boards]]:
        """The boards of all pots, with the offsets of this pot's numbers."""
        return [
            [
                with_slots(boards, player, slots.actions)
                for boards, slots in zip(self.whole.boards[player], layout.slots, strict=True)
            ]
            for player in Player
        ]


class BoardsPots:
    """The layouts of P pots, each alone and all together: the same on every flop."""

    def __init__(
        self, trees: Trees, buckets: int, new: NewArray = aligned, pool: Pool | None = None
    ) -> None:
        self.each = [BoardsLayout([tree], buckets, pool=pool) for tree in trees]
        self.together = BoardsLayout(trees, buckets, new, pool)


class PotsOnFlop:
    """P pots on one flop, in the buckets of a pair of ranges.

    Reach and values are by class, [P, 169].
    """

    def __init__(self, pots: BoardsPots, cards: FlopBoards, ranges: int) -> None:
        self._together = BoardsSubgame(pots.together, cards, ranges)
        self.subgames = [
            BoardsSubgame(layout, cards, ranges, part)
            for layout, part in zip(pots.each, _parts(self._together, pots.each), strict=True)
        ]
        for subgame in self.subgames:
            play_locks(subgame)
        play_hand_locks(self._together)  # whose numbers are theirs, but which knows other flags
        hands = cards.streets[0].hands[Player.OOP][0]
        self._class = HAND_OF_COMBO[hands.first].astype(np.int64)
        self._combos = hands.sizes.astype(np.float64)
        self._padded = whole_vectors(len(self._class))

    @property
    def hand_locks(self) -> list[Singles]:
        """By player: 1 where a hand of the flop is locked, [node][hand] of all pots; or empty."""
        return self._together.locked[FLOP]

    def step(self, player: Player, opponent_reach: Floats, weights: IterationWeights) -> Floats:
        """[P, 169]: a half-iteration of a player against the opponent's reach [P, 169]."""
        by_pot = [subgame.kernel_weights(player, weights) for subgame in self.subgames]
        if all(each == by_pot[0] for each in by_pot):
            return self.run(player, opponent_reach, UPDATE, by_pot[0])
        # Some have learned for longer than others.
        return np.stack(
            [
                self._by_class(
                    subgame.pass_through(player, self._by_hand(row[None]), UPDATE, each),
                    [subgame.scale[player]],
                )[0]
                for subgame, row, each in zip(self.subgames, opponent_reach, by_pot, strict=True)
            ]
        )

    def run(
        self, player: Player, opponent_reach: Floats, mode: int, weights: KernelWeights = NO_WEIGHTS
    ) -> Floats:
        """[P, 169]: values from one pass, in chips times pairs of combos."""
        reach = self._by_hand(opponent_reach)
        values = self._together.pass_through(player, reach, mode, weights)
        return self._by_class(values, [subgame.scale[player] for subgame in self.subgames])

    def iterate(self, reach: Floats, chosen: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations of the chosen pots [P] with a fixed reach [2, P, 169]."""
        if chosen.all():
            for iteration in weights:
                for player in Player:
                    self.step(player, reach[player.opponent], iteration)
            return
        combos = HAND_OF_COMBO[self._together.streets[0].combos(Player.OOP, 0)]
        for pot in np.flatnonzero(chosen).tolist():
            oop, ip = reach[:, pot, combos]
            self.subgames[pot].iterate((oop, ip), weights)

    def _by_hand(self, opponent_reach: Floats) -> Singles:
        """[P, H]: reach by hand of the flop in the scale of the subgames, padding zero."""
        rows = np.zeros((len(opponent_reach), self._padded), np.float32)
        rows[:, : len(self._class)] = opponent_reach[:, self._class] / self._combos.sum()
        return rows

    def _by_class(self, values: Singles, scale: Sequence[float]) -> Floats:
        """[P, 169]: totals of the classes, from values [P, H] of one combo of each hand."""
        totals = values[:, : len(self._class)] * self._combos
        return np.stack(
            [
                np.bincount(self._class, row, HAND_COUNT) * factor
                for row, factor in zip(totals, scale, strict=True)
            ]
        )


def _parts(whole: BoardsSubgame, layouts: Sequence[BoardsLayout]) -> Iterator[PartOf]:
    """Every pot's part of the arrays of all of them."""
    ends = [[0, 0] for _ in whole.levels]  # of the pots so far, by street and player
    for layout in layouts:
        regrets: list[list[NDArray[Any]]] = []
        averages: list[list[NDArray[Any]]] = []
        for level, slots in enumerate(layout.slots):
            parts = []
            for player in Player:
                rows = int(whole.boards[player][level].own_rows[-1])
                end = ends[level][player] + slots.actions[player] * rows
                parts.append(slice(ends[level][player], end))
                ends[level][player] = end
            for stored, arrays in ((regrets, whole.regrets), (averages, whole.averages)):
                stored.append([arrays[level][player][parts[player]] for player in Player])
        yield PartOf(whole, (regrets, averages))
