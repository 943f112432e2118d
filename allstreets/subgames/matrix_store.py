"""What a matrix game stores: regrets and sums of strategies, [node][hand / 16][action][16] by flop.

A game can be told that a player gets there with some hands only (`keep`). Nothing is stored of the
others then.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.kernels.matrix_layout import Floats, Longs, StageStore
from allstreets.kernels.matrix_pass import sum_positive
from allstreets.kernels.matrix_store import move_numbers
from allstreets.kernels.shares import round_shares
from allstreets.kernels.simd import LANES, aligned
from allstreets.subgames.matrix_hands import sources
from allstreets.subgames.matrix_model import FlopCards, padded
from allstreets.subgames.matrix_plan import node_slots, slot_counts, stage_of_nodes
from allstreets.subgames.pool import Pool

Allocate = Callable[[tuple[int, int]], Floats]


class MatrixStore:
    """The numbers of one betting tree on F flops.

    `allocate` makes the stored arrays, [F, …] of float32 zeros that begin at a cache line (in
    memory by default).
    """

    def __init__(self, tree: BettingTree, cards: FlopCards, allocate: Allocate = aligned) -> None:
        self.tree, self.cards, self._allocate = tree, cards, allocate
        self.stage_of_node = stage_of_nodes(tree, cards.streets)
        self.slot_of_node = node_slots(tree, self.stage_of_node)
        self.slots = slot_counts(tree, self.stage_of_node)  # [stages, 2]
        self.everyone = np.arange(cards.lengths[0])
        # By player: the hands of the first stage of whom something is stored.
        self.kept = [self.everyone, self.everyone]
        shapes = [
            [(cards.count, int(count) * length) for count in counts]
            for counts, length in zip(self.slots, cards.lengths, strict=False)
        ]
        self.regrets = [[allocate(shape) for shape in pair] for pair in shapes]
        self.averages = [[allocate(shape) for shape in pair] for pair in shapes]

    def decisions(self) -> list[int]:
        """All decision nodes, in pre-order."""
        return [int(node) for node in np.flatnonzero(self.tree.kind == NodeKind.DECISION)]

    def stores(self, own: Player) -> tuple[StageStore, ...]:
        """The stored arrays as the kernels want them, stage by stage."""
        other = own.opponent
        return tuple(
            StageStore(regrets[own], averages[own], regrets[other], averages[other])
            for regrets, averages in zip(self.regrets, self.averages, strict=True)
        )

    def keep(self, player: Player, hands: Longs, pool: Pool) -> None:
        """Store something of these hands only; who was not stored before starts from nothing.

        For games of one stage, in which a hand stays the same. While an array moves, both the old
        and the new one are there.
        """
        nodes = [node for node in self.decisions() if self.tree.player[node] == player]
        actions = self.tree.child_count[nodes].astype(np.int64)
        source = sources(self.slot_of_node[nodes], actions, self.kept[player], hands)
        for stored in (self.regrets, self.averages):
            stored[0][player] = self._moved(stored[0][player], source, pool)
        self.kept[player] = hands

    def _moved(self, old: Floats, source: Longs, pool: Pool) -> Floats:
        new = self._allocate((self.cards.count, len(source)))

        def move(thread: int, flop: int) -> None:
            del thread
            move_numbers(old, new, source, flop, flop + 1)

        pool.run(self.cards.count, move)
        return new

    @contextmanager
    def rounded(self, flops: range, largest: int, pool: Pool) -> Iterator[None]:
        """For a while, average strategies on some flops are whole numbers, as bundles keep them.

        The likeliest action of a hand has `largest`. The sums themselves are set aside.
        """
        places = slice(flops.start, flops.stop)
        aside = [[array[places].copy() for array in pair] for pair in self.averages]
        try:
            for stage, pair in enumerate(self.averages):
                for player, array in zip(Player, pair, strict=True):
                    self._round(stage, player, array[places], largest, pool)
            yield
        finally:
            for pair, before in zip(self.averages, aside, strict=True):
                for array, sums in zip(pair, before, strict=True):
                    array[places] = sums

    def _round(self, stage: int, player: Player, sums: Floats, largest: int, pool: Pool) -> None:
        here = (self.tree.kind == NodeKind.DECISION) & (self.stage_of_node == stage)
        nodes = np.flatnonzero(here & (self.tree.player == player))
        length = padded(len(self.stored_hands(stage, player)))
        starts = self.slot_of_node[nodes].astype(np.int64) * length
        actions = self.tree.child_count[nodes].astype(np.int64)

        def work(thread: int, flop: int) -> None:
            del thread
            round_shares(sums[flop], starts, actions, length // LANES, largest)

        pool.run(len(sums), work)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(array.nbytes for pair in self.regrets + self.averages for array in pair)

    @property
    def full_bytes(self) -> int:
        """The same if all hands are kept."""
        lengths = np.array(self.cards.lengths[: len(self.slots)])
        return 8 * self.cards.count * int(self.slots.sum(axis=1) @ lengths)

    def numbers_at(self, stored: list[list[Floats]], flop: int, node: int) -> Floats:
        """[A, H]: what `regrets` or `averages` hold at a decision on a flop; else 0."""
        stage, player = int(self.stage_of_node[node]), self.tree.player_at(node)
        actions, hands = int(self.tree.child_count[node]), self.cards.hands[stage]
        kept = self.stored_hands(stage, player)
        length = padded(len(kept))
        start = int(self.slot_of_node[node]) * length
        block = stored[stage][player][flop, start : start + actions * length]
        turned = block.reshape(length // LANES, actions, LANES).transpose(1, 0, 2)
        numbers: Floats = turned.reshape(actions, length)
        if len(kept) >= hands:
            return numbers[:, :hands]
        spread = np.zeros((actions, hands), np.float32)
        spread[:, kept] = numbers[:, : len(kept)]
        return spread

    def stored_hands(self, stage: int, player: Player) -> Longs:
        """The hands of a stage of whom something is stored, in its order; all with the padding."""
        return self.kept[player] if stage == 0 else np.arange(self.cards.lengths[stage])

    def average(self, flop: int, node: int) -> NDArray[np.float64]:
        """[A, H]: the average strategy at a decision; even where nothing is known."""
        sums = self.numbers_at(self.averages, flop, node).astype(np.float64)
        totals = sums.sum(axis=0)
        even = np.full_like(sums, 1 / len(sums))
        found: NDArray[np.float64] = np.divide(sums, totals, out=even, where=totals > 0)
        return found

    def set_average(self, flop: int, node: int, strategy: NDArray[np.floating[Any]]) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]; all hands must be kept."""
        stage, player = int(self.stage_of_node[node]), self.tree.player_at(node)
        if len(self.stored_hands(stage, player)) < strategy.shape[1]:
            raise ValueError("a strategy for all hands, where only some are kept")
        actions, length = len(strategy), self.cards.lengths[stage]
        rows = np.zeros((actions, length), np.float32)
        rows[:, : strategy.shape[1]] = strategy
        start = int(self.slot_of_node[node]) * length
        block = rows.reshape(actions, length // LANES, LANES).transpose(1, 0, 2).reshape(-1)
        target = self.averages[stage][player]
        target[flop, start : start + actions * length] = block

    def regret_sums(self, weights: NDArray[np.float64] | None = None) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many), in chips times pairs of combos.

        Flops count by their `weights` [F], if given, and those of weight 0 not at all.
        """
        total, largest, entries = 0.0, 0.0, 0
        for flop in range(self.cards.count):
            weight = 1.0 if weights is None else float(weights[flop])
            if not weight:
                continue
            sums = np.zeros(2)
            for stage, pair in enumerate(self.regrets):
                for player, array in zip(Player, pair, strict=True):
                    sum_positive(array[flop], sums)
                    kept = len(self.stored_hands(stage, player))
                    entries += int(self.slots[stage, player]) * min(kept, self.cards.hands[stage])
            total, largest = total + weight * sums[0], max(largest, weight * sums[1])
        return float(total), float(largest), entries
