"""The adapter: OpenSpiel's own games as ours, and clear words where one does not fit."""

import sys
from typing import Any

import pytest
from reference.games import information_sets, random_table

from allstreets.base import InputError
from allstreets.cfr import (
    CfrSolver,
    Game,
    State,
    compile_game,
    exploitability,
    load_game,
    load_openspiel,
)

pyspiel = pytest.importorskip("pyspiel")

# OpenSpiel's numbers of the moves of Kuhn and Leduc.
MOVES = {"Pass": 0, "Bet": 1, "Fold": 0, "Call": 1, "Raise": 2}


def test_is_a_game() -> None:
    game = load_openspiel("kuhn_poker")
    assert isinstance(game, Game)
    assert isinstance(game.root(), State)
    assert game.name == "openspiel:kuhn_poker"
    assert len(information_sets(game)) == 12


def test_states_do_not_change() -> None:
    state = load_openspiel("kuhn_poker").root()
    before = str(state.inside)
    child = state.child(0)
    child.child(1)
    assert str(state.inside) == before
    assert str(child.inside) != before


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_exploitability_is_openspiels_own(name: str) -> None:
    game = load_openspiel(name)
    for seed in range(3):
        table = random_table(game, seed)
        policy = {}
        for key, row in table.items():
            policy[key] = [(MOVES[label], probability) for label, probability in row.items()]
        theirs = pyspiel.exploitability(game.inside, pyspiel.TabularPolicy(policy))
        assert exploitability(game, table) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("name", ["matrix_rps", "turn_based_simultaneous_game(game=matrix_rps())"])
def test_simultaneous_moves_are_unseen(name: str) -> None:
    game = load_game(f"openspiel:{name}")
    solver = CfrSolver(game, "cfr+")
    solver.train_batch(100)
    assert solver.metrics().exploitability == pytest.approx(0, abs=1e-6)
    for row in solver.strategies().values():
        assert list(row.values()) == pytest.approx([1 / 3] * 3, abs=1e-3)


def test_a_game_of_simultaneous_bids() -> None:
    """Both players have the same cards, so the game is worth nothing."""
    game = load_game("openspiel:goofspiel(num_cards=3,imp_info=True,points_order=descending)")
    solver = CfrSolver(game, "tuned")
    solver.train_batch(50)
    assert solver.metrics().exploitability == pytest.approx(0, abs=1e-3)
    assert solver.game_value() == pytest.approx(0, abs=1e-3)


def minimax(state: Any) -> float:
    """The value to the first player, every move seen."""
    if state.is_terminal():
        return float(state.returns()[0])
    values = [minimax(state.child(move)) for move in state.legal_actions()]
    if state.is_chance_node():
        chances = [chance for _, chance in state.chance_outcomes()]
        return float(sum(chance * value for chance, value in zip(chances, values, strict=True)))
    return max(values) if state.current_player() == 0 else min(values)


@pytest.mark.parametrize(
    "name", ["breakthrough(rows=3,columns=2)", "pig(players=2,winscore=3,horizon=4)"]
)
def test_a_game_in_which_all_is_seen(name: str) -> None:
    """Its information sets have no text in OpenSpiel."""
    game = load_openspiel(name)
    solver = CfrSolver(game, "tuned")
    solver.train_batch(100)
    assert solver.metrics().exploitability == pytest.approx(0, abs=1e-6)
    assert solver.game_value() == pytest.approx(minimax(game.inside.new_initial_state()), abs=1e-6)


def test_parameters_and_bigger_games() -> None:
    game = load_game("openspiel:liars_dice(dice_sides=3)")
    flat = compile_game(game)
    solver = CfrSolver(game, "tuned")
    solver.train_batch(300)
    assert len(flat.keys) == len(information_sets(game))
    assert solver.metrics().exploitability == pytest.approx(0, abs=2e-3)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("leduc_pokr", "did you mean 'leduc_poker'"),
        ("", "has no game ''"),
        ("leduc_poker(players=3)", "has 3 players"),
        ("mfg_garnet", "has 1 player;"),
        ("matrix_pd", "not zero-sum"),
        ("leduc_poker(players=2", "cannot load"),
        ("tiny_bridge_2p", "not zero-sum"),
        ("leduc_poker(cards=9)", "cannot load"),
        ("catch", "has 1 player;"),
    ],
)
def test_refuses_with_advice(name: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        load_openspiel(name)
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(InputError, match=r"pip install allstreets\[openspiel\]"):
        load_game("openspiel:kuhn_poker")


def test_unfit_recall_is_found() -> None:
    # Players of this game remember the last two bids only, so they forget bids of their own.
    with pytest.raises(InputError, match="perfect recall"):
        compile_game(load_openspiel("liars_dice_ir(dice_sides=3,recall_length=2)"))
