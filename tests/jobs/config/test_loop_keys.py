"""The loop's section: the keys that end a run, and refusals."""

from pathlib import Path

import pytest

from allstreets.base import InputError
from allstreets.jobs import (
    ExploitabilityThreshold,
    Intervals,
    Iterations,
    LoopConfig,
    RegretThreshold,
    TimeLimit,
)
from allstreets.jobs.config.reading import read_config


def read(tmp_path: Path, text: str) -> LoopConfig:
    path = tmp_path / "loop.yaml"
    path.write_text(text)
    return read_config(path, LoopConfig)


def error(tmp_path: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    return str(caught.value).removeprefix(f"{tmp_path / 'loop.yaml'}: ")


def test_defaults_and_rules(tmp_path: Path) -> None:
    config = read(tmp_path, "iterations: 500\n")
    assert (config.check_interval, config.checkpoint_interval) == (100, 1000)
    assert config.intervals() == Intervals(check=100, checkpoint=1000)
    assert config.seed == 1
    assert config.stop_rules() == (Iterations(500),)
    text = "iterations: 9\nregret_threshold: 0.1\nexploitability_threshold: 1e-3\n"
    assert set(read(tmp_path, f"{text}time_limit_seconds: 60\n").stop_rules()) == {
        Iterations(9),
        RegretThreshold(0.1),
        ExploitabilityThreshold(0.001),
        TimeLimit(60),
    }


def test_a_threshold_is_in_the_unit_of_the_game(tmp_path: Path) -> None:
    assert error(tmp_path, "exploitability_threshold: 5 mbb\n") == (
        "1 problem\n  line 1: exploitability_threshold: '5 mbb' is mbb/hand, but exploitability is "
        "a number in the game's own unit here; write 0.001"
    )


def test_the_old_name_of_the_check_interval(tmp_path: Path) -> None:
    text = "iterations: 9\nconvergence_check_interval: 7\n"
    assert read(tmp_path, text).intervals() == Intervals(check=7, checkpoint=1000)


def test_the_old_name_of_the_regret_threshold(tmp_path: Path) -> None:
    assert read(tmp_path, "convergence_threshold: 0.5\n").stop_rules() == (RegretThreshold(0.5),)
    assert error(tmp_path, "convergence_threshold: 0.5\nregret_threshold: 0.5\n") == (
        "1 problem\n  line 1: convergence_threshold: an old name of 'regret_threshold', "
        "but 'regret_threshold' is given too; keep one of them"
    )


def test_bad_input(tmp_path: Path) -> None:
    text = """\
regret_threshold: -0.5
exploitability_threshold: 0
iterations: 0
check_interval: 0
checkpoint_interval: -1
time_limit_seconds: -2
seed: -1
"""
    leave_out = "to run until a threshold holds, leave it out"
    assert error(tmp_path, text).split("\n  ") == [
        "7 problems",
        "line 1: regret_threshold: must be above 0, not -0.5, for example 0.001",
        "line 2: exploitability_threshold: must be above 0, not 0, for example 0.001",
        f"line 3: iterations: must be 1 or more, not 0; {leave_out}",
        "line 4: check_interval: must be at least 1, not 0, for example 100",
        "line 5: checkpoint_interval: must be at least 1, not -1, for example 1000",
        "line 6: time_limit_seconds: must be above 0, not -2, for example 3600",
        "line 7: seed: must be at least 0, not -1, for example 1",
    ]


def test_no_iterations_with_a_threshold(tmp_path: Path) -> None:
    assert error(tmp_path, "iterations: 0\nregret_threshold: 0.1\n") == (
        "1 problem\n  line 1: iterations: must be 1 or more, not 0; "
        "to run until a threshold holds, leave it out"
    )


def test_a_run_without_an_end(tmp_path: Path) -> None:
    assert error(tmp_path, "seed: 3\n") == (
        "1 problem\n  line 1: iterations: nothing would end this run; give iterations, "
        "exploitability_threshold, regret_threshold or time_limit_seconds"
    )
