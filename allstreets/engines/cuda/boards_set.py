"""The games of all pots that go by one pair of ranges, on a device: arrays, structures, launches.

A pass works on as many flops at a time as find room for the rows of their turns and rivers
(`kernels/boards.cu`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.engines.cuda.boards_layout import FLOP, RIVER, TURN, FlatBoards, lines_together
from allstreets.engines.cuda.boards_rivers import PLAYERS, RiverPieces, Table
from allstreets.engines.cuda.boards_street import LANES, StreetBetting, street_bettings
from allstreets.engines.cuda.exact import SUM_BYTES
from allstreets.engines.cuda.exact_layout import PIECE, SEGMENTS
from allstreets.engines.cuda.kernels.card_lists import CARDS
from allstreets.engines.cuda.mirrors import Buffers
from allstreets.engines.cuda.sources import BOARDS, boards_source, packed
from allstreets.engines.device import Buffer, Device, Kernels
from allstreets.engines.exact.kernels.layout import BEST_RESPONSE, EVALUATE, UPDATE
from allstreets.engines.joined_trees import Trees
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS

MOVERS = 1024  # threads of a block that deals or collects
CLIMBERS = 256  # of a block that goes up a line of flop or turn
FOLDERS = 256
ROOM_BYTES = 4_000_000_000  # of the rows of turns and rivers, for as many flops as fit
AT_ONCE = 64  # iterations whose discounts are sent together
NAMES = "regrets", "averages"
NUMBER = {"regrets": np.uint16, "averages": np.int16}
EVERYWHERE = frozenset((level, int(player)) for level in (FLOP, TURN, RIVER) for player in Player)
TOLD = "discounts", "clock", "visits", "out", "regret_sums"  # what passes are told, and say

Launch = tuple[str, int, int, int, int]  # kernel, blocks, threads, shared bytes, argument


def compiled(device: Device, groups: int) -> Kernels:
    """The kernels for so many groups."""
    sizes = Table(groups, device.shared_bytes).defines()
    sizes |= {"WIDE": lines_together(device.shared_bytes), "MOVERS": MOVERS}
    defines = (f"{name}={size}" for name, size in sizes.items())
    return device.compile(boards_source(), ("HALVES", *defines))


@dataclass(frozen=True)
class Chunk:
    """Flops that are worked on at once, and their first boards by street, with the end."""

    flops: range
    boards: tuple[range, range, range]


class SetThere:
    """The games of all pots that go by one pair of ranges, on a device."""

    def __init__(
        self,
        device: Device,
        kernels: Kernels,
        pots: Longs,
        trees: Trees,
        cards: FlatBoards,
    ) -> None:
        self.device, self.pots, self.cards, self._kernels = device, pots, cards, kernels
        self.flops = len(cards.cards)
        self.betting = [street_bettings(trees, own, cards.groups) for own in Player]
        table = Table(cards.groups, device.shared_bytes)
        self.pieces = [RiverPieces(each[RIVER], len(pots), table) for each in self.betting]
        self._buffers = Buffers(device, {})
        # By street: what both players read.
        self._same = [
            {
                name: self._buffers.address(f"{name}.on.{level}", array)
                for name, array in cards.street(level).items()
            }
            for level in (FLOP, TURN, RIVER)
        ]
        self._launches: dict[tuple[Player, int], list[list[Launch]]] = {}
        self._whole: dict[Player, list[int]] = {}  # structures of the streets, from the first board
        self._busy: list[int] = []  # chunks that are asked for
        self._recorded: tuple[list[int], Callable[[], None]] | None = None
        self._wide = lines_together(device.shared_bytes)
        self.chunks = list(self._chunks())

    def settle(self, rooms: Mapping[str, Buffer]) -> None:
        """Take the rooms that all sets share, and make the rest."""
        self._buffers.kept.update(rooms)
        self._allocate()
        for player in Player:
            self._prepare(player)

    # -- passes

    def enter(self, player: Player, reach: Floats) -> None:
        """Send the other's reach [P, 169] of all pots, as a share of the flop's hands."""
        combos = self.cards.cards[0].streets[0].hands[0][0].sizes.sum()
        rows = (reach[self.pots] / combos).astype(np.float32)
        self.device.write(self._buffers.kept[f"root.{player}"], rows.reshape(-1))

    def ask(self, pairs: Flags, discounts: Singles) -> None:
        """Send what the next passes are about: games [P, F], discounts [T, 2, F, P, 8]."""
        visits = pairs[self.pots].T  # [F, P]
        self._busy = [
            number for number, chunk in enumerate(self.chunks)
            if visits[chunk.flops.start : chunk.flops.stop].any()
        ]  # fmt: skip
        kept = self._buffers.kept
        self.device.write(kept["visits"], np.ascontiguousarray(visits, np.uint8).reshape(-1))
        table = np.ascontiguousarray(discounts[:, :, :, self.pots]).reshape(-1)
        self.device.write(kept["discounts"][: table.size], table)
        self.device.write(kept["clock"], np.zeros(1, np.int32))

    def launch(self, player: Player, mode: int) -> None:
        """A pass over the chunks that are asked for."""
        for number in self._busy:
            for name, blocks, threads, shared, argument in self._launches[player, mode][number]:
                self._kernels.launch(name, blocks, threads, shared, argument)

    def iterate(self) -> None:
        """An iteration: recorded the first time, and then launched as a whole."""
        if self._recorded is not None and self._recorded[0] == self._busy:
            self._recorded[1]()
            return
        self._iteration()  # loads what a recording may not
        self._recorded = list(self._busy), self.device.recorded(self._iteration)

    def _iteration(self) -> None:
        for player in Player:
            self.launch(player, UPDATE)
        argument = self._launches[Player.OOP, UPDATE][0][0][4]
        self._kernels.launch("tick", 1, 1, 0, argument)

    def wait(self) -> None:
        """Until all launches are over."""
        self.device.read(self._buffers.kept["clock"], np.zeros(1, np.int32))

    def values(self) -> Floats:
        """[P, F, 169]: of the last pass, in the scale of the games; 0 where nothing was asked."""
        found = np.zeros((len(self.pots), self.flops, HAND_COUNT))
        self.device.read(self._buffers.kept["out"], found.reshape(-1))
        busy = np.zeros(self.flops, np.bool_)
        for number in self._busy:
            flops = self.chunks[number].flops
            busy[flops.start : flops.stop] = True
        found[:, ~busy] = 0.0
        return found

    # -- what is stored

    def regret_sums(self) -> tuple[Floats, Floats, Longs]:
        """[P, F] each: the sum of positive regrets, the largest, and how many regrets there are."""
        total, largest = np.zeros((2, len(self.pots), self.flops))
        entries = np.zeros(total.shape, np.int64)
        found = np.zeros((self.flops, len(self.pots), 2))
        for player in Player:
            for level, argument in enumerate(self._whole[player]):
                blocks, shared = self.flops * len(self.pots), SUM_BYTES * CLIMBERS
                self._kernels.launch("sum_regrets", blocks, CLIMBERS, shared, argument)
                self.device.read(self._buffers.kept["regret_sums"], found.reshape(-1))
                total += found[:, :, 0].T
                largest = np.maximum(largest, found[:, :, 1].T)
                live = self.cards.live_rows(level, player).astype(np.int64)
                rows = np.add.reduceat(live, self.cards.flop_first[level][:-1])
                actions = np.diff(self.betting[player][level].forest.own_actions)
                entries += actions[:, None] * rows
        return total, largest, entries

    def stored(self, name: str, pot: int, flop: int, level: int, player: int) -> Buffer:
        """The numbers of a pot on a flop: all boards of it, then those of the next pot."""
        rows = self.cards.stored_rows(level, Player(player))
        first, last = rows[self.cards.flop_first[level][flop : flop + 2]].astype(np.int64).tolist()
        actions = self.betting[player][level].forest.own_actions.tolist()
        start = actions[-1] * first + actions[pot] * (last - first)
        size = (actions[pot + 1] - actions[pot]) * (last - first)
        return self._buffers.kept[f"{name}.{level}.{player}"][start : start + size]

    @property
    def stored_bytes(self) -> int:
        """Of regrets and averages."""
        kept = self._buffers.kept
        keys = (f"{name}.{level}.{player}" for name in NAMES for level, player in EVERYWHERE)
        return sum(int(kept[key].nbytes) for key in keys)

    # -- structures

    def _chunks(self) -> Iterator[Chunk]:
        """As many flops at a time as find room."""
        cards, betting = self.cards, self.betting
        hands = np.diff(cards.start[TURN][cards.flop_first[TURN]]).astype(np.int64)
        rivers = np.diff(cards.flop_first[RIVER])
        rows = max(each[TURN].rows.reach_rows + each[TURN].rows.value_rows for each in betting)
        size = 4 * (hands * rows + rivers * betting[0][RIVER].lines * cards.groups)
        first, held = 0, 0
        for flop, here in enumerate([*size.tolist(), ROOM_BYTES]):
            if held and held + here > ROOM_BYTES:
                flops = range(first, flop)
                bounds = [each[[first, flop]].tolist() for each in cards.flop_first]
                yield Chunk(flops, (range(*bounds[0]), range(*bounds[1]), range(*bounds[2])))
                first, held = flop, 0
            held += here

    def _allocate(self) -> None:
        """Stored numbers, and what passes are told."""
        cards, pots, kept = self.cards, len(self.pots), self._buffers.kept
        for player in Player:
            for level in (FLOP, TURN, RIVER):
                rows = int(cards.stored_rows(level, player)[-1])
                size = rows * int(self.betting[player][level].forest.own_actions[-1])
                for name in NAMES:
                    key = f"{name}.{level}.{player}"
                    kept[key] = self.device.zeros(max(size, 1), NUMBER[name])
            kept[f"root.{player}"] = self.device.zeros(pots * HAND_COUNT)
        kept["regret_sums"] = self.device.zeros(2 * pots * self.flops, np.float64)
        kept["out"] = self.device.zeros(pots * self.flops * HAND_COUNT, np.float64)
        kept["visits"] = self.device.zeros(pots * self.flops, np.uint8)
        kept["clock"] = self.device.zeros(1, np.int32)
        table = AT_ONCE * 2 * self.flops * pots * len(NO_WEIGHTS)
        kept["discounts"] = self.device.zeros(table)

    def room_sizes(self) -> dict[str, int]:
        """Numbers in the rooms of the rows of flops, turns and lines of rivers, by name."""
        rivers = max(len(chunk.boards[RIVER]) for chunk in self.chunks)
        found = {"line_rows": rivers * self.betting[0][RIVER].lines * self.cards.groups}
        for level in (FLOP, TURN):
            hands = max(self._hands(level, chunk) for chunk in self.chunks)
            for name in ("reach", "value"):
                most = max(getattr(each[level].rows, f"{name}_rows") for each in self.betting)
                found[f"{name}.{level}"] = hands * most
        return found

    def _hands(self, level: int, chunk: Chunk) -> int:
        start, boards = self.cards.start[level], chunk.boards[level]
        return int(start[boards.stop] - start[boards.start])

    def _prepare(self, player: Player) -> None:
        """The structures of all streets and chunks, and the launches of a pass."""
        fields = [self._fields(player, level) for level in (FLOP, TURN, RIVER)]
        for mode in (UPDATE, BEST_RESPONSE, EVALUATE):
            self._launches[player, mode] = [
                self._passes(player, chunk, self._arguments(player, mode, number, chunk, fields))
                for number, chunk in enumerate(self.chunks)
            ]
        self._whole[player] = self._arguments(player, UPDATE, 0, self.chunks[0], fields)

    def _arguments(
        self,
        player: Player,
        mode: int,
        number: int,
        chunk: Chunk,
        fields: Sequence[Mapping[str, int]],
    ) -> list[int]:
        """Where the structures of a chunk are; its rows stand at the beginning of the rooms."""
        lines = self.betting[player][RIVER].lines * self.cards.groups
        rivers = self._buffers.address("line_rows") - 4 * chunk.boards[RIVER].start * lines
        reach, values = (
            [self._moved(name, player, level, chunk) for level in (FLOP, TURN)]
            for name in ("reach", "value")
        )
        moved = [
            {"reach": reach[FLOP], "values": values[FLOP], "below_values": values[TURN]},
            {
                "reach": reach[TURN], "values": values[TURN], "line_rows": rivers,
                "above_reach": reach[FLOP],
            },
            {"line_rows": rivers},
        ]  # fmt: skip
        return [
            self._buffers.address(
                f"boards.{player}.{mode}.{number}.{level}",
                packed(
                    BOARDS,
                    **{
                        **fields[level], **moved[level], "mode": mode,
                        "first_board": chunk.boards[level].start,
                    },
                ),
            )
            for level in (FLOP, TURN, RIVER)
        ]  # fmt: skip

    def _moved(self, name: str, player: Player, level: int, chunk: Chunk) -> int:
        """Where the rows of the first board would be."""
        rows = int(getattr(self.betting[player][level].rows, f"{name}_rows"))
        before = int(self.cards.start[level][chunk.boards[level].start])
        return self._buffers.address(f"{name}.{level}") - 4 * before * rows

    def _passes(self, player: Player, chunk: Chunk, arguments: Sequence[int]) -> list[Launch]:
        """The launches of a half-iteration, one after the other."""
        betting, cards = self.betting[player], self.cards
        flop, turn, river = arguments
        flops, turns, rivers = (len(boards) for boards in chunk.boards)
        lines = [each.lines for each in betting]
        lanes = -(-lines[RIVER] // self._wide)
        hands = cards.most_hands
        folding = 4 * LANES * (hands + CARDS + SEGMENTS)
        pieces = self._hand_pieces
        found: list[Launch] = []
        for level, count, argument in ((FLOP, flops, flop), (TURN, turns, turn)):
            found.append(("descend", count * lines[level] * pieces, PIECE, 0, argument))
            tiles = len(betting[level].folds) // LANES
            if tiles:
                found.append(("folds", count * tiles, FOLDERS, folding, argument))
        piece = self.pieces[player]
        actions = int(betting[TURN].forest.actions.max(initial=0))
        rows = int(np.diff(cards.stored_rows(TURN, player)).max())
        return [
            *found,
            ("deal", turns * lanes, MOVERS, cards.dealing_bytes, turn),
            ("play_lines", rivers * (len(piece.cuts) - 1), PLAYERS, piece.shared, river),
            ("collect", turns * lanes, MOVERS, cards.collecting_bytes, turn),
            ("ascend", turns * lines[TURN], CLIMBERS, 4 * rows * actions, turn),
            ("gather", flops * lines[TURN] * pieces, PIECE, 0, flop),
            ("ascend", flops * lines[FLOP], CLIMBERS, 0, flop),
            ("total", flops * len(self.pots), CLIMBERS, 0, flop),
        ]

    @property
    def _hand_pieces(self) -> int:
        return -(-self.cards.most_hands // PIECE)

    def _fields(self, player: Player, level: int) -> dict[str, int]:
        """The structure of a street, but for the mode and for what depends on the chunk."""
        other, betting, cards = player.opponent, self.betting[player][level], self.cards
        buffers = self._buffers

        def put(name: str, array: Any) -> int:
            return buffers.address(f"{name}.{level}.of.{player}", array)

        fields = dict.fromkeys(BOARDS, 0) | {
            "player": int(player),
            "pots": len(self.pots),
            "flops": self.flops,
            "lines": betting.lines,
            "reach_rows": betting.rows.reach_rows,
            "value_rows": betting.rows.value_rows,
            "pieces": self._hand_pieces,
            "piece": PIECE,
            "own_rows": buffers.address(
                f"rows.{level}.of.{player}", cards.stored_rows(level, player)
            ),
            "other_rows": buffers.address(
                f"rows.{level}.of.{other}", cards.stored_rows(level, other)
            ),
            "own_regrets": buffers.address(f"regrets.{level}.{player}"),
            "own_average": buffers.address(f"averages.{level}.{player}"),
            "other_regrets": buffers.address(f"regrets.{level}.{other}"),
            "other_average": buffers.address(f"averages.{level}.{other}"),
            "own_live": buffers.address(
                f"live.{level}.of.{player}", cards.live_rows(level, player)
            ),
            **{name: buffers.address(name) for name in TOLD},
        }
        fields |= self._same[level]
        if level == RIVER:
            pieces = self.pieces[player]
            return fields | {
                **{name: put(name, array) for name, array in pieces.arrays().items()},
                "piece_count": len(pieces.cuts) - 1,
            }
        fields |= {name: put(name, array) for name, array in betting.arrays().items()}
        below = self.betting[player][level + 1]
        leaf_reach, leaf_value = betting.rows.leaves(below.rows)
        fields |= {
            "tiles": len(betting.folds) // LANES,
            "leaves": below.lines,
            "leaf_reach": put("leaf_reach", leaf_reach),
            "leaf_value": put("leaf_value", leaf_value),
            "leaf_pot": put("leaf_pot", below.line_pot),
        }
        if level == FLOP:
            return fields | {
                "root": buffers.address(f"root.{player}"),
                "below_row": put("below_row", below.rows.line_value),
                "below_rows": below.rows.value_rows,
            }
        above: StreetBetting = self.betting[player][FLOP]
        tables = cards.members(player) | cards.dealt(other) | cards.collected(player)
        fields |= {name: put(name, array) for name, array in tables.items()}
        for name, whose in (("own_row", player), ("other_row", other)):
            rows = cards.row_of_hand(whose)
            if rows is not None:
                fields[name] = buffers.address(f"row_of_hand.{whose}", rows)
        return fields | {
            "above_start": self._same[FLOP]["start"],
            "above_rows": above.rows.reach_rows,
            "above_row": put("above_row", above.rows.leaves(betting.rows)[0]),
            "lane_groups": -(-below.lines // self._wide),
            "parts": cards.parts,
            "part": cards.part,
        }


def settle_together(device: Device, sets: Sequence[SetThere]) -> None:
    """Passes of sets follow each other, so that all have the same rooms."""
    sizes: dict[str, int] = {}
    for one in sets:
        for name, size in one.room_sizes().items():
            sizes[name] = max(size, sizes.get(name, 1))
    rooms = {name: device.zeros(size) for name, size in sizes.items()}
    for one in sets:
        one.settle(rooms)
