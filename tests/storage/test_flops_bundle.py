"""Bundles of flops: whole files, folders that fill up, and what a reader gets."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from builders.small_flops import FLOPS, TEXTS, run_small, small_config

from allstreets.base import InputError
from allstreets.cards import parse_flop
from allstreets.storage import load_flops
from allstreets.storage.flops_bundle import file_name
from allstreets.storage.manifest import folder_kind, read_manifest, write_manifest
from allstreets.storage.mapped import map_arrays


def flop_path(folder: Path, flop: str, spr: float) -> Path:
    (flops,) = folder.glob("flops-*")
    return flops / f"{file_name(flop, spr)}.safetensors"


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


def test_other_programs_can_read_a_file(solved: Path) -> None:
    from safetensors import safe_open

    path = flop_path(solved, TEXTS[0], 2.0)
    mine, _ = map_arrays(path)
    with safe_open(path, framework="numpy") as file:
        for name, array in mine.items():
            np.testing.assert_array_equal(file.get_tensor(name), array)


@pytest.mark.parametrize("at", [3, 200, -5])
def test_a_file_with_a_wrong_byte_is_damaged(folder: Path, at: int) -> None:
    path = flop_path(folder, TEXTS[0], 2.0)
    data = bytearray(path.read_bytes())
    data[at] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"is damaged: .*\nSolve this flop again.*--resume"):
        _ = load_flops(folder).at("", TEXTS[0]).decision
    _ = load_flops(folder).at("", TEXTS[1]).decision  # the others are as good as before


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
        one, _ = map_arrays(flop_path(folder, text, 2.0))
        other, _ = map_arrays(flop_path(solved, text, 2.0))
        for name, array in one.items():
            np.testing.assert_array_equal(array, other[name])


def test_files_that_the_manifest_does_not_name_are_solved_again(folder: Path) -> None:
    """As after kill -9 between the files of a group and the manifest."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["rows"] = manifest["rows"][:1]
    write_manifest(folder, {key: manifest[key] for key in manifest if key != "checksum"})
    assert load_flops(folder).models.missing == [(text, 2.0) for text in TEXTS[1:]]
    assert run_small(folder, resume=True).solved == 2
    assert load_flops(folder).models.missing == []


def test_files_of_another_run_do_not_count(folder: Path, tmp_path: Path) -> None:
    run_small(tmp_path / "other", exploitability_threshold=0.2)
    name = flop_path(folder, TEXTS[0], 2.0)
    shutil.copy(flop_path(tmp_path / "other", TEXTS[0], 2.0), name)
    with pytest.raises(InputError, match=r"fails its checksum|bytes"):
        load_flops(folder).models.pair_values(0, parse_flop(TEXTS[0]).flop)
    assert run_small(folder, resume=True).solved == 1


def test_the_manifest(solved: Path) -> None:
    manifest = read_manifest(solved, "postflop")
    assert folder_kind(solved) == "postflop"
    assert manifest["config"] == json.loads(json.dumps(small_config().identity()))
    assert manifest["wanted"] == [[text, 2.0] for text in TEXTS]
    assert [row["flop"] for row in manifest["rows"]] == TEXTS
    assert manifest["seconds"] > 0
    with pytest.raises(InputError, match="is not a solved spot; name a folder made by allstreets "):
        read_manifest(solved, "spot")


def test_a_damaged_manifest(folder: Path) -> None:
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"iterations": ', '"iterations": 1'))
    with pytest.raises(InputError, match="fails its checksum"):
        load_flops(folder)
    path.write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        load_flops(folder)
    path.write_text("[]")
    with pytest.raises(InputError, match="is damaged"):
        folder_kind(folder)


def test_a_full_run_fits_a_small_disk() -> None:
    """Strategies as bytes and one player's values: below 400 MB for all flops."""
    (pot,) = small_config(bet_sizes=[0.5, 1.0], postflop_sprs=3.5).pots()
    slots = int(pot.tree.child_count[pot.tree.decisions()].sum())
    assert 1755 * (slots * 169 + 4 * 169 * 169 + 2000) < 400e6


def test_any_spelling_finds_a_flop(solved: Path) -> None:
    result = load_flops(solved)
    for given, text in zip(FLOPS, TEXTS, strict=True):
        assert result.models.row(0, parse_flop(given).flop)["flop"] == text
        assert result.at("", given).decision.actions
    assert len({row["flop"] for row in result.flops}) == 3
