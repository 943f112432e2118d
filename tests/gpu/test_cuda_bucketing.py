"""Buckets by CUDA kernels: bit-identical to those of CPUs."""

from typing import Any

import numpy as np
import pytest
from builders.host_device import HostDevice, tried_device

from allstreets.cards import HAND_COUNT, parse_cards
from allstreets.engines.boards.cards import (
    BoardBuckets,
    BucketSettings,
    RiverStreet,
    bucket_hands,
    river_street,
)
from allstreets.engines.cuda.bucketing import CudaBucketing
from allstreets.engines.exact.cards import StreetBoards, every_combo, first_street

FEW = "KsKhKdKc"  # twelve rivers, hands of many combos
MANY = "Ks8s5d2c"  # every combo a hand


def streets(text: str) -> tuple[StreetBoards, RiverStreet]:
    """One turn board, and its rivers."""
    turn = first_street(*every_combo(tuple(parse_cards(text))))
    return turn, river_street(turn)


def ranges(count: int = 2) -> list[Any]:
    """[2, 169] each: some hands are hardly held."""
    drawn = np.random.default_rng(5).random((count, 2, HAND_COUNT))
    return list(np.where(drawn > 0.3, drawn, 0.0))


def arrays(found: BoardBuckets) -> dict[str, Any]:
    both = {
        f"{name} {player}": array
        for player in range(2)
        for name, array in {
            "groups": found.river[player],
            "first": found.combos[player].first,
            "parent": found.combos[player].parent,
            "start": found.combos[player].start,
            **({} if found.turn is None else vars(found.turn[player])),
        }.items()
    }
    return {"chance": found.chance, "margin": found.margin, "pairs": found.pairs, **both}


def assert_same(mine: tuple[BoardBuckets, ...], found: tuple[BoardBuckets, ...]) -> None:
    for one, two in zip(mine, found, strict=True):
        for name, array in arrays(one).items():
            np.testing.assert_array_equal(array, arrays(two)[name], name, strict=True)


@pytest.mark.parametrize(
    ("board", "settings"),
    [
        (FEW, BucketSettings(16, 32)),
        (FEW, BucketSettings(128, 0, seed=3)),  # more groups than some boards have different hands
        (MANY, BucketSettings(48, 176)),
    ],
)
def test_they_are_those_of_processors(board: str, settings: BucketSettings) -> None:
    (turn, river), given = streets(board), ranges(2 if board == FEW else 1)
    mine = bucket_hands(turn, river, given, settings)
    assert len(np.unique(mine[0].river[0])) == settings.river
    assert_same(mine, CudaBucketing(tried_device())(turn, river, given, settings))


def test_small_shared_memory_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    (turn, river), settings = streets(FEW), BucketSettings(32, 64)
    monkeypatch.setattr(tried_device(), "shared_bytes", 32 * 1024)
    monkeypatch.setattr("allstreets.engines.cuda.bucketing.APART_BLOCKS", 7)
    bucketing = CudaBucketing(tried_device())
    assert_same(
        bucket_hands(turn, river, ranges(), settings), bucketing(turn, river, ranges(), settings)
    )
    assert list(bucketing._kernels) == [True]


@pytest.mark.thorough
def test_blocks_of_several_threads_find_the_same() -> None:
    (turn, river), settings = streets(FEW), BucketSettings(32, 64)
    found = CudaBucketing(HostDevice(team=3))(turn, river, ranges(1), settings)
    assert_same(bucket_hands(turn, river, ranges(1), settings), found)
