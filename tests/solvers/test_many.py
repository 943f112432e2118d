"""Many spots over processes: a line each, and one that fails does not take the others along."""

import csv
import os
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER, spot

from allstreets.base import InputError
from allstreets.solvers import solve, solve_many
from allstreets.solvers.spot import many


def test_rows_in_order_with_their_errors(tmp_path: Path) -> None:
    path = tmp_path / "rows" / "many.csv"
    spots: list[Any] = [
        {**RIVER, "name": "first"},
        {**RIVER, "name": "blocked", "oop_range": "KsKd"},
        {**RIVER, "name": "typo", "pots": 3},
        spot(RIVER, pot=60),
        {
            **RIVER,
            "name": "own",
            "algorithm": "cfr+",
            "precision": "float16",
            "exploitability_threshold": 0.05,
        },
    ]
    rows = solve_many(spots, target=0.01, processes=2, csv=path)
    assert [row.name for row in rows] == ["first", "blocked", "typo", "4", "own"]
    assert 1 < (rows[4].exploitability_pct or 0) <= 5
    assert "is blocked" in (rows[1].error or "")
    assert "pots" in (rows[2].error or "")
    assert rows[1].ev_oop is None
    alone = solve(spot(RIVER), 0.01, threads=1)
    assert (rows[0].ev_oop, rows[0].ev_ip) == alone.evs
    assert rows[0].exploitability_pct == 100 * alone.exploitability
    assert (rows[3].ev_oop or 0) + (rows[3].ev_ip or 0) == pytest.approx(60, abs=1e-3)
    solve_many(spots[:1], target=0.01, processes=1, csv=path)
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert sorted(line["name"] for line in lines) == [
        "4",
        "blocked",
        "first",
        "first",
        "own",
        "typo",
    ]
    first = next(line for line in lines if line["name"] == "first")
    assert float(first["ev_oop"]) == rows[0].ev_oop
    assert next(line for line in lines if line["name"] == "blocked")["ev_oop"] == ""


def die_on_pot_13(name: str, keys: Any, options: Any) -> many.ManyRow:
    """What the system does to a process that takes too much memory."""
    del options
    if keys["pot"] == 13:
        os._exit(9)
    return many.ManyRow(name, iterations=1)


def test_a_process_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "_solve_one", die_on_pot_13)
    spots = [{**RIVER, "pot": pot} for pot in (10, 11, 12, 13, 14, 15)]
    rows = solve_many(spots, processes=2)
    assert [row.error for row in rows] == [None, None, None, many.KILLED, None, None]
    assert [row.iterations for row in rows] == [1, 1, 1, None, 1, 1]


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="processes"):
        solve_many([RIVER], processes=0)
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="holds other columns"):
        solve_many([RIVER], csv=tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"
    assert solve_many([]) == []


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from pyarrow import parquet

    path = tmp_path / "many.parquet"
    rows = solve_many([{**RIVER, "name": "first"}], target=0.01, processes=1, parquet=path)
    (read,) = parquet.read_table(path).to_pylist()
    assert (read["name"], read["ev_oop"]) == ("first", rows[0].ev_oop)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'allstreets\[parquet\]', or write CSV"):
        solve_many([RIVER], parquet=path)
