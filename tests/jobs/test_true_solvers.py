"""The project's own solvers in the loop: resumed runs are the same runs, bit for bit."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from allstreets.base import InputError
from allstreets.cfr import CfrSolver, Kuhn, Leduc, MccfrSolver, Pruning
from allstreets.jobs import (
    ExploitabilityThreshold,
    Intervals,
    Iterations,
    Progress,
    RunFiles,
    train,
)

MAKERS: dict[str, Callable[[], CfrSolver | MccfrSolver]] = {
    "tuned": lambda: CfrSolver(Leduc(), "tuned"),
    "cfr+": lambda: CfrSolver(Leduc(), "cfr+"),
    "pruned": lambda: CfrSolver(Leduc(), "dcfr", Pruning(warmup=50)),
    "mccfr": lambda: MccfrSolver(Leduc(), seed=3),
    "mccfr, two threads": lambda: MccfrSolver(Leduc(), seed=3, streams=4, threads=2),
}


@pytest.mark.parametrize("name", MAKERS)
def test_interrupted_and_resumed(tmp_path: Path, name: str) -> None:
    pressed = False

    def interrupt(progress: Progress) -> None:
        nonlocal pressed
        if progress.iteration >= 137 and not pressed:
            pressed = True
            signal.raise_signal(signal.SIGINT)

    intervals = Intervals(check=50, checkpoint=100)
    first = MAKERS[name]()
    outcome = train(
        first,
        [Iterations(400)],
        intervals=intervals,
        files=RunFiles(tmp_path),
        observers=[interrupt],
    )
    assert outcome.reason == "interrupted"
    assert 137 <= first.iterations < 400
    resumed, whole = MAKERS[name](), MAKERS[name]()
    again = train(
        resumed, [Iterations(400)], intervals=intervals, files=RunFiles(tmp_path, resume=True)
    )
    once = train(whole, [Iterations(400)], intervals=intervals)
    assert resumed.state().keys() == whole.state().keys()
    for key, array in whole.state().items():
        assert resumed.state()[key].tobytes() == array.tobytes(), key
    assert [c.metrics for c in again.history] == [c.metrics for c in once.history]
    assert resumed.strategies() == whole.strategies()


def test_kuhn_reaches_its_target() -> None:
    outcome = train(CfrSolver(Kuhn()), [ExploitabilityThreshold(1e-4), Iterations(100_000)])
    assert outcome.reason == "exploitability_threshold"
    assert outcome.progress.iteration < 100_000


def test_a_checkpoint_of_another_game_or_algorithm(tmp_path: Path) -> None:
    train(CfrSolver(Kuhn()), [Iterations(10)], files=RunFiles(tmp_path))
    for other in (CfrSolver(Leduc()), CfrSolver(Kuhn(), "linear"), MccfrSolver(Kuhn())):
        with pytest.raises(InputError, match="belongs to another run"):
            train(other, [Iterations(20)], files=RunFiles(tmp_path, resume=True))
        assert other.iterations == 0
