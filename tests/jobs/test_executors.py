"""Executors: the same results on any worker, and nothing lost when something breaks."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders.pieces import (
    Deaf,
    Dying,
    Piece,
    inverse,
    same,
    tenth_power,
    wait_for_the_end,
)
from builders.worker_pools import TasksHere, as_cluster

from allstreets.base import InputError, StopWhen
from allstreets.cluster import Need
from allstreets.jobs import (
    Executor,
    Here,
    OnRay,
    Processes,
    executors,
    in_order,
    piece_control,
)
from allstreets.jobs.executors import KilledError, PieceError, on_cluster


def on_ray() -> OnRay:
    return OnRay(TasksHere(2, lost=[1]), Need(), "a piece")  # the second is done twice


MAKERS: dict[str, Callable[[], Executor]] = {
    "here": Here,
    "threads": lambda: Here(3),
    "processes": lambda: Processes(2),
    "ray": on_ray,
}
LISTENING = pytest.mark.parametrize("kind", ["here", "threads", "processes"])


@pytest.fixture(params=MAKERS)
def executor(request: pytest.FixtureRequest) -> Executor:
    return MAKERS[request.param]()


def test_every_item_once_and_sums_to_the_last_bit(executor: Executor) -> None:
    found: dict[int, float] = {}
    times: list[int] = []
    ticks: list[int] = []

    def take(index: int, result: float) -> None:
        times.append(index)
        found[index] = result

    executor.map(tenth_power, range(9), take, on_tick=lambda: ticks.append(len(found)))
    assert sorted(times) == list(range(9))
    assert in_order(found) == tuple(map(tenth_power, range(9)))
    assert sum(in_order(found)) == sum(map(tenth_power, range(9)))
    assert ticks[-1] == 9
    executor.map(tenth_power, [], take)
    assert len(times) == 9


def test_an_exception_is_raised_by_name_and_the_others_are_kept(executor: Executor) -> None:
    pieces = [Piece(f"piece {number}", number - 2) for number in range(5)]
    found: dict[int, float] = {}
    with pytest.raises(
        PieceError, match=r"^piece 2: ZeroDivisionError: division by zero"
    ) as raised:
        executor.map(inverse, pieces, found.__setitem__)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert in_order(found) == (-0.5, -1.0, 1.0, 0.5)
    failed: dict[int, Exception] = {}
    executor.map(inverse, pieces, found.__setitem__, on_error=failed.__setitem__)
    assert [(index, type(error)) for index, error in failed.items()] == [(2, ZeroDivisionError)]


def test_a_request_to_stop_ends_it_soon_and_keeps_what_is_done(executor: Executor) -> None:
    found: dict[int, int] = {}
    control = StopWhen(lambda: bool(found))
    executor.map(same, range(40), found.__setitem__, control=control)
    assert 1 <= len(found) <= 8
    assert all(index == result for index, result in found.items())
    count = len(found)
    executor.map(same, range(40), found.__setitem__, control=control)  # is not begun
    assert len(found) == count


@LISTENING
def test_pieces_at_work_hear_that_they_are_to_stop(kind: str) -> None:
    found: dict[int, int] = {}
    control = StopWhen(lambda: bool(found))
    MAKERS[kind]().map(wait_for_the_end, range(5), found.__setitem__, control=control)
    assert found == {0: 0}
    assert not piece_control().wants_to_stop()


@LISTENING
def test_a_result_that_cannot_be_taken_ends_the_others(kind: str) -> None:
    def full(*_: int) -> None:
        raise InputError("the disk is full")

    with pytest.raises(InputError, match="the disk is full"):
        MAKERS[kind]().map(wait_for_the_end, range(5), full)
    # The others were asked to stop, or this line would never be reached.
    assert not piece_control().wants_to_stop()


@pytest.mark.long
def test_processes_that_do_not_listen_are_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Long: processes are killed."""

    def full(*_: int) -> None:
        raise InputError("the disk is full")

    monkeypatch.setattr(executors, "GRACE_SECONDS", 0.1)
    begun = tmp_path / "begun"
    with pytest.raises(InputError, match="the disk is full"):
        Processes(2).map(Deaf(begun), range(2), full)
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)


def test_a_worker_that_is_killed_is_replaced(tmp_path: Path) -> None:
    found: dict[int, int] = {}
    Processes(2).map(Dying(tmp_path, 3, times=2), range(6), found.__setitem__)
    assert in_order(found) == (0, 1, 4, 9, 16, 25)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.long
def test_a_piece_that_kills_every_worker_is_named(tmp_path: Path) -> None:
    """Long: processes are killed."""
    found: dict[int, int] = {}
    with pytest.raises(PieceError, match=r"^3: its process was killed; is there enough") as raised:
        Processes(2).map(Dying(tmp_path, 3, times=99), range(6), found.__setitem__)
    assert isinstance(raised.value.__cause__, KilledError)
    assert sorted(found) == [0, 1, 2, 4, 5]
    assert len(list(tmp_path.iterdir())) == 3  # once, and twice again


UNGUARDED = """
from allstreets.jobs import Processes
print("the program")
Processes(2).map(abs, [-1, -2, -3], lambda index, result: print("result", result))
"""


def test_processes_do_not_run_the_program_again(tmp_path: Path) -> None:
    program = tmp_path / "unguarded.py"
    program.write_text(UNGUARDED)
    done = subprocess.run(
        [sys.executable, str(program)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
    )
    assert sorted(done.stdout.splitlines()) == ["result 1", "result 2", "result 3", "the program"]
    assert (done.returncode, done.stderr) == (0, "")


def test_no_processes_are_refused() -> None:
    with pytest.raises(InputError, match="processes: 0 is too few"):
        Processes(0)


@dataclass(frozen=True)
class Needing:
    """Wants something of a machine."""

    there: bool

    def require(self) -> None:
        if not self.there:
            raise InputError("it is not there")

    def __call__(self, number: int) -> int:
        return number


def test_a_cluster_is_asked_and_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks, told, found = TasksHere(2), list[str](), dict[int, int]()
    as_cluster(monkeypatch, tasks)
    failed: dict[int, Exception] = {}
    with on_cluster(
        "auto",
        Need(),
        "a piece",
        need_of=lambda number: Need(gpus=int(number == 1)),
        tell=told.append,
    ) as executor:
        assert told == ["cluster: 2 machines with 2 cores in all"]
        assert (executor.remote, executor.at_once) == (True, 2)
        with pytest.raises(InputError, match="it is not there"):
            executor.map(Needing(False), [0], found.__setitem__)
        assert tasks.done == []
        executor.map(Needing(True), range(4), found.__setitem__, on_error=failed.__setitem__)
        assert found == {0: 0, 2: 2, 3: 3}
        assert str(failed[1]) == "no machine of the cluster has a GPU"
        assert [node.solved for node in executor.nodes()] == [2, 1]
    with (
        pytest.raises(InputError, match="a piece needs 3 cores"),
        on_cluster("auto", Need(3), "a piece"),
    ):
        pass
