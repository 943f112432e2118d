"""A game like one that is solved, at another stack: its settings, and its ranges to begin with."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders.small_games import LIMPED, small_config, write_small

from allstreets.base import Floats, InputError
from allstreets.betting import BIG_BLINDS, line_text
from allstreets.cli.main import main
from allstreets.jobs import UnifiedConfig, like_config, load_neighbour, plan, read_train_config
from allstreets.jobs.api import known_ranges
from allstreets.jobs.whole_game import UnifiedJob, plan_unified
from allstreets.solvers import first_ranges
from allstreets.storage import load_unified


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("neighbour")
    file = write_small(folder / "small.yaml", raise_cap=2, raise_sizes=[2], store="preflop")
    assert main(["train", str(file), "--output", str(folder / "six")]) == 0
    return folder / "six"


def lines(job: UnifiedJob) -> list[str]:
    tree = job.game.tree
    return [line_text(tree, pot.node, notation=BIG_BLINDS) for pot in job.game.flop_pots]


def first(job: UnifiedJob) -> Floats:
    return job._first_ranges()


def test_settings_are_those_of_the_neighbour(solved: Path) -> None:
    neighbour = load_neighbour(solved)
    config = like_config(neighbour, {"stack_depth": 5.5, "flops": None, "threads": None})
    assert config.name == "like small, 5.5 bb"
    (job,) = plan(config, None, like=neighbour)
    assert isinstance(job, UnifiedJob)
    assert job.game.preflop.stack == 550
    assert job.game.flops.flops == neighbour.game.flops.flops
    assert job.config.epochs == neighbour.facts.config["epochs"]
    assert job.config.store == "preflop"
    assert set(job.known_ranges) == set(known_ranges(neighbour))


def test_ranges_go_by_lines(solved: Path) -> None:
    """Pots of the same line begin with its ranges; one that is not there is found as ever."""
    neighbour = load_neighbour(solved)
    known = known_ranges(neighbour)
    wanted = neighbour.before.pot_ranges
    config = small_config(raise_cap=2, raise_sizes=[2], stack_depth=5)
    job = plan_unified(config, known_ranges=known)
    assert len(lines(job)) > 1
    pots = [
        line_text(neighbour.before.tree, pot.node, notation=BIG_BLINDS)
        for pot in neighbour.stored.flop_pots
    ]
    np.testing.assert_array_equal(first(job), wanted[:, [pots.index(line) for line in lines(job)]])
    missing = lines(job)[0]
    others = {line: ranges for line, ranges in known.items() if line != missing}
    mixed = first(plan_unified(config, known_ranges=others))
    quick = first_ranges(job.game, config.schedule(), job.threads)
    np.testing.assert_array_equal(mixed[:, 0], quick[:, 0])
    np.testing.assert_array_equal(mixed[:, 1:], first(job)[:, 1:])


def test_a_pilot_hands_on_the_ranges_that_it_ends_with() -> None:
    """Buckets are made for the ranges of a short run, not for those of hand classes."""
    boards = {"cards": "boards", "river_groups": 16, "turn_rows": 16, "regroup": 0, "tremble": 0}
    boards |= {"flops": ["KsKhKd"]}  # most runouts are alike
    run = plan_unified(small_config(**boards)).solver()
    run.train_batch(4)
    wanted = run.preflop.pot_reach(run.preflop.average())
    job = plan_unified(small_config(**boards, pilot=4))
    np.testing.assert_array_equal(first(job), wanted)
    spec = job.spec()
    assert spec.ranges is not None
    np.testing.assert_array_equal(spec.ranges, wanted)


def test_a_pilot_is_for_buckets_that_go_by_ranges() -> None:
    with pytest.raises(ValueError, match=r"pilot\W.*is for cards boards"):
        small_config(cards="classes", pilot=12)


def test_the_command(solved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "five")
    like = ["train", "--like", str(solved), "--stack", "5", "--flops", "spread_1"]
    assert main([*like, "--output", out, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["flops"] == 1
    assert load_unified(out).rules.stack == 500
    # A file keeps its own settings.
    file = write_small(tmp_path / "own.yaml", **LIMPED, epochs=2)
    assert main(["train", str(file), "--like", str(solved), "--output", f"{out}2"]) == 0
    assert load_unified(f"{out}2").iterations == 2
    assert main(["train", "--like", "nothing"]) == 2
    assert "nothing does not exist" in capsys.readouterr().err


def test_a_ready_made_solution_leaves_out_what_its_machine_was_told() -> None:
    neighbour = load_neighbour("pf-10bb")
    told = {**neighbour.facts.config, "device": "cuda", "time_limit_seconds": 180.0}
    neighbour.facts = replace(neighbour.facts, config=told)
    config = like_config(neighbour, {"stack_depth": 9.25}).solver
    assert isinstance(config, UnifiedConfig)
    assert (config.device, config.time_limit_seconds, config.store) == ("cpu", None, "all")
    assert config.raise_sizes == ()


def test_what_has_no_neighbour(solved: Path, tmp_path: Path) -> None:
    models = tmp_path / "models.yaml"
    models.write_text("postflop_model: {flops: spread_1}\n")
    for options in (["--stack", "5"], ["--flops", "spread_1"]):
        assert main(["train", str(models), *options]) == 2
    config, neighbour = read_train_config(models), load_neighbour(solved)
    with pytest.raises(InputError, match="--like is for whole games"):
        plan(config, tmp_path / "o", like=neighbour)
