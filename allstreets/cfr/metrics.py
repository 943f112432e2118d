"""Convergence metrics: each with its own name and meaning, none standing in for another.

| name                | what it says                                                               |
|---------------------|----------------------------------------------------------------------------|
| exploitability      | mean of both players' best-response gains (NashConv / 2): the truth        |
| avg_positive_regret | mean positive regret per entry and iteration: a trend, **not** a bound     |
| regret_bound        | Σ over information sets of the largest positive regret per iteration, / 2, |
|                     | and a term for alternating updates that vanishes with the iterations:      |
|                     | a true bound on exploitability, where the schedule allows one              |
| max_regret          | the largest positive regret per iteration                                  |
| strategy_entropy    | mean entropy of the average strategy, 0 (pure) to 1 (uniform)              |

A solver that does not know a figure reports `None`, never 0. Axis letters as in `game`:
I information sets, K slots; `slot_start` [I + 1] holds the first slot of each set.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Ints


@dataclass(frozen=True)
class Metrics:
    """The convergence of a solver at one moment; `None` = not known."""

    exploitability: float | None = None
    avg_positive_regret: float | None = None
    regret_bound: float | None = None
    max_regret: float | None = None
    strategy_entropy: float | None = None


def avg_positive_regret(regrets: NDArray[Any], total_weight: float) -> float:
    """Σ max(R, 0) / (entries · total weight); 0 for an untrained or an empty solver.

    `total_weight` is the number of iterations, or under discounting the sum of the weights that
    the iterations still carry in the positive regrets.

    >>> round(avg_positive_regret(np.array([10.0, -50.0, 30.0]), 10), 6)  # 40 / 3 / 10
    1.333333
    """
    if regrets.size == 0 or total_weight <= 0:
        return 0.0
    positive = np.maximum(regrets, 0.0).sum(dtype=np.float64)
    return float(positive / regrets.size / total_weight)


def max_regret(regrets: NDArray[Any], total_weight: float) -> float:
    """The largest positive regret per iteration; 0 for an untrained or an empty solver."""
    if regrets.size == 0 or total_weight <= 0:
        return 0.0
    return float(max(regrets.max(), 0.0) / total_weight)


def largest_by_set(by_slot: Floats, slot_start: Ints) -> Floats:
    """[I] the largest entry of each information set; `by_slot` is [K]."""
    if len(slot_start) == 1:
        return np.zeros(0)
    return np.maximum.reduceat(by_slot, slot_start[:-1])


def strategy_entropy(probabilities: Floats, slot_start: Ints) -> float:
    """Mean entropy over the sets with a choice, each in units of its maximum: 0 pure, 1 uniform."""
    counts = np.diff(slot_start)
    choice = counts > 1
    if not choice.any():
        return 0.0
    logarithms = np.log(np.where(probabilities > 0, probabilities, 1.0))
    by_set = -np.add.reduceat(probabilities * logarithms, slot_start[:-1])
    return float(np.mean(by_set[choice] / np.log(counts[choice])))
