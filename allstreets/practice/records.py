"""Practice as plain data: answers, draws, ends of hands, and when a missed decision comes back.

A missed decision goes into the first box and comes back after `HANDS` other hands. Whoever plays it
right then moves it to the next box, and it comes back after 1, 3, 7 and 21 days; after the last box
it is learned. Missed again, it starts anew.
"""

from dataclasses import asdict, dataclass
from typing import Any

from allstreets.review import GradedDecision

MISSED = 0.01
"""Of the pot: what cost more was missed, and comes back."""
OFTEN = 0.1
"""What the solution does so often with a hand is not missed: were it solved to the end, the action
would cost nothing."""
HANDS = 8
DAYS = (1, 3, 7, 21)
DAY = 86_400.0  # seconds

COLUMNS = (
    *("solution", "folder", "seed", "hand", "seat", "player", "street", "pot_kind", "line"),
    *("board", "cards", "pot_bb", "to_call_bb", "taken", "options", "loss_bb", "note", "repeated"),
)
"""The fields of an answer that are stored and exported, in this order."""


@dataclass(frozen=True)
class Draw:
    """A choice that the solution made, and the number that made it."""

    seat: str
    street: str
    action: str
    number: float  # 0 … 1: the action is the one in whose part of the mix it falls
    mix: tuple[tuple[str, float], ...]  # of the hand that was held


@dataclass(frozen=True, kw_only=True)
class Answer(GradedDecision):
    """A decision of the player, with the hand and the solution that it was made in."""

    solution: str
    folder: str
    seed: int
    hand: int  # the number of the hand among those of the seed
    seat: str  # "BB", "SB", "OOP", "IP"
    player: str  # "oop" or "ip"
    pot_kind: str
    cards: str
    repeated: bool = False  # whether it came back

    @property
    def missed(self) -> bool:
        """Whether it cost more than a little, and the solution does not do it itself."""
        costly = self.loss_bb is not None and self.loss_bb > MISSED * self.pot_bb
        return costly and (self.frequency or 0.0) < OFTEN

    def mapping(self) -> dict[str, Any]:
        """The answer as plain data."""
        data = {name: getattr(self, name) for name in COLUMNS}
        return {**data, "options": [asdict(option) for option in self.options]}


@dataclass(frozen=True)
class End:
    """How a hand ended."""

    how: str  # "fold", "showdown" or "stopped"
    text: str
    board: str  # as far as it was dealt
    theirs: str  # the opponent's cards
    won_bb: float | None  # by the player; None: the hand was not played to its end


@dataclass(frozen=True)
class Due:
    """When a decision comes back."""

    box: int
    at: float  # seconds since 1970: not before
    hands: int  # and not before so many hands have been played in all


def after_miss(now: float, hands: int) -> Due:
    """The first box; `hands` have been played so far."""
    return Due(0, now, hands + HANDS)


def after_success(due: Due, now: float) -> Due | None:
    """The next box; None: learned."""
    if due.box >= len(DAYS):
        return None
    return Due(due.box + 1, now + DAYS[due.box] * DAY, 0)
