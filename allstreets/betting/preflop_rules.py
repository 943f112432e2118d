"""The rules of the betting before the flop: stacks, blinds, antes, raise sizes and rake.

Rules count in chips, people in big blinds: `PreflopRules.parse` reads what a person writes.
"""

from dataclasses import dataclass

from allstreets.base import InputError
from allstreets.betting.chips import GRAINS, LARGEST_CHIPS, exact, grains_for, neat
from allstreets.betting.preflop_sizes import RaiseLevels, RaiseSizesInput, parse_raise_sizes
from allstreets.betting.sizes import Sizes, read_share
from allstreets.betting.table import CHIPS_PER_BB, OOP, Player, bb_text

ALWAYS, NEVER = "always", "never"  # `preflop_allin` in words


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
    ) -> "PreflopRules":
        """Read rules as a person writes them: stack, antes, blinds and `rake_cap` in big blinds.

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
        )

    @property
    def playing_stack(self) -> float:
        """Each player's chips for ante, blind and bets: OOP's, who posts the big-blind ante."""
        return neat(self.stack - self.bb_ante)

    @property
    def grains(self) -> int:
        """In how many parts a chip can be bet."""
        return grains_for(self.stack, self.ante, self.bb_ante, self.small_blind, self.big_blind)

    def posted(self, player: Player) -> float:
        """Ante and blind of a player: all that he has where his stack is shorter."""
        blind = self.big_blind if player == OOP else self.small_blind
        return neat(min(self.ante + blind, self.playing_stack))

    def sizes_of(self, player: Player, raises: int) -> Sizes:
        """The sizes of a player where `raises` raises have been made."""
        levels = self.raise_sizes[player]
        return levels[min(raises, len(levels) - 1)] if levels else ()


def read_allin(given: str | float) -> float | None:
    """`allin_spr` of what a person writes: always, never, or a stack-to-pot ratio.

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
            f"{name} {bb_text(float(chips))} bb does not lie between {bb_text(smallest)} bb and "
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
