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
4. `play_separated` puts both into a `WholeGameSolver`, whose exploitability is what a player loses
by playing this way: the gain from solving one game. Where the trees differ, lines are matched as in
   `betting.tree_matching`. `resolve_flops` instead solves the flops again, for the ranges that the
   preflop solution sends there.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import (
    CHIPS_PER_POT,
    OOP,
    FlopPot,
    Player,
    PreflopRules,
    build_preflop_tree,
    match_trees,
    matched_strategy,
)
from allstreets.cards import HAND_COUNT, FlopSet, hand_pairs, preflop_equity
from allstreets.cfr import Schedule
from allstreets.engines import EvaluatesPairs
from allstreets.games import (
    Lock,
    PotGame,
    PreflopGame,
    Strategies,
    WholeGame,
    lock_mapping,
    model_stack,
    preflop_locks,
    rules_mapping,
)
from allstreets.solvers.flops import FlopsSolver
from allstreets.solvers.preflop import PreflopCfr
from allstreets.solvers.whole_game import PreflopTraining, WholeGameSolver

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
    gaps = [(max(spr / one, one / spr), one, place) for place, one in enumerate(sprs)]
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

    @property
    def pot_sprs(self) -> tuple[tuple[float, float], ...]:
        """(its own SPR, that of its model) of every pot that sees a flop."""
        values = self.pair_values
        pots = self.preflop.game.pots
        return tuple((pot.spr, values.sprs[values.model_of(pot)]) for pot in pots)


def refuse_rake(rules: PreflopRules) -> None:
    """Models of flops know no rake, and half of a rake would be wrong."""
    if rules.rake > 0:
        raise InputError(
            f"rake {rules.rake:g}: models of single flops are solved without rake; set rake to 0, "
            "or solve preflop and flops as one game, where every pot is raked"
        )


def own_models(game: WholeGame) -> tuple[PotGame, ...]:
    """The game's pots, those with the same rules once; the values ignore antes."""
    refuse_rake(game.preflop)
    pots = (game.after_the_flop(replace(pot.pot, bb_ante=0)) for pot in game.pots)
    return tuple({pot.rules: pot for pot in pots}.values())


def models_at(game: WholeGame, sprs: Sequence[float]) -> tuple[PotGame, ...]:
    """The postflop game at each of these SPRs, with the sizes of `game`."""
    refuse_rake(game.preflop)
    return tuple(
        game.after_the_flop(FlopPot(0, CHIPS_PER_POT, model_stack(spr), 0, f"spr{spr:.12g}"))
        for spr in sprs
    )


def model_values(models: FlopsSolver) -> PairValues:
    """The values of pairs of hands after the flop under the average strategies of solved flops."""

    def shares(number: int, pot: PotGame) -> Iterator[Floats]:
        for flop in range(models.engine.flops):
            assert isinstance(models.engine, EvaluatesPairs)
            (won,) = models.engine.pair_values(number, np.array([flop]))
            yield EVEN + won.astype(np.float64) / pot.pot.pot

    by_spr: dict[float, Iterator[Floats]] = {}
    for number, pot in enumerate(models.pots):
        by_spr.setdefault(pot.pot.spr, shares(number, pot))  # `nearest_spr` takes the first as well
    return mean_over_flops(models.flops, by_spr)


def play_preflop(unified: WholeGameSolver, preflop: Strategies) -> None:
    """Let the averages before the flop be `preflop`."""
    for node, strategy in preflop.items():
        unified.preflop.sums[node][...] = strategy


def play_separated(unified: WholeGameSolver, preflop: Strategies, models: FlopsSolver) -> None:
    """Let the averages be `preflop` before the flop and those of the nearest model after it.

    The solver is only for evaluating then: its regrets are not those of these strategies. Its flops
    must be those of the models.
    """
    play_preflop(unified, preflop)
    engine = unified.engine
    sprs = [pot.pot.spr for pot in models.pots]
    for place, pot in enumerate(unified.game.pots):
        model = nearest_spr(sprs, pot.pot.spr)
        matches = match_trees(pot.tree, models.pots[model].tree)
        for flop in range(engine.flops):
            at = partial(models.engine.average, model, flop)
            for node, match in matches.items():
                hands = engine.average(place, flop, node).shape[1]
                strategy = matched_strategy(pot.tree, node, match, at, hands)
                engine.set_average(place, flop, node, strategy)


def resolve_flops(unified: WholeGameSolver, preflop: Strategies, iterations: int) -> None:
    """Let the averages be `preflop` before the flop and solve all flops for its ranges."""
    play_preflop(unified, preflop)
    reach = unified.preflop.pot_reach(preflop)
    unified.leaves.visit_all()
    for _ in range(iterations):
        for player in Player:
            unified.leaves.step(player, reach[player], reach[player.opponent])
