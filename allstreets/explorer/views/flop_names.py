"""A flop as it was named, and the one that was solved in its place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from allstreets.base import Longs
from allstreets.cards import (
    CanonicalFlop,
    Flop,
    canonical_flop,
    card_text,
    cards_text,
    parse_board,
)
from allstreets.explorer.errors import MissingError
from allstreets.explorer.models.base import Hint
from allstreets.explorer.models.place import CardsStep
from allstreets.solutions import near_flops


@dataclass(frozen=True)
class NamedFlop:
    """Three cards in any suits."""

    cards: tuple[int, ...]
    canonical: CanonicalFlop

    @classmethod
    def read(cls, text: str) -> "NamedFlop":
        """Read three cards."""
        cards = parse_board(text)
        return cls(cards, canonical_flop(cards))

    @property
    def text(self) -> str:
        """The cards as they were named."""
        return cards_text(self.cards)

    @property
    def flop(self) -> Flop:
        """What was solved."""
        return self.canonical.flop

    def shown(self, combos: Longs) -> Longs:
        """[H]: combos of the solved flop in the suits that were named."""
        return self.canonical.named_combos(combos)

    def step(self, line: str) -> CardsStep:
        """The deal as a step; `line` leads to it."""
        solved = self.canonical.solved_cards(self.cards)
        return CardsStep(
            line=line,
            street="flop",
            cards=[card_text(card) for card in self.cards],
            label=f"flop {self.text}",
            same_as=[] if solved == self.cards else [card_text(card) for card in solved],
        )


def require_flop(named: NamedFlop, flops: Sequence[Flop], line_of: Callable[[str], str]) -> None:
    """Refuse a flop that is not among those of a solution, and name near ones."""
    if any(flop.number == named.flop.number for flop in flops):
        return
    same = "" if named.text == named.flop.text else f" ({named.flop.text} but for suits)"
    raise MissingError(
        f"the flop {named.text}{same} is not among the {len(flops):,} of this solution",
        [Hint(label=near.text, line=line_of(near.text)) for near in near_flops(flops, named.flop)],
    )
