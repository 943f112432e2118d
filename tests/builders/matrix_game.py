"""A small true solver for tests: regret matching in a two-player zero-sum matrix game.

It implements `TrainingSolver` in full: its exploitability is that of a true best response, and in
its sampled form every iteration draws random numbers, so that a resumed run is the same run only
if the random state was kept as well.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.cfr.metrics import Metrics, avg_positive_regret, max_regret
from allstreets.jobs.loop import BatchCallback

ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -1.0], [-2.0, 1.0, 0.0]])


class MatrixGameSolver:
    """Regret matching with alternating updates; `sampled` plays one drawn action of the opponent.

    payoffs: [A, B], what the row player wins.
    """

    def __init__(
        self,
        payoffs: NDArray[np.float64] = ROCK_PAPER_SCISSORS,
        *,
        game: str = "rock-paper-scissors",
        seed: int = 1,
        sampled: bool = False,
    ) -> None:
        self._payoffs = (payoffs, -payoffs.T)  # by player: own action × the opponent's
        self._game = game
        self._seed = seed
        self._sampled = sampled
        self._random = np.random.default_rng(seed)
        self._regrets = [np.zeros(size) for size in payoffs.shape]
        self._sums = [np.zeros(size) for size in payoffs.shape]
        self._iterations = 0

    @property
    def identity(self) -> Mapping[str, Any]:
        algorithm = "sampled" if self._sampled else "full"
        return {"game": self._game, "algorithm": algorithm, "seed": self._seed}

    @property
    def unit(self) -> str:
        return "chips"

    @property
    def iterations(self) -> int:
        return self._iterations

    @property
    def memory_bytes(self) -> int:
        return sum(array.nbytes for array in (*self._regrets, *self._sums))

    @property
    def avg_positive_regret(self) -> float | None:
        return avg_positive_regret(np.concatenate(self._regrets), self._iterations)

    def train_batch(self, iterations: int, callback: BatchCallback | None = None) -> None:
        for _ in range(iterations):
            self._iterate()
            if callback is not None and callback(self._iterations):
                return

    def strategies(self) -> Mapping[str, Mapping[str, float]]:
        return {
            name: {str(action): float(p) for action, p in enumerate(self._average(player))}
            for player, name in enumerate(("row", "column"))
        }

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        regrets = np.concatenate(self._regrets)
        return Metrics(
            exploitability=self._exploitability() if exploitability else None,
            avg_positive_regret=self.avg_positive_regret,
            regret_bound=self._bound(),
            max_regret=max_regret(regrets, self._iterations),
            strategy_entropy=self._entropy(),
        )

    def state(self) -> dict[str, NDArray[Any]]:
        # PCG64 has two 128-bit integers and the half of a number that it may still owe.
        random: Any = self._random.bit_generator.state
        words = [random["state"][name] >> shift for name in ("state", "inc") for shift in (0, 64)]
        owed = [random["has_uint32"], random["uinteger"]]
        state = {
            "iterations": np.array(self._iterations),
            "random": np.array([word & (2**64 - 1) for word in (*words, *owed)], dtype=np.uint64),
        }
        for player in (0, 1):
            state[f"regrets/{player}"] = self._regrets[player].copy()
            state[f"sums/{player}"] = self._sums[player].copy()
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        self._iterations = int(state["iterations"])
        a, b, c, d, has, owed = (int(word) for word in state["random"])
        self._random.bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": a | b << 64, "inc": c | d << 64},
            "has_uint32": has,
            "uinteger": owed,
        }
        self._regrets = [state[f"regrets/{player}"].copy() for player in (0, 1)]
        self._sums = [state[f"sums/{player}"].copy() for player in (0, 1)]

    def _iterate(self) -> None:
        self._iterations += 1
        for player in (0, 1):
            mine, other = self._current(player), self._current(1 - player)
            if self._sampled:
                drawn = self._random.choice(len(other), p=other)
                values = self._payoffs[player][:, drawn]
            else:
                values = self._payoffs[player] @ other
            self._regrets[player] += values - mine @ values
            self._sums[player] += mine

    def _current(self, player: int) -> NDArray[np.float64]:
        positive = np.maximum(self._regrets[player], 0.0)
        total = positive.sum()
        return positive / total if total > 0 else np.full(len(positive), 1 / len(positive))

    def _average(self, player: int) -> NDArray[np.float64]:
        sums = self._sums[player]
        total = sums.sum()
        return sums / total if total > 0 else np.full(len(sums), 1 / len(sums))

    def _exploitability(self) -> float:
        gains = (self._payoffs[player] @ self._average(1 - player) for player in (0, 1))
        return float(sum(values.max() for values in gains) / 2)

    def _bound(self) -> float | None:
        if self._sampled or self._iterations == 0:
            return None
        return float(sum(max(r.max(), 0.0) for r in self._regrets) / self._iterations / 2)

    def _entropy(self) -> float:
        entropies = []
        for player in (0, 1):
            average = self._average(player)
            used = average[average > 0]
            entropies.append(-(used * np.log(used)).sum() / np.log(len(average)))
        return float(np.mean(entropies))


def random_game(size: int = 20, seed: int = 7) -> NDArray[np.float64]:
    """Payoffs of a random game, whose solution takes some iterations."""
    return np.random.default_rng(seed).normal(size=(size, size))
