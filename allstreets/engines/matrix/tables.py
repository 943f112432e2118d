"""What one call to the matrix kernels is given: all pots in a few arrays, and pieces of work."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Longs, Singles
from allstreets.betting import Player
from allstreets.engines.matrix.hands import HandSelection
from allstreets.engines.matrix.kernels.layout import (
    MOST_STAGES,
    StageHands,
    StagePlan,
    StageStore,
    filled,
)
from allstreets.engines.matrix.kernels.pots import PotTables

SPLIT_FLOPS = 2  # for each thread: the last ones are handed out pot by pot, so that nobody waits


class Pot(Protocol):
    """What tables are made of, stage by stage."""

    @property
    def plans(self) -> Sequence[tuple[StagePlan, ...]]:
        """The betting, by own player."""

    def hands(self, player: Player, selection: HandSelection) -> tuple[StageHands, ...]:
        """The hands of a pass."""

    def stores(self, own: Player) -> tuple[StageStore, ...]:
        """The stored arrays."""


class _Lists:
    """Lists of one type, one after the other."""

    def __init__(self, dtype: Any) -> None:
        self.parts: list[NDArray[Any]] = [np.zeros(0, dtype)]
        self.length = 0

    def place(self, array: NDArray[Any]) -> tuple[int, int]:
        """Where an array stands from now on."""
        start = self.length
        self.parts.append(array)
        self.length += len(array)
        return start, self.length

    def joined(self) -> NDArray[Any]:
        """All of them."""
        return np.concatenate(self.parts)


def pot_tables(games: Sequence[Pot], player: Player, selection: HandSelection) -> PotTables:
    """The pots as the kernels read them; good as long as the games store the same hands.

    The tables hold addresses: whoever has them must have the games, too.
    """
    longs, floats = _Lists(np.int64), _Lists(np.float32)

    def places(record: Iterable[Any]) -> list[tuple[int, int]]:
        found = []
        for field in record:
            if not isinstance(field, np.ndarray):
                found.append((int(field), 0))
            else:
                found.append((longs if field.dtype == np.int64 else floats).place(field))
        return found

    def table(records: list[list[list[tuple[int, int]]]], fields: int) -> Longs:
        return np.array(records, np.int64).reshape(len(games), MOST_STAGES, fields, 2)

    return PotTables(
        stages=np.array([len(game.plans[player]) for game in games], np.int64),
        plans=table(
            [[places(plan) for plan in filled(game.plans[player])] for game in games],
            len(StagePlan._fields),
        ),
        hands=table(
            [[places(each) for each in filled(game.hands(player, selection))] for game in games],
            len(StageHands._fields),
        ),
        stores=table(
            [
                [[_address(array) for array in store] for store in filled(game.stores(player))]
                for game in games
            ],
            4,
        ),
        longs=longs.joined(),
        floats=floats.joined(),
    )


def _address(array: Singles) -> tuple[int, int]:
    assert array.flags.c_contiguous
    assert array.dtype == np.float32
    return array.ctypes.data, array.shape[1]


@lru_cache(maxsize=32)
def cut_pieces(flops: int, pots: int, threads: int) -> Longs:
    """[…, 4]: (first flop, last, first pot, last) of each piece, the largest first.

    A flop's pots go together, so that its matrices are read once. Near the end every pot is a piece
    of its own; pots are numbered from the largest to the smallest.
    """
    apart = min(flops, SPLIT_FLOPS * threads) if threads > 1 else 0
    whole = np.arange(flops - apart)
    together = np.stack([whole, whole + 1, 0 * whole, 0 * whole + pots], axis=1)
    pot, flop = np.divmod(np.arange(pots * apart), max(apart, 1))
    flop += flops - apart
    alone = np.stack([flop, flop + 1, pot, pot + 1], axis=1)
    return np.concatenate([together, alone]).astype(np.int64)
