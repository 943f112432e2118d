"""A spot: a board, two ranges, a pot, a stack, and bet sizes.

`spot_mapping` writes a spot as plain data: a manifest stores it, and two spots are compared by it.
Ranges and sizes are written as canonical texts, so that the same game gives the same data however
its file was spelled, and `Spot.from_mapping` reads it back to the last bit.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from allstreets.base import Floats, InputError, suggest
from allstreets.betting import (
    GRAINS,
    BettingTree,
    Edit,
    Player,
    PlayerSizes,
    PostflopRules,
    SizesInput,
    Street,
    TreeSize,
    build_postflop_tree,
    is_rounded,
    measure_postflop_tree,
    neat,
    payoffs,
    read_share,
    rules_from_spot,
    sizes_text,
    street_of_board,
)
from allstreets.cards import Range, Runouts, cards_text, fitting, pairs_of, parse_board, runouts
from allstreets.games.locks import (
    Lock,
    LockedNode,
    copied_locks,
    find_locks,
    lock_mapping,
    lock_root,
)

NEEDED = ("board", "oop", "ip", "pot", "stack")
# Keys of a spot file that are fields of another name.
KEYS = {"oop_range": "oop", "ip_range": "ip", "max_raises_per_street": "max_raises"}


@dataclass(frozen=True)
class Spot:
    """One board and two ranges to solve. Chips are of any unit; amounts may have two decimals.

    Bets are whole chips where that keeps every size within 1 %, else hundredths of a chip;
    `rounding` warns where even these do not.

    Sizes are the same for both players on every street (`bets`, `raises`), or given by street and
    player in `bet_sizes`: {"flop_oop": {"bet": ["33%"], "raise": ["60%", "a"], "donk": […]}, …}.
    With `chips_per_bb` sizes may be in big blinds ("3bb"), and a bet is at least one of them.
    """

    board: str
    oop: str | Range
    ip: str | Range
    pot: float
    stack: float
    bets: SizesInput = ("75%",)
    raises: SizesInput = ("60%", "a")
    bet_sizes: Mapping[str, Any] | None = None
    donk: SizesInput | None = None
    add_allin_threshold: float = 0.0
    force_allin_threshold: float = 0.1
    merging_threshold: float = 0.0
    rake: float = 0.0  # a share of the pot; the text "5%" will do
    rake_cap: float | None = None
    max_raises: int | None = None
    chips_per_bb: float | None = None
    min_bet: float | None = None  # the smallest bet; None: a big blind, where that is known
    edit: tuple[Edit, ...] = field(default=())
    lock: tuple[Lock, ...] = field(default=())
    grains: int | None = None  # parts of a chip that can be bet; None: as many as sizes need

    def __post_init__(self) -> None:
        object.__setattr__(self, "rake", read_share("rake", self.rake))
        _ = self.cards, self.ranges, self.rules  # errors are raised now, by field
        for edit in self.edit:
            if not isinstance(edit, Edit):
                raise InputError(f"edit: {edit!r} is not an Edit: write Edit.from_mapping({{…}})")
        for lock in self.lock:
            if not isinstance(lock, Lock):
                raise InputError(f"lock: {lock!r} is not a Lock: write Lock(line, strategy)")

    @classmethod
    def from_mapping(cls, keys: Mapping[str, Any]) -> "Spot":
        """Read the keys of a spot file: oop_range and ip_range, and the fields above."""
        given = dict(keys)
        for passing in ("name", "description"):
            given.pop(passing, None)
        for key, name in KEYS.items():
            if key in given:
                given[name] = given.pop(key)
        known = [each.name for each in fields(cls)]
        for key in given:
            if key not in known:
                raise InputError(f"unknown key '{key}': {suggest(str(key), known)}")
        missing = [name for name in NEEDED if name not in given]
        if missing:
            raise InputError(f"{' and '.join(missing)} missing: a spot needs {', '.join(NEEDED)}")
        locks = tuple(Lock.from_mapping(entry) for entry in given.pop("lock", ()) or ())
        edits = tuple(Edit.from_mapping(entry) for entry in given.pop("edit", ()) or ())
        return cls(**given, edit=edits, lock=locks)

    @cached_property
    def cards(self) -> tuple[int, ...]:
        """The board."""
        if not isinstance(self.board, str):
            raise InputError(f"board: {self.board!r} is not a text: write it as in 'QsJh2h'")
        try:
            cards = parse_board(self.board)
            street_of_board(cards)  # a spot needs at least a flop
        except InputError as error:
            raise InputError(f"board: {error}") from None
        return cards

    @cached_property
    def ranges(self) -> tuple[Range, Range]:
        """Both ranges without what the board blocks, their largest weights 1.

        They must leave room for each other. Only ratios of weights matter, and 16 bits and 32 do
        not hold them all: a range and a millionth of it are the same.
        """
        both = []
        board = self.cards  # read here, so that a bad board is not blamed on a range
        for name, given in (("oop", self.oop), ("ip", self.ip)):
            try:
                both.append(_range(given).on(board).normalised())
            except InputError as error:
                raise InputError(f"{name}: {error}") from None
        if not fitting(*(np.flatnonzero(held.weights) for held in both)).any():
            raise InputError(
                f"the two ranges block each other on {cards_text(self.cards)}: "
                "no two combos differ in all cards"
            )
        return both[0], both[1]

    @cached_property
    def rules(self) -> PostflopRules:
        """The betting rules."""
        common: dict[str, Any] = {
            "pot": self.pot,
            "stack": self.stack,
            "add_allin_threshold": self.add_allin_threshold,
            "force_allin_threshold": self.force_allin_threshold,
            "merging_threshold": self.merging_threshold,
            "rake": self.rake,
            "rake_cap": self.rake_cap,
            "max_raises": self.max_raises,
            "chips_per_bb": self.chips_per_bb,
            "min_bet": self.min_bet,
            "grains": self.grains,
        }
        sizes = self.bet_sizes
        if sizes is None:
            chosen = {"bet": self.bets, "raise": self.raises}
            sizes = {
                f"{street.text}_{player}": chosen
                for street in Street
                if street != Street.PREFLOP
                for player in ("oop", "ip")
            }
        rules = rules_from_spot(
            {"board": self.board, "bet_sizes": sizes, "donk": self.donk, **common}
        )
        rules = replace(rules, edits=self.edit)
        if rules.grains_per_chip == 1 and self.grains is None and is_rounded(rules):
            return replace(rules, grains=GRAINS)
        return rules

    @cached_property
    def rounding(self) -> str | None:
        """A warning if bets cannot be counted finely enough; None if they can."""
        if self.grains is not None or self.rules.grains_per_chip == 1 or not is_rounded(self.rules):
            return None
        return (
            f"bets are rounded to {1 / GRAINS:g} chips, which moves some by more than 1 %: "
            "count in a smaller unit (100 chips per big blind, say)"
        )

    def counted_as_before(self) -> "Spot":
        """The spot of a file that does not name its grains: by pot, stack and big blind alone."""
        grains = replace(self.rules, grains=None).grains_per_chip
        return self if grains == self.rules.grains_per_chip else replace(self, grains=grains)

    @cached_property
    def size(self) -> TreeSize:
        """The size of the betting tree, measured without building it."""
        return measure_postflop_tree(self.rules)

    @cached_property
    def tree(self) -> BettingTree:
        """The betting tree."""
        return build_postflop_tree(self.rules)

    @cached_property
    def locked_nodes(self) -> tuple[LockedNode, ...]:
        """The locks, found in the tree and checked, on all runouts that are the same as theirs."""
        locks = find_locks(self.tree, self.cards, self.ranges, dict(enumerate(self.lock)))
        return copied_locks(_root(self), locks, [lock.alike for lock in self.lock])

    @cached_property
    def payoffs(self) -> Floats:
        """[N, 2, 3]: results where a hand ends."""
        return payoffs(self.tree, self.rules)

    @cached_property
    def pairs(self) -> float:
        """Σ of the weights of all pairs of combos that fit beside each other."""
        return pairs_of(self.ranges)


def spot_root(spot: Spot) -> Runouts:
    """The board with the renamings of suits that leave ranges and locks unchanged."""
    return lock_root(_root(spot), spot.locked_nodes)


def _root(spot: Spot) -> Runouts:
    """The same whatever is locked."""
    return runouts(spot.cards, [held.weights for held in spot.ranges])


def _range(given: object) -> Range:
    if isinstance(given, Range):
        return given
    if isinstance(given, str):
        return Range.parse(given)
    raise InputError(f"{given!r} is not a range: write a text such as 'TT+,AQs+', or a Range")


def spot_mapping(spot: Spot) -> dict[str, Any]:
    """The keys of a spot file that describe this game."""
    rules = spot.rules
    keys: dict[str, Any] = {
        "board": cards_text(spot.cards),
        "oop_range": str(spot.ranges[0]),
        "ip_range": str(spot.ranges[1]),
        "pot": neat(spot.pot),
        "stack": neat(spot.stack),
        "bet_sizes": sizes_mapping(rules),
        "add_allin_threshold": float(rules.add_allin_threshold),
        "force_allin_threshold": float(rules.force_allin_threshold),
        "merging_threshold": float(rules.merging_threshold),
        "rake": float(rules.rake),
        "rake_cap": None if rules.rake_cap is None else float(rules.rake_cap),
    }
    for key in ("max_raises", "chips_per_bb", "grains"):
        if getattr(rules, key) is not None:
            keys[key] = getattr(rules, key)
    if rules.min_bet != (rules.chips_per_bb or 0):
        keys["min_bet"] = rules.min_bet
    if spot.edit:
        keys["edit"] = [edit.mapping() for edit in spot.edit]
    if spot.lock:
        keys["lock"] = [{**lock_mapping(lock), "alike": lock.alike} for lock in spot.lock]
    return keys


def sizes_mapping(rules: PostflopRules) -> dict[str, dict[str, str]]:
    """The sizes of every street and player, as `bet_sizes` has them."""
    return {
        f"{street.text}_{player.name.lower()}": _lists(rules.sizes_of(street, player))
        for street in Street
        if street >= rules.street
        for player in Player
    }


def _lists(sizes: PlayerSizes) -> dict[str, str]:
    lists = {"bet": sizes_text(sizes.bet), "raise": sizes_text(sizes.raises)}
    if sizes.donk is not None:
        lists["donk"] = sizes_text(sizes.donk)
    return lists


def data_hash(data: Any) -> str:
    """SHA-256 of JSON data in a canonical spelling."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
