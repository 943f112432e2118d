"""Games with real boards by CUDA kernels: the same play as on CPUs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from builders.host_device import HostDevice, tried_device
from builders.locked_trees import with_locks
from builders.small_games import small_config

from allstreets.betting import Player, Street
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
from allstreets.cfr import IterationWeights, parse_schedule
from allstreets.engines.boards.cards import FlopBoards, bucket_hands, flop_boards
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.card_model import CardModel
from allstreets.engines.cuda.boards import CudaBoardsEngine
from allstreets.engines.cuda.boards_layout import RIVER, BoardsMemory, FlopCounts
from allstreets.engines.cuda.boards_rivers import RiverPieces, Table
from allstreets.engines.cuda.streets import street_bettings
from allstreets.engines.protocol import Engine
from allstreets.games.estimates import hands_of_flops

SCHEDULE = parse_schedule("ahead")
MODEL = CardModel("boards", groups=16, rows=32)
GAME = small_config(
    stack_depth=5, raise_cap=1, max_raises_per_street=0, flops=["KsKhKd", "7s7h7d"]
).game()  # most runouts are alike
TREES = [(pot.tree, pot.payoffs) for pot in GAME.pots[:2]]
FLOPS = GAME.flops.flops
EVERY = np.arange(len(FLOPS))
ALL = np.ones((len(TREES), len(FLOPS)), np.bool_)


MADE: dict[Any, FlopBoards] = {}


@pytest.fixture(scope="module", autouse=True)
def cards_made_once() -> Iterator[None]:
    """Engines with the same boards and groups share them.

    They are the same on every device (`test_cuda_bucketing`), and here processors are fast.
    """

    def made(flop: Any, ranges: Any, settings: Any, _: Any) -> FlopBoards:
        key = flop, np.array(ranges).tobytes(), settings
        if key not in MADE:
            MADE[key] = flop_boards(flop, ranges, settings)
        return MADE[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("allstreets.engines.boards.engine.flop_boards", made)
        patch.setattr("allstreets.engines.cuda.boards.CudaBucketing", lambda _: bucket_hands)
        yield
    MADE.clear()
    ENGINES.clear()


def reach(seed: int = 1) -> Any:
    """[2, P, 169]: some hands never get there."""
    drawn = np.random.default_rng(seed).random((2, len(TREES), HAND_COUNT))
    return np.where(drawn > 0.3, drawn, 0.0)


def there() -> CudaBoardsEngine:
    return CudaBoardsEngine(TREES, FLOPS, 1, MODEL, tried_device())


ENGINES: dict[str, tuple[BoardsEngine, CudaBoardsEngine]] = {}


@pytest.fixture
def fresh() -> tuple[BoardsEngine, CudaBoardsEngine]:
    """The engines of processor and device, which tests share, at their beginning."""
    name = tried_device().name
    if name not in ENGINES:
        ENGINES[name] = BoardsEngine(TREES, FLOPS, 1, MODEL), there()
    for games in ENGINES[name]:
        state = games.state()
        games.restore({key: state[key] if "." not in key else 0 * state[key] for key in state})
    return ENGINES[name]


def every(count: int, first: int = 1) -> list[IterationWeights]:
    return list(SCHEDULE.run(first, count))


def visit(games: Engine, ranges: Any, multipliers: list[IterationWeights]) -> list[Any]:
    """Iterations by steps; the values of the last one."""
    found: list[Any] = []
    for now in multipliers:
        found = [
            games.step(player, ranges[player], ranges[player.opponent], EVERY, [now] * len(EVERY))
            for player in Player
        ]
    return found


def values(games: Engine, ranges: Any) -> list[Any]:
    found = []
    for player in Player:
        other = ranges[player.opponent]
        found += [games.best_response(player, other, EVERY), games.evaluate(player, other, EVERY)]
    return found


def assert_alike(mine: list[Any], other: list[Any], tolerance: float) -> None:
    for one, two in zip(mine, other, strict=True):
        np.testing.assert_allclose(one, two, atol=tolerance * np.abs(one).max())


def copied(games: BoardsEngine) -> dict[str, Any]:
    return {name: array.copy() for name, array in games.state().items()}


def test_an_iteration_agrees(fresh: tuple[BoardsEngine, CudaBoardsEngine]) -> None:
    cpu, gpu = fresh
    assert_alike(visit(cpu, reach(), every(1)), visit(gpu, reach(), every(1)), 1e-5)
    assert_alike(values(cpu, reach()), values(gpu, reach()), 1e-4)
    assert gpu.memory_bytes == cpu.memory_bytes
    found = gpu.state()
    for name, mine in cpu.state().items():
        if ".average" in name:  # in 32767ths
            np.testing.assert_allclose(mine, found[name], atol=1)
        elif ".regrets.flop" in name:  # the numbers of padding are irrelevant
            assert mine.shape == found[name].shape
        elif ".regrets" in name:
            halves, others = (each.view(np.float16).astype(float) for each in (mine, found[name]))
            np.testing.assert_allclose(halves, others, rtol=2e-3, atol=1e-5 * np.abs(halves).max())
        else:
            np.testing.assert_array_equal(mine, found[name])
    sums, those = cpu.regret_sums(EVERY), gpu.regret_sums(EVERY)
    np.testing.assert_allclose(sums.total, those.total, rtol=1e-4)


def test_equal_fractions_are_rounded_by_a_dither_for_each_group(
    fresh: tuple[BoardsEngine, CudaBoardsEngine],
) -> None:
    """Every hand starts with even chances, so that halves of 32767 are up to the dither alone."""
    for games in fresh:
        visit(games, reach(), every(1))
    here, found = (games.state() for games in fresh)
    for name in (name for name in here if ".average" in name):
        np.testing.assert_array_equal(found[name], here[name], err_msg=name)
        assert set(here[name].tolist()) == {16383, 16384}, name


@pytest.mark.thorough
def test_steps_are_iterations_whatever_the_chunks_and_pieces(
    fresh: tuple[BoardsEngine, CudaBoardsEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fresh[1]
    whole.iterate(reach(), ALL, every(3))
    monkeypatch.setattr("allstreets.engines.cuda.boards_passes.ROOM_BYTES", 1)
    monkeypatch.setattr(tried_device(), "shared_bytes", 12 * 1024)
    parts = there()
    assert len(parts._sets[0].chunks) == len(FLOPS)
    assert len(parts._sets[0].pieces[0].cuts) > len(whole._sets[0].pieces[0].cuts) == 2
    visit(parts, reach(), every(3))
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, parts.state()[name])


def test_a_run_of_a_processor_goes_on_there_and_back(
    fresh: tuple[BoardsEngine, CudaBoardsEngine],
) -> None:
    cpu, gpu = fresh
    visit(cpu, reach(), every(3))
    gpu.restore(copied(cpu))
    assert_alike(values(cpu, reach()), values(gpu, reach()), 1e-5)
    assert_alike(visit(cpu, reach(), every(1, 4)), visit(gpu, reach(), every(1, 4)), 1e-4)
    cpu.restore(copied(gpu))
    assert_alike(values(cpu, reach()), values(gpu, reach()), 1e-5)


@pytest.mark.long
def test_both_converge_alike(fresh: tuple[BoardsEngine, CudaBoardsEngine]) -> None:
    """Long: many iterations on one thread."""
    losses = []
    for games in fresh:
        games.iterate(reach(), ALL, every(6))
        best, own, *others = values(games, reach())
        gains = [best - own, others[0] - others[1]]
        weighed = [np.einsum("ph,pkh->pk", reach()[player], gains[player]) for player in Player]
        losses.append(weighed[0] + weighed[1])
    np.testing.assert_allclose(losses[0], losses[1], rtol=0.05)


def test_some_flops_and_some_pots(fresh: tuple[BoardsEngine, CudaBoardsEngine]) -> None:
    cpu, gpu = fresh
    visits = ALL.copy()
    visits[1, 0] = visits[0, 1] = False
    for games in fresh:
        games.iterate(reach(3), visits, every(2))
    some, now = np.array([1]), [SCHEDULE.at(5)]
    for player in Player:  # the pots of that flop have learned for unequal times
        mine, other = (
            games.step(player, reach()[player], reach()[player.opponent], some, now)
            for games in fresh
        )
        assert_alike([mine], [other], 1e-4)
    assert_alike(values(cpu, reach()), values(gpu, reach()), 1e-4)
    assert [game.steps for row in cpu.subgames for game in row] == [
        game.steps for row in gpu.subgames for game in row
    ]


def test_strategies_that_are_set_or_rounded_are_played(
    fresh: tuple[BoardsEngine, CudaBoardsEngine],
) -> None:
    cpu, gpu = fresh
    for games in fresh:
        visit(games, reach(), every(2))
        strategy = np.zeros_like(games.average(0, 1, 0))
        strategy[1] = 1.0
        games.set_average(0, 1, 0, strategy)
    before = values(gpu, reach())
    assert_alike(values(cpu, reach()), before, 1e-4)
    number = np.dtype(np.uint8)
    with cpu.quantised(range(2), number), gpu.quantised(range(2), number):
        assert_alike(values(cpu, reach()), values(gpu, reach()), 1e-4)
    for one, two in zip(before, values(gpu, reach()), strict=True):
        np.testing.assert_array_equal(one, two)


def test_locks_are_played() -> None:
    """On all streets, of some hands on the flop, after other buckets, and set flop by flop."""
    flops, some, ranges = FLOPS[:1], EVERY[:1], reach()
    trees = [(with_locks(tree, 4), payoffs) for tree, payoffs in TREES]
    tree = trees[0][0]
    (free, *_) = [node for node in tree.decisions(Street.FLOP)[1:] if node not in tree.locks]
    chances = tuple(np.eye(int(tree.child_count[free]))[-1].tolist())
    hands = {free: dict.fromkeys(range(0, HAND_COUNT, 3), chances)}
    trees[0] = replace(tree, hand_locks=hands), trees[0][1]
    assert {int(tree.street[node]) for node in tree.locks} == {1, 2, 3}
    cpu = BoardsEngine(trees, flops, 1, MODEL)
    gpu = CudaBoardsEngine(trees, flops, 1, MODEL, tried_device())
    (first, *_) = [node for node in tree.locks if tree.street[node] == Street.FLOP]
    given = (
        np.random.default_rng(2)
        .dirichlet(np.ones(int(tree.child_count[first])), cpu.average(0, 0, first).shape[1])
        .T
    )

    def agree(count: int, first_iteration: int) -> None:
        found: list[list[Any]] = [[], []]
        for place, games in enumerate((cpu, gpu)):
            for now in every(count, first_iteration):
                found[place] = [
                    games.step(player, ranges[player], ranges[player.opponent], some, [now])
                    for player in Player
                ]
            for player in Player:
                for run in (games.best_response, games.evaluate):
                    found[place].append(run(player, ranges[player.opponent], some))
        assert_alike(found[0], found[1], 2e-4)
        for game, twin in ((gpu.subgames[pot][0], cpu.subgames[pot][0]) for pot in range(2)):
            for node in game.tree.locks:
                level = game.levels.index(Street(int(game.tree.street[node])))
                played, expected = (
                    each.stored_at(each.averages, level, 0, node) for each in (game, twin)
                )
                np.testing.assert_allclose(played, expected, atol=1)  # in 32767ths
        combos = gpu.subgames[0][0].streets[0].combos(Player.OOP, 0)
        held = HAND_OF_COMBO[np.sort(combos)] % 3 == 0
        np.testing.assert_allclose(
            gpu.average(0, 0, free)[:, held], np.repeat(np.array(chances)[:, None], held.sum(), 1)
        )
        sums, those = cpu.regret_sums(some), gpu.regret_sums(some)
        np.testing.assert_allclose(sums.total, those.total, rtol=1e-3)
        np.testing.assert_array_equal(sums.entries, those.entries)

    agree(2, 1)
    for games in (cpu, gpu):
        games.set_average(0, 0, first, given)
        games.rebucket(reach(4))
        for row in games.subgames:
            row[0].steps = [64, 64]  # the next iteration leaves averages alone
    agree(1, 3)
    # Combos that suits make alike play alike.
    np.testing.assert_allclose(gpu.average(0, 0, first), cpu.average(0, 0, first), atol=1e-4)


def test_games_go_on_in_other_groups() -> None:
    flops, some = FLOPS[:1], EVERY[:1]
    gpu = CudaBoardsEngine(TREES, flops, 1, MODEL, tried_device())
    now, ranges = SCHEDULE.at(1), reach()
    for player in Player:
        gpu.step(player, ranges[player], ranges[player.opponent], some, [now])
    start, before = copied(gpu), gpu.evaluate(Player.OOP, ranges[1], some)
    assert gpu.rebucket(reach(4)) > 0
    assert len(gpu._sets) == len(TREES)
    cpu = BoardsEngine(TREES, flops, 1, MODEL, reach(4))
    cpu.restore(copied(gpu))
    mine, other = (games.step(Player.IP, ranges[1], ranges[0], some, [now]) for games in (cpu, gpu))
    assert_alike([mine], [other], 1e-4)
    gpu.restore(start)  # in the groups of the state
    assert len(gpu._sets) == 1
    np.testing.assert_array_equal(gpu.evaluate(Player.OOP, ranges[1], some), before)


@pytest.mark.thorough
def test_blocks_of_several_threads_find_the_same() -> None:
    flops, some, now = FLOPS[:1], EVERY[:1], [SCHEDULE.at(1)]
    found = []
    for device in (HostDevice(), HostDevice(team=2)):
        device.shared_bytes = 12 * 1024
        games = CudaBoardsEngine(TREES, flops, 1, MODEL, device)
        values = [
            games.step(player, reach()[player], reach()[player.opponent], some, now)
            for player in Player
        ]
        found.append(
            [*values, games.evaluate(Player.OOP, reach()[1], some), *copied(games).values()]
        )
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.thorough
def test_rake_and_columns_that_warps_share() -> None:
    model, flops, some = CardModel("boards", groups=112, rows=32), FLOPS[:1], EVERY[:1]
    assert Table(model.groups, tried_device().shared_bytes).parts == 2
    game = small_config(
        stack_depth=5, raise_cap=1, max_raises_per_street=0, flops=["KsKhKd"], rake=0.05
    ).game()
    trees = [(pot.tree, pot.payoffs) for pot in game.pots[:2]]
    gpu = CudaBoardsEngine(trees, flops, 1, model, tried_device())
    assert any((one.terms["rake_factor"] != 0).any() for one in gpu._sets[0].pieces)
    cpu = BoardsEngine(trees, flops, 1, model)
    for player in Player:
        mine, other = (
            games.step(player, reach()[player], reach()[player.opponent], some, [SCHEDULE.at(1)])
            for games in (cpu, gpu)
        )
        assert_alike([mine], [other], 1e-5)


class Counting(HostDevice):
    """A device that knows what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    def put(self, array: Any) -> Any:
        self.taken += array.nbytes
        return super().put(array)

    def zeros(self, size: int, dtype: Any = np.float32) -> Any:
        self.taken += size * np.dtype(dtype).itemsize
        return super().zeros(size, dtype)


@pytest.mark.parametrize(
    "model", [MODEL, pytest.param(CardModel("boards", groups=32, rows=0), marks=pytest.mark.long)]
)
def test_memory_is_known_before(model: CardModel) -> None:
    device = Counting()
    games = CudaBoardsEngine(TREES, FLOPS, 1, model, device)
    flops = [(like, FlopCounts.of(hands)) for like, hands in hands_of_flops(FLOPS)]
    memory = BoardsMemory(TREES, flops, model.groups, model.rows, sets=1)
    numbers = sum(like * memory.numbers(flop) for like, flop in flops)
    assert numbers == games.memory_bytes
    assert memory.whole == pytest.approx(device.taken, rel=0.03)


def test_regrets_are_added_up_there(fresh: tuple[BoardsEngine, CudaBoardsEngine]) -> None:
    cpu, gpu = fresh
    visit(cpu, reach(), every(2))
    gpu.restore(copied(cpu))
    for flops in (EVERY, EVERY[1:]):
        mine, other = (games.regret_sums(flops) for games in fresh)
        np.testing.assert_allclose(mine.total, other.total, rtol=1e-6)
        np.testing.assert_allclose(mine.largest, other.largest, rtol=1e-6)
        np.testing.assert_array_equal(mine.entries, other.entries)


@pytest.mark.parametrize("rake", [0.0, 0.05])
def test_pieces_are_the_whole_river(rake: float) -> None:
    game = small_config(postflop_bet_sizes=[0.5, 1.0], max_raises_per_street=1, rake=rake).game()
    trees = [(pot.tree, pot.payoffs) for pot in game.pots]
    for player in Player:
        river = street_bettings(trees, player, 16, run_out=True)[RIVER]
        whole = RiverPieces(river, len(trees), Table(16, 3 * 10**6)).arrays()
        cut = RiverPieces(river, len(trees), Table(16, 3 * 24 * 1024))
        arrays = cut.arrays()
        assert len(whole["river_pieces"]) < len(arrays["river_pieces"])
        assert cut.shared <= 24 * 1024
        for each in (whole, arrays):
            terms, pieces = each["products"], each["river_pieces"]
            for name in ("show", "fold", "rake"):
                mine, other = (np.sort(some[f"{name}_factor"]) for some in (terms, cut.terms))
                np.testing.assert_array_equal(mine[mine != 0], other[other != 0])
            assert (cut.terms["rake_factor"] != 0).any() == (rake > 0)
            for piece in pieces.tolist():
                rows, first, tiles, zero, zeros = (piece[at] for at in (2, 5, 6, 7, 8))
                assert tiles <= cut.table.most_tiles
                here = terms[first : first + 16 * tiles]
                written = [*here["value"][here["value"] >= 0], *each["zeros"][zero : zero + zeros]]
                assert sorted(written) == list(range(len(written)))  # every row, once
                assert max(here[name].max() for name in ("show", "fold", "rake")) < rows
        for own, pot, slot, actions, stage, piece, *_ in arrays["runs"].tolist():
            first, count = arrays["river_pieces"][piece, 3:5].tolist()
            nodes = arrays["nodes"][first : first + count]
            slots = nodes["slot"]
            held = (nodes["is_player"] == own) & (slots >= slot) & (slots < slot + actions)
            held &= river.forest.pot[first : first + count] == pot
            np.testing.assert_array_equal(nodes["number"][held] - stage, slots[held] - slot)
            assert nodes["actions"][held].sum() == actions
