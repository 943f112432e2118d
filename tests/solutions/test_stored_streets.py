"""A street that was packed shows the same numbers, on every card."""

from typing import Any

import numpy as np
import pytest
from builders.small_spots import FLOP, RIVER, TURN, spot

from allstreets.base import InputError
from allstreets.betting import Player, Street
from allstreets.cards import combo_equity, parse_card
from allstreets.solutions import SpotSolution
from allstreets.solutions.stored_streets import StoredStreet, board_name, pack_street
from allstreets.solvers import SpotSolver


def assert_same(first: Any, second: Any) -> None:
    for name in ("combos", "reach", "met", "values"):
        for player in (0, 1):
            np.testing.assert_array_equal(
                getattr(first, name)[player], getattr(second, name)[player]
            )
    assert first.player == second.player
    np.testing.assert_array_equal(first.strategy, second.strategy)
    np.testing.assert_array_equal(first.action_values, second.action_values)


@pytest.mark.parametrize("keys", [RIVER, TURN, FLOP])
def test_the_first_street(keys: dict[str, Any]) -> None:
    solver = SpotSolver(spot(keys))
    solver.train_batch(5)
    tree, view = solver.spot.tree, SpotSolution.of(solver).street()
    packed = pack_street(view, tree, tree.first_street, solver.spot.cards)
    stored = StoredStreet(tree, tree.first_street, packed, np.arange(1326))
    for node in tree.decisions(tree.first_street):
        assert_same(stored.node(node), view.node(node))
        np.testing.assert_array_equal(stored.strategy(node), view.strategy(node))


@pytest.mark.parametrize("card", ["2h", "2c", "2s", "2d", "As", "Ah"])
def test_a_card_that_stands_for_others(card: str) -> None:
    solver = SpotSolver(spot(FLOP))
    solver.train_batch(5)
    tree, result = solver.spot.tree, SpotSolution.of(solver)
    root = solver.subgame.streets[0].runouts[0]
    name, renamed = board_name(root, (parse_card(card),))
    board = (*solver.spot.cards, parse_card(name))
    packed = pack_street(result.street((parse_card(name),)), tree, Street.TURN, board)
    stored = StoredStreet(tree, Street.TURN, packed, renamed)
    for node in tree.decisions(Street.TURN):
        ours, wanted = stored.node(node), result.street((parse_card(card),)).node(node)
        assert_same(ours, wanted)
        assert ours.equity is not None
        shown = (*solver.spot.cards, parse_card(card))  # with the suits that were asked for
        for found, equity in zip(
            ours.equity, combo_equity(shown, wanted.combos, wanted.reach), strict=True
        ):
            np.testing.assert_allclose(found, equity, rtol=1e-12)


def test_files_without_equities_are_read() -> None:
    solver = SpotSolver(spot(RIVER))
    tree, street = solver.spot.tree, solver.spot.tree.first_street
    packed = pack_street(SpotSolution.of(solver).street(), tree, street, solver.spot.cards)
    old = {name: array for name, array in packed.items() if not name.startswith("equity")}
    assert len(old) == len(packed) - 2
    stored = StoredStreet(tree, street, old, np.arange(1326))
    assert stored.node(0).equity is None
    found = SpotSolution(solver.spot, lambda _: stored).at("").decision
    for player in Player:
        np.testing.assert_array_equal(
            found.equities[player], SpotSolution.of(solver).at("").decision.equities[player]
        )


def test_a_card_of_the_board_is_refused() -> None:
    root = SpotSolver(spot(FLOP)).subgame.streets[0].runouts[0]
    with pytest.raises(InputError, match="on the board already"):
        board_name(root, (parse_card("Ks"),))
