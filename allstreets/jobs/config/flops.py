"""The section `postflop_model`: the flops to solve, the model, and when each flop is done."""

import warnings
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from allstreets.betting import CHIPS_PER_POT, PlayerSizes, parse_sizes, sizes_text
from allstreets.cards import NAMED, Flop, all_flops, parse_flop
from allstreets.cfr import Pruning
from allstreets.engines import ON_GPUS, CardModel
from allstreets.games import PotGame, pot_at
from allstreets.jobs.config.flop_choice import FlopsConfig
from allstreets.jobs.config.model import ConfigModel, ConfigWarning, WrongKeyError
from allstreets.jobs.config.shared import (
    CHECK_INTERVAL,
    BucketsConfig,
    BucketsFlop,
    BucketsRiver,
    BucketsTurn,
    Device,
    Interval,
    MaxRaises,
    PruningConfig,
)
from allstreets.jobs.config.values import PotShare, Sizes, check_sizes, listed
from allstreets.solvers import FlopTargets

STREETS = ("flop", "turn", "river")

Preset = Literal[
    "fast",
    "medium",
    "standard",
    "accurate",
    "classes_fast",
    "classes_standard",
    "sampled_fast",
    "sampled_standard",
]


def _preset(cards: str, iterations: int, threshold: float, **others: Any) -> dict[str, Any]:
    ends = {"iterations": iterations, "exploitability_threshold": threshold}
    return {"cards": cards, **ends, **others}


def _buckets(flop: int, later: int) -> dict[str, int]:
    return {
        "num_hand_buckets_flop": flop,
        "num_hand_buckets_turn": later,
        "num_hand_buckets_river": later,
    }


PRESETS: dict[str, dict[str, Any]] = {
    "fast": _preset("buckets", 200, 0.01, **_buckets(10, 50)),
    "medium": _preset("buckets", 300, 0.005, **_buckets(15, 200)),
    "standard": _preset("buckets", 500, 0.003, **_buckets(20, 500)),
    "accurate": _preset("buckets", 1000, 0.001, **_buckets(30, 1000)),
    "classes_fast": _preset("classes", 200, 0.01),
    "classes_standard": _preset("classes", 1000, 0.001),
    "sampled_fast": _preset("sampled", 200, 0.02, sample_pct=1.0),
    "sampled_standard": _preset("sampled", 1000, 0.005, sample_pct=1.0),
}
"""The settings of each preset; keys of the file override them."""


def _ratios(value: Any) -> Any:
    """A number alone is a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


Ratios = Annotated[
    tuple[Annotated[float, Field(gt=0, le=1000)], ...],
    BeforeValidator(_ratios, json_schema_input_type=float | list[float]),
    Field(min_length=1),
]


class SizesByStreet(ConfigModel):
    """Sizes of both players, street by street."""

    flop: Sizes = Field(examples=[["50%"]])
    """On the flop."""

    turn: Sizes = Field(examples=[["50%", "100%"]])
    """On the turn."""

    river: Sizes = Field(examples=[["75%", "a"]])
    """On the river."""


class PostflopModelConfig(FlopsConfig, BucketsConfig, PruningConfig):
    """Flops solved one by one with full ranges, at one or more stack-to-pot ratios."""

    default_prune_threshold: ClassVar[float | str] = "-1000*sqrt(t)"

    preset: Preset | None = Field(default=None, examples=["classes_fast"])
    """Defaults by name, for model, iterations and threshold; other keys override it."""

    cards: Literal["classes", "buckets", "sampled"] = "classes"
    """The card model. Players know their hand class (classes; sampled: the same game by sampled
    deals), or a bucket on each street (buckets)."""

    bet_sizes: Sizes | SizesByStreet = Field(default=(0.5, 1.0), examples=[[0.5, 1.0]])
    """Bet sizes of both players, in pots or as text: 0.5, 50%, 2e, a; or by street."""

    raise_sizes: Sizes | SizesByStreet | None = Field(default=None, examples=[["60%", "a"]])
    """Raise sizes of both players; without it the bet sizes."""

    max_raises_per_street: MaxRaises = 1

    postflop_sprs: Ratios = Field(default=(3.5,), examples=[[1.0, 3.5, 8.0]])
    """Stack-to-pot ratios on the flop; every flop is solved at each."""

    iterations: int = Field(default=500, ge=1, examples=[500])
    """Iterations of a flop, at most."""

    exploitability_threshold: PotShare = Field(default=0.01, examples=[0.01])
    """A flop is done when its exploitability is at most this share of the pot: 1% or 0.01; 0:
    never."""

    check_interval: Interval = Field(default=25, examples=[25], description=CHECK_INTERVAL)

    num_hand_buckets_flop: BucketsFlop = 10

    num_hand_buckets_turn: BucketsTurn = 50

    num_hand_buckets_river: BucketsRiver = 50

    device: Device = "cpu"

    cluster: str | None = Field(default=None, min_length=1, examples=["auto"])
    """Solve on a Ray cluster: auto, local (this machine) or HOST:PORT; docs/cluster.md."""

    sample_pct: float = Field(default=1.0, gt=0, le=100, examples=[1.0])
    """Per cent of the pairs of combos dealt in an iteration, for each player (cards: sampled)."""

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

    @field_validator("flops")
    @classmethod
    def _flops_can_be_read(cls, value: int | str | tuple[str, ...]) -> int | str | tuple[str, ...]:
        """Unlike in a whole game flops have no weights, and one may be named twice."""
        if not isinstance(value, tuple) or not value:
            return super()._flops_can_be_read(value)
        for text in value:
            parse_flop(text)
        return value

    @model_validator(mode="after")
    def _preset_and_checks(self) -> "PostflopModelConfig":
        if self.preset is not None:
            given = self.model_fields_set
            # Frozen for callers; this instance is not out yet.
            self.__dict__.update({k: v for k, v in PRESETS[self.preset].items() if k not in given})
        if len(set(self.postflop_sprs)) != len(self.postflop_sprs):
            raise WrongKeyError("postflop_sprs", "an SPR is given twice; keep one of the two")
        on_gpu = ON_GPUS.get(self.cards)
        if self.device != "cpu" and (on_gpu is None or (self.prune_warmup and not on_gpu.prunes)):
            raise WrongKeyError(
                "device", "a GPU solves cards: classes and buckets, without pruning; use cpu"
            )
        return self

    def usual_algorithm(self) -> str:
        """The default of `algorithm`, which follows from the model."""
        return "linear" if self.cards == "sampled" else "dcfr" if self.prune_warmup else "ahead"

    def card_model(self) -> "CardModel":
        """The card model: what players know about the cards."""
        return CardModel(
            self.cards, buckets=self.buckets, sample_pct=self.sample_pct, seed=self.seed
        )

    def pruning(self) -> "Pruning | None":
        """The pruning thresholds, in chips times pairs of combos; None: nothing is skipped."""
        return self.pruning_in_chips(CHIPS_PER_POT)

    def targets(self) -> "FlopTargets":
        """The targets at which each flop is solved."""
        return FlopTargets(
            exploitability=self.exploitability_threshold,
            regret=self.regret_threshold,
            check_interval=self.check_interval,
        )

    def pots(self) -> "tuple[PotGame, ...]":
        """The betting at each stack-to-pot ratio."""
        texts = self.size_texts()
        players = [PlayerSizes.parse(texts[street]["bet"], texts[street]["raise"], what=street)
                   for street in STREETS]  # fmt: skip
        sizes = tuple((player, player) for player in players)
        return tuple(pot_at(spr, sizes, self.max_raises_per_street) for spr in self.postflop_sprs)

    def size_texts(self) -> dict[str, dict[str, str]]:
        """The sizes of every street in their canonical texts: flop → bet, raise."""
        bets = _street_sizes(self.bet_sizes, raises=False)
        given = self.bet_sizes if self.raise_sizes is None else self.raise_sizes
        raises = _street_sizes(given, raises=True)
        return {street: {"bet": bets[street], "raise": raises[street]} for street in STREETS}

    def chosen_flops(self) -> "tuple[Flop, ...]":
        """The flops to solve; one that is named twice is solved once."""
        if not isinstance(self.flops, tuple):
            return self.flop_set().flops
        texts: dict[int, str] = {}
        for text in self.flops:
            flop = parse_flop(text).flop
            if flop.number in texts:
                warnings.warn(
                    f"flops: {texts[flop.number]} and {text} are the same flop up to the "
                    f"names of suits ({flop.text}); it is solved once",
                    ConfigWarning,
                    stacklevel=2,
                )
            texts.setdefault(flop.number, text)
        return tuple(all_flops()[number] for number in texts)

    def flop_weights(self) -> dict[str, float]:
        """The number of flops each stands for, if the set says so; named flops have no weights."""
        chosen = None if isinstance(self.flops, tuple) else self.flop_set()
        if chosen is None or chosen.name == NAMED:
            return {}
        texts = [flop.text for flop in chosen.flops]
        return dict(zip(texts, chosen.weights.tolist(), strict=True))

    def identity(self) -> dict[str, Any]:
        """The settings that two solutions of a flop must share to be the same, as JSON data.

        The choice of flops and stack-to-pot ratios, and the threads, are not part of it.
        """
        pruning = self.pruning()
        return {
            "cards": self.card_model().facts(),
            "sizes": self.size_texts(),
            "max_raises_per_street": self.max_raises_per_street,
            "iterations": self.iterations,
            "exploitability_threshold": self.exploitability_threshold,
            "regret_threshold": self.regret_threshold,
            "check_interval": self.targets().check_interval,
            "algorithm": str(self.schedule()),
            "pruning": pruning.facts() if pruning else None,
        }


def _street_sizes(given: Sizes | SizesByStreet, *, raises: bool) -> dict[str, str]:
    """Street → the canonical text of its sizes."""
    by_street = {}
    for street in STREETS:
        sizes = getattr(given, street) if isinstance(given, SizesByStreet) else given
        by_street[street] = sizes_text(parse_sizes(listed(sizes), raises=raises))
    return by_street
