"""Whole runs of the unified solver: they converge, and may be interrupted; threads do not count."""

import json
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from allstreets.betting import (
    BIG_BLINDS,
    OOP,
    POSTFLOP,
    PreflopRules,
    Street,
    parse_line,
    same_sizes,
)
from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_NAMES,
    hand_cards,
    hand_combos,
    parse_hand,
)
from allstreets.cards.flop_sets import FlopSet, named_flops, spread_flops
from allstreets.cards.flop_tables import RUNOUTS, count_margins
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.card_model import DealtPairs
from allstreets.engines.matrix.cards import Stage
from allstreets.engines.matrix.engine import MatrixCards, MatrixEngine
from allstreets.games.whole_game import WholeGame
from allstreets.solvers.leaves import Choice, VisitPlan
from allstreets.solvers.whole_game import WholeGameSolver

TUNED = parse_schedule("tuned")


def make_game(flops: FlopSet, stack: float = 8, rake: float = 0.0) -> WholeGame:
    sizes = same_sizes(Street.FLOP, [1.0], [1.0])
    return WholeGame(PreflopRules.parse(stack, [2.5], 4, rake=rake), sizes, flops, max_raises=1)


def make_solver(
    flops: FlopSet,
    batches: VisitPlan | None = None,
    stack: float = 8,
    threads: int = 1,
    rake: float = 0.0,
    algorithm: str = "tuned",
) -> WholeGameSolver:
    game = make_game(flops, stack, rake)
    games = game.build(game.engine(threads=threads))
    return WholeGameSolver(game, games, parse_schedule(algorithm), batches)


def gap(solver: WholeGameSolver) -> float:
    found = solver.exploitability()
    assert found is not None
    return found


def game_values(solver: WholeGameSolver) -> tuple[float, float]:
    values = solver.figures().values
    assert values is not None
    return values


def test_exploitability_falls_below_a_thousandth_of_a_big_blind() -> None:
    solver = make_solver(spread_flops(3), stack=20)
    found = [gap(solver)]
    for iterations in (20, 60, 160, 240, 240):
        solver.train_batch(iterations)
        found.append(gap(solver))
    assert all(later < 0.7 * earlier for earlier, later in pairwise(found))
    assert 0 < found[-1] < 1
    figures = solver.figures()
    assert figures.exploitability == pytest.approx(found[-1], abs=0.01)
    assert figures.preflop_exploitability is not None
    assert 0 < figures.preflop_exploitability < found[-1]
    assert sum(game_values(solver)) == pytest.approx(0, abs=0.01)
    assert figures.flop_shares.sum() == pytest.approx(1)
    assert figures.flop_exploitability is not None
    assert (figures.flop_exploitability >= 0).all()
    assert solver.leaves.pairs.sum() == pytest.approx(1326 * 1225, rel=1e-12)


@pytest.mark.parametrize("choice", ["shuffled", "reach"])
def test_batches_come_to_the_same_value(choice: Choice) -> None:
    flops = spread_flops(6)
    whole, parts = make_solver(flops), make_solver(flops, VisitPlan(2, 2, choice))
    whole.train_batch(150)
    parts.train_batch(450)
    gaps = [gap(solver) for solver in (whole, parts)]
    assert max(gaps) < 15
    values = [game_values(solver)[OOP] for solver in (whole, parts)]
    assert abs(values[0] - values[1]) < 2 * sum(gaps)
    assert parts.epoch == 75


def test_rake_is_lost_by_both_and_not_by_deviating() -> None:
    solver = make_solver(spread_flops(3), rake=0.05)
    found = []
    for iterations in (20, 80, 200):
        solver.train_batch(iterations)
        found.append(gap(solver))
        assert solver.figures().exploitability == pytest.approx(found[-1], abs=0.01)
    assert found[0] > found[1] > found[2] > 0
    assert found[2] < 0.2 * found[0]
    assert sum(game_values(solver)) < -10


def states_are_equal(first: WholeGameSolver, second: WholeGameSolver) -> None:
    mine, theirs = first.state(), second.state()
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@pytest.mark.parametrize("batches", [VisitPlan(), VisitPlan(2, 2), VisitPlan(3, 1, "reach")])
@pytest.mark.parametrize("algorithm", ["tuned", "cfr+"])
def test_an_interrupted_run_goes_on_bit_for_bit(batches: VisitPlan, algorithm: str) -> None:
    """In the middle of an epoch and of a batch, and with another number of threads."""
    flops = spread_flops(7)
    whole, begun, resumed = (
        make_solver(flops, batches, threads=threads, algorithm=algorithm) for threads in (1, 2, 1)
    )
    whole.train_batch(12)
    begun.train_batch(5)
    stored = {name: array.copy() for name, array in begun.state().items()}
    begun.train_batch(3)  # what was stored is not touched by what comes after
    resumed.restore(stored)
    assert resumed.iterations == 5
    assert json.dumps(dict(resumed.identity)) == json.dumps(dict(whole.identity))
    resumed.train_batch(7)
    assert resumed.iterations == whole.iterations == 12
    assert resumed.epoch == whole.epoch
    states_are_equal(resumed, whole)
    assert resumed.metrics() == whole.metrics()
    begun.train_batch(4)
    states_are_equal(begun, whole)
    assert begun.metrics() == whole.metrics()


def test_shares_by_which_flops_are_drawn_change_with_the_epoch() -> None:
    solver = make_solver(spread_flops(5), VisitPlan(2, 2, "reach"))
    shares = []
    for iteration in range(18):
        if iteration % 6 == 0:
            expected = solver.flop_shares(solver.preflop.current())
        solver.train_batch(1)
        shares.append(solver.state()["shares"].copy())
        np.testing.assert_array_equal(shares[-1], expected)
    assert np.abs(shares[0] - shares[6]).max() > 1e-3


def test_a_run_is_stopped_by_its_callback() -> None:
    solver, other = make_solver(spread_flops(2)), make_solver(spread_flops(2))
    seen: list[int] = []

    def stop(iteration: int) -> bool:
        seen.append(iteration)
        return iteration == 3

    solver.train_batch(10, stop)
    assert seen == [1, 2, 3]
    assert solver.iterations == 3
    other.train_batch(3)
    states_are_equal(solver, other)


NAMED = ("AhKh7d", "9c8d2h:2", "6s6d3c")


def renamed(texts: Sequence[str], permutation: int) -> list[str]:
    suits = dict(
        zip("cdhs", (int(card) % 4 for card in CARD_PERMUTATIONS[permutation][:4]), strict=True)
    )
    return [
        "".join("cdhs"[suits[letter]] if letter in suits else letter for letter in text)
        for text in texts
    ]


@pytest.mark.parametrize("permutation", [1, 10, 23])
def test_the_names_of_suits_do_not_matter(permutation: int) -> None:
    others = renamed(NAMED, permutation)
    assert others != list(NAMED)
    first, second = make_solver(named_flops(NAMED)), make_solver(named_flops(others))
    assert first.identity == second.identity
    for solver in (first, second):
        solver.train_batch(6)
    states_are_equal(first, second)


def test_flops_counted_with_other_suits_have_the_same_solution() -> None:
    """Cards and margins of flops that are not canonical, without the table of flops."""
    flops = named_flops(NAMED)
    first = make_solver(flops)
    game = make_game(flops)
    stages, boards = [], []
    for flop in flops.flops:
        cards = tuple(CARD_PERMUTATIONS[13][list(flop.cards)].tolist())
        assert set(cards) != set(flop.cards)
        margin = (count_margins(cards) / RUNOUTS).astype(np.float32)
        combos, held = hand_combos(cards).astype(np.float64), hand_cards(cards).astype(np.float64)
        stages.append((Stage(POSTFLOP, combos, held, margin),))
        boards.append(cards)
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    games = MatrixEngine(trees, MatrixCards(stages, DealtPairs.of(boards)))
    second = WholeGameSolver(game, games, TUNED)
    for solver in (first, second):
        solver.train_batch(30)
    assert gap(first) == pytest.approx(gap(second), rel=0.01)
    assert game_values(first) == pytest.approx(game_values(second), abs=0.5)


def test_strategies_are_told_by_line_and_hand() -> None:
    solver = make_solver(spread_flops(2))
    solver.train_batch(3)
    found = solver.strategies()
    assert len(found) == 169 * len(solver.preflop.sums)
    for row in found.values():
        assert sum(row.values()) == pytest.approx(1)
    root = solver.preflop.average()[0]
    for hand, (key, row) in zip(range(169), found.items(), strict=False):
        assert key.endswith(f": {HAND_NAMES[hand]}")
        assert list(row) == ["f", "c", "r2.5", "a"]
        np.testing.assert_allclose(list(row.values()), root[:, hand])
    shoved = solver.preflop.average()[parse_line(solver.game.tree, "a", notation=BIG_BLINDS).node]
    assert found["a: 72o"] == pytest.approx(
        dict(zip("fc", shoved[:, parse_hand("72o")], strict=True))
    )


def test_a_stack_that_never_sees_a_flop() -> None:
    """With one big blind the small blind has odds of 3 to 1 and calls with everything."""
    solver = make_solver(spread_flops(2), stack=1)
    solver.train_batch(100)
    assert gap(solver) < 1e-3
    assert solver.preflop.average()[0][1].min() > 1 - 1e-6
    assert game_values(solver) == pytest.approx((0, 0), abs=1e-3)
    assert solver.metrics().avg_positive_regret is not None


def test_figures_before_the_first_iteration() -> None:
    solver = make_solver(spread_flops(2))
    metrics = solver.metrics()
    assert metrics.avg_positive_regret == metrics.max_regret == 0.0
    assert metrics.strategy_entropy == pytest.approx(1.0)
    assert metrics.exploitability is not None
    assert metrics.exploitability > 500
    assert solver.metrics(exploitability=False).exploitability is None
    assert solver.unit == "mbb/hand"
    assert solver.memory_bytes > 0
