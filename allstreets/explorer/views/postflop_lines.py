"""Lines through a model of flops: "spr3.5 | AsKh7d | x b50%".

First the stack-to-pot ratio, then the flop, then what is done on it, as `PostflopResult` reads it.
"""

import re
from dataclasses import dataclass

from allstreets.base import InputError
from allstreets.betting.lines import ANY_CARD_WORD, SEPARATOR
from allstreets.cards import Flop, parse_flop
from allstreets.explorer.errors import MissingError
from allstreets.explorer.models.base import Hint
from allstreets.explorer.models.place import CardsStep, Setting
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.flop_names import NamedFlop, require_flop
from allstreets.explorer.views.wrong_lines import with_hints
from allstreets.solvers import PostflopResult
from allstreets.solvers.flops.game import POT
from allstreets.solvers.flops.result import action_word, action_words, find_node, line_words
from allstreets.solvers.unified.lines import FLOP

RATIO = re.compile(r"spr\s*(\d{1,9}(?:\.\d{1,12})?)", re.IGNORECASE)
SEATS = ("OOP", "IP")
UNIT = "pot"


@dataclass(frozen=True)
class PostflopPlace:
    """A node of the tree of a ratio, on a flop if one is dealt."""

    spr: float
    flop: NamedFlop | None = None
    node: int = 0


class PostflopLines:
    """Lines of one model."""

    def __init__(self, result: PostflopResult) -> None:
        if not result.sprs:
            raise InputError("no flop of this model is solved yet: look again later")
        self.result = result
        self._flops: dict[float, tuple[Flop, ...]] = {
            spr: tuple(
                parse_flop(row["flop"]).flop for row in result.flops if float(row["spr"]) == spr
            )
            for spr in result.sprs
        }

    def flops(self, spr: float) -> tuple[Flop, ...]:
        """The flops that are solved at a ratio."""
        return self._flops[spr]

    def read(self, text: str) -> PostflopPlace:
        """The place that a text leads to."""
        return with_hints(text, self._read, self.text)

    def read_any(self, text: str) -> PostflopPlace:
        """The same where a flop does not matter: "*" may stand in its place."""
        spr, cards, words = self._split(text)
        del cards
        return PostflopPlace(spr, None, find_node(self.result.game(spr).tree, words))

    def text(self, place: PostflopPlace) -> str:
        """The canonical text."""
        cards = "" if place.flop is None else place.flop.text
        return self.line(place.spr, cards, place.node)

    def line(self, spr: float, cards: str = "", node: int = 0) -> str:
        """The line to a node; `cards` are a flop, "*", or not yet dealt."""
        words = line_words(self.result.game(spr).tree, node)
        return f" {SEPARATOR} ".join(part for part in (ratio_word(spr), cards, words) if part)

    def betting(self, spr: float, cards: str) -> Betting:
        """The betting at a ratio."""
        tree = self.result.game(spr).tree
        return Betting(
            tree=tree,
            scale=POT,
            unit=UNIT,
            seats=SEATS,
            word=lambda node: action_word(tree, node),
            label=lambda node: action_words(tree, node),
            line=lambda node: self.line(spr, cards, node),
            averages=True,
        )

    def settings(self, place: PostflopPlace) -> list[Setting]:
        """The ratios, each leading to the same flop where it is solved there too."""
        found = []
        for spr in self.result.sprs:
            flop = place.flop
            there = flop is not None and flop.flop in self._flops[spr]
            found.append(
                Setting(
                    label=f"SPR {spr:.12g}",
                    line=self.line(spr, flop.text if flop is not None and there else ""),
                    chosen=spr == place.spr,
                )
            )
        return found

    def ratio_step(self, place: PostflopPlace) -> CardsStep:
        """The ratio that was picked, as a step."""
        return CardsStep(
            line=self.line(place.spr), street="flop", cards=[], label=f"SPR {place.spr:.12g}"
        )

    def _read(self, text: str) -> PostflopPlace:
        spr, cards, words = self._split(text)
        if cards in ("", ANY_CARD_WORD):
            if words.strip():
                raise InputError(
                    f"line '{text}': the flop is dealt first: write {self.line(spr)} | AhKd7s | …"
                )
            return PostflopPlace(spr)
        flop = NamedFlop.read(cards)
        rest = f" {SEPARATOR} {words.strip()}" if words.strip() else ""
        require_flop(flop, self._flops[spr], lambda near: self.line(spr, near) + rest)
        return PostflopPlace(spr, flop, find_node(self.result.game(spr).tree, words))

    def _split(self, text: str) -> tuple[float, str, str]:
        """(ratio, flop or "*" or nothing, words) of a line."""
        parts = [part.strip() for part in text.split(SEPARATOR)]
        spr = self.result.sprs[0]
        if found := RATIO.fullmatch(parts[0]):
            spr = self._ratio(float(found[1]))
            parts.pop(0)
        elif not parts[0]:
            parts.pop(0)
        elif not FLOP.fullmatch(parts[0]):
            raise InputError(
                f"line '{text}' begins with neither a ratio nor a flop: write "
                f"{self.line(spr)} | AhKd7s | x"
            )
        if parts and (FLOP.fullmatch(parts[0]) or parts[0] == ANY_CARD_WORD):
            return spr, parts[0], f" {SEPARATOR} ".join(parts[1:])
        return spr, "", f" {SEPARATOR} ".join(parts)

    def _ratio(self, wanted: float) -> float:
        near = min(self.result.sprs, key=lambda spr: abs(spr - wanted))
        if abs(near - wanted) > 1e-9 * max(near, 1.0):
            ratios = ", ".join(f"{spr:.12g}" for spr in self.result.sprs)
            hints = [Hint(label=f"SPR {near:.12g}", line=self.line(near))]
            raise MissingError(f"the SPR {wanted:g} is not solved here, only {ratios}", hints)
        return near


def ratio_word(spr: float) -> str:
    """The word of a line for a ratio."""
    return f"spr{spr:.12g}"
