"""The section `solver` of a training file: the whole game, and how it is solved."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from allstreets.training.config_model import OldName, WrongKeyError
from allstreets.training.game_config import (
    STREETS,
    GameConfig,
    PostflopPot,
    PostflopStreet,
    PotKind,
    Street,
)
from allstreets.training.size_checks import check_sizes, listed
from allstreets.training.spot_config import Sizes

if TYPE_CHECKING:
    from allstreets.betting import StreetSizes
    from allstreets.cards.flop_sets import FlopSet
    from allstreets.cfr.pruning import Pruning
    from allstreets.cfr.schedules import Schedule
    from allstreets.solvers.unified.batches import FlopBatches
    from allstreets.solvers.unified.game import UnifiedGame
    from allstreets.training.stopping import StopRule

DCFR = ("dcfr_alpha", "dcfr_beta", "dcfr_gamma")
CHARTS = 4  # in a run, unless its file says otherwise; the last is that of the solution


class LearningConfig(GameConfig):
    """How regrets are discounted, and when the run ends or saves."""

    old_names: ClassVar[Mapping[str, OldName]] = {
        "convergence_threshold": OldName("regret_threshold"),
        "cfr_variant": OldName("algorithm"),
    }

    default_algorithm: ClassVar[str] = "tuned"

    algorithm: str | None = Field(default=None, examples=["tuned"])
    """tuned, dcfr(α,β,γ), dcfr+, cfr+, linear or vanilla; dcfr keys alone mean dcfr."""

    dcfr_alpha: float | None = Field(default=None, ge=0, le=10, examples=[1.5])
    """Discount exponent of positive regrets (dcfr)."""

    dcfr_beta: float | None = Field(default=None, ge=0, le=10, examples=[0.5])
    """Discount exponent of negative regrets (dcfr)."""

    dcfr_gamma: float | None = Field(default=None, ge=0, le=10, examples=[2.0])
    """Discount exponent of the average strategy (dcfr)."""

    dcfr_warmup: int = Field(default=0, ge=0, examples=[30])
    """First iterations that are not discounted."""

    exploitability_threshold_mbb: float | None = Field(default=None, gt=0, examples=[5])
    """End when the exploitability is at most this, in mbb/hand."""

    stable_epochs: int = Field(default=1, ge=1, le=100, examples=[2])
    """... at so many checks in a row."""

    regret_threshold: float | None = Field(default=None, gt=0, examples=[0.001])
    """End when the average positive regret is at most this, in mbb/hand: a trend, not a bound."""

    time_limit_seconds: float | None = Field(default=None, gt=0, examples=[3600])
    """End after so many seconds of this process."""

    check_interval: int | None = Field(default=None, ge=1, examples=[10])
    """Iterations between two checks; without it chosen so that they cost a tenth of the time."""

    checkpoint_interval: int | None = Field(default=None, ge=1, examples=[100])
    """Iterations between two checkpoints; without it one about every five minutes."""

    chart_interval: int | None = Field(default=None, ge=0, examples=[50])
    """Iterations between two preflop charts on the way, 0 = none; without it three in a run."""

    seed: int = Field(default=1, ge=0, le=2**31 - 1, examples=[1])
    """Seed of everything random."""

    threads: int | None = Field(default=None, ge=1, examples=[2])
    """Threads; without it all processors; at most 64, or 4 a processor."""

    @model_validator(mode="after")
    def _one_algorithm(self) -> "LearningConfig":
        given = [key for key in DCFR if getattr(self, key) is not None]
        if given and self.algorithm not in (None, "dcfr"):
            raise WrongKeyError(
                given[0], f"belongs to algorithm dcfr, not to {self.algorithm}; leave one out"
            )
        return self

    def schedule(self) -> "Schedule":
        """How the past is discounted."""
        from dataclasses import replace

        from allstreets.cfr.schedules import dcfr, parse_schedule

        if any(getattr(self, key) is not None for key in DCFR):
            defaults = dcfr()
            found = dcfr(
                _or(self.dcfr_alpha, defaults.alpha),
                _or(self.dcfr_beta, defaults.beta),
                _or(self.dcfr_gamma, defaults.gamma),
            )
        else:
            found = parse_schedule(self.algorithm or self.default_algorithm)
        return replace(found, warmup=self.dcfr_warmup) if self.dcfr_warmup else found

    def charts_every(self, iterations: int) -> int:
        """Iterations between two preflop charts in a run of `iterations`; 0: there are none."""
        if self.chart_interval is not None:
            return self.chart_interval
        return -(-iterations // CHARTS)

    def stop_rules(self, iterations: int) -> "tuple[StopRule, ...]":
        """What ends the run."""
        from allstreets.training.stopping import (
            ExploitabilityThreshold,
            Iterations,
            RegretThreshold,
            TimeLimit,
        )

        rules: list[StopRule] = [Iterations(iterations)]
        if self.exploitability_threshold_mbb is not None:
            target = self.exploitability_threshold_mbb
            rules.append(ExploitabilityThreshold(target, self.stable_epochs))
        if self.regret_threshold is not None:
            rules.append(RegretThreshold(self.regret_threshold))
        if self.time_limit_seconds is not None:
            rules.append(TimeLimit(self.time_limit_seconds))
        return tuple(rules)


class PreflopConfig(LearningConfig):
    """The separated pipeline: a preflop tree on top of models of flops that were solved before."""

    type: Literal["preflop_cfr"]
    """The job."""

    iterations: int = Field(default=1000, ge=1, examples=[1000])
    """Iterations in all."""

    models: str | None = Field(default=None, examples=["models/"])
    """A folder of solved flops; without it the file's section postflop_model is solved first."""


class UnifiedConfig(LearningConfig):
    """Preflop through river as one game."""

    old_names: ClassVar[Mapping[str, OldName]] = {
        **LearningConfig.old_names,
        "prune_explore_freq": OldName("explore_interval"),
        "batch_size": OldName("flop_batch_size"),
    }

    # After a few hundred iterations ahead of `tuned` on every whole game that was tried.
    default_algorithm: ClassVar[str] = "dcfr(1.2,0.5,4)"

    type: Literal["unified_cfr"]
    """The job."""

    postflop_bet_sizes: Sizes = Field(default=(0.5, 1.0), examples=[[0.5, 1.0]])
    """Bets after the flop, on every street: 0.5 is half the pot."""

    postflop_raise_sizes: Sizes | None = Field(default=None, examples=[[1.0]])
    """Raises after the flop; without it the bet sizes serve."""

    postflop_streets: dict[Street, PostflopStreet] | None = None
    """Sizes of single streets, which go before the two keys above."""

    postflop_pots: dict[PotKind, PostflopPot] | None = Field(
        default=None, examples=[{"3bet": {"bet": ["33%"], "raise": ["60%"]}}]
    )
    """Sizes of limped, raised, 3bet and 4bet pots, which go before the three keys above."""

    postflop_max_raises_per_street: int | None = Field(default=1, ge=0, examples=[1])
    """How often a street may be raised, its first bet not counted."""

    add_allin_threshold: float = Field(default=0, ge=0)
    """All-in is offered as well where it is at most this many pots (after the flop)."""

    force_allin_threshold: float = Field(default=0, ge=0)
    """A bet becomes all-in if at most this share of the pot would be left behind."""

    merging_threshold: float = Field(default=0, ge=0)
    """Sizes closer than this to a larger one are dropped."""

    flops: str | tuple[str, ...] | None = Field(default=None, examples=["all"])
    """all, spread_25 (25 flops that stand for all), or a list of flops."""

    max_canonical_flops: int = Field(default=0, ge=0, le=1755, examples=[0])
    """So many flops that stand for all, 0 = all 1,755; the same as flops: spread_N."""

    cards: Literal["classes", "buckets", "exact"] = "classes"
    """What players know of the cards after the flop."""

    num_hand_buckets_flop: int = Field(default=20, ge=1, le=4096)
    """Buckets on the flop (cards: buckets)."""

    num_hand_buckets_turn: int = Field(default=500, ge=1, le=4096)
    """Buckets on the turn (cards: buckets)."""

    num_hand_buckets_river: int = Field(default=500, ge=1, le=4096)
    """Buckets on the river (cards: buckets)."""

    precision: Literal["float32", "float16", "int16"] = "float32"
    """How regrets are stored (cards: exact)."""

    memory: Literal["resident", "memmap", "values"] = "resident"
    """Where regrets live: in memory, on disk, or only for the batch at hand."""

    epochs: int = Field(default=200, ge=1, examples=[10])
    """How often all flops are gone through, batch by batch."""

    flop_batch_size: int = Field(default=0, ge=0, examples=[50])
    """Flops that are visited at a time; 0 = all."""

    iterations_per_batch: int = Field(default=1, ge=1, examples=[200])
    """Iterations on a batch before the next one."""

    flop_choice: Literal["shuffled", "reach"] = "shuffled"
    """Batches: each flop once an epoch, or the likelier the more hands see it."""

    prune_warmup: int = Field(default=0, ge=0, examples=[100])
    """Iterations before pruning starts; 0 = never."""

    prune_threshold: float | str | None = Field(default=None, examples=[-1000.0])
    """Actions with a regret below are skipped, in bb times pairs of combos, or "-C*sqrt(t)"."""

    explore_interval: int = Field(default=20, ge=1, examples=[50])
    """Every so many iterations nothing is skipped."""

    regret_floor: float = Field(default=1e6, gt=0)
    """While pruning is on, regrets stay above minus this, in bb times pairs of combos."""

    close_after: int = Field(default=0, ge=0, examples=[50])
    """Every so many iterations hands that are not played to a pot stop being stored; 0 = never."""

    @field_validator("postflop_bet_sizes", "postflop_raise_sizes")
    @classmethod
    def _sizes_can_be_read(cls, value: Sizes | None, info: ValidationInfo) -> Sizes | None:
        if value is not None:
            check_sizes(value, raises=info.field_name == "postflop_raise_sizes")
        return value

    @field_validator("prune_threshold")
    @classmethod
    def _negative(cls, value: float | str | None) -> float | str | None:
        if isinstance(value, float | int) and value >= 0:
            raise ValueError(f"must be negative, not {value:g}; the further below 0 the less")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> "UnifiedConfig":
        if self.flops is not None and self.max_canonical_flops:
            raise WrongKeyError(
                "max_canonical_flops", "give flops or max_canonical_flops, not both"
            )
        if self.memory == "values" and not self.flop_batch_size:
            raise WrongKeyError(
                "flop_batch_size", "memory values needs batches; write 50, say, or memory resident"
            )
        for key in ("exploitability_threshold_mbb", "regret_threshold"):
            if self.memory == "values" and getattr(self, key) is not None:
                raise WrongKeyError(
                    key,
                    "is not known with memory values, where flops start anew with every batch; "
                    "use epochs or time_limit_seconds, or memory memmap",
                )
        if self.cards == "exact" and self.memory != "resident":
            raise WrongKeyError("memory", "must be resident for cards exact")
        if self.close_after and (self.cards != "classes" or self.memory == "values"):
            raise WrongKeyError(
                "close_after",
                "is for cards classes with memory resident or memmap; others store all hands",
            )
        return self

    def flop_set(self) -> "FlopSet":
        """The flops that may come."""
        from allstreets.cards.flop_sets import parse_flop_set

        if self.flops is None:
            return parse_flop_set(self.max_canonical_flops)
        return parse_flop_set(self.flops if isinstance(self.flops, str) else list(self.flops))

    def street_sizes(self, pot: PostflopPot | None = None) -> "tuple[StreetSizes, ...]":
        """The sizes after the flop, street by street, of a kind of pot or of all others."""
        from allstreets.betting import PlayerSizes

        found = []
        for street in STREETS:
            bet, raises = self.postflop_bet_sizes, self.postflop_raise_sizes
            own = (self.postflop_streets or {}).get(street)
            if pot is not None:
                own = pot.street(street) or own
            if own is not None:
                bet, raises = own.bet, own.raises
            sizes = PlayerSizes.parse(listed(bet), listed(bet if raises is None else raises))
            found.append((sizes, sizes))
        return tuple(found)

    def game(self) -> "UnifiedGame":
        """The game; what is wrong with its sizes or flops is said here."""
        from allstreets.solvers.unified.game import UnifiedGame

        return UnifiedGame(
            preflop=self.preflop_rules(),
            sizes=self.street_sizes(),
            flops=self.flop_set(),
            max_raises=self.postflop_max_raises_per_street,
            add_allin_threshold=self.add_allin_threshold,
            force_allin_threshold=self.force_allin_threshold,
            merging_threshold=self.merging_threshold,
            pot_sizes={
                kind: self.street_sizes(pot) for kind, pot in (self.postflop_pots or {}).items()
            },
        )

    def batches(self) -> "FlopBatches":
        """How flops are visited."""
        from allstreets.solvers.unified.batches import FlopBatches

        return FlopBatches(
            self.flop_batch_size, self.iterations_per_batch, self.flop_choice, self.seed
        )

    def pruning(self) -> "Pruning | None":
        """What is skipped, in chips times pairs of combos; None = nothing."""
        from allstreets.cfr.pruning import Pruning

        if not self.prune_warmup:
            return None
        return Pruning(
            self.prune_warmup,
            in_chips(self.prune_threshold if self.prune_threshold is not None else -1000.0),
            self.explore_interval,
            self.regret_floor * 100,
        )

    @property
    def buckets(self) -> tuple[int, int, int]:
        """Buckets on flop, turn and river."""
        return (
            self.num_hand_buckets_flop,
            self.num_hand_buckets_turn,
            self.num_hand_buckets_river,
        )


def in_chips(threshold: float | str) -> float | str:
    """A threshold in big blinds as one in chips, of which a big blind has 100."""
    if not isinstance(threshold, str):
        return 100 * threshold
    number, star, rest = threshold.partition("*")
    try:
        return f"{100 * float(number):g}{star}{rest}"
    except ValueError:
        return threshold  # `Pruning` says what is wrong with it


def _or(value: float | None, default: float | None) -> float:
    return float(value if value is not None else default or 0.0)
