"""Simple strategies: the rules, and prices against a slow best response."""

from dataclasses import is_dataclass, replace
from functools import cache

import numpy as np
import pytest
from builders import whole_solution
from builders.small_spots import RIVER, TURN, spot
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference.spot import NaiveSpot

from allstreets.analysis import Simplification, Simplified, simplify_game, simplify_spot
from allstreets.analysis.simplify.rule import drop_rare, keep_sizes, round_to_grid
from allstreets.analysis.simplify.solution import FlopTotals
from allstreets.base import Floats, InputError
from allstreets.betting import Player, Street
from allstreets.cards import HAND_COUNT, flop_matchups
from allstreets.cfr import parse_schedule
from allstreets.engines import RiverGroups, average_strategy
from allstreets.engines.card_model import EXACT, DealtPairs
from allstreets.engines.exact.strategies import set_average_strategy
from allstreets.solutions import SpotSolution, WholeSolution
from allstreets.solvers import SpotSolver, WholeGameSolver, quantise_solution

TINY = {**RIVER, "oop_range": "AA,QQ,JTs,87s,A5s", "ip_range": "KK,99,QJs,T8s", "stack": 150}
TINY |= {"bets": ["50%", "a"], "raises": ["a"]}
GRIDS = [1.0, 0.5, 1 / 3, 0.25, 0.2, 0.1, 0.05, 0.01]

mixes = st.lists(
    st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda row: sum(row) > 0.01),
    min_size=1,
    max_size=8,
).map(lambda rows: (np.array(rows) / np.sum(rows, axis=1, keepdims=True)).T)


SPOTS = {"tiny": spot(TINY), "turn": spot(TURN)}


@cache
def state(name: str, groups: RiverGroups) -> dict[str, NDArray[np.generic]]:
    solver = SpotSolver(SPOTS[name], threads=1, river_groups=groups)
    solver.train_batch(12)  # so that there is much to round
    return {key: np.array(array) for key, array in solver.state().items()}


def trained(name: str = "tiny", groups: RiverGroups = "none") -> SpotSolver:
    solver = SpotSolver(SPOTS[name], threads=1, river_groups=groups)
    solver.restore(state(name, groups))
    return solver


@given(mixes, st.sampled_from(GRIDS))
def test_frequencies_on_a_grid_sum_to_one(chances: Floats, grid: float) -> None:
    rounded = round_to_grid(chances, grid)
    steps = np.rint(rounded / grid)
    assert np.allclose(rounded, steps * grid, atol=1e-12)
    assert (steps.sum(axis=0) == round(1 / grid)).all()
    assert (np.abs(rounded - chances) < grid + 1e-6).all()
    np.testing.assert_array_equal(round_to_grid(rounded, grid), rounded)


@given(mixes, st.sampled_from(GRIDS), st.floats(0.01, 0.6), st.integers(1, 2))
def test_pure_strategies_stay(chances: Floats, grid: float, drop: float, sizes: int) -> None:
    pure = (chances == chances.max(axis=0)).astype(np.float64)
    pure *= np.cumsum(pure, axis=0) == 1
    np.testing.assert_array_equal(round_to_grid(pure, grid), pure)
    np.testing.assert_array_equal(drop_rare(pure, drop), pure)
    rule = Simplification(grid, sizes, drop)
    found = rule.apply(pure[None], np.array([[0.0, 0.0, 50.0]]), np.ones((1, pure.shape[1])))
    np.testing.assert_array_equal(found[0], pure)


@given(mixes, st.floats(0.01, 0.9))
def test_rare_actions_go_and_the_rest_is_scaled(chances: Floats, least: float) -> None:
    found = drop_rare(chances, least)
    assert np.allclose(found.sum(axis=0), 1.0)
    gone = (found == 0) & (chances > 0)
    assert (chances[gone] < least).all()
    likeliest = chances.argmax(axis=0)
    assert (found[likeliest, np.arange(chances.shape[1])] > 0).all()
    kept = np.where(found > 0, chances, 0.0)
    assert np.allclose(found, kept / kept.sum(axis=0))


def test_ties_go_to_the_likelier_action_and_then_to_the_first() -> None:
    chances = np.array([[0.125, 0.5], [0.875, 0.5]])
    np.testing.assert_array_equal(round_to_grid(chances, 0.25), [[0.0, 0.5], [1.0, 0.5]])
    np.testing.assert_array_equal(round_to_grid(chances, 1.0), [[0.0, 1.0], [1.0, 0.0]])


def test_the_size_that_is_taken_most_is_kept() -> None:
    # check, bets of 30, 75 and 300; the second hand gets there ten times as often
    chances = np.array([[0.2, 0.4], [0.8, 0.1], [0.0, 0.2], [0.0, 0.3]])[None]
    amounts, weights = np.array([[0.0, 30, 75, 300]]), np.array([[1.0, 10.0]])
    one = keep_sizes(chances, amounts, weights, 1)[0]
    np.testing.assert_allclose(one, [[0.2, 0.4], [0.0, 0.0], [0.0, 0.0], [0.8, 0.6]])
    two = keep_sizes(chances, amounts, weights, 2)[0]  # 75 is nearer to 30 than 300 is
    np.testing.assert_allclose(two, [[0.2, 0.4], [0.0, 0.0], [0.8, 0.3], [0.0, 0.3]])
    same = keep_sizes(chances, amounts, weights, 3)[0]
    np.testing.assert_array_equal(same, chances[0])
    unreached = keep_sizes(chances, amounts, np.zeros((1, 2)), 1)[0]
    np.testing.assert_allclose(unreached, [[0.2, 0.4], [0.8, 0.6], [0.0, 0.0], [0.0, 0.0]])


def test_another_size_becomes_the_nearest_by_ratio() -> None:
    """Not by chips: a bet of 100 is twice one of 50, one of 160 is 1.6 times as much."""
    chances = np.array([[0.1], [0.4], [0.2], [0.3]])[None]
    amounts = np.array([[0.0, 50, 100, 160]])
    two = keep_sizes(chances, amounts, np.ones((1, 1)), 2)[0]
    np.testing.assert_allclose(two, [[0.1], [0.4], [0.0], [0.5]])


def best_by_hand(solver: SpotSolver) -> Floats:
    """[2]: what slow best responses to a solver's averages win, in % of the pot."""
    here = solver.spot
    ranges = [
        {int(c): float(one.weights[c]) for c in np.flatnonzero(one.weights)} for one in here.ranges
    ]
    slow = NaiveSpot(
        here.tree, here.payoffs, here.cards, (ranges[0], ranges[1]), parse_schedule("vanilla")
    )
    for node in here.tree.decisions():
        combos = solver.subgame.streets[0].combos(int(here.tree.player[node]), 0).tolist()
        strategy = average_strategy(solver.subgame, 0, 0, node)
        slow.averages |= {(node, here.cards, c): strategy[:, n] for n, c in enumerate(combos)}
    wins = [sum(ranges[p][c] * value for c, value in slow.best_response(p).items()) for p in Player]
    return 100 * np.array(wins) / here.pairs / here.pot


def test_prices_are_those_of_a_slow_best_response() -> None:
    before = best_by_hand(trained())
    for rule in (
        Simplification(grid=0.25),
        Simplification(sizes=1),
        Simplification(grid=0.5, drop=0.1),
    ):
        solver = trained()
        price = simplify_spot(solver, rule)
        after = best_by_hand(solver)  # which now plays what is simple
        assert price.before == pytest.approx(before.sum() / 2, abs=1e-4)
        assert price.after == pytest.approx(after.sum() / 2, abs=1e-4)
        np.testing.assert_allclose(price.prices, (after - before)[::-1], atol=1e-4)
        assert abs(price.after - price.before) > 0.5


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(GRIDS), st.sampled_from([None, 0.02, 0.2]), st.sampled_from([None, 1, 2]))
def test_prices_of_both_add_up(grid: float, drop: float | None, sizes: int | None) -> None:
    rule = Simplification(grid, sizes, drop)
    price = simplify_spot(trained(), rule)
    assert price.after - price.before == pytest.approx(sum(price.prices) / 2, abs=1e-5)
    assert all(one >= -2 * price.before - 1e-6 for one in price.prices)
    for player in Player:
        alone = simplify_spot(trained(), rule, (player,))
        assert alone.prices[player] == pytest.approx(price.prices[player], abs=1e-5)
        assert alone.prices[player.opponent] == 0.0
    assert price.mixes_after.decisions <= price.mixes_before.decisions
    again = simplify_spot(_solver(price), rule)
    assert again.after == pytest.approx(price.after, abs=1e-5)


def _solver(price: Simplified) -> SpotSolver:
    assert isinstance(price.solution, SpotSolution)
    assert price.solution.solver is not None
    return price.solution.solver


def test_what_changes_nothing_costs_nothing() -> None:
    fine = simplify_spot(trained(), Simplification(grid=1e-6))
    np.testing.assert_allclose(fine.prices, 0.0, atol=1e-4)
    same = simplify_spot(trained(), Simplification(sizes=9))
    assert same.prices == (0.0, 0.0)
    assert same.mixes_before == same.mixes_after
    assert same.mixes_before.mixed > 0
    pure = simplify_spot(trained(), Simplification(grid=1.0))
    assert pure.mixes_after.mixed == 0


@pytest.mark.parametrize("groups", ["none", "suits"])
def test_streets_of_a_spot(groups: RiverGroups) -> None:
    solver = trained("turn", groups)
    original = solver.exploitability()
    price = simplify_spot(solver, Simplification(grid=0.5))
    assert [each.street for each in price.streets] == ["turn", "river"]
    assert price.before == pytest.approx(100 * original / solver.spot.pot)
    assert 100 * solver.exploitability() / solver.spot.pot == pytest.approx(price.after)
    for street, each in zip((Street.TURN, Street.RIVER), price.streets, strict=True):
        twin = trained("turn", groups)
        for level, here in enumerate(twin.subgame.levels):
            if here == street:
                for number in range(len(twin.subgame.streets[level].runouts)):
                    _round_by_combo(twin, level, number)
        assert each.exploitability == pytest.approx(100 * twin.exploitability() / 100, abs=1e-4)


def _round_by_combo(solver: SpotSolver, level: int, number: int) -> None:
    """The plain way: every combo's strategy, one after the other."""
    subgame = solver.subgame
    for node in subgame.tree.decisions(subgame.levels[level]):
        strategy = average_strategy(subgame, level, number, node)
        set_average_strategy(subgame, level, number, node, round_to_grid(strategy, 0.5))


@pytest.mark.parametrize("precision", ["float16", "int16"])
def test_rake_and_16_bits(precision: str) -> None:
    solver = SpotSolver(spot(TINY, rake=0.05), threads=1, precision=precision)
    solver.train_batch(12)
    before = solver.exploitability()
    price = simplify_spot(solver, Simplification(grid=0.5))
    assert price.before == pytest.approx(before)
    assert price.after == pytest.approx(solver.exploitability())
    doubled = 2 * SpotSolution.of(solver).at("").decision.strategy
    np.testing.assert_allclose(doubled, np.rint(doubled), atol=1e-3)


def test_locked_hands_keep_their_strategy() -> None:
    lock = [{"line": "", "hands": {"QQ": {"check": 0.6, "b50": 0.4}}}]
    solver = SpotSolver(spot(TINY, lock=lock), threads=1)
    solver.train_batch(40)
    simplify_spot(solver, Simplification(grid=0.5))
    shown = SpotSolution.of(solver).at("").decision
    locked = shown.strategy[:, shown.locked]
    np.testing.assert_allclose(locked[0], 0.6, atol=1e-6)
    np.testing.assert_allclose(np.rint(shown.strategy[:, ~shown.locked] * 2) % 1, 0, atol=1e-6)


def whole_twin(result: WholeSolution, streets: set[Street], grid: float) -> float:
    """A solver of all flops with every strategy of these streets rounded."""
    solver: WholeGameSolver = whole_solution.played(result)
    if Street.PREFLOP in streets:
        for sums in solver.preflop.sums.values():
            sums[...] = round_to_grid(sums, grid)
    for number, pot in enumerate(result.game.pots):
        for node in pot.tree.decisions():
            if Street(int(pot.tree.street[node])) in streets:
                for flop in range(len(result.game.flops.flops)):
                    chances = solver.engine.average(number, flop, node)
                    solver.engine.set_average(number, flop, node, round_to_grid(chances, grid))
    found = solver.exploitability()
    assert found is not None
    return found


def test_a_flop_loses_the_mean_of_both_gains_as_a_share_of_its_pots() -> None:
    game, chance = whole_solution.trips_result().game, np.random.default_rng(3)
    flops = [flop.cards for flop in game.flops.flops]
    pots = len(game.pots)
    reach = chance.random((2, pots, HAND_COUNT))
    own = chance.normal(size=(2, pots, len(flops), HAND_COUNT))
    best = own + chance.random(own.shape)
    totals = FlopTotals(game, DealtPairs.of(flops), reach)
    for flop in reversed(range(len(flops))):  # in any order, some at a time
        some = np.array([flop])
        totals.add(some, best[:, :, some], own[:, :, some])
    for flop, row in enumerate(totals.rows()):
        pairs = flop_matchups(flops[flop]).pairs
        at_stake, gain = 0.0, 0.0
        for number, pot in enumerate(game.pots):
            oop, ip = reach[:, number]
            at_stake += pot.pot.pot * (oop @ pairs @ ip)
            for player in Player:
                more = best[player, number, flop] - own[player, number, flop]
                gain += reach[player, number] @ more / 2
        assert row["exploitability_pct"] == pytest.approx(100 * gain / at_stake)


def test_a_whole_game() -> None:
    result = whole_solution.trips_result()
    price = simplify_game(result, Simplification(grid=0.25))
    assert price.before == pytest.approx(result.facts.exploitability, rel=1e-5)
    streets = {Street.PREFLOP, Street.FLOP, Street.TURN, Street.RIVER}
    assert price.after == pytest.approx(whole_twin(result, streets, 0.25), rel=1e-5)
    for each in price.streets:
        twin = whole_twin(result, {Street[each.street.upper()]}, 0.25)
        assert each.exploitability == pytest.approx(twin, rel=1e-5)
    assert price.after - price.before == pytest.approx(sum(price.prices) / 2, abs=1e-4)
    assert price.seats == ("BB", "SB")


def test_a_whole_game_under_rake() -> None:
    result = WholeSolution.of(whole_solution.raked())
    price = simplify_game(result, Simplification(drop=0.05), (Player.IP,))
    assert price.before == pytest.approx(result.facts.exploitability, rel=1e-5)
    assert price.prices[Player.OOP] == 0.0
    assert price.after != price.before


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "nothing to simplify"),
        ({"grid": 0.3}, "must divide 100 %"),
        ({"grid": 0.0}, "must divide 100 %"),
        ({"sizes": 0}, "at least one size"),
        ({"drop": 1.0}, "between 0 and 100 %"),
    ],
)
def test_rules_that_cannot_be_applied(keys: dict[str, float], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Simplification(**keys)  # type: ignore[arg-type]


def test_solutions_without_strategies_of_all_streets() -> None:
    solver, rule = whole_solution.trips(), Simplification(grid=0.5)
    before_the_flop = WholeSolution.of(solver, quantise_solution(solver, flops=False))
    with pytest.raises(InputError, match="no strategies after the flop"):
        simplify_game(before_the_flop, rule)
    whole = whole_solution.trips_result()
    exact = WholeSolution.game_of(
        whole.game, whole.stored.source, replace(whole.facts, cards=EXACT)
    )
    with pytest.raises(InputError, match="no strategies on turn and river"):
        simplify_game(exact, rule)


def test_records_are_plain_data() -> None:
    price = simplify_spot(trained(), Simplification(grid=0.25, sizes=1, drop=0.05))
    assert is_dataclass(price)
    assert str(price.rule) == "1 size, no actions below 5 %, steps of 25 %"
    assert str(price).startswith("OOP and IP simple: 1 size, no actions below 5 %, steps of 25 %;")
    facts = price.to_json()
    assert facts["prices"] == {"OOP": price.prices[0], "IP": price.prices[1]}
    assert facts["mixed_before"] == price.mixes_before.mixed
