"""Kuhn poker: the rules, spelled out hand by hand."""

import pytest
from reference.games import all_states, information_sets, naive_value

from allstreets.cfr import FIRST, SECOND, Kuhn
from allstreets.cfr.toys.kuhn import CARDS, KuhnState


def deal(cards: str, betting: str = "") -> KuhnState:
    return KuhnState(tuple(CARDS.index(card) for card in cards), betting)


def test_sizes() -> None:
    states = list(all_states(Kuhn().root()))
    assert len(states) == 1 + 3 + 6 * 9  # root, first card, and the betting of six deals
    sets = information_sets(Kuhn())
    assert len(sets) == 12
    assert [player for player, _ in sets.values()].count(FIRST) == 6


@pytest.mark.parametrize(
    ("cards", "betting", "utility"),
    [
        ("KQ", "kk", 1),
        ("QK", "kk", -1),
        ("KJ", "bf", 1),
        ("JK", "bf", 1),
        ("KJ", "kbf", -1),
        ("JQ", "bc", -2),
        ("QJ", "bc", 2),
        ("KQ", "kbc", 2),
        ("JQ", "kbc", -2),
    ],
)
def test_what_the_first_player_wins(cards: str, betting: str, utility: float) -> None:
    state = deal(cards, betting)
    assert state.is_terminal
    assert state.utility() == utility


def test_who_moves_and_what_he_knows() -> None:
    state = deal("KJ")
    assert (state.player, state.actions(), state.information_set()) == (
        FIRST,
        ("check", "bet"),
        "K",
    )
    state = state.child(0)
    assert (state.player, state.actions(), state.information_set()) == (
        SECOND,
        ("check", "bet"),
        "J k",
    )
    state = state.child(1)
    assert (state.player, state.actions(), state.information_set()) == (
        FIRST,
        ("fold", "call"),
        "K kb",
    )
    assert state.child(1) == deal("KJ", "kbc")


def test_known_equilibrium_has_the_known_value() -> None:
    # Kuhn's solution with the first player never bluffing: he checks all, calls with Q one time in
    # three; the second bluffs J one time in three and calls with Q one time in three.
    def row(key: str) -> dict[str, float]:
        card, _, betting = key.partition(" ")
        facing = betting.endswith("b")
        odds = {
            ("J", ""): 0,
            ("Q", ""): 0,
            ("K", ""): 0,
            ("J", "kb"): 0,
            ("Q", "kb"): 1 / 3,
            ("K", "kb"): 1,
            ("J", "k"): 1 / 3,
            ("Q", "k"): 0,
            ("K", "k"): 1,
            ("J", "b"): 0,
            ("Q", "b"): 1 / 3,
            ("K", "b"): 1,
        }[card, betting]
        names = ("fold", "call") if facing else ("check", "bet")
        return {names[0]: 1 - odds, names[1]: odds}

    table = {key: row(key) for key in information_sets(Kuhn())}
    assert naive_value(Kuhn().root(), table) == pytest.approx(-1 / 18, abs=1e-15)
