"""Small models of flops, solved in a moment."""

import signal
from collections.abc import Callable, Iterator
from itertools import count, repeat
from pathlib import Path
from typing import Any

from allstreets.solvers.flops.model import FlopEnds, FlopProgress, FlopSolver
from allstreets.training import PostflopModelConfig, TrainConfig, check_config
from allstreets.training.postflop_run import FlopsObserver, FlopsOutcome, PostflopJob

FLOPS = ["Ks7d2c", "9h8h2c", "QcQd5h"]
TEXTS = ["Ks7h2d", "9s8s2h", "QsQh5d"]  # as they are called
SMALL: dict[str, Any] = {
    "bet_sizes": "75%",
    "postflop_sprs": 2,
    "fixed_flops": FLOPS,
    "postflop_solve_iterations": 300,
    "cfr_exploitability_threshold": 0.01,
}
BUCKETED: dict[str, Any] = {
    **SMALL,
    "solve_type": "bucketed",
    "num_hand_buckets_flop": 6,
    "num_hand_buckets_turn": 12,
    "num_hand_buckets_river": 15,
}


def small_config(**keys: Any) -> PostflopModelConfig:
    """A small model, with other keys where given."""
    config = check_config({"postflop_model": {**SMALL, **keys}}, TrainConfig)
    assert config.postflop_model is not None
    return config.postflop_model


def run_small(
    folder: Path, *observers: FlopsObserver, resume: bool = False, threads: int = 2, **keys: Any
) -> FlopsOutcome:
    """Solve a small model into a folder."""
    job = PostflopJob(small_config(**keys), folder, resume=resume, threads=threads)
    return job.run(observers)


def interrupting(done: int) -> Callable[..., Any]:
    """Solvers of which the one after `done` presses Ctrl-C, and goes on until it is told to stop.

    It does so in the thread that solves; there is only one, so that `done` flops are finished.
    """
    begun = count()

    class Pressing(FlopSolver):
        def run(self, ends: FlopEnds) -> Iterator[FlopProgress]:
            signal.raise_signal(signal.SIGINT)
            yield from repeat(next(super().run(ends)))

    return lambda *arguments: (FlopSolver if next(begun) < done else Pressing)(*arguments)
