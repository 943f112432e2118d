"""All pots on all flops as exact subgames: real combos, every turn and river card.

Before the flop hands are classes, so every combo of a class comes with the same reach, and a
flop's suits may be renamed. On the flop each combo plays for itself; a class gets the sum of its
combos' values. One thread works on one subgame at a time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, Player
from allstreets.cards import Flop, runouts
from allstreets.cards.combos import COMBO_COUNT, COMBO_MASKS
from allstreets.cards.hands import HAND_COUNT, HAND_OF_COMBO
from allstreets.cfr.schedules import Multipliers
from allstreets.subgames.exact import ExactSubgame
from allstreets.subgames.exact_view import average_strategy
from allstreets.subgames.flop_games import Flags, Floats, Flops
from allstreets.subgames.flop_pairs import FlopPairs
from allstreets.subgames.pool import Pool


class ExactFlops:
    """P betting trees on F flops, each an `ExactSubgame`."""

    def __init__(
        self,
        trees: Sequence[tuple[BettingTree, NDArray[np.float64]]],
        flops: Sequence[Flop],
        threads: int = 1,
        precision: str = "float32",
    ) -> None:
        self.model = f"exact {precision}"
        self._cards = [flop.cards for flop in flops]
        self.dealt = FlopPairs.of(self._cards)
        self._pool = Pool(threads)
        everyone = np.ones(COMBO_COUNT)
        self.subgames: list[list[ExactSubgame]] = []  # by pot and flop
        for tree, results in trees:
            row: list[ExactSubgame] = []
            for cards in self._cards:
                live = np.flatnonzero(COMBO_MASKS & sum(1 << card for card in cards) == 0)
                root = runouts(cards, [everyone])
                like = self.subgames[0][len(row)] if self.subgames else None
                row.append(ExactSubgame(tree, results, root, (live, live), 1, precision, like))
            self.subgames.append(row)
        # The combos in the subgames' own order, which is the same for both players and all pots.
        self._hands = [
            HAND_OF_COMBO[self.subgames[0][flop].streets[0].combos(Player.OOP, 0)].astype(np.int64)
            for flop in range(len(flops) if self.subgames else 0)
        ]

    @property
    def pots(self) -> int:
        """P."""
        return len(self.subgames)

    @property
    def flops(self) -> int:
        """F."""
        return len(self._cards)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(subgame.memory_bytes for row in self.subgames for subgame in row)

    def keeps(self, flops: Flops) -> bool:
        """All games go on from where they were."""
        del flops
        return True

    def step(
        self,
        player: int,
        own: Floats,
        other: Floats,
        flops: Flops,
        discounts: Floats,
        asked: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops; exact games leave nothing out."""
        del asked

        def work(pot: int, place: int, subgame: ExactSubgame, hands: NDArray[np.int64]) -> Floats:
            positive, negative, lowest, average, weight = discounts[place, :5].tolist()
            now = Multipliers(positive, negative, average, weight, lowest == 0.0)
            return subgame.step(Player(player), own[pot][hands], other[pot][hands], now)

        return self._run(flops, work)

    def judge(self, player: int, other: Floats, flops: Flops, *, best: bool) -> Floats:
        """[P, K, 169]: values of the best response to, or of, the average strategies."""

        def work(pot: int, place: int, subgame: ExactSubgame, hands: NDArray[np.int64]) -> Floats:
            del place
            run = subgame.best_response if best else subgame.evaluate
            return run(Player(player), other[pot][hands])

        return self._run(flops, work)

    def _run(self, flops: Flops, work: Any) -> Floats:
        """[P, K, 169]: what `work` finds for the combos of every pot and flop, summed by class."""
        values = np.zeros((self.pots, len(flops), HAND_COUNT))

        def piece(thread: int, number: int) -> None:
            del thread
            pot, place = divmod(number, len(flops))
            flop = int(flops[place])
            hands = self._hands[flop]
            found = work(pot, place, self.subgames[pot][flop], hands)
            values[pot, place] = np.bincount(hands, found, HAND_COUNT)

        self._pool.run(self.pots * len(flops), piece)
        return values

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, 169]: the average strategy at a decision on the flop, mean over a class's combos."""
        chances = average_strategy(self.subgames[pot][flop], 0, 0, node)
        hands = self._hands[flop]
        counts = np.maximum(np.bincount(hands, minlength=HAND_COUNT), 1)
        return np.array([np.bincount(hands, row, HAND_COUNT) / counts for row in chances])

    def regret_sums(self, weights: Floats) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many), in chips times pairs of combos."""
        total, largest, entries = 0.0, 0.0, 0
        for row in self.subgames:
            for weight, subgame in zip(weights.tolist(), row, strict=True):
                if not weight:
                    continue
                part, most, count = subgame.regret_sums()
                # These are a hand's: the subgame measures reach in shares of the other's hands.
                scale = weight * subgame.scale[0] / subgame.chips
                total, largest = total + part * scale, max(largest, most * scale)
                entries += count
        return total, largest, entries

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""
        return {
            f"{pot}.{flop}.{name}": array
            for pot, row in enumerate(self.subgames)
            for flop, subgame in enumerate(row)
            for name, array in subgame.state().items()
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same games."""
        for pot, row in enumerate(self.subgames):
            for flop, subgame in enumerate(row):
                start = f"{pot}.{flop}."
                subgame.restore(
                    {
                        name.removeprefix(start): array
                        for name, array in state.items()
                        if name.startswith(start)
                    }
                )
