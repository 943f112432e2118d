"""Turn and river cards on the way: which may be dealt, and those that were."""

from collections.abc import Iterator
from typing import Protocol

from allstreets.betting import Line, NodeKind
from allstreets.cards import Runouts, card_text
from allstreets.explorer.models.place import CardOption, CardsStep, Deal
from allstreets.explorer.views.betting import Betting, street_name
from allstreets.explorer.views.figures import grids
from allstreets.solutions import Decision

DECK = range(52)


class CardWalk(Protocol):
    """A pot on a board, where every card that follows is named."""

    @property
    def kept(self) -> int:
        """How many streets are stored; what comes later is solved again."""

    def runouts(self, cards: tuple[int, ...]) -> Runouts:
        """Which cards are the same after these were dealt."""

    def betting(self, cards: tuple[int, ...]) -> Betting:
        """The tree with these cards dealt; nodes beyond them are not reached."""

    def scene(self, line: Line, /) -> Decision:
        """Both players' hands at a place."""


def deal(walk: CardWalk, line: Line) -> Deal:
    """The cards that may come where a line ends."""
    tree, same = walk.betting(()).tree, walk.runouts(line.cards)
    below = int(tree.children_of(line.node)[0])
    options = []
    for card in DECK:
        other = int(same.representative[card])
        options.append(
            CardOption(
                card=card_text(card),
                line=None if other < 0 else walk.betting((*line.cards, card)).line(below),
                same_as=card_text(other) if other not in (card, -1) else None,
            )
        )
    return Deal(
        street=street_name(int(tree.street[line.node]) + 1),
        count=1,
        cards=options,
        pattern=None,
        solves_again=len(line.cards) + 1 >= walk.kept,
        grids=grids(walk.scene(line)),
    )


def dealt_cards(walk: CardWalk, line: Line) -> Iterator[CardsStep]:
    """The cards of a line as steps."""
    betting = walk.betting(line.cards)
    tree = betting.tree
    chances = [node for node in line.nodes if tree.kind[node] == NodeKind.CHANCE]
    for place, (card, node) in enumerate(zip(line.cards, chances, strict=False)):
        street = street_name(int(tree.street[node]) + 1)
        other = int(walk.runouts(line.cards[:place]).representative[card])
        yield CardsStep(
            line=betting.line(node),
            street=street,
            cards=[card_text(card)],
            label=f"{street} {card_text(card)}",
            same_as=[card_text(other)] if other != card else [],
        )
