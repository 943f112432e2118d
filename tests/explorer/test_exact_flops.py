"""A flop of a whole game, solved from the page and kept beside it."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from builders.whole_solution import trips, trips_result

from allstreets.base import InputError, processors
from allstreets.engines import CardModel
from allstreets.explorer.exact_flops import ExactFlops
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, MissingError
from allstreets.explorer.models.place import Deal, Decision
from allstreets.explorer.models.solves import FlopForm, SolveDetail
from allstreets.explorer.server import open_folders
from allstreets.explorer.solves.flops import WAYS, fitting, form_of, read_work, source_of
from allstreets.explorer.solves.folders import Request, new_folder
from allstreets.explorer.solves.jobs import DRAFTING
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.solves.process import Channel, Commands, Report, Reporter
from allstreets.explorer.solves.spots import read_form
from allstreets.explorer.solves.worker import attempt
from allstreets.explorer.views.reports import joined
from allstreets.games import estimate_spot, spot_mapping
from allstreets.solutions import NoNodeError, flop_spot
from allstreets.solvers import Completion
from allstreets.storage import load_spot, save_unified

SEVENS = "c x | 7c7d7h"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games") / "trips"
    save_unified(trips(), folder, config={}, name="trips")
    return folder


@pytest.fixture
def game(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path / "trips")
    return tmp_path / "trips"


@pytest.fixture
def opened(game: Path, tmp_path: Path) -> Iterator[tuple[Library, Solves]]:
    library, solves = open_folders([game], tmp_path / "solves")
    yield library, solves
    assert solves.close(60)


def ended(solves: Solves, name: str) -> SolveDetail:
    """Where a solve stands when its process is gone."""
    with solves._changed:
        assert solves._changed.wait_for(lambda: name not in solves._running, 300)
    return solves.detail(name)


@pytest.mark.long
def test_one_request_solves_and_keeps(opened: tuple[Library, Solves], game: Path) -> None:
    """Long: a flop is solved in a process of its own."""
    library, solves = opened
    flops, id = ExactFlops(library, solves), library.id_of(game)
    own = library.place(id, SEVENS)
    assert (own.source, own.source_note) == ("", "")
    before = flops.look(id, SEVENS)
    assert (before.line, before.solution, before.solve) == ("c x | 7c7d7h", None, None)
    assert before.memory_bytes is not None
    assert before.seconds is not None
    assert 0 < before.seconds < 3600  # in all
    assert (before.problem, before.sparing, before.live) == (None, "", False)

    begun = flops.start(id, FlopForm(line=f"{SEVENS} | x", target_pct=5))
    assert begun.name == "c x | 7h7d7c"
    done = ended(solves, begun.id)
    assert (done.state, done.error) == ("done", None)

    # In other suits it is the same flop, and the place is the same place.
    other = flops.look(id, "c x | 7s7h7d | x")
    spot = game / "spots" / "c-x-7h7d7c"
    assert other.solution == library.id_of(spot) == done.solution
    assert (other.solve, other.live, other.spot_line) == (begun.id, False, "x")
    assert " is " in other.suits
    assert flops.look(id, SEVENS).suits == ""
    assert other.exploitability is not None
    assert other.exploitability <= 5
    assert other.notes[0].startswith("Ranges and pot: line 'c x' of 'trips'")
    with pytest.raises(BusyError, match="solved already"):
        flops.start(id, FlopForm(line=SEVENS, target_pct=5))

    # The spot is one of the library's, and says where it comes from.
    library.cards()
    assert other.solution is not None
    detail = library.detail(other.solution)
    assert (detail.kind, detail.solve) == ("spot", begun.id)
    assert detail.origin is not None
    assert (detail.origin.solution, detail.origin.line) == (id, "c x | 7h7d7c")
    assert detail.origin.head.startswith("Ranges and pot from 'trips', c x (exploitable for")
    here = library.place(other.solution, "x x").here
    assert here.kind == "deal"
    assert here.street == "turn"
    assert library.detail(id).origin is None

    # The game itself plays the flop so now, in the suits that are named.
    place = library.place(id, "c x | 7s7h7d | x")
    assert place.written != own.written
    assert place.line == "c x | 7s7h7d | x"
    assert (place.unit, place.pot, place.seats) == ("bb", own.pot, {"oop": "BB", "ip": "SB"})
    assert place.source.startswith("solved exactly, to ")
    assert place.source_note.startswith("Ranges and pot from 'trips', c x (exploitable for")
    kinds = [(step.kind, step.street) for step in place.steps]
    assert kinds == [("choice", "preflop")] * 2 + [("cards", "flop"), ("choice", "flop")]
    node, spot_view = place.here, library.view(other.solution)
    assert isinstance(node, Decision)
    exact = spot_view.place("x").here
    assert isinstance(exact, Decision)
    for mine, theirs in zip(node.actions, exact.actions, strict=True):
        assert mine.frequency == pytest.approx(theirs.frequency)
        assert 100 * (mine.ev or 0) == pytest.approx(theirs.ev or 0)
    assert node.grids.ip.ev == pytest.approx(
        [None if ev is None else ev / 100 for ev in exact.grids.ip.ev]
    )
    whole = library.place(id, "c x | 7s7h7d | x", "hand").here
    assert isinstance(whole, Decision)
    for mine, over in zip(node.actions, whole.actions, strict=True):
        assert (mine.ev or 0) - (over.ev or 0) == pytest.approx(1)  # the big blind

    # From a turn or a river the spot opens at the same node, in its own suits.
    for line, street in (("| x x | 5c | x", "turn"), ("| x x | 5c | x x | 4s |", "river")):
        there = flops.look(id, f"c x | 7s7h7d {line}").spot_line
        inside, alone = library.place(id, f"c x | 7s7h7d {line}"), spot_view.place(there)
        assert (inside.street, alone.street, alone.board[3]) == (street, street, "5s")
        assert isinstance(inside.here, Decision)
        assert isinstance(alone.here, Decision)
        assert [action.frequency for action in inside.here.actions] == pytest.approx(
            [action.frequency for action in alone.here.actions]
        )
    turn = library.place(id, "c x | 7s7h7d | x x").here
    assert isinstance(turn, Deal)
    lines = [option.line for option in turn.cards if option.line is not None]
    assert len(lines) == 49
    river = library.place(id, f"{lines[0]} | x x | Ks | x")
    assert (river.street, river.board[-1], river.unit) == ("river", "Ks", "bb")
    assert isinstance(river.here, Decision)
    # Lines from before, when any card could come, lead to where the turn is picked.
    for words in ("x x | x", "x x | b100% c", "x x x x x"):
        assert library.place(id, f"c x | 7s7h7d | {words}").line == "c x | 7s7h7d | x x"
    with pytest.raises(NoNodeError, match="on the board already"):
        library.place(id, "c x | 7s7h7d | x x | 7h | x")
    report = joined(library.view(id).cards("c x | 7s7h7d | x x"))
    assert (len(report.rows), report.unit) == (49, "bb")
    assert library.place(id, "c").source == ""
    assert library.view(id).flops("c x").rows  # of the game's own play

    # A smaller target resumes from there; deleting the solves leaves the spot.
    further = flops.start(id, FlopForm(line=SEVENS, target_pct=1))
    assert ended(solves, further.id).state == "done"
    assert load_spot(spot).exploitability <= 0.01
    for one in (begun.id, further.id):
        solves.delete(one)
    assert load_spot(spot).origin is not None


def test_what_a_process_solves_is_the_flop(game: Path) -> None:
    found = flop_spot(trips_result(), "c x", "9s8s2h")
    form = form_of(found, 0.3, "float16")
    flop = source_of(game, found, game / "spots" / found.name)
    work = read_work(Request(run=0, state="starting", form=form, created=0, flop=flop))
    assert spot_mapping(work.spot) == spot_mapping(found.spot)
    assert (work.config.exploitability_threshold, work.config.precision) == (0.003, "float16")
    # The form is for people: weights are rounded, all else is the same.
    shown, exact = spot_mapping(read_form(form)[1]), spot_mapping(found.spot)
    for key in ("oop_range", "ip_range", "grains"):
        shown.pop(key, None)
        del exact[key]
    assert shown == exact


def test_places_after_the_flop_lead_to_the_spot(opened: tuple[Library, Solves], game: Path) -> None:
    library, solves = opened
    flops, id = ExactFlops(library, solves), library.id_of(game)
    lines = {"": "", " | x": "x", " | x a": "x a", " | x x": "x x", " | x x x": "x x"}
    for after, there in lines.items():
        assert flops.look(id, SEVENS + after).spot_line == there
    assert flops.look(id, "c x | 9s8s2h").problem is None  # the solution does not know that flop


def test_little_memory_is_spared(game: Path) -> None:
    found = flop_spot(trips_result(), "c x", "9s8s2h")
    needs = [
        estimate_spot(found.spot, precision, processors(), groups).process_bytes
        for precision, groups, _ in WAYS
    ]
    for place, need in enumerate(needs):
        fit = fitting(found, game / "spots" / found.name, need)
        assert (fit.precision, fit.river_groups, fit.words) == WAYS[place]
        assert fit.need.process_bytes == need
    with pytest.raises(InputError, match="this spot needs"):
        fitting(found, game / "spots" / found.name, min(needs) - 1)
    form = form_of(found, 0.3, "float16", "suits")
    flop = source_of(game, found, game / "spots" / found.name)
    work = read_work(Request(run=0, state="starting", form=form, created=0, flop=flop))
    assert work.config.river_groups == "suits"


def test_what_cannot_be_solved(game: Path, tmp_path: Path) -> None:
    library = Library([game])
    solves = Solves(tmp_path / "solves", library.id_of, max_memory_bytes=100_000_000)
    flops, id = ExactFlops(library, solves), library.id_of(game)
    assert "this spot needs" in (flops.look(id, SEVENS).problem or "")
    with pytest.raises(InputError, match="this spot needs"):
        flops.start(id, FlopForm(line=SEVENS))
    for line, message in (
        ("c x", "name a flop"),
        ("c", "ends before the flop"),
        ("c x | 7c7d7x", "is not a flop"),
    ):
        with pytest.raises(InputError, match=message):
            flops.look(id, line)
    with pytest.raises(MissingError):
        flops.look("nothing", SEVENS)
    assert not (game / "spots").exists()


class Heard(Channel):
    """Takes the reports of a process; a word of the server comes with the first draft."""

    def __init__(self, commands: Commands, word: str = "") -> None:
        self.reports: list[Report] = []
        self._commands, self._word = commands, word

    def send(self, report: Report) -> None:
        self.reports.append(report)
        if self._word and report.saves:
            self._commands.take(self._word)


def test_a_draft_is_there_until_the_exact_solution_is_better(
    game: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped when the draft is saved, looked at, and resumed."""
    few = Completion(CardModel("boards", groups=16, rows=32), 8)
    monkeypatch.setattr("allstreets.jobs.spot.FIRST_ANSWER_SECONDS", 0.0)
    monkeypatch.setattr("allstreets.jobs.spot.DRAFT", few)
    library, solves = open_folders([game], tmp_path / "solves")
    flops, id = ExactFlops(library, solves), library.id_of(game)
    spot = flop_spot(trips_result(), "c x", "7c7d7h")
    output = game / "spots" / spot.name
    request = Request(
        run=1,
        state="starting",
        created=0,
        form=form_of(spot, 1.0, "float32"),
        flop=source_of(game, spot, output),
    )
    folder = replace(new_folder(tmp_path / "solves", request), kept=output)

    def go(word: str = "") -> tuple[str, list[Report]]:
        commands = Commands()
        heard = Heard(commands, word)
        ending = attempt(folder, request, commands, Reporter(folder, request, heard))
        assert ending.error is None
        return ending.state, heard.reports

    state, reports = go("stop")
    assert state == "stopped"
    assert DRAFTING in [report.note for report in reports]
    kept = load_spot(output)
    assert kept.draft == few.model
    known = flops.look(id, SEVENS)
    assert known.draft
    assert known.exploitability == pytest.approx(100 * kept.exploitability)
    assert known.memory_bytes is not None  # it can be solved exactly
    assert library.place(id, SEVENS).source.startswith("a draft, within ")

    state, reports = go()
    assert state == "done"
    assert DRAFTING not in [report.note for report in reports]  # there is one
    exact = load_spot(output)
    assert exact.draft is None
    assert exact.exploitability <= 0.01
    known = flops.look(id, SEVENS)
    assert (known.draft, known.memory_bytes) == (False, None)
    assert solves.close(60)
