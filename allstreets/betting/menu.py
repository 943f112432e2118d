"""The menu of bets: from the sizes that a player uses to the legal actions on offer.

1. A size becomes an amount, rounded to the nearest grain (a chip, or a hundredth of one where
   amounts have decimals): the total on this street.
2. It is brought up to the legal minimum, and down to all-in.
3. A bet that leaves too little behind becomes all-in (`force_allin_threshold`).
4. All-in is added where it is small enough (`add_allin_threshold`).
5. Equal amounts are offered once; close ones are merged (`merging_threshold`).
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from allstreets.betting.rules import PostflopRules
from allstreets.betting.sizes import (
    AllIn,
    BetSize,
    BigBlinds,
    Chips,
    Geometric,
    PotShare,
    Sizes,
    TimesLastBet,
)


@dataclass(frozen=True, slots=True)
class Situation:
    """A player who may bet or raise; amounts are totals on this street, in grains.

    A raise is a bet into the pot as it is after calling, so bets and raises share one arithmetic.
    """

    pot: int  # all chips in the middle, the call of the player to act included
    last_bet: int  # what the opponent has put in; 0 where there is no bet
    own_bet: int  # what the player has put in
    all_in: int  # the most that he can put in
    streets_left: int  # this one included
    raises: int = 0  # made on this street before, the first bet not counted
    min_bet: int = 1  # a big blind, where there is one

    @property
    def smallest(self) -> int:
        """The legal minimum: raise by at least the last raise, bet at least a big blind."""
        return max(self.last_bet + (self.last_bet - self.own_bet), self.min_bet)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds of the rules, exact: 0.29 of 100 chips is 29, not 28.999…"""

    add_allin: Fraction = Fraction(0)
    force_allin: Fraction = Fraction(0)
    merging: Fraction = Fraction(0)

    @classmethod
    def of(cls, rules: PostflopRules) -> "Thresholds":
        """The thresholds of these rules."""
        return cls(
            _exact(rules.add_allin_threshold),
            _exact(rules.force_allin_threshold),
            _exact(rules.merging_threshold),
        )


def amounts_offered(
    sizes: Sizes,
    situation: Situation,
    thresholds: Thresholds,
    chips_per_bb: float | None,
    grains: int = 1,
) -> list[int]:
    """The totals that a player may bet or raise to, rising; `situation.all_in` is the all-in.

    A player without sizes never bets: `add_allin_threshold` does not add the only bet. `grains`
    are those of a chip.
    """
    if not sizes:
        return []
    amounts = {
        _legal(amount_of(size, situation, chips_per_bb, grains), situation, thresholds.force_allin)
        for size in sizes
    }
    most = situation.all_in - situation.last_bet
    if most <= _portion(thresholds.add_allin, situation.pot):
        amounts.add(situation.all_in)
    return _merged(sorted(amounts), situation, thresholds.merging)


def amount_of(
    size: BetSize, situation: Situation, chips_per_bb: float | None, grains: int = 1
) -> int:
    """The total that a size stands for, to the nearest grain, legal or not."""
    match size:
        case PotShare(share):
            return situation.last_bet + _portion(share, situation.pot)
        case TimesLastBet(factor):
            return _portion(factor, situation.last_bet)
        case BigBlinds(count):
            assert chips_per_bb is not None  # rules without it refuse such a size
            return _portion(Fraction(count) * _exact(chips_per_bb), grains)
        case Chips(chips):
            return _portion(Fraction(chips), grains)
        case Geometric(streets, cap):
            return situation.last_bet + _geometric(streets, cap, situation)
        case AllIn():
            return situation.all_in


def lowest_bet(size: BetSize, pot: float, chips_per_bb: float) -> float:
    """The fewest chips that a size bets into this pot or a larger pot; all-in sets no limit."""
    match size:
        case PotShare(share):
            return float(share) * pot
        case BigBlinds(count):
            return float(count) * chips_per_bb
        case Chips(chips):
            return float(chips)
        case AllIn():
            return math.inf
        case _:
            return 0.0  # geometric sizes shrink with the stack


def _geometric(streets: int | None, cap: Decimal | None, situation: Situation) -> int:
    """Chips on top of the call of a geometric size.

    A bet of r pots that is called makes the pot 1 + 2r times as large, so r follows from
    (1 + 2r)^steps = 1 + 2·stack/pot. Every raise before this one has taken a step already.
    """
    stack = situation.all_in - situation.last_bet
    steps = max((streets or situation.streets_left) - situation.raises, 1)
    growth = (1 + 2 * stack / situation.pot) ** (1 / steps)
    chips = int((growth - 1) / 2 * situation.pot + 0.5)
    return chips if cap is None else min(chips, _portion(cap, situation.pot))


def _legal(amount: int, situation: Situation, force_allin: Fraction) -> int:
    """The amount that a size becomes: at least the minimum, at most all-in, all-in if close."""
    amount = max(amount, situation.smallest)
    left = situation.all_in - amount
    pot_if_called = situation.pot + 2 * (amount - situation.last_bet)
    return situation.all_in if left <= _portion(force_allin, pot_if_called) else amount


def _merged(amounts: list[int], situation: Situation, merging: Fraction) -> list[int]:
    """The amounts, less those that are close to a larger one that stays."""
    base = situation.pot - situation.last_bet
    above, below = (1 + merging).as_integer_ratio()
    kept: list[int] = []
    for amount in reversed(amounts):
        # Not (1 + X) / (1 + Y) < 1 + threshold, in whole numbers: 1 + Y is (base + amount) / pot.
        if not kept or below * (base + kept[-1]) >= above * (base + amount):
            kept.append(amount)
    return kept[::-1]


def _portion(share: Decimal | Fraction, chips: int) -> int:
    """`share` times `chips` to the nearest one; a half goes up."""
    above, below = share.as_integer_ratio()
    return (2 * above * chips + below) // (2 * below)


def _exact(number: float) -> Fraction:
    return Fraction(str(number))
