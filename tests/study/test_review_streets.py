"""A street as a spot: the sizes that were bet are in its tree, whatever else is left out."""

from dataclasses import replace
from fractions import Fraction
from itertools import groupby

import numpy as np
import pytest
from builders.whole_solution import whole_game
from interop.test_reading import TEXT

from allstreets.base.errors import InputError
from allstreets.betting import IP, Player, PlayerSizes, Street, action_text
from allstreets.betting.words import BIG_BLINDS
from allstreets.cards import COMBO_COUNT, HAND_OF_COMBO, Range, parse_cards, parse_combo
from allstreets.interop import PlayedHand, read_text
from allstreets.jobs import StoppedError
from allstreets.study import Effort
from allstreets.study.review_streets import (
    StreetStart,
    Trimmed,
    solve_street,
    street_spot,
    with_hand,
)

RAISED = TEXT.replace(
    "Bob: folds\nUncalled bet ($3) returned to Zoë\nZoë collected $4.75",
    "Bob: raises $7.40 to $10.40\nZoë: folds\nUncalled bet ($7.40) returned to Bob\n"
    "Bob collected $10.75",
)
GAME = whole_game(["7s7h7d"], 80, "33%, 100%")
WIDE = np.ones(COMBO_COUNT), np.ones(COMBO_COUNT)
NARROW = Range.parse("AA,KQs").weights, Range.parse("TT,AJs").weights


def start(hand: PlayedHand, street: Street = Street.FLOP) -> StreetStart:
    moments = {
        street: tuple(some)
        for street, some in groupby(hand.moments(), key=lambda one: one.action.street)
    }
    return StreetStart(hand, street, moments[street], IP)


def later(street: Street) -> StreetStart:
    """The betting of the flop on a later street, all checked before."""
    hand = read_text(RAISED).hands[0]
    moved = tuple(
        replace(one, street=street) if one.street == Street.FLOP else one for one in hand.actions
    )
    board = parse_cards("2c7dJhAs4c")[: street + 2]
    return start(replace(hand, board=board, actions=moved), street)


def flop() -> StreetStart:
    return start(read_text(RAISED).hands[0])


def words(trimmed: Trimmed, *line: int) -> list[str]:
    """The actions after the children of these numbers."""
    tree = street_spot(GAME, flop(), WIDE, trimmed).tree
    node = 0
    for place in line:
        node = int(tree.children_of(node)[place])
    return [action_text(action, BIG_BLINDS) for action in tree.actions_at(node)]


def test_pot_stack_and_sizes_are_those_of_the_hand() -> None:
    spot = street_spot(GAME, flop(), WIDE)
    assert (spot.board, spot.pot, spot.stack) == ("2c7dJh", 500, 7800)
    assert words(Trimmed.ALL) == ["x", "b1.65", "b5"]
    assert words(Trimmed.ALL, 0) == ["x", "b1.65", "b3", "b5"]
    assert words(Trimmed.ALL, 0, 2) == ["f", "c", "r6.63", "r10.4", "r14"]
    assert words(Trimmed.ONE_SIZE, 0) == ["x", "b1.65", "b3"]
    assert words(Trimmed.ONE_SIZE, 0, 2) == ["f", "c", "r6.63", "r10.4"]
    assert words(Trimmed.NO_RAISES, 0, 2) == ["f", "c", "r10.4"]
    sizes = [street_spot(GAME, flop(), WIDE, trimmed).tree.node_count for trimmed in Trimmed]
    assert sizes == sorted(sizes, reverse=True)


def test_rake_is_that_of_the_hand() -> None:
    hand = read_text(RAISED).hands[0]
    raked = replace(hand, pot=Fraction(20), rake=Fraction(1))
    assert street_spot(GAME, start(replace(hand, rake=Fraction(0))), WIDE).rake == 0
    assert street_spot(GAME, start(raked), WIDE).rake == 0.05
    rules = replace(GAME.preflop, rake=0.1, rake_cap=100)  # which takes 1 bb of that pot, too
    same = street_spot(replace(GAME, preflop=rules), start(raked), WIDE)
    assert (same.rake, same.rake_cap) == (0.1, 100)


def test_more_raises_than_the_solution_allows() -> None:
    again = RAISED.replace(
        "Zoë: folds\nUncalled bet ($7.40) returned to Bob\nBob collected $10.75",
        "Zoë: raises $20 to $30.40\nBob: folds\nUncalled bet ($20) returned to Zoë\n"
        "Zoë collected $25",
    )
    spot = street_spot(GAME, start(read_text(again).hands[0]), WIDE)
    assert spot.max_raises == 2


def test_donk_sizes_are_bets_where_there_would_be_a_donk() -> None:
    player = PlayerSizes.parse("50%", "", "20%")
    game = replace(GAME, sizes=((PlayerSizes(), PlayerSizes()),) + ((player, PlayerSizes()),) * 2)
    turn = RAISED.replace(
        "Zoë: folds\nUncalled bet ($7.40) returned to Bob\nBob collected $10.75",
        "Zoë: calls $7.40\n*** TURN *** [2c 7d Jh] [As]\nBob: checks\nZoë: bets $5\nBob: folds\n"
        "Uncalled bet ($5) returned to Zoë\nZoë collected $25",
    )
    here = start(read_text(turn).hands[0], Street.TURN)
    for leader, share in ((Player.IP, 0.2), (Player.OOP, 0.5), (None, 0.5)):
        spot = street_spot(game, replace(here, raised_last=leader), WIDE)
        (bet,) = (action for action in spot.tree.actions_at(0) if action.is_aggressive)
        assert bet.amount == pytest.approx(share * spot.pot)


def test_a_hand_that_is_added_keeps_suits_alike() -> None:
    weights = Range.parse("AA:0.5").weights
    found = with_hand(weights, parse_combo("KsQs"))
    suited = HAND_OF_COMBO[parse_combo("KsQs")] == HAND_OF_COMBO
    assert set(found[suited].tolist()) == {0.5e-4}
    assert (found[~suited] == weights[~suited]).all()
    assert (with_hand(found, parse_combo("AsAh")) == found).all()


def test_what_there_is_no_time_for() -> None:
    """The tree is as large as the estimate allows; what is solved badly is not used."""
    river, turn = later(Street.RIVER), later(Street.TURN)
    result = solve_street(GAME, river, NARROW, Effort(1e-3, 1e6, 1)).result
    assert result.exploitability <= 1e-3
    assert result.spot.tree.node_count == street_spot(GAME, river, NARROW).tree.node_count
    with pytest.raises(InputError, match="of the pot; allow more with --seconds-per-spot"):
        solve_street(GAME, turn, WIDE, Effort(1e-3, 0.0, 1))
    with pytest.raises(StoppedError):
        solve_street(GAME, river, WIDE, Effort(1e-3, 1e6, 1, stop=lambda: True))
