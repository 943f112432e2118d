"""The exploitability of the whole game out of single flops: known games, known populations."""

from collections.abc import Callable

import numpy as np
import pytest
from builders.whole_solution import classes, raked

from allstreets.cards import (
    Flop,
    all_flops,
    flop_table,
    preflop_equity,
)
from allstreets.solvers.certify.figures import (
    JudgedFlops,
    RealGame,
    judged_flops,
    needs_class_values,
)
from allstreets.solvers.certify.known import known_totals
from allstreets.solvers.certify.sample import Draw, draw_flops, everything
from allstreets.solvers.preflop.cfr import Floats
from allstreets.solvers.unified.solver import UnifiedSolver
from allstreets.subgames import DealtPairs
from allstreets.subgames.real_flop import RealValues


@pytest.mark.parametrize("solved", [classes, raked])
def test_in_its_own_game_a_solution_is_as_exploitable_as_the_solver_says(
    solved: Callable[[], UnifiedSolver],
) -> None:
    solver = solved()
    found, wanted = solver.evaluate(), solver.figures()
    preflop = solver.preflop
    strategies = preflop.average()
    values = [
        RealValues(found.best[:, :, flop], found.own[:, :, flop])
        for flop in range(solver.games.flops)
    ]
    draws = everything(solver.game.flops)
    judged = judged_flops(draws, values, preflop.pot_reach(strategies), preflop.game.pairs)
    figures = RealGame(preflop.game, strategies, judged).figures()
    assert figures.exploitability == pytest.approx(wanted.exploitability, rel=1e-4, abs=1e-6)
    assert figures.interval == (figures.exploitability, figures.exploitability)
    assert 0 < figures.after_flop < figures.exploitability
    total = figures.after_flop + figures.before_flop
    assert figures.exploitability == pytest.approx(total)


class Population:
    """All 1,755 flops with made-up values below a solution's preflop strategies.

    Pots are worth per opposing combo what they are worth in the solution, or `cards` of what the
    cards win, and by luck something more or less for every hand on every flop.
    """

    def __init__(self, luck: float, cards: float = 0.0) -> None:
        self.luck, self.cards = luck, cards
        solver = classes()
        self.preflop = solver.game.before_the_flop(preflop_equity().pairs.astype(np.float64))
        self.strategies = solver.preflop.average()
        self.reach = self.preflop.pot_reach(self.strategies)
        self.pots = np.array([pot.pot for pot in self.preflop.pots], np.float64)[:, None]
        met = self.reach[::-1] @ solver.preflop.game.pairs
        own = np.stack([solver.leaves.sum_flops(each) for each in solver.evaluate().own])
        self.worth = np.divide(own, met, out=np.zeros_like(own), where=met > 0)

    def values(self, flop: Flop) -> RealValues:
        drawn = np.random.default_rng(flop.number)
        villain = self.reach[::-1]
        met = villain @ DealtPairs.of([flop.cards]).matrix(0)
        best = (self.worth + self.luck * drawn.normal(size=met.shape) * self.pots) * met
        if self.cards:
            best = self.cards * self.pots * (villain @ flop_table().margin(flop.number).T)
        return RealValues(best)

    def game(self, draws: tuple[Draw, ...], played: Floats | None = None) -> RealGame:
        values = [self.values(draw.flop) for draw in draws]
        judged = judged_flops(draws, values, self.reach, self.preflop.pairs, played)
        return RealGame(self.preflop, self.strategies, judged)

    def whole(self) -> RealGame:
        """What all flops come to, where luck cancels."""
        met = self.reach[::-1] @ self.preflop.pairs
        values = (self.worth * met)[None]
        judged = JudgedFlops(np.ones(1), -np.ones(1, int), values, None, met[None, None], met[None])
        return RealGame(self.preflop, self.strategies, judged)


def test_draws_tell_what_all_flops_would() -> None:
    people = Population(luck=0.1)
    whole = people.whole().figures()
    assert whole.interval == (whole.exploitability, whole.exploitability)
    trained = {*range(0, 1755, 9)}
    games = [people.game(draw_flops(trained, 10, seed)) for seed in range(5)]
    samples = [game.figures() for game in games]
    # The maximum before the flop leans high; the figure does not, or much less.
    leaning = np.mean([game._before(game.judged.weights) for game in games]) - whole.before_flop
    assert leaning > 0
    assert abs(np.mean([one.before_flop for one in samples]) - whole.before_flop) < leaning
    inside = [one.interval[0] <= whole.exploitability <= one.interval[1] for one in samples]
    assert sum(inside) >= 4


def test_what_cards_explain_is_found_whatever_is_drawn() -> None:
    people = Population(luck=0.0, cards=0.6)
    game = people.game(draw_flops((), 6, seed=2))
    weights = game.judged.weights
    truth = 0.6 * people.pots * game.judged.totals[1]
    reached = people.reach > 1e-6
    errors = [
        np.abs(found - truth)[reached].max() / np.abs(truth).max()
        for found in (game._leaves(weights), np.einsum("d,daph->aph", weights, game.judged.best))
    ]
    assert errors[0] < 1e-4
    assert errors[1] > 0.05


@pytest.mark.thorough
def test_a_likeness_of_the_values_on_all_flops_takes_most_of_the_luck_away() -> None:
    people = Population(luck=0.1)
    truth = np.stack([people.values(flop).best for flop in all_flops()])
    noise = np.random.default_rng(8).normal(size=truth.shape) * truth.std() / 10
    drawn = draw_flops((), 24, seed=3)
    assert needs_class_values(drawn)
    assert not needs_class_values(drawn[:20])
    assert not needs_class_values(everything(classes().game.flops))
    wanted = known_totals(people.preflop.pairs, people.reach, 3, truth)[2]
    reached = people.reach > 1e-6
    errors = []
    for played in (None, 2 * truth + noise):
        game = people.game(drawn, played)
        found = game._leaves(game.judged.weights)
        errors.append(float(np.abs(found - wanted)[reached].mean()))
    assert errors[1] < errors[0] / 3
