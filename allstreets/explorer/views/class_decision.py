"""One decision on very many flops, where hands are classes.

What `PotView` finds at a node, without all that only single nodes need: a table over 1,755 flops
takes a tenth of the time.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from allstreets.base import Floats, quotient
from allstreets.betting import NodeKind, Player
from allstreets.cards import Flop, class_equity, flop_matchups
from allstreets.engines import PackedStrategies, Shares, decode
from allstreets.solutions import Decision

NOT_KNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class RangeFigures:
    """A decision on a flop in figures of whole ranges; NaN where play never gets there."""

    frequencies: Floats  # [A]
    pairs: float  # of combos that get there
    share: float  # of all pairs of combos
    equities: tuple[float, float] = NOT_KNOWN
    evs: tuple[float, float] = NOT_KNOWN


@dataclass(frozen=True)
class _Taken:
    """An action on the way."""

    player: Player
    rows: slice  # of the stored strategies, those of its decision
    action: int


class ClassDecision:
    """A decision of a tree with strategies stored by class, all in one stage."""

    def __init__(self, some: PackedStrategies, node: int) -> None:
        """`some` are the strategies of any of the flops: the rows are the same on all."""
        tree = some.tree

        def rows(here: int) -> slice:
            first = int(some.first_row[here])
            return slice(first, first + int(tree.child_count[here]))

        self.player = tree.player_at(node)
        self._rows = rows(node)
        self._way = [
            _Taken(tree.player_at(here), rows(here), tree.children_of(here).tolist().index(below))
            for here, below in pairwise(tree.path_to(node))
            if tree.kind[here] == NodeKind.DECISION
        ]

    def on(self, flop: Flop, stored: Shares, start: Floats) -> RangeFigures:
        """The decision on a flop that both reach with `start` [2, 169]."""
        table = flop_matchups(flop.number)
        pairs = table.pairs
        reach = start * (pairs.sum(axis=1) > 0)
        for taken in self._way:
            reach[taken.player] *= decode(stored[taken.rows])[taken.action]
        met = reach[::-1] @ pairs  # W is symmetric
        weights = reach * met
        totals = weights.sum(axis=1)
        own = totals[self.player]
        taken_by = decode(stored[self._rows]) @ weights[self.player]
        won = (pairs + table.margins / table.runouts) / 2
        shares = class_equity(pairs, won, reach)
        means = [
            float(np.nan_to_num(share) @ weight)
            for share, weight in zip(shares, weights, strict=True)
        ]
        oop, ip = quotient(np.array(means), totals).tolist()
        return RangeFigures(
            frequencies=quotient(taken_by, np.full(len(taken_by), own)),
            pairs=float(own),
            share=float(own / pairs.sum()),
            equities=(oop, ip),
        )


def range_figures(decision: Decision, *, evs: bool) -> RangeFigures:
    """The same of a node, whatever the card model; `evs`: where they cost nothing."""
    return RangeFigures(
        frequencies=decision.taken,
        pairs=float(decision.own.weights.sum()),
        share=decision.share,
        evs=(decision.ev(Player.OOP), decision.ev(Player.IP)) if evs else NOT_KNOWN,
    )
