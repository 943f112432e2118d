"""The rules of a postflop game: pot, stack, the sizes that players use, and the rake.

A spot file writes them like this:

    board: Ks7d4c9h2s
    pot: 100
    stack: 500
    bet_sizes:
      river_oop: {bet: [33%, 75%, a], raise: [60%, a]}
      river_ip: {bet: [33%, 75%, a], raise: [60%, a]}
    force_allin_threshold: 0.1

Edits add single sizes at one node, or remove them. A line is followed while the tree grows. Cards
are no part of the tree: `| * |` stands for any.

    edit:
      - {line: "x b33%", add: 150%}
      - {line: "x x | * |", remove: b75%}
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from allstreets.base import InputError, suggest
from allstreets.betting.sizes import (
    BigBlinds,
    Sizes,
    SizesInput,
    TimesLastBet,
    parse_sizes,
    read_share,
    sizes_text,
)
from allstreets.betting.table import (
    IP,
    OOP,
    Player,
    Street,
    check_chips,
    grains_for,
    street_of_board,
)
from allstreets.cards import parse_board

DEAL = "|"  # among the words of an edit: a card is dealt
KEYS = ("line", "add", "remove")


@dataclass(frozen=True)
class Edit:
    """Sizes that a node has beside those of its street, and bets that it does not have."""

    words: tuple[str, ...]  # the way to the node
    add: Sizes = ()
    remove: tuple[str, ...] = ()  # as in a line: "b75%", "r120", "a"

    @classmethod
    def from_mapping(cls, keys: Mapping[str, Any]) -> "Edit":
        """Read an edit as a spot file has it."""
        for key in keys:
            if key not in KEYS:
                raise InputError(f"edit: unknown key '{key}': {suggest(str(key), KEYS)}")
        line = str(keys.get("line") or "")
        what = f"edit '{line}'"
        add, remove = keys.get("add"), keys.get("remove")
        if not add and not remove:
            raise InputError(f"{what}: say what to 'add' (150%) or to 'remove' (b75%)")
        sizes = parse_sizes(add, raises=True, what=f"{what}, add") if add else ()
        texts: Iterable[str] = remove.split(",") if isinstance(remove, str) else remove or ()
        words = tuple(str(word).strip() for word in texts if str(word).strip())
        return cls(_words(line), sizes, words)

    def mapping(self) -> dict[str, Any]:
        """The edit as a spot file has it."""
        keys: dict[str, Any] = {"line": self.line}
        if self.add:
            keys["add"] = sizes_text(self.add)
        if self.remove:
            keys["remove"] = ",".join(self.remove)
        return keys

    @property
    def line(self) -> str:
        """The line as text."""
        return " ".join("| * |" if word == DEAL else word for word in self.words)


def _words(line: str) -> tuple[str, ...]:
    words: list[str] = []
    for position, part in enumerate(line.split(DEAL)):
        if position % 2:
            if part.strip() != "*":
                raise InputError(
                    f"edit '{line}': '{part.strip()}': the tree is the same for every card: "
                    "write | * |"
                )
            words.append(DEAL)
        else:
            words += part.split()
    return tuple(words)


HandChances = tuple[tuple[int, tuple[float, ...]], ...]
"""Hand classes, and how often each takes the actions of a decision."""
# Keys of a spot that are rules under the same name.
OTHERS = (
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
    "rake_cap",
    "max_raises",
    "chips_per_bb",
    "grains",
)


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
        """The number of parts in which a chip can be bet."""
        if self.grains is not None:
            return self.grains
        return grains_for(self.pot, self.stack, self.chips_per_bb, self.min_bet)

    def _check_big_blinds(self) -> None:
        for street in self.sizes:
            for player_sizes in street:
                _refuse_big_blinds(
                    (*player_sizes.bet, *player_sizes.raises, *(player_sizes.donk or ()))
                )
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


def rules_from_spot(spot: Mapping[str, Any]) -> PostflopRules:
    """The rules that a spot file describes; keys that are not rules (ranges, name) are ignored.

    The board gives the street. `bet_sizes` has a key for each street and player, "river_oop", with
    the lists `bet`, `raise` and, for OOP, `donk`. Sizes of streets before the board's are ignored,
    so that a spot can be solved again from a later street. A list `donk` beside `bet_sizes` serves
    every later street without its own list. Where `chips_per_bb` says what a big blind is, a
    bet is at least one, unless `min_bet` names another amount.
    """
    for key in ("board", "pot", "stack", "bet_sizes"):
        if key not in spot:
            raise InputError(f"the spot has no {key}")
    street = street_of_board(parse_board(spot["board"]))
    min_bet = spot.get("min_bet")
    return PostflopRules(
        street=street,
        pot=spot["pot"],
        stack=spot["stack"],
        sizes=sizes_from_spot(spot["bet_sizes"], street, spot.get("donk")),
        rake=read_share("rake", spot.get("rake", 0.0)),
        min_bet=(spot.get("chips_per_bb") or 0) if min_bet is None else min_bet,
        **{key: spot[key] for key in OTHERS if key in spot},
    )


def sizes_from_spot(
    bet_sizes: Mapping[str, Any], first: Street, donk: SizesInput | None = None
) -> tuple[StreetSizes, ...]:
    """The sizes of the streets from `first` on out of a spot's `bet_sizes`."""
    keys = {
        f"{street.text}_{player.name.lower()}": (street, player)
        for street in Street
        if street != Street.PREFLOP
        for player in Player
    }
    if not isinstance(bet_sizes, Mapping):
        raise InputError("bet_sizes: write river_oop: {bet: [...], raise: [...]} and so on")
    for key in bet_sizes:
        if key not in keys:
            raise InputError(f"bet_sizes has an unknown key '{key}': {suggest(str(key), keys)}")
    by_player: dict[tuple[Street, Player], PlayerSizes] = {}
    for key, (street, player) in keys.items():
        if street < first:
            continue
        if key not in bet_sizes:
            raise InputError(
                f"bet_sizes has no {key}: write {key}: {{bet: [], raise: []}} if this player "
                f"never bets on the {street.text}"
            )
        leads = player == OOP and street > first
        by_player[street, player] = _player_sizes(key, bet_sizes[key], donk if leads else None)
    return tuple(
        (by_player[street, OOP], by_player[street, IP]) for street in Street if street >= first
    )


def _player_sizes(
    key: str, lists: Mapping[str, Any], default_donk: SizesInput | None
) -> PlayerSizes:
    known = ("bet", "raise", "donk")
    if not isinstance(lists, Mapping):
        raise InputError(f"bet_sizes {key}: write {{bet: [...], raise: [...]}}")
    for name in lists:
        if name not in known:
            raise InputError(
                f"bet_sizes {key} has an unknown key '{name}': {suggest(str(name), known)}"
            )
    donk = lists.get("donk")
    return PlayerSizes.parse(
        _given(lists, "bet"), _given(lists, "raise"), default_donk if donk is None else donk, key
    )


def _given(lists: Mapping[str, Any], name: str) -> Any:
    """A list of sizes as given; one that is left out or left empty is the empty list."""
    value = lists.get(name)
    return () if value is None else value
