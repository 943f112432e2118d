"""Tables for spreadsheets, which take a text that begins like a formula for one, and run it.

Names of spots, of players and of files are other people's: '=HYPERLINK(…)' may be one. Such a text
gets an apostrophe in front, which spreadsheets take for "this is text". Numbers stay as they are.
"""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def csv_cell(value: Any) -> Any:
    """What stands in a cell; what does not exist is empty.

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
