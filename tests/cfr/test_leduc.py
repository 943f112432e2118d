"""Leduc hold'em is OpenSpiel's leduc_poker, state by state."""

import pytest
from builders.leduc_names import openspiel_information_set
from reference.games import all_states, information_sets

from allstreets.cfr import FIRST, SECOND, Leduc
from allstreets.cfr.toys.leduc import CARDS, LeducState
from allstreets.cfr.toys.openspiel import OpenSpielState, load_openspiel

# The names of OpenSpiel's moves for ours.
MOVES = {"fold": "Fold", "check": "Call", "call": "Call", "bet": "Raise", "raise": "Raise"}


def test_sizes() -> None:
    states = list(all_states(Leduc().root()))
    assert len(states) == 9457
    assert sum(state.is_terminal for state in states) == 5520
    sets = information_sets(Leduc())
    assert len(sets) == 936
    assert [player for player, _ in sets.values()].count(SECOND) == 468


def test_same_game_as_openspiel_and_the_same_information_sets() -> None:
    pytest.importorskip("pyspiel")
    ours_to_theirs: dict[str, str] = {}

    def compare(ours: LeducState, theirs: OpenSpielState) -> None:
        assert ours.is_terminal == theirs.is_terminal
        if ours.is_terminal:
            assert ours.utility() == theirs.utility()
            return
        assert ours.is_chance == theirs.is_chance
        if ours.is_chance:
            mine, other = ours.chance_outcomes(), theirs.chance_outcomes()
            assert [chance for _, chance in mine] == pytest.approx([chance for _, chance in other])
            cards = [int(label.split(":")[1]) for label, _ in other]
            assert [CARDS.index(label) for label, _ in mine] == cards
            count = len(mine)
        else:
            assert ours.player == theirs.player
            assert [MOVES[action] for action in ours.actions()] == list(theirs.actions())
            assert openspiel_information_set(ours) == theirs.information_set()
            known = ours_to_theirs.setdefault(ours.information_set(), theirs.information_set())
            assert known == theirs.information_set()
            count = len(ours.actions())
        for index in range(count):
            compare(ours.child(index), theirs.child(index))

    compare(Leduc().root(), load_openspiel("leduc_poker").root())
    assert len(ours_to_theirs) == len(set(ours_to_theirs.values())) == 936


@pytest.mark.parametrize(
    ("cards", "rounds", "invested", "utility"),
    [
        (("Js", "Kh"), ("bf", ""), (3, 1), 1),
        (("Js", "Kh"), ("kbf", ""), (1, 3), -1),
        (("Js", "Kh", "Jh"), ("bc", "kk"), (3, 3), 3),
        (("Js", "Kh", "Ks"), ("bc", "brc"), (11, 11), -11),
        (("Js", "Jh", "Qs"), ("brc", "kk"), (5, 5), 0),
        (("Qs", "Jh", "Ks"), ("kk", "bf"), (5, 1), 1),
    ],
)
def test_payoffs(
    cards: tuple[str, ...], rounds: tuple[str, str], invested: tuple[int, int], utility: float
) -> None:
    state = LeducState(tuple(CARDS.index(card) for card in cards), rounds, invested)
    assert state.is_terminal
    assert state.utility() == utility


def test_betting_keeps_both_investments() -> None:
    state = LeducState((4, 0))
    for action, invested in (("bet", (3, 1)), ("raise", (3, 5)), ("call", (5, 5))):
        state = state.child(list(state.actions()).index(action))
        assert state.invested == invested
    assert state.is_chance
    state = state.child(0)
    assert (state.player, state.actions()) == (FIRST, ("check", "bet"))
    assert state.information_set() == "Ks brc Jh"
    for action, invested in (("bet", (9, 5)), ("raise", (9, 13))):
        state = state.child(list(state.actions()).index(action))
        assert state.invested == invested
    assert state.actions() == ("fold", "call")  # two raises a round, no more
