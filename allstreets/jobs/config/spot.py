"""The file of a spot, and the same keys from flags.

Every key may be left out of the file if a flag gives it; missing keys are reported together. The
texts inside (ranges, sizes, lines) are read by `Spot`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from allstreets.base import InputError
from allstreets.betting import neat
from allstreets.games import Spot
from allstreets.jobs.config.model import ConfigModel, WrongKeyError
from allstreets.jobs.config.reading import check_config, read_config
from allstreets.jobs.config.shared import Device, ForceAllin, SizeRulesConfig, SpotLockConfig
from allstreets.jobs.config.values import Rake, RangeText, Sizes, Target
from allstreets.storage import spot_identity

DEFAULT_TARGET = 0.003
STREETS = ("flop", "turn", "river")
# The keys that a spot needs, and the flags that give them.
NEEDED = {
    "board": "--board",
    "oop_range": "--oop",
    "ip_range": "--ip",
    "pot": "--pot",
    "stack": "--stack",
}


class StreetSizesConfig(ConfigModel):
    """The sizes of one player on one street."""

    bet: Sizes | None = Field(default=None, examples=[["33%", "75%"]])
    """Where there is no bet on this street yet."""

    raises: Sizes | None = Field(default=None, alias="raise", examples=[["60%", "a"]])
    """On top of a bet or raise."""

    donk: Sizes | None = Field(default=None, examples=[["20%"]])
    """Where OOP leads into the last aggressor; without it his bet sizes serve."""


class EditConfig(ConfigModel):
    """Single sizes that are added or removed at a node."""

    line: str = Field(examples=["x b33%"])
    """Leads to the node; "" is the first one, and | * | stands for a dealt card."""

    add: Sizes | None = Field(default=None, examples=[["150%"]])
    """Sizes that are offered there as well."""

    remove: str | None = Field(default=None, examples=["b75%"])
    """Bets or raises that are not, as in a line, with commas."""


class SpotConfig(SizeRulesConfig):
    """A spot and how to solve it."""

    other_files = dict.fromkeys(
        ("solver", "postflop_model"),
        "is a training file, not a spot; solve it with: allstreets train",
    )

    name: str | None = Field(default=None, examples=["river_wide"])
    """The name of the spot in reports."""

    description: str | None = None
    """For people; not used."""

    board: str | None = Field(default=None, examples=["QsJh2h"])
    """Three, four or five cards."""

    boards: str | tuple[str, ...] | None = Field(default=None, examples=["subset_25"])
    """Instead of board, several: a list, or a set of flops (subset_25, spread_100, all)."""

    oop_range: RangeText | None = Field(default=None, examples=["TT+,AQs+"])
    """The range of the player who acts first."""

    ip_range: RangeText | None = Field(default=None, examples=["22+,A2s+"])
    """The range of the player in position."""

    pot: float | None = Field(default=None, examples=[100])
    """Chips in the middle, of any unit; two decimals are allowed."""

    stack: float | None = Field(default=None, examples=[500])
    """Chips that each player has left (the shorter stack)."""

    chips_per_bb: float | None = Field(default=None, gt=0, examples=[100])
    """Chips of a big blind: sizes may then be in bb (3bb), and a bet is at least one."""

    bets: Sizes | None = Field(default=None, examples=[["33%", "75%", "a"]])
    """Bet sizes of both players on every street."""

    raises: Sizes | None = Field(default=None, examples=[["60%", "a"]])
    """Raise sizes of both players on every street."""

    bet_sizes: dict[str, StreetSizesConfig] | None = None
    """Sizes by street and player: flop_oop, flop_ip, turn_oop, …"""

    donk: Sizes | None = None
    """Donk sizes of OOP on every later street that has none of its own."""

    force_allin_threshold: ForceAllin = 0.1

    rake: Rake = Field(default=0.0, examples=["5%"])
    """Share of the pot that the house takes: 5% or 0.05."""

    rake_cap: float | None = Field(default=None, ge=0)
    """The most that it takes, in chips."""

    edit: tuple[EditConfig, ...] = ()
    """Sizes that are added or removed at single nodes."""

    lock: tuple[SpotLockConfig, ...] = ()
    """Locked strategies."""

    algorithm: str = Field(default="ahead", examples=["ahead"])
    """How regrets are discounted: ahead, tuned, dcfr, dcfr+, cfr+, linear, vanilla."""

    precision: Literal["float32", "float16", "int16"] = "float32"
    """How regrets and strategies are stored; float16 and int16 halve the memory."""

    river_groups: Literal["none", "suits"] = "none"
    """River hands that share a strategy: suits, those of equal strength and blockers."""

    tremble: float = Field(default=0.0, ge=0, le=0.01, examples=[0.001])
    """Share of the reach that takes every action in training, to learn answers; 0 = off."""

    device: Device = "cpu"

    exploitability_threshold: Target = DEFAULT_TARGET
    """End when the exploitability is at most this share of the pot: 0.3% or 0.003."""

    @model_validator(mode="after")
    def _one_way_of_sizes(self) -> "SpotConfig":
        if self.bet_sizes is not None:
            for key in ("bets", "raises"):
                if getattr(self, key) is not None:
                    raise WrongKeyError(key, f"give {key} or bet_sizes, not both")
        if self.board is not None and self.boards is not None:
            raise WrongKeyError("boards", "give board or boards, not both")
        if self.precision == "int16" and self.lock:
            raise WrongKeyError(
                "precision", "int16 would round locks away; write float16, as small"
            )
        return self

    def spot(self) -> "Spot":
        """The spot; ranges, board, sizes and rules are read here."""
        if self.boards is not None:
            raise InputError("boards: several are solved by allstreets solve; name one board here")
        spot = Spot.from_mapping(self.game())
        _ = spot.ranges, spot.rules  # errors are raised here
        return spot

    def game(self) -> dict[str, Any]:
        """The keys of the spot, as `Spot.from_mapping` takes them."""
        missing = [key for key in NEEDED if getattr(self, key) is None]
        if missing:
            flags = " ".join(NEEDED[key] for key in missing)
            plural = "are" if len(missing) > 1 else "is"
            raise InputError(
                f"{', '.join(missing)} {plural} missing: add to the spot file, or give {flags}"
            )
        skipped = {"name", "description", "algorithm", "precision", "river_groups", "device"}
        skipped |= {"exploitability_threshold", "boards", "tremble"}
        keys = self.model_dump(mode="json", by_alias=True, exclude=skipped, exclude_unset=True)
        if self.donk is not None and self.bet_sizes is None:
            lists = {"bet": keys.pop("bets", ["75%"]), "raise": keys.pop("raises", ["60%", "a"])}
            players = [f"{street}_{player}" for street in STREETS for player in ("oop", "ip")]
            keys["bet_sizes"] = dict.fromkeys(players, lists)
        amounts = ("pot", "stack", "chips_per_bb")
        keys |= {key: neat(keys[key]) for key in amounts if keys.get(key) is not None}
        return {key: value for key, value in keys.items() if value is not None}

    def identity(self, spot: Spot) -> dict[str, Any]:
        """The facts that identify a solution of the spot with these settings."""
        return spot_identity(spot, self.algorithm, self.precision, self.river_groups, self.tremble)

    def on(self, board: str) -> "SpotConfig":
        """The same on one board."""
        return self.model_copy(update={"board": board, "boards": None})


def read_spot_config(
    path: Path | None, flags: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
) -> SpotConfig:
    """The keys of a spot file, or of flags, or of both: flags override the file.

    `defaults` are for keys that the file does not have.
    """
    given = {key: value for key, value in flags.items() if value is not None}
    if path is None:
        return check_config(given, SpotConfig, "command line")

    def override(keys: dict[str, Any]) -> list[tuple[str]]:
        if "bets" in given or "raises" in given:
            keys.pop("bet_sizes", None)
        if "board" in given or "boards" in given:
            keys.pop("board", None)
            keys.pop("boards", None)
        own = dict(keys)
        keys.update({**(defaults or {}), **own, **given})
        return [(key,) for key in given]

    return read_config(path, SpotConfig, override)


def read_spot(path: Path | None, flags: Mapping[str, Any]) -> tuple[SpotConfig, "Spot"]:
    """A spot from a file, from flags, or from both: flags override the file."""
    config = read_spot_config(path, flags)
    try:
        return config, config.spot()
    except InputError as error:
        source = str(path) if path is not None else "command line"
        raise InputError(f"{source}: {error}") from None
