"""The report over turn or river cards: the first decision after each of them."""

from functools import lru_cache

from allstreets.base import InputError
from allstreets.betting import Line, NodeKind, Player, Street
from allstreets.cards import card_text
from allstreets.explorer.errors import MissingError
from allstreets.explorer.models.reports import CardReport, CardRow
from allstreets.explorer.views.betting import PLAYER_NAMES, street_name
from allstreets.explorer.views.card_walk import CardWalk
from allstreets.explorer.views.figures import numbers, summary
from allstreets.explorer.views.ways import ways_to_a_deal
from allstreets.solvers import Decision

CACHED = 8  # reports


class CardReports:
    """Reports by the line to the deal."""

    def __init__(self, view: CardWalk) -> None:
        self._view = view
        self._made = lru_cache(CACHED)(self._make)

    def at(self, line: Line) -> CardReport:
        """The deal at a line, or the last one on the way to it."""
        tree = self._view.betting(()).tree
        places = [
            place for place, node in enumerate(line.nodes) if tree.kind[node] == NodeKind.CHANCE
        ]
        if not places:
            raise self._no_deal(line)
        return self._made(Line(line.nodes[: places[-1] + 1], line.cards[: len(places) - 1]))

    def _no_deal(self, line: Line) -> InputError:
        """Why there is no report, with the ways on that lead to a deal."""
        ways = ways_to_a_deal(self._view.betting(line.cards), line.node)
        if not ways:
            return MissingError("No card is dealt any more on this way.")
        return MissingError("No card has been dealt yet. These ways lead to one:", ways)

    def _make(self, deal: Line) -> CardReport:
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
        # A card that another one stands for has other combos and the same figures.
        scenes = {
            card: view.scene(Line((*deal.nodes, below), (*deal.cards, card)))
            for card in same.representatives
        }
        total = sum(_met(scenes[int(other)]) for other in same.representative if other >= 0)
        rows = [
            self._row(deal, card, int(other), scenes[int(other)], total)
            for card, other in enumerate(same.representative.tolist())
            if other >= 0
        ]
        first = next(iter(scenes))
        betting = view.betting((*deal.cards, first))
        return CardReport(
            line=view.betting(deal.cards).line(deal.node),
            street=street_name(street),
            player=PLAYER_NAMES[tree.player_at(below)],
            actions=betting.choices(below),
            unit=betting.notation.unit,
            rows=rows,
        )

    def _row(self, deal: Line, card: int, other: int, scene: Decision, total: float) -> CardRow:
        betting = self._view.betting((*deal.cards, card))
        below = int(betting.tree.children_of(deal.node)[0])
        oop, ip = (summary(scene, player) for player in Player)
        return CardRow(
            line=betting.line(below),
            weight=_met(scene) / total if total > 0 else 0.0,
            share=scene.share,
            frequencies=numbers(scene.frequencies()),
            ev_oop=oop.ev,
            ev_ip=ip.ev,
            equity_oop=oop.equity,
            equity_ip=ip.equity,
            card=card_text(card),
            same_as=card_text(other) if other != card else None,
        )


def _met(scene: Decision) -> float:
    """Σ of the weights of the pairs of combos that get there: how often the card is dealt."""
    return float(scene.hands[0].weights.sum())
