"""The loop: its ends, its files, and resumed runs that equal uninterrupted ones."""

import errno
import json
import math
import os
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.matrix_game import MatrixGameSolver, random_game

from allstreets.base import InputError
from allstreets.base.control import SIGNALS, Control
from allstreets.cfr.metrics import Metrics
from allstreets.jobs import (
    Every,
    ExploitabilityThreshold,
    Intervals,
    Iterations,
    Progress,
    RegretThreshold,
    RunFiles,
    StopRule,
    TimeLimit,
    TrainingOutcome,
    metrics_file,
    train,
)
from allstreets.jobs.loop import BatchCallback
from allstreets.storage import CheckpointWarning, latest_checkpoint


def solver(seed: int = 1, game: str = "random") -> MatrixGameSolver:
    return MatrixGameSolver(random_game(), game=game, seed=seed, sampled=True)


def exact_solver() -> MatrixGameSolver:
    return MatrixGameSolver(random_game(), game="random")


class Clock:
    """A clock that moves by a fixed step whenever it is read."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def interrupt_at(iteration: int) -> Callable[[Progress], None]:
    """An observer that presses Ctrl-C once, truly, when it sees this iteration or a later one."""
    pressed = False

    def observe(progress: Progress) -> None:
        nonlocal pressed
        if progress.iteration >= iteration and not pressed:
            pressed = True
            signal.raise_signal(signal.SIGINT)

    return observe


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


def names(folder: Path) -> list[int]:
    return sorted(int(path.name.split("-")[1]) for path in folder.glob("checkpoint-*"))


def figures(path: Path) -> list[dict[str, Any]]:
    """The metrics file without what depends on the speed of the machine."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    timed = {"seconds", "iterations_per_second", "process_bytes"}
    return [{key: row[key] for key in row.keys() - timed} for row in rows]


def assert_same_state(one: MatrixGameSolver, other: MatrixGameSolver) -> None:
    first, second = one.state(), other.state()
    assert first.keys() == second.keys()
    for name in first:
        assert first[name].dtype == second[name].dtype
        assert first[name].tobytes() == second[name].tobytes(), name


def run(
    trained: MatrixGameSolver,
    folder: Path,
    iterations: int = 1000,
    *,
    resume: bool = False,
    observers: Sequence[Callable[[Progress], None]] = (),
    checkpoint: int = 250,
) -> TrainingOutcome:
    return train(
        trained,
        [Iterations(iterations)],
        intervals=Intervals(check=100, checkpoint=checkpoint),
        files=RunFiles(folder, folder / "metrics.jsonl", resume=resume),
        observers=observers,
        clock=Clock(0.06),  # so that most iterations are reported to the observers
    )


def test_a_fixed_number_of_iterations() -> None:
    trained = exact_solver()
    outcome = train(trained, [Iterations(250)])
    assert outcome.reason == "iterations"
    assert not outcome.converged
    assert trained.iterations == 250
    assert [check.iteration for check in outcome.history] == [100, 200, 250]
    assert outcome.history[-1].metrics == trained.metrics()
    assert outcome.progress.holding == ("iterations",)
    assert outcome.progress.check == outcome.history[-1]
    assert outcome.checkpoints is None


def test_thresholds_stop_at_the_first_check_where_they_hold() -> None:
    full = train(exact_solver(), [Iterations(3000)]).history
    for rule, name in (
        (ExploitabilityThreshold, "exploitability"),
        (RegretThreshold, "avg_positive_regret"),
    ):
        target = 0.4 * getattr(full[0].metrics, name)
        expected = next(c.iteration for c in full if getattr(c.metrics, name) <= target)
        outcome = train(exact_solver(), [rule(target), Iterations(3000)])
        assert outcome.reason == rule.name
        assert outcome.converged
        assert outcome.progress.iteration == expected
        assert 100 < expected < 3000


def test_a_check_interval_of_one_stops_at_once() -> None:
    rules: list[StopRule] = [ExploitabilityThreshold(100.0)]
    assert train(exact_solver(), rules, intervals=Intervals(1, 1)).progress.iteration == 1


def test_the_time_limit_stops_within_a_batch() -> None:
    trained = exact_solver()
    outcome = train(trained, [TimeLimit(20.0), Iterations(10_000)], clock=Clock(0.1))
    assert outcome.reason == "time"
    assert 0 < trained.iterations < 100
    assert outcome.history[-1].iteration == trained.iterations
    assert outcome.progress.session_seconds >= 20


def test_the_time_left_ends_at_the_nearer_of_the_total_and_the_time_limit() -> None:
    seen: list[Progress] = []
    train(
        exact_solver(),
        [TimeLimit(20.0), Iterations(10_000)],
        observers=[seen.append],
        clock=Clock(0.1),
    )
    assert len(seen) > 3
    for progress in seen:
        assert progress.eta_seconds == pytest.approx(max(20.0 - progress.session_seconds, 0.0))
    assert [progress.total for progress in seen[-2:]] == [None, None]  # 10,000 take longer

    seen.clear()
    train(exact_solver(), [TimeLimit(1e6), Iterations(100)], observers=[seen.append])
    assert (seen[-1].eta_seconds, seen[-1].total) == (0.0, 100)

    seen.clear()
    train(exact_solver(), [Iterations(100)], observers=[seen.append], clock=Clock(0.1))
    assert all(p.eta_seconds is None or p.eta_seconds < 1e6 for p in seen)


def test_a_resumed_run_is_the_same_run(tmp_path: Path) -> None:
    """Interrupted at odd moments, resumed each time in a new solver: every bit is the same."""
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    uninterrupted = solver()
    run(uninterrupted, whole)
    reached: list[int] = []
    for stop in (30, 137, 200, 433, 800):
        piece = solver()
        outcome = run(piece, pieces, resume=bool(reached), observers=[interrupt_at(stop)])
        assert outcome.reason == "interrupted"
        assert outcome.checkpoints == pieces
        assert outcome.progress.iteration == piece.iterations
        reached.append(piece.iterations)
        assert names(pieces)[-1] == piece.iterations
    assert reached == sorted(set(reached))
    assert all(
        stop <= at <= stop + 20 for stop, at in zip((30, 137, 200, 433, 800), reached, strict=True)
    )
    last = solver()
    outcome = run(last, pieces, resume=True)
    assert outcome.reason == "iterations"
    assert_same_state(last, uninterrupted)
    assert [c.iteration for c in outcome.history] == list(range(100, 1001, 100))
    assert figures(pieces / "metrics.jsonl") == figures(whole / "metrics.jsonl")
    assert names(whole) == [750, 1000]
    assert names(pieces)[-1] == 1000


def test_a_run_that_continues_beyond_its_first_end(tmp_path: Path) -> None:
    run(solver(), tmp_path, 250)
    longer = solver()
    outcome = run(longer, tmp_path, 400, resume=True)
    assert longer.iterations == 400
    assert [row["iteration"] for row in figures(tmp_path / "metrics.jsonl")] == [
        100,
        200,
        250,
        300,
        400,
    ]
    assert outcome.history[0].iteration == 100
    assert outcome.progress.seconds > outcome.progress.session_seconds
    other = solver()
    run(other, tmp_path / "other", 400)
    assert_same_state(longer, other)


def test_resuming_a_finished_run_ends_at_once(tmp_path: Path) -> None:
    run(solver(), tmp_path, 300)
    before = contents(tmp_path)
    again = solver()
    outcome = run(again, tmp_path, 200, resume=True)
    assert outcome.reason == "iterations"
    assert again.iterations == outcome.progress.iteration == 300
    assert contents(tmp_path) == before


def test_a_damaged_checkpoint_costs_one_interval(tmp_path: Path) -> None:
    run(solver(), tmp_path, 700)
    newest = tmp_path / "checkpoint-000000000700" / "arrays-000.safetensors"
    newest.write_bytes(newest.read_bytes()[:-5])
    resumed, uninterrupted = solver(), solver()
    with pytest.warns(CheckpointWarning, match="resuming from iteration 500 instead"):
        run(resumed, tmp_path, 1000, resume=True)
    run(uninterrupted, tmp_path / "whole", 1000)
    assert_same_state(resumed, uninterrupted)
    assert figures(tmp_path / "metrics.jsonl") == figures(tmp_path / "whole" / "metrics.jsonl")
    assert names(tmp_path) == [750, 1000]


def test_a_fresh_run_does_not_touch_another(tmp_path: Path) -> None:
    run(solver(), tmp_path, 300)
    before = contents(tmp_path)
    fresh = solver()
    with pytest.raises(InputError) as error:
        run(fresh, tmp_path, 300)
    assert str(error.value) == (
        f"{tmp_path} already contains a run (checkpoint-000000000250); "
        "continue it with --resume, or name another folder"
    )
    assert fresh.iterations == 0
    assert contents(tmp_path) == before


def test_a_checkpoint_of_another_game(tmp_path: Path) -> None:
    run(solver(), tmp_path, 300)
    before = contents(tmp_path)
    other = solver(game="other", seed=2)
    with pytest.raises(InputError) as error:
        run(other, tmp_path, 300, resume=True)
    assert str(error.value) == (
        f"{tmp_path}/checkpoint-000000000300 belongs to another run: "
        'game "random" there, "other" here; seed 1 there, 2 here.\n'
        "Resume with the settings it was made with, or name another folder."
    )
    assert other.iterations == 0
    assert contents(tmp_path) == before


def test_nothing_to_resume(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    with pytest.raises(InputError) as error:
        run(solver(), folder, resume=True)
    assert str(error.value) == f"{folder} contains no checkpoint; start the run without --resume"
    assert not folder.exists()
    with pytest.raises(InputError, match="--resume needs the folder with the checkpoints"):
        RunFiles(resume=True)


def test_a_flipped_byte_in_the_metrics_does_not_block(tmp_path: Path) -> None:
    run(solver(), tmp_path, 300)
    path = tmp_path / "metrics.jsonl"
    data = bytearray(path.read_bytes())
    data[0] ^= 0x80
    path.write_bytes(data)
    with pytest.warns(CheckpointWarning, match="line 1: damaged; rewritten"):
        run(solver(), tmp_path, 600, resume=True)
    run(solver(), tmp_path / "whole", 600)
    assert figures(path) == figures(tmp_path / "whole" / "metrics.jsonl")


def test_two_runs_in_one_folder(tmp_path: Path) -> None:
    problems: list[str] = []

    def start_another(progress: Progress) -> None:
        if progress.iteration >= 300 and not problems:
            with pytest.raises(InputError) as error:
                run(solver(), tmp_path, resume=True)
            problems.append(str(error.value))

    run(solver(), tmp_path, 600, observers=[start_another])
    assert problems == [
        f"another run is writing to {tmp_path}; wait for it to end or name another folder"
    ]


def test_bad_rules_leave_no_trace(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(InputError, match="nothing would end this run"):
        train(solver(), [], files=RunFiles(folder, folder / "metrics.jsonl"))
    assert not folder.exists()
    with pytest.raises(InputError, match="the check interval must be at least 1, not 0"):
        Intervals(check=0)
    with pytest.raises(InputError, match="the checkpoint interval must be at least 1, not -3"):
        Intervals(checkpoint=-3)


def full_disk(monkeypatch: pytest.MonkeyPatch, until: float = math.inf) -> Callable[..., None]:
    """An observer that fills the disk at iteration 600 and makes room at `until`."""
    sync, full = os.fsync, False

    def fail_when_full(descriptor: int) -> None:
        if full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    def fill(progress: Progress) -> None:
        nonlocal full
        full = 600 <= progress.iteration < until

    monkeypatch.setattr(os, "fsync", fail_when_full)
    return fill


def test_a_disk_that_is_full_for_a_while_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.warns(CheckpointWarning) as told:
        outcome = run(solver(), tmp_path, observers=[full_disk(monkeypatch, 900)])
    assert [str(each.message) for each in told] == [
        f"cannot write the checkpoint of iteration 750 to {tmp_path}: No space left on device; "
        "the run continues, make room"
    ]
    assert outcome.unsaved is None
    assert names(tmp_path) == [500, 1000]


def test_a_full_disk_at_the_end_is_part_of_the_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained = solver()
    with monkeypatch.context() as patch:
        fill = full_disk(patch)
        with pytest.warns(CheckpointWarning):
            outcome = run(trained, tmp_path, observers=[fill])
    assert (outcome.reason, trained.iterations) == ("iterations", 1000)
    assert outcome.unsaved is not None
    assert outcome.unsaved.startswith(
        f"cannot write the checkpoint of iteration 1,000 to {tmp_path}: No space left on device\n"
        "Earlier checkpoints are kept. Make room"
    )
    assert names(tmp_path) == [250, 500]
    resumed, uninterrupted = solver(), solver()
    run(resumed, tmp_path, resume=True)
    run(uninterrupted, tmp_path / "whole")
    assert_same_state(resumed, uninterrupted)
    assert figures(tmp_path / "metrics.jsonl") == figures(tmp_path / "whole" / "metrics.jsonl")


def test_a_metrics_file_that_cannot_be_written_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = metrics_file.append

    def failing(path: Path, row: dict[str, Any]) -> None:
        if row["iteration"] == 300:
            path.write_bytes(path.read_bytes() + b'{"iterat')
            raise InputError(f"cannot write the metrics file {path}: No space left on device")
        append(path, row)

    monkeypatch.setattr(metrics_file, "append", failing)
    with pytest.warns(CheckpointWarning, match="No space left on device; the run continues"):
        run(solver(), tmp_path)
    rows = figures(tmp_path / "metrics.jsonl")
    assert [row["iteration"] for row in rows] == list(range(100, 1001, 100))


def test_how_a_run_is_cut_makes_no_difference() -> None:
    one, other = solver(), solver()
    train(one, [Iterations(300)], intervals=Intervals(7, 13))
    train(other, [Iterations(300)], intervals=Intervals(1000, 1000))
    assert_same_state(one, other)


def test_what_observers_are_told() -> None:
    seen: list[Progress] = []
    trained = exact_solver()
    outcome = train(
        trained,
        [Iterations(400), ExploitabilityThreshold(1e-6)],
        observers=[seen.append],
        clock=Clock(0.01),
    )
    assert seen[0].iteration == 0
    assert seen[0].check is None
    assert seen[-1] == outcome.progress
    assert [p.iteration for p in seen] == sorted(p.iteration for p in seen)
    between = [p for p in seen if p.fresh_metrics is None and p.iteration > 0]
    assert len(between) > 10
    assert all(p.total == 400 and p.unit == "chips" for p in seen)
    last = seen[-2]
    assert last.iterations_per_second is not None
    assert last.eta_seconds == pytest.approx((400 - last.iteration) / last.iterations_per_second)
    assert any(p.target_eta_seconds for p in seen)
    assert last.solver_bytes == trained.memory_bytes == 4 * 20 * 8
    assert last.process_bytes is not None
    assert 10e6 < last.process_bytes < 10e9
    assert [p.holding for p in seen if p.holding] == [("iterations",)]


def test_what_is_told_regularly() -> None:
    """At its own multiples, with the figures of that iteration where there was a check."""
    told: dict[int, list[tuple[int, int | None]]] = {7: [], 20: []}

    def observer(interval: int) -> Callable[[Progress], None]:
        def observe(progress: Progress) -> None:
            checked = progress.check.iteration if progress.check else None
            told[interval].append((progress.iteration, checked))

        return observe

    plain, watched = solver(), solver()
    train(plain, [Iterations(42)], intervals=Intervals(10, 15))
    train(
        watched,
        [Iterations(42)],
        intervals=Intervals(10, 15),
        regularly=[Every(interval, observer(interval)) for interval in told],
    )
    assert told[7] == [(7, None), (14, 10), (21, 20), (28, 20), (35, 30), (42, 42)]
    assert told[20] == [(20, 20), (40, 40)]
    assert_same_state(plain, watched)
    with pytest.raises(InputError, match="must be at least 1, not 0"):
        Every(0, observer(7))


def test_ctrl_c_is_given_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    outcome = train(
        exact_solver(), [Iterations(5000)], observers=[interrupt_at(50)], clock=Clock(1)
    )
    assert outcome.reason == "interrupted"
    assert outcome.progress.holding == ()
    assert signal.getsignal(signal.SIGINT) is before


def press_at(iteration: int, *numbers: int) -> Callable[[Progress], None]:
    """An observer that sends these signals when it sees this iteration or a later one, once."""
    left = list(numbers)

    def observe(progress: Progress) -> None:
        while progress.iteration >= iteration and left:
            signal.raise_signal(left.pop())

    return observe


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_waits_for_the_save(tmp_path: Path, number: int) -> None:
    before = signal.signal(number, signal.default_int_handler)
    try:
        trained = solver()
        outcome = run(trained, tmp_path, observers=[press_at(300, number, number)])
    finally:
        signal.signal(number, before)
    assert outcome.reason == "interrupted"
    assert names(tmp_path)[-1] == trained.iterations < 400


def test_a_third_leaves_without_saving(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    presses = press_at(300, *[signal.SIGINT] * 3)
    told = "Left at once: what was solved after iteration 250 is lost"
    with pytest.raises(KeyboardInterrupt, match=told):
        run(solver(), tmp_path, observers=[presses])
    assert signal.getsignal(signal.SIGINT) is before
    assert names(tmp_path) == [250]


def test_a_wish_from_before_the_first_iteration(tmp_path: Path) -> None:
    """User code has swallowed the exception: the run does not begin all the same."""

    def swallow(progress: Progress) -> None:
        if progress.iteration == 0:
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)

    untrained = solver()
    with pytest.raises(KeyboardInterrupt):
        run(untrained, tmp_path, observers=[swallow])
    assert untrained.iterations == 0
    assert names(tmp_path) == []


class Steered(Control):
    """Pauses at an iteration, for so long by the clock, and stops at another one."""

    def __init__(
        self, clock: Clock, *, pause_at: float = math.inf, stop_at: float = math.inf
    ) -> None:
        self.clock, self.pause_at, self.stop_at = clock, pause_at, stop_at
        self.seen: list[Progress] = []

    def __call__(self, progress: Progress) -> None:
        self.seen.append(progress)

    def _at(self, iteration: float) -> bool:
        return bool(self.seen) and self.seen[-1].iteration >= iteration

    def wants_to_stop(self) -> bool:
        return self._at(self.stop_at)

    def is_paused(self) -> bool:
        return self._at(self.pause_at)

    def wait_while_paused(self) -> None:
        assert self.seen[-1].paused
        self.pause_at = math.inf
        self.clock.now += 1000.0


def steer(trained: MatrixGameSolver, control: Steered, iterations: int = 200) -> TrainingOutcome:
    rules: list[StopRule] = [Iterations(iterations), TimeLimit(900.0)]
    return train(trained, rules, observers=[control], clock=control.clock, control=control)


def test_a_control_stops_the_run() -> None:
    control = Steered(Clock(0.1), stop_at=50)
    outcome = steer(exact_solver(), control)
    assert outcome.reason == "interrupted"
    assert outcome.progress.iteration == 50
    assert not any(progress.paused for progress in control.seen)


def test_time_stands_still_while_a_run_is_paused() -> None:
    control, trained, unpaused = Steered(Clock(0.1), pause_at=137), solver(), solver()
    outcome = steer(trained, control)
    assert outcome.reason == "iterations"  # and not the time, which the pause was longer than
    (place,) = (n for n, progress in enumerate(control.seen) if progress.paused)
    before, after = control.seen[place], control.seen[place + 1]
    assert before.iteration == after.iteration == 137
    assert before == replace(after, paused=True)
    seconds = [progress.session_seconds for progress in control.seen]
    assert seconds == sorted(seconds)
    steer(unpaused, Steered(Clock(0.1)))
    assert_same_state(trained, unpaused)


def test_a_paused_run_is_stopped_where_it_stands() -> None:
    control, trained = Steered(Clock(0.1), pause_at=137, stop_at=137), solver()
    outcome = steer(trained, control)
    assert outcome.reason == "interrupted"
    assert trained.iterations == control.seen[-1].iteration == 137
    assert control.seen[-1].paused  # it did not say that it went on


def test_a_run_that_is_over_does_not_pause() -> None:
    control = Steered(Clock(0.1), pause_at=200)
    assert steer(exact_solver(), control).reason == "iterations"
    assert not any(progress.paused for progress in control.seen)


def test_what_killed_writers_left_is_cleared_away_at_the_start(tmp_path: Path) -> None:
    left = tmp_path / ".checkpoint-000000000250.0a1b2c3d.new"
    left.mkdir()
    (left / "arrays-000.safetensors").write_text("half")

    def look(_: Progress) -> None:
        assert not left.exists()

    assert run(solver(), tmp_path, 10, observers=[look]).unsaved is None


def test_an_end_beats_an_interruption() -> None:
    outcome = train(exact_solver(), [Iterations(1)], observers=[interrupt_at(1)], clock=Clock(1))
    assert outcome.reason == "iterations"


def test_a_run_in_a_thread() -> None:
    reasons: list[str] = []
    thread = threading.Thread(
        target=lambda: reasons.append(train(exact_solver(), [Iterations(10)]).reason)
    )
    thread.start()
    thread.join()
    assert reasons == ["iterations"]


class Broken(MatrixGameSolver):
    """Its regrets run away, as with an overflow."""

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        figures = super().metrics(exploitability=exploitability)
        value = math.nan if self.iterations >= 300 else figures.exploitability
        return replace(figures, exploitability=value)


def test_figures_that_are_no_numbers_are_a_fault(tmp_path: Path) -> None:
    with pytest.raises(FloatingPointError, match="exploitability is nan at iteration 300"):
        run(Broken(), tmp_path, checkpoint=100)
    assert names(tmp_path) == [100, 200]
    assert [row["iteration"] for row in figures(tmp_path / "metrics.jsonl")] == [100, 200]


class Stuck(MatrixGameSolver):
    """Does not train."""

    def train_batch(self, iterations: int, callback: BatchCallback | None = None) -> None:
        del iterations, callback


def test_a_solver_that_does_not_train_is_a_fault() -> None:
    with pytest.raises(RuntimeError, match="did not train beyond iteration 0"):
        train(Stuck(), [Iterations(10)])


def test_the_state_on_disk_is_the_state_in_memory(tmp_path: Path) -> None:
    trained = solver()
    run(trained, tmp_path, 123)
    stored = latest_checkpoint(tmp_path, trained.identity)
    for name, array in trained.state().items():
        np.testing.assert_array_equal(stored.arrays[name], array)
