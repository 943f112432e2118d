"""Whole games: the betting before the flop leads to the pots."""

from functools import cached_property

import numpy as np

from allstreets.base import Floats, quotient
from allstreets.betting import BIG_BLINDS, Line, flop_pots, line_text, payoffs
from allstreets.cards import Flop
from allstreets.engines import PackedStrategies
from allstreets.explorer.models.place import Setting, Step
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.flop_names import NamedFlop
from allstreets.explorer.views.roots import SolvedFlop
from allstreets.games import PotGame
from allstreets.solutions import Decision, PotView, WholeSolution


class PreflopRoots:
    """The nodes of the tree before the flop."""

    notation = BIG_BLINDS
    ev_note = "bb over the whole hand: what a player has put in before counts as lost"

    def __init__(self, result: WholeSolution) -> None:
        self._result = result
        self.after = None
        self.any_flop = isinstance(result, WholeSolution)
        if isinstance(result, WholeSolution) and result.has_flops:
            self.after = GameFlops(result)

    @cached_property
    def before(self) -> Betting:
        """The betting before the flop."""
        tree = self._result.before.tree
        return Betting(tree, payoffs(tree, self._result.rules), BIG_BLINDS, self.text)

    def read(self, text: str) -> int:
        """The node that words lead to."""
        return self._result.read_root(text)

    def text(self, root: int) -> str:
        """The line to a node."""
        return line_text(self._result.before.tree, root, notation=BIG_BLINDS)

    def scene(self, root: int) -> Decision:
        """Both players' hands at a node."""
        return self._result.before.node(root)

    def steps(self, root: int) -> list[Step]:
        """The way to a node."""
        return self.before.steps(root, iter(()))

    def settings(self, root: int, flop: NamedFlop | None) -> list[Setting]:
        """There is one game only."""
        del root, flop
        return []


class GameFlops:
    """The pots of a whole game on its flops; all are dealt in every pot."""

    def __init__(self, result: WholeSolution) -> None:
        self._result, self.cards = result, result.cards
        self._number = {pot.node: number for number, pot in enumerate(flop_pots(result.game.tree))}

    @cached_property
    def _solved(self) -> tuple[SolvedFlop, ...]:
        flops, rows = self._result.game.flops, self._result.source.rows
        return tuple(
            SolvedFlop(flop, weight, row["exploitability_pct"])
            for flop, weight, row in zip(flops.flops, flops.weights.tolist(), rows, strict=True)
        )

    @cached_property
    def _place(self) -> dict[int, int]:
        """The place of a flop in the set, by its number."""
        return {one.flop.number: place for place, one in enumerate(self._solved)}

    def solved(self, root: int) -> tuple[SolvedFlop, ...]:
        """The flops of the game."""
        del root
        return self._solved

    def pot(self, root: int) -> PotGame:
        """The pot that a node leads to."""
        return self._result.pot(self._number[root])

    def reach(self, root: int) -> Floats:
        """[2, 169]: as it is played before the flop."""
        return np.asarray(self._result.before.reach[root], np.float64)

    def strategies(self, root: int, flop: Flop) -> PackedStrategies:
        """The strategies of the pot on a flop, as they are stored."""
        return self._result.strategies(self._place[flop.number], self._number[root])

    def view(self, root: int, flop: Flop) -> PotView:
        """Every decision of the pot on a flop."""
        return self._result.flop_view(self._place[flop.number], self._number[root])

    def later(self, root: int, named: NamedFlop, way: Line) -> Decision:
        """A place on turn or river, where what is stored goes by their cards."""
        place, number = self._place[named.flop.number], self._number[root]
        return self._result.real_streets(place, number).at(way, named.cards)

    def counted(self, scene: Decision) -> Decision:
        """Results of the whole hand, as they are."""
        return scene

    def first_evs(self, root: int, flop: Flop, reach: Floats, pairs: float) -> tuple[float, float]:
        """EVs when a flop has been dealt, by its stored totals [2, P, 169]."""
        values = self._result.source.arrays(self._place[flop.number])["values"]
        won = (reach * values[:, self._number[root]].astype(np.float64)).sum(axis=1)
        oop, ip = quotient(won, np.full(2, pairs * BIG_BLINDS.scale)).tolist()
        return oop, ip
