"""The pots of some flops with both their strategies and simple ones, played street by street.

A decision is that of a hand of the card model: a class, or a bucket of its street.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import POSTFLOP, Player, Street
from allstreets.cards import HAND_OF_COMBO
from allstreets.solvers.flops.hands import ModelHands, flop_hands
from allstreets.solvers.game.game import PotGame
from allstreets.solvers.simplify.own_reach import own_reach
from allstreets.solvers.simplify.rule import Mixes, Simplification, amounts_at, count_mixes
from allstreets.solvers.simplify.subgame import SimpleSubgame
from allstreets.solvers.unified.result import UnifiedResult
from allstreets.subgames import (
    EngineSpec,
    ExactSubgame,
    Flops,
    PackedStrategies,
    every_combo,
    real_plays,
)

Floats = NDArray[np.float64]
Strategies = dict[int, Floats]  # decision → [A, H]
Counts = dict[Street, Mixes]
NO_COUNTS = dict.fromkeys(POSTFLOP, Mixes())


@dataclass(frozen=True, eq=False)
class Wanted:
    """What is made simple, and whose."""

    result: UnifiedResult
    rule: Simplification
    players: Collection[Player]
    reach: Floats  # [2, P, 169]: of the pots, as the solution plays before the flop


class ModelPots:
    """All pots on some flops in the game of the card model itself."""

    def __init__(self, wanted: Wanted, spec: EngineSpec, flops: Flops) -> None:
        result = wanted.result
        self.flops, self.before, self.after = flops, dict(NO_COUNTS), dict(NO_COUNTS)
        pots = result.game.pots
        self._games = spec.of(flops).build([(pot.tree, pot.payoffs) for pot in pots])
        self._all = np.arange(len(flops))
        self._changed: list[tuple[int, int, int, Floats, Floats]] = []
        self._streets = [pot.tree.street for pot in pots]
        for place, flop in enumerate(flops.tolist()):
            held = result.source.arrays(flop).get("held")
            hands = flop_hands(result.cards, result.game.flops.flops[flop], held)
            for number, pot in enumerate(pots):
                packed = result.strategies(flop, number)
                for node in pot.tree.decisions():
                    self._set(number, place, node, packed.at(node))
                simple = _SimplePot(wanted, pot, number, packed, hands)
                for street in POSTFLOP:
                    self.before[street] += simple.before[street]
                    self.after[street] += simple.after[street]
                self._changed += [
                    (number, place, node, chances, simple.simple[node])
                    for node, chances in simple.original.items()
                    if not np.array_equal(chances, simple.simple[node])
                ]

    def play(self, streets: Collection[Street]) -> None:
        """Let the averages be simple on these streets, and as they were on the others."""
        for number, place, node, chances, simple in self._changed:
            chosen = self._streets[number][node] in streets
            self._set(number, place, node, simple if chosen else chances)

    def _set(self, number: int, place: int, node: int, strategy: Floats) -> None:
        hands = self._games.average(number, place, node).shape[1]  # of these flops at most
        self._games.set_average(number, place, node, strategy[:, :hands])

    def best_response(self, player: Player, villain: Floats) -> Floats:
        """[P, K, 169]: values of the best response to the averages."""
        return self._games.best_response(player, villain, self._all)

    def evaluate(self, player: Player, villain: Floats) -> Floats:
        """[P, K, 169]: values of the averages."""
        return self._games.evaluate(player, villain, self._all)


class _SimplePot:
    """The strategies of a pot on a flop, and simple ones."""

    def __init__(
        self,
        wanted: Wanted,
        pot: PotGame,
        number: int,
        packed: PackedStrategies,
        hands: ModelHands,
    ) -> None:
        self._tree, self._hands, self._packed = pot.tree, hands, packed
        self._start = wanted.reach[:, number] @ hands.held  # [2, H]: in combos
        self.before, self.after = dict(NO_COUNTS), dict(NO_COUNTS)
        decisions = [
            node for node in pot.tree.decisions() if pot.tree.player_at(node) in wanted.players
        ]
        self.original: Strategies = {
            node: packed.at(node)[:, : self._length(node)] for node in decisions
        }
        self.simple: Strategies = {}
        for player in wanted.players:
            for street, weights, dealt in self._streets(player, self.original):
                nodes = [node for node in pot.tree.decisions(street) if node in weights]
                self.before[street] += self._count(self.original, weights, dealt)
                found = wanted.rule.apply_all(
                    [
                        (self.original[node], amounts_at(pot.tree, node), weights[node])
                        for node in nodes
                    ]
                )
                self.simple |= dict(zip(nodes, found, strict=True))
            for street, weights, dealt in self._streets(player, self.simple):
                self.after[street] += self._count(self.simple, weights, dealt)

    def _length(self, node: int) -> int:
        return len(self._hands.stage(int(self._packed.stages[node])).combos)

    def _count(self, played: Strategies, weights: Strategies, dealt: Floats) -> Mixes:
        return count_mixes((played[node], here, dealt) for node, here in weights.items())

    def _streets(
        self, player: Player, played: Strategies
    ) -> Iterator[tuple[Street, Strategies, Floats]]:
        """By street: the weights at the player's decisions, and those of all hands dealt [H]."""
        entering: Strategies = {0: self._start[player]}
        dealt = self._hands.combos @ _shares(self._hands.held)
        for street in POSTFLOP:
            at, leaving = own_reach(self._tree, street, player, entering, played)
            yield street, at, dealt
            entering = {}
            turn: Callable[[Floats], Floats] = lambda weights: weights  # noqa: E731
            for node, here in leaving.items():
                turn = self._turned(int(self._tree.parent[node]), node)
                entering[node] = turn(here)
            dealt = turn(dealt)

    def _turned(self, above: int, below: int) -> Callable[[Floats], Floats]:
        """How weights of hands become those of the hands of the next street."""
        stages = self._packed.stages
        if stages[above] == stages[below]:
            return lambda weights: weights
        before, after = (self._hands.stage(int(stages[node])) for node in (above, below))
        assert after.down is not None
        moves = after.down * after.combos / before.combos[:, None]
        return lambda weights: weights @ moves


def _shares(held: Floats) -> Floats:
    """[169, H]: how the combos of each class are shared out over hands."""
    combos = held.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(held, combos, out=np.zeros_like(held), where=combos > 0)
    return shares


class RealPots:
    """All pots on a flop in the hands of real combos: what is stored goes by the board."""

    def __init__(self, wanted: Wanted, spec: EngineSpec, flops: Flops) -> None:
        (place,) = flops.tolist()
        result = wanted.result
        flop, pots = result.game.flops.flops[place], result.game.pots
        self.flops, self.before, self.after = flops, dict(NO_COUNTS), dict(NO_COUNTS)
        trees = [pot.tree for pot in pots]
        plays = real_plays(result.cards, flop, trees, result.source.arrays(place))
        self._pots: list[SimpleSubgame] = []
        for number, (pot, play) in enumerate(zip(pots, plays, strict=True)):
            subgame = ExactSubgame(
                pot.tree,
                pot.payoffs,
                *every_combo(flop.cards),
                spec.threads,
                like=self._pots[0].subgame if self._pots else None,
                sharing=play.sharing,
                learns=False,
            )
            play.give(subgame)
            self._classes = HAND_OF_COMBO[subgame.streets[0].combos(Player.OOP, 0)]
            oop, ip = wanted.reach[:, number, self._classes]
            simple = SimpleSubgame(subgame, (oop, ip), wanted.rule, wanted.players)
            self._pots.append(simple)
            for street in subgame.levels:
                self.before[street] += simple.before[street]
                self.after[street] += simple.after[street]

    def play(self, streets: Collection[Street]) -> None:
        """Let the averages be simple on these streets, and as they were on the others."""
        for pot in self._pots:
            pot.play(streets)

    def best_response(self, player: Player, villain: Floats) -> Floats:
        """[P, 1, 169]: values of the best response to the averages."""
        return self._run(villain, lambda subgame, other: subgame.best_response(player, other))

    def evaluate(self, player: Player, villain: Floats) -> Floats:
        """[P, 1, 169]: values of the averages."""
        return self._run(villain, lambda subgame, other: subgame.evaluate(player, other))

    def _run(self, villain: Floats, work: Callable[[ExactSubgame, Floats], Floats]) -> Floats:
        found = [
            np.bincount(self._classes, work(pot.subgame, other[self._classes]), len(other))
            for pot, other in zip(self._pots, villain, strict=True)
        ]
        values: Floats = np.stack(found)[:, None].astype(np.float64)
        return values
