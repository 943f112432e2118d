"""Checkpoints are whole or absent; damage is noticed, and bad input changes nothing on disk."""

import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets import __version__
from allstreets.base import InputError, Place, Remote
from allstreets.storage import (
    Checkpoint,
    CheckpointWarning,
    checkpoints,
    latest_checkpoint,
    require_checkpoints,
    require_no_checkpoints,
    restore_latest,
    save_checkpoint,
)

IDENTITY = {"game": "kuhn", "algorithm": "tuned", "seed": 1, "sizes": (1, 2)}


def checkpoint(iterations: int, identity: dict[str, object] = IDENTITY) -> Checkpoint:
    return Checkpoint(
        identity=identity,
        iterations=iterations,
        seconds=iterations / 7,
        arrays={
            "regrets": np.arange(6.0).reshape(2, 3) * iterations,
            "iterations": np.array(iterations),
        },
        history=({"iteration": iterations, "exploitability": 1 / iterations},),
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def assert_same(found: Checkpoint, expected: Checkpoint) -> None:
    assert found.iterations == expected.iterations
    assert found.seconds == expected.seconds
    assert found.history == expected.history
    assert found.arrays.keys() == expected.arrays.keys()
    for name, array in expected.arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        np.testing.assert_array_equal(found.arrays[name], array)


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "run"
    path = save_checkpoint(folder, checkpoint(100))
    assert path == folder / "checkpoint-000000000100"
    assert names(path) == ["arrays-000.safetensors", "manifest.json"]
    found = latest_checkpoint(folder, IDENTITY)
    assert_same(found, checkpoint(100))
    assert found.code_version == __version__
    manifest = json.loads((path / "manifest.json").read_bytes())
    assert manifest["schema"] == 3
    assert manifest["identity"] == {**IDENTITY, "sizes": [1, 2]}


def test_the_last_two_are_kept(tmp_path: Path) -> None:
    for iterations in (5, 40, 300, 2000):
        save_checkpoint(tmp_path, checkpoint(iterations))
    assert names(tmp_path) == ["checkpoint-000000000300", "checkpoint-000000002000"]
    assert_same(latest_checkpoint(tmp_path, IDENTITY), checkpoint(2000))


def test_large_states_are_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "PART_BYTES", 100)
    arrays = {f"a{i}": np.full(10, float(i)) for i in range(3)} | {"b": np.zeros(1)}
    path = save_checkpoint(tmp_path, Checkpoint(IDENTITY, 1, 0.0, arrays))
    assert [name for name in names(path) if "arrays" in name] == [
        "arrays-000.safetensors",
        "arrays-001.safetensors",
        "arrays-002.safetensors",
    ]
    found = latest_checkpoint(tmp_path, IDENTITY)
    assert found.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)
    # Parts of different checkpoints do not mix, even if each is good in itself.
    shutil.copy(path / "arrays-000.safetensors", path / "arrays-001.safetensors")
    with pytest.raises(InputError, match="fails its checksum"):
        latest_checkpoint(tmp_path, IDENTITY)


def test_damage_that_shows_while_a_solver_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has taken the first parts over already: then it gets all those of the one before."""
    monkeypatch.setattr(checkpoints, "PART_BYTES", 100)
    for iterations in (1, 2):
        arrays = {f"a{i}": np.full(10, 10.0 * iterations + i) for i in range(4)}
        newest = save_checkpoint(tmp_path, Checkpoint(IDENTITY, iterations, 0.0, arrays))
    file = newest / "arrays-002.safetensors"
    good = file.read_bytes()
    calls: list[list[float]] = []

    def restore(state: Mapping[str, NDArray[Any]]) -> None:
        calls.append([])
        for i in range(4):
            calls[-1].append(float(state[f"a{i}"][0]))

    for offset in range(len(good)):  # of the head, where a name may become another one, and after
        file.write_bytes(good[:offset] + bytes([good[offset] ^ 0x04]) + good[offset + 1 :])
        calls.clear()
        with pytest.warns(CheckpointWarning, match="arrays-002.* resuming from iteration 1 inst"):
            assert restore_latest(tmp_path, IDENTITY, restore).iterations == 1
        assert calls[-1] == [10, 11, 12, 13]
    assert calls == [[20, 21], [10, 11, 12, 13]]
    file.write_bytes(good)
    assert restore_latest(tmp_path, IDENTITY, restore).iterations == 2
    assert calls[-1] == [20, 21, 22, 23]


def test_what_a_solver_trips_over_in_a_good_checkpoint_is_its_own(tmp_path: Path) -> None:
    def restore(state: Mapping[str, NDArray[Any]]) -> None:
        _ = state["not there"]

    save_checkpoint(tmp_path, checkpoint(100))
    with pytest.raises(KeyError, match="not there"):
        restore_latest(tmp_path, IDENTITY, restore)


@pytest.mark.parametrize("name", ["manifest.json", "arrays-000.safetensors"])
@pytest.mark.parametrize("kind", ["cut", "flip"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(
    tmp_path: Path, name: str, kind: str
) -> None:
    save_checkpoint(tmp_path, checkpoint(100))
    newest = save_checkpoint(tmp_path, checkpoint(200))
    good = (newest / name).read_bytes()
    for offset in range(len(good)):
        altered = bytes([good[offset] ^ 0x04]) + good[offset + 1 :] if kind == "flip" else b""
        (newest / name).write_bytes(good[:offset] + altered)
        with pytest.warns(CheckpointWarning) as caught:
            found = latest_checkpoint(tmp_path, IDENTITY)
        assert_same(found, checkpoint(100))
        (warning,) = caught
        text = str(warning.message)
        assert text.startswith(str(newest / name))
        assert text.endswith("; resuming from iteration 100 instead")
        assert "\n" not in text


def test_a_missing_part_falls_back_too(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, checkpoint(100))
    newest = save_checkpoint(tmp_path, checkpoint(200))
    (newest / "arrays-000.safetensors").unlink()
    with pytest.warns(CheckpointWarning, match="arrays-000.safetensors is missing; resuming"):
        assert latest_checkpoint(tmp_path, IDENTITY).iterations == 100
    (newest / "manifest.json").unlink()
    with pytest.warns(CheckpointWarning, match="manifest.json cannot be read: No such file"):
        assert latest_checkpoint(tmp_path, IDENTITY).iterations == 100


def test_when_all_are_damaged_nothing_is_changed(tmp_path: Path) -> None:
    for iterations in (100, 200):
        path = save_checkpoint(tmp_path, checkpoint(iterations))
        (path / "manifest.json").write_text("{}")
    before = contents(tmp_path)
    with pytest.raises(InputError) as error:
        latest_checkpoint(tmp_path, IDENTITY)
    assert str(error.value) == (
        f"no checkpoint in {tmp_path} can be read, and nothing was changed: "
        f"{tmp_path}/checkpoint-000000000200/manifest.json is damaged\n"
        "Restore the folder from a backup, or start again in another folder."
    )
    assert contents(tmp_path) == before


def test_a_run_that_passed_over_a_damaged_checkpoint_replaces_it(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, checkpoint(100))
    damaged = save_checkpoint(tmp_path, checkpoint(200))
    (damaged / "manifest.json").write_text("{}")
    save_checkpoint(tmp_path, checkpoint(150))
    assert names(tmp_path) == ["checkpoint-000000000100", "checkpoint-000000000150"]
    save_checkpoint(tmp_path, checkpoint(200))
    (tmp_path / "checkpoint-000000000200" / "manifest.json").write_text("{}")
    save_checkpoint(tmp_path, checkpoint(200))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(latest_checkpoint(tmp_path, IDENTITY), checkpoint(200))


def test_another_run(tmp_path: Path) -> None:
    path = save_checkpoint(tmp_path, checkpoint(100))
    before = contents(tmp_path)
    with pytest.raises(InputError) as error:
        latest_checkpoint(tmp_path, {**IDENTITY, "game": "leduc", "seed": 2})
    assert str(error.value) == (
        f'{path} belongs to another run: game "kuhn" there, "leduc" here; seed 1 there, 2 here.\n'
        "Resume with the settings it was made with, or name another folder."
    )
    with pytest.raises(InputError, match="stack not given there, 20 here"):
        latest_checkpoint(tmp_path, {**IDENTITY, "stack": 20})
    assert contents(tmp_path) == before


def test_facts_inside_facts_are_told_one_by_one(tmp_path: Path) -> None:
    rules = {"stack": 600, "sizes": {"sb": ["3bb"], "bb": []}}
    path = save_checkpoint(tmp_path, checkpoint(1, {"rules": rules}))
    assert latest_checkpoint(tmp_path, {"rules": rules}).iterations == 1
    other = {"rules": {**rules, "sizes": {"sb": ["2x"], "bb": []}}, "more": {}}
    with pytest.raises(InputError) as error:
        latest_checkpoint(tmp_path, other)
    assert str(error.value).splitlines()[0] == (
        f"{path} belongs to another run: more not given there, {{}} here; "
        'rules.sizes.sb ["3bb"] there, ["2x"] here.'
    )


def test_long_facts_that_differ_only_at_their_end(tmp_path: Path) -> None:
    flops = ["AhKd2c"] * 50
    save_checkpoint(tmp_path, checkpoint(1, {"flops": [*flops, "a"]}))
    assert latest_checkpoint(tmp_path, {"flops": [*flops, "a"]}).iterations == 1
    with pytest.raises(InputError, match="belongs to another run: flops ") as error:
        latest_checkpoint(tmp_path, {"flops": [*flops, "b"]})
    assert len(str(error.value)) < 500


def test_an_unknown_schema_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_checkpoint(tmp_path, checkpoint(100))
    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "SCHEMA", 4)
        save_checkpoint(tmp_path, checkpoint(200))
    with pytest.raises(InputError) as error:
        latest_checkpoint(tmp_path, IDENTITY)
    assert str(error.value) == (
        f"{tmp_path}/checkpoint-000000000200 was written by allstreets {__version__} in another "
        "format (schema 4, this is 3); update allstreets to that version"
    )


def test_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / ".checkpoint-000000000100.0123abcd.new").mkdir()
    for folder in (tmp_path, tmp_path / "none", tmp_path / "notes.txt"):
        with pytest.raises(InputError) as error:
            latest_checkpoint(folder, IDENTITY)
        message = f"{folder} contains no checkpoint; start the run without --resume"
        assert str(error.value) == message
        with pytest.raises(InputError):
            require_checkpoints(folder)


def test_a_fresh_run_needs_a_folder_without_checkpoints(tmp_path: Path) -> None:
    require_no_checkpoints(tmp_path)
    require_no_checkpoints(tmp_path / "none")
    save_checkpoint(tmp_path, checkpoint(100))
    with pytest.raises(InputError) as error:
        require_no_checkpoints(tmp_path)
    assert str(error.value) == (
        f"{tmp_path} already contains a run (checkpoint-000000000100); "
        "continue it with --resume, or name another folder"
    )
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; name a folder for the checkpoints"):
        require_no_checkpoints(tmp_path / "file")


def test_what_a_killed_writer_left_is_cleared_away(tmp_path: Path) -> None:
    for name in (".checkpoint-000000000100.0123abcd.new", ".checkpoint-000000000050.0123abcd.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "arrays-000.safetensors").write_text("half")
    (tmp_path / ".other").mkdir()
    save_checkpoint(tmp_path, checkpoint(100))
    assert names(tmp_path) == [".other", "checkpoint-000000000100"]


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_a_full_disk_keeps_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    save_checkpoint(tmp_path, checkpoint(100))
    before = contents(tmp_path)
    sync, calls = os.fsync, 0

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError) as error:
        save_checkpoint(tmp_path, checkpoint(200))
    assert str(error.value) == (
        f"cannot write the checkpoint of iteration 200 to {tmp_path}: No space left on device\n"
        "Earlier checkpoints are kept. Make room (0 MB is needed), then continue with --resume."
    )
    assert contents(tmp_path) == before
    assert names(tmp_path) == ["checkpoint-000000000100"]


FULL = """
import pathlib, resource, signal, sys
import numpy as np
from allstreets.storage import Checkpoint, save_checkpoint
folder = pathlib.Path(sys.argv[1])
save_checkpoint(folder, Checkpoint({}, 1, 0.0, {"a": np.zeros(10)}))
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    save_checkpoint(folder, Checkpoint({}, 2, 0.0, {"a": np.zeros(1_000_000)}))
except ValueError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGXFSZ"), reason="no limits on file sizes")
def test_a_write_that_the_system_cuts_short(tmp_path: Path) -> None:
    """A real short write, by a limit on the size of files, in a process of its own."""
    assert resource.RLIMIT_FSIZE
    output = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert output == (
        f"cannot write the checkpoint of iteration 2 to {tmp_path}: File too large\n"
        "Earlier checkpoints are kept. Make room (8 MB is needed), then continue with --resume.\n"
    )
    assert names(tmp_path) == ["checkpoint-000000000001"]
    assert latest_checkpoint(tmp_path, {}).iterations == 1


def test_elsewhere_a_checkpoint_is_there_when_its_manifest_is(tmp_path: Path) -> None:
    place, folder = Remote(f"file://{tmp_path}/run"), tmp_path / "run"
    require_no_checkpoints(place)
    for iterations in (1, 2, 3):
        save_checkpoint(place, checkpoint(iterations))
    assert names(folder) == ["checkpoint-000000000002", "checkpoint-000000000003"]
    (folder / "checkpoint-000000000003" / "manifest.json").unlink()
    seen: list[NDArray[Any]] = []
    found = restore_latest(place, IDENTITY, lambda state: seen.append(np.array(state["regrets"])))
    assert found.iterations == 2
    np.testing.assert_array_equal(seen[0], np.arange(6.0).reshape(2, 3) * 2)
    checkpoints.clear_unfinished_checkpoints(place)
    assert names(folder) == ["checkpoint-000000000002"]

    def fail(folder: Place) -> Mapping[str, str]:
        (folder / "flop-0000.safetensors").write_bytes(b"")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match="No space left on device\nEarlier checkpoints are kept"):
        save_checkpoint(place, replace(checkpoint(4), write_elsewhere=fail))
    assert names(folder) == ["checkpoint-000000000002"]
    (part,) = folder.glob("*/arrays-000.safetensors")
    part.write_bytes(part.read_bytes()[:-8])
    with pytest.raises(InputError, match=r"no checkpoint in file://.* can be read"):
        latest_checkpoint(place, IDENTITY)
