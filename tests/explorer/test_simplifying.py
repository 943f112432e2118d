"""Simple strategies as the page gets them: their prices, and solutions that are saved."""

import sys
from pathlib import Path

import numpy as np
import pytest
from builders import explorer_solutions
from builders.small_spots import RIVER, spot

from allstreets.base import InputError
from allstreets.explorer import simplifying
from allstreets.explorer.deleting import Deleting
from allstreets.explorer.library import Library
from allstreets.explorer.models.base import BusyError
from allstreets.explorer.models.solution import SimpleSource
from allstreets.explorer.models.solves import SimpleForm
from allstreets.explorer.server import open_folders
from allstreets.explorer.simplifying import Simplifying
from allstreets.jobs import simplify
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import load, save_spot

FORM = SimpleForm(grid_pct=50, sizes=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("simple") / "river"
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(20)
    save_spot(solver, path)
    return path


def test_a_price(folder: Path, tmp_path: Path) -> None:
    library = Library([folder.parent])
    found = Simplifying(library, tmp_path).price(library.id_of(folder), FORM)
    price = simplify(folder, grid=0.5, sizes=1, threads=1)
    assert found.rule == "1 size, steps of 50 %"
    assert (found.before, found.after) == pytest.approx((price.before, price.after))
    assert found.prices == pytest.approx(list(price.prices))
    assert found.mixed_after == price.mixes_after.mixed
    assert [street.street for street in found.streets] == ["river"]
    assert not list(tmp_path.iterdir())


def test_what_would_take_long_and_what_comes_twice(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library([folder.parent])
    simple, solution = Simplifying(library, tmp_path), library.id_of(folder)
    for ask in (simple.price, simple.save):
        with simple._one_at_a_time, pytest.raises(BusyError, match="another price"):
            ask(solution, FORM)
    monkeypatch.setitem(simplifying.MOST_BYTES, "spot", 100)
    for ask in (simple.price, simple.save):
        with pytest.raises(InputError, match="In a terminal: allstreets simplify"):
            ask(solution, FORM)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["spot", "unified"])
def test_saving(kind: str, folder: Path, tmp_path: Path) -> None:
    source = folder if kind == "spot" else explorer_solutions.folder("raked game")
    library, solves = open_folders([source.parent], tmp_path / "solves")
    before = library.card(library.id_of(source))
    card = Simplifying(library, solves.folder).save(before.id, SimpleForm(grid_pct=50))
    assert (card.kind, card.name) == (kind, f"{before.name}, steps of 50 %")
    assert card.title == f"{before.title}, simple: steps of 50 %"
    (saved,) = solves.folder.iterdir()
    assert (card.folder, card.id) == (str(saved), library.id_of(saved))
    price = simplify(source, grid=0.5, threads=1)
    assert card.exploitability == pytest.approx(price.after, rel=1e-5)
    found = load(saved)
    assert isinstance(found, SpotSolution | WholeSolution)
    doubled = 2 * found.at("").decision.strategy
    np.testing.assert_allclose(doubled, np.rint(doubled), atol=1e-6)
    detail = library.detail(card.id)
    assert detail.simple_from == SimpleSource(id=before.id, name=before.name)
    assert detail.simple is not None
    assert f"exploitable for {price.after:.3g} {price.unit}" in detail.simple.text
    facts = {fact.label: fact.value for fact in detail.facts}
    assert facts["Made simple"] == f"{price.who}: steps of 50 %"
    assert str(source) in facts["Made from"]
    assert f"{price.before:.3g} before" in facts["Cost"]
    assert detail.curve.points == []
    assert library.place(card.id, "").solution == card.id
    assert solves.list() == []  # it was not solved
    Deleting(library, solves).delete(card.id)
    assert not saved.exists()


def test_what_cannot_be_saved_leaves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise InputError("no room")

    library = Library([folder.parent])
    monkeypatch.setattr(sys.modules[simplify.__module__], "save_spot", full)
    with pytest.raises(InputError, match="no room"):
        Simplifying(library, tmp_path).save(library.id_of(folder), FORM)
    with pytest.raises(InputError, match="nothing to simplify"):
        Simplifying(library, tmp_path).save(library.id_of(folder), SimpleForm())
    assert not list(tmp_path.iterdir())
