"""The flops of a simple whole game as a bundle stores them; figures are those of what it holds.

A flop is handed over as soon as it is judged, so that no more than a few are in memory.
"""

from collections.abc import Callable

import numpy as np

from allstreets.base import Floats
from allstreets.betting import CHIPS_PER_BB
from allstreets.engines import Arrays, DealtPairs, Flops
from allstreets.games import WholeGame
from allstreets.solvers.hands import quotient
from allstreets.solvers.whole_game.source import Row

Keep = Callable[[int, Arrays], None]
"""(place of a flop, what a bundle stores of it)."""


class FlopTotals:
    """What both players make of every flop, added up as flops are judged."""

    def __init__(self, game: WholeGame, dealt: DealtPairs, reach: Floats) -> None:
        """`reach` [2, P, 169] is that of the pots under the simple strategies."""
        self._game, self._dealt, self._reach = game, dealt, reach
        self._gains = np.zeros(dealt.flops)  # of both best responses
        self._own = np.zeros((2, dealt.flops))

    def add(self, flops: Flops, best: Floats, own: Floats) -> None:
        """Values [2, P, K, 169] of best responses and of the strategies on some flops."""
        self._gains[flops] = np.einsum("aph,apkh->k", self._reach, best - own)
        self._own[:, flops] = np.einsum("aph,apkh->ak", self._reach, own)

    def rows(self) -> tuple[Row, ...]:
        """One row per flop."""
        flops = self._game.flops
        seen, at_stake = np.zeros((2, self._dealt.flops))
        for pot, oop, ip in zip(self._game.pots, *self._reach, strict=True):
            pairs = self._dealt.reached(oop, ip)
            seen += pairs
            at_stake += pot.pot.pot * pairs
        share = flops.weights * seen
        even = np.ones_like(share) / len(share)
        share = share / share.sum() if share.sum() > 0 else even
        lost = np.maximum(np.nan_to_num(quotient(50 * self._gains, at_stake)), 0.0)
        evs = quotient(self._own, seen * CHIPS_PER_BB)
        return tuple(
            {
                "flop": flop.text,
                "weight": float(flops.weights[place]),
                "share": float(share[place]),
                "exploitability_pct": float(lost[place]),
                "ev_oop_bb": _number(evs[0, place]),
                "ev_ip_bb": _number(evs[1, place]),
            }
            for place, flop in enumerate(flops.flops)
        )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
