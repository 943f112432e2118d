"""The rules of the betting before the flop: stacks, blinds, antes, raise sizes and rake.

Rules count in chips, people in big blinds: `PreflopRules.parse` reads what users write.

**Raise sizes.** `[2.5]` opens to 2.5 bb, 3-bets to 6.25 bb and so on: the entries are for the first
raise, the second, …, and the last one serves all later raises. A plain number multiplies the last
bet; any other size is written as after the flop. An entry may be a list, a choice of sizes for that
raise: `[[2, 3], "9bb", "50%"]`. Players who differ have separate lists:
`{sb: [2.5], bb: [3.5, 4]}`.

Or each raise is named, and a raise that is not named is all-in only:

    {open: [2, 2.5], over_limp: 3bb, 3bet: {bb: [3.5], sb: [3]}, 4bet+: 2.3}

`over_limp` is the big blind's raise over a limp; without it the sizes of `open` serve. `4bet+` is
the 4-bet and every later raise. Heads-up a 3-bet of the big blind is one over an open, and one of
the small blind comes after he has limped, so that a name and a seat identify every raise.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
    read_share,
    read_size,
    sizes_text,
)
from allstreets.betting.table import (
    CHIPS_PER_BB,
    GRAINS,
    IP,
    LARGEST_CHIPS,
    OOP,
    Player,
    bb_text,
    exact,
    grains_for,
    neat,
)

# The sizes of the first raise, of the second, …; the last entry serves all later raises.
RaiseLevels = tuple[Sizes, ...]

# What a user may write for them.
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
ALWAYS, NEVER = "always", "never"  # `preflop_allin` in words


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
    match = NAMED_RAISE.fullmatch(str(key).lower())
    return int(match[1]) if match else 0


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
            f"'{word}' is not a raise: a plain number multiplies the last bet: write 2.5{share}"
        )
    return TimesLastBet(factor)


@dataclass(frozen=True)
class PreflopRules:
    """The rules of betting before the flop; all amounts in chips.

    stack:        chips of each player before antes and blinds (the shorter stack of the two)
    raise_sizes:  of OOP (the big blind) and of IP (the small blind), by the raises made before
    raise_cap:    how many raises there may be, the blinds not counted; None: until all-in. The
                  all-in may be offered past the cap too
    ante:         posted by each player first; it counts as put in, but not towards a bet
    small_blind:  posted by IP, as far as his stack reaches
    big_blind:    posted by OOP, as far as his stack reaches
    force_allin_threshold:  a raise is made all-in if, once called, it would leave at most this
                            many times the pot then, to the nearest chip
    rake:             fraction of the pot that the house takes from its winner
    rake_cap:         the most that it takes; None: no cap
    no_flop_no_drop:  no rake where a player folds before the flop
    bb_ante:          posted by OOP for both; dead money, in the middle from the start
    limp:             whether IP may call the big blind when he acts first
    allin_spr:        all-in is offered besides the sizes where what is behind after a call is at
                      most this many times the pot; None: always, 0: never
    lines:        the tree line by line (`listed_tree`), instead of sizes, cap, limp and all-in
    """

    stack: float
    raise_sizes: tuple[RaiseLevels, RaiseLevels]
    raise_cap: int | None
    ante: float = 0
    small_blind: float = CHIPS_PER_BB // 2
    big_blind: float = CHIPS_PER_BB
    force_allin_threshold: float = 0.0
    rake: float = 0.0
    rake_cap: float | None = None
    no_flop_no_drop: bool = True
    bb_ante: float = 0
    limp: bool = True
    allin_spr: float | None = None
    lines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_chips("stack", self.stack, 1)
        _check_chips("ante", self.ante, 0)
        _check_chips("bb_ante", self.bb_ante, 0)
        _check_chips("small_blind", self.small_blind, 0)
        _check_chips("big_blind", self.big_blind, 1)
        if self.small_blind > self.big_blind:
            raise InputError(
                f"small_blind {bb_text(self.small_blind)} bb is larger than big_blind "
                f"{bb_text(self.big_blind)} bb: swap them"
            )
        if self.bb_ante >= self.stack:
            raise InputError(
                f"bb_ante {bb_text(self.bb_ante)} bb is the whole stack of {bb_text(self.stack)} "
                "bb: give a smaller one"
            )
        _check_cap(self.raise_cap)
        for name in ("force_allin_threshold", "rake", "rake_cap", "allin_spr"):
            if name not in ("rake_cap", "allin_spr") or getattr(self, name) is not None:
                _check_not_negative(name, getattr(self, name))
        if self.rake >= 1:
            raise InputError(f"rake {self.rake:g} is a fraction of the pot: write 0.05 for 5 %")

    @classmethod
    def parse(
        cls,
        stack_depth: float,
        raise_sizes: RaiseSizesInput = 2.5,
        raise_cap: int | None = 4,
        *,
        ante: float = 0,
        small_blind: float = 0.5,
        big_blind: float = 1,
        force_allin_threshold: float = 0.0,
        rake: str | float = 0.0,
        rake_cap: float | None = None,
        no_flop_no_drop: bool = True,
        bb_ante: float = 0,
        limp: bool = True,
        allin: str | float = ALWAYS,
        lines: Iterable[str] = (),
    ) -> "PreflopRules":
        """Read rules as users write them: stack, antes, blinds and `rake_cap` in big blinds.

        `allin` is "always", "never" or the largest stack-to-pot ratio at which it is offered.

        >>> PreflopRules.parse(20, [2.5], ante=0.1).ante
        10
        """
        cap = None
        if rake_cap is not None:
            _check_not_negative("rake_cap", rake_cap)
            cap = float(exact("rake_cap", rake_cap) * CHIPS_PER_BB)
        return cls(
            stack=_chips("stack_depth", stack_depth),
            raise_sizes=parse_raise_sizes(raise_sizes),
            raise_cap=raise_cap,
            ante=_chips("ante", ante),
            small_blind=_chips("small_blind", small_blind),
            big_blind=_chips("big_blind", big_blind),
            force_allin_threshold=force_allin_threshold,
            rake=read_share("rake", rake),
            rake_cap=cap,
            no_flop_no_drop=no_flop_no_drop,
            bb_ante=_chips("bb_ante", bb_ante),
            limp=limp,
            allin_spr=read_allin(allin),
            lines=tuple(lines),
        )

    @property
    def playing_stack(self) -> float:
        """Chips of each player for ante, blind and bets: OOP's, who posts the big-blind ante."""
        return neat(self.stack - self.bb_ante)

    @property
    def grains(self) -> int:
        """The number of parts in which a chip can be bet."""
        return grains_for(self.stack, self.ante, self.bb_ante, self.small_blind, self.big_blind)

    def posted(self, player: Player) -> float:
        """Ante and blind of a player, or his whole stack where that is less."""
        blind = self.big_blind if player == OOP else self.small_blind
        return neat(min(self.ante + blind, self.playing_stack))

    def sizes_of(self, player: Player, raises: int) -> Sizes:
        """The sizes of a player where `raises` raises have been made."""
        levels = self.raise_sizes[player]
        return levels[min(raises, len(levels) - 1)] if levels else ()


def read_allin(given: str | float) -> float | None:
    """`allin_spr` as the user writes it: always, never, or a stack-to-pot ratio.

    >>> read_allin("always"), read_allin("never"), read_allin(4)
    (None, 0.0, 4.0)
    """
    if given == ALWAYS:
        return None
    if given == NEVER:
        return 0.0
    if isinstance(given, str) or exact("the all-in before the flop", given) < 0:
        raise InputError(f"'{given}': write always, never, or the largest SPR at which it is, as 4")
    return float(given)


def _chips(name: str, big_blinds: object) -> float:
    chips = exact(name, big_blinds) * CHIPS_PER_BB
    if (chips * GRAINS).denominator != 1:
        raise InputError(f"{name} {big_blinds} bb has too many decimals: write four at most")
    return int(chips) if chips.denominator == 1 else float(chips)


def _check_chips(name: str, value: object, smallest: int) -> None:
    chips = exact(name, value)
    if not smallest <= chips <= LARGEST_CHIPS:
        raise InputError(
            f"{name} {bb_text(float(chips))} bb is not between {bb_text(smallest)} bb and "
            f"{bb_text(LARGEST_CHIPS)} bb"
        )
    if (chips * GRAINS).denominator != 1:
        raise InputError(f"{name} {value} chips has too many decimals: write two at most")


def _check_cap(value: object) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if value is not None and not is_count:
        raise InputError(
            f"raise_cap {value!r} is not a count: write 0, 1, 2, …, or nothing for no cap"
        )


def _check_not_negative(name: str, value: float) -> None:
    if exact(name, value) < 0:
        raise InputError(f"{name} {value:g} is negative: write 0 to switch it off")


def posted_text(rules: PreflopRules) -> str:
    """Describe the blinds and antes: "blinds 0.5/1 bb, ante 0.1 bb"."""
    blinds = f"blinds {bb_text(rules.small_blind)}/{bb_text(rules.big_blind)} bb"
    return ", ".join(text for text in (blinds, ante_text(rules)) if text)


def ante_text(rules: PreflopRules) -> str:
    """The antes, "" where there are none: "ante 0.1 bb", "big-blind ante 1 bb"."""
    parts = []
    if rules.ante:
        parts.append(f"ante {bb_text(rules.ante)} bb")
    if rules.bb_ante:
        parts.append(f"big-blind ante {bb_text(rules.bb_ante)} bb")
    return ", ".join(parts)


def raises_text(rules: PreflopRules) -> str:
    """Describe the raises: "raises 2.5x and all-in", "no limp, raises none and all-in"."""
    if rules.lines:
        return f"a tree of {len(rules.lines):,} lines"
    own = [_seat_raises_text(rules, player) for player in (IP, OOP)]
    sizes = own[0] if own[0] == own[1] else f"SB {own[0]}, BB {own[1]}"
    limp = "" if rules.limp else "no limp, "
    return f"{limp}raises {sizes}{_allin_text(rules)}"


def _seat_raises_text(rules: PreflopRules, player: Player) -> str:
    """The raise sizes of a player: "2.5x then 3x"; the last of them serve all later raises."""
    return (
        " then ".join(sizes_text(sizes) or "none" for sizes in rules.raise_sizes[player]) or "none"
    )


def _allin_text(rules: PreflopRules) -> str:
    """The all-in that is offered beside the sizes; it follows their text."""
    if rules.allin_spr is None:
        return " and all-in"
    return f" and all-in at an SPR of {rules.allin_spr:g} or less" if rules.allin_spr else ""
