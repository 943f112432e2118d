"""The exploitability of the whole game from single flops: known games, known populations."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from builders.whole_solution import classes, raked
from scipy.special import stdtrit

from allstreets.analysis.certificate_figures import (
    DraftValues,
    Draw,
    EvaluatedFlops,
    RealGame,
    draw_flops,
    evaluated_flops,
    everything,
    jackknife,
    known_totals,
    margin_of_error,
    needs_class_values,
)
from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.cards import (
    FLOP_COUNT,
    HAND_COUNT,
    Flop,
    all_flops,
    flop_table,
    preflop_equity,
    spread_flops,
)
from allstreets.engines import DealtPairs
from allstreets.engines.lifting import LiftedValues
from allstreets.games import ClassLock
from allstreets.solvers.whole_game import MBB_PER_CHIP, WholeGameSolver


@pytest.mark.parametrize("solved", [classes, raked])
def test_in_its_own_game_a_solution_is_as_exploitable_as_the_solver_says(
    solved: Callable[[], WholeGameSolver],
) -> None:
    solver = solved()
    found, wanted = solver.evaluate(), solver.figures()
    preflop = solver.preflop
    strategies = preflop.average()
    values = [
        LiftedValues(found.best[:, :, flop], found.own[:, :, flop])
        for flop in range(solver.engine.flops)
    ]
    draws = everything(solver.game.flops)
    judged = evaluated_flops(draws, values, preflop.pot_reach(strategies), preflop.game.pairs)
    figures = RealGame(preflop.game, strategies, judged).figures()
    assert figures.exploitability == pytest.approx(wanted.exploitability, rel=1e-4, abs=1e-6)
    assert figures.interval == (figures.exploitability, figures.exploitability)
    assert 0 < figures.after_flop < figures.exploitability
    total = figures.after_flop + figures.before_flop
    assert figures.exploitability == pytest.approx(total)


class Population:
    """All 1,755 flops with made-up values below a solution's preflop strategies.

    Pots are worth per opposing combo what they are worth in the solution, or `cards` of what the
    cards win, and at random something more or less for every hand on every flop.
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

    def values(self, flop: Flop) -> LiftedValues:
        drawn = np.random.default_rng(flop.number)
        opponent_reach = self.reach[::-1]
        met = DealtPairs.of([flop.cards]).met(0, opponent_reach)
        best = (self.worth + self.luck * drawn.normal(size=met.shape) * self.pots) * met
        if self.cards:
            best = self.cards * self.pots * (opponent_reach @ flop_table().margin(flop.number).T)
        return LiftedValues(best)

    def game(self, draws: tuple[Draw, ...], played: Floats | None = None) -> RealGame:
        values = [self.values(draw.flop) for draw in draws]
        judged = evaluated_flops(draws, values, self.reach, self.preflop.pairs, played)
        return RealGame(self.preflop, self.strategies, judged)

    def whole(self) -> RealGame:
        """The values of all flops, where luck cancels."""
        met = self.reach[::-1] @ self.preflop.pairs
        values = (self.worth * met)[None]
        judged = EvaluatedFlops(
            np.ones(1), -np.ones(1, int), values, None, met[None, None], met[None]
        )
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
        for found in (
            game.judged.sums(weights),
            np.einsum("d,daph->aph", weights, game.judged.best),
        )
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
        found = game.judged.sums(game.judged.weights)
        errors.append(float(np.abs(found - wanted)[reached].mean()))
    assert errors[1] < errors[0] / 3


class Drafted(Population):
    """Every flop has a draft, which knows nine tenths of its luck and leans high by a tenth."""

    def __init__(self) -> None:
        super().__init__(luck=0.1)
        self.best = np.stack([super(Drafted, self).values(flop).best for flop in all_flops()])
        noise = np.random.default_rng(4).normal(size=self.best.shape)
        self.draft = 1.1 * self.best + 0.1 * self.best.std(axis=0) * noise
        times = np.array([flop.multiplicity for flop in all_flops()], np.float64)
        self.truth = np.einsum("f,faph->aph", times, self.best)
        self.truth *= float(self.preflop.pairs.sum()) / self._dealt(times)

    def _dealt(self, weights: Floats) -> float:
        dealt, every = DealtPairs.of([flop.cards for flop in all_flops()]), np.ones(HAND_COUNT)
        return float(weights @ dealt.reached(every, every))

    def values(self, flop: Flop) -> LiftedValues:
        return LiftedValues(self.best[flop.number])

    def drafted(self, count: int, drafts: int, seed: int) -> RealGame:
        whole = everything(spread_flops(FLOP_COUNT))
        draws = draw_flops((), count, seed)
        more = whole if drafts == FLOP_COUNT else draw_flops((), drafts, seed + 1000)
        values = [self.values(draw.flop) for draw in draws]
        known = DraftValues(more, dict(enumerate(self.draft))) if drafts else None
        judged = evaluated_flops(
            draws, values, self.reach, self.preflop.pairs, drafts=known if drafts else None
        )
        return RealGame(self.preflop, self.strategies, judged)


@cache
def drafted() -> Drafted:
    return Drafted()


def test_drafts_of_more_flops_take_luck_away_and_intervals_cover_the_truth() -> None:
    people = drafted()
    truth = people.game(everything(spread_flops(FLOP_COUNT))).figures()
    reached = people.reach > 1e-6
    errors, leaning = np.zeros((3, 2)), np.zeros((3, 2))
    for place, seed in enumerate((0, 2)):
        for row, drafts in enumerate((0, 72, FLOP_COUNT)):
            game = people.drafted(12, drafts, seed)
            found = game.judged.sums(game.judged.all_weights)
            errors[row, place] = np.square(found - people.truth)[reached].mean()
            leaning[row, place] = game._before(game.judged.all_weights) - truth.before_flop
            if place and drafts:
                low, high = game.figures().interval
                assert low <= truth.exploitability <= high
    # Seven times as many flops, of which a draft knows all but a tenth: a seventh of the variance.
    assert errors[1].mean() < errors[0].mean() / 4
    assert 0 < leaning[1].mean() < leaning[0].mean() / 2
    # With drafts of all flops only that tenth is left to luck: a hundredth of the variance.
    assert errors[2].mean() < errors[0].mean() / 40
    assert 0 < leaning[2].mean() < leaning[1].mean() / 2


def test_drafts_of_all_flops_need_no_other_known_numbers() -> None:
    whole, drawn = everything(spread_flops(FLOP_COUNT)), draw_flops((), 40, seed=1)
    assert needs_class_values(drawn, draw_flops((), 96, seed=2))
    assert not needs_class_values(drawn, whole)
    judged = drafted().drafted(16, FLOP_COUNT, seed=1).judged
    assert judged.drafts is None
    assert judged.known.shape[1] == len(judged.totals) == 2  # opposing combos, and the draft
    # A draft that knows everything leaves nothing to luck.
    people = copy(drafted())
    people.draft = 0.8 * people.best
    judged = people.drafted(16, FLOP_COUNT, seed=1).judged
    np.testing.assert_allclose(judged.sums(judged.all_weights), people.truth, rtol=1e-5)


def test_drafts_that_say_nothing_do_no_harm() -> None:
    """A draft of noise has a slope near 0, and sums are as far off as without it."""
    people = copy(drafted())
    people.draft = np.random.default_rng(9).normal(size=people.best.shape) * people.best.std()
    reached, errors = people.reach > 1e-3, np.zeros(2)
    for seed in (0, 2):
        for row, drafts in enumerate((0, 24)):
            judged = people.drafted(12, drafts, seed).judged
            found = judged.sums(judged.all_weights)
            errors[row] += np.square(found - people.truth)[reached].mean()
    assert errors[1] < 1.2 * errors[0]


def test_drafts_are_left_alone_where_nothing_is_drawn() -> None:
    people = drafted()
    draws = everything(spread_flops(FLOP_COUNT))
    values = [people.values(draw.flop) for draw in draws]
    drafts = DraftValues(draw_flops((), 8, 1), dict(enumerate(people.draft)))
    judged = evaluated_flops(draws, values, people.reach, people.preflop.pairs, None, drafts)
    assert judged.drafts is None
    np.testing.assert_allclose(judged.sums(judged.all_weights), people.truth)


def test_variances_are_those_of_repeated_draws() -> None:
    values = np.random.default_rng(6).normal(size=1755)
    sums, variances = [], []
    for seed in range(600):
        draws = draw_flops((), 12, seed)
        weights = np.array([draw.weight for draw in draws])
        drawn = values[[draw.flop.number for draw in draws]]
        pairs = np.array([draw.pair for draw in draws])
        sums.append(float(weights @ drawn))
        variances.append(jackknife(weights, pairs, partial(np.dot, drawn)))
    assert np.shape(variances) == (600, 6)
    assert np.sum(variances) / 600 == pytest.approx(np.var(sums), rel=0.12)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 9, 12, 25, 40, 100, 1000])
def test_few_pairs_widen_the_interval_as_students_t_does(freedom: int) -> None:
    margin = margin_of_error(np.full(freedom, 4.0))
    expected = float(stdtrit(freedom, 0.975)) * np.sqrt(4.0 * freedom)
    assert margin == pytest.approx(expected, rel=0.003)


def test_one_pair_that_makes_the_error_counts_alone() -> None:
    alone = margin_of_error(np.array([4.0]))
    assert margin_of_error(np.array([4.0, *[1e-6] * 20])) == pytest.approx(alone, rel=1e-3)
    assert margin_of_error(np.zeros(5)) == 0


def test_gains_after_the_flop_are_counted_by_the_pairs_that_see_it() -> None:
    people = Population(luck=0.0)
    draws = draw_flops((), 8, seed=1)
    values = []
    for draw in draws:  # ten chips of every opposing combo: whatever is drawn, that is the gain
        met = people.reach[::-1] @ DealtPairs.of([draw.flop.cards]).matrix(0)
        values.append(LiftedValues(10.0 * met))
    judged = evaluated_flops(draws, values, people.reach, people.preflop.pairs)
    game = RealGame(people.preflop, people.strategies, judged)
    met = people.reach[::-1] @ people.preflop.pairs
    gain = 10.0 * float((people.reach * met).sum())
    expected = gain / people.preflop.weight / 2 * MBB_PER_CHIP
    assert game.figures().after_flop == pytest.approx(expected, rel=1e-9)
    plain = float(judged.weights @ np.einsum("aph,daph->d", people.reach, judged.best))
    assert plain != pytest.approx(gain, rel=1e-4)


class Monotone(Population):
    """Values by hand classes determine those of a flop, except for losses on monotone flops."""

    def __init__(self) -> None:
        super().__init__(luck=0.0)
        flops = all_flops()
        dealt = DealtPairs.of([flop.cards for flop in flops])
        met = np.stack([self.reach[::-1] @ dealt.matrix(flop.number) for flop in flops])
        luck = np.random.default_rng(2).normal(size=met.shape)
        self.played = (self.worth + 0.1 * luck * self.pots) * met
        monotone = np.array([flop.texture.suits == "monotone" for flop in flops])
        self.best = self.played + 0.2 * monotone[:, None, None, None] * self.pots * met

    def values(self, flop: Flop) -> LiftedValues:
        return LiftedValues(self.best[flop.number])

    def covered(self, count: int, seeds: int) -> float:
        """How often the interval covers the truth."""
        every = self.game(everything(spread_flops(FLOP_COUNT)))
        truth, inside = every.figures().exploitability, 0
        for seed in range(seeds):
            draws = draw_flops({*range(0, 1755, 9)}, count, seed)
            played = self.played if needs_class_values(draws) else None
            low, high = self.game(draws, played).figures().interval
            inside += low <= truth <= high
        return inside / seeds


@pytest.mark.long
def test_intervals_cover_a_loss_on_monotone_flops_alone() -> None:
    """Long: hundreds of samples."""
    assert Monotone().covered(12, 20) >= 0.93


@pytest.mark.thorough
@pytest.mark.parametrize("count", [8, 12, 16, 24, 32])
def test_intervals_cover_what_they_say(count: int) -> None:
    assert Monotone().covered(count, 100) >= 0.93


def test_responses_before_the_flop_keep_to_locks() -> None:
    people = Population(luck=0.1)
    root, hands = int(people.preflop.tree.decisions()[0]), np.arange(HAND_COUNT) % 2 == 0
    strategy = people.strategies[root][::-1]
    locked = replace(people.preflop, locks={root: ClassLock(hands, strategy)})
    strategies = people.strategies | {root: locked.held(root, people.strategies[root])}
    draws = draw_flops((), 6, seed=1)
    values = [people.values(draw.flop) for draw in draws]
    judged = evaluated_flops(draws, values, people.reach, people.preflop.pairs)
    game, player = RealGame(locked, strategies, judged), Player(int(locked.tree.player[root]))
    response = game._response(player, game.judged.sums(judged.weights)[player])[root]
    np.testing.assert_array_equal(response[:, hands], strategy[:, hands])
    assert (response[:, ~hands].max(axis=0) == 1).all()
