"""The unified solver, iteration by iteration, against a slow one."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from reference.matrix import NaiveStage
from reference.unified import NaiveUnified
from reference.whole_game import OPEN_FLOPS, whole_game

from allstreets.betting import POSTFLOP, Player, PreflopRules, Street, payoffs, same_sizes
from allstreets.cards import flop_matchups, hand_pairs, preflop_equity
from allstreets.cards.flop_sets import named_flops
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.protocol import Engine
from allstreets.games.locks import Lock
from allstreets.games.whole_game import WholeGame
from allstreets.solvers.leaves import Choice, VisitPlan
from allstreets.solvers.whole_game import MBB_PER_CHIP, WholeGameSolver

STREETS = tuple(int(street) for street in POSTFLOP)


@dataclass
class Twins:
    """A solver and its slow twin, and which flops they look at."""

    solver: WholeGameSolver
    naive: NaiveUnified

    def iterate(self) -> None:
        """One iteration of both."""
        solver = self.solver
        iteration = solver.iterations
        epoch, batch, _ = solver.batches.position(iteration, solver.engine.flops)
        solver.train_batch(1)
        # By reach, what is drawn depends on shares that the solver keeps for the epoch.
        flops, chances = solver.batches.draw(epoch, batch, solver.state()["shares"])
        every = solver.schedule.run(1, iteration + 1)
        factors = [(now.positive, now.negative, now.average, now.weight) for now in every]
        for player in Player:
            self.naive.half(
                player,
                factors[-1],
                factors,
                solver.schedule.clip,
                flops.tolist(),
                chances.tolist(),
            )

    def compare(self) -> None:
        """Regrets and sums before the flop, at every decision for every hand."""
        for fast, slow in (
            (self.solver.preflop.regrets, self.naive.regrets),
            (self.solver.preflop.sums, self.naive.sums),
        ):
            size = max(float(np.abs(numbers).max()) for numbers in slow.values())
            assert fast.keys() == slow.keys()
            for node, numbers in slow.items():
                free = [hand for hand in range(169) if hand not in self.naive.told.get(node, {})]
                np.testing.assert_allclose(
                    fast[node][:, free] / size, numbers[:, free] / size, atol=3e-5
                )

    def compare_figures(self) -> None:
        """Exploitability, before the flop and in all, and both values; they need not sum to 0."""
        naive, figures = self.naive, self.solver.figures()
        best, before, kept = (
            [naive.judge(player, *free) * MBB_PER_CHIP for player in Player]
            for free in ((True, True), (True, False), (False, False))
        )
        tolerance = 1e-4 * self.solver.game.preflop.stack * MBB_PER_CHIP
        assert figures.values == pytest.approx(kept, abs=tolerance)
        gain = sum(best) / 2 - sum(kept) / 2
        assert gain > 10 * tolerance
        assert figures.exploitability == pytest.approx(gain, abs=tolerance)
        assert self.solver.exploitability() == pytest.approx(gain, abs=tolerance)
        gain = sum(before) / 2 - sum(kept) / 2
        assert figures.preflop_exploitability == pytest.approx(gain, abs=tolerance)


def make_twins(
    rules: WholeGame,
    games: Engine,
    dense: list[NaiveStage],
    algorithm: str,
    batches: VisitPlan,
) -> Twins:
    told = {
        node: {int(hand): lock.strategy[:, hand] for hand in np.flatnonzero(lock.held)}
        for node, lock in rules.locks.preflop.items()
    }
    naive = NaiveUnified(
        tree=rules.tree,
        payoffs=payoffs(rules.tree, rules.preflop),
        pots=[(pot.pot.node, pot.tree, pot.payoffs) for pot in rules.pots],
        flops=dense,
        weights=rules.flops.weights.tolist(),
        equity=preflop_equity().equity,
        told=told,
    )
    return Twins(WholeGameSolver(rules, games, parse_schedule(algorithm), batches), naive)


def tiny_twins(
    algorithm: str = "tuned",
    batches: VisitPlan | None = None,
    ante: float = 0.0,
    rake: float = 0.0,
    flops: int = 2,
    lock: tuple[Lock, ...] = (),
) -> Twins:
    """A few combos on a few flops; stacks of 5 bb."""
    game = whole_game(flops=OPEN_FLOPS[:flops], stack=5, raise_cap=1, ante=ante, rake=rake, seed=4)
    game = replace(game, rules=replace(game.rules, lock=lock))
    dense = []
    for pairs, margins in zip(game.pairs, game.margin, strict=True):
        stage = NaiveStage(STREETS, np.zeros((169, 169)), np.zeros((169, 169)))
        for pair in pairs:
            stage.pairs[pair], stage.margin[pair] = pairs[pair], margins[pair]
        dense.append(stage)
    return make_twins(game.rules, game.flop_games(), dense, algorithm, batches or VisitPlan())


@pytest.mark.parametrize(
    ("algorithm", "ante", "rake"),
    [
        ("tuned", 0.0, 0.0),
        pytest.param("cfr+", 0.25, 0.0, marks=pytest.mark.long),
        ("dcfr", 0.1, 0.05),
    ],
)
def test_every_iteration_equals_the_slow_one(algorithm: str, ante: float, rake: float) -> None:
    twins = tiny_twins(algorithm, ante=ante, rake=rake)
    for _ in range(4):
        twins.iterate()
        twins.compare()
    twins.compare_figures()
    values = twins.solver.figures().values
    assert values is not None
    assert (sum(values) < -1) == (rake > 0)


def test_iterations_with_locks_equal_the_slow_ones() -> None:
    """Hands before the flop, mixed and pure, and two decisions on every flop, one of each player.

    Locked play stays; no hand has a choice there, not even in the best response.
    """
    locks = (
        Lock("", hands={"AA,T9s": {"c": 0.75, "f": 0.25}, "72o": {"r2.5": 1}}),
        Lock("r2.5", ranges={"c": "77,AKo:0.5", "f": "AKo:0.5"}),
        Lock("c x | * | x", strategy={"b100%": 0.3, "x": 0.7}),
        Lock("c x | x b100%", strategy={"f": 1}),
    )
    twins = tiny_twins("dcfr", rake=0.05, lock=locks)
    for _ in range(5):
        twins.iterate()
        twins.compare()
    twins.compare_figures()
    solver, average = twins.solver, twins.solver.preflop.average()
    for node, hands in twins.naive.told.items():
        for hand, chances in hands.items():
            np.testing.assert_allclose(average[node][:, hand], chances, atol=1e-12)
            np.testing.assert_allclose(solver.preflop.current()[node][:, hand], chances, atol=1e-12)
    assert sum(map(len, twins.naive.told.values())) == 5
    (pot,) = [place for place, one in enumerate(solver.game.pots) if one.tree.locks]
    for node, told in solver.game.pots[pot].tree.locks.items():
        played = solver.engine.average(pot, 1, node)
        np.testing.assert_allclose(
            played, np.repeat(np.array(told)[:, None], 169, axis=1), atol=1e-6
        )


@pytest.mark.parametrize("choice", [pytest.param("shuffled", marks=pytest.mark.long), "reach"])
def test_batches_of_flops_equal_the_slow_ones(choice: Choice) -> None:
    """Two of three flops at a time, each batch for two iterations."""
    twins = tiny_twins(batches=VisitPlan(2, 2, choice, seed=6), flops=3)
    for _ in range(6):
        twins.iterate()
        twins.compare()
    visits = twins.solver.state()["leaves.visits"].tolist()
    assert visits == twins.naive.visits
    assert len(set(visits)) > 1 or choice == "shuffled"


def test_real_flops_equal_the_slow_ones() -> None:
    """All 169 hands on two real flops, with rake and a cap."""
    rules = WholeGame(
        PreflopRules.parse(4, [2], 1, rake=0.05, rake_cap=0.1, no_flop_no_drop=False),
        same_sizes(Street.FLOP, ["a"], ["a"]),
        named_flops(["AhKd7s", "8c8d3h:2"]),
        max_raises=1,
    )
    cards = [flop.cards for flop in rules.flops.flops]
    games = rules.build(rules.engine())
    dense = [
        NaiveStage(
            STREETS,
            hand_pairs(flop).astype(np.float64),
            flop_matchups(flop).margins.astype(np.float64) / 990,
        )
        for flop in cards
    ]
    twins = make_twins(rules, games, dense, "tuned", VisitPlan())
    for _ in range(3):
        twins.iterate()
        twins.compare()
    twins.compare_figures()
