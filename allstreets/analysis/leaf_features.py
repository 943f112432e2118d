"""Features of flops by a solution on all of them, for choosing a few that stand for all.

The value of a pot on a flop to a hand matters as often as the hand gets there, and errors of single
combos even out over a class: so values are times √reach / √combos.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.cards import HAND_SIZES


def leaf_features(values: NDArray[np.floating], reach: Floats) -> Floats:
    """[F, D]: of values [2, P, F, 169] for the hands of both players, and their reach [2, P, 169].

    Values are totals over the combos of a class, in chips times pairs of combos.
    """
    scaled = values * (np.sqrt(reach) / np.sqrt(HAND_SIZES))[:, :, None]
    features: Floats = scaled.transpose(2, 0, 1, 3).reshape(values.shape[2], -1)
    return features.astype(np.float64)
