"""Tables as Parquet files, through the extra `allstreets[parquet]`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from allstreets.base.errors import InputError
from allstreets.base.files import write_atomic


def require_parquet() -> Any:
    """The library behind Parquet files; an `InputError` where it is not installed."""
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
    try:
        write_atomic(path, lambda file: arrow.parquet.write_table(table, file))
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; name another file") from None
