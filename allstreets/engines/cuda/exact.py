"""The exact subgame on a GPU: the same layout, the same stored numbers, other kernels.

Regrets and averages live on the device; the host's copies are updated when they are read. A
half-iteration is about ten launches (`exact.cu`), and an iteration is recorded once and then
launched as a whole, so that nothing is copied and nothing waits within it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Ints, Longs, Singles
from allstreets.betting import BettingTree, Player, Street
from allstreets.cards import Runouts
from allstreets.cfr import IterationWeights
from allstreets.engines.cuda.kernels.lists import CARDS, place_in_lists
from allstreets.engines.cuda.programs import (
    SUM_BYTES,
    Array,
    Arrays,
    Buffers,
    Launch,
    Recordings,
    ints,
    packed,
    refuse_long_decisions,
    source,
)
from allstreets.engines.cuda.residence import Mirror
from allstreets.engines.cuda.streets import (
    PIECE,
    SEGMENTS,
    TILE,
    StreetBetting,
    bucket_members,
    card_lists,
    hands_below,
    in_tiles,
    street_bettings,
)
from allstreets.engines.device import Device, DeviceUse
from allstreets.engines.exact.buckets import MakeBuckets, StreetBuckets
from allstreets.engines.exact.cards import StreetBoards, whole_vectors
from allstreets.engines.exact.kernels.layout import EVALUATE, UPDATE, Boards
from allstreets.engines.exact.subgame import ExactSubgame, Reach, Values
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS, KernelWeights

AT_ONCE = 1024  # iterations whose weights are sent together
BUCKET_THREADS = 256  # of a block that takes all hands of a board: buckets learn together
SUM_THREADS = 128  # of the blocks that add up regrets, a board each
TERMINAL_THREADS = 128, 512  # of a block with terminals: of short lists of hands, and of long ones
SLICES = 8  # of the opponent's hands at an all-in, each summed by threads of its own
CHUNK_BYTES = 1 << 30  # rows of the boards that are worked on at once


class CudaSubgame(ExactSubgame):
    """An `ExactSubgame` whose passes run on a device.

    Its stored numbers may be changed from outside until the first pass, and by `put_strategy` and
    `restore`.
    """

    _there = False  # whether the device has what is stored

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
        tremble: float = 0.0,
        streets: Sequence[StreetBoards] = (),
    ) -> None:
        if precision == "int16":
            raise InputError("precision: int16 runs on CPUs only; a GPU takes float32 or float16")
        refuse_long_decisions([tree])
        super().__init__(
            tree,
            payoffs,
            root,
            combos,
            threads,
            precision,
            like,
            buckets,
            tremble=tremble,
            streets=streets,
        )
        self.device = device
        longest = whole_vectors(max(len(hands[0].first) for hands in self.streets[0].hands))
        self._betting = [street_bettings([(tree, payoffs)], player, longest) for player in Player]
        self.regrets: Any = Mirror(self.regrets)
        self.averages: Any = Mirror(self.averages)
        if tree.is_locked:  # their strategies are there already
            for mirror in (self.regrets, self.averages):
                mirror.hand_out()
        self._buffers = Buffers(device)
        self._cards = CardTables(device)
        if isinstance(like, CudaSubgame) and self._has_cards_of(like):
            self._cards = like._cards
        halves = ("HALVES",) if precision == "float16" else ()
        self._kernels = device.compile(source("exact.cu"), halves)
        self._launches: dict[tuple[int, int], list[Launch]] = {}
        self._whole: dict[int, list[int]] = {}  # by player: the structures of the streets
        self._recordings = Recordings(device)

    def _has_cards_of(self, other: ExactSubgame) -> bool:
        """Whether boards, hands and buckets are those of another game."""
        pairs = zip(self.buckets, other.buckets, strict=False)
        return other.streets is self.streets and all(mine is theirs for mine, theirs in pairs)

    def iterate(self, reach: tuple[Reach, Reach], weights: Sequence[IterationWeights]) -> None:
        """Whole iterations of both players, the same reach throughout."""
        self._send()
        for player in Player:
            self._enter(player, reach[player.opponent])
        for first in range(0, len(weights), AT_ONCE):
            some = weights[first : first + AT_ONCE]
            table = [[self.kernel_weights(player, now) for player in Player] for now in some]
            self._set_weights(np.array(table, np.float32))
            for _ in some:
                self._recordings.run(0, None, self._iteration)
        self._stale()

    def _iteration(self) -> None:
        for player in Player:
            self._launch(player, UPDATE)
        tick = self._launches[Player.OOP, UPDATE][0][4]
        self._kernels.launch("tick", 1, 1, 0, tick)

    def run(
        self, player: Player, other: Reach, mode: int, weights: KernelWeights = NO_WEIGHTS
    ) -> Values:
        """One pass from the root and back."""
        self._send()
        self._enter(player, other)
        self._set_weights(np.array([[weights, weights]], np.float32))
        self._launch(player, mode)
        if mode == UPDATE:
            self._stale()
        # [H]: what the root's hands are worth
        root = np.zeros(int(self.boards[player][0].own_start[1]), np.float32)
        values = self._buffers.read("line_values.0", root)[self.streets[0].hands[player][0].hand]
        return values.astype(np.float64) * self.scale[player]

    def look(self, player: Player, other: Reach, mode: int = EVALUATE) -> None:
        """Evaluate on the host: views read its rows."""
        super().run(player, other, mode)

    def _launch(self, player: Player, mode: int) -> None:
        for launch in self._launches[player, mode]:
            self._kernels.launch(*launch)

    def _enter(self, player: Player, opponent_reach: Reach) -> None:
        """Send the opponent's reach at the root."""
        self._buffers.write(f"root.{player}", self._padded_reach(player, opponent_reach))

    def _set_weights(self, table: Singles) -> None:
        """[T, 2, 8]: those of the next iterations."""
        self._buffers.write("weights", table)
        self._buffers.write("clock", np.zeros(1, np.int32))

    # -- what is stored

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        both = (self.regrets.host, self.averages.host)
        return sum(array.nbytes for host in both for pair in host for array in pair)

    @property
    def device_use(self) -> DeviceUse:
        """The subgame's use of the device."""
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
                sums = self._buffers.read(f"regret_sums.{level}", np.zeros((boards, 2)))
                total += float(sums[:, 0].sum()) * self.chips
                largest = max(largest, float(sums[:, 1].max()) * self.chips)
                actions = int(self._betting[player][level].free_actions.sum())
                entries += int(self.row_counts(level, player).sum()) * actions
        return total, largest, entries

    def _stale(self) -> None:
        """Mark the host's copies as old."""
        self.regrets.fall_behind()
        self.averages.fall_behind()

    def _send(self) -> None:
        """Send everything to the device that is not there yet."""
        if self._there:
            return
        for name, mirror in (("regrets", self.regrets), ("averages", self.averages)):
            for level, pair in enumerate(mirror.host):
                for player in Player:
                    key, array = f"{name}.{player}.{level}", pair[player]
                    if key not in self._buffers.kept:
                        self._buffers.zeros(key, array.size, array.dtype)
                    if (level, int(player)) in mirror.handed_out:
                        self._buffers.write(key, array)
            mirror.fetch = self._fetch(name, mirror)
            mirror.stale = set()
        if not self._launches:
            self._make_room()
            for player in Player:
                self._prepare(player)
        self._there = True

    def _fetch(self, name: str, mirror: Mirror) -> Callable[[int, int], None]:
        def fetch(level: int, player: int) -> None:
            self._buffers.read(f"{name}.{player}.{level}", mirror.host[level][player])

        return fetch

    def put_strategy(
        self, level: int, number: int, node: int, strategy: NDArray[np.floating[Any]]
    ) -> None:
        """Let the average strategy of a node on a board be `strategy`, on the device too."""
        super().put_strategy(level, number, node, strategy)
        if self._there:
            player = self.tree.player_at(node)
            for name, mirror in (("averages", self.averages), ("regrets", self.regrets)):
                if name == "averages" or node in self.tree.locks:
                    self._buffers.write(f"{name}.{player}.{level}", mirror.host[level][player])

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same subgame."""
        self.regrets.stale, self.averages.stale = set(), set()
        super().restore(state)
        self._there = False

    # -- structures and launches

    def _prepare(self, player: Player) -> None:
        """The structures of all streets, and the launches of a pass."""
        put = self._buffers.address
        chunks = [self._chunks(player, level) for level in range(len(self.levels))]
        streets = [
            [self._fields(player, level, int(first)) for first in cuts[:-1]]
            for level, cuts in enumerate(chunks)
        ]
        for mode in range(3):
            arguments = [
                [
                    put(
                        f"street.{player}.{level}.{mode}.{part}",
                        packed("exact.cu", "Exact", {**each, "mode": mode}),
                    )
                    for part, each in enumerate(parts)
                ]
                for level, parts in enumerate(streets)
            ]
            self._launches[player, mode] = list(self._passes(player, chunks, arguments))
            self._whole[player] = [parts[0] for parts in arguments]

    def _make_room(self) -> None:
        """Rows of all streets; passes follow each other, so both players have the same ones."""
        zeros = self._buffers.zeros
        zeros("weights", AT_ONCE * 2 * len(NO_WEIGHTS))
        zeros("clock", 1, np.int32)
        for player in Player:
            zeros(f"root.{player}", int(self.boards[player][0].other_start[1]))
        for level in range(len(self.levels)):
            sizes = {"reach": 1, "values": 1, "line_values": 1, "net": 1}
            for player in Player:
                boards, betting = self.boards[player][level], self._betting[player][level]
                hands, opponents = boards.own_start, boards.other_start
                cuts = self._chunks(player, level)
                needs = {
                    "reach": max(np.diff(opponents[cuts])) * betting.reach_rows,
                    "values": max(np.diff(hands[cuts])) * betting.value_rows,
                    "line_values": hands[-1] * betting.lines,
                    "net": hands[-1] * len(_showdowns_first(betting)) * bool(boards.equity.size),
                }
                sizes = {name: max(size, int(needs[name])) for name, size in sizes.items()}
            for name, size in sizes.items():
                zeros(f"{name}.{level}", size)
            zeros(f"regret_sums.{level}", 2 * len(self.streets[level].runouts), np.float64)

    def _chunks(self, player: Player, level: int) -> Longs:
        """The first boards of chunks that are worked on at once; reach of boards above stays."""
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
            yield from self._forward(player, level, int(chunks[level][-1]), arguments[level][0])
        for count, argument in zip(np.diff(chunks[last]), arguments[last], strict=True):
            yield from self._forward(player, last, int(count), argument)
            yield self._backward(player, last, int(count), argument)
        for level in reversed(range(last)):
            count, argument = int(chunks[level][-1]), arguments[level][0]
            leaves = self._betting[player][level + 1].lines
            yield "gather", count * leaves * self._pieces(player, level), PIECE, 0, argument
            yield self._backward(player, level, count, argument)

    def _forward(self, player: Player, level: int, count: int, argument: int) -> Iterator[Launch]:
        boards, betting = self.boards[player][level], self._betting[player][level]
        pieces, tiles = self._pieces(player, level), len(_showdowns_first(betting)) // TILE
        kernel = "forward_buckets" if self.buckets[level] else "forward"
        yield kernel, count * betting.lines * pieces, PIECE, 0, argument
        if boards.equity.size and (shown := _all_in_tiles(betting)):
            blocks, threads = count * shown * pieces, SLICES * PIECE
            yield "all_in", blocks, threads, 4 * TILE * threads, argument
        if tiles:
            need = _terminal_bytes(boards)
            threads = TERMINAL_THREADS[need > 48 * 1024]
            yield "terminals", count * tiles, threads, need, argument

    def _backward(self, player: Player, level: int, count: int, argument: int) -> Launch:
        betting, boards = self._betting[player][level], self.boards[player][level]
        if not self.buckets[level]:
            blocks = count * betting.lines * self._pieces(player, level)
            return "backward", blocks, PIECE, 0, argument
        actions = int(betting.forest.actions[betting.forest.is_own].max(initial=0))
        chances = 4 * int(np.diff(boards.own_rows).max()) * actions
        return "backward_buckets", count * betting.lines, BUCKET_THREADS, chances, argument

    def _pieces(self, player: Player, level: int) -> int:
        boards = self.boards[player][level]
        most = max(np.diff(boards.own_start).max(), np.diff(boards.other_start).max())
        return -(-int(most) // PIECE)

    def _fields(self, player: Player, level: int, first_board: int) -> dict[str, int]:
        """The structure of a street from a board on, except for the mode."""
        opponent, kept = player.opponent, self._buffers.address
        boards, betting = self.boards[player][level], self._betting[player][level]
        forest, locked = betting.forest, self.locked[level][player]
        terminals = _showdowns_first(betting)
        # Rows of the first of these boards stand at the beginning.
        reach = 4 * int(boards.other_start[first_board]) * betting.reach_rows
        values = 4 * int(boards.own_start[first_board]) * betting.value_rows
        fields = betting.fields() | {
            "player": int(player),
            "is_river": int(self.levels[level] == Street.RIVER),
            "weights": kept("weights"),
            "clock": kept("clock"),
            "tiles": len(terminals) // TILE,
            "terminals": terminals,
            "all_in_tiles": _all_in_tiles(betting),
            "player_actions": int(forest.own_actions[-1]),
            "opponent_actions": int(forest.other_actions[-1]),
            "first_board": first_board,
            "pieces": self._pieces(player, level),
            "player_regrets": kept(f"regrets.{player}.{level}"),
            "player_average": kept(f"averages.{player}.{level}"),
            "opponent_regrets": kept(f"regrets.{opponent}.{level}"),
            "opponent_average": kept(f"averages.{opponent}.{level}"),
            "player_locked": locked if locked.size else 0,
            "reach": kept(f"reach.{level}") - reach,
            "values": kept(f"values.{level}") - values,
            "line_values": kept(f"line_values.{level}"),
            "net": kept(f"net.{level}"),
            "tremble": np.array([self.tremble], np.float32),
            "regret_sums": kept(f"regret_sums.{level}"),
        }
        if level == 0:
            fields |= {
                "above_rows": 1,
                "above_row": ints([0]),
                "above_reach": kept(f"root.{player}"),
            }
        else:
            above = self._betting[player][level - 1]
            fields |= {
                "above_rows": above.reach_rows,
                "above_row": above.leaves(betting)[0],
                "above_reach": kept(f"reach.{level - 1}"),
            }
        if level + 1 < len(self.levels):
            deeper = self._betting[player][level + 1]
            fields |= {
                "leaves": deeper.lines,
                "leaf_value": betting.leaves(deeper)[1],
                "below_rows": deeper.lines,
                "below_values": kept(f"line_values.{level + 1}"),
            }
        parents = [ints(street.parents) for street in self.streets]
        on_cards = self._cards.fields(self.boards, parents, player, level)
        on_cards |= self._cards.stored(self, player, level)
        return self._buffers.addresses(f"{player}.{level}", fields) | on_cards


class CardTables:
    """Arrays that depend on the cards alone, shared by all pots of a flop.

    Players who hold the same hands share them, too.
    """

    def __init__(self, device: Device) -> None:
        self._buffers = Buffers(device)
        self._known: dict[tuple[Player, int], dict[str, int]] = {}

    def fields(
        self,
        boards: Sequence[Sequence[Boards]],
        parents: Sequence[Ints],
        player: Player,
        level: int,
    ) -> dict[str, int]:
        """The fields of a street; `boards` by player and street, `parents` by street."""
        oop, ip = (boards[each][0] for each in Player)
        if np.array_equal(oop.combo_cards, ip.combo_cards):
            player = Player.OOP
        streets = boards[player]
        if (player, level) not in self._known:
            given = _card_fields(streets, parents, level)
            self._known[player, level] = self._buffers.addresses(f"{player}.{level}", given)
        return self._known[player, level] | self._all_in(streets[level], player, level)

    def stored(self, game: ExactSubgame, player: Player, level: int) -> dict[str, int]:
        """The fields that say what a street stores: numbers of hands, or of their buckets."""
        buckets, fields = game.buckets[level], dict[str, int]()
        for side, whose in (("player", player), ("opponent", player.opponent)):
            rows = game.boards[whose][level].own_rows
            fields[f"{side}_rows"] = self._buffers.address(f"rows.{whose}.{level}", ints(rows))
            if buckets is not None:
                whose = Player.OOP if buckets[0] is buckets[1] else whose
                row = buckets[whose].row
                fields[f"{side}_bucket"] = self._buffers.address(f"bucket.{whose}.{level}", row)
        live: Arrays = {"player_live": ints(game.row_counts(level, player))}
        if buckets is not None:
            player = Player.OOP if buckets[0] is buckets[1] else player
            start = game.streets[level].lists[player].start
            first, members = bucket_members(buckets[player], start)
            live |= {"member_first": ints(first), **members}
        return fields | self._buffers.addresses(f"{player}.{level}.stored", live)

    def _all_in(self, boards: Boards, player: Player, level: int) -> dict[str, int]:
        """The matrices of all-ins, if some pot has any."""
        if not boards.equity.size:
            return {}
        key = f"{player}.{level}"
        matrices = {} if f"equity.{key}" in self._buffers.kept else {"equity": _turned(boards)}
        starts = self._buffers.addresses(key, matrices | {"equity_start": boards.equity_start})
        return starts | {"equity": self._buffers.address(f"equity.{key}")}


def _card_fields(streets: Sequence[Boards], parents: Sequence[Ints], level: int) -> Arrays:
    """The arrays of a street that know nothing of the betting."""
    boards = streets[level]
    fields: Arrays = {
        "player_start": ints(boards.own_start),
        "opponent_start": ints(boards.other_start),
        "player_cards": boards.own_cards,
        "player_twin": boards.own_twin,
        "combo_start": ints(boards.combo_start),
        "combo_hand": boards.combo_hand,
        "parent": parents[level],
        **_card_tables(boards),
    }
    if level == 0:
        hands = int(boards.other_start[1])
        fields |= {
            "parent_hand": np.arange(hands, dtype=np.uint16),
            "above_start": ints([0, hands]),
        }
    else:
        above = ints(streets[level - 1].other_start)
        fields |= {"parent_hand": boards.other_parent, "above_start": above}
    if level + 1 < len(streets):
        start, hands_there = hands_below(
            boards, streets[level + 1], parents[level + 1].astype(np.int64)
        )
        fields |= {"below_start": start, "below": hands_there}
    return fields


def _showdowns_first(betting: StreetBetting) -> Array:
    """[TILE · …]: the terminals of a street; few tiles have the showdowns among them."""
    terminals = betting.terminals
    return in_tiles(terminals[np.argsort(terminals["amounts"][:, 0] == 0, kind="stable")])


def _all_in_tiles(betting: StreetBetting) -> int:
    """Tiles in which hands are shown."""
    return -(-int(np.count_nonzero(betting.terminals["amounts"][:, 0])) // TILE)


def _card_tables(boards: Boards) -> Arrays:
    """The lists of the opponent's combos by card, and where the player's hands stand in them."""
    lists = card_lists(boards)
    tables = np.zeros(8 * int(boards.own_start[-1]), np.uint16)
    place_in_lists(
        boards.own_start, boards.own_cards, boards.below, boards.upto, boards.combo_start,
        boards.combo_cards, lists["card_start"], tables,
    )  # fmt: skip
    return {**lists, "tables": tables}


def _turned(boards: Boards) -> Singles:
    """The matrices of all-ins as [opponent's hand][player's hand]."""
    turned = np.zeros_like(boards.equity)
    hands, opponents = np.diff(boards.own_start), np.diff(boards.other_start)
    for start, mine, his in zip(boards.equity_start.tolist(), hands, opponents, strict=True):
        matrix = boards.equity[start : start + mine * his].reshape(mine, his)
        turned[start : start + mine * his] = matrix.T.reshape(-1)
    return turned


def _terminal_bytes(boards: Boards) -> int:
    """Shared memory of a block that works on a tile of terminals: `Sums` of the kernel."""
    combos, hands = (int(np.diff(s).max()) for s in (boards.combo_start, boards.other_start))
    entries = 2 * hands + (combos + 1) + (2 * combos + CARDS) + CARDS + 2 * SEGMENTS + 2
    return 4 * TILE * entries + 2 * 3 * combos
