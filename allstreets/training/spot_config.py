"""The file of a spot, and the same keys from flags.

Every key may be left out of the file as long as a flag gives it; what is missing in the end is
said in one go. The texts inside (ranges, sizes, lines) are read by `Spot`.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from allstreets.base import InputError
from allstreets.training.config import check_config, read_config
from allstreets.training.config_model import ConfigModel, RangeText, WrongKeyError

if TYPE_CHECKING:
    from allstreets.solvers import Spot

DEFAULT_TARGET = 0.003
LARGEST_BARE_TARGET = 0.05
STREETS = ("flop", "turn", "river")
# What a spot cannot do without, and the flags that give it.
NEEDED = {
    "board": "--board",
    "oop_range": "--oop",
    "ip_range": "--ip",
    "pot": "--pot",
    "stack": "--stack",
}


def parse_target(value: Any) -> float:
    """A share of the pot: "0.3%" or 0.003.

    >>> parse_target("0.3%"), parse_target(0.01), parse_target("0")
    (0.003, 0.01, 0.0)
    """
    text = str(value).strip()
    number = text.removesuffix("%").strip()
    try:
        share = float(number) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if isinstance(value, bool) or not 0 <= share < 1:
        raise ValueError(f"'{text}' is not a share of the pot; write 0.3% or 0.003")
    if not text.endswith("%") and share > LARGEST_BARE_TARGET:
        raise ValueError(f"{text} would be {100 * share:g} % of the pot; write {text}% if meant so")
    return share


def parse_time(text: str) -> float:
    """Seconds: "60s", "5m", "1.5h"; without a unit seconds.

    >>> parse_time("90"), parse_time("5m"), parse_time("0.5h")
    (90.0, 300.0, 1800.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(s|m|min|h)?\s*", text)
    if match is None or float(match[1]) == 0:
        raise InputError(f"time '{text}': write 60s, 5m or 2h")
    return float(match[1]) * {"m": 60, "min": 60, "h": 3600}.get(match[2], 1)


Size = str | float
Sizes = Size | tuple[Size, ...]


def parse_rake(value: Any) -> Any:
    """A share of the pot, as text with a per cent sign or as a number."""
    from allstreets.betting import read_share  # which brings Numba with it

    return read_share("rake", value) if isinstance(value, str) else value


Rake = Annotated[
    float, BeforeValidator(parse_rake, json_schema_input_type=str | float), Field(ge=0, lt=1)
]
Target = Annotated[float, BeforeValidator(parse_target, json_schema_input_type=str | float)]


class StreetSizesConfig(ConfigModel):
    """The sizes of one player on one street."""

    bet: Sizes | None = Field(default=None, examples=[["33%", "75%"]])
    """Where nobody has bet on this street."""

    raises: Sizes | None = Field(default=None, alias="raise", examples=[["60%", "a"]])
    """On top of a bet or raise."""

    donk: Sizes | None = Field(default=None, examples=[["20%"]])
    """Where OOP leads into the last aggressor; without it his bet sizes serve."""


class LockConfig(ConfigModel):
    """A strategy that is held fixed at one node."""

    line: str = Field(examples=["x b50%"])
    """Leads to the node; "" is the first one."""

    strategy: dict[str, float] | None = Field(default=None, examples=[{"fold": 0.2, "call": 0.8}])
    """For all hands there."""

    hands: dict[str, dict[str, float]] | None = None
    """For some hands: range text → strategy; goes before `strategy`."""


class SpotConfig(ConfigModel):
    """A spot and how to solve it."""

    name: str | None = Field(default=None, examples=["river_wide"])
    """What the spot is called in reports."""

    description: str | None = None
    """For people; not used."""

    board: str | None = Field(default=None, examples=["QsJh2h"])
    """Three, four or five cards."""

    oop_range: RangeText | None = Field(default=None, examples=["TT+,AQs+"])
    """The range of the player who acts first."""

    ip_range: RangeText | None = Field(default=None, examples=["22+,A2s+"])
    """The range of the player in position."""

    pot: float | None = Field(default=None, examples=[100])
    """Chips in the middle, of any unit; two decimals are allowed."""

    stack: float | None = Field(default=None, examples=[500])
    """Chips that each player has left (the shorter stack)."""

    chips_per_bb: float | None = Field(default=None, gt=0, examples=[100])
    """What a big blind is: sizes may be in bb then (3bb), and a bet is at least one."""

    bets: Sizes | None = Field(default=None, examples=[["33%", "75%", "a"]])
    """Bet sizes of both players on every street."""

    raises: Sizes | None = Field(default=None, examples=[["60%", "a"]])
    """Raise sizes of both players on every street."""

    bet_sizes: dict[str, StreetSizesConfig] | None = None
    """Sizes by street and player: flop_oop, flop_ip, turn_oop, …"""

    donk: Sizes | None = None
    """Donk sizes of OOP on every later street that has none of its own."""

    max_raises: int | None = Field(default=None, ge=0, examples=[2])
    """How often a street may be raised, its first bet not counted; without it until all-in."""

    add_allin_threshold: float = Field(default=0.0, ge=0)
    """All-in is offered as well where it is at most this many pots."""

    force_allin_threshold: float = Field(default=0.1, ge=0)
    """A bet becomes all-in if at most this share of the pot would be left behind."""

    merging_threshold: float = Field(default=0.0, ge=0)
    """Sizes closer than this to a larger one are dropped."""

    rake: Rake = Field(default=0.0, examples=["5%"])
    """Share of the pot that the house takes: 5% or 0.05."""

    rake_cap: float | None = Field(default=None, ge=0)
    """The most that it takes, in chips."""

    lock: tuple[LockConfig, ...] = ()
    """Strategies that are held fixed."""

    algorithm: str = Field(default="tuned", examples=["tuned"])
    """How regrets are discounted: tuned, dcfr, dcfr+, cfr+, linear, vanilla."""

    precision: Literal["float32", "float16", "int16"] = "float32"
    """How regrets and strategies are stored; float16 and int16 halve the memory."""

    target: Target = DEFAULT_TARGET
    """Exploitability at which the spot counts as solved, as a share of the pot: 0.3% or 0.003."""

    @model_validator(mode="after")
    def _one_way_of_sizes(self) -> "SpotConfig":
        if self.bet_sizes is not None:
            for key in ("bets", "raises"):
                if getattr(self, key) is not None:
                    raise WrongKeyError(key, f"give {key} or bet_sizes, not both")
        if self.precision == "int16" and self.lock:
            raise WrongKeyError(
                "precision", "int16 would round locks away; write float16, as small"
            )
        return self

    def spot(self) -> "Spot":
        """The spot; ranges, board, sizes and rules are read here."""
        from allstreets.betting import neat
        from allstreets.solvers import Spot

        missing = [key for key in NEEDED if getattr(self, key) is None]
        if missing:
            flags = " ".join(NEEDED[key] for key in missing)
            plural = "are" if len(missing) > 1 else "is"
            raise InputError(
                f"{', '.join(missing)} {plural} missing: add to the spot file, or give {flags}"
            )
        skipped = {"name", "description", "algorithm", "precision", "target"}
        keys = self.model_dump(mode="json", by_alias=True, exclude=skipped, exclude_unset=True)
        if self.donk is not None and self.bet_sizes is None:
            lists = {"bet": keys.pop("bets", ["75%"]), "raise": keys.pop("raises", ["60%", "a"])}
            players = [f"{street}_{player}" for street in STREETS for player in ("oop", "ip")]
            keys["bet_sizes"] = dict.fromkeys(players, lists)
        amounts = ("pot", "stack", "chips_per_bb")
        keys |= {key: neat(keys[key]) for key in amounts if keys.get(key) is not None}
        spot = Spot.from_mapping({key: value for key, value in keys.items() if value is not None})
        _ = spot.ranges, spot.rules  # what is wrong shall be said now
        return spot


def read_spot(path: Path | None, flags: Mapping[str, Any]) -> tuple[SpotConfig, "Spot"]:
    """A spot from a file, from flags, or from both: a flag goes before the file's key."""
    given = {key: value for key, value in flags.items() if value is not None}
    source = str(path) if path is not None else "command line"
    if path is None:
        config = check_config(given, SpotConfig, source)
    else:
        config = read_config(path, SpotConfig)
        if given:
            keys = config.model_dump(mode="json", by_alias=True, exclude_unset=True)
            if "bets" in given or "raises" in given:
                keys.pop("bet_sizes", None)
            config = check_config({**keys, **given}, SpotConfig, "command line")
    try:
        return config, config.spot()
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
