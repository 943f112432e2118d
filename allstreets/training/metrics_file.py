"""The metrics file: one JSON object a line for every check, in the order of iterations.

A line is appended in one write as soon as its check is made. After a crash the file may know more
than the checkpoint, or end in half a line; `continue_from` brings both to the same iteration.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from allstreets.base import InputError, write_atomic


def begin(path: Path, *, anew: bool = False) -> None:
    """Make ready for a fresh run: the file must be absent or empty, or is emptied (`anew`)."""
    if path.is_dir():
        raise InputError(f"the metrics file {path} is a folder; name a file")
    if path.parent.exists() and not path.parent.is_dir():
        raise InputError(f"{path.parent} is a file; name a folder for the metrics file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb" if anew else "ab") as file:
            used = file.tell() > 0
    except OSError as error:
        raise InputError(f"cannot write the metrics file {path}: {error.strerror}") from None
    if used:
        raise InputError(f"{path} already holds metrics of a run; remove it or name another file")


def append(path: Path, row: Mapping[str, Any]) -> None:
    """Add one check."""
    line = json.dumps(row, allow_nan=False) + "\n"
    try:
        with path.open("ab") as file:
            file.write(line.encode())
    except OSError as error:
        raise InputError(
            f"cannot write the metrics file {path}: {error.strerror}\n"
            "Make room, then go on with --resume."
        ) from error


def continue_from(path: Path, iteration: int, history: Iterable[Mapping[str, Any]]) -> None:
    """Make ready for a resumed run: exactly the checks up to `iteration`, each once.

    Lines beyond it are dropped, since the run will make them again; lines that the file lacks come
    from the checkpoint's `history`. A file that is not a metrics file is left alone.
    """
    rows = {int(row["iteration"]): dict(row) for row in history}
    for row in _read(path):
        if row["iteration"] <= iteration:
            rows[row["iteration"]] = row
    lines = "".join(json.dumps(rows[key], allow_nan=False) + "\n" for key in sorted(rows))
    try:
        write_atomic(path, lambda file: file.write(lines.encode()))
    except OSError as error:
        raise InputError(f"cannot write the metrics file {path}: {error.strerror}") from None


def _read(path: Path) -> list[dict[str, Any]]:
    """The checks of an existing file, without a last line that a crash has cut off."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"cannot read the metrics file {path}: {error.strerror}") from None
    *lines, rest = text.split(b"\n")
    del rest  # what follows the last line break: nothing, or half a line
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            if type(row["iteration"]) is not int:
                raise TypeError
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError(
                f"{path}, line {number}: not a line of a metrics file; nothing was changed, "
                "name another file or remove it"
            ) from None
        rows.append(row)
    return rows
