"""The betting before the flop on leaves that are tables, against generic tabular CFR."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from allstreets.base import Floats
from allstreets.betting import (
    OOP,
    NodeKind,
    Player,
    PreflopRules,
    build_preflop_tree,
    flop_pots,
    payoffs,
)
from allstreets.cards import HAND_COUNT
from allstreets.cfr import CfrSolver, best_response, compile_game, exploitability, game_value
from allstreets.cfr.schedules import parse_schedule
from allstreets.cfr.sequence_form import SequenceForm, sequence_form
from allstreets.games.whole_game import PreflopGame, Strategies
from allstreets.solvers.preflop import PreflopCfr, normalised

HANDS = (0, 20, 77, 168)


@dataclass
class TableLeaves:
    """Every pot is worth a given number of chips to OOP for every two hands, all pairs together."""

    table: Floats  # [P, 169, 169], own hand OOP's

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        hand_mask: NDArray[np.bool_] | None,
    ) -> Floats:
        assert hand_mask is None
        assert player_reach.shape == opponent_reach.shape == (len(self.table), HAND_COUNT)
        return self.evaluate(player, opponent_reach)

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        return self.evaluate(player, opponent_reach)

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        values = [
            table @ reach if player == OOP else -(table.T @ reach)
            for table, reach in zip(self.table, opponent_reach, strict=True)
        ]
        return np.array(values).reshape(-1, HAND_COUNT)


def make_game(
    seed: int = 1, stack: float = 12, ante: float = 0, rake: float = 0
) -> tuple[PreflopGame, TableLeaves]:
    """Four hands that are dealt, with random numbers of pairs, margins and values of pots."""
    generator = np.random.default_rng(seed)
    rules = PreflopRules.parse(stack, [2.5], 3, ante=ante, rake=rake)
    tree = build_preflop_tree(rules)
    pots = flop_pots(tree)
    pairs, margin = np.zeros((2, HAND_COUNT, HAND_COUNT))
    table = np.zeros((len(pots), HAND_COUNT, HAND_COUNT))
    cells = np.ix_(HANDS, HANDS)
    counts = generator.integers(1, 13, (4, 4)).astype(np.float64)
    pairs[cells] = counts + counts.T
    shares = np.triu(generator.uniform(-1, 1, (4, 4)), 1)
    margin[cells] = pairs[cells] * (shares - shares.T)
    for pot, cell in zip(pots, table, strict=True):
        cell[cells] = pairs[cells] * generator.uniform(-0.8, 0.8, (4, 4)) * pot.pot
    return PreflopGame(tree, payoffs(tree, rules), pots, pairs, margin), TableLeaves(table)


@dataclass(frozen=True)
class TableGame:
    """The same as a `Game`: a deal, the betting, and a pot pays what its table says."""

    game: PreflopGame
    leaves: TableLeaves
    name: str = "before the flop"
    unit: str = "chips"

    def root(self) -> "TableState":
        return TableState(self)


@dataclass(frozen=True)
class TableState:
    """A history."""

    whole: TableGame
    hands: tuple[int, int] | None = None
    node: int = 0

    @property
    def is_chance(self) -> bool:
        return self.hands is None

    @property
    def is_terminal(self) -> bool:
        kind = self.whole.game.tree.kind[self.node]
        return self.hands is not None and kind != NodeKind.DECISION

    @property
    def player(self) -> int:
        return int(self.whole.game.tree.player[self.node])

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        game = self.whole.game
        return [
            (f"{first} {second}", float(game.pairs[first, second] / game.weight))
            for first in HANDS
            for second in HANDS
        ]

    def actions(self) -> Sequence[str]:
        return [f"{number}" for number in range(self.whole.game.tree.child_count[self.node])]

    def child(self, index: int) -> "TableState":
        if self.hands is None:
            return replace(self, hands=(HANDS[index // 4], HANDS[index % 4]))
        return replace(self, node=int(self.whole.game.tree.children_of(self.node)[index]))

    def information_set(self) -> str:
        assert self.hands is not None
        return f"{self.node} {self.hands[self.player]}"

    def utility(self) -> float:
        assert self.hands is not None
        game = self.whole.game
        pairs = float(game.pairs[self.hands])
        places = [pot.node for pot in game.pots]
        if self.node in places:
            return float(self.whole.leaves.table[places.index(self.node)][self.hands]) / pairs
        win, _, loss = game.results[self.node, OOP].tolist()
        share = (1 + float(game.margin[self.hands]) / pairs) / 2
        return float(share * win + (1 - share) * loss)


def written_out(game: PreflopGame, leaves: TableLeaves) -> SequenceForm:
    return sequence_form(compile_game(TableGame(game, leaves)))


def as_table(strategies: Strategies) -> dict[str, dict[str, float]]:
    return {
        f"{node} {hand}": {f"{a}": float(p) for a, p in enumerate(rows[:, hand])}
        for node, rows in strategies.items()
        for hand in HANDS
    }


@pytest.mark.parametrize("algorithm", ["vanilla", "linear", "dcfr", "tuned", "cfr+", "dcfr+"])
def test_regrets_are_those_of_generic_cfr(algorithm: str) -> None:
    game, leaves = make_game(ante=0.1)
    form = written_out(game, leaves)
    solver, generic = PreflopCfr(game, leaves), CfrSolver(form, algorithm)
    schedule = parse_schedule(algorithm)
    for iteration in range(1, 26):
        for player in Player:
            solver.step(player, schedule.at(iteration))
        generic.train_batch(1)
        size = np.abs(generic.regrets).max()
        for number, key in enumerate(form.game.keys):
            node, hand = map(int, key.split())
            begin, end = form.game.slot_start[number : number + 2]
            found = solver.regrets[node][:, hand] / game.weight
            np.testing.assert_allclose(found / size, generic.regrets[begin:end] / size, atol=1e-11)


@pytest.mark.parametrize("seed", [1, 2])
def test_values_are_those_of_the_generic_best_response(seed: int) -> None:
    game, leaves = make_game(seed)
    form = written_out(game, leaves)
    generator = np.random.default_rng(seed)
    strategies = {}
    for node in game.tree.decisions():
        numbers = generator.random((int(game.tree.child_count[node]), HAND_COUNT))
        strategies[node] = normalised(np.where(numbers < 0.3, 0.0, numbers))
    solver = PreflopCfr(game, leaves)
    table = as_table(strategies)
    reach = solver.pot_reach(strategies)
    both = []
    for player in Player:
        below = leaves.best_response(player, reach[player.opponent])
        best = solver.values(player, below, best=True, strategies=strategies)
        kept = solver.values(player, below, best=False, strategies=strategies)
        expected = best_response(form, table, int(player)).value
        assert best[0].sum() / game.weight == pytest.approx(expected, abs=1e-9)
        sign = 1 if player == OOP else -1
        mean = kept[0].sum() / game.weight
        assert mean == pytest.approx(sign * game_value(form, table), abs=1e-9)
        assert (best >= kept - 1e-9 * np.abs(best).max()).all()
        both.append(best[0].sum() / game.weight)
    assert sum(both) / 2 == pytest.approx(exploitability(form, table), abs=1e-9)


@pytest.mark.parametrize("algorithm", ["tuned", "cfr+"])
def test_the_average_is_a_weighted_mean_of_what_the_opponent_met(algorithm: str) -> None:
    """Strategy times (own probability of getting there + 1 %), gathered when the other updates."""
    game, leaves = make_game()
    tree = game.tree
    solver, schedule = PreflopCfr(game, leaves), parse_schedule(algorithm)
    expected = {node: np.zeros_like(sums) for node, sums in solver.sums.items()}
    for iteration in range(1, 9):
        now = schedule.at(iteration)
        for player in Player:
            met = solver.current()
            for node in game.tree.decisions():
                mover = tree.player_at(node)
                if mover == player:
                    continue
                own = np.ones(HAND_COUNT)
                path = tree.path_to(node)
                for above, below in pairwise(path):
                    if tree.player[above] == mover:
                        own = own * met[above][tree.children_of(above).tolist().index(below)]
                weighed = now.weight * met[node] * (own + 0.01)
                expected[node] = now.average * expected[node] + weighed
            solver.step(player, now)
    for node, sums in expected.items():
        np.testing.assert_allclose(solver.sums[node], sums, rtol=1e-12)
        np.testing.assert_allclose(solver.average()[node], sums / sums.sum(axis=0), rtol=1e-12)


def test_ends_are_paid_pair_by_pair() -> None:
    game, _ = make_game(rake=0.05, ante=0.1)
    tree = game.tree
    generator = np.random.default_rng(3)
    other = generator.random((tree.node_count, HAND_COUNT))
    for player in Player:
        values = game.terminal_values(player, other)
        for node in range(tree.node_count):
            expected = np.zeros(HAND_COUNT)
            if tree.is_terminal[node]:
                win, _, loss = game.results[node, player]
                for own in HANDS:
                    for theirs in HANDS:
                        pairs = game.pairs[own, theirs]
                        won = (pairs + game.margin[own, theirs]) / 2
                        total = won * win + (pairs - won) * loss
                        expected[own] += other[node, theirs] * total
            np.testing.assert_allclose(values[node], expected, atol=1e-9 * np.abs(values).max())


def test_exploitability_falls_towards_zero() -> None:
    game, leaves = make_game(stack=20)
    form = written_out(game, leaves)
    solver, schedule = PreflopCfr(game, leaves), parse_schedule("tuned")
    found = [exploitability(form, as_table(solver.average()))]
    for begin, end in ((1, 31), (31, 121), (121, 481)):
        for iteration in range(begin, end):
            for player in Player:
                solver.step(player, schedule.at(iteration))
        found.append(exploitability(form, as_table(solver.average())))
    assert found[0] > found[1] > found[2] > found[3] > 0
    assert found[3] < 0.005 * found[0]


def test_a_game_without_flops() -> None:
    """With one big blind the small blind calls all-in or folds: no chips behind."""
    game, leaves = make_game(stack=1)
    assert not game.pots
    solver, schedule = PreflopCfr(game, leaves), parse_schedule("tuned")
    form = written_out(game, leaves)
    for iteration in range(1, 60):
        for player in Player:
            solver.step(player, schedule.at(iteration))
    assert exploitability(form, as_table(solver.average())) < 0.01


def test_a_restored_solver_goes_on_alike() -> None:
    game, leaves = make_game()
    schedule = parse_schedule("dcfr")
    first, second = PreflopCfr(game, leaves), PreflopCfr(game, leaves)
    for iteration in range(1, 6):
        for player in Player:
            first.step(player, schedule.at(iteration))
    second.restore({name: array.copy() for name, array in first.state().items()})
    for player in Player:
        np.testing.assert_array_equal(
            first.step(player, schedule.at(6)), second.step(player, schedule.at(6))
        )
    for name, array in first.state().items():
        np.testing.assert_array_equal(array, second.state()[name])


def test_regret_figures() -> None:
    game, leaves = make_game()
    solver, schedule = PreflopCfr(game, leaves), parse_schedule("dcfr")
    assert solver.regret_sums()[:2] == (0.0, 0.0)
    for iteration in range(1, 6):
        for player in Player:
            solver.step(player, schedule.at(iteration))
    entries = np.concatenate([regrets.reshape(-1) for regrets in solver.regrets.values()])
    total, largest, count = solver.regret_sums()
    assert total == pytest.approx(entries[entries > 0].sum())
    assert largest == entries.max()
    assert count == len(entries)


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=4))
def test_normalised_columns_are_chances(rows: list[list[float]]) -> None:
    stored = np.array(rows)
    chances = normalised(stored)
    assert (chances >= 0).all()
    np.testing.assert_allclose(chances.sum(axis=0), 1.0)
    for column in range(3):
        positive = [max(number, 0.0) for number in stored[:, column].tolist()]
        total = sum(positive)
        expected = [p / total if total else 1 / len(rows) for p in positive]
        np.testing.assert_allclose(chances[:, column], expected)
