"""What practice says of decisions, as plain data: it is stored, printed and drawn from this."""

from dataclasses import dataclass

from allstreets.review import Option

MISSED = 0.01
"""Of the pot: what cost more was missed, and comes back."""
OFTEN = 0.1
"""What the solution does so often with a hand is not missed: were it solved to the end, the action
would cost nothing."""


@dataclass(frozen=True)
class Draw:
    """A choice that the solution made, and the number that made it."""

    seat: str
    street: str
    action: str
    number: float  # 0 … 1: the action is the one in whose part of the mix it falls
    mix: tuple[tuple[str, float], ...]  # of the hand that was held


@dataclass(frozen=True)
class Answer:
    """A decision of the player, and what the solution says of it. Amounts are in big blinds."""

    solution: str
    folder: str
    seed: int
    hand: int  # the number of the hand among those of the seed
    seat: str  # "BB", "SB", "OOP", "IP"
    player: str  # "oop" or "ip"
    street: str
    pot_kind: str
    line: str
    board: str
    cards: str
    pot_bb: float
    to_call_bb: float
    taken: str
    options: tuple[Option, ...]
    loss_bb: float | None  # None: not judged, and the note says why
    note: str = ""
    repeated: bool = False  # whether it came back

    @property
    def best(self) -> Option | None:
        """The action with the highest EV."""
        known = [one for one in self.options if one.ev_bb is not None]
        return max(known, key=lambda one: one.ev_bb or 0.0, default=None)

    @property
    def frequency(self) -> float | None:
        """How often the solution does what was done."""
        return next((one.frequency for one in self.options if one.action == self.taken), None)

    @property
    def missed(self) -> bool:
        """Whether it cost more than a little, and the solution does not do it itself."""
        dear = self.loss_bb is not None and self.loss_bb > MISSED * self.pot_bb
        return dear and (self.frequency or 0.0) < OFTEN


@dataclass(frozen=True)
class End:
    """How a hand ended."""

    how: str  # "fold", "showdown" or "stopped"
    text: str
    board: str  # as far as it was dealt
    theirs: str  # the other player's cards
    won_bb: float | None  # by the player; None: the hand was not played to its end
