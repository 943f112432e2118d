"""Games with real boards and grouped rivers by loops over every river card."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.betting import NodeKind, Player
from allstreets.cards import COMBO_COUNT, COMBO_MASKS, COMBO_PERMUTATIONS, Runouts, combo_strengths
from allstreets.engines.boards.kernels.layout import MATRIX_ONE
from allstreets.engines.boards.subgame import BoardsSubgame
from allstreets.engines.exact.cards import StreetBoards
from allstreets.engines.exact.strategies import average_strategy
from allstreets.engines.exact.view import find_board
from allstreets.engines.simd.vectors import widen


def fits() -> NDArray[np.float64]:
    """[1326, 1326]: 1 for combos that share no card."""
    found: Floats = ((COMBO_MASKS[:, None] & COMBO_MASKS[None, :]) == 0).astype(np.float64)
    return found


def board_matrices(
    board: tuple[int, ...], groups: NDArray[np.int64], weights: Floats, count: int
) -> tuple[Floats, Floats]:
    """[K, K] twice: means of won − lost, and of who fits, over all pairs of combos.

    `groups` and `weights` [2, 1326] are those of both players; a group of −1: blocked.
    """
    strength = combo_strengths([board])[0].astype(np.int64)
    live = groups[0] >= 0
    compatible = fits() * live[:, None] * live[None, :]
    won = np.sign(strength[:, None] - strength[None, :]) * compatible
    member = [
        ((groups[p][:, None] == np.arange(count)) * weights[p][:, None]) * live[:, None]
        for p in range(2)
    ]
    totals = np.outer(member[0].sum(axis=0), member[1].sum(axis=0))
    safe = np.where(totals > 0, totals, 1.0)
    return member[0].T @ won @ member[1] / safe, member[0].T @ compatible @ member[1] / safe


def numbers_of(stored: NDArray[Any], actions: NDArray[np.int64], rows: int, board: int) -> Floats:
    """[slots, R]: what is stored for a board of a street, an action of a node after the other."""
    at, found = board * rows * int(actions.sum()), []
    numbers = widen(stored).astype(np.float64)
    for count in actions.tolist():
        for action in range(count):
            found.append(
                [numbers[at + 16 * (r // 16 * count + action) + r % 16] for r in range(rows)]
            )
        at += rows * count
    return np.array(found)


def carried_rows(
    numbers: Floats, before: NDArray[Any], after: NDArray[Any], weights: Floats
) -> Floats:
    """[slots, R]: numbers [slots, R] when hands change rows, hand by hand; 0 without hands."""
    sums, whole = np.zeros_like(numbers), np.zeros(numbers.shape[1])
    for old, new, weight in zip(before.tolist(), after.tolist(), weights.tolist(), strict=True):
        sums[:, new] += weight * numbers[:, old]
        whole[new] += weight
    return sums / np.where(whole > 0, whole, 1.0)


class BoardsTwin:
    """Values of a pot on a flop under the average strategies, or by a best response."""

    def __init__(
        self, subgame: BoardsSubgame, payoffs: Floats, river: StreetBoards, best: bool
    ) -> None:
        self.game, self.payoffs, self.river, self.best = subgame, payoffs, river, best
        self.tree, self.fits = subgame.tree, fits()
        rivers = subgame.cards.buckets[subgame.ranges]
        self.margin = rivers.margin.astype(np.float64) / MATRIX_ONE
        self.pairs = rivers.pairs.astype(np.float64) / MATRIX_ONE
        self.groups = rivers.river

    def values(self, own: Player, reach: Floats) -> Floats:
        """[1326]: of own combos, against the other's reach [1326]."""
        self.own = own
        board = self.game.streets[0].runouts[0].board
        return self._walk(0, board, (), reach * self._live(board))

    def _live(self, cards: tuple[int, ...]) -> Floats:
        blocked = np.uint64(sum(1 << card for card in cards))
        found: Floats = ((COMBO_MASKS & blocked) == 0).astype(np.float64)
        return found

    def _walk(
        self, node: int, flop: tuple[int, ...], dealt: tuple[int, ...], reach: Floats
    ) -> Floats:
        """The value below a node before the river, after the flop and the cards `dealt`."""
        tree, kind = self.tree, self.tree.kind[node]
        if kind == NodeKind.FOLD:
            return float(self.payoffs[node, self.own, 0]) * (self.fits @ reach)
        if kind == NodeKind.SHOWDOWN:
            return self._deal(node, flop, dealt, reach)
        if kind == NodeKind.CHANCE:
            return self._deal(int(tree.children_of(node)[0]), flop, dealt, reach)
        strategy = self._strategy(node, dealt)
        children = tree.children_of(node).tolist()
        if tree.player[node] != self.own:
            parts = [
                self._walk(child, flop, dealt, reach * strategy[a])
                for a, child in enumerate(children)
            ]
            return sum(parts, np.zeros(len(reach)))
        below = np.array([self._walk(child, flop, dealt, reach) for child in children])
        return self._chosen(node, strategy, below)

    def _chosen(self, node: int, strategy: Floats, below: Floats) -> Floats:
        """The value of a decision of the own player; at a locked one he has no choice."""
        best = self.best and node not in self.tree.locks
        found: Floats = below.max(axis=0) if best else (strategy * below).sum(axis=0)
        return found

    def _strategy(self, node: int, dealt: tuple[int, ...]) -> Floats:
        """[A, 1326]: the average strategy of a node on the board."""
        place = find_board(self.game, dealt)
        found = average_strategy(self.game, place.level, place.numbers[-1], node)
        combos = self.game.streets[place.level].hands[0][place.numbers[-1]].combos
        rows = np.zeros((len(found), COMBO_COUNT))
        rows[:, combos] = found
        return rows[:, place.renamed]

    def _deal(
        self, below: int, flop: tuple[int, ...], dealt: tuple[int, ...], reach: Floats
    ) -> Floats:
        """Every card that may fall next; on the turn representatives stand for theirs."""
        board = (*flop, *dealt)
        here = self.game.streets[len(dealt)].runouts[find_board(self.game, dealt).numbers[-1]]
        total = np.zeros(COMBO_COUNT)
        for card in range(52):
            if card in board:
                continue
            if len(dealt) == 0:
                if card not in here.representatives:
                    continue
                values = self._walk(below, flop, (card,), reach * self._live((card,)))
                values = self._spread(here, card, values * self._live((card,)))
            else:
                values = self._on_river(below, (*dealt, card), reach * self._live((card,)))
            total += values * self._live(board) / (48 - len(board))
        return total

    def _spread(self, here: Runouts, card: int, values: Floats) -> Floats:
        """Values of a card's combos, summed over the cards that it stands for."""
        total = np.zeros(COMBO_COUNT)
        for other in np.flatnonzero(here.representative == card).tolist():
            total += values[COMBO_PERMUTATIONS[int(here.permutation[other])]]
        return total

    def _on_river(self, node: int, dealt: tuple[int, ...], reach: Floats) -> Floats:
        place = find_board(self.game, dealt)
        number = place.numbers[-1]
        hands, lists = self.river.hands[0][number], self.river.lists[0]
        first, count = int(lists.start[number]), self.margin.shape[1]
        group = np.full((2, COMBO_COUNT), -1)
        for player in Player:
            group[player, hands.combos] = self.groups[player][first : first + len(hands.first)][
                hands.hand
            ]
        group = group[:, place.renamed]
        his = group[1 - self.own]
        of_groups = np.bincount(his[his >= 0], reach[his >= 0], count).astype(np.float64)
        values = self._river(node, number, of_groups)
        mine = group[self.own]
        return np.where(mine >= 0, values[mine], 0.0)

    def _river(self, node: int, board: int, reach: Floats) -> Floats:
        """[K]: values of own groups on a river board."""
        tree, kind = self.tree, self.tree.kind[node]
        oop = self.own == Player.OOP
        if kind in (NodeKind.FOLD, NodeKind.SHOWDOWN):
            pairs = self.pairs[board] if oop else self.pairs[board].T
            met = pairs @ reach
            win, tie, _ = self.payoffs[node, self.own]
            if kind == NodeKind.FOLD:
                return np.asarray(float(win) * met)
            margin = self.margin[board] if oop else -self.margin[board].T
            return np.asarray((win - tie) * (margin @ reach) + tie * met)
        player = Player(int(tree.player[node]))
        count, slots = len(reach), self.game.slots[2]
        actions = int(tree.child_count[node])
        start = (board * slots.actions[player] + slots.slot[node]) * count
        stored = self.game.averages[2][player][start : start + actions * count].astype(np.float64)
        sums = stored.reshape(count // 16, actions, 16).transpose(1, 0, 2).reshape(actions, count)
        whole = sums.sum(axis=0)
        strategy = np.where(whole > 0, sums / np.where(whole > 0, whole, 1.0), 1.0 / actions)
        children = tree.children_of(node).tolist()
        if player != self.own:
            parts = [
                self._river(child, board, reach * strategy[a]) for a, child in enumerate(children)
            ]
            return sum(parts, np.zeros(len(reach)))
        below = np.array([self._river(child, board, reach) for child in children])
        return self._chosen(node, strategy, below)
