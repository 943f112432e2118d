"""Pruning in matrix games: what an iteration may leave out, as the kernels want to be told.

The rule is that of `allstreets.cfr.pruning` with a threshold, for sixteen hands at a time, see
`allstreets.kernels.matrix_pruning`. Thresholds and floors are in the unit of the stored
regrets, **chips times pairs of combos** (own combos of the hand × the other player's combos that
fit, each weighted by his reach), summed over iterations as the schedule discounts them. Where 1,000
other combos get to a pot of 500 chips, a hand of 12 combos that loses a tenth of the pot by an
action loses 600,000 an iteration.

The sound rule (no threshold) needs an upper bound of what each action could have gained meanwhile,
for which a matrix game has no room: it must be given a threshold.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.cfr.pruning import Pruning
from allstreets.kernels.matrix_layout import Bytes
from allstreets.kernels.simd import LANES

Limits = tuple[float, float]
"""(floor, threshold) of an iteration: regrets stay above −floor, blocks below threshold are out."""

NO_LIMITS: Limits = (np.inf, -np.inf)


def checked_pruning(pruning: Pruning | None) -> Pruning | None:
    """The pruning of a matrix game, `None` where it is off."""
    if pruning is None or not pruning.is_on:
        return None
    if pruning.is_sound:
        raise InputError(
            "prune_threshold is missing: games over hand classes or buckets prune by a threshold "
            'only. Give one in chips times pairs of combos, such as "-1e6*sqrt(t)", or set '
            "prune_warmup to 0 for no pruning"
        )
    return pruning


def limits(pruning: Pruning | None, first: int, count: int = 1) -> list[Limits]:
    """The limits of iterations `first`, …, `first` + `count` − 1, counted from 1."""
    if pruning is None:
        return [NO_LIMITS] * count
    iterations = np.arange(first, first + count)
    everything = pruning.visits_everything(iterations)
    thresholds = np.where(everything, -np.inf, pruning.thresholds(iterations))
    floors = np.where(iterations > pruning.warmup, pruning.regret_floor, np.inf)
    return list(zip(floors.tolist(), thresholds.tolist(), strict=True))


def blocks_of_hands(hands: NDArray[np.bool_]) -> Bytes:
    """[…, H / 16]: the blocks that must be asked for where these hands [… , H] are wanted."""
    padding = [(0, 0)] * (hands.ndim - 1) + [(0, -hands.shape[-1] % LANES)]
    by_block = np.pad(hands, padding).reshape(*hands.shape[:-1], -1, LANES)
    return np.asarray(by_block.any(axis=-1), np.uint8)
