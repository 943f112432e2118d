"""The report over turn or river cards: the same decision after each of them.

The first view of a card of a large spot takes a while, and all cards together read as many
gigabytes as its strategies. So a report comes in parts, one for each distinct board: reports with
only the rows of that board, whose weights share a unit.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from allstreets.base import InputError
from allstreets.betting import Player, Street
from allstreets.cards import card_text, parse_card
from allstreets.explorer.models.place import CardReport, CardRow
from allstreets.explorer.views.nodes import choices, of_both
from allstreets.solutions import Decision, Node, NoNodeError, Position

CACHED = 8  # reports


class CardReports:
    """Reports by the node that they are of."""

    def __init__(self) -> None:
        self._made: dict[Position, CardReport] = {}  # by node, the complete ones

    def forget(self) -> None:
        """Make all reports again."""
        self._made.clear()

    def parts(self, node: Node) -> Iterator[CardReport]:
        """The deal at a node, or a node after its last deal with every card, board by board."""
        if node.position in self._made:
            yield self._made[node.position]
            return
        parts = []
        for part in _boards(_last_deal(node), node):
            parts.append(part)
            yield part
        self._made[node.position] = _together(parts)
        while len(self._made) > CACHED:
            del self._made[next(iter(self._made))]


def _last_deal(node: Node) -> Node:
    """The last chance node on the path to a node at which one card was dealt."""
    chances = [step for step in node.path if step.kind == "chance"]
    last = chances[-1] if chances else None
    ways = []
    if last is None or (last.deal is not None and last.deal.count == 3 and last != node):
        ways = node.ways_to_a_deal()
        if not ways:
            raise NoNodeError("No card is dealt any more on this line.")
        last = node.solution.at(ways[0][1])
    deal = last.deal or node.deal
    if deal is None or deal.count == 0:
        reason = "turn and river cards are averaged over"
    elif not deal.stored:
        reason = deal.note
    elif deal.count == 3:
        reason = "no flop is dealt yet: pick one"
    elif ways:
        raise NoNodeError("No card has been dealt yet. These lines lead to one:", ways)
    else:
        return last
    raise InputError(f"line '{node.line}': there is no report over cards, since {reason}")


def _boards(deal: Node, node: Node) -> Iterator[CardReport]:
    """The first decision after each card of a deal, or the node reached after the deal."""
    solution, street = deal.solution, Street(deal.street + 1)
    if deal.deal is not None and deal.deal.solved_again:
        raise InputError(
            f"the {street.text} is not stored in this solution: each card would be solved "
            "again. Look at one card, or solve the spot again with --save full"
        )
    same = solution.runouts(deal.position)
    played = [step.index for step in node.path[len(deal.path) + 1 :]]

    def behind(card: int) -> Node:
        found = solution.node(solution.dealt(deal.position, (card,)))
        for index in played:
            found = next(child for child in found.children if child.index == index)
        return found

    for board in same.representatives:
        shown = behind(board)
        # A card that this one represents has other combos and the same figures.
        cards = np.flatnonzero(same.representative == board).tolist()
        yield CardReport.of(
            line=deal.line,
            street=street,
            player=shown.actor,
            actions=[] if shown.actor is None else choices(shown),
            unit=shown.unit.name,
            paid=shown.ranges.paid,
            rows=[_row(behind(card).line, card, board, shown.ranges) for card in cards],
        )


def _row(line: str, card: int, other: int, shown: Decision) -> CardRow:
    evs = [shown.ev(player) for player in Player]
    equities = [shown.mean(shown.equity(player), player) for player in Player]
    return CardRow.of(
        line=line,
        # How often the card is dealt: Σ of the weights of the pairs of combos that get there.
        weight=float(shown.hands[0].weights.sum()),
        share=shown.share,
        frequencies=shown.taken,
        **of_both(evs, equities),
        card=card_text(card),
        same_as=card_text(other) if other != card else None,
    )


def _together(parts: Iterable[CardReport]) -> CardReport:
    """The parts of a report as one part: its rows in the order of the deck."""
    reports = list(parts)
    rows = sorted(
        (row for part in reports for row in part.rows), key=lambda row: parse_card(row.card)
    )
    return reports[0].model_copy(update={"rows": rows})


def joined(parts: Iterable[CardReport]) -> CardReport:
    """The parts of a report as one, whose weights add up to 1."""
    report = _together(parts)
    total = sum(row.weight for row in report.rows) or 1.0
    rows = [row.model_copy(update={"weight": row.weight / total}) for row in report.rows]
    return report.model_copy(update={"rows": rows})
