"""Pots on a flop with real boards: combos on flop and turn, groups of hands on every river board.

The exact engine down to the turn; below it the betting of a river board is solved with K groups of
hands for each player. All-ins before the river run through the same groups, card by card, so that
there is one way for all showdowns and no matrix of all hands against all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Longs, Singles
from allstreets.betting import Player
from allstreets.engines.boards.cards import FlopBoards
from allstreets.engines.boards.kernels.layout import GroupSpace, Products
from allstreets.engines.boards.kernels.rivers import grouped_flop
from allstreets.engines.exact.buckets import with_buckets, with_slots
from allstreets.engines.exact.cards import whole_vectors
from allstreets.engines.exact.forest import DUMP_ROWS, build_forests
from allstreets.engines.exact.kernels.layout import (
    ZERO_ROW,
    Boards,
    Forest,
    Workspace,
)
from allstreets.engines.exact.kernels.streets import SPARE_ROWS
from allstreets.engines.exact.kernels.terminals import TILE_ROWS as TILE_SPARE
from allstreets.engines.exact.subgame import ExactSubgame, Reach, Values
from allstreets.engines.joined_trees import Trees, side_by_side
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS, KernelWeights
from allstreets.engines.simd.matrix_product import TILE_ROWS
from allstreets.engines.simd.vectors import aligned
from allstreets.engines.street_nodes import deal_streets, node_slots

FLOP, TURN, RIVER = range(3)  # levels
FLOP_COMBOS, TURN_COMBOS = 1176, 1128

StoredArrays = tuple[list[list[NDArray[Any]]], list[list[NDArray[Any]]]]
"""Regrets and average strategies, by street and player."""


NewArray = Callable[[int, Any], NDArray[Any]]
"""Makes an array of zeros, of a size and a kind."""


class BoardsLayout:
    """The betting of one pot, or of several, laid out for the kernels: the same on every flop.

    `new` makes what games store there.
    """

    def __init__(self, trees: Trees, groups: int, new: NewArray = aligned) -> None:
        self.groups, self.new = groups, new
        self.tree, first = side_by_side([tree for tree, _ in trees])
        self.chips = [float(tree.pot) if tree.pot else 1.0 for tree, _ in trees]
        payoffs = np.concatenate(
            [payoffs / chips for (_, payoffs), chips in zip(trees, self.chips, strict=True)]
        )
        self.levels = deal_streets(self.tree, run_out=True)
        self.slots = [node_slots(self.tree, street) for street in self.levels]
        laid_out = [
            build_forests(self.tree, payoffs, own, groups, run_out=True, first=first)
            for own in Player
        ]
        self.forests = [[forest.kernel for forest in forests] for forests in laid_out]
        self.places = [[forest.place for forest in forests] for forests in laid_out]
        self.products = [river_products(forests[RIVER]) for forests in self.forests]
        self._mine = local()

    @property
    def spaces(self) -> list[Workspace]:
        """What the running thread needs, by level."""
        if not hasattr(self._mine, "spaces"):
            lengths = (whole_vectors(FLOP_COMBOS), whole_vectors(TURN_COMBOS), self.groups)
            self._mine.spaces = [self._workspace(level, size) for level, size in enumerate(lengths)]
        spaces: list[Workspace] = self._mine.spaces
        return spaces

    @property
    def group_space(self) -> GroupSpace:
        """What the running thread needs for the matrices of a board."""
        if not hasattr(self._mine, "groups"):
            size = self.groups
            margin, pairs, turned = (aligned(size * size) for _ in range(3))
            rows, terms = np.arange(size), np.zeros(size + 16, np.int32)
            none = np.zeros(0, np.uint8)
            self._mine.groups = GroupSpace(margin, pairs, turned, rows, aligned(16), terms, none)
        space: GroupSpace = self._mine.groups
        return space

    def _workspace(self, level: int, longest: int) -> Workspace:
        forests = [self.forests[own][level] for own in Player]
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
    """The folds and showdowns of a river forest, group by group, in whole tiles of rows."""
    shows, folds, sums, ends = _Rows(), _Rows(), [], [0]
    for group in range(len(forest.group_nodes) - 1):
        for at in range(16 * forest.group_choices[group], 16 * forest.group_choices[group + 1]):
            reach, shown = int(forest.choice_reach[at]), int(forest.choice_showdown[at])
            shows.add(reach, shown, float(forest.choice_stake[at]))
            folds.add(reach, shown, float(forest.choice_rake[at]))
            folds.add(reach, int(forest.choice_fold[at]), float(forest.choice_loss[at]))
        for at in range(16 * forest.group_answers[group], 16 * forest.group_answers[group + 1]):
            shown, value = int(forest.answer_showdown[at]), int(forest.answer_value[at])
            shows.add(shown, value, float(forest.answer_stake[at]))
            folds.add(shown, value, float(forest.answer_rake[at]))
            folds.add(int(forest.answer_fold[at]), value, float(forest.answer_gain[at]))
        sums += sorted(shows.close_group() | folds.close_group())
        ends.append(len(sums))
    return Products(
        np.array(shows.ends),
        np.array(shows.reach, np.int64),
        np.array(shows.value, np.int64),
        np.array(shows.factor, np.float32),
        np.array(folds.ends),
        np.array(folds.reach, np.int64),
        np.array(folds.value, np.int64),
        np.array(folds.factor, np.float32),
        np.array(ends),
        np.array(sums, np.int64),
    )


@dataclass
class _Rows:
    """Rows of products with one matrix, filled up to whole tiles at the end of each group."""

    reach: list[int] = field(default_factory=list)
    value: list[int] = field(default_factory=list)
    factor: list[float] = field(default_factory=list)
    ends: list[int] = field(default_factory=lambda: [0])
    targets: set[int] = field(default_factory=set)  # of the group: value rows that must be zeroed

    def add(self, reach: int, value: int, factor: float) -> None:
        if reach != ZERO_ROW and value >= DUMP_ROWS:
            self.targets.add(value)
            if factor:
                self._append(reach, value, factor)

    def _append(self, reach: int, value: int, factor: float) -> None:
        self.reach.append(reach)
        self.value.append(value)
        self.factor.append(factor)

    def close_group(self) -> set[int]:
        while len(self.reach) % TILE_ROWS:
            self._append(ZERO_ROW, 0, 0.0)
        self.ends.append(len(self.reach))
        targets, self.targets = self.targets, set()
        return targets


class BoardsSubgame(ExactSubgame):
    """A pot on a flop whose rivers are solved in groups; `ranges` says by which pair of ranges.

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
        self.learns = True
        self.streets = list(cards.streets)
        self.buckets = [None, cards.rivers[ranges].rows, None]
        hands = len(self.streets[0].combos(Player.OOP, 0))
        self.scale = [self.chips * hands] * 2
        self.boards = part.boards(layout) if part else boards_of(layout, cards, ranges)
        self.grouped = [cards.grouped(own, ranges) for own in Player]
        self.regrets, self.averages = (
            part.stored if part else stored_arrays(self.boards, layout.new)
        )
        self.scales = [[np.zeros(0, np.float32) for _ in Player] for _ in self.levels]
        self.locked = [[np.zeros(0, np.float32) for _ in Player] for _ in self.levels]
        self.steps, self.weights, self.waiting = [0, 0], [0.0, 0.0], [0.0, 0.0]

    @property
    def spaces(self) -> list[list[Workspace]]:  # type: ignore[override]
        """What the running thread needs."""
        return [self.layout.spaces]

    def run(
        self, player: Player, other: Reach, mode: int, weights: KernelWeights = NO_WEIGHTS
    ) -> Values:
        """One pass from the root and back."""
        reach = self._padded_reach(player, other)[None]
        by_hand = self.pass_through(player, reach, mode, weights)[0].astype(np.float64)
        values: Values = by_hand[self.streets[0].hands[player][0].hand] * self.scale[player]
        return values

    def pass_through(
        self, player: Player, reach: Singles, mode: int, weights: KernelWeights
    ) -> Singles:
        """[P, Hₓ]: own values from the other's reach [P, Hₒ], both by padded hand of the flop."""
        boards, layout = self.boards[player], self.layout
        values = np.empty((len(reach), int(boards[FLOP].own_start[1])), np.float32)
        grouped_flop(
            tuple(layout.forests[player]),
            tuple(boards),
            tuple(self.storage(level, player) for level in range(3)),
            tuple(layout.spaces),
            self.grouped[player],
            layout.products[player],
            layout.group_space,
            reach,
            values,
            mode,
            weights,
        )
        return values

    def row_counts(self, level: int, player: Player) -> Longs:
        """[B]: the stored rows of a player's nodes on each board of a street, without padding."""
        if level == RIVER:
            return np.full(self.cards.river_boards, self.layout.groups)
        return super().row_counts(level, player)


@dataclass(frozen=True)
class PartOf:
    """One of several pots that are worked on together: their boards, and its numbers in theirs."""

    whole: BoardsSubgame
    stored: StoredArrays

    def boards(self, layout: BoardsLayout) -> list[list[Boards]]:
        """Those of all pots, with the places of the one's own numbers."""
        return [
            [
                with_slots(boards, own, slots.actions)
                for boards, slots in zip(self.whole.boards[own], layout.slots, strict=True)
            ]
            for own in Player
        ]


def boards_of(layout: BoardsLayout, cards: FlopBoards, ranges: int) -> list[list[Boards]]:
    """The boards by own player and street, with the places of what is stored."""
    # Of the rest of a turn's fields, grouped rivers read nothing.
    starts = layout.groups * np.arange(cards.river_boards + 1, dtype=np.int64)
    live = np.zeros(2 * int(starts[-1]), np.uint8)
    sharing = [None, cards.rivers[ranges].rows, None]
    found = []
    for own in Player:
        flop, turn = cards.kernel[own]
        river = turn._replace(own_start=starts, other_start=starts, own_cards=live)
        streets = zip((flop, turn, river), layout.slots, sharing, strict=True)
        found.append([with_buckets(each, own, slots.actions, by) for each, slots, by in streets])
    return found


def stored_arrays(boards: Sequence[Sequence[Boards]], new: NewArray) -> StoredArrays:
    """Regrets and averages, by street and player, for the boards of either player."""
    sizes = [[int(street.own_slots[-1]) for street in pair] for pair in zip(*boards, strict=True)]
    regrets = [[new(size, np.uint16) for size in pair] for pair in sizes]
    return regrets, [[new(size, np.int16) for size in pair] for pair in sizes]
