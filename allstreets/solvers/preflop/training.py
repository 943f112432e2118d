"""What all solvers of a preflop tree have in common: training, evaluating, storing, restoring.

Below the tree may stand tables of values (`preflop`) or the subgames of every flop (`unified`).
Figures are in thousandths of a big blind per hand.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.betting import BIG_BLINDS, CHIPS_PER_BB, Player, action_text, line_text
from allstreets.cards import HAND_NAMES
from allstreets.cfr import Metrics, Pruning, Schedule
from allstreets.games import Strategies
from allstreets.solvers.preflop.cfr import PreflopCfr

MBB_PER_CHIP = 1000 / CHIPS_PER_BB

RegretSums = tuple[float, float, int]
"""(Σ of positive regrets, the largest, how many), in chips times pairs of combos."""


class PreflopTraining(ABC):
    """A preflop tree with leaves of some kind."""

    def __init__(
        self, preflop: PreflopCfr, schedule: Schedule, pruning: Pruning | None, *, raked: bool
    ) -> None:
        self.preflop, self.schedule, self.pruning = preflop, schedule, pruning
        self._raked = raked
        self._iterations = 0
        self._regret_weight = 0.0  # what the iterations still weigh in the positive regrets

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """What a checkpoint must share to be restored; threads may differ."""

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

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more; after each ask `callback` whether to stop."""
        for _ in range(iterations):
            self._prepare()
            now = self.schedule.at(self._iterations + 1, self.pruning)
            for player in Player:
                self.preflop.step(player, now)
            self._iterations += 1
            self._regret_weight = self._regret_weight * now.positive + 1.0
            if callback is not None and callback(self._iterations):
                return

    def _prepare(self) -> None:  # noqa: B027  # most leaves have nothing to choose
        """Called before every iteration."""

    @property
    def can_evaluate(self) -> bool:
        """Whether all strategies are stored, as a best response needs."""
        return True

    def exploitability(self) -> float | None:
        """Mean of both players' best-response gains in the whole game, in mbb/hand."""
        if not self.can_evaluate:
            return None
        average = self.preflop.average()
        reach = self.preflop.pot_reach(average)
        gain = 0.0
        for player in Player:
            # Under rake the results do not cancel: a gain is what the best response adds.
            for best in (True, False) if self._raked else (True,):
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

        None: regrets do not measure how good the play is.
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
        found: dict[str, dict[str, float]] = {}
        for node, chances in self.preflop.average().items():
            names = [action_text(action, BIG_BLINDS) for action in tree.actions_at(node)]
            for hand, name in enumerate(HAND_NAMES):
                key = f"{line_text(tree, node, notation=BIG_BLINDS)}: {name}".strip()
                found[key] = dict(zip(names, chances[:, hand].tolist(), strict=True))
        return found

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        progress = np.array([float(self._iterations), self._regret_weight])
        return {"progress": progress, **self.preflop.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same game."""
        self._iterations = int(state["progress"][0])
        self._regret_weight = float(state["progress"][1])
        self.preflop.restore(state)
