"""The numbers of a solution that were learned: the definition of a line that is *not reached*.

A player's regrets at a decision are weighted by the part of the *opponent's* range that gets there,
and each range is shaped by the player's own actions. So where a player hardly ever goes, the
opponent never learns an answer: what follows is left over from the first iterations, and every
value below is a value against such play, however many digits it has.

1. A decision is reached where at least `LEAST_SHARE` of each player's starting range gets to it.
   Elsewhere there are no EVs, of neither player, and frequencies mean nothing.
2. The EV of an action at a reached decision was learned if the node that it leads to is reached as
well, or if no decision follows it: a fold, a call that ends the betting. A single hand need not
take the action: other hands teach the opponent his answers, and the hand's own play below is
learned from what it would win there.
3. The mean EV over the hands that take an action describes the action where at least
   `LEAST_SHARE` of the range that is here takes it. Below, it describes a few stray hands.

The share is measured: in spots solved to 0.3 % of the pot, a best response gains at most 3.4 % of
the pot at decisions above it, and up to 16 % at those below.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from allstreets.base import Flags, Floats
from allstreets.betting import BettingTree, NodeKind, Player

LEAST_SHARE = 1e-3
NOT_REACHED = "not reached"
OFF_PATH = "off-path"


def is_reached(shares: Sequence[float]) -> bool:
    """Whether a node with these shares of both players' starting ranges was learned."""
    return min(shares) >= LEAST_SHARE


@dataclass(frozen=True, eq=False)
class LineReach:
    """The share of the ranges that gets to a node of A actions, and to each action."""

    shares: tuple[float, float]  # of OOP's and IP's starting range that get here
    taken: Floats  # [A]: of the acting player's starting range that takes each action
    settled: Flags  # [A]: whether no decision follows it

    @property
    def reached(self) -> bool:
        """Whether play here was learned."""
        return is_reached(self.shares)

    @property
    def known(self) -> Flags:
        """[A]: whether the EV of each action was learned."""
        known: Flags = self.reached & (self.settled | (self.taken >= LEAST_SHARE))
        return known

    def action_notes(self) -> list[str]:
        """[A]: the note for actions after which nothing was learned, else ""."""
        return [NOT_REACHED if self.reached and not known else "" for known in self.known]

    def why_not(self, seats: Sequence[str]) -> str:
        """Why nothing was learned here; "" where it was."""
        if self.reached:
            return ""
        return (
            f"{NOT_REACHED}: {self._rarely(seats)}, so no answer was learned; frequencies are left "
            "over from early iterations, and there are no EVs"
        )

    def entered(self, seats: Sequence[str]) -> str:
        """The note that an off-path pot is solved for an entry range; "" where it is reached."""
        if self.reached:
            return ""
        return (
            f"{OFF_PATH}: {self._rarely(seats)}, so it is solved for the hands that would gain "
            "most by going there"
        )

    def _rarely(self, seats: Sequence[str]) -> str:
        """The player who gets here least often, as a clause."""
        least = Player(int(np.argmin(self.shares)))
        share = f"{100 * self.shares[least]:.2g} %" if self.shares[least] > 0 else "nothing"
        return f"{seats[least]} gets here with {share} of his starting range"


def often_taken(frequencies: Floats) -> Flags:
    """[A]: whether enough of the range takes an action for a mean over its hands."""
    often: Flags = frequencies >= LEAST_SHARE
    return often


def settled_actions(tree: BettingTree, node: int) -> Flags:
    """[A]: whether no decision follows each action."""
    starts = tree.children_of(node).tolist()
    last = node
    while tree.child_count[last]:
        last = int(tree.children_of(last)[-1])
    # Nodes are in pre-order: a subtree lies between its root and the next sibling.
    below = (slice(*ends) for ends in pairwise([*starts, last + 1]))
    return np.array([not _choices(tree, nodes).any() for nodes in below])


def _choices(tree: BettingTree, nodes: slice) -> Flags:
    """Decisions with a choice, and nodes where the tree ends before the hand does."""
    choice = (tree.kind[nodes] == NodeKind.DECISION) & (tree.child_count[nodes] > 1)
    cut = (tree.kind[nodes] == NodeKind.CHANCE) & (tree.child_count[nodes] == 0)
    chosen: Flags = choice | cut
    return chosen
