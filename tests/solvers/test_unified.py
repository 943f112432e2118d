"""The unified solver against generic code on a game that is written out in full.

`whole_game` writes every history of a small game down; tabular best responses, tabular CFR and a
linear program then say what the unified solver has to find.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from reference.linear_program import exact_value
from reference.matrix import NaiveGame, NaiveStage
from reference.whole_game import (
    BLOCKING_FLOPS,
    OPEN_FLOPS,
    PlainWholeGame,
    WrittenOut,
    key,
    strategy_table,
    whole_game,
)

from allstreets.base import Floats
from allstreets.betting import IP, OOP, POSTFLOP, Player
from allstreets.cfr import CfrSolver, best_response, compile_game, exploitability, game_value
from allstreets.cfr.schedules import parse_schedule
from allstreets.cfr.sequence_form import SequenceForm, sequence_form
from allstreets.engines.matrix.engine import MatrixEngine
from allstreets.games.whole_game import Strategies
from allstreets.solvers.leaves import VisitPlan
from allstreets.solvers.preflop import normalised
from allstreets.solvers.whole_game import MBB_PER_CHIP, WholeGameSolver

AfterFlop = dict[tuple[int, int, int], Floats]

STACK = 8
TOLERANCE = 1e-6 * STACK * 1000  # a millionth of the stack, in mbb


@dataclass
class Case:
    """A whole game in both forms."""

    game: PlainWholeGame
    form: SequenceForm

    def solver(self, algorithm: str = "tuned", batches: VisitPlan | None = None) -> WholeGameSolver:
        games = self.game.flop_games()
        return WholeGameSolver(self.game.rules, games, parse_schedule(algorithm), batches)


def make_case(flops: Sequence[str] = BLOCKING_FLOPS, ante: float = 0.0, seed: int = 1) -> Case:
    hands = ("AA", "AKo", "77", "T9s", "72o")
    game = whole_game(hands, flops, stack=STACK, ante=ante, seed=seed)
    return Case(game, sequence_form(compile_game(WrittenOut(game))))


@pytest.fixture(scope="module")
def case() -> Case:
    return make_case()


def matrix_games(solver: WholeGameSolver) -> MatrixEngine:
    assert isinstance(solver.engine, MatrixEngine)
    return solver.engine


def after_flop(solver: WholeGameSolver) -> AfterFlop:
    """(pot, flop, decision) → the average strategy."""
    games = matrix_games(solver)
    return {
        (pot, flop, node): games.average(pot, flop, node)
        for pot, below in enumerate(games.games)
        for flop in range(games.flops)
        for node in below.tree.decisions()
    }


def play_at_random(solver: WholeGameSolver, seed: int) -> None:
    """Let the average be any strategy, with actions that are never taken."""
    generator = np.random.default_rng(seed)

    def any_strategy(actions: int) -> Floats:
        numbers = generator.random((actions, 169))
        return normalised(np.where(numbers < 0.3, 0.0, numbers))

    for sums in solver.preflop.sums.values():
        sums[...] = any_strategy(len(sums))
    for game in matrix_games(solver).games:
        for node in game.tree.decisions():
            for flop in range(solver.engine.flops):
                game.set_average(flop, node, any_strategy(int(game.tree.child_count[node])))


def response_values(solver: WholeGameSolver, average: Strategies, best: bool) -> list[float]:
    """Both players' mean result in mbb/hand: of the best response, or of the average."""
    reach = solver.preflop.pot_reach(average)
    found = []
    for player in Player:
        run = solver.leaves.best_response if best else solver.leaves.evaluate
        leaves = run(player, reach[player.opponent])
        values = solver.preflop.values(player, leaves, best=best, strategies=average)
        found.append(float(values[0].sum()) / solver.preflop.game.weight * MBB_PER_CHIP)
    return found


def check_evaluation(case: Case, solver: WholeGameSolver) -> None:
    """Everything that the solver says of its average strategy, against the generic code."""
    average = solver.preflop.average()
    table = strategy_table(case.game, average, after_flop(solver))
    figures = solver.figures()
    for player in Player:
        expected = best_response(case.form, table, int(player)).value * MBB_PER_CHIP
        assert response_values(solver, average, best=True)[player] == near(expected)
    value = game_value(case.form, table) * MBB_PER_CHIP
    assert response_values(solver, average, best=False) == near([value, -value])
    assert figures.values == near((value, -value))
    expected = exploitability(case.form, table) * MBB_PER_CHIP
    assert figures.exploitability == near(expected)
    assert solver.exploitability() == near(expected)


def near(expected: object) -> object:
    return pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize("seed", [1, 2])
def test_any_strategy_is_evaluated_as_by_the_generic_code(case: Case, seed: int) -> None:
    solver = case.solver()
    play_at_random(solver, seed)
    check_evaluation(case, solver)


def test_the_average_strategy_is_evaluated_as_by_the_generic_code(case: Case) -> None:
    solver = case.solver()
    check_evaluation(case, solver)  # before the first iteration: even everywhere
    for iterations in (1, 4, 60):
        solver.train_batch(iterations)
        check_evaluation(case, solver)


def test_a_game_with_antes_is_evaluated_as_by_the_generic_code() -> None:
    case = make_case(ante=0.25, seed=3)
    solver = case.solver("dcfr")
    solver.train_batch(30)
    check_evaluation(case, solver)


@pytest.mark.parametrize("iterations", [0, 25])
def test_preflop_exploitability_leaves_the_flop_as_it_is(case: Case, iterations: int) -> None:
    """Nature plays the average strategies after the flop: only what comes before is free."""
    solver = case.solver()
    if iterations:
        solver.train_batch(iterations)
    else:
        play_at_random(solver, 5)
    restricted = WrittenOut(case.game, after_flop(solver))
    table = strategy_table(case.game, solver.preflop.average())
    expected = exploitability(restricted, table) * MBB_PER_CHIP
    figures = solver.figures()
    assert expected > 1
    assert figures.preflop_exploitability == near(expected)
    assert figures.exploitability is not None
    assert figures.exploitability >= expected - TOLERANCE


def test_flops_are_evaluated_one_by_one(case: Case) -> None:
    """Shares and exploitability of every flop, given the ranges that get there."""
    solver = case.solver()
    solver.train_batch(10)
    game, reach = case.game, solver.preflop.pot_reach(solver.preflop.average())
    figures = solver.figures()
    seen, stakes, gains = np.zeros((3, len(game.pairs)))
    for flop, pairs in enumerate(game.pairs):
        dense = np.zeros((169, 169))
        for pair, count in pairs.items():
            dense[pair] = count
        (stage,) = game.stages[flop]
        cards = NaiveStage(tuple(map(int, POSTFLOP)), dense, stage.margin.astype(np.float64))
        for number, pot in enumerate(game.rules.pots):
            oop, ip = reach[:, number]
            meet = float(oop @ dense @ ip)
            seen[flop] += game.weights[flop] * meet
            stakes[flop] += pot.pot.pot * meet
            naive = NaiveGame(pot.tree, pot.payoffs, [cards])
            below = matrix_games(solver).games[number]
            naive.sums = {node: below.average(flop, node) for node in below.tree.decisions()}
            for own, other, player in ((oop, ip, OOP), (ip, oop, IP)):
                best, kept = (naive.judge(player, other, best=best) for best in (True, False))
                gains[flop] += float(own @ (best - kept)) / 2
    np.testing.assert_allclose(figures.flop_shares, seen / seen.sum(), rtol=1e-9)
    assert figures.flop_exploitability is not None
    assert figures.flop_exploitability.min() > 0.1
    np.testing.assert_allclose(figures.flop_exploitability, 100 * gains / stakes, rtol=1e-4)


@pytest.fixture(scope="module")
def open_case() -> Case:
    return make_case(flops=OPEN_FLOPS)


@pytest.mark.parametrize(
    ("algorithm", "iterations"), [("vanilla", 8), ("tuned", 12), ("dcfr", 12), ("cfr+", 3)]
)
def test_regrets_everywhere_are_those_of_generic_cfr(
    open_case: Case, algorithm: str, iterations: int
) -> None:
    """Before and after the flop. Regrets that cancel are decided by their rounding, which comes
    soon where they are clipped at 0.
    """
    solver, generic = open_case.solver(algorithm), CfrSolver(open_case.form, algorithm)
    solver.train_batch(iterations)
    generic.train_batch(iterations)
    weight, flat = solver.preflop.game.weight, open_case.form.game
    size = np.abs(generic.regrets).max()
    slots = zip(flat.keys, pairwise(flat.slot_start), strict=True)
    expected = {name: generic.regrets[begin:end] / size for name, (begin, end) in slots}
    for place, regrets in all_regrets(solver):
        for hand in range(169):
            name = key(place[0], hand, *place[1:])
            found = regrets[:, hand] / weight / size
            if name in expected:
                np.testing.assert_allclose(found, expected.pop(name), atol=3e-5)
            else:
                assert not found.any()  # this hand is never dealt here
    assert not expected


def all_regrets(
    solver: WholeGameSolver,
) -> list[tuple[tuple[int, int | None, int | None, int], Floats]]:
    """(player, pot, flop, node) and the regrets there, in chips times pairs of the whole deal."""
    found: list[tuple[tuple[int, int | None, int | None, int], Floats]] = []
    for node, regrets in solver.preflop.regrets.items():
        found.append(((int(solver.game.tree.player[node]), None, None, node), regrets))
    for pot, game in enumerate(matrix_games(solver).games):
        for node in game.tree.decisions():
            for flop, weight in enumerate(solver.leaves.weights):
                numbers = game.numbers_at(game.regrets, flop, node) * weight
                found.append(((int(game.tree.player[node]), pot, flop, node), numbers))
    return found


def visit_weights(solver: WholeGameSolver) -> list[float]:
    """By flop: what its visits weigh in its positive regrets, the run gone through once more."""
    flops, batches = solver.engine.flops, solver.batches
    visits, weights = [0] * flops, [0.0] * flops
    for iteration in range(solver.iterations):
        epoch, batch, _ = batches.position(iteration, flops)
        for flop in batches.draw(epoch, batch, np.ones(flops))[0].tolist():
            visits[flop] += 1
            weights[flop] = weights[flop] * solver.schedule.at(visits[flop]).positive + 1
    return weights


@pytest.mark.parametrize(
    ("batches", "iterations", "visited"),
    [
        (VisitPlan(), 5, 3),
        (VisitPlan(1, 2), 14, 3),  # the first flop of the third epoch is further than others
        (VisitPlan(1, 2), 3, 2),  # an unvisited flop has no information
    ],
)
def test_regrets_are_divided_by_the_visits_of_their_flop(
    open_case: Case, batches: VisitPlan, iterations: int, visited: int
) -> None:
    solver = open_case.solver("dcfr", batches)
    solver.train_batch(iterations)
    weights = visit_weights(solver)
    assert sum(weight > 0 for weight in weights) == visited
    before = 0.0
    for now in solver.schedule.run(1, iterations):
        before = before * now.positive + 1
    found = []
    for (_, _, flop, _), regrets in all_regrets(solver):
        weight = before if flop is None else weights[flop]
        if weight:
            found.append(np.maximum(regrets, 0).reshape(-1) / weight)
    entries = np.concatenate(found) * MBB_PER_CHIP / solver.preflop.game.weight
    metrics = solver.metrics(exploitability=False)
    assert metrics.avg_positive_regret == pytest.approx(entries.mean(), rel=1e-5)
    assert metrics.max_regret == pytest.approx(entries.max(), rel=1e-5)
    assert solver.avg_positive_regret == metrics.avg_positive_regret


def test_the_value_is_that_of_the_linear_program(case: Case) -> None:
    value = exact_value(case.form.game) * MBB_PER_CHIP
    solver = case.solver()
    widths = []
    for _ in range(3):
        solver.train_batch(150)
        oop, ip = response_values(solver, solver.preflop.average(), best=True)
        # Nobody gets less than the value against an opponent who is not perfect.
        assert -ip - TOLERANCE <= value <= oop + TOLERANCE
        widths.append(oop + ip)
        kept = response_values(solver, solver.preflop.average(), best=False)[OOP]
        assert abs(kept - value) <= oop + ip + TOLERANCE
    assert widths[0] > widths[1] > widths[2] > 0
    assert widths[2] < 1.5
    generic = CfrSolver(case.form)
    generic.train_batch(1500)
    assert generic.game_value() * MBB_PER_CHIP == pytest.approx(value, abs=0.1)
