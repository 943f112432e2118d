"""allstreets.train: the jobs of training files from a program."""

import gc
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from builders.small_flops import failing
from builders.small_games import SMALL, write_small

import allstreets
from allstreets.base import InputError
from allstreets.jobs import Progress, TrainConfig, check_config
from allstreets.jobs import api as api_module
from allstreets.jobs.api import train
from allstreets.jobs.flops import FlopsJob
from allstreets.solutions import WholeSolution

GAME: dict[str, Any] = {"name": "small", "solver": SMALL}
MODEL: dict[str, Any] = {
    "bet_sizes": [1.0],
    "postflop_sprs": [1, 2.5],
    "flops": ["Ks7d2c", "9h8h2c"],
    "iterations": 40,
    "threads": 1,
}
PIPELINE: dict[str, Any] = {
    "solver": {"type": "preflop_cfr", "stack_depth": 6, "raise_cap": 1, "iterations": 60},
    "postflop_model": MODEL,
}


def chances(result: WholeSolution, line: str, flop: str | None = None) -> float:
    """The total frequencies of ace-king suited."""
    mix = result.strategy(line, flop, "AKs")
    return sum(mix.values())


def test_a_mapping_a_path_and_a_config_are_the_same_job(tmp_path: Path) -> None:
    results = [
        train(GAME),
        train(write_small(tmp_path / "game.yaml")),
        train(str(tmp_path / "game.yaml")),
        train(check_config(GAME, TrainConfig)),
    ]
    for result in results:
        assert isinstance(result, WholeSolution)
        assert (result.iterations, result.facts.name) == (12, "small")
        assert result.exploitability == results[0].exploitability
        assert [row["iteration"] for row in result.metrics] == [4, 8, 12]
        assert chances(result, "c x | x", "9s8h7d") == pytest.approx(1)
    assert [path.name for path in tmp_path.iterdir()] == ["game.yaml"]


def test_what_is_kept_is_what_is_returned(tmp_path: Path) -> None:
    seen: list[Progress] = []
    result = train(GAME, tmp_path / "out", observers=[seen.append])
    assert isinstance(result, WholeSolution)
    assert seen[-1].iteration == 12
    kept = allstreets.load(str(tmp_path / "out"))
    assert isinstance(kept, WholeSolution)
    assert kept.exploitability == result.exploitability
    assert kept.values == result.values
    for line, flop in (("", None), ("r2.5", None), ("c x | x", "9s8h7d")):
        ours, theirs = (one.at(line, flop).decision for one in (result, kept))
        assert ours.strategy == pytest.approx(theirs.strategy, abs=1e-2, nan_ok=True)
    with pytest.raises(InputError, match="already contains a solution"):
        train(GAME, tmp_path / "out")
    longer = {"solver": {**SMALL, "epochs": 20}}
    resumed = train(longer, str(tmp_path / "out"), resume=True)
    assert resumed.iterations == 20
    assert resumed.exploitability == train(longer).exploitability
    with pytest.raises(InputError, match="--resume needs --output"):
        train(GAME, resume=True)


@pytest.mark.parametrize("keep", [True, False])
def test_the_separated_pipeline(tmp_path: Path, keep: bool) -> None:
    seen: list[Progress] = []
    folder = tmp_path / "out" if keep else None
    result = train(PIPELINE, folder, observers=[seen.append])
    assert isinstance(result, WholeSolution)
    assert not result.has_flops
    assert (result.iterations, seen[-1].iteration) == (60, 60)
    assert chances(result, "") == pytest.approx(1)
    if keep:
        kept = allstreets.load(tmp_path / "out")
        assert isinstance(kept, WholeSolution)
        assert kept.exploitability == result.exploitability
        assert kept.values == result.values
    else:
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("keep", [True, False])
def test_flops_alone(tmp_path: Path, keep: bool) -> None:
    result = train({"postflop_model": MODEL}, tmp_path / "out" if keep else None)
    assert isinstance(result, WholeSolution)
    assert len(result.flops) == 4
    assert {row["flop"] for row in result.flops} == {"Ks7h2d", "9s8s2h"}
    # Strategies are read when they are asked for, also where no folder was named.
    assert result.at("spr1 | Ks7d2c").decision.strategy.shape[1] == 169
    with pytest.raises(InputError, match="resume needs"):
        train({"postflop_model": MODEL}, resume=True)


def test_what_is_not_kept_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = train({"postflop_model": MODEL})
    assert list(tmp_path.iterdir())
    del result
    gc.collect()
    assert not list(tmp_path.iterdir())
    with pytest.raises(InputError):
        train({"postflop_model": {**MODEL, "flops": ["Ks7d"]}})
    assert not list(tmp_path.iterdir())


def test_flops_that_fail_are_not_left_out_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        fault = FloatingPointError("the numbers ran away")
        patch.setattr(FlopsJob, "solver", failing("9s8s2h", fault))
        with pytest.raises(InputError, match=r"2 flops could not be solved: .*ran away"):
            train(PIPELINE, tmp_path / "out")
    assert train(PIPELINE, tmp_path / "out", resume=True).iterations == 60


def test_without_a_config_it_is_the_first_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_module, "FIRST_RUN", write_small(tmp_path / "first.yaml", epochs=2))
    assert train().iterations == 2


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"solver": {**SMALL, "stak": 3}}, "config: 1 problem\n  solver.stak: unknown key"),
        ({}, "there is no job"),
        ("not/there.yaml", "not/there.yaml"),
    ],
)
def test_bad_configs(config: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        train(config)
    assert message in str(error.value)


def test_the_public_name() -> None:
    assert allstreets.train is train
    assert json.dumps(GAME)  # a mapping is what a JSON file holds too
