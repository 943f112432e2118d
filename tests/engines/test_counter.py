"""Counters that threads share: every number once, and earlier writes are visible."""

import numpy as np

from allstreets.base import Longs
from allstreets.base.jit import kernel
from allstreets.engines.machine import Pool
from allstreets.engines.simd.work_counter import Counter, finish, new_counter, take, wait_for


@kernel
def mark(counter: Counter, taken: Longs) -> None:
    """Count how often each piece is taken."""
    while True:
        piece = take(counter)
        if piece >= len(taken):
            break
        taken[piece] += 1


@kernel
def add_in_order(counter: Counter, done: Longs, sums: Longs) -> None:
    """Each piece doubles the sum and adds its number: another order would give another sum."""
    while True:
        piece = take(counter)
        if piece >= 40:
            break
        wait_for(done, 0, piece)
        sums[0] = (2 * sums[0] + piece) % 1_000_003
        finish(done, 0, 1)


def test_every_piece_is_taken_once() -> None:
    pool = Pool(4)
    for pieces in (0, 1, 50_000):
        counter, taken = new_counter(), np.zeros(pieces, np.int64)
        pool.together(lambda _, counter=counter, taken=taken: mark(counter, taken))  # type: ignore[misc]
        assert (taken == 1).all()


def test_pieces_that_wait_for_each_other_see_what_was_written() -> None:
    expected = 0
    for piece in range(40):
        expected = (2 * expected + piece) % 1_000_003
    pool = Pool(3)
    for _ in range(20):
        counter, done, sums = new_counter(), np.zeros(1, np.int64), np.zeros(1, np.int64)
        pool.together(lambda _, all_=(counter, done, sums): add_in_order(*all_))  # type: ignore[misc]
        assert (sums[0], done[0]) == (expected, 40)
