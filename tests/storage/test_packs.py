"""Packs: what goes in comes out, in a tenth of the bytes, and a name stands for a folder."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from builders.small_games import LIMPED, write_small

from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.solutions import WholeSolution
from allstreets.storage import (
    NearestStackWarning,
    load,
    load_unified,
    packed_name,
    packed_solutions,
    save_compact,
    write_pack,
)
from allstreets.storage.packs import library, unpacked

YAML = "name: small\n"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    file = write_small(folder / "small.yaml", raise_cap=2, store="preflop")
    assert main(["train", str(file), "--output", str(folder / "solved")]) == 0
    return folder / "solved"


@pytest.fixture
def compact(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALLSTREETS_LIBRARY", str(tmp_path / "cache" / "library"))
    save_compact(load_unified(trained), tmp_path / "compact", "small-6bb")
    return tmp_path / "compact"


def test_a_compact_solution_says_the_same(trained: Path, compact: Path) -> None:
    whole, small = load_unified(trained), load_unified(compact)
    assert small.name == "small-6bb"
    assert small.exploitability == whole.exploitability
    assert whole.before.values is not None
    assert small.before.values is not None
    np.testing.assert_allclose(small.before.pairs, whole.before.pairs, rtol=1e-12)
    scale = np.abs(whole.before.values).max()
    np.testing.assert_allclose(small.before.values, whole.before.values, atol=3e-7 * scale)
    assert (small.before.ranges is None) == (whole.before.ranges is None)
    for node, strategy in whole.before.strategies.items():
        assert small.before.strategies[node].dtype == np.float64
        np.testing.assert_allclose(small.before.strategies[node], strategy, rtol=1e-7)
    for here, there in zip(small.flops, whole.flops, strict=True):
        assert here["weight"] == there["weight"]
        assert here["ev_ip_bb"] == pytest.approx(there["ev_ip_bb"], abs=1e-5)
    sizes = [sum(path.stat().st_size for path in f.glob("*")) for f in (compact, trained)]
    assert sizes[0] < sizes[1] / 5


def test_no_flop_that_is_dealt_by_card_is_forgotten(tmp_path: Path) -> None:
    """The pairs that a compact solution computes are those of its flops and card model."""
    file = write_small(tmp_path / "a.yaml", **LIMPED, flops=["9s7s2s", "AsKh7d:3"])
    assert main(["train", str(file), "--output", str(tmp_path / "whole")]) == 0
    whole = load_unified(tmp_path / "whole")
    save_compact(whole, tmp_path / "compact", "limped")
    small = load_unified(tmp_path / "compact")
    np.testing.assert_allclose(small.before.pairs, whole.before.pairs, rtol=1e-12)
    assert not small.has_flops


def test_a_name_stands_for_a_folder(
    compact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = tmp_path / "shelf"
    write_pack(shelf / "some.zip", {"small-6bb": compact}, {"small-6bb": YAML})
    monkeypatch.setattr("allstreets.storage.packs.LIBRARY", shelf)
    opened = load("small-6bb", WholeSolution)
    assert opened.folder is not None
    assert packed_name(opened.folder) == "small-6bb"
    assert opened.strategy("", hand="AA") == load_unified(compact).strategy("", hand="AA")
    assert load("small-6bb", WholeSolution).folder == opened.folder
    assert load(shelf / "some.zip", WholeSolution).folder == opened.folder
    assert load(shelf / "some.zip" / "small-6bb", WholeSolution).folder == opened.folder
    assert packed_name(compact) is None
    [packed] = library(shelf).values()
    assert packed.game == YAML
    assert packed.certificate is None
    assert set(packed.note) == {"date", "code_version"}
    with pytest.raises(InputError, match=r"nothing-alike does not exist; make one"):
        load("nothing-alike")


def test_a_stack_that_is_missing_opens_the_nearest_and_says_so(
    compact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("hu-10bb", "hu-20bb", "hu-ante-16bb")
    shelf = tmp_path / "shelf"
    write_pack(shelf / "all.zip", dict.fromkeys(names, compact), dict.fromkeys(names, YAML))
    monkeypatch.setattr("allstreets.storage.packs.LIBRARY", shelf)
    said = r"no ready-made hu-17bb: this is hu-20bb, the nearest stack, 3 bb deeper \(\+18%\)"
    with pytest.warns(NearestStackWarning, match=said):
        assert packed_name(unpacked(Path("hu-17bb"))) == "hu-20bb"
    with pytest.warns(NearestStackWarning, match=r"this is hu-10bb.* 1.5 bb shallower \(-13%\)"):
        assert packed_name(unpacked(Path("hu-11.5bb"))) == "hu-10bb"
    # Half as deep or twice as deep is another game, and so is one without the ante.
    for name in ("hu-5bb", "hu-40bb", "hu-ante-10bb", "hu-10b"):
        with pytest.raises(
            InputError, match=f"{name} is neither a folder .* similar names: .*hu-10bb"
        ):
            unpacked(Path(name))
    assert unpacked(Path("runs")) == Path("runs")


def test_a_format_is_told_by_the_head_of_its_file(compact: Path, tmp_path: Path) -> None:
    texts = {"a-1bb": "# Some games: with a tree.\n# more\nname: a\n", "b-ante-2bb": "name: b\n"}
    write_pack(tmp_path / "two.zip", dict.fromkeys(texts, compact), texts)
    first, second = packed_solutions(tmp_path / "two.zip")
    assert (first.format, first.tree, first.stack) == ("Some games", "with a tree.", 6.0)
    assert (second.format, second.tree) == ("b-ante", "")


def test_a_folder_of_that_name_comes_first(
    compact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert unpacked(Path("compact")) == Path(compact.name)
    assert unpacked(Path("pf-10bb")).parent != Path()
    Path("pf-10bb").mkdir()
    assert unpacked(Path("pf-10bb")) == Path("pf-10bb")


def test_a_pack_of_several_asks_for_one(compact: Path, tmp_path: Path) -> None:
    names = ("a-1bb", "a-2bb")
    write_pack(tmp_path / "two.zip", dict.fromkeys(names, compact), dict.fromkeys(names, YAML))
    assert [packed.name for packed in packed_solutions(tmp_path / "two.zip")] == list(names)
    with pytest.raises(InputError, match=r"contains 2 solutions; name one of them: .*a-1bb"):
        load(tmp_path / "two.zip")


@pytest.mark.parametrize("name", ["../evil", "small-6bb/../../evil", "small-6bb/c:evil"])
def test_no_pack_writes_elsewhere(compact: Path, tmp_path: Path, name: str) -> None:
    file = tmp_path / "evil.zip"
    write_pack(file, {"small-6bb": compact}, {"small-6bb": YAML})
    with zipfile.ZipFile(file, "a") as pack:
        pack.writestr(name, "evil")
        pack.writestr("small-6bb/also", "there")
    if name.startswith("small-6bb"):
        with pytest.raises(InputError, match="leads out of its folder"):
            load(file)
    else:
        load(file)
    assert not list(tmp_path.rglob("*evil"))


def test_what_is_no_pack(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is damaged"):
        load(tmp_path / "a.zip")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as pack:
        pack.writestr("some/file", "")
    with pytest.raises(InputError, match="contains no solutions"):
        load(tmp_path / "b.zip")


def test_the_packs_of_the_package_are_small_and_whole() -> None:
    ready = library()
    files = {packed.file for packed in ready.values()}
    assert sum(file.stat().st_size for file in files) <= 5_000_000
    stacks = [1 + step / 2 for step in range(39)]
    for kind in ("pf", "pf-ante"):
        assert {f"{kind}-{stack:g}bb" for stack in stacks} <= set(ready)
    for packed in ready.values():
        certificate = packed.certificate
        assert certificate is not None, packed.name
        assert packed.facts["name"] == packed.name
        assert f"name: {packed.name}" in packed.game
        assert json.dumps(packed.note)
