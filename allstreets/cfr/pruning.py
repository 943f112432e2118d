"""Regret-based pruning: which actions an iteration may leave out.

An action with negative regret is not played. As long as its true regret cannot have become
positive, leaving out everything below it changes neither the node's value, nor the opponent's
values, nor the average strategy. A skipped action is left alone: its regret is discounted as always
and otherwise **not written**, and the regrets of the information sets below it are not even
discounted.

Two rules decide how long an action stays out once its regret is negative:
- `threshold=None`, the sound rule. An upper bound of the true regret is maintained for each skipped
  action, U ← d⁻·U + (opponent's reach · best payoff below − value of the set), started at R, and
  the action comes back before U can be positive. It then starts from U: regret matching forgives a
  stored negative regret that is too high, but not one that is lower than the true one.
- a threshold, the usual approximation: out while R < threshold; a constant, or "-C*sqrt(t)", which
  follows the growth of negative regrets under β = 0.5.
An action is never left out where no action of the set has positive regret: all are played there.

Every `explore_interval`-th iteration visits everything. `regret_floor` keeps R ≥ −floor while
pruning is on, which bounds how long a skip can last. Floor and threshold are in the unit of the
stored regrets: utility × the opponent's and nature's probability of getting there, summed over
iterations, the latest with weight 1 and older ones as the schedule discounts them.

Brown & Sandholm (2015), Regret-based pruning in extensive-form games.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from allstreets.base import Flags, Floats, InputError, Longs

SQUARE_ROOT = re.compile(
    r"\s*(-?\s*[0-9.]+(?:e[-+]?[0-9]+)?)\s*\*\s*sqrt\(\s*t\s*\)\s*", re.IGNORECASE
)


@dataclass(frozen=True)
class Pruning:
    """The rule for skipping; `warmup` iterations come first, and 0 of them means never."""

    warmup: int = 0
    threshold: float | str | None = None
    explore_interval: int = 20
    regret_floor: float = math.inf

    def __post_init__(self) -> None:
        if self.warmup < 0:
            raise InputError(
                f"prune_warmup is {self.warmup}: give the iterations before pruning starts, "
                "or 0 for no pruning"
            )
        if self.explore_interval < 1:
            raise InputError(
                f"explore_interval is {self.explore_interval}: every how many iterations "
                "everything is visited must be at least 1; 20 is usual"
            )
        if not self.regret_floor > 0:
            raise InputError(
                f"regret_floor is {self.regret_floor:g}: give a positive number F, "
                "and regrets stay above −F"
            )
        if self.threshold is not None:
            constant, root = self._coefficients
            if not constant + root < 0 or not math.isfinite(constant + root):
                raise InputError(
                    f"prune_threshold is {self.threshold}: it must be negative, the further below "
                    "0 the less is pruned. Leave it out for the sound rule"
                )

    @property
    def is_on(self) -> bool:
        """Whether anything is ever pruned."""
        return self.warmup > 0

    @property
    def is_sound(self) -> bool:
        """Whether actions come back by the upper bound rather than by a threshold."""
        return self.threshold is None

    def thresholds(self, iterations: Longs) -> Floats:
        """[T] the regret below which each of `iterations` skips; 0 under the sound rule."""
        constant, root = (0.0, 0.0) if self.threshold is None else self._coefficients
        return constant + root * np.sqrt(iterations)

    def visits_everything(self, iterations: Longs) -> Flags:
        """[T] whether each of `iterations` skips nothing."""
        exploring = iterations % self.explore_interval == 0
        return np.asarray((iterations <= self.warmup) | exploring, dtype=np.bool_)

    def facts(self) -> dict[str, Any]:
        """The record of the pruning in a checkpoint, in JSON's types."""
        return {
            "warmup": self.warmup,
            "threshold": self.threshold,
            "explore_interval": self.explore_interval,
            "regret_floor": self.regret_floor if math.isfinite(self.regret_floor) else None,
        }

    @property
    def _coefficients(self) -> tuple[float, float]:
        """(constant, C): the threshold is constant + C · √t."""
        text = str(self.threshold)
        match = SQUARE_ROOT.fullmatch(text)
        try:
            if match:
                return 0.0, float(match[1].replace(" ", ""))
            return float(text), 0.0
        except ValueError:
            raise InputError(
                f"prune_threshold is {text!r}: give a negative number such as -0.5, "
                'or "-0.5*sqrt(t)"'
            ) from None
