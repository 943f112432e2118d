"""Passes of matrix games of classes on a GPU (`kernels/matrix.cu`).

A half-iteration of all pots on a part of the flops is three launches. Every block works on a piece
of a pot's tree on one flop, in shared memory from the way down to the way up (`matrix_pieces`).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Singles
from allstreets.betting import BettingTree, Player
from allstreets.engines.cuda.matrix_pieces import Lists, TreeCutter
from allstreets.engines.cuda.matrix_request import Asked
from allstreets.engines.cuda.mirrors import Buffers
from allstreets.engines.cuda.residence import FlopStore, store_table
from allstreets.engines.cuda.sources import MATRIX, matrix_source, packed
from allstreets.engines.device import Buffer, Device
from allstreets.engines.matrix.cards import StageMatrices

CARDS = 52
ROW_GAP = 4  # numbers between rows: LINE of the kernels
TILE_ROWS = 3 * 8  # of the matrix in shared memory: TILES of the kernels
TALL = 8  # showdowns that a thread works on
PLAYERS = 256  # threads of a block that plays a piece; two such blocks share a multiprocessor
THREADS = 176  # of the others
RESERVED = 1024  # bytes of shared memory that a block has without asking

Launch = tuple[str, int, int, int]  # kernel, blocks for each flop, threads, shared bytes


class ClassPasses:
    """Passes of games of one stage; at most `room_bytes` of rows for a flop."""

    def __init__(
        self,
        device: Device,
        trees: Sequence[tuple[BettingTree, Floats]],
        cards: StageMatrices,
    ) -> None:
        self.cards, self._buffers = cards, Buffers(device, {})
        length, pots = cards.lengths[0], len(trees)
        self.root_length, self._row = length, length + ROW_GAP
        self._kernels = device.compile(matrix_source(), (f"HANDS={length}", f"PLAYERS={PLAYERS}"))
        budget = (device.shared_bytes + RESERVED) // 2 - RESERVED
        most_rows = (budget - 4 * TILE_ROWS * length) // (4 * self._row)
        most_shows = max(PLAYERS // (length // 4), 1) * TALL
        self.lists = [
            Lists([TreeCutter(*tree, player).cut(most_rows, most_shows) for tree in trees])
            for player in Player
        ]
        self._reach_rows = max(one.reach_rows for one in self.lists)
        self._value_rows = max(one.value_rows for one in self.lists)
        self.room_bytes = 4 * self._row * (self._reach_rows + self._value_rows)
        self.launches: list[list[Launch]] = []
        for one in self.lists:
            tile = one.pieces[:, 2] + one.pieces[:, 3]  # reach and value rows
            shared = 4 * (TILE_ROWS * length + int(tile.max()) * self._row)
            self.launches.append(
                [
                    ("descend", pots, THREADS, 0),
                    ("play", len(one.pieces), PLAYERS, shared),
                    ("ascend", pots, THREADS, 0),
                ]
            )
        self._arguments: dict[tuple[Player, int, int], int] = {}

    def launch(self, player: Player, mode: int, part: int, places: int) -> None:
        """A pass on a part of the flops, so many of them."""
        argument = self._arguments[player, mode, part]
        for name, blocks, threads, shared in self.launches[player]:
            self._kernels.launch(name, places * blocks, threads, shared, argument)

    def arrange(self, asked: Asked, store: FlopStore, out: Buffer) -> None:
        """The structures of all passes, for each player, mode and part."""
        kept, device = self._buffers.kept, self._buffers.device
        most = max(len(part) for part in store.parts)
        for name, rows in (("reach", self._reach_rows), ("values", self._value_rows)):
            kept[name] = device.zeros(most * rows * self._row)
        cards, put = self._card_fields(), self._buffers.address
        for player, lists in zip(Player, self.lists, strict=True):
            fields = {
                **cards,
                **{name: put(f"{name}.{player}", array) for name, array in lists.arrays.items()},
                **{name: asked.address(f"{name}.{player}") for name in ("root", "least")},
                "reach": put("reach"),
                "values": put("values"),
                "out": device.address(out),
                "hands": self.cards.hands[0],
                "piece_count": len(lists.pieces),
                "reach_rows": lists.reach_rows,
                "value_rows": lists.value_rows,
            }
            for part in range(len(store.parts)):
                stores = put(f"stores.{player}.{part}", store_table(store, part, 0, player))
                for mode in range(3):
                    words = packed(MATRIX, **fields, **asked.fields(part), mode=mode, stores=stores)
                    self._arguments[player, mode, part] = put(
                        f"matrix.{player}.{mode}.{part}", words
                    )

    def _card_fields(self) -> Mapping[str, int]:
        """The flops' matrices and lists of cards."""
        cards, put = self.cards.kernel[0], self._buffers.address
        lists = {"card": (CARDS, cards.card_start, cards.card_hand, cards.card_count)}
        lists["held"] = (cards.hands, cards.hand_start, cards.hand_card, cards.hand_count)
        fields = {
            name: put(name, array)
            for name, array in (
                ("margin", cards.margin), ("combos", cards.combos), ("twins", cards.twins),
            )
        }  # fmt: skip
        for name, (count, start, places, numbers) in lists.items():
            spread, many = _side_by_side(count, start, places, numbers)
            fields[f"{name}_most"] = spread.shape[1]
            fields["card_hand" if name == "card" else "held_card"] = put(f"{name}.of", spread)
            fields[f"{name}_count"] = put(f"{name}.count", many)
        return fields


def _side_by_side(
    count: int, start: NDArray[np.int16], places: Bytes, numbers: Singles
) -> tuple[Bytes, Singles]:
    """Lists [F, …] of `count` owners as [F, longest, count], filled up with zeros."""
    sizes = np.diff(start.astype(np.int64), axis=1)  # [F, count]
    longest = max(1, int(sizes.max(initial=0)))
    found = np.zeros((len(start), longest, count), np.uint8)
    many = np.zeros(found.shape, np.float32)
    for flop, each in enumerate(sizes):
        owner = np.repeat(np.arange(count), each)
        place = np.arange(len(owner)) - np.repeat(start[flop, :-1].astype(np.int64), each)
        found[flop, place, owner] = places[flop, : len(owner)]
        many[flop, place, owner] = numbers[flop, : len(owner)]
    return found, many
