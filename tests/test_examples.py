"""Examples run, and sample spots can be solved as they stand."""

import subprocess
import sys
from pathlib import Path

import pytest

from allstreets.games import estimate_spot
from allstreets.jobs import read_spot

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_example(path: Path) -> None:
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("name", ["river", "turn", "flop"])
def test_sample_spot(name: str) -> None:
    config, spot = read_spot(ROOT / "sample_spots" / f"{name}.yaml", {})
    assert config.name == spot.tree.first_street.text == name
    assert estimate_spot(spot).process_bytes < 1_000_000_000
