"""Real combos with both their strategies and simple ones, played street by street.

`SimpleSubgame` is an exact subgame. Isomorphic boards are one board, and hands that are isomorphic
or share a strategy are one row: a decision belongs to a row on a board. Locked hands keep their
strategy.

With `cards: boards` strategies depend on the board: combos play their turn and river buckets, and
both best responses and values see every card (`engines.lifting`).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.analysis.simplify.pots import NO_COUNTS, Wanted, Weights, own_reach
from allstreets.analysis.simplify.rule import (
    Choice,
    Mixes,
    Simplification,
    amounts_at,
    count_mixes,
    stored_numbers,
)
from allstreets.base import Floats
from allstreets.betting import Player, Street
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
    Shares,
    StreetView,
    every_combo,
    flop_arrays,
    lift_flop,
)

Counts = dict[Street, Mixes]


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
