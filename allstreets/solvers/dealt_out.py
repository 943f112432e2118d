"""Spots in which no player has a choice: all-in already, or without a bet from here on.

Nothing is solved there: the equities of the hands, which are counted exactly, divide the pot, and
all sums are in double precision.

It is a separate file because stored solutions are shown without loading kernels.
"""

from dataclasses import replace

import numpy as np

from allstreets.base import Floats, Longs, Pair
from allstreets.betting import NodeKind, Outcome, Player
from allstreets.cards import Range, combo_equity, fitting
from allstreets.engines import NodeNumbers
from allstreets.games import Spot


def only_end(spot: Spot) -> int | None:
    """The showdown that every hand reaches; None: a player has a choice before."""
    tree = spot.tree
    choices = tree.child_count[tree.kind == NodeKind.DECISION]
    if choices.max(initial=1) > 1:
        return None
    return int(np.flatnonzero(tree.kind == NodeKind.SHOWDOWN)[0])


def mean_result(spot: Spot, end: int, player: Player) -> float:
    """A player's result in chips over all pairs of combos, where all end at one showdown."""
    first, second = (np.flatnonzero(held.weights) for held in spot.ranges)
    reach, met, results = _dealt(spot, end, spot.ranges, spot.cards, (first, second))[:3]
    held = met[player] > 0
    weights = reach[player][held] * met[player][held]
    return float(weights @ results[player][held] / weights.sum())


def dealt_numbers(
    spot: Spot, end: int, numbers: NodeNumbers, ranges: tuple[Range, Range], board: tuple[int, ...]
) -> NodeNumbers:
    """The figures of a decision with one action, counted."""
    reach, met, results, equity = _dealt(spot, end, ranges, board, numbers.combos)
    return replace(
        numbers,
        reach=reach,
        met=met,
        action_values=results[numbers.player][None],
        values=results,
        equity=equity,
    )


def _dealt(
    spot: Spot,
    end: int,
    ranges: tuple[Range, Range],
    board: tuple[int, ...],
    combos: tuple[Longs, Longs],
) -> tuple[Pair, Pair, Pair, Pair]:
    """[H] of OOP and IP each: reach, pairs met, results in chips, equities."""
    oop, ip = (held.weights[some] for held, some in zip(ranges, combos, strict=True))
    fits = fitting(*combos)
    met = fits @ ip, oop @ fits
    equity = combo_equity(board, combos, (oop, ip))

    def results(player: Player) -> Floats:
        # A split pot pays the mean of winning and losing it, with and without rake.
        win, lose = spot.payoffs[end, player, [Outcome.WIN, Outcome.LOSE]]
        paid: Floats = lose + equity[player] * (win - lose)
        return paid

    return (oop, ip), met, (results(Player.OOP), results(Player.IP)), equity
