"""The stored form of a flop in a bundle: small enough that 1,755 of them fit a folder.

| array          | shape        | holds                                                            |
|----------------|--------------|------------------------------------------------------------------|
| `strategy.P.S` | [actions, H] | pot P, stage S: shares in whole numbers, see below;              |
|                |              | `exact`: probabilities as they are, in 32 bits                   |
| `values`       | [2, P, 169]  | both players' values at the pots' roots, in chips times pairs    |
| `held`         | [169, H]     | `buckets`: combos of each class in each bucket of the flop       |
| `evs.P`        | [2, N, H]    | `exact`: EVs in chips at the decisions on the flop, by combo     |
| `action_evs.P` | [actions, H] | `exact`: EVs in chips of the actions there                       |

The likeliest action of a hand is stored as the largest number, 255 in a byte and 65,535 in two
bytes, and the others in proportion to it. What is read back is an action's share of their
sum. So the shares of a hand sum to 1, actions that are equally likely stay so, and one is lost only
where it is played less than 1/510 (1/131,070) as often as the likeliest.

All figures of a solution are computed from the stored strategies, so that they belong to what is
shown. A byte is used where the stored solution is as good as the trained one (`agree`), else two:
on a flop at an SPR of 3.5 a byte is enough down to 0.02 % of the pot. The type of an array shows
how its strategies are stored. Shares that are floats, or bytes of 255ths of a probability, are read
in the same way.

The decisions of a *stage* (see `engines.matrix.cards`) are in pre-order, one row per action.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Longs
from allstreets.betting import BettingTree, NodeKind, read_only
from allstreets.engines.card_model import CardModel, StageStreets, stage_of_nodes
from allstreets.engines.simd.vectors import LARGEST

Shares = NDArray[Any]  # of actions, as they are stored
Numbers = np.dtype[np.uint8] | np.dtype[np.uint16]

ONE_BYTE = np.dtype(np.uint8)
TWO_BYTES = np.dtype(np.uint16)
AGREEMENT = 0.05


def agree(stored: float, trained: float) -> bool:
    """Whether the stored strategies are as exploitable as the trained ones, within 5 %."""
    return abs(stored - trained) <= AGREEMENT * trained


def encode(chances: NDArray[np.floating[Any]], numbers: Numbers, axis: int = 0) -> Shares:
    """Probabilities, or sums in proportion to them, as whole numbers; actions along `axis`."""
    wide = chances.astype(np.float64)
    most = wide.max(axis=axis, keepdims=True)
    even = np.ones_like(wide)  # where nothing is known
    shares = np.divide(wide, most, out=even, where=most > 0)
    stored: Shares = np.rint(shares * np.iinfo(numbers).max).astype(numbers)
    return stored


def decode(stored: Shares) -> Floats:
    """[A, H] of probabilities from the stored numbers; those of a hand sum to 1."""
    counts = stored.astype(np.float64)
    totals = counts.sum(axis=0)
    # Very many even actions as 255ths would all be rounded to nothing.
    even = np.full_like(counts, 1 / len(counts))
    chances: Floats = np.divide(counts, totals, out=even, where=totals > 0)
    return chances


def storable(model: CardModel, chances: Floats) -> Floats:
    """[A, H]: a strategy of a decision as engines play it and bundles store it.

    Storing it again changes nothing. Classes and buckets are stored in two bytes. Combos on a flop
    are played in whole numbers of a fixed sum, or in 32 bits, and stored in 32 bits.
    """
    if not model.plays_combos:
        return decode(encode(chances, TWO_BYTES))
    exact_floats = model.kind == "exact" and model.precision == "float32"
    total = 2**24 if exact_floats else LARGEST
    counts: Floats = np.rint(chances * total)
    # The rounding error goes to the most frequent action.
    counts[counts.argmax(axis=0), np.arange(counts.shape[1])] += total - counts.sum(axis=0)
    return decode((counts / total).astype(np.float32))


@dataclass(frozen=True, eq=False)
class PackedStrategies:
    """The strategies of all decisions of a tree, stage by stage."""

    tree: BettingTree
    streets: StageStreets  # of each stage
    stored: tuple[Shares, ...]  # by stage: [actions of all its decisions, H]

    @classmethod
    def pack(
        cls,
        tree: BettingTree,
        streets: StageStreets,
        averages: Sequence[Floats],
        numbers: Numbers = TWO_BYTES,
    ) -> "PackedStrategies":
        """Pack the strategies [A, H] of all decisions, given in pre-order."""
        stages = stage_of_nodes(tree, streets)
        rows: list[list[Shares]] = [[] for _ in streets]
        for node, average in zip(tree.decisions(), averages, strict=True):
            rows[stages[node]].append(encode(average, numbers))
        # All-in on the flop leaves the later stages without decisions.
        none = np.zeros((0, 0), numbers)
        return cls(tree, streets, tuple(np.concatenate(part) if part else none for part in rows))

    @property
    def stages(self) -> Longs:
        """[N]: the stage of each node."""
        return _rows(self.tree, self.streets)[0]

    @property
    def first_row(self) -> Longs:
        """[N]: the row of each decision's first action within its stage."""
        return _rows(self.tree, self.streets)[1]

    def at(self, node: int) -> Floats:
        """[A, H]: the strategy at a decision."""
        first, actions = int(self.first_row[node]), int(self.tree.child_count[node])
        shares = self.stored[int(self.stages[node])][first : first + actions]
        if shares.ndim != 2 or len(shares) != actions:
            raise InputError("the solution is damaged: its strategies are not those of its tree")
        return decode(shares)


@lru_cache(maxsize=16)
def _rows(tree: BettingTree, streets: StageStreets) -> tuple[Longs, Longs]:
    """[N] each: `stages` and `first_row`; there is one tree for many flops."""
    stages, first = stage_of_nodes(tree, streets), np.zeros(tree.node_count, np.int64)
    for stage in range(len(streets)):
        nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (stages == stage))
        first[nodes] = np.cumsum(tree.child_count[nodes]) - tree.child_count[nodes]
    return read_only(stages), read_only(first)
