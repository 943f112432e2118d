"""A trained game names the ready-made solution of the same game, and how the two differ."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.certificates import certificate
from builders.small_games import write_small

from allstreets.cli.main import main
from allstreets.jobs import ready_made_lines
from allstreets.storage import (
    compare_with_ready_made,
    load_unified,
    read_manifest,
    save_compact,
    write_certificate,
    write_pack,
)
from allstreets.storage.certificates import certified_hash

SIZES = {"raise_sizes": [2], "raise_cap": 2, "store": "preflop"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game trained for long at 6 bb, packed with its certificate, and others to tell it from."""
    root = tmp_path_factory.mktemp("ready")
    games: dict[str, dict[str, Any]] = {
        "game-6bb": {},
        "game-7bb": {"stack_depth": 7},
        "ante-6bb": {"ante": 0.1},
        "large-6bb": {"raise_sizes": [3]},
    }
    for name, keys in games.items():
        file = write_small(root / f"{name}.yaml", **{**SIZES, "epochs": 30, **keys})
        assert main(["train", str(file), "--output", str(root / "whole" / name)]) == 0
        compact = root / "compact" / name
        save_compact(load_unified(root / "whole" / name), compact, name)
        judged = certified_hash(read_manifest(compact, "unified"))
        write_certificate(compact, certificate(judged=judged))
        write_pack(root / f"shelf/{name}.zip", {name: compact}, {name: ""})
    return root


@pytest.fixture(autouse=True)
def _shelf(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allstreets.storage.packs.LIBRARY", root / "shelf")
    monkeypatch.setenv("ALLSTREETS_LIBRARY", str(tmp_path / "cache" / "library"))


def trained(tmp_path: Path, capsys: pytest.CaptureFixture[str], **keys: Any) -> dict[str, Any]:
    file = write_small(tmp_path / "a.yaml", **{**SIZES, "epochs": 4, **keys})
    capsys.readouterr()
    assert main(["train", str(file), "--output", str(tmp_path / "run"), "--json"]) == 0
    figures: dict[str, Any] = json.loads(capsys.readouterr().out)
    return figures


def test_frequencies_distance_and_value(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(tmp_path, capsys)
    own, ready = load_unified(tmp_path / "run"), load_unified(root / "compact/game-6bb")
    beside = compare_with_ready_made(own)
    assert beside is not None
    assert beside.name == "game-6bb"
    assert [each.line for each in beside.decisions] == own.opening_lines()
    first = beside.decisions[0]
    here, there = own.at().decision, ready.at().decision
    np.testing.assert_allclose(first.frequencies, [here.taken, there.taken], rtol=1e-6)
    # Over the hands that are dealt, which all get there: half the sum of what differs.
    weights = here.own.weights / here.own.weights.sum()
    apart = weights @ np.abs(here.strategy - there.strategy).sum(axis=0) / 2
    assert first.distance == pytest.approx(apart, rel=1e-6)
    assert own.values is not None
    assert ready.values is not None
    assert beside.values == pytest.approx((own.values[1], ready.values[1]), abs=1e-4)
    lines = ready_made_lines(beside)
    assert lines[0] == (
        "A certified solution of this game ships: game-6bb (216 mbb/hand with real cards, 95 % "
        "between 201 and 230)."
    )
    assert f"a hand acts differently {100 * apart:.1f} % of the time" in lines[1]
    unknown = replace(beside, certificate=None, stacks=(6.0, 7.0))
    assert "A ready-made solution of this game ships: game-6bb, 7 bb deep instead of 6." in (
        ready_made_lines(unknown)
    )


def test_the_nearest_stack_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = trained(tmp_path, capsys, stack_depth=6.8)
    beside = figures["ready_made"]
    assert isinstance(beside, dict)
    assert (beside["name"], beside["stacks_bb"]) == ("game-7bb", [6.8, 7.0])


@pytest.mark.parametrize(
    "keys", [{"stack_depth": 10}, {"rake": "5%"}, {"limp": False}, {"ante": 0.25}]
)
def test_nothing_is_said_where_nothing_fits(
    keys: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert trained(tmp_path, capsys, **keys)["ready_made"] is None


def test_what_the_command_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_small(tmp_path / "a.yaml", **{**SIZES, "epochs": 4})
    assert main(["train", str(file), "--output", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert text.rstrip().endswith("Look at it: allstreets report game-6bb")
    assert "SB first to act, here (there): fold " in text
