"""Lifted strategies, slowly: what every combo does, and what one hand can win against it.

A `SlowPlay` answers decision by decision. `Handed` gives it to an exact game combo by combo;
`Responder` walks one hand through every runout of a flop, the other player's combos in a plain
list.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind, Outcome, Player
from allstreets.cards import COMBO_CARDS, combo_strengths
from allstreets.engines.card_model import Precision
from allstreets.engines.exact.buckets import StreetBuckets
from allstreets.engines.exact.cards import StreetBoards
from allstreets.engines.exact.strategies import set_average_strategy
from allstreets.engines.exact.subgame import ExactSubgame

Array = NDArray[np.float64]
Board = tuple[int, ...]
Walk = Callable[[Board, Array], float]


class SlowPlay(Protocol):
    """Both players' strategies."""

    def at(self, node: int, board: Board) -> Array:
        """[A, 1326]: what every combo does at a decision on a board."""


class Handed:
    """A play that is given to an exact game board by board, every combo its own row."""

    learns = False
    precision: Precision = "float32"

    def __init__(self, play: SlowPlay) -> None:
        self.play = play

    def sharing(self, streets: Sequence[StreetBoards]) -> StreetBuckets:
        return [None] * len(streets)

    def fill(self, subgame: ExactSubgame, players: Sequence[Player] = tuple(Player)) -> None:
        assert len(players) == 2
        for level, street in enumerate(subgame.levels):
            for number, board in enumerate(subgame.streets[level].boards):
                for node in subgame.tree.decisions(street):
                    player = Player(int(subgame.tree.player[node]))
                    combos = subgame.streets[level].hands[player][number].combos
                    chances = self.play.at(node, board)[:, combos]
                    set_average_strategy(subgame, level, number, node, chances)


class Responder:
    """One combo against a play, over every card that may come."""

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Array,
        play: SlowPlay,
        flop: Board,
        player: Player,
        combo: int,
        others: Mapping[int, float],
    ) -> None:
        self.tree, self.payoffs, self.play, self.player = tree, payoffs, play, player
        self.combo, self.flop, self.best = combo, flop, True
        held = set(COMBO_CARDS[combo].tolist())
        free = {c: w for c, w in others.items() if not held & set(COMBO_CARDS[c].tolist())}
        self.others, self.weights = list(free), np.array(list(free.values()))

    def value(self, *, best: bool) -> float:
        """Σ over the other's combos of weight · chips won, by the best choices or by the play."""
        self.best = best
        return self._walk(0, self.flop, self.weights)

    def _walk(self, node: int, board: Board, weights: Array) -> float:
        tree, kind = self.tree, self.tree.kind[node]
        if kind == NodeKind.FOLD:
            return float(self.payoffs[node, self.player, Outcome.WIN] * weights.sum())
        if kind == NodeKind.SHOWDOWN:
            return self._show(node, board, weights)
        if kind == NodeKind.CHANCE:
            below = int(tree.children_of(node)[0])
            return self._deal(board, weights, lambda b, w: self._walk(below, b, w))
        children = tree.children_of(node).tolist()
        chances = self.play.at(node, board)
        if tree.player[node] == self.player:
            values = [self._walk(child, board, weights) for child in children]
            return max(values) if self.best else float(chances[:, self.combo] @ np.array(values))
        taken = chances[:, self.others] * weights
        return sum(
            self._walk(child, board, part) for child, part in zip(children, taken, strict=True)
        )

    def _deal(self, board: Board, weights: Array, walk: Walk) -> float:
        """The mean over the next card, which neither player nor the board holds."""
        total = 0.0
        gone = {*board, *COMBO_CARDS[self.combo].tolist()}
        for card in set(range(52)) - gone:
            live = weights * (COMBO_CARDS[self.others] != card).all(axis=1)
            if live.any():
                total += walk((*board, card), live)
        return total / (48 - len(board))

    def _show(self, node: int, board: Board, weights: Array) -> float:
        if len(board) < 5:
            return self._deal(board, weights, lambda b, w: self._show(node, b, w))
        shown = combo_strengths([board], COMBO_CARDS[[self.combo, *self.others]])[0].astype(int)
        win, tie, lose = self.payoffs[node, self.player].tolist()
        won = np.select([shown[0] > shown[1:], shown[0] == shown[1:]], [win, tie], lose)
        return float(won @ weights)
