"""A spot in which combos share strategies, by loops; and the suit classes of hands, spelled out."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from reference.spot import ActionValues, NaiveSpot, Numbers, Weights, strength

from allstreets.cards import COMBO_CARDS, card_rank, card_suit
from allstreets.cfr import IterationWeights

Row = Callable[[int, tuple[int, ...], int], tuple[int, float]]
"""(player, board, combo) → the row that it plays by, and its share in that row's regrets."""


class SharedSpot(NaiveSpot):
    """Vector CFR with regrets and averages by row."""

    def __init__(self, *game: Any, row: Row) -> None:
        super().__init__(*game)
        self.row = row

    def matched(
        self, stored: Numbers, node: int, board: tuple[int, ...], combo: int
    ) -> NDArray[np.float64]:
        """The strategy of the combo's row."""
        row, _ = self.row(int(self.tree.player[node]), board, combo)
        return super().matched(stored, node, board, row)

    def step(self, player: int, iteration: int) -> Weights:
        """One half-iteration: what a row's combos regret is added up before it is learned."""
        now = self.schedule.at(iteration)
        self.weights[player] = self.weights[player] * now.average + now.weight
        self.waiting[player] = self.waiting[player] * now.average + now.weight
        share = 0.0
        if iteration <= self.every or iteration % 2 == 0:
            share, self.waiting[player] = self.waiting[player] / self.weights[player], 0.0

        def decide(node: int, board: tuple[int, ...], below: ActionValues) -> Weights:
            played = {c: self.matched(self.regrets, node, board, c) for c in below}
            gains: dict[int, Any] = defaultdict(float)
            for combo, values in below.items():
                row, weight = self.row(player, board, combo)
                gains[row] += weight * (values - float(played[combo] @ values))
            for row, gain in gains.items():
                self.learn((node, board, row), gain, now, share)
            rows = {c: (node, board, self.row(player, board, c)[0]) for c in below}
            return {
                c: float(self.between(played[c], rows[c], now.ahead) @ values)
                for c, values in below.items()
            }

        other = dict(self.ranges[1 - player])
        return self.walk(0, self.board, player, other, self.regrets, decide)

    def learn(
        self, key: Any, gain: NDArray[np.float64], now: IterationWeights, share: float
    ) -> None:
        """The new regrets and average of a row."""
        strategy = super().matched(self.regrets, *key)
        regrets = self.regrets.get(key, np.zeros(len(gain)))
        kept = np.where(regrets > 0, regrets * now.positive, regrets * now.negative)
        self.regrets[key] = np.maximum(kept + gain, now.floor)
        mean = self.averages.get(key, np.zeros(len(gain)))
        self.averages[key] = mean + (strategy - mean) * share


def suit_class(combo: int, board: tuple[int, ...]) -> tuple[Any, ...]:
    """The strength and the suit class of a combo on a river board."""
    cards = COMBO_CARDS[combo].tolist()
    found: list[Any] = [strength(combo, board)]
    for suit in range(4):
        on_board = [card_rank(card) for card in board if card_suit(card) == suit]
        mine = [card_rank(card) for card in cards if card_suit(card) == suit]
        if len(on_board) >= 3:
            above = [r for r in range(13) if r not in on_board and mine and r > max(mine)]
            names = ["nut", "second", "third or fourth", "third or fourth"]
            height = names[len(above)] if len(above) < 4 else "lower"
            found.append((len(mine), height if mine else None))
        elif sum(card_suit(card) == suit for card in board[:4]) == 2:  # none more came
            found.append(bool(mine))
    return tuple(found)
