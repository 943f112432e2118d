"""Comparing two solutions of the same game, by their folders or as they were loaded."""

from pathlib import Path

from allstreets.analysis import Comparison, compare_decisions
from allstreets.base import InputError
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.storage.game_keys import game_keys
from allstreets.storage.opening import Solution, load


def compare(
    first: "Solution | Path | str",
    second: "Solution | Path | str",
    line: str = "",
    flop: str | None = None,
) -> Comparison:
    """The decision of a line in two solutions of the same spot, or of the same whole game.

    Locks, and the flops and cards of whole games, may differ; `notes` says so. Solutions of
    different games are an `InputError` that says what differs. `flop` is that of a line of a
    whole game that names none.
    """
    solution = load(first) if isinstance(first, Path | str) else first
    other = load(second) if isinstance(second, Path | str) else second
    if isinstance(solution, SpotSolution) and isinstance(other, SpotSolution) and flop is not None:
        raise InputError("--flop is for whole games: these are spots")
    notes = game_keys(solution).notes(game_keys(other))
    if isinstance(solution, SpotSolution) and isinstance(other, SpotSolution):
        return compare_decisions(solution.at(line).decision, other.at(line).decision, notes)
    assert isinstance(solution, WholeSolution)  # what else has keys
    assert isinstance(other, WholeSolution)
    return compare_decisions(solution.at(line, flop).decision, other.at(line, flop).decision, notes)
