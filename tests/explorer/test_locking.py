"""A lock from the page: solved like any spot, and compared with the original."""

import json
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER, TURN, spot

from allstreets.base import InputError
from allstreets.explorer.locking import Locking, lock_words, locks_of
from allstreets.explorer.models.base import MissingError
from allstreets.explorer.models.solves import GameForm, LockedSource, LockForm
from allstreets.explorer.server import open_folders
from allstreets.explorer.solves.games import estimate_game, read_game
from allstreets.solutions import SpotSolution, solve
from allstreets.solvers import SpotSolver
from allstreets.storage import save_spot


def solved(folder: Path, **more: Any) -> Path:
    """A river that is solved a little and saved; `more` for its spot, or for what is stored."""
    before = more.pop("before", None)
    solver = SpotSolver(spot(RIVER, **more), threads=1)
    solver.train_batch(50)
    save_spot(solver, folder, name=folder.name, before=before)
    return folder


def test_a_solution_beside_the_one_that_it_was_before(tmp_path: Path) -> None:
    free = solved(tmp_path / "river")
    always = [{"line": "", "strategy": {"b50": 1}}]
    locked = solved(tmp_path / "locked", lock=always, before={"folder": str(free), "line": ""})
    library, solves = open_folders([tmp_path], tmp_path / "solves")
    locking = Locking(library, solves)
    found = locking.difference(library.id_of(locked), "")
    assert (found.before, found.name) == (library.id_of(free), "river")
    assert found.evs["oop"].after is not None
    assert found.evs["oop"].before is not None
    assert found.evs["oop"].after < found.evs["oop"].before
    assert found.actions[1].frequency.after == pytest.approx(1)
    assert found.here is not None
    assert "IP gains" in found.text
    assert found.moved.startswith("Moved, mostly to bet 50 (50 %): ")
    assert locking.difference(library.id_of(locked), "b50").moved == ""
    assert library.detail(library.id_of(locked)).compared
    assert not library.detail(library.id_of(free)).compared
    with pytest.raises(MissingError, match="not made by a lock"):
        locking.difference(library.id_of(free), "")
    assert solves.close(1)


@pytest.fixture(scope="module")
def turn() -> SpotSolution:
    return solve(spot(TURN), max_iterations=5, target=0, threads=1)


def test_the_ways_to_lock(turn: SpotSolution) -> None:
    line = "x x | 2c |"
    (hands,) = locks_of(turn, LockForm(line=line, way="hands", action="x", hands=["AA", "KQs"]))
    assert dict(hands.hands) == {"AA,KQs": {"x": 1.0}}
    (most,) = locks_of(turn, LockForm(line=line, way="at_most", action="b75", percent=2.5))
    assert set(most.ranges) == {"x", "b75"}
    (all_cards,) = locks_of(turn, LockForm(line=line, way="always", action="x", everywhere=True))
    assert all_cards.line == "x x | *"
    form = LockForm(line=line, way="at_most", action="b75", percent=2.5, everywhere=True)
    assert len(locks_of(turn, form)) == 48
    assert lock_words(turn, form) == "OOP at x x | *: bet 75 (75 %) at most 2.5 %"
    seen = LockForm(line="", way="observed", text="node,action,frequency\nx,bet,30%\n,x,60%")
    assert [lock.line for lock in locks_of(turn, seen)] == ["", "x"]
    for wrong, message in (
        (seen.model_copy(update={"text": "x,bet,30%"}), "frequencies, line 1: no column"),
        (LockForm(line=line, way="hands", action="x"), "paint the hands"),
        (LockForm(line=line, way="as_is", everywhere=True), "differs from card to card"),
        (LockForm(line=line, way="exactly", action="b9", percent=5), "the lock: no action 'b9'"),
    ):
        with pytest.raises(InputError, match=message):
            locks_of(turn, wrong)


def test_files_from_the_page_name_no_folders() -> None:
    """The server writes its own: only they may read a solution."""
    lock = {"line": "c x | * | x", "solution": "/etc"}
    text = json.dumps(
        {"solver": {"type": "unified_cfr", "cards": "classes", "stack_depth": 3, "lock": [lock]}}
    )
    (problem,) = estimate_game(GameForm(text=text)).problems
    assert problem.field == "solver.lock"
    assert "folders cannot be read from this page" in problem.message
    source = LockedSource(folder="game", line="c x | x")
    assert read_game(text, source)[1].lock[0].solution == "/etc"
