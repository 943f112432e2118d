"""External sampling: single walks, convergence, and bit-identical repetition."""

from typing import TYPE_CHECKING

import numpy as np
import pytest
from builders.toys import KUHN, LEDUC
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.games import NaiveExternalSampling, RandomGame, split_mix

from allstreets.base import InputError
from allstreets.cfr import (
    CfrSolver,
    FlatGame,
    Game,
    Kuhn,
    Leduc,
    MccfrSolver,
    Pruning,
    compile_game,
    sequence_form,
)
from allstreets.cfr.best_response import as_table
from allstreets.cfr.game import CHANCE, TERMINAL
from allstreets.cfr.kernels.external_sampling import random_number
from allstreets.cfr.mccfr import alias_table, sampling_tree

if TYPE_CHECKING:
    from allstreets.jobs.loop import TrainingSolver


def exploitability(solver: MccfrSolver) -> float:
    figure = solver.metrics().exploitability
    assert figure is not None
    return figure


def assert_same(one: MccfrSolver, other: MccfrSolver) -> None:
    """Bit for bit."""
    assert one.iterations == other.iterations
    for name, array in one.state().items():
        assert array.tobytes() == other.state()[name].tobytes(), name


def test_random_numbers_are_splitmix() -> None:
    twin = split_mix(42)
    state = 42
    for _ in range(5):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        assert random_number(np.uint64(state)) == next(twin)


@pytest.mark.parametrize(("game", "iterations"), [(Kuhn(), 300), (Leduc(), 100)])
def test_walks_agree_with_the_slow_twin(game: Game, iterations: int) -> None:
    solver = MccfrSolver(game, seed=5)
    twin = NaiveExternalSampling(game, split_mix(int(solver.state()["random"][0])))
    solver.train_batch(iterations)
    twin.run(iterations)
    flat = solver.form.game
    regrets = as_table(flat, solver.regrets)
    sums = as_table(flat, solver.state()["strategy_sums"])
    for key, row in twin.regrets.items():
        assert regrets[key] == pytest.approx(row, abs=1e-11)
        assert sums[key] == pytest.approx(twin.sums[key], abs=1e-11)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_kuhn(seed: int) -> None:
    solver = MccfrSolver(KUHN, seed=seed)
    solver.train_batch(200_000)
    assert exploitability(solver) < 0.003
    assert solver.game_value() == pytest.approx(-1 / 18, abs=1e-4)


def test_leduc_converges() -> None:
    solver = MccfrSolver(LEDUC, seed=1)
    solver.train_batch(20_000)
    early = exploitability(solver)
    solver.train_batch(480_000)
    assert exploitability(solver) < 0.06 < 0.5 * early


def test_what_is_added_is_the_counterfactual_regret() -> None:
    # Before anything is learned both players play uniformly. The mean of many first walks must be
    # the regrets that tabular CFR finds; were the opponent's reach multiplied in again, most would
    # be a fraction of them.
    exact = CfrSolver(KUHN, "vanilla")
    exact.train_batch(1)
    first_player = slice(0, KUHN.game.slot_start[KUHN.game.set_start[1]])
    total, trials = np.zeros(KUHN.game.slots), 20_000
    solver = MccfrSolver(KUHN, seed=3)
    fresh = solver.state()
    for _ in range(trials):
        fresh["random"] = solver.state()["random"]
        solver.restore(fresh)
        solver.train_batch(1)
        total += solver.regrets
    ours = total[first_player] / trials
    assert ours == pytest.approx(exact.regrets[first_player], abs=0.02)


def test_uneven_chance_is_sampled_as_it_is() -> None:
    game = RandomGame(1)
    form = sequence_form(compile_game(game))
    assert len(np.unique(form.game.probability)) > 5
    solver = MccfrSolver(form, seed=1)
    solver.train_batch(200_000)
    start = CfrSolver(form).metrics().exploitability
    assert start is not None
    assert exploitability(solver) < 0.02 * start


def test_same_seed_same_bits_and_other_seed_others() -> None:
    one, same, other = (MccfrSolver(LEDUC, seed=seed) for seed in (7, 7, 8))
    for solver in (one, same, other):
        solver.train_batch(500)
    assert_same(one, same)
    assert not np.array_equal(one.regrets, other.regrets)


@pytest.mark.parametrize("streams", [1, 2, 3])
@pytest.mark.parametrize("pruning", [None, Pruning(200, "-2*sqrt(t)", 20, 50.0)])
def test_threads_do_not_show(streams: int, pruning: Pruning | None) -> None:
    runs = [MccfrSolver(LEDUC, 1, pruning, streams, threads) for threads in (1, 2)]
    for solver in runs:
        solver.train_batch(2000)
    assert_same(*runs)


def test_streams_are_other_walks_and_converge_as_well() -> None:
    one, two = MccfrSolver(KUHN, seed=1), MccfrSolver(KUHN, seed=1, streams=2)
    for solver in (one, two):
        solver.train_batch(100_000)
    assert not np.array_equal(one.regrets, two.regrets)
    assert exploitability(two) < 0.01
    assert two.game_value() == pytest.approx(-1 / 18, abs=1e-3)


@pytest.mark.parametrize("streams", [1, 3])
@pytest.mark.parametrize("pruning", [None, Pruning(200, "-2*sqrt(t)", 20, 50.0)])
def test_cut_and_restored_runs_equal_uninterrupted_ones(
    streams: int, pruning: Pruning | None
) -> None:
    whole, cut = (MccfrSolver(LEDUC, 1, pruning, streams) for _ in range(2))
    whole.train_batch(1500)
    whole.train_batch(100)
    for iterations in (1, 7, 192, 611):  # also in the middle of a round
        cut.train_batch(iterations)
    resumed = MccfrSolver(LEDUC, 1, pruning, streams, threads=2)
    resumed.train_batch(30)  # what was there before must not matter
    resumed.restore({name: array.copy() for name, array in cut.state().items()})
    resumed.train_batch(1500 - 811)
    resumed.train_batch(100)
    assert_same(whole, resumed)
    assert whole.pruned_fraction == resumed.pruned_fraction


def test_an_interrupted_round_is_finished_first(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = MccfrSolver(KUHN, streams=3)
    stopped.train_batch(1000)
    real, calls = MccfrSolver._walk_stream, []

    def interrupted(self: MccfrSolver, stream: int, *rest: object, **named: object) -> None:
        calls.append(stream)
        if len(calls) == 8:
            raise KeyboardInterrupt
        real(self, stream, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(MccfrSolver, "_walk_stream", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stopped.train_batch(2000)
    assert 1000 < stopped.iterations < 3000
    uninterrupted = MccfrSolver(KUHN, streams=3)
    uninterrupted.train_batch(stopped.iterations)
    assert_same(stopped, uninterrupted)


def test_pruning_converges_and_leaves_something_out() -> None:
    plain = MccfrSolver(LEDUC, seed=1)
    pruned = MccfrSolver(LEDUC, seed=1, pruning=Pruning(10_000, "-10*sqrt(t)"))
    for solver in (plain, pruned):
        solver.train_batch(500_000)
    assert plain.pruned_fraction is None
    assert pruned.pruned_fraction is not None
    assert pruned.pruned_fraction > 0.05
    assert exploitability(pruned) < 1.5 * exploitability(plain)


def test_off_means_off_and_nothing_to_skip_means_the_same_bits() -> None:
    plain = MccfrSolver(LEDUC)
    off = MccfrSolver(LEDUC, pruning=Pruning(0, -1e-9))
    idle = MccfrSolver(LEDUC, pruning=Pruning(1, -1e300))
    always = MccfrSolver(LEDUC, pruning=Pruning(1, -1e-9, explore_interval=1))
    for solver in (plain, off, idle, always):
        solver.train_batch(400)
        assert solver.regrets.tobytes() == plain.regrets.tobytes()
        assert solver.average_probabilities.tobytes() == plain.average_probabilities.tobytes()
    assert off.identity == plain.identity
    assert idle.pruned_fraction == 0


@pytest.mark.parametrize("streams", [1, 2])
def test_skipped_regrets_are_not_written(streams: int) -> None:
    threshold = -100.0
    solver = MccfrSolver(LEDUC, pruning=Pruning(50, threshold, 10**6), streams=streams)
    solver.train_batch(20_000)
    seen = 0
    for _ in range(20):
        before = solver.regrets
        out = (before < threshold) & (solver._strategy == 0)
        solver.train_batch(64)  # a whole round where there are rounds
        # A set may lose its last positive regret on the way; then all its actions are played.
        matched = np.repeat(
            np.maximum.reduceat(solver.regrets, LEDUC.game.slot_start[:-1]) > 0,
            np.diff(LEDUC.game.slot_start),
        )
        assert np.array_equal(solver.regrets[out & matched], before[out & matched])
        assert not np.array_equal(solver.regrets, before)
        seen += int(np.count_nonzero(out & matched))
    assert seen > 1000


@pytest.mark.parametrize("streams", [1, 2])
def test_the_average_below_a_skipped_action_gets_its_share(streams: int) -> None:
    # The first player never bets, and betting is skipped in three iterations of four. What the
    # second plays against a bet must still be gathered once an iteration on average.
    solver = MccfrSolver(KUHN, pruning=Pruning(1, -1e5, explore_interval=4), streams=streams)
    keys = KUHN.game.keys
    state = solver.state()
    for card in "JQK":
        slot = KUHN.game.slot_start[keys.index(card)]
        state["regrets"][slot : slot + 2] = 1e6, -1e6
    state["iterations_before_round"][:] = 4000  # past the warm-up
    solver.restore(state)
    solver.train_batch(4000)
    sums = solver.state()["strategy_sums"]
    gathered = {}
    for card in "JQK":
        slot = KUHN.game.slot_start[keys.index(f"{card} b")]
        gathered[card] = sums[slot : slot + 2].sum()
    assert sum(gathered.values()) == pytest.approx(4000, abs=4 * 64)
    assert min(gathered.values()) > 1000


@pytest.mark.parametrize("streams", [1, 2])
def test_regrets_stay_above_the_floor(streams: int) -> None:
    solver = MccfrSolver(KUHN, pruning=Pruning(100, -50.0, 20, 80.0), streams=streams)
    solver.train_batch(20_000)
    assert -80 <= solver.regrets.min() < -50


def test_untrained_and_empty_solvers() -> None:
    solver = MccfrSolver(KUHN)
    assert solver.avg_positive_regret == 0
    assert exploitability(solver) == pytest.approx(11 / 24)
    solver.train_batch(1000)
    expected = np.maximum(solver.regrets, 0).sum() / 24 / 1000
    assert solver.avg_positive_regret == pytest.approx(expected)
    assert solver.metrics().regret_bound is None
    empty = MccfrSolver(RandomGame(3))
    empty.train_batch(10)
    assert empty.iterations == 10
    assert empty.strategies() == {}


def test_callback_stops() -> None:
    for streams in (1, 2):
        solver = MccfrSolver(KUHN, streams=streams)
        solver.train_batch(10**7, lambda done: done >= 100)
        assert 100 <= solver.iterations < 10**5


def test_is_a_training_solver() -> None:
    solver: TrainingSolver = MccfrSolver(LEDUC, seed=4, streams=2, threads=2)
    assert solver.unit == "chips"
    assert solver.memory_bytes > 8 * 3 * 2184
    assert solver.identity["seed"] == 4
    assert solver.identity == MccfrSolver(LEDUC, seed=4, streams=2).identity
    assert solver.identity != MccfrSolver(LEDUC, seed=5, streams=2).identity


def test_bad_values_are_refused_with_advice() -> None:
    with pytest.raises(InputError, match="the seed is -1"):
        MccfrSolver(KUHN, seed=-1)
    with pytest.raises(InputError, match="both must be at least 1"):
        MccfrSolver(KUHN, streams=0)
    with pytest.raises(InputError, match="both must be at least 1"):
        MccfrSolver(KUHN, threads=0)
    with pytest.raises(InputError, match="give prune_threshold"):
        MccfrSolver(KUHN, pruning=Pruning(5))
    with pytest.raises(InputError, match="from another game"):
        MccfrSolver(KUHN).restore(MccfrSolver(LEDUC).state())
    with pytest.raises(InputError, match="cannot run -5"):
        MccfrSolver(KUHN).train_batch(-5)


def check_tree(flat: FlatGame) -> None:
    tree = sampling_tree(flat)
    nodes = tree.nodes.reshape(-1, 4)
    seen = []

    def moves(number: int, chance: float) -> list[tuple[int, float]]:
        """The nodes after a node's moves; successive chance moves count as one."""
        first = flat.first_child[number]
        found = []
        for child in range(first, first + flat.child_count[number]):
            reached = chance * flat.probability[child]
            if flat.actor[number] == flat.actor[child] == CHANCE:
                found += moves(child, reached)
            else:
                found.append((child, reached))
        return found

    def compare(number: int, address: int) -> None:
        assert address % 4 == 0
        node = address // 4
        seen.append(node)
        actor, count, first, slot = (int(part) for part in nodes[node])
        assert actor == flat.actor[number]
        if actor == TERMINAL:
            assert tree.utility[address // 2 + 1] == flat.utility[number]
            return
        if actor != CHANCE:
            assert slot == flat.slot_start[flat.information_set[number]]
        expected = moves(number, 1.0)
        assert count == len(expected)
        if actor == CHANCE:
            children = slice(first // 4, first // 4 + count)
            drawn = tree.accept[children] / count
            np.add.at(
                drawn,
                tree.alias[children].astype(np.int64) // 4 - first // 4,
                (1 - tree.accept[children]) / count,
            )
            assert drawn == pytest.approx([chance for _, chance in expected], abs=1e-11)
        for index, (child, _) in enumerate(expected):
            compare(child, first + 4 * index)

    compare(0, 0)
    assert sorted(seen) == list(range(len(nodes)))


def test_the_tree_of_leduc() -> None:
    check_tree(compile_game(Leduc()))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_trees_of_random_games(seed: int) -> None:
    check_tree(compile_game(RandomGame(seed)))


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=50))
def test_alias_tables_give_back_the_probabilities(weights: list[float]) -> None:
    probabilities = np.array(weights) / sum(weights)
    accept, alias = alias_table(probabilities)
    assert np.all((accept >= 0) & (accept <= 1))
    drawn = accept / len(weights)
    np.add.at(drawn, alias, (1 - accept) / len(weights))
    assert drawn == pytest.approx(probabilities, abs=1e-11)
