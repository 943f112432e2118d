"""Pearson's chi-square test; `scipy.stats` has it too, and takes a second to import."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc


def chi_square(counts: ArrayLike, expected: ArrayLike | None = None) -> float:
    """The chance of counts at least as far from those expected; None: all are equally likely."""
    seen = np.asarray(counts, np.float64)
    wanted = np.full(seen.shape, seen.mean()) if expected is None else np.asarray(expected)
    np.testing.assert_allclose(seen.sum(), wanted.sum(), rtol=1e-8)
    return float(chdtrc(len(seen) - 1, (np.square(seen - wanted) / wanted).sum()))
