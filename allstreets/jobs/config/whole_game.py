"""The section `solver` of a training file: the whole game and its solver."""

import math
from contextlib import suppress
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator

from allstreets.analysis import FEWEST
from allstreets.base import InputError
from allstreets.betting import IP, PlayerSizes, PreflopRules, StreetSizes, parse_raise_sizes
from allstreets.cfr import Pruning
from allstreets.engines import ON_GPUS, ON_PROCESSORS, CardModel
from allstreets.games import Lock, WholeGame
from allstreets.jobs.config.flop_choice import FlopsConfig
from allstreets.jobs.config.model import ConfigModel, WrongKeyError
from allstreets.jobs.config.quality import DEFAULT, ITERATIONS, Quality, fitting_size
from allstreets.jobs.config.shared import (
    BucketsConfig,
    Device,
    LearningConfig,
    LockConfig,
    MaxRaises,
    PruningConfig,
    SizeRulesConfig,
    StopConfig,
)
from allstreets.jobs.config.values import (
    MbbPerHand,
    Rake,
    Size,
    Sizes,
    check_raise_sizes,
    check_sizes,
    listed,
)
from allstreets.solvers import TREMBLE, VisitPlan

RaiseLevel = Size | tuple[Size, ...]
RaiseLevels = Size | tuple[RaiseLevel, ...]
RaiseSizes = RaiseLevels | dict[str, RaiseLevels | dict[str, RaiseLevel]]
Street = Literal["flop", "turn", "river"]
STREETS: tuple[Street, ...] = get_args(Street)
PotKind = Literal["limped", "raised", "3bet", "4bet"]


class _BetAndRaise(ConfigModel):
    """Keys `bet` and `raise` with sizes that can be read."""

    @field_validator("bet", "raises", check_fields=False)
    @classmethod
    def _sizes_can_be_read(cls, value: Sizes | None, info: ValidationInfo) -> Sizes | None:
        if value is not None:
            check_sizes(value, raises=info.field_name == "raises")
        return value


class PostflopStreet(_BetAndRaise):
    """The sizes of one street after the flop, for both players."""

    bet: Sizes = Field(examples=[["33%", "75%"]])
    """Where there is no bet on this street yet."""

    raises: Sizes | None = Field(default=None, alias="raise", examples=[["60%"]])
    """On top of a bet or raise; without it the bet sizes serve."""


class PostflopPot(_BetAndRaise):
    """The sizes of one kind of pot after the flop; missing ones are as in other pots."""

    bet: Sizes | None = Field(default=None, examples=[["33%"]])
    """Where there is no bet on a street yet."""

    raises: Sizes | None = Field(default=None, alias="raise", examples=[["60%"]])
    """On top of a bet or raise; without it the pot's bet sizes serve."""

    flop: PostflopStreet | None = None
    """On the flop; overrides the two keys above."""

    turn: PostflopStreet | None = None
    """On the turn; overrides the two keys above."""

    river: PostflopStreet | None = None
    """On the river; overrides the two keys above."""

    @model_validator(mode="after")
    def _bets_first(self) -> "PostflopPot":
        if self.raises is not None and self.bet is None:
            raise WrongKeyError("raise", "give bet as well; raise sizes go with bet sizes")
        return self

    def street(self, street: Street) -> "PostflopStreet | None":
        """The sizes of a street; None: those of other pots."""
        own: PostflopStreet | None = getattr(self, street)
        if own is None and self.bet is not None:
            return PostflopStreet.model_construct(bet=self.bet, raises=self.raises)
        return own


class GameLockConfig(LockConfig):
    """A strategy that is fixed at a decision of a whole game."""

    line: str = Field(examples=["r2.5 c | * | x"])
    """Leads to the decision; "" is the first one, | * | stands for every flop and card."""

    frequencies: dict[str, str | float] | None = Field(default=None, examples=[{"b33%": "<=30%"}])
    """On the flop: frequencies of actions over the range, by the cheapest change of `solution`."""

    aim: dict[str, str | float] | None = Field(default=None, examples=[{"b33%": "<=28.4%"}])
    """With `frequencies`: those over the ranges of `solution` that lead to them (`lock`)."""

    solution: str | None = Field(default=None, examples=["game/"])
    """A folder: the solution whose play at the decision is locked, on the same flops."""


LISTED = {
    "raise_sizes",
    "raise_cap",
    "limp",
    "preflop_allin",
    "preflop_force_allin_threshold",
}
"""Keys that `preflop_lines` replaces."""


class GameConfig(ConfigModel):
    """Stacks, blinds and what may be bet before the flop; everything in big blinds."""

    stack_depth: float = Field(default=20, gt=0, le=1_000_000, examples=[20])
    """Stack of each player before antes and blinds, in big blinds."""

    small_blind: float = Field(default=0.5, ge=0, examples=[0.5])
    """In big blinds."""

    big_blind: float = Field(default=1, gt=0, examples=[1])
    """In big blinds: 1, unless the game is unusual."""

    ante: float = Field(default=0, ge=0, examples=[0.1])
    """Posted by each player, in big blinds."""

    bb_ante: float = Field(default=0, ge=0, examples=[1])
    """Posted by the big blind for both, in big blinds."""

    limp: bool = True
    """Whether the small blind may call the big blind when he acts first."""

    raise_sizes: RaiseSizes = Field(default=(2.5,), examples=[[2.5]])
    """Preflop raises: times the last bet, the last entry for all later ones; or by name."""

    raise_cap: int | None = Field(default=4, ge=0, examples=[4])
    """The most raises before the flop; the all-in may still follow."""

    preflop_allin: Literal["always", "never"] | float = Field(default="always", examples=[4])
    """All-in besides the raise sizes: always, never, or at this SPR after calling and below."""

    preflop_force_allin_threshold: float = Field(default=0, ge=0)
    """A preflop raise becomes all-in if at most this share of the pot would be left behind."""

    preflop_lines: tuple[str, ...] = Field(default=(), examples=[["f", "r3 f", "r3 c"]])
    """The tree before the flop line by line, instead of raise sizes, cap, limp and all-in."""

    rake: Rake = Field(default=0, examples=["5%"])
    """Share of the pot that the house takes: 5% or 0.05."""

    rake_cap: float | None = Field(default=None, ge=0, examples=[3])
    """The most that it takes from a pot, in big blinds."""

    no_flop_no_drop: bool = True
    """No rake where a player folds before the flop."""

    lock: tuple[GameLockConfig, ...] = ()
    """Locked decisions, before the flop or on every flop."""

    def locks(self) -> tuple[Lock, ...]:
        """The locks; the game finds them in its trees."""
        return tuple(
            Lock.from_mapping(lock.model_dump(mode="json", exclude_none=True)) for lock in self.lock
        )

    @field_validator("raise_sizes")
    @classmethod
    def _raises_can_be_read(cls, value: RaiseSizes) -> RaiseSizes:
        check_raise_sizes(value)
        return value

    @field_validator("preflop_allin")
    @classmethod
    def _ratio_is_positive(cls, value: str | float) -> str | float:
        if isinstance(value, float | int) and value <= 0:
            raise ValueError(f"an SPR is above 0, not {value:g}; write never, or 4, say")
        return value

    @model_validator(mode="after")
    def _leaves_a_decision(self) -> "GameConfig":
        posted = self.ante + self.bb_ante + min(self.small_blind, self.big_blind)
        if posted >= self.stack_depth:
            key = "stack_depth" if self.stack_depth <= self.big_blind else "ante"
            if key == "ante" and self.bb_ante > self.ante:
                key = "bb_ante"
            raise WrongKeyError(
                key,
                f"antes and blinds take all {self.stack_depth:g} bb of both stacks: there is "
                f"nothing to decide; make stack_depth larger than {posted:g}",
            )
        if self.preflop_lines and (others := self.model_fields_set & LISTED):
            raise WrongKeyError(
                min(others), "preflop_lines lists the whole tree before the flop: drop this key"
            )
        if not self.limp and self.preflop_allin == "never" and not self._opens():
            raise WrongKeyError(
                "limp",
                "without limp, raise_sizes and all-in the small blind could only fold; "
                "give him one of them",
            )
        return self

    def _opens(self) -> bool:
        """Whether the small blind has sizes to open with."""
        levels = parse_raise_sizes(listed(self.raise_sizes))[IP]
        return bool(levels and levels[0]) and self.raise_cap != 0

    def preflop_rules(self) -> "PreflopRules":
        """The betting before the flop."""
        return PreflopRules.parse(
            self.stack_depth,
            listed(self.raise_sizes),
            self.raise_cap,
            ante=self.ante,
            small_blind=self.small_blind,
            big_blind=self.big_blind,
            force_allin_threshold=self.preflop_force_allin_threshold,
            rake=self.rake,
            rake_cap=self.rake_cap,
            no_flop_no_drop=self.no_flop_no_drop,
            bb_ante=self.bb_ante,
            limp=self.limp,
            allin=self.preflop_allin,
            lines=self.preflop_lines,
        )


GroupCount = Annotated[int, Field(ge=16, le=240, multiple_of=16)]
CHARTS = 4  # in a run, unless its file says otherwise; the last is that of the solution
BIG_BLIND = 100  # chips


class WholeGameConfig(LearningConfig, StopConfig, GameConfig):
    """The keys that both ways of solving a whole game have in common."""

    exploitability_threshold: MbbPerHand | None = Field(default=None, examples=[5])
    """End when the exploitability is at most this, in mbb/hand: 5 or 5 mbb."""

    chart_interval: int | None = Field(default=None, ge=0, examples=[50])
    """Iterations between two preflop charts during the run, 0 = none; by default three in a run."""

    def charts_every(self, iterations: int) -> int:
        """Iterations between two preflop charts in a run of `iterations`; 0: there are none."""
        if self.chart_interval is not None:
            return self.chart_interval
        return -(-iterations // CHARTS)


class PreflopConfig(WholeGameConfig):
    """The separated pipeline: a preflop tree on top of models of flops that were solved before."""

    type: Literal["preflop_cfr"]
    """The job."""

    iterations: int = Field(default=1000, ge=1, examples=[1000])
    """Iterations in all."""

    models: str | None = Field(default=None, examples=["models/"])
    """A folder of solved flops; without it the file's section postflop_model is solved first."""


class UnifiedConfig(SizeRulesConfig, FlopsConfig, BucketsConfig, PruningConfig, WholeGameConfig):
    """Preflop through river as one game."""

    # The best on every whole game that was tried (docs/training.md).
    default_algorithm: ClassVar[str] = "ahead"

    type: Literal["unified_cfr"]
    """The job."""

    postflop_bet_sizes: Sizes = Field(default=(0.5, 1.0), examples=[[0.5, 1.0]])
    """Bets after the flop, on every street: 0.5 is half the pot."""

    postflop_raise_sizes: Sizes | None = Field(default=None, examples=[[1.0]])
    """Raises after the flop; without it the bet sizes serve."""

    postflop_streets: dict[Street, PostflopStreet] | None = None
    """Sizes of single streets; they override the two keys above."""

    postflop_pots: dict[PotKind, PostflopPot] | None = Field(
        default=None, examples=[{"3bet": {"bet": ["33%"], "raise": ["60%"]}}]
    )
    """Sizes of limped, raised, 3bet and 4bet pots; they override the three keys above."""

    max_raises_per_street: MaxRaises = 1

    cards: Literal["classes", "buckets", "exact", "boards"] = "boards"
    """The card model: what players know after the flop; classes where a game sees no flop."""

    quality: Quality | None = Field(default=None, examples=["good"])
    """quick, good or best: flops, buckets and epochs not named here, to fit (cards: boards)."""

    river_groups: GroupCount | Literal["suits"] | None = Field(default=None, examples=[64])
    """River buckets on every board: a number (cards: boards; 64), or suits (cards: exact)."""

    turn_rows: GroupCount | None = Field(default=None, examples=[176])
    """Turn buckets of a player's hands on every turn board (cards: boards); 176."""

    range_sets: int | None = Field(default=None, ge=1, le=8, examples=[3])
    """The most pairs of ranges to bucket hands for; fewer save memory (cards: boards); 3."""

    pilot: int = Field(default=0, ge=0, examples=[150])
    """Iterations on 25 flops first, to bucket hands for the ranges that result; 0 = none."""

    calibrate: int = Field(default=0, ge=0, examples=[24])
    """Flops that are solved exactly half-way, to correct the values of pots; 0 = none.

    Thresholds end the run only after that.
    """

    calibrate_over: Literal["own", "all"] = Field(default="own", examples=["all"])
    """Flops that corrections are for: those of the run, or all, which are drafted (on a GPU)."""

    regroup: int | None = Field(default=None, ge=0, examples=[2])
    """The most times that hands are bucketed again as ranges move (cards: boards); 2, 0 = never."""

    precision: Literal["float32", "float16", "int16"] = "float32"
    """How regrets are stored (cards: exact)."""

    device: Device = "cpu"

    cluster: str | None = Field(default=None, min_length=1, examples=["auto"])
    """Solve on a Ray cluster: auto, local (this machine) or HOST:PORT; docs/cluster.md."""

    memory: Literal["resident", "memmap", "per_batch"] = "resident"
    """Where regrets are kept: in memory, on disk, or in memory for the current batch only."""

    store: Literal["all", "preflop"] = "all"
    """Decisions that the solution stores: all, or only those before the flop."""

    epochs: int = Field(default=200, ge=1, examples=[10])
    """Passes over all flops, batch by batch."""

    flop_batch_size: int = Field(default=0, ge=0, examples=[50])
    """Flops visited at a time; 0 = all."""

    iterations_per_batch: int = Field(default=1, ge=1, examples=[200])
    """Iterations on a batch before the next one."""

    flop_choice: Literal["shuffled", "reach"] = "shuffled"
    """How batches are drawn: each flop once per epoch, or flops that more hands see more often."""

    tremble: float = Field(default=TREMBLE, ge=0, le=0.1, examples=[0.005])
    """Share of a range that takes every preflop action in training; 0 = off."""

    drop_unplayed_every: int = Field(default=0, ge=0, examples=[50])
    """Iterations between two reviews that drop hands never played to a pot; 0 = never."""

    @field_validator("postflop_bet_sizes", "postflop_raise_sizes")
    @classmethod
    def _sizes_can_be_read(cls, value: Sizes | None, info: ValidationInfo) -> Sizes | None:
        if value is not None:
            check_sizes(value, raises=info.field_name == "postflop_raise_sizes")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> "UnifiedConfig":
        if self.memory == "per_batch" and not self.flop_batch_size:
            raise WrongKeyError(
                "flop_batch_size",
                "memory per_batch needs batches; write 50, say, or memory resident",
            )
        if self.device != "cpu":
            self._fits_a_gpu()
        if self.cluster is not None and self.memory != "resident":
            raise WrongKeyError("memory", "must be resident on a cluster")
        for key in ("exploitability_threshold", "regret_threshold"):
            if self.memory == "per_batch" and getattr(self, key) is not None:
                raise WrongKeyError(
                    key,
                    "is not known with memory per_batch, where flops restart with every batch; "
                    "use epochs or time_limit_seconds, or memory memmap",
                )
        can = ON_PROCESSORS[self.cards]
        if self.memory not in can.memory:
            raise WrongKeyError(
                "memory", f"must be resident for cards {self.cards}; or write cards: classes"
            )
        wanted = {"boards": "a number", "exact": "suits"}.get(self.cards)
        given = "suits" if self.river_groups == "suits" else "a number"
        if self.river_groups is not None and given != wanted:
            raise WrongKeyError(
                "river_groups", "is a number of buckets for cards boards, or suits for cards exact"
            )
        if self.turn_rows is not None and self.cards != "boards":
            raise WrongKeyError("turn_rows", "is for cards boards")
        if self.range_sets is not None and self.cards != "boards":
            raise WrongKeyError("range_sets", "is for cards boards")
        if self.pilot and self.cards != "boards":
            raise WrongKeyError("pilot", "is for cards boards")
        if self.regroup and self.cards != "boards":
            raise WrongKeyError("regroup", "is for cards boards")
        self._can_be_calibrated()
        self._fits_locks()
        if self.drop_unplayed_every and (not can.drops_hands or self.memory == "per_batch"):
            raise WrongKeyError(
                "drop_unplayed_every",
                "is for cards classes with memory resident or memmap; others store all hands",
            )
        if self.quality is not None and self.cards != "boards":
            raise WrongKeyError("quality", "is for cards boards; give flops and epochs yourself")
        if self.cards == "boards":
            self._fit_machine()
        return self

    def _can_be_calibrated(self) -> None:
        """Refuse calibrations that measure nothing, or where the run cannot wait for them."""
        if not self.calibrate:
            if self.calibrate_over != "own":
                advice = "say how many flops to solve exactly: calibrate: 24"
                raise WrongKeyError("calibrate_over", advice)
            return
        if self.calibrate < FEWEST:
            raise WrongKeyError("calibrate", f"takes at least {FEWEST} flops, or 0 for none")
        if self.cards == "exact":
            raise WrongKeyError("calibrate", "has no effect: these cards are exact already")
        if self.memory == "per_batch":
            raise WrongKeyError("calibrate", "needs the strategies of all flops; write resident")
        if self.cluster is not None:
            raise WrongKeyError("calibrate", "is not supported on a cluster yet")
        if any("|" in lock.line for lock in self.lock):
            raise WrongKeyError("calibrate", "does not work with locks after the flop")

    def _fit_machine(self) -> None:
        """Choose the keys of a game with real boards that the file leaves open, and store them.

        So a stored config names its flops, buckets and epochs, whatever machine reads it again.
        """
        given = self.model_fields_set
        quality = self.quality or DEFAULT
        chosen: dict[str, object] = {}
        with suppress(InputError):  # impossible sizes are refused where the game is planned
            game = self.game()
            if not game.flop_pots and "cards" not in given:
                self.__dict__["cards"] = "classes"
                return
            size = fitting_size(
                game,
                self.card_model(),
                quality,
                flops_given="flops" in given,
                buckets_given="river_groups" in given,
                device=self.device,
                memory=None if self.cluster is None else math.inf,
            )
            chosen |= {"flops": size.subset, "river_groups": size.buckets}
        chosen["epochs"] = ITERATIONS[quality]
        self.__dict__.update({key: value for key, value in chosen.items() if key not in given})

    def _fits_locks(self) -> None:
        """Refuse settings that forget hands or flops that locks need."""
        if self.drop_unplayed_every and any("|" in lock.line for lock in self.lock):
            raise WrongKeyError(
                "drop_unplayed_every",
                "does not work with locks after the flop, which lock all hands",
            )
        if self.memory == "per_batch" and any(lock.solution is not None for lock in self.lock):
            raise WrongKeyError(
                "memory", "per_batch forgets locks that differ by flop; write resident"
            )

    def street_sizes(self, pot: PostflopPot | None = None) -> "tuple[StreetSizes, ...]":
        """The sizes after the flop, street by street, of a kind of pot or of all others."""
        by_street = []
        for street in STREETS:
            bet, raises = self.postflop_bet_sizes, self.postflop_raise_sizes
            own = (self.postflop_streets or {}).get(street)
            if pot is not None:
                own = pot.street(street) or own
            if own is not None:
                bet, raises = own.bet, own.raises
            sizes = PlayerSizes.parse(listed(bet), listed(bet if raises is None else raises))
            by_street.append((sizes, sizes))
        return tuple(by_street)

    def game(self) -> "WholeGame":
        """The game; errors in its sizes or flops are raised here."""
        return WholeGame(
            preflop=self.preflop_rules(),
            sizes=self.street_sizes(),
            flops=self.flop_set(),
            max_raises=self.max_raises_per_street,
            add_allin_threshold=self.add_allin_threshold,
            force_allin_threshold=self.force_allin_threshold,
            merging_threshold=self.merging_threshold,
            pot_sizes={
                kind: self.street_sizes(pot) for kind, pot in (self.postflop_pots or {}).items()
            },
            lock=self.locks(),
        )

    def batches(self) -> "VisitPlan":
        """The plan by which flops are visited."""
        return VisitPlan(
            self.flop_batch_size, self.iterations_per_batch, self.flop_choice, self.seed
        )

    def _fits_a_gpu(self) -> None:
        """Refuse settings that only processors support."""
        can = ON_GPUS[self.cards]
        wrong = {
            "memory": (self.memory not in can.memory, "where games are resident"),
            "precision": (
                self.cards == "exact" and self.precision not in can.precisions,
                f"which takes {' or '.join(can.precisions)}",
            ),
            "prune_warmup": (
                bool(self.prune_warmup) and not can.prunes,
                "where skipping actions saves no time",
            ),
        }
        for key, (is_wrong, why) in wrong.items():
            if is_wrong:
                raise WrongKeyError(key, f"is not for a GPU, {why}; change it, or leave out device")

    def usual_algorithm(self) -> str:
        """The default of `algorithm`: pruning needs regrets that stay negative."""
        return "dcfr(1.2,0.5,4)" if self.prune_warmup else super().usual_algorithm()

    def pruning(self) -> "Pruning | None":
        """The pruning thresholds, in chips times pairs of combos; None: nothing is skipped."""
        return self.pruning_in_chips(BIG_BLIND)

    def regroupings(self) -> int:
        """The largest number of times that hands are rebucketed."""
        most = 2 if self.regroup is None else self.regroup
        return most if self.cards == "boards" else 0

    def card_model(self) -> "CardModel":
        """The card model: what players know about the cards after the flop."""
        return CardModel(
            self.cards,
            buckets=self.buckets,
            precision=self.precision,
            groups=self.river_groups if isinstance(self.river_groups, int) else 64,
            rows=self.turn_rows or 176,
            sets=self.range_sets or CardModel.sets,
            river_groups="suits" if self.river_groups == "suits" else "none",
            seed=self.seed,
        )
