"""Solutions are found where they are, have ids that last, and lie in the opened folders."""

import json
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from builders.certificates import certificate
from builders.explorer_solutions import KINDS, folder, solver
from builders.spot_sets import put_set
from harness.anybody import as_anybody
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.cards import HAND_NAMES
from allstreets.explorer import folders as folders_module
from allstreets.explorer import library as library_module
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import MissingError
from allstreets.explorer.models.place import Decision
from allstreets.explorer.models.solution import Label
from allstreets.solutions import SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import (
    SpotSetBundle,
    load_spots,
    read_manifest,
    save_spot,
    write_certificate,
)
from allstreets.storage.certificates import certified_hash
from allstreets.storage.manifest import write_manifest
from allstreets.version import __version__


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """A folder with a few solutions at different depths."""
    root = tmp_path / "opened"
    for name, place in (("turn", "spots/turn"), ("classes", "a/b/c/game"), ("models", "models")):
        shutil.copytree(folder(name), root / place)
    return root


def test_a_certificate_is_shown_as_soon_as_it_is_there(opened: Path) -> None:
    library, game = Library([opened]), opened / "a/b/c/game"
    card = next(one for one in library.cards() if one.kind == "unified")
    assert card.real is None
    labels = [fact.label for fact in library.detail(card.id).facts]
    assert "Exploitability in its own game" in labels
    assert "With real cards" not in labels
    judged = certified_hash(read_manifest(game, "unified"))
    found = certificate(judged=judged)
    write_certificate(game, found)
    real = next(one for one in library.cards() if one.kind == "unified").real
    assert real is not None
    assert (real.exploitability, real.low, real.high, real.outdated) == (216, 201, 230, False)
    facts = {fact.label: fact.value for fact in library.detail(card.id).facts}
    assert "216 mbb/hand, 95 % between 201 and 230" in facts["With real cards"]
    write_certificate(game, replace(found, judged="of another solution"))
    real = next(one for one in library.cards() if one.kind == "unified").real
    assert real is not None
    assert real.outdated


def names(library: Library) -> dict[str, str | None]:
    return {card.name: card.problem for card in library.cards()}


def test_every_kind_is_listed_and_opened() -> None:
    library = Library([folder(name) for name in KINDS])
    cards = {Path(card.folder).name: card for card in library.cards()}
    kinds = {"turn": "spot", "classes": "unified", "preflop": "preflop", "models": "postflop"}
    assert len(cards) == len(KINDS)
    for name in KINDS:
        card = cards[name.replace(" ", "-")]
        assert card.problem is None
        assert card.kind == kinds.get(name, card.kind)
        assert card.bytes > 1000
        assert re.fullmatch(r"[0-9a-z]{12}", card.id)
        detail = library.detail(card.id)
        shown = {
            "facts",
            "notes",
            "curve",
            "features",
            "root",
            "solve",
            "origin",
            "compared",
            "simple_from",
        }
        assert detail.model_dump(exclude=shown) == card.model_dump()
        assert detail.facts
        place = library.place(card.id, detail.root)
        assert place.solution == card.id
        assert place.line == detail.root
    turn = cards["turn"]
    assert (turn.iterations, turn.unit) == (40, "% of pot")
    assert turn.exploitability == pytest.approx(100 * solver("turn").exploitability() / 100)
    assert cards["forgotten"].exploitability is None
    assert cards["classes"].unit == "mbb/hand"


def test_push_or_fold_has_no_flops_to_be_wrong_on() -> None:
    (card,) = Library([folder("push or fold")]).cards()
    assert card.title == "10 bb deep, push or fold"
    assert card.real is not None
    assert card.real.exploitability == card.real.high == card.exploitability
    (whole,) = Library([folder("classes")]).cards()
    assert whole.real is None
    assert "flops, classes" in whole.title


def test_a_set_of_spots_is_one_solution_with_its_spots(tmp_path: Path) -> None:
    boards = {"Ks7d4c9h": 0.2, "KsTd4c9h": 0.7, "Ks7d4c9s": 3.0}
    turns = put_set(tmp_path / "turns", {"a turn": boards}, unfinished="Ks7d4c9s")
    library = Library([tmp_path])
    cards = {Path(card.folder): card for card in library.cards()}
    assert set(cards) == {turns, *(turns / f"a turn-{board}" for board in boards)}
    whole = cards.pop(turns)
    assert (whole.kind, whole.name, whole.part_of) == ("spots", "turns", None)
    assert whole.title == "a turn: 2 of 3 boards, pot 100, stack 200"
    assert whole.exploitability == pytest.approx(0.7)  # the worst of those that are solved
    assert (whole.unit, whole.iterations, whole.problem) == ("% of pot", 40, None)
    assert whole.bytes > sum(card.bytes for card in cards.values())
    assert {card.part_of for card in cards.values()} == {whole.id}
    solved = [library.id_of(turns / f"a turn-{board}") for board in boards][:2]
    assert [(one.name, one.solutions) for one in whole.tables] == [("a turn", solved)]
    library.label(whole.id, Label(name="my turns", note="for Monday"))
    named = library.card(whole.id)
    assert (named.name, named.note, named.written) == ("my turns", "for Monday", whole.written)
    assert len(load_spots(turns).entries) == 2  # a label is no part of it
    with pytest.raises(MissingError, match="open one of them"):
        library.view(whole.id)
    (turns / "a turn-KsTd4c9h" / "manifest.json").write_text("{")
    less = next(card for card in library.cards() if card.id == whole.id)
    assert less.exploitability == pytest.approx(0.2)
    assert less.problem == "1 of 2 boards cannot be read"
    # A spot alone, or one that lies there and is none of the set, stands for itself.
    alone = Library([turns / "a turn-Ks7d4c9h"]).cards()
    assert [(card.kind, card.part_of) for card in alone] == [("spot", None)]
    shutil.copytree(folder("river"), turns / "mine")
    other = library.id_of(turns / "mine")
    assert [card.part_of for card in library.cards() if card.id == other] == [None]
    # The folder of a spot may be opened before that of its set.
    both = Library([turns / "a turn-Ks7d4c9h", turns])
    assert sum(card.part_of == whole.id for card in both.cards()) == 3


def test_sets_of_several_spots(tmp_path: Path) -> None:
    names = ("river", "turn", "3-bet", "4-bet")
    put_set(tmp_path / "all", {name: {"Ks7d4c9h": 0.1, "KsTd4c9h": 0.3} for name in names})
    SpotSetBundle(tmp_path / "nothing", resume=False).begin([])
    put_set(tmp_path / "1/2/3/deep", {"turn": {"Ks7d4c9h": 0.1}})
    library = Library([tmp_path])
    cards = {card.name: card for card in library.cards() if card.kind == "spots"}
    assert set(cards) == {"all", "nothing"}  # spots of the third one are not found
    assert cards["all"].title == "4 spots, 8 boards: river, turn, 3-bet, …"
    assert [len(one.solutions) for one in cards["all"].tables] == [2, 2, 2, 2]
    assert (cards["nothing"].title, cards["nothing"].exploitability) == ("no boards", None)


@pytest.mark.parametrize("spots", ["7", "[1, {}]", '[{"folder": 3}]', '{"folder": "turn"}'])
def test_a_set_that_lies(tmp_path: Path, spots: str) -> None:
    turns = put_set(tmp_path / "turns", {"turn": {"Ks7d4c9h": 0.1}})
    facts = json.loads((turns / "manifest.json").read_text())
    del facts["checksum"]
    write_manifest(turns, {**facts, "spots": json.loads(spots)})
    found = names(Library([tmp_path]))
    assert found["turn Ks7d4c9h"] is None
    assert "manifest.json is damaged: spots" in (found["turns"] or "")
    (turns / "manifest.json").write_text(json.dumps({**facts, "checksum": "x"}))
    assert "fails its checksum" in (names(Library([tmp_path]))["turns"] or "")


def test_what_a_page_needs_to_know_once(tmp_path: Path) -> None:
    about = Library([tmp_path], solves_at_once=2, max_memory_bytes=10).about()
    assert about.version == __version__
    assert about.hands == list(HAND_NAMES)
    assert about.folders == [str(tmp_path)]
    assert (about.solves_at_once, about.max_memory_bytes) == (2, 10)


def test_folders_below_are_searched(opened: Path) -> None:
    assert set(names(Library([opened]))) == {"turn", "game", "models"}
    assert set(names(Library([opened / "a"]))) == {"game"}
    assert set(names(Library([opened / "spots" / "turn"]))) == {"turn"}
    shutil.copytree(opened / "spots" / "turn", opened / "1" / "2" / "3" / "4" / "too deep")
    shutil.copytree(opened / "spots" / "turn", opened / ".hidden" / "turn")
    assert set(names(Library([opened]))) == {"turn", "game", "models"}
    # A solution may lie in the folder of another one, as models do beside what is made of them.
    shutil.copytree(opened / "models", opened / "spots" / "turn" / "models")
    assert len(Library([opened]).cards()) == 4
    assert len(Library([opened, opened / "spots"]).cards()) == 4


def test_ids_last(opened: Path) -> None:
    first, second = Library([opened]), Library([opened / "spots", opened / "models"])
    ids = {card.name: card.id for card in first.cards()}
    assert {card.name: card.id for card in second.cards()}.items() <= ids.items()
    assert first.id_of(opened / "spots" / "turn") == ids["turn"]
    assert first.id_of(opened / "spots" / ".." / "spots" / "turn") == ids["turn"]
    assert first.id_of(opened / "not there yet") not in ids.values()
    # Without a listing before: a page that is opened again asks for what it had.
    assert Library([opened]).place(ids["turn"], "x").line == "x"


def test_links_do_not_lead_out(opened: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(folder("river"), outside)
    (opened / "link").symlink_to(outside)
    library = Library([opened])
    assert set(names(library)) == {"turn", "game", "models"}
    with pytest.raises(MissingError, match="no such solution"):
        library.view(library.id_of(outside))
    # The opened folder itself may be a link.
    (tmp_path / "door").symlink_to(opened)
    assert len(Library([tmp_path / "door"]).cards()) == 3


@settings(max_examples=30)
@given(id=st.text(max_size=20) | st.sampled_from(["..", "../turn", "/etc", "0" * 12]))
def test_ids_name_nothing_else(id: str) -> None:
    with pytest.raises(MissingError):
        Library([folder("turn")]).view(id)


def test_new_changed_and_vanished(opened: Path) -> None:
    library = Library([opened])
    assert len(library.cards()) == 3
    place = opened / "spots" / "turn"
    id = library.id_of(place)
    before = library.view(id)
    assert library.view(id) is before
    # Saved again: other numbers, and the view follows.
    more = solver("turn").spot
    again = SpotSolver(more)
    again.train_batch(3)
    save_spot(again, place)
    assert library.view(id) is not before
    told = library.place(id, "").here
    assert isinstance(told, Decision)
    expected = SpotSolution.of(again).at("").decision.taken.tolist()
    assert [action.frequency for action in told.actions] == pytest.approx(expected)
    assert next(card for card in library.cards() if card.id == id).iterations == 3
    shutil.copytree(folder("river"), opened / "new")
    assert library.place(library.id_of(opened / "new"), "").street == "river"
    shutil.rmtree(place)
    with pytest.raises(MissingError, match="moved or removed"):
        library.view(id)
    assert set(names(library)) == {"new", "game", "models"}
    shutil.copytree(folder("turn"), place)
    assert library.place(id, "").street == "turn"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is damaged"),
        ('{"kind": "spot", "schema": 2}', "fails its checksum"),
        ('{"kind": "spot", "schema": 99, "code_version": "9.9"}', "in another format"),
        ('{"kind": "omaha", "schema": 2}', "does not know"),
        ("[]", "is damaged"),
        ("[" * 100_000, "is damaged"),
    ],
)
def test_what_cannot_be_read_is_listed_as_such(opened: Path, text: str, problem: str) -> None:
    (opened / "spots" / "turn" / "manifest.json").write_text(text)
    library = Library([opened / "spots" / "turn", opened / "models"])
    card = next(card for card in library.cards() if card.name == "turn")
    assert card.kind is None
    assert problem in (card.problem or "")
    for ask in (library.view, library.detail):
        with pytest.raises(MissingError, match=problem):
            ask(card.id)
    assert library.place(library.id_of(opened / "models"), "").line == "spr1"


def test_manifests_of_other_programs_are_no_solutions(opened: Path) -> None:
    (opened / "site").mkdir()
    (opened / "site" / "manifest.json").write_text('{"name": "a web page", "icons": []}')
    (opened / "odd").mkdir()
    (opened / "odd" / "manifest.json").mkdir()
    found = names(Library([opened]))
    assert set(found) == {"turn", "game", "models", "odd"}
    assert "cannot be read" in (found["odd"] or "")


def test_a_manifest_that_lies(opened: Path) -> None:
    """Sound by its checksum, and yet not what a solution's is."""
    path = opened / "spots" / "turn"
    facts = json.loads((path / "manifest.json").read_text())
    del facts["checksum"], facts["config"]["pot"]
    write_manifest(path, facts)
    library = Library([path])
    assert "manifest.json is damaged: config.pot is missing" in (library.cards()[0].problem or "")
    with pytest.raises(MissingError, match="damaged"):
        library.view(library.cards()[0].id)


def test_files_that_are_gone_or_damaged(opened: Path) -> None:
    library = Library([opened])
    game = opened / "a" / "b" / "c" / "game"
    flop = next(game.glob("flops-*/Qs7h4d*"))
    flop.write_bytes(flop.read_bytes()[:-7])
    with pytest.raises(InputError, match="is damaged"):
        library.place(library.id_of(game), "c x | Qs7h4d")
    next(game.glob("preflop-*")).unlink()
    with pytest.raises(MissingError, match="is missing"):
        Library([opened]).place(library.id_of(game), "")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    cards = Library([tmp_path / "nowhere"]).cards()
    assert [card.name for card in cards] == ["nowhere"]
    assert "cannot be read" in (cards[0].problem or "")
    assert Library([]).cards() == []
    (tmp_path / "file").write_text("")
    assert Library([tmp_path / "file"]).cards()[0].problem


def test_a_folder_without_permission(opened: Path) -> None:
    (opened / "spots").chmod(0)
    try:
        with as_anybody():
            found = names(Library([opened]))
    finally:
        (opened / "spots").chmod(0o755)
    assert "Permission" in (found["spots"] or "")


def test_too_many_folders(opened: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders_module, "MOST_FOLDERS", 3)
    assert any("folders are searched" in (why or "") for why in names(Library([opened])).values())


def test_only_some_views_stay_open(opened: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_module, "OPEN_VIEWS", 2)
    library = Library([opened])
    ids = [card.id for card in library.cards()]
    views = [library.view(id) for id in ids]
    assert library.view(ids[2]) is views[2]
    assert library.view(ids[0]) is not views[0]


def test_many_threads_at_once(opened: Path) -> None:
    library = Library([opened])
    ids = {card.name: card.id for card in library.cards()}
    asked = [
        *[(ids["turn"], line) for line in ("", "x", "x x | 2h |", "x x | 2d | x", "b75% c | Kd |")],
        *[(ids["game"], line) for line in ("", "c x | Qs7h4d", "c x | Qs7h4d | x x")],
        *[(ids["models"], line) for line in ("spr2 | Ks7d2c", "spr1 | 9h8h2c | x")],
    ] * 3
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: library.place(*one), asked))
    alone = Library([opened])
    for (id, line), place in zip(asked[: len(asked) // 3], found, strict=False):
        assert place == alone.place(id, line)
    for first, again in zip(found, found[len(asked) // 3 :], strict=False):
        assert first == again


def test_the_solve_that_wrote_it(opened: Path) -> None:
    library = Library([opened], solve_of=lambda path: "abc" if path.name == "turn" else None)
    ids = {card.name: card.id for card in library.cards()}
    assert library.detail(ids["turn"]).solve == "abc"
    assert library.detail(ids["game"]).solve is None
