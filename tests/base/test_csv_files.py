"""Cells that a spreadsheet would run are text, numbers stay numbers, and every table does so."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

import allstreets
from allstreets.base import csv_cell, write_csv, write_csv_rows
from allstreets.jobs.spot_rows import SpotRow, SpotTable

FORMULAS = ("=1+1", "+A1", "-A1", "@SUM(A1)", "\tx", "\r=1", "-", '=HYPERLINK("http://x")')


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_text(text: str) -> None:
    assert csv_cell(text) == f"'{text}"
    assert csv_cell(csv_cell(text)) == f"'{text}"  # written once more


@pytest.mark.parametrize("value", [-1.5, 0, -3, True, "-1.5", "+2", "-1e-7", "AKs", "x b50%", ""])
def test_numbers_and_plain_words_stay(value: Any) -> None:
    assert csv_cell(value) == value


def test_what_does_not_exist_is_empty() -> None:
    out = io.StringIO(newline="")
    write_csv_rows(out, ["name", "ev", "other"], [{"name": "=1", "ev": float("nan")}, {"ev": -2}])
    assert out.getvalue() == "name,ev,other\n'=1,,\n,-2,\n"


def test_tables_over_boards(tmp_path: Path) -> None:
    write_csv(tmp_path / "t.csv", [{"name": "@x", "ev": -1.0}])
    assert (tmp_path / "t.csv").read_text() == "name,ev\n'@x,-1.0\n"


def test_a_table_of_spots_that_is_widened(tmp_path: Path) -> None:
    """Rows survive reading and writing: names stay text, and negative EVs numbers."""
    table = SpotTable(tmp_path / "spots.csv")
    table.append(SpotRow("=1+1", "Ks7d4c9h2s", 1.0, ev_oop=-2.5, frequencies={"x": 1.0}))
    table.append(SpotRow("plain", "Qs7d4c9h2s", 1.0, ev_oop=-1.5, frequencies={"b75%": 1.0}))
    with (tmp_path / "spots.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["name"], row["ev_oop"]) for row in rows] == [("'=1+1", "-2.5"), ("plain", "-1.5")]


def test_nobody_writes_tables_in_another_way() -> None:
    package = Path(allstreets.__file__).parent
    others = [
        path.name
        for path in package.rglob("*.py")
        if any(word in path.read_text() for word in ("csv.writer(", "DictWriter("))
    ]
    assert others == ["table_files.py"]
