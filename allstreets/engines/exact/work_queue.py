"""The work below the root of an exact subgame as a queue of pieces (`kernels.work_queue`)."""

from collections.abc import Sequence

import numpy as np

from allstreets.base import Longs, Singles
from allstreets.betting import Player
from allstreets.engines.exact.kernels.layout import Boards, Forest, Workspace
from allstreets.engines.exact.kernels.streets import Passes
from allstreets.engines.exact.kernels.work_queue import (
    BACKWARD,
    FORWARD,
    RIVERS,
    RUN,
    TERMINALS,
    PlayersStreets,
    Queues,
    TurnSpace,
    flop_passes,
    turn_passes,
)
from allstreets.engines.machine import Pool
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS, KernelWeights
from allstreets.engines.simd.vectors import aligned

LEAST_SLOTS = 200_000
"""Stored numbers that are worth a thread: visiting them takes as long as calling it."""

APART = 2
"""Pieces for each thread between two that wait for each other."""

NO_REACH = np.zeros(0, np.float32)

Piece = tuple[int, int, int, int, int, int]
ROOT_TERMINALS: Piece = (TERMINALS, 0, 0, 0, 0, 0)


def useful_threads(threads: int, slots: int) -> int:
    """The number of threads that pay off in a game of this many stored numbers."""
    return max(1, min(threads, slots // LEAST_SLOTS))


class BoardWork:
    """The work of threads below the root, and the space of data that outlives a piece.

    `forests` and `boards` are by player and street, `space` is that of a thread by street.
    """

    def __init__(
        self,
        forests: Sequence[Sequence[Forest]],
        boards: Sequence[Sequence[Boards]],
        space: Sequence[Workspace],
        threads: int,
    ) -> None:
        groups = [len(of_player[-1].group_nodes) - 1 for of_player in forests]
        self._pool = Pool(threads)
        self.turn_space: TurnSpace | None = None
        if len(space) == 2:
            rivers = int(boards[0][0].children[1])
            self.pieces = [turn_pieces(rivers, groups[own], threads) for own in Player]
            self._sent = max(groups)
            self._turns = 0
            return
        children = boards[0][1].children
        waves = turn_waves(len(children) - 1, min(groups), threads)
        self.pieces = [flop_pieces(children, waves, groups[own], threads) for own in Player]
        self._turns = len(children) - 1
        self._sent = self._turns * max(groups)
        # Two waves are at work at once. Threads are the first to touch this memory.
        slots = min(self._turns, 2 * max(len(wave) for wave in waves)) if threads > 1 else 1
        self.turn_space = TurnSpace(
            values=aligned((slots, len(space[1].values))),
            leaf_reach=aligned((slots, len(space[1].leaf_reach))),
            leaf_values=aligned((slots, len(space[1].leaf_values))),
        )

    def run(self, streets: Sequence[PlayersStreets], passes: Passes) -> None:
        """Whole passes, with the streets of each thread; the first one leads."""
        queues = self._queues(self.pieces, len(passes.players))

        def work(thread: int) -> None:
            self._work(queues, streets[thread], passes, leads=thread == 0)

        self._pool.together(work)

    def run_turn(self, player: Player, streets: PlayersStreets, turn: int, mode: int) -> Singles:
        """The value rows of one turn board; what it sends to the root's leaves has no meaning."""
        assert self.turn_space is not None
        chosen = [of[(of[:, 0] != TERMINALS) & (of[:, 1] == turn)] for of in self.pieces]
        queues = self._queues(chosen, 1)
        queues.backward[:] = turn  # as if those before it were done
        queues.begun[:] = 1
        self._work(queues, streets, single_pass(player, NO_REACH, mode), leads=False)
        values: Singles = self.turn_space.values[turn % len(self.turn_space.values)]
        return values

    def _queues(self, pieces: Sequence[Longs], passes: int) -> Queues:
        """Queues in which no piece is done."""
        oop, ip = map(np.ascontiguousarray, pieces)
        return Queues(
            pieces=(oop, ip),
            counters=aligned((passes, 8), np.int64),
            sent=np.zeros((passes, self._sent), np.int64),
            forward=np.zeros((passes, self._turns), np.int64),
            backward=np.zeros((passes, 1), np.int64),
            done=np.zeros((passes, 1), np.int64),
            begun=np.zeros(passes, np.int64),
        )

    def _work(
        self, queues: Queues, streets: PlayersStreets, passes: Passes, *, leads: bool
    ) -> None:
        if self.turn_space is None:
            turn_passes(queues, streets, passes, leads)
        else:
            flop_passes(queues, streets, self.turn_space, passes, leads)


def single_pass(
    player: Player, reach: Singles, mode: int, weights: KernelWeights = NO_WEIGHTS
) -> Passes:
    """A pass for a player whose opponent has this reach at the root."""
    return Passes(np.array([player]), np.array([weights], np.float32), (reach, reach), mode)


def turn_pieces(rivers: int, groups: int, threads: int) -> Longs:
    """[…, 6]: the pieces of a turn spot."""
    return np.array([ROOT_TERMINALS, *river_pieces([(0, 0, rivers)], groups, threads)])


def river_pieces(parents: Sequence[tuple[int, int, int]], groups: int, threads: int) -> list[Piece]:
    """The rivers of some parent boards, each (its number, first river, last), in runs.

    The runs of one parent's group are as far apart as can be. For one thread all is one piece.
    """
    if threads == 1:
        return [(RIVERS, parent, 0, groups, first, last) for parent, first, last in parents]
    pieces: list[Piece] = []
    for start in range(0, max(last - first for _, first, last in parents), RUN):
        for parent, first, last in parents:
            begin, end = first + start, min(first + start + RUN, last)
            if begin < end:
                pieces += [
                    (RIVERS, parent, group, group + 1, begin, end) for group in range(groups)
                ]
    return pieces


def turn_waves(turns: int, groups: int, threads: int) -> list[list[int]]:
    """The turn boards that are worked on together: enough that no thread waits for another."""
    wanted = -(-APART * threads // groups) if threads > 1 else 1
    waves = max(1, turns // wanted)
    return [part.tolist() for part in np.array_split(np.arange(turns), waves)]


def flop_pieces(
    children: Longs, waves: Sequence[Sequence[int]], groups: int, threads: int
) -> Longs:
    """[…, 6]: the pieces of a flop spot, where turn t has the rivers children[t : t + 2].

    Turns go back up when the rivers of the next wave are handed out; with one thread immediately.
    """
    pieces, waiting = [ROOT_TERMINALS], list[Piece]()
    for wave in waves:
        pieces += [(FORWARD, turn, 0, 0, 0, 0) for turn in wave]
        parents = [(turn, int(children[turn]), int(children[turn + 1])) for turn in wave]
        pieces += river_pieces(parents, groups, threads)
        waiting += [(BACKWARD, turn, 0, 0, 0, 0) for turn in wave]
        now = len(waiting) if threads == 1 else len(waiting) - len(wave)
        pieces += waiting[:now]
        waiting = waiting[now:]
    return np.array(pieces + waiting)
