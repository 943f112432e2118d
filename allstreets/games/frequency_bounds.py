"""How often actions are taken over a whole range: exactly, at most, or at least so often."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, InputError, csv_rows, shorten
from allstreets.betting import CHIPS, BettingTree, Notation, action_text
from allstreets.games.locks import named_action

COLUMNS = ("node", "action", "frequency")
ROUNDED = 0.02  # how far frequencies of all actions may be from 1 together: they are rounded
FREQUENCY = re.compile(r"(<=|>=|≤|≥|=)?\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*(%)?")


@dataclass(frozen=True)
class Bound:
    """How often an action is taken over a whole range."""

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
    places: list[int] | None = None
    bounds, problems = list[Bound](), list[str]()
    for number, row in csv_rows(lines, source):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if places is None:
            names = [cell.lower() for cell in cells]
            missing = [name for name in COLUMNS if name not in names]
            if missing:
                raise InputError(
                    f"{source}, line {number}: no column {' and '.join(missing)}: the first "
                    f"line names the columns {', '.join(COLUMNS)}"
                )
            places = [names.index(name) for name in COLUMNS]
            continue
        where = f"{source}, line {number}"
        if len(cells) <= max(places):
            problems.append(f"{where}: {len(cells)} cells, where node, action and frequency stand")
            continue
        try:
            line, action, frequency = (cells[place] for place in places)
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
        place = named_action(tree, node, bound.action, bound.where, notation)
        least[place] = max(least[place], bound.least)
        most[place] = min(most[place], bound.most)
        if least[place] > most[place]:
            raise InputError(
                f"{bound.where}: '{shorten(bound.action)}' at '{shorten(bound.line)}' has another "
                "frequency already"
            )
    if (least == most).all() and abs(least.sum() - 1) <= ROUNDED:
        return least / least.sum(), most / most.sum()
    if least.sum() > 1 + 1e-9 or most.sum() < 1 - 1e-9:
        where, line = bounds[-1].where, shorten(bounds[0].line)
        total = least.sum() if least.sum() > 1 else most.sum()
        words = ", ".join(action_text(action, notation) for action in tree.actions_at(node))
        raise InputError(
            f"{where}: the frequencies at '{line}' add up to {total:.4g}, not to 1 ({words})"
        )
    return least, most
