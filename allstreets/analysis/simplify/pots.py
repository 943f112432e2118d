"""The pots of some flops with both their strategies and simple ones, played street by street.

A decision belongs to a hand of the card model: a class, or a bucket of its street. A hand counts by
the share of it that gets to the decision by the player's own actions.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from allstreets.analysis.simplify.rule import (
    Choice,
    Mixes,
    Simplification,
    amounts_at,
    count_mixes,
    stored_numbers,
)
from allstreets.base import Floats
from allstreets.betting import POSTFLOP, BettingTree, NodeKind, Player, Street
from allstreets.engines import Arrays, EngineSpec, Flops, PackedStrategies, Shares, decode
from allstreets.games import PotGame
from allstreets.solutions import ModelHands, WholeSolution, flop_hands

Weights = dict[int, Floats]  # node → [H]
CACHED_STREETS = 256


class _Step(NamedTuple):
    node: int
    player: int  # −1: a card is dealt
    children: tuple[int, ...]


@lru_cache(CACHED_STREETS)
def _steps(tree: BettingTree, street: Street) -> tuple[_Step, ...]:
    """Decisions and deals of a street in pre-order; trees are compared by identity."""
    kinds = np.isin(tree.kind, (NodeKind.DECISION, NodeKind.CHANCE))
    nodes = np.flatnonzero(kinds & (tree.street == street)).tolist()
    return tuple(
        _Step(node, int(tree.player[node]), tuple(tree.children_of(node).tolist()))
        for node in nodes
    )


def own_reach(
    tree: BettingTree,
    street: Street,
    player: int,
    entering: Weights,
    chances: Mapping[int, Floats],
) -> tuple[Weights, Weights]:
    """Weights at the player's decisions of a street, and at the first nodes of the next one.

    `entering` are the weights at the start of the street, `chances` [A, H] his strategies there.
    """
    weights = dict(entering)
    at: Weights = {}
    leaving: Weights = {}
    for node, acts, children in _steps(tree, street):
        here = weights.pop(node, None)
        if here is None:
            continue
        if tree.kind[node] == NodeKind.CHANCE:
            leaving |= dict.fromkeys(children, here)
        elif acts == player:
            at[node] = here
            weights |= dict(zip(children, chances[node] * here, strict=True))
        else:
            weights |= dict.fromkeys(children, here)
    return at, leaving


Strategies = dict[int, Floats]  # decision → [A, H]
Counts = dict[Street, Mixes]
NO_COUNTS = dict.fromkeys(POSTFLOP, Mixes())


@dataclass(frozen=True, eq=False)
class Wanted:
    """The rule that makes strategies simple, and the players it applies to.

    Every strategy becomes one that a bundle can store (`numbers`), so that the evaluated strategies
    can be saved.
    """

    result: WholeSolution
    rule: Simplification
    players: Collection[Player]
    reach: Floats  # [2, P, 169]: of the pots, by the solution's play before the flop


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
        self._arrays: list[Arrays] = []  # by flop: its arrays in a bundle
        for index, flop in enumerate(flops.tolist()):
            arrays = dict(result.stored.source.arrays(flop))
            self._arrays.append(arrays)
            hands = flop_hands(result.cards, result.game.flops.flops[flop], arrays.get("held"))
            for number, pot in enumerate(pots):
                packed = result.stored.strategies(pot.pot.node, result.game.flops.flops[flop])
                for node in pot.tree.decisions():
                    self._set(number, index, node, packed.at(node))
                simple = _SimplePot(wanted, pot, number, packed, hands)
                arrays |= simple.arrays(number)
                for street in POSTFLOP:
                    self.before[street] += simple.before[street]
                    self.after[street] += simple.after[street]
                self._changed += [
                    (number, index, node, chances, simple.simple[node])
                    for node, chances in simple.original.items()
                    if not np.array_equal(chances, simple.simple[node])
                ]

    def play(self, streets: Collection[Street]) -> None:
        """Make the averages simple on these streets, and restore the others."""
        for number, index, node, chances, simple in self._changed:
            chosen = self._streets[number][node] in streets
            self._set(number, index, node, simple if chosen else chances)

    def _set(self, number: int, index: int, node: int, strategy: Floats) -> None:
        hands = self._games.average(number, index, node).shape[1]  # of these flops at most
        self._games.set_average(number, index, node, strategy[:, :hands])

    def arrays(self, index: int, reach: Floats) -> Arrays:
        """The arrays that a bundle stores of a flop when all streets are simple (`packed`)."""
        del reach
        return self._arrays[index]

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, K, 169]: values of the best response to the averages."""
        return self._games.best_response(player, opponent_reach, self._all)

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, K, 169]: values of the averages."""
        return self._games.evaluate(player, opponent_reach, self._all)


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
        self._stored: dict[int, Shares] = {}  # [A, H] of `simple`, as a bundle stores it
        for player in wanted.players:
            for street, weights, dealt in self._streets(player, self.original):
                nodes = [node for node in pot.tree.decisions(street) if node in weights]
                self.before[street] += self._count(self.original, weights, dealt)
                simplified = wanted.rule.apply_all(
                    [
                        Choice(
                            self.original[node],
                            amounts_at(pot.tree, node),
                            weights[node],
                            weights[node] >= 0 if node in pot.tree.locks else None,
                        )
                        for node in nodes
                    ]
                )
                for node, simple in zip(nodes, simplified, strict=True):
                    before = self._part(packed.stored, node)
                    numbers = stored_numbers(
                        wanted.rule, before, self.original[node], simple, before.dtype
                    )
                    self._stored[node], self.simple[node] = numbers, decode(numbers)
            for street, weights, dealt in self._streets(player, self.simple):
                self.after[street] += self._count(self.simple, weights, dealt)

    def arrays(self, number: int) -> Arrays:
        """The arrays that a bundle stores of the pot with this number, stage by stage."""
        stored = list(self._packed.stored)
        for stage, before in enumerate(stored):
            here = [node for node in self._stored if self._packed.stages[node] == stage]
            kind = np.result_type(before, *(self._stored[node] for node in here))
            stored[stage] = before.astype(kind)
        for node, numbers in self._stored.items():
            self._part(stored, node)[:] = numbers
        return {f"strategy.{number}.{stage}": each for stage, each in enumerate(stored)}

    def _part(self, stored: Sequence[Shares], node: int) -> Shares:
        """[A, H]: a decision in the stored arrays of a stage; a view."""
        first, actions = int(self._packed.first_row[node]), int(self._tree.child_count[node])
        stage = stored[int(self._packed.stages[node])]
        return stage[first : first + actions, : self._length(node)]

    def _length(self, node: int) -> int:
        """Hands of the flop; the stored arrays are longer where other flops have more hands."""
        return len(self._hands.stage(int(self._packed.stages[node])).combos)

    def _count(self, played: Strategies, weights: Strategies, dealt: Floats) -> Mixes:
        return count_mixes((played[node], here, dealt) for node, here in weights.items())

    def _streets(
        self, player: Player, played: Strategies
    ) -> Iterator[tuple[Street, Strategies, Floats]]:
        """The weights at the player's decisions, by street, and those of all hands dealt [H]."""
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
        """The weights of the next street's hands, from those of this street's."""
        stages = self._packed.stages
        if stages[above] == stages[below]:
            return lambda weights: weights
        before, after = (self._hands.stage(int(stages[node])) for node in (above, below))
        assert after.down is not None
        moves = after.down * after.combos / before.combos[:, None]
        return lambda weights: weights @ moves


def _shares(held: Floats) -> Floats:
    """[169, H]: the distribution of each class's combos over hands."""
    combos = held.sum(axis=1, keepdims=True)
    shares: Floats = np.divide(held, combos, out=np.zeros_like(held), where=combos > 0)
    return shares
