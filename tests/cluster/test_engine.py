"""The engine of a cluster, with workers of this process: bit-identical however flops are shared."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_games import BUCKETS, EXACT, small_config
from builders.worker_pools import PoolHere

from allstreets.base import InputError
from allstreets.cards import HAND_COUNT
from allstreets.cfr import parse_schedule
from allstreets.cluster import ClusterEngine
from allstreets.cluster.worker import Visits
from allstreets.engines import Engine, EngineSpec
from allstreets.games.estimates import flop_costs
from allstreets.jobs.whole_game import UnifiedJob, plan_unified
from allstreets.solvers import WholeGameSolver, quantise_solution
from allstreets.storage import Checkpoint, restore_latest, save_checkpoint, save_unified

# Few runouts differ on the first, and there are fewer buckets on the second than on others.
GAMES: dict[str, dict[str, Any]] = {
    "classes": {"flops": "spread_7"},
    "batches": {"flops": "spread_7", "flop_batch_size": 3, "flop_choice": "reach"},
    "dropping": {"flops": "spread_7", "drop_unplayed_every": 2},
    "pruning": {"flops": "spread_5", "prune_warmup": 2},
    "locks": {
        "flops": "spread_5",
        "lock": [
            {"line": "", "hands": {"22+": {"c": 1}}},
            {"line": "c x | * | x", "strategy": {"x": 0.3, "bet": 0.7}},
        ],
    },
    "buckets": {**BUCKETS, "flops": ["2c2d2h", "AsKh7d"]},
    "exact": {**EXACT, "flops": ["9s7s2s", "5h4h2h"]},
    "boards": {**EXACT, "cards": "boards", "river_groups": 16, "flops": ["9s7s2s", "5h4h2h"]},
}


def make(job: UnifiedJob, workers: int, spec: EngineSpec | None = None) -> WholeGameSolver:
    """A solver with this number of workers; 0: with the engine of one process."""
    spec = spec or job.spec()
    games: Engine | None = None
    if workers:
        costs = flop_costs(spec.flops, spec.model)
        games = ClusterEngine(spec, PoolHere(workers), costs, threads=1)
    return job.solver(games or job.game.build(spec))


def facts(solver: WholeGameSolver) -> dict[str, Any]:
    """Everything that a bundle or a report takes from a solver, as bytes."""
    kept = quantise_solution(solver, solver.exploitability())
    reach = solver.preflop.pot_reach(solver.preflop.average())
    assert kept.values is not None
    assert kept.numbers is not None
    numbers = [kept.numbers] * solver.engine.pots
    return {
        "preflop": {name: array.tobytes() for name, array in solver.preflop.state().items()},
        "values": kept.values.tobytes(),
        "figures": [kept.figures.exploitability, kept.figures.values],
        "metrics": solver.metrics(),
        "flops": [
            {name: array.tobytes() for name, array in packed.items()}
            for packed in (
                solver.engine.pack(flop, reach, numbers) for flop in range(solver.engine.flops)
            )
        ],
        "bytes": (solver.memory_bytes, solver.saved_bytes),
    }


# Boards are slow, and compared below, where they are stored as well.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name == "exact"))
        for name in GAMES
        if name != "boards"
    ],
)
def test_results_do_not_depend_on_workers(name: str) -> None:
    job = plan_unified(small_config(**GAMES[name]))
    spec = job.spec()
    found = []
    for workers in (0, 1, 2, 5, 16) if name == "classes" else (0, 2):
        solver = make(job, workers, spec)
        solver.train_batch(1 if name == "exact" else 4)
        found.append(facts(solver))
    for other in found[1:]:
        assert other == found[0]


@pytest.mark.parametrize(
    "name", ["classes", "dropping", pytest.param("boards", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("before", "after"), [(0, 3), (3, 0), (2, 5)])
def test_a_checkpoint_is_read_by_any_number_of_workers(
    name: str, before: int, after: int, tmp_path: Path
) -> None:
    """And by the engine of one process, which writes others'."""
    if name == "boards" and before:
        pytest.skip("the same way of files as with classes, and slow")
    job = plan_unified(small_config(**GAMES[name]))
    spec = job.spec()
    first = make(job, before, spec)
    first.train_batch(1 if name == "boards" else 3)
    if name == "boards":
        first.rebucketing.rebucket()
    save_checkpoint(
        tmp_path,
        Checkpoint(first.identity, 3, 0.0, first.state(), write_elsewhere=first.write_elsewhere),
    )
    files = list(tmp_path.glob("checkpoint-*/flop-*"))
    assert len(files) == (len(spec.flops) if before else 0)
    second = make(job, after, spec)
    second.train_batch(1)  # what it held before is gone
    restore_latest(tmp_path, second.identity, second.restore)
    for solver in (first, second):
        solver.train_batch(1)
    assert facts(first) == facts(second)


@pytest.mark.parametrize("ahead", [0, 1])
def test_ranges_have_moved_as_far_as_they_have_for_any_worker(ahead: int) -> None:
    """One that is in the new groups already says that nothing has moved."""
    game = {**GAMES["boards"], "flops": ["KsKhKd", "7s7h7d"]}  # few runouts differ
    spec = plan_unified(small_config(**game)).spec()
    games = ClusterEngine(spec, PoolHere(2), threads=1)
    reach = np.random.default_rng(1).random((2, games.pots, HAND_COUNT))
    (first,) = games.pool.ask("rebucket", reach, 0.0, of=[ahead])
    assert first.value > 0
    assert games.rebucket(reach, first.value) == first.value  # not far enough for the other
    assert games.rebucket(reach) == first.value
    assert games.rebucket(reach) == 0


def test_flops_move_to_fast_workers_and_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = plan_unified(small_config(**GAMES["dropping"]))
    spec = job.spec()
    still, moving = make(job, 0, spec), make(job, 3, spec)
    games = moving.engine
    assert isinstance(games, ClusterEngine)
    for solver in (still, moving):
        solver.train_batch(3)
    before = [len(share) for share in games.partition]
    monkeypatch.setattr(games, "_speeds", lambda: np.array([1.0, 1.0, 4.0]))
    files = games.write_state(tmp_path)
    assert len(files) == 7
    monkeypatch.undo()
    after = [len(share) for share in games.partition]
    assert before != after
    assert after[2] > after[0]
    for solver in (still, moving):
        solver.train_batch(3)
    assert facts(still) == facts(moving)


def test_workers_that_are_lost_are_done_without(tmp_path: Path) -> None:
    job = plan_unified(small_config(**GAMES["dropping"]))
    spec = job.spec()
    whole, solver = make(job, 0, spec), make(job, 4, spec)
    games = solver.engine
    assert isinstance(games, ClusterEngine)
    for one in (whole, solver):
        one.train_batch(3)
    point = Checkpoint(solver.identity, 3, 0.0, solver.state(), (), "", games.write_state)
    save_checkpoint(tmp_path, point)
    solver.train_batch(2)
    games.recover([1, 3], fresh=False)
    assert [len(share) for share in games.partition] == [4, 3]
    restore_latest(tmp_path, solver.identity, solver.restore)
    for one in (whole, solver):
        one.train_batch(3)
    assert facts(whole) == facts(solver)


def test_a_bundle_is_written_by_the_workers(tmp_path: Path) -> None:
    job = plan_unified(small_config(**GAMES["classes"]))
    spec = job.spec()
    found = []
    for workers in (0, 3):
        solver = make(job, workers, spec)
        solver.train_batch(2)
        save_unified(solver, tmp_path / str(workers), config={})
        files = sorted((tmp_path / str(workers)).glob("**/*.safetensors"))
        found.append([path.read_bytes() for path in files])
    assert len(found[0]) == 8
    assert found[0] == found[1]


def test_every_transfer_is_counted_and_small() -> None:
    job = plan_unified(small_config(flops="spread_12"))
    solver = make(job, 4)
    games = solver.engine
    assert isinstance(games, ClusterEngine)
    solver.train_batch(1)
    traffic = games.traffic
    messages, sent, received = traffic.messages, traffic.sent_bytes, traffic.received_bytes
    solver.train_batch(5)
    halves = 10
    assert traffic.messages - messages == 4 * halves
    reach = 2 * games.pots * 169 * 8
    values = games.pots * games.flops * 169 * 4
    assert 0 < traffic.sent_bytes - sent < 4 * halves * (reach + 2000)
    assert halves * values < traffic.received_bytes - received < halves * (values + 4 * 500)


def test_what_machines_do_is_known() -> None:
    solver = make(plan_unified(small_config(flops="spread_5")), 2)
    games = solver.engine
    assert isinstance(games, ClusterEngine)
    assert [node.iterations_per_second for node in games.node_use()] == [None, None]
    solver.train_batch(2)
    nodes = games.node_use()
    assert [node.solved for node in nodes] == [3, 2]
    for node in nodes:
        assert node.iterations_per_second is not None
        assert node.iterations_per_second > 0
        assert 0 <= node.waiting <= 1
        assert node.memory_bytes > 1_000_000


def test_visits_are_told_once() -> None:
    schedule = parse_schedule("dcfr")
    now = [schedule.at(visit) for visit in (1, 2, 2, 1)]
    visits = Visits.of(now)
    assert len(visits.kinds) == 2
    assert visits.some(np.array([3, 1])) == [now[3], now[1]]


def test_a_folder_that_machines_do_not_see(tmp_path: Path) -> None:
    solver = make(plan_unified(small_config()), 2)
    games = solver.engine
    assert isinstance(games, ClusterEngine)
    games.require_folder(tmp_path)
    with pytest.raises(InputError, match=r"is not there on 10\.0\.0\.0, 10\.0\.0\.1"):
        games.require_folder(tmp_path / "elsewhere")
