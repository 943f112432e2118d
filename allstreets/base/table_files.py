"""Tables as CSV and as Parquet (through the extra `allstreets[parquet]`).

A spreadsheet runs any text that begins like a formula. Names of spots, players and files come from
other people: one may be '=HYPERLINK(…)'. An apostrophe in front of such a text marks it as text.
Numbers stay as they are.
"""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from allstreets.base.errors import InputError
from allstreets.base.files import write_atomic

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def csv_rows(
    lines: Iterable[str], source: str, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of their last line; an `InputError` names a line that is not a row."""
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"{source}, line {rows.line_num}: not a row of a table ({error})"
            ) from None
        yield rows.line_num, row


def csv_cell(value: Any) -> Any:
    """Format a value for a cell; None and NaN are empty.

    >>> csv_cell("=1+1"), csv_cell(-1.5), csv_cell("-1.5"), csv_cell(None)
    ("'=1+1", -1.5, '-1.5', '')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_SIGNS) and not _is_number(value):
        return f"'{value}"
    return value


def write_csv_rows(
    file: TextIO,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    head: bool = True,
    line_end: str = "\n",
) -> None:
    """Write rows, a cell for each of the columns."""
    writer = csv.writer(file, lineterminator=line_end)
    if head:
        writer.writerow([csv_cell(column) for column in columns])
    for row in rows:
        writer.writerow([csv_cell(row.get(column)) for column in columns])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text


def require_parquet() -> Any:
    """The library behind Parquet files; an `InputError` if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            "Parquet files need pyarrow: pip install 'allstreets[parquet]', or write CSV"
        ) from None
    return pyarrow


def write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows that share their keys as one table, whole or not at all."""
    arrow = require_parquet()
    table = arrow.Table.from_pylist([dict(row) for row in rows])
    _write_table(path, lambda file: arrow.parquet.write_table(table, file))


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """The same as CSV."""
    text = StringIO()
    write_csv_rows(text, list(rows[0]), rows)
    _write_table(path, lambda file: file.write(text.getvalue().encode()))


def _write_table(path: Path, write: Callable[[BinaryIO], object]) -> None:
    try:
        write_atomic(path, write)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; name another file") from None
