"""What may be bet in a whole game: the part of the section `solver` that is rules."""

from typing import Literal, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator

from allstreets.betting import IP, PreflopRules, parse_raise_sizes
from allstreets.games import Lock
from allstreets.training.config_model import ConfigModel, WrongKeyError
from allstreets.training.config_values import Rake, Size, Sizes
from allstreets.training.shared_config import LockConfig
from allstreets.training.size_checks import check_raise_sizes, check_sizes, listed

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
    """The sizes of one kind of pot after the flop; what is left out is as in other pots."""

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
    """A strategy that is held fixed at a decision of a whole game."""

    line: str = Field(examples=["r2.5 c | * | x"])
    """Leads to the decision; "" is the first one, | * | stands for every flop and card."""

    frequencies: dict[str, str | float] | None = Field(default=None, examples=[{"b33%": "<=30%"}])
    """On the flop: how often the range takes actions, by the smallest change of `solution`."""

    solution: str | None = Field(default=None, examples=["game/"])
    """A folder: what it plays at the decision, on the same flops."""


class GameConfig(ConfigModel):
    """Stacks, blinds and what may be bet before the flop; everything in big blinds."""

    stack_depth: float = Field(default=20, gt=0, le=1_000_000, examples=[20])
    """Stack of each player before antes and blinds, in big blinds."""

    small_blind: float = Field(default=0.5, ge=0, examples=[0.5])
    """In big blinds."""

    big_blind: float = Field(default=1, gt=0, examples=[1])
    """In big blinds: 1, unless the game is odd."""

    ante: float = Field(default=0, ge=0, examples=[0.1])
    """Posted by each player, in big blinds."""

    bb_ante: float = Field(default=0, ge=0, examples=[1])
    """Posted by the big blind for both, in big blinds."""

    limp: bool = True
    """Whether the small blind may call the big blind when he acts first."""

    raise_sizes: RaiseSizes = Field(default=(2.5,), examples=[[2.5]])
    """Preflop raises: times the last bet, the last entry for all later ones; or by name."""

    raise_cap: int | None = Field(default=4, ge=0, examples=[4])
    """How many raises there may be before the flop; the all-in may come past them."""

    preflop_allin: Literal["always", "never"] | float = Field(default="always", examples=[4])
    """All-in besides the raise sizes: always, never, or at this SPR after calling and below."""

    preflop_force_allin_threshold: float = Field(default=0, ge=0)
    """A preflop raise becomes all-in if at most this share of the pot would be left behind."""

    rake: Rake = Field(default=0, examples=["5%"])
    """Share of the pot that the house takes: 5% or 0.05."""

    rake_cap: float | None = Field(default=None, ge=0, examples=[3])
    """The most that it takes, in big blinds."""

    no_flop_no_drop: bool = True
    """No rake where a player folds before the flop."""

    lock: tuple[GameLockConfig, ...] = ()
    """Strategies that are held fixed, before the flop or on every flop."""

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
                f"nothing to decide; let stack_depth be above {posted:g}",
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
        )
