"""A place in a solved game: the path to it, its figures, tables over cards and flops, and the same
place of another solution.

A place is identified by its line, and carries every line that leads on: a page follows lines and
never writes one. Hands are in the order of `cards.HAND_NAMES`, which `/api/about` gives.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from allstreets.explorer.models.base import (
    ByPlayer,
    Cards,
    EvCount,
    Known,
    Message,
    Number,
    Numbers,
    PlayerName,
    StreetName,
    Tone,
)
from allstreets.explorer.models.solution import SolutionCard


class Choice(Message):
    """An action that is offered, and the place that it leads to."""

    word: str  # as in a line: "f", "x", "b33", "r2.5", "a"
    label: str  # in words: "bet 1.25 bb (50 %)"
    short: str  # where there is little room: "Bet 50%", "Fold", "All-in 20"
    tone: Tone
    shade: Number  # of bets and raises: 0 the smallest of them … 1 all-in
    line: str
    frequency: Known = None  # of the whole range


class ChoiceStep(Message):
    """An earlier decision, and the chosen action."""

    kind: Literal["choice"] = "choice"
    line: str  # to the decision: what a click on the step opens
    street: StreetName
    player: PlayerName
    seat: str  # "BB", "SB", "OOP", "IP"
    pot: Number
    stack: Number  # that the player had before he acted
    choices: list[Choice]
    chosen: int  # place in `choices`


class CardsStep(Message):
    """Cards that were dealt, or a setting that was picked."""

    kind: Literal["cards"] = "cards"
    line: str  # to where they were dealt: what a click opens, to pick others
    street: StreetName
    cards: Cards  # ["Ah", "Kd", "7s"]; empty where the model averages over them
    label: str  # "flop AhKd7s", "turn: any card", "SPR 3.5"
    same_as: Cards = Field(
        default_factory=list
    )  # the cards that were solved in their place, suits renamed


Step = Annotated[ChoiceStep | CardsStep, Field(discriminator="kind")]


class RangeSummary(Message):
    """A player's whole range at a place."""

    combos: Number
    ev: Known
    equity: Known  # share of the pot, 0 … 1
    eqr: Known  # EV over equity times pot


class PlayerGrid(Message):
    """The figures of a player's 169 hands. All lists have 169 entries; EVs are in the unit."""

    combos: list[Number]  # that the board leaves
    reach: list[Number]  # 0 … 1: the mean weight with which they get here
    ev: Numbers
    equity: Numbers
    eqr: Numbers
    summary: RangeSummary


class Grids(Message):
    """The grids of both players' hands."""

    oop: PlayerGrid
    ip: PlayerGrid
    not_reached: str | None = None  # the reason if nothing here was learned: no EVs then


class ActionFigures(Choice):
    """An action at the decision that is shown."""

    ev: Known  # of the hands that take it, where enough of the range does
    ev_range: Known  # of the whole range, if all of it took the action
    known: bool  # whether its EVs were learned: False where it is never played
    combos: Number  # that take it
    chances: Numbers  # [169]: its frequency for each hand
    evs: Numbers  # [169]: its EV for each hand


class Decision(Message):
    """A player acts."""

    kind: Literal["decision"] = "decision"
    player: PlayerName
    seat: str
    to_call: Number
    pot_odds: Known  # to_call / (pot + to_call): the equity that a call needs
    share: Known  # how often play gets here, where it is known
    actions: list[ActionFigures]
    locked: list[Number]  # [169]: the share of a hand's combos with a locked strategy
    grids: Grids
    notes: list[str] = Field(default_factory=list)  # needed to read the numbers correctly


class CardOption(Message):
    """One card of the deck where a turn or river is dealt."""

    card: str
    line: str | None  # None: it cannot be dealt
    same_as: str | None = None  # the card that is solved in its place, suits renamed


class Deal(Message):
    """Cards are dealt, and the page picks them."""

    kind: Literal["deal"] = "deal"
    street: StreetName
    count: int  # 3 for a flop, 1 for a turn or river
    cards: list[CardOption]  # for a turn or river: all 52
    pattern: str | None  # for a flop: a line with "{cards}" where the three go, in any suits
    flops: int = 0  # how many flops there are; /flops lists them
    named: list[str] = Field(default_factory=list)  # these flops, where they are not all 1,755
    any_flop: bool = False  # others can be solved (/exact), though their places do not exist yet
    solves_again: bool = False  # the street is not stored: viewing it takes a while
    note: str | None = None  # why the solution ends here, where no card can be picked
    grids: Grids | None = None  # ranges, equities, and EVs as far as they are known


class End(Message):
    """The hand is over: no player acts any more."""

    kind: Literal["end"] = "end"
    how: Literal["fold", "showdown", "allin"]
    text: str  # "SB folds, BB wins 2.5 bb"
    grids: Grids  # with both ranges and their values


Here = Annotated[Decision | Deal | End, Field(discriminator="kind")]


class Setting(Message):
    """A setting that is picked before play begins, such as a stack-to-pot ratio."""

    label: str
    line: str
    chosen: bool


class Place(Message):
    """Everything that is shown at a place."""

    solution: str
    written: str = ""  # as in `SolutionCard`: if it differs, all numbers do
    line: str  # canonical
    words: str  # the same in words: "SB raises to 2, BB calls"
    street: StreetName
    board: Cards
    unit: str  # of pot, stacks and EVs: "bb", "chips", "pot"
    evs: EvCount = "here"
    ev_note: str  # how EVs count: "chips from here on: folding is 0"
    pot: Number
    stacks: ByPlayer[Number]
    seats: ByPlayer[str]
    settings: list[Setting] = Field(default_factory=list)
    steps: list[Step]
    source: str = ""  # where the strategies come from: "solved exactly, to 0.3 % of the pot"
    source_note: str = ""  # their distance from the solution's own
    here: Here


class ComboRow(Message):
    """One combo of a hand, or the hand as a whole where a model plays its combos alike."""

    cards: str  # "AhKh", or "AKs"
    combos: Number  # 1, or how many there are of the hand
    reach: Number
    ev: Known
    equity: Known
    eqr: Known
    chances: Numbers  # [A] of the player who acts; empty for the other one
    evs: Numbers  # [A]
    locked: bool = False  # its strategy is locked


class HandDetail(Message):
    """A cell of the grid, combo by combo."""

    hand: str
    player: PlayerName
    actions: list[str]  # words, in the order of `chances`
    rows: list[ComboRow]
    alike: list[str] = Field(default_factory=list)  # the groups that its combos play alike in
    note: str | None = None  # "all combos of a hand are played alike in this model"


class EquityCurves(Message):
    """Ranges as curves: hands sorted by equity. x: share of the range 0 … 1, y: equity 0 … 1."""

    line: str
    oop: list[tuple[Number, Number]]
    ip: list[tuple[Number, Number]]


class RangeText(Message):
    """A range as text that other programs read."""

    text: str
    combos: Number


class ComparisonChoice(Message):
    """A solution that may be compared with another."""

    card: SolutionCard
    notes: list[str] = Field(default_factory=list)  # differences, though it is the same game
    problem: str | None = None  # the reason if it cannot be compared
    before: bool = False  # the other one was made from it by a lock
    ready_made: bool = False  # it comes with the program


class ComparisonChoices(Message):
    """The solutions of the same kind: those that can be compared first."""

    choices: list[ComparisonChoice]
    more: int = 0  # that are of other games and not listed


class Beside(Message):
    """A figure in both solutions."""

    there: Known  # in the other solution
    here: Known
    change: Known  # how much more it is here

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, given: Any) -> Any:
        if isinstance(given, tuple):
            theirs, ours = given
            return {"there": theirs, "here": ours, "change": ours - theirs}
        return given


class ActionBeside(Message):
    """The frequency of an action over the range."""

    word: str
    label: str
    frequency: Beside
    chances: Numbers  # [169]: its frequency for each hand there, as shown by the grid there


class HandBeside(Message):
    """A hand of the player who acts."""

    name: str  # a combo, or one of the 169
    hand: str  # of the 169
    share: Number  # of the range that gets here, the mean of both
    there: Numbers  # [A]: the frequency of each action
    here: Numbers  # [A]
    ev: Beside = Field(validation_alias="evs")
    distance: Known  # the share of the time that it acts differently; None: not in both
    weighted: Number  # times its share of the range: its part of the distance of the ranges


class Comparison(Message):
    """A place in two solutions."""

    other: SolutionCard  # the other solution
    line: str
    player: PlayerName | None  # the player who acts; None: only EVs
    unit: str
    notes: list[str]  # other differences between the solutions
    text: str  # the player who has more here
    evs: ByPlayer[Beside]
    distance: Known  # how often a hand of the range acts differently
    reached: bool  # in the other solution: else nothing there was learned
    actions: list[ActionBeside]
    cells: Numbers  # [169]: how often each hand acts differently; empty where no player acts
    hands: list[HandBeside]  # largest part of the distance first


HandKey = Literal["category", "draw", "hand"]


class ReportRow(Message):
    """The first decision after cards were dealt, in figures of whole ranges."""

    line: str  # to that decision with these cards
    weight: Number  # how often the cards are dealt, in any unit: for means over rows
    share: Known = None  # how often play gets there
    frequencies: Numbers  # [A]
    ev_oop: Known
    ev_ip: Known
    equity_oop: Known
    equity_ip: Known


class CardRow(ReportRow):
    """A turn or river card."""

    card: str
    same_as: str | None = None  # the card that is solved in its place


class FlopRow(ReportRow):
    """A flop."""

    flop: str
    suits: str
    pairing: str
    connectedness: str
    high_card: str
    exploitability_pct: Known = None  # of the pot, where it is known
    solution: str | None = None  # if the line leads through another solution


class CardReport(Message):
    """One row per card that can be dealt."""

    line: str
    street: StreetName
    player: PlayerName | None  # who acts first; None: no player does, hands are shown
    actions: list[Choice]
    unit: str
    paid: ByPlayer[Number]  # as in `FlopReport`
    rows: list[CardRow]


class FlopReport(Message):
    """One row per flop, at the same decision on all of them."""

    line: str  # with "*" instead of the flop
    player: PlayerName
    actions: list[Choice]
    unit: str
    pot: Number  # at the decision; EQR = (EV + paid) / (equity · pot)
    paid: ByPlayer[Number]  # added to EVs so that they count from there on
    rows: list[FlopRow]


class BoardHand(Message):
    """A category of hands, a draw or one of the 169, over many boards; of the player who acts."""

    name: str  # "all": the whole range
    share: Known  # of all hands that get to the decision
    frequencies: Numbers  # [A]
    ev_oop: Known
    ev_ip: Known
    equity_oop: Known
    equity_ip: Known
    eqr_oop: Known
    eqr_ip: Known


class BoardHands(Message):
    """A decision on many boards by made hands, by draws, and by hand."""

    line: str
    player: PlayerName  # who acts
    actions: list[Choice]
    unit: str
    boards: int
    category: list[BoardHand]
    draw: list[BoardHand]
    hand: list[BoardHand]
    total: BoardHand


class BoardHandsPart(Message):
    """The progress of such a report, and the report when it is complete."""

    done: int
    boards: int
    report: BoardHands | None


class HandGroup(Message):
    """The hands of a category."""

    kind: Literal["starting", "made", "draw"]
    name: str  # "suited ace", "top pair", "gutshot"
    cells: list[Number]  # [169]: the share of each hand's combos, of those that the board leaves
    combos: ByPlayer[Number]  # of each player's range here
    shares: ByPlayer[Number]  # the same as shares of the range
    frequencies: Numbers  # [A] of the player who acts
    evs: ByPlayer[Known]  # with these hands
    equities: ByPlayer[Known]


class HandGroups(Message):
    """A place by categories of hands, the strongest first."""

    line: str
    player: PlayerName | None  # who acts
    groups: list[HandGroup]
