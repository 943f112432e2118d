"""Safetensors files that are written without a copy in memory and read by memory map.

The arrays of a solved flop fill half of a machine. safetensors' own writer gathers everything into
one piece first, and its reader copies; the format itself (length, JSON header, bytes) needs
neither.

The river of a solved flop takes gigabytes, and one node of it a hundred kilobytes. So a
`CheckedFile` has a checksum for every block of `BLOCK_BYTES`; a part of an array is read after its
blocks have been compared, each once.
"""

import hashlib
import json
import math
import mmap
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets import base
from allstreets.base import Arrays, DamagedFileError, write_atomic
from allstreets.storage.mirror import fetch_missing

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
HEAD_BYTES = 1 << 14  # that hold the header of most files

Writer = Callable[[base.Place, Callable[[BinaryIO], object]], None]
BLOCK_BYTES = 1 << 20
DIGITS = 8  # of a CRC-32 in hexadecimal


class Sums(Protocol):
    """A checksum that sees every byte of a file while it is written."""

    def update(self, piece: bytes | memoryview, /) -> None:
        """The next bytes."""


@dataclass(frozen=True)
class ArrayLocation:
    """The location of an array in a file."""

    start: int  # bytes
    end: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def write_mapped(
    path: base.Place,
    arrays: Mapping[str, NDArray[Any]],
    writer: Writer | None = None,
    sums: Sums | None = None,
) -> dict[str, Any]:
    """Write arrays, whole or not at all; returns the bytes and the SHA-256 of the file.

    `writer` is `write_atomic`, or another way to write a file to disk; `sums` are checksums of
    another kind that are computed on the way.
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
    whole = hashlib.sha256()

    def write_piece(file: BinaryIO, piece: bytes | memoryview) -> None:
        file.write(piece)
        whole.update(piece)
        if sums is not None:
            sums.update(piece)

    def write(file: BinaryIO) -> None:
        write_piece(file, len(text).to_bytes(8, "little"))
        write_piece(file, text)
        for array in arrays.values():
            write_piece(file, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    (writer or write_atomic)(path, write)
    return {"bytes": 8 + len(text) + start, "sha256": whole.hexdigest()}


def open_mapped(path: Path, expected: Mapping[str, Any], *, verify: bool) -> Arrays:
    """The arrays of a file, mapped: unused parts are never read.

    The size is always compared with the written one, the bytes only with `verify`. Raises
    `DamagedFileError`. Writing to the arrays changes neither file nor other readers.
    """
    memory = map_file(path, expected["bytes"])
    if verify and digest(memory) != expected["sha256"]:
        raise DamagedFileError(f"{path} fails its checksum")
    return _arrays(path, memory)[0]


def map_arrays(path: Path) -> tuple[Arrays, dict[str, str]]:
    """The mapped arrays and the metadata of any safetensors file, as `open_mapped` has them."""
    return _arrays(path, map_file(path))


def map_file(path: Path, size: int | None = None) -> mmap.mmap:
    """A file as memory; where its `size` is known, it must have that.

    A file missing from the copy of a remote folder is fetched (`mirror`).
    """
    try:
        if not path.exists():
            fetch_missing(path)
        with path.open("rb") as file:
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except FileNotFoundError:
        raise DamagedFileError(f"{path} is missing") from None
    except (OSError, ValueError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None
    if size is not None and len(memory) != size:
        raise DamagedFileError(f"{path} has {len(memory):,} bytes, not {size:,}")
    return memory


def release(memory: mmap.mmap, start: int, end: int) -> None:
    """Release bytes start, …, end − 1 from memory where the system can; changes are lost."""
    if hasattr(mmap, "MADV_DONTNEED"):
        first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
        size = end // mmap.PAGESIZE * mmap.PAGESIZE - first
        if size > 0:
            memory.madvise(mmap.MADV_DONTNEED, first, size)


def array_names(path: base.Place) -> list[str]:
    """The names of the arrays of a file, of which only the head is read."""
    if isinstance(path, Path):
        return list(map_arrays(path)[0])
    try:
        head = path.read_bytes(0, HEAD_BYTES)
        size = 8 + int.from_bytes(head[:8], "little")
        if size > len(head):
            head = path.read_bytes(0, size)
    except FileNotFoundError:
        raise DamagedFileError(f"{path} is missing") from None
    except OSError as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None
    return list(_header(path, head)[0])


def _header(
    path: base.Place, memory: mmap.mmap | bytes
) -> tuple[dict[str, ArrayLocation], dict[str, str]]:
    try:
        size = int.from_bytes(memory[:8], "little")
        header = json.loads(memory[8 : 8 + size])
        metadata = dict(header.pop("__metadata__", {}))
        return {name: _location(8 + size, entry) for name, entry in header.items()}, metadata
    except (ValueError, TypeError, LookupError, RecursionError, AttributeError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None


def array_locations(
    path: Path, memory: mmap.mmap
) -> tuple[dict[str, ArrayLocation], dict[str, str]]:
    """The locations of a file's arrays, by its header, and its metadata."""
    places, metadata = _header(path, memory)
    size = int.from_bytes(memory[:8], "little")
    if max((array.end for array in places.values()), default=8 + size) != len(memory):
        raise DamagedFileError(f"{path} does not end where its last array does")
    return places, metadata


def _location(start: int, entry: Mapping[str, Any]) -> ArrayLocation:
    first, last = entry["data_offsets"]
    dtype, shape = TYPES[entry["dtype"]], tuple(entry["shape"])
    if not all(type(each) is int and each >= 0 for each in (first, last, *shape)):
        raise ValueError("an array has no place in the file")
    if last - first != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array has the wrong size")
    return ArrayLocation(start + first, start + last, dtype, shape)


def mapped_array(memory: mmap.mmap, array: ArrayLocation) -> NDArray[Any]:
    """An array that lies in a file."""
    count = (array.end - array.start) // array.dtype.itemsize
    return np.frombuffer(memory, array.dtype, count, array.start).reshape(array.shape)


def _arrays(path: Path, memory: mmap.mmap) -> tuple[Arrays, dict[str, str]]:
    places, metadata = array_locations(path, memory)
    try:
        return {name: mapped_array(memory, array) for name, array in places.items()}, metadata
    except (ValueError, TypeError) as error:
        raise DamagedFileError(f"{path} cannot be read: {error}") from None


def digest(memory: mmap.mmap) -> str:
    """SHA-256 of a file."""
    hasher = hashlib.sha256()
    with memoryview(memory) as view:
        for start in range(0, len(view), CHUNK):
            hasher.update(view[start : start + CHUNK])
    return hasher.hexdigest()


class BlockSums:
    """Takes the checksums of the blocks of a file while it is written, piece by piece."""

    def __init__(self) -> None:
        self._sums: list[int] = []
        self._sum = self._filled = 0

    def update(self, piece: memoryview | bytes) -> None:
        """The next bytes of the file."""
        rest = memoryview(piece)
        while rest:
            chunk = rest[: BLOCK_BYTES - self._filled]
            self._sum = zlib.crc32(chunk, self._sum)
            self._filled += len(chunk)
            rest = rest[len(chunk) :]
            if self._filled == BLOCK_BYTES:
                self._close()

    def entry(self) -> dict[str, Any]:
        """The entry for a manifest: all checksums in one string."""
        if self._filled:
            self._close()
        return {"bytes": BLOCK_BYTES, "crc32": "".join(f"{each:0{DIGITS}x}" for each in self._sums)}

    def _close(self) -> None:
        self._sums.append(self._sum)
        self._sum = self._filled = 0


class CheckedFile(Mapping[str, NDArray[Any]]):
    """The mapped arrays of a file; an array that is looked up has been verified as a whole.

    `entry` is the manifest's entry. `DamagedFileError` if the bytes are not as written.
    """

    def __init__(self, path: Path, entry: Mapping[str, Any]) -> None:
        self._path, self._entry = path, entry
        self._memory = map_file(path, entry["bytes"])
        self._good: set[int] = set()  # blocks that were compared
        self._compare(0, 8)
        size = int.from_bytes(self._memory[:8], "little")
        self._compare(0, min(8 + size, len(self._memory)))
        self._places = array_locations(path, self._memory)[0]

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Writing to the array changes neither the file nor other readers."""
        self.verify(name)
        return self.unverified(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def unverified(self, name: str) -> NDArray[Any]:
        """An array in which each part is verified by its reader."""
        return mapped_array(self._memory, self._places[name])

    def verify(self, name: str, first: int = 0, last: int | None = None) -> None:
        """Verify elements first, …, last − 1 of a flat array."""
        self._compare(*self._bytes(name, first, last))

    def release(self, name: str, first: int = 0, last: int | None = None) -> None:
        """Release unchanged elements of a flat array from memory.

        They are read again when they are looked at.
        """
        release(self._memory, *self._bytes(name, first, last))

    def _bytes(self, name: str, first: int, last: int | None) -> tuple[int, int]:
        """The byte range of elements first, …, last − 1."""
        array = self._places[name]
        end = array.end if last is None else array.start + last * array.dtype.itemsize
        return array.start + first * array.dtype.itemsize, end

    def _compare(self, start: int, end: int) -> None:
        """Bytes start, …, end − 1."""
        blocks = self._entry["blocks"]
        size, sums = int(blocks["bytes"]), blocks["crc32"]
        if size < 1:
            raise DamagedFileError(f"{self._path} has blocks of {size:,} bytes")
        with memoryview(self._memory) as memory:
            for block in range(start // size, -(-end // size)):
                if block in self._good:
                    continue
                written = sums[block * DIGITS : (block + 1) * DIGITS]
                if f"{zlib.crc32(memory[block * size : (block + 1) * size]):0{DIGITS}x}" != written:
                    raise DamagedFileError(f"{self._path} fails its checksum")
                self._good.add(block)
