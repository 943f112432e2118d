"""Pruning in matrix games: what an iteration may leave out, as the kernels read it.

The rule is that of `allstreets.cfr.pruning` with a threshold, for sixteen hands at a time, see
`kernels.pruning`. Thresholds and floors are in the unit of the stored
regrets, **chips times pairs of combos** (own combos of the hand × the other player's combos that
fit, each weighted by his reach), summed over iterations as the schedule discounts them. Where 1,000
other combos get to a pot of 500 chips, a hand of 12 combos that loses a tenth of the pot by an
action loses 600,000 per iteration.

The sound rule (no threshold) needs an upper bound of what each action could have gained meanwhile,
for which a matrix game has no room: it must be given a threshold.
"""

import numpy as np

from allstreets.base import Bytes, Flags, InputError
from allstreets.cfr import Pruning, Schedule
from allstreets.engines.simd.vectors import LANES


def checked_pruning(pruning: Pruning | None, schedule: Schedule) -> Pruning | None:
    """The pruning of a matrix game, `None` where it is off."""
    if pruning is None or not pruning.is_on:
        return None
    if schedule.clip:
        raise InputError(
            f"{schedule} clips regrets at 0, so there are no negative ones to prune by: use "
            "pruning with dcfr or linear, or leave it out"
        )
    if pruning.is_sound:
        raise InputError(
            "prune_threshold is missing: games over hand classes or buckets prune by a threshold "
            'only. Give one in chips times pairs of combos, such as "-1e6*sqrt(t)", or set '
            "prune_warmup to 0 for no pruning"
        )
    return pruning


def blocks_of_hands(hands: Flags) -> Bytes:
    """[…, H / 16]: the blocks that hold any of these hands [… , H]."""
    padding = [(0, 0)] * (hands.ndim - 1) + [(0, -hands.shape[-1] % LANES)]
    by_block = np.pad(hands, padding).reshape(*hands.shape[:-1], -1, LANES)
    return np.asarray(by_block.any(axis=-1), np.uint8)
