"""A file of arrays, in which bytes are verified when they are first read.

The river of a solved flop takes gigabytes, and one node of it a hundred kilobytes. So a file has a
checksum for every block of `BLOCK_BYTES`; a part of an array is read after its blocks have been
compared, each once.
"""

import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from allstreets.base import DamagedFileError
from allstreets.storage.mapped import array_places, map_file, mapped_array, release

BLOCK_BYTES = 1 << 20
DIGITS = 8  # of a CRC-32 in hexadecimal


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
        self._places = array_places(path, self._memory)[0]

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
        """Compare elements first, …, last − 1 of a flat array with what was written."""
        self._compare(*self._bytes(name, first, last))

    def release(self, name: str, first: int = 0, last: int | None = None) -> None:
        """Let elements of a flat array leave memory, where nobody has written to them.

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
