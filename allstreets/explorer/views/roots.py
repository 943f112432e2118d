"""What stands above the flops of a solution, and what it has on them.

A line is ROOT | FLOP | words after the flop. A root is a number: a node of the betting before the
flop, or the place of a stack-to-pot ratio where no betting comes before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from allstreets.base import Floats
from allstreets.betting import Line, Notation
from allstreets.cards import Flop
from allstreets.engines import CardModel, PackedStrategies
from allstreets.explorer.models.place import Setting, Step
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.flop_names import NamedFlop
from allstreets.games import PotGame
from allstreets.solutions import Decision, PotView


@dataclass(frozen=True)
class SolvedFlop:
    """A flop that a root leads to."""

    flop: Flop
    weight: float  # how many of the 22,100 flops it stands for
    exploitability_pct: float | None  # of the pot


class Flops(Protocol):
    """What a solution has after the flop, by root."""

    @property
    def cards(self) -> CardModel:
        """What players know of the cards."""

    def solved(self, root: int) -> Sequence[SolvedFlop]:
        """The flops that are dealt at a root."""

    def pot(self, root: int) -> PotGame:
        """The pot that sees a flop."""

    def reach(self, root: int) -> Floats:
        """[2, 169]: both players' reach where the flop is dealt."""

    def strategies(self, root: int, flop: Flop) -> PackedStrategies:
        """The strategies of the pot on a flop, as they are stored."""

    def view(self, root: int, flop: Flop) -> PotView:
        """Every decision of the pot on a flop."""

    def later(self, root: int, named: NamedFlop, way: Line) -> Decision:
        """A place on turn or river, where what is stored goes by their cards."""

    def counted(self, scene: Decision) -> Decision:
        """A place of a view, with EVs counted as `Roots.ev_note` says."""

    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs of OOP and IP when a flop has been dealt, counted so.

        Both get there with `reach` [2, 169], in so many pairs of combos.
        """


class Roots(Protocol):
    """The roots of a solution."""

    @property
    def notation(self) -> Notation:
        """How lines are written."""

    @property
    def ev_note(self) -> str:
        """What EVs are."""

    @property
    def before(self) -> Betting | None:
        """The betting before the flop, roots being its nodes; None: there is none."""

    @property
    def after(self) -> Flops | None:
        """What follows the flop; None: the solution ends where it is dealt."""

    @property
    def any_flop(self) -> bool:
        """Whether flops that are not there can be solved for the ranges that get to them."""

    def read(self, text: str) -> int:
        """The root that the first part of a line names."""

    def text(self, root: int) -> str:
        """The canonical text of a root."""

    def scene(self, root: int) -> Decision:
        """Both players' hands at a root."""

    def steps(self, root: int) -> list[Step]:
        """The way to a root."""

    def settings(self, root: int, flop: NamedFlop | None) -> list[Setting]:
        """Other roots to pick, each with the same flop where it is solved."""
