"""Matrix games by CUDA kernels: the same play as on CPUs."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from builders.host_device import HostDevice, tried_device
from builders.locked_trees import with_locks

from allstreets.base import InputError
from allstreets.betting import (
    Player,
    PostflopRules,
    Street,
    build_postflop_tree,
    payoffs,
    same_sizes,
)
from allstreets.cards import canonical_flop, parse_board
from allstreets.cfr import IterationWeights, parse_schedule
from allstreets.engines.card_model import CLASSES, CardModel, DealtPairs
from allstreets.engines.cuda.matrix import CudaMatrixEngine
from allstreets.engines.cuda.matrix_classes import TreeCutter
from allstreets.engines.cuda.residence import Residence
from allstreets.engines.matrix.buckets import BucketCounts, bucket_flops
from allstreets.engines.matrix.cards import class_stages
from allstreets.engines.matrix.engine import MatrixCards, MatrixEngine
from allstreets.engines.protocol import Engine
from allstreets.engines.quantised import ONE_BYTE

BOARDS = [parse_board(text) for text in ("Ks8h5d", "9s7h6d", "QsJs2s")]
FLOPS = np.arange(len(BOARDS))
SCHEDULE = parse_schedule("ahead")
POTS = ((200, 900, 1.0), (1000, 700, 0.5))


def rules(pot: int, stack: int, size: float, rake: float = 0.0) -> PostflopRules:
    sizes = same_sizes(Street.FLOP, [size], [size])
    return PostflopRules(Street.FLOP, pot, stack, sizes, max_raises=1, rake=rake)


def trees(rake: float = 0.0, locked: int = 0) -> list[tuple[Any, Any]]:
    """The pots, with a lock at every so many decisions."""
    every = [rules(*pot, rake) for pot in POTS]
    found = [(build_postflop_tree(one), one) for one in every]
    return [
        (with_locks(tree, locked) if locked else tree, payoffs(tree, one)) for tree, one in found
    ]


BUCKETS = CardModel("buckets", buckets=(5, 18, 70))  # more than a tile of a product


@cache
def cards(model: CardModel) -> MatrixCards:
    if model.kind == "classes":
        return MatrixCards([class_stages(board) for board in BOARDS], DealtPairs.of(BOARDS))
    flops = [canonical_flop(board).flop for board in BOARDS]
    stages, roots, buckets = bucket_flops(flops, BucketCounts(*model.buckets), 1, 1)
    return MatrixCards(stages, DealtPairs.of(BOARDS, removal=False), roots, buckets)


MODEL: list[CardModel] = []


@pytest.fixture(params=[CLASSES, BUCKETS], ids=lambda model: model.kind, autouse=True)
def model(request: pytest.FixtureRequest) -> Iterator[CardModel]:
    """Let games be of these cards."""
    MODEL.append(request.param)
    yield request.param
    MODEL.pop()


def here(rake: float = 0.0, locked: int = 0) -> MatrixEngine:
    return MatrixEngine(trees(rake, locked), cards(MODEL[-1]), MODEL[-1])


def there(
    rake: float = 0.0,
    shared: int = 227 * 1024,
    where: Residence | None = None,
    locked: int = 0,
) -> CudaMatrixEngine:
    device: Any = tried_device()
    own, device.shared_bytes = device.shared_bytes, shared
    given, model = trees(rake, locked), MODEL[-1]
    try:
        return CudaMatrixEngine(given, cards(model), device, model, where=where)
    finally:
        device.shared_bytes = own


def reach(seed: int = 1) -> Any:
    """[2, P, 169]: some hands never get there."""
    drawn = np.random.default_rng(seed).random((2, len(POTS), 169))
    return np.where(drawn > 0.3, drawn, 0.0)


def values(games: Engine, ranges: Any) -> list[Any]:
    found = []
    for player in Player:
        other = ranges[player.opponent]
        found += [games.best_response(player, other, FLOPS), games.evaluate(player, other, FLOPS)]
    return found


def assert_alike(mine: list[Any], other: list[Any], tolerance: float) -> None:
    for one, two in zip(mine, other, strict=True):
        np.testing.assert_allclose(one, two, atol=tolerance * np.abs(one).max())


def every(count: int, first: int = 1) -> list[IterationWeights]:
    return list(SCHEDULE.run(first, count))


def visit(games: Engine, ranges: Any, multipliers: list[IterationWeights]) -> list[Any]:
    """Iterations by steps; the values of the last one."""
    found: list[Any] = []
    for now in multipliers:
        found = [
            games.step(player, ranges[player], ranges[player.opponent], FLOPS, [now] * len(FLOPS))
            for player in Player
        ]
    return found


def test_pieces_are_the_whole_tree() -> None:
    for rake in (0.0, 0.05):
        for player in Player:
            for tree, amounts in trees(rake):
                whole = TreeCutter(tree, amounts, player).cut(10**6, 10**6)
                cut = TreeCutter(tree, amounts, player).cut(24, 5)
                assert len(whole.pieces) == 1
                assert len(cut.pieces) > 3
                assert not cut.top.folds + cut.top.shows
                assert max(one.reach_rows + one.value_rows for one in cut.pieces) <= 24
                assert max(len(one.shows) for one in cut.pieces) <= 5
                for kind in ("folds", "shows"):
                    ends = [getattr(whole.pieces[0], kind)]
                    parts = [getattr(one, kind) for one in cut.pieces]
                    amounts_of = [
                        sorted(e[2] for one in many for e in one) for many in (ends, parts)
                    ]
                    assert amounts_of[0] == amounts_of[1]
                    for one in parts:  # no two write the same row at once
                        assert len({end[1] for end in one}) == len(one)


@pytest.mark.parametrize("rake", [0.0, 0.05])
@pytest.mark.parametrize("shared", [227 * 1024, 76 * 1024])
def test_an_iteration_agrees(rake: float, shared: int) -> None:
    cpu, gpu, ranges = here(rake), there(rake, shared), reach()
    mine, other = visit(cpu, ranges, every(1)), visit(gpu, ranges, every(1))
    assert_alike(mine, other, 1e-5)
    assert_alike(values(cpu, ranges), values(gpu, ranges), 1e-5)
    sums, those = cpu.regret_sums(FLOPS), gpu.regret_sums(FLOPS)
    np.testing.assert_allclose(sums.total, those.total, rtol=1e-4)
    np.testing.assert_allclose(sums.largest, those.largest, rtol=1e-4)
    np.testing.assert_array_equal(sums.entries, those.entries)


def test_both_converge_alike() -> None:
    ranges, losses = reach(), []
    for games in (here(), there()):
        games.iterate(ranges, np.ones((games.pots, games.flops), bool), every(30))
        best, own, *others = values(games, ranges)
        gains = [best - own, others[0] - others[1]]
        weighed = [np.einsum("ph,pkh->pk", ranges[player], gains[player]) for player in Player]
        losses.append(weighed[0] + weighed[1])
    pairs = np.stack([cards(MODEL[-1]).dealt.reached(*ranges[:, pot]) for pot in range(len(POTS))])
    pots = np.array([pot for pot, *_ in POTS])[:, None]
    assert 0 < (losses[0] / pairs / pots).max() < 0.1
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.05)


def test_steps_are_iterations_and_chunks_of_flops_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ranges, whole = reach(), there()
    whole.iterate(ranges, np.ones((whole.pots, whole.flops), bool), every(3))
    monkeypatch.setattr("allstreets.engines.cuda.matrix.ROOM_BYTES", 1)
    halves = there()
    visit(halves, ranges, every(3))
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, halves.state()[name])


@pytest.mark.parametrize("resident", [0, 1])
def test_flops_that_come_and_go_are_the_same_bit_for_bit(
    resident: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allstreets.engines.cuda.residence.SLOTS", 2)  # a slot is used again
    ranges, games = reach(), [there(), there(where=Residence(len(BOARDS), resident, 1))]
    found = [[*visit(one, ranges, every(3)), *values(one, ranges)] for one in games]
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
    for one in games:
        one.iterate(ranges, np.array([[1, 1, 0], [0, 1, 1]], bool), every(2, 4))
        one.set_average(0, 2, 0, one.average(0, 0, 0))
    one, two = (each.regret_sums(FLOPS).total for each in games)
    np.testing.assert_array_equal(one, two)
    with games[0].quantised(range(3), ONE_BYTE), games[1].quantised(range(3), ONE_BYTE):
        for one, two in zip(*(values(one, ranges) for one in games), strict=True):
            np.testing.assert_array_equal(one, two)
    again = there(where=games[1].where)
    again.restore({name: array.copy() for name, array in games[0].state().items()})
    visit(again, ranges, every(1, 6))
    for one in games:
        visit(one, ranges, every(1, 6))
        for name, array in one.state().items():
            np.testing.assert_array_equal(array, again.state()[name])


def test_values_are_added_up_there() -> None:
    weights, ranges = np.array([3.0, 0.5, 1.0]), reach()
    for where in (None, Residence(3, 2, 1)):
        games = there(where=where)
        for some in (np.array([1]), np.array([2, 0]), FLOPS):
            now = [SCHEDULE.at(1)] * len(some)
            found = games.step(Player.IP, ranges[1], ranges[0], some, now)
            assert not isinstance(found, np.ndarray)
            expected = np.einsum("f,pfh->ph", weights[some], np.asarray(found, np.float64))
            np.testing.assert_allclose(found.weighted(weights[some]), expected, rtol=1e-12)
            later = games.step(Player.IP, ranges[1], ranges[0], some, now)
            assert not np.array_equal(found, later)  # and are those of their own step


def test_pair_values_are_those_of_processors() -> None:
    cpu, gpu, ranges = here(), there(), reach()
    visit(gpu, ranges, every(1))
    for first in (2, 3):  # what is brought here is not what was there before
        visit(gpu, ranges, every(1, first))
        visit(cpu, ranges, every(first, 1) if first == 2 else every(1, first))
        mine, other = cpu.pair_values(0, FLOPS[:1]), gpu.pair_values(0, FLOPS[:1])
        np.testing.assert_allclose(mine, other, atol=1e-3 * np.abs(mine).max())


@pytest.mark.thorough
def test_threads_of_a_block_meet_where_they_must() -> None:
    if not isinstance(tried_device(), HostDevice):
        pytest.skip("a GPU has blocks of its own")
    ranges, now, cpu = reach(), every(1), here()
    many = CudaMatrixEngine(trees(), cards(MODEL[-1]), HostDevice(team=2), MODEL[-1])
    for player in Player:
        asked = player, ranges[player], ranges[player.opponent], FLOPS[:1], now
        assert_alike([cpu.step(*asked)], [many.step(*asked)], 1e-5)


def test_a_run_of_a_processor_goes_on_there_and_back() -> None:
    ranges, cpu, gpu = reach(), here(), there()
    visit(cpu, ranges, every(4))
    gpu.restore({name: array.copy() for name, array in cpu.state().items()})
    assert_alike(values(cpu, ranges), values(gpu, ranges), 1e-5)
    assert_alike(visit(cpu, ranges, every(1, 5)), visit(gpu, ranges, every(1, 5)), 1e-4)
    cpu.restore({name: array.copy() for name, array in gpu.state().items()})
    assert_alike(values(cpu, ranges), values(gpu, ranges), 1e-5)


def test_some_flops_some_pots_each_with_its_own_discounts() -> None:
    cpu, gpu, ranges = here(), there(), reach()
    ranges[:, 1] = 0.0  # no hand gets to the second pot
    some, now = np.array([2, 0]), [SCHEDULE.at(2), SCHEDULE.at(5)]
    visit(cpu, reach(2), every(2))
    gpu.restore({name: array.copy() for name, array in cpu.state().items()})
    for player in Player:
        mine, other = (
            games.step(player, ranges[player], ranges[player.opponent], some, now)
            for games in (cpu, gpu)
        )
        assert_alike([mine], [other], 1e-4)
        assert not np.asarray(other)[1].any()
    visits = np.array([[1, 0, 0], [0, 0, 1]], bool)
    for games in (cpu, gpu):
        games.iterate(reach(3), visits, every(2, 6))
    assert_alike(values(cpu, reach(2)), values(gpu, reach(2)), 1e-4)


def test_strategies_that_are_set_or_rounded_are_played() -> None:
    cpu, gpu, ranges = here(), there(), reach()
    strategy = np.zeros((2, here().cards.hands[0]))
    strategy[1] = 1.0
    for games in (cpu, gpu):
        visit(games, ranges, every(2))
        games.set_average(0, 1, 0, strategy)
    assert_alike(values(cpu, ranges), values(gpu, ranges), 1e-5)
    before = values(gpu, ranges)
    with (
        cpu.quantised(range(1, 3), np.dtype(np.uint8)),
        gpu.quantised(range(1, 3), np.dtype(np.uint8)),
    ):
        during = values(gpu, ranges)
        assert_alike(values(cpu, ranges), during, 1e-3)
        assert any(np.abs(one - two).max() > 0 for one, two in zip(before, during, strict=True))
    for one, two in zip(before, values(gpu, ranges), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(cpu.average(1, 2, 0), gpu.average(1, 2, 0), atol=1e-5)


@pytest.mark.parametrize("resident", [3, 1])
def test_locked_decisions_play_what_they_are_told(resident: int) -> None:
    """Also where flops come and go; strategies that differ by flop are set."""
    ranges = reach()
    cpu = here(locked=3)
    gpu = there(where=Residence(len(BOARDS), resident, 1), locked=3)
    tree = cpu.games[0].tree
    (first, *_) = tree.locks
    given = (
        np.random.default_rng(1)
        .dirichlet(np.ones(int(tree.child_count[first])), cpu.average(0, 1, first).shape[1])
        .T
    )
    for games in (cpu, gpu):
        games.set_average(0, 1, first, given)
    mine, other = visit(cpu, ranges, every(2)), visit(gpu, ranges, every(2))
    assert_alike(mine, other, 1e-5)
    assert_alike(values(cpu, ranges), values(gpu, ranges), 1e-5)
    checks: list[tuple[int, int, int, Any]] = [
        *((0, 0, node, chances) for node, chances in tree.locks.items()),
        (0, 1, first, given),
    ]
    for pot, flop, node, played in checks:
        average = gpu.average(pot, flop, node)
        expected = np.broadcast_to(np.reshape(played, (len(average), -1)), average.shape)
        np.testing.assert_allclose(average, expected, atol=1e-5)
    sums, those = cpu.regret_sums(FLOPS), gpu.regret_sums(FLOPS)
    np.testing.assert_allclose(sums.total, those.total, rtol=1e-4)
    np.testing.assert_allclose(sums.largest, those.largest, rtol=1e-4)
    np.testing.assert_array_equal(sums.entries, those.entries)
    assert (those.entries < there().regret_sums(FLOPS).entries).all()
    everything = there(locked=1)
    visit(everything, ranges, every(1))
    assert not everything.regret_sums(FLOPS).total.any()
    assert not everything.regret_sums(FLOPS).entries.any()


@pytest.mark.parametrize("resident", [3, 1])
def test_only_some_hands_are_stored(resident: int) -> None:
    """Hands leave and come back, also where flops come and go; the others play evenly."""
    where = Residence(len(BOARDS), resident, 1)
    cpu, gpu, ranges = here(), there(where=where), reach()
    if MODEL[-1].kind != "classes":
        assert not gpu.can_drop_hands
        return
    assert gpu.can_drop_hands
    assert not there(locked=3).can_drop_hands
    visit(cpu, ranges, every(2))
    gpu.restore({name: array.copy() for name, array in cpu.state().items()})
    for round_, share in enumerate((0.4, 0.7, 0.0)):
        kept = np.random.default_rng(round_).random((2, len(POTS), 169)) > share
        kept[Player.IP, 1] = True  # all of them
        kept[Player.OOP, 1, :150] &= bool(round_)
        for games in (cpu, gpu):
            games.keep_hands(kept)
        assert gpu.memory_bytes == cpu.memory_bytes
        assert gpu.saved_bytes == cpu.saved_bytes
        assert bool(gpu.saved_bytes) == bool(share)
        reached = np.where(kept, ranges, 0.0)
        mine, other = (visit(games, reached, every(1, 3 + round_)) for games in (cpu, gpu))
        assert_alike(mine, other, 1e-5)
        assert not np.asarray(other[Player.OOP])[~np.repeat(kept[0][:, None], 3, 1)].any()
        assert_alike(values(cpu, reached), values(gpu, reached), 1e-5)
        for game, twin in zip(gpu.games, cpu.games, strict=True):
            for node in game.tree.decisions()[::7]:
                for kind in ("regrets", "averages"):
                    found, expected = (
                        each.numbers_at(getattr(each, kind), 2, node) for each in (game, twin)
                    )
                    most = np.abs(getattr(twin, kind)[0][game.tree.player_at(node)]).max()
                    np.testing.assert_allclose(found, expected, atol=1e-5 * most)
        mine, other = ([games.regret_sums(FLOPS).total] for games in (cpu, gpu))
        assert_alike(mine, other, 1e-5)
        np.testing.assert_array_equal(
            cpu.regret_sums(FLOPS).entries, gpu.regret_sums(FLOPS).entries
        )
        gpu.iterate(reached, np.ones((2, 3), bool), every(2, 5))
        cpu.iterate(reached, np.ones((2, 3), bool), every(2, 5))
        assert_alike(values(cpu, reached), values(gpu, reached), 1e-3)
        gpu.restore({name: array.copy() for name, array in cpu.state().items()})
        if share:
            with pytest.raises(ValueError, match="not stored reaches"):
                gpu.evaluate(Player.OOP, np.ones((len(POTS), 169)), FLOPS)


def test_what_a_gpu_cannot_do_is_said() -> None:
    games, ranges = there(), reach()
    pruned = SCHEDULE.at(1)._replace(threshold=-1.0)
    with pytest.raises(InputError, match="every action"):
        games.step(Player.OOP, ranges[0], ranges[1], FLOPS, [pruned] * len(FLOPS))
    found = cards(CLASSES)
    roots = np.zeros((len(BOARDS), 169, 169))
    with pytest.raises(InputError, match="in product form"):
        CudaMatrixEngine(trees(), MatrixCards(found.stages, found.dealt, roots), tried_device())
