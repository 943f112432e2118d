"""The rules of a postflop game: pot, stack, the sizes that players use, and the rake."""

import math
from dataclasses import dataclass, field

from allstreets.base import InputError
from allstreets.betting.chips import check_chips, grains_for
from allstreets.betting.edits import Edit
from allstreets.betting.sizes import BigBlinds, Sizes, SizesInput, TimesLastBet, parse_sizes
from allstreets.betting.table import IP, OOP, Player, Street


@dataclass(frozen=True)
class PlayerSizes:
    """The sizes of one player on one street.

    bet:     where there is no bet on this street yet
    raises:  on top of a bet or raise
    donk:    where OOP leads into the player who made the last bet or raise of the street before;
             None: he uses his bet sizes there too
    """

    bet: Sizes = ()
    raises: Sizes = ()
    donk: Sizes | None = None

    def __post_init__(self) -> None:
        for name in ("bet", "donk"):
            if any(isinstance(size, TimesLastBet) for size in getattr(self, name) or ()):
                raise InputError(f"{name} sizes: a multiple of the last bet is for raises only")

    @classmethod
    def parse(
        cls, bet: SizesInput, raises: SizesInput, donk: SizesInput | None = None, what: str = ""
    ) -> "PlayerSizes":
        """Read the three lists; `what` names them in error messages."""
        prefix = f"{what} " if what else ""
        return cls(
            parse_sizes(bet, what=f"{prefix}bet sizes"),
            parse_sizes(raises, raises=True, what=f"{prefix}raise sizes"),
            None if donk is None else parse_sizes(donk, what=f"{prefix}donk sizes"),
        )


HandChances = tuple[tuple[int, tuple[float, ...]], ...]
"""Hand classes, and how often each takes the actions of a decision."""

# The sizes of both players, OOP first, on one street.
StreetSizes = tuple[PlayerSizes, PlayerSizes]


@dataclass(frozen=True)
class PostflopRules:
    """The rules of betting from a street to the river.

    street:   where the game starts; OOP acts first, and there is no bet on this street yet
    pot:      chips in the middle at the start: dead money
    stack:    chips that each player still has (the shorter stack of the two)
    sizes:    the players' sizes by street, from `street` to the river
    add_allin_threshold:    where a player has sizes, all-in is offered as well if it is at most
                            this many times the pot (for a raise: on top of the call, of the pot
                            after calling), to the nearest chip
    force_allin_threshold:  a bet is made all-in if, once called, it would leave at most this many
                            times the pot then, to the nearest chip
    merging_threshold:      going down from the largest bet X, a bet Y (both in pots) is dropped if
                            (1 + X) / (1 + Y) < 1 + threshold, and so on from the next that is kept
    rake:         fraction of the pot that the house takes from its winner
    rake_cap:     the most that it takes, in chips; None: no cap
    max_raises:   how often a street may be raised, its first bet not counted; None: until all-in
    chips_per_bb: what "3bb" counts in; None: such sizes are refused
    min_bet:      the smallest bet, a big blind; 0: whatever can be counted
    bb_ante:      how much more of the starting pot OOP has put in than IP
    grains:       in how many parts a chip can be bet; None: 1 where all amounts are whole, else 100
    edits:        sizes that single nodes have or do not have
    locks:        decisions that are not free: a node of the tree, and how often each of its actions
                  is taken, by every hand that gets there
    hand_locks:   the same for some of the 169 hands
    """

    street: Street
    pot: float
    stack: float
    sizes: tuple[StreetSizes, ...]
    add_allin_threshold: float = 0.0
    force_allin_threshold: float = 0.0
    merging_threshold: float = 0.0
    rake: float = 0.0
    rake_cap: float | None = None
    max_raises: int | None = None
    chips_per_bb: float | None = None
    min_bet: float = 0
    bb_ante: float = 0
    grains: int | None = None
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    locks: tuple[tuple[int, tuple[float, ...]], ...] = field(default=(), repr=False)
    hand_locks: tuple[tuple[int, HandChances], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        check_chips("pot", self.pot, 0.01)
        check_chips("stack", self.stack, 0)
        check_chips("min_bet", self.min_bet, 0)
        if self.chips_per_bb is not None:
            check_chips("chips_per_bb", self.chips_per_bb, 0.01)
        for name in ("add_allin_threshold", "force_allin_threshold", "merging_threshold"):
            _check_number(name, getattr(self, name))
        _check_number("rake", self.rake)
        if self.rake >= 1:
            raise InputError(f"rake {self.rake:g} is a fraction of the pot: write 0.05 for 5 %")
        if self.rake_cap is not None:
            _check_number("rake_cap", self.rake_cap)
        if self.max_raises is not None:
            _check_count("max_raises", self.max_raises)
        if self.street == Street.PREFLOP:
            raise InputError("postflop rules start on the flop, the turn or the river")
        if len(self.sizes) != self.street.left:
            raise InputError(
                f"sizes for {len(self.sizes)} streets, but from the {self.street.text} to the "
                f"river there are {self.street.left}"
            )
        self._check_donks()
        if self.chips_per_bb is None:
            self._check_big_blinds()

    @property
    def grains_per_chip(self) -> int:
        """In how many parts a chip can be bet."""
        if self.grains is not None:
            return self.grains
        return grains_for(self.pot, self.stack, self.chips_per_bb, self.min_bet)

    def _check_big_blinds(self) -> None:
        for street in self.sizes:
            for one in street:
                _refuse_big_blinds((*one.bet, *one.raises, *(one.donk or ())))
        for edit in self.edits:
            _refuse_big_blinds(edit.add)

    def _check_donks(self) -> None:
        for street in Street:
            if street < self.street:
                continue
            if self.sizes_of(street, IP).donk is not None:
                raise InputError(f"{street.text} donk sizes for IP: only OOP can donk")
            if street == self.street and self.sizes_of(street, OOP).donk is not None:
                raise InputError(
                    f"{street.text} donk sizes have no effect on the first street: "
                    "put what OOP may lead into his bet sizes"
                )

    def sizes_of(self, street: Street, player: Player) -> PlayerSizes:
        """The sizes of a player on a street."""
        return self.sizes[street - self.street][player]


def same_sizes(street: Street, bet: SizesInput, raises: SizesInput) -> tuple[StreetSizes, ...]:
    """The same bet and raise sizes for both players on every street from `street` on."""
    sizes = PlayerSizes.parse(bet, raises)
    return ((sizes, sizes),) * street.left


def _refuse_big_blinds(sizes: Sizes) -> None:
    for size in sizes:
        if isinstance(size, BigBlinds):
            raise InputError(
                f"'{size}': the big blind is not defined: give chips_per_bb, or "
                "write 50% (of the pot) or 100c (chips)"
            )


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{name} {value!r} is not a count: write 0, 1, 2, … or leave it out")


def _check_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{name} {value!r} is not a number")
    if value < 0:
        raise InputError(f"{name} {value:g} is negative: write 0 to switch it off")
