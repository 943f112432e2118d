"""Two solutions of a library side by side: which are comparable, and the figures of a place."""

import csv
import io
import math
import shutil
from pathlib import Path

import pytest
from builders.explorer_solutions import folder as built
from builders.small_spots import RIVER, spot

from allstreets.base import InputError
from allstreets.cards import HAND_NAMES
from allstreets.explorer.comparing import Comparing
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import MissingError
from allstreets.explorer.models.place import Comparison, Decision
from allstreets.explorer.ready_made import ReadyMade
from allstreets.explorer.routes.table import csv_text
from allstreets.solutions import NoNodeError
from allstreets.solvers import SpotSolver
from allstreets.storage import compare, save_spot
from allstreets.storage import library as packs

CHECKS = [{"line": "", "strategy": {"check": 1}}, {"line": "x", "strategy": {"check": 1}}]
SPOTS = ("free", "locked", "other", "copied")
GAMES = ("classes", "preflop", "exact")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root: Path = tmp_path_factory.mktemp("comparing")
    before = {"folder": str(root / "free"), "line": ""}

    def solved(name: str, iterations: int, **changes: object) -> None:
        solver = SpotSolver(spot(RIVER, **changes), threads=1)
        solver.train_batch(iterations)
        save_spot(solver, root / name, name=name, before=before if name == "locked" else None)

    solved("free", 60)
    solved("locked", 60, lock=CHECKS)
    solved("other", 2, pot=60, board="Ks7d4c9h2c")
    solved("copied", 60)
    return root


@pytest.fixture(scope="module")
def library(root: Path) -> Library:
    return Library([root, *(built(name) for name in GAMES)])


@pytest.fixture(scope="module")
def comparing(library: Library) -> Comparing:
    return Comparing(library)


def test_what_can_be_compared(library: Library, comparing: Comparing, root: Path) -> None:
    ids = {name: library.id_of(root / name) for name in SPOTS}
    found = comparing.choices(ids["locked"]).choices
    assert [choice.card.id for choice in found[:1]] == [ids["free"]]  # that the lock was put on
    assert [choice.before for choice in found] == [True, False, False]
    assert {choice.card.id for choice in found[:2]} == {ids["free"], ids["copied"]}
    assert found[0].notes == ["locks differ: none and 2 at the first decision, 'x'"]
    assert found[2].problem == "another game: board Ks7d4c9h2c, not Ks7d4c9h2s; pot 60, not 100"
    free = comparing.choices(ids["free"]).choices
    assert not any(choice.before for choice in free)
    assert [choice.notes for choice in free if choice.card.name == "copied"] == [[]]

    games = {
        choice.card.id: choice for choice in comparing.choices(_id(library, "classes")).choices
    }
    assert games.keys() == {_id(library, "preflop"), _id(library, "exact")}  # and no spot
    (note,) = games[_id(library, "preflop")].notes
    assert note.startswith("flops and cards differ: none and 3 flops")
    assert "stack 300, not 2000" in (games[_id(library, "exact")].problem or "")


def test_ready_made_games_of_the_same_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLSTREETS_LIBRARY", str(tmp_path / "unpacked"))
    names = ("pf-8bb", "pf-10bb", "pf-ante-10bb", "hu-10bb")
    games = {name: packs()[name] for name in names}
    shutil.copytree(games["pf-10bb"].folder(), tmp_path / "opened/mine")
    shutil.rmtree(tmp_path / "unpacked")
    library = Library([tmp_path / "opened", built("turn")], ready_made=ReadyMade(games))
    comparing, own = Comparing(library), library.id_of(tmp_path / "opened/mine")
    same, *others = comparing.choices(own).choices
    assert (same.card.name, same.ready_made, same.problem) == ("pf-10bb", True, None)
    assert {choice.card.name for choice in others} == {"hu-10bb", "pf-ante-10bb"}
    assert all(choice.ready_made and choice.problem for choice in others)
    assert not games["pf-8bb"].copy.exists(), "another stack is another game"
    assert comparing.compare(own, same.card.id, "a").text == "EVs are the same."
    # The other way round it is a solution of the opened folder, and a spot is no such game.
    (mine, *_) = comparing.choices(same.card.id).choices
    assert (mine.card.id, mine.ready_made, mine.problem) == (own, False, None)
    assert comparing.choices(library.id_of(built("turn"))).choices == []


def test_few_of_many_other_games_are_listed(
    comparing: Comparing, library: Library, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allstreets.explorer.comparing.MOST_PROBLEMS", 0)
    found = comparing.choices(library.id_of(root / "free"))
    assert all(choice.problem is None for choice in found.choices)
    assert found.more == 1


def _id(library: Library, name: str) -> str:
    return library.id_of(built(name))


def _grid(library: Library, id: str, line: str) -> Decision:
    here = library.place(id, line).here
    assert isinstance(here, Decision)
    return here


@pytest.mark.parametrize("line", ["", "x", "x b50% a"])
def test_a_place_is_what_both_grids_and_the_command_say(
    library: Library, comparing: Comparing, root: Path, line: str
) -> None:
    free, locked = (library.id_of(root / name) for name in ("free", "locked"))
    found = comparing.compare(locked, free, line)
    assert found.other == library.card(free)
    there, here = _grid(library, free, line), _grid(library, locked, line)
    assert found.player == here.player
    for one, other, action in zip(there.actions, here.actions, found.actions, strict=True):
        assert (action.frequency.there, action.frequency.here) == (one.frequency, other.frequency)
        assert action.chances == one.chances  # as the grid there shows it
    for player in ("oop", "ip"):
        ev = found.evs[player]
        assert ev.there == getattr(there.grids, player).summary.ev
        assert ev.here == getattr(here.grids, player).summary.ev
        if ev.here is not None and ev.there is not None:
            assert ev.change == pytest.approx(ev.here - ev.there)
    told = compare(root / "free", root / "locked", line)
    noise = 2 * sum((library.card(id).exploitability or 0) for id in (free, locked))  # of 100 chips
    assert found.text == told.gain_text(noise)
    assert found.distance == pytest.approx(told.distance)
    rows = {hand.name: hand for hand in told.hands}
    assert [hand.name for hand in found.hands] == list(rows)
    for hand in found.hands:
        wanted = rows[hand.name]
        assert hand.weighted == wanted.weighted
        assert hand.share == wanted.share
        for chances, mix in zip((hand.there, hand.here), wanted.frequencies, strict=True):
            assert _known(chances) == [chance for chance in mix if not math.isnan(chance)]
    _cells_add_up(found)
    text = bytes(csv_text(comparing.table(locked, free, line).table()).body).decode()
    assert [row["hand"] for row in csv.DictReader(io.StringIO(text))] == list(rows)


def _known(values: list[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _cells_add_up(found: Comparison) -> None:
    """The cells of the grid are means over their combos, and add up to the whole."""
    total = 0.0
    for name, cell in zip(HAND_NAMES, found.cells, strict=True):
        own = [hand for hand in found.hands if hand.hand == name]
        both = [hand for hand in own if hand.distance is not None]
        assert (cell is None) == (not both)
        if cell is not None:
            share = sum(hand.share for hand in own)
            assert cell == pytest.approx(sum(hand.weighted for hand in own) / share)
            total += share * cell
    assert total == pytest.approx(found.distance)


def test_a_difference_within_the_accuracy_of_both_is_none(root: Path, tmp_path: Path) -> None:
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(8)
    save_spot(solver, tmp_path / "rough", name="rough")
    library = Library([root, tmp_path])
    free, rough = library.id_of(root / "free"), library.id_of(tmp_path / "rough")
    found = Comparing(library).compare(free, rough)
    noise = 2 * sum((library.card(id).exploitability or 0) for id in (free, rough))
    assert 0.01 < abs(found.evs["oop"].change or 0) < noise
    assert found.text == f"No difference beyond {noise:,.2f} chips."
    told = compare(root / "free", root / "locked", "")
    assert "gains" in told.gain_text(0.0)
    assert told.gain_text(max(map(abs, told.gains)) / 2) == told.gain_text()


def test_equal_solutions_do_not_differ(library: Library, comparing: Comparing, root: Path) -> None:
    free, copied = (library.id_of(root / name) for name in ("free", "copied"))
    found = comparing.compare(free, copied, "x")
    assert found.distance == 0
    assert found.text == "EVs are the same."
    assert set(_known(found.cells)) == {0}


def test_what_nobody_gets_to_is_said(library: Library, comparing: Comparing, root: Path) -> None:
    free, locked = (library.id_of(root / name) for name in ("free", "locked"))
    found = comparing.compare(free, locked, "b50%")  # OOP always checks there
    assert not found.reached
    assert found.text == "EVs are not known."
    assert comparing.compare(locked, free, "b50%").reached


def test_whole_games_and_places_where_nobody_acts(library: Library, comparing: Comparing) -> None:
    game, before = _id(library, "classes"), _id(library, "preflop")
    found = comparing.compare(game, before, "r2.5")
    assert (found.player, found.distance, found.text) == ("oop", 0, "EVs are the same.")
    assert len(found.hands) == sum(cell is not None for cell in found.cells) == 169
    deal = comparing.compare(game, before, "c x")
    assert (deal.player, deal.distance, deal.actions, deal.hands) == (None, None, [], [])
    assert deal.evs["oop"].there == deal.evs["oop"].here is not None
    line = library.view(game).flops("c x").rows[0].line
    with pytest.raises(MissingError, match=r"^'preflop' does not have this place: .* ends there"):
        comparing.compare(game, before, line)


def test_a_manifest_of_another_kind_is_a_reason(
    library: Library, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(folder: Path) -> None:
        raise KeyError(folder.name)

    monkeypatch.setattr("allstreets.explorer.comparing.stored_keys", unknown)
    found = Comparing(library).choices(library.id_of(root / "free"))
    assert "not as it was written" in (found.choices[0].problem or "")


def test_what_is_refused(library: Library, comparing: Comparing, root: Path) -> None:
    free, other = (library.id_of(root / name) for name in ("free", "other"))
    with pytest.raises(InputError, match="differ in\n  board: Ks7d4c9h2c and Ks7d4c9h2s\n"):
        comparing.compare(free, other, "")
    with pytest.raises(InputError, match="a whole game and a spot cannot be compared"):
        comparing.compare(free, _id(library, "classes"), "")
    with pytest.raises(InputError, match="cannot be compared with itself"):
        comparing.compare(free, free, "")
    with pytest.raises(MissingError, match="no such solution"):
        comparing.compare(free, "0" * 12, "")
    with pytest.raises(NoNodeError, match="is not offered"):  # the line is wrong here
        comparing.compare(free, library.id_of(root / "copied"), "b77%")
