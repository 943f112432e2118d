"""Push or fold: the program's own solutions beside linear programs and published charts.

The small blind is all-in or folds, the big blind calls or folds. With 169 hands each, true weights
of the pairs of combos and exact equities, the game is a small linear program:

    largest Σ_o z_o   with   z_o ≤ Σ_h p_h · fold(h, o)       and   z_o ≤ Σ_h p_h · call(h, o)

over p, the small blind's chances of all-in by hand, where fold and call are what he wins, in sums
over the pairs of h and o, when the big blind answers so.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import linprog

from allstreets.base import Floats
from allstreets.betting import IP, OOP, PreflopRules
from allstreets.cards import preflop_equity
from allstreets.cards.hands import HAND_NAMES, HAND_SIZES
from allstreets.cfr.schedules import parse_schedule
from allstreets.cli.main import main
from allstreets.solvers.separated import PairValues, PreflopSolver

SAMPLE = Path(__file__).parents[2] / "sample_configurations/push_fold.yaml"
BLIND, BIG_BLIND = 0.5, 1.0
ITERATIONS = 300


class Solved(NamedTuple):
    """A solution of the game at one depth."""

    value: float  # of the small blind, in bb a hand
    jams: Floats  # [169]
    calls: Floats  # [169]
    exploitability: float = 0.0  # in bb a hand


@cache
def solved(depth: float) -> Solved:
    """The program's solution; no pot sees a flop, so the models below are never used."""
    pairs = preflop_equity().pairs.astype(np.float64)
    nothing = PairValues((1.0,), pairs, np.full((1, *pairs.shape), 0.5))
    rules = PreflopRules.parse(depth, [], limp=False)
    solver = PreflopSolver(rules, nothing, parse_schedule("dcfr(1.2,0.5,4)"))
    assert not solver.preflop.game.pots
    solver.train_batch(ITERATIONS)
    jam, call = (strategy[1] for strategy in solver.preflop.average().values())
    worth = solver.preflop.values(
        IP, np.zeros((0, 169)), best=False, strategies=solver.preflop.average()
    )
    error = solver.exploitability()
    assert error is not None
    return Solved(float(worth[0].sum()) / 100 / pairs.sum(), jam, call, error / 1000)


@cache
def results(depth: float) -> tuple[Floats, Floats, Floats]:
    """[169, 169] by hand of SB and BB, over pairs of combos: SB folds; BB folds, BB calls."""
    pairs = preflop_equity().pairs.astype(np.float64)
    stakes = depth * (2 * preflop_equity().equity - 1)
    return -BLIND * pairs, BIG_BLIND * pairs, stakes * pairs


@cache
def exact(depth: float) -> Solved:
    """The game by linear programming; the big blind's strategy is the dual solution."""
    gives_up, wins, shows = results(depth)
    hands = len(gives_up)
    # Variables p [169], z [169]; z_o ≤ Σ_h (1 − p_h)·gives_up + p_h·(wins or shows).
    rows = [np.hstack([-(answer - gives_up).T, np.eye(hands)]) for answer in (wins, shows)]
    found = linprog(
        np.concatenate([np.zeros(hands), -np.ones(hands)]),
        A_ub=np.vstack(rows),
        b_ub=np.tile(gives_up.sum(axis=0), 2),
        bounds=[(0, 1)] * hands + [(None, None)] * hands,
    )
    assert found.status == 0
    folds, calls = -found.ineqlin.marginals.reshape(2, hands)
    value = -float(found.fun) / float(preflop_equity().pairs.sum())
    return Solved(value, found.x[:hands], calls / (folds + calls))


def share(chances: Floats) -> float:
    """How much of all combos plays so, in %."""
    return 100 * float(HAND_SIZES @ chances) / 1326


@pytest.mark.parametrize("depth", [5, 8, 10, 15, 20])
def test_equilibria_are_those_of_a_linear_program(depth: float) -> None:
    found = solved(depth)
    assert found.value == pytest.approx(exact(depth).value, abs=found.exploitability + 1e-9)
    assert found.exploitability < 1e-6
    # The same by hand: against these calls no push wins more, against these pushes no call.
    gives_up, wins, shows = results(depth)
    pushes = wins @ (1 - found.calls) + shows @ found.calls
    best = np.maximum(pushes, gives_up.sum(axis=1)).sum()
    folds, calls = found.jams @ wins, found.jams @ shows
    worst = np.minimum(folds, calls).sum() + ((1 - found.jams) @ gives_up).sum()
    gap = (best - worst) / 2 / preflop_equity().pairs.sum()
    assert gap == pytest.approx(found.exploitability, rel=1e-6, abs=1e-9)


def test_ten_big_blinds_as_they_are_known() -> None:
    found = solved(10)
    assert share(found.jams) == pytest.approx(58.28, abs=0.01)
    assert share(found.calls) == pytest.approx(37.38, abs=0.01)
    assert exact(10).value == pytest.approx(-0.04537, abs=5e-6)
    assert share(exact(10).jams) == pytest.approx(58.284, abs=0.001)
    assert share(exact(10).calls) == pytest.approx(37.376, abs=0.001)


def test_the_sample_file_prints_what_the_linear_program_finds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """To 0.1 % of hands, the last digit; a call is counted among the hands that face a push."""
    assert main(["train", str(SAMPLE), "--output", str(tmp_path / "push")]) == 0
    text = capsys.readouterr().out
    found = exact(10)
    facing = found.jams @ preflop_equity().pairs
    called = 100 * float(facing @ found.calls / facing.sum())
    for action, known in (("all-in 10 bb", share(found.jams)), ("call", called)):
        printed = re.search(rf"{action} +([0-9.]+) %", text)
        assert printed is not None
        assert float(printed[1]) == pytest.approx(known, abs=0.06)  # rounded, and 0.01 of ours
    words = SAMPLE.read_text()
    for known, what in (
        (share(found.jams), "of hands are pushed"),
        (share(found.calls), "of all combos call"),
        (called, "the share of the hands that face a push"),
    ):
        assert re.search(rf"{known:.1f} %,? {what}", words)


@pytest.mark.parametrize(
    ("seat", "hand", "threshold"), [(IP, "K2o", 11.6), (IP, "J2s", 8.5), (OOP, "22", 15.0)]
)
def test_thresholds_of_published_charts(seat: int, hand: str, threshold: float) -> None:
    """Up to this depth, in bb, the small blind jams the hand, or the big blind calls with it."""
    for depth, plays in ((threshold - 0.2, True), (threshold + 0.2, False)):
        found = solved(round(depth, 2))
        chances = found.jams if seat == IP else found.calls
        assert (chances[HAND_NAMES.index(hand)] > 0.5) == plays, depth
