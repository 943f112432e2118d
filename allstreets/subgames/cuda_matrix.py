"""Matrix games of classes on a GPU: the same stored numbers, other kernels.

Regrets and averages live on the device; what the host has of them follows when somebody looks. A
half-iteration of all pots on all flops is three launches (`kernels/cuda/matrix.cu`): reach [P, 169]
goes there and values [P, K, 169] come back. Every block works on a piece of a pot's tree on one
flop, in shared memory from the way down to the way up (`cuda_pieces`).

All hands are stored and all actions visited: there is no pruning, and hands that a player has
stopped playing are not left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import BettingTree, Player
from allstreets.cfr import Multipliers
from allstreets.kernels.cuda.device import Device, DeviceUse
from allstreets.kernels.cuda.sources import MATRIX, matrix_source, packed
from allstreets.kernels.matrix_layout import THRESHOLD, UPDATE, Discounting
from allstreets.kernels.matrix_pass import LEAST_SHARE, SMALL_SHARE
from allstreets.kernels.simd import aligned
from allstreets.subgames.card_model import CLASSES, CardModel
from allstreets.subgames.cuda_exact import MOST_ACTIONS, SUM_BYTES
from allstreets.subgames.cuda_layout import ints
from allstreets.subgames.cuda_memory import Buffers, Mirror, followed
from allstreets.subgames.cuda_pieces import Lists, TreeCutter
from allstreets.subgames.flop_games import Flags, Floats, Flops, RegretSums
from allstreets.subgames.matrix_flops import LEAST_REACH, MatrixCards, MatrixFlops
from allstreets.subgames.matrix_hands import HandSelection
from allstreets.subgames.matrix_store import Allocate
from allstreets.subgames.packed import Numbers

CARDS = 52
ROW_GAP = 4  # numbers between rows: LINE of the kernels
TILE_ROWS = 3 * 8  # of the matrix in shared memory: TILES of the kernels
TALL = 8  # showdowns that a thread works on
PLAYERS = 256  # threads of a block that plays a piece; two such blocks share a multiprocessor
THREADS = 176  # of the others
RESERVED = 1024  # bytes of shared memory that a block has without asking
AT_ONCE = 1024  # iterations whose discounts are sent together
ROOM_BYTES = 2_000_000_000  # of the rows of tops and lines, for as many flops as fit

Launch = tuple[str, int, int, int]  # kernel, blocks for each flop, threads, shared bytes


class CudaMatrixFlops(MatrixFlops):
    """`MatrixFlops` of classes whose passes run on a device."""

    def __init__(
        self,
        trees: Sequence[tuple[BettingTree, NDArray[np.float64]]],
        cards: MatrixCards,
        device: Device,
        model: CardModel = CLASSES,
        threads: int = 1,
        allocate: Allocate = aligned,
    ) -> None:
        if cards.roots is not None or len(cards.stages[0]) > 1:
            raise InputError(
                f"cards: {model} change after the flop, which is for processors;\n"
                "a GPU takes cards: classes"
            )
        if any(int(tree.child_count.max(initial=0)) > MOST_ACTIONS for tree, _ in trees):
            raise InputError(f"a GPU takes decisions with at most {MOST_ACTIONS} actions")
        super().__init__(trees, cards, model, threads, allocate)
        self.device, self._trees = device, trees
        self._buffers = Buffers(device, {})
        self._row = self.cards.lengths[0] + ROW_GAP
        defines = f"HANDS={self.cards.lengths[0]}", f"PLAYERS={PLAYERS}"
        self._kernels = device.compile(matrix_source(), defines)
        self._launches: list[list[Launch]] = []
        self._arguments: dict[tuple[Player, int], list[int]] = {}
        self._replay: tuple[int, Callable[[], None]] | None = None
        self._chunk = self.flops
        if trees:
            self._own_arrays()
            self._prepare()

    # -- passes

    def iterate(self, reach: Floats, pairs: Flags, every: Sequence[Multipliers]) -> None:
        """Whole iterations with a fixed reach [2, P, 169]."""
        flops = np.flatnonzero(pairs.any(axis=0))
        if not self.games or not len(flops) or not every:
            return
        for player in Player:
            self._enter(player, np.where(reach > LEAST_REACH, reach, 0.0)[player.opponent])
        for first in range(0, len(every), AT_ONCE):
            table = np.array(every[first : first + AT_ONCE], np.float32)
            _refuse_pruning(table)
            self._ask(flops, pairs[:, flops], table, each_flop=False)
            for _ in table:
                if self._replay is not None and self._replay[0] == len(flops):
                    self._replay[1]()
                    continue
                self._iteration(len(flops))  # loads what a recording may not
                again = self.device.recorded(lambda: self._iteration(len(flops)))
                self._replay = len(flops), again
        self._wait()
        self._fall_behind()

    def _iteration(self, places: int) -> None:
        for player in Player:
            self._launch(player, UPDATE, places)
        self._kernels.launch("tick", 1, 1, 0, self._arguments[Player.OOP, UPDATE][0])

    def _run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        flops: Flops,
        discounts: NDArray[np.float32],
        selection: HandSelection,
        hand_mask: Flags | None = None,
    ) -> NDArray[np.float32]:
        """[P, K, 169]: passes about all hands; more is learned than a mask asks for."""
        del selection, hand_mask
        if mode == UPDATE:
            _refuse_pruning(discounts)
        shape = self.pots, len(flops), self.cards.hands[0]
        reach = np.where(other > LEAST_REACH, other, 0.0)
        # A pot that the other player never gets to is worth nothing to either of them.
        seen = np.array([row.any() for row in reach], np.bool_)
        if not seen.any() or not len(flops):
            return np.zeros(shape, np.float32)
        self._enter(player, reach)
        visits = np.repeat(seen[:, None], len(flops), axis=1)
        self._ask(flops, visits, discounts, each_flop=len(discounts) > 1)
        self._launch(player, mode, len(flops))
        values = self.device.landing(shape)
        self.device.read(self._buffers.kept["out"][: values.size], values.reshape(-1))
        values[~seen] = 0.0
        if mode == UPDATE:
            self._fall_behind()
        return values

    def _launch(self, player: Player, mode: int, places: int) -> None:
        """A pass: chunks of flops whose rows fit the rooms, each in three launches."""
        for chunk, argument in enumerate(self._arguments[player, mode]):
            count = min(self._chunk, places - chunk * self._chunk)
            if count <= 0:
                break
            for name, blocks, threads, shared in self._launches[player]:
                self._kernels.launch(name, count * blocks, threads, shared, argument)

    def _enter(self, player: Player, reach: Floats) -> None:
        """Send the other's reach [P, 169] at the roots."""
        rows = np.zeros((self.pots, self.cards.lengths[0]), np.float32)
        rows[:, : reach.shape[1]] = reach
        least = np.maximum(SMALL_SHARE * rows.max(axis=1), LEAST_SHARE)
        self.device.write(self._buffers.kept[f"root.{player}"], rows.reshape(-1))
        self.device.write(self._buffers.kept[f"least.{player}"], least.astype(np.float32))

    def _ask(
        self, flops: Flops, visits: Flags, discounts: NDArray[np.float32], each_flop: bool
    ) -> None:
        """Send what the next passes are about: pots to be visited [P, K], discounts [.., 7]."""
        places, kept = len(flops), self._buffers.kept
        self.device.write(kept["flop_of"][:places], ints(flops))
        by_place = np.ascontiguousarray(visits.T, np.uint8).reshape(-1)
        self.device.write(kept["visits"][: by_place.size], by_place)
        self.device.write(kept["discounts"][: discounts.size], discounts.reshape(-1))
        self.device.write(kept["call"], ints([0, int(each_flop), places]))

    def _wait(self) -> None:
        """Until all launches are over."""
        self.device.read(self._buffers.kept["call"], np.zeros(3, np.int32))

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        total, largest = np.zeros((2, self.pots, len(flops)))
        entries = [int(game.slots.sum()) * self.cards.hands[0] for game in self.games]
        buffer = self._buffers.kept.get("sums")
        if buffer is not None and len(flops):
            self.device.write(self._buffers.kept["flop_of"][: len(flops)], ints(flops))
            for player in Player:
                argument = self._arguments[player, UPDATE][0]
                blocks = len(flops) * self.pots
                shared = SUM_BYTES * PLAYERS
                self._kernels.launch("sum_regrets", blocks, PLAYERS, shared, argument)
                found = np.zeros((len(flops), self.pots, 2))
                self.device.read(buffer[: found.size], found.reshape(-1))
                total += found[:, :, 0].T
                largest = np.maximum(largest, found[:, :, 1].T)
        return RegretSums(total, largest, np.repeat(entries, len(flops)).reshape(total.shape))

    # -- what is stored

    def _own_arrays(self) -> None:
        """Regrets and averages on the device, zeros as those of the host are."""
        for pot, game in enumerate(self.games):
            for name in ("regrets", "averages"):
                mirror: Any = Mirror(getattr(game, name))
                for player in Player:
                    array = mirror.host[0][player]
                    self._buffers.kept[f"{name}.{pot}.{player}"] = self.device.zeros(array.size)
                mirror.fetch = self._fetch(name, pot, mirror)
                setattr(game, name, mirror)

    def _fetch(self, name: str, pot: int, mirror: Mirror) -> Callable[[int, int], None]:
        def fetch(stage: int, player: int) -> None:
            buffer = self._buffers.kept[f"{name}.{pot}.{player}"]
            self.device.read(buffer, mirror.host[stage][player].reshape(-1))

        return fetch

    def _mirrors(self) -> Iterator[tuple[str, int, Mirror]]:
        for pot, game in enumerate(self.games):
            for name in ("regrets", "averages"):
                yield name, pot, getattr(game, name)

    def _fall_behind(self) -> None:
        """What the host has is old from now on."""
        for _, _, mirror in self._mirrors():
            mirror.stale = {(0, int(player)) for player in Player}

    def _send(self, flops: range, names: Sequence[str] = ("averages",)) -> None:
        """Bring what the host has of some flops to the device."""
        for name, pot, mirror in self._mirrors():
            for player in Player if name in names else ():
                array = mirror.array(0, int(player))
                part = slice(flops.start * array.shape[1], flops.stop * array.shape[1])
                buffer = self._buffers.kept[f"{name}.{pot}.{player}"]
                self.device.write(buffer[part], array[flops.start : flops.stop].reshape(-1))

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same games, whichever engine it is from."""
        for _, _, mirror in self._mirrors():
            mirror.stale = set()  # all of it is written now
        super().restore(state)
        self._send(range(self.flops), ("regrets", "averages"))

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]."""
        super().set_average(pot, flop, node, strategy)
        self._send(range(flop, flop + 1))

    @contextmanager
    def rounded(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """For a while, average strategies of some flops are whole numbers, as in a bundle."""
        with followed(super().rounded(flops, numbers), lambda: self._send(flops)):
            yield

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(game.full_bytes for game in self.games)

    @property
    def device_use(self) -> DeviceUse:
        """What they make of the device."""
        return self.device.use(self.memory_bytes)

    @property
    def saved_bytes(self) -> int:
        """None: all hands are stored."""
        return 0

    @property
    def can_drop_hands(self) -> bool:
        """They cannot."""
        return False

    def keep_hands(self, hands: Flags) -> Never:
        """All hands are stored."""
        del hands
        raise InputError(
            "hands are left out of pots on processors: a GPU stores all of them;\n"
            "leave out drop_unplayed_every"
        )

    # -- structures

    def _prepare(self) -> None:
        """Everything that stays the same: betting, cards, rooms, and the structures of passes."""
        length, pots, device = self.cards.lengths[0], self.pots, self.device
        budget = (device.shared_bytes + RESERVED) // 2 - RESERVED
        most_rows = (budget - 4 * TILE_ROWS * length) // (4 * self._row)
        most_shows = max(PLAYERS // (length // 4), 1) * TALL
        lists = [
            Lists([TreeCutter(*tree, player).cut(most_rows, most_shows) for tree in self._trees])
            for player in Player
        ]
        reach_rows = max(one.reach_rows for one in lists)
        value_rows = max(one.value_rows for one in lists)
        room = 4 * self._row * (reach_rows + value_rows)  # bytes a flop
        self._chunk = max(1, min(self.flops, ROOM_BYTES // room))
        table = max(self.flops, AT_ONCE) * len(Discounting._fields)
        for name, size, kind in (
            ("call", 3, np.int32),
            ("flop_of", self.flops, np.int32),
            ("visits", self.flops * pots, np.uint8),
            ("discounts", table, np.float32),
            ("out", pots * self.flops * self.cards.hands[0], np.float32),
            ("sums", 2 * pots * self.flops, np.float64),
            ("reach", self._chunk * reach_rows * self._row, np.float32),
            ("values", self._chunk * value_rows * self._row, np.float32),
            *((f"root.{player}", pots * length, np.float32) for player in Player),
            *((f"least.{player}", pots, np.float32) for player in Player),
        ):
            self._buffers.kept[name] = device.zeros(size, kind)
        cards = self._card_fields()
        for player, one in zip(Player, lists, strict=True):
            tile = one.pieces[:, 2] + one.pieces[:, 3]  # reach and value rows
            shared = 4 * (TILE_ROWS * length + int(tile.max()) * self._row)
            self._launches.append(
                [
                    ("descend", pots, THREADS, 0),
                    ("play", len(one.pieces), PLAYERS, shared),
                    ("ascend", pots, THREADS, 0),
                ]
            )
            self._arrange(player, one, cards)

    def _card_fields(self) -> dict[str, int]:
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

    def _arrange(self, player: Player, lists: Lists, cards: Mapping[str, int]) -> None:
        """The structures of a player's passes, for each mode and chunk."""
        put, other = self._buffers.address, player.opponent
        stores = [
            [
                *(put(f"{name}.{pot}.{who}") for who in (player, other)
                  for name in ("regrets", "averages")),
                *(int(game.slots[0, who]) * self.cards.lengths[0] for who in (player, other)),
            ]
            for pot, game in enumerate(self.games)
        ]  # fmt: skip
        fields = {
            **cards,
            **{name: put(f"{name}.{player}", array) for name, array in lists.arrays.items()},
            **{name: put(f"{name}.{player}") for name in ("root", "least")},
            **{
                name: put(name)
                for name in (
                    "call", "flop_of", "visits", "discounts", "out", "sums", "reach", "values",
                )
            },
            "pots": self.pots,
            "hands": self.cards.hands[0],
            "piece_count": len(lists.pieces),
            "stores": put(f"stores.{player}", np.array(stores, np.int64)),
            "reach_rows": lists.reach_rows,
            "value_rows": lists.value_rows,
        }  # fmt: skip
        for mode in range(3):
            self._arguments[player, mode] = [
                put(
                    f"matrix.{player}.{mode}.{first}",
                    packed(MATRIX, **fields, mode=mode, first=first),
                )
                for first in range(0, self.flops, self._chunk)
            ]


def _refuse_pruning(discounts: NDArray[np.float32]) -> None:
    if (discounts[:, THRESHOLD] > -np.inf).any():
        raise InputError(
            "pruning is for processors: a GPU visits every action;\nleave out prune_warmup"
        )


def _side_by_side(
    count: int, start: NDArray[np.int16], places: NDArray[np.uint8], numbers: NDArray[np.float32]
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
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
