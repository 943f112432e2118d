"""Discounting: one small frozen object for each member of the CFR family.

At iteration t, counted from 1, with t' = t − 1, and before the new regrets are added:

    R⁺ *= t'^α / (t'^α + c⁺)     R⁻ *= t'^β / (t'^β + c⁻)     S *= (t' / (t' + 1))^γ

R are cumulative regrets, S the sums that the average strategy is made of; the offsets c are 1
unless the table says so. Where an exponent is `None` nothing is discounted. `clip` replaces β:
after the addition R = max(R, 0). `averaging` weighs the new strategy by t^averaging instead of
discounting the old; a schedule has one or the other.

| name      | α    | β    | γ | else                       | paper                                |
|-----------|------|------|---|----------------------------|--------------------------------------|
| `vanilla` | –    | –    | – |                            | Zinkevich et al. (2007)              |
| `linear`  | 1    | 1    | 1 |                            | Brown & Sandholm (2019), LCFR        |
| `cfr+`    | –    | clip | – | averaging 2                | Tammelin (2014)                      |
| `dcfr`    | 1.5  | 0.5  | 2 |                            | Brown & Sandholm (2019), there β = 0 |
| `dcfr+`   | 1.5  | clip | 4 | c⁺ = 1.5                   | Xu et al. (2022), AutoCFR            |
| `tuned`   | 1.5  | 0    | 4 | negative regrets halve     | γ beyond the published proof         |
| `ahead`   | 1.4  | 0.75 | 4 | c⁻ = 10, looks ahead 0.5   | beyond any published proof           |

`ahead` changes values, not what is stored. A decision's regrets compare its actions with the
strategy that was played, as always. The value that it passes up to the player's previous decision
is that of a strategy in between: played + ahead · (what the new regrets will play − played). So
what was just learned below counts above at once, and not one iteration late. Decisions after the
flop look ahead with every card model; those before the flop, and sampled and tabular games, use
only the discounts of such a schedule.

Every schedule adds a new regret with weight 1; the weights of older ones follow from that.
With a warm-up of w, "dcfr(1.5,0.5,2)@30", the first w iterations are not discounted at all.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from allstreets.base import Floats, InputError, suggest
from allstreets.cfr.pruning import Pruning

LARGEST_EXPONENT = 10.0  # t'^10 stays finite for any practical number of iterations


class IterationWeights(NamedTuple):
    """The effect of one iteration on stored numbers, in the order in which kernels take it."""

    positive: float  # factor of positive regrets
    negative: float  # factor of negative regrets
    floor: float  # no regret falls below: 0 clips them, −∞ never does
    average: float  # factor of the sums that the average strategy is made of
    weight: float  # of the new strategy in these sums
    threshold: float = -math.inf  # actions with a smaller regret are pruned
    ahead: float = 0.0  # how far values move to the strategy of the new regrets


@dataclass(frozen=True)
class Schedule:
    """A member of the family; made by the functions below or by `parse_schedule`."""

    name: str
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    positive_offset: float = 1.0
    clip: bool = False
    averaging: float = 0.0
    warmup: int = 0
    negative_offset: float = 1.0
    ahead: float = 0.0

    def __post_init__(self) -> None:
        if self.warmup < 0:
            raise InputError(f"{self.name}: a warm-up of {self.warmup} iterations; give 0 or more")
        for letter, exponent in (("α", self.alpha), ("β", self.beta), ("γ", self.gamma)):
            if exponent is not None and not 0 <= exponent <= LARGEST_EXPONENT:
                raise InputError(
                    f"{self.name}: {letter} is {exponent:g}, but must lie between 0 and "
                    f"{LARGEST_EXPONENT:g}. To forget negative regrets at once, use cfr+ or dcfr+"
                )
        if not 0 <= self.averaging <= LARGEST_EXPONENT:
            raise InputError(
                f"{self.name}: the averaging exponent is {self.averaging:g}, but must lie between "
                f"0 (all iterations alike) and {LARGEST_EXPONENT:g}; 2 is usual"
            )
        if self.negative_offset <= 0 or not 0 <= self.ahead <= 1:
            raise InputError(
                f"{self.name}: negative_offset is {self.negative_offset:g} and ahead "
                f"{self.ahead:g}, but the first must be positive and the second between 0 and 1"
            )
        if self.gamma is not None and self.averaging:
            raise InputError(f"{self.name}: the average is either weighted or discounted, not both")
        if self.clip and self.beta is not None:
            raise InputError(f"{self.name}: negative regrets are either clipped or discounted")

    def __str__(self) -> str:
        """The text that `parse_schedule` reads back."""
        text = self.name
        if self.name == "dcfr":
            text = f"dcfr({self.alpha:g},{self.beta:g},{self.gamma:g})"
        elif self.name == "cfr+":
            text = f"cfr+({self.averaging:g})"
        return f"{text}@{self.warmup}" if self.warmup else text

    def table(self, first: int, count: int, pruning: Pruning | None = None) -> Floats:
        """[count, 7] the weights of iterations `first`, `first` + 1, …, a row each."""
        iterations = np.arange(first, first + count)
        before = iterations - 1.0
        rows = np.ones((count, len(IterationWeights._fields)))
        positive, negative, floor, average, weight, threshold, ahead = rows.T
        if self.alpha is not None:
            positive[:] = before**self.alpha / (before**self.alpha + self.positive_offset)
        if self.beta is not None:
            negative[:] = before**self.beta / (before**self.beta + self.negative_offset)
        if self.gamma is not None:
            average[:] = (before / iterations) ** self.gamma
        rows[iterations <= self.warmup] = 1.0
        weight[:] = iterations.astype(np.float64) ** self.averaging
        floor[:], threshold[:], ahead[:] = -np.inf, -np.inf, self.ahead
        if pruning is not None and pruning.is_on:
            floor[iterations > pruning.warmup] = -pruning.regret_floor
            skips = ~pruning.visits_everything(iterations)
            threshold[skips] = pruning.thresholds(iterations[skips])
        if self.clip:
            floor[:] = 0.0
        return rows

    def at(self, iteration: int, pruning: Pruning | None = None) -> IterationWeights:
        """The weights of one iteration, counted from 1."""
        return self.run(iteration, 1, pruning)[0]

    def run(self, first: int, count: int, pruning: Pruning | None = None) -> list[IterationWeights]:
        """The weights of iterations `first`, …, `first` + `count` − 1."""
        return [IterationWeights(*row) for row in self.table(first, count, pruning).tolist()]

    @property
    def weighs_alike(self) -> bool:
        """Whether an iteration has the same weight in the regrets as in the average.

        Then, and only then, regrets bound the exploitability of the average strategy.
        """
        exponents = (self.alpha, self.beta, self.gamma)
        ones = exponents == (1, 1, 1) and self.positive_offset == self.negative_offset == 1
        same = exponents == (None, None, None) or ones
        return same and not self.ahead and not self.clip and not self.averaging and not self.warmup


def vanilla() -> Schedule:
    """Every iteration counts alike."""
    return Schedule("vanilla")


def linear() -> Schedule:
    """Iteration t counts t times as much as the first, in regrets and average."""
    return Schedule("linear", alpha=1, beta=1, gamma=1)


def cfr_plus(averaging: float = 2) -> Schedule:
    """Negative regrets are forgotten; the average weighs iteration t by t^averaging."""
    return Schedule("cfr+", clip=True, averaging=averaging)


def dcfr(alpha: float = 1.5, beta: float = 0.5, gamma: float = 2) -> Schedule:
    """Positive regrets, negative regrets and average each with their own discount."""
    return Schedule("dcfr", alpha=alpha, beta=beta, gamma=gamma)


def dcfr_plus() -> Schedule:
    """Negative regrets are forgotten, positive ones and the average discounted."""
    return Schedule("dcfr+", alpha=1.5, gamma=4, positive_offset=1.5, clip=True)


def tuned() -> Schedule:
    """The default before the flop: negative regrets are halved."""
    return Schedule("tuned", alpha=1.5, beta=0, gamma=4)


def ahead() -> Schedule:
    """The default: values look ahead, and negative regrets are forgotten only at first."""
    return Schedule("ahead", alpha=1.4, beta=0.75, gamma=4, negative_offset=10, ahead=0.5)


SCHEDULES = {
    "vanilla": vanilla,
    "linear": linear,
    "cfr+": cfr_plus,
    "dcfr": dcfr,
    "dcfr+": dcfr_plus,
    "tuned": tuned,
    "ahead": ahead,
}
PARAMETERS = {"cfr+": ("averaging",), "dcfr": ("α", "β", "γ")}


def parse_schedule(text: str) -> Schedule:
    """The schedule that `text` names, parameters in brackets where it has some.

    >>> parse_schedule("dcfr(1.5,0,2)").beta
    0.0
    >>> str(parse_schedule("linear")), str(parse_schedule("dcfr@30"))
    ('linear', 'dcfr(1.5,0.5,2)@30')
    """
    if delayed := re.fullmatch(r"(.*)@\s*(\d{1,9})\s*", text):
        return replace(parse_schedule(delayed[1]), warmup=int(delayed[2]))
    match = re.fullmatch(r"\s*([^\s()]+)\s*(?:\(([^()]*)\))?\s*", text)
    name = match[1].lower() if match else text.strip()
    if match is None or name not in SCHEDULES:
        raise InputError(f"unknown algorithm {text!r}: {suggest(name, SCHEDULES)}")
    if match[2] is None:
        return SCHEDULES[name]()
    names = PARAMETERS.get(name, ())
    try:
        values = [float(part) for part in match[2].split(",")]
    except ValueError:
        values = []
    if not names or len(values) != len(names):
        usage = f"{name}({', '.join(names)}) with numbers" if names else f"{name} without brackets"
        raise InputError(f"cannot read {text!r}: write {usage}")
    return SCHEDULES[name](*values)
