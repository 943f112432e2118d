"""Hands of real boards bucketed on a GPU, bit-identical to the buckets of processors.

`bucketing.cu` takes all river boards of a flop, all pairs of ranges and both players at once. It
receives the lists of the flop's hands and returns buckets, lists and matrices.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

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
from allstreets.engines.cuda.programs import Arrays, Buffers, ints, packed, source
from allstreets.engines.device import Device, Kernels
from allstreets.engines.exact.cards import StreetBoards

BUCKETERS = 256  # threads of a block that buckets hands
FILLERS = 384  # of one that fills the matrices of a board
DIMENSIONS = 16
SEGMENTS = 16
CARDS = 52
RIVERS = 48  # places on rivers that a hand of a turn has room for
GAP = 2  # numbers between the points' dimensions, so that threads read from different banks
APART_BLOCKS = 1024  # blocks of a launch whose points are not in shared memory
RESERVED = 1024  # bytes of shared memory that a block has without asking


@dataclass(frozen=True)
class Sizes:
    """The shared memory of a block, in bytes, as `bucketing.cu` takes it."""

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
        """Bytes of `bucket_rivers`: the opponent's range, later replaced by k-means."""
        combos = self.combos
        profiles = _room(
            4 * combos, 4 * (combos + 1), 4 * (2 * combos + CARDS), 4 * SEGMENTS, 4 * CARDS * 8,
            4 * combos, 2 * (CARDS + 1), combos,
        )  # fmt: skip
        return max(profiles, self.means(self.settings.river, self.river))

    @property
    def on_turn(self) -> int:
        """Bytes of `bucket_turns`."""
        return self.means(self.settings.turn, self.turn)

    @property
    def most(self) -> int:
        """Bytes of the larger of the two, with its points."""
        return max(
            self.points(self.river) + self.on_river,
            self.points(self.turn) + self.on_turn if self.settings.turn else 0,
        )

    def pairs(self, tile: int) -> int:
        """Bytes of `fill_matrices`, which works on this many rows of the matrices at once."""
        combos, buckets = self.combos, self.settings.river
        side = _room(2 * combos, 4 * combos, 2 * combos, 2 * (buckets + 1), 4 * buckets)
        lists = _room(2 * SEGMENTS * buckets, 2 * combos, 4 * combos, 2 * (CARDS + 1))
        return 2 * side + lists + 2 * _room(8 * tile * buckets)

    def tile(self, budget: int) -> int:
        """The rows for which there is room."""
        rows = range(1, self.settings.river + 1)
        return max((n for n in rows if self.pairs(n) <= budget), default=1)


def _room(*sizes: int) -> int:
    return sum(-(-size // 16) * 16 for size in sizes)


@dataclass
class CudaBucketing:
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
        """Both players' river and turn buckets for pairs of ranges [2, 169]."""
        given = _lists(turn, river, ranges, settings)
        output = _results(turn, river, len(ranges), settings)
        with self._turn:
            self._fill(turn, river, settings, given, output)
        starts, chance = river.hands.combo_start, river.chance
        results = []
        for number, both in enumerate(ranges):
            of_river, of_turn, first, parent = (
                output[name][number] for name in ("river_bucket", "turn_bucket", "first", "parent")
            )
            oop, ip = (
                BucketCombos(starts, first[player].reshape(-1), parent[player]) for player in Player
            )
            results.append(
                BoardBuckets(
                    turn_bucket_rows(turn, both, list(of_turn), settings),
                    (of_river[0], of_river[1]),
                    (oop, ip),
                    chance,
                    output["margin"][number],
                    output["pairs"][number],
                )
            )
        return tuple(results)

    def _compiled(self, apart: bool) -> Kernels:
        """The kernels; `apart`: shared memory has no room for the points."""
        if apart not in self._kernels:
            defines = [f"BUCKETERS={BUCKETERS}", f"FILLERS={FILLERS}"]
            defines += ["POINTS_APART"] if apart else []
            self._kernels[apart] = self.device.compile(source("bucketing.cu"), tuple(defines))
        return self._kernels[apart]

    def _fill(
        self,
        turn: StreetBoards,
        river: RiverStreet,
        settings: BucketSettings,
        given: Arrays,
        found: Arrays,
    ) -> None:
        """Let the kernels fill the arrays of `_results`."""
        lists, above, device = river.hands, turn.lists[0], self.device
        sets, boards, turns = len(found["first"]), len(river.parents), len(turn.runouts)
        hands = int(lists.start[-1])
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
                f"{settings.river} river buckets and {settings.turn} turn buckets do not fit the "
                "shared memory of the GPU;\nuse fewer, or device: cpu"
            )
        buffers, kernels = Buffers(device), self._compiled(apart)
        turn_blocks = 2 * sets * turns if settings.turn else 0
        fields = {
            "river_buckets": settings.river,
            "turn_buckets": settings.turn,
            "rounds": ROUNDS,
            "most_combos": sizes.combos,
            "tile": tile,
            "boards": boards,
            "hands": hands,
            "combos": int(lists.combo_start[-1]),
            "turns": turns,
            "turn_hands": int(above.start[-1]),
            "equity": buffers.zeros("equity", 2 * sets * hands),
            "places": buffers.zeros("places", 2 * turn_blocks * RIVERS * sizes.turn),
            **{name: buffers.zeros(name, each.size, each.dtype) for name, each in found.items()},
            **buffers.addresses("given", given),
        }

        def launch(name: str, blocks: int, most: int, shared: int) -> None:
            """Launch the kernel, several times where points are apart."""
            at_once, points = blocks, 0
            if apart:
                at_once = min(APART_BLOCKS, blocks)
                points = buffers.zeros(f"points.{name}", at_once * DIMENSIONS * (most + GAP))
            else:
                shared += sizes.points(most)
            for first in range(0, blocks, max(at_once, 1)):
                block = {"first_block": first, "most": most, "stride": most + GAP, "points": points}
                words = packed("bucketing.cu", "Bucketing", fields | block)
                argument = buffers.address(f"{name}.{first}", words)
                kernels.launch(name, min(at_once, blocks - first), BUCKETERS, shared, argument)

        launch("bucket_rivers", 2 * sets * boards, sizes.river, sizes.on_river)
        launch("bucket_turns", turn_blocks, sizes.turn, sizes.on_turn)
        argument = buffers.address("matrices", packed("bucketing.cu", "Bucketing", fields))
        kernels.launch("fill_matrices", sets * boards, FILLERS, sizes.pairs(tile), argument)
        for name, array in found.items():
            if array.size:
                buffers.read(name, array)


def _results(turn: StreetBoards, river: RiverStreet, sets: int, settings: BucketSettings) -> Arrays:
    """Arrays for what comes back, by pair of ranges and player."""
    hands, combos = int(river.hands.start[-1]), int(river.hands.combo_start[-1])
    boards, buckets = len(river.parents), settings.river
    turn_hands = int(turn.lists[0].start[-1]) if settings.turn else 0
    return {
        "river_bucket": np.empty((sets, 2, hands), np.uint8),
        "turn_bucket": np.empty((sets, 2, turn_hands), np.uint8),
        "first": np.empty((sets, 2, boards, buckets + 1), np.uint16),
        "parent": np.empty((sets, 2, combos), np.uint16),
        "margin": np.empty((sets, boards, buckets, buckets), np.int8),
        "pairs": np.empty((sets, boards, buckets, buckets), np.int8),
    }


def _lists(
    turn: StreetBoards, river: RiverStreet, ranges: Sequence[Floats], settings: BucketSettings
) -> Arrays:
    """The arrays of a flop that the kernels read."""
    lists, above = river.hands, turn.lists[0]
    weights = np.stack([[class_weights(row) for row in both] for both in ranges])
    return {
        "river_draws": settings.draws(settings.river).reshape(-1),
        "turn_draws": settings.draws(max(settings.turn, 1)).reshape(-1),
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
