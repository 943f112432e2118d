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

A solver that does not know a figure reports `None`, never 0.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
