"""The unified solver: one game from the first preflop action to the river.

    for t in 1, 2, …: for player in (OOP, IP):
        both players' reach [169] goes down the preflop tree and into every flop's subgames
        values come back, summed over the flops, and regrets are updated on the way

Every pot that sees a flop has subgames of its own, and their regrets persist. So the ranges that
reach a flop are those that the preflop strategy sends there. Exploitability is that of the whole
game, by a best response through every flop.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import CHIPS_PER_BB, Player
from allstreets.betting.preflop_lines import preflop_action_text, preflop_line_text
from allstreets.cards import preflop_equity
from allstreets.cards.hands import HAND_COUNT, HAND_NAMES
from allstreets.cfr.metrics import Metrics
from allstreets.cfr.schedules import Schedule
from allstreets.solvers.flop_batches import FlopBatches
from allstreets.solvers.flop_leaves import FlopLeaves
from allstreets.solvers.preflop_cfr import Floats, PreflopCfr, Strategies
from allstreets.solvers.unified_game import UnifiedGame
from allstreets.subgames.flop_games import FlopGames

MBB_PER_CHIP = 1000 / CHIPS_PER_BB


@dataclass(frozen=True, eq=False)
class UnifiedFigures:
    """How good a solution is, in mbb/hand unless said otherwise; `None` where it is not known."""

    exploitability: float | None  # of the whole game
    preflop_exploitability: float | None  # best response before the flop, averages after it
    values: tuple[float, float]  # of the game for OOP (big blind) and IP (small blind)
    flop_exploitability: Floats | None  # [F], % of the mean pot, given the ranges that get there
    flop_shares: Floats  # [F] of all hands that see a flop under the average strategy


class UnifiedSolver:
    """Solves a whole game; can be trained in batches, judged, stored and restored."""

    def __init__(
        self,
        game: UnifiedGame,
        games: FlopGames,
        schedule: Schedule,
        batches: FlopBatches | None = None,
    ) -> None:
        self.game, self.schedule = game, schedule
        self.batches = batches or FlopBatches()
        everyone = float(preflop_equity().pairs.sum())
        self.leaves = FlopLeaves(games, game.flops.weights, everyone, schedule)
        self.preflop = PreflopCfr(game.before_the_flop(self.leaves.pairs), self.leaves)
        self._iterations = 0
        self._regret_weight = 0.0
        self._shares = np.ones(games.flops) / games.flops  # of the epoch: how flops are drawn

    @property
    def games(self) -> FlopGames:
        """The subgames of all pots on all flops."""
        return self.leaves.games

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a checkpoint must share to be restored; threads may differ."""
        return {
            **self.game.identity,
            "cards": self.games.model,
            "algorithm": str(self.schedule),
            "batches": [self.batches.size, self.batches.iterations, self.batches.choice],
            "seed": self.batches.seed,
        }

    @property
    def unit(self) -> str:
        """Exploitability and regrets are told in thousandths of a big blind a hand."""
        return "mbb/hand"

    @property
    def iterations(self) -> int:
        """Iterations done so far; one updates both players."""
        return self._iterations

    @property
    def epoch(self) -> int:
        """Epochs done so far."""
        return self._iterations // self.batches.epoch_iterations(self.games.flops)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return self.games.memory_bytes

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more; after each ask `callback` whether to stop."""
        for _ in range(iterations):
            self._choose_flops()
            now = self.schedule.at(self._iterations + 1)
            for player in Player:
                self.preflop.step(player, now)
            self._iterations += 1
            self._regret_weight = self._regret_weight * now.positive + 1.0
            if callback is not None and callback(self._iterations):
                return

    def _choose_flops(self) -> None:
        flops = self.games.flops
        epoch, batch, begins = self.batches.place(self._iterations, flops)
        if begins and batch == 0:
            self._shares = self.flop_shares(self.preflop.current())
        self.leaves.visit(*self.batches.draw(epoch, batch, self._shares))

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

    def figures(self) -> UnifiedFigures:
        """Everything that can be said of the average strategies."""
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        weight, game = self.preflop.game.weight, self.preflop.game
        best, kept, preflop = np.zeros((3, 2))
        gains = np.zeros(self.games.flops)
        for player in Player:
            other = reach[player.opponent]
            for is_best in (True, False):
                by_flop = self.leaves.judge_flops(player, other, best=is_best)
                gains += (1 if is_best else -1) * np.einsum("ph,pkh->k", reach[player], by_flop)
                leaves = np.einsum("k,pkh->ph", self.leaves.weights, by_flop)
                for free in (True, False) if not is_best else (True,):
                    values = self.preflop.values(player, leaves, best=free, strategies=average)
                    mean = float(values[0].sum()) / weight * MBB_PER_CHIP
                    if is_best:
                        best[player] = mean
                    elif free:
                        preflop[player] = mean
                    else:
                        kept[player] = mean
        pots = np.array([pot.pot for pot in game.pots], np.float64)
        at_stake = np.zeros(self.games.flops)
        for pot, own, other in zip(pots, reach[0], reach[1], strict=True):
            at_stake += pot * self.games.dealt.reached(own, other)
        with np.errstate(invalid="ignore"):
            by_flop_gain = np.where(at_stake > 0, 100 * gains / 2 / at_stake, 0.0)
        return UnifiedFigures(
            exploitability=max(float((best - kept).sum()) / 2, 0.0),
            preflop_exploitability=max(float((preflop - kept).sum()) / 2, 0.0),
            values=(float(kept[0]), float(kept[1])),
            flop_exploitability=np.maximum(by_flop_gain, 0.0),
            flop_shares=self.flop_shares(average),
        )

    @property
    def is_judgeable(self) -> bool:
        """Whether the strategies of all flops are there, for a best response to go through."""
        return self.games.keeps(np.arange(self.games.flops))

    def exploitability(self) -> float | None:
        """Mean of both players' best-response gains in the whole game, in mbb/hand."""
        if not self.is_judgeable:
            return None
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        raked = self.game.preflop.rake > 0
        gain = 0.0
        for player in Player:
            for best in (True, False) if raked else (True,):
                leaves = self.leaves.judge(player, reach[player.opponent], best=best)
                values = self.preflop.values(player, leaves, best=best, strategies=average)
                gain += (1 if best else -1) * float(values[0].sum())
        return max(gain / 2 / self.preflop.game.weight * MBB_PER_CHIP, 0.0)

    @property
    def avg_positive_regret(self) -> float:
        """Mean positive regret of an entry and iteration, in mbb/hand."""
        return self._regret_figures()[0]

    def _regret_figures(self) -> tuple[float, float]:
        """(mean positive regret, largest regret) an iteration, in mbb/hand."""
        parts = [self.preflop.regret_sums(), self.games.regret_sums()]
        entries = sum(part[2] for part in parts)
        scale = self._regret_weight * self.preflop.game.weight / MBB_PER_CHIP
        if not scale or not entries:
            return 0.0, 0.0
        total = sum(part[0] for part in parts)
        return total / entries / scale, max(part[1] for part in parts) / scale

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
            logs = np.log(np.where(chances > 0, chances, 1.0))
            entropies.append(-(chances * logs).sum(axis=0) / np.log(len(chances)))
        return float(np.concatenate(entropies).mean()) if entropies else 0.0

    def strategies(self) -> Mapping[str, Mapping[str, float]]:
        """The average strategy before the flop: "line: hand" → action → probability."""
        tree = self.game.tree
        found: dict[str, dict[str, float]] = {}
        for node, chances in self.preflop.average().items():
            names = [preflop_action_text(action) for action in tree.actions_at(node)]
            for hand in range(HAND_COUNT):
                key = f"{preflop_line_text(tree, node)}: {HAND_NAMES[hand]}".strip()
                found[key] = dict(zip(names, chances[:, hand].tolist(), strict=True))
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        progress = np.array([float(self._iterations), self._regret_weight])
        own = {"progress": progress, "shares": self._shares}
        return {**own, **self.preflop.state(), **self.leaves.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same game."""
        self._iterations = int(state["progress"][0])
        self._regret_weight = float(state["progress"][1])
        self._shares = np.array(state["shares"])
        self.preflop.restore(state)
        self.leaves.restore(state)
