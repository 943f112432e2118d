"""Small models of flops, solved in a moment."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allstreets.cards import Flop
from allstreets.jobs import PostflopModelConfig, TrainConfig, check_config
from allstreets.jobs.flops import FlopsJob, FlopsOutcome, plan_flops
from allstreets.jobs.job import Callbacks, Progress
from allstreets.solvers.flops import FlopsSolver

FLOPS = ["Ks7d2c", "9h8h2c", "QcQd5h"]
TEXTS = ["Ks7h2d", "9s8s2h", "QsQh5d"]  # as they are called
SMALL: dict[str, Any] = {
    "bet_sizes": "75%",
    "postflop_sprs": 2,
    "flops": FLOPS,
    "iterations": 300,
    "exploitability_threshold": 0.01,
}
BUCKETED: dict[str, Any] = {
    **SMALL,
    "cards": "buckets",
    "num_hand_buckets_flop": 6,
    "num_hand_buckets_turn": 12,
    "num_hand_buckets_river": 15,
}

Observer = Callable[[Progress], None]


def small_config(**keys: Any) -> PostflopModelConfig:
    """A small model, with other keys where given."""
    config = check_config({"postflop_model": {**SMALL, **keys}}, TrainConfig)
    assert config.postflop_model is not None
    return config.postflop_model


def run_small(
    folder: Path, *observers: Observer, resume: bool = False, threads: int = 2, **keys: Any
) -> FlopsOutcome:
    """Solve a small model into a folder."""
    job = plan_flops(small_config(**keys), folder, resume=resume, threads=threads)

    def each(progress: Progress) -> None:
        for observer in observers:
            observer(progress)

    return job.run(Callbacks(progress=(each,)))


def press_after(done: int) -> Observer:
    """Presses Ctrl-C when `done` flops are solved and the next ones have been trained a little."""
    pressed = False

    def observe(progress: Progress) -> None:
        nonlocal pressed
        trained = progress.part is not None and progress.part.iteration > 0
        if progress.done >= done and trained and not pressed:
            pressed = True
            signal.raise_signal(signal.SIGINT)

    return observe


def failing(text: str, error: Exception) -> Callable[..., FlopsSolver]:
    """Replaces `FlopsJob.solver`: groups with this flop cannot be solved."""
    make = FlopsJob.solver

    def solver(job: FlopsJob, flops: list[Flop], *arguments: Any) -> FlopsSolver:
        if text in [flop.text for flop in flops]:
            raise error
        return make(job, flops, *arguments)

    return solver
