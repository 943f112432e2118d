"""The push/fold solutions that ship: beside published charts, linear programs and sums by hand.

Charts give a largest stack for each hand. Of 6,422 calls (38 stacks, 169 hands) all are as charts
have them, and of 6,591 pushes (39 stacks) all but 14. In these a linear program sides with the
solutions: it pushes such a hand less than half the time, and to push it costs at most 0.009 bb.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from solvers.test_push_fold import exact, results

from allstreets.base import Floats
from allstreets.cards import HAND_NAMES, grid_cell, preflop_equity
from allstreets.solutions import WholeSolution
from allstreets.storage import library, load

CHARTS = json.loads((Path(__file__).parents[1] / "data/push_fold.json").read_text())
STACKS = [1 + step / 2 for step in range(39)]
OTHERWISE: dict[
    str, list[float]
] = {  # stacks in bb at which charts push a hand, and solutions less than half the time
    "92s": [3.5],
    "53s": [4],
    "96o": [5],
    "63s": [5.5, 6],
    "94s": [6],
    "84s": [8, 9, 9.5],
    "43s": [8, 8.5, 9.5],
    "T5s": [11.5],
    "J8o": [12.5],
}


@pytest.fixture(autouse=True, scope="module")
def _copies_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("cache")
    patch.setenv("ALLSTREETS_LIBRARY", str(folder / "library"))


@cache
def strategies(name: str) -> tuple[Floats, Floats]:
    """[169] each: how often the small blind pushes, and the big blind calls."""
    solution = load(name, WholeSolution)
    push = solution.at().decision
    if solution.rules.stack == solution.rules.big_blind:
        return push.strategy[-1], np.ones(169)  # the big blind is all-in: nothing to decide
    return push.strategy[-1], solution.at("a").decision.strategy[-1]


def charted(seat: str, hand: int, stack: float) -> bool:
    """Whether charts push or call with a hand."""
    row, column = grid_cell(hand)
    largest = CHARTS[seat][row].split()[column]
    if largest == "gap":
        return any(low <= stack <= high for low, high in CHARTS["gaps"][HAND_NAMES[hand]])
    return stack <= float(largest)


def differences(seat: str, stacks: list[float]) -> dict[str, list[float]]:
    """Hands, and the stacks at which a solution does what charts do not."""
    found: dict[str, list[float]] = {}
    for stack in stacks:
        chances = strategies(f"pf-{stack:g}bb")[seat == "call"]
        for hand, name in enumerate(HAND_NAMES):
            if (chances[hand] >= 0.5) != charted(seat, hand, stack):
                found.setdefault(name, []).append(stack)
    return found


def test_calls_are_those_of_charts() -> None:
    assert differences("call", STACKS[1:]) == {}


def test_pushes_are_those_of_charts_but_where_a_linear_program_says_otherwise() -> None:
    assert differences("push", STACKS) == OTHERWISE
    for name, stacks in OTHERWISE.items():
        hand = HAND_NAMES.index(name)
        for stack in stacks:
            pushes, calls = exact(stack).jams, exact(stack).calls
            gives_up, wins, shows = results(stack)
            pairs = preflop_equity().pairs[hand].sum()
            gain = wins[hand] @ (1 - calls) + shows[hand] @ calls - gives_up[hand].sum()
            # A hand that loses against an equilibrium's calls is pushed in no equilibrium.
            assert -0.009 < gain / pairs < 1e-4, (name, stack)
            assert pushes[hand] < 0.5, (name, stack)


@pytest.mark.parametrize("ante", [0.0, 0.125])
def test_certificates_by_hand(ante: float) -> None:
    """The gain of best responses, by two matrices; equities are rounded to some 1e-8 of the pot."""
    pairs = preflop_equity().pairs.astype(np.float64)
    for stack in STACKS:
        name = f"pf{'-ante' if ante else ''}-{stack:g}bb"
        pushes, calls = strategies(name)
        gives_up = -(0.5 + ante) * pairs
        wins, shows = (1 + ante) * pairs, stack * (2 * preflop_equity().equity - 1) * pairs
        pushed = wins @ (1 - calls) + shows @ calls
        best = np.maximum(pushed, gives_up.sum(axis=1)).sum()
        answers = [pushes @ shows] if stack == 1 else [pushes @ wins, pushes @ shows]
        worst = np.min(answers, axis=0).sum() + ((1 - pushes) @ gives_up).sum()
        certificate = library()[name].certificate
        assert certificate is not None
        gap = 1000 * (best - worst) / 2 / pairs.sum()
        assert gap == pytest.approx(certificate.real_exploitability_mbb, rel=0.01, abs=1.5e-5), name
        assert gap < 1e-4, name
