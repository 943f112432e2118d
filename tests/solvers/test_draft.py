"""Drafts of flops: solved with buckets, evaluated and shown with real cards."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import Range, canonical_flop
from allstreets.engines import TWO_BYTES, CardModel, evaluate_flop, lift_flop
from allstreets.games import Lock, Spot
from allstreets.solutions import SpotSolution
from allstreets.solvers import DRAFT, EXACTLY, Completion, DraftSolver, SpotSolver, can_draft

SPOT = Spot("9h7h4h", "22+,A2s+,K9o+", "TT-66,Q2s+,J8o+,54s", 40, 60, bets=("75%",), max_raises=1)
QUICK = Completion(CardModel("boards", groups=16, rows=32), 20)


@cache
def drafted(iterations: int = 20) -> DraftSolver:
    solver = QUICK.solver(SPOT, threads=1)
    assert isinstance(solver, DraftSolver)
    solver.train_batch(iterations)
    return solver


def test_its_accuracy_is_a_best_response_with_real_cards() -> None:
    """As `evaluate_flop` finds it for the stored strategies, in the suits of the canonical flop."""
    solver, flop = drafted(), canonical_flop(SPOT.cards).flop
    spelled = DraftSolver(replace(SPOT, board=flop.text), threads=1, model=QUICK.model)
    spelled.train_batch(20)
    reach = spelled._ranges
    arrays = spelled._engine.pack(0, reach, [TWO_BYTES])
    trees = [(SPOT.tree, SPOT.payoffs)]
    values = evaluate_flop(trees, flop, lift_flop(QUICK.model, flop, [SPOT.tree], arrays), reach)
    assert values.own is not None
    best = [float(reach[p, 0] @ values.best[p, 0]) / SPOT.pairs for p in Player]
    own = [float(reach[p, 0] @ values.own[p, 0]) / SPOT.pairs for p in Player]
    assert spelled.exploitability() == pytest.approx(sum(best) / 2, rel=1e-5)
    assert spelled.expected_values() == pytest.approx([ev + SPOT.pot / 2 for ev in own], abs=1e-4)
    # Suits are names; only the first centres of the buckets are drawn in another order.
    assert solver.exploitability() == pytest.approx(spelled.exploitability(), rel=0.1)


def test_values_lie_as_near_to_the_exact_ones_as_its_accuracy_says() -> None:
    """A player who can gain e at most is within both players' e of the value of the game."""
    exact = SpotSolver(SPOT, threads=1)
    exact.train_batch(40)
    solver = drafted()
    apart = abs(solver.expected_values()[0] - exact.expected_values()[0])
    assert apart <= 2 * (solver.exploitability() + exact.exploitability())
    assert exact.exploitability() < solver.exploitability() < 0.2 * SPOT.pot


def test_it_is_shown_as_any_spot_with_the_combos_of_the_ranges() -> None:
    shown = SpotSolution.of(drafted())
    assert shown.draft == QUICK.model
    for line in ("", "x", "x x | 5c |", "x x | 5c | x b75% c | 2s |"):
        decision = shown.at(line).decision
        for player in Player:
            held = SPOT.ranges[player].weights
            combos = decision.hands[player].combos
            assert combos is not None
            board = [*decision.board]
            live = Range(held).on(tuple(board)).weights
            assert sorted(combos.tolist()) == np.flatnonzero(live).tolist()
        assert decision.strategy.sum(axis=0) == pytest.approx(1.0, abs=1e-5)
    first = shown.at().decision
    evs = [first.ev(player) for player in Player]
    assert sum(evs) == pytest.approx(SPOT.pot, abs=1e-3)
    assert evs == pytest.approx(drafted().expected_values(), abs=1e-3)
    # What a hand gets is the mean of its actions by their chances.
    learned, own = first.learned, first.player
    mean = (first.strategy * learned.actions).sum(axis=0)
    assert learned.hands[own] == pytest.approx(mean, abs=1e-3)


def test_it_learns_from_the_combos_that_are_held() -> None:
    """Ranges by combo, as they stand after a bet: suits that the flop makes alike are alike."""
    weights = Range.parse("22+,A2s+").weights.copy()
    hearts = Range.parse("AhKh,AhQh,KhQh,AhJh").weights > 0
    flush = replace(SPOT, oop=Range(np.where(hearts, 1.0, 0.1 * weights)))
    solver = DraftSolver(flush, threads=1, model=QUICK.model)
    gains = []
    for iterations in (4, 20):
        solver.train_batch(iterations)
        gains.append(solver.exploitability() / flush.pot)
    assert gains[1] < 0.5 * gains[0]
    exact = SpotSolver(flush, threads=1)
    exact.train_batch(30)
    apart = abs(solver.expected_values()[0] - exact.expected_values()[0])
    assert apart <= 2 * (solver.exploitability() + exact.exploitability())


def test_more_iterations_change_what_is_shown() -> None:
    solver = DraftSolver(SPOT, threads=1, model=QUICK.model)
    solver.train_batch(1)
    before, worse = SpotSolution.of(solver).at().decision.strategy, solver.exploitability()
    solver.train_batch(19)
    after = SpotSolution.of(solver).at().decision.strategy
    assert solver.exploitability() < worse
    assert np.abs(after - before).max() > 0.01
    assert (after == SpotSolution.of(drafted()).at().decision.strategy).all()


@pytest.mark.parametrize(
    ("spot", "message"),
    [
        (replace(SPOT, board="9h7h4h2c"), "only flops are drafted"),
        (replace(SPOT, lock=(Lock("x", strategy={"x": 1.0}),)), "with locks is not drafted"),
        (replace(SPOT, oop=Range.parse("22+,AsKs")), "treats suits differently"),
    ],
)
def test_spots_that_are_solved_exactly_alone(spot: Spot, message: str) -> None:
    assert can_draft(SPOT)
    assert not can_draft(spot)
    with pytest.raises(InputError, match=message):
        DRAFT.solver(spot, threads=1)
    assert Completion(EXACTLY).solver(spot, threads=1).draft_cards is None
