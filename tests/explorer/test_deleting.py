"""Solutions that get a name and a note, and those that are deleted and brought back."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from builders.certificates import certificate
from builders.explorer_solutions import folder
from builders.small_forms import endless, river
from builders.spot_sets import put_set

from allstreets.base import InputError
from allstreets.explorer.deleting import Deleting
from allstreets.explorer.folders import LABEL, Found
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError, MissingError
from allstreets.explorer.models.solution import Label
from allstreets.explorer.server import open_folders
from allstreets.explorer.solves.folders import Request, SolveFolder
from allstreets.explorer.solves.manager import Solves
from allstreets.explorer.trash import Trash
from allstreets.storage import claim, load_unified, read_manifest, write_certificate
from allstreets.storage.certificates import certified_hash


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    root = tmp_path / "opened"
    shutil.copytree(folder("turn"), root / "spots" / "turn")
    shutil.copytree(folder("classes"), root / "game")
    return root


def deleting_in(root: Path) -> tuple[Library, Solves, Deleting]:
    (root / "solves").mkdir(exist_ok=True)
    library, solves = open_folders([root], root / "solves")
    return library, solves, Deleting(library, solves)


def listed(library: Library) -> dict[str, str]:
    """Names and notes."""
    return {card.name: card.note for card in library.cards()}


def test_a_label_is_part_of_no_checksum(opened: Path) -> None:
    library, game = Library([opened]), opened / "game"
    judged = certified_hash(read_manifest(game, "unified"))
    write_certificate(game, certificate(judged=judged))
    before = {path: path.read_bytes() for path in game.rglob("*") if path.is_file()}
    card = next(one for one in library.cards() if one.kind == "unified")
    written = card.written
    named = library.label(card.id, Label(name=" My 20 bb ", note="for the final table\nof May"))
    assert (named.name, named.note) == ("My 20 bb", "for the final table\nof May")
    assert named.written == written  # no numbers have changed
    assert named.real is not None
    assert not named.real.outdated
    assert load_unified(game).facts.iterations == 30
    assert listed(library)["My 20 bb"] == "for the final table\nof May"
    assert library.detail(card.id).name == "My 20 bb"
    after = {path: path.read_bytes() for path in game.rglob("*") if path.is_file()}
    assert {path.name for path in after if path not in before} == {LABEL}
    assert all(after[path] == before[path] for path in before)

    (game / LABEL).write_text("[1, 2")  # damaged: as if there were none
    assert listed(Library([opened])) == {card.name: "", "turn": ""}
    library.label(card.id, Label())
    assert not (game / LABEL).exists()
    assert listed(library) == {card.name: "", "turn": ""}


def test_what_is_deleted_can_be_brought_back(opened: Path) -> None:
    library, solves, deleting = deleting_in(opened)
    turn = next(card for card in library.cards() if card.kind == "spot")
    library.label(turn.id, Label(name="a turn", note="mine"))
    gone = deleting.delete(turn.id)
    assert (gone.name, gone.folder) == ("a turn", str(opened / "spots" / "turn"))
    assert not Path(gone.folder).exists()
    assert [card.kind for card in library.cards()] == ["unified"]
    with pytest.raises(MissingError):
        library.view(turn.id)
    assert deleting.trash.list() == [gone]
    (opened / "spots" / "turn").mkdir(parents=True)
    with pytest.raises(BusyError, match="move it away first"):
        deleting.trash.restore(gone.id)
    shutil.rmtree(opened / "spots")
    deleting.trash.restore(gone.id)
    assert listed(library)["a turn"] == "mine"
    assert next(card.id for card in library.cards() if card.kind == "spot") == turn.id
    assert deleting.trash.list() == []
    with pytest.raises(MissingError, match="not in the trash"):
        deleting.trash.restore(gone.id)
    assert solves.close()


def test_a_set_is_deleted_as_a_whole(opened: Path) -> None:
    """And no spot of it by itself, which the table over its boards would miss."""
    turns = put_set(opened / "turns", {"turn": {"Ks7d4c9h": 0.1, "KsTd4c9h": 0.3}})
    library, solves, deleting = deleting_in(opened)
    before = {path: path.read_bytes() for path in turns.rglob("*") if path.is_file()}
    whole = next(card for card in library.cards() if card.kind == "spots")
    for spot in whole.tables[0].solutions:
        with pytest.raises(BusyError, match="delete the whole set"):
            deleting.delete(spot)
    with claim(turns), pytest.raises(BusyError, match="a run writes to"):
        deleting.delete(whole.id)
    gone = deleting.delete(whole.id)
    assert (gone.name, gone.folder) == ("turns", str(turns))
    assert not turns.exists()
    assert {card.kind for card in library.cards()} == {"spot", "unified"}
    deleting.trash.restore(gone.id)
    after = {path: path.read_bytes() for path in turns.rglob("*") if path.is_file()}
    assert {path: text for path, text in after.items() if path.name != ".lock"} == before
    assert sum(card.part_of == whole.id for card in library.cards()) == 2
    assert solves.close()


def test_nothing_is_deleted_that_somebody_works_on(opened: Path) -> None:
    library, solves, deleting = deleting_in(opened)
    game = next(card.id for card in library.cards() if card.kind == "unified")
    (opened / "game" / "checkpoints").mkdir()
    with (
        claim(opened / "game" / "checkpoints"),  # a run that is active, in another process, say
        pytest.raises(BusyError, match="a run writes to"),
    ):
        deleting.delete(game)
    unreadable = next(iter(Library([opened / "nowhere"]).cards()))
    with pytest.raises(MissingError, match="not deleted here"):
        Deleting(Library([opened / "nowhere"]), solves).delete(unreadable.id)
    alone = Deleting(Library([opened / "game"]), solves)
    with pytest.raises(BusyError, match="was opened directly"):
        alone.delete(game)
    assert (opened / "game" / "manifest.json").is_file()
    assert solves.close()


def test_a_solution_of_a_solve_goes_with_it(opened: Path) -> None:
    library, solves, deleting = deleting_in(opened)
    own = SolveFolder(opened / "solves" / "mine")
    shutil.copytree(folder("turn"), own.solution)
    own.write(Request(run=1, state="stopped", form=river(name="my turn"), created=1.0))
    id = library.id_of(own.solution)
    library.cards()
    running = solves.start(endless()).id
    with solves._changed:
        assert solves._changed.wait_for(lambda: solves.detail(running).saves, 300)
    with pytest.raises(BusyError, match="stop it first"):
        deleting.delete(library.id_of(opened / "solves" / running / "solution"))
    gone = deleting.delete(id)
    assert (gone.name, gone.folder) == ("my turn", str(own.path))
    assert [one.id for one in solves.list()] == [running]
    deleting.trash.restore(gone.id)
    assert {one.id for one in solves.list()} == {running, "mine"}
    solves.stop(running)
    assert solves.close()


def test_a_trash_leads_nowhere_else(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    place = opened / ".trash" / "20260101-000000-0123abcd"
    (place / "content").mkdir(parents=True)
    for where in ("../elsewhere", "/etc/elsewhere", "."):
        facts = f'{{"version": 1, "name": "x", "folder": "{where}", "deleted": 1}}'
        (place / "trashed.json").write_text(facts)
        trash = Trash([opened])
        (listed,) = trash.list()
        assert listed.name == "trashed.json is damaged (it names a folder elsewhere)"
        with pytest.raises(InputError, match="content back by hand"):
            trash.restore(listed.id)
        assert (place / "content").is_dir()


class DeletedMeanwhile(Library):
    """A library in which a solution is deleted as soon as a request has found it."""

    def __init__(self, opened: Path, delete: Callable[[], object]) -> None:
        super().__init__([opened])
        self._delete: Callable[[], object] | None = delete

    def _require(self, id: str) -> Found:
        found = super()._require(id)
        delete, self._delete = self._delete, None
        if delete is not None:
            delete()
        return found


@pytest.mark.parametrize("label", [Label(name="mine"), Label()])
def test_labelling_what_is_deleted_makes_no_folder(opened: Path, label: Label) -> None:
    library, _, deleting = deleting_in(opened)
    turn = next(card for card in library.cards() if card.kind == "spot")
    with pytest.raises(MissingError, match="moved or removed"):
        DeletedMeanwhile(opened, lambda: deleting.delete(turn.id)).label(turn.id, label)
    assert not (opened / "spots" / "turn").exists()
    (gone,) = deleting.trash.list()
    deleting.trash.restore(gone.id)  # nothing is in its way
    assert library.card(turn.id).name == turn.name


def test_what_is_deleted_while_its_label_is_written(
    opened: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, _, deleting = deleting_in(opened)
    turn = next(card for card in library.cards() if card.kind == "spot")
    sync = os.fsync

    def delete_first(_: int) -> None:  # the label is written, not renamed yet
        monkeypatch.setattr(os, "fsync", sync)
        deleting.delete(turn.id)

    monkeypatch.setattr(os, "fsync", delete_first)
    with pytest.raises(MissingError, match="moved or removed"):
        library.label(turn.id, Label(name="mine"))
    assert not (opened / "spots" / "turn").exists()
    (gone,) = deleting.trash.list()
    deleting.trash.restore(gone.id)
    assert library.card(turn.id).name == turn.name
