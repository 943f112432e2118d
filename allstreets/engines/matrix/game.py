"""Matrix games: a betting tree on flops whose card facts are matrices, solved by vector CFR.

`MatrixGame` holds the regrets and average strategies of one betting tree on F flops,
[node][hand / 16][action][16] by flop; it can be limited to the hands that a player reaches the tree
with (`keep`). It runs passes on one flop; `MatrixEngine` runs them over all pots and flops.

The average strategy of a player is summed, weighted by his reach, while the other player is
updated; after iteration t it contains OOP's strategies of iterations 1 … t and IP's of 0 … t − 1,
those that the opponent's regrets were computed against.

With pruning, iterations after the warm-up leave out blocks of own hands whose regrets are far below
zero, see `kernels.passes`. It is off by default.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles
from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.cfr import IterationWeights
from allstreets.engines.card_model import stage_of_nodes
from allstreets.engines.machine import Pool
from allstreets.engines.matrix.cards import StageMatrices, padded
from allstreets.engines.matrix.kernels.layout import (
    THRESHOLD,
    UPDATE,
    StageHands,
    StagePlan,
    StageSpace,
    StageStore,
    filled,
)
from allstreets.engines.matrix.kernels.passes import move_numbers, sum_positive
from allstreets.engines.matrix.kernels.pots import NO_ROOTS, NOT_PRUNED, PotTables, run_pots
from allstreets.engines.matrix.plan import (
    HandSelection,
    build_plans,
    node_slots,
    pot_tables,
    slot_counts,
    sources,
    stage_hands,
)
from allstreets.engines.quantised import Numbers, Shares
from allstreets.engines.simd.quantise import pack_shares, put_back, round_flops
from allstreets.engines.simd.vectors import LANES, aligned
from allstreets.engines.simd.work_counter import new_counter

Allocate = Callable[[tuple[int, int]], Singles]
Spaces = tuple[StageSpace, ...]

MOST_ASIDE = 32_000_000
"""Bytes of sums for which room is kept when they are no longer set aside."""
NO_WEIGHTS = np.zeros((1, len(IterationWeights._fields)), np.float32)
ONE_PIECE = np.array([[0, 1, 0, 1]])
ONE_POT = np.zeros(1, np.int64)
ALL_LIMITED = np.ones(1, np.uint8)


class MatrixGame:
    """One betting tree on F flops; `payoffs` [N, 2, 3] are those of `betting.payoffs`.

    `allocate` makes the stored arrays, [F, …] of float32 zeros that begin at a cache line (in
    memory by default).
    """

    def __init__(
        self, tree: BettingTree, payoffs: Floats, cards: StageMatrices, allocate: Allocate = aligned
    ) -> None:
        self.tree, self.cards, self._allocate = tree, cards, allocate
        self.stage_of_node = stage_of_nodes(tree, cards.streets)
        self.slot_of_node = node_slots(tree, self.stage_of_node)
        self.slots = slot_counts(tree, self.stage_of_node)  # [stages, 2]
        self.all_hands = np.arange(cards.lengths[0])
        # By player: the stored hands of the first stage.
        self.kept = [self.all_hands, self.all_hands]
        shapes = [
            [(cards.count, int(count) * length) for count in counts]
            for counts, length in zip(self.slots, cards.lengths, strict=False)
        ]
        self.regrets = [[allocate(shape) for shape in pair] for pair in shapes]
        self.averages = [[allocate(shape) for shape in pair] for pair in shapes]
        self._aside: dict[tuple[int, Player], Singles] = {}  # by stage and player
        self.plans = [build_plans(tree, payoffs, own, cards.streets) for own in Player]
        self._hands: dict[tuple[Player, HandSelection], tuple[StageHands, ...]] = {}
        self._tables: dict[Player, PotTables] = {}
        for node, chances in tree.locks.items():
            hands = cards.hands[int(self.stage_of_node[node])]
            self._put(slice(None), node, np.repeat(np.array(chances)[:, None], hands, axis=1))

    def stages(
        self, player: Player, selection: HandSelection = "kept"
    ) -> tuple[tuple[StagePlan, ...], tuple[StageHands, ...], tuple[StageStore, ...]]:
        """A player's pass as the kernels read it: plans, hands and stored arrays."""
        return self.plans[player], self.hands(player, selection), self.stores(player)

    def stores(self, own: Player) -> tuple[StageStore, ...]:
        """The stored arrays as the kernels read them, stage by stage."""
        other = own.opponent
        return tuple(
            StageStore(regrets[own], averages[own], regrets[other], averages[other])
            for regrets, averages in zip(self.regrets, self.averages, strict=True)
        )

    def keep(self, player: Player, hands: Longs, pool: Pool) -> None:
        """Store these hands only; one that was not stored before starts from zero.

        For games of one stage, in which a hand stays the same. While an array moves, both the old
        and the new one exist.
        """
        source = self.sources_of(player, hands)
        for stored in (self.regrets, self.averages):
            stored[0][player] = self.moved(stored[0][player], source, pool)
        self.have_moved(player, hands)

    def sources_of(self, player: Player, hands: Longs) -> Longs:
        """The present place of each number of a flop if only these hands were stored; −1: none."""
        nodes = [node for node in self.tree.decisions() if self.tree.player[node] == player]
        actions = self.tree.child_count[nodes].astype(np.int64)
        return sources(self.slot_of_node[nodes], actions, self.kept[player], hands)

    def have_moved(self, player: Player, hands: Longs) -> None:
        """Record that these hands are stored."""
        self.kept[player] = hands
        self._hands.clear()
        self._tables.clear()
        self.__dict__.pop("_packing", None)

    def moved(self, old: Singles, source: Longs, pool: Pool, first: int = 0) -> Singles:
        """A new array with the numbers at `source` of each flop, from the `first` one on."""
        new = self._allocate((self.cards.count, len(source)))

        def move(thread: int, flop: int) -> None:
            del thread
            move_numbers(old, new, source, first + flop, first + flop + 1)

        pool.run(self.cards.count - first, move)
        return new

    @contextmanager
    def quantised(self, flops: range, largest: int, pool: Pool) -> Iterator[None]:
        """Quantise average strategies on some flops, as bundles store them, within this context.

        The likeliest action of a hand has `largest`. The sums themselves are set aside.
        """
        places = slice(flops.start, flops.stop)
        stored = [
            (stage, player, self.averages[stage][player][places])
            for stage in range(len(self.averages))
            for player in Player
        ]
        # Threads share the copying: a single one takes as long as all of them need to evaluate.
        aside = [self._room_aside(stage, player, sums) for stage, player, sums in stored]
        nodes = [self._shares_at(stage, player) for stage, player, _ in stored]
        there, back = ([new_counter() for _ in stored] for _ in range(2))

        def begin(thread: int) -> None:
            del thread
            for (*_, sums), kept, where, counter in zip(stored, aside, nodes, there, strict=True):
                round_flops(counter, sums, kept, *where, largest)

        def end(thread: int) -> None:
            del thread
            for (*_, sums), kept, counter in zip(stored, aside, back, strict=True):
                put_back(counter, sums, kept)

        pool.together(begin)
        try:
            yield
        finally:
            pool.together(end)

    def _room_aside(self, stage: int, player: Player, sums: Singles) -> Singles:
        """Room for a copy of sums [K, …]: the same one again, since new pages make threads wait."""
        room = self._aside.pop((stage, player), sums[:0])
        if len(room) < len(sums) or room.shape[1] != sums.shape[1]:
            room = np.empty_like(sums)
        if room.nbytes <= MOST_ASIDE:
            self._aside[stage, player] = room
        return room[: len(sums)]

    def packed(self, flop: int, numbers: Numbers) -> tuple[Shares, ...]:
        """[actions, H] by stage: the average strategies of all decisions, as a bundle has them.

        All decisions of a flop are packed at once, since there are thousands of them. Any number of
        threads may do so.
        """
        arrays = []
        largest = int(np.iinfo(numbers).max)
        for stage, hands in enumerate(self.cards.hands):
            actions = int(self.slots[stage].sum()) if stage < len(self.slots) else 0
            # All-in on the flop leaves the later stages without decisions.
            shares: Shares = np.empty((actions, hands) if actions else (0, 0), numbers)
            for player in Player if actions else ():
                where = self._packing[stage][player]
                pack_shares(self.averages[stage][player][flop], *where, largest, shares)
            arrays.append(shares)
        return tuple(arrays)

    @cached_property
    def _packing(self) -> list[list[tuple[Longs, Longs, Longs, Longs]]]:
        """By stage and player, for each decision: where its sums begin, its actions, the first of
        its rows; and where hands are stored. Good as long as the same hands are stored.
        """
        stages = []
        for stage in range(len(self.slots)):
            here = (self.tree.kind == NodeKind.DECISION) & (self.stage_of_node == stage)
            counts = np.where(here, self.tree.child_count, 0).astype(np.int64)
            first = np.cumsum(counts) - counts
            both = []
            for player in Player:
                nodes, starts = self.decisions_of(stage, player)
                places = self.places_of_hands(stage, player)
                both.append((starts, counts[nodes], first[nodes], places))
            stages.append(both)
        return stages

    def decisions_of(self, stage: int, player: Player) -> tuple[Longs, Longs]:
        """A player's decisions in a stage [nodes], and where their numbers begin on any flop."""
        here = (self.tree.kind == NodeKind.DECISION) & (self.stage_of_node == stage)
        nodes = np.flatnonzero(here & (self.tree.player == player))
        length = padded(len(self.stored_hands(stage, player)))
        return nodes, self.slot_of_node[nodes].astype(np.int64) * length

    def places_of_hands(self, stage: int, player: Player) -> Longs:
        """[H]: the position of each hand of a stage among the stored hands; −1: not stored."""
        places = np.full(self.cards.lengths[stage], -1)
        stored = self.stored_hands(stage, player)
        places[stored] = np.arange(len(stored))
        return places[: self.cards.hands[stage]]

    def _shares_at(self, stage: int, player: Player) -> tuple[Longs, Longs, int]:
        """The offsets of a player's decisions among the shares, their actions and blocks."""
        nodes, starts = self.decisions_of(stage, player)
        length = padded(len(self.stored_hands(stage, player)))
        return starts, self.tree.child_count[nodes].astype(np.int64), length // LANES

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        pairs = [(stage, player) for stage in range(len(self.slots)) for player in Player]
        return (
            8
            * self.cards.count
            * sum(
                int(self.slots[stage, player]) * padded(len(self.stored_hands(stage, player)))
                for stage, player in pairs
            )
        )

    @property
    def full_bytes(self) -> int:
        """The same if all hands were stored."""
        lengths = np.array(self.cards.lengths[: len(self.slots)])
        return 8 * self.cards.count * int(self.slots.sum(axis=1) @ lengths)

    def numbers_at(self, stored: list[list[Singles]], flop: int, node: int) -> Singles:
        """[A, H]: the entries of `regrets` or `averages` at a decision on a flop; else 0."""
        stage, player = int(self.stage_of_node[node]), self.tree.player_at(node)
        actions, hands = int(self.tree.child_count[node]), self.cards.hands[stage]
        kept = self.stored_hands(stage, player)
        length = padded(len(kept))
        start = int(self.slot_of_node[node]) * length
        block = stored[stage][player][flop, start : start + actions * length]
        turned = block.reshape(length // LANES, actions, LANES).transpose(1, 0, 2)
        numbers: Singles = turned.reshape(actions, length)
        if len(kept) >= hands:
            return numbers[:, :hands]
        spread = np.zeros((actions, hands), np.float32)
        spread[:, kept] = numbers[:, : len(kept)]
        return spread

    def stored_hands(self, stage: int, player: Player) -> Longs:
        """The stored hands of a stage, in its order; if all, with the padding."""
        return self.kept[player] if stage == 0 else np.arange(self.cards.lengths[stage])

    def average(self, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision; uniform where nothing is known."""
        sums = self.numbers_at(self.averages, flop, node).astype(np.float64)
        totals = sums.sum(axis=0)
        even = np.full_like(sums, 1 / len(sums))
        average: Floats = np.divide(sums, totals, out=even, where=totals > 0)
        return average

    def set_average(self, flop: int, node: int, strategy: NDArray[np.floating[Any]]) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]; all hands must be stored.

        At a locked decision it becomes the locked strategy.
        """
        self._put(slice(flop, flop + 1), node, strategy)

    def _put(self, flops: slice, node: int, strategy: NDArray[np.floating[Any]]) -> None:
        stage, player = int(self.stage_of_node[node]), self.tree.player_at(node)
        if len(self.stored_hands(stage, player)) < strategy.shape[1]:
            raise ValueError("a strategy for all hands, where only some are stored")
        actions, length = len(strategy), self.cards.lengths[stage]
        rows = np.zeros((actions, length), np.float32)
        rows[:, : strategy.shape[1]] = strategy
        block = rows.reshape(actions, length // LANES, LANES).transpose(1, 0, 2).reshape(-1)
        self.averages[stage][player][flops, self._numbers_of(node)] = block
        if node in self.tree.locks:
            self.regrets[stage][player][flops, self._numbers_of(node)] = block

    def _regrets_at(self, node: int) -> Singles:
        """[F, …]: the regrets of a decision, if all hands are stored."""
        stage, player = int(self.stage_of_node[node]), self.tree.player_at(node)
        return self.regrets[stage][player][:, self._numbers_of(node)]

    def _numbers_of(self, node: int) -> slice:
        """The position of a decision's numbers on any flop, if all hands are stored."""
        length = self.cards.lengths[int(self.stage_of_node[node])]
        start = int(self.slot_of_node[node]) * length
        return slice(start, start + int(self.tree.child_count[node]) * length)

    def regret_sums(self, flops: Longs, pool: Pool) -> tuple[Floats, Floats, Longs]:
        """[K] each: Σ of positive regrets of K flops, the largest, and how many there are."""
        arrays = [array for pair in self.regrets for array in pair]
        by_array = np.zeros((len(arrays), len(flops), 2))
        # Numbers at locked decisions are strategies, not regrets.
        played = [(array, array.copy()) for array in map(self._regrets_at, self.tree.locks)]
        for array, _ in played:
            array[:] = 0.0
        counters = [new_counter() for _ in arrays]

        def work(thread: int) -> None:
            del thread
            for array, sums, counter in zip(arrays, by_array, counters, strict=True):
                sum_positive(counter, array, flops, sums)

        pool.together(work)
        for array, strategy in played:
            array[:] = strategy
        total, largest = by_array[:, :, 0].sum(axis=0), by_array[:, :, 1].max(axis=0)
        return total, largest, np.full(len(flops), self.regret_count)

    @property
    def regret_count(self) -> int:
        """The regrets of a flop, those of both players."""
        count = -sum(
            int(self.tree.child_count[node]) * self.cards.hands[int(self.stage_of_node[node])]
            for node in self.tree.locks
        )
        for stage in range(len(self.slots)):
            for player in Player:
                kept = len(self.stored_hands(stage, player))
                count += int(self.slots[stage, player]) * min(kept, self.cards.hands[stage])
        return count

    def free_spans(self, stage: int, player: Player) -> Longs:
        """[S, 2]: where regrets begin and end among a player's numbers of a stage on any flop.

        Between them are the strategies of locked decisions.
        """
        nodes, starts = self.decisions_of(stage, player)
        length = padded(len(self.stored_hands(stage, player)))
        ends = starts + self.tree.child_count[nodes].astype(np.int64) * length
        spans: list[list[int]] = []
        for node, first, end in zip(nodes.tolist(), starts.tolist(), ends.tolist(), strict=True):
            if node in self.tree.locks:
                continue
            if spans and spans[-1][1] == first:
                spans[-1][1] = end
            else:
                spans.append([first, end])
        return np.array(spans, np.int64).reshape(-1, 2)

    def run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        spaces: Spaces,
        flop: int = 0,
        weights: Singles = NO_WEIGHTS,
        wanted: Bytes | None = None,
    ) -> Singles:
        """A pass on one flop: reach [H] of the other's hands in, values [H] of own hands out.

        `weights` [1, 7] are `IterationWeights`. An update can be limited to some blocks of own
        hands, [H / 16] of `blocks_of_hands`: values of the others are 0, and nothing is learned for
        them.
        """
        values = np.empty((1, 1, len(other)), np.float32)
        if mode == UPDATE and wanted is None and (weights[:, THRESHOLD] > -np.inf).any():
            wanted = np.ones(padded(len(self.kept[player])) // LANES, np.uint8)
        run_pots(
            new_counter(),
            ONE_PIECE,
            ONE_POT,
            self.tables(player),
            filled(self.cards.kernel),
            filled(spaces),
            np.array([flop]),
            other[None],
            NO_ROOTS,
            values,
            mode,
            weights,
            NOT_PRUNED if wanted is None else wanted[None, None],
            ALL_LIMITED,
        )
        root_values: Singles = values[0, 0]
        return root_values

    def tables(self, player: Player) -> PotTables:
        """The game as the kernels read it."""
        tables = self._tables.get(player)
        if tables is None:
            tables = self._tables[player] = pot_tables([self.stages(player)])
        return tables

    def own_hands(self, player: Player, selection: HandSelection) -> Longs:
        """The own hands of a pass, those of the first stage."""
        if selection == "rest":
            return np.setdiff1d(self.all_hands[: self.cards.hands[0]], self.kept[player])
        return self.kept[player] if selection == "kept" else self.all_hands

    def hands(self, player: Player, selection: HandSelection = "kept") -> tuple[StageHands, ...]:
        """The hands of a pass."""
        pass_hands = self._hands.get((player, selection))
        if pass_hands is None:
            own, other = self.own_hands(player, selection), self.kept[player.opponent]
            pass_hands = stage_hands(own, other, self.cards.lengths)
            self._hands[player, selection] = pass_hands
        return pass_hands


def pruned_parts(table: Singles, blocks: Bytes) -> Iterator[tuple[Singles, Bytes]]:
    """Iterations [T, 7] before pruning begins, and those since then with all `blocks` needed.

    As kernels take them: no block is listed where nothing is pruned.
    """
    pruned = np.flatnonzero(table[:, THRESHOLD] > -np.inf)
    warm = int(pruned[0]) if len(pruned) else len(table)
    if warm:
        yield table[:warm], blocks[:0]
    if warm < len(table):
        yield table[warm:], blocks


def make_spaces(games: Sequence[MatrixGame]) -> Spaces:
    """Scratch arrays of one thread that works on any of these games, for either player."""
    spaces = []
    lengths = games[0].cards.lengths if games else []  # a short stack may never see a flop
    for stage, length in enumerate(lengths):
        plans = [plan[stage] for game in games for plan in game.plans if stage < len(plan)]
        value_rows = max((plan.value_rows for plan in plans), default=1)
        spaces.append(
            StageSpace(
                reach=aligned(max((plan.reach_rows for plan in plans), default=1) * length),
                values=aligned(value_rows * length),
                lanes=aligned(2 * length * LANES),
                sums=aligned(52 * LANES),
                terms=np.zeros(length, np.int32),
                margin=aligned(length * length + LANES),
                combos=aligned(length),
                needed=np.zeros(value_rows * (length // LANES), np.uint8),
                union=np.zeros(length // LANES, np.uint8),
                left_out=np.zeros(1, np.int64),
            )
        )
    return tuple(spaces)
