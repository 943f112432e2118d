"""Prices of simple strategies as the page gets them."""

from pathlib import Path

import pytest
from builders.small_spots import RIVER, spot

from allstreets.base import InputError
from allstreets.explorer import simplifying
from allstreets.explorer.errors import BusyError
from allstreets.explorer.library import Library
from allstreets.explorer.simplifying import Simplifying
from allstreets.solvers import Simplification, SpotSolver
from allstreets.storage import save_spot
from allstreets.training import simplify

RULE = Simplification(grid=0.5, sizes=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("simple") / "river"
    solver = SpotSolver(spot(RIVER), threads=1)
    solver.train_batch(20)
    save_spot(solver, path)
    return path


def test_a_price(folder: Path) -> None:
    library = Library([folder.parent])
    found = Simplifying(library).price(library.id_of(folder), RULE)
    price = simplify(folder, grid=0.5, sizes=1, threads=1)
    assert found.rule == "1 size, steps of 50 %"
    assert (found.before, found.after) == pytest.approx((price.before, price.after))
    assert found.prices == pytest.approx(list(price.prices))
    assert found.mixed_after == price.mixes_after.mixed
    assert [street.street for street in found.streets] == ["river"]


def test_what_would_take_long_and_what_comes_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library([folder.parent])
    simple, solution = Simplifying(library), library.id_of(folder)
    with simple._one_at_a_time, pytest.raises(BusyError, match="another price"):
        simple.price(solution, RULE)
    monkeypatch.setitem(simplifying.MOST_BYTES, "spot", 100)
    with pytest.raises(InputError, match="In a terminal: allstreets simplify"):
        simple.price(solution, RULE)
