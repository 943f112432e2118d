"""Equity: the share of the pot each range wins when all cards are dealt, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from allstreets.base import Flags, Floats, InputError, Longs
from allstreets.cards.card import cards_text, parse_board
from allstreets.cards.hands import (
    COMBO_COUNT,
    COMBO_MASKS,
    HAND_COUNT,
    HAND_OF_COMBO,
    disjoint_combos,
)
from allstreets.cards.matchups import Matchups, matchups, preflop_matchups
from allstreets.cards.ranges import Range


@dataclass(frozen=True)
class Equity:
    """The equities of two ranges against each other, card removal included.

    Pairs of combos count by the product of their weights. `by_combo` gives both players' equity for
    each combo [1326]: NaN where the range does not contain it or no opposing combo is compatible
    with it.
    """

    ranges: tuple[Range, Range]
    board: tuple[int, ...]
    win: float
    tie: float
    lose: float  # win + tie + lose = 1
    pairs: float  # Σ of the weights of all pairs of combos that fit beside each other
    runouts: int  # boards dealt for each pair
    by_combo: tuple[Floats, Floats]

    @property
    def first(self) -> float:
        """The first range's share of the pot, ties split."""
        return self.win + self.tie / 2

    @property
    def second(self) -> float:
        """The second range's share of the pot, ties split."""
        return self.lose + self.tie / 2

    def to_json(self) -> dict[str, Any]:
        """Everything but the equities of each combo, as JSON data."""
        return {
            "first": str(self.ranges[0]),
            "second": str(self.ranges[1]),
            "board": cards_text(self.board),
            "equity_first": self.first,
            "equity_second": self.second,
            "win": self.win,
            "tie": self.tie,
            "lose": self.lose,
            "pairs": self.pairs,
            "runouts": self.runouts,
        }


def equity(
    first: Range | str,
    second: Range | str,
    board: Sequence[int] | str = (),
    threads: int | None = None,
) -> Equity:
    """Range against range on a board of 0, 3, 4 or 5 cards, over every runout.

    >>> result = equity("AA", "KK", board="Ks7d2c")
    >>> f"{result.first:.4f}"
    '0.0859'
    """
    board = parse_board(board) if isinstance(board, str) else tuple(board)
    ranges = (
        Range.parse(first) if isinstance(first, str) else first,
        Range.parse(second) if isinstance(second, str) else second,
    )
    live = [each.on(board) for each in ranges]
    # Products of tiny weights would underflow, and only their ratios matter.
    weights = live[0].normalised().weights, live[1].normalised().weights
    combos = [np.flatnonzero(w) for w in weights]
    first_weights, second_weights = (w[c] for w, c in zip(weights, combos, strict=True))
    masks = [COMBO_MASKS[c] for c in combos]
    fits = (masks[0][:, None] & masks[1][None, :]) == 0  # [H, O]
    pair_weights = np.where(fits, first_weights[:, None] * second_weights[None, :], 0.0)
    total = float(pair_weights.sum())
    if total == 0:
        where = f" on {cards_text(board)}" if board else ""
        raise InputError(
            f"the two ranges block each other{where}: no two combos differ in all cards"
        )
    counts = matchups(board, combos[0], combos[1], threads)
    shares = np.where(fits, counts.equity, 0.0)
    win = float((pair_weights * counts.wins).sum() / total / counts.runouts)
    tie = float((pair_weights * counts.ties).sum() / total / counts.runouts)
    return Equity(
        ranges=ranges,
        board=board,
        win=win,
        tie=tie,
        lose=1.0 - win - tie,
        pairs=total * live[0].largest * live[1].largest,
        runouts=counts.runouts,
        by_combo=(
            _mean_shares(combos[0], shares, fits * second_weights[None, :]),
            _mean_shares(combos[1], (1.0 - shares).T, (fits * first_weights[:, None]).T),
        ),
    )


def _mean_shares(combos: Longs, shares: Floats, weights: Floats) -> Floats:
    """[1326]: each row's mean share under the weights of its opponents, NaN without any."""
    result = np.full(COMBO_COUNT, np.nan)
    against = weights.sum(axis=1)
    with np.errstate(invalid="ignore"):
        result[combos] = np.where(against > 0, (shares * weights).sum(axis=1) / against, np.nan)
    return result


@dataclass(frozen=True)
class HandMatchups:
    """The 169 × 169 hands before the flop: everything an all-in needs.

    A showdown between hands h and o happens in `pairs[h, o]` ways; h wins `equity[h, o]` of the pot
    on average over them.
    """

    pairs: Longs  # W₀ [169, 169]: pairs of combos that share no card
    equity: Floats  # E₀ [169, 169]: E₀ + E₀ᵀ = 1


@cache
def preflop_equity() -> HandMatchups:
    """Exact preflop equities of all hand classes."""
    return hand_matchups(preflop_matchups(), disjoint_combos())


def hand_matchups(counts: Matchups, fits: Flags) -> HandMatchups:
    """Counts of all combos [1326, 1326] summed by hand class, over the pairs that fit."""
    members = (HAND_OF_COMBO[:, None] == np.arange(HAND_COUNT)).astype(np.float64)  # [1326, 169]
    # Twice the share in whole runouts: sums of whole numbers below 2^53 are exact in float64.
    halves = np.where(fits, 2.0 * counts.wins + counts.ties, 0.0)
    pairs = members.T @ fits @ members
    with np.errstate(invalid="ignore"):
        shares = (members.T @ halves @ members) / (2.0 * counts.runouts * pairs)
    return HandMatchups(pairs.astype(np.int64), shares)
