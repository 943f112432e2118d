"""Pieces of work on pots and flops."""

import numpy as np
import pytest

from allstreets.engines.matrix.plan import SPLIT_FLOPS, cut_pieces


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize(("flops", "pots"), [(1, 7), (5, 3), (400, 7), (0, 7), (3, 1)])
def test_every_pot_on_every_flop_is_in_one_piece(flops: int, pots: int, threads: int) -> None:
    done = np.zeros((flops, pots), np.int64)
    pieces = cut_pieces(flops, pots, threads)
    for first, last, begin, end in pieces.tolist():
        done[first:last, begin:end] += 1
    assert (done == 1).all()
    sizes = ((pieces[:, 1] - pieces[:, 0]) * (pieces[:, 3] - pieces[:, 2])).tolist()
    assert sizes == sorted(sizes, reverse=True)
    if threads > 1 and flops:  # enough small ones at the end that nobody waits long
        assert sizes.count(min(sizes)) >= min(flops, SPLIT_FLOPS * threads) * pots
