"""The pots of a flop in the hands of real combos, with both their strategies and simple ones.

With `cards: boards` strategies go by the board: combos play what is stored of their rows and
groups, and both best responses and values see every card (`engines.lifting`).
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.betting import Player, Street
from allstreets.cards import HAND_OF_COMBO
from allstreets.engines import (
    ONE_BYTE,
    TWO_BYTES,
    Arrays,
    BoardRows,
    EngineSpec,
    ExactSubgame,
    Flops,
    Shares,
    StreetView,
    every_combo,
    flop_arrays,
    real_plays,
)
from allstreets.solvers.simplify.pots import NO_COUNTS, Wanted
from allstreets.solvers.simplify.subgame import SimpleSubgame

STORED: Sequence[np.dtype[Any]] = (np.dtype(np.float32), ONE_BYTE, ONE_BYTE)
"""The numbers of flop, turn and river (`BoardsEngine.pack`)."""


class RealPots:
    """All pots on a flop in the hands of real combos: what is stored goes by the board."""

    def __init__(self, wanted: Wanted, spec: EngineSpec, flops: Flops) -> None:
        (place,) = flops.tolist()
        result = wanted.result
        flop, pots = result.game.flops.flops[place], result.game.pots
        self.flops, self.before, self.after = flops, dict(NO_COUNTS), dict(NO_COUNTS)
        self._stored = result.source.arrays(place)
        trees = [pot.tree for pot in pots]
        plays = real_plays(result.cards, flop, trees, self._stored)
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
            play.give(subgame)
            self._classes = HAND_OF_COMBO[subgame.streets[0].combos(Player.OOP, 0)]
            oop, ip = wanted.reach[:, number, self._classes]
            simple = SimpleSubgame(subgame, (oop, ip), wanted.rule, wanted.players, STORED)
            self._pots.append(simple)
            for street in subgame.levels:
                self.before[street] += simple.before[street]
                self.after[street] += simple.after[street]

    def play(self, streets: Collection[Street]) -> None:
        """Let the averages be simple on these streets, and as they were on the others."""
        for pot in self._pots:
            pot.play(streets)

    def arrays(self, place: int, reach: Floats) -> Arrays:
        """What a bundle stores of the flop when all streets are simple and `play` so.

        Groups and rows stay; EVs are those of real combos for the reach [2, P, 169] of the pots.
        """
        assert place == 0
        found = dict(self._stored)
        for number, pot in enumerate(self._pots):
            oop, ip = reach[:, number, self._classes]
            found |= _flop_arrays(pot, number, (oop, ip))
            for level, pair in enumerate(pot.simple[1:], start=1):
                for player in Player:
                    name = f"average.{number}.{level}.{player.name.lower()}"
                    found[name] = _smallest(pair[player])
        return found

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
        found = [
            np.bincount(self._classes, work(pot.subgame, other[self._classes]), len(other))
            for pot, other in zip(self._pots, opponent_reach, strict=True)
        ]
        values: Floats = np.stack(found)[:, None].astype(np.float64)
        return values


def _smallest(stored: NDArray[Any]) -> Shares:
    """Whole numbers in a byte each, or in two where that is too few."""
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
