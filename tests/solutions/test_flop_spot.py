"""A flop of a whole game as a spot: the same pot, the ranges that get there, the given suits."""

from typing import Any

import numpy as np
import pytest
from builders.whole_solution import forgotten, raked, result, trips_result, whole_game

from allstreets.base import InputError
from allstreets.betting import CHIPS_PER_BB, OOP, Street, same_sizes
from allstreets.cards import HAND_OF_COMBO, Range, combo_text, live_combos, parse_board, parse_flop
from allstreets.games import Spot, WholeGame, spot_mapping
from allstreets.solutions import WholeSolution, flop_spot, suits_text
from allstreets.solutions.flop_spot import LEAST_REACH, _spot


def game(**rules: Any) -> WholeGame:
    """A game whose rules after the flop are all unusual."""
    plain = whole_game(["Ks7h2d"], 12, "40%,a", **rules)
    return WholeGame(
        plain.preflop,
        plain.sizes,
        plain.flops,
        max_raises=2,
        add_allin_threshold=1.2,
        force_allin_threshold=0.15,
        merging_threshold=0.1,
        pot_sizes={"raised": same_sizes(Street.FLOP, "25%,3bb", "2.5x")},
    )


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"ante": 0.125, "rake": 0.05, "rake_cap": 0.3},
        {"bb_ante": 1, "limp": False},
        {"small_blind": 0.25, "big_blind": 0.5},
        {"small_blind": 1, "big_blind": 2},
        {"ante": 0.0025},
    ],
)
def test_the_spot_plays_the_tree_of_the_pot(rules: dict[str, Any]) -> None:
    here = game(**rules)
    for pot in here.pots:
        spot = _spot(here, pot.pot, "Ks7h2d", (Range.full(), Range.full()))
        again = Spot.from_mapping(spot_mapping(spot))
        for tree in (spot.tree, again.tree):
            for name in ("kind", "player", "street", "invested", "children"):
                assert np.array_equal(getattr(tree, name), getattr(pot.tree, name)), name
            assert tree.actions == pot.tree.actions
            assert (tree.pot, tree.stack) == (pot.tree.pot, pot.tree.stack)
        # A big-blind ante is OOP's: it moves results by a constant, and changes no decision.
        moved = np.zeros_like(pot.payoffs)
        moved[pot.tree.is_terminal, OOP] = -pot.pot.bb_ante / 2
        moved[pot.tree.is_terminal, 1 - OOP] = pot.pot.bb_ante / 2
        assert np.allclose(spot.payoffs + moved, pot.payoffs, atol=1e-9)


def test_a_combo_weighs_what_its_class_plays() -> None:
    whole = result()
    found = flop_spot(whole, "c x", "Qc7d4h")
    live = live_combos(parse_board("Qc7d4h"))
    assert (found.cards, found.line, found.name) == ("Qc7d4h", "c x", "c-x-Qc7d4h")
    assert (found.spot.pot, found.spot.stack) == (2 * CHIPS_PER_BB, 19 * CHIPS_PER_BB)
    for player, own in enumerate(found.spot.ranges):
        reach = whole.before.reach[whole.roots.read("c x"), player][HAND_OF_COMBO] * live
        reach /= reach.max()
        kept = reach >= LEAST_REACH
        assert np.allclose(own.weights[kept], reach[kept], rtol=1e-12)
        assert not own.weights[~kept].any()
        assert reach[~kept].sum() < 0.02


def test_suits_are_those_asked_for() -> None:
    whole = result()
    one, other = flop_spot(whole, "c x", "7dQc4h"), flop_spot(whole, "c x | Qs7h4d")
    assert (one.spot.board, other.spot.board) == ("Qc7d4h", "Qs7h4d")
    assert one.flop.flop == other.flop.flop
    assert one.place == other.place is not None
    assert one.fingerprint == other.fingerprint
    assert one.spot.ranges[0] != other.spot.ranges[0]
    fingerprints = {
        flop_spot(whole, line, flop).fingerprint
        for line in ("c x", "r2.5 c")
        for flop in ("Qs7h4d", "Qs7h4s", "Qs7h3d")
    }
    assert len(fingerprints) == 6


@pytest.mark.parametrize(("here", "there"), [("Qc7d4h", "Qs7h4d"), ("Qc7c4h", "Qd7d4s")])
def test_suits_text_takes_a_flop_to_its_other_spelling(here: str, there: str) -> None:
    words = suits_text(parse_flop(here), parse_flop(there))
    renamed = dict(pair.split(" is ") for pair in words.split(", "))
    read = "".join(
        renamed.get(letter, letter) if n % 2 else letter for n, letter in enumerate(here)
    )
    assert parse_board(read) == parse_board(there)
    assert suits_text(parse_flop(here), parse_flop(here)) == ""


def test_any_flop_will_do() -> None:
    whole = trips_result()
    found = flop_spot(whole, "c x", "9s8s2h")
    assert found.place is None
    assert found.spot.ranges[0].combos > 100
    assert not found.doubt
    unstored = WholeSolution.of(forgotten())
    assert flop_spot(unstored, "c x", "Ks7h2d").place is None


def test_rake_and_antes_come_along() -> None:
    found = flop_spot(WholeSolution.of(raked()), "c x", "AhAd5c")
    assert (found.spot.rake, found.spot.rake_cap) == (0.05, 30)
    assert found.spot.pot == 220


def test_a_line_that_nobody_plays_says_so() -> None:
    whole = result()
    seldom = [flop_spot(whole, line, "Qs7h4d").doubt for line in whole.flop_lines()]
    assert seldom[0] == ""
    for line, doubt in zip(whole.flop_lines(), seldom, strict=True):
        shares = whole.before.reach[whole.roots.read(line)].mean(axis=1)
        if shares.min() < 1e-6:
            assert doubt.startswith("not reached: ")


@pytest.mark.parametrize(
    ("line", "flop", "message"),
    [
        ("c x", None, "line 'c x': name a flop to solve, such as QsJh2h"),
        ("c x | 7s7h7x", None, "'7s7h7x' is not a flop: name a flop to solve, such as QsJh2h"),
        ("", "Qs7h4d", "line '': it ends before the flop; lines that see one: 'c x'"),
        ("f", "Qs7h4d", "line 'f': the hand is over there; lines that see one: 'c x'"),
        ("a c", "Qs7h4d", "line 'a c': the hand is over there; lines that see one: 'c x'"),
        ("c x | Qs7h4d | x", None, "leave 'x' out"),
        ("c x x", "Qs7h4d", "'x': the flop is dealt after 'c x'"),
        ("c x | Qs7h4d", "AsKsQs", "its flop differs from AsKsQs"),
        ("c x", "Qs7h7h", "contains the card 7h twice"),
        ("c x", "Qs7h4x", "'4x' is not a card"),
        ("c x", "Qs7h4d2c", "a flop has 3"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(line: str, flop: str | None, message: str) -> None:
    with pytest.raises(InputError) as error:
        flop_spot(trips_result(), line, flop)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) <= 2


def test_no_combo_lies_on_the_flop() -> None:
    found = flop_spot(trips_result(), "c x", "7c7d7h")
    for own in found.spot.ranges:
        texts = [combo_text(combo) for combo in np.flatnonzero(own.weights).tolist()]
        assert not any(card in text for text in texts for card in ("7c", "7d", "7h"))
