"""The games of all pots that share a pair of ranges, on a device: arrays, structures, launches.

A pass works on as many flops at a time as their rows of turns and rivers leave room for
(`boards.cu`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.engines.cuda.boards_layout import (
    AT_ONCE,
    FLOP,
    RIVER,
    ROOM_BYTES,
    TURN,
    FlatBoards,
    lines_together,
)
from allstreets.engines.cuda.boards_rivers import PLAYERS, RiverPieces, Table
from allstreets.engines.cuda.kernels.lists import CARDS
from allstreets.engines.cuda.programs import (
    SUM_BYTES,
    Array,
    Buffers,
    Launch,
    Recordings,
    ints,
    packed,
    source,
)
from allstreets.engines.cuda.streets import (
    PIECE,
    SEGMENTS,
    TILE,
    StreetBetting,
    in_tiles,
    street_bettings,
)
from allstreets.engines.device import Buffer, Device, Kernels
from allstreets.engines.exact.kernels.layout import BEST_RESPONSE, EVALUATE, UPDATE
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS
from allstreets.engines.trees import Trees

MOVERS = 1024  # threads of a block that deals or collects
CLIMBERS = 256  # of a block that takes a line of flop or turn in the backward pass
FOLDERS = 256
NAMES = "regrets", "averages"
NUMBER = {"regrets": np.uint16, "averages": np.int16}
EVERYWHERE = frozenset((level, int(player)) for level in (FLOP, TURN, RIVER) for player in Player)
TOLD = "weights", "clock", "visits", "out", "regret_sums"  # input and output of passes
NO_LOCKS = (np.zeros(0, np.float32),) * 2
FOLD = np.dtype([("rows", np.int32, 2), ("factor", np.float32), ("pot", np.int32)])


def compiled(device: Device, buckets: int) -> Kernels:
    """The kernels for this many river buckets."""
    sizes = Table(buckets, device.shared_bytes).defines()
    sizes |= {"WIDE": lines_together(device.shared_bytes), "MOVERS": MOVERS}
    defines = (f"{name}={size}" for name, size in sizes.items())
    return device.compile(source("boards.cu"), ("HALVES", *defines))


def folds(betting: StreetBetting) -> Array:
    """[TILE · …]: folds of both players, as `Fold` of the kernels has them."""
    terminals = betting.terminals
    called, folded, value, fold_value = terminals["rows"].T
    every = np.zeros(len(terminals), FOLD)
    every["rows"][:, 0] = np.where(folded < 0, called, folded)
    every["rows"][:, 1] = np.where(folded < 0, fold_value, value)
    every["factor"] = terminals["amounts"][:, 2]
    every["pot"] = betting.line_pot[betting.line_of(every["rows"][:, 1])]
    tiles = in_tiles(every)
    tiles["rows"][len(every) :, 0] = 0  # reach of any row
    return tiles


@dataclass(frozen=True)
class Chunk:
    """Flops that are worked on at once, and their first boards by street, with the end."""

    flops: range
    boards: tuple[range, range, range]


class BoardsPasses:
    """Passes of all pots that share a pair of ranges."""

    def __init__(
        self,
        device: Device,
        kernels: Kernels,
        pots: Longs,
        trees: Trees,
        cards: FlatBoards,
        hand_locks: Sequence[Singles] = NO_LOCKS,
    ) -> None:
        self.device, self.pots, self.cards, self._kernels = device, pots, cards, kernels
        self._hand_locks = hand_locks  # by player: of the flops' hands (`PotsOnFlop`)
        self.flops = len(cards.cards)
        self.betting = [
            street_bettings(trees, player, cards.buckets, run_out=True) for player in Player
        ]
        table = Table(cards.buckets, device.shared_bytes)
        self.pieces = [RiverPieces(each[RIVER], len(pots), table) for each in self.betting]
        self._buffers = Buffers(device)
        # By street: what both players read.
        self._same = [
            self._buffers.addresses(f"on.{level}", cards.street(level))
            for level in (FLOP, TURN, RIVER)
        ]
        self._launches: dict[tuple[Player, int], list[list[Launch]]] = {}
        self._whole: dict[Player, list[int]] = {}  # structures of the streets, from the first board
        self._busy: list[int] = []  # chunks that are asked for
        self._recordings = Recordings(device)
        self._wide = lines_together(device.shared_bytes)
        self.chunks = list(self._chunks())

    def arrange(self, rooms: Mapping[str, Buffer]) -> None:
        """Take the rooms that all sets share, and make the rest."""
        self._buffers.kept.update(rooms)
        self._allocate()
        for player in Player:
            self._prepare(player)

    # -- passes

    def enter(self, player: Player, reach: Floats) -> None:
        """Send the opponent's reach [P, 169] of all pots, as a share of the flop's hands."""
        combos = self.cards.cards[0].streets[0].hands[0][0].sizes.sum()
        self._buffers.write(f"root.{player}", (reach[self.pots] / combos).astype(np.float32))

    def ask(self, pairs: Flags, weights: Singles) -> None:
        """Send the input of the next passes: games [P, F], weights [T, 2, F, P, 8]."""
        visits = pairs[self.pots].T  # [F, P]
        self._busy = [
            number for number, chunk in enumerate(self.chunks)
            if visits[chunk.flops.start : chunk.flops.stop].any()
        ]  # fmt: skip
        self._buffers.write("visits", np.ascontiguousarray(visits, np.uint8))
        self._buffers.write("weights", np.ascontiguousarray(weights[:, :, :, self.pots]))
        self._buffers.write("clock", np.zeros(1, np.int32))

    def launch(self, player: Player, mode: int) -> None:
        """A pass over the chunks that are asked for."""
        for number in self._busy:
            for launch in self._launches[player, mode][number]:
                self._kernels.launch(*launch)

    def iterate(self) -> None:
        """An iteration: recorded the first time, and then launched as a whole."""
        self._recordings.run(0, self._busy, self._iteration)

    def _iteration(self) -> None:
        for player in Player:
            self.launch(player, UPDATE)
        argument = self._launches[Player.OOP, UPDATE][0][0][4]
        self._kernels.launch("tick", 1, 1, 0, argument)

    def wait(self) -> None:
        """Wait until all launches are over."""
        self._buffers.read("clock", np.zeros(1, np.int32))

    def values(self) -> Floats:
        """[P, F, 169]: of the last pass, in the scale of the games; 0 where nothing was asked."""
        shape = len(self.pots), self.flops, HAND_COUNT
        values: Floats = self._buffers.read("out", np.zeros(shape))
        idle = np.ones(self.flops, np.bool_)
        for number in self._busy:
            idle[self.chunks[number].flops] = False
        values[:, idle] = 0.0
        return values

    # -- what is stored

    def regret_sums(self) -> tuple[Floats, Floats, Longs]:
        """[P, F] each: the sum of positive regrets, the largest, and how many regrets there are."""
        total, largest = np.zeros((2, len(self.pots), self.flops))
        entries = np.zeros(total.shape, np.int64)
        sums = np.zeros((self.flops, len(self.pots), 2))
        for player in Player:
            for level, argument in enumerate(self._whole[player]):
                blocks, shared = self.flops * len(self.pots), SUM_BYTES * CLIMBERS
                self._kernels.launch("sum_regrets", blocks, CLIMBERS, shared, argument)
                self._buffers.read("regret_sums", sums)
                total += sums[:, :, 0].T
                largest = np.maximum(largest, sums[:, :, 1].T)
                live = self.cards.live_rows(level, player).astype(np.int64)
                rows = np.add.reduceat(live, self.cards.flop_first[level][:-1])
                entries += self.betting[player][level].free_actions[:, None] * rows
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
        """Bytes of regrets and averages."""
        kept = self._buffers.kept
        keys = (f"{name}.{level}.{player}" for name in NAMES for level, player in EVERYWHERE)
        return sum(int(kept[key].nbytes) for key in keys)

    # -- structures

    def _chunks(self) -> Iterator[Chunk]:
        """The chunks of flops, each as large as memory allows."""
        cards, betting = self.cards, self.betting
        hands = np.diff(cards.start[TURN][cards.flop_first[TURN]]).astype(np.int64)
        rivers = np.diff(cards.flop_first[RIVER])
        rows = max(each[TURN].reach_rows + each[TURN].value_rows for each in betting)
        size = 4 * (hands * rows + rivers * betting[0][RIVER].lines * cards.buckets)
        first, held = 0, 0
        for flop, here in enumerate([*size.tolist(), ROOM_BYTES]):
            if held and held + here > ROOM_BYTES:
                flops = range(first, flop)
                bounds = [each[[first, flop]].tolist() for each in cards.flop_first]
                yield Chunk(flops, (range(*bounds[0]), range(*bounds[1]), range(*bounds[2])))
                first, held = flop, 0
            held += here

    def _allocate(self) -> None:
        """Stored numbers, and the input of passes."""
        zeros, games = self._buffers.zeros, len(self.pots) * self.flops
        for player in Player:
            for level in (FLOP, TURN, RIVER):
                rows = int(self.cards.stored_rows(level, player)[-1])
                size = rows * int(self.betting[player][level].forest.own_actions[-1])
                for name in NAMES:
                    zeros(f"{name}.{level}.{player}", size, NUMBER[name])
            zeros(f"root.{player}", len(self.pots) * HAND_COUNT)
        zeros("regret_sums", 2 * games, np.float64)
        zeros("out", games * HAND_COUNT, np.float64)
        zeros("visits", games, np.uint8)
        zeros("clock", 1, np.int32)
        zeros("weights", AT_ONCE * 2 * games * len(NO_WEIGHTS))

    def room_sizes(self) -> dict[str, int]:
        """Numbers in the rooms of the rows of flops, turns and lines of rivers, by name."""
        rivers = max(len(chunk.boards[RIVER]) for chunk in self.chunks)
        sizes = {"line_rows": rivers * self.betting[0][RIVER].lines * self.cards.buckets}
        for level in (FLOP, TURN):
            hands = max(self._hands(level, chunk) for chunk in self.chunks)
            for name in ("reach", "value"):
                most = max(getattr(each[level], f"{name}_rows") for each in self.betting)
                sizes[f"{name}.{level}"] = hands * most
        return sizes

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
        """The addresses of a chunk's structures; its rows begin at the beginning of the rooms."""
        lines = self.betting[player][RIVER].lines * self.cards.buckets
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
                    "boards.cu",
                    "Boards",
                    {
                        **fields[level], **moved[level], "mode": mode,
                        "first_board": chunk.boards[level].start,
                    },
                ),
            )
            for level in (FLOP, TURN, RIVER)
        ]  # fmt: skip

    def _moved(self, name: str, player: Player, level: int, chunk: Chunk) -> int:
        """The address at which the rows of the first board would be."""
        rows = int(getattr(self.betting[player][level], f"{name}_rows"))
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
        folding = 4 * TILE * (hands + CARDS + SEGMENTS)
        pieces = self._hand_pieces
        forward: list[Launch] = []
        for level, count, argument in ((FLOP, flops, flop), (TURN, turns, turn)):
            forward.append(("forward", count * lines[level] * pieces, PIECE, 0, argument))
            tiles = len(folds(betting[level])) // TILE
            if tiles:
                forward.append(("folds", count * tiles, FOLDERS, folding, argument))
        piece = self.pieces[player]
        actions = int(betting[TURN].forest.actions.max(initial=0))
        rows = int(np.diff(cards.stored_rows(TURN, player)).max())
        return [
            *forward,
            ("deal", turns * lanes, MOVERS, cards.dealing_bytes, turn),
            ("play_rivers", rivers * (len(piece.cuts) - 1), PLAYERS, piece.shared, river),
            ("collect", turns * lanes, MOVERS, cards.collecting_bytes, turn),
            ("backward", turns * lines[TURN], CLIMBERS, 4 * rows * actions, turn),
            ("gather", flops * lines[TURN] * pieces, PIECE, 0, flop),
            ("backward", flops * lines[FLOP], CLIMBERS, 0, flop),
            ("total", flops * len(self.pots), CLIMBERS, 0, flop),
        ]

    @property
    def _hand_pieces(self) -> int:
        return -(-self.cards.most_hands // PIECE)

    def _fields(self, player: Player, level: int) -> dict[str, int]:
        """The structure of a street, except for the mode and for what depends on the chunk."""
        opponent, betting, cards = player.opponent, self.betting[player][level], self.cards
        put = self._buffers.address
        fields: dict[str, int | Array] = {**self._same[level], **betting.fields()}
        fields |= {
            "player": int(player),
            "pots": len(self.pots),
            "flops": self.flops,
            "pieces": self._hand_pieces,
            "line_pot": betting.line_pot,
            "player_actions": ints(betting.forest.own_actions),
            "opponent_actions": ints(betting.forest.other_actions),
            "player_live": cards.live_rows(level, player),
            **{name: put(name) for name in TOLD},
        }
        for side, whose in (("player", player), ("opponent", opponent)):
            fields |= {
                f"{side}_rows": put(f"rows.{level}.{whose}", cards.stored_rows(level, whose)),
                f"{side}_regrets": put(f"regrets.{level}.{whose}"),
                f"{side}_average": put(f"averages.{level}.{whose}"),
            }
        if level == RIVER:
            pieces = self.pieces[player]
            fields |= {
                **pieces.arrays(),
                "piece_count": len(pieces.cuts) - 1,
                "pot_locked": betting.pot_locked,
            }
        else:
            fields |= self._early_fields(player, level)
        return self._buffers.addresses(f"{level}.of.{player}", fields)

    def _early_fields(self, player: Player, level: int) -> dict[str, int | Array]:
        """The fields that flop and turn have, and rivers do not."""
        opponent, cards, put = player.opponent, self.cards, self._buffers.address
        flop, turn, river = self.betting[player]
        betting, below = (flop, turn) if level == FLOP else (turn, river)
        leaf_reach, leaf_value = betting.leaves(below)
        fields: dict[str, int | Array] = {
            "folds": folds(betting),
            "tiles": len(folds(betting)) // TILE,
            "leaves": below.lines,
            "leaf_reach": leaf_reach,
            "leaf_value": leaf_value,
            "leaf_pot": below.line_pot,
            "opponent_start": self._same[level]["player_start"],
        }
        if level == FLOP:
            locks = self._hand_locks[player]
            return fields | {
                "player_locked": locks if locks.size else 0,
                "root": put(f"root.{player}"),
                "below_row": below.line_value,
                "below_rows": below.value_rows,
            }
        fields |= cards.members(player) | cards.dealt(opponent) | cards.collected(player)
        for side, whose in (("player", player), ("opponent", opponent)):
            buckets = cards.bucket_of_hand(whose)
            if buckets is not None:
                fields[f"{side}_bucket"] = put(f"bucket_of_hand.{whose}", buckets)
        return fields | {
            "above_start": self._same[FLOP]["player_start"],
            "above_rows": flop.reach_rows,
            "above_row": flop.leaves(turn)[0],
            "lane_blocks": -(-river.lines // self._wide),
            "parts": cards.parts,
            "part": cards.part,
        }


def arrange_together(device: Device, sets: Sequence[BoardsPasses]) -> None:
    """Passes of sets follow each other, so that all have the same rooms."""
    sizes: dict[str, int] = {}
    for passes in sets:
        for name, size in passes.room_sizes().items():
            sizes[name] = max(size, sizes.get(name, 1))
    rooms = {name: device.zeros(size) for name, size in sizes.items()}
    for passes in sets:
        passes.arrange(rooms)
