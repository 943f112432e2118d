"""Where a line through the whole game leads: before the flop, to its deal, or into a pot on it."""

from dataclasses import dataclass
from functools import cached_property

from allstreets.base import InputError
from allstreets.betting import (
    CHIPS_PER_BB,
    NodeKind,
    Player,
    Street,
    flop_pots,
    parse_preflop_line,
    preflop_action_label,
    preflop_action_text,
    preflop_line_text,
)
from allstreets.betting.lines import ANY_CARD_WORD
from allstreets.explorer.errors import MissingError
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.flop_names import NamedFlop, require_flop
from allstreets.explorer.views.ways import ways_to_a_deal
from allstreets.explorer.views.wrong_lines import with_hints
from allstreets.solvers.unified.lines import (
    follow_postflop,
    postflop_label,
    postflop_line,
    postflop_word,
    split_line,
    whole_line,
)
from allstreets.solvers.unified.result import PreflopResult, UnifiedResult

SEATS = (Player.OOP.seat, Player.IP.seat)
UNIT = "bb"


@dataclass(frozen=True)
class PotPlace:
    """A node of a pot on a flop."""

    number: int  # of the pot
    node: int
    flop: NamedFlop


@dataclass(frozen=True)
class WholePlace:
    """A node of the tree before the flop, and of a pot that it leads to if the flop is dealt."""

    before: int
    after: PotPlace | None = None


class WholeLines:
    """Lines of one solution."""

    def __init__(self, result: PreflopResult) -> None:
        self.result = result

    @property
    def whole(self) -> UnifiedResult | None:
        """The solution, if there is something after the flop."""
        result = self.result
        return result if isinstance(result, UnifiedResult) and result.has_flops else None

    @cached_property
    def _number_of_node(self) -> dict[int, int]:
        pots = flop_pots(self.result.before.tree)
        return {pot.node: number for number, pot in enumerate(pots)}

    def read(self, text: str) -> WholePlace:
        """The place that a text leads to."""
        return with_hints(text, self._read, self.text)

    def read_decision(self, text: str) -> tuple[int, int, int]:
        """(node before the flop, number of the pot, decision in it) of a line on any flop.

        "*" or a flop, which is left alone, may stand where it is dealt.
        """
        found = split_line(text)
        node = parse_preflop_line(self.result.before.tree, found.before)
        if self.result.before.tree.kind[node] != NodeKind.CHANCE:
            ways = ways_to_a_deal(self.before(), node)
            if not ways:
                raise MissingError("No flop is dealt any more on this way.")
            raise MissingError("No flop has been dealt yet. These ways lead to one:", ways)
        whole = self._require_whole(text)
        number = self._number_of_node[node]
        inside = self._inside(whole, number, found.after or "", text)
        if whole.pot(number).tree.kind[inside] != NodeKind.DECISION:
            raise InputError(f"line '{text}': nobody acts there")
        return node, number, inside

    def text(self, place: WholePlace) -> str:
        """The canonical text."""
        tree = self.result.before.tree
        if place.after is None:
            return preflop_line_text(tree, place.before)
        return self.pot_line(place.before, place.after.number, place.after.flop.text)(
            place.after.node
        )

    def before(self) -> Betting:
        """The betting before the flop."""
        tree = self.result.before.tree

        def word(node: int) -> str:
            action = tree.actions[node]
            assert action is not None
            return preflop_action_text(action)

        return Betting(
            tree=tree,
            scale=CHIPS_PER_BB,
            unit=UNIT,
            seats=SEATS,
            word=word,
            label=lambda node: preflop_action_label(tree, node),
            line=lambda node: preflop_line_text(tree, node),
        )

    def after(self, before: int, number: int, cards: str) -> Betting:
        """The betting of a pot on a flop, spelled as in `cards`."""
        whole = self._require_whole(cards)
        tree = whole.pot(number).tree
        return Betting(
            tree=tree,
            scale=CHIPS_PER_BB,
            unit=UNIT,
            seats=SEATS,
            word=lambda node: postflop_word(tree, node),
            label=lambda node: postflop_label(tree, node),
            line=self.pot_line(before, number, cards),
            averages=whole.cards.kind != "exact",
        )

    def pot_line(self, before: int, number: int, cards: str) -> "LineOfNode":
        """Writes the lines of a pot on a flop."""
        return LineOfNode(self._require_whole(cards), before, number, cards)

    def deal_line(self, before: int, cards: str) -> str:
        """The line to the first decision on a flop."""
        return whole_line(self.result.before.tree, before, cards)

    def _read(self, text: str) -> WholePlace:
        found = split_line(text)
        tree = self.result.before.tree
        node = parse_preflop_line(tree, found.before)
        rest = (found.after or "").replace("|", " ").split()
        if tree.kind[node] != NodeKind.CHANCE:
            if found.flop is not None or rest:
                raise InputError(
                    f"line '{text}': no flop is dealt after '{found.before.strip()}'; go on until "
                    "it is, or leave the rest out"
                )
            return WholePlace(node)
        if found.flop is None:
            if [word for word in rest if word != ANY_CARD_WORD]:
                raise InputError(
                    f"line '{text}': the flop is dealt after '{found.before.strip()}': write three "
                    "cards between bars, such as | AhKd7s |"
                )
            return WholePlace(node)
        whole = self._require_whole(text)
        flop = NamedFlop.read(found.cards)
        after = found.after or ""
        require_flop(
            flop,
            whole.game.flops.flops,
            lambda near: f"{self.deal_line(node, near)} | {after.strip()}".removesuffix(" | "),
        )
        number = self._number_of_node[node]
        return WholePlace(node, PotPlace(number, self._inside(whole, number, after, text), flop))

    def _inside(self, whole: UnifiedResult, number: int, words: str, text: str) -> int:
        tree = whole.pot(number).tree
        inside = follow_postflop(tree, words)
        if whole.cards.kind != "exact" and tree.kind[inside] == NodeKind.CHANCE:
            inside = int(tree.children_of(inside)[0])
        street = Street(int(tree.street[inside]))
        if street > whole.cards.last_street:
            raise InputError(
                f"line '{text}': with cards: {whole.cards.kind} the {street.text} is not kept, "
                f"only what is decided on the {whole.cards.last_street.text}"
            )
        return inside

    def _require_whole(self, text: str) -> UnifiedResult:
        if self.whole is None:
            raise InputError(
                f"line '{text}' goes on after the flop, and this solution ends where it is dealt"
            )
        return self.whole


@dataclass(frozen=True)
class LineOfNode:
    """The line to a node of a pot on a flop."""

    whole: UnifiedResult
    before: int
    number: int
    cards: str

    def __call__(self, node: int) -> str:
        """Its canonical text."""
        after = postflop_line(self.whole.pot(self.number).tree, node)
        return whole_line(self.whole.before.tree, self.before, self.cards, after)
