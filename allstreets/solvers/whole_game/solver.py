"""The unified solver: one game from the first preflop action to the river.

    for t in 1, 2, …: for player in (OOP, IP):
        both players' reach [169] goes down the preflop tree and into every flop's subgames
        values come back, summed over the flops, and regrets are updated on the way

Every pot that sees a flop has subgames of its own, and their regrets persist. So the ranges that
reach a flop are those that the preflop strategy sends there. Exploitability is that of the whole
game, by a best response through every flop.

With `drop_unplayed_every`, hands that a player has stopped playing to a pot are not stored there
any more, see `preflop.dropping`. With `regroup`, hands that cards `boards` put together are put
together again as ranges move, see `rebucketing`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Place
from allstreets.betting import Player
from allstreets.cards import preflop_equity
from allstreets.cfr import Pruning, Schedule
from allstreets.engines import (
    DeviceUse,
    DropsHands,
    Engine,
    Flops,
    Restarts,
    ShardedEngine,
    checked_pruning,
)
from allstreets.games import Strategies, WholeGame, game_identity
from allstreets.solvers.flops.batches import VisitPlan
from allstreets.solvers.flops.leaves import SubgameLeaves
from allstreets.solvers.preflop.cfr import PreflopCfr
from allstreets.solvers.preflop.dropping import HandDropping, Review
from allstreets.solvers.preflop.training import PreflopTraining, RegretSums
from allstreets.solvers.whole_game.rebucketing import LEAST_MOVE, GroupedByRanges, Regrouping


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What pots are worth on every flop against the other player's average strategy.

    [2, P, F, 169] in chips times pairs of combos; the first axis is the player who holds the hands.
    """

    best: Floats  # of best responses
    own: Floats  # of the average strategies


@dataclass(frozen=True, eq=False)
class UnifiedFigures:
    """How good a solution is, in mbb/hand unless said otherwise; `None` where it is not known."""

    exploitability: float | None  # of the whole game
    preflop_exploitability: float | None  # best response before the flop, averages after it
    values: tuple[float, float] | None  # of the game for OOP (big blind) and IP (small blind)
    flop_exploitability: Floats | None  # [F], % of the mean pot, given the ranges that get there
    flop_shares: Floats  # [F] of all hands that see a flop under the average strategy


class WholeGameSolver(PreflopTraining):
    """Solves a whole game; can be trained in batches, evaluated, stored and restored."""

    def __init__(
        self,
        game: WholeGame,
        games: Engine,
        schedule: Schedule,
        batches: VisitPlan | None = None,
        pruning: Pruning | None = None,
        drop_unplayed_every: int = 0,
        regroup: int = 0,
    ) -> None:
        pruning = checked_pruning(pruning, schedule)
        self.game, self.batches = game, batches or VisitPlan()
        whole_deck = preflop_equity().pairs
        everyone = float(whole_deck.sum())
        self.leaves = SubgameLeaves(games, game.flops.weights, everyone, schedule, pruning)
        # Where no flop is seen, in push or fold, the set of flops says nothing about the deal.
        pairs = self.leaves.pairs if game.pots else whole_deck.astype(np.float64)
        preflop = PreflopCfr(game.before_the_flop(pairs), self.leaves)
        super().__init__(preflop, schedule, pruning, raked=game.preflop.rake > 0)
        can_drop = isinstance(games, DropsHands) and games.can_drop_hands
        if drop_unplayed_every and not can_drop:
            raise InputError(
                f"drop_unplayed_every: {games.model} stores all hands of every pot; leave it out, "
                "or use cards: classes with memory resident or memmap"
            )
        self.dropping = HandDropping(preflop, drop_unplayed_every) if drop_unplayed_every else None
        self.last_review: Review | None = None
        self.regrouping = Regrouping(regroup)
        self._shares = np.ones(games.flops) / games.flops  # of the epoch: how flops are drawn

    @property
    def device_use(self) -> DeviceUse | None:
        """What the subgames make of a GPU; None: they are not on one."""
        found: DeviceUse | None = getattr(self.games, "device_use", None)
        return found

    @property
    def write_elsewhere(self) -> Callable[[Place], Mapping[str, str]] | None:
        """Writes what other machines have of the state; None: all of it is here."""
        return self.games.write_state if isinstance(self.games, ShardedEngine) else None

    @property
    def games(self) -> Engine:
        """The subgames of all pots on all flops."""
        return self.leaves.games

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a checkpoint must share to be restored; threads may differ."""
        return {**game_identity(self.game), **self._settings}

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "cards": self._cards,
            "algorithm": str(self.schedule),
            "batches": [self.batches.size, self.batches.iterations, self.batches.choice],
            "seed": self.batches.seed,
            "pruning": self.pruning.facts() if self.pruning else None,
            **({"close_after": self.dropping.after} if self.dropping else {}),
            **({"regroup": self.regrouping.times} if self.regrouping.times else {}),
        }

    @property
    def _cards(self) -> str:
        return f"{self.games.model}" if self.can_evaluate else f"{self.games.model}, values only"

    @property
    def epoch(self) -> int:
        """Epochs done so far."""
        return self._iterations // self.batches.epoch_iterations(self.games.flops)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return self.games.memory_bytes

    @property
    def saved_bytes(self) -> int:
        """Bytes more that they would be if all hands of all pots were stored."""
        return self.games.saved_bytes if isinstance(self.games, DropsHands) else 0

    def _prepare(self) -> None:
        """Close what is not played if it is time, and choose the flops of the next iteration."""
        if self.dropping is not None:
            if self.dropping.is_due(self._iterations):
                self.review()
            self.dropping.watch()
        flops = self.games.flops
        epoch, batch, begins = self.batches.place(self._iterations, flops)
        if not begins:
            return
        visits = epoch * self.batches.iterations
        if batch == 0 and self.regrouping.is_due(visits, self.batches.iterations):
            self.regroup()
        if batch == 0 and self.batches.choice == "reach":
            self._shares = self.flop_shares(self.preflop.current())
        self.leaves.visit(*self.batches.draw(epoch, batch, self._shares))

    def regroup(self) -> None:
        """Group hands again if the ranges that start pots have moved (`rebucketing`)."""
        if isinstance(self.games, GroupedByRanges):
            self.games.rebucket(self.preflop.pot_reach(self.preflop.average()), LEAST_MOVE)

    def review(self) -> None:
        """Close and open actions before the flop, and store what is open (`preflop.dropping`)."""
        assert self.dropping is not None
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        best = []
        for player in Player:
            leaves = self.leaves.best_response(player, reach[player.opponent])
            best.append(self.preflop.values(player, leaves, best=True, strategies=average))
        self.last_review = self.dropping.review(np.array(best))
        self._store_what_is_open()

    def _store_what_is_open(self) -> None:
        assert self.dropping is not None
        assert isinstance(self.games, DropsHands)
        self.games.keep_hands(self.dropping.open_hands())

    def flop_shares(self, strategies: Strategies) -> Floats:
        """[F]: how the pairs of hands that see a flop under `strategies` are shared out over flops.

        A flop's weight times both players' reach times the combos that fit beside each other.
        """
        reach = self.preflop.pot_reach(strategies)
        seen = np.zeros(self.games.flops)
        for own, other in zip(reach[0], reach[1], strict=True):
            seen += self.leaves.weights * self.games.dealt.reached(own, other)
        total = seen.sum()
        return seen / total if total > 0 else np.ones(len(seen)) / len(seen)

    def evaluate(self, flops: Flops | None = None) -> Evaluation:
        """What the average strategies make of every pot, on all flops or on some of them."""
        chosen = np.arange(self.games.flops) if flops is None else flops
        reach = self.preflop.pot_reach(self.preflop.average())
        best, own = (
            np.stack([run(player, reach[player.opponent], chosen) for player in Player])
            for run in (self.games.best_response, self.games.evaluate)
        )
        return Evaluation(best, own)

    def figures(self, evaluation: Evaluation | None = None) -> UnifiedFigures:
        """Everything that can be said of the average strategies, or of those that were evaluated.

        The betting before the flop is that of the average strategies in either case.
        """
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        shares = self.flop_shares(average)
        if not self.can_evaluate:
            return UnifiedFigures(None, None, None, None, shares)
        found = evaluation or self.evaluate()
        best, kept, preflop = np.zeros((3, 2))
        for player in Player:
            freely, below = (
                self.leaves.sum_flops(values[player]) for values in (found.best, found.own)
            )
            best[player] = self._mean(player, freely, average, best=True)
            preflop[player] = self._mean(player, below, average, best=True)
            kept[player] = self._mean(player, below, average, best=False)
        gains = np.einsum("aph,apkh->k", reach, found.best - found.own)
        at_stake = np.zeros(self.games.flops)
        for pot, own, other in zip(self.game.pots, reach[0], reach[1], strict=True):
            at_stake += pot.pot.pot * self.games.dealt.reached(own, other)
        by_flop = np.divide(50 * gains, at_stake, out=np.zeros_like(gains), where=at_stake > 0)
        return UnifiedFigures(
            exploitability=max(float((best - kept).sum()) / 2, 0.0),
            preflop_exploitability=max(float((preflop - kept).sum()) / 2, 0.0),
            values=(float(kept[0]), float(kept[1])),
            flop_exploitability=np.maximum(by_flop, 0.0),
            flop_shares=shares,
        )

    @property
    def can_evaluate(self) -> bool:
        """Whether the strategies of all flops are stored, as a best response needs."""
        every = np.arange(self.games.flops)
        return not isinstance(self.games, Restarts) or self.games.persists(every)

    def _regret_sums(self) -> list[RegretSums] | None:
        above = super()._regret_sums()
        # Games that restart with every batch have small regrets however badly they are played.
        if above is None or not self.can_evaluate:
            return None
        return [*above, self.leaves.regret_sums()]

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        dropping = self.dropping.state() if self.dropping else {}
        return {**super().state(), **dropping, "shares": self._shares, **self.leaves.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same game."""
        super().restore(state)
        if self.dropping is not None:
            self.dropping.restore(state)
            self._store_what_is_open()  # the arrays that the state is put into
        self._shares = np.array(state["shares"])
        self.leaves.restore(state)
        if self._iterations:  # the current batch
            epoch, batch, _ = self.batches.place(self._iterations - 1, self.games.flops)
            self.leaves.visit(*self.batches.draw(epoch, batch, self._shares))
