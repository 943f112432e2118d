"""The pots that see a flop, as leaves of the preflop tree: every flop's subgames, summed by weight.

`VisitPlan` says which flops an iteration visits. An *epoch* visits flops in batches, each for some
iterations. When shuffled, an epoch is a random order of all flops, cut into batches, so that each
flop comes once. When drawn by reach, every batch is drawn again, and flops that more pairs of hands
see under the current strategy are likelier. Both ways the chance of every flop to be in the batch
is known, which keeps the estimates unbiased. A draw depends only on the seed and the numbers of
epoch and batch.

`SubgameLeaves` keeps the last values v_f of every flop as a baseline. With batch B the estimate is

    Σ_f w_f · v_f + Σ_{f ∈ B} (w_f / chance_f) · (new_f − v_f)

which is exact where all flops are visited.

Where the values of the subgames are known to be off (`calibration`), `corrections` are added.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError, Longs, Singles
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.cfr import IterationWeights, Pruning, Schedule
from allstreets.engines import AnyValues, Engine, Flops, Restarts
from allstreets.solvers.kernels.preflop_pass import add_weighted

Choice = Literal["shuffled", "reach"]


@dataclass(frozen=True)
class VisitPlan:
    """The order in which flops are visited; a `size` of 0 means all of them, always."""

    size: int = 0
    iterations: int = 1  # of a batch
    choice: Choice = "shuffled"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.size < 0 or self.iterations < 1:
            raise InputError(
                f"flop_batch_size is {self.size} and iterations_per_batch {self.iterations}: "
                "the first must not be negative (0 = all flops), the second at least 1"
            )

    def visits_all(self, flops: int) -> bool:
        """Whether every iteration visits every flop."""
        return self.size == 0 or self.size >= flops

    def batches(self, flops: int) -> int:
        """Batches of an epoch."""
        return 1 if self.visits_all(flops) else -(-flops // self.size)

    def epoch_iterations(self, flops: int) -> int:
        """Iterations of an epoch."""
        return self.batches(flops) * self.iterations

    def position(self, iteration: int, flops: int) -> tuple[int, int, bool]:
        """The position of an iteration, from 0: (epoch, batch, whether the batch begins)."""
        done, within = divmod(iteration, self.epoch_iterations(flops))
        batch, inner = divmod(within, self.iterations)
        return done, batch, inner == 0

    def draw(self, epoch: int, batch: int, shares: Floats) -> tuple[Longs, Floats]:
        """(flops, chances) of a batch; `shares` [F] are the target chances, by reach."""
        flops = len(shares)
        if self.visits_all(flops):
            return np.arange(flops), np.ones(flops)
        if self.choice == "shuffled":
            order = np.random.default_rng([self.seed, epoch]).permutation(flops)
            chosen = np.sort(order[batch * self.size : (batch + 1) * self.size])
            return chosen, np.full(len(chosen), len(chosen) / flops)
        chances = inclusion_chances(shares, self.size)
        generator = np.random.default_rng([self.seed, epoch, batch])
        chosen = systematic_sample(chances, generator)
        return chosen, chances[chosen]


def inclusion_chances(shares: Floats, size: int) -> Floats:
    """[F] chances, in proportion to `shares`, at most 1 and `size` in all.

    A flop that no hand reaches keeps a small chance, so that its values are never frozen.
    """
    wanted = np.maximum(shares, 0.05 * shares.mean() if shares.any() else 1.0)
    chances = np.zeros(len(wanted))
    free = np.ones(len(wanted), bool)
    while True:
        left = size - float((~free).sum())
        chances[free] = wanted[free] * left / wanted[free].sum()
        above = free & (chances >= 1.0)
        if not above.any():
            return chances
        chances[above] = 1.0
        free &= ~above


def systematic_sample(chances: Floats, generator: np.random.Generator) -> Longs:
    """Flops, each with exactly its chance: a comb of unit steps laid over them in random order."""
    order = generator.permutation(len(chances))
    ends = np.cumsum(chances[order])
    teeth = np.arange(generator.random(), ends[-1], 1.0)
    return np.unique(order[np.searchsorted(ends, teeth, side="right")])


class SubgameLeaves:
    """`Leaves` of a preflop game that are real subgames, flop by flop.

    `weights` [F] say how often each flop comes; they are scaled so that as many pairs of combos are
    dealt as before the flop, which `pairs` counts.
    """

    def __init__(
        self,
        engine: Engine,
        weights: Floats,
        pairs_in_all: float,
        schedule: Schedule,
        pruning: Pruning | None = None,
    ) -> None:
        self.engine, self.schedule, self.pruning = engine, schedule, pruning
        pairs = engine.dealt.sum(weights)
        scale = pairs_in_all / float(pairs.sum())
        self.weights, self.pairs = weights * scale, pairs * scale
        shape = (2, engine.pots, engine.flops, HAND_COUNT)
        self.last: list[AnyValues] = [*np.zeros(shape, np.float32)]  # v_f, by player: [P, F, 169]
        self.totals = np.zeros((2, engine.pots, HAND_COUNT))  # Σ_f w_f · v_f
        self.visits = np.zeros(engine.flops, np.int64)
        self._visit_weights = [0.0]
        self._latest: dict[int, IterationWeights] = {}
        self.corrections: Floats | None = None  # [2, P, 169] chips for each opposing combo
        self.visit_all()

    def visit_all(self) -> None:
        """Let the next iterations visit every flop."""
        self.visit(self._all, np.ones(self.engine.flops))

    def visit(self, flops: Flops, chances: Floats) -> None:
        """Let the next iterations visit some flops, which were drawn with these chances."""
        self._flops, self._chances = flops, chances

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, 169]: a half-iteration on the flops that are visited; an unbiased estimate.

        The values of hands outside `hand_mask` [P, 169] stay what they were.
        """
        flops = self._flops
        if player == Player.OOP:
            if isinstance(self.engine, Restarts) and not self.engine.persists(flops):
                self.visits[flops] = 0
            self.visits[flops] += 1  # both halves of an iteration are one visit
        now = self._iteration_weights(self.visits[flops])
        new = self.engine.step(player, player_reach, opponent_reach, flops, now, hand_mask)
        if hand_mask is not None:
            new = np.where(hand_mask[:, None], new, self._last_here(player)[:, flops])
        weights = self.weights[flops]
        if len(flops) == self.engine.flops:
            self.totals[player] = _weighted(weights, new)
            # Copied and fetched only where necessary: it takes long for all flops.
            if not np.array_equal(flops, self._all):
                new = np.asarray(new)[:, np.argsort(flops)]
            if isinstance(new, np.ndarray):
                new = new.astype(np.float32, copy=False)
            self.last[player] = new
            estimate: Floats = self.totals[player].copy()
        else:
            last, here = self._last_here(player), np.asarray(new)
            change = here - last[:, flops]
            estimate = self.totals[player] + _weighted(weights / self._chances, change)
            self.totals[player] += _weighted(weights, change)
            last[:, flops] = here
        return self._corrected(player, opponent_reach, estimate)

    def _last_here(self, player: Player) -> Singles:
        """[P, F, 169]: v_f in the memory of this process, where they may be changed."""
        values: Singles = np.asarray(self.last[player], np.float32)
        self.last[player] = values
        return values

    def _iteration_weights(self, visits: Longs) -> list[IterationWeights]:
        """[K]: the weights of an iteration on each flop, by its number of visits."""
        first = visits[:1]
        if (visits == first).all():
            return [self._at(visit) for visit in first.tolist()] * len(visits)
        distinct, indices = np.unique(visits, return_inverse=True)
        by_visit = [self._at(visit) for visit in distinct.tolist()]
        return [by_visit[index] for index in indices.tolist()]

    def _at(self, visit: int) -> IterationWeights:
        """The weights of an iteration at a visit; both of its halves ask for them."""
        if visit not in self._latest:
            self._latest = {visit: self.schedule.at(visit, self.pruning)}
        return self._latest[visit]

    def visit_weights(self) -> Floats:
        """[F]: the weight of its visits that each flop's positive regrets still carry."""
        known, most = self._visit_weights, int(self.visits.max())
        for now in self.schedule.run(len(known), max(0, most + 1 - len(known))):
            known.append(known[-1] * now.positive + 1.0)
        return np.array(known)[self.visits]

    def regret_sums(self) -> tuple[float, float, int]:
        """(Σ of positive regrets per visit, the largest, how many) of the flops that were visited.

        In chips times pairs of combos. A hand or an action that a visit has left out counts as
        visited without regret.
        """
        flops = np.flatnonzero(self.visits)
        sums = self.engine.regret_sums(flops)
        per_visit = self.weights[flops] / self.visit_weights()[flops]
        largest = float((sums.largest * per_visit).max(initial=0.0))
        return float((sums.total * per_visit).sum()), largest, int(sums.entries.sum())

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 169]: values of the best response to the average strategies, on all flops."""
        best = self.sum_flops(self.engine.best_response(player, opponent_reach, self._all))
        return self._corrected(player, opponent_reach, best)

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 169]: values of the average strategies, on all flops."""
        own = self.sum_flops(self.engine.evaluate(player, opponent_reach, self._all))
        return self._corrected(player, opponent_reach, own)

    def _corrected(self, player: Player, opponent_reach: Floats, values: Floats) -> Floats:
        """[P, 169]: values of all flops with the corrections."""
        if self.corrections is None:
            return values
        corrected: Floats = values + self.corrections[player] * (opponent_reach @ self.pairs)
        return corrected

    def corrected_flops(self, reach: Floats, values: Floats, flops: Flops) -> Floats:
        """[2, P, K, 169]: values of both players on K flops, with the corrections."""
        if self.corrections is None:
            return values
        dealt, opponent = self.engine.dealt, reach[::-1]
        met = np.stack([dealt.met(flop, opponent) for flop in flops.tolist()], axis=2)
        corrected: Floats = values + self.corrections[:, :, None] * met
        return corrected

    @property
    def _all(self) -> Flops:
        return np.arange(self.engine.flops)

    def sum_flops(self, values: Floats) -> Floats:
        """[P, 169]: the sum of values by flop [P, F, 169]."""
        return _weighted(self.weights, values)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""
        return {
            "leaves.last": np.stack([self._last_here(player) for player in Player]),
            "leaves.totals": self.totals,
            "leaves.visits": self.visits,
            **({} if self.corrections is None else {"leaves.corrections": self.corrections}),
            **self.engine.state(),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same leaves."""
        self.last = list(np.array(state["leaves.last"], np.float32))
        self.totals[...] = state["leaves.totals"]
        self.visits[...] = state["leaves.visits"]
        if "leaves.corrections" in state:
            self.corrections = np.array(state["leaves.corrections"])
        self.engine.restore(state)


def _weighted(weights: Floats, values: AnyValues) -> Floats:
    """[P, 169]: Σ over flops of weight · values [P, K, 169]."""
    if not isinstance(values, np.ndarray):
        return values.weighted(weights)
    dense = values if values.flags.c_contiguous else values.copy()
    total = np.zeros((values.shape[0], values.shape[2]))
    add_weighted(weights, dense, total)
    return total
