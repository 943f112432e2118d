"""The size of a game with real boards, where its file leaves it open: what fits this machine.

    quality   at most                      iterations
    quick     15 flops, 32 river buckets     60
    good      49 flops, 48 river buckets    150
    best      352 flops, 64 river buckets   300

It is the largest size of the ladder that the quality allows and that fits; flops or buckets that
the file names stay. All memory of the machine counts, not only what happens to be free: the same
file is the same game tomorrow, when its run is resumed.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, get_args

from allstreets.base import InputError, machine_bytes
from allstreets.cards import parse_flop_set
from allstreets.engines import CPU, CardModel, open_device
from allstreets.games import WholeGame, estimate_whole_game, game_device_bytes

Quality = Literal["quick", "good", "best"]
QUALITIES: tuple[Quality, ...] = get_args(Quality)
DEFAULT: Quality = "good"

LADDER = (
    (15, 16),
    (15, 32),
    (25, 32),
    (49, 32),
    (49, 48),
    (95, 48),
    (184, 48),
    (184, 64),
    (352, 64),
)
"""Flops and river buckets, each size worth more than the one before it and larger."""
LARGEST: dict[Quality, tuple[int, int]] = {"quick": (15, 32), "good": (49, 48), "best": (352, 64)}
ITERATIONS: dict[Quality, int] = {"quick": 60, "good": 150, "best": 300}
SHARE = 0.6  # of a machine's memory that a run takes at most; a desktop needs the rest


@dataclass(frozen=True)
class Size:
    """The number of flops to train on, and of river buckets on a board."""

    flops: int
    buckets: int

    @property
    def subset(self) -> str:
        """The name of the subset of flops in files."""
        return f"subset_{self.flops}"


def fitting_size(
    game: WholeGame,
    model: CardModel,
    quality: Quality,
    *,
    flops_given: bool,
    buckets_given: bool,
    device: str = CPU,
    memory: float | None = None,
) -> Size:
    """The largest size of a quality that fits; the smallest one where none does.

    `memory` bytes are those of this machine, unless they are given.
    """
    total = machine_bytes() if memory is None else memory
    if flops_given and buckets_given:
        return Size(len(game.flops.flops), model.groups)
    sizes = list(_sizes(game, model, quality, flops_given, buckets_given))
    for size in reversed(sizes):
        if total is None or _fits(game, model, size, SHARE * total, device, flops_given):
            return size
    return sizes[0]


def _sizes(
    game: WholeGame, model: CardModel, quality: Quality, flops_given: bool, buckets_given: bool
) -> Iterator[Size]:
    """The ladder up to the largest size of a quality, with given values filled in."""
    most_flops, most_buckets = LARGEST[quality]
    for flops, buckets in LADDER:
        if flops <= most_flops and buckets <= most_buckets:
            yield Size(
                len(game.flops.flops) if flops_given else flops,
                model.groups if buckets_given else buckets,
            )


def _fits(
    game: WholeGame,
    model: CardModel,
    size: Size,
    most_bytes: float,
    device: str,
    flops_given: bool,
) -> bool:
    sized = game if flops_given else replace(game, flops=parse_flop_set(size.subset))
    finer = replace(model, groups=size.buckets)
    need = estimate_whole_game(sized, finer, gpu=device != CPU)
    if need.resident_bytes > most_bytes:
        return False
    with suppress(InputError):  # a missing device is refused where the run begins
        there = open_device(device)
        return there is None or game_device_bytes(sized, finer, need) <= there.free_bytes
    return True
