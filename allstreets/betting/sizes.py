"""The language of bet sizes: reading it and printing it.

| text              | bet                             | raise                                      |
|-------------------|---------------------------------|--------------------------------------------|
| `50%`, `0.5`      | half the pot                    | to the bet + 50 % of the pot after calling |
| `2.5x`            | –                               | to 2.5 times the last bet                  |
| `3bb`             | 3 big blinds                    | to 3 big blinds                            |
| `100c`            | 100 chips                       | to 100 chips                               |
| `e`               | geometric: all-in by the river  | the same; earlier raises count as steps    |
| `2e`              | geometric: all-in in 2 streets  | the same; earlier raises count as steps    |
| `e200%`, `2e200%` | geometric, at most 200 % of pot | the same                                   |
| `a`               | all-in                          | all-in                                     |

A size says what a player would like to bet; `menu.py` works out what he may bet.
Numbers are decimals, not binary fractions: 35 % of 30 chips is exactly 10.5 on every machine.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from allstreets.base import InputError

# Long enough for every float that Python prints, short enough for exact decimal arithmetic.
NUMBER = r"\d{1,6}(?:\.\d{0,20})?|\.\d{1,20}"
PLAIN = re.compile(NUMBER)
PERCENT = re.compile(rf"({NUMBER})%")
TIMES = re.compile(rf"({NUMBER})x")
BIG_BLINDS = re.compile(rf"({NUMBER})bb")
CHIPS = re.compile(r"(\d{1,9}(?:\.\d{1,2})?)c")
GEOMETRIC = re.compile(rf"(\d{{0,2}})e(?:({NUMBER})%)?")
ALL_IN_WORDS = ("a", "allin", "all-in")

# A bare 33 is far more likely to mean 33 % than 33 times the pot.
LARGEST_BARE_NUMBER = 10

FORMS = "write 50% or 0.5 (of the pot), 3bb, 100c (chips), e, 2e (geometric) or a (all-in)"
RAISE_FORMS = FORMS.replace("3bb", "2.5x (times the last bet), 3bb")


@dataclass(frozen=True)
class PotShare:
    """A fraction of the pot; for a raise, of the pot after calling, on top of the call."""

    share: Decimal

    def __str__(self) -> str:
        return f"{_plain(self.share * 100)}%"


@dataclass(frozen=True)
class TimesLastBet:
    """A raise to a multiple of the last bet."""

    factor: Decimal

    def __str__(self) -> str:
        return f"{_plain(self.factor)}x"


@dataclass(frozen=True)
class BigBlinds:
    """A bet of, or a raise to, a number of big blinds."""

    count: Decimal

    def __str__(self) -> str:
        return f"{_plain(self.count)}bb"


@dataclass(frozen=True)
class Chips:
    """A bet of, or a raise to, a number of chips."""

    chips: Decimal | int

    def __str__(self) -> str:
        return f"{_plain(Decimal(self.chips))}c"


@dataclass(frozen=True)
class Geometric:
    """The same fraction of the pot on each of `streets` streets, the last of them all-in.

    Without `streets`: as many as are left. The fraction does not exceed `cap`.
    """

    streets: int | None = None
    cap: Decimal | None = None

    def __str__(self) -> str:
        cap = "" if self.cap is None else f"{_plain(self.cap * 100)}%"
        return f"{'' if self.streets is None else self.streets}e{cap}"


@dataclass(frozen=True)
class AllIn:
    """Everything."""

    def __str__(self) -> str:
        return "a"


BetSize = PotShare | TimesLastBet | BigBlinds | Chips | Geometric | AllIn
Sizes = tuple[BetSize, ...]

# What a user may write for sizes: "33%,75%,a", 0.5, ["33%", 0.75, "a"] or sizes.
SizesInput = str | float | Iterable[str | float | BetSize]


def parse_sizes(given: SizesInput, *, raises: bool = False, what: str = "") -> Sizes:
    """Read a list of sizes, or a text with commas; no sizes at all mean no bet.

    `raises` says that the sizes are for raises, the only place for "2.5x". `what` names the list
    in error messages.

    >>> [str(size) for size in parse_sizes("33%, .75, A")]
    ['33%', '75%', 'a']
    """
    list_name = what or ("raise sizes" if raises else "bet sizes")
    if isinstance(given, Mapping) or not isinstance(given, Iterable | float | int):
        raise InputError(f"{list_name}: {given!r} is not a list of sizes such as [33%, 75%, a]")
    entries = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    sizes: list[BetSize] = []
    for entry in entries:
        words: list[str | float | BetSize] = [entry]
        if isinstance(entry, str):
            # "33%," and "" are lists too: of one size and of none.
            words = [word.strip() for word in entry.split(",") if word.strip()]
        for word in words:
            sizes.append(_read_entry(word, len(sizes) + 1, raises, list_name))
    return tuple(sizes)


def sizes_text(sizes: Iterable[BetSize]) -> str:
    """The canonical text of a list of sizes, which reads back as the same list."""
    return ",".join(map(str, sizes))


def read_share(name: str, given: object) -> float:
    """A share of the pot, of rake say: "5%" or 0.05.

    >>> read_share("rake", "5%"), read_share("rake", 0.05)
    (0.05, 0.05)
    """
    if isinstance(given, str):
        word = given.strip()
        if match := PERCENT.fullmatch(word):
            return float(Decimal(match[1]) / 100)
        if PLAIN.fullmatch(word):
            return float(word)
    elif isinstance(given, int | float) and not isinstance(given, bool):
        return float(given)
    raise InputError(f"{name} {given!r} is not a share of the pot: write 5% or 0.05")


def _read_entry(entry: object, position: int, raises: bool, place: str) -> BetSize:
    try:
        if isinstance(entry, str):
            size = read_size(entry, raises=raises)
        elif isinstance(entry, int | float) and not isinstance(entry, bool):
            size = _read_number(entry)
        elif isinstance(entry, BetSize):
            size = entry
        else:
            raise InputError(f"{entry!r} is not a bet size: {RAISE_FORMS if raises else FORMS}")
        if isinstance(size, TimesLastBet) and not raises:
            raise InputError(
                f"'{size}': a multiple of the last bet is for raises only: "
                "give a bet as 50% of the pot, 3bb or 100c"
            )
    except InputError as error:
        raise InputError(f"{place}, entry {position}: {error}") from None
    return size


def read_size(text: str, *, raises: bool = False) -> BetSize:
    """Read one size.

    >>> read_size("3e200%")
    Geometric(streets=3, cap=Decimal('2'))
    """
    word = text.lower()
    if word in ALL_IN_WORDS:
        return AllIn()
    if match := GEOMETRIC.fullmatch(word):
        return _geometric(text, match[1], match[2])
    if match := PERCENT.fullmatch(word):
        return PotShare(_positive(text, match[1]) / 100)
    if match := BIG_BLINDS.fullmatch(word):
        return BigBlinds(_positive(text, match[1]))
    if match := CHIPS.fullmatch(word):
        chips = _positive(text, match[1])
        return Chips(int(chips) if chips == int(chips) else chips)
    if match := TIMES.fullmatch(word):
        return _times_last_bet(text, match[1])
    if PLAIN.fullmatch(word):
        return _bare_number(text, word)
    raise InputError(f"'{text}' is not a bet size: {RAISE_FORMS if raises else FORMS}")


def _read_number(number: float) -> PotShare:
    """A number of Python or YAML: printed in full, it must be a plain decimal."""
    text = str(number)
    if not PLAIN.fullmatch(text):
        raise InputError(
            f"{text} is not a fraction of the pot: write 0.5 for half the pot"
            + (", and for no bet an empty list" if number == 0 else "")
        )
    return _bare_number(text, text)


def _bare_number(text: str, word: str) -> PotShare:
    share = _positive(text, word)
    if share > LARGEST_BARE_NUMBER:
        raise InputError(
            f"'{text}' without a unit is {text} times the pot: write {text}% of the pot, "
            f"{text}bb or {text}c (chips)"
        )
    return PotShare(share)


def _times_last_bet(text: str, factor_text: str) -> TimesLastBet:
    factor = _positive(text, factor_text)
    if factor <= 1:
        raise InputError(f"'{text}' is not a raise: 2x is the smallest raise of a first bet")
    return TimesLastBet(factor)


def _geometric(text: str, streets_text: str, cap_text: str | None) -> Geometric:
    streets = int(streets_text) if streets_text else None
    if streets == 0:
        raise InputError(f"'{text}': all-in in 0 streets: write e, 1e, 2e or 3e")
    return Geometric(streets, None if cap_text is None else _positive(text, cap_text) / 100)


def _positive(text: str, number: str) -> Decimal:
    value = Decimal(number)
    if not value:
        raise InputError(f"'{text}' bets nothing: leave it out, a check is always offered")
    return value


def _plain(number: Decimal) -> str:
    """A decimal without exponent and without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
