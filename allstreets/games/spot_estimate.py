"""What solving a spot takes: nodes, boards, memory and time, computed before anything is built.

The bytes of regrets and strategies are exact; where hands of the river share them on more boards
than a turn has, some boards are counted and stand for all. What comes on top (tables by board,
all-in matrices, workspaces, the program itself) is close, and the time is a guess from the speed of
a usual core.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np

from allstreets.base import InputError, Longs
from allstreets.betting import NodeKind, Player, Street, TreeSize
from allstreets.cards import COMBO_MASKS, Runouts, combo_orbits
from allstreets.engines import PRECISIONS, RiverGroups, open_device, suit_buckets, whole_vectors
from allstreets.games.spot import Spot, spot_root

DEVICE_ROWS = 2_200_000_000  # what is worked on at a time on a GPU, at most
DEVICE_TABLES = 300_000_000
PROGRAM_BYTES = 250_000_000  # Python, Numba and the compiled kernels
TABLE_BYTES = 40  # of a hand on a board: cards, places, strengths, for both points of view
COUNTED_BOARDS = 64  # rivers on which shared rows are counted: all of a turn's, some of a flop's
SECONDS_PER_SLOT = 3.8e-9  # one core, one iteration, one action of one hand of one node
SETUP_SECONDS_PER_BOARD = 0.0008


@dataclass(frozen=True)
class Estimate:
    """The size of a spot; streets from the board's on."""

    decisions: dict[Street, int]  # of the betting tree, cards not counted
    boards: dict[Street, int]  # after folding suits that play alike
    slots: int  # actions of all hands of all nodes on all boards, padding included
    memory_bytes: int  # regrets and average strategies
    process_bytes: int  # everything, the program itself included
    threads: int

    @property
    def nodes(self) -> int:
        """Decisions of the betting tree."""
        return sum(self.decisions.values())

    @property
    def seconds_per_iteration(self) -> float:
        """A guess; the boards of one street are shared out over the threads."""
        shared = self.threads if len(self.boards) > 1 else 1
        return self.slots * SECONDS_PER_SLOT / shared

    def seconds_to(self, iterations: int) -> float:
        """Seconds for so many iterations, set-up included."""
        return SETUP_SECONDS_PER_BOARD * sum(self.boards.values()) + (
            (iterations + 2) * self.seconds_per_iteration  # a check costs about two
        )


def estimate_spot(
    spot: Spot,
    precision: str = "float32",
    threads: int = 1,
    river_groups: RiverGroups = "none",
) -> Estimate:
    """What the spot takes; nothing is allocated, and a flop takes milliseconds."""
    combos = [np.flatnonzero(one.weights) for one in spot.ranges]
    root, streets = spot_root(spot), len(spot.size.dealt_streets)
    hands = hands_by_board(root, combos, streets)
    rows = rows_by_board(root, combos, hands, river_groups)
    return estimate_exact(spot.size, hands, precision, threads, rows)


# For each street the padded number of hands [B] of OOP and of IP on every board.
HandsByBoard = Sequence[tuple[Longs, Longs]]


def estimate_exact(
    size: TreeSize,
    hands: HandsByBoard,
    precision: str = "float32",
    threads: int = 1,
    rows: HandsByBoard | None = None,
) -> Estimate:
    """What an exact game takes; `hands` are those of its streets, or of more.

    `rows` are what is stored, where that is not a row for each hand.
    """
    require_precision(precision)
    boards, slots, stored, held, matrices = {}, 0, 0, 0, 0
    for street, counts, kept in zip(size.dealt_streets, hands, rows or hands, strict=False):
        boards[street] = len(counts[0])
        actions = size.actions[street].tolist()
        slots += sum(int(counts[player].sum()) * actions[player] for player in Player)
        stored += sum(int(kept[player].sum()) * actions[player] for player in Player)
        held += int(counts[0].sum() + counts[1].sum())
        if street < Street.RIVER and size.nodes[street, NodeKind.SHOWDOWN]:  # all-ins
            matrices += 2 * 4 * int(counts[0] @ counts[1])
    memory = 2 * stored * np.dtype(PRECISIONS[precision]).itemsize
    process = memory + matrices + held * TABLE_BYTES + PROGRAM_BYTES
    return Estimate(size.decision_counts(), boards, slots, memory, process, threads)


def hands_by_board(root: Runouts, combos: Sequence[Longs], streets: int) -> HandsByBoard:
    """The hands on every board of so many streets; `combos` are those of both players."""
    dealt: list[tuple[Runouts, int]] = [(root, 0)]
    boards = [(root.symmetries, 0)]
    found = [(_padded(combos[0], boards), _padded(combos[1], boards))]
    for street in range(1, streets):
        cards = [
            (here, card, blocked | 1 << card)
            for here, blocked in dealt
            for card in here.representatives
        ]
        boards = [(here.symmetries_after(card), blocked) for here, card, blocked in cards]
        found.append((_padded(combos[0], boards), _padded(combos[1], boards)))
        if street + 1 < streets:
            dealt = [(here.after(card), blocked) for here, card, blocked in cards]
    return found


def rows_by_board(
    root: Runouts,
    combos: Sequence[Longs],
    hands: HandsByBoard,
    river_groups: RiverGroups,
) -> HandsByBoard:
    """The stored rows on every board where `hands` are the hands."""
    dealt = len(hands) - 1
    if river_groups == "none" or len(root.board) + dealt < 5:
        return hands
    before = [root]
    for _ in range(dealt - 1):
        before = [here.after(card) for here in before for card in here.representatives]
    last = [(here, card) for here in before for card in here.representatives]
    if len(last) > COUNTED_BOARDS:
        counted = np.random.default_rng(0).choice(len(last), COUNTED_BOARDS, replace=False)
    else:
        counted = np.arange(len(hands[-1][0]))
    boards = [last[place][0].after(last[place][1]) for place in counted] if dealt else [root]
    rivers = []
    for player in Player:
        rows = np.array([_row_count(board, combos[player]) for board in boards])
        held = hands[-1][player]
        share = rows.sum() / held[counted].sum()  # of all boards, where only some are counted
        rivers.append(rows if len(rows) == len(held) else np.rint(share * held).astype(np.int64))
    return [*hands[:-1], (rivers[0], rivers[1])]


def _row_count(river: Runouts, combos: Longs) -> int:
    """Rows of a river board, padding included."""
    blocked = np.uint64(sum(1 << card for card in river.board))
    first = combos[combo_orbits(river.symmetries)[combos] == combos]
    live = first[(COMBO_MASKS[first] & blocked) == 0]
    return whole_vectors(int(suit_buckets(river.board, live).max(initial=-1)) + 1)


def _padded(combos: Longs, boards: Sequence[tuple[tuple[int, ...], int]]) -> Longs:
    """[B]: hands on boards of which the renamings that leave them alike and the cards are given."""
    counts = np.zeros(len(boards), np.int64)
    for symmetries in {here for here, _ in boards}:
        places = [place for place, (here, _) in enumerate(boards) if here == symmetries]
        first = combos[combo_orbits(symmetries)[combos] == combos]
        dealt = np.array([boards[place][1] for place in places], np.uint64)
        live = ((COMBO_MASKS[first][None, :] & dealt[:, None]) == 0).sum(axis=1)
        counts[places] = [whole_vectors(int(count)) for count in live]
    return counts


def device_bytes(stored: int) -> int:
    """What so many bytes of regrets and strategies take on a GPU, rows and tables included."""
    return stored + min(2 * stored, DEVICE_ROWS) + DEVICE_TABLES


def require_device_room(device: str, need: int) -> None:
    """Refuse so many bytes, rows and tables included, where a GPU has fewer."""
    there = open_device(device)
    if there is not None and need > there.free_bytes:
        raise InputError(
            f"device: this needs {need / 1e9:.1f} GB on {there.name}, of which "
            f"{there.free_bytes / 1e9:.1f} GB are free.\nWhat would make it smaller: "
            "precision: float16, one bet size less, fewer flops; or device: cpu"
        )


def require_precision(precision: str) -> None:
    """Refuse a precision that is not offered."""
    if precision not in PRECISIONS:
        raise InputError(f"precision: '{precision}' is not known: use {' or '.join(PRECISIONS)}")


def require_river_groups(river_groups: str) -> None:
    """Refuse groups that are not offered."""
    if river_groups not in get_args(RiverGroups):
        known = " or ".join(get_args(RiverGroups))
        raise InputError(f"river_groups: '{river_groups}' is not known: use {known}")


def require_memory(
    spot: Spot,
    precision: str,
    need: Estimate,
    free: int | None,
    river_groups: RiverGroups = "none",
) -> None:
    """Refuse a spot that does not fit into `free` bytes, with what would."""
    if free is None or need.process_bytes <= free:
        return
    what = f"this spot needs {_size(need.process_bytes)} and {_size(free)} are free"
    half = estimate_spot(spot, "float16", need.threads, river_groups)
    if precision == "float32" and half.process_bytes <= free:
        raise InputError(f"{what}.\nWith precision float16 it needs {_size(half.process_bytes)}.")
    grouped = estimate_spot(spot, "float16", need.threads, "suits")
    if grouped.process_bytes <= free:
        raise InputError(
            f"{what}.\nWith precision float16 and river_groups suits it needs "
            f"{_size(grouped.process_bytes)}."
        )
    half = grouped
    room = max(free - PROGRAM_BYTES, 1)
    factor = (half.process_bytes - PROGRAM_BYTES) / room
    also = "float16, river_groups suits and "
    raise InputError(
        f"{what}.\nUse {also}fewer bet and raise sizes, most of all on the river: "
        f"{factor:,.1f} times fewer actions would fit."
    )


def available_bytes() -> int | None:
    """Memory that a new program may take on this machine or in this container; None = unknown."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(1024 * int(line.split()[1]))
    with suppress(OSError, ValueError):
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        found.append(limit - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    return min(found) if found else None


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
