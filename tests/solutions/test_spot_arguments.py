"""What a script may give to `solve`, and what it is told about anything else."""

from pathlib import Path
from typing import Any

import pytest

from allstreets import InputError, Range, Spot, SpotSolution, load, range_at, read_spot_file, solve

RIVER = Path(__file__).parents[2] / "sample_spots" / "river.yaml"
KEYS = {"board": "Ks7d4c9h2s", "oop": "AA,QQ", "ip": "KK,JJ", "pot": 10, "stack": 20}


def test_a_spot_or_its_keys() -> None:
    spots = (Spot(**KEYS), KEYS)  # type: ignore[arg-type]
    first, second = (solve(spot, 0.05, max_iterations=10) for spot in spots)
    assert first.spot == second.spot
    assert first.evs == second.evs
    assert solve(read_spot_file(RIVER), max_iterations=1).spot.board == "Ks7d4c9h2s"


@pytest.mark.parametrize(
    ("spot", "target", "message"),
    [
        (str(RIVER), 0.003, "read_spot_file"),
        ({"board": "Ks7d4c9h2s"}, 0.003, "a spot needs board, oop, ip, pot, stack"),
        (KEYS, "0.3%", "write 0.003 for 0.3 %"),
        (KEYS, -1, "must not be negative"),
    ],
)
def test_anything_else(spot: Any, target: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        solve(spot, target)


def test_a_text_is_no_range() -> None:
    with pytest.raises(InputError, match=r"Range.parse\(\'AA\'\)"):
        Range("AA")  # type: ignore[arg-type]


def test_a_solution_stands_for_its_folder(tmp_path: Path) -> None:
    result = solve(KEYS, 0.05, max_iterations=10)
    with pytest.raises(InputError, match="in no folder"):
        range_at(result, "x")
    result.save(tmp_path / "river")
    told = range_at(load(tmp_path / "river", SpotSolution), "x", "oop")
    assert told.range == range_at(tmp_path / "river", "x", "oop").range
