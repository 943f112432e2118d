"""Solutions elsewhere are read through a copy here, into which files are fetched when needed."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from builders.small_flops import FLOPS, TEXTS, run_small

from allstreets.base import InputError, Remote
from allstreets.cards import parse_flop
from allstreets.cli.main import main
from allstreets.storage import load, load_flops, mirrored


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("bucket") / "run"
    run_small(folder, flops=FLOPS[:2], iterations=25)
    return folder


@pytest.fixture
def place(solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Remote:
    monkeypatch.setattr("allstreets.storage.mirror.cache_folder", lambda: tmp_path / "cache")
    shutil.copytree(solved, tmp_path / "bucket" / "run")
    return Remote(f"file://{tmp_path}/bucket/run")


def test_flops_are_fetched_when_they_are_looked_at(place: Remote, solved: Path) -> None:
    result = load_flops(place)
    folder = mirrored(place)
    assert not list(folder.glob("flops-*/*"))
    flop = parse_flop(TEXTS[1]).flop
    assert result.models.row(0, flop)["spr"] == 2.0
    here = load_flops(solved).models.pair_values(0, flop)
    np.testing.assert_array_equal(result.models.pair_values(0, flop), here)
    assert [path.name for path in folder.glob("flops-*/*")] == [f"{TEXTS[1]}-spr2.safetensors"]


def test_files_of_a_solution_that_was_replaced_go(place: Remote, tmp_path: Path) -> None:
    folder = mirrored(place)
    old = folder / "flops-00000000"
    old.mkdir()
    (old / "AsKh7d.safetensors").touch()
    assert mirrored(place) == folder
    assert not old.exists()
    assert mirrored(tmp_path) == tmp_path  # a folder of this machine is itself


def test_reports_open_urls(place: Remote, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(place), "--flop", TEXTS[0]]) == 0
    assert "Ks7h2d" in capsys.readouterr().out
    assert main(["report", str(place)]) == 0
    assert f"report {place} --line spr2 --flop Ks7h2d" in capsys.readouterr().out
    assert main(["report", f"{place}/nothing"]) == 2
    assert "contains no solution (no manifest.json)" in capsys.readouterr().err


def test_what_is_not_there(place: Remote) -> None:
    with pytest.raises(InputError, match="contains no solution"):
        load(f"{place}-elsewhere")
    result = load_flops(place)
    shutil.rmtree(next(Path(place.url.removeprefix("file://")).glob("flops-*")))
    with pytest.raises(InputError, match=r"is damaged: .* is missing"):
        result.models.pair_values(0, parse_flop(TEXTS[0]).flop)
