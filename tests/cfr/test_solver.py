"""Long runs in short calls, and states of another solver refused."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.base import Floats, InputError
from allstreets.cfr import Kuhn
from allstreets.cfr import solver as solver_module
from allstreets.cfr.solver import LARGEST_CALL, Solver, check_state

OWN = {"regrets": np.zeros(3), "iterations": np.zeros(1, dtype=np.int64)}


class Counting(Solver):
    """Counts iterations and does nothing; an iteration call takes `seconds` of the test's clock."""

    def __init__(self, clock: list[float], seconds: float = 0.0, first_call: int = 1) -> None:
        super().__init__(Kuhn(), None)
        self.calls: list[int] = []
        self._clock, self._seconds = clock, seconds
        self._iterations_per_call = first_call

    def _run(self, iterations: int) -> None:
        self.calls.append(iterations)
        self._clock[0] += self._seconds

    @property
    def iterations(self) -> int:
        return sum(self.calls)

    @property
    def regrets(self) -> Floats:
        return np.zeros(self.form.game.slots)

    @property
    def strategy_sums(self) -> Floats:
        return self.regrets

    @property
    def regret_weight(self) -> float:
        return 0.0

    def skip_counts(self) -> tuple[int, int]:
        return 0, 0

    def state(self) -> dict[str, NDArray[Any]]:
        return {}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock's time, as a list of one: the load of the machine does not affect a test."""
    now = [0.0]
    monkeypatch.setattr(solver_module, "perf_counter", lambda: now[0])
    return now


def test_calls_add_up_and_grow(clock: list[float]) -> None:
    solver = Counting(clock)
    solver.train_batch(100)
    assert solver.calls == [1, 2, 4, 8, 16, 32, 37]


def test_slow_work_is_asked_for_less(clock: list[float]) -> None:
    solver = Counting(clock, seconds=0.11, first_call=4)
    solver.train_batch(8)
    assert solver.calls == [4, 2, 1, 1]
    assert solver._iterations_per_call == 1


def test_size_is_bounded(clock: list[float]) -> None:
    solver = Counting(clock, first_call=LARGEST_CALL)
    solver.train_batch(3 * LARGEST_CALL)
    assert solver._iterations_per_call == LARGEST_CALL


def test_callback_stops(clock: list[float]) -> None:
    seen: list[int] = []

    def stop(done: int) -> bool:
        seen.append(done)
        return done >= 7

    Counting(clock).train_batch(1000, stop)
    assert seen == [1, 3, 7]


def test_nothing_to_do_and_nonsense(clock: list[float]) -> None:
    solver = Counting(clock)
    solver.train_batch(0)
    assert solver.calls == []
    with pytest.raises(InputError, match="cannot run -1 iterations"):
        solver.train_batch(-1)


def test_a_state_of_the_same_solver_is_accepted() -> None:
    check_state({name: array + 1 for name, array in OWN.items()}, OWN)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"regrets": np.zeros(4)}, "from another game"),
        ({"regrets": np.zeros(3, dtype=np.float32)}, "from another game"),
        ({"random": np.zeros(1)}, "unknown ['random']"),
        ({"regrets": np.array([0, np.nan, 0])}, "damaged"),
    ],
)
def test_other_states_are_refused(change: dict[str, np.ndarray], words: str) -> None:
    with pytest.raises(InputError) as error:
        check_state({**OWN, **change}, OWN)
    assert words in str(error.value)


def test_incomplete_states_are_refused() -> None:
    with pytest.raises(InputError, match=r"missing \['iterations'\]"):
        check_state({"regrets": np.zeros(3)}, OWN)
