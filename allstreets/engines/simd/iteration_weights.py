"""The weights of an iteration as kernels take them."""

from typing import NamedTuple

import numpy as np

from allstreets.base import Singles, inlined_kernel

ZERO = np.float32(0.0)


class KernelWeights(NamedTuple):
    """The factors that an iteration applies to stored numbers: `cfr.IterationWeights`, and a phase.

    Where the average is a running mean, `weight` is the share of this iteration's strategy in it,
    and `average` is the rest.
    """

    positive: np.float32  # factor on positive regrets before the new ones are added
    negative: np.float32  # factor on negative ones
    floor: np.float32  # no regret falls below this
    average: np.float32  # factor on the sums of the average strategy
    weight: np.float32  # of this iteration's strategy; 0: the average is left alone
    threshold: np.float32  # actions with regrets below this may be left out; −∞: none are
    ahead: np.float32  # how far values move to the strategy of the new regrets; 0: not at all
    phase: np.float32  # 0..1, of the dither with which 16-bit numbers are rounded


NO_WEIGHTS = KernelWeights(*np.zeros(len(KernelWeights._fields), np.float32))
"""The weights where nothing is updated."""


@inlined_kernel
def kernel_weights(row: Singles) -> KernelWeights:
    """A row of a table of weights, with or without the phase."""
    phase = row[7] if len(row) > 7 else ZERO
    return KernelWeights(row[0], row[1], row[2], row[3], row[4], row[5], row[6], phase)
