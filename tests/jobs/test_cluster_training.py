"""Runs that lose workers, with workers of this process: they end as if nothing had happened."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders.small_games import kept_numbers, small_config
from builders.worker_pools import PoolHere

from allstreets.base import InputError, Place, Remote
from allstreets.cluster import ClusterEngine, WorkerLost, engine
from allstreets.jobs import cluster_training
from allstreets.jobs.cluster_training import begin_games, train_through_losses, with_nodes
from allstreets.jobs.job import NO_CALLBACKS, Callbacks, Progress
from allstreets.jobs.loop import CHECKPOINTS
from allstreets.jobs.terminal import node_lines
from allstreets.jobs.whole_game import UnifiedOutcome, plan_unified
from allstreets.storage import CheckpointWarning

KEYS: dict[str, Any] = {"flops": "spread_5"}
LOST = WorkerLost([0], "")


def run(
    folder: Place, pool: PoolHere, told: list[str] | None = None, **keys: Any
) -> UnifiedOutcome:
    job = plan_unified(small_config(**KEYS, **keys), folder)
    games = ClusterEngine(job.spec(), pool, threads=1)
    told = [] if told is None else told
    callbacks = Callbacks(message=told.append)
    return train_through_losses(
        games,
        folder / CHECKPOINTS,
        lambda resume, spent: job._train(job.solver(games), callbacks, resume=resume, spent=spent),
        resume=False,
        callbacks=callbacks,
    )


@pytest.fixture(autouse=True)
def nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether flops move depends on the clock, and with it how many answers there are."""
    monkeypatch.setattr(engine, "MEASURED", 1_000_000)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    assert plan_unified(small_config(**KEYS), folder).run().unsaved is None
    return kept_numbers(folder)


def faults_at(*places: int) -> Callable[[int], BaseException | None]:
    return lambda answers: LOST if answers in places else None


# The first answers set up; three workers answer about 60 times until the first checkpoint.
@pytest.mark.parametrize(
    ("places", "spare"),
    [
        ((30,), 0),  # before there is a checkpoint
        ((95,), 1),  # another process takes over
        ((70, 71, 140), 2),  # two at once, and again
        ((95, 99, 104), 3),  # while the loss before is made good
    ],
)
def test_a_run_that_loses_workers_ends_in_the_same_bits(
    tmp_path: Path, undisturbed: dict[str, bytes], places: tuple[int, ...], spare: int
) -> None:
    told: list[str] = []
    pool = PoolHere(3, faults_at(*places), spare)
    outcome = run(tmp_path / "run", pool, told)
    assert outcome.training.reason == "iterations"
    assert told
    assert pool.answers > max(places)
    assert kept_numbers(tmp_path / "run") == undisturbed


def test_a_run_elsewhere_ends_in_the_same_bits(
    tmp_path: Path, undisturbed: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers write to a place that is reached by URL, and read back what was written there."""
    monkeypatch.setattr("allstreets.storage.mirror.cache_folder", lambda: tmp_path / "cache")
    there = tmp_path / "bucket" / "run"
    told: list[str] = []
    outcome = run(Remote(f"file://{there}"), PoolHere(3, faults_at(95, 140), 1), told)
    assert len(told) == 2
    assert kept_numbers(there) == undisturbed
    assert len(list(there.glob("checkpoints/checkpoint-*/flop-*"))) == 2 * 5
    assert len((there / "metrics.jsonl").read_text().splitlines()) == 3
    result = outcome.result()
    assert result.exploitability == outcome.figures.exploitability
    assert not list((tmp_path / "cache").rglob("flops-*"))
    _ = result.at(f"{result.flop_lines()[0]} | {result.game.flops.flops[0].text}").decision
    assert len(list((tmp_path / "cache").rglob("flops-*/*"))) == 1


def test_urls_are_for_clusters(tmp_path: Path) -> None:
    place = Remote(f"file://{tmp_path}/run")
    with pytest.raises(InputError, match=r"a URL is for runs on a cluster.\nAdd --cluster local"):
        plan_unified(small_config(), place).require()
    (tmp_path / "run").touch()
    with pytest.raises(InputError, match=r"cannot write to file://.*\nThe bucket must exist"):
        plan_unified(small_config(cluster="local"), place).require()


def test_wherever_a_worker_is_lost(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    """In every part of a run: steps, checks, checkpoints, and the solution at the end."""
    calm = PoolHere(2)
    run(tmp_path / "calm", calm)
    for number, place in enumerate(range(20, calm.answers + 1, 17)):
        told: list[str] = []
        run(tmp_path / str(number), PoolHere(2, faults_at(place), spare=1), told)
        assert len(told) == 1, place
        assert kept_numbers(tmp_path / str(number)) == undisturbed


def test_a_full_disk_costs_a_checkpoint(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")

    class OneFullDisk(PoolHere):
        left = 1

        def _exchange(self, asked: Any, limit: float) -> Any:
            if self.left and any(b"write_state" in data for data in asked.values()):
                self.left -= 1
                raise full
            return super()._exchange(asked, limit)

    with pytest.warns(CheckpointWarning, match="No space left on device; the run continues"):
        run(tmp_path / "run", OneFullDisk(3))
    assert kept_numbers(tmp_path / "run") == undisturbed


def test_a_run_that_only_loses_workers_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_training, "MOST_LOSSES", 3)
    pool = PoolHere(2, lambda answers: LOST if answers > 20 and answers % 8 == 0 else None, 99)
    with pytest.raises(InputError, match="for the 4th time since the last checkpoint") as error:
        run(tmp_path / "run", pool)
    assert "--resume" in str(error.value)


def test_a_time_limit_counts_what_was_lost(tmp_path: Path) -> None:
    """A clock that only runs when a worker is lost: all of the time is over then."""
    job = plan_unified(small_config(**KEYS, time_limit_seconds=50.0), tmp_path / "run")
    games = ClusterEngine(job.spec(), PoolHere(3, faults_at(95), 1), threads=1)
    seconds = iter([0.0, 0.0, 60.0])
    outcome = train_through_losses(
        games,
        tmp_path / "run" / CHECKPOINTS,
        lambda resume, spent: job._train(
            job.solver(games), NO_CALLBACKS, resume=resume, spent=spent
        ),
        resume=False,
        callbacks=NO_CALLBACKS,
        clock=lambda: next(seconds),
    )
    assert outcome.training.reason == "time"
    assert outcome.solver.iterations == 8  # the last checkpoint, and nothing beyond it
    assert outcome.unsaved is None


def test_machines_are_shown(tmp_path: Path) -> None:
    job = plan_unified(small_config(**KEYS), tmp_path / "run")
    games = ClusterEngine(job.spec(), PoolHere(2), threads=1)
    seen: list[Progress] = []
    callbacks = with_nodes(Callbacks(progress=(seen.append,)), games)
    job._train(job.solver(games), callbacks, resume=False)
    lines = node_lines(seen[-1])
    assert [line.split(":")[0] for line in lines] == ["  10.0.0.0", "  10.0.0.1"]
    assert lines[0].startswith("  10.0.0.0: 3 flops | ")
    assert "waiting" in lines[0]


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ((1,), 3),  # the first answer of all
        ((5, 9), 3),  # while games are built, and again
        ((12,), 3),  # while workers look for the folder
        ((2, 3), 2),  # there is room for one more only
    ],
)
def test_workers_that_die_while_they_begin_are_replaced(
    tmp_path: Path, undisturbed: dict[str, bytes], places: tuple[int, ...], left: int
) -> None:
    told: list[str] = []
    callbacks = Callbacks(message=told.append)
    job = plan_unified(small_config(**KEYS), tmp_path / "run")
    pool = PoolHere(3, faults_at(*places), spare=len(places) - (3 - left))
    games = begin_games(job.spec(), pool, None, 1, tmp_path / "run", callbacks)
    assert len(pool.nodes) == left
    assert told[0].endswith(" has died; its flops are built again")
    job._train(job.solver(games), callbacks, resume=False, spent=0.0)
    assert pool.answers > max(places)
    assert kept_numbers(tmp_path / "run") == undisturbed


def test_workers_that_die_again_and_again_end_the_run(tmp_path: Path) -> None:
    pool = PoolHere(1, lambda _: LOST, spare=100)
    job = plan_unified(small_config(**KEYS), tmp_path / "run")
    with pytest.raises(InputError, match="for the 11th time before the first iteration"):
        begin_games(job.spec(), pool, None, 1, tmp_path / "run", NO_CALLBACKS)
