"""The form of a spot, read: all its problems at once, or the cost of solving it.

An empty text of bet sizes is a player who never bets on that street, an empty text of raise sizes
one who never raises. An empty text of donk sizes means the bet sizes; "none" is a player who never
leads into the last aggressor. Sizes without a use (of streets before the board, donk sizes on the
first street) are ignored, so that a form can be filled in once and its board changed. Edits of the
tree are a node a line: "x b33%: +150%, -b75%".

GPUs are detected once, without taking any of their memory: the solving processes open them.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import Any, TypeVar

from allstreets.base import InputError, available_bytes, processors
from allstreets.betting import (
    BettingTree,
    Edit,
    LargeTreeError,
    Player,
    PostflopRules,
    Sizes,
    Street,
    action_label,
    build_postflop_tree,
    neat,
    parse_sizes,
    street_of_board,
)
from allstreets.cards import Range, parse_board
from allstreets.engines import CPU, ON_GPUS, gpu_names
from allstreets.explorer.models import solves as messages
from allstreets.explorer.models.base import FormError, Problem
from allstreets.explorer.models.solves import (
    DeviceChoice,
    PlayerSizesForm,
    SpotEstimate,
    SpotForm,
    StreetCounts,
)
from allstreets.games import Estimate, Spot, estimate_spot, require_memory, usual_iterations
from allstreets.jobs import SpotConfig

# A betting tree of this size is visited in some tenths of a second. On a flop or turn, trees near
# this size need far more memory than machines have.
NODE_LIMIT = 30_000
SIZE_LIMIT = 10  # of one list
NO_DONK = "none"
THRESHOLDS = ("add_allin_threshold", "force_allin_threshold", "merging_threshold")
AMOUNTS = ("pot", "stack", "chips_per_bb", "rake", "rake_cap", *THRESHOLDS)
NUMBERS = (*AMOUNTS, "target_pct", "max_seconds")
SAME = ("board", "oop_range", "ip_range", *AMOUNTS, "precision", "river_groups", "device")
"""Keys that have the same name in a form and in a spot file."""

Found = TypeVar("Found")
ADD, REMOVE = "+", "-"


@dataclass(frozen=True)
class CheckedSpot:
    """A spot that can be solved, and the cost."""

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
        """Return the result of `read`; on failure, record it for the field `where`, return None."""
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
    """The memory and time that a spot takes, or its problems."""
    free = available_bytes()
    checked, problems = _check(form, free)
    if checked is None:
        return SpotEstimate(problems=problems, free_bytes=free)
    need, tree = checked.need, checked.tree
    oop, ip = checked.spot.ranges
    return SpotEstimate(
        problems=problems,
        memory_bytes=need.process_bytes,
        free_bytes=free,
        streets=[
            StreetCounts(street=street.text, decisions=need.decisions.get(street, 0), boards=boards)
            for street, boards in need.boards.items()
        ],
        oop_combos=oop.combos,
        ip_combos=ip.combos,
        seconds_per_iteration=need.seconds_per_iteration,
        seconds=_seconds(form, need),
        first_actions=[action_label(tree, int(child)) for child in tree.children_of(0)],
        warning=checked.spot.rounding,
    )


def _seconds(form: SpotForm, need: Estimate) -> float:
    """The seconds until a spot reaches its target or its time limit."""
    seconds = need.seconds_to(usual_iterations(form.target_pct))
    return seconds if form.max_seconds is None else min(seconds, form.max_seconds)


def spot_title(form: SpotForm) -> str:
    """A spot in one line, whether its board can be read or not."""
    return f"{form.board.strip()}, pot {neat(form.pot):,}, stack {neat(form.stack):,}"


def spot_name(form: SpotForm) -> str:
    """The name of a spot: the one in its form, or else its title."""
    return form.name.strip() or spot_title(form)


def _check(form: SpotForm, free: int | None) -> tuple[CheckedSpot | None, list[Problem]]:
    reading = _Reading(form)
    cards = reading.attempt("board", lambda: _board(form.board)) or ()
    first = street_of_board(cards) if cards else Street.FLOP
    for name in ("oop_range", "ip_range"):
        reading.attempt(name, lambda: Range.parse(getattr(form, name)).on(cards))  # noqa: B023
    _check_sizes(reading, first)
    reading.attempt("edits", lambda: read_edits(form.edits))
    for name in NUMBERS:
        value = getattr(form, name)
        if value is not None and not math.isfinite(value):
            reading.complain(name, f"{name} must be a finite number")
    reading.attempt("device", lambda: require_device(form.device, form.precision))
    if form.stack == 0:
        reading.complain("stack", "no player has chips left to bet: there is nothing to solve")
    if reading.problems:
        return None, reading.problems
    checked = reading.attempt(None, lambda: _measured(form, first))
    if checked is not None and free is not None:
        config, spot, need = checked.config, checked.spot, checked.need
        way = config.precision, need, free, config.river_groups
        reading.attempt(None, lambda: require_memory(spot, *way))
    return checked, reading.problems


def _board(text: str) -> tuple[int, ...]:
    board = parse_board(text)
    street_of_board(board)
    return board


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
            **{name: getattr(form, name) for name in SAME},
            "name": form.name.strip() or None,
            "bet_sizes": lists,
            "edit": tuple(read_edits(form.edits)),
            "max_raises_per_street": form.max_raises,
            "exploitability_threshold": f"{form.target_pct!r}%",
        }
    )


def _measured(form: SpotForm, first: Street) -> CheckedSpot:
    """The spot with its tree and its cost; too large a tree is an `InputError`."""
    config = _config(form, first)
    spot = config.spot()
    tree = _tree(spot.rules)
    if isinstance(tree, str):
        raise InputError(tree)
    need = estimate_spot(spot, form.precision, processors(), form.river_groups)
    return CheckedSpot(config, spot, tree, need)


@lru_cache(maxsize=16)
def _tree(rules: PostflopRules) -> BettingTree | str:
    """The betting tree, or the reason why there is none; cached: most keystrokes keep it."""
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


def read_edits(text: str) -> list[dict[str, Any]]:
    """The edits as a spot file has them."""
    edits = []
    for number, row in enumerate(text.splitlines(), 1):
        if not row.strip():
            continue
        line, colon, changes = row.partition(":")
        words = [word.strip() for word in changes.split(",") if word.strip()]
        if not colon or not words or any(word[0] not in (ADD, REMOVE) for word in words):
            raise InputError(
                f"single nodes, line {number}: write a line, a colon, and what to add or remove: "
                "x b33%: +150%, -b75%"
            )
        lists = {
            key: ",".join(word[1:].strip() for word in words if word[0] == sign)
            for key, sign in (("add", ADD), ("remove", REMOVE))
        }
        keys = {"line": line.strip(), **{key: some for key, some in lists.items() if some}}
        try:
            Edit.from_mapping(keys)
        except InputError as error:
            raise InputError(f"single nodes, line {number}: {error}") from None
        edits.append(keys)
    return edits


def edits_text(edits: Iterable[Edit]) -> str:
    """The opposite of `read_edits`."""
    return "\n".join(f"{edit.line}: {changes_text(edit)}" for edit in edits)


def changes_text(edit: Edit) -> str:
    """The sizes that an edit adds and removes, as text."""
    added, removed = (f"{ADD}{size}" for size in edit.add), (f"{REMOVE}{w}" for w in edit.remove)
    return ", ".join((*added, *removed))


@cache
def device_choices() -> tuple[DeviceChoice, ...]:
    """All devices, processors first."""
    try:
        gpus = gpu_names()
    except InputError:  # no GPU, no driver, or the extra is missing
        gpus = []
    names = [CPU, *("cuda" if number == 0 else f"cuda:{number}" for number in range(len(gpus)))]
    devices = zip(names, [f"{processors()} processors", *gpus], strict=True)
    return tuple(DeviceChoice(device=device, name=name) for device, name in devices)


def require_device(device: str, precision: str) -> None:
    """Refuse a missing device, or one that cannot store strategies this way."""
    known = [choice.device for choice in device_choices()]
    if device not in known:
        raise InputError(f"there is no {device} on this machine: choose {' or '.join(known)}")
    if device != CPU and precision not in ON_GPUS["exact"].precisions:
        raise InputError("a GPU stores float32 or float16: choose one of these, or cpu")


def examples() -> list[messages.Example]:
    """Spots that are ready to solve."""
    # From small to large; the first one is solved in about a second.
    return [RIVER, TURN, FLOP]


def _same_sizes(bet: str, raises: str, donk: str = "") -> messages.StreetSizesForm:
    """The same sizes for both players; donk sizes are for OOP alone."""
    both = {"bet": bet, "raise": raises}
    return messages.StreetSizesForm.model_validate({"oop": {**both, "donk": donk}, "ip": both})


RIVER = messages.Example(
    name="River: two wide ranges",
    description=(
        "A dry board, a pot of 100 and 500 behind. Watch which hands bet large: the best ones and "
        "the worst ones, not those between."
    ),
    form=messages.SpotForm(
        name="River: two wide ranges",
        board="Ks7d4c9h2s",
        oop_range=(
            "22+,A2s+,K2s+,Q4s+,J6s+,T6s+,95s+,85s+,74s+,64s+,53s+,43s,"
            "A2o+,K7o+,Q8o+,J8o+,T8o+,98o,87o"
        ),
        ip_range=("22+,A2s+,K2s+,Q2s+,J4s+,T6s+,96s+,85s+,75s+,64s+,53s+,A2o+,K5o+,Q8o+,J9o+,T9o"),
        pot=100,
        stack=500,
        sizes=messages.SizesForm(river=_same_sizes("33%, 75%, 150%, a", "50%, 100%, a")),
        target_pct=0.2,
    ),
)

TURN = messages.Example(
    name="Turn: single-raised pot",
    description=(
        "Two streets to go, two bet sizes each. On the river OOP may lead small into the player "
        "who bet the turn (donk sizes)."
    ),
    form=messages.SpotForm(
        name="Turn: single-raised pot",
        board="AhTd6s3c",
        oop_range=("22+,A2s+,K5s+,Q8s+,J8s+,T8s+,97s+,86s+,75s+,64s+,54s,A8o+,KTo+,QTo+,JTo"),
        ip_range=("22+,A2s+,K2s+,Q6s+,J7s+,T7s+,96s+,86s+,75s+,64s+,53s+,A5o+,K9o+,Q9o+,J9o+,T9o"),
        pot=100,
        stack=500,
        sizes=messages.SizesForm(
            turn=_same_sizes("33%, 75%", "60%"), river=_same_sizes("33%, 75%", "60%", "33%")
        ),
        target_pct=0.3,
    ),
)

FLOP = messages.Example(
    name="Flop: a wet board",
    description=(
        "Three streets with one bet and one raise size each: some seconds to half a minute, and "
        "about 0.6 GB of memory."
    ),
    form=messages.SpotForm(
        name="Flop: a wet board",
        board="Td9d6h",
        oop_range="66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
        ip_range="QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
        pot=100,
        stack=500,
        sizes=messages.SizesForm(
            flop=_same_sizes("60%", "60%"),
            turn=_same_sizes("60%", "60%"),
            river=_same_sizes("60%", "60%"),
        ),
        target_pct=0.5,
    ),
)
