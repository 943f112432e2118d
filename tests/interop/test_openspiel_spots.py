"""Spots as games of OpenSpiel: its algorithms check our solutions, its poker our games."""

import sys
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import TabularPolicy

from allstreets.base import InputError
from allstreets.cards import Range, combo_text, parse_combo
from allstreets.games import Spot
from allstreets.interop import openspiel_game, openspiel_policy
from allstreets.solutions import solve

RIVER: dict[str, Any] = {
    "board": "Ks7d4c9h2s",
    "oop": "AhAs,QhQs,8c7c:0.5,KhQh",
    "ip": "KhKc,JhJs,Ts9s:0.25",
    "pot": 100,
    "stack": 200,
    "bets": ["50%", "100%", "a"],
    "raises": ["a"],
}
RAKED = {**RIVER, "rake": 0.05, "rake_cap": 8}
# Hearts and spades are the same here: the solver folds their rivers.
TURN: dict[str, Any] = {
    "board": "Kd7d4c9c",
    "oop": "AhAs,8h7h,8s7s",
    "ip": "QhQs",
    "pot": 100,
    "stack": 100,
    "bets": ["a"],
    "raises": [],
}


@pytest.mark.parametrize(
    ("keys", "iterations"),
    [
        *((keys, count) for keys in (RIVER, RAKED) for count in (2, 200)),
        (TURN, 2),
        pytest.param(TURN, 200, marks=pytest.mark.long),
    ],
)
def test_openspiel_finds_the_same_exploitability(keys: dict[str, Any], iterations: int) -> None:
    solution = solve(Spot(**keys), target=0, max_iterations=iterations)
    policy = openspiel_policy(solution)
    share = nash_conv(policy.game, policy) / 2 / solution.spot.pot
    assert share == pytest.approx(solution.exploitability, abs=1e-6)  # strategies have 32 bits
    assert (share > 0.01) == (iterations == 2)


def universal_poker() -> Any:
    """The river in OpenSpiel's own poker, whose hands are in the order 2s2h, 2s2d … AdAc."""
    cards = [rank + suit for rank in "23456789TJQKA" for suit in "shdc"]
    order = [parse_combo(first + second) for first, second in combinations(cards, 2)]
    reaches = [Range.parse(RIVER[player]).weights[order] for player in ("oop", "ip")]
    return pyspiel.load_game(
        "universal_poker",
        {
            **{"betting": "nolimit", "bettingAbstraction": "fchpa", "numPlayers": 2},
            **{"numRounds": 4, "numHoleCards": 2, "numBoardCards": "0 3 1 1"},
            **{"numSuits": 4, "numRanks": 13, "firstPlayer": "1 1 1 1"},
            **{"blind": "50 50", "stack": "250 250", "potSize": 100},
            **{"boardCards": RIVER["board"], "handReaches": " ".join(map(str, np.hstack(reaches)))},
        },
    )


def dealt(state: Any, chance: float = 1.0) -> Iterator[tuple[float, Any]]:
    """Every state after the private deals, and its probability."""
    if not state.is_chance_node():
        yield chance, state
        return
    for outcome, probability in state.chance_outcomes():
        if probability > 0:
            yield from dealt(state.child(outcome), chance * probability)


def side_by_side(ours: Any, theirs: Any) -> Iterator[tuple[Any, Any]]:
    """Both games after the same actions: fold, check or call, half the pot, the pot, all-in."""
    yield ours, theirs
    if ours.is_terminal():
        assert theirs.is_terminal()
        return
    sizes = ("Fold", "Call", "HalfPot", "Bet", "AllIn")
    moves = {theirs.action_to_string(move).split("=")[-1]: move for move in theirs.legal_actions()}
    words = sorted(moves, key=sizes.index)
    assert len(words) == len(ours.legal_actions())
    for action, word in zip(ours.legal_actions(), words, strict=True):
        yield from side_by_side(ours.child(action), theirs.child(moves[word]))


def test_it_is_the_game_of_openspiels_own_poker() -> None:
    """Deals with card removal, turns to act and results, in every history."""
    theirs = {
        tuple(state.information_state_string(p).split("Private: ")[1][:4] for p in (0, 1)): deal
        for deal in dealt(universal_poker().new_initial_state())
        for state in [deal[1]]
    }
    game = openspiel_game(Spot(**RIVER))
    histories = 0
    for chance, ours in dealt(game.new_initial_state()):
        other_chance, other = theirs.pop(tuple(map(combo_text, ours.combos)))
        assert chance == pytest.approx(other_chance, rel=1e-12)
        for mine, same in side_by_side(ours, other):
            assert mine.current_player() == same.current_player()
            assert mine.returns() == same.returns()
            histories += 1
    assert theirs == {}
    assert histories > 300


def test_openspiel_accepts_it_as_a_game() -> None:
    game = openspiel_game(Spot(**{**TURN, "oop": "AhAs", "ip": "QhQs"}))
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    again = pyspiel.load_game(str(game))
    policies = TabularPolicy(game), TabularPolicy(again)
    assert policies[0].state_lookup == policies[1].state_lookup
    assert "IP QsQh: a" in policies[0].state_lookup
    assert "OOP AsAh: x x | 2h | x a" in policies[0].state_lookup


def test_what_cannot_be_a_game_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="needs a spot"):
        pyspiel.load_game("python_allstreets_spot")
    all_in = solve(Spot(**{**RIVER, "stack": 0}), max_iterations=1)
    with pytest.raises(InputError, match="no player acts"):
        openspiel_policy(all_in)
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    monkeypatch.delitem(sys.modules, "allstreets.interop.openspiel")
    with pytest.raises(InputError, match=r"pip install allstreets\[openspiel\]"):
        __import__("allstreets.interop.openspiel")
