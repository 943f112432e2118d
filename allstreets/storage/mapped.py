"""Safetensors files that are written without a copy in memory and read by memory map.

The arrays of a solved flop fill half of a machine. safetensors' own writer gathers everything into
one piece first, and its reader copies; the format itself (length, JSON header, bytes) asks for
neither.
"""

import hashlib
import json
import mmap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from allstreets.base import write_atomic
from allstreets.base.files import Arrays, DamagedFileError

ALIGNMENT = 64  # of the first array: the header is filled up with blanks, as the format allows
NAMES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "int8": "I8",
    "int16": "I16",
    "int32": "I32",
    "int64": "I64",
    "bool": "BOOL",
}
TYPES = {name: np.dtype(dtype) for dtype, name in NAMES.items()}
CHUNK = 1 << 24

Writer = Callable[[Path, Callable[[BinaryIO], object]], None]


def write_mapped(
    path: Path, arrays: Mapping[str, NDArray[Any]], writer: Writer | None = None
) -> dict[str, Any]:
    """Write arrays, whole or not at all; returns the bytes and the SHA-256 of the file.

    `writer` is `write_atomic`, or another way to bring a file to the disk.
    """
    header: dict[str, Any] = {}
    start = 0
    for name, array in arrays.items():
        header[name] = {
            "dtype": NAMES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [start, start + array.nbytes],
        }
        start += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    digest = hashlib.sha256()

    def write(file: BinaryIO) -> None:
        for piece in (len(text).to_bytes(8, "little"), text):
            file.write(piece)
            digest.update(piece)
        for array in arrays.values():
            data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
            file.write(data)
            digest.update(data)

    (writer or write_atomic)(path, write)
    return {"bytes": 8 + len(text) + start, "sha256": digest.hexdigest()}


def open_mapped(path: Path, expected: Mapping[str, Any], *, verify: bool) -> Arrays:
    """The arrays of a file, mapped: what is not looked at is not read.

    The size is always compared with what was written, the bytes only with `verify`. Raises
    `DamagedFileError`. Writing to the arrays changes neither file nor other readers.
    """
    memory = _map(path)
    if len(memory) != expected["bytes"]:
        raise DamagedFileError(f"{path} has {len(memory):,} bytes, not {expected['bytes']:,}")
    if verify and _digest(memory) != expected["sha256"]:
        raise DamagedFileError(f"{path} fails its checksum")
    return _arrays(path, memory)[0]


def map_arrays(path: Path) -> tuple[Arrays, dict[str, str]]:
    """The mapped arrays and the metadata of any safetensors file, as `open_mapped` has them."""
    return _arrays(path, _map(path))


def _map(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except FileNotFoundError:
        raise DamagedFileError(f"{path} is missing") from None
    except (OSError, ValueError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None


def _arrays(path: Path, memory: mmap.mmap) -> tuple[Arrays, dict[str, str]]:
    try:
        size = int.from_bytes(memory[:8], "little")
        header = json.loads(memory[8 : 8 + size])
        metadata = dict(header.pop("__metadata__", {}))
        ends = [int(entry["data_offsets"][1]) for entry in header.values()]
        if 8 + size + max(ends, default=0) != len(memory):
            raise DamagedFileError(f"{path} does not end where its last array does")
        return {name: _array(memory, 8 + size, entry) for name, entry in header.items()}, metadata
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None


def _array(memory: mmap.mmap, start: int, entry: Mapping[str, Any]) -> NDArray[Any]:
    first, last = entry["data_offsets"]
    dtype = TYPES[entry["dtype"]]
    count = (last - first) // dtype.itemsize
    found = np.frombuffer(memory, dtype, count, start + first)
    return found.reshape(entry["shape"])


def _digest(memory: mmap.mmap) -> str:
    digest = hashlib.sha256()
    with memoryview(memory) as view:
        for start in range(0, len(view), CHUNK):
            digest.update(view[start : start + CHUNK])
    return digest.hexdigest()
