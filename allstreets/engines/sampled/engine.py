"""All pots on all flops as sampled games: external sampling learns, matrices evaluate.

Sampled strategies are those of hand classes, so the `classes` engine knows their exact values. It
is given the averages when something is to be evaluated, and learns nothing itself.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats
from allstreets.betting import BettingTree, Player
from allstreets.cards import HAND_COUNT, Flop
from allstreets.cfr import IterationWeights
from allstreets.engines.card_model import CardModel, DealtPairs
from allstreets.engines.machine import Pool
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.engines.protocol import Arrays, Flops, RegretSums, Values
from allstreets.engines.quantised import Numbers
from allstreets.engines.sampled.subgame import SampledSubgame
from allstreets.engines.subgames import SeparateSubgames


class SampledEngine(SeparateSubgames[SampledSubgame]):
    """P betting trees on F flops, each a `SampledSubgame`; `exact` evaluates them."""

    def __init__(
        self,
        trees: Sequence[tuple[BettingTree, Floats]],
        flops: Sequence[Flop],
        exact: MatrixEngine,
        model: CardModel,
        threads: int = 1,
    ) -> None:
        subgames = [
            [
                SampledSubgame(tree, payoffs, flop.cards, model.sample_pct, model.seed)
                for flop in flops
            ]
            for tree, payoffs in trees
        ]
        super().__init__(subgames, len(flops), Pool(threads))
        self.model, self.exact = model, exact
        self._stale = np.ones((len(trees), len(flops)), np.bool_)  # averages not handed over yet

    @property
    def dealt(self) -> DealtPairs:
        """The pairs of combos on each flop."""
        return self.exact.dealt

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops; the values are unbiased estimates."""
        del hand_mask
        values = np.zeros((self.pots, len(flops), HAND_COUNT))
        places = {flop: place for place, flop in enumerate(flops.tolist())}

        def work(pot: int, flop: int) -> None:
            game, place = self.subgames[pot][flop], places[flop]
            values[pot, place] = game.step(
                player, player_reach[pot], opponent_reach[pot], weights[place]
            )

        self._each(self._pairs(flops), work)
        self._stale[:, flops] = True
        return values

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach [2, P, 169], a pot on a flop at a time."""

        def work(pot: int, flop: int) -> None:
            game = self.subgames[pot][flop]
            for iteration in weights:
                for player in Player:
                    game.step(player, reach[player, pot], reach[player.opponent, pot], iteration)

        self._each(pairs, work)
        self._stale |= pairs

    def _informed(self, flops: Flops) -> MatrixEngine:
        """The engine that evaluates, with the average strategies of these flops."""
        for flop in flops.tolist():
            for pot, row in enumerate(self.subgames):
                if self._stale[pot, flop]:
                    for node in row[flop].tree.decisions():
                        self.exact.set_average(pot, flop, node, row[flop].average(node))
                    self._stale[pot, flop] = False
        return self.exact

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: exact values of the best response to the average strategies."""
        return self._informed(flops).best_response(player, opponent_reach, flops)

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: exact values of the average strategies."""
        return self._informed(flops).evaluate(player, opponent_reach, flops)

    def pair_values(self, pot: int, flops: Flops) -> Values:
        """[K, 169, 169]: chips that OOP wins of every hand with every hand."""
        return self._informed(flops).pair_values(pot, flops)

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        sums = np.array([[row[flop].regret_sums() for flop in flops] for row in self.subgames])
        return RegretSums(sums[..., 0], sums[..., 1], sums[..., 2].astype(np.int64))

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, 169]: the average strategy at a decision."""
        return self._informed(np.array([flop])).average(pot, flop, node)

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy be `strategy` until the flop is trained again."""
        self._informed(np.array([flop])).set_average(pot, flop, node, strategy)

    def quantised(self, flops: range, numbers: Numbers) -> AbstractContextManager[None]:
        """Quantise average strategies, as bundles store them, within this context."""
        return self._informed(np.array(flops)).quantised(flops, numbers)

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The arrays of a flop for a bundle."""
        return self._informed(np.array([flop])).pack(flop, reach, numbers)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same games."""
        super().restore(state)
        self._stale[:] = True
