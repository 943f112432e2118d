"""Files of arrays: readable by safetensors itself, mapped by us, and damage is noticed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from allstreets.base.files import DamagedFileError
from allstreets.storage.mapped import ALIGNMENT, open_mapped, write_mapped

ARRAYS: dict[str, NDArray[Any]] = {
    "floats": np.arange(32, dtype=np.float32),
    "halves": np.arange(16, dtype=np.uint16),
    "table": np.linspace(0, 1, 12).reshape(3, 4),
    "empty": np.zeros((0, 5)),
    "nan": np.array([np.nan, 1.0]),
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    entry = write_mapped(tmp_path / "a.safetensors", ARRAYS)
    assert entry["bytes"] == (tmp_path / "a.safetensors").stat().st_size
    found = open_mapped(tmp_path / "a.safetensors", entry, verify=True)
    by_others = load_file(tmp_path / "a.safetensors")
    assert set(found) == set(by_others) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)
        np.testing.assert_array_equal(by_others[name], array)
        assert found[name].dtype == array.dtype
    assert found["floats"].ctypes.data % ALIGNMENT == 0


def test_writing_to_the_arrays_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    entry = write_mapped(path, ARRAYS)
    open_mapped(path, entry, verify=False)["floats"][0] = 5
    assert open_mapped(path, entry, verify=True)["floats"][0] == 0


@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "empty"])
def test_damage_is_noticed(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.safetensors"
    entry = write_mapped(path, ARRAYS)
    data = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(data[:-1])
    elif damage == "flip":
        data[-1] ^= 1
        path.write_bytes(data)
    elif damage == "gone":
        path.unlink()
    else:
        path.write_bytes(b"")
    with pytest.raises(DamagedFileError):
        open_mapped(path, entry, verify=True)


def test_a_header_of_nonsense(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    for header in (b"[]", b"{", b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}'):
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        entry = {"bytes": path.stat().st_size}
        with pytest.raises(DamagedFileError):
            open_mapped(path, entry, verify=False)
