"""Files that are whole or absent: temporary name, fsync, rename; arrays with a checksum.

A reader never sees half a file, whenever the writer is killed, and two writers of the same file
cannot mix their bytes.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from allstreets.base.remote import Place, Remote

Arrays = dict[str, NDArray[Any]]


class DamagedFileError(Exception):
    """A file is not as it was written: cut short, overwritten or altered."""


def write_atomic(
    path: Place,
    write: Callable[[BinaryIO], object],
    *,
    durable: bool = True,
    make_folder: bool = True,
) -> None:
    """Call `write` on a temporary file beside `path`, then rename it to `path`.

    When `write` raises or the disk is full, `path` keeps what it held before. A power cut may
    damage a file that is not `durable`: use it for many files that are checked when they are read
    and can be made again, where waiting for the disk would cost too much time. Without
    `make_folder` a file is only put into a folder that exists: `FileNotFoundError`.
    """
    if isinstance(path, Remote):
        path.write_whole(write)
        return
    if make_folder:
        path.parent.mkdir(parents=True, exist_ok=True)
    # Opened plainly, not by `tempfile`: the file gets the permissions of the user's umask, so
    # that a colleague may read it, where mkstemp would leave it to its owner alone.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            write(file)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Place) -> None:
    """Make renames inside `folder` survive a power cut (a no-op where folders cannot be opened)."""
    if isinstance(folder, Remote):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def checksum(arrays: Mapping[str, NDArray[Any]], facts: str = "") -> str:
    """SHA-256 over names, types, shapes and bytes, in the order of the names, and over `facts`."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name}:{array.dtype.str}:{array.shape};".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    digest.update(facts.encode())
    return digest.hexdigest()


def write_checked_arrays(
    path: Place, arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any] | None = None
) -> str:
    """Write arrays and a JSON object of facts as one safetensors file that knows its checksum.

    Returns the checksum, for callers that keep a list of files.
    """
    from safetensors.numpy import save

    plain = {name: _as_stored(array) for name, array in arrays.items()}
    text = json.dumps(dict(facts or {}))
    total = checksum(plain, text)
    metadata = {"checksum": total, "facts": text}
    write_atomic(path, lambda file: file.write(save(plain, metadata=metadata)))
    return total


def read_checked_arrays(
    path: Path, expected_checksum: str | None = None
) -> tuple[Arrays, dict[str, Any]]:
    """Read what `write_checked_arrays` wrote: (arrays, facts).

    Raises `DamagedFileError` when the bytes are not the ones that were written, or not those of
    `expected_checksum`, and `FileNotFoundError` when there is no such file.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise FileNotFoundError(path)
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from error
    facts = metadata.get("facts", "")
    total = checksum(arrays, facts)
    if metadata.get("checksum") != total or expected_checksum not in (None, total):
        raise DamagedFileError(f"{path} fails its checksum")
    try:
        loaded = dict(json.loads(facts))
    except (ValueError, TypeError, RecursionError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None
    return arrays, loaded


def require_shape(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> None:
    """Refuse an array of a file whose shape is wrong, or that has no fractions.

    A checksum proves that a file is unchanged, not that this program wrote it.
    """
    if name not in arrays:
        raise DamagedFileError(f"there is no array {name}")
    array = arrays[name]
    if array.shape != shape or array.dtype.kind != "f":
        raise DamagedFileError(f"{name} is {array.dtype} of shape {array.shape}, not {shape}")


def _as_stored(array: NDArray[Any]) -> NDArray[Any]:
    """`array` contiguous and little-endian, as safetensors stores it; shape () stays."""
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
