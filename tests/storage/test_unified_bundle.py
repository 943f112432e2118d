"""A saved whole game is the one that was solved, or a clear error."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.whole_solution import (
    FLOP,
    buckets,
    classes,
    combos,
    figures,
    forgotten,
    played,
    raked,
    result,
    same,
    save_classes,
    solver_of,
    whole_game,
)

import allstreets
from allstreets.base import InputError, write_atomic
from allstreets.betting import Player
from allstreets.engines.card_model import CLASSES
from allstreets.engines.quantised import ONE_BYTE, TWO_BYTES
from allstreets.solutions import Decision
from allstreets.solutions.whole_game import WholeSolution
from allstreets.solvers.precision import evaluate_quantised, quantise_solution
from allstreets.storage import load_unified, save_unified
from allstreets.storage.game_bundle import require_unified_folder
from allstreets.storage.solution_files import clear_unfinished, facts_of, write_new

LINES = {
    "classes": ("", "c", "r2.5 r6.25", "c x", "c x | x b100%", "r2.5 c | x x | b100%"),
    "buckets": ("", "c", "c x", "c x | x b50%", "c x | x x | x", "c x | x x | x x"),
    "combos": ("", "c", "c x", "c x | x", "c x | a"),
    "raked": ("", "c x", "c x | x b50%"),
}
FILES = 3  # manifest, preflop, flops
MAKERS = {"classes": classes, "buckets": buckets, "combos": combos, "raked": raked}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classes(tmp_path_factory.mktemp("unified") / "game", name="small")


def assert_same_node(first: Decision, second: Decision) -> None:
    for name in ("line", "board", "street", "player", "pot", "stacks", "to_call", "actions"):
        assert getattr(first, name) == getattr(second, name), name
    assert same(first.strategy, second.strategy)
    for player in Player:
        for name in ("reach", "weights", "counts"):
            one, other = (getattr(node.hands[player], name) for node in (first, second))
            assert same(one, other), name
        np.testing.assert_allclose(first.evs(player), second.evs(player), atol=1e-5)
    np.testing.assert_allclose(first.action_evs, second.action_evs, atol=1e-5)


@pytest.mark.parametrize("name", list(LINES))
def test_every_decision_comes_back(tmp_path: Path, name: str) -> None:
    solver = MAKERS[name]()
    memory = WholeSolution.of(solver)
    save_unified(solver, tmp_path / "game", config={"name": name})
    loaded = load_unified(tmp_path / "game")
    for line in LINES[name]:
        for flop in solver.game.flops.flops if " x" in line else (None,):
            told = flop.text if flop else None
            assert_same_node(loaded.at(line, told).decision, memory.at(line, told).decision)
    assert loaded.flops == memory.flops
    assert loaded.exploitability == memory.exploitability
    assert loaded.values == memory.values
    assert loaded.facts.config == {"name": name}
    for flop in solver.game.flops.flops:
        assert same(loaded.values_at(flop.text), memory.values_at(flop.text))


def test_the_figures_of_a_bundle_are_those_of_what_it_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reloaded strategies are the evaluated ones: in bytes far above 2 mbb/hand, else finer."""
    solver = solver_of(whole_game(["Ks7h2d"], 6, "50%", ()), 30)
    for iterations, numbers in ((0, np.uint8), (770, np.uint16)):
        solver.train_batch(iterations)
        before = {name: array.tobytes() for name, array in solver.state().items()}
        trained = solver.exploitability()
        assert trained is not None
        save_unified(
            solver, tmp_path / "game", config={}, quantised=quantise_solution(solver, trained)
        )
        loaded = load_unified(tmp_path / "game")
        assert loaded.stored.source.arrays(0)["strategy.0.0"].dtype == numbers
        found = played(loaded).figures()
        assert loaded.exploitability == pytest.approx(found.exploitability, rel=1e-3)
        assert loaded.exploitability == pytest.approx(trained, rel=0.05)
        assert loaded.preflop_exploitability == pytest.approx(
            found.preflop_exploitability, rel=1e-3, abs=1e-5
        )
        assert loaded.values == pytest.approx(found.values, abs=1e-4)
        assert found.flop_exploitability is not None
        assert loaded.flops[0]["exploitability_pct"] == pytest.approx(
            found.flop_exploitability[0], rel=1e-3
        )
        assert before == {name: array.tobytes() for name, array in solver.state().items()}
    assert trained is not None
    assert trained < 0.02
    coarse = solver.figures(evaluate_quantised(solver, ONE_BYTE)).exploitability
    assert coarse is not None
    assert coarse > 1.2 * trained  # what bytes would have kept
    monkeypatch.setattr("allstreets.solvers.precision.FINE_BELOW", 0.0)
    assert (
        quantise_solution(solver, trained).numbers == TWO_BYTES
    )  # where they are tried, that is noticed


def test_what_is_told_comes_back(bundle: Path) -> None:
    loaded = allstreets.load(bundle)
    assert isinstance(loaded, WholeSolution)
    known = figures()
    assert loaded.exploitability == known.exploitability
    assert loaded.preflop_exploitability == known.preflop_exploitability
    assert loaded.values == known.values
    assert (loaded.iterations, loaded.facts.seconds, loaded.facts.name) == (30, 2.5, "small")
    assert loaded.metrics == [{"iteration": 30, "exploitability": known.exploitability}]
    assert (loaded.facts.cards, loaded.facts.memory) == (CLASSES, "resident")
    assert loaded.flops == result().flops
    manifest = json.loads((bundle / "manifest.json").read_text())
    assert (manifest["kind"], manifest["schema"]) == ("unified", 2)
    assert manifest["figures"]["unit"] == "mbb/hand"
    assert manifest["kept"] == "all decisions after the flop, by hand class"
    assert manifest["code_version"] == allstreets.__version__
    assert (manifest["seed"], manifest["algorithm"]) == (1, "tuned")


def test_only_what_is_asked_for_is_read(bundle: Path, tmp_path: Path) -> None:
    folder = save_classes(tmp_path / "game")
    for path in folder.glob("flops-*/*"):
        if FLOP not in path.name:
            path.unlink()
    loaded = load_unified(folder)
    assert same(
        loaded.at("c x", FLOP).decision.strategy,
        load_unified(bundle).at("c x", FLOP).decision.strategy,
    )
    with pytest.raises(InputError, match=r"is damaged: .*As5h2h.safetensors is missing"):
        _ = loaded.at("c x", "As5h2h").decision


def test_values_only_keep_no_flops(tmp_path: Path) -> None:
    save_unified(forgotten(), tmp_path / "game", config={"memory": "per_batch"})
    assert not list((tmp_path / "game").glob("flops-*"))
    manifest = json.loads((tmp_path / "game" / "manifest.json").read_text())
    assert manifest["kept"] == "no decisions after the flop"
    loaded = load_unified(tmp_path / "game")
    assert (loaded.exploitability, loaded.values, loaded.has_flops) == (None, None, False)
    assert same(
        loaded.at("").decision.strategy, WholeSolution.of(forgotten()).at("").decision.strategy
    )
    with pytest.raises(InputError, match="stores no strategies after the flop"):
        _ = loaded.at("c x", "Ks7h2d").decision
    # As manifests of earlier versions have it.
    assert facts_of(manifest) == facts_of({**manifest, "memory": "values"})


def test_saving_again_replaces(tmp_path: Path) -> None:
    folder, solver = tmp_path / "game", solver_of(whole_game(["Ks7h2d"], 6, "50%", ()), 2)
    save_unified(solver, folder, config={"epochs": 2})
    for own in ("checkpoints", "work"):
        (folder / own).mkdir()
    (folder / "notes.txt").write_text("mine")
    opened = load_unified(folder)
    solver.train_batch(3)
    save_unified(solver, folder, config={"epochs": 5})
    names = sorted(path.name.partition("-")[0] for path in folder.iterdir())
    assert names == ["checkpoints", "flops", "manifest.json", "notes.txt", "preflop", "work"]
    assert load_unified(folder).iterations == 5
    with pytest.raises(InputError, match="was saved again in the meantime: open it again"):
        _ = opened.at("c x", "Ks7h2d").decision


def test_another_game_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "game"
    save_unified(solver_of(whole_game(["Ks7h2d"], 6, "50%", ()), 1), folder, config={})
    for game, what in (
        (whole_game(["Ks7h2d"], 7, "50%", ()), "preflop differ"),
        (whole_game(["Ks7h2d"], 6, "60%", ()), "postflop_sizes differ"),
        (whole_game(["Ks7h3d"], 6, "50%", ()), "flops differ"),
    ):
        with pytest.raises(InputError, match=f"another game: {what}"):
            save_unified(solver_of(game, 1), folder, config={})
    assert load_unified(folder).rules.stack == 600


def test_folders_that_a_run_may_not_use(tmp_path: Path, bundle: Path) -> None:
    require_unified_folder(tmp_path / "new", resume=False)
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    for name in ("metrics.jsonl", ".metrics.jsonl.0a1b2c3d.tmp", "metrics.jsonl.0a1b2c3d.damaged",
                 ".manifest.json.0a1b2c3d.tmp", "preflop-0a1b2c3d.safetensors"):  # fmt: skip
        (tmp_path / "run" / name).touch()
    (tmp_path / "run" / "flops-0a1b2c3d").mkdir()
    require_unified_folder(tmp_path / "run", resume=False)
    clear_unfinished(tmp_path / "run")
    left = {path.name for path in (tmp_path / "run").iterdir()}
    assert left == {"checkpoints", "metrics.jsonl", "metrics.jsonl.0a1b2c3d.damaged"}
    require_unified_folder(bundle, resume=True)
    with pytest.raises(InputError, match="already contains a solution of 30 iterations; continue"):
        require_unified_folder(bundle, resume=False)
    (tmp_path / "photo.jpg").write_text("x")
    with pytest.raises(InputError, match="contains other files"):
        require_unified_folder(tmp_path, resume=False)
    with pytest.raises(InputError, match="is a file"):
        require_unified_folder(tmp_path / "photo.jpg", resume=False)
    with pytest.raises(InputError, match="is a file"):
        save_unified(raked(), tmp_path / "photo.jpg", config={})
    (tmp_path / "manifest.json").write_text(json.dumps({"kind": "spot"}))
    with pytest.raises(InputError, match="is not a solved whole game"):
        require_unified_folder(tmp_path, resume=True)


def test_damage_is_noticed(tmp_path: Path) -> None:
    folder = save_classes(tmp_path / "game")
    text = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(text.replace('"iterations": 30', '"iterations": 31'))
    with pytest.raises(InputError, match="fails its checksum"):
        load_unified(folder)
    (folder / "manifest.json").write_text(text)
    flop = next(folder.glob(f"flops-*/{FLOP}*"))
    data = bytearray(flop.read_bytes())
    data[len(data) // 2] ^= 1
    flop.write_bytes(data)
    with pytest.raises(InputError, match=rf"is damaged: .*{FLOP}.*fails its checksum\.\nRestore"):
        _ = load_unified(folder).at("c x", FLOP).decision
    assert load_unified(folder).at("c x", "As5h2h").decision.taken.sum() == pytest.approx(1)
    preflop = next(folder.glob("preflop-*"))
    preflop.write_bytes(preflop.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"preflop-.*bytes, not"):
        load_unified(folder)


@pytest.mark.parametrize("fatal", range(5))
def test_a_full_disk_keeps_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fatal: int
) -> None:
    """At every write: the preflop file, any flop's, the manifest."""
    folder = tmp_path / "game"
    solver = solver_of(whole_game(["Ks7h2d", "9s8s7h", "AsAhAd"], 6, "50%", ()), 2)
    save_unified(solver, folder, config={})
    before = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    solver.train_batch(1)
    writes = iter(range(100))

    def dying(write: Any) -> Any:
        def run(path: Path, content: Any) -> None:
            if next(writes) == fatal:
                raise OSError(28, "No space left on device")
            write(path, content)

        return run

    with monkeypatch.context() as patch:
        patch.setattr("allstreets.storage.mapped.write_atomic", dying(write_atomic))
        patch.setattr("allstreets.storage.manifest.write_atomic", dying(write_atomic))
        patch.setattr("allstreets.storage.solution_files.write_new", dying(write_new))
        with pytest.raises(InputError, match="No space left on device; make room"):
            save_unified(solver, folder, config={})
    after = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert after == before
    assert load_unified(folder).iterations == 2
    save_unified(solver, folder, config={})
    assert load_unified(folder).iterations == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")
@pytest.mark.long
def test_killed_at_any_write_a_save_leaves_one_whole_solution(tmp_path: Path) -> None:
    """Long: every write is tried."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "kill_saves.py"), str(tmp_path / "game")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    told = json.loads(done.stdout.splitlines()[-1])
    for found in told["found"]:
        assert found["sums"] == pytest.approx([1, 1, 1])
    assert len({found["iterations"] for found in told["found"]}) > 1
    assert max(found["files"] for found in told["found"]) > FILES  # some died while they wrote
    assert told["after"] == FILES  # what they left is gone
