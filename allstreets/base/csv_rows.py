"""Rows of CSV that other people and programs wrote."""

import csv
from collections.abc import Iterable, Iterator

from allstreets.base.errors import InputError


def csv_rows(
    lines: Iterable[str], source: str, delimiter: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Each row with the number of its last line; an `InputError` names a line that makes none."""
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
