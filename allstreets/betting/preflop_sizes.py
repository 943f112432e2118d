"""Raise sizes before the flop: reading what a person writes.

`[2.5]` opens to 2.5 bb, 3-bets to 6.25 bb and so on: the entries are for the first raise, the
second, …, and the last one serves all later raises. A plain number multiplies the last bet; any
other size is written as after the flop. An entry may be a list, a choice of sizes for that raise:
`[[2, 3], "9bb", "50%"]`. Players who differ have lists of their own: `{sb: [2.5], bb: [3.5, 4]}`.

Or every raise has its name, and one that is not named is all-in only:

    {open: [2, 2.5], over_limp: 3bb, 3bet: {bb: [3.5], sb: [3]}, 4bet+: 2.3}

`over_limp` is the big blind's raise over a limp; without it the sizes of `open` serve. `4bet+` is
the 4-bet and every later raise. Heads-up a 3-bet of the big blind is one over an open, and one of
the small blind comes after he has limped, so that a name and a seat identify every raise.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from allstreets.base import InputError, suggest
from allstreets.betting.sizes import (
    LARGEST_BARE_NUMBER,
    PLAIN,
    RAISE_FORMS,
    BetSize,
    Sizes,
    SizesInput,
    TimesLastBet,
    read_size,
)
from allstreets.betting.table import IP, OOP

# The sizes of the first raise, of the second, …; the last entry serves all later raises.
RaiseLevels = tuple[Sizes, ...]

# What a person may hand in for them.
RaiseLevelsInput = str | float | Iterable[SizesInput]
RaiseSizesInput = RaiseLevelsInput | Mapping[str, RaiseLevelsInput | Mapping[str, SizesInput]]

SEATS = {player.seat.lower(): player for player in (IP, OOP)}
OPEN, OVER_LIMP = "open", "over_limp"
NAMED_RAISE = re.compile(r"([3-9])-?bet(\+?)")  # the first raise is a "2-bet"
NAMES = (OPEN, OVER_LIMP, "3bet", "4bet", "5bet+")

FORMS = (
    "write 2.5 or 2.5x (times the last bet), 3bb, 50% (of the pot), 250c (chips), e (geometric) "
    "or a (all-in)"
)


def parse_raise_sizes(given: RaiseSizesInput) -> tuple[RaiseLevels, RaiseLevels]:
    """Read the raise sizes of OOP and IP. No sizes at all leave them the all-in.

    >>> [[str(size) for size in level] for level in parse_raise_sizes([2.5, ["3x", "9bb"]])[IP]]
    [['2.5x'], ['3x', '9bb']]
    """
    if not isinstance(given, Mapping):
        levels = _levels(given, "raise_sizes")
        return levels, levels
    if OPEN in given or OVER_LIMP in given or any(map(_raise_number, given)):
        return _named_levels(given)
    for key in given:
        if key not in SEATS:
            known = (*SEATS, *NAMES)
            raise InputError(f"raise_sizes has an unknown key '{key}': {suggest(str(key), known)}")
    _require_seats(given, "raise_sizes")
    sb, bb = (_levels(given[seat], f"raise_sizes {seat}") for seat in SEATS)
    return bb, sb


def _named_levels(given: Mapping[str, Any]) -> tuple[RaiseLevels, RaiseLevels]:
    """The sizes of raises that have names: of OOP and IP, by the raises made before."""
    if OPEN not in given:
        raise InputError(f"raise_sizes has no {OPEN}: write {OPEN}: [] for all-in only")
    first = _seat_free(given, OPEN)
    over = _seat_free(given, OVER_LIMP) if OVER_LIMP in given else first
    levels: list[tuple[Sizes, Sizes]] = [(over, first)]
    repeats = ""
    for number, key in sorted((_raise_number(key), key) for key in given):
        if key in (OPEN, OVER_LIMP):
            continue
        if not number:
            raise InputError(f"raise_sizes has an unknown key '{key}': {suggest(str(key), NAMES)}")
        if repeats:
            raise InputError(f"raise_sizes: {repeats} is every later raise too, so drop '{key}'")
        if number != len(levels) + 2:
            missing = f"{len(levels) + 2}bet"
            raise InputError(
                f"raise_sizes has '{key}' once too often"
                if number < len(levels) + 2
                else f"raise_sizes has a {key} and no {missing}: write {missing}: [] for all-in "
                "only"
            )
        levels.append(_by_seat(given[key], f"raise_sizes {key}"))
        repeats = key if str(key).endswith("+") else ""
    if not repeats:
        levels.append(((), ()))  # what is not named is all-in only
    return tuple(level[OOP] for level in levels), tuple(level[IP] for level in levels)


def _raise_number(key: object) -> int:
    """3 for "3bet"; 0 for any other text."""
    found = NAMED_RAISE.fullmatch(str(key).lower())
    return int(found[1]) if found else 0


def _seat_free(given: Mapping[str, Any], name: str) -> Sizes:
    """The sizes of a raise that only one player can make."""
    if isinstance(given[name], Mapping):
        who = "small" if name == OPEN else "big"
        raise InputError(f"raise_sizes {name} is the {who} blind's alone: write {name}: [2.5, 3]")
    return _level(given[name], f"raise_sizes {name}")


def _by_seat(given: object, place: str) -> tuple[Sizes, Sizes]:
    """The sizes of a raise of OOP and IP: the same, or each his own."""
    if not isinstance(given, Mapping):
        same = _level(given, place)
        return same, same
    for seat in given:
        if seat not in SEATS:
            raise InputError(f"{place} has an unknown key '{seat}': {suggest(str(seat), SEATS)}")
    _require_seats(given, place)
    return _level(given["bb"], f"{place} bb"), _level(given["sb"], f"{place} sb")


def _require_seats(given: Mapping[str, Any], place: str) -> None:
    for seat in SEATS:
        if seat not in given:
            raise InputError(
                f"{place} has no {seat}: write {seat}: [] if he is to raise all-in only"
            )


def _levels(given: RaiseLevelsInput, place: str) -> RaiseLevels:
    if isinstance(given, str) and "," in given:
        raise InputError(
            f"{place}: '{given}' could be the sizes of one raise or of several: write [2.5, 3] for "
            "the first raise and later ones, [[2.5, 3]] for a choice of two sizes"
        )
    if isinstance(given, str | int | float):
        return (_level(given, place),)
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise InputError(f"{place}: {given!r} is not a list of raise sizes such as [2.5, 3]")
    return tuple(_level(entry, f"{place}, raise {n}") for n, entry in enumerate(given, 1))


def _level(given: object, place: str) -> Sizes:
    """The sizes of one raise: one size, a list, or a text with commas."""
    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        entries: list[object] = list(given)
    else:
        entries = [given]
    sizes: list[BetSize] = []
    try:
        for entry in entries:
            words = entry.split(",") if isinstance(entry, str) else [entry]
            sizes += [_size(word) for word in words if not isinstance(word, str) or word.strip()]
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    return tuple(sizes)


def _size(entry: object) -> BetSize:
    if isinstance(entry, BetSize):
        return entry
    if isinstance(entry, bool) or not isinstance(entry, str | int | float):
        raise InputError(f"{entry!r} is not a raise size: {FORMS}")
    word = str(entry).strip()
    if PLAIN.fullmatch(word):
        return _times_last_bet(word)
    try:
        return read_size(word, raises=True)
    except InputError as error:
        raise InputError(str(error).replace(RAISE_FORMS, FORMS)) from None


def _times_last_bet(word: str) -> TimesLastBet:
    """A bare number above 10 is far more likely to be big blinds, chips or a percentage."""
    factor = Decimal(word)
    if factor > LARGEST_BARE_NUMBER:
        raise InputError(
            f"'{word}' without a unit is {word} times the last bet: write {word}x if you mean it, "
            f"{word}bb, {word}% of the pot or {word}c (chips)"
        )
    if factor <= 1:
        share = f", or {(100 * factor).normalize():f}% for a share of the pot" if factor else ""
        raise InputError(
            f"'{word}' is no raise, since a plain number multiplies the last bet: write 2.5{share}"
        )
    return TimesLastBet(factor)
