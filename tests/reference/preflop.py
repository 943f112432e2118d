"""The betting before the flop as a person would play it: slow, in big blinds, by recursion.

Shares no code with `allstreets.betting`. The betting ends by the general rule of poker: every
player who is left has acted since the last raise, or nobody can act any more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import NamedTuple

OTHER = {"SB": "BB", "BB": "SB"}
Size = str | float | int


class NaiveNode(NamedTuple):
    """A node, amounts in big blinds; the ends are "fold", "showdown" and "flop"."""

    line: str
    what: str  # who acts, or how it ended
    put_in: dict[str, Fraction]
    # At "fold" and "showdown": (win, tie, lose) of each player.
    results: dict[str, tuple[Fraction, Fraction, Fraction]] | None = None


@dataclass
class NaivePreflop:
    """The rules, as a person writes them."""

    stack_depth: float
    raise_sizes: Sequence[Sequence[Size]]
    raise_cap: int | None
    ante: float = 0
    small_blind: float = 0.5
    big_blind: float = 1
    force_allin_threshold: float = 0
    rake: float = 0
    rake_cap: float | None = None
    no_flop_no_drop: bool = True
    bb_ante: float = 0
    limp: bool = True
    allin: str | float = "always"
    stack: Fraction = field(init=False)  # what the big blind has beside the ante for both
    dead: Fraction = field(init=False)
    unit: Decimal = field(init=False)  # what bets are rounded to

    def __post_init__(self) -> None:
        self.dead = number(self.bb_ante)
        self.stack = number(self.stack_depth) - self.dead
        amounts = (self.stack_depth, self.ante, self.bb_ante, self.small_blind, self.big_blind)
        whole = all((100 * number(amount)).denominator == 1 for amount in amounts)
        self.unit = Decimal("0.01") if whole else Decimal("0.0001")

    def nodes(self) -> Iterator[NaiveNode]:
        """All nodes, each before what is below it."""
        put_in = {
            "BB": min(self.stack, number(self.ante) + number(self.big_blind)),
            "SB": min(self.stack, number(self.ante) + number(self.small_blind)),
        }
        yield from self._from(("",), "SB", put_in, number(self.big_blind), 0, set())

    def _from(
        self,
        words: tuple[str, ...],
        seat: str,
        put_in: dict[str, Fraction],
        last_raise: Fraction,
        raises: int,
        acted: set[str],
    ) -> Iterator[NaiveNode]:
        line = " ".join(words).strip()
        even = put_in["SB"] == put_in["BB"]
        if even and put_in["SB"] == self.stack:
            yield NaiveNode(line, "showdown", put_in, self._showdown())
            return
        if even and acted == {"SB", "BB"}:
            yield NaiveNode(line, "flop", put_in)
            return
        yield NaiveNode(line, seat, put_in)
        other = OTHER[seat]
        limps = seat == "SB" and not acted and put_in[other] < self.stack
        if not even or (limps and not self.limp):
            folded = NaiveNode((line + " f").strip(), "fold", put_in, self._fold(seat, put_in))
            yield folded
        called = {**put_in, seat: put_in[other]}
        word = "x" if even else "c"
        if self.limp or not limps:
            yield from self._from((*words, word), other, called, last_raise, raises, acted | {seat})
        if put_in[other] == self.stack:
            return
        for target in self._targets(put_in[other], last_raise, raises):
            step = target + number(self.ante) - put_in[other]
            most = target + number(self.ante) == self.stack
            word = "a" if most else f"r{Decimal(target.numerator) / target.denominator}"
            raised = {**put_in, seat: target + number(self.ante)}
            yield from self._from((*words, word), other, raised, step, raises + 1, {seat})

    def _targets(self, theirs: Fraction, last_raise: Fraction, raises: int) -> list[Fraction]:
        """The possible raises, as totals without the ante."""
        bet = theirs - number(self.ante)
        most = self.stack - number(self.ante)
        pot = self.dead + 2 * theirs
        targets = set()
        if self.allin == "always" or (
            self.allin != "never" and most - bet <= number(self.allin) * pot
        ):
            targets.add(most)
        if self.raise_sizes and (self.raise_cap is None or raises < self.raise_cap):
            level = self.raise_sizes[min(raises, len(self.raise_sizes) - 1)]
            for size in level:
                target = max(wanted(size, bet, most, pot, self.unit), bet + last_raise)
                then = self.dead + 2 * (number(self.ante) + target)
                close = to_chips(number(self.force_allin_threshold) * then, self.unit)
                targets.add(target if most - target > close else most)
        return sorted(targets)

    def _showdown(self) -> dict[str, tuple[Fraction, Fraction, Fraction]]:
        rake = self._rake(self.dead + 2 * self.stack)
        half = self.dead / 2
        return {
            "SB": (self.dead + self.stack - rake, half - rake / 2, -self.stack),
            "BB": (self.stack - rake, -half - rake / 2, -self.stack - self.dead),
        }

    def _fold(
        self, folder: str, put_in: dict[str, Fraction]
    ) -> dict[str, tuple[Fraction, Fraction, Fraction]]:
        matched = put_in[folder]
        lost = matched + (self.dead if folder == "BB" else 0)
        won = lost
        if not self.no_flop_no_drop:
            won -= self._rake(self.dead + 2 * matched)
        return {folder: (-lost,) * 3, OTHER[folder]: (won,) * 3}

    def _rake(self, pot: Fraction) -> Fraction:
        rake = number(self.rake) * pot
        return rake if self.rake_cap is None else min(rake, number(self.rake_cap))


def number(value: float | str) -> Fraction:
    """The number as it is written."""
    return Fraction(str(value))


def to_chips(big_blinds: Fraction, unit: Decimal) -> Fraction:
    """To the nearest unit, a half up."""
    # Products of decimals of a few digits: the division has no rest.
    exact = Decimal(big_blinds.numerator) / Decimal(big_blinds.denominator)
    return Fraction(exact.quantize(unit, ROUND_HALF_UP))


def wanted(size: Size, bet: Fraction, most: Fraction, pot: Fraction, unit: Decimal) -> Fraction:
    """The total that a size asks for."""
    text = str(size)
    if text == "a":
        return most
    if text.endswith("bb"):
        return to_chips(number(text[:-2]), unit)
    if text.endswith("c"):
        return number(text[:-1]) / 100
    if text.endswith("%"):
        return bet + to_chips(number(text[:-1]) / 100 * pot, unit)
    return to_chips(number(text.removesuffix("x")) * bet, unit)
