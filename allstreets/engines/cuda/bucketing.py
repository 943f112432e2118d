"""The groups of hands of real boards, made on a GPU: those of processors, bit for bit.

`kernels/bucketing.cu` takes all river boards of a flop, all pairs of ranges and both players at
once. What goes there are the lists of the flop's hands; marks, lists and matrices come back.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError
from allstreets.betting import Player
from allstreets.engines.boards.cards import (
    HAND_CLASS,
    ROUNDS,
    BoardBuckets,
    BucketSettings,
    RiverStreet,
    class_weights,
    turn_bucket_rows,
)
from allstreets.engines.boards.kernels.layout import BucketCombos
from allstreets.engines.cuda.exact_layout import ints
from allstreets.engines.cuda.mirrors import Buffers
from allstreets.engines.cuda.sources import GROUPS, groups_source, packed
from allstreets.engines.device import Device, Kernels
from allstreets.engines.exact.cards import StreetBoards

GROUPERS = 256  # threads of a block that groups hands
PAIRERS = 384  # of one that takes the groups of both players together
DIMENSIONS = 16
SEGMENTS = 16
CARDS = 52
RIVERS = 48  # places on rivers that a hand of a turn has room for
GAP = 2  # numbers between the points' dimensions, so that threads read from different banks
APART_BLOCKS = 1024  # blocks of a launch whose points are not in shared memory
RESERVED = 1024  # bytes of shared memory that a block has without asking

Array = NDArray[Any]


@dataclass(frozen=True)
class Sizes:
    """What a block needs of shared memory, in bytes, as groups.cu takes it."""

    settings: BucketSettings
    river: int  # hands of a river board at most, padded
    turn: int
    combos: int  # of a river board at most

    def points(self, hands: int) -> int:
        """Sixteen numbers for each hand."""
        return _room(4 * DIMENSIONS * (hands + GAP))

    def means(self, centres: int, hands: int) -> int:
        """k-means beside the points."""
        return _room(
            4 * hands, 4 * DIMENSIONS * centres, 4 * centres, 3 * 64, 4 * hands, 2 * hands,
            2 * SEGMENTS * centres, 2 * (centres + 1), 16, 12 * hands,
        )  # fmt: skip

    @property
    def on_river(self) -> int:
        """Of `boards.kernels.rivers`: the other's range, and then k-means in its place."""
        combos = self.combos
        profiles = _room(
            4 * combos, 4 * (combos + 1), 4 * (2 * combos + CARDS), 4 * SEGMENTS, 4 * CARDS * 8,
            4 * combos, 2 * (CARDS + 1), combos,
        )  # fmt: skip
        return max(profiles, self.means(self.settings.river, self.river))

    @property
    def on_turn(self) -> int:
        """Of `row_turns`."""
        return self.means(self.settings.turn, self.turn)

    @property
    def most(self) -> int:
        """Of the larger of the two, with its points."""
        return max(
            self.points(self.river) + self.on_river,
            self.points(self.turn) + self.on_turn if self.settings.turn else 0,
        )

    def pairs(self, tile: int) -> int:
        """Of `pair_groups`, which works on so many rows of the matrices at once."""
        combos, groups = self.combos, self.settings.river
        side = _room(2 * combos, 4 * combos, 2 * combos, 2 * (groups + 1), 4 * groups)
        lists = _room(2 * SEGMENTS * groups, 2 * combos, 4 * combos, 2 * (CARDS + 1))
        return 2 * side + lists + 2 * _room(8 * tile * groups)

    def tile(self, budget: int) -> int:
        """The rows for which there is room."""
        rows = range(1, self.settings.river + 1)
        return max((n for n in rows if self.pairs(n) <= budget), default=1)


def _room(*sizes: int) -> int:
    return sum(-(-size // 16) * 16 for size in sizes)


@dataclass
class CudaGroups:
    """The `Bucketing` of a device; threads take their turns there."""

    device: Device
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _kernels: dict[bool, Kernels] = field(default_factory=dict)

    def __call__(
        self,
        turn: StreetBoards,
        river: RiverStreet,
        ranges: Sequence[Floats],
        settings: BucketSettings,
    ) -> tuple[BoardBuckets, ...]:
        """Both players' groups and rows for pairs of ranges [2, 169]."""
        given = _lists(turn, river, ranges, settings)
        with self._turn:
            found = self._found(turn, river, len(ranges), settings, given)
        lists, chance = river.hands, river.chance
        groups, boards = settings.river, len(river.parents)
        marks = found["marks"].reshape(len(ranges), 2, -1)
        rows = found["turn_marks"].reshape(len(ranges), 2, -1)
        first = found["first"].reshape(len(ranges), 2, -1)
        parent = found["parent"].reshape(len(ranges), 2, -1)
        shape = len(ranges), boards, groups, groups
        margin, pairs = found["margin"].reshape(shape), found["pairs"].reshape(shape)
        result = []
        for number, both in enumerate(ranges):
            oop, ip = (
                BucketCombos(lists.combo_start, first[number, player], parent[number, player])
                for player in Player
            )
            result.append(
                BoardBuckets(
                    turn_bucket_rows(turn, both, list(rows[number]), settings),
                    (marks[number, 0], marks[number, 1]),
                    (oop, ip),
                    chance,
                    margin[number],
                    pairs[number],
                )
            )
        return tuple(result)

    def _compiled(self, apart: bool) -> Kernels:
        """The kernels; `apart`: shared memory has no room for the points."""
        if apart not in self._kernels:
            defines = [f"GROUPERS={GROUPERS}", f"PAIRERS={PAIRERS}"]
            defines += ["POINTS_APART"] if apart else []
            self._kernels[apart] = self.device.compile(groups_source(), tuple(defines))
        return self._kernels[apart]

    def _found(
        self,
        turn: StreetBoards,
        river: RiverStreet,
        sets: int,
        settings: BucketSettings,
        given: Mapping[str, Array],
    ) -> dict[str, Array]:
        """What the kernels find."""
        lists, above, device = river.hands, turn.lists[0], self.device
        hands, combos, boards = int(lists.start[-1]), int(lists.combo_start[-1]), len(river.parents)
        groups, turns = settings.river, len(turn.runouts)
        sizes = Sizes(
            settings,
            int(np.diff(lists.start).max()),
            int(np.diff(above.start).max()),
            int(np.diff(lists.combo_start).max()),
        )
        apart = sizes.most > device.shared_bytes
        tile = sizes.tile((device.shared_bytes + RESERVED) // 2 - RESERVED)
        if max(sizes.on_river, sizes.on_turn, sizes.pairs(tile)) > device.shared_bytes:
            raise InputError(
                f"{groups} groups and {settings.turn} rows do not fit the shared memory of the GPU;"
                "\ntake fewer, or the cpu"
            )
        buffers, out = Buffers(device, {}), self._out(sets, sizes, river, above.start[-1])
        fields = dict.fromkeys(GROUPS, 0) | {
            "groups": groups,
            "rows": settings.turn,
            "rounds": ROUNDS,
            "most_combos": sizes.combos,
            "tile": tile,
            "boards": boards,
            "hands": hands,
            "combos": combos,
            "turns": turns,
            "turn_hands": int(above.start[-1]),
        }
        fields |= {name: buffers.address(name, array) for name, array in given.items()}
        for name, array in out.items():
            buffers.kept[name] = device.zeros(max(array.size, 1), array.dtype)
            fields[name] = buffers.address(name)
        blocks = 2 * sets * turns if settings.turn else 0
        rooms = {"equity": 2 * sets * hands, "places": 2 * blocks * RIVERS * sizes.turn}
        for name, room in rooms.items():
            buffers.kept[name] = device.zeros(max(room, 1))
            fields[name] = buffers.address(name)
        kernels = self._compiled(apart)

        def launch(name: str, blocks: int, most: int, shared: int) -> None:
            at_once = APART_BLOCKS if apart else blocks
            if apart:
                room = min(at_once, blocks) * DIMENSIONS * (most + GAP)
                buffers.kept[f"points.{name}"] = device.zeros(room)
            else:
                shared += sizes.points(most)
            for first in range(0, blocks, max(at_once, 1)):
                points = buffers.address(f"points.{name}") if apart else 0
                own = {"first_block": first, "most": most, "stride": most + GAP, "points": points}
                argument = buffers.address(f"{name}.{first}", packed(GROUPS, **(fields | own)))
                count = min(at_once, blocks - first)
                kernels.launch(name, count, GROUPERS, shared, argument)

        launch("group_rivers", 2 * sets * boards, sizes.river, sizes.on_river)
        launch("row_turns", blocks, sizes.turn, sizes.on_turn)
        argument = buffers.address("pair_groups", packed(GROUPS, **fields))
        kernels.launch("pair_groups", sets * boards, PAIRERS, sizes.pairs(tile), argument)
        for name, array in out.items():
            if array.size:
                device.read(buffers.kept[name], array)
        return out

    def _out(
        self, sets: int, sizes: Sizes, river: RiverStreet, turn_hands: int
    ) -> dict[str, Array]:
        """Arrays for what comes back."""
        groups, boards = sizes.settings.river, len(river.parents)
        hands, combos = int(river.hands.start[-1]), int(river.hands.combo_start[-1])
        rows = 2 * sets * turn_hands if sizes.settings.turn else 0
        return {
            "marks": np.empty(2 * sets * hands, np.uint8),
            "turn_marks": np.empty(rows, np.uint8),
            "first": np.empty(2 * sets * boards * (groups + 1), np.uint16),
            "parent": np.empty(2 * sets * combos, np.uint16),
            "margin": np.empty(sets * boards * groups**2, np.int8),
            "pairs": np.empty(sets * boards * groups**2, np.int8),
        }


def _lists(
    turn: StreetBoards, river: RiverStreet, ranges: Sequence[Floats], settings: BucketSettings
) -> dict[str, Array]:
    """What the kernels read of a flop."""
    lists, above = river.hands, turn.lists[0]
    weights = np.stack([[class_weights(row) for row in both] for both in ranges])
    return {
        "group_draws": settings.draws(settings.river).reshape(-1),
        "row_draws": settings.draws(max(settings.turn, 1)).reshape(-1),
        "hand_class": HAND_CLASS,
        "class_weights": ints(weights.reshape(-1)),
        "start": ints(lists.start),
        "count": ints(lists.counts),
        "hand_parent": lists.parent,
        "mass": river.mass,
        "combo_start": ints(lists.combo_start),
        "combo_hand": lists.combo_hand,
        "combo_strengths": lists.combo_strengths,
        "combo_cards": lists.combo_cards,
        "turn_start": ints(above.start),
        "turn_count": ints(above.counts),
        "turn_combo_start": ints(above.combo_start),
        "turn_combo_hand": above.combo_hand,
        "turn_combo_cards": above.combo_cards,
        "children": ints(river.children),
    }
