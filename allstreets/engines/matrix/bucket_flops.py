"""Bucket models of many flops, as the subgames below a preflop tree use them."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.cards import Flop
from allstreets.engines.matrix.bucket_chain import (
    BucketCounts,
    bucket_stages,
    build_bucket_model,
    down_from_hands,
)
from allstreets.engines.matrix.cards import Stage


def bucket_flops(
    flops: Sequence[Flop], counts: BucketCounts, seed: int, threads: int
) -> tuple[list[tuple[Stage, ...]], Floats, NDArray[np.int16]]:
    """The stages of every flop, the roots [F, 169, H] that lead from classes to buckets, and the
    bucket of every combo [F, 1326] on the flop, −1 where it is blocked.
    """
    with ThreadPoolExecutor(threads) as pool:
        models = list(pool.map(lambda flop: build_bucket_model(flop.cards, counts, seed), flops))
    stages = [bucket_stages(model) for model in models]
    # As wide as asked for, whichever flops there are: some have a few buckets less.
    roots = np.zeros((len(models), 169, counts.flop))
    for flop, model in enumerate(models):
        root = down_from_hands(model)
        roots[flop, :, : root.shape[1]] = root
    return list(stages), roots, np.stack([model.flop_buckets for model in models])
