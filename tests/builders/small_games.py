"""Whole games that are solved in a moment, as training files have them."""

import json
from pathlib import Path
from typing import Any

from allstreets.cli.main import main
from allstreets.jobs import TrainConfig, check_config
from allstreets.jobs.config.whole_game import UnifiedConfig

SMALL: dict[str, Any] = {
    "type": "unified_cfr",
    "cards": "classes",
    "stack_depth": 6,
    "raise_cap": 1,
    "postflop_bet_sizes": [1.0],
    "flops": "spread_2",
    "epochs": 12,
    "check_interval": 4,
    "checkpoint_interval": 4,
    "threads": 1,
}
BUCKETS: dict[str, Any] = {
    "cards": "buckets",
    "num_hand_buckets_flop": 6,
    "num_hand_buckets_turn": 12,
    "num_hand_buckets_river": 15,
}
# One pot, checked or all-in, on a flop of which most runouts are alike.
EXACT: dict[str, Any] = {
    "cards": "exact",
    "stack_depth": 2,
    "raise_cap": 0,
    "max_raises_per_street": 0,
    "flops": ["9s7s2s"],
}


# The same by hand classes, whose strategies are stored on all streets.
LIMPED: dict[str, Any] = {"stack_depth": 2, "raise_cap": 0, "max_raises_per_street": 0}


def small_config(**keys: Any) -> UnifiedConfig:
    """A small game, with other keys where given."""
    config = check_config({"solver": {**SMALL, **keys}}, TrainConfig)
    assert isinstance(config.solver, UnifiedConfig)
    return config.solver


def write_small(path: Path, **keys: Any) -> Path:
    """The same as a training file."""
    path.write_text(json.dumps({"name": "small", "solver": {**SMALL, **keys}}))
    return path


def solve_limped(folder: Path, flops: list[str]) -> Path:
    """The folder of a limped pot that is solved on some flops."""
    file = write_small(folder / "small.yaml", **LIMPED, flops=flops)
    assert main(["train", str(file), "--output", str(folder / "solved")]) == 0
    return folder / "solved"


def kept_numbers(folder: Path) -> dict[str, bytes]:
    """The files with the strategies and values of a solution, by what they are about."""
    files = [*folder.glob("preflop-*.safetensors"), *folder.glob("flops-*/*.safetensors")]
    return {path.name.partition("-")[0]: path.read_bytes() for path in files}
