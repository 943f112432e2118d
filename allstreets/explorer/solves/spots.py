"""The form of a spot, read: everything that is wrong with it at once, or what it takes to solve.

An empty text of bet sizes is a player who never bets on that street, an empty text of raise sizes
one who never raises. An empty text of donk sizes is none of its own: the bet sizes serve, and
"none" is a player who never leads into the last aggressor. Sizes without a use (of streets before
the board, donk sizes on the first street) are ignored, so that a form can be filled in
once and its board changed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from allstreets.base import InputError, available_bytes, processors
from allstreets.betting import (
    BettingTree,
    LargeTreeError,
    Player,
    PostflopRules,
    Sizes,
    Street,
    TreeSize,
    action_label,
    build_postflop_tree,
    neat,
    parse_sizes,
    street_of_board,
)
from allstreets.cards import Range, parse_board, runouts
from allstreets.explorer.errors import FormError
from allstreets.explorer.models.base import Problem
from allstreets.explorer.models.solves import (
    PlayerSizesForm,
    SpotEstimate,
    SpotForm,
    StreetCounts,
)
from allstreets.explorer.solves.devices import require_device
from allstreets.explorer.solves.edits import read_edits
from allstreets.games import (
    Estimate,
    Spot,
    estimate_exact,
    hands_by_board,
    require_memory,
    rows_by_board,
)
from allstreets.jobs import SpotConfig

# A betting tree of this size is looked through in some tenths of a second. On a flop or turn one
# that comes near it needs far more memory than machines have.
NODE_LIMIT = 30_000
SIZE_LIMIT = 10  # of one list
NO_DONK = "none"
NUMBERS = (
    "pot",
    "stack",
    "chips_per_bb",
    "rake",
    "rake_cap",
    "add_allin_threshold",
    "force_allin_threshold",
    "merging_threshold",
    "target_pct",
    "max_seconds",
)

Found = TypeVar("Found")


@dataclass(frozen=True)
class CheckedSpot:
    """A spot that can be solved, and what that takes."""

    config: SpotConfig
    spot: Spot
    tree: BettingTree
    need: Estimate


@dataclass
class _Reading:
    """A form that is being read, with the problems found so far."""

    form: SpotForm
    problems: list[Problem] = field(default_factory=list)

    def attempt(self, where: str | None, read: Callable[[], Found]) -> Found | None:
        """What `read` returns; None when it fails, which is recorded for the field `where`."""
        try:
            return read()
        except InputError as error:
            self.complain(where, str(error))
            return None

    def complain(self, where: str | None, message: str) -> None:
        self.problems.append(Problem(message=message, field=where))


def check_form(form: SpotForm, free_bytes: int | None = None) -> CheckedSpot:
    """The spot of a form; a `FormError` with every problem when it cannot be solved.

    `free_bytes` is the memory that it may take; None: any.
    """
    checked, problems = _check(form, free_bytes)
    if checked is None or problems:
        raise FormError(problems)
    return checked


def read_form(form: SpotForm) -> tuple[SpotConfig, Spot]:
    """The spot of a form that was checked before, and how to solve it."""
    config = _config(form, street_of_board(parse_board(form.board)))
    return config, config.spot()


def estimate(form: SpotForm) -> SpotEstimate:
    """What a spot takes, or what is wrong with it."""
    free = available_bytes()
    checked, problems = _check(form, free)
    if checked is None:
        return SpotEstimate(problems=problems, free_bytes=free)
    need, tree = checked.need, checked.tree
    return SpotEstimate(
        problems=problems,
        memory_bytes=need.process_bytes,
        free_bytes=free,
        streets=[
            StreetCounts(street=street.text, decisions=need.decisions.get(street, 0), boards=boards)
            for street, boards in need.boards.items()
        ],
        oop_combos=checked.spot.ranges[Player.OOP].combos,
        ip_combos=checked.spot.ranges[Player.IP].combos,
        seconds_per_iteration=need.seconds_per_iteration,
        first_actions=[action_label(tree, int(child)) for child in tree.children_of(0)],
    )


def spot_title(form: SpotForm) -> str:
    """A spot in one line, whether its board can be read or not."""
    return f"{form.board.strip()}, pot {neat(form.pot):,}, stack {neat(form.stack):,}"


def spot_name(form: SpotForm) -> str:
    """What a spot is called: as its form says, or else what it is."""
    return form.name.strip() or spot_title(form)


def _check(form: SpotForm, free: int | None) -> tuple[CheckedSpot | None, list[Problem]]:
    reading = _Reading(form)
    board = reading.attempt("board", lambda: _board(form.board))
    _check_ranges(reading, board or ())
    first = street_of_board(board) if board else Street.FLOP
    _check_sizes(reading, first)
    reading.attempt("edits", lambda: read_edits(form.edits))
    for name in NUMBERS:
        value = getattr(form, name)
        if value is not None and not math.isfinite(value):
            reading.complain(name, f"{name} must be a finite number")
    reading.attempt(
        "device", lambda: require_device(form.device, form.precision, form.river_groups)
    )
    if form.stack == 0:
        reading.complain("stack", "no player has chips left to bet: there is nothing to solve")
    if reading.problems:
        return None, reading.problems
    checked = reading.attempt(None, lambda: _measured(form, first))
    if checked is not None and free is not None:
        reading.attempt(None, lambda: _require_room(checked, free))
    return checked, reading.problems


def _board(text: str) -> tuple[int, ...]:
    board = parse_board(text)
    street_of_board(board)
    return board


def _check_ranges(reading: _Reading, board: tuple[int, ...]) -> None:
    for name in ("oop_range", "ip_range"):
        reading.attempt(name, partial(_range_on, getattr(reading.form, name), board))


def _range_on(text: str, board: tuple[int, ...]) -> Range:
    return Range.parse(text).on(board)


def _check_sizes(reading: _Reading, first: Street) -> None:
    for street in _streets(first):
        for player in Player:
            given = _player_sizes(reading.form, street, player)
            donk = given.donk if street > first and not _never_leads(given.donk) else ""
            if player == Player.IP and given.donk.strip():
                where = f"sizes.{street.text}.ip.donk"
                reading.complain(where, f"{street.text}, IP, donk sizes: only OOP can donk")
                donk = ""
            for kind, text in (("bet", given.bet), ("raise", given.raises), ("donk", donk)):
                where = f"sizes.{street.text}.{player.name.lower()}.{kind}"
                what = f"{street.text}, {player.name}, {kind} sizes"
                reading.attempt(where, partial(_sizes, text, kind == "raise", what))


def _sizes(text: str, raises: bool, what: str) -> Sizes:
    sizes = parse_sizes(text, raises=raises, what=what)
    if len(sizes) > SIZE_LIMIT:
        raise InputError(f"{what}: {len(sizes)} are too many; give {SIZE_LIMIT} at most")
    return sizes


def _streets(first: Street) -> list[Street]:
    return [street for street in Street if street >= first]


def _player_sizes(form: SpotForm, street: Street, player: Player) -> PlayerSizesForm:
    sizes: PlayerSizesForm = getattr(getattr(form.sizes, street.text), player.name.lower())
    return sizes


def _never_leads(text: str) -> bool:
    return text.strip().lower() == NO_DONK


def _config(form: SpotForm, first: Street) -> SpotConfig:
    """The form as the keys of a spot file."""
    lists: dict[str, dict[str, Any]] = {}
    for street in _streets(first):
        for player in Player:
            given = _player_sizes(form, street, player)
            sizes: dict[str, Any] = {"bet": given.bet, "raise": given.raises}
            if player == Player.OOP and street > first and given.donk.strip():
                sizes["donk"] = () if _never_leads(given.donk) else given.donk
            lists[f"{street.text}_{player.name.lower()}"] = sizes
    return SpotConfig.model_validate(
        {
            "name": form.name.strip() or None,
            "board": form.board,
            "oop_range": form.oop_range,
            "ip_range": form.ip_range,
            "pot": form.pot,
            "stack": form.stack,
            "chips_per_bb": form.chips_per_bb,
            "bet_sizes": lists,
            "edit": tuple(read_edits(form.edits)),
            "max_raises_per_street": form.max_raises,
            "rake": form.rake,
            "rake_cap": form.rake_cap,
            "add_allin_threshold": form.add_allin_threshold,
            "force_allin_threshold": form.force_allin_threshold,
            "merging_threshold": form.merging_threshold,
            "exploitability_threshold": f"{form.target_pct!r}%",
            "precision": form.precision,
            "river_groups": form.river_groups,
            "device": form.device,
        }
    )


def _measured(form: SpotForm, first: Street) -> CheckedSpot:
    """The spot with its tree and what it takes; too large a tree is an `InputError`."""
    config = _config(form, first)
    spot = config.spot()
    tree = _tree(spot.rules)
    if isinstance(tree, str):
        raise InputError(tree)
    weights = [one.weights for one in spot.ranges]
    combos = [np.flatnonzero(one) for one in weights]
    root = runouts(spot.cards, weights)
    size = TreeSize.of(tree)
    hands = hands_by_board(root, combos, len(size.dealt_streets))
    rows = rows_by_board(root, combos, hands, form.river_groups)
    need = estimate_exact(size, hands, form.precision, processors(), rows)
    return CheckedSpot(config, spot, tree, need)


@lru_cache(maxsize=16)
def _tree(rules: PostflopRules) -> BettingTree | str:
    """The betting tree, or why there is none; cached, since most keystrokes leave it as it is."""
    try:
        return build_postflop_tree(rules, NODE_LIMIT)
    except LargeTreeError:
        return (
            f"the betting tree has more than {NODE_LIMIT:,} nodes: use fewer sizes, larger "
            "raises, a smaller stack, fewer raises per street, a higher force_allin_threshold or "
            "merging_threshold"
        )
    except InputError as error:  # an edit where the tree does not go
        return str(error)


def _require_room(checked: CheckedSpot, free: int) -> None:
    config = checked.config
    require_memory(checked.spot, config.precision, checked.need, free, config.river_groups)
