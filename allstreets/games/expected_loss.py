"""A guess, before anything is trained, of the exploitability of a whole game with real boards.

The exploitability with real cards has three parts, in mbb/hand at 20 bb:

1. flops that are left out: a preflop strategy fits itself to the flops that it sees;
2. river buckets: values of whole pots are off before the flop, and hands in one bucket play alike
   after it;
3. iterations that are missing.

Each part is a table of measurements, interpolated in logarithms, and all parts grow with the
stacks. docs/appendix/models.md has the certificates that the tables follow, and the guess for each
of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

LEFT_OUT = {15: 14.8, 25: 9.5, 49: 5.6, 95: 3.2, 184: 1.8, 352: 1.2, 1755: 0.5}
BUCKETS_BEFORE = {16: 10.0, 32: 7.4, 48: 4.5, 64: 3.1, 96: 2.0}
BUCKETS_AFTER = {16: 16.0, 32: 11.0, 48: 9.5, 64: 8.5, 96: 6.5}
UNPLAYED = {25: 20.0, 50: 8.0, 100: 3.0, 150: 1.8, 300: 0.8, 600: 0.4}
STACKS = {10: 0.3, 20: 1.0, 40: 1.6, 100: 2.0}
"""The growth of the loss with the stack in big blinds, relative to 20."""
UNCERTAINTY = 2.0
"""Every measured value lies within this factor of the guess."""


@dataclass(frozen=True)
class ExpectedLoss:
    """A guess of the exploitability with real cards, in mbb/hand."""

    before: float  # before the flop: the loss that remains where flops are solved on demand
    after: float  # of the stored play after the flop

    @property
    def whole(self) -> float:
        """The expected exploitability of the solution as it is stored."""
        return self.before + self.after


def expected_loss(stack_bb: float, flops: int, buckets: int, iterations: int) -> ExpectedLoss:
    """The guess for a game with `cards: boards` on a subset of this many flops."""
    growth = _between(STACKS, stack_bb)
    before = _between(LEFT_OUT, flops) + _between(BUCKETS_BEFORE, buckets)
    after = _between(BUCKETS_AFTER, buckets) + _between(UNPLAYED, iterations)
    return ExpectedLoss(growth * before, growth * after)


def _between(table: Mapping[int, float], key: float) -> float:
    """A table read at a key: linear in logarithms between its rows, constant beyond its ends."""
    keys, values = np.log(list(table)), np.log(list(table.values()))
    log_key = np.log(key)
    row = int(np.clip(np.searchsorted(keys, log_key) - 1, 0, len(keys) - 2))
    slope = (values[row + 1] - values[row]) / (keys[row + 1] - keys[row])
    return float(np.exp(values[row] + slope * (log_key - keys[row])))
