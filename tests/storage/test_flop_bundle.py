"""Bundles of flops: files that are whole, folders that fill up, and what a reader finds."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_flops import FLOPS, TEXTS, run_small, small_config
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.base.files import DamagedFileError
from allstreets.storage import load_postflop
from allstreets.storage.flop_bundle import FlopBundle, flop_path
from allstreets.storage.flop_file import open_flop_file, write_flop_file
from allstreets.storage.manifest import folder_kind, read_manifest


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("flops") / "solved"
    run_small(folder)
    return folder


@pytest.fixture
def folder(solved: Path, tmp_path: Path) -> Path:
    """A copy that may be spoiled."""
    shutil.copytree(solved, tmp_path / "copy")
    return tmp_path / "copy"


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "bytes": np.arange(12, dtype=np.uint8).reshape(3, 4),
        "floats": np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3),
        "shorts": np.array([-1, 5], np.int16),
        "empty": np.zeros((0, 0), np.uint8),
    }
    write_flop_file(tmp_path / "one.safetensors", arrays, {"flop": "AsKh7d", "number": 1.5})
    found, facts = open_flop_file(tmp_path / "one.safetensors")
    assert facts == {"flop": "AsKh7d", "number": 1.5}
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_other_programs_can_read_a_file(solved: Path) -> None:
    from safetensors import safe_open

    path = flop_path(solved, TEXTS[0], 2.0)
    mine, _ = open_flop_file(path)
    with safe_open(path, framework="numpy") as file:
        for name, array in mine.items():
            np.testing.assert_array_equal(file.get_tensor(name), array)


@pytest.mark.parametrize("at", [3, 200, -5])
def test_a_file_with_a_wrong_byte_is_damaged(folder: Path, at: int) -> None:
    path = flop_path(folder, TEXTS[0], 2.0)
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(DamagedFileError):
        open_flop_file(path)
    with pytest.raises(InputError, match=r"is damaged: .*\nSolve this flop again.*--resume"):
        load_postflop(folder).strategy(TEXTS[0])
    load_postflop(folder).strategy(TEXTS[1])  # the others are as good as before


def test_damaged_and_missing_files_are_solved_again(folder: Path, solved: Path) -> None:
    path = flop_path(folder, TEXTS[0], 2.0)
    path.write_bytes(path.read_bytes()[:1000])
    flop_path(folder, TEXTS[1], 2.0).unlink()
    left = flop_path(folder, TEXTS[1], 2.0).with_name(".9s8s2h-spr2.safetensors.0a1b2c3d.tmp")
    left.write_bytes(b"half")  # what a killed writer leaves
    outcome = run_small(folder, resume=True)
    assert outcome.solved == 2
    assert not left.exists()
    for text in TEXTS:
        one, _ = open_flop_file(flop_path(folder, text, 2.0))
        other, _ = open_flop_file(flop_path(solved, text, 2.0))
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name])


def test_a_manifest_that_lags_behind_hides_nothing(folder: Path) -> None:
    """As after kill -9: files are there that the manifest does not know."""
    bundle = FlopBundle(folder, small_config().identity(), [(text, 2.0) for text in TEXTS])
    bundle.write_manifest()  # of a run that has just begun
    assert read_manifest(folder, "postflop", 2)["rows"] == []
    result = load_postflop(folder)
    assert sorted(row["flop"] for row in result.flops) == sorted(TEXTS)
    assert result.missing == []
    assert run_small(folder, resume=True).solved == 0


def test_files_of_another_run_do_not_count(folder: Path, tmp_path: Path) -> None:
    run_small(tmp_path / "other", cfr_exploitability_threshold=0.2)
    name = flop_path(folder, TEXTS[0], 2.0)
    shutil.copy(flop_path(tmp_path / "other", TEXTS[0], 2.0), name)
    with pytest.raises(InputError, match="belongs to another run"):
        load_postflop(folder).values(TEXTS[0])
    assert run_small(folder, resume=True).solved == 1


def test_the_manifest(solved: Path) -> None:
    manifest = read_manifest(solved, "postflop", 2)
    assert folder_kind(solved) == "postflop"
    assert manifest["config"] == json.loads(json.dumps(small_config().identity()))
    assert manifest["wanted"] == [[text, 2.0] for text in TEXTS]
    assert [row["flop"] for row in manifest["rows"]] == TEXTS
    assert manifest["seconds"] > 0
    with pytest.raises(InputError, match="is not a solved spot; name a folder made by allstreets "):
        read_manifest(solved, "spot", 2)


def test_a_damaged_manifest(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"iterations": ', '"iterations": 1'))
    with pytest.raises(InputError, match="fails its checksum"):
        load_postflop(folder)
    path.write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        load_postflop(folder)
    path.write_text("[]")
    with pytest.raises(InputError, match="is damaged"):
        folder_kind(folder)


def test_a_full_run_fits_a_small_disk() -> None:
    """Strategies as bytes and one player's values: below 400 MB for all flops."""
    (game,) = small_config(bet_sizes=[0.5, 1.0], postflop_sprs=3.5).games()
    assert 1755 * (game.slots * 169 + 4 * 169 * 169 + 2000) < 400e6


def test_any_spelling_finds_a_flop(solved: Path) -> None:
    result = load_postflop(solved)
    for given, text in zip(FLOPS, TEXTS, strict=True):
        assert result.row(given)["flop"] == result.strategy(given).flop.text == text
    assert len({row["flop"] for row in result.flops}) == 3
