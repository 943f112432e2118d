"""Whole games as jobs: refusals, files, and stopping without loss."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_games import EXACT, kept_numbers, small_config, write_small
from harness.pressing import press_in

from allstreets.base import InputError, write_checked_arrays
from allstreets.cards import subset_counts
from allstreets.cli.main import main
from allstreets.games import estimates
from allstreets.jobs import Progress, loop
from allstreets.jobs.job import Callbacks
from allstreets.jobs.stopping import Intervals
from allstreets.jobs.whole_game import UnifiedOutcome, plan_unified
from allstreets.solvers.whole_game import WholeGameSolver
from allstreets.storage import checkpoints, game_bundle, load_unified
from allstreets.storage.checkpoints import CheckpointWarning
from allstreets.storage.mapped import write_mapped

FOREVER = 1_000_000  # epochs
BATCHES: list[dict[str, Any]] = [
    {},
    {"flop_batch_size": 1, "iterations_per_batch": 3, "flops": "spread_3", "epochs": 2},
    {
        "flop_batch_size": 2,
        "iterations_per_batch": 3,
        "flop_choice": "reach",
        "flops": "spread_3",
        "epochs": 3,
    },
]


def run(
    folder: Path | None = None,
    *,
    resume: bool = False,
    observers: Sequence[Callable[[Progress], None]] = (),
    **keys: Any,
) -> UnifiedOutcome:
    job = plan_unified(
        small_config(**keys), folder, resume=resume, name="small", description="for a test"
    )
    return job.run(Callbacks(progress=tuple(observers)))


def numbers(solver: WholeGameSolver) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in solver.state().items()}


def stored(folder: Path) -> list[int]:
    """The iterations at which there are checkpoints."""
    found = (folder / "checkpoints").glob("checkpoint-*")
    return sorted(int(path.name.removeprefix("checkpoint-")) for path in found)


def checks(folder: Path) -> list[dict[str, Any]]:
    """The lines of the metrics file, without what depends on the clock."""
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [
        {key: row[key] for key in ("iteration", "exploitability", "max_regret")} for row in rows
    ]


@pytest.mark.parametrize("keys", BATCHES)
def test_a_resumed_run_is_the_uninterrupted_one(tmp_path: Path, keys: dict[str, Any]) -> None:
    """In the middle of an epoch and of a batch, and on with another number of threads."""
    whole = run(tmp_path / "whole", **keys)
    assert whole.training.reason == "iterations"
    total = whole.solver.iterations
    assert total == whole.job.iterations == {0: 12, 1: 18, 2: 18}[BATCHES.index(keys)]
    assert stored(tmp_path / "whole")[-1] == total

    def crash(progress: Progress) -> None:
        if progress.iteration == 8:
            raise RuntimeError("the lights went out")

    with pytest.raises(RuntimeError, match="lights"):
        run(tmp_path / "parts", observers=[crash], **keys)
    assert stored(tmp_path / "parts") == [4]
    resumed = run(tmp_path / "parts", resume=True, **keys, threads=2)
    assert (resumed.solver.iterations, resumed.training.reason) == (total, "iterations")
    assert numbers(resumed.solver) == numbers(whole.solver)
    assert kept_numbers(tmp_path / "parts") == kept_numbers(tmp_path / "whole")
    assert checks(tmp_path / "parts") == checks(tmp_path / "whole")
    assert resumed.figures.exploitability == whole.figures.exploitability
    # A run that has ended is not trained further.
    again = run(tmp_path / "parts", resume=True, **keys)
    assert numbers(again.solver) == numbers(whole.solver)


def test_a_run_goes_on_however_its_sizes_are_spelled(tmp_path: Path) -> None:
    run(tmp_path / "run", raise_sizes=["3.0bb"], postflop_bet_sizes=["100.0%"], epochs=8)
    resumed = run(tmp_path / "run", resume=True, raise_sizes=["3bb"], postflop_bet_sizes=[1])
    whole = run(tmp_path / "whole", raise_sizes=["3bb"])
    assert numbers(resumed.solver) == numbers(whole.solver)
    assert kept_numbers(tmp_path / "run") == kept_numbers(tmp_path / "whole")
    told = refused(tmp_path / "run", resume=True, raise_sizes=["4bb"])
    assert 'preflop.raise_sizes.sb [["3bb"]] there, [["4bb"]] here' in told


def test_threads_do_not_change_a_bit(tmp_path: Path) -> None:
    one = run(tmp_path / "one", flops="spread_5", threads=1)
    two = run(tmp_path / "two", flops="spread_5", threads=2)
    assert numbers(one.solver) == numbers(two.solver)
    assert kept_numbers(tmp_path / "one") == kept_numbers(tmp_path / "two")


def test_what_is_kept(tmp_path: Path) -> None:
    outcome = run(tmp_path / "run")
    assert {path.name.partition("-")[0] for path in (tmp_path / "run").iterdir()} == {
        ".lock",
        "checkpoints",
        "flops",
        "manifest.json",
        "metrics.jsonl",
        "preflop",
    }
    result = load_unified(tmp_path / "run")
    assert (result.iterations, result.facts.name) == (12, "small")
    assert result.facts.description == "for a test"
    assert result.exploitability == outcome.figures.exploitability
    assert result.values == outcome.figures.values
    assert [row["iteration"] for row in result.metrics] == [4, 8, 12]
    assert result.facts.config["stack_depth"] == 6
    told = outcome.to_json()
    assert (told["iterations"], told["flops"], told["cards"]) == (12, 2, "classes")
    assert told["memory_bytes"] == outcome.solver.memory_bytes
    assert (told["saved_bytes"], told["saved_share"]) == (0, 0.0)
    assert json.loads(json.dumps(told)) == told


def test_play_before_the_flop_can_be_all_that_is_kept(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", epochs=10, checkpoint_interval=4)
    small = run(tmp_path / "small", epochs=10, checkpoint_interval=4, store="preflop")
    assert not any(path.name.startswith("flops") for path in (tmp_path / "small").iterdir())
    held = [
        sorted(path.name for path in (tmp_path / name / "checkpoints").glob("[!.]*"))
        for name in ("whole", "small")
    ]
    assert (len(held[0]), held[0][0]) == (2, held[1][-1])  # that of the end is not there
    kept, full = (load_unified(tmp_path / name) for name in ("small", "whole"))
    assert not kept.has_flops
    # What is trained, where the other solution is rounded.
    metrics = small.training.progress.fresh_metrics
    assert metrics is not None
    assert kept.exploitability == pytest.approx(metrics.exploitability)
    assert kept.exploitability == pytest.approx(full.exploitability, rel=0.05)
    assert small.figures.values == pytest.approx(whole.figures.values, abs=0.1)
    for node, strategy in kept.before.strategies.items():
        np.testing.assert_array_equal(strategy, full.before.strategies[node])
    with pytest.raises(InputError, match="stores no strategies after the flop"):
        kept.values_at(full.game.flops.flops[0].text)


@pytest.mark.parametrize("memory", ["resident", "memmap"])
def test_a_run_that_closes_hands_goes_on_and_says_what_it_saved(
    tmp_path: Path, memory: str
) -> None:
    """Checkpoints hold what is stored and nothing of what is not."""
    keys: dict[str, Any] = {
        "epochs": 40,
        "drop_unplayed_every": 6,
        "checkpoint_interval": 8,
        "memory": memory,
    }
    whole = run(tmp_path / "whole", **keys)

    def crash(progress: Progress) -> None:
        if progress.iteration == 36:
            raise RuntimeError("the lights went out")

    with pytest.raises(RuntimeError, match="lights"):
        run(tmp_path / "parts", observers=[crash], **keys)
    resumed = run(tmp_path / "parts", resume=True, **keys, threads=2)
    assert numbers(resumed.solver) == numbers(whole.solver)
    assert kept_numbers(tmp_path / "parts") == kept_numbers(tmp_path / "whole")
    told, full = whole.to_json(), run(epochs=1).solver.memory_bytes
    assert told["memory_bytes"] + told["saved_bytes"] == full
    assert told["saved_share"] == pytest.approx(told["saved_bytes"] / full)
    assert told["saved_share"] > 0.05
    rows = [
        json.loads(line) for line in (tmp_path / "whole/metrics.jsonl").read_text().splitlines()
    ]
    sizes = [row["solver_bytes"] for row in rows]
    assert sizes[0] == full
    assert sizes[-1] == told["memory_bytes"] < full


def test_the_run_ends_when_a_target_is_reached() -> None:
    outcome = run(epochs=1000, exploitability_threshold=30, stable_epochs=2)
    assert outcome.training.reason == "exploitability_threshold"
    found = [check.metrics.exploitability for check in outcome.training.history]
    assert all(gap is not None for gap in found)
    below = [gap is not None and gap <= 30 for gap in found]
    assert below[-2:] == [True, True]
    assert not any(first and second for first, second in pairwise(below[:-1]))
    outcome = run(epochs=100_000, time_limit_seconds=0.1)
    assert outcome.training.reason == "time"


def test_how_often_a_run_is_judged_and_saved() -> None:
    def intervals(**keys: Any) -> Intervals:
        keys = {"check_interval": None, "checkpoint_interval": None, "epochs": 5000, **keys}
        return plan_unified(small_config(**keys)).intervals()

    assert intervals(check_interval=7, checkpoint_interval=9) == Intervals(7, 9)
    assert intervals().check == 10
    # A check looks at all flops, an iteration at the batch; and never within an epoch.
    assert intervals(flops="spread_8", flop_batch_size=2).check == 40
    assert intervals(flops="spread_8", flop_batch_size=2, iterations_per_batch=30).check == 120
    assert intervals(epochs=3).check == 3
    job = plan_unified(small_config(checkpoint_interval=None, epochs=10**8))
    assert job.intervals().checkpoint * job.need.seconds_per_iteration == pytest.approx(300, 0.01)


# Runs that are stopped.


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")
@pytest.mark.long
def test_killed_at_any_write_a_run_loses_at_most_one_interval(tmp_path: Path) -> None:
    """Long: every write is tried."""
    keys: dict[str, Any] = {"flops": "spread_3", "flop_batch_size": 2, "iterations_per_batch": 3}
    folder = tmp_path / "run"
    deaths = kill_runs(write_small(tmp_path / "game.yaml", **keys, epochs=FOREVER), folder)
    for checked, at in deaths:
        assert at >= checked - 4
    assert [at for _, at in deaths] == sorted(at for _, at in deaths)
    epochs = deaths[-1][1] // 6 + 3
    file = write_small(tmp_path / "game.yaml", **keys, epochs=epochs)
    assert main(["train", str(file), "--output", str(folder), "--resume"]) == 0
    whole = run(tmp_path / "whole", **keys, epochs=epochs)
    resumed = plan_unified(small_config(**keys, epochs=epochs)).solver()
    last = checkpoints.latest_checkpoint(folder / "checkpoints", resumed.identity)
    assert last.iterations == whole.solver.iterations == 6 * epochs
    assert {name: array.tobytes() for name, array in last.arrays.items()} == numbers(whole.solver)
    assert kept_numbers(folder) == kept_numbers(tmp_path / "whole")
    assert checks(folder) == checks(tmp_path / "whole")
    assert len(stored(folder)) == 2
    assert not [path for path in (folder / "checkpoints").iterdir() if path.suffix == ".new"]


def kill_runs(file: Path, folder: Path) -> list[tuple[int, int]]:
    """Let runs die at their n-th write; after each, the last reported check and checkpoint."""
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(file), str(folder), "2", "5", "8"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert done.returncode == 0, done.stderr
    return [(checked, at) for checked, at in json.loads(done.stdout.splitlines()[-1])]


KILLER = """
import json, os, signal, sys
from pathlib import Path
import allstreets.jobs.whole_game
from allstreets.cli.main import main
file, folder, found = sys.argv[1], Path(sys.argv[2]), []

def die_at_write(number):
    sync, calls = os.fsync, iter(range(number))
    def dying(descriptor):
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        sync(descriptor)
    os.fsync = dying

for number in map(int, sys.argv[3:]):
    resume = ["--resume"] if list(folder.glob("checkpoints/checkpoint-*")) else []
    if not (child := os.fork()):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        die_at_write(number)
        os._exit(main(["train", file, "--output", str(folder), *resume]))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    rows = [json.loads(line)["iteration"] for line in open(folder / "metrics.jsonl")]
    at = [int(path.name.split("-")[1]) for path in folder.glob("checkpoints/checkpoint-*")]
    found.append((max(rows, default=0), max(at, default=0)))
print(json.dumps(found))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_saves_and_says_how_to_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    folder, file = tmp_path / "run", write_small(tmp_path / "a game.yaml", epochs=FOREVER)
    with monkeypatch.context() as patch:
        press_in(patch, loop, "save_checkpoint", signal.Signals[name])
        # While the solution is written: the save continues.
        press_in(patch, game_bundle, "write_mapped", signal.Signals[name])
        assert main(["train", str(file), "--output", str(folder)]) == 130
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    assert f"Saving to {folder} …; Ctrl-C twice more leaves at once." in err
    assert "once more leaves at once, and what was solved after iteration 4 is lost." in err
    again = f'allstreets train "{file}" --output {folder} --resume'
    assert f"Interrupted; saved in {folder}. Continue: {again}" in out
    assert stored(folder) == [4]
    assert load_unified(folder).iterations == 4
    write_small(file, epochs=7)
    assert main(["train", str(file), "--output", str(folder), "--resume"]) == 0
    run(tmp_path / "whole", epochs=7)
    assert kept_numbers(folder) == kept_numbers(tmp_path / "whole")


# Disks.


def test_a_full_disk_costs_nothing_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def full(path: Path, *arguments: Any) -> Any:
        written.append(path)
        if len(written) >= 3:
            path.write_bytes(b"half of it")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_checked_arrays(path, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write_checked_arrays", full)
        outcome = run(tmp_path / "run")
    assert outcome.training.unsaved is not None
    assert "cannot write the checkpoint of iteration 12 to" in outcome.training.unsaved
    assert "No space left on device" in outcome.training.unsaved
    assert "then continue with --resume" in outcome.training.unsaved
    assert stored(tmp_path / "run") == [4, 8]
    assert load_unified(tmp_path / "run").iterations == 12  # the solution needs less room
    resumed, whole = run(tmp_path / "run", resume=True), run()
    assert numbers(resumed.solver) == numbers(whole.solver)


@pytest.mark.parametrize("file", ["arrays-000.safetensors", "manifest.json"])
def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path, file: str) -> None:
    run(tmp_path / "run", epochs=10)
    assert stored(tmp_path / "run") == [8, 10]
    path = tmp_path / "run" / "checkpoints" / "checkpoint-000000000010" / file
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)
    with pytest.warns(CheckpointWarning, match="resuming from iteration 8 instead"):
        resumed = run(tmp_path / "run", resume=True, epochs=14)
    assert numbers(resumed.solver) == numbers(run(epochs=14).solver)


def test_no_room_for_the_solution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The result is printed all the same, and a user at a terminal may name another folder."""
    folder, other = tmp_path / "run", tmp_path / "other"
    file = write_small(tmp_path / "game.yaml")
    command = ["train", str(file), "--output", str(folder)]
    answers = iter([str(folder), str(other)])

    def full(path: Path, *arguments: Any) -> Any:
        if other not in path.parents:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_mapped(path, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(game_bundle, "write_mapped", full)
        assert main(command) == 2
        out, err = capsys.readouterr()
        assert "Exploitability of the whole game" in out
        assert re.search(r"Error: cannot write the solution to .*No space left", err)
        assert "The solution is not saved" in err
        assert "Traceback" not in err
        patch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        patch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        patch.setattr("typer.prompt", lambda *_, **__: next(answers))
        assert main([*command, "--resume"]) == 0
    out, err = capsys.readouterr()
    assert f"allstreets report {other}" in out
    assert err.count("cannot write the solution") == 2
    assert stored(folder)[-1] == 12
    assert main([*command, "--resume"]) == 0
    assert kept_numbers(folder) == kept_numbers(other)


# What is refused.


def refused(folder: Path | None, *, resume: bool = False, **keys: Any) -> str:
    with pytest.raises(InputError) as error:
        run(folder, resume=resume, **keys)
    message = str(error.value)
    assert len(message.splitlines()) <= 2
    return message


def test_folders_that_hold_something_else(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(folder, epochs=4)
    before = kept_numbers(folder)
    message = "already contains a solution of 4 iterations; continue it with --resume"
    assert message in refused(folder)
    for keys in ({"stack_depth": 7}, {"flops": "spread_3"}, {"algorithm": "cfr+"}, {"seed": 2}):
        told = refused(folder, resume=True, **keys)
        assert "belongs to another run: " in told
        assert re.search(r"preflop|flops|algorithm|seed", told)
    assert kept_numbers(folder) == before
    assert stored(folder) == [4]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear all")
    assert "contains other files" in refused(tmp_path / "mine")
    (tmp_path / "file").write_text("")
    assert "is a file" in refused(tmp_path / "file")
    assert "contains no checkpoint; start the run without --resume" in refused(
        tmp_path / "new", resume=True
    )
    assert not (tmp_path / "new").exists()
    assert "--resume needs --output" in refused(None, resume=True)
    assert "memory memmap needs --output" in refused(None, memory="memmap")


def test_a_run_that_died_before_its_first_checkpoint_is_begun_again(tmp_path: Path) -> None:
    def crash(progress: Progress) -> None:
        if progress.iteration == 4:
            raise RuntimeError("the lights went out")

    with pytest.raises(RuntimeError, match="lights"):
        run(tmp_path / "run", observers=[crash])
    assert "start the run without --resume" in refused(tmp_path / "run", resume=True)
    assert run(tmp_path / "run").solver.iterations == 12
    assert [row["iteration"] for row in checks(tmp_path / "run")] == [4, 8, 12]


def test_games_that_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    free = 600_000_000
    monkeypatch.setattr(estimates, "available_bytes", lambda: free)
    keys: dict[str, Any] = {"stack_depth": 20, "raise_cap": 4, "postflop_bet_sizes": [0.5, 1.0]}
    told = refused(None, **keys, flops="all")
    first, advice = told.splitlines()
    assert re.fullmatch(r"this game needs \d+\.\d GB of memory and 0\.6 GB are free\.", first)
    assert "memory: memmap (regrets on disk, slower)" in advice
    assert "one bet size fewer (" in advice
    fitting = re.search(r"flops: (subset_(\d+))", advice)
    assert fitting is not None
    plan_unified(small_config(**keys, flops=fitting[1])).require()
    more = plan_unified(small_config(**keys, flops=f"subset_{_next_subset(int(fitting[2]))}"))
    with pytest.raises(InputError, match="this game needs"):
        more.require()
    told = refused(None, **keys, flops="all", memory="per_batch", flop_batch_size=300)
    assert "a smaller flop_batch_size" in told
    assert "subset_" not in told
    small = small_config(**keys, flops="spread_400", memory="per_batch", flop_batch_size=2)
    plan_unified(small).require()
    told = refused(None, **{**keys, **EXACT, "stack_depth": 20, "raise_cap": 4})
    assert "precision: float16 (half the memory); river_groups: suits" in told
    assert "spread_" not in told  # not even one flop fits
    assert "subset_" not in told


def _next_subset(count: int) -> int:
    return min(one for one in subset_counts() if one > count)


def test_pruning_that_means_nothing_is_refused_before_the_run(tmp_path: Path) -> None:
    told = refused(tmp_path / "run", prune_warmup=5, prune_threshold="-3*log(t)")
    assert "prune_threshold: '-3*log(t)' is not a threshold" in told
    assert not (tmp_path / "run").exists()
