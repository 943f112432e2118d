"""Keys that several sections have: each is declared and described once.

Stakes of thresholds: in `solver` mbb/hand and big blinds, in `postflop_model` shares of the pot and
pots, in toy games the game's own unit.
"""

from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, field_validator, model_validator

from allstreets.base import InputError
from allstreets.cfr import SQUARE_ROOT, Pruning, Schedule, dcfr, parse_schedule
from allstreets.engines import DEVICE_PATTERN, named_device
from allstreets.jobs.config.model import ConfigModel, WrongKeyError, shown
from allstreets.jobs.config.values import GameUnit
from allstreets.jobs.job import StopRule
from allstreets.jobs.stopping import (
    ExploitabilityThreshold,
    Intervals,
    Iterations,
    RegretThreshold,
    TimeLimit,
)

DCFR = ("dcfr_alpha", "dcfr_beta", "dcfr_gamma")

# Keys with a separate default in each section.
Interval = Annotated[int, Field(ge=1)]
BucketCount = Annotated[int, Field(ge=1, le=4096)]
CHECK_INTERVAL = (
    "Iterations between two checks of the thresholds; without a default, checks take about a "
    "tenth of the time."
)
MaxRaises = Annotated[
    Annotated[int, Field(ge=0)] | None,
    Field(
        examples=[1],
        description="How often a street may be raised after the flop, its first bet not counted; "
        "null: until all-in.",
    ),
]
Device = Annotated[
    str,
    AfterValidator(named_device),
    Field(
        json_schema_extra={"pattern": DEVICE_PATTERN},
        examples=["cuda"],
        description="Where it is solved: cpu; cuda, a GPU of this machine, cuda:1 its second one.",
    ),
]
ForceAllin = Annotated[
    float,
    Field(
        ge=0,
        description="A bet becomes all-in if at most this share of the pot would be left behind.",
    ),
]
BucketsFlop = Annotated[BucketCount, Field(description="Buckets on the flop (cards: buckets).")]
BucketsTurn = Annotated[BucketCount, Field(description="Buckets on the turn (cards: buckets).")]
BucketsRiver = Annotated[BucketCount, Field(description="Buckets on the river (cards: buckets).")]


class LockConfig(ConfigModel):
    """A strategy that is fixed at one node."""

    line: str = Field(examples=["x b50%"])
    """Leads to the node; "" is the first one."""

    strategy: dict[str, float] | None = Field(default=None, examples=[{"fold": 0.2, "call": 0.8}])
    """For all hands there."""

    hands: dict[str, dict[str, float]] | None = None
    """For some hands: range text → strategy; overrides `strategy`."""

    ranges: dict[str, str] | None = Field(default=None, examples=[{"b50%": "AA,KK:0.5"}])
    """Combo by combo: action → range text, whose weights are probabilities."""


class SpotLockConfig(LockConfig):
    """A strategy that is fixed at one node of a spot."""

    alike: bool = True
    """Whether a lock after a card also holds after every card that is the same except for suits."""


class ChecksConfig(ConfigModel):
    """The checks of figures, and the seed."""

    regret_threshold: float | None = Field(default=None, gt=0, examples=[0.001])
    """End when the average positive regret is at most this, in the unit of
    exploitability_threshold: a trend, not a bound."""

    check_interval: Interval | None = Field(default=None, examples=[10], description=CHECK_INTERVAL)

    seed: int = Field(default=1, ge=0, le=2**63 - 1, examples=[1])
    """Seed of everything random."""


class LearningConfig(ChecksConfig):
    """The discounts of regrets, and the threads."""

    default_algorithm: ClassVar[str] = "tuned"

    algorithm: str | None = Field(default=None, examples=["tuned"])
    """ahead, tuned, dcfr(α,β,γ), dcfr+, cfr+, linear or vanilla; dcfr keys alone mean dcfr."""

    dcfr_alpha: float | None = Field(default=None, ge=0, le=10, examples=[1.5])
    """Discount exponent of positive regrets (dcfr)."""

    dcfr_beta: float | None = Field(default=None, ge=0, le=10, examples=[0.5])
    """Discount exponent of negative regrets (dcfr)."""

    dcfr_gamma: float | None = Field(default=None, ge=0, le=10, examples=[2.0])
    """Discount exponent of the average strategy (dcfr)."""

    dcfr_warmup: int = Field(default=0, ge=0, examples=[30])
    """First iterations that are not discounted."""

    threads: int | None = Field(default=None, ge=1, examples=[2])
    """Threads; without it all processors; at most 64, or 4 per processor."""

    @field_validator("algorithm")
    @classmethod
    def _algorithm_is_known(cls, value: str | None) -> str | None:
        if value is not None:
            parse_schedule(value)
        return value

    @model_validator(mode="after")
    def _one_algorithm(self) -> "LearningConfig":
        given = [key for key in DCFR if getattr(self, key) is not None]
        if given and self.algorithm not in (None, "dcfr"):
            raise WrongKeyError(
                given[0], f"belongs to algorithm dcfr, not to {self.algorithm}; leave one out"
            )
        return self

    def usual_algorithm(self) -> str:
        """The default of `algorithm`."""
        return self.default_algorithm

    def schedule(self) -> "Schedule":
        """The schedule by which older iterations are discounted."""
        exponents = {key.removeprefix("dcfr_"): getattr(self, key) for key in DCFR}
        given = {key: value for key, value in exponents.items() if value is not None}
        schedule = (
            dcfr(**given) if given else parse_schedule(self.algorithm or self.usual_algorithm())
        )
        return replace(schedule, warmup=self.dcfr_warmup) if self.dcfr_warmup else schedule


class PruningConfig(LearningConfig):
    """The rules for skipping actions of very negative regret."""

    default_prune_threshold: ClassVar[float | str] = -1000.0

    prune_warmup: int = Field(default=0, ge=0, examples=[100])
    """Iterations before pruning starts; 0 = never."""

    prune_threshold: float | str | None = Field(default=None, examples=[-1000.0])
    """Actions with a regret below are skipped: a number, or "-C*sqrt(t)" at iteration t. In bb
    (solver) or pots (postflop_model) times pairs of combos. Without it -1000, in postflop_model
    "-1000*sqrt(t)"."""

    explore_interval: int = Field(default=20, ge=1, examples=[50])
    """Nothing is skipped every this many iterations."""

    regret_floor: float = Field(default=1e6, gt=0, examples=[1e6])
    """While pruning is on, regrets stay above minus this, in the unit of prune_threshold."""

    @field_validator("prune_threshold")
    @classmethod
    def _threshold_can_be_read(cls, value: float | str | None) -> float | str | None:
        try:
            Pruning(1, value)
        except InputError:
            raise ValueError(
                f"{shown(value)} is not a threshold; write a negative number, the further below 0, "
                'the less is skipped, or "-1000*sqrt(t)"'
            ) from None
        return value

    @model_validator(mode="after")
    def _negative_regrets_are_kept(self) -> "PruningConfig":
        if self.prune_warmup and self.schedule().clip:
            raise WrongKeyError(
                "algorithm",
                f"{self.schedule()} keeps no negative regrets, so there is nothing to prune; "
                "write dcfr or linear, or set prune_warmup to 0",
            )
        return self

    def pruning_in_chips(self, stake: float) -> "Pruning | None":
        """The pruning thresholds, in chips times pairs of combos; a bb or pot has `stake` chips."""
        if not self.prune_warmup:
            return None
        threshold = self.prune_threshold
        if threshold is None:
            threshold = self.default_prune_threshold
        return Pruning(
            self.prune_warmup,
            scaled(threshold, stake),
            self.explore_interval,
            self.regret_floor * stake,
        )


class SizeRulesConfig(ConfigModel):
    """The rules that turn bet sizes into bets after the flop."""

    max_raises_per_street: MaxRaises = None

    add_allin_threshold: float = Field(default=0, ge=0)
    """All-in is offered as well where it is at most this many pots (after the flop)."""

    force_allin_threshold: ForceAllin = 0

    merging_threshold: float = Field(default=0, ge=0)
    """Sizes closer than this to a larger one are dropped."""


class BucketsConfig(ConfigModel):
    """The number of buckets on each street."""

    num_hand_buckets_flop: BucketsFlop = 20

    num_hand_buckets_turn: BucketsTurn = 500

    num_hand_buckets_river: BucketsRiver = 500

    @property
    def buckets(self) -> tuple[int, int, int]:
        """Buckets on flop, turn and river."""
        return self.num_hand_buckets_flop, self.num_hand_buckets_turn, self.num_hand_buckets_river


def scaled(threshold: float | str, factor: float) -> float | str:
    """A pruning threshold in another unit.

    >>> scaled(-2.5, 1000), scaled("-2 * sqrt(t)", 100)
    (-2500.0, '-200.0*sqrt(t)')
    """
    match = SQUARE_ROOT.fullmatch(str(threshold))
    if match is None:
        return float(threshold) * factor
    return f"{float(match[1].replace(' ', '')) * factor!r}*sqrt(t)"


class StopConfig(ChecksConfig):
    """The stop rules of a run besides its iterations, and how often it saves."""

    exploitability_threshold: GameUnit | None = Field(default=None, examples=[0.001])
    """End when the exploitability is at most this, in the game's own unit."""

    stable_epochs: int = Field(default=1, ge=1, le=100, examples=[2])
    """... at this many checks in a row."""

    time_limit_seconds: float | None = Field(default=None, gt=0, examples=[3600])
    """End after this many seconds of this process."""

    checkpoint_interval: Interval | None = Field(default=None, examples=[100])
    """Iterations between two checkpoints; without it one about every five minutes."""

    def stop_rules(
        self, iterations: int | None = None, spent: float = 0.0, begins: int = 0
    ) -> tuple[StopRule, ...]:
        """The rules that end the run, one for each key that is given.

        `spent` seconds of the time limit are used up; thresholds hold from the iteration `begins`.
        """
        rules: list[StopRule] = []
        if iterations is not None:
            rules.append(Iterations(iterations))
        if self.exploitability_threshold is not None:
            target = self.exploitability_threshold
            rules.append(ExploitabilityThreshold(target, self.stable_epochs, begins))
        if self.regret_threshold is not None:
            rules.append(RegretThreshold(self.regret_threshold, begins))
        if self.time_limit_seconds is not None:
            rules.append(TimeLimit(self.time_limit_seconds, spent))
        return tuple(rules)


class LoopConfig(StopConfig):
    """The ends of the training: at least one of four must be given; the first to hold ends it."""

    iterations: int | None = Field(default=None, examples=[1000])
    """Iterations in all, those before a resume included."""

    check_interval: Interval = Field(default=100, examples=[100], description=CHECK_INTERVAL)

    checkpoint_interval: Interval = Field(default=1000, examples=[1000])
    """Iterations between two checkpoints: what a crash can cost."""

    @field_validator("iterations")
    @classmethod
    def _some_iterations(cls, value: int | None) -> int | None:
        if value is not None and value < 1:
            raise ValueError(
                f"must be 1 or more, not {value}; to run until a threshold holds, leave it out"
            )
        return value

    @model_validator(mode="after")
    def _some_end(self) -> "LoopConfig":
        if not self.stop_rules():
            raise WrongKeyError(
                "iterations",
                "nothing would end this run; give iterations, exploitability_threshold, "
                "regret_threshold or time_limit_seconds",
            )
        return self

    def intervals(self) -> Intervals:
        """The intervals of checks and of saves."""
        return Intervals(self.check_interval, self.checkpoint_interval)

    def stop_rules(
        self, iterations: int | None = None, spent: float = 0.0, begins: int = 0
    ) -> tuple[StopRule, ...]:
        """The rules that end the run, one for each key that is given.

        `spent` seconds of the time limit are used up; thresholds hold from the iteration `begins`.
        """
        return super().stop_rules(iterations or self.iterations, spent, begins)
