"""The exact value of a game by linear programming, which a solver must come near to."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from allstreets.cfr import FIRST, SECOND
from allstreets.cfr.game import NOWHERE, TERMINAL, FlatGame


def exact_value(flat: FlatGame) -> float:
    """FIRST's win against a perfect opponent, by linear programming over the sequence form.

    Variables: FIRST's realisation plan x, and for every information set of SECOND (and the start)
    the most q that he cannot avoid losing there. Largest q at the start, where for every action of
    SECOND: q of its set ≤ what x earns at the ends right after it + Σ q of the sets that follow.
    """
    ends = np.flatnonzero(flat.actor == TERMINAL)
    borders = flat.slot_start[flat.set_start]  # first slot of FIRST, of SECOND, and the end

    def column(player: int, slots: NDArray[np.int32]) -> NDArray[np.int64]:
        """Own slots from 0 on; the empty line comes last."""
        last = borders[player + 1] - borders[player]
        found: NDArray[np.int64] = np.where(slots == NOWHERE, last, slots - borders[player])
        return found

    def flow(player: int) -> sparse.csr_array:
        """A row a set: Σ of its actions − the action before it; the last row is the empty line."""
        sets = range(int(flat.set_start[player]), int(flat.set_start[player + 1]))
        columns = int(borders[player + 1] - borders[player]) + 1
        rows = sparse.lil_array((len(sets) + 1, columns))
        for row, number in enumerate(sets):
            begin, end = flat.slot_start[number : number + 2] - borders[player]
            rows[row, begin:end] = 1.0
            rows[row, int(column(player, flat.parent_slot[number : number + 1])[0])] -= 1.0
        rows[len(sets), columns - 1] = 1.0
        return rows.tocsr()

    first, second = flow(FIRST), flow(SECOND)
    earned = sparse.coo_array(
        (
            flat.chance_reach[ends] * flat.utility[ends],
            (
                column(FIRST, flat.last_slot[FIRST, ends]),
                column(SECOND, flat.last_slot[SECOND, ends]),
            ),
        ),
        shape=(first.shape[1], second.shape[1]),
    ).tocsr()
    plans, bounds = first.shape[1], second.shape[0]
    start = np.zeros(first.shape[0])
    start[-1] = 1.0
    goal = np.zeros(plans + bounds)
    goal[-1] = -1.0
    found = linprog(
        goal,
        A_ub=sparse.hstack([-earned.T, second.T]).tocsr(),
        b_ub=np.zeros(second.shape[1]),
        A_eq=sparse.hstack([first, sparse.csr_array((first.shape[0], bounds))]).tocsr(),
        b_eq=start,
        bounds=[(0, None)] * plans + [(None, None)] * bounds,
    )
    assert found.status == 0
    return -float(found.fun)
