"""Spots: against another solver's values, and properties that any solution has."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.spot import NaiveSpot, clashes, strength

from allstreets.base import InputError
from allstreets.betting import IP, OOP, Player
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_PERMUTATIONS,
    Range,
    cards_text,
    parse_combo,
)
from allstreets.cfr import tuned
from allstreets.games import Lock, Spot
from allstreets.solutions import SpotSolution, solve
from allstreets.solvers import SpotSolver

DATA = Path(__file__).parents[1] / "data"
REFERENCE: dict[str, dict[str, Any]] = {
    spot["name"]: spot for spot in json.loads((DATA / "spots.json").read_text())["spots"]
}
KEYS = set(Spot.__dataclass_fields__) | {"oop_range", "ip_range"}


def reference_spot(name: str) -> Spot:
    return Spot.from_mapping({k: v for k, v in REFERENCE[name].items() if k in KEYS})


@pytest.mark.parametrize(
    ("name", "iterations", "most"),
    [
        ("river_wide", 600, 0.001),
        ("turn_rainbow", 120, 0.003),
        pytest.param("flop_small", 100, 0.003, marks=pytest.mark.thorough),
    ],
)
def test_values_of_the_reference_spots(name: str, iterations: int, most: float) -> None:
    """Equilibria differ, their values do not: within 0.1 % of the pot of the other solver's.

    Values are there long before the strategies: on the flop within 0.03 %, where those are still
    exploitable by 0.24 %.
    """
    spot = reference_spot(name)
    solver = SpotSolver(spot, threads=2)
    solver.train_batch(iterations)
    assert solver.exploitability() / spot.pot < most
    evs = solver.expected_values()
    expected = REFERENCE[name]["ev"]
    assert evs[0] == pytest.approx(expected["oop"], abs=0.001 * spot.pot)
    assert evs[1] == pytest.approx(expected["ip"], abs=0.001 * spot.pot)
    assert sum(evs) == pytest.approx(spot.pot, abs=1e-4 * spot.pot)


SMALL: dict[str, Any] = {
    "board": "QsJh2h7c",
    "oop": "AsKs,AhKh,QdTd,9h8h,7s7d:0.5,AcTc",
    "ip": "KdQd,JsTs,AhTh,8d8c,6h5h,QcQh:0.75",
    "pot": 50,
    "stack": 80,
    "bets": "60%",
    "raises": "a",
}


def test_exploitability_is_what_the_slow_best_response_finds() -> None:
    spot = Spot(**SMALL)
    solver = SpotSolver(spot, threads=1)
    solver.train_batch(40)
    ranges = [
        {int(c): float(one.weights[c]) for c in np.flatnonzero(one.weights)} for one in spot.ranges
    ]
    twin = NaiveSpot(spot.tree, spot.payoffs, spot.cards, (ranges[0], ranges[1]), tuned())
    # The twin plays the solver's own average strategy, read through the result.
    for cards in [(), *[(card,) for card in range(52) if card not in spot.cards]]:
        view = solver.view(cards)
        for node, street in enumerate(spot.tree.street.tolist()):
            if spot.tree.kind[node] == 0 and street - int(spot.tree.first_street) == len(cards):
                player = int(spot.tree.player[node])
                chances = view.strategy(node)
                for place, combo in enumerate(view.combos[player].tolist()):
                    twin.averages[(node, (*spot.cards, *cards), combo)] = chances[:, place]
    gains = 0.0
    for player in Player:
        slow = twin.best_response(player)
        gains += sum(ranges[player][combo] * value for combo, value in slow.items()) / spot.pairs
    assert solver.exploitability() == pytest.approx(gains / 2, rel=1e-4)


def test_exploitability_is_never_negative_and_goes_down() -> None:
    solver = SpotSolver(Spot(**SMALL), threads=1)
    seen = []
    for _ in range(6):
        solver.train_batch(60)
        seen.append(solver.exploitability())
    assert min(seen) >= 0
    assert seen[-1] < 0.2 * seen[0]


@settings(max_examples=8)
@given(st.integers(1, 23))
@pytest.mark.long
def test_names_of_suits_do_not_matter(permutation: int) -> None:
    """Long: a spot in every suit."""
    spot = Spot(**SMALL)
    renaming = COMBO_PERMUTATIONS[permutation]

    def renamed(given_range: Range) -> Range:
        weights = np.zeros(1326)
        weights[renaming] = given_range.weights
        return Range(weights)

    board = cards_text(CARD_PERMUTATIONS[permutation][list(spot.cards)].tolist())
    ranges = [renamed(one) for one in spot.ranges]
    elsewhere = Spot(**{**SMALL, "board": board, "oop": ranges[0], "ip": ranges[1]})
    values = []
    for one in (spot, elsewhere):
        solver = SpotSolver(one, threads=1)
        solver.train_batch(150)
        values.append(solver.expected_values())
        assert solver.exploitability() < 0.01 * one.pot
    assert values[0] == pytest.approx(values[1], abs=0.005 * spot.pot)


def test_the_order_of_hands_in_a_range_does_not_matter() -> None:
    turned = {key: ",".join(reversed(SMALL[key].split(","))) for key in ("oop", "ip")}
    runs = [SpotSolver(Spot(**{**SMALL, **change}), threads=1) for change in ({}, turned)]
    for solver in runs:
        solver.train_batch(20)
    for name, array in runs[0].state().items():
        assert np.array_equal(array, runs[1].state()[name], equal_nan=True), name


def test_rake_comes_out_of_both_shares() -> None:
    spot = Spot(**{**SMALL, "rake": 0.05, "rake_cap": 3.0})
    solver = SpotSolver(spot, threads=1)
    solver.train_batch(300)
    total = sum(solver.expected_values())
    assert spot.pot - 3.0 <= total <= spot.pot - 0.05 * spot.pot
    assert solver.exploitability() < 0.005 * spot.pot


def test_every_node_adds_up() -> None:
    spot = Spot(**SMALL)
    result = solve(spot, target=0.001, threads=1)
    assert result.exploitability <= 0.001
    assert sum(result.evs) == pytest.approx(spot.pot, abs=1e-3)
    for line in ("", "x", "b30", "x b30", "b30 c | 3d", "b30 c | 3d | x", "x x | Ac | b30"):
        node = result.at(line).decision
        both = [node.ev(player) for player in Player]
        assert sum(both) == pytest.approx(node.pot, abs=2e-3), line
        assert np.allclose(node.strategy.sum(axis=0), 1)
        assert node.taken.sum() == pytest.approx(1)
        live = (node.reach > 0) & (node.own.weights > 0)
        live &= node.strategy[~node.known_actions].sum(axis=0) < 1e-6  # others have no EV of all
        mixed = np.nansum(node.strategy * node.action_evs, axis=0)
        assert np.allclose(mixed[live], node.evs()[live], atol=1e-3)
        if "f" in node.actions:
            fold = node.action_evs[node.actions.index("f")]
            assert np.abs(fold[live]).max() < 1e-3
        equities = [node.mean(node.equity(player), player) for player in Player]
        assert sum(equities) == pytest.approx(1)
        rows = node.table()
        assert len(rows) == len(node.combos)
        assert set(rows[0]) >= {"combo", "reach", "equity", "ev", "eqr", *node.actions}


def test_players_would_agree() -> None:
    """The nuts never fold, and sets win more than air."""
    spot = Spot(
        board="Ks7d4c9h2s", oop="KK,99,AQo,QJs,A5s", ip="KQs,77,T8s,AJo,65s",
        pot=100, stack=200, bets="75%", raises="a",
    )  # fmt: skip
    result = solve(spot, target=0.001, threads=1)
    node = result.at("x b75").decision
    fold = node.strategy[node.actions.index("f")]
    kings = [place for place, combo in enumerate(node.combos) if combo == parse_combo("KhKd")]
    assert fold[kings[0]] < 1e-3
    root = result.at("").decision
    evs = dict(zip(root.combos.tolist(), root.evs().tolist(), strict=True))
    assert evs[parse_combo("KhKd")] > evs[parse_combo("AhQd")]
    assert evs[parse_combo("9s9d")] > evs[parse_combo("QhJh")]
    bets = root.cells(1 - root.strategy[0])
    assert np.nanmax(bets) <= 1 + 1e-9


def test_one_hand_each_and_hands_that_block_rivers() -> None:
    spot = Spot(**{**SMALL, "oop": "AsKs", "ip": "QdQh"})
    solver = SpotSolver(spot, threads=2)
    solver.train_batch(100)
    for array in solver.state().values():
        assert np.isfinite(np.asarray(array, np.float64)).all()
    result = SpotSolution.of(solver)
    for line in ("", "x", "x x | 3d | x"):
        assert all(np.isfinite(evs).all() for evs in result.at(line).decision.evaluate().hands)


def counted_shares(spot: Spot) -> tuple[float, float]:
    """Both players' shares of a pot at showdown, pair by pair and card by card."""
    oop, ip = (
        [(int(combo), float(one.weights[combo])) for combo in np.flatnonzero(one.weights)]
        for one in spot.ranges
    )
    rake = min(spot.rake * spot.pot, spot.rake_cap or math.inf)
    got, total = [Fraction(0), Fraction(0)], Fraction(0)
    for (mine, weight), (theirs, other) in itertools.product(oop, ip):
        if clashes(mine, tuple(COMBO_CARDS[theirs])):
            continue
        gone = {*spot.cards, *COMBO_CARDS[mine].tolist(), *COMBO_CARDS[theirs].tolist()}
        left = [card for card in range(52) if card not in gone]
        pair = Fraction(weight) * Fraction(other)
        for more in itertools.combinations(left, 5 - len(spot.cards)):
            board = (*spot.cards, *more)
            own, his = strength(mine, board), strength(theirs, board)
            won = Fraction(1, 2) if own == his else Fraction(own > his)
            got[0] += pair * won
            got[1] += pair * (1 - won)
            total += pair
    pot = spot.pot - rake
    return float(got[0] / total) * pot, float(got[1] / total) * pot


@pytest.mark.parametrize(
    "changes",
    [
        {"stack": 0},
        {"bets": [], "raises": []},
        {"bets": [], "raises": [], "board": "QsJh2h7c3d"},
        {"bets": [], "raises": [], "rake": 0.05, "rake_cap": 2},
        {"stack": 0, "rake": 0.05},
    ],
)
def test_a_pot_without_choices_is_counted_exactly(changes: dict[str, Any]) -> None:
    """No 32 bits are in its EVs: they are those of every pair and card, to a billionth."""
    spot = Spot(**{**SMALL, "oop": "77:0.35,AKs", "ip": "TT,A5s:0.1,K9s", "pot": 60, **changes})
    solver = SpotSolver(spot, threads=1)
    solver.train_batch(3)
    known = counted_shares(spot)
    assert solver.expected_values() == pytest.approx(known, abs=1e-9 * spot.pot)
    assert SpotSolution.of(solver).evs == pytest.approx(known, abs=1e-9 * spot.pot)
    assert solver.exploitability() == pytest.approx(0, abs=1e-9 * spot.pot)
    if spot.stack:
        node = SpotSolution.of(solver).at("x").decision
        for player in Player:
            assert node.ev(player) == pytest.approx(known[player], abs=1e-9 * spot.pot)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"oop": "AsKs", "ip": "AsQd"}, "the two ranges block each other on QsJh2h7c"),
        ({"oop": "Qs8s"}, "oop: the range 'Qs8s' is blocked"),
        ({"ip": "QX"}, "ip: range, character 1: 'QX' is not a hand"),
        ({"board": "QsJh"}, "has 2 cards"),
        ({"board": ""}, "a spot needs a board"),
        ({"pot": 0}, "pot"),
        ({"stack": -5}, "stack"),
        ({"bets": "x%"}, "x%"),
    ],
)
def test_bad_spots_say_what_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        SpotSolver(Spot(**{**SMALL, **change}), threads=1)
    assert message in str(caught.value)
    if "board" in change:
        assert "oop" not in str(caught.value)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_locked_node_plays_what_it_is_told_and_the_other_side_profits(precision: str) -> None:
    free = SpotSolver(Spot(**SMALL), threads=1)
    lock = Lock("x b30", strategy={"fold": 1.0})
    locked = SpotSolver(Spot(**SMALL, lock=(lock,)), threads=1, precision=precision)
    for solver in (free, locked):
        solver.train_batch(400)
    node = SpotSolution.of(locked).at("x b30").decision
    assert np.allclose(node.strategy[node.actions.index("f")], 1)
    assert locked.expected_values()[IP] > free.expected_values()[IP] + 0.5
    # In the game with the lock both do as well as they can.
    assert locked.exploitability() < 0.01 * locked.spot.pot
    bets = SpotSolution.of(locked).at("x").decision.taken[1]
    assert bets > SpotSolution.of(free).at("x").decision.taken[1]


def test_single_hands_can_be_locked_on_any_river() -> None:
    lock = Lock("x x | * |", hands={"AsKs,AhKh": {"check": 0.25, "b30": 0.75}})
    solver = SpotSolver(Spot(**SMALL, lock=(lock,)), threads=2)
    solver.train_batch(60)
    for card in ("3d", "Ac", "9s"):
        node = SpotSolution.of(solver).at(f"x x | {card}").decision
        for place, combo in enumerate(node.combos.tolist()):
            if combo in (parse_combo("AsKs"), parse_combo("AhKh")):
                assert node.strategy[:2, place] == pytest.approx([0.25, 0.75], abs=1e-6)
    named = SpotSolver(Spot(**SMALL, lock=(Lock("x x | 3d |", strategy={"x": 1.0}),)), threads=1)
    named.train_batch(40)
    result = SpotSolution.of(named)
    assert np.allclose(result.at("x x | 3d").decision.strategy[0], 1)
    assert not np.allclose(result.at("x x | 3s").decision.strategy[0], 1)


@pytest.mark.parametrize(
    ("lock", "message"),
    [
        (Lock("x b30"), "give a 'strategy' for all hands, or 'hands'"),
        (Lock("x b30", {"fold": 0.5}), "the probabilities sum to 0.5, not to 1"),
        (Lock("x b30", {"fol": 1}), "no action 'fol' there: did you mean 'fold'?"),
        (Lock("x b30", {"fold": 2, "call": -1}), "is not in 0..1"),
        (Lock("b30 f", {"fold": 1}), "no player acts there, so there is nothing to lock"),
        (Lock("x b31", {"fold": 1}), "lock[0].line: line 'x b31': 'b31' is not offered"),
        (Lock("x", {"raise": 1}), "lock[0].strategy: no action 'raise' there"),
        (
            Lock("x", hands={"QcQh, 22": {"x": 1}}),
            "lock[0].hands.QcQh, 22: 22 is not in the range of IP there: leave it out, or add it "
            "to ip_range",
        ),
        (Lock("x x | Ac |", hands={"AcTc": {"x": 1}}), "AcTc is not in the range of OOP there"),
        (Lock("x", hands={"QX": {"x": 1}}), "lock[0].hands.QX: range, character 1: 'QX'"),
        (
            Lock("x", hands={"QcQh": {"x": 1}, "QQ": {"bet": 1}}),
            "lock[0].hands.QQ: QhQc is locked by lock[0].hands.QcQh already, to another strategy",
        ),
    ],
)
def test_bad_locks(lock: Lock, message: str) -> None:
    with pytest.raises(InputError) as caught:
        SpotSolver(Spot(**SMALL, lock=(lock,)), threads=1)
    assert message in str(caught.value)


def test_two_locks_must_agree() -> None:
    any_card = Lock("x x | * |", hands={"AsKs": {"check": 1}})
    for other in (
        Lock("x x | 3d |", hands={"AKs": {"bet": 1}}),
        Lock("x x | * |", strategy={"x": 0.5, "b60%": 0.5}),
    ):
        with pytest.raises(InputError, match=r"lock\[1\]\.\S+: AsKs is locked by lock\[0\]"):
            SpotSolver(Spot(**SMALL, lock=(any_card, other)), threads=1)
    for other in (
        Lock("x x | 3d |", hands={"AKs": {"x": 1}}),
        Lock("b30 c | * |", hands={"AsKs": {"bet": 1}}),
        Lock("x x | * |", hands={"AhKh": {"bet": 1}}),
    ):
        assert len(Spot(**SMALL, lock=(any_card, other)).locked_nodes) == 2


def test_locks_take_every_word_of_a_line() -> None:
    several = Spot(**{**SMALL, "bets": "30%,60%"})
    for word in ("b30", "b60%", "bet", "B30"):
        (found,) = Spot(**SMALL, lock=(Lock("x", {word: 1}),)).locked_nodes
        assert found.strategy[:, parse_combo("QcQh")].tolist() == [0, 1]
    for word in ("a", "allin", "all-in"):
        (found,) = Spot(**SMALL, lock=(Lock("x b30", {word: 1}),)).locked_nodes
        assert found.strategy[:, parse_combo("AsKs")].tolist() == [0, 0, 1]
    with pytest.raises(InputError, match="'bet' may be one of several there: write b15, b30"):
        assert replace(several, lock=(Lock("x", {"bet": 1}),)).locked_nodes


def test_locked_hands_are_told() -> None:
    lock = Lock("x x | * |", hands={"AsKs,AhKh": {"check": 1}})
    result = SpotSolution.of(SpotSolver(Spot(**SMALL, lock=(lock,)), threads=1))
    assert not result.at("").decision.locked.any()
    node = result.at("x x | 3d").decision
    told = {row["combo"] for row in node.table() if row["locked"]}
    assert told == {"AsKs", "AhKh"}


def test_integers_and_locks_do_not_go_together() -> None:
    lock = Lock("x b30", strategy={"fold": 1.0})
    with pytest.raises(InputError, match="rounds the locks away: use float16"):
        SpotSolver(Spot(**SMALL, lock=(lock,)), precision="int16")


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_state_and_restore_are_the_same_run(precision: str) -> None:
    whole = SpotSolver(Spot(**SMALL), threads=2, precision=precision)
    whole.train_batch(30)
    first = SpotSolver(Spot(**SMALL), threads=2, precision=precision)
    first.train_batch(17)
    kept = {name: array.copy() for name, array in first.state().items()}
    second = SpotSolver(Spot(**SMALL), threads=2, precision=precision)
    second.restore(kept)
    second.train_batch(13)
    for name, array in whole.state().items():
        assert np.array_equal(array, second.state()[name], equal_nan=True), name
    assert second.iterations == 30
    assert second.avg_positive_regret == whole.avg_positive_regret > 0


def test_strategies_and_metrics() -> None:
    solver = SpotSolver(Spot(**SMALL), threads=1)
    assert solver.avg_positive_regret == 0.0
    solver.train_batch(50)
    metrics = solver.metrics()
    assert metrics.exploitability == pytest.approx(100 * solver.exploitability() / 50)
    assert metrics.strategy_entropy is not None
    assert 0 <= metrics.strategy_entropy <= 1
    assert metrics.regret_bound is None
    assert metrics.max_regret is not None
    assert metrics.max_regret >= metrics.avg_positive_regret > 0  # type: ignore[operator]
    table = solver.strategies()
    assert sum(table["x b30: AsKs"].values()) == pytest.approx(1)
    assert solver.reach[OOP].sum() == pytest.approx(5.5)
