"""What a matrix game stores: regrets and sums of strategies, [node][hand / 16][action][16] by flop.

A game can be limited to the hands that a player reaches it with (`keep`). The others are then not
stored.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Longs, Singles
from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.engines.card_model import stage_of_nodes
from allstreets.engines.machine import Pool
from allstreets.engines.matrix.cards import StageMatrices, padded
from allstreets.engines.matrix.hands import sources
from allstreets.engines.matrix.kernels.layout import StageStore
from allstreets.engines.matrix.kernels.passes import sum_positive
from allstreets.engines.matrix.kernels.store import move_numbers
from allstreets.engines.matrix.plan import node_slots, slot_counts
from allstreets.engines.simd.quantise import put_back, round_flops
from allstreets.engines.simd.vectors import LANES, aligned
from allstreets.engines.simd.work_counter import new_counter

Allocate = Callable[[tuple[int, int]], Singles]

MOST_ASIDE = 32_000_000
"""Bytes of sums for which room is kept when they are no longer set aside."""


class MatrixStore:
    """The numbers of one betting tree on F flops.

    `allocate` makes the stored arrays, [F, …] of float32 zeros that begin at a cache line (in
    memory by default).
    """

    def __init__(
        self, tree: BettingTree, cards: StageMatrices, allocate: Allocate = aligned
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
        for node, chances in tree.locks.items():
            hands = cards.hands[int(self.stage_of_node[node])]
            self._put(slice(None), node, np.repeat(np.array(chances)[:, None], hands, axis=1))

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
        nodes = [node for node in self.tree.decisions() if self.tree.player[node] == player]
        actions = self.tree.child_count[nodes].astype(np.int64)
        source = sources(self.slot_of_node[nodes], actions, self.kept[player], hands)
        for stored in (self.regrets, self.averages):
            stored[0][player] = self._moved(stored[0][player], source, pool)
        self.kept[player] = hands

    def _moved(self, old: Singles, source: Longs, pool: Pool) -> Singles:
        new = self._allocate((self.cards.count, len(source)))

        def move(thread: int, flop: int) -> None:
            del thread
            move_numbers(old, new, source, flop, flop + 1)

        pool.run(self.cards.count, move)
        return new

    @contextmanager
    def quantised(self, flops: range, largest: int, pool: Pool) -> Iterator[None]:
        """For a while, average strategies on some flops are whole numbers, as bundles store them.

        The likeliest action of a hand has `largest`. The sums themselves are set aside.
        """
        places = slice(flops.start, flops.stop)
        stored = [
            (stage, player, self.averages[stage][player][places])
            for stage in range(len(self.averages))
            for player in Player
        ]
        # Threads copy as well: one alone takes as long as all of them need to evaluate.
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

    def decisions_of(self, stage: int, player: Player) -> tuple[Longs, Longs]:
        """A player's decisions in a stage [nodes], and where their numbers begin on any flop."""
        here = (self.tree.kind == NodeKind.DECISION) & (self.stage_of_node == stage)
        nodes = np.flatnonzero(here & (self.tree.player == player))
        length = padded(len(self.stored_hands(stage, player)))
        return nodes, self.slot_of_node[nodes].astype(np.int64) * length

    def places_of_hands(self, stage: int, player: Player) -> Longs:
        """[H]: where each hand of a stage stands among those that are stored; −1: nowhere."""
        places = np.full(self.cards.lengths[stage], -1)
        stored = self.stored_hands(stage, player)
        places[stored] = np.arange(len(stored))
        return places[: self.cards.hands[stage]]

    def _shares_at(self, stage: int, player: Player) -> tuple[Longs, Longs, int]:
        """Where the shares of a player's decisions begin, their actions, and blocks of hands."""
        nodes, starts = self.decisions_of(stage, player)
        length = padded(len(self.stored_hands(stage, player)))
        return starts, self.tree.child_count[nodes].astype(np.int64), length // LANES

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(array.nbytes for pair in self.regrets + self.averages for array in pair)

    @property
    def full_bytes(self) -> int:
        """The same if all hands were stored."""
        lengths = np.array(self.cards.lengths[: len(self.slots)])
        return 8 * self.cards.count * int(self.slots.sum(axis=1) @ lengths)

    def numbers_at(self, stored: list[list[Singles]], flop: int, node: int) -> Singles:
        """[A, H]: what `regrets` or `averages` hold at a decision on a flop; else 0."""
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
        found: Floats = np.divide(sums, totals, out=even, where=totals > 0)
        return found

    def set_average(self, flop: int, node: int, strategy: NDArray[np.floating[Any]]) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]; all hands must be stored.

        At a locked one it is what is played there from now on.
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
        """Where the numbers of a decision stand on any flop, if all hands are stored."""
        length = self.cards.lengths[int(self.stage_of_node[node])]
        start = int(self.slot_of_node[node]) * length
        return slice(start, start + int(self.tree.child_count[node]) * length)

    def regret_sums(self, flops: Longs, pool: Pool) -> tuple[Floats, Floats, Longs]:
        """[K] each: Σ of positive regrets of K flops, the largest, and how many there are."""
        arrays = [array for pair in self.regrets for array in pair]
        found = np.zeros((len(arrays), len(flops), 2))
        # What stands at locked decisions is played, not regretted.
        played = [(array, array.copy()) for array in map(self._regrets_at, self.tree.locks)]
        for array, _ in played:
            array[:] = 0.0
        counters = [new_counter() for _ in arrays]

        def work(thread: int) -> None:
            del thread
            for array, sums, counter in zip(arrays, found, counters, strict=True):
                sum_positive(counter, array, flops, sums)

        pool.together(work)
        for array, strategy in played:
            array[:] = strategy
        entries = -sum(
            int(self.tree.child_count[node]) * self.cards.hands[int(self.stage_of_node[node])]
            for node in self.tree.locks
        )
        for stage in range(len(self.regrets)):
            for player in Player:
                kept = len(self.stored_hands(stage, player))
                entries += int(self.slots[stage, player]) * min(kept, self.cards.hands[stage])
        total, largest = found[:, :, 0].sum(axis=0), found[:, :, 1].max(axis=0)
        return total, largest, np.full(len(flops), entries)
