"""Memory on disk: the same numbers, nothing left behind, full disks; and work over threads.

Threads take every piece once, errors are raised, the calling thread is among the workers.
"""

import errno
import gc
import mmap
import os
import subprocess
import sys
import threading
import weakref
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from builders.small_games import small_config

from allstreets.base import InputError
from allstreets.engines.card_model import EXACT
from allstreets.engines.machine import MappedMemory, PagesAgain, Pool, own_pages
from allstreets.engines.simd.vectors import aligned
from allstreets.solvers.whole_game import WholeGameSolver


def test_arrays_are_zero_and_can_be_written(tmp_path: Path) -> None:
    memory = MappedMemory(tmp_path / "deep" / "work")
    first, second = memory((3, 40)), memory((5,))
    assert first.dtype == np.float32
    assert not first.any()
    first[1] = 7.0
    second[:] = np.arange(5)
    assert (first[1] == 7).all()
    assert not first[[0, 2]].any()
    assert second.tolist() == [0, 1, 2, 3, 4]
    assert memory.used == 4 * (120 + 5)
    assert memory((0, 16)).shape == (0, 16)
    assert memory.used == 4 * (120 + 5)
    # Kernels load whole vectors from the beginning of an array on.
    assert first.ctypes.data % 64 == aligned((3, 40)).ctypes.data % 64 == 0


def test_the_files_have_no_names(tmp_path: Path) -> None:
    memory = MappedMemory(tmp_path)
    array = memory((1000,))
    array[:] = 3
    assert not list(tmp_path.iterdir())
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from allstreets.engines.machine import MappedMemory\n"
        "array = MappedMemory(Path(sys.argv[1]))((100_000,))\n"
        "array[:] = 5\n"
        "os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        check=False,
    )
    assert killed.returncode == -9
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_noticed_when_an_array_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = MappedMemory(tmp_path)
    held = memory((1_000_000,))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError) as error:
        memory((5_000_000,))
    assert str(error.value) == (
        f"memory memmap: {tmp_path} has no room for 20 MB more (No space left on device); 4 MB are "
        "in use. Use another disk, fewer flops or fewer sizes"
    )
    assert memory.used == held.nbytes == 4_000_000
    assert not list(tmp_path.iterdir())


def test_room_goes_back_with_the_array(tmp_path: Path) -> None:
    memory = MappedMemory(tmp_path)
    first, second = memory((1_000_000,)), memory((10,))
    del first
    assert memory.used == second.nbytes == 40


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_pages_go_back_to_the_system() -> None:
    """Of arrays that the heap would keep for the next one."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE

    before = resident()
    arrays = [own_pages((500, 1000)) for _ in range(30)]
    assert all(array.ctypes.data % 64 == 0 and not array.any() for array in arrays)
    for array in arrays:
        array[...] = 1
    assert resident() - before > 50_000_000
    del arrays, array
    assert resident() - before < 10_000_000
    small = own_pages((3, 16))
    assert small.ctypes.data % 64 == 0
    assert not small.any()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="memory memmap: "):
        MappedMemory(tmp_path / "file" / "work")((4,))


def test_a_solver_on_disk_has_the_bits_of_one_in_memory(tmp_path: Path) -> None:
    config = small_config(flops="spread_3")
    game = config.game()
    solvers = [
        WholeGameSolver(game, games, config.schedule())
        for games in (
            game.build(game.engine()),
            game.build(game.engine(memory="memmap", folder=tmp_path)),
        )
    ]
    for solver in solvers:
        solver.train_batch(8)
    first, second = (solver.state() for solver in solvers)
    assert first.keys() == second.keys()
    assert all(first[name].tobytes() == second[name].tobytes() for name in first)
    assert solvers[0].identity == solvers[1].identity
    assert solvers[0].exploitability() == solvers[1].exploitability()
    with pytest.raises(InputError, match="memory memmap needs a folder on disk: give --output"):
        game.build(game.engine(memory="memmap"))
    with pytest.raises(InputError, match="exact games are resident"):
        game.build(game.engine(EXACT, "memmap", tmp_path))


def test_pages_are_cleared_and_used_again() -> None:
    pages = PagesAgain()
    first, second = pages((3, 40)), pages((2, 1_000_000))
    first[:], second[:] = 1.0, 2.0
    pages.take_back()
    smaller, larger = pages((3, 20)), pages((2, 2_000_000))
    assert np.shares_memory(smaller, first)
    assert not np.shares_memory(larger, second)  # it did not fit
    for array, shape in ((smaller, (3, 20)), (larger, (2, 2_000_000)), (pages((5, 7)), (5, 7))):
        assert array.shape == shape
        assert array.dtype == np.float32
        assert not array.any()
    pages.take_back()
    assert np.shares_memory(pages((3, 40)), first)
    assert np.shares_memory(pages((2, 1_500_000)), larger)


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
    together = threading.Barrier(3)
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
        caller.join()
    assert [sorted(threads) for threads in done] == [[0, 1, 2], [0, 1, 2]]


def test_a_pool_that_is_dropped_ends_its_threads_and_lets_go_of_its_work() -> None:
    class Something:
        """An object that a piece of work refers to."""

    pool, together = Pool(3), threading.Barrier(3)
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
        other.join()
        assert not other.is_alive()


def test_work_is_shared_by_all_threads_unless_they_are_at_work() -> None:
    pool, meeting = Pool(3), threading.Barrier(3)

    def meet() -> None:
        meeting.wait(10)  # all three get there, or it breaks

    pool.share(meet)
    pool.run(1, lambda _, __: pool.share(meet))
    called: list[int] = []
    pool.run(5, lambda _, piece: pool.share(partial(called.append, piece)))
    assert sorted(called) == list(range(5))  # each by the thread that had the piece
