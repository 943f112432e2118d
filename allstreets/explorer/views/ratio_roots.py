"""Flops solved one by one: in the place of betting before the flop stand stack-to-pot ratios.

Lines are those that `WholeSolution` reads: "spr3.5 | AsKh7d | x b50%".
"""

from functools import cached_property

from allstreets.base import Floats, InputError
from allstreets.betting import POT_SHARES, Line, whole_line
from allstreets.cards import Flop
from allstreets.engines import PackedStrategies
from allstreets.explorer.errors import MissingError
from allstreets.explorer.models.base import Hint
from allstreets.explorer.models.place import CardsStep, Setting, Step
from allstreets.explorer.views.flop_names import NamedFlop
from allstreets.explorer.views.roots import SolvedFlop
from allstreets.games import PotGame
from allstreets.solutions import (
    FULL,
    RATIO,
    Decision,
    PotView,
    WholeSolution,
    in_shares,
    ratio_word,
    row_weight,
)


class RatioRoots:
    """The stack-to-pot ratios of a model, rising. Both players hold every hand there."""

    notation = POT_SHARES
    ev_note = (
        "share of the starting pot: 0.5 is an even split, and both players' EVs sum to 1; what a "
        "player puts in from the flop on counts as lost"
    )
    before = None
    any_flop = False

    def __init__(self, result: WholeSolution) -> None:
        if not result.sprs:
            raise InputError("no flop of this model is solved yet: look again later")
        self._result, self._sprs = result, result.sprs
        self.after = RatioFlops(result)

    def read(self, text: str) -> int:
        """The place of a ratio; the smallest where none is named."""
        if not text.strip():
            return 0
        found = RATIO.fullmatch(text.strip())
        if found is None:
            raise InputError(
                f"line '{text.strip()}' begins with neither a ratio nor a flop: write "
                f"{self.text(0)} | AhKd7s | x"
            )
        wanted = float(found[1])
        place, near = min(enumerate(self._sprs), key=lambda one: abs(one[1] - wanted))
        if abs(near - wanted) > 1e-9 * max(near, 1.0):
            ratios = ", ".join(f"{spr:.12g}" for spr in self._sprs)
            hint = Hint(label=self._label(place), line=self.text(place))
            raise MissingError(f"the SPR {wanted:g} is not solved here, only {ratios}", [hint])
        return place

    def text(self, root: int) -> str:
        """The word for a ratio."""
        return ratio_word(self._sprs[root])

    def scene(self, root: int) -> Decision:
        """Hands depend on the flop."""
        raise InputError(f"line '{self.text(root)}': no flop is dealt yet: pick one")

    def steps(self, root: int) -> list[Step]:
        """The ratio that was picked."""
        label = self._label(root)
        return [CardsStep(line=self.text(root), street="flop", cards=[], label=label)]

    def settings(self, root: int, flop: NamedFlop | None) -> list[Setting]:
        """The ratios."""
        found = []
        for other, spr in enumerate(self._sprs):
            there = flop is not None and flop.flop in self._result.flops_at(spr)
            line = whole_line(self.text(other), flop.text if flop is not None and there else "")
            found.append(Setting(label=self._label(other), line=line, chosen=other == root))
        return found

    def _label(self, root: int) -> str:
        return f"SPR {self._sprs[root]:.12g}"


class RatioFlops:
    """The flops of a model, which may be others at each ratio."""

    def __init__(self, result: WholeSolution) -> None:
        self._result, self.cards = result, result.cards
        self._rows = {(float(row["spr"]), str(row["flop"])): row for row in result.flops}

    @cached_property
    def _solved(self) -> list[tuple[SolvedFlop, ...]]:
        def solved(flop: Flop, spr: float) -> SolvedFlop:
            row = self._rows[spr, flop.text]
            return SolvedFlop(flop, row_weight(row), 100 * row["exploitability"])

        return [
            tuple(solved(flop, spr) for flop in self._result.flops_at(spr))
            for spr in self._result.sprs
        ]

    def solved(self, root: int) -> tuple[SolvedFlop, ...]:
        """The flops that are solved at a ratio."""
        return self._solved[root]

    def pot(self, root: int) -> PotGame:
        """The pot of a ratio."""
        return self._result.pot(self._result.sprs[root])

    def reach(self, root: int) -> Floats:
        """[2, 169]: every hand."""
        del root
        return FULL

    def strategies(self, root: int, flop: Flop) -> PackedStrategies:
        """The strategies of the pot on a flop, as they are stored."""
        return self._result.strategies(flop.text, self._result.sprs[root])

    def view(self, root: int, flop: Flop) -> PotView:
        """Every decision of the pot on a flop."""
        return self._result.flop_view(flop.text, self._result.sprs[root])

    def later(self, root: int, named: NamedFlop, way: Line) -> Decision:
        """No model that is solved flop by flop goes by the cards of turn and river."""
        raise NotImplementedError

    def counted(self, scene: Decision) -> Decision:
        """Shares of the pot."""
        return in_shares(scene)

    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs when a flop has been dealt, as the table over flops has them."""
        del reach, pairs
        row = self._rows[self._result.sprs[root], flop.text]
        return float(row["ev_oop"]), float(row["ev_ip"])
