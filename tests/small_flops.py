"""Small models of flops, solved in a moment."""

from pathlib import Path
from typing import Any

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
