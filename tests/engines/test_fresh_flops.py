"""Flops that forget: within a batch like all flops together, afresh in the next batch."""

import numpy as np
import pytest
from builders.engine_abilities import pair_values
from builders.small_games import small_config

from allstreets.base import InputError
from allstreets.betting import IP, OOP
from allstreets.cards import HAND_COUNT
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.per_batch import PerBatchEngine
from allstreets.engines.protocol import Engine, Values
from allstreets.games.whole_game import WholeGame
from allstreets.jobs.loop import check_rules
from allstreets.jobs.stopping import ExploitabilityThreshold, RegretThreshold
from allstreets.solvers.leaves import VisitPlan
from allstreets.solvers.whole_game import WholeGameSolver

TUNED = parse_schedule("tuned")


@pytest.fixture(scope="module")
def game() -> WholeGame:
    return small_config(flops="spread_4").game()


def fresh(game: WholeGame) -> PerBatchEngine:
    games = game.build(game.engine(memory="per_batch"))
    assert isinstance(games, PerBatchEngine)
    return games


def steps(games: Engine, flops: list[int], count: int, first: int = 1) -> list[Values]:
    """Iterations with some reach on some flops; the values of all half-iterations."""
    generator = np.random.default_rng(first)
    found = []
    for iteration in range(first, first + count):
        reach = generator.random((2, games.pots, HAND_COUNT))
        rows = [TUNED.at(iteration)] * len(flops)
        for player in (OOP, IP):
            asked = player, reach[player], reach[1 - player], np.array(flops), rows
            found.append(np.asarray(games.step(*asked)))
    return found


def test_a_batch_is_played_as_if_all_were_kept(game: WholeGame) -> None:
    kept, forgetful = game.build(game.engine()), fresh(game)
    for ours, theirs in zip(steps(forgetful, [1, 3], 4), steps(kept, [1, 3], 4), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    other = np.random.default_rng(1).random((kept.pots, HAND_COUNT))
    batch = np.array([1, 3])
    for ours, theirs in (
        (forgetful.best_response(OOP, other, batch), kept.best_response(OOP, other, batch)),
        (forgetful.evaluate(OOP, other, batch), kept.evaluate(OOP, other, batch)),
        (pair_values(forgetful, 0, batch), pair_values(kept, 0, batch)),
    ):
        np.testing.assert_array_equal(ours, theirs)
    for mine, whole in zip(forgetful.regret_sums(batch), kept.regret_sums(batch), strict=True):
        np.testing.assert_array_equal(mine, whole)
    for pot in range(kept.pots):
        np.testing.assert_array_equal(forgetful.average(pot, 3, 0), kept.average(pot, 3, 0))
    assert forgetful.memory_bytes == kept.memory_bytes // 2
    assert (forgetful.flops, forgetful.pots) == (4, kept.pots)


def test_the_next_batch_starts_from_nothing(game: WholeGame) -> None:
    forgetful, second, again = fresh(game), fresh(game), fresh(game)
    assert not forgetful.persists(np.array([0, 2]))
    assert forgetful.memory_bytes == 0
    first = steps(forgetful, [0, 2], 3)
    assert forgetful.persists(np.array([0, 2]))
    assert not forgetful.persists(np.array([1, 2]))
    assert not forgetful.persists(np.array([0]))
    found = steps(forgetful, [1, 2], 2)
    for ours, theirs in zip(found, steps(second, [1, 2], 2), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # Back to the first: what it had learned is gone.
    for ours, theirs in zip(steps(forgetful, [0, 2], 3), first, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not np.array_equal(steps(again, [0, 2], 3)[-1], steps(again, [0, 2], 3)[-1])


def test_a_state_is_restored_in_the_middle_of_a_batch(game: WholeGame) -> None:
    one, other = fresh(game), fresh(game)
    steps(other, [0, 1], 2)
    other.restore(one.state())  # of games that have not begun
    steps(one, [1, 3], 2)
    other.restore({name: array.copy() for name, array in one.state().items()})
    assert other.persists(np.array([1, 3]))
    for ours, theirs in zip(steps(one, [1, 3], 2, 3), steps(other, [1, 3], 2, 3), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_solver_knows_no_exploitability_but_learns(game: WholeGame) -> None:
    """The betting before the flop comes near to that of a solver that keeps everything."""
    batches = VisitPlan(2, 10)
    kept = WholeGameSolver(game, game.build(game.engine()), TUNED)
    forgetful = WholeGameSolver(game, fresh(game), TUNED, batches)
    kept.train_batch(100)
    forgetful.train_batch(200)
    assert forgetful.exploitability() is None
    assert not forgetful.can_evaluate
    figures = forgetful.figures()
    assert figures.exploitability is None
    assert figures.values is None
    assert figures.flop_exploitability is None
    assert figures.flop_shares.sum() == pytest.approx(1)
    # Regrets restart with every batch: they are small however bad the play.
    metrics = forgetful.metrics()
    assert (
        metrics.avg_positive_regret is metrics.max_regret is forgetful.avg_positive_regret is None
    )
    with pytest.raises(InputError, match="regret_threshold: this solver does not know"):
        check_rules([RegretThreshold(1.0)], forgetful)
    with pytest.raises(InputError, match="never hold; give iterations or a time limit instead"):
        check_rules([ExploitabilityThreshold(1.0)], forgetful)
    assert "values only" in forgetful.identity["cards"]
    # Judged on the flops of the one that keeps them, its preflop strategy is worth something.
    mixed = WholeGameSolver(game, kept.engine, TUNED)
    uniform = mixed.figures().preflop_exploitability
    mixed.preflop.restore(forgetful.preflop.state())
    learned = mixed.figures().preflop_exploitability
    assert uniform is not None
    assert learned is not None
    assert learned < 0.2 * uniform


def test_an_interrupted_solver_goes_on_bit_for_bit(game: WholeGame) -> None:
    batches = VisitPlan(3, 2)
    whole, begun, resumed = (WholeGameSolver(game, fresh(game), TUNED, batches) for _ in range(3))
    whole.train_batch(11)
    begun.train_batch(5)  # in the middle of the second batch
    resumed.restore({name: array.copy() for name, array in begun.state().items()})
    resumed.train_batch(6)
    ours, theirs = resumed.state(), whole.state()
    assert ours.keys() == theirs.keys()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)
