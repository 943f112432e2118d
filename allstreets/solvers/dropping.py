"""Closing actions before the flop that a hand never plays, so that nothing is stored below them.

72o does not call a 3-bet. Its regrets and strategies in 3-bet pots, on every flop, are memory and
time for nothing. Every `after` iterations a *review* decides, for every decision before the flop,
action and hand:

1. An action is **closed** if the hand has not played it since the last review, its average
   strategy has hardly played it (`LARGEST_SHARE`), and it is clearly no best response: against the
   other player's average strategies another action, one that stays open, is worth more by at least
   `LEAST_LOSS`. Its remaining share of the average goes to the hand's other actions, so that the
   hand never goes below the action.
2. A closed action is **opened** again if it is a best response after all. It starts from regret 0.

In between, closed actions are not played, whatever their regrets, and their values are not
computed. Regret-based pruning rests on the same fact: an action with negative regret is not played.
The second rule is what makes it sound to leave an action out for good: CFR solves the game without
the closed actions, and where no closed action is a best response to its solution, a best response
in the whole game gains no more than one without them, so that it is a solution of the whole game.
The reported exploitability is always that of the whole game.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import CHIPS_PER_BB, Player
from allstreets.solvers.preflop import PreflopCfr

LARGEST_SHARE = 1e-3
"""The largest share of a hand's average play at a decision that closing an action may move."""

LEAST_LOSS = 0.01 * CHIPS_PER_BB
"""The least loss that closes an action for a hand, in chips whenever the other player gets there.
With it 47 % of storage were saved on 15 games, with three times as much 44 %, without it 51 %. The
larger it is, the fewer hands come and go: exploitability was 1.065, 1.046 and 1.073 times that
of storing all hands after 200 iterations, 0.995, 0.965 and 1.004 times after 400."""


@dataclass(frozen=True)
class Review:
    """The outcome of a review, counted in (decision, action, hand)."""

    closed: int  # in all, from now on
    newly_closed: int
    reopened: int
    moved: float  # the largest share of a hand's average play that went to other actions


class HandDropping:
    """Closes the actions before the flop that hands no longer play."""

    def __init__(self, preflop: PreflopCfr, after: int) -> None:
        if after < 1:
            raise InputError(
                f"drop_unplayed_every is {after}: give the iterations between two reviews, say 50"
            )
        self.preflop, self.after = preflop, after
        self._played = {
            node: np.zeros(regrets.shape, np.bool_) for node, regrets in preflop.regrets.items()
        }
        self._closed = {node: np.zeros_like(played) for node, played in self._played.items()}

    def is_due(self, iterations: int) -> bool:
        """Whether a review is due after this many iterations."""
        return iterations > 0 and iterations % self.after == 0

    def watch(self) -> None:
        """Record what the coming iteration plays."""
        for node, strategy in self.preflop.current().items():
            self._played[node] |= strategy > 0

    def review(self, best: Floats) -> Review:
        """Close and open actions.

        `best` [2, N, 169] are each player's values of best responses to the average strategies.
        """
        game, averages = self.preflop.game, self.preflop.average()
        tree, reach = game.tree, game.reach(averages)
        newly_closed, reopened, moved = 0, 0, 0.0
        for node, average in averages.items():
            before, player = self._closed[node], Player(int(tree.player[node]))
            below = best[player][tree.children_of(node)]
            loss = LEAST_LOSS * (reach[node, player.opponent] @ game.pairs)
            unused = before | (~self._played[node] & (average < LARGEST_SHARE))
            # Every iteration played some action, so some action stays open.
            ceiling = np.where(unused, -np.inf, below).max(axis=0)
            closed = unused & np.where(before, below <= ceiling, below < ceiling - loss)
            fresh, back = closed & ~before, before & ~closed
            moved = max(moved, float(np.where(fresh, average, 0.0).sum(axis=0).max()))
            self.preflop.sums[node][fresh] = 0.0
            self.preflop.regrets[node][back] = 0.0
            newly_closed += int(fresh.sum())
            reopened += int(back.sum())
            self._closed[node] = closed
            # A reopened action gets a whole period before it can be closed again.
            self._played[node] = back
        self._hand_over()
        return Review(
            sum(int(closed.sum()) for closed in self._closed.values()),
            newly_closed,
            reopened,
            moved,
        )

    def _hand_over(self) -> None:
        self.preflop.closed = {
            node: closed for node, closed in self._closed.items() if closed.any()
        }

    def open_hands(self) -> Flags:
        """[2, P, 169]: the hands that a player may play to each pot that sees a flop."""
        nodes = [pot.node for pot in self.preflop.game.pots]
        return np.array([self.preflop.hand_mask(player)[nodes] for player in Player])

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next review depends on."""
        return {
            f"closing.{name}.{node:04d}": array
            for name, arrays in (("played", self._played), ("closed", self._closed))
            for node, array in arrays.items()
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same game."""
        for name, array in self.state().items():
            array[...] = state[name]
        self._hand_over()
