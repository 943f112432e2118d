"""Games with real boards on a GPU: the same groups, the same stored numbers, other kernels.

Regrets and averages live on the device; what the host has of them follows when somebody looks. A
half-iteration is about ten launches for as many flops as find room, all pots of a set of ranges
together (`kernels/cuda/boards.cu`): reach [P, 169] goes there and values [P, F, 169] come back.
Everything but passes is that of the engine for processors.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, Flop
from allstreets.cfr import Multipliers
from allstreets.kernels.card_lists import CARDS
from allstreets.kernels.cuda.device import Buffer, Device, Kernels
from allstreets.kernels.cuda.sources import BOARDS, boards_source, packed
from allstreets.kernels.exact_layout import BEST_RESPONSE, EVALUATE, NO_DISCOUNTS, UPDATE
from allstreets.subgames.boards import BoardsSubgame
from allstreets.subgames.boards_flops import BoardsFlops
from allstreets.subgames.card_model import CardModel
from allstreets.subgames.cuda_boards_layout import (
    FLOP,
    LANES,
    RIVER,
    SEGMENTS,
    TURN,
    WIDE,
    FlatBoards,
    RiverPieces,
    StreetBetting,
    street_bettings,
)
from allstreets.subgames.cuda_exact import MOST_ACTIONS
from allstreets.subgames.cuda_groups import CudaGroups
from allstreets.subgames.cuda_layout import PIECE
from allstreets.subgames.cuda_memory import Buffers, Mirror
from allstreets.subgames.flop_games import Flags, Floats, Flops
from allstreets.subgames.packed import Numbers
from allstreets.subgames.side_by_side import Trees

PLAYERS = 256  # threads of a block that plays lines of a river
TABLES = 2  # such blocks that share a multiprocessor, unless the matrices are too large
TALL = 8  # rows of a product that a thread works on
MOVERS = 512  # of a block that deals or collects
CLIMBERS = 256  # of a block that goes up a line of flop or turn
FOLDERS = 256
RESERVED = 1024  # bytes of shared memory that a block has without asking
ROOM_BYTES = 4_000_000_000  # of the rows of turns and rivers, for as many flops as fit
AT_ONCE = 64  # iterations whose discounts are sent together
NAMES = "regrets", "averages"
NUMBER = {"regrets": np.uint16, "averages": np.int16}
EVERYWHERE = frozenset((level, int(player)) for level in (FLOP, TURN, RIVER) for player in Player)

Launch = tuple[str, int, int, int, int]  # kernel, blocks, threads, shared bytes, argument


def tables(device: Device, groups: int) -> int:
    """Blocks that play rivers side by side on a multiprocessor."""
    matrices = 2 * 4 * groups**2
    return TABLES if 2 * TABLES * matrices <= device.shared_bytes else 1


def compiled(device: Device, groups: int) -> Kernels:
    """The kernels for so many groups."""
    sizes = {"GROUPS": groups, "PLAYERS": PLAYERS, "TABLES": tables(device, groups), "TALL": TALL}
    defines = (f"{name}={size}" for name, size in sizes.items())
    return device.compile(boards_source(), ("HALVES", *defines))


class CudaBoardsFlops(BoardsFlops):
    """`BoardsFlops` whose passes run on a device."""

    def __init__(
        self,
        trees: Trees,
        flops: Sequence[Flop],
        threads: int,
        model: CardModel,
        there: Device,
        ranges: Floats | None = None,
    ) -> None:
        if any(int(tree.child_count.max(initial=0)) > MOST_ACTIONS for tree, _ in trees):
            raise InputError(f"a GPU takes decisions with at most {MOST_ACTIONS} actions")
        self.grouping = CudaGroups(there)
        super().__init__(trees, flops, threads, model, ranges)
        self.device = self.there = there  # the one is None in games for processors
        self._kernels = compiled(there, model.groups)
        self._sets: list[SetThere] = []
        self._open(fresh=True)

    # -- passes

    def step(
        self,
        player: Player,
        hero: Floats,
        villain: Floats,
        flops: Flops,
        now: Sequence[Multipliers],
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops."""
        del hero, hand_mask
        pairs = self._pairs(flops)
        by_flop = dict(zip(flops.tolist(), now, strict=True))
        table = self._discounts(player, pairs, by_flop)
        found = self._values(player, villain, pairs, UPDATE, table)
        self._fall_behind(pairs)
        return found[:, flops]

    def best_response(self, player: Player, villain: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the average strategies."""
        return self._values(player, villain, self._pairs(flops), BEST_RESPONSE)[:, flops]

    def evaluate(self, player: Player, villain: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies."""
        return self._values(player, villain, self._pairs(flops), EVALUATE)[:, flops]

    def iterate(self, reach: Floats, pairs: Flags, every: Sequence[Multipliers]) -> None:
        """Whole iterations with a fixed reach [2, P, 169]."""
        flops = np.flatnonzero(pairs.any(axis=0)).tolist()
        if not flops:
            return
        for first in range(0, len(every), AT_ONCE):
            table = np.stack(
                [
                    [self._discounts(player, pairs, dict.fromkeys(flops, now)) for player in Player]
                    for now in every[first : first + AT_ONCE]
                ]
            )
            for one in self._sets:
                for player in Player:
                    one.enter(player, reach[player.opponent])
                one.ask(pairs, table)
            for _ in table:
                for one in self._sets:
                    one.iterate()
        self.wait()
        self._fall_behind(pairs)

    def wait(self) -> None:
        """Until all launches are over."""
        for one in self._sets:
            one.wait()

    def _values(
        self,
        player: Player,
        villain: Floats,
        pairs: Flags,
        mode: int,
        discounts: NDArray[np.float32] | None = None,
    ) -> Floats:
        """[P, F, 169]: one pass of all pots on the flops of `pairs` [P, F]."""
        if discounts is None:
            shape = self.flops, self.pots, len(NO_DISCOUNTS)
            discounts = np.zeros(shape, np.float32)
        for one in self._sets:
            one.enter(player, villain)
            one.ask(pairs, np.stack([discounts, discounts])[None])
            one.launch(player, mode)
        values = np.zeros((self.pots, self.flops, HAND_COUNT))
        for one in self._sets:
            values[one.pots] = one.values()
        scale = [row[0].scale[player] for row in self.subgames]
        return values * np.array(scale)[:, None, None] if self.flops else values

    def _discounts(
        self, player: Player, pairs: Flags, now: Mapping[int, Multipliers]
    ) -> NDArray[np.float32]:
        """[F, P, 6]: what a half-iteration does; games that stand alike are asked once."""
        table = np.zeros((self.flops, self.pots, len(NO_DISCOUNTS)), np.float32)
        known: dict[Any, Any] = {}
        chosen = np.argwhere(pairs).tolist()
        rows = []
        for pot, flop in chosen:
            game = self.subgames[pot][flop]
            key = game.steps[player], game.weights[player], game.waiting[player], now[flop]
            if key not in known:
                found = game.discounts(player, now[flop])
                after = game.steps[player], game.weights[player], game.waiting[player]
                known[key] = found, after
            else:
                found, after = known[key]
                game.steps[player], game.weights[player], game.waiting[player] = after
            rows.append(found)
        places = np.array(chosen)
        table[places[:, 1], places[:, 0]] = rows
        return table

    # -- what is stored

    def _open(self, *, fresh: bool) -> None:
        """Bring everything to the device; if all is `fresh`, numbers are zeros there as here."""
        self._sets.clear()  # and what they own
        trees = self._description[0]
        for number, pots in enumerate(self._pots_of_sets()):
            if len(pots):
                flat = FlatBoards(self.cards, number, self.model.groups, self._description[2])
                chosen = [trees[pot] for pot in pots.tolist()]
                self._sets.append(SetThere(self.there, self._kernels, pots, chosen, flat))
        for pot, flop, game in self._games():
            for name in NAMES:
                mirror: Any = Mirror(getattr(game, name))
                mirror.fetch = self._fetch(name, pot, flop, mirror)
                setattr(game, name, mirror)
        if not fresh:
            self._send(range(self.flops), NAMES)

    def _pots_of_sets(self) -> list[NDArray[np.int64]]:
        of_pot = np.array(self.sets.of_pot, np.int64)
        return [np.flatnonzero(of_pot == number) for number in range(len(self.sets.ranges))]

    def _games(self) -> Iterator[tuple[int, int, BoardsSubgame]]:
        for pot, row in enumerate(self.subgames):
            for flop, game in enumerate(row):
                yield pot, flop, game

    def _place(self, name: str, pot: int, flop: int, level: int, player: int) -> Buffer:
        """The numbers of a game on the device."""
        one = next(one for one in self._sets if pot in one.pots)
        return one.stored(name, int(np.searchsorted(one.pots, pot)), flop, level, player)

    def _fetch(self, name: str, pot: int, flop: int, mirror: Mirror) -> Callable[[int, int], None]:
        def fetch(level: int, player: int) -> None:
            array = mirror.host[level][player]
            if array.size:
                self.there.read(self._place(name, pot, flop, level, player), array)

        return fetch

    def _fall_behind(self, pairs: Flags) -> None:
        """What the host has of the games is old from now on."""
        for pot, flop in np.argwhere(pairs).tolist():
            game: Any = self.subgames[pot][flop]
            game.regrets.stale, game.averages.stale = set(EVERYWHERE), set(EVERYWHERE)

    def _send(self, flops: range, names: Sequence[str] = ("averages",)) -> None:
        """Bring what the host has of some flops to the device."""
        for pot, flop, game in self._games():
            if flop not in flops:
                continue
            for name in names:
                mirror = getattr(game, name)
                for level, player in EVERYWHERE - mirror.stale:
                    array = mirror.host[level][player]
                    if array.size:
                        self.there.write(self._place(name, pot, flop, level, player), array)

    def _look(self) -> None:
        """Let the host have everything: threads that work on it must not ask the device."""
        for _, _, game in self._games():
            for name in NAMES:
                for level, player in EVERYWHERE:
                    getattr(game, name).array(level, player)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same games, whichever engine it is from."""
        before = self.subgames
        for _, _, game in self._games():
            for name in NAMES:
                getattr(game, name).stale = set()  # all of it is written now
        super().restore(state)
        if self.subgames is before:
            self._send(range(self.flops), NAMES)
        else:
            self._open(fresh=False)

    def regroup(self, reach: Floats, least: float = 0.0) -> float:
        """Group hands again for the reach [2, P, 169] if it has moved by more than `least`."""
        before = self.subgames
        self._look()
        far = super().regroup(reach, least)
        if self.subgames is not before:
            self._open(fresh=False)
        return far

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision on the flop be `strategy` [A, H]."""
        super().set_average(pot, flop, node, strategy)
        self._send(range(flop, flop + 1))

    @contextmanager
    def rounded(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """For a while, average strategies on turn and river are bytes, as in a bundle."""
        try:
            with super().rounded(flops, numbers):
                self._send(flops)
                yield
        finally:
            self._send(flops)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(one.stored_bytes for one in self._sets)


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
        pots: NDArray[np.int64],
        trees: Trees,
        cards: FlatBoards,
    ) -> None:
        self.device, self.pots, self.cards, self._kernels = device, pots, cards, kernels
        self.flops = len(cards.cards)
        groups = cards.groups
        self.betting = [street_bettings(trees, own, groups) for own in Player]
        budget = (device.shared_bytes + RESERVED) // tables(device, groups) - RESERVED
        self.pieces = [
            RiverPieces(each[RIVER], len(pots), groups, budget, TALL) for each in self.betting
        ]
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
        self._busy: list[int] = []  # chunks that are asked for
        self._recorded: tuple[list[int], Callable[[], None]] | None = None
        self.chunks = list(self._chunks())
        self._allocate()
        for player in Player:
            self._prepare(player)

    # -- passes

    def enter(self, player: Player, reach: Floats) -> None:
        """Send the other's reach [P, 169] of all pots, as a share of the flop's hands."""
        combos = self.cards.cards[0].streets[0].hands[0][0].sizes.sum()
        rows = (reach[self.pots] / combos).astype(np.float32)
        self.device.write(self._buffers.kept[f"root.{player}"], rows.reshape(-1))

    def ask(self, pairs: Flags, discounts: NDArray[np.float32]) -> None:
        """Send what the next passes are about: games [P, F], discounts [T, 2, F, P, 6]."""
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
        """Stored numbers, rooms, and what passes are told."""
        cards, pots, kept = self.cards, len(self.pots), self._buffers.kept
        for player in Player:
            for level in (FLOP, TURN, RIVER):
                rows = int(cards.stored_rows(level, player)[-1])
                size = rows * int(self.betting[player][level].forest.own_actions[-1])
                for name in NAMES:
                    key = f"{name}.{level}.{player}"
                    kept[key] = self.device.zeros(max(size, 1), NUMBER[name])
            kept[f"root.{player}"] = self.device.zeros(pots * HAND_COUNT)
        lines = self.betting[0][RIVER].lines
        rivers = max(len(chunk.boards[RIVER]) for chunk in self.chunks)
        kept["line_rows"] = self.device.zeros(rivers * lines * cards.groups)
        for level in (FLOP, TURN):
            start = cards.start[level]
            hands = max(self._hands(level, chunk) for chunk in self.chunks)
            hands = int(start[-1]) if level == FLOP else hands
            for name in ("reach", "value"):
                most = max(getattr(each[level].rows, f"{name}_rows") for each in self.betting)
                kept[f"{name}.{level}"] = self.device.zeros(hands * most)
        kept["out"] = self.device.zeros(pots * self.flops * HAND_COUNT, np.float64)
        kept["visits"] = self.device.zeros(pots * self.flops, np.uint8)
        kept["clock"] = self.device.zeros(1, np.int32)
        table = AT_ONCE * 2 * self.flops * pots * len(NO_DISCOUNTS)
        kept["discounts"] = self.device.zeros(table)

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

    def _arguments(
        self,
        player: Player,
        mode: int,
        number: int,
        chunk: Chunk,
        fields: Sequence[Mapping[str, int]],
    ) -> list[int]:
        """Where the structures of a chunk are; its rows stand at the beginning of the rooms."""
        cards = self.cards
        hands = int(cards.start[TURN][chunk.boards[TURN].start])
        rows = self.betting[player][TURN].rows
        rivers = chunk.boards[RIVER].start * self.betting[player][RIVER].lines * cards.groups
        reach = self._buffers.address(f"reach.{TURN}") - 4 * hands * rows.reach_rows
        values = self._buffers.address(f"value.{TURN}") - 4 * hands * rows.value_rows
        lines = self._buffers.address("line_rows") - 4 * rivers
        moved = [
            {"below_values": values},
            {"reach": reach, "values": values, "line_rows": lines},
            {"line_rows": lines},
        ]
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

    def _passes(self, player: Player, chunk: Chunk, arguments: Sequence[int]) -> list[Launch]:
        """The launches of a half-iteration, one after the other."""
        betting, cards = self.betting[player], self.cards
        flop, turn, river = arguments
        flops, turns, rivers = (len(boards) for boards in chunk.boards)
        lines = [each.lines for each in betting]
        lanes = -(-lines[RIVER] // WIDE)
        hands = cards.most_hands
        folding = 4 * LANES * (hands + CARDS + SEGMENTS)
        pieces = self._hand_pieces
        found: list[Launch] = []
        for level, count, argument in ((FLOP, flops, flop), (TURN, turns, turn)):
            found.append(("descend", count * lines[level] * pieces, PIECE, 0, argument))
            tiles = len(betting[level].folds) // LANES
            if tiles:
                found.append(("folds", count * tiles, FOLDERS, folding, argument))
        part = 4 * WIDE * cards.groups * cards.part
        piece = self.pieces[player]
        actions = int(betting[TURN].forest.actions.max(initial=0))
        rows = int(np.diff(cards.stored_rows(TURN, player)).max())
        return [
            *found,
            ("deal", turns * lanes, MOVERS, 4 * WIDE * hands, turn),
            ("play_lines", rivers * (len(piece.cuts) - 1), PLAYERS, piece.shared, river),
            ("collect", turns * lanes, MOVERS, part, turn),
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
            **{name: buffers.address(name) for name in ("discounts", "clock", "visits", "out")},
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
                "reach": buffers.address(f"reach.{FLOP}"),
                "values": buffers.address(f"value.{FLOP}"),
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
            "above_reach": buffers.address(f"reach.{FLOP}"),
            "lane_groups": -(-below.lines // WIDE),
            "parts": cards.parts,
            "part": cards.part,
        }
