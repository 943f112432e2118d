"""The separated pipeline: preflop CFR on values of flops that were solved beforehand.

1. A `FlopsSolver` solves every flop of a set at a few stack-to-pot ratios (SPR) with full ranges.
   On flop f such a *model* gives the mean share v_f[h, o] of the pot that OOP gets when he holds h
   and IP holds o.
2. `PairValues` are means over the flops, weighted by the pairs of combos that are dealt there:

       W[h, o] = Σ_f w_f · W_f[h, o]
       V[h, o] = Σ_f w_f · W_f[h, o] · v_f[h, o] / W[h, o]

   w_f is the weight of a flop, W_f the pairs of combos that fit beside it and each other. IP gets
   the rest of the pot: models know no rake. A pot of the preflop tree takes the model of the
   nearest SPR, by the ratio of the larger SPR to the smaller.
3. `PreflopSolver` solves the betting before the flop on these values. That is fast, and coarse: a
   hand is worth the same after the flop whatever ranges got there. Its exploitability is that of a
   best response in this simplified game, where nothing is left to decide after the flop.

What a player loses by playing this way is the gain from solving one game:
`benchmarks/bench_unifying.py` measures it.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import (
    OOP,
    FlopPot,
    Player,
    PreflopRules,
    build_preflop_tree,
)
from allstreets.cards import HAND_COUNT, FlopSet, hand_pairs, preflop_equity
from allstreets.cfr import Schedule
from allstreets.games import (
    Lock,
    PreflopGame,
    lock_mapping,
    preflop_locks,
    rules_mapping,
)
from allstreets.solvers.preflop import PreflopCfr
from allstreets.solvers.whole_game import PreflopTraining

EVEN = 0.5
"""The share of the pot for pairs of hands that cannot meet on any flop."""


@dataclass(frozen=True, eq=False)
class PairValues:
    """M models as seen from before the flop."""

    sprs: tuple[float, ...]  # [M]
    pairs: Floats  # [169, 169] W, scaled to as many as are dealt before the flop
    shares: Floats  # [M, 169, 169] V: OOP's hand by row, IP's by column

    def __post_init__(self) -> None:
        nearest_spr(self.sprs, 1.0)

    def model_of(self, pot: FlopPot) -> int:
        """The model that a pot takes."""
        return nearest_spr(self.sprs, pot.spr)

    def chips(self, pots: Sequence[FlopPot]) -> Floats:
        """[P, 169, 169]: OOP's results against half the pot, in chips, over all pairs of combos."""
        models = [self.model_of(pot) for pot in pots]
        amounts = np.array([pot.pot for pot in pots], np.float64)
        antes = np.array([pot.bb_ante / 2 for pot in pots])  # what OOP has put in beyond his half
        totals: Floats = amounts[:, None, None] * self.pairs * (self.shares[models] - EVEN)
        totals -= antes[:, None, None] * self.pairs
        return totals

    @property
    def digest(self) -> str:
        """A hash of all numbers, which identifies the table."""
        digest = hashlib.sha256(repr(self.sprs).encode())
        digest.update(np.ascontiguousarray(self.pairs).tobytes())
        digest.update(np.ascontiguousarray(self.shares).tobytes())
        return digest.hexdigest()[:16]


def nearest_spr(sprs: Sequence[float], spr: float) -> int:
    """The index of the nearest SPR by ratio; of two that are equally near, of the lower.

    >>> nearest_spr((1.0, 4.0, 9.0), 2.1), nearest_spr((1.0, 4.0, 9.0), 2.0)
    (1, 0)
    """
    if not len(sprs) or min(sprs) <= 0:
        raise InputError(f"SPRs {list(sprs)}: models of flops need at least one, all above 0")
    gaps = [(max(spr / known, known / spr), known, index) for index, known in enumerate(sprs)]
    return min(gaps)[2]


def mean_over_flops(
    flops: FlopSet, models: Mapping[float, Iterable[NDArray[np.floating[Any]]]]
) -> PairValues:
    """The values before the flop of models, by SPR.

    A model gives OOP's shares [169, 169] on one flop after the other, in the order of the set, so
    that no more than one flop has to be in memory.
    """
    sprs = tuple(models)
    pairs = np.zeros((HAND_COUNT, HAND_COUNT))
    totals = np.zeros((len(sprs), HAND_COUNT, HAND_COUNT))
    shares = zip(*models.values(), strict=True)
    for flop, weight, by_model in zip(flops.flops, flops.weights, shares, strict=True):
        weights = weight * hand_pairs(flop.cards)
        pairs += weights
        for model, share in enumerate(by_model):
            totals[model] += weights * share
    return from_totals(sprs, pairs, totals)


def from_totals(sprs: tuple[float, ...], pairs: Floats, totals: Floats) -> PairValues:
    """The values whose sums over pairs of combos are `totals` [M, 169, 169]."""
    met = np.broadcast_to(pairs > 0, totals.shape)
    shares = np.divide(totals, pairs, out=np.full_like(totals, EVEN), where=met)
    scale = preflop_equity().pairs.sum() / pairs.sum()
    return PairValues(sprs, pairs * scale, shares)


class ModelLeaves:
    """`Leaves` of a preflop game that are a table of values; there is nothing to learn below."""

    def __init__(self, chips: Floats) -> None:
        self.chips = chips  # [P, 169, 169]: see `PairValues.chips`

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, 169]: the values against the opponent's reach [P, 169]."""
        del player_reach, hand_mask
        return self.evaluate(player, opponent_reach)

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 169]: the same; the best response has no choice."""
        return self.evaluate(player, opponent_reach)

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 169]: the values against the opponent's reach [P, 169]."""
        # IP wins what OOP loses: his table is the transposed one with the sign changed.
        form, sign = ("pho,po->ph", 1.0) if player == OOP else ("pho,ph->po", -1.0)
        values: Floats = sign * np.einsum(form, self.chips, opponent_reach)
        return values


class PreflopSolver(PreflopTraining):
    """Solves the betting before the flop on the values of models."""

    def __init__(
        self,
        rules: PreflopRules,
        values: PairValues,
        schedule: Schedule,
        lock: tuple[Lock, ...] = (),
    ) -> None:
        refuse_rake(rules)
        self.rules, self.pair_values, self.lock = rules, values, lock
        tree = build_preflop_tree(rules)
        game = PreflopGame.dealt(tree, rules, values.pairs, preflop_locks(tree, lock))
        self.leaves = ModelLeaves(values.chips(game.pots))
        super().__init__(PreflopCfr(game, self.leaves), schedule, None, raked=False)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The settings that a checkpoint must share to be restored."""
        return {
            "game": "preflop",
            "preflop": rules_mapping(self.rules),
            "sprs": list(self.pair_values.sprs),
            "values": self.pair_values.digest,
            "algorithm": str(self.schedule),
            **({"lock": [lock_mapping(lock) for lock in self.lock]} if self.lock else {}),
        }

    @property
    def memory_bytes(self) -> int:
        """Bytes of values, regrets and average strategies."""
        return self.leaves.chips.nbytes + sum(a.nbytes for a in self.preflop.state().values())


def refuse_rake(rules: PreflopRules) -> None:
    """Models of flops know no rake, and half of a rake would be wrong."""
    if rules.rake > 0:
        raise InputError(
            f"rake {rules.rake:g}: models of single flops are solved without rake; set rake to 0, "
            "or solve preflop and flops as one game, where every pot is raked"
        )
