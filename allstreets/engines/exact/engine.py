"""All pots on all flops as exact subgames: real combos, every turn and river card.

Before the flop hands are classes, so every combo of a class arrives with the same reach, and a
flop's suits may be renamed. On the flop each combo is played separately; a class gets the sum of
its combos' values.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import Player, Street
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, Flop
from allstreets.cfr import IterationWeights
from allstreets.engines.card_model import EXACT, CardModel, DealtPairs
from allstreets.engines.device import Device, DeviceUse
from allstreets.engines.exact.buckets import SuitBuckets
from allstreets.engines.exact.cards import every_combo
from allstreets.engines.exact.strategies import average_strategy, set_average_strategy
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.exact.view import StreetView
from allstreets.engines.machine import Pool
from allstreets.engines.protocol import Arrays, Flops, RegretSums
from allstreets.engines.quantised import Numbers
from allstreets.engines.subgames import SeparateSubgames
from allstreets.engines.trees import NodeNumbers, Trees

Work = Callable[[int, int, ExactSubgame, Longs], Floats]
"""(pot, place among the K flops, subgame, class of each combo) → values of the combos."""


class ExactEngine(SeparateSubgames[ExactSubgame]):
    """P betting trees on F flops, each an `ExactSubgame`, or what `subgame` makes instead."""

    def __init__(
        self,
        trees: Trees,
        flops: Sequence[Flop],
        threads: int = 1,
        model: CardModel = EXACT,
        device: Device | None = None,
        subgame: Callable[..., ExactSubgame] = ExactSubgame,
    ) -> None:
        self.model, self.device, self._subgame = model, device, subgame
        self.dealt = DealtPairs.of([flop.cards for flop in flops])
        pool = Pool(threads if device is None else 1)
        subgames = self._build(trees, flops, pool)
        super().__init__(subgames, len(flops), pool)
        # The combos in the subgames' own order, which is the same for both players and all pots.
        self._hands = [
            HAND_OF_COMBO[game.streets[0].combos(Player.OOP, 0)].astype(np.int64)
            for row in subgames[:1]
            for game in row
        ]

    @property
    def device_use(self) -> DeviceUse | None:
        """The use of the device by all subgames, if they are on one."""
        return None if self.device is None else self.device.use(self.memory_bytes)

    def _build(
        self, trees: Trees, flops: Sequence[Flop], pool: Pool
    ) -> Sequence[Sequence[ExactSubgame]]:
        """The subgames, by pot and flop."""
        del pool
        subgames: list[list[ExactSubgame]] = []
        buckets = [None if self.model.river_groups == "none" else SuitBuckets() for _ in flops]
        for tree, results in trees:
            row: list[ExactSubgame] = []
            for flop, by_suits in zip(flops, buckets, strict=True):
                root, combos = every_combo(flop.cards)
                like = subgames[0][len(row)] if subgames else None
                row.append(
                    self._subgame(
                        tree,
                        results,
                        root,
                        combos,
                        1,
                        self.model.precision,
                        like,
                        None if by_suits is None else by_suits.of,
                    )
                )
            subgames.append(row)
        return subgames

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops."""
        del hand_mask

        def work(pot: int, place: int, subgame: ExactSubgame, hands: Longs) -> Floats:
            return subgame.step(
                player, player_reach[pot][hands], opponent_reach[pot][hands], weights[place]
            )

        return self._run(flops, work)

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach [2, P, 169], a pot on a flop at a time."""

        def work(pot: int, flop: int) -> None:
            oop, ip = reach[:, pot, self._hands[flop]]
            self.subgames[pot][flop].iterate((oop, ip), weights)

        self._each(pairs, work)

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the average strategies."""
        return self._run(
            flops,
            lambda pot, _, game, hands: game.best_response(player, opponent_reach[pot][hands]),
        )

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies."""
        reach = opponent_reach
        return self._run(
            flops, lambda pot, _, game, hands: game.evaluate(player, reach[pot][hands])
        )

    def _run(self, flops: Flops, work: Work) -> Floats:
        """[P, K, 169]: results of `work` for the combos of every pot and flop, summed by class."""
        values = np.zeros((self.pots, len(flops), HAND_COUNT))
        places = {flop: place for place, flop in enumerate(flops.tolist())}

        def piece(pot: int, flop: int) -> None:
            hands, place = self._hands[flop], places[flop]
            hand_values = work(pot, place, self.subgames[pot][flop], hands)
            values[pot, place] = np.bincount(hands, hand_values, HAND_COUNT)

        self._each(self._pairs(flops), piece)
        return values

    def pair_values(self, pot: int, flops: Flops) -> Floats:
        """[K, 169, 169]: chips that OOP wins of every hand with every hand."""
        return np.stack([self._pair_values(pot, flop) for flop in flops.tolist()])

    def _pair_values(self, pot: int, flop: int) -> Floats:
        subgame, hands = self.subgames[pot][flop], self._hands[flop]
        pairs = self.dealt.matrix(flop)
        totals = np.zeros_like(pairs)
        for hand in range(HAND_COUNT):
            against = subgame.evaluate(Player.OOP, (hands == hand).astype(np.float64))
            totals[:, hand] = np.bincount(hands, against, HAND_COUNT)
        return np.divide(totals, pairs, out=np.zeros_like(pairs), where=pairs > 0)

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        sums = np.zeros((3, self.pots, len(flops)))
        for pot, row in enumerate(self.subgames):
            for place, flop in enumerate(flops.tolist()):
                total, largest, entries = row[flop].regret_sums()
                # These are for one hand: the subgame measures reach in shares of the opponent's
                # hands.
                scale = row[flop].scale[0] / row[flop].chips
                sums[:, pot, place] = total * scale, largest * scale, entries
        return RegretSums(sums[0], sums[1], sums[2].astype(np.int64))

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision on the flop, combos rising."""
        return average_strategy(self.subgames[pot][flop], 0, 0, node)[:, self._order(flop)]

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision on the flop be `strategy` [A, H]."""
        own = np.empty_like(strategy)
        own[:, self._order(flop)] = strategy
        set_average_strategy(self.subgames[pot][flop], 0, 0, node, own)

    def _order(self, flop: int) -> Longs:
        """[H]: the places of the combos beside a flop, rising."""
        return np.argsort(self.subgames[0][flop].streets[0].combos(Player.OOP, 0))

    def quantised(self, flops: range, numbers: Numbers) -> AbstractContextManager[None]:
        """Change nothing: decisions on the flop are stored as they are."""
        del flops, numbers
        return nullcontext()

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """Strategies and EVs of the decisions on the flop, combos rising."""
        del numbers
        arrays: Arrays = {}
        for pot in range(self.pots):
            subgame, hands, order = self.subgames[pot][flop], self._hands[flop], self._order(flop)
            view = StreetView(subgame, (reach[0, pot][hands], reach[1, pot][hands]))
            nodes = [view.node(node) for node in subgame.tree.decisions(Street.FLOP)]
            arrays |= flop_arrays(pot, nodes, [each.strategy for each in nodes], order)
            arrays[f"strategy.{pot}.1"] = np.zeros((0, 0), np.float32)
        return arrays


def flop_arrays(
    pot: int, nodes: Sequence[NodeNumbers], strategies: Sequence[Floats], order: Longs
) -> Arrays:
    """Strategies [A, H] and EVs of a pot's decisions on the flop, combos in this order (`packed`).

    A strategy may be given as unnormalised numbers.
    """
    none = np.zeros((0, len(order)))

    def rows(parts: Sequence[Floats]) -> Singles:
        return np.concatenate([none, *parts])[:, order].astype(np.float32)

    evs = np.array([[each.values[player] for each in nodes] for player in Player])
    return {
        f"strategy.{pot}.0": rows(strategies),
        f"evs.{pot}": evs[..., order].astype(np.float32),
        f"action_evs.{pot}": rows([each.action_values for each in nodes]),
    }
