"""A lock from the page: solved like any spot, and compared with what was there before."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders.small_spots import RIVER, TURN, spot

from allstreets.base import InputError
from allstreets.explorer.errors import MissingError
from allstreets.explorer.library import Library
from allstreets.explorer.locking import Locking, lock_words, locks_of
from allstreets.explorer.models.locks import LockForm
from allstreets.explorer.server import open_folders
from allstreets.explorer.solves.manager import Solves
from allstreets.solvers import SpotResult, SpotSolver, solve
from allstreets.storage import save_spot


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Library, Solves]]:
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(50)
    save_spot(solver, tmp_path / "river", name="river")
    library, solves = open_folders([tmp_path / "river"], tmp_path / "solves")
    yield library, solves
    assert solves.close(60)


def test_what_it_costs_always_to_bet(opened: tuple[Library, Solves], tmp_path: Path) -> None:
    library, solves = opened
    locking, id = Locking(library, solves), library.id_of(tmp_path / "river")
    begun = locking.start(id, LockForm(line="", way="always", action="b50"))
    assert begun.name == "river: OOP at first decision: always bet 50 (50 %)"
    with solves._changed:
        assert solves._changed.wait_for(lambda: begun.id not in solves._running, 300)
    done = solves.detail(begun.id)
    assert (done.state, done.error, done.locked) == ("done", None, "")
    assert done.solution is not None

    found = locking.difference(done.solution, "")
    assert (found.before, found.name) == (id, "river")
    assert found.evs["oop"].after is not None
    assert found.evs["oop"].before is not None
    assert found.evs["oop"].after < found.evs["oop"].before
    assert found.actions[1].frequency.after == pytest.approx(1)
    assert "IP gains" in found.text
    # Where only one of the two trees goes, there is nothing to compare but the start.
    assert library.detail(done.solution).compared
    assert not library.detail(id).compared
    with pytest.raises(MissingError, match="not made by a lock"):
        locking.difference(id, "")


@pytest.fixture(scope="module")
def turn() -> SpotResult:
    return solve(spot(TURN), max_iterations=5, target=0, threads=1)


def test_the_ways_to_lock(turn: SpotResult) -> None:
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
    for wrong, message in (
        (LockForm(line=line, way="hands", action="x"), "paint the hands"),
        (LockForm(line=line, way="as_is", everywhere=True), "differs from card to card"),
        (LockForm(line=line, way="exactly", action="b9", percent=5), "the lock: no action 'b9'"),
    ):
        with pytest.raises(InputError, match=message):
            locks_of(turn, wrong)
