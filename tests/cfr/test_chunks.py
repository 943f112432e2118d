"""Long runs in short pieces."""

import pytest

from allstreets.base import InputError
from allstreets.cfr import chunks as chunks_module
from allstreets.cfr.chunks import LARGEST, Chunks


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock shows, as a list of one: how busy the machine is does not show in a test."""
    now = [0.0]
    monkeypatch.setattr(chunks_module, "perf_counter", lambda: now[0])
    return now


def test_pieces_add_up_and_grow() -> None:
    pieces: list[int] = []
    Chunks().run(100, pieces.append, lambda: sum(pieces), None)
    assert pieces == [1, 2, 4, 8, 16, 32, 37]


def test_slow_work_is_asked_for_less(clock: list[float]) -> None:
    pieces: list[int] = []

    def step(size: int) -> None:
        pieces.append(size)
        clock[0] += 0.11

    chunks = Chunks(size=4)
    chunks.run(8, step, lambda: 0, None)
    assert pieces == [4, 2, 1, 1]
    assert chunks.size == 1


def test_size_is_bounded() -> None:
    chunks = Chunks(size=LARGEST)
    chunks.run(3 * LARGEST, lambda _: None, lambda: 0, None)
    assert chunks.size == LARGEST


def test_callback_stops() -> None:
    pieces: list[int] = []
    seen: list[int] = []

    def stop(done: int) -> bool:
        seen.append(done)
        return done >= 7

    Chunks().run(1000, pieces.append, lambda: sum(pieces), stop)
    assert seen == [1, 3, 7]


def test_nothing_to_do_and_nonsense() -> None:
    Chunks().run(0, lambda _: pytest.fail("called"), lambda: 0, None)
    with pytest.raises(InputError, match="cannot run -1 iterations"):
        Chunks().run(-1, lambda _: None, lambda: 0, None)
