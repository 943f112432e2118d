"""Files are whole or absent, and an altered byte never passes for data."""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from allstreets.base import read_checked_arrays, write_atomic, write_checked_arrays
from allstreets.base.files import Arrays, DamagedFileError

ARRAYS: Arrays = {
    "empty": np.zeros((0, 3)),
    "scalar": np.array(5, dtype=np.int64),
    "bools": np.array([True, False]),
    "big endian": np.arange(3, dtype=">i4"),
    "columns first": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "words": np.array([2**64 - 1], dtype=np.uint64),
}


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "arrays.safetensors"
    write_checked_arrays(path, ARRAYS, {"seed": 1, "name": "Ünïcode"})
    arrays, facts = read_checked_arrays(path)
    assert facts == {"seed": 1, "name": "Ünïcode"}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].shape == array.shape
        assert arrays[name].dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(arrays[name], array)


def test_every_altered_byte_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "arrays.safetensors"
    write_checked_arrays(path, ARRAYS, {"seed": 1})
    good = path.read_bytes()
    for offset in range(len(good)):
        for mask in (0x01, 0x20, 0x80):
            path.write_bytes(good[:offset] + bytes([good[offset] ^ mask]) + good[offset + 1 :])
            with pytest.raises(DamagedFileError):
                read_checked_arrays(path)


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "arrays.safetensors"
    write_checked_arrays(path, ARRAYS)
    good = path.read_bytes()
    for length in range(len(good)):
        path.write_bytes(good[:length])
        with pytest.raises(DamagedFileError):
            read_checked_arrays(path)


def test_a_good_file_that_is_not_the_expected_one(tmp_path: Path) -> None:
    path = tmp_path / "arrays.safetensors"
    checksum = write_checked_arrays(path, ARRAYS)
    assert read_checked_arrays(path, checksum)[0].keys() == ARRAYS.keys()
    write_checked_arrays(path, ARRAYS, {"other": 1})
    with pytest.raises(DamagedFileError, match="fails its checksum"):
        read_checked_arrays(path, checksum)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_checked_arrays(tmp_path / "none")


def test_a_failed_write_keeps_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space"):
        write_atomic(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_sync_keeps_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output"):
        write_atomic(path, lambda file: file.write(b"new"))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_files_get_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_atomic(tmp_path / "file", lambda file: file.write(b"x"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644
