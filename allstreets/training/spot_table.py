"""The rows of many spots as a table: a CSV file that grows as spots are solved, or Parquet.

The actions of first decisions are the last columns, an action that a spot does not have is empty
there. A row with an action that no row before had widens the table.
"""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from allstreets.base import InputError, write_atomic, write_csv_rows
from allstreets.training.spot_jobs import SpotRow

FIGURES = tuple(one.name for one in fields(SpotRow) if one.name != "frequencies")

Cells = dict[str, Any]


def row_cells(row: SpotRow) -> Cells:
    """A row as one level of keys: figures, then actions."""
    cells = asdict(row)
    return {**{name: cells[name] for name in FIGURES}, **row.frequencies}


def row_of(cells: Mapping[str, Any]) -> SpotRow:
    """What `row_cells` made."""
    figures = {name: cells.get(name) for name in FIGURES}
    taken = {key: value for key, value in cells.items() if key not in FIGURES}
    return SpotRow(**figures, frequencies=taken)  # type: ignore[arg-type]


def table_rows(rows: Sequence[SpotRow]) -> list[Cells]:
    """Rows that share their columns."""
    cells = [row_cells(row) for row in rows]
    columns = dict.fromkeys(key for each in cells for key in each)
    return [{key: each.get(key) for key in columns} for each in cells]


class SpotTable:
    """A CSV file to which rows are added one by one, at once on disk."""

    def __init__(self, path: Path, *, anew: bool = False) -> None:
        """A file with other columns is refused, unless it is written `anew`."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            head = "" if anew or not path.exists() else path.read_text().partition("\n")[0]
            self._columns = next(csv.reader([head]), []) if head else []
            if not head:
                self._columns = list(FIGURES)
                self._rewrite([])
            elif tuple(self._columns[: len(FIGURES)]) != FIGURES:
                raise InputError(f"{path} holds other columns; name another CSV file")
        except OSError as error:
            raise self._refusal(error) from None

    def append(self, row: SpotRow) -> None:
        """Add one line."""
        cells = row_cells(row)
        new = [key for key in cells if key not in self._columns]
        try:
            if new:
                with self.path.open(newline="") as file:
                    there = list(csv.DictReader(file))
                self._columns += new
                self._rewrite([*there, cells])
                return
            with self.path.open("a", newline="") as file:
                write_csv_rows(file, self._columns, [cells], head=False)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._refusal(error) from None

    def _rewrite(self, rows: Iterable[Mapping[str, Any]]) -> None:
        text = io.StringIO()
        write_csv_rows(text, self._columns, rows)
        write_atomic(self.path, lambda file: file.write(text.getvalue().encode()))

    def _refusal(self, error: OSError) -> InputError:
        return InputError(f"cannot write {self.path}: {error.strerror}; name another file")
