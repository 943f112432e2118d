"""What a review says of a hand, as plain data: it is stored, printed and drawn from this."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

Grid = tuple[tuple[float | None, ...], ...]  # [A, 169]


@dataclass(frozen=True)
class Option:
    """An action that could have been taken."""

    action: str  # "f", "x", "c", "b3", "r2.5" (bb), "a"
    frequency: float  # of this hand in the solution
    ev_bb: float | None  # from here on: folding is 0; None: not learned


@dataclass(frozen=True)
class ReviewedDecision:
    """A decision of the hero. Amounts and EVs are in big blinds."""

    place: int  # among the actions of the hand
    street: str
    line: str  # what was done before it: "r2.5 c | QsJh2h | x"
    board: str
    pot_bb: float  # before it, with what it takes to call; a bet counts as far as it can be called
    to_call_bb: float
    stack_bb: float  # what both can still bet
    taken: str
    counted_as: str  # the action of the tree that it was judged as; "" where there is none
    options: tuple[Option, ...] = ()
    loss_bb: float | None = None  # None: not judged, and the note says why
    within_bb: float | None = None  # what better play gains on the mean of the range, at most
    note: str = ""
    judged_by: str = ""  # where the figures come from, for people
    solved_to: float | None = None  # a spot's exploitability, of its pot; None: it is no spot
    ranges: tuple[str, str] = ("", "")  # of OOP and IP at this decision
    strategy: Grid = ()  # of the hero's range by hand class
    evs_bb: Grid = ()

    @property
    def best(self) -> Option | None:
        """The action with the highest EV."""
        known = [one for one in self.options if one.ev_bb is not None]
        return max(known, key=lambda one: one.ev_bb or 0.0, default=None)

    @property
    def frequency(self) -> float | None:
        """How often the solution does what was done."""
        return next((one.frequency for one in self.options if one.action == self.counted_as), None)


@dataclass(frozen=True)
class HandReview:
    """A hand, and all decisions that the hero made in it."""

    name: str
    file: str
    line: int
    hero: str
    seat: str  # "BB" or "SB"
    cards: str
    players: tuple[str, str]  # OOP, IP; so everywhere below
    holes: tuple[str, str]  # "" where they were never seen
    stacks_bb: tuple[float, float]
    antes_bb: tuple[float, float]
    blinds_bb: tuple[float, float]
    board: str
    actions: tuple[tuple[str, str, str], ...]  # street, seat, word
    results_bb: tuple[float, float]
    kind: str  # of pot: "unopened", "limped", "raised", "3bet", "4bet"
    solution: str  # the folder's name
    solution_stack_bb: float
    stack_bb: float
    notes: tuple[str, ...]
    decisions: tuple[ReviewedDecision, ...]

    @property
    def judged(self) -> tuple[ReviewedDecision, ...]:
        """The decisions that have a loss."""
        return tuple(one for one in self.decisions if one.loss_bb is not None)

    @property
    def loss_bb(self) -> float:
        """What the decisions that are judged cost together."""
        return sum(one.loss_bb or 0.0 for one in self.decisions)

    def to_json(self) -> dict[str, Any]:
        """The hand as JSON data, with all that a page needs to replay it."""
        return asdict(self)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> "HandReview":
        """What `to_json` gave; a `TypeError` or `KeyError` where it is something else."""
        decisions = tuple(
            _made(
                ReviewedDecision,
                {
                    **one,
                    "options": tuple(_made(Option, option) for option in one["options"]),
                    "strategy": _grid(one["strategy"]),
                    "evs_bb": _grid(one["evs_bb"]),
                },
            )
            for one in data["decisions"]
        )
        actions = tuple(tuple(one) for one in data["actions"])
        found: HandReview = _made(cls, {**data, "decisions": decisions, "actions": actions})
        return found


def _made(kind: type[Any], data: Mapping[str, Any]) -> Any:
    """A record; lists of JSON become tuples."""
    names = {one.name for one in fields(kind)}
    if set(data) != names:
        raise KeyError("a record of another version")
    return kind(
        **{key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}
    )


def _grid(rows: Any) -> Grid:
    return tuple(tuple(row) for row in rows)
