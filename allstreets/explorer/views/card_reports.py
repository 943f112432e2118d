"""The report over turn or river cards: the first decision after each of them.

A card of a large spot takes a while the first time it is looked at, and all of them read as many
gigabytes as its strategies. So a report comes in parts, one for each board that differs: reports
with the rows of that board alone, whose weights are in one unit.
"""

from collections.abc import Iterable, Iterator

from allstreets.base import InputError
from allstreets.betting import Line, NodeKind, Player, Street
from allstreets.cards import card_text, parse_card
from allstreets.explorer.errors import MissingError
from allstreets.explorer.models.reports import CardReport, CardRow
from allstreets.explorer.views.betting import PLAYER_NAMES, street_name
from allstreets.explorer.views.card_walk import CardWalk
from allstreets.explorer.views.figures import numbers, summary
from allstreets.explorer.views.ways import ways_to_a_deal
from allstreets.solutions import Decision

CACHED = 8  # reports


class CardReports:
    """Reports by the line to the deal."""

    def __init__(self, view: CardWalk) -> None:
        self._view = view
        self._made: dict[Line, CardReport] = {}  # those that were looked at to the end

    def parts(self, line: Line) -> Iterator[CardReport]:
        """The deal at a line, or the last one on the way to it, board by board."""
        tree = self._view.betting(()).tree
        places = [
            place for place, node in enumerate(line.nodes) if tree.kind[node] == NodeKind.CHANCE
        ]
        if not places:
            raise self._no_deal(line)
        deal = Line(line.nodes[: places[-1] + 1], line.cards[: len(places) - 1])
        if deal in self._made:
            yield self._made[deal]
            return
        parts = []
        for part in self._boards(deal):
            parts.append(part)
            yield part
        self._made[deal] = together(parts)
        while len(self._made) > CACHED:
            del self._made[next(iter(self._made))]

    def _no_deal(self, line: Line) -> InputError:
        """Why there is no report, with the ways on that lead to a deal."""
        ways = ways_to_a_deal(self._view.betting(line.cards), line.node)
        if not ways:
            return MissingError("No card is dealt any more on this way.")
        return MissingError("No card has been dealt yet. These ways lead to one:", ways)

    def _boards(self, deal: Line) -> Iterator[CardReport]:
        view = self._view
        tree = view.betting(()).tree
        street = Street(int(tree.street[deal.node]) + 1)
        if len(deal.cards) + 1 >= view.kept:
            raise InputError(
                f"the {street.text} is not stored in this solution: each card would be solved "
                "again. Look at one card, or solve the spot again with --save full"
            )
        below = int(tree.children_of(deal.node)[0])
        same = view.runouts(deal.cards)
        for board in same.representatives:
            betting = view.betting((*deal.cards, board))
            scene = view.scene(Line((*deal.nodes, below), (*deal.cards, board)))
            # A card that this one stands for has other combos and the same figures.
            cards = [card for card, one in enumerate(same.representative.tolist()) if one == board]
            yield CardReport(
                line=view.betting(deal.cards).line(deal.node),
                street=street_name(street),
                player=PLAYER_NAMES[tree.player_at(below)],
                actions=betting.choices(below),
                unit=betting.notation.unit,
                rows=[self._row(deal, card, board, scene) for card in cards],
            )

    def _row(self, deal: Line, card: int, other: int, scene: Decision) -> CardRow:
        betting = self._view.betting((*deal.cards, card))
        below = int(betting.tree.children_of(deal.node)[0])
        oop, ip = (summary(scene, player) for player in Player)
        return CardRow(
            line=betting.line(below),
            # How often the card is dealt: Σ of the weights of the pairs of combos that get there.
            weight=float(scene.hands[0].weights.sum()),
            share=scene.share,
            frequencies=numbers(scene.taken),
            ev_oop=oop.ev,
            ev_ip=ip.ev,
            equity_oop=oop.equity,
            equity_ip=ip.equity,
            card=card_text(card),
            same_as=card_text(other) if other != card else None,
        )


def together(parts: Iterable[CardReport]) -> CardReport:
    """The parts of a report as one part: its rows in the order of the deck."""
    found = list(parts)
    rows = sorted((row for part in found for row in part.rows), key=_place_in_deck)
    return found[0].model_copy(update={"rows": rows})


def joined(parts: Iterable[CardReport]) -> CardReport:
    """The parts of a report as one, whose weights add up to 1."""
    found = together(parts)
    total = sum(row.weight for row in found.rows)
    rows = [
        row.model_copy(update={"weight": row.weight / total if total > 0 else 0.0})
        for row in found.rows
    ]
    return found.model_copy(update={"rows": rows})


def _place_in_deck(row: CardRow) -> int:
    return parse_card(row.card)
