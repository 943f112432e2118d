"""Where a whole game finds room on a GPU, known before anything is built."""

from dataclasses import dataclass

from allstreets.base import InputError
from allstreets.engines import (
    CardModel,
    Residence,
    Streaming,
    device_room,
    everything_resident,
    open_device,
    residence,
    streaming,
    table_bytes,
)
from allstreets.games import WholeGame, WholeGameEstimate, game_device_bytes, matrix_lengths
from allstreets.training.wording import data_size


@dataclass(frozen=True)
class DevicePlan:
    """What stays on a GPU, and what comes and goes."""

    name: str
    need_bytes: int  # for all of it to stay there
    free_bytes: int
    flops: Residence | None  # None: there is no room
    streaming: Streaming | None = None  # what the flops that do not stay take; None: all stay

    @property
    def text(self) -> str:
        """For people."""
        need, free = data_size(self.need_bytes), data_size(self.free_bytes)
        whole = f"On {self.name} it takes {need} of {free} that are free, so it"
        if self.flops is None:
            return f"{whole} does not fit: fewer flops, groups or sizes."
        if self.streaming is None:
            return f"{whole} fits."
        return (
            f"On {self.name} it would take {need} of {free} that are free: {self.flops.resident:,} "
            f"of {self.flops.flops:,} flops stay there, and it streams "
            f"{data_size(self.streaming.copied_bytes)} an iteration over PCIe: about "
            f"{self.streaming.seconds:.2g} s an iteration."
        )

    def require(self) -> None:
        """Refuse what finds no room."""
        if self.flops is None:
            raise InputError(
                f"device: this needs {self.need_bytes / 1e9:.1f} GB on {self.name}, of which "
                f"{self.free_bytes / 1e9:.1f} GB are free.\nWhat would make it smaller: "
                "precision: float16, one bet size less, fewer flops; or device: cpu"
            )


def plan_device(
    device: str, game: WholeGame, need: WholeGameEstimate, model: CardModel
) -> DevicePlan | None:
    """What a game makes of a device; None: it is solved by processors."""
    there = open_device(device)
    if there is None:
        return None
    stored, free = need.memory_bytes, there.free_bytes
    if model.kind not in ("classes", "buckets"):
        room = game_device_bytes(game, model, need)
        fits = everything_resident(need.flops) if room <= free else None
        return DevicePlan(there.name, room, free, fits)
    tables = table_bytes(matrix_lengths(model), need.flops)
    room = device_room(stored, tables)
    try:
        flops = residence(need.flops, stored, tables, free)
    except InputError:  # not even in parts
        return DevicePlan(there.name, room, free, None)
    return DevicePlan(there.name, room, free, flops, streaming(flops, stored))
