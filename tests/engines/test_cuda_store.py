"""The flops that stay on a device, and the transfers of the others."""

import numpy as np
import pytest
from builders.host_device import HostDevice

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.engines.cuda.residence import (
    COPIES_PER_SECOND,
    SLOTS,
    FlopStore,
    Name,
    Residence,
    device_room,
    everything_resident,
    residence,
    streaming,
)

GB = 10**9
FLOPS, STORED, TABLES = 1755, 100 * GB, 2 * GB
BOTH = frozenset((kind, player) for kind in ("regrets", "averages") for player in Player)


def test_what_fits_stays() -> None:
    room = device_room(STORED, TABLES)
    assert residence(FLOPS, STORED, TABLES, room) == everything_resident(FLOPS)
    assert streaming(everything_resident(FLOPS), STORED) is None


@pytest.mark.parametrize("free", [10 * GB, 40 * GB, 104 * GB])
def test_what_does_not_fit_comes_and_goes(free: int) -> None:
    found = residence(FLOPS, STORED, TABLES, free)
    each = STORED / FLOPS
    taken = (found.resident + SLOTS * found.part) * each + device_room(STORED, TABLES) - STORED
    assert free - 2 * each <= taken <= free + FLOPS  # as much as there is, except for rounding
    parts = found.parts(10**6)
    assert [flop for part in parts for flop in part] == list(range(FLOPS))
    assert max(len(part) for part in parts) == found.part
    assert any(part.start == found.resident for part in parts)
    assert max(len(part) for part in found.parts(3)) == 3
    told = streaming(found, STORED)
    assert told is not None
    share = found.streamed / FLOPS
    assert told.copied_bytes == pytest.approx(2.5 * share * STORED)
    assert told.seconds == pytest.approx(1.5 * share * STORED / COPIES_PER_SECOND)


def test_what_never_fits_is_refused() -> None:
    with pytest.raises(InputError, match=r"this needs .* GB there, and 5\.0 GB are free"):
        residence(FLOPS, STORED, TABLES, 5 * GB)


@pytest.mark.parametrize("resident", [0, 3, 9])
def test_parts_are_lent_and_come_back(resident: int) -> None:
    """Every pass adds the number of its part to all of it, where the kernels would find it."""
    flops, width = 9, 4
    arrays = {
        (kind, 0): [[np.zeros((flops, width), np.float32) for _ in Player]]
        for kind in ("regrets", "averages")
    }
    device, where = HostDevice(), Residence(flops, resident, 1)
    store = FlopStore(device, arrays, where, where.parts(9))
    assert sorted(store.order()) == list(range(flops))
    for kind, player in (("regrets", Player.OOP), ("averages", Player.IP)):
        name = Name(kind, 0, 0, player)
        for _ in range(2):
            for part in store.order():
                with store.lent(part, BOTH, frozenset({(kind, player)})):
                    address = store.address(part, name) + 4 * width * store.parts[part].start
                    _at(address, width)[:] += part + 1
        store.fetch(name)
        expected = np.repeat(2.0 * np.arange(1, flops + 1)[:, None], width, axis=1)
        np.testing.assert_array_equal(store.host[name], expected)
    assert not store.host[Name("averages", 0, 0, Player.OOP)].any()


def _at(address: int, count: int) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    import ctypes

    return np.ctypeslib.as_array((ctypes.c_float * count).from_address(address))
