"""Games with real boards by the CUDA kernels play as those by the kernels for processors."""

from typing import Any

import numpy as np
import pytest
from builders.host_device import HostDevice, compiler
from builders.small_games import small_config

from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.cfr import Multipliers, parse_schedule
from allstreets.subgames.boards_flops import BoardsFlops
from allstreets.subgames.card_model import CardModel
from allstreets.subgames.cuda_boards import CudaBoardsFlops
from allstreets.subgames.flop_games import FlopGames

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C++ compiler on this machine")

SCHEDULE = parse_schedule("ahead")
MODEL = CardModel("boards", groups=16, rows=32)
GAME = small_config(
    stack_depth=5,
    raise_cap=1,
    postflop_bet_sizes=[1.0],
    max_raises_per_street=0,
    flops=["KsKhKd", "7s7h7d"],
).game()
TREES = [(pot.tree, pot.payoffs) for pot in GAME.pots]
FLOPS = GAME.flops.flops
EVERY = np.arange(len(FLOPS))


def reach(seed: int = 1) -> Any:
    """[2, P, 169]: some hands never get there."""
    drawn = np.random.default_rng(seed).random((2, len(TREES), HAND_COUNT))
    return np.where(drawn > 0.3, drawn, 0.0)


def here(ranges: Any = None) -> BoardsFlops:
    return BoardsFlops(TREES, FLOPS, 1, MODEL, ranges)


def there(ranges: Any = None) -> CudaBoardsFlops:
    return CudaBoardsFlops(TREES, FLOPS, 1, MODEL, HostDevice(), ranges)


def every(count: int, first: int = 1) -> list[Multipliers]:
    return list(SCHEDULE.run(first, count))


def visit(games: FlopGames, ranges: Any, multipliers: list[Multipliers]) -> list[Any]:
    """Iterations by steps; the values of the last one."""
    found: list[Any] = []
    for now in multipliers:
        found = [
            games.step(player, ranges[player], ranges[player.opponent], EVERY, [now] * len(EVERY))
            for player in Player
        ]
    return found


def values(games: FlopGames, ranges: Any) -> list[Any]:
    found = []
    for player in Player:
        other = ranges[player.opponent]
        found += [games.best_response(player, other, EVERY), games.evaluate(player, other, EVERY)]
    return found


def assert_alike(mine: list[Any], other: list[Any], tolerance: float) -> None:
    for one, two in zip(mine, other, strict=True):
        np.testing.assert_allclose(one, two, atol=tolerance * np.abs(one).max())


def test_an_iteration_agrees() -> None:
    cpu, gpu, ranges = here(), there(), reach()
    assert_alike(visit(cpu, ranges, every(1)), visit(gpu, ranges, every(1)), 1e-5)
    assert_alike(values(cpu, ranges), values(gpu, ranges), 1e-3)
    for mine, other in zip(cpu.state().items(), gpu.state().items(), strict=True):
        assert mine[0] == other[0]
        if "average" in mine[0]:  # in 32767ths
            np.testing.assert_allclose(mine[1], other[1], atol=1)
        elif "regrets" in mine[0]:
            halves, others = (each.view(np.float16).astype(np.float32) for each in (mine[1], other[1]))
            np.testing.assert_allclose(halves, others, rtol=2e-3, atol=1e-6)
