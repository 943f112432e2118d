"""The hands of a solved spot at any place, combo by combo."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from allstreets.betting import Line, NodeKind, Player, line_text
from allstreets.cards import live_combos
from allstreets.cards.combos import COMBO_MASKS
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.ends import ENDS, acted, end_evs
from allstreets.explorer.views.equity import ComboEquity
from allstreets.explorer.views.scene import Floats, Longs, Scene, Side
from allstreets.solvers import NodeResult, SpotResult

KEPT = 96  # scenes
BEHIND = (
    "allstreets report FOLDER --line … --behind solves what would follow by itself, as if the "
    "whole range came here"
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
        if self.result.spot.tree.kind[line.node] in ENDS:
            found = end_evs(betting, line.node, self.result.spot.payoffs, found)
        return found.learned()

    def _find(self, line: Line) -> Scene:
        tree = self.result.spot.tree
        if tree.kind[line.node] == NodeKind.DECISION:
            text = line_text(tree, line.node, line.cards)
            return self._decision(self.result.node(text))
        board = (*self.result.spot.cards, *line.cards)
        combos, reach = self._left(line)
        scene = self._scene(board, float(tree.pot_at(line.node)), combos, reach)
        return self._before_cards(scene, line) if tree.kind[line.node] == NodeKind.CHANCE else scene

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
            notes=() if node.reached else (BEHIND,),
            starts=node.starts,
            settled=node.settled,
            locked=node.locked,
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

    def _before_cards(self, scene: Scene, line: Line) -> Scene:
        """The scene of a deal with EVs, as far as they are known without looking at every card.

        Who acted last knows what his action is worth to each hand. The other one's range has the
        rest of the pot, unless there is rake: it depends on what comes, so nothing is told then.
        """
        spot = self.result.spot
        if line.node == 0 or spot.rake:
            return scene
        above = int(spot.tree.parent[line.node])
        node = self.result.node(line_text(spot.tree, above, line.cards))
        action = spot.tree.children_of(above).tolist().index(line.node)
        player, other = node.player, node.player.opponent
        cost = np.diff(spot.tree.invested[[above, line.node], player])  # which is behind him now
        sides = list(scene.sides)
        sides[player] = replace(sides[player], evs=node.action_evs[action] + cost)
        rest = scene.pot - sides[player].mean(sides[player].evs)
        sides[other] = replace(sides[other], range_ev=rest)
        return replace(scene, sides=(sides[0], sides[1]))

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
        live = live_combos(board)
        oop, ip = (float(one.weights[live].sum()) for one in self.result.spot.ranges)
        return Scene(board, pot, (0.0, 0.0), (sides[0], sides[1]), starts=(oop, ip))

    def _pairs_beside(self, board: tuple[int, ...]) -> float:
        """Σ of the weights of all pairs of combos that fit beside a board and each other."""
        live = live_combos(board)
        combos = [np.flatnonzero((one.weights > 0) & live) for one in self.result.spot.ranges]
        fits = (COMBO_MASKS[combos[0]][:, None] & COMBO_MASKS[combos[1]][None, :]) == 0
        weights = [
            one.weights[held] for one, held in zip(self.result.spot.ranges, combos, strict=True)
        ]
        return float(weights[0] @ fits @ weights[1])
