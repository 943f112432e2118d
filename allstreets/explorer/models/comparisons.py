"""A solution beside another one of the same game."""

from pydantic import Field

from allstreets.explorer.models.base import Message, Number, Numbers, PlayerName
from allstreets.explorer.models.solution import SolutionCard


class ComparisonChoice(Message):
    """A solution that another one may be laid beside."""

    card: SolutionCard
    notes: list[str] = Field(default_factory=list)  # what differs, though it is the same game
    problem: str | None = None  # why it cannot be compared
    before: bool = False  # a lock has made the other one from it


class ComparisonChoices(Message):
    """The solutions of the same kind: those that can be compared first."""

    choices: list[ComparisonChoice]
    more: int = 0  # that are of other games and not listed


class Beside(Message):
    """A figure in both solutions."""

    there: Number | None  # in the one that is laid beside
    here: Number | None
    change: Number | None  # how much more it is here


class ActionBeside(Message):
    """How often the range takes an action."""

    word: str
    label: str
    frequency: Beside
    chances: Numbers  # [169]: how often each hand takes it there, as the grid there shows it


class HandBeside(Message):
    """A hand of the player who acts."""

    name: str  # a combo, or one of the 169
    hand: str  # of the 169
    share: Number  # of the range that gets here, the mean of both
    there: Numbers  # [A]: how often it takes each action
    here: Numbers  # [A]
    ev: Beside
    distance: Number | None  # the share of the time that it does something else; None: not in both
    weighted: Number  # times its share of the range: what it adds to the distance of the ranges


class Comparison(Message):
    """A place in two solutions."""

    other: SolutionCard  # the solution that is laid beside
    line: str
    player: PlayerName | None  # who acts; None: nobody, and there are EVs alone
    unit: str
    notes: list[str]  # what else differs between the solutions
    text: str  # who has more here
    evs: dict[PlayerName, Beside]
    distance: Number | None  # how often a hand of the range does something else
    reached: bool  # in the solution that is laid beside: else nothing there was learned
    actions: list[ActionBeside]
    cells: Numbers  # [169]: how often each hand does something else; empty where nobody acts
    hands: list[HandBeside]  # what adds most to the distance first
