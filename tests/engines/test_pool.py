"""Work over threads: every piece once, errors told, the calling thread among the workers."""

import gc
import threading
import weakref
from functools import partial

import pytest

from allstreets.base import InputError
from allstreets.engines.machine import Pool


def note(done: list[tuple[int, int]], thread: int, piece: int) -> None:
    done.append((thread, piece))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("pieces", [0, 1, 2, 50])
def test_every_piece_is_done_once(threads: int, pieces: int) -> None:
    pool = Pool(threads)
    for _ in range(3):
        done: list[tuple[int, int]] = []
        pool.run(pieces, partial(note, done))
        assert sorted(piece for _, piece in done) == list(range(pieces))
        assert {thread for thread, _ in done} <= set(range(threads))


def test_threads_work_at_the_same_time_and_the_calling_one_is_the_first() -> None:
    """All wait for each other: with fewer threads than pieces this would never end."""
    together = threading.Barrier(3, timeout=30)
    names: dict[int, int] = {}

    def work(thread: int, piece: int) -> None:
        del piece
        names[thread] = threading.get_ident()
        together.wait()

    Pool(3).run(3, work)
    assert len(set(names.values())) == len(names) == 3
    assert names[0] == threading.get_ident()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [0, 5, 9])
def test_an_error_comes_out_and_the_pool_stays_good(threads: int, bad: int) -> None:
    pool = Pool(threads)

    def work(thread: int, piece: int) -> None:
        del thread
        if piece == bad:
            raise ValueError(f"piece {piece} is spoilt")

    with pytest.raises(ValueError, match=f"piece {bad} is spoilt"):
        pool.run(10, work)
    done: list[int] = []
    pool.run(10, lambda _, piece: done.append(piece))
    assert sorted(done) == list(range(10))


@pytest.mark.parametrize("threads", [0, -2])
def test_too_few_threads(threads: int) -> None:
    with pytest.raises(InputError, match=f"threads: {threads} is too few: give 1 or more"):
        Pool(threads)


def test_two_callers_get_all_threads_one_after_the_other() -> None:
    pool = Pool(3)
    done: list[list[int]] = [[], []]
    callers = [
        threading.Thread(target=pool.together, args=(done[caller].append,)) for caller in range(2)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert [sorted(threads) for threads in done] == [[0, 1, 2], [0, 1, 2]]


def test_a_pool_that_is_dropped_ends_its_threads_and_lets_go_of_its_work() -> None:
    class Something:
        """What a piece of work refers to."""

    pool, together = Pool(3), threading.Barrier(3, timeout=30)
    there: set[threading.Thread] = set()

    def work(thing: Something, thread: int) -> None:
        del thing, thread
        there.add(threading.current_thread())
        together.wait()

    thing = Something()
    seen = weakref.ref(thing)
    pool.together(partial(work, thing))
    pool.together(lambda _: None)
    del thing
    gc.collect()
    assert seen() is None
    others = there - {threading.current_thread()}
    assert len(others) == 2
    del pool
    for other in others:
        other.join(30)
        assert not other.is_alive()
