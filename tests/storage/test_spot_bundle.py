"""A saved spot is the spot that was solved, or a clear error."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_spots import FLOP, RIVER, TURN, spot

from allstreets.base import InputError, write_atomic
from allstreets.cards import parse_cards
from allstreets.engines.exact.view import find_board
from allstreets.games import Lock, data_hash
from allstreets.games.spot import spot_root
from allstreets.solutions import Decision, SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, mapped, save_spot
from allstreets.storage.mapped import array_locations, map_file
from allstreets.storage.spot_bundle import (
    clear_unfinished_spot,
    read_spot_manifest,
    require_free,
    restore_spot,
    spot_identity,
)

LINES = {
    "river": ("", "x b50%", "b50% r60%"),
    "turn": ("", "x b75%", "x x | 2h |", "b75% c | Kd | x", "x x | 2d | x b75%"),
    "flop": ("", "x", "x x | 2h |", "x x | 2c |", "x x | 2c | x x | 3c | x"),
}
SPOTS = {"river": RIVER, "turn": TURN, "flop": FLOP}


def solved(keys: dict[str, Any], iterations: int = 20, **settings: Any) -> SpotSolver:
    solver = SpotSolver(spot(keys), **settings)
    solver.train_batch(iterations)
    return solver


def assert_same_node(first: Decision, second: Decision) -> None:
    assert (first.actions, first.board, first.pot, first.to_call, first.player) == (
        second.actions,
        second.board,
        second.pot,
        second.to_call,
        second.player,
    )
    np.testing.assert_array_equal(first.strategy, second.strategy)
    np.testing.assert_array_equal(first.action_evs, second.action_evs)
    np.testing.assert_array_equal(first.reach, second.reach)
    for player in (first.player, first.player.opponent):
        np.testing.assert_array_equal(first.evs(player), second.evs(player))
        np.testing.assert_array_equal(first.equity(player), second.equity(player))


@contextmanager
def edited(folder: Path) -> Iterator[dict[str, Any]]:
    """The config of a stored spot, to be changed in place."""
    manifest = json.loads((folder / "manifest.json").read_text())
    yield manifest["config"]
    del manifest["checksum"]
    manifest["checksum"] = data_hash(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_file_without_alike_keeps_its_lock_on_one_card(tmp_path: Path) -> None:
    """A lock holds on the cards like its own now; a solution from before locks its own alone."""
    lock = Lock("x x | 2c |", {"check": 1.0}, alike=False)
    solver = SpotSolver(replace(spot(FLOP), lock=(lock,)))
    save_spot(solver, tmp_path)
    with edited(tmp_path) as config:
        assert config["lock"][0].pop("alike") is False
    loaded = load_spot(tmp_path).spot
    assert loaded.lock == (lock,)
    assert spot_root(loaded).symmetries == spot_root(solver.spot).symmetries
    assert len(loaded.locked_nodes) == 1
    assert len(replace(loaded, lock=(replace(lock, alike=True),)).locked_nodes) == 2


def test_a_file_without_grains_keeps_its_whole_chips(tmp_path: Path) -> None:
    """Sizes are kept within 1 % now; a solution from before plays what it was solved for."""
    folder, keys = tmp_path / "solved", {**RIVER, "pot": 6, "stack": 30, "bets": "75%"}
    solver = SpotSolver(replace(spot(keys), grains=1))
    save_spot(solver, folder)
    with edited(folder) as config:
        assert config.pop("grains") == 1
    loaded = load_spot(folder).spot
    assert loaded.tree.actions_at(0) == solver.spot.tree.actions_at(0)
    assert loaded.tree.actions_at(0) != spot(keys).tree.actions_at(0)


@pytest.mark.parametrize(
    ("name", "precision"),
    [
        *((name, "float32") for name in SPOTS),
        *(("turn", "float16"), ("river", "int16")),
        pytest.param("flop", "int16", marks=pytest.mark.thorough),
    ],
)
def test_every_node_comes_back_exactly(tmp_path: Path, name: str, precision: str) -> None:
    solver = solved(SPOTS[name], precision=precision)
    save_spot(solver, tmp_path / "solved")
    loaded = load_spot(tmp_path / "solved")
    for line in LINES[name]:
        assert_same_node(loaded.at(line).decision, SpotSolution.of(solver).at(line).decision)
    assert loaded.evs == SpotSolution.of(solver).evs
    assert loaded.iterations == 20
    assert loaded.exploitability == solver.exploitability() / 100


def test_shared_rows_come_back_and_are_gone_on_with(tmp_path: Path) -> None:
    solver, folder = solved(TURN, river_groups="suits"), tmp_path / "solved"
    save_spot(solver, folder)
    loaded = load_spot(folder)
    for line in LINES["turn"]:
        assert_same_node(loaded.at(line).decision, SpotSolution.of(solver).at(line).decision)
    with pytest.raises(InputError, match="river_groups"):
        restore_spot(SpotSolver(spot(TURN)), folder)
    again = SpotSolver(spot(TURN), river_groups="suits")
    restore_spot(again, folder)
    for one in (solver, again):
        one.train_batch(3)
    for name, array in solver.state().items():
        assert np.array_equal(array, again.state()[name]), name
    assert solver.identity != SpotSolver(spot(TURN)).identity


@pytest.mark.parametrize("saved", ["flop", "turn"])
def test_small_saves_keep_their_streets_exactly(tmp_path: Path, saved: Any) -> None:
    solver = solved(FLOP)
    save_spot(solver, tmp_path / "full")
    save_spot(solver, tmp_path / saved, saved)
    told: list[str] = []
    loaded = load_spot(tmp_path / saved, lambda _, line, __: told.append(line))
    kept = ("", "x", "b75%") + (("x x | 2h |", "x x | 2c | x") if saved == "turn" else ())
    for line in kept:
        assert_same_node(loaded.at(line).decision, SpotSolution.of(solver).at(line).decision)
    assert told == []
    _ = loaded.at("x x | 2c | x x | 3c | x").decision
    assert told == ["x x | 2c" if saved == "flop" else "x x | 2c | x x | 3c"]
    sizes = [sum(f.stat().st_size for f in (tmp_path / n).iterdir()) for n in (saved, "full")]
    assert sizes[0] < sizes[1] / 2


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="counts bytes by /proc")
def test_opening_does_not_read_the_numbers(tmp_path: Path) -> None:
    def bytes_read() -> int:
        return int(Path("/proc/self/io").read_text().split()[1])

    save_spot(solved(TURN), tmp_path / "solved")
    load_spot(tmp_path / "solved")
    before = bytes_read()
    load_spot(tmp_path / "solved")
    there = sum(path.stat().st_size for path in (tmp_path / "solved").iterdir())
    assert (
        bytes_read() - before < 30_000 < there / 10
    )  # what is mapped is read when it is asked for


def test_going_on_equals_never_stopping(tmp_path: Path) -> None:
    save_spot(solved(TURN, 13), tmp_path / "solved")
    resumed = SpotSolver(spot(TURN))
    assert restore_spot(resumed, tmp_path / "solved")["iterations"] == 13
    resumed.train_batch(17)
    whole = solved(TURN, 30)
    for name, array in whole.state().items():
        assert resumed.state()[name].tobytes() == array.tobytes(), name


def test_saving_again_replaces(tmp_path: Path) -> None:
    folder = tmp_path / "solved"
    solver = solved(RIVER, 5)
    save_spot(solver, folder, metrics=[{"iteration": 5, "exploitability": 1.0}])
    (folder / "notes.txt").write_text("mine")
    before = {path.name for path in folder.iterdir()}
    solver.train_batch(5)
    save_spot(solver, folder, name="river")
    after = {path.name for path in folder.iterdir()}
    assert after - before != set()
    assert len(after) == len(before)  # the old files are gone, the note is not
    assert "notes.txt" in after
    manifest = read_spot_manifest(folder)
    assert (manifest["iterations"], manifest["kind"], manifest["name"]) == (10, "spot", "river")


def test_a_result_of_this_program_can_be_saved(tmp_path: Path) -> None:
    solver = solved(RIVER)
    save_spot(SpotSolution(solver.spot, solver.view, solver), tmp_path / "solved")
    loaded = load_spot(tmp_path / "solved")
    with pytest.raises(InputError, match="copy the folder"):
        save_spot(loaded, tmp_path / "again")


def test_all_in_already(tmp_path: Path) -> None:
    solver = SpotSolver(spot(TURN, stack=0))
    save_spot(solver, tmp_path / "solved", exploitability=0.0)
    loaded = load_spot(tmp_path / "solved")
    assert sum(loaded.evs) == pytest.approx(100)
    with pytest.raises(InputError, match="no player acts"):
        _ = loaded.at("").decision


def test_foreign_folders_are_left_alone(tmp_path: Path) -> None:
    solver = solved(RIVER, 1)
    (tmp_path / "photo.jpg").write_text("x")
    with pytest.raises(InputError, match="contains other files"):
        save_spot(solver, tmp_path)
    with pytest.raises(InputError, match="is a file"):
        save_spot(solver, tmp_path / "photo.jpg")
    assert [path.name for path in tmp_path.iterdir()] == ["photo.jpg"]


def test_another_spot_is_refused(tmp_path: Path) -> None:
    save_spot(solved(RIVER, 1), tmp_path / "solved")
    other = SpotSolver(spot(RIVER, pot=120))
    for action in (save_spot, restore_spot):
        with pytest.raises(InputError, match=r"another spot: pot differ \(pot 100 there, 120 here"):
            action(other, tmp_path / "solved")
    coarse = SpotSolver(spot(RIVER), precision="float16")
    with pytest.raises(InputError, match="precision differ"):
        save_spot(coarse, tmp_path / "solved")
    same = spot(RIVER, board="Ks 7d 4c 9h 2s")
    with pytest.raises(InputError, match="already contains this spot, solved to iteration 1"):
        require_free(tmp_path / "solved", spot_identity(same))


def test_a_small_save_cannot_be_gone_on_from(tmp_path: Path) -> None:
    save_spot(solved(TURN, 1), tmp_path / "solved", "turn")
    with pytest.raises(InputError, match="keeps no regrets"):
        restore_spot(SpotSolver(spot(TURN)), tmp_path / "solved")


def test_streets_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="starts on the river"):
        save_spot(solved(RIVER, 1), tmp_path / "solved", "turn")
    assert not (tmp_path / "solved").exists()


def test_not_a_bundle(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"contains no solution \(no manifest.json\)"):
        load_spot(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        load_spot(tmp_path / "nowhere")
    (tmp_path / "manifest.json").write_text(json.dumps({"kind": "preflop"}))
    with pytest.raises(InputError, match="not a solved spot"):
        load_spot(tmp_path)
    (tmp_path / "manifest.json").write_text(json.dumps({"kind": "spot", "schema": 99}))
    with pytest.raises(InputError, match="another format"):
        load_spot(tmp_path)
    for text in ("{", "[]", "null", ""):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(InputError, match=r"is damaged|not a solved spot"):
            load_spot(tmp_path)


def test_damage(tmp_path: Path) -> None:
    folder = tmp_path / "solved"
    save_spot(solved(TURN, 1), folder)
    manifest = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(manifest.replace('"pot": 100', '"pot": 101'))
    with pytest.raises(InputError, match="fails its checksum"):
        load_spot(folder)
    (folder / "manifest.json").write_text(manifest)
    nodes = next(folder.glob("nodes-turn-*"))
    data = bytearray(nodes.read_bytes())
    data[-5] ^= 255
    nodes.write_bytes(data)
    with pytest.raises(InputError, match=r"nodes-turn-.*fails its checksum\.\nRestore"):
        _ = load_spot(folder).at("").decision
    river = next(folder.glob("river-*"))
    river.write_bytes(river.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"is damaged: .*river-.*bytes, not"):
        _ = load_spot(folder).at("x x | 2h |").decision
    river.unlink()
    with pytest.raises(InputError, match="is missing"):
        restore_spot(SpotSolver(spot(TURN)), folder)


def test_a_save_that_dies_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every write: after the new files of any street, and before the manifest is renamed."""
    folder, solver = tmp_path / "solved", solved(TURN, 5)
    save_spot(solver, folder)
    before = SpotSolution.of(solver).at("x x | 2h |").decision
    kept = before.strategy.copy(), before.action_evs.copy()
    for fatal in range(4):
        solver.train_batch(1)
        writes = iter(range(10))

        def dying(path: Path, write: Any, fatal: int = fatal, writes: Any = writes) -> None:
            if next(writes) == fatal:
                raise OSError(28, "No space left on device")
            write_atomic(path, write)

        with monkeypatch.context() as patch:
            patch.setattr("allstreets.storage.mapped.write_atomic", dying)
            patch.setattr("allstreets.storage.manifest.write_atomic", dying)
            with pytest.raises(InputError, match="No space left on device; make room"):
                save_spot(solver, folder)
        assert len(list(folder.iterdir())) == 4  # half a solution takes no room
        loaded = load_spot(folder)
        assert loaded.iterations == 5
        np.testing.assert_array_equal(loaded.at("x x | 2h |").decision.strategy, kept[0])
        np.testing.assert_array_equal(loaded.at("x x | 2h |").decision.action_evs, kept[1])
    save_spot(solver, folder)
    assert load_spot(folder).iterations == 9


def test_what_a_killed_save_left_is_ours(tmp_path: Path) -> None:
    folder, solver = tmp_path / "solved", solved(RIVER, 1)
    left = ["river-0a1b2c3d.safetensors", ".nodes-river-0a1b2c3d.safetensors.4e5f6a7b.tmp"]
    left += [".manifest.json.4e5f6a7b.tmp", ".lock"]
    folder.mkdir()
    for name in left:
        (folder / name).write_text("half")
    require_free(folder, spot_identity(solver.spot))  # not foreign
    save_spot(solver, folder)
    names = {path.name for path in folder.iterdir()}
    assert names & set(left) == {".lock"}
    for name in left:
        (folder / name).write_text("half")
    clear_unfinished_spot(folder)
    assert {path.name for path in folder.iterdir()} == names
    assert load_spot(folder).iterations == 1


def overwrite(path: Path, start: int, count: int) -> None:
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * count)


def test_overwritten_strategies_are_noticed_when_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And other boards can be looked at: every block has its checksum."""
    monkeypatch.setattr(mapped, "BLOCK_BYTES", 1024)
    folder, solver = tmp_path / "solved", solved(FLOP, 3)
    save_spot(solver, folder)
    away, here = "x x | 2s | x x | 3d |", "x x | 2c | x x | 3c | x"
    subgame = solver.subgame
    number = find_board(subgame, parse_cards("2c3c")).numbers[2]
    river = next(folder.glob("river-*"))
    place = array_locations(river, map_file(river))[0]["average.river.oop"]
    slots = subgame.boards[0][2].own_slots
    start, end = (place.start + int(slots[each]) * 4 for each in (number, number + 1))
    overwrite(river, start, end - start)
    told = rf"is damaged: .*{river.name} fails its checksum\.\nRestore the folder"
    loaded = load_spot(folder)
    assert_same_node(loaded.at("x").decision, SpotSolution.of(solver).at("x").decision)
    with pytest.raises(InputError, match=told):
        _ = loaded.at(here).decision
    with pytest.raises(InputError, match=told):
        _ = loaded.at("x x | 2c |").decision  # its values are those of the boards below
    assert_same_node(loaded.at(away).decision, SpotSolution.of(solver).at(away).decision)


def test_a_street_that_was_not_kept_has_no_view(tmp_path: Path) -> None:
    save_spot(solved(TURN, 1), tmp_path / "solved", "turn")
    with pytest.raises(InputError, match="look up a node by its line"):
        load_spot(tmp_path / "solved").street((0,))
