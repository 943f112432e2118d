"""Bytes that are not as written are noticed where they are read, and cost nothing elsewhere."""

import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.base.files import DamagedFileError
from allstreets.storage import mapped
from allstreets.storage.mapped import (
    BlockSums,
    CheckedFile,
    array_locations,
    map_file,
    write_mapped,
)

ARRAYS: dict[str, NDArray[Any]] = {
    "first": np.arange(500, dtype=np.float32),
    "second": np.arange(300, dtype=np.uint8).reshape(3, 100),
    "empty": np.zeros((0, 5)),
    "third": np.arange(700, dtype=np.float16),
}


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, Any]]:
    """A file of many blocks, and what a manifest says of it."""
    monkeypatch.setattr(mapped, "BLOCK_BYTES", 256)
    path, sums = tmp_path / "a.safetensors", BlockSums()
    entry = write_mapped(path, ARRAYS, sums=sums)
    return path, {**entry, "blocks": sums.entry()}


def overwrite(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def test_what_is_written_is_read(written: tuple[Path, dict[str, Any]]) -> None:
    path, entry = written
    assert len(entry["blocks"]["crc32"]) == 8 * -(-entry["bytes"] // 256)
    file = CheckedFile(path, entry)
    assert set(file) == set(ARRAYS)
    assert len(file) == 4
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(file[name], array)
        assert file[name].dtype == array.dtype


def test_every_byte_is_in_some_block(written: tuple[Path, dict[str, Any]]) -> None:
    """However the pieces were cut that the sums were taken from."""
    path, entry = written
    data = path.read_bytes()
    for step in (1, 7, 256, 1000, len(data)):
        sums = BlockSums()
        for start in range(0, len(data), step):
            sums.update(data[start : start + step])
        assert sums.entry() == entry["blocks"]
    for place in range(0, len(data), 97):
        overwrite(path, place)
        with pytest.raises(DamagedFileError):
            dict(CheckedFile(path, entry))
        path.write_bytes(data)


def test_damage_is_noticed_by_who_reads_it(written: tuple[Path, dict[str, Any]]) -> None:
    path, entry = written
    place = array_locations(path, map_file(path))[0]["first"]
    overwrite(path, place.start + 4 * 400)  # element 400
    file = CheckedFile(path, entry)
    np.testing.assert_array_equal(file["third"], ARRAYS["third"])
    file.verify("first", 0, 300)
    file.verify("first", 480)
    for first, last in ((400, 401), (0, None), (399, 450)):
        with pytest.raises(DamagedFileError, match=r"a\.safetensors fails its checksum"):
            file.verify("first", first, last)
    with pytest.raises(DamagedFileError):
        file["first"]


def test_a_block_is_read_once(
    written: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counting(data: memoryview, start: int = 0) -> int:
        read.append(len(data))
        return crc32(data, start)

    crc32 = zlib.crc32
    monkeypatch.setattr(zlib, "crc32", counting)
    file = CheckedFile(*written)
    header = len(read)
    file.verify("third", 300, 310)
    assert len(read) <= header + 2
    for _ in range(2):
        dict(file)
    assert sum(read) == written[1]["bytes"]


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs the system's own account")
def test_what_is_released_leaves_memory_and_is_read_again(tmp_path: Path) -> None:
    path, sums = tmp_path / "large.safetensors", BlockSums()
    numbers = np.arange(1 << 20, dtype=np.float32)
    entry = write_mapped(path, {"numbers": numbers}, sums=sums)
    file = CheckedFile(path, {**entry, "blocks": sums.entry()})
    file.verify("numbers")
    assert _resident(path) >= numbers.nbytes
    file.release("numbers")
    assert _resident(path) < numbers.nbytes // 10
    assert (file["numbers"] == numbers).all()
    file.release("numbers", 5, 6)  # less than a page
    assert (file["numbers"] == numbers).all()


def _resident(path: Path) -> int:
    """Bytes of a mapped file that are in the memory of this process."""
    _, _, account = Path("/proc/self/smaps").read_text().partition(f" {path}\n")
    [size] = re.findall(r"^Rss: +(\d+) kB", account, re.MULTILINE)[:1]
    return 1024 * int(size)
