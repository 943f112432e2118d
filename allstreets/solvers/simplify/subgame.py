"""An exact subgame with both its strategies and simple ones, played street by street.

Boards that suits make alike are one board, and hands that suits make alike or that share a strategy
are one row: a decision is that of a row on a board. Locked hands keep what they were given.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player, Street
from allstreets.cards import COMBO_COUNT
from allstreets.engines import Averages, BoardRows, ExactSubgame
from allstreets.solvers.simplify.numbers import stored_numbers
from allstreets.solvers.simplify.own_reach import Weights, own_reach
from allstreets.solvers.simplify.rule import (
    Choice,
    Mixes,
    Simplification,
    amounts_at,
    count_mixes,
)

Counts = dict[Street, Mixes]


@dataclass(frozen=True, eq=False)
class _Board:
    """What a player does on a board, and how much of his hands gets to his decisions."""

    rows: BoardRows
    chances: dict[int, Floats]  # node → [A, R]
    weights: Weights  # node → [R]
    dealt: Floats  # [R]: what of the starting range the board leaves

    @property
    def decisions(self) -> list[tuple[Floats, Floats, Floats]]:
        """As `count_mixes` takes them."""
        return [(self.chances[node], here, self.dealt) for node, here in self.weights.items()]


class SimpleSubgame:
    """Simplifies the average strategies of some players; `play` says on which streets."""

    def __init__(
        self,
        subgame: ExactSubgame,
        reach: tuple[Floats, Floats],
        rule: Simplification,
        players: Collection[Player],
        numbers: Sequence[np.dtype[Any]] | None = None,
    ) -> None:
        """`reach` [C] of OOP and IP is that of the subgame's root, in the order of its combos.

        `numbers` are those that a bundle stores the strategies of each street in, which the
        averages then hold; None: they hold probabilities.
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
            found = _simplified(rule, board)
            if numbers is not None:
                kind, rows = numbers[board.rows.level], board.rows
                found = {
                    node: stored_numbers(
                        rule, rows.sums(self.original, node), board.chances[node], simple, kind
                    )
                    for node, simple in found.items()
                }
            board.rows.put(self.simple, found)
        for board in self._boards(self.simple):
            self._count(self.after, board)

    def play(self, streets: Collection[Street]) -> None:
        """Let the averages be simple on these streets, and as they were on the others."""
        for level, street in enumerate(self.subgame.levels):
            chosen = self.simple if street in streets else self.original
            self.subgame.averages[level] = list(chosen[level])

    def _count(self, counts: Counts, board: _Board) -> None:
        counts[self.subgame.levels[board.rows.level]] += count_mixes(board.decisions)

    def _boards(self, averages: Averages) -> Iterator[_Board]:
        """Every board for every player who simplifies."""
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
    found = rule.apply_all(
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
        for node, simple in zip(rows.nodes, found, strict=True)
        if not np.array_equal(simple, board.chances[node])
    }
