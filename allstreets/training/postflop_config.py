"""The section `postflop_model`: which flops are solved, by which model, and when each is done."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from allstreets.training.config_model import ConfigModel, ConfigWarning, OldName, WrongKeyError
from allstreets.training.problems import shown
from allstreets.training.size_checks import check_sizes, listed
from allstreets.training.spot_config import Sizes

if TYPE_CHECKING:
    from allstreets.cards import Flop
    from allstreets.cfr.schedules import Schedule
    from allstreets.solvers.flops.game import FlopGame
    from allstreets.solvers.flops.model import FlopEnds, FlopModel

STREETS = ("flop", "turn", "river")
NEW_UNIT = "it is a share of the pot now, by true best response: 0.01 is 1 % of the pot"

PRESETS: dict[str, dict[str, Any]] = {
    "fast": {
        "solve_type": "bucketed",
        "num_hand_buckets_flop": 10,
        "num_hand_buckets_turn": 50,
        "num_hand_buckets_river": 50,
        "postflop_solve_iterations": 200,
        "cfr_exploitability_threshold": 0.01,
    },
    "medium": {
        "solve_type": "bucketed",
        "num_hand_buckets_flop": 15,
        "num_hand_buckets_turn": 200,
        "num_hand_buckets_river": 200,
        "postflop_solve_iterations": 300,
        "cfr_exploitability_threshold": 0.005,
    },
    "standard": {
        "solve_type": "bucketed",
        "num_hand_buckets_flop": 20,
        "num_hand_buckets_turn": 500,
        "num_hand_buckets_river": 500,
        "postflop_solve_iterations": 500,
        "cfr_exploitability_threshold": 0.003,
    },
    "accurate": {
        "solve_type": "bucketed",
        "num_hand_buckets_flop": 30,
        "num_hand_buckets_turn": 1000,
        "num_hand_buckets_river": 1000,
        "postflop_solve_iterations": 1000,
        "cfr_exploitability_threshold": 0.001,
    },
    "exhaustive_fast": {
        "solve_type": "exhaustive",
        "postflop_solve_iterations": 200,
        "cfr_exploitability_threshold": 0.01,
    },
    "exhaustive_standard": {
        "solve_type": "exhaustive",
        "postflop_solve_iterations": 1000,
        "cfr_exploitability_threshold": 0.001,
    },
    "mccfr_fast": {
        "solve_type": "mccfr",
        "mccfr_sample_pct": 1.0,
        "postflop_solve_iterations": 200,
        "cfr_exploitability_threshold": 0.02,
    },
    "mccfr_standard": {
        "solve_type": "mccfr",
        "mccfr_sample_pct": 1.0,
        "postflop_solve_iterations": 1000,
        "cfr_exploitability_threshold": 0.005,
    },
}
"""What each preset gives; keys that the file has go before it."""


def _pot_share(value: Any) -> Any:
    """A share of the pot as a number, or as text with a per cent sign."""
    if isinstance(value, str) and value.strip().endswith("%"):
        try:
            return float(value.strip().removesuffix("%")) / 100
        except ValueError:
            raise ValueError(f"'{value}' is not a share of the pot; write 1% or 0.01") from None
    return value


def _ratios(value: Any) -> Any:
    """A number alone is a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


PotShare = Annotated[
    float, BeforeValidator(_pot_share, json_schema_input_type=str | float), Field(ge=0, lt=1)
]
Ratios = Annotated[
    tuple[Annotated[float, Field(gt=0, le=1000)], ...],
    BeforeValidator(_ratios, json_schema_input_type=float | list[float]),
    Field(min_length=1),
]
BucketCount = Annotated[int, Field(ge=1, le=4096)]


class SizesByStreet(ConfigModel):
    """Sizes of both players, street by street."""

    flop: Sizes = Field(examples=[["50%"]])
    """On the flop."""

    turn: Sizes = Field(examples=[["50%", "100%"]])
    """On the turn."""

    river: Sizes = Field(examples=[["75%", "a"]])
    """On the river."""


class PostflopModelConfig(ConfigModel):
    """Flops solved one by one with full ranges, at one or more stack-to-pot ratios."""

    old_names: ClassVar[Mapping[str, OldName]] = {
        "raises_per_street": OldName("max_raises_per_street"),
        "postflop_spr": OldName("postflop_sprs"),
        "cfr_regret_threshold": OldName("cfr_exploitability_threshold", NEW_UNIT),
        "cfr_delta_threshold": OldName("cfr_exploitability_threshold", NEW_UNIT),
        "convergence_threshold": OldName("regret_threshold"),
        "explore_interval": OldName("prune_explore_freq"),
    }

    preset: (
        Literal[
            "fast",
            "medium",
            "standard",
            "accurate",
            "exhaustive_fast",
            "exhaustive_standard",
            "mccfr_fast",
            "mccfr_standard",
        ]
        | None
    ) = Field(default=None, examples=["exhaustive_fast"])
    """Defaults by name, for model, iterations and threshold; other keys go before it."""

    solve_type: Literal["exhaustive", "bucketed", "mccfr"] = "exhaustive"
    """The model: 169 hand classes (exhaustive), buckets on every street (bucketed), sampled deals
    (mccfr)."""

    bet_sizes: Sizes | SizesByStreet = Field(default=(0.5, 1.0), examples=[[0.5, 1.0]])
    """Bet sizes of both players, in pots or as text: 0.5, 50%, 2e, a; or by street."""

    raise_sizes: Sizes | SizesByStreet | None = Field(default=None, examples=[["60%", "a"]])
    """Raise sizes of both players; without it the bet sizes."""

    max_raises_per_street: int = Field(default=1, ge=0, examples=[1])
    """Raises on a street, its first bet not counted."""

    postflop_sprs: Ratios = Field(default=(3.5,), examples=[[1.0, 3.5, 8.0]])
    """Stack-to-pot ratios on the flop; every flop is solved at each."""

    postflop_solve_iterations: int = Field(default=500, ge=1, examples=[500])
    """Iterations of a flop, at most."""

    cfr_exploitability_threshold: PotShare = Field(default=0.01, examples=[0.01])
    """A flop is done when its exploitability is at most this share of the pot; 0: never."""

    regret_threshold: float | None = Field(default=None, gt=0, examples=[0.0005])
    """A flop is also done when its average positive regret is at most this, in pots. A trend, not
    a bound."""

    convergence_check_interval: int = Field(default=25, ge=1, examples=[25])
    """Iterations between two checks of a flop; a check takes as long as about two iterations."""

    max_flop_boards: int = Field(default=0, ge=0, le=1755, examples=[50])
    """At most so many of the 1,755 flops, spread evenly over suits, pairing and ranks; 0: all."""

    fixed_flops: tuple[str, ...] = Field(default=(), examples=[["AhKd7s", "9h8h2c"]])
    """These flops and no others."""

    cfr_variant: str | None = Field(default=None, examples=["dcfr"])
    """How regrets are discounted: tuned, dcfr, dcfr(1.5,0,2), dcfr+, cfr+, linear, vanilla. Without
    it: tuned, with pruning dcfr, for mccfr linear."""

    mccfr_sample_pct: float = Field(default=1.0, gt=0, le=100, examples=[1.0])
    """mccfr: per cent of the pairs of combos that are dealt in an iteration, for each player."""

    num_hand_buckets_flop: BucketCount = Field(default=10, examples=[20])
    """bucketed: buckets on the flop."""

    num_hand_buckets_turn: BucketCount = Field(default=50, examples=[500])
    """bucketed: buckets on the turn."""

    num_hand_buckets_river: BucketCount = Field(default=50, examples=[500])
    """bucketed: buckets on the river."""

    prune_warmup: int = Field(default=0, ge=0, examples=[100])
    """Iterations before actions of very negative regret are left out; 0: never left out."""

    prune_explore_freq: int = Field(default=20, ge=1, examples=[20])
    """Every how many iterations nothing is left out."""

    prune_threshold: float | str = Field(default="-1000*sqrt(t)", examples=["-1000*sqrt(t)"])
    """Regret below which an action is left out, a number or "-C*sqrt(t)" at iteration t. In pots
    times pairs of combos: own combos of the hand times combos of the other player."""

    regret_floor: float = Field(default=1e6, gt=0, examples=[1e6])
    """Where pruning is on, regrets are not let below minus this; in the same unit."""

    seed: int = Field(default=1, ge=0, le=2**63 - 1, examples=[1])
    """Seed of sampled deals and of buckets."""

    threads: int | None = Field(default=None, ge=1, examples=[4])
    """Flops that are solved side by side; without it one a core. Results do not depend on it."""

    @field_validator("bet_sizes", "raise_sizes")
    @classmethod
    def _sizes_can_be_read(cls, value: Any, info: ValidationInfo) -> Any:
        raises = info.field_name == "raise_sizes"
        if isinstance(value, SizesByStreet):
            for street in STREETS:
                sizes = getattr(value, street)
                check_sizes(sizes, raises=raises, path=(street,), big_blinds=False)
        elif value is not None:
            check_sizes(value, raises=raises, big_blinds=False)
        return value

    @field_validator("fixed_flops")
    @classmethod
    def _flops_can_be_read(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        from allstreets.cards import parse_flop

        for text in value:
            parse_flop(text)
        return value

    @field_validator("cfr_variant")
    @classmethod
    def _variant_is_known(cls, value: str | None) -> str | None:
        from allstreets.cfr.schedules import parse_schedule

        return None if value is None else str(parse_schedule(value))

    @field_validator("prune_threshold")
    @classmethod
    def _threshold_can_be_read(cls, value: float | str) -> float | str:
        from allstreets.base import InputError
        from allstreets.cfr.pruning import Pruning

        try:
            Pruning(1, value)
        except InputError:
            raise ValueError(
                f"{shown(value)} is not a threshold; write a negative number, in pots times pairs "
                'of combos, or "-1000*sqrt(t)"'
            ) from None
        return value

    @model_validator(mode="after")
    def _preset_and_checks(self) -> "PostflopModelConfig":
        if self.preset is not None:
            given = self.model_fields_set
            # Frozen for others; nobody has seen this one yet.
            self.__dict__.update({k: v for k, v in PRESETS[self.preset].items() if k not in given})
        if self.fixed_flops and self.max_flop_boards:
            raise WrongKeyError("max_flop_boards", "give fixed_flops or max_flop_boards, not both")
        if len(set(self.postflop_sprs)) != len(self.postflop_sprs):
            raise WrongKeyError("postflop_sprs", "an SPR is given twice; keep one of the two")
        if self.prune_warmup and self.schedule().clip:
            raise WrongKeyError(
                "cfr_variant",
                f"{self.cfr_variant} keeps no negative regrets, so there is nothing to prune; "
                "write dcfr or linear, or set prune_warmup to 0",
            )
        return self

    def schedule(self) -> "Schedule":
        """How regrets are discounted."""
        from allstreets.cfr.schedules import parse_schedule

        usual = "linear" if self.solve_type == "mccfr" else "dcfr" if self.prune_warmup else "tuned"
        return parse_schedule(self.cfr_variant or usual)

    def model(self) -> "FlopModel":
        """How each flop is solved."""
        from allstreets.cfr.pruning import Pruning
        from allstreets.solvers.flops.game import POT
        from allstreets.solvers.flops.model import FlopModel
        from allstreets.subgames.buckets import BucketCounts

        pruning = None
        if self.prune_warmup:
            pruning = Pruning(
                self.prune_warmup,
                _scaled(self.prune_threshold, POT),
                self.prune_explore_freq,
                self.regret_floor * POT,
            )
        return FlopModel(
            solve_type=self.solve_type,
            schedule=self.schedule(),
            pruning=pruning,
            buckets=BucketCounts(
                self.num_hand_buckets_flop, self.num_hand_buckets_turn, self.num_hand_buckets_river
            ),
            sample_pct=self.mccfr_sample_pct,
            seed=self.seed,
        )

    def ends(self) -> "FlopEnds":
        """When each flop is done."""
        from allstreets.solvers.flops.model import FlopEnds

        return FlopEnds(
            iterations=self.postflop_solve_iterations,
            exploitability=self.cfr_exploitability_threshold,
            regret=self.regret_threshold,
            check_interval=self.convergence_check_interval,
        )

    def games(self) -> "tuple[FlopGame, ...]":
        """The betting at each stack-to-pot ratio."""
        from allstreets.betting import PlayerSizes
        from allstreets.solvers.flops.game import flop_game

        texts = self.size_texts()
        players = [PlayerSizes.parse(texts[street]["bet"], texts[street]["raise"], what=street)
                   for street in STREETS]  # fmt: skip
        sizes = tuple((player, player) for player in players)
        return tuple(
            flop_game(spr, sizes, self.max_raises_per_street) for spr in self.postflop_sprs
        )

    def size_texts(self) -> dict[str, dict[str, str]]:
        """The sizes of every street in their canonical texts: flop → bet, raise."""
        bets = _street_sizes(self.bet_sizes, raises=False)
        given = self.bet_sizes if self.raise_sizes is None else self.raise_sizes
        raises = _street_sizes(given, raises=True)
        return {street: {"bet": bets[street], "raise": raises[street]} for street in STREETS}

    def flops(self) -> "tuple[Flop, ...]":
        """The flops to solve; one that is named twice comes once."""
        from allstreets.cards import all_flops, parse_flop
        from allstreets.cards.flop_sets import parse_flop_set

        if not self.fixed_flops:
            return parse_flop_set(self.max_flop_boards).flops
        found: dict[int, str] = {}
        for text in self.fixed_flops:
            flop = parse_flop(text).flop
            if flop.number in found:
                warnings.warn(
                    f"fixed_flops: {found[flop.number]} and {text} are the same flop up to the "
                    f"names of suits ({flop.text}); it is solved once",
                    ConfigWarning,
                    stacklevel=2,
                )
            found.setdefault(flop.number, text)
        return tuple(all_flops()[number] for number in found)

    def identity(self) -> dict[str, Any]:
        """What two solutions of a flop must share to be the same, as JSON data.

        Which flops and stack-to-pot ratios are asked for, and the threads, are no part of it.
        """
        model = self.model()
        keys: dict[str, Any] = {
            "solve_type": self.solve_type,
            "sizes": self.size_texts(),
            "max_raises_per_street": self.max_raises_per_street,
            "postflop_solve_iterations": self.postflop_solve_iterations,
            "cfr_exploitability_threshold": self.cfr_exploitability_threshold,
            "regret_threshold": self.regret_threshold,
            "convergence_check_interval": self.convergence_check_interval,
            "cfr_variant": str(model.schedule),
            "pruning": model.pruning.facts() if model.pruning else None,
        }
        if self.solve_type == "bucketed":
            counts = model.buckets
            keys |= {"buckets": [counts.flop, counts.turn, counts.river], "seed": self.seed}
        if self.solve_type == "mccfr":
            keys |= {"mccfr_sample_pct": self.mccfr_sample_pct, "seed": self.seed}
        return keys


def _street_sizes(given: Sizes | SizesByStreet, *, raises: bool) -> dict[str, str]:
    """Street → the canonical text of its sizes."""
    from allstreets.betting import parse_sizes, sizes_text

    found = {}
    for street in STREETS:
        sizes = getattr(given, street) if isinstance(given, SizesByStreet) else given
        found[street] = sizes_text(parse_sizes(listed(sizes), raises=raises))
    return found


def _scaled(threshold: float | str, factor: float) -> float | str:
    """A pruning threshold in another unit."""
    from allstreets.cfr.pruning import SQUARE_ROOT

    match = SQUARE_ROOT.fullmatch(str(threshold))
    if match is None:
        return float(threshold) * factor
    return f"{float(match[1].replace(' ', '')) * factor!r}*sqrt(t)"
