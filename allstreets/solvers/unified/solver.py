"""The unified solver: one game from the first preflop action to the river.

    for t in 1, 2, …: for player in (OOP, IP):
        both players' reach [169] goes down the preflop tree and into every flop's subgames
        values come back, summed over the flops, and regrets are updated on the way

Every pot that sees a flop has subgames of its own, and their regrets persist. So the ranges that
reach a flop are those that the preflop strategy sends there. Exploitability is that of the whole
game, by a best response through every flop.

With `close_after`, hands that a player has stopped playing to a pot are not stored there any more,
see `closing`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import preflop_equity
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import Schedule
from allstreets.solvers.preflop.cfr import Floats, PreflopCfr, Strategies
from allstreets.solvers.preflop.training import PreflopTraining, RegretSums
from allstreets.solvers.unified.batches import FlopBatches
from allstreets.solvers.unified.closing import Closing, Review
from allstreets.solvers.unified.game import UnifiedGame
from allstreets.solvers.unified.leaves import FlopLeaves
from allstreets.solvers.unified.text import former_game_identity, game_identity
from allstreets.subgames.flop_games import FlopGames, Flops
from allstreets.subgames.matrix_flops import MatrixFlops
from allstreets.subgames.matrix_pruning import checked_pruning


@dataclass(frozen=True, eq=False)
class Judgement:
    """What pots are worth on every flop against the other player's average strategy.

    [2, P, F, 169] in chips times pairs of combos, by the player whose hands they are.
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


class UnifiedSolver(PreflopTraining):
    """Solves a whole game; can be trained in batches, judged, stored and restored."""

    def __init__(
        self,
        game: UnifiedGame,
        games: FlopGames,
        schedule: Schedule,
        batches: FlopBatches | None = None,
        pruning: Pruning | None = None,
        close_after: int = 0,
    ) -> None:
        pruning = checked_pruning(pruning)
        self.game, self.batches = game, batches or FlopBatches()
        whole_deck = preflop_equity().pairs
        everyone = float(whole_deck.sum())
        self.leaves = FlopLeaves(games, game.flops.weights, everyone, schedule, pruning)
        # Where no flop is seen, in push or fold, the set of flops says nothing about the deal.
        pairs = self.leaves.pairs if game.pots else whole_deck.astype(np.float64)
        preflop = PreflopCfr(game.before_the_flop(pairs), self.leaves)
        super().__init__(preflop, schedule, pruning, raked=game.preflop.rake > 0)
        if close_after and not (isinstance(games, MatrixFlops) and games.can_keep_some):
            raise InputError(
                f"close_after: {games.model} stores all hands of every pot; leave it out, or use "
                "cards: classes with memory resident or memmap"
            )
        self.closing = Closing(preflop, close_after) if close_after else None
        self.last_review: Review | None = None
        self._shares = np.ones(games.flops) / games.flops  # of the epoch: how flops are drawn

    @property
    def games(self) -> FlopGames:
        """The subgames of all pots on all flops."""
        return self.leaves.games

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a checkpoint must share to be restored; threads may differ."""
        return {**game_identity(self.game), **self._settings}

    @property
    def former_identity(self) -> Mapping[str, Any]:
        """The identity under which earlier versions kept this run."""
        return {**former_game_identity(self.game), **self._settings}

    @property
    def _settings(self) -> dict[str, Any]:
        return {
            "cards": self.games.model,
            "algorithm": str(self.schedule),
            "batches": [self.batches.size, self.batches.iterations, self.batches.choice],
            "seed": self.batches.seed,
            "pruning": self.pruning.facts() if self.pruning else None,
            **({"close_after": self.closing.after} if self.closing else {}),
        }

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
        return self.games.saved_bytes if isinstance(self.games, MatrixFlops) else 0

    def _prepare(self) -> None:
        """Close what is not played if it is time, and choose the flops of the next iteration."""
        if self.closing is not None:
            if self.closing.is_due(self._iterations):
                self.review()
            self.closing.watch()
        flops = self.games.flops
        epoch, batch, begins = self.batches.place(self._iterations, flops)
        if not begins:
            return
        if batch == 0 and self.batches.choice == "reach":
            self._shares = self.flop_shares(self.preflop.current())
        self.leaves.visit(*self.batches.draw(epoch, batch, self._shares))

    def review(self) -> None:
        """Close and open actions before the flop, and store what is open; see `closing`."""
        assert self.closing is not None
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        best = []
        for player in Player:
            leaves = self.leaves.judge(player, reach[player.opponent], best=True)
            best.append(self.preflop.values(player, leaves, best=True, strategies=average))
        self.last_review = self.closing.review(np.array(best))
        self._store_what_is_open()

    def _store_what_is_open(self) -> None:
        assert self.closing is not None
        assert isinstance(self.games, MatrixFlops)
        self.games.keep(self.closing.open_hands())

    def flop_shares(self, strategies: Strategies) -> Floats:
        """[F]: of all pairs of hands that see a flop under `strategies`, who see each one.

        A flop's weight times both players' reach times the combos that fit beside each other.
        """
        reach = self.preflop.pot_reach(strategies)
        seen = np.zeros(self.games.flops)
        for own, other in zip(reach[0], reach[1], strict=True):
            seen += self.leaves.weights * self.games.dealt.reached(own, other)
        total = seen.sum()
        return seen / total if total > 0 else np.ones(len(seen)) / len(seen)

    def judge(self, flops: Flops | None = None) -> Judgement:
        """What the average strategies make of every pot, on all flops or on some of them."""
        chosen = np.arange(self.games.flops) if flops is None else flops
        reach = self.preflop.pot_reach(self.preflop.average())
        best, own = (
            np.stack([self.games.judge(p, reach[p.opponent], chosen, best=best) for p in Player])
            for best in (True, False)
        )
        return Judgement(best, own)

    def figures(self, judgement: Judgement | None = None) -> UnifiedFigures:
        """Everything that can be said of the average strategies, or of what a judgement is of.

        The betting before the flop is that of the average strategies in either case.
        """
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        shares = self.flop_shares(average)
        if not self.is_judgeable:
            return UnifiedFigures(None, None, None, None, shares)
        found = judgement or self.judge()
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
    def is_judgeable(self) -> bool:
        """Whether the strategies of all flops are there, for a best response to go through."""
        return self.games.keeps(np.arange(self.games.flops))

    def _regret_sums(self) -> list[RegretSums] | None:
        above = super()._regret_sums()
        # Games that start anew with every batch have small regrets however badly they are played.
        if above is None or not self.is_judgeable:
            return None
        return [*above, self.leaves.regret_sums()]

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        closing = self.closing.state() if self.closing else {}
        return {**super().state(), **closing, "shares": self._shares, **self.leaves.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same game."""
        super().restore(state)
        if self.closing is not None:
            self.closing.restore(state)
            self._store_what_is_open()  # the arrays that the state is put into
        self._shares = np.array(state["shares"])
        self.leaves.restore(state)
        if self._iterations:  # the batch that was at work
            epoch, batch, _ = self.batches.place(self._iterations - 1, self.games.flops)
            self.leaves.visit(*self.batches.draw(epoch, batch, self._shares))
