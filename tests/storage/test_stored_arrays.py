"""Arrays of a checkpoint, read part by part: the same as read whole, and no second copy."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, boolean_dtypes, floating_dtypes

from hypothesis.extra.numpy import integer_dtypes, unsigned_integer_dtypes  # isort: skip

from allstreets.base import read_checked_arrays, write_checked_arrays
from allstreets.base.files import Arrays, DamagedFileError, checksum
from allstreets.storage import checkpoints
from allstreets.storage.checkpoints import StoredArrays

DTYPES = st.one_of(
    boolean_dtypes(),
    integer_dtypes(endianness="="),
    unsigned_integer_dtypes(endianness="="),
    floating_dtypes(endianness="=", sizes=(16, 32, 64)),
)
STATES = st.dictionaries(
    st.text("ab.é 0", min_size=1),
    arrays(DTYPES, array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
    max_size=6,
)


def write(folder: Path, parts: list[Arrays]) -> dict[str, str]:
    """Every part in a file; returns their checksums."""
    return {
        f"part-{number}": write_checked_arrays(folder / f"part-{number}", part)
        for number, part in enumerate(parts)
    }


@given(STATES, st.integers(1, 3), st.randoms())
def test_every_array_comes_back(state: Arrays, count: int, random: "object") -> None:
    """In any order, against safetensors' own reader."""
    names = sorted(state)
    parts = [{name: state[name] for name in names[start::count]} for start in range(count)]
    with TemporaryDirectory() as name:
        folder = Path(name)
        found = StoredArrays(folder, write(folder, parts))
        assert set(found) == set(state)
        assert len(found) == len(state)
        asked = names * 2
        random.shuffle(asked)  # type: ignore[attr-defined]
        for name in asked:
            (expected,) = (
                whole[name]
                for part in folder.iterdir()
                if name in (whole := read_checked_arrays(part)[0])
            )
            assert found[name].dtype == expected.dtype
            assert found[name].shape == expected.shape
            assert found[name].tobytes() == expected.tobytes() == state[name].tobytes()
        found.verify()


PARTS: list[Arrays] = [
    {"a": np.arange(6.0), "b": np.arange(3)},
    {"c": np.ones((2, 2), np.float32)},
    {"d": np.zeros(0), "e": np.array(7)},
]


def test_a_part_is_verified_once_and_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []

    def counting(arrays: Arrays, facts: str) -> str:
        verified.append("".join(sorted(arrays)))
        return checksum(arrays, facts)

    monkeypatch.setattr(checkpoints, "checksum", counting)
    found = StoredArrays(tmp_path, write(tmp_path, PARTS))
    assert "c" in found
    assert "x" not in found
    assert sorted(found) == ["a", "b", "c", "d", "e"]
    assert verified == []
    for name in "ceab":
        _ = found[name]
    assert verified == ["c", "de", "ab"]
    found.verify()
    assert {name: array.sum() for name, array in found.items()}["a"] == 15
    assert verified == ["c", "de", "ab"]
    with pytest.raises(KeyError):
        _ = found["x"]


def test_damage_is_told_where_it_is(tmp_path: Path) -> None:
    """Every altered byte: of the head at once, of the numbers when they are asked for."""
    checksums = write(tmp_path, PARTS)
    good = (tmp_path / "part-1").read_bytes()
    later = 0
    for offset in range(len(good)):
        for mask in (0x01, 0x02, 0x20, 0x80):
            altered = bytes([good[offset] ^ mask])
            (tmp_path / "part-1").write_bytes(good[:offset] + altered + good[offset + 1 :])
            try:
                found = StoredArrays(tmp_path, checksums)
            except DamagedFileError:
                continue
            later += 1
            assert found["e"] == 7  # a good file can still be read
            with pytest.raises(DamagedFileError, match=r"part-1|fails its checksum"):
                found.verify()
    assert later >= 16  # the four numbers
    for wrong in (good[:-1], good + b"\0", b"", good[:40]):
        (tmp_path / "part-1").write_bytes(wrong)
        with pytest.raises(DamagedFileError, match="part-1"):
            StoredArrays(tmp_path, checksums).verify()
    (tmp_path / "part-1").unlink()
    with pytest.raises(DamagedFileError, match="part-1 is missing"):
        StoredArrays(tmp_path, checksums)


def test_a_good_file_of_another_checkpoint(tmp_path: Path) -> None:
    checksums = write(tmp_path, PARTS)
    write_checked_arrays(tmp_path / "part-0", {"a": np.arange(6.0) + 1, "b": np.arange(3)})
    with pytest.raises(DamagedFileError, match="part-0 fails its checksum"):
        _ = StoredArrays(tmp_path, checksums)["a"]


def test_writing_to_an_array_changes_no_file(tmp_path: Path) -> None:
    checksums = write(tmp_path, PARTS)
    before = (tmp_path / "part-0").read_bytes()
    StoredArrays(tmp_path, checksums)["a"][:] = 9
    assert (tmp_path / "part-0").read_bytes() == before
    assert StoredArrays(tmp_path, checksums)["a"].sum() == 15


SCRIPT = """
import json, resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from builders.small_games import small_config
from allstreets.base.files import checksum
from allstreets.storage import checkpoints, restore_latest, save_checkpoint
from allstreets.jobs.whole_game import plan_unified

folder, verb = Path(sys.argv[2]), sys.argv[3]
checkpoints.PART_BYTES = 2_000_000
keys = {"stack_depth": 20, "raise_cap": 2, "postflop_bet_sizes": [0.5, 1.0], "flops": "spread_12"}
solver = plan_unified(small_config(**keys)).solver()
if verb == "save":
    solver.train_batch(2)
    state = solver.state()
    save_checkpoint(folder, checkpoints.Checkpoint(solver.identity, 2, 0.0, state))
    print(json.dumps([checksum(state)]))
else:
    for array in solver.state().values():
        array.fill(1)  # every page of the solver is there before the peak is looked at
    size = sum(array.nbytes for array in solver.state().values())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    restore_latest(folder, solver.identity, solver.restore)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps([checksum(solver.state()), size, (after - before) * 1024]))
"""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told in other units elsewhere")
def test_a_game_that_is_read_back_is_in_memory_once(tmp_path: Path) -> None:
    """The true peak of a process that restores a whole game."""

    def process(verb: str) -> list[object]:
        here = str(Path(__file__).parents[1])
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, here, str(tmp_path), verb],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: list[object] = json.loads(done.stdout)
        return found

    (saved,) = process("save")
    restored, size, grown = process("restore")
    assert restored == saved
    assert isinstance(size, int)
    assert isinstance(grown, int)
    assert size > 40_000_000
    assert grown < size / 2, f"{size=:,} {grown=:,}"
