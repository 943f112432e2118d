"""Real play, slowly: strategies handed to every combo, and best responses found by asking one hand.

`let_play_slowly` goes through boards, decisions and combos. `Responder` walks one combo through
every runout of a flop, with the other player's combos as a plain list.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, NodeKind, Outcome, Player, Street
from allstreets.cards import COMBO_CARDS, combo_strengths
from allstreets.subgames.exact import ExactSubgame
from allstreets.subgames.exact_view import set_average_strategy
from allstreets.subgames.real_play import RealPlay

Array = NDArray[np.float64]
Board = tuple[int, ...]
Walk = Callable[[Board, Array], float]


def chances(play: RealPlay, tree: BettingTree, node: int, board: Board, combo: int) -> Array:
    """[A]: what a combo does at a decision on a board."""
    player = Player(int(tree.player[node]))
    street = tree.decisions(Street(int(tree.street[node])))
    before = [one for one in street if tree.player[one] == player and one < node]
    first = sum(int(tree.child_count[one]) for one in before)
    rows = play.strategies(player, board)[first : first + int(tree.child_count[node])]
    return np.array(rows[:, int(play.rows(player, board)[combo])], np.float64)


def let_play_slowly(subgame: ExactSubgame, play: RealPlay) -> None:
    """Every combo at every decision on every board."""
    tree = subgame.tree
    for level, street in enumerate(subgame.levels):
        for number, board in enumerate(subgame.streets[level].boards):
            for node in tree.decisions(street):
                player = Player(int(tree.player[node]))
                combos = subgame.streets[level].hands[player][number].combos.tolist()
                columns = [chances(play, tree, node, board, combo) for combo in combos]
                set_average_strategy(subgame, level, number, node, np.stack(columns, axis=1))


class Responder:
    """The best response of one combo, over every card that may come."""

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Array,
        play: RealPlay,
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

    def value(self, *, best: bool = True) -> float:
        """Σ over the other's combos of weight · chips won; with `best` by the best choices."""
        self.best = best
        return self._walk(0, self.flop, self.weights)

    def _walk(self, node: int, board: Board, weights: Array) -> float:
        tree, kind = self.tree, self.tree.kind[node]
        if kind == NodeKind.FOLD:
            return float(self.payoffs[node, self.player, Outcome.WIN] * weights.sum())
        if kind == NodeKind.CHANCE:
            below = int(tree.children_of(node)[0])
            return self._deal(board, weights, lambda b, w: self._walk(below, b, w))
        if kind == NodeKind.SHOWDOWN:
            return self._show(node, board, weights)
        children = tree.children_of(node).tolist()
        if tree.player[node] == self.player:
            values = [self._walk(child, board, weights) for child in children]
            if self.best:
                return max(values)
            own = chances(self.play, tree, node, board, self.combo)
            return float(own @ np.array(values))
        each = [chances(self.play, tree, node, board, other) for other in self.others]
        taken = np.stack(each, axis=1) * weights  # [A, others]
        return sum(
            self._walk(child, board, part) for child, part in zip(children, taken, strict=True)
        )

    def _deal(self, board: Board, weights: Array, walk: Walk) -> float:
        """The mean over the next card, which neither player nor the board holds."""
        total = 0.0
        own = set(COMBO_CARDS[self.combo].tolist())
        for card in range(52):
            if card in own or card in board:
                continue
            live = np.array([card not in COMBO_CARDS[other] for other in self.others])
            if (weights * live).any():
                total += walk((*board, card), weights * live)
        return total / (48 - len(board))

    def _show(self, node: int, board: Board, weights: Array) -> float:
        if len(board) < 5:
            return self._deal(board, weights, lambda b, w: self._show(node, b, w))
        mine, *theirs = combo_strengths(
            [board], COMBO_CARDS[[self.combo, *self.others]]
        )[0].tolist()
        win, tie, lose = self.payoffs[node, self.player].tolist()
        won = [win if mine > his else tie if mine == his else lose for his in theirs]
        return float(np.array(won) @ weights)
