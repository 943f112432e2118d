"""Flops chosen by a solution: the solutions that will do, and refusals."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from builders.small_games import small_config
from builders.whole_solution import classes
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.cards import FlopSet, every_flop
from allstreets.jobs.config import flop_choice as module
from allstreets.jobs.config.flop_choice import leaf_features
from allstreets.jobs.whole_game import plan_unified
from allstreets.solutions import WholeSolution
from allstreets.storage import MANIFEST

FITTED = {"flops": "fitted_9"}


def test_what_is_no_solution_on_all_flops(tmp_path: Path) -> None:
    config = small_config(**FITTED, fitted_from=str(tmp_path / "none"))
    with pytest.raises(InputError, match="none contains no solution; name the folder of a whole"):
        config.flop_set()
    few = tmp_path / "few"
    plan_unified(small_config(epochs=1), few).run()
    with pytest.raises(InputError, match="few cannot say which flops stand for all: it has 2 "):
        small_config(**FITTED, fitted_from=str(few)).flop_set()


def test_leaves_are_the_values_of_the_pots() -> None:
    solver = classes()
    reach = solver.preflop.pot_reach(solver.preflop.average())
    found = module.leaves_of(WholeSolution.of(solver))
    expected = leaf_features(solver.evaluate().own, reach)
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.long
def test_a_run_on_fitted_flops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long: all flops are compared."""
    leaves = np.random.default_rng(1).normal(size=(len(every_flop().flops), 3))
    monkeypatch.setattr(module, "solution_leaves", lambda _: leaves)
    (tmp_path / MANIFEST).write_text("{}")
    config = small_config(**FITTED, fitted_from=str(tmp_path), epochs=2)
    found = config.flop_set()
    assert found.name == "fitted_9"
    assert found.weights.sum() == pytest.approx(22_100)
    plan_unified(config, tmp_path / "run").run()
    manifest = json.loads((tmp_path / "run" / MANIFEST).read_text())
    assert [row["flop"] for row in manifest["flops"]] == [flop.text for flop in found.flops]
    assert [row["weight"] for row in manifest["flops"]] == found.weights.tolist()
    more = config.model_copy(update={"epochs": 3})
    resumed = plan_unified(more, tmp_path / "run", resume=True).run()
    assert resumed.training.progress.iteration == 3


def test_a_solution_that_was_written_again_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def leaves(folder: Path) -> NDArray[np.float64]:
        read.append(folder)
        return np.zeros((1, 1))

    def chosen(count: int, given: object, name: str) -> FlopSet:
        del given
        return FlopSet(name, every_flop().flops[:count], np.ones(count))

    monkeypatch.setattr(module, "solution_leaves", leaves)
    monkeypatch.setattr(module, "choose_flops", chosen)
    manifest = tmp_path / MANIFEST
    manifest.write_text("{}")
    for _ in range(2):
        assert module.fitted_flops(3, tmp_path).name == "fitted_3"
    assert len(read) == 1
    os.utime(manifest, ns=(1, 1))
    module.fitted_flops(3, tmp_path)
    assert len(read) == 2
