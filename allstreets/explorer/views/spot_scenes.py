"""The hands of a solved spot at any place, combo by combo."""

from functools import lru_cache

import numpy as np

from allstreets.betting import Line, NodeKind, Player, line_text
from allstreets.cards import live_combos
from allstreets.cards.combos import COMBO_MASKS
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.ends import acted, showdown_evs
from allstreets.explorer.views.equity import ComboEquity
from allstreets.explorer.views.scene import Floats, Longs, Scene, Side
from allstreets.solvers import NodeResult, SpotResult

KEPT = 96  # scenes
UNREACHED = (
    "play never gets here: strategies are what is left of early iterations, there are no EVs"
)


class SpotScenes:
    """Scenes by line; what was looked at is kept for a while."""

    def __init__(self, result: SpotResult) -> None:
        self.result = result
        self._equity = ComboEquity()
        self._at = lru_cache(KEPT)(self._find)
        self._pairs = lru_cache(KEPT)(self._pairs_beside)

    def at(self, betting: Betting, line: Line) -> Scene:
        """The scene that a line leads to."""
        found = self._at(line)
        if self.result.spot.tree.kind[line.node] == NodeKind.SHOWDOWN:
            return showdown_evs(betting, line.node, self.result.spot.payoffs, found)
        return found

    def _find(self, line: Line) -> Scene:
        tree = self.result.spot.tree
        if tree.kind[line.node] == NodeKind.DECISION:
            text = line_text(tree, line.node, line.cards)
            return self._decision(self.result.node(text))
        board = (*self.result.spot.cards, *line.cards)
        combos, reach = self._left(line)
        return self._scene(board, float(tree.pot_at(line.node)), combos, reach)

    def _decision(self, node: NodeResult) -> Scene:
        numbers = node.numbers
        equities = self._equity(node.board, numbers.combos, numbers.reach)
        sides = [
            Side(
                combos=numbers.combos[player],
                reach=numbers.reach[player],
                weights=numbers.reach[player] * numbers.met[player],
                evs=node.evs(player),
                equity=equities[player],
            )
            for player in Player
        ]
        share = float(sides[0].weights.sum()) / self._pairs(node.board)
        return Scene(
            board=node.board,
            pot=float(node.pot),
            paid=(0.0, 0.0),
            sides=(sides[0], sides[1]),
            player=node.player,
            actions=node.actions,
            strategy=node.strategy,
            action_evs=node.action_evs,
            share=share,
            notes=() if share > 0 else (UNREACHED,),
        )

    def _left(self, line: Line) -> tuple[tuple[Longs, Longs], tuple[Floats, Floats]]:
        """Both players' combos and reach after the last action of a line."""
        spot = self.result.spot
        tree = spot.tree
        if line.node == 0:
            combos = [np.flatnonzero(one.weights) for one in spot.ranges]
            weights = [one.weights[held] for one, held in zip(spot.ranges, combos, strict=True)]
            return (combos[0], combos[1]), (weights[0], weights[1])
        above = int(tree.parent[line.node])
        numbers = self.result.node(line_text(tree, above, line.cards)).numbers
        action = tree.children_of(above).tolist().index(line.node)
        reach = list(numbers.reach)
        reach[numbers.player] = acted(reach[numbers.player], numbers.strategy[action])
        return numbers.combos, (reach[0], reach[1])

    def _scene(
        self,
        board: tuple[int, ...],
        pot: float,
        combos: tuple[Longs, Longs],
        reach: tuple[Floats, Floats],
    ) -> Scene:
        fits = (COMBO_MASKS[combos[0]][:, None] & COMBO_MASKS[combos[1]][None, :]) == 0
        met = fits @ reach[1], reach[0] @ fits
        equities = self._equity(board, combos, reach)
        sides = [
            Side(
                combos=combos[player],
                reach=reach[player],
                weights=reach[player] * met[player],
                evs=np.full(len(reach[player]), np.nan),
                equity=equities[player],
            )
            for player in Player
        ]
        return Scene(board, pot, (0.0, 0.0), (sides[0], sides[1]))

    def _pairs_beside(self, board: tuple[int, ...]) -> float:
        """Σ of the weights of all pairs of combos that fit beside a board and each other."""
        live = live_combos(board)
        combos = [np.flatnonzero((one.weights > 0) & live) for one in self.result.spot.ranges]
        fits = (COMBO_MASKS[combos[0]][:, None] & COMBO_MASKS[combos[1]][None, :]) == 0
        weights = [
            one.weights[held] for one, held in zip(self.result.spot.ranges, combos, strict=True)
        ]
        return float(weights[0] @ fits @ weights[1])
