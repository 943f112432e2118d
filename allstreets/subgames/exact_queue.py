"""The work below the root of an exact subgame as a queue of pieces (`kernels.exact_queue`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from allstreets.betting import Player
from allstreets.kernels.counter import new_counter
from allstreets.kernels.exact_layout import Boards, Discounts, Floats, Forest, Longs, Workspace
from allstreets.kernels.exact_queue import (
    DOWN,
    ENDS,
    LAST,
    RIVERS,
    Queue,
    Street,
    TurnSpace,
    work_on_flop,
    work_on_turn,
)
from allstreets.kernels.simd import aligned
from allstreets.subgames.pool import Pool

ENOUGH_PIECES = 128
"""Of rivers: more than a machine has threads, so that they end at nearly the same time."""

LEAST_SLOTS = 200_000
"""Stored numbers that are worth a thread: visiting them takes as long as calling it."""


def useful_threads(threads: int, slots: int) -> int:
    """How many of so many threads are worth their while in a game of so many stored numbers."""
    return max(1, min(threads, slots // LEAST_SLOTS))


@dataclass(frozen=True)
class Plan:
    """The pieces for one own player, in the order in which they are handed out."""

    pieces: Longs
    needed: Longs
    counts: int  # of pieces that others wait for

    def queue(self) -> Queue:
        """A queue of them all."""
        return Queue(new_counter(), self.pieces, self.needed, np.zeros(self.counts, np.int64))


class BoardWork:
    """What threads do below the root, and where sums of theirs stand that outlive a piece.

    `forests` and `boards` are by player and street, `space` is that of a thread by street.
    """

    def __init__(
        self,
        forests: Sequence[Sequence[Forest]],
        boards: Sequence[Sequence[Boards]],
        space: Sequence[Workspace],
    ) -> None:
        self._has_turns = len(space) == 3
        parents = boards[0][1].children if self._has_turns else boards[0][0].children
        rivers, turns = np.diff(parents), len(parents) - 1
        groups = max(len(of_player[-1].group_nodes) - 1 for of_player in forests)
        wanted = -(-ENOUGH_PIECES // max(1, groups * turns))
        self.parts = int(max(1, min(wanted, rivers.max(initial=1))))
        self.plans = [
            _plan(parents, len(forests[own][-1].group_nodes) - 1, self.parts, self._has_turns)
            for own in Player
        ]
        # Not touched before the threads do: their pages are then spread over their memory.
        above = space[-2].leaf_values
        self.leaves: Floats = aligned((turns * self.parts, len(above)))
        self.kept: TurnSpace | None = None
        if self._has_turns:
            self.kept = TurnSpace(
                values=aligned((turns, len(space[1].values))),
                leaf_reach=aligned((turns, len(above))),
                leaf_values=self.leaves,
                root_values=aligned((turns, len(space[0].leaf_values))),
            )

    def run(
        self,
        player: Player,
        streets: Sequence[Sequence[Street]],
        mode: int,
        discounts: Discounts,
        pool: Pool,
    ) -> None:
        """Everything below the root, for the streets of each thread; sums go to its leaves."""
        queue, leaf_values = self.plans[player].queue(), streets[0][0].space.leaf_values
        if self.kept is None:
            pool.together(partial(self._turn, queue, streets, mode, discounts))
            leaf_values[:] = self.leaves[0]
        else:
            pool.together(partial(self._flop, queue, streets, self.kept, mode, discounts))
            np.add.reduce(self.kept.root_values, axis=0, out=leaf_values)  # one after the other

    def _turn(
        self,
        queue: Queue,
        streets: Sequence[Sequence[Street]],
        mode: int,
        discounts: Discounts,
        thread: int,
    ) -> None:
        root, river = streets[0][0], streets[thread][1]
        work_on_turn(queue, self.parts, root, river, self.leaves, mode, discounts)

    def _flop(
        self,
        queue: Queue,
        streets: Sequence[Sequence[Street]],
        kept: TurnSpace,
        mode: int,
        discounts: Discounts,
        thread: int,
    ) -> None:
        root, (_, turn, river) = streets[0][0], streets[thread]
        work_on_flop(queue, self.parts, root, turn, river, kept, mode, discounts)


def _plan(parents: Longs, groups: int, parts: int, has_turns: bool) -> Plan:
    """The pieces below the root, where `parents` [B + 1] are the rivers of each board above."""
    turns = len(parents) - 1
    rivers = []
    for turn in range(turns):
        cuts = parents[turn] + np.diff(parents)[turn] * np.arange(parts + 1) // parts
        for group in range(groups):
            for part in range(parts):
                rivers.append((RIVERS, turn, group, part, int(cuts[part]), int(cuts[part + 1])))
    rivers.sort(key=lambda piece: piece[4] - piece[5])  # stable: the largest first
    first = [(ENDS, 0, 0, 0, 0, 0)]
    if has_turns:
        first += [(DOWN, turn, 0, 0, 0, 0) for turn in range(turns)]
        last = [(LAST, turn, 0, 0, 0, 0) for turn in range(turns)]
        waits = [1] * len(rivers) + [1 + groups * parts] * turns
    else:
        last = [(LAST, 0, group, 0, 0, 0) for group in range(groups)]
        waits = [0] * len(rivers) + [parts] * groups
    return Plan(
        np.array(first + rivers + last, np.int64),
        np.array([0] * len(first) + waits, np.int64),
        turns if has_turns else groups,
    )
