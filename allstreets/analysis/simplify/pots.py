"""The pots of some flops with both their strategies and simple ones, played street by street.

A decision belongs to a hand of the card model: a class, or a bucket of its street. A hand counts by
the share of it that gets to the decision by the player's own actions.

Real combos are simplified in an exact subgame (`SimpleSubgame`). Isomorphic boards are one board,
and hands that are isomorphic or share a strategy are one row: a decision belongs to a row on a
board. Locked hands keep their strategy. With `cards: boards` strategies depend on the board: combos
play their turn and river buckets, and both best responses and values see every card
(`engines.lifting`).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from allstreets.cards import COMBO_COUNT, HAND_OF_COMBO
from allstreets.engines import (
    ONE_BYTE,
    TWO_BYTES,
    Arrays,
    Averages,
    BoardRows,
    EngineSpec,
    ExactSubgame,
    Flops,
    PackedStrategies,
    Shares,
    StreetView,
    decode,
    every_combo,
    flop_arrays,
    lift_flop,
)
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


@dataclass(frozen=True, eq=False)
class _Board:
    """A player's strategies on a board, and the share of his hands that gets to his decisions."""

    rows: BoardRows
    chances: dict[int, Floats]  # node → [A, R]
    weights: Weights  # node → [R]
    dealt: Floats  # [R]: the unblocked part of the starting range

    @property
    def decisions(self) -> list[tuple[Floats, Floats, Floats]]:
        """The decisions as `count_mixes` takes them."""
        return [(self.chances[node], here, self.dealt) for node, here in self.weights.items()]


class SimpleSubgame:
    """Simplifies the average strategies of some players, on the streets given to `play`."""

    def __init__(
        self,
        subgame: ExactSubgame,
        reach: tuple[Floats, Floats],
        rule: Simplification,
        players: Collection[Player],
        numbers: Sequence[np.dtype[Any]] | None = None,
    ) -> None:
        """`reach` [C] of OOP and IP is that of the subgame's root, in the order of its combos.

        `numbers` are the stored numbers of each street's strategies in a bundle, which the averages
        then hold; None: they hold probabilities.
        """
        self.subgame, self._reach, self._players = subgame, reach, players
        self.original: Averages = [list(pair) for pair in subgame.averages]
        self.simple: Averages = [
            [each.copy() if player in players else each for player, each in enumerate(pair)]
            for pair in self.original
        ]
        self.before: Counts = dict.fromkeys(subgame.levels, Mixes())
        self.after: Counts = dict.fromkeys(subgame.levels, Mixes())
        for board in self._boards(self.original):
            self._count(self.before, board)
            simplified = _simplified(rule, board)
            if numbers is not None:
                kind, rows = numbers[board.rows.level], board.rows
                simplified = {
                    node: stored_numbers(
                        rule, rows.sums(self.original, node), board.chances[node], simple, kind
                    )
                    for node, simple in simplified.items()
                }
            board.rows.put(self.simple, simplified)
        for board in self._boards(self.simple):
            self._count(self.after, board)

    def play(self, streets: Collection[Street]) -> None:
        """Make the averages simple on these streets, and restore the others."""
        for level, street in enumerate(self.subgame.levels):
            chosen = self.simple if street in streets else self.original
            self.subgame.averages[level] = list(chosen[level])

    def _count(self, counts: Counts, board: _Board) -> None:
        counts[self.subgame.levels[board.rows.level]] += count_mixes(board.decisions)

    def _boards(self, averages: Averages) -> Iterator[_Board]:
        """Every board for every simplified player."""
        for player in self._players:
            start = np.zeros(COMBO_COUNT)
            start[self.subgame.streets[0].combos(player, 0)] = self._reach[player]
            yield from self._below(player, 0, 0, {0: start}, start, averages)

    def _below(
        self,
        player: Player,
        level: int,
        number: int,
        entering: Weights,
        start: Floats,
        averages: Averages,
    ) -> Iterator[_Board]:
        """A board and all that lie below it; weights come in by combo [1326]."""
        subgame = self.subgame
        rows = BoardRows(subgame, level, number, player)
        chances, combos = rows.chances(averages), rows.combos
        at, leaving = own_reach(
            subgame.tree,
            subgame.levels[level],
            player,
            {node: here[combos] for node, here in entering.items()},
            {node: given[:, rows.row] for node, given in chances.items()},
        )
        by_row = {node: rows.by_row(here) for node, here in at.items()}
        yield _Board(rows, chances, by_row, rows.by_row(start[combos]))
        if level + 1 == len(subgame.levels):
            return
        below = {}
        for node, here in leaving.items():
            below[node] = np.zeros(COMBO_COUNT)
            below[node][combos] = here
        first, last = subgame.boards[0][level].children[number : number + 2].tolist()
        for child in range(first, last):
            yield from self._below(player, level + 1, child, below, start, averages)


def _simplified(rule: Simplification, board: _Board) -> dict[int, Floats]:
    """Node → [A, R]: the simple strategies of a board, of nodes where that changes anything."""
    rows, tree = board.rows, board.rows.subgame.tree
    none = np.zeros(rows.rows)
    simplified = rule.apply_all(
        [
            Choice(
                board.chances[node],
                amounts_at(tree, node),
                board.weights.get(node, none),
                rows.locked(node),
            )
            for node in rows.nodes
        ]
    )
    return {
        node: simple
        for node, simple in zip(rows.nodes, simplified, strict=True)
        if not np.array_equal(simple, board.chances[node])
    }


STORED: Sequence[np.dtype[Any]] = (np.dtype(np.float32), ONE_BYTE, ONE_BYTE)
"""The numbers of flop, turn and river (`BoardsEngine.pack`)."""


class RealPots:
    """All pots on a flop, played by real combos with strategies that depend on the board."""

    def __init__(self, wanted: Wanted, spec: EngineSpec, flops: Flops) -> None:
        (index,) = flops.tolist()
        result = wanted.result
        flop, pots = result.game.flops.flops[index], result.game.pots
        self.flops, self.before, self.after = flops, dict(NO_COUNTS), dict(NO_COUNTS)
        self._stored = result.stored.source.arrays(index)
        trees = [pot.tree for pot in pots]
        plays = lift_flop(result.cards, flop, trees, self._stored)
        self._pots: list[SimpleSubgame] = []
        for number, (pot, play) in enumerate(zip(pots, plays, strict=True)):
            subgame = ExactSubgame(
                pot.tree,
                pot.payoffs,
                *every_combo(flop.cards),
                spec.threads,
                like=self._pots[0].subgame if self._pots else None,
                buckets=play.sharing,
                learns=False,
            )
            play.fill(subgame)
            self._classes = HAND_OF_COMBO[subgame.streets[0].combos(Player.OOP, 0)]
            oop, ip = wanted.reach[:, number, self._classes]
            simple = SimpleSubgame(subgame, (oop, ip), wanted.rule, wanted.players, STORED)
            self._pots.append(simple)
            for street in subgame.levels:
                self.before[street] += simple.before[street]
                self.after[street] += simple.after[street]

    def play(self, streets: Collection[Street]) -> None:
        """Make the averages simple on these streets, and restore the others."""
        for pot in self._pots:
            pot.play(streets)

    def arrays(self, index: int, reach: Floats) -> Arrays:
        """The arrays that a bundle stores of the flop when all streets are simple and `play` so.

        Groups and rows stay; EVs are those of real combos for the reach [2, P, 169] of the pots.
        """
        assert index == 0
        arrays = dict(self._stored)
        for number, pot in enumerate(self._pots):
            oop, ip = reach[:, number, self._classes]
            arrays |= _flop_arrays(pot, number, (oop, ip))
            for level, pair in enumerate(pot.simple[1:], start=1):
                for player in Player:
                    name = f"average.{number}.{level}.{player.name.lower()}"
                    arrays[name] = _smallest(pair[player])
        return arrays

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 1, 169]: values of the best response to the averages."""
        return self._run(
            opponent_reach, lambda subgame, other: subgame.best_response(player, other)
        )

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        """[P, 1, 169]: values of the averages."""
        return self._run(opponent_reach, lambda subgame, other: subgame.evaluate(player, other))

    def _run(
        self, opponent_reach: Floats, work: Callable[[ExactSubgame, Floats], Floats]
    ) -> Floats:
        rows = [
            np.bincount(self._classes, work(pot.subgame, other[self._classes]), len(other))
            for pot, other in zip(self._pots, opponent_reach, strict=True)
        ]
        values: Floats = np.stack(rows)[:, None].astype(np.float64)
        return values


def _smallest(stored: NDArray[Any]) -> Shares:
    """Whole numbers in one byte each, or in two where one is not enough."""
    return stored.astype(ONE_BYTE if stored.max(initial=0) <= np.iinfo(ONE_BYTE).max else TWO_BYTES)


def _flop_arrays(pot: SimpleSubgame, number: int, reach: tuple[Floats, Floats]) -> Arrays:
    """Strategies and EVs of the decisions on the flop, combos rising (`engines.quantised`)."""
    subgame = pot.subgame
    order = np.argsort(subgame.streets[0].combos(Player.OOP, 0))
    rows = [BoardRows(subgame, 0, 0, player) for player in Player]
    view = StreetView(subgame, reach)
    decisions = subgame.tree.decisions(subgame.levels[0])
    shown = [view.node(node) for node in decisions]
    owners = [rows[subgame.tree.player_at(node)] for node in decisions]
    strategies = [
        own.sums(pot.simple, node)[:, own.row] for own, node in zip(owners, decisions, strict=True)
    ]
    return flop_arrays(number, shown, strategies, order)
