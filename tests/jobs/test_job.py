"""The shape that all jobs share: plans before anything is computed, steps that are counted."""

from pathlib import Path
from typing import Any

import pytest
from builders.small_flops import small_config as small_flops
from builders.small_games import small_config as small_game
from builders.small_spots import RIVER

from allstreets.base import InputError
from allstreets.jobs import (
    Callbacks,
    Job,
    Plan,
    Progress,
    SpotJob,
    check_config,
    plan_spots,
    plan_unified,
    progress_line,
    read_spot,
    read_spots,
    read_train_config,
)
from allstreets.jobs.config.spot import SpotConfig, read_spot_config
from allstreets.jobs.flops import plan_flops


def test_plans_say_what_will_be_done(tmp_path: Path) -> None:
    config, spot = read_spot(None, RIVER)
    whole = plan_unified(small_game(), tmp_path / "game")
    flops = plan_flops(small_flops(), tmp_path / "flops", threads=1)
    boards = "Ks7d4c9h2s, Qs7d4c9h2s"
    spots = plan_spots(read_spots([], RIVER), boards, threads=1, processes=1)

    def planned(job: Job[Any]) -> Plan:
        return job.plan()

    alone = planned(SpotJob(config, spot))
    assert alone.lines[0].startswith("Ks7d4c9h2s, pot 100, stack ")
    assert alone.kernels == "solved-river-float32"
    assert alone.memory_bytes is not None
    game = planned(whole)
    assert game.seconds == whole.need.seconds_to(whole.iterations)
    assert game.lines[-1].startswith(f"{whole.iterations:,} iterations of about ")
    assert planned(flops).lines[0].startswith("3 flops at SPR 2, classes, ")
    assert planned(spots).lines == ("2 spots, 1 thread each",)
    assert not list(tmp_path.iterdir())  # nothing is written


def test_steps_before_the_work_are_counted() -> None:
    seen: list[Progress] = []
    count = Callbacks(setup=(seen.append,)).counter("tables of flops")
    count(1, 4)
    count(4, 4)
    assert [(progress.done, progress.total) for progress in seen] == [(1, 4), (4, 4)]
    assert progress_line(seen[-1]) == "tables of flops 4 of 4 | ETA 0:00"
    Callbacks().counter("tables of flops")(1, 4)  # nobody looks on


def test_flags_and_a_file_are_checked_together(tmp_path: Path) -> None:
    file = tmp_path / "spot.yaml"
    file.write_text("board: Ks7d4c9h2s\nbet_sizes: {river_oop: {bet: 50%}}\nstak: 3\n")
    with pytest.raises(InputError) as both:
        read_spot_config(file, {"pot": "much"})
    assert str(both.value).startswith(f"{file}: 2 problems\n  pot: ")
    assert "line 3: stak: unknown key" in str(both.value)
    file.write_text("board: Ks7d4c9h2s\nbet_sizes: {river_oop: {bet: 50%}}\n")
    with pytest.raises(InputError, match=r"^command line: 1 problem\n  pot: must be a number"):
        read_spot_config(file, {"pot": "much"})
    changed = read_spot_config(file, {"bets": "75%", "board": "Qs7d4c9h2s"})
    assert (changed.board, changed.bets, changed.bet_sizes) == ("Qs7d4c9h2s", "75%", None)
    filled = read_spot_config(file, {}, {"algorithm": "dcfr", "board": "2c2d2h"})
    assert (filled.board, filled.algorithm) == ("Ks7d4c9h2s", "dcfr")
    assert check_config({}, SpotConfig).algorithm != "dcfr"


def test_flags_of_training_go_to_the_sections_that_have_them(tmp_path: Path) -> None:
    file = tmp_path / "train.yaml"
    file.write_text("solver: {type: preflop_cfr}\npostflop_model: {flops: subset_15}\n")
    config = read_train_config(file, {"threads": 3, "chart_interval": 7, "device": None})
    assert config.solver is not None
    assert config.postflop_model is not None
    assert (config.solver.threads, config.solver.chart_interval) == (None, 7)
    assert config.postflop_model.threads == 3
    with pytest.raises(InputError, match=r"^command line: 1 problem\n  postflop_model.device: "):
        read_train_config(file, {"device": "abacus"})
    file.write_text("postflop_model: {flops: subset_15}\n")
    with pytest.raises(InputError, match="flops one by one have no preflop charts"):
        read_train_config(file, {"chart_interval": 7})
