"""The unified solver: one game from the first preflop action to the river.

    for t in 1, 2, …:                                                       `PreflopTraining`
        for player in (OOP, IP):                                            `PreflopCfr.step`
            1. forward through the preflop tree: both players' reach [169] at every pot
            2. into every flop's subgames, which are stepped; values come back,
               summed over the flops by weight                              `SubgameLeaves.step`
            3. backward through the preflop tree: regrets and averages are updated

Every pot that sees a flop has its own subgames, and their regrets persist. So the ranges that
reach a flop are those that the preflop strategy sends there. Exploitability is that of the whole
game, by a best response through every flop.

Four optional hooks act between iterations, each an object with `before(iteration)`: batches
of flops (`FlopBatches`), hands that are dropped where they do not play (`HandDropping`), hands
that are bucketed again as ranges move (`rebucketing`), and values of pots that are compared with
exact ones (`calibration`).

CFR: Zinkevich et al. 2007; alternating updates and discounts: Tammelin 2014, Brown & Sandholm 2019.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Place
from allstreets.betting import BIG_BLINDS, CHIPS_PER_BB, Player, action_text, line_text
from allstreets.cards import HAND_NAMES, preflop_equity, subset_flops
from allstreets.cfr import Metrics, Pruning, Schedule
from allstreets.engines import (
    CLASSES,
    CPU,
    CardModel,
    DeviceUse,
    DropsHands,
    Engine,
    Flops,
    Restarts,
    ShardedEngine,
    checked_pruning,
)
from allstreets.games import Strategies, WholeGame, game_identity
from allstreets.solvers.calibration import Calibrating, Calibration
from allstreets.solvers.dropping import HandDropping, Review
from allstreets.solvers.leaves import SubgameLeaves, VisitPlan
from allstreets.solvers.preflop import PreflopCfr
from allstreets.solvers.rebucketing import Rebucketing

MBB_PER_CHIP = 1000 / CHIPS_PER_BB
FIRST_ITERATIONS, FIRST_FLOPS = 100, 25  # of the rough solve that gives the first ranges


RegretSums = tuple[float, float, int]
"""(Σ of positive regrets, the largest, how many), in chips times pairs of combos."""


class IterationHook(Protocol):
    """An optional step between iterations."""

    def before(self, iteration: int) -> None:
        """Called before an iteration; they are counted from 0 here."""


class PreflopTraining(ABC):
    """Training, evaluating, storing and restoring a preflop tree with leaves of some kind.

    Below the tree are the subgames of every flop (`WholeGameSolver`), or tables of values
    (`separated`). Figures are in thousandths of a big blind per hand.
    """

    hooks: tuple[IterationHook, ...] = ()

    def __init__(
        self, preflop: PreflopCfr, schedule: Schedule, pruning: Pruning | None, *, raked: bool
    ) -> None:
        self.preflop, self.schedule, self.pruning = preflop, schedule, pruning
        self._raked = raked
        self._iterations = 0
        self._regret_weight = 0.0  # the weight of all iterations in the positive regrets

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more; after each ask `callback` whether to stop."""
        for _ in range(iterations):
            for device in self.hooks:
                device.before(self._iterations)
            weights = self.schedule.at(self._iterations + 1, self.pruning)
            for player in Player:
                self.preflop.step(player, weights)
            self._iterations += 1
            self._regret_weight = self._regret_weight * weights.positive + 1.0
            if callback is not None and callback(self._iterations):
                return

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """The settings that a checkpoint must share to be restored; threads may differ."""

    @property
    @abstractmethod
    def memory_bytes(self) -> int:
        """Bytes of the arrays that grow with the game."""

    @property
    def unit(self) -> str:
        """Exploitability and regrets are in thousandths of a big blind per hand."""
        return "mbb/hand"

    @property
    def iterations(self) -> int:
        """Iterations done so far; one updates both players."""
        return self._iterations

    @property
    def can_evaluate(self) -> bool:
        """Whether all strategies are stored, as a best response needs."""
        return True

    @property
    def _sums_to_zero(self) -> bool:
        """Whether a player wins what the other loses; not so under rake."""
        return not self._raked

    def exploitability(self) -> float | None:
        """Mean of both players' best-response gains in the whole game, in mbb/hand."""
        if not self.can_evaluate:
            return None
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        gain = 0.0
        for player in Player:
            # Where the results do not cancel, a gain is what the best response adds.
            for best in (True,) if self._sums_to_zero else (True, False):
                run = self.preflop.leaves.best_response if best else self.preflop.leaves.evaluate
                leaves = run(player, reach[player.opponent])
                mean = self._mean(player, leaves, average, best=best)
                gain += mean if best else -mean
        return max(gain / 2, 0.0)

    def _mean(self, player: Player, leaves: Floats, average: Strategies, *, best: bool) -> float:
        """A player's result in mbb/hand when his pots that see a flop are worth `leaves`."""
        values = self.preflop.values(player, leaves, best=best, strategies=average)
        return float(values[0].sum()) / self.preflop.game.weight * MBB_PER_CHIP

    @property
    def avg_positive_regret(self) -> float | None:
        """Mean positive regret per entry and iteration, in mbb/hand; None: not known."""
        return self._regret_figures()[0]

    def _regret_sums(self) -> list[RegretSums] | None:
        """The regrets of the parts of the game, each per iteration in which it took part.

        None: regrets do not measure the quality of play.
        """
        total, largest, entries = self.preflop.regret_sums()
        weight = self._regret_weight or 1.0  # an untrained tree has no regrets to divide
        return [(total / weight, largest / weight, entries)]

    def _regret_figures(self) -> tuple[float | None, float | None]:
        """(mean positive regret, largest regret) per iteration, in mbb/hand."""
        parts = self._regret_sums()
        if parts is None:
            return None, None
        scale = self.preflop.game.weight / MBB_PER_CHIP
        total, entries = sum(part[0] for part in parts), sum(part[2] for part in parts)
        return total / max(entries, 1) / scale, max(part[1] for part in parts) / scale

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """Convergence figures, in mbb/hand."""
        mean, largest = self._regret_figures()
        return Metrics(
            exploitability=self.exploitability() if exploitability else None,
            avg_positive_regret=mean,
            max_regret=largest,
            strategy_entropy=self._entropy(),
        )

    def _entropy(self) -> float:
        """Mean entropy of the preflop strategies, 0 (pure) to 1 (even)."""
        entropies = []
        for chances in self.preflop.average().values():
            if len(chances) == 1:  # nothing is chosen there
                continue
            logs = np.log(np.where(chances > 0, chances, 1.0))
            entropies.append(-(chances * logs).sum(axis=0) / np.log(len(chances)))
        return float(np.concatenate(entropies).mean()) if entropies else 0.0

    def strategies(self) -> Mapping[str, Mapping[str, float]]:
        """The average strategy before the flop: "line: hand" → action → probability."""
        tree = self.preflop.game.tree
        strategies: dict[str, dict[str, float]] = {}
        for node, chances in self.preflop.average().items():
            names = [action_text(action, BIG_BLINDS) for action in tree.actions_at(node)]
            for hand, name in enumerate(HAND_NAMES):
                key = f"{line_text(tree, node, notation=BIG_BLINDS)}: {name}".strip()
                strategies[key] = dict(zip(names, chances[:, hand].tolist(), strict=True))
        return strategies

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        progress = np.array([float(self._iterations), self._regret_weight])
        return {"progress": progress, **self.preflop.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same game."""
        self._iterations = int(state["progress"][0])
        self._regret_weight = float(state["progress"][1])
        self.preflop.restore(state)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The values of pots on every flop against the opponent's average strategy.

    [2, P, F, 169] in chips times pairs of combos; the first axis is the player who holds the hands.
    """

    best: Floats  # of best responses
    own: Floats  # of the average strategies


@dataclass(frozen=True, eq=False)
class WholeGameFigures:
    """The quality of a solution, in mbb/hand unless stated otherwise; `None`: not known."""

    exploitability: float | None  # of the whole game
    preflop_exploitability: float | None  # best response before the flop, averages after it
    values: tuple[float, float] | None  # of the game for OOP (big blind) and IP (small blind)
    flop_exploitability: Floats | None  # [F], % of the mean pot, given the ranges that get there
    flop_shares: Floats  # [F] of all hands that see a flop under the average strategy


class FlopBatches:
    """Chooses the flops that the next iterations visit."""

    def __init__(self, plan: VisitPlan, leaves: SubgameLeaves, preflop: PreflopCfr) -> None:
        self.plan, self.leaves, self.preflop = plan, leaves, preflop
        flops = leaves.engine.flops
        self.shares = np.ones(flops) / flops  # of the epoch: how flops are drawn

    def before(self, iteration: int) -> None:
        """Draw a batch where one begins."""
        epoch, batch, begins = self.plan.position(iteration, len(self.shares))
        if begins:
            if batch == 0 and self.plan.choice == "reach":
                self.shares = self.flop_shares(self.preflop.current())
            self.leaves.visit(*self.plan.draw(epoch, batch, self.shares))

    def flop_shares(self, strategies: Strategies) -> Floats:
        """[F]: the share of each flop in the pairs of hands that see one under `strategies`.

        A flop's weight times both players' reach times the combos that fit beside each other.
        """
        reach = self.preflop.pot_reach(strategies)
        seen = np.zeros(len(self.shares))
        for oop, ip in zip(reach[0], reach[1], strict=True):
            seen += self.leaves.weights * self.leaves.engine.dealt.reached(oop, ip)
        total = seen.sum()
        return seen / total if total > 0 else np.ones(len(seen)) / len(seen)

    def restore(self, state: Mapping[str, NDArray[Any]], iterations: int) -> None:
        """Resume in the batch of the last iteration."""
        self.shares = np.array(state["shares"])
        if iterations:
            epoch, batch, _ = self.plan.position(iterations - 1, len(self.shares))
            self.leaves.visit(*self.plan.draw(epoch, batch, self.shares))


class DroppedHands:
    """Closes actions before the flop that are not played, and stores no hands below them."""

    def __init__(self, leaves: SubgameLeaves, preflop: PreflopCfr, every: int) -> None:
        engine = leaves.engine
        if not isinstance(engine, DropsHands) or not engine.can_drop_hands:
            raise InputError(
                f"drop_unplayed_every: {engine.model} stores all hands of every pot; leave it out, "
                "or use cards: classes with memory resident or memmap"
            )
        self.leaves, self.preflop, self.engine = leaves, preflop, engine
        self.actions = HandDropping(preflop, every)
        self.last_review: Review | None = None

    def before(self, iteration: int) -> None:
        """Review the actions if it is time, and watch the coming iteration."""
        if self.actions.is_due(iteration):
            self.review()
        self.actions.watch()

    def review(self) -> None:
        """Close and open actions before the flop, and store the hands that are open."""
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        best = []
        for player in Player:
            leaves = self.leaves.best_response(player, reach[player.opponent])
            best.append(self.preflop.values(player, leaves, best=True, strategies=average))
        self.last_review = self.actions.review(np.array(best))
        self.store_open_hands()

    def store_open_hands(self) -> None:
        """Let the engine store the hands that may play to a pot, and no others."""
        self.engine.keep_hands(self.actions.open_hands())

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Make the arrays that a state is restored into."""
        self.actions.restore(state)
        self.store_open_hands()


class WholeGameSolver(PreflopTraining):
    """Solves a whole game; can be trained in batches, evaluated, stored and restored."""

    def __init__(
        self,
        game: WholeGame,
        engine: Engine,
        schedule: Schedule,
        batches: VisitPlan | None = None,
        pruning: Pruning | None = None,
        drop_unplayed_every: int = 0,
        regroup: int = 0,
        tremble: float = 0.0,
        calibration: Calibration | None = None,
    ) -> None:
        pruning = checked_pruning(pruning, schedule)
        self.game, self.batches = game, batches or VisitPlan()
        whole_deck = preflop_equity().pairs
        everyone = float(whole_deck.sum())
        self.leaves = SubgameLeaves(engine, game.flops.weights, everyone, schedule, pruning)
        # Where no flop is seen (push or fold), the set of flops does not affect the deal.
        pairs = self.leaves.pairs if game.pots else whole_deck.astype(np.float64)
        preflop = PreflopCfr(game.before_the_flop(pairs), self.leaves, tremble)
        super().__init__(preflop, schedule, pruning, raked=game.preflop.rake > 0)
        every = drop_unplayed_every
        self.dropping = DroppedHands(self.leaves, preflop, every) if every else None
        self.rebucketing = Rebucketing(engine, preflop, self.batches, regroup)
        self.flop_batches = FlopBatches(self.batches, self.leaves, preflop)
        dropping = () if self.dropping is None else (self.dropping,)
        self.calibration = calibration
        calibrating = () if calibration is None else (Calibrating(self, calibration),)
        self.hooks = (*dropping, self.rebucketing, *calibrating, self.flop_batches)

    @property
    def device_use(self) -> DeviceUse | None:
        """The subgames' use of a GPU; None: they are not on one."""
        use: DeviceUse | None = getattr(self.engine, "device_use", None)
        return use

    @property
    def write_elsewhere(self) -> Callable[[Place], Mapping[str, str]] | None:
        """Writes the part of the state that is on other machines; None: all of it is here."""
        return self.engine.write_state if isinstance(self.engine, ShardedEngine) else None

    @property
    def engine(self) -> Engine:
        """The subgames of all pots on all flops."""
        return self.leaves.engine

    @property
    def identity(self) -> Mapping[str, Any]:
        """The settings that a checkpoint must share to be restored; threads may differ."""
        return {**game_identity(self.game), **self._settings}

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "cards": self._cards,
            "algorithm": str(self.schedule),
            "batches": [self.batches.size, self.batches.iterations, self.batches.choice],
            "seed": self.batches.seed,
            "pruning": self.pruning.facts() if self.pruning else None,
            **({"close_after": self.dropping.actions.after} if self.dropping else {}),
            **({"regroup": self.rebucketing.times} if self.rebucketing.times else {}),
            **({"tremble": self.preflop.tremble} if self.preflop.tremble else {}),
            **self._calibration_facts,
        }

    @property
    def _calibration_facts(self) -> dict[str, Any]:
        plan = self.calibration
        if plan is None:
            return {}
        over = [plan.over] if plan.over != "own" else []
        return {"calibrate": [plan.flops, plan.iteration, *over]}

    @property
    def _sums_to_zero(self) -> bool:
        """Whether a player wins what the other loses; corrections break that."""
        return super()._sums_to_zero and self.leaves.corrections is None

    @property
    def _cards(self) -> str:
        return f"{self.engine.model}" if self.can_evaluate else f"{self.engine.model}, values only"

    @property
    def epoch(self) -> int:
        """Epochs done so far."""
        return self._iterations // self.batches.epoch_iterations(self.engine.flops)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return self.engine.memory_bytes

    @property
    def saved_bytes(self) -> int:
        """The bytes saved, compared with storing all hands of all pots."""
        return self.engine.saved_bytes if isinstance(self.engine, DropsHands) else 0

    def flop_shares(self, strategies: Strategies) -> Floats:
        """[F]: the share of each flop in all hands that see one (`FlopBatches`)."""
        return self.flop_batches.flop_shares(strategies)

    def evaluate(self, flops: Flops | None = None) -> Evaluation:
        """Evaluate the average strategies in every pot, on all flops or on some of them."""
        chosen = np.arange(self.engine.flops) if flops is None else flops
        reach = self.preflop.pot_reach(self.preflop.average())
        best, own = (
            np.stack([run(player, reach[player.opponent], chosen) for player in Player])
            for run in (self.engine.best_response, self.engine.evaluate)
        )
        return self.corrected(Evaluation(best, own), chosen)

    def corrected(self, evaluation: Evaluation, flops: Flops) -> Evaluation:
        """The values of the engine on some flops, with the corrections if there are any."""
        reach = self.preflop.pot_reach(self.preflop.average())
        best, own = (
            self.leaves.corrected_flops(reach, values, flops)
            for values in (evaluation.best, evaluation.own)
        )
        return Evaluation(best, own)

    def figures(self, evaluation: Evaluation | None = None) -> WholeGameFigures:
        """All figures of the average strategies, or of those that were evaluated.

        The betting before the flop is that of the average strategies in either case.
        """
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        shares = self.flop_shares(average)
        if not self.can_evaluate:
            return WholeGameFigures(None, None, None, None, shares)
        evaluated = evaluation or self.evaluate()
        best, kept, preflop = np.zeros((3, 2))
        for player in Player:
            freely, below = (
                self.leaves.sum_flops(values[player]) for values in (evaluated.best, evaluated.own)
            )
            best[player] = self._mean(player, freely, average, best=True)
            preflop[player] = self._mean(player, below, average, best=True)
            kept[player] = self._mean(player, below, average, best=False)
        gains = np.einsum("aph,apkh->k", reach, evaluated.best - evaluated.own)
        at_stake = np.zeros(self.engine.flops)
        for pot, own, other in zip(self.game.pots, reach[0], reach[1], strict=True):
            at_stake += pot.pot.pot * self.engine.dealt.reached(own, other)
        by_flop = np.divide(50 * gains, at_stake, out=np.zeros_like(gains), where=at_stake > 0)
        return WholeGameFigures(
            exploitability=max(float((best - kept).sum()) / 2, 0.0),
            preflop_exploitability=max(float((preflop - kept).sum()) / 2, 0.0),
            values=(float(kept[0]), float(kept[1])),
            flop_exploitability=np.maximum(by_flop, 0.0),
            flop_shares=shares,
        )

    @property
    def can_evaluate(self) -> bool:
        """Whether the strategies of all flops are stored, as a best response needs."""
        every = np.arange(self.engine.flops)
        return not isinstance(self.engine, Restarts) or self.engine.persists(every)

    def _regret_sums(self) -> list[RegretSums] | None:
        above = super()._regret_sums()
        # Games that restart with every batch have small regrets even when they are played badly.
        if above is None or not self.can_evaluate:
            return None
        return [*above, self.leaves.regret_sums()]

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        dropping = self.dropping.actions.state() if self.dropping else {}
        shares = {"shares": self.flop_batches.shares}
        return {**super().state(), **dropping, **shares, **self.leaves.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same game."""
        super().restore(state)
        if self.dropping is not None:
            self.dropping.restore(state)
        self.leaves.restore(state)
        self.flop_batches.restore(state, self._iterations)


def first_ranges(
    game: WholeGame,
    schedule: Schedule,
    threads: int = 1,
    model: CardModel = CLASSES,
    iterations: int = FIRST_ITERATIONS,
    ranges: Floats | None = None,
    device: str = CPU,
) -> Floats:
    """[2, P, 169]: both players' rough reach at the pots: a quick solve on a few flops.

    With hand classes, or with another model, whose buckets are made for `ranges` [2, P, 169].
    """
    game = game.roughly
    if len(game.flops.flops) > FIRST_FLOPS:
        game = replace(game, flops=subset_flops(FIRST_FLOPS))
    spec = game.engine(model, threads=threads, ranges=ranges, device=device)
    solver = WholeGameSolver(game, game.build(spec), schedule)
    solver.train_batch(iterations)
    reach: Floats = solver.preflop.pot_reach(solver.preflop.average())
    return reach
