"""The exact subgame on a GPU: the same layout, the same stored numbers, other kernels.

Regrets and averages live on the device; what the host has of them follows when somebody looks. A
half-iteration is about ten launches (`kernels/exact.cu`), and an iteration is recorded once
and then launched as a whole, so that nothing is copied and nobody waits within it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Longs, Singles
from allstreets.betting import BettingTree, Player, Street
from allstreets.cards import Runouts
from allstreets.cfr import IterationWeights
from allstreets.engines.cuda.exact_layout import (
    PIECE,
    TILE,
    Betting,
    card_tables,
    ints,
    places_below,
    sum_bytes,
    turned,
)
from allstreets.engines.cuda.mirrors import Buffers, Mirror
from allstreets.engines.cuda.sources import STREET, exact_source, packed
from allstreets.engines.device import Device, DeviceUse
from allstreets.engines.exact.buckets import MakeBuckets, StreetBuckets
from allstreets.engines.exact.cards import whole_vectors
from allstreets.engines.exact.forest import build_forests
from allstreets.engines.exact.kernels.layout import EVALUATE, UPDATE
from allstreets.engines.exact.subgame import ExactSubgame, Reach, Values
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS, KernelWeights

MOST_ACTIONS = 12  # of a decision: MOST_ACTIONS of the kernels
AT_ONCE = 1024  # iterations whose discounts are sent together
SUM_THREADS = 128  # of the blocks that add up regrets, a board each
SUM_BYTES = 12  # of shared memory for each
END_THREADS = 128, 256  # of a block that works on ends: of short lists of hands, and of long ones
CHUNK_BYTES = 1 << 30  # rows of the boards that are worked on at once

Launch = tuple[str, int, int, int, int]  # kernel, blocks, threads, shared bytes, argument


class CudaSubgame(ExactSubgame):
    """An `ExactSubgame` whose passes run on a device.

    What it stores may be changed from outside until the first pass, and by `restore`.
    """

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Floats,
        root: Runouts,
        combos: tuple[Longs, Longs],
        device: Device,
        threads: int = 1,
        precision: str = "float32",
        like: ExactSubgame | None = None,
        buckets: StreetBuckets | MakeBuckets | None = None,
    ) -> None:
        if precision == "int16":
            raise InputError("precision: int16 is for processors; a GPU takes float32 or float16")
        if int(tree.child_count.max(initial=0)) > MOST_ACTIONS:
            raise InputError(f"a GPU takes decisions with at most {MOST_ACTIONS} actions")
        super().__init__(tree, payoffs, root, combos, threads, precision, like, buckets)
        if any(self.buckets):
            raise InputError(
                "river_groups: suits is for processors: on a GPU every hand has its own strategy.\n"
                "Leave river_groups out; precision: float16 halves the memory"
            )
        self.device = device
        longest = whole_vectors(max(len(hands[0].first) for hands in self.streets[0].hands))
        self._betting = [
            [Betting(one.kernel) for one in forests]
            for forests in (
                build_forests(tree, payoffs / self.chips, own, longest, together=True)
                for own in Player
            )
        ]
        self.regrets: Any = Mirror(self.regrets)
        self.averages: Any = Mirror(self.averages)
        self._buffers = Buffers(device, {})
        self._kernels = device.compile(
            exact_source(), ("HALVES",) if precision == "float16" else ()
        )
        self._there = False  # whether the device has what is stored
        self._launches: dict[tuple[int, int], list[Launch]] = {}
        self._whole: dict[int, list[int]] = {}  # by player: the structures of the streets
        self._replay: Callable[[], None] | None = None

    def iterate(self, reach: tuple[Reach, Reach], every: Sequence[IterationWeights]) -> None:
        """Whole iterations of both players, the same reach throughout."""
        self._send()
        for player in Player:
            self._enter(player, reach[player.opponent])
        for first in range(0, len(every), AT_ONCE):
            some = every[first : first + AT_ONCE]
            table = [[self.kernel_weights(player, now) for player in Player] for now in some]
            self._set_discounts(np.array(table, np.float32))
            for _ in some:
                if self._replay is not None:
                    self._replay()
                    continue
                self._iteration()  # loads what a recording may not
                self._replay = self.device.recorded(self._iteration)
        self._stale()

    def _iteration(self) -> None:
        for player in Player:
            self._launch(player, UPDATE)
        tick = self._launches[Player.OOP, UPDATE][0][4]
        self._kernels.launch("tick", 1, 1, 0, tick)

    def run(
        self, player: Player, other: Reach, mode: int, discounts: KernelWeights = NO_WEIGHTS
    ) -> Values:
        """One pass from the root and back."""
        self._send()
        self._enter(player, other)
        self._set_discounts(np.array([[discounts, discounts]], np.float32))
        self._launch(player, mode)
        if mode == UPDATE:
            self._stale()
        return self._values(player)

    def look(self, player: Player, other: Reach) -> None:
        """The host evaluates what it fetches: its rows are what is looked at."""
        super().run(player, other, EVALUATE)

    def _launch(self, player: Player, mode: int) -> None:
        for name, blocks, threads, shared, argument in self._launches[player, mode]:
            self._kernels.launch(name, blocks, threads, shared, argument)

    def _enter(self, player: Player, other: Reach) -> None:
        """Send the other player's reach at the root."""
        self.device.write(self._buffers.kept[f"root.{player}"], self._padded_reach(player, other))

    def _set_discounts(self, table: Singles) -> None:
        """[T, 2, 6]: what the next iterations do."""
        self.device.write(self._buffers.kept["discounts"][: table.size], table.reshape(-1))
        self.device.write(self._buffers.kept["clock"], np.zeros(1, np.int32))

    def _values(self, player: Player) -> Values:
        """[H]: what the root's hands are worth."""
        found = np.zeros(int(self.boards[player][0].own_start[1]), np.float32)
        self.device.read(self._buffers.kept["line_values.0"][: found.size], found)
        values = found[self.streets[0].hands[player][0].hand]
        return values.astype(np.float64) * self.scale[player]

    # -- what is stored

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        both = (self.regrets.host, self.averages.host)
        return sum(array.nbytes for host in both for pair in host for array in pair)

    @property
    def device_use(self) -> DeviceUse:
        """What it makes of the device."""
        return self.device.use(self.memory_bytes)

    def regret_sums(self) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many regrets there are), in chips per hand."""
        self._send()
        total, largest, entries = 0.0, 0.0, 0
        for player in Player:
            for level, argument in enumerate(self._whole[player]):
                boards = len(self.boards[player][level].own_start) - 1
                shared = SUM_BYTES * SUM_THREADS
                self._kernels.launch("sum_regrets", boards, SUM_THREADS, shared, argument)
                found = np.zeros(2 * boards)
                self.device.read(self._buffers.kept[f"regret_sums.{level}"], found)
                total += float(found[::2].sum()) * self.chips
                largest = max(largest, float(found[1::2].max()) * self.chips)
                counts = self.row_counts(level, player)
                entries += int(counts.sum()) * self.slots[level].actions[player]
        return total, largest, entries

    def _stale(self) -> None:
        """The host is behind from now on."""
        every = {(level, int(player)) for level in range(len(self.levels)) for player in Player}
        self.regrets.stale, self.averages.stale = set(every), set(every)

    def _send(self) -> None:
        """Bring everything to the device that is not there yet."""
        if self._there:
            return
        for name, mirror in (("regrets", self.regrets), ("averages", self.averages)):
            for level, pair in enumerate(mirror.host):
                for player in Player:
                    key, array = f"{name}.{player}.{level}", pair[player]
                    if key not in self._buffers.kept:
                        self._buffers.kept[key] = self.device.zeros(array.size, array.dtype)
                    if (level, int(player)) in mirror.handed_out:
                        self.device.write(self._buffers.kept[key], array)
            mirror.fetch = self._fetch(name, mirror)
            mirror.stale = set()
        if not self._launches:
            self._make_room()
            for player in Player:
                self._prepare(player)
        self._there = True

    def _fetch(self, name: str, mirror: Mirror) -> Callable[[int, int], None]:
        def fetch(level: int, player: int) -> None:
            buffer = self._buffers.kept[f"{name}.{player}.{level}"]
            self.device.read(buffer, mirror.host[level][player])

        return fetch

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same subgame."""
        self.regrets.stale, self.averages.stale = set(), set()
        super().restore(state)
        self._there = False

    # -- structures and launches

    def _prepare(self, player: Player) -> None:
        """The structures of all streets, and the launches of a pass."""
        put = self._buffers.address
        put(f"root.{player}", np.zeros(int(self.boards[player][0].other_start[1]), np.float32))
        put("discounts", np.zeros(AT_ONCE * 2 * len(NO_WEIGHTS), np.float32))
        put("clock", np.zeros(1, np.int32))
        chunks = [self._chunks(player, level) for level in range(len(self.levels))]
        streets = [
            [self._fields(player, level, int(first)) for first in cuts[:-1]]
            for level, cuts in enumerate(chunks)
        ]
        for mode in range(3):
            arguments = [
                [
                    put(f"street.{player}.{level}.{mode}.{part}", packed(STREET, **each, mode=mode))
                    for part, each in enumerate(parts)
                ]
                for level, parts in enumerate(streets)
            ]
            self._launches[player, mode] = list(self._passes(player, chunks, arguments))
            self._whole[player] = [parts[0] for parts in arguments]

    def _make_room(self) -> None:
        """Rows of all streets; passes follow each other, so both players have the same ones."""
        for level in range(len(self.levels)):
            sizes = {"reach": 1, "values": 1, "line_values": 1, "net": 1}
            for player in Player:
                boards, betting = self.boards[player][level], self._betting[player][level]
                own, other = boards.own_start, boards.other_start
                cuts = self._chunks(player, level)
                needs = {
                    "reach": max(np.diff(other[cuts])) * betting.reach_rows,
                    "values": max(np.diff(own[cuts])) * betting.value_rows,
                    "line_values": own[-1] * len(betting.lanes),
                    "net": own[-1] * TILE * betting.tiles if boards.equity.size else 1,
                }
                sizes = {name: max(size, int(needs[name])) for name, size in sizes.items()}
            for name, size in sizes.items():
                self._buffers.kept[f"{name}.{level}"] = self.device.zeros(size)
            count = len(self.streets[level].runouts)
            sums = self.device.zeros(2 * count, np.float64)
            self._buffers.kept[f"regret_sums.{level}"] = sums

    def _chunks(self, player: Player, level: int) -> Longs:
        """Where the boards that are worked on at once begin; reach of those above stays."""
        boards, betting = self.boards[player][level], self._betting[player][level]
        count = len(boards.own_start) - 1
        if level + 1 < len(self.levels):
            return np.array([0, count])
        rows = boards.own_start * betting.value_rows + boards.other_start * betting.reach_rows
        parts = -(-4 * int(rows[-1]) // CHUNK_BYTES)
        cuts = np.searchsorted(rows, rows[-1] * np.arange(1, parts) / parts)
        return np.unique([0, *cuts.tolist(), count])

    def _passes(
        self,
        player: Player,
        chunks: Sequence[Longs],
        arguments: Sequence[Sequence[int]],
    ) -> Iterator[Launch]:
        """The launches of a half-iteration, one after the other."""
        last = len(self.levels) - 1
        for level in range(last):
            yield from self._down(player, level, int(chunks[level][-1]), arguments[level][0])
        for count, argument in zip(np.diff(chunks[last]), arguments[last], strict=True):
            yield from self._down(player, last, int(count), argument)
            yield self._up(player, last, int(count), argument)
        for level in reversed(range(last)):
            count, argument = int(chunks[level][-1]), arguments[level][0]
            leaves = len(self._betting[player][level + 1].lanes)
            yield "gather", count * leaves * self._pieces(player, level), PIECE, 0, argument
            yield self._up(player, level, count, argument)

    def _down(self, player: Player, level: int, count: int, argument: int) -> Iterator[Launch]:
        boards, betting = self.boards[player][level], self._betting[player][level]
        pieces = self._pieces(player, level)
        yield "descend", count * len(betting.lanes) * pieces, PIECE, 0, argument
        if boards.equity.size and betting.tiles:
            yield "all_in", count * betting.tiles * pieces, PIECE, 0, argument
        if betting.tiles:
            need = sum_bytes(boards)
            threads = END_THREADS[need > 48 * 1024]
            yield "ends", count * betting.tiles, threads, need, argument

    def _up(self, player: Player, level: int, count: int, argument: int) -> Launch:
        blocks = count * len(self._betting[player][level].lanes) * self._pieces(player, level)
        return "ascend", blocks, PIECE, 0, argument

    def _equity(self, player: Player, level: int) -> int:
        """The matrices of all-ins, once where they are both players'; 0: there are none."""
        boards, first = self.boards[player][level], self.boards[Player.OOP][level]
        if not boards.equity.size:
            return 0
        whose = Player.OOP if boards.equity is first.equity else player
        key = f"equity.{whose}.{level}"
        return self._buffers.address(key, None if key in self._buffers.kept else turned(boards))

    def _pieces(self, player: Player, level: int) -> int:
        boards = self.boards[player][level]
        most = max(np.diff(boards.own_start).max(), np.diff(boards.other_start).max())
        return -(-int(most) // PIECE)

    def _fields(self, player: Player, level: int, first_board: int) -> dict[str, int]:
        """The structure of a street from a board on, but for the mode."""
        other, key = player.opponent, f"{player}.{level}"
        boards, betting = self.boards[player][level], self._betting[player][level]
        forest, street = betting.forest, self.streets[level]

        def put(name: str, array: Any) -> int:
            return self._buffers.address(f"{name}.{key}", array)

        def kept(name: str, where: int = level) -> int:
            return self._buffers.address(f"{name}.{where}")

        fields: dict[str, int] = {
            "player": int(player),
            "is_river": int(self.levels[level] == Street.RIVER),
            "discounts": self._buffers.address("discounts"),
            "clock": self._buffers.address("clock"),
            "nodes": put("nodes", betting.nodes),
            "lines": len(betting.lanes),
            "line_nodes": put("line_nodes", betting.line_nodes),
            "line_zeros": put("line_zeros", betting.by_line(betting.zeros)),
            "line_sums": put("line_sums", betting.by_line(betting.leaf_sums[:, 0])),
            "line_reach": put("line_reach", betting.line_reach),
            "line_value": put("line_value", betting.line_value),
            "tiles": betting.tiles,
            "ends": put("ends", betting.ends),
            "zeros": put("zeros", betting.zeros),
            "leaf_sums": put("leaf_sums", betting.leaf_sums),
            "reach_rows": betting.reach_rows,
            "value_rows": betting.value_rows,
            "own_actions": int(forest.own_actions[-1]),
            "other_actions": int(forest.other_actions[-1]),
            "own_nodes": forest.own_nodes,
            "first_board": first_board,
            "pieces": self._pieces(player, level),
            "piece": PIECE,
            "own_start": put("own_start", ints(boards.own_start)),
            "other_start": put("other_start", ints(boards.other_start)),
            "own_cards": put("own_cards", boards.own_cards),
            "own_twin": put("own_twin", boards.own_twin),
            "combo_start": put("combo_start", ints(boards.combo_start)),
            "combo_hand": put("combo_hand", boards.combo_hand),
            "equity_start": put("equity_start", boards.equity_start),
            "equity": self._equity(player, level),
            "parent": put("parent", ints(street.parents)),
            "own_regrets": kept(f"regrets.{player}"),
            "own_average": kept(f"averages.{player}"),
            "other_regrets": kept(f"regrets.{other}"),
            "other_average": kept(f"averages.{other}"),
            "own_locked": put("locked", self.locked[level][player])
            if self.locked[level][player].size
            else 0,
            # Rows of the first of these boards stand at the beginning.
            "reach": kept("reach") - 4 * int(boards.other_start[first_board]) * betting.reach_rows,
            "values": kept("values") - 4 * int(boards.own_start[first_board]) * betting.value_rows,
            "line_values": kept("line_values"),
            "net": kept("net"),
            "regret_sums": kept("regret_sums"),
        }
        fields |= {name: put(name, array) for name, array in card_tables(boards).items()}
        if level == 0:
            hands = int(boards.other_start[1])
            fields |= {
                "other_parent": put("other_parent", np.arange(hands, dtype=np.uint16)),
                "above_start": put("above_start", ints([0, hands])),
                "above_rows": 1,
                "above_row": put("above_row", ints([0])),
                "above_reach": self._buffers.address(f"root.{player}"),
            }
        else:
            above = self._betting[player][level - 1]
            fields |= {
                "other_parent": put("other_parent", boards.other_parent),
                "above_start": put("above_start", ints(self.boards[player][level - 1].other_start)),
                "above_rows": above.reach_rows,
                "above_row": put("above_row", above.leaves(betting)[0]),
                "above_reach": kept("reach", level - 1),
            }
        if level + 1 == len(self.levels):
            return fields | dict.fromkeys(
                ("leaves", "leaf_value", "below_start", "below", "below_values"), 0
            )
        deeper, there = self._betting[player][level + 1], self.boards[player][level + 1]
        parents = np.array(self.streets[level + 1].parents, np.int64)
        start, places = places_below(boards, there, parents)
        return fields | {
            "leaves": len(deeper.lanes),
            "leaf_value": put("leaf_value", betting.leaves(deeper)[1]),
            "below_start": put("below_start", start),
            "below": put("below", places),
            "below_values": kept("line_values", level + 1),
        }
