"""Wins of each combo against each other combo, counted over every way the board can run out.

`Matchups` counts runouts, as whole numbers: for two combos that share no card, wins + ties + losses
is the number of runouts that fit beside both. For pairs that share a card the counts mean nothing.

Before the flop there are 47,008 matchups up to renaming suits and swapping the two combos. Their
counts come with the package; `python -m allstreets.cards.matchups` counts them again.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from allstreets.base import (
    Bytes,
    Flags,
    Floats,
    Ints,
    processors,
    read_checked_arrays,
    write_checked_arrays,
)
from allstreets.cards.card import DECK_SIZE
from allstreets.cards.evaluator import combo_strengths
from allstreets.cards.hands import COMBO_CARDS, COMBO_COUNT, disjoint_combos
from allstreets.cards.isomorphism import COMBO_PERMUTATIONS, canonical_boards
from allstreets.cards.kernels.matchups import WEIGHT_LIMIT, count_wins

PREFLOP_FILE = Path(__file__).parent / "preflop_matchups.safetensors"
PREFLOP_RUNOUTS = comb(48, 5)

# 2,048 boards of weight 24 or less stay below the limit of the counters, and their strengths for
# all combos (5 MB) in the shared cache.
BOARDS_AT_ONCE = 2048
ROWS_AT_ONCE = 96


@dataclass(frozen=True)
class Matchups:
    """Wins and ties of one list of combos against another."""

    wins: NDArray[np.uint32]  # [R, C]
    ties: NDArray[np.uint32]  # [R, C]
    runouts: int  # for every pair of combos that share no card

    @property
    def equity(self) -> Floats:
        """[R, C]: share of the pot of the row's combo, ties split."""
        return (self.wins + 0.5 * self.ties) / self.runouts


def matchups(
    board: tuple[int, ...],
    rows: NDArray[np.integer] | None = None,
    columns: NDArray[np.integer] | None = None,
    threads: int | None = None,
) -> Matchups:
    """Count every runout of `board` for combos `rows` [R] against `columns` [C] (default: all).

    The combos must fit beside the board. Preflop counts come from the table of the package.
    """
    row_combos = np.arange(COMBO_COUNT) if rows is None else rows
    column_combos = np.arange(COMBO_COUNT) if columns is None else columns
    runout_count = comb(DECK_SIZE - 4 - len(board), 5 - len(board))
    if not board:
        table = preflop_matchups()
        pairs = np.ix_(row_combos, column_combos)
        return Matchups(table.wins[pairs], table.ties[pairs], runout_count)
    deck = [card for card in range(DECK_SIZE) if card not in board]
    boards = np.array(
        [(*board, *rest) for rest in combinations(deck, 5 - len(board))], dtype=np.uint8
    )
    weights = np.ones(len(boards), np.uint16)
    wins, ties = _count(boards, weights, row_combos, column_combos, threads or processors())
    return Matchups(wins, ties, runout_count)


@cache
def preflop_matchups() -> Matchups:
    """All 1,326 × 1,326 combos over all runouts, from the table of the package.

    Pairs that share a card have counts of 0.
    """
    counts = read_checked_arrays(PREFLOP_FILE)[0]
    first = _first_alike()
    listed = _is_listed(first)
    position = (
        np.cumsum(listed, dtype=np.int32).reshape(listed.shape) - 1
    )  # in the table, where listed

    # A pair (c, o) has the counts of the first pair like it, or that of (o, c) with sides swapped.
    swapped = first > first.T
    stand_in = np.minimum(first, first.T)
    row = position.ravel()[stand_in]
    wins, ties = counts["wins"][row], counts["ties"][row]
    wins = np.where(swapped, PREFLOP_RUNOUTS - ties - wins, wins)
    fits = disjoint_combos()
    wins, ties = np.where(fits, wins, 0), np.where(fits, ties, 0)
    wins.setflags(write=False)
    ties.setflags(write=False)
    return Matchups(wins, ties, PREFLOP_RUNOUTS)


def count_preflop_matchups(threads: int | None = None) -> Matchups:
    """All 1,326 × 1,326 combos over all runouts, counted: some ten seconds on two cores.

    A board stands for all its renamings. What combos (c, o) meet on the renamed boards is what
    the renamed combos meet on the board itself, so the counts of the 134,459 classes of boards,
    each weighted by its size, are averaged over the 24 renamings of both combos.
    """
    boards, multiplicities = canonical_boards(5)
    weights = multiplicities.astype(np.uint16)
    all_combos = np.arange(COMBO_COUNT)
    counts = _count(boards, weights, all_combos, all_combos, threads or processors())
    renamed = COMBO_PERMUTATIONS.astype(np.int64)

    def mean(count: NDArray[np.uint32]) -> NDArray[np.uint32]:
        total = np.zeros(count.shape, np.uint64)
        for permutation in renamed:
            total += count[permutation[:, None], permutation[None, :]]
        return (total // 24).astype(np.uint32)  # exact: every orbit divides

    wins, ties = map(mean, counts)
    return Matchups(wins, ties, PREFLOP_RUNOUTS)


def write_preflop_table(table: Matchups, path: Path = PREFLOP_FILE) -> None:
    """Store the counts of all matchups that differ."""
    listed = _is_listed(_first_alike())
    write_checked_arrays(path, {"wins": table.wins[listed], "ties": table.ties[listed]})


def _first_alike() -> Ints:
    """[1326, 1326]: the least c · 1326 + o of all pairs that renaming suits makes of (c, o)."""
    first = np.full((COMBO_COUNT, COMBO_COUNT), COMBO_COUNT**2, np.int32)
    for renamed in COMBO_PERMUTATIONS.astype(np.int32):
        np.minimum(first, renamed[:, None] * COMBO_COUNT + renamed, out=first)
    return first


def _is_listed(first: Ints) -> Flags:
    """[1326, 1326]: the pairs of the table, which share no card, one of all that are alike."""
    own = np.arange(COMBO_COUNT**2, dtype=np.int32).reshape(first.shape)
    listed: Flags = (first == own) & (first <= first.T) & disjoint_combos()
    return listed


def _count(
    boards: Bytes,
    weights: NDArray[np.uint16],
    rows: NDArray[np.integer],
    columns: NDArray[np.integer],
    threads: int,
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """(wins, ties), each [R, C], over weighted boards; rows are spread over threads."""
    wins = np.zeros((len(rows), len(columns)), np.uint32)
    ties = np.zeros_like(wins)
    row_cards, column_cards = COMBO_CARDS[rows], COMBO_CARDS[columns]
    with ThreadPoolExecutor(threads) as pool:
        for start in range(0, len(boards), BOARDS_AT_ONCE):
            part = slice(start, start + BOARDS_AT_ONCE)
            part_weights = weights[part]
            assert int(part_weights.sum(dtype=np.int64)) <= WEIGHT_LIMIT
            against = combo_strengths(boards[part], column_cards)
            own = np.ascontiguousarray(combo_strengths(boards[part], row_cards).T)

            def count_rows(
                first: int,
                own: NDArray[np.uint16] = own,
                against: NDArray[np.uint16] = against,
                part_weights: NDArray[np.uint16] = part_weights,
            ) -> None:
                some = slice(first, first + ROWS_AT_ONCE)
                count_wins(own[some], against, part_weights, wins[some], ties[some])

            list(pool.map(count_rows, range(0, len(rows), ROWS_AT_ONCE)))
    return wins, ties


if __name__ == "__main__":
    write_preflop_table(count_preflop_matchups())
