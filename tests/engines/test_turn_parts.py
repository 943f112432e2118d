"""One turn of a flop, lifted alone: the same as in a subgame of all turns."""

import itertools
from itertools import accumulate

import numpy as np
import pytest
from builders.whole_solution import solver_of, whole_game

from allstreets.betting import Player
from allstreets.cards import HAND_OF_COMBO, Range, parse_board, parse_flop, runouts
from allstreets.engines import (
    TWO_BYTES,
    BoardsLift,
    CardModel,
    ExactSubgame,
    StreetView,
    every_combo,
    turn_alone,
    turn_parts,
)
from allstreets.engines.exact.cards import first_street, next_street


@pytest.mark.parametrize(
    "flop", ["Ks8s3d", "7s7h7d", "AsKsQs", pytest.param("9h8d2c", marks=pytest.mark.long)]
)
def test_parts_cover_all_boards_and_hands(flop: str) -> None:
    """The hands of all boards are counted as an exact subgame lays them out."""
    cards = parse_flop(flop).flop.cards
    parts = list(turn_parts(*every_combo(cards)).values())
    for level in (0, 1):
        for found in (
            [part.boards[level] for part in parts],
            *([part.hands[level][player] for part in parts] for player in Player),
        ):
            assert found[0].start == 0
            assert all(one.stop == two.start for one, two in itertools.pairwise(found))
    game = whole_game([flop], 3, "100%", ()).pots[0]
    root, combos = every_combo(cards)
    full = ExactSubgame(game.tree, game.payoffs, root, combos, learns=False)
    for level in (0, 1):
        street = full.streets[level + 1]
        assert parts[-1].boards[level].stop == len(street.boards)
        assert parts[-1].hands[level][Player.OOP].stop == street.lists[Player.OOP].start[-1]


@pytest.mark.parametrize(
    ("flop", "oop", "ip"),
    [
        ("Ks7h2d", "TT+,AQs+", "88-22,AKo"),
        ("KsJs2s", "random", "random"),
        ("7s7h7d", "AKs,QQ", "AcKd,T9s"),
    ],
)
def test_rows_of_a_turn_are_those_among_all_turns(flop: str, oop: str, ip: str) -> None:
    board = parse_board(flop)
    ranges = [Range.parse(text).on(board) for text in (oop, ip)]
    root = runouts(board, [held.weights for held in ranges])
    combos = np.flatnonzero(ranges[0].weights), np.flatnonzero(ranges[1].weights)
    turns = next_street(first_street(root, combos))
    rivers = next_street(turns)
    parts = turn_parts(root, combos)
    assert list(parts) == list(root.representatives)
    firsts = list(accumulate((rivers.parents.count(turn) for turn in range(len(parts))), initial=0))
    for number, (card, part) in enumerate(parts.items()):
        turn, river = part.rows
        for player in Player:
            assert turn[player] == turns.lists[player].start[number]
            assert river[player] == rivers.lists[player].start[firsts[number]]
        below = next_street(first_street(turn_alone(root, card), combos))
        assert below.boards == [turns.boards[number]]
        for player in Player:
            (mine,), theirs = below.hands[player], turns.hands[player][number]
            np.testing.assert_array_equal(mine.combos, theirs.combos)
            np.testing.assert_allclose(mine.weight, theirs.weight)


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
        for turn in root.representatives[::7]:
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
