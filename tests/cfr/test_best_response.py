"""Best responses against the slow twin and against OpenSpiel."""

import numpy as np
import pytest
from builders.leduc_names import openspiel_information_set
from builders.toys import LEDUC
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import (
    RandomGame,
    information_sets,
    naive_best_response,
    naive_exploitability,
    naive_value,
    random_table,
)

from allstreets.base import InputError
from allstreets.cfr import (
    FIRST,
    SECOND,
    Kuhn,
    Leduc,
    best_response,
    compile_game,
    exploitability,
    game_value,
    sequence_form,
)
from allstreets.cfr.best_response import as_table, from_table, normalised
from allstreets.cfr.toys.leduc import LeducState


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_random_games_and_policies(game_seed: int, seed: int) -> None:
    game = RandomGame(game_seed % 500)
    if len(information_sets(game)) > 40:  # the twin's time grows with the square of the game
        return
    table = random_table(game, seed)
    form = sequence_form(compile_game(game))
    for player in (FIRST, SECOND):
        expected = naive_best_response(game, table, player)
        assert best_response(form, table, player).value == pytest.approx(expected, abs=1e-12)
    assert game_value(form, table) == pytest.approx(naive_value(game.root(), table), abs=1e-12)
    assert exploitability(form, table) >= -1e-12


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_kuhn_policies(seed: int) -> None:
    table = random_table(Kuhn(), seed)
    expected = naive_exploitability(Kuhn(), table)
    assert exploitability(Kuhn(), table) == pytest.approx(expected, abs=1e-12)


def test_leduc_policies_have_openspiels_exploitability() -> None:
    pyspiel = pytest.importorskip("pyspiel")
    theirs_by_ours: dict[str, str] = {}

    def walk(state: LeducState) -> None:
        if state.is_terminal:
            return
        if not state.is_chance:
            theirs_by_ours[state.information_set()] = openspiel_information_set(state)
        count = len(state.chance_outcomes() if state.is_chance else state.actions())
        for index in range(count):
            walk(state.child(index))

    walk(Leduc().root())
    number = {"fold": 0, "check": 1, "call": 1, "bet": 2, "raise": 2}
    for seed in range(5):
        table = random_table(Leduc(), seed, pure=0.3 if seed else 0.0)
        policy = pyspiel.TabularPolicy(
            {
                theirs_by_ours[key]: [(number[action], p) for action, p in row.items()]
                for key, row in table.items()
            }
        )
        theirs = pyspiel.exploitability(pyspiel.load_game("leduc_poker"), policy)
        assert exploitability(LEDUC, table) == pytest.approx(theirs, abs=1e-9)


def test_response_is_worth_what_it_says() -> None:
    table = random_table(Leduc(), 7)
    for player, sign in ((FIRST, 1), (SECOND, -1)):
        response = best_response(LEDUC, table, player)
        played = dict(table)
        for key, action in response.actions.items():
            played[key] = {other: float(other == action) for other in table[key]}
        assert sign * game_value(LEDUC, played) == pytest.approx(response.value, abs=1e-12)
        assert response.value >= sign * game_value(LEDUC, table)


def test_does_not_see_the_opponents_cards() -> None:
    # Against uniform play a player who saw both cards would never lose in Kuhn poker.
    uniform = {
        key: dict.fromkeys(actions, 1 / len(actions))
        for key, (_, actions) in information_sets(Kuhn()).items()
    }
    assert best_response(Kuhn(), uniform, FIRST).value == pytest.approx(0.5)
    assert best_response(Kuhn(), uniform, SECOND).value == pytest.approx(5 / 12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"K": None}, "has no entry for information set 'K'"),
        ({"K": {"check": 0.5, "bte": 0.5}}, "did you mean 'bet'"),
        ({"K": {"check": 0.5, "bet": 0.6}}, "must sum to 1"),
        ({"K": {"check": -0.5, "bet": 1.5}}, "must not be negative"),
        ({"K": {"check": float("nan"), "bet": 1.0}}, "must not be negative"),
    ],
)
def test_bad_strategies_are_refused(change: dict[str, dict[str, float] | None], words: str) -> None:
    table = random_table(Kuhn(), 1)
    for key, row in change.items():
        if row is None:
            del table[key]
        else:
            table[key] = row
    with pytest.raises(InputError) as error:
        exploitability(Kuhn(), table)
    assert words in str(error.value)


def test_normalised_shares_and_uniform_where_nothing_was_added() -> None:
    flat = compile_game(Kuhn())
    sums = np.zeros(flat.slots)
    sums[2:4] = 3, 1
    probabilities = normalised(sums, flat.slot_start)
    assert list(probabilities[:6]) == [0.5, 0.5, 0.75, 0.25, 0.5, 0.5]
    assert list(sums[:2]) == [0, 0]


def test_tables_read_back() -> None:
    flat = compile_game(Kuhn())
    table = random_table(Kuhn(), 3)
    assert as_table(flat, from_table(flat, table)) == table
