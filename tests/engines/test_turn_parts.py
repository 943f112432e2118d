"""One turn of a flop, lifted alone: the same as in a subgame of all turns."""

import itertools

import numpy as np
import pytest
from builders.whole_solution import solver_of, whole_game

from allstreets.betting import Player
from allstreets.cards import HAND_OF_COMBO, parse_flop
from allstreets.engines import (
    TWO_BYTES,
    BoardsLift,
    CardModel,
    ExactSubgame,
    StreetView,
    every_combo,
)
from allstreets.engines.lifting import turn_parts


@pytest.mark.parametrize(
    "flop", ["Ks8s3d", "7s7h7d", "AsKsQs", pytest.param("9h8d2c", marks=pytest.mark.long)]
)
def test_parts_cover_all_boards_and_hands(flop: str) -> None:
    """The hands of all boards are counted as an exact subgame lays them out."""
    cards = parse_flop(flop).flop.cards
    parts = list(turn_parts(cards).values())
    for level in (0, 1):
        for slices in ("boards", "hands"):
            found = [getattr(part, slices)[level] for part in parts]
            assert found[0].start == 0
            assert all(one.stop == two.start for one, two in itertools.pairwise(found))
    game = whole_game([flop], 3, "100%", ()).pots[0]
    root, combos = every_combo(cards)
    full = ExactSubgame(game.tree, game.payoffs, root, combos, learns=False)
    for level in (0, 1):
        street = full.streets[level + 1]
        assert parts[-1].boards[level].stop == len(street.boards)
        assert parts[-1].hands[level].stop == street.lists[Player.OOP].start[-1]


@pytest.mark.parametrize("rows", [16, pytest.param(0, marks=pytest.mark.long)])
def test_a_turn_alone_plays_and_is_worth_what_it_is_among_all(rows: int) -> None:
    model = CardModel("boards", groups=16, rows=rows)
    solver = solver_of(whole_game(["7s7h7d"], 5, "100%", ()), 4, model)
    reach = solver.preflop.pot_reach(solver.preflop.average())
    flop = solver.game.flops.flops[0].cards
    arrays = solver.engine.pack(0, reach, [TWO_BYTES] * solver.engine.pots)
    for number, pot in enumerate(solver.game.pots):
        root, combos = every_combo(flop)
        lift = BoardsLift(model, number, arrays)
        full = ExactSubgame(pot.tree, pot.payoffs, root, combos, buckets=lift.sharing, learns=False)
        lift.fill(full)
        start = (
            reach[0, number][HAND_OF_COMBO[combos[0]]],
            reach[1, number][HAND_OF_COMBO[combos[1]]],
        )
        for turn in root.representatives[::4]:
            part, alone = lift.on_turn(flop, turn)
            small = ExactSubgame(
                pot.tree, pot.payoffs, alone, combos, buckets=part.sharing, learns=False
            )
            part.fill(small)
            river = root.after(turn).representatives[2]
            for cards in ((turn,), (turn, river)):
                here, there = (StreetView(each, start, cards) for each in (full, small))
                street = pot.tree.first_street + len(cards)
                for node in pot.tree.decisions(type(pot.tree.first_street)(street)):
                    expected, found = here.node(node), there.node(node)
                    np.testing.assert_array_equal(found.strategy, expected.strategy)
                    for player in Player:
                        np.testing.assert_array_equal(found.combos[player], expected.combos[player])
                        np.testing.assert_array_equal(found.reach[player], expected.reach[player])
                        np.testing.assert_allclose(
                            found.values[player], expected.values[player], rtol=1e-6, atol=1e-4
                        )
