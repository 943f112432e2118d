"""The rules of the betting before the flop: stacks, blinds, antes, raise sizes and rake.

Rules count in chips, people in big blinds: `PreflopRules.parse` reads what a person writes.
"""

from dataclasses import dataclass
from fractions import Fraction

from allstreets.base.errors import InputError
from allstreets.betting.preflop_sizes import RaiseLevels, RaiseSizesInput, parse_raise_sizes
from allstreets.betting.rules import LARGEST_CHIPS
from allstreets.betting.sizes import Sizes
from allstreets.betting.table import CHIPS_PER_BB, OOP, Player, bb_text


@dataclass(frozen=True)
class PreflopRules:
    """What the players may do before the flop; all amounts in chips.

    stack:        chips of each player before antes and blinds (the shorter stack of the two)
    raise_sizes:  of OOP (the big blind) and of IP (the small blind), by the raises made before
    raise_cap:    how many raises there may be, the blinds not counted; None: until all-in. All-in
                  is always offered, also past the cap
    ante:         posted by each player first; it counts as put in, but not towards a bet
    small_blind:  posted by IP, as far as his stack reaches
    big_blind:    posted by OOP, as far as his stack reaches
    force_allin_threshold:  a raise is made all-in if, once called, it would leave at most this
                            many times the pot then, to the nearest chip
    rake:             fraction of the pot that the house takes from whoever wins it
    rake_cap:         the most that it takes; None: no cap
    no_flop_no_drop:  no rake where somebody folds before the flop
    """

    stack: int
    raise_sizes: tuple[RaiseLevels, RaiseLevels]
    raise_cap: int | None
    ante: int = 0
    small_blind: int = CHIPS_PER_BB // 2
    big_blind: int = CHIPS_PER_BB
    force_allin_threshold: float = 0.0
    rake: float = 0.0
    rake_cap: float | None = None
    no_flop_no_drop: bool = True

    def __post_init__(self) -> None:
        _check_chips("stack", self.stack, 1)
        _check_chips("ante", self.ante, 0)
        _check_chips("small_blind", self.small_blind, 0)
        _check_chips("big_blind", self.big_blind, 1)
        if self.small_blind > self.big_blind:
            raise InputError(
                f"small_blind {bb_text(self.small_blind)} bb is larger than big_blind "
                f"{bb_text(self.big_blind)} bb: swap them"
            )
        _check_cap(self.raise_cap)
        for name in ("force_allin_threshold", "rake", "rake_cap"):
            if name != "rake_cap" or self.rake_cap is not None:
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
        rake: float = 0.0,
        rake_cap: float | None = None,
        no_flop_no_drop: bool = True,
    ) -> "PreflopRules":
        """Read rules as a person writes them: stack, ante, blinds and `rake_cap` in big blinds.

        >>> PreflopRules.parse(20, [2.5], ante=0.1).ante
        10
        """
        cap = None
        if rake_cap is not None:
            _check_not_negative("rake_cap", rake_cap)
            cap = float(exact("rake_cap", rake_cap) * CHIPS_PER_BB)
        return cls(
            stack=_whole_chips("stack_depth", stack_depth),
            raise_sizes=parse_raise_sizes(raise_sizes),
            raise_cap=raise_cap,
            ante=_whole_chips("ante", ante),
            small_blind=_whole_chips("small_blind", small_blind),
            big_blind=_whole_chips("big_blind", big_blind),
            force_allin_threshold=force_allin_threshold,
            rake=rake,
            rake_cap=cap,
            no_flop_no_drop=no_flop_no_drop,
        )

    def posted(self, player: Player) -> int:
        """Ante and blind of a player: all that he has where his stack is shorter."""
        blind = self.big_blind if player == OOP else self.small_blind
        return min(self.ante + blind, self.stack)

    def sizes_of(self, player: Player, raises: int) -> Sizes:
        """The sizes of a player where `raises` raises have been made."""
        levels = self.raise_sizes[player]
        return levels[min(raises, len(levels) - 1)] if levels else ()


def exact(name: str, value: object) -> Fraction:
    """A number as it is printed: 0.1 is a tenth, not the binary fraction next to it."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return Fraction(str(value))
        except ValueError:
            pass  # nan, inf
    raise InputError(f"{name} {value!r} is not a number")


def _whole_chips(name: str, big_blinds: object) -> int:
    chips = exact(name, big_blinds) * CHIPS_PER_BB
    if chips.denominator != 1:
        raise InputError(
            f"{name} {big_blinds} bb is no whole number of chips: a big blind has {CHIPS_PER_BB}, "
            "so write two decimals at most"
        )
    return int(chips)


def _check_chips(name: str, value: object, smallest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} {value!r} is not a whole number of chips")
    if not smallest <= value <= LARGEST_CHIPS:
        raise InputError(
            f"{name} {bb_text(value)} bb does not lie between {bb_text(smallest)} bb and "
            f"{bb_text(LARGEST_CHIPS)} bb"
        )


def _check_cap(value: object) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if value is not None and not is_count:
        raise InputError(
            f"raise_cap {value!r} is not a count: write 0, 1, 2, …, or nothing for no cap"
        )


def _check_not_negative(name: str, value: float) -> None:
    if exact(name, value) < 0:
        raise InputError(f"{name} {value:g} is negative: write 0 to switch it off")
