"""Frequencies of actions over a whole range: bounds, and the nearest strategy that meets them.

Of all strategies q whose actions a are taken with a frequency Σ_h w_h·q_ah between least_a and
most_a (weights w of the hands, sum 1), `smallest_change` finds the one with the least weighted
squared change Σ_h w_h·Σ_a (q_ah − p_ah)² from p:
1. The Lagrangian splits by hand: at prices λ_a of the actions, each hand plays the point of the
   simplex nearest to p_h − λ.
2. An action's frequency falls as its price rises, so one bound is one bisection.
3. Several bounds are met in turns, each with the others' prices held: the dual is smooth and
   concave but for kinks at λ_a = 0, so this ascends to its maximum.
"""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, InputError, csv_rows, shorten
from allstreets.betting import CHIPS, BettingTree, Notation, action_text
from allstreets.games.locks import named_action

COLUMNS = ("node", "action", "frequency")
SUM_TOLERANCE = 0.02  # how far written frequencies, which are rounded, may be from 1 in sum
FREQUENCY = re.compile(r"(<=|>=|≤|≥|=)?\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(%)?")

STEPS = 50  # of a bisection
ROUNDS = 2_000
CLOSE = 1e-11  # of frequencies


@dataclass(frozen=True)
class Bound:
    """The frequency of an action over a whole range: exactly, at most, or at least so often."""

    line: str
    action: str
    least: float
    most: float
    where: str = ""  # what says so, for messages: "line 3 of observed.csv"

    @classmethod
    def read(cls, line: str, action: str, frequency: str, where: str) -> "Bound":
        """A frequency as people write it: 30%, 0.3, <=30%, >=10%."""
        match = FREQUENCY.fullmatch(frequency.strip())
        if match is None:
            raise InputError(
                f"{where}: '{shorten(frequency)}' is no frequency: write 30%, 0.3, or <=30%"
            )
        share = float(match[2]) / (100 if match[3] else 1)
        if share > 1:
            hint = "" if match[3] else f": write {shorten(match[2])}% for per cent"
            given = shorten(frequency.strip())
            raise InputError(f"{where}: a frequency of {given} is more than 1{hint}")
        sign = match[1] or "="
        least = 0.0 if sign in ("<=", "≤") else share
        return cls(line, action.strip(), least, 1.0 if sign in (">=", "≥") else share, where)

    @property
    def text(self) -> str:
        """The frequency as people write it.

        >>> Bound.read("x", "b33%", "<=0.3", "").text
        '<=30%'
        """
        sign, share = self._sign
        return f"{sign}{100 * share:.10g}%"

    @property
    def words(self) -> str:
        """The same in a sentence.

        >>> Bound.read("x", "b33%", "<=0.3", "").words
        'at most 30 %'
        """
        sign, share = self._sign
        word = {"": "", ">=": "at least ", "<=": "at most "}[sign]
        return f"{word}{100 * share:.10g} %"

    @property
    def _sign(self) -> tuple[str, float]:
        if self.least == self.most:
            return "", self.least
        return ("<=", self.most) if self.most < 1 else (">=", self.least)


def read_bounds(text: str, source: str) -> list[Bound]:
    """The rows of a CSV text with the columns node, action and frequency; others are ignored."""
    lines = io.StringIO(text.removeprefix("\ufeff"), newline=None)  # whatever ends them
    columns: list[int] | None = None
    bounds, problems = list[Bound](), list[str]()
    for number, row in csv_rows(lines, source):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if columns is None:
            names = [cell.lower() for cell in cells]
            missing = [name for name in COLUMNS if name not in names]
            if missing:
                raise InputError(
                    f"{source}, line {number}: no column {' and '.join(missing)}: the first "
                    f"line names the columns {', '.join(COLUMNS)}"
                )
            columns = [names.index(name) for name in COLUMNS]
            continue
        where = f"{source}, line {number}"
        if len(cells) <= max(columns):
            problems.append(f"{where}: {len(cells)} cells, where node, action and frequency stand")
            continue
        try:
            line, action, frequency = (cells[column] for column in columns)
            bounds.append(Bound.read(line, action, frequency, where))
        except InputError as error:
            problems.append(str(error))
    if problems:
        more = f"\n{len(problems) - 1} more lines cannot be read" if len(problems) > 1 else ""
        raise InputError(problems[0] + more)
    if not bounds:
        raise InputError(f"{source} has no frequencies: write lines such as 'x b50%,call,45%'")
    return bounds


def limits(
    tree: BettingTree, node: int, bounds: Sequence[Bound], notation: Notation = CHIPS
) -> tuple[Floats, Floats]:
    """[A] twice: the least and the most often that each action is taken, checked together."""
    count = len(tree.children_of(node))
    least, most = np.zeros(count), np.ones(count)
    for bound in bounds:
        action = named_action(tree, node, bound.action, bound.where, notation)
        least[action] = max(least[action], bound.least)
        most[action] = min(most[action], bound.most)
        if least[action] > most[action]:
            raise InputError(
                f"{bound.where}: '{shorten(bound.action)}' at '{shorten(bound.line)}' has another "
                "frequency already"
            )
    if (least == most).all() and abs(least.sum() - 1) <= SUM_TOLERANCE:
        return least / least.sum(), most / most.sum()
    if least.sum() > 1 + 1e-9 or most.sum() < 1 - 1e-9:
        where, line = bounds[-1].where, shorten(bounds[0].line)
        total = least.sum() if least.sum() > 1 else most.sum()
        words = ", ".join(action_text(action, notation) for action in tree.actions_at(node))
        raise InputError(
            f"{where}: the frequencies at '{line}' add up to {total:.4g}, not to 1 ({words})"
        )
    return least, most


def smallest_change(strategy: Floats, weights: Floats, least: Floats, most: Floats) -> Floats:
    """[A, H]: the strategy nearest to `strategy` [A, H] within `least` and `most` [A].

    `weights` [H] are those of the hands. Bounds that some strategy meets are assumed.
    """
    # What the others must have cannot be taken; an action that is never taken has no finite price.
    possible = np.minimum(most, 1 - (least.sum() - least)) > CLOSE
    changed = np.zeros_like(strategy)
    changed[possible] = _priced(
        strategy[possible], weights / weights.sum(), least[possible], most[possible]
    )
    return changed


def _priced(strategy: Floats, shares: Floats, least: Floats, most: Floats) -> Floats:
    """The same where every action can be taken; `shares` [H] sum to 1."""
    bound = np.flatnonzero((least > 0) | (most < 1))
    prices = np.zeros(len(strategy))
    for _ in range(ROUNDS):
        before = prices.copy()
        for action in bound.tolist():
            prices[action] = _price(strategy, shares, prices, action, least, most)
        met = _nearest(strategy - prices[:, None]) @ shares
        gap = np.maximum(least - met, met - most)[bound].max(initial=0.0)
        if len(bound) <= 1 or (gap < CLOSE and np.abs(prices - before).max() < CLOSE):
            break
    return _nearest(strategy - prices[:, None])


def _price(
    strategy: Floats, shares: Floats, prices: Floats, action: int, least: Floats, most: Floats
) -> float:
    """The price nearest to 0 at which an action is taken as often as its bounds say."""
    points = strategy - prices[:, None]

    def frequency(price: float) -> float:
        points[action] = strategy[action] - price
        return float(_nearest(points)[action] @ shares)

    free = frequency(0.0)
    if least[action] <= free <= most[action]:
        return 0.0
    # Beyond it every hand takes the action, or none does, whatever the others cost.
    edge = 2.0 + float(np.abs(prices).max())
    low, high = (0.0, edge) if free > most[action] else (-edge, 0.0)
    goal = most[action] if free > most[action] else least[action]
    for _ in range(STEPS):
        middle = (low + high) / 2
        if frequency(middle) > goal:
            low = middle
        else:
            high = middle
    return high if free > goal else low


def _nearest(points: Floats) -> Floats:
    """[A, H]: for each column the nearest point of the simplex: what is above a level is kept."""
    ordered = -np.sort(-points, axis=0)
    counts = np.arange(1, len(points) + 1)[:, None]
    levels = (np.cumsum(ordered, axis=0) - 1) / counts
    kept = (ordered > levels).sum(axis=0)
    level = np.take_along_axis(levels, kept[None] - 1, axis=0)
    nearest: Floats = np.maximum(points - level, 0.0)
    return nearest
