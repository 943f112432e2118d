"""Where a line leads: to a root, or into a pot on a flop. `explorer.views.roots` has the roots."""

from dataclasses import dataclass
from functools import lru_cache

from allstreets.base import InputError
from allstreets.betting import (
    BLINDS_AND_CARDS,
    BettingTree,
    NodeKind,
    Notation,
    Street,
    dealt,
    line_text,
    parse_line,
    split_line,
    whole_line,
)
from allstreets.explorer.errors import MissingError
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.flop_names import NamedFlop, require_flop
from allstreets.explorer.views.roots import Flops, Roots
from allstreets.explorer.views.ways import ways_to_a_deal
from allstreets.explorer.views.wrong_lines import with_hints
from allstreets.solutions import require_street

CACHED = 4096  # texts of nodes: tables over flops write the same ones on every flop


@dataclass(frozen=True)
class WholePlace:
    """A root, and a node of the pot that it leads to if the flop is dealt."""

    root: int
    flop: NamedFlop | None = None
    node: int = 0
    cards: tuple[int, ...] = ()  # turn and river, where strategies go by them


class WholeLines:
    """Lines of one solution."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self._root_text = lru_cache(CACHED)(roots.text)
        self._words = lru_cache(CACHED)(self._line_text)

    def read(self, text: str) -> WholePlace:
        """The place that a text leads to."""
        return with_hints(text, self._read, self.text)

    def read_decision(self, text: str) -> tuple[int, int]:
        """(root, decision in its pot) of a line on any flop.

        "*" or a flop, which is ignored, may stand where it is dealt.
        """
        found = split_line(text, self.roots.read)
        before = self.roots.before
        if before is not None and not self.deals(found.root):
            ways = ways_to_a_deal(before, found.root)
            if not ways:
                raise MissingError("No flop is dealt any more on this way.")
            raise MissingError("No flop has been dealt yet. These ways lead to one:", ways)
        node, _ = self._inside(found.root, found.after or "", text)
        if self.flops(text).pot(found.root).tree.kind[node] != NodeKind.DECISION:
            raise InputError(f"line '{text}': no player acts there")
        return found.root, node

    def text(self, place: WholePlace) -> str:
        """The canonical text."""
        betting, node = self.betting(place)
        return betting.line(node)

    def deals(self, root: int) -> bool:
        """Whether the flop is dealt at a root."""
        before = self.roots.before
        return before is None or bool(before.tree.kind[root] == NodeKind.CHANCE)

    def flops(self, text: str) -> Flops:
        """What follows the flop; an `InputError` for a line where nothing does."""
        if self.roots.after is None:
            raise InputError(
                f"line '{text}' goes on after the flop, and this solution ends where it is dealt"
            )
        return self.roots.after

    def betting(self, place: WholePlace) -> tuple[Betting, int]:
        """The betting that a place lies in, and its node there."""
        if place.flop is None and self.roots.before is not None:
            return self.roots.before, place.root
        flop = place.flop.text if place.flop else ""
        return self.after(place.root, flop, place.cards), place.node

    def after(self, root: int, cards: str, later: tuple[int, ...] = ()) -> Betting:
        """The betting of a pot on a flop, spelled as in `cards`; `later` are turn and river."""
        flops = self.flops(cards)
        pot = flops.pot(root)
        return Betting(
            tree=pot.tree,
            payoffs=pot.payoffs,
            notation=self.roots.notation,
            line=lambda node: self.line(root, cards, self._words(pot.tree, node, later)),
            averages=not flops.cards.plays_combos,
        )

    def line(self, root: int, cards: str = "", words: str = "") -> str:
        """The line to a root, to the first decision on a flop, and from there."""
        return whole_line(self._root_text(root), cards, words)

    @property
    def _notation(self) -> Notation:
        """Of lines after the flop."""
        after = self.roots.after
        named = after is not None and after.cards.stores_cards
        return BLINDS_AND_CARDS if named else self.roots.notation

    def _line_text(self, tree: BettingTree, node: int, cards: tuple[int, ...]) -> str:
        return line_text(tree, node, cards, self._notation)

    def _read(self, text: str) -> WholePlace:
        found = split_line(text, self.roots.read)
        root, after = found.root, (found.after or "").strip()
        rest = after.replace("|", " ").split()
        if not self.deals(root) and (found.flop is not None or rest):
            raise InputError(
                f"line '{text}': no flop is dealt after '{found.before}'; go on until it is, or "
                "leave the rest out"
            )
        if found.flop is None:
            if set(rest) - {"*"}:
                raise InputError(
                    f"line '{text}': the flop is dealt after '{self.line(root)}': write three "
                    "cards between bars, such as | AhKd7s |"
                )
            return WholePlace(root)
        flop = NamedFlop.read(found.cards)
        flops = [one.flop for one in self.flops(text).solved(root)]
        require_flop(flop, flops, lambda near: self.line(root, near, after))
        return WholePlace(root, flop, *self._inside(root, after, text, flop.cards))

    def _inside(
        self, root: int, words: str, text: str, board: tuple[int, ...] = ()
    ) -> tuple[int, tuple[int, ...]]:
        """The node of a pot that words after the flop lead to, and the cards that they name."""
        flops = self.flops(text)
        tree = flops.pot(root).tree
        way = parse_line(tree, words, board, notation=self._notation)
        node = way.node if flops.cards.plays_combos else dealt(tree, way.node)
        require_street(flops.cards, Street(int(tree.street[node])), text)
        return node, way.cards if self._notation.names_cards else ()
