"""Jobs over flops: threads, faults, interruptions, and going on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_flops import (
    BUCKETED,
    FLOPS,
    SMALL,
    TEXTS,
    interrupting,
    run_small,
    small_config,
)

from allstreets.base import InputError
from allstreets.cards import Flop, parse_flop
from allstreets.solvers.flops.estimate import estimate_flops, require_room
from allstreets.solvers.flops.model import FlopSolver, solve_flop
from allstreets.storage import flop_bundle, load_postflop
from allstreets.storage.flop_file import open_flop_file, write_flop_file
from allstreets.training import postflop_run
from allstreets.training.postflop_run import FlopsProgress, PostflopJob

FIGURES = ("exploitability", "iterations", "converged", "ev_oop", "bet_oop", "bet_ip")


def arrays_of(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.name: open_flop_file(path)[0] for path in (folder / "flops").iterdir()}


def assert_same(one: Path, other: Path) -> None:
    """Every array of every flop, to the last bit."""
    left, right = arrays_of(one), arrays_of(other)
    assert left.keys() == right.keys()
    for name, arrays in left.items():
        for key, array in arrays.items():
            np.testing.assert_array_equal(array, right[name][key])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("job") / "whole"
    run_small(folder, postflop_sprs=[1, 2])
    return folder


def failing(*texts: str) -> Callable[..., FlopSolver]:
    """A solver that cannot solve some flops."""

    def make(flop: Flop, *arguments: Any) -> FlopSolver:
        if flop.text in texts:
            raise ZeroDivisionError(f"no luck with {flop.text}")
        return FlopSolver(flop, *arguments)

    return make


def test_every_flop_is_solved_as_if_alone(whole: Path) -> None:
    config, result = small_config(postflop_sprs=[1, 2]), load_postflop(whole)
    assert [row["flop"] for row in result.flops] == [text for text in TEXTS for _ in (1, 2)]
    assert result.missing == []
    for game in config.games():
        for flop in config.flops():
            alone = solve_flop(flop, game, config.model(), config.ends())
            row = result.row(flop.text, game.spr)
            told = {key: value for key, value in row.items() if key in FIGURES}
            expected = flop_bundle.flop_row(alone)
            assert told == {key: expected[key] for key in told}
            np.testing.assert_array_equal(result.values(flop.text, game.spr)[0], alone.values)
            kept = result.strategies(flop.text, game.spr).stored
            for one, other in zip(kept, alone.strategies.stored, strict=True):
                np.testing.assert_array_equal(one, other)
            assert row["exploitability"] <= 0.01


@pytest.mark.parametrize(
    "keys",
    [{}, BUCKETED, {"solve_type": "mccfr"}, {"prune_warmup": 10, "prune_threshold": -100}],
    ids=["exhaustive", "bucketed", "mccfr", "pruned"],
)
def test_threads_change_nothing(tmp_path: Path, keys: dict[str, Any]) -> None:
    few = {**keys, "postflop_solve_iterations": 50, "fixed_flops": FLOPS[:2]}
    for threads in (1, 3):
        run_small(tmp_path / str(threads), threads=threads, **few)
    assert_same(tmp_path / "1", tmp_path / "3")


def test_a_fault_in_one_flop_does_not_lose_the_others(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(postflop_run, "FlopSolver", failing("9s8s2h"))
        outcome = run_small(folder, postflop_sprs=[1, 2])
    assert [(fault.flop, fault.spr) for fault in outcome.faults] == [("9s8s2h", 1), ("9s8s2h", 2)]
    assert outcome.faults[0].message == "ZeroDivisionError: no luck with 9s8s2h"
    assert outcome.missing == (("9s8s2h", 1.0), ("9s8s2h", 2.0))
    assert (outcome.solved, outcome.interrupted) == (4, False)
    assert {row["flop"] for row in load_postflop(folder).flops} == {"Ks7h2d", "QsQh5d"}
    solved: list[str] = []

    def counting(flop: Flop, *arguments: Any) -> FlopSolver:
        solved.append(flop.text)
        return FlopSolver(flop, *arguments)

    monkeypatch.setattr(postflop_run, "FlopSolver", counting)
    outcome = run_small(folder, resume=True, postflop_sprs=[1, 2])
    assert solved == ["9s8s2h", "9s8s2h"]  # only what was missing
    assert (outcome.faults, outcome.missing) == ((), ())
    assert_same(folder, whole)


def test_an_interrupted_run_goes_on_to_the_same_end(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(postflop_run, "FlopSolver", interrupting(2))
        outcome = run_small(folder, threads=1, postflop_sprs=[1, 2])
    assert outcome.interrupted
    assert (len(outcome.rows), len(outcome.missing), outcome.solved) == (2, 4, 2)
    assert len(list((folder / "flops").iterdir())) == 2  # and nothing half done
    for path in (folder / "flops" / ".9s8s2h-spr1.safetensors.0a1b2c3d.tmp",
                 folder / ".manifest.json.0a1b2c3d.tmp"):  # fmt: skip
        path.write_text("what a killed writer leaves")
    outcome = run_small(folder, resume=True, postflop_sprs=[1, 2])
    assert not outcome.interrupted
    assert outcome.solved == 4
    assert_same(folder, whole)
    assert outcome.figures()["solved"] == 6
    assert {path.name for path in folder.iterdir()} == {".lock", "manifest.json", "flops"}


def test_a_run_that_was_killed_before_its_first_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in (".lock", ".manifest.json.0a1b2c3d.tmp"):
        (folder / name).write_text("")
    assert run_small(folder, fixed_flops=FLOPS[:1]).missing == ()


def test_a_finished_run_has_nothing_left_to_do(tmp_path: Path) -> None:
    run_small(tmp_path / "run")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "flops").iterdir()}
    outcome = run_small(tmp_path / "run", resume=True)
    assert (outcome.solved, outcome.missing) == (0, ())
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "run" / "flops").iterdir()}
    assert before == after


def test_a_run_may_be_extended(tmp_path: Path) -> None:
    run_small(tmp_path / "run", fixed_flops=FLOPS[:1])
    outcome = run_small(tmp_path / "run", resume=True, fixed_flops=FLOPS[1:], postflop_sprs=[2, 1])
    assert outcome.solved == 4
    assert len(load_postflop(tmp_path / "run").flops) == 5


def test_other_settings_are_refused(tmp_path: Path) -> None:
    run_small(tmp_path / "run", fixed_flops=FLOPS[:1])
    with pytest.raises(InputError, match="already holds this model; go on with it by --resume"):
        run_small(tmp_path / "run")
    with pytest.raises(InputError, match="another model of flops: cfr_exploitability_threshold di"):
        run_small(tmp_path / "run", resume=True, cfr_exploitability_threshold=0.5)
    with pytest.raises(InputError, match="does not exist"):
        run_small(tmp_path / "nowhere", resume=True)
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="holds other files"):
        run_small(tmp_path / "other")


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    def second(progress: FlopsProgress) -> None:
        if progress.done == 1:
            job = PostflopJob(small_config(), tmp_path / "run", resume=True)
            with pytest.raises(InputError, match="another run is writing"):
                job.run()

    assert run_small(tmp_path / "run", second).missing == ()


def test_a_full_disk_ends_the_run_and_keeps_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def write(path: Path, *arguments: Any) -> None:
        if "QsQh5d" in path.name:
            raise OSError(28, "No space left on device")
        write_flop_file(path, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(flop_bundle, "write_flop_file", write)
        with pytest.raises(InputError, match=r"No space left on device.*--resume"):
            run_small(tmp_path / "run", threads=1)
    assert {row["flop"] for row in load_postflop(tmp_path / "run").flops} == set(TEXTS[:2])
    assert run_small(tmp_path / "run", resume=True).solved == 1


def test_progress_counts_up(tmp_path: Path) -> None:
    seen: list[FlopsProgress] = []
    run_small(tmp_path / "run", seen.append, threads=1)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert (seen[0].done, seen[-1].done, seen[-1].total) == (0, 3, 3)
    assert seen[-1].running == ()
    assert seen[0].eta_seconds is None
    assert seen[-1].eta_seconds == 0
    assert not seen[-1].several_sprs


def test_estimates() -> None:
    config = small_config()
    model, ends = config.model(), config.ends()
    need = estimate_flops(100, config.games(), model, ends, 2)
    assert need.nodes == config.games()[0].tree.node_count
    more = estimate_flops(200, config.games(), model, ends, 2)
    assert more.seconds == pytest.approx(2 * need.seconds)
    assert more.memory_bytes > need.memory_bytes > 250_000_000
    with pytest.raises(InputError, match="Use fewer threads"):
        require_room(need, 1_000_000)
    require_room(need, None)
    for kind in ({"preset": "fast"}, {"preset": "mccfr_fast"}):
        keys = {key: SMALL[key] for key in ("bet_sizes", "postflop_sprs")}
        other = small_config(**{**keys, **kind})
        assert estimate_flops(5, other.games(), other.model(), other.ends(), 1).seconds > 0


def test_flops_are_named_as_they_are_called() -> None:
    assert [parse_flop(text).flop.text for text in FLOPS] == TEXTS
