"""allstreets train of whole games, as a person and a program meet them."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from builders.small_flops import failing
from builders.small_games import BUCKETS, EXACT, SMALL, kept_numbers, write_small
from builders.smoke import smoke_figures

from allstreets.cli.main import main
from allstreets.games import estimates
from allstreets.jobs import read_train_config
from allstreets.jobs.config.whole_game import UnifiedConfig
from allstreets.jobs.flops import FlopsJob, plan_flops
from allstreets.jobs.whole_game import plan_unified
from allstreets.storage import load_flops, load_preflop, load_unified

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "sample_configurations").glob("*.yaml"))
MODEL = {
    "bet_sizes": [1.0],
    "postflop_sprs": [1, 2.5],
    "flops": ["Ks7d2c", "9h8h2c"],
    "iterations": 40,
    "threads": 1,
}
PREFLOP = {"type": "preflop_cfr", "stack_depth": 6, "raise_cap": 1, "iterations": 60}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err


def train(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str, **keys: Any
) -> tuple[int, str, str]:
    file = write_small(tmp_path / "game.yaml", **keys)
    return run(capsys, "train", str(file), "-o", str(tmp_path / "out"), *arguments)


def told_command(out: str, words: str) -> list[str]:
    """The arguments of the command that the output prints after some words."""
    command = shlex.split(out.partition(words)[2].splitlines()[0])
    assert command[0] == "allstreets"
    return command[1:]


def test_a_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = train(capsys, tmp_path)
    assert code == 0
    plan = err.splitlines()
    assert plan[0] == (
        "small: 6 bb, 2 flops, cards classes, 3 pots that see a flop, 66 decisions on each flop"
    )
    assert re.match(
        r"389 kB of regrets and strategies in memory, \d+ MB of memory in all, .* free$", plan[1]
    )
    assert re.match(r"12 iterations of about \S+ s on 1 thread: ", plan[2])
    assert "iteration 12 of 12 | exploitability " in err
    assert "SB, first to act:" in out
    assert "BB after " in out
    result = load_unified(tmp_path / "out")
    found = re.search(r"Exploitability of the whole game: (\S+) mbb/hand", out)
    assert found is not None
    assert float(found[1]) == pytest.approx(result.exploitability, rel=0.01)
    assert "to the small blind." in out
    assert "Solved: 6 bb, 2 flops, cards classes, 12 iterations in " in out
    # What is suggested works.
    code, out, _ = run(capsys, *told_command(out, "Look further: "))
    assert code == 0
    assert "to act" in out
    # And what was solved is not overwritten.
    code, out, err = train(capsys, tmp_path)
    assert (code, out) == (2, "")
    assert "already contains a solution of 12 iterations; continue it with --resume" in err
    code, out, err = train(capsys, tmp_path, "--resume", epochs=16)
    assert code == 0
    assert load_unified(tmp_path / "out").iterations == 16


def test_what_is_suggested_fits_the_game(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Other raises than 2.5, stacks that never see a flop, one batch that is all flops."""
    games: list[dict[str, Any]] = [
        {"raise_sizes": ["3bb"]},
        {"stack_depth": 1, "checkpoint_interval": None},
        {"stack_depth": 1, "cards": "exact"},
        {"ante": 5.4},
        {"memory": "per_batch", "flop_batch_size": 2},
    ]
    for number, keys in enumerate(games):
        file, folder = write_small(tmp_path / "game.yaml", **keys, epochs=2), tmp_path / f"{number}"
        code, out, _ = run(capsys, "train", str(file), "-o", str(folder))
        assert code == 0
        assert run(capsys, *told_command(out, "Look further: "))[0] == 0
        assert run(capsys, "report", str(folder))[0] == 0
        assert run(capsys, "tree", str(file))[0] == 0


def test_json(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = train(capsys, tmp_path, "--json", "--threads", "2")
    assert code == 0
    found = json.loads(out)
    result = load_unified(tmp_path / "out")
    assert found["exploitability_mbb"] == result.exploitability
    assert found["preflop_exploitability_mbb"] == result.preflop_exploitability
    assert (found["value_bb_mbb"], found["value_sb_mbb"]) == result.values
    assert (found["iterations"], found["reason"], found["flops"]) == (12, "iterations", 2)
    assert found["cards"] == "classes"
    assert "on 2 threads" in err
    assert "SB, first to act:" in err


@pytest.mark.long
def test_buckets(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Long: a game is bucketed."""
    code, out, _ = train(capsys, tmp_path, **BUCKETS)
    assert code == 0
    assert "cards buckets, 12 iterations" in out
    result = load_unified(tmp_path / "out")
    assert "buckets" in str(result.facts.cards)
    assert result.exploitability is not None
    code, _, err = train(capsys, tmp_path, "--resume", **BUCKETS, epochs=14, seed=2)
    assert code == 2
    assert "belongs to another run" in err
    assert len(err.splitlines()[-2:]) == 2
    code, _, _ = train(capsys, tmp_path, "--resume", **BUCKETS, epochs=14)
    assert code == 0
    gaps = [row["exploitability"] for row in load_unified(tmp_path / "out").metrics]
    assert gaps[-1] < gaps[0]


@pytest.mark.long
def test_exact(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Long: a game of real combos."""
    code, out, _ = train(capsys, tmp_path, "--json", **EXACT, epochs=4)
    assert code == 0
    found = json.loads(out)
    assert (found["cards"], found["flops"]) == ("exact", 1)
    assert 0 < found["exploitability_mbb"] < 100
    assert "exact" in str(load_unified(tmp_path / "out").facts.cards)


def test_regrets_on_disk_are_those_in_memory(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, _, err = train(capsys, tmp_path, memory="memmap")
    assert code == 0
    assert "of regrets and strategies on disk" in err
    assert not any((tmp_path / "out" / "work").iterdir())
    file = write_small(tmp_path / "resident.yaml")
    assert run(capsys, "train", str(file), "-o", str(tmp_path / "resident"))[0] == 0
    assert kept_numbers(tmp_path / "out") == kept_numbers(tmp_path / "resident")


def test_regrets_of_the_batch_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    keys = {"memory": "per_batch", "flop_batch_size": 1, "iterations_per_batch": 3, "epochs": 4}
    code, out, err = train(capsys, tmp_path, **keys)
    assert code == 0
    assert "of regrets and strategies for one batch" in err
    assert "whole game: unknown, since strategies of flops outside the batch are not stored" in out
    assert run(capsys, *told_command(out, "Look further: "))[0] == 0
    result = load_unified(tmp_path / "out")
    assert (result.exploitability, result.iterations) == (None, 24)
    code, out, _ = run(capsys, "report", str(tmp_path / "out"))
    assert code == 0
    assert "exploitability not known: memory: per_batch stores no strategies of flops" in out
    code, out, _ = train(capsys, tmp_path, "--json", "--resume", **{**keys, "epochs": 5})
    assert code == 0
    assert json.loads(out)["exploitability_mbb"] is None


# The separated pipeline.


def write_pipeline(path: Path, **keys: Any) -> Path:
    data = {"name": "in parts", "solver": {**PREFLOP, **keys}, "postflop_model": MODEL}
    path.write_text(json.dumps(data))
    return path


def test_the_separated_pipeline(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, folder = write_pipeline(tmp_path / "parts.yaml"), tmp_path / "out"
    code, out, err = run(capsys, "train", str(file), "-o", str(folder), "--json")
    assert code == 0
    found = json.loads(out)  # one object, of the whole job
    assert (found["iterations"], found["reason"]) == (60, "iterations")
    assert "Solved 4 of 4 flops in " in err
    assert "Exploitability within the models of flops: " in err
    assert run(capsys, *told_command(err, "Look further: "))[0] == 0
    assert load_preflop(folder).exploitability == found["exploitability_mbb"]
    assert len(load_flops(folder / "models").flops) == 4
    code, _, err = run(capsys, "train", str(file), "-o", str(folder))
    assert code == 2
    assert "already contains a solution of 60 iterations" in err
    # On with more iterations: the flops are there.
    write_pipeline(file, iterations=80)
    code, _, err = run(capsys, "train", str(file), "-o", str(folder), "--resume")
    assert code == 0
    assert "(4 of 4 are solved)" in err
    # The same flops again, for another game on top of them.
    data = {"solver": {**PREFLOP, "models": str(folder / "models"), "stack_depth": 5}}
    (tmp_path / "again.yaml").write_text(json.dumps(data))
    code, out, _ = run(
        capsys, "train", str(tmp_path / "again.yaml"), "-o", str(tmp_path / "other"), "--json"
    )
    assert code == 0
    assert json.loads(out)["iterations"] == 60


def test_a_pipeline_that_stopped_among_the_flops_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = write_pipeline(tmp_path / "parts.yaml"), tmp_path / "out"

    with monkeypatch.context() as patch:
        fault = FloatingPointError("the numbers ran away")
        patch.setattr(FlopsJob, "solver", failing("9s8s2h", fault))
        code, out, _ = run(capsys, "train", str(file), "-o", str(folder))
    assert code == 1
    assert not (folder / "manifest.json").exists()
    code, out, err = run(capsys, *told_command(out, "Continue with: "))
    assert code == 0
    assert "(2 of 4 are solved)" in err
    assert "Exploitability within the models of flops: " in out
    assert load_preflop(folder).iterations == 60


def test_a_pipeline_that_died_before_its_first_checkpoint_goes_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from allstreets.jobs import loop

    def dying(*_: Any) -> None:
        raise RuntimeError("the lights went out")

    file, folder = write_pipeline(tmp_path / "parts.yaml"), tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(loop, "save_checkpoint", dying)
        code, out, err = run(capsys, "train", str(file), "-o", str(folder))
    assert (code, out[:0]) == (1, "")
    assert "the lights went out" in err
    code, _, _ = run(capsys, "train", str(file), "-o", str(folder), "--resume")
    assert code == 0
    assert load_preflop(folder).iterations == 60


# What is refused.


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ({**SMALL, "stak_depth": 5}, "unknown key; did you mean 'stack_depth'?"),
        ({**SMALL, "flops": ["AhKd"]}, "a flop has 3"),
        ({**SMALL, "algorithm": "best"}, "unknown algorithm 'best'"),
        ({**SMALL, "memory": "per_batch"}, "memory per_batch needs batches"),
        (
            {**SMALL, "prune_warmup": 3, "prune_threshold": "x"},
            "prune_threshold: 'x' is not a threshold",
        ),
        ({**PREFLOP, "models": "not/there"}, "not/there does not exist; solve flops first"),
        ({**PREFLOP, "models": ".", "rake": 0.05}, "rake"),
        (PREFLOP, "preflop_cfr needs postflop_model or models"),
    ],
)
def test_errors_are_short(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, solver: dict[str, Any], message: str
) -> None:
    (tmp_path / "game.yaml").write_text(json.dumps({"solver": solver}))
    code, out, err = run(capsys, "train", str(tmp_path / "game.yaml"), "-o", str(tmp_path / "out"))
    assert (code, out) == (2, "")
    error = err[err.index("Error: ") :]
    assert message in error
    assert len(error.splitlines()) <= 2
    assert not (tmp_path / "out").exists()


def test_resume_needs_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = write_small(tmp_path / "game.yaml")
    code, _, err = run(capsys, "train", str(file), "--resume")
    assert code == 2
    assert err == "Error: --resume needs --output, the folder of the run to continue\n"
    code, _, err = run(capsys, "train", str(file), "--resume", "-o", str(tmp_path / "none"))
    assert code == 2
    assert "contains no checkpoint; start the run without --resume" in err
    code, _, err = run(capsys, "train", str(tmp_path / "missing.yaml"))
    assert code == 2
    assert len(err.splitlines()) == 1


def test_a_game_that_does_not_fit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "available_bytes", lambda: 300_000_000)
    code, out, err = train(capsys, tmp_path, stack_depth=20, flops="all")
    assert (code, out) == (2, "")
    assert err.splitlines()[-2].startswith("Error: this game needs ")
    assert err.splitlines()[-1].startswith("Ways to make it smaller: flops: subset_")
    assert not (tmp_path / "out").exists()


def test_without_a_folder_the_run_is_kept_by_its_time(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, _ = run(capsys, "train", str(write_small(tmp_path / "game.yaml", epochs=1)))
    assert code == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert load_unified(folder).iterations == 1


# The files that come along.


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_sample_configurations_can_be_planned(path: Path, tmp_path: Path) -> None:
    config = read_train_config(path)
    assert config.name == path.stem
    if config.postflop_model is not None:
        flops = plan_flops(config.postflop_model, tmp_path / "out")
        need = flops.estimate(len(flops.places))
        assert need.memory_bytes < 8e9
    if isinstance(config.solver, UnifiedConfig):
        # On two cores, as the samples say: every further one needs room to group hands in.
        job = plan_unified(config.solver.model_copy(update={"threads": 2}))
        room = 22e9 if path.stem.startswith("real_") else 12e9
        assert job.need.resident_bytes < (96e9 if path.stem.endswith("_gpu") else room)
        assert job.iterations >= 100
        job.config.schedule()
    elif config.solver is not None:
        config.solver.preflop_rules()
        config.solver.schedule()
        assert config.postflop_model is not None


def test_there_are_samples_of_all_jobs() -> None:
    jobs = {read_train_config(path).job for path in SAMPLES}
    assert jobs == {"unified_cfr", "preflop_cfr", "postflop_model"}


def test_the_smoke_run() -> None:
    found = smoke_figures()
    assert found["iterations"] == 200
    assert 0 < found["exploitability_mbb"] < 5


def test_the_first_run_needs_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a file there is an example, here with less time than it has."""
    from allstreets import jobs
    from allstreets.jobs.config import train as train_config

    text = train_config.FIRST_RUN.read_text()
    assert "time_limit_seconds: 60" in text
    quick = tmp_path / "first_run.yaml"
    text = text.replace("flops: subset_15", "flops: [KsKhKd]").replace("groups: 32", "groups: 16")
    text = text.replace("stack_depth: 20", "stack_depth: 4\n  turn_rows: 16")
    quick.write_text(text.replace("time_limit_seconds: 60", "time_limit_seconds: 0.2"))
    monkeypatch.setattr(jobs, "FIRST_RUN", quick)
    code, out, _ = run(capsys, "train", "-o", str(tmp_path / "out"), "--json")
    assert code == 0
    found = json.loads(out)
    assert found["reason"] == "time"
    assert found["certificate"]["flops"] == 1  # it is judged with real cards
    assert found["certificate"]["real_exploitability_mbb"] > 0
