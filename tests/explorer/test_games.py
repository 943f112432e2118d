"""Whole games trained from the page: their files, their cost, and their runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from allstreets.explorer.models.base import BusyError, FormError
from allstreets.explorer.models.solves import GameForm, SolveDetail
from allstreets.explorer.solves.games import estimate_game, sample_games
from allstreets.explorer.solves.manager import Solves
from allstreets.storage import load_unified

TINY = """
name: tiny
solver:
  type: unified_cfr
  cards: classes
  stack_depth: 3
  flops: spread_1
  postflop_bet_sizes: [1.0]
  threads: 1
  epochs: {epochs}
  check_interval: 5
"""


def tiny(epochs: int) -> GameForm:
    return GameForm(text=TINY.format(epochs=epochs))


@pytest.fixture
def solves(tmp_path: Path) -> Iterator[Solves]:
    made = Solves(tmp_path / "solves", lambda path: path.parent.name)
    yield made
    assert made.close(60)


def wait_for(solves: Solves, name: str, state: str, iteration: int = 0) -> SolveDetail:
    def holds() -> bool:
        found = solves.detail(name)
        done = 0 if found.progress is None else found.progress.iteration
        return found.state == state and done >= iteration

    with solves._changed:
        assert solves._changed.wait_for(holds, 300), solves.detail(name)
    return solves.detail(name)


def test_a_file_is_checked_by_key() -> None:
    wrong = estimate_game(GameForm(text="solver:\n  type: unified_cfr\n  stak: 20\n  epochs: 0\n"))
    assert wrong.memory_bytes is None
    fields = {problem.field for problem in wrong.problems}
    assert {"solver.stak", "solver.epochs"} <= fields
    assert any(problem.message.startswith("line 3: solver.stak") for problem in wrong.problems)
    for text, field, words in (
        ("[1, 2]", None, "must have 'key: value' lines"),
        ("solver: {type: unified_cfr, cluster: auto}", "solver.cluster", "allstreets train"),
        ("postflop_model: {flops: spread_1}", "solver.type", "only whole games"),
    ):
        [problem] = estimate_game(GameForm(text=text)).problems
        assert (problem.field, words in problem.message) == (field, True), problem


def test_what_a_game_takes() -> None:
    found = estimate_game(tiny(40))
    assert found.problems == []
    assert (found.name, found.title) == ("tiny", "3 bb, flops spread_1, cards classes")
    assert (found.iterations, found.flops) == (40, 1)
    assert found.memory_bytes is not None
    assert found.seconds is not None
    assert found.seconds > 0
    huge = GameForm(text="solver: {type: unified_cfr, stack_depth: 100, cards: exact, flops: all}")
    assert any("of memory and" in problem.message for problem in estimate_game(huge).problems)


def test_samples_can_all_be_trained() -> None:
    found = sample_games()
    assert len({one.name for one in found}) == len(found) > 0
    assert all("unified_cfr" in one.text for one in found)


def test_a_game_is_trained_to_its_end(solves: Solves) -> None:
    begun = solves.train(tiny(10))
    assert (begun.name, begun.unit, begun.form, begun.target) == ("tiny", "mbb/hand", None, None)
    behind = solves.train(tiny(5))
    assert behind.place == 1
    done = wait_for(solves, begun.id, "done")
    assert done.error is None
    assert done.reason is not None
    assert done.reason.startswith("all 10 iterations are done: ")
    assert [point.iteration for point in done.curve] == [5, 10]
    result = load_unified(solves.folder / begun.id / "solution")
    assert result.facts.iterations == 10
    assert done.progress is not None
    assert done.progress.exploitability == pytest.approx(result.facts.exploitability, rel=0.01)
    assert done.solution == begun.id
    with pytest.raises(BusyError, match="trained to its end"):
        solves.resume(begun.id)
    wait_for(solves, behind.id, "done")
    with pytest.raises(FormError, match="stak"):
        solves.train(GameForm(text="solver: {type: unified_cfr, stak: 3}"))
    assert len(solves.list()) == 2  # nothing is left of what was refused


@pytest.mark.long
def test_a_game_is_stopped_and_goes_on(solves: Solves) -> None:
    """Long: two processes one after the other."""
    name = solves.train(tiny(1_000_000)).id
    wait_for(solves, name, "running", 5)
    solves.pause(name)
    held = wait_for(solves, name, "paused")
    solves.resume(name)
    assert held.progress is not None
    wait_for(solves, name, "running", held.progress.iteration + 1)
    solves.stop(name)
    stopped = wait_for(solves, name, "stopped")
    assert stopped.reason is not None
    assert stopped.reason.startswith("saved after ")
    assert stopped.progress is not None
    folder = solves.folder / name / "solution"
    assert load_unified(folder).facts.iterations == stopped.progress.iteration
    solves.resume(name)
    wait_for(solves, name, "running", stopped.progress.iteration + 1)
    solves.stop(name)
    again = wait_for(solves, name, "stopped")
    iterations = [point.iteration for point in again.curve]
    assert iterations == sorted(set(iterations))
    assert again.saves == stopped.saves + 1
