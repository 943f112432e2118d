"""The metrics file: one JSON object per line, one line per check, in the order of iterations.

A line is appended in one write as soon as its check is made. After a crash the file may hold more
than the checkpoint, or end in half a line; `continue_from` brings both to the same iteration. It is
a log for people and programs; no run resumes from it.
"""

import json
import secrets
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from allstreets.base import InputError, Place, Remote, write_atomic
from allstreets.storage import CheckpointWarning


def begin(path: Place, *, overwrite: bool = False) -> None:
    """Prepare for a fresh run: the file must be absent or empty, or is emptied (`overwrite`)."""
    if path.is_dir():
        raise InputError(f"the metrics file {path} is a folder; name a file")
    if path.parent.exists() and not path.parent.is_dir():
        raise InputError(f"{path.parent} is a file; name a folder for the metrics file")
    if isinstance(path, Remote):
        if overwrite:
            path.write_bytes(b"")
            return
        raise InputError(f"the metrics file {path} is elsewhere; name a file of this machine")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb" if overwrite else "ab") as file:
            used = file.tell() > 0
    except OSError as error:
        raise InputError(
            f"cannot write the metrics file {path}: {error.strerror or error}"
        ) from None
    if used:
        raise InputError(
            f"{path} already contains metrics of a run; remove it or name another file"
        )


def append(path: Place, row: Mapping[str, Any]) -> None:
    """Add one check."""
    line = json.dumps(row, allow_nan=False) + "\n"
    try:
        if isinstance(path, Remote):  # where nothing can be appended
            path.write_bytes(path.read_bytes() + line.encode())
            return
        with path.open("ab") as file:
            file.write(line.encode())
    except OSError as error:
        raise InputError(
            f"cannot write the metrics file {path}: {error.strerror or error}\n"
            "Make room, then continue with --resume."
        ) from error


def continue_from(path: Place, iteration: int, history: Iterable[Mapping[str, Any]]) -> None:
    """Prepare for a resumed run: exactly the checks up to `iteration`, each once.

    They come from the checkpoint's `history`, which carries a checksum; the run repeats later ones.
    Damage to the file is reported and costs nothing. A file without a single valid line may be
    something else: it is set aside.
    """
    bad, good = _check_lines(path)
    if bad:
        where = f"{path}, line {bad[0]}{' and others' if len(bad) > 1 else ''}: damaged"
        warnings.warn(f"{where}; rewritten from the checkpoint", CheckpointWarning, stacklevel=2)
    rows = {int(row["iteration"]): dict(row) for row in history if row["iteration"] <= iteration}
    lines = "".join(json.dumps(rows[key], allow_nan=False) + "\n" for key in sorted(rows))
    try:
        if bad and not good and not isinstance(path, Remote):
            path.replace(path.with_name(f"{path.name}.{secrets.token_hex(4)}.damaged"))
        write_atomic(path, lambda file: file.write(lines.encode()))
    except OSError as error:
        raise InputError(
            f"cannot write the metrics file {path}: {error.strerror or error}"
        ) from None


def _check_lines(path: Place) -> tuple[list[int], list[int]]:
    """The numbers of the lines that are not checks, and of those that are.

    A last line that a crash cut off is neither.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise InputError(
            f"cannot read the metrics file {path}: {error.strerror or error}"
        ) from None
    numbers: tuple[list[int], list[int]] = [], []
    for number, line in enumerate(text.split(b"\n")[:-1], start=1):
        numbers[_is_check(line)].append(number)
    return numbers


def _is_check(line: bytes) -> bool:
    try:
        return type(json.loads(line)["iteration"]) is int
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
