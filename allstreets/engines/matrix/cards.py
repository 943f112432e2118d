"""The cards of a matrix game: hands, pairs that fit, who wins, and how hands change.

A *stage* is one or more streets through which a hand stays the same. Within a stage the cards enter
by two matrices over pairs of hands (own, other):

    W = n nᵀ − N Nᵀ + diag(n)     pairs of combos that share no card
    M                             Σ over these pairs of share won − share lost, antisymmetric

where n counts the combos of a hand and N those that hold each card. Without N, card removal between
the players is left out and W = n nᵀ. Between two stages hands change by a third:

    reach' = reach · D     values = D · values'     D[b, b'] = n_b · P(b → b') / n'_b'

Reach is a weight per combo, values are totals over a hand's combos. Buckets have one stage per
street. The 169 classes are one stage of three streets: a player knows his hand class and the
betting, not the turn and the river, and M is the average over all runouts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Singles
from allstreets.betting import POSTFLOP, Street
from allstreets.cards import canonical_flop, flop_table, hand_cards, hand_combos
from allstreets.engines.matrix.kernels.layout import StageCards
from allstreets.engines.simd.vectors import LANES, aligned


@dataclass(frozen=True, eq=False)
class Stage:
    """The cards of some streets on one flop, for H hands."""

    streets: tuple[Street, ...]
    combos: Floats  # [H] n: how many combos each hand has
    cards: Floats | None  # [H, 52] N: how many of them hold each card
    margin: Singles  # [H, H] M
    down: Singles | None = None  # [H of the stage before, H] D; None in the first stage

    @property
    def pairs(self) -> Floats:
        """W [H, H]: the pairs of combos that fit beside each other."""
        pairs = np.outer(self.combos, self.combos)
        if self.cards is not None:
            pairs += np.diag(self.combos) - self.cards @ self.cards.T
        return pairs


def class_stages(flop: Sequence[int]) -> tuple[Stage]:
    """The one stage of hand classes on a flop; they count alike, so suits may be renamed."""
    canonical = canonical_flop(flop).flop
    return (
        Stage(
            streets=POSTFLOP,
            combos=hand_combos(canonical.cards).astype(np.float64),
            cards=hand_cards(canonical.cards).astype(np.float64),
            margin=flop_table().margin(canonical.number),
        ),
    )


def padded(hands: int) -> int:
    """The number of hands padded to whole vectors."""
    return -(-hands // LANES) * LANES


def matrix_cells(lengths: Sequence[int]) -> int:
    """Numbers in the matrices of a flop: of pairs, and to the next stage and back.

    >>> matrix_cells([2, 3])
    25
    """
    between = pairwise(lengths)
    return sum(length**2 for length in lengths) + 2 * sum(above * here for above, here in between)


class StageMatrices:
    """The stages of F flops as the kernels read them; shared by all games on these flops."""

    def __init__(
        self, flops: Sequence[tuple[Stage, ...]], hands: Sequence[int] | None = None
    ) -> None:
        """`hands`: the most that a flop can have, by stage, if these flops are some of many.

        Flops may differ by a few buckets, and the stored arrays of one must not depend on the
        others.
        """
        self.streets = tuple(stage.streets for stage in flops[0])
        self.count = len(flops)
        most = [max(len(stages[k].combos) for stages in flops) for k in range(self.stages)]
        self.hands = most if hands is None else list(hands)
        self.lengths = [padded(hands) for hands in self.hands]
        self.kernel = tuple(
            self._stage([stages[k] for stages in flops], k) for k in range(self.stages)
        )

    @property
    def stages(self) -> int:
        """The number of stages."""
        return len(self.streets)

    @property
    def memory_bytes(self) -> int:
        """Bytes of all matrices."""
        return sum(part.nbytes for stage in self.kernel for part in stage[1:])

    def _stage(self, flops: Sequence[Stage], number: int) -> StageCards:
        length, count = self.lengths[number], self.count
        before = self.lengths[number - 1] if number else 0
        margin = aligned((count, length * length))
        combos, twins = aligned((count, length)), aligned((count, length))
        down, up = aligned((count, before * length)), aligned((count, before * length))
        holds = np.zeros((count, length, 52))
        for flop, stage in enumerate(flops):
            hands = len(stage.combos)
            matrix = margin[flop].reshape(length, length)
            matrix[:hands, :hands] = stage.margin.T  # by the other's hand, then by own
            combos[flop, :hands] = stage.combos
            if stage.cards is not None:
                holds[flop, :hands] = stage.cards
                twins[flop, :hands] = stage.combos
            if stage.down is not None:
                rows = len(stage.down)
                down[flop].reshape(before, length)[:rows, :hands] = stage.down
                up[flop].reshape(length, before)[:hands, :rows] = stage.down.T
        by_card = _sparse(holds.transpose(0, 2, 1))
        by_hand = _sparse(holds)
        return StageCards(length, margin, combos, twins, *by_card, *by_hand, down, up)


def _sparse(counts: Floats) -> tuple[NDArray[np.int16], Bytes, Singles]:
    """The numbers of [F, R, C] that are not 0, row by row: starts [F, R + 1], columns, numbers."""
    present = counts != 0
    starts = np.zeros((len(counts), counts.shape[1] + 1), np.int16)
    starts[:, 1:] = present.sum(axis=2).cumsum(axis=1)
    longest = max(1, int(starts[:, -1].max()))
    columns = np.zeros((len(counts), longest), np.uint8)
    numbers = np.zeros((len(counts), longest), np.float32)
    for flop, here in enumerate(present):
        rows, places = np.nonzero(here)
        columns[flop, : len(rows)] = places
        numbers[flop, : len(rows)] = counts[flop, rows, places]
    return starts, columns, numbers
