"""One flop at one stack-to-pot ratio, solved by any of the three models.

| model        | a player's cards             | turn and river          | regret minimisation     |
|--------------|------------------------------|-------------------------|-------------------------|
| `exhaustive` | 169 hand classes             | averaged out            | vector CFR, all hands   |
| `bucketed`   | buckets, on each street anew | chances between buckets | vector CFR, all buckets |
| `mccfr`      | 169 hand classes             | dealt, hand by hand     | external sampling       |

Both ranges are full: every combo that fits beside the flop weighs 1. A flop is worked on by one
thread and depends on nothing but its settings, so that many of them can be solved side by side in
any order.

1. Train up to the next check.
2. Compute the true exploitability of the average strategies.
3. Stop when it is small enough, also after the strategies are rounded to what is kept. They are
   kept in bytes, or in two each where exploitability would change by more than 5 % (`strategies`).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import Player
from allstreets.cards import Flop, hand_pairs
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import Multipliers, Schedule, tuned
from allstreets.solvers.flops.game import FlopGame
from allstreets.solvers.flops.strategies import (
    ONE_BYTE,
    TWO_BYTES,
    FlopStrategies,
    agree,
    decisions,
)
from allstreets.solvers.flops.values import (
    class_values,
    first_stage_values,
    single_stage_values,
)
from allstreets.subgames.buckets import (
    BUCKET_PRESETS,
    BucketCounts,
    BucketModel,
    bucket_stages,
    build_bucket_model,
)
from allstreets.subgames.classes import class_stages
from allstreets.subgames.matrix import MatrixSubgame
from allstreets.subgames.matrix_model import FlopCards, Stage
from allstreets.subgames.sampled import SAMPLE_PCT, SampledSubgame

SolveType = Literal["exhaustive", "bucketed", "mccfr"]

TICK_SECONDS = 0.1  # between two progress records of a flop
CHECK_INTERVAL = 25  # a check costs about as much as two iterations


@dataclass(frozen=True)
class FlopModel:
    """How the cards enter and how regret is minimised."""

    solve_type: SolveType = "exhaustive"
    schedule: Schedule = field(default_factory=tuned)
    pruning: Pruning | None = None
    buckets: BucketCounts = BUCKET_PRESETS["fast"]
    sample_pct: float = SAMPLE_PCT
    seed: int = 1


@dataclass(frozen=True)
class FlopEnds:
    """When a flop is done: the first that holds."""

    iterations: int = 500
    exploitability: float = 0.01  # of the pot; 0: not asked for
    regret: float | None = None  # avg_positive_regret, in pots
    check_interval: int = CHECK_INTERVAL


@dataclass(frozen=True)
class FlopProgress:
    """Where the work on a flop stands."""

    flop: Flop
    spr: float
    iteration: int
    total: int
    exploitability: float | None  # at the latest check, of the pot


@dataclass(frozen=True, eq=False)
class FlopResult:
    """A solved flop. Shares and values are in pots; both players' sum to 1."""

    flop: Flop
    spr: float
    iterations: int
    converged: bool  # whether a threshold was reached before the iterations ran out
    exploitability: float  # of the kept strategies, mean of both players' gains, in pots
    avg_positive_regret: float  # in pots: a trend, not a bound
    evs: tuple[float, float]  # what OOP and IP get on average
    bets: tuple[float, float]  # how often OOP bets at once, and IP after a check
    seconds: float
    strategies: FlopStrategies
    values: NDArray[np.float32]  # [169, 169]: OOP's share when he holds the row, IP the column
    flop_buckets: NDArray[np.int16] | None  # [1326]: where the model has buckets


class Trainer(Protocol):
    """What the models have in common."""

    judge: MatrixSubgame
    """Values average strategies exactly; its own are those that have been trained."""

    def train(self, every: Sequence[Multipliers]) -> None:
        """Iterations of both players, one for each of `every`."""

    def inform(self) -> None:
        """Bring the judge's average strategies up to date."""

    def positive_regret(self) -> float:
        """Σ of positive regrets, in chips times combos of both players."""


class VectorTrainer:
    """Vector CFR: the game judges itself."""

    def __init__(self, judge: MatrixSubgame) -> None:
        self.judge = judge
        hands = len(judge.stages[0].combos)
        self._reach = np.ones(hands), np.ones(hands)

    def train(self, every: Sequence[Multipliers]) -> None:
        """Iterations of both players."""
        self.judge.iterate(self._reach, every)

    def inform(self) -> None:
        """Nothing to do."""

    def positive_regret(self) -> float:
        """Σ of positive regrets."""
        return self.judge.game.regret_sums()[0]


class SampledTrainer:
    """External sampling by hand class; the classes game judges."""

    def __init__(self, sampled: SampledSubgame, judge: MatrixSubgame) -> None:
        self.judge, self._sampled = judge, sampled
        self._reach = np.ones(len(judge.stages[0].combos))

    def train(self, every: Sequence[Multipliers]) -> None:
        """Iterations of both players."""
        for now in every:
            for player in Player:
                self._sampled.step(player, self._reach, self._reach, now)

    def inform(self) -> None:
        """Hand the average strategies over."""
        for node in decisions(self._sampled.tree):
            self.judge.set_average(node, self._sampled.average(node))

    def positive_regret(self) -> float:
        """Σ of positive regrets."""
        return self._sampled.regret_sums()[0]


class Desk:
    """What a thread keeps from flop to flop: laying a tree out can take longer than training it.

    A desk is good for one solver at a time; the next one clears it.
    """

    def __init__(self) -> None:
        self._made: dict[Any, MatrixSubgame] = {}

    def subgame(
        self, game: FlopGame, stages: tuple[Stage, ...], pruning: Pruning | None
    ) -> MatrixSubgame:
        """An untrained game with these cards."""
        hands = tuple(len(stage.combos) for stage in stages)
        made = self._made.get((game, pruning, hands))
        if made is None:
            made = MatrixSubgame(game.tree, game.payoffs, stages, pruning)
            self._made[game, pruning, hands] = made
            return made
        made.stages = stages
        made.game.cards = FlopCards([stages])
        for array in made.state().values():
            array[...] = 0
        return made


class FlopSolver:
    """Solves one flop: `run` does the work, `result` tells what came out."""

    def __init__(
        self, flop: Flop, game: FlopGame, model: FlopModel, desk: Desk | None = None
    ) -> None:
        self._started = time.perf_counter()
        self.flop, self.game, self.model = flop, game, model
        self.iterations = 0
        self.buckets: BucketModel | None = None
        stages: tuple[Stage, ...]
        if model.solve_type == "bucketed":
            self.buckets = build_bucket_model(flop.cards, model.buckets, model.seed)
            stages = bucket_stages(self.buckets)
            self._pairs = stages[0].pairs
        else:
            stages = class_stages(flop.cards)
            self._pairs = hand_pairs(flop.cards).astype(np.float64)
        self.trainer = make_trainer(flop, game, model, stages, desk or Desk())
        self.judge = self.trainer.judge
        self._pots = float(self._pairs.sum()) * game.tree.pot  # one for each pair of combos
        self._reach = np.ones(len(self._pairs))
        self._regret_weight = 0.0
        self._rounded: FlopStrategies | None = None
        self._kept = 0.0  # exploitability of what is rounded
        self._converged = False

    def run(self, ends: FlopEnds) -> Iterator[FlopProgress]:
        """Train until an end is reached; yields a few times a second and at every check.

        How often it yields changes nothing: checks lie at multiples of their interval, and the
        iterations between two of them are the same however they are cut.
        """
        found: float | None = None
        chunk = 1
        while self.iterations < ends.iterations and not self._converged:
            behind = self.iterations % ends.check_interval
            due = min(self.iterations - behind + ends.check_interval, ends.iterations)
            while self.iterations < due:
                count, begun = min(chunk, due - self.iterations), time.perf_counter()
                self._train(count)
                pace = (time.perf_counter() - begun) / count
                chunk = max(1, min(2 * chunk, int(TICK_SECONDS / pace)))
                if self.iterations < due:
                    yield self._progress(ends, found)
            self.trainer.inform()
            found = self.exploitability()
            self._converged = self._is_done(ends, found)
            yield self._progress(ends, found)
        if self._rounded is None:
            self._round(self.exploitability() if found is None else found)

    def exploitability(self) -> float:
        """Mean of both players' best-response gains against the judge's strategies, in pots."""
        return sum(self._gain(player) for player in Player) / 2

    def avg_positive_regret(self) -> float:
        """Σ max(R, 0) / (actions · weight of the iterations), hands weighted by combos, in pots."""
        total = self.trainer.positive_regret()
        return total / (self._pots * self.game.slots * max(self._regret_weight, 1.0))

    def result(self) -> FlopResult:
        """What came out, once `run` has come to its end."""
        if self._rounded is None:
            raise RuntimeError(f"the flop {self.flop.text} is not solved yet")
        value = float(self.judge.evaluate(Player.OOP, self._reach).sum()) / self._pots
        if self.buckets is None:
            values = single_stage_values(
                self._rounded, self.game.payoffs, self._pairs, self.judge.stages[0].margin
            )
        else:
            values = class_values(self.buckets.flop_buckets, first_stage_values(self.judge))
        return FlopResult(
            flop=self.flop,
            spr=self.game.spr,
            iterations=self.iterations,
            converged=self._converged,
            exploitability=self._kept,
            avg_positive_regret=self.avg_positive_regret(),
            evs=(0.5 + value, 0.5 - value),
            bets=self._rounded.bet_frequencies(self._pairs),
            seconds=time.perf_counter() - self._started,
            strategies=self._rounded,
            values=values.astype(np.float32),
            flop_buckets=None if self.buckets is None else self.buckets.flop_buckets,
        )

    def _train(self, count: int) -> None:
        every = self.model.schedule.run(self.iterations + 1, count)
        self.trainer.train(every)
        for now in every:
            self._regret_weight = now.positive * self._regret_weight + 1.0
        self.iterations += count

    def _gain(self, player: Player) -> float:
        return float(self.judge.best_response(player, self._reach).sum()) / self._pots

    def _is_done(self, ends: FlopEnds, found: float) -> bool:
        """Whether a threshold holds; that of exploitability must survive the rounding."""
        if found <= ends.exploitability:
            sums = [array.copy() for pair in self.judge.game.averages for array in pair]
            self._round(found)
            if self._kept <= ends.exploitability:
                return True
            self._rounded = None
            for kept, array in zip(
                sums, (array for pair in self.judge.game.averages for array in pair), strict=True
            ):
                array[...] = kept
        return ends.regret is not None and self.avg_positive_regret() <= ends.regret

    def _round(self, trained: float) -> None:
        """Let the judge play the strategies as they are kept, as finely as that asks for."""
        nodes = decisions(self.game.tree)
        streets = tuple(stage.streets for stage in self.judge.stages)
        averages = [self.judge.average(node) for node in nodes]
        for numbers in (ONE_BYTE, TWO_BYTES):
            self._rounded = FlopStrategies.pack(self.game.tree, streets, averages, numbers)
            for node in nodes:
                self.judge.set_average(node, self._rounded.at(node))
            self._kept = self.exploitability()
            if agree(self._kept, trained):
                return

    def _progress(self, ends: FlopEnds, found: float | None) -> FlopProgress:
        return FlopProgress(self.flop, self.game.spr, self.iterations, ends.iterations, found)


def make_trainer(
    flop: Flop, game: FlopGame, model: FlopModel, stages: tuple[Stage, ...], desk: Desk
) -> Trainer:
    """What minimises regret in the game of these stages."""
    if model.solve_type != "mccfr":
        return VectorTrainer(desk.subgame(game, stages, model.pruning))
    sampled = SampledSubgame(
        game.tree, game.payoffs, flop.cards, model.sample_pct, model.seed, model.pruning
    )
    return SampledTrainer(sampled, desk.subgame(game, stages, None))


def solve_flop(
    flop: Flop, game: FlopGame, model: FlopModel | None = None, ends: FlopEnds | None = None
) -> FlopResult:
    """Solve a flop to its end."""
    solver = FlopSolver(flop, game, model or FlopModel())
    for _ in solver.run(ends or FlopEnds()):
        pass
    return solver.result()
