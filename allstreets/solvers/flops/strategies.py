"""Average strategies of a flop as bytes: small enough that 1,755 flops fit a folder.

A probability is kept as a whole number of 255ths, and read back as its share of the sum over the
actions. On a flop solved to 0.08 % of the pot this moves the exploitability by 0.002 %. All figures
of a solved flop are computed from what is kept, so that they are the figures of what is shown.

The decisions of a *stage* (see `subgames.matrix_model`) stand in pre-order, an action a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind, Street
from allstreets.subgames.matrix_plan import stage_of_nodes

STEPS = 255

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
StageStreets = tuple[tuple[Street, ...], ...]


def encode(chances: Floats) -> Bytes:
    """[A, H] of probabilities as bytes."""
    return np.rint(chances * STEPS).astype(np.uint8)


def decode(stored: Bytes) -> Floats:
    """[A, H] of probabilities out of bytes; those of a hand sum to 1."""
    counts = stored.astype(np.float64)
    totals = counts.sum(axis=0)
    # Very many even actions would all round to nothing.
    even = np.full_like(counts, 1 / len(counts))
    chances: Floats = np.divide(counts, totals, out=even, where=totals > 0)
    return chances


def decisions(tree: BettingTree) -> list[int]:
    """All decisions, in pre-order."""
    found: list[int] = np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
    return found


@dataclass(frozen=True, eq=False)
class FlopStrategies:
    """The strategies of all decisions of a tree, stage by stage."""

    tree: BettingTree
    streets: StageStreets  # of each stage
    stored: tuple[Bytes, ...]  # by stage: [actions of all its decisions, H]

    @classmethod
    def pack(
        cls, tree: BettingTree, streets: StageStreets, averages: Sequence[Floats]
    ) -> "FlopStrategies":
        """Keep the strategies [A, H] of all decisions, given in pre-order."""
        stages = stage_of_nodes(tree, streets)
        rows: list[list[Bytes]] = [[] for _ in streets]
        for node, average in zip(decisions(tree), averages, strict=True):
            rows[stages[node]].append(encode(average))
        # All-in on the flop leaves the later stages without decisions.
        none = np.zeros((0, 0), np.uint8)
        return cls(tree, streets, tuple(np.concatenate(part) if part else none for part in rows))

    @cached_property
    def stages(self) -> NDArray[np.int64]:
        """[N]: the stage of each node."""
        return stage_of_nodes(self.tree, self.streets)

    @cached_property
    def first_row(self) -> NDArray[np.int64]:
        """[N]: the row of each decision's first action within its stage."""
        tree, found = self.tree, np.zeros(self.tree.node_count, np.int64)
        for stage in range(len(self.streets)):
            nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (self.stages == stage))
            found[nodes] = np.cumsum(tree.child_count[nodes]) - tree.child_count[nodes]
        return found

    def at(self, node: int) -> Floats:
        """[A, H]: the strategy at a decision."""
        first = int(self.first_row[node])
        rows = slice(first, first + int(self.tree.child_count[node]))
        return decode(self.stored[int(self.stages[node])][rows])

    def bet_frequencies(self, pairs: Floats) -> tuple[float, float]:
        """How often OOP bets at once, and IP after a check: shares of the hands that get there.

        `pairs` [H, H] are the pairs of combos of the first stage, OOP's by row.
        """
        check, *bets = range(len(self.tree.actions_at(0)))
        opening = self.at(0)
        first = opening[bets].sum(axis=0) @ pairs.sum(axis=1) / pairs.sum()
        met = opening[check] @ pairs  # [H] of IP: pairs that go on after the check
        answer = self.at(int(self.tree.children_of(0)[check]))
        second = answer[1:].sum(axis=0) @ met / met.sum() if met.sum() > 0 else 0.0
        return float(first), float(second)
