"""Matrix games on a GPU: the same stored numbers, other kernels.

Regrets and averages live on the device, or come there part by part (`residence`); the host's copies
are updated when they are read. A half-iteration of all pots on all flops is a few launches
(`matrix_classes`, `matrix_chain`): reach [P, 169] goes there, and values [P, K, 169] stay until
they are asked for (`matrix_passes`).

All actions are visited: there is no pruning. Of a pot only some hands may be stored, but rows are
about all hands, so that dropped hands save memory and not time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError, Longs, Singles
from allstreets.betting import Player
from allstreets.cfr import IterationWeights
from allstreets.engines.card_model import CLASSES, CardModel, stage_of_nodes
from allstreets.engines.cuda.matrix_chain import ChainPasses
from allstreets.engines.cuda.matrix_classes import ClassPasses
from allstreets.engines.cuda.matrix_passes import AT_ONCE, DeviceValues, FlopSums, Passes, Request
from allstreets.engines.cuda.programs import (
    SUM_BYTES,
    Array,
    Recordings,
    ints,
    packed,
    refuse_long_decisions,
)
from allstreets.engines.cuda.residence import (
    NOWHERE,
    ROOM_BYTES,
    FlopStore,
    Mirror,
    Name,
    Residence,
    Which,
    followed,
    residence,
    table_bytes,
)
from allstreets.engines.device import Buffer, Device, DeviceUse
from allstreets.engines.matrix.cards import padded
from allstreets.engines.matrix.engine import LEAST_REACH, MatrixCards, MatrixEngine, weight_rows
from allstreets.engines.matrix.game import NO_WEIGHTS, Allocate
from allstreets.engines.matrix.kernels.layout import BEST_RESPONSE, EVALUATE, THRESHOLD, UPDATE
from allstreets.engines.matrix.plan import HandSelection, slot_counts
from allstreets.engines.protocol import AnyValues, Flops, RegretSums
from allstreets.engines.quantised import Numbers
from allstreets.engines.simd.vectors import aligned
from allstreets.engines.trees import Trees

SUMMING = 256  # threads that add up regrets
NO_SPANS = np.zeros((0, 2), np.int64)


class CudaMatrixEngine(MatrixEngine):
    """`MatrixEngine` whose passes run on a device; `where` are its flops, if not where they fit."""

    def __init__(
        self,
        trees: Trees,
        cards: MatrixCards,
        device: Device,
        model: CardModel = CLASSES,
        threads: int = 1,
        where: Residence | None = None,
    ) -> None:
        refuse_long_decisions(tree for tree, _ in trees)
        where = where or _fitting(trees, cards, device)
        allocate = _pinned(device) if where.streamed else aligned
        super().__init__(trees, cards, model, threads, allocate)
        self.device, self.where = device, where
        self._recordings = Recordings(device)  # by part
        if trees:
            self._prepare(self._passes_of(trees))

    def _passes_of(self, trees: Trees) -> Passes:
        if self.roots is None and self.cards.stages == 1:
            return ClassPasses(self.device, trees, self.cards)
        if self.roots is None or any(stage.twins.any() for stage in self.cards.kernel):
            raise InputError(
                "a GPU takes hands that change between streets in product form, with roots;\n"
                "use cards: classes or buckets, or device: cpu"
            )
        return ChainPasses(self.device, trees, self.cards, self.roots)

    def _prepare(self, passes: Passes) -> None:
        """Everything that stays the same: stored arrays, rooms, and the structures of passes."""
        device, flops, pots = self.device, self.flops, self.pots
        hands = self._classes
        arrays = {
            (kind, pot): getattr(game, kind)
            for pot, game in enumerate(self.games)
            for kind in ("regrets", "averages")
        }
        parts = self.where.parts(max(1, ROOM_BYTES // passes.room_bytes))
        self._store = FlopStore(device, arrays, self.where, parts)
        for (kind, pot), host in arrays.items():
            mirror = Mirror(host)
            mirror.fetch = self._fetch(kind, pot)
            setattr(self.games[pot], kind, mirror)
        self._request = Request(device, parts, pots, passes.root_length)
        self._out = device.zeros(pots * flops * hands)
        self._sums = FlopSums(device, passes.kernels, pots, flops, hands)
        self._passes = passes
        passes.buffers.zeros("sums", 2 * pots * flops, np.float64)
        passes.arrange(self._request, self._store, self._out)
        if self._is_locked:
            self._store.send(range(flops), ("regrets", "averages"))

    @property
    def _is_locked(self) -> bool:
        """Whether some decision is."""
        return any(game.tree.is_locked for game in self.games)

    @property
    def _classes(self) -> int:
        """Hands at the roots."""
        classes = self.cards.hands[0] if self.roots is None else self.roots.shape[1]
        return int(classes)

    # -- passes

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach [2, P, 169], a part of the flops at a time."""
        flops = np.flatnonzero(pairs.any(axis=0))
        if not self.games or not len(flops) or not weights:
            return
        reached = np.where(reach > LEAST_REACH, reach, 0.0)
        for player in Player:
            self._require_stored(player, reached[player])
            self._request.enter(player, reached[player.opponent])
        _, counts = self._request.flops(flops, pairs[:, flops])
        for first in range(0, len(weights), AT_ONCE):
            table = np.array(weights[first : first + AT_ONCE], np.float32)
            _refuse_pruning(table)
            self._request.weights(table)
            for part in self._store.order():
                if counts[part]:
                    with self._store.lent(part, EVERYTHING, EVERYTHING):
                        self._iterate_part(part, int(counts[part]), len(table))
        self.device.finish(self.device.mark())
        self._fall_behind()

    def _iterate_part(self, part: int, places: int, iterations: int) -> None:
        self._request.send()  # again at the first weights
        for _ in range(iterations):
            self._recordings.run(part, places, lambda: self._iteration(part, places))

    def _iteration(self, part: int, places: int) -> None:
        for player in Player:
            self._passes.launch(player, UPDATE, part, places)
        self._passes.kernels.launch("tick", 1, 1, 0, self._regrets(Player.OOP, part, 0))

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> Any:
        """`FarValues` [P, K, 169]: a half-iteration about all hands, which takes no longer."""
        del player_reach, hand_mask
        table = weight_rows(weights)
        _refuse_pruning(table)
        values = self._pass(player, opponent_reach, UPDATE, flops, table)
        self._fall_behind()
        return values

    def _run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        flops: Flops,
        weights: Singles,
        selection: HandSelection,
        hand_mask: Flags | None = None,
    ) -> Singles:
        """[P, K, 169]: passes about all hands."""
        del selection, hand_mask
        return np.asarray(self._pass(player, other, mode, flops, weights))

    def _pass(
        self,
        player: Player,
        other: Floats,
        mode: int,
        flops: Flops,
        weights: Singles,
    ) -> AnyValues:
        """[P, K, 169], on the device."""
        shape = self.pots, len(flops), self._classes
        reach = np.where(other > LEAST_REACH, other, 0.0)
        self._require_stored(player.opponent, reach)
        # A pot that the opponent never reaches is worth nothing to either player.
        seen: Flags = np.any(reach, axis=1)
        if not seen.any() or not len(flops):
            return np.zeros(shape, np.float32)
        self._request.enter(player, reach)
        order, counts = self._request.flops(flops, np.repeat(seen[:, None], len(flops), axis=1))
        self._request.weights(weights, order if len(weights) > 1 else None)
        self._request.send()
        reads, writes = _touched(player, mode, self._is_locked)
        for part in self._store.order():
            if counts[part]:
                with self._store.lent(part, reads, writes):
                    self._passes.launch(player, mode, part, int(counts[part]))
        size = shape[0] * shape[1] * shape[2]
        return DeviceValues(self._sums, self.device.copied(self._out[:size]), shape, order)

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies; hands that are not stored play evenly."""
        values = self._run(player, opponent_reach, EVALUATE, flops, NO_WEIGHTS, "all")
        return values.astype(np.float64)

    def pair_values(self, pot: int, flops: Flops) -> Singles:
        """[K, 169, 169], by processors: chips that OOP wins with the row's hand."""
        _brought_here(self.games[pot].averages)
        return super().pair_values(pot, flops)

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        total, largest = np.zeros((2, self.pots, len(flops)))
        entries = [game.regret_count for game in self.games]
        if self.games and len(flops):
            order, counts = self._request.flops(flops, np.ones(total.shape, np.bool_))
            self._request.send()
            reads: Which = frozenset(("regrets", player) for player in Player)
            for part in self._store.order():
                places = slice(*np.cumsum([0, *counts])[part : part + 2])
                if counts[part]:
                    with self._store.lent(part, reads, frozenset()):
                        one, most = self._part_sums(part, places)
                    total[:, order[places]], largest[:, order[places]] = one, most
        return RegretSums(total, largest, np.repeat(entries, len(flops)).reshape(total.shape))

    def _part_sums(self, part: int, places: slice) -> tuple[Floats, Floats]:
        """[P, K] each: the sums of a part's positive regrets, and the largest."""
        count = places.stop - places.start
        total, largest = np.zeros((2, self.pots, count))
        first, last = (2 * self.pots * place for place in (places.start, places.stop))
        there = self._passes.buffers.kept["sums"][first:last]
        for stage in range(max(len(game.slots) for game in self.games)):
            for player in Player:
                argument = self._regrets(player, part, stage)
                blocks, shared = count * self.pots, SUM_BYTES * SUMMING
                self._passes.kernels.launch("sum_regrets", blocks, SUMMING, shared, argument)
                sums = np.zeros((count, self.pots, 2))
                self.device.read(there, sums.reshape(-1))
                total += sums[:, :, 0].T
                largest = np.maximum(largest, sums[:, :, 1].T)
        return total, largest

    def _regrets(self, player: Player, part: int, stage: int) -> int:
        """The structure of a player's regrets of a stage."""
        structures, name = self._passes.structures, f"regrets.{player}.{part}.{stage}"
        if name in structures.kept:
            return structures.address(name)
        free = [
            game.free_spans(stage, player) if stage < len(game.slots) else NO_SPANS
            for game in self.games
        ]
        given: dict[str, int | Array] = {
            "stores": self._passes.stores(part, stage, player),
            "sums": self._passes.buffers.address("sums"),
            "free_first": ints(np.cumsum([0, *(len(spans) for spans in free)])),
            "free": np.concatenate(free),
        }
        fields = structures.addresses(name, given)
        return self._passes.structure(name, "Regrets", part, fields)

    # -- what is stored

    def _fetch(self, kind: str, pot: int) -> Callable[[int, int], None]:
        def fetch(stage: int, player: int) -> None:
            self._store.fetch(Name(kind, pot, stage, Player(player)))

        return fetch

    def _mirrors(self) -> Iterator[Mirror]:
        for game in self.games:
            for mirror in (game.regrets, game.averages):
                assert isinstance(mirror, Mirror)
                yield mirror

    def _fall_behind(self) -> None:
        """Mark the host's copies as old."""
        for mirror in self._mirrors():
            mirror.fall_behind()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same games, of any engine."""
        if self.games:
            self._store.finish()
            for mirror in self._mirrors():
                mirror.stale = set()  # all of it is written now
            super().restore(state)
            self._store.send(range(self.flops), ("regrets", "averages"))

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]."""
        super().set_average(pot, flop, node, strategy)
        locked = node in self.games[pot].tree.locks  # and so its regrets are the strategy, too
        self._send(range(flop, flop + 1), ("averages", "regrets") if locked else ("averages",))

    def _send(self, flops: range, kinds: Sequence[str]) -> None:
        for game in self.games:
            for kind in kinds:
                _brought_here(getattr(game, kind))
        self._store.send(flops, kinds)

    @contextmanager
    def quantised(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """Quantise the average strategies of some flops, as in a bundle, within this context."""
        with followed(super().quantised(flops, numbers), lambda: self._send(flops, ("averages",))):
            yield

    @property
    def device_use(self) -> DeviceUse:
        """Their use of the device."""
        return self.device.use(self.memory_bytes)

    def keep_hands(self, hands: Flags) -> None:
        """Store only these hands [2, P, 169]; one that returns starts from zero."""
        self._store.finish()
        self.device.finish(self.device.mark())  # nothing is copied into what is replaced
        super().keep_hands(hands)
        self._recordings = Recordings(self.device)
        self._passes.arrange(self._request, self._store, self._out)

    def _keep(self, pot: int, player: Player, hands: Longs) -> None:
        game, streamed = self.games[pot], self.where.resident
        source = game.sources_of(player, hands)
        for kind in ("regrets", "averages"):
            mirror = getattr(game, kind)
            moved = game.moved(mirror.host[0][player], source, self._pool, streamed)
            self._store.move(Name(kind, pot, 0, player), moved, source, self._move_there)
            mirror.host[0][player] = moved
            mirror.fall_behind()
        game.have_moved(player, hands)
        self._store.some_hands.pop((pot, player), None)
        if len(hands) < self.cards.hands[0]:
            places = np.full(self.cards.lengths[0], NOWHERE, np.uint8)
            places[hands] = np.arange(len(hands))
            self._store.some_hands[pot, player] = padded(len(hands)), self.device.put(places)

    def _move_there(self, old: Buffer, new: Buffer, source: Longs, flops: int) -> None:
        """Let an array [F, …] have the numbers at `source` of each flop of another."""
        there = self.device.put(ints(source))
        sizes = {"old": len(old) // flops, "size": len(source)}
        addresses = {
            name: self.device.address(buffer)
            for name, buffer in (("from", old), ("to", new), ("source", there))
        }
        words = self.device.put(packed("matrix.cuh", "Moved", sizes | addresses))
        self._passes.kernels.launch("move_numbers", flops, SUMMING, 0, self.device.address(words))


EVERYTHING: Which = frozenset(
    (kind, player) for kind in ("regrets", "averages") for player in Player
)


def _learned(player: Player) -> tuple[Which, Which]:
    changed: Which = frozenset({("regrets", player), ("averages", player.opponent)})
    return changed | {("regrets", player.opponent)}, changed


def _played(*whose: Player) -> tuple[Which, Which]:
    return frozenset(("averages", player) for player in whose), frozenset()


def _touched(player: Player, mode: int, locked: bool) -> tuple[Which, Which]:
    """The stored arrays that a pass reads, and those that it changes.

    Where some decision is `locked`, a best response plays what the player is locked to.
    """
    if mode == UPDATE:
        return _learned(player)
    if mode == BEST_RESPONSE and not locked:
        return _played(player.opponent)
    return _played(*Player)


def _brought_here(arrays: Sequence[Sequence[Singles]]) -> None:
    """Read arrays of the host, which brings them up to date."""
    for stage in arrays:
        for player in Player:
            stage[player]


def _pinned(device: Device) -> Allocate:
    """Makes arrays of zeros that are copied fast, and beside what runs."""

    def zeros(shape: tuple[int, int]) -> Singles:
        array = device.landing(shape)
        array[...] = 0.0
        return array

    return zeros


def _fitting(trees: Trees, cards: MatrixCards, device: Device) -> Residence:
    """The residence of the flops."""
    stages = cards.stages[0]
    lengths = [
        padded(max(len(flop[stage].combos) for flop in cards.stages))
        for stage in range(len(stages))
    ]
    stored, streets = 0, tuple(stage.streets for stage in stages)
    for tree, _ in trees:
        slots = slot_counts(tree, stage_of_nodes(tree, streets)).sum(axis=1)
        stored += 8 * len(cards.stages) * int(slots @ lengths[: len(slots)])
    flops = len(cards.stages)
    return residence(flops, stored, table_bytes(lengths, flops), device.free_bytes)


def _refuse_pruning(weights: Singles) -> None:
    if (weights[:, THRESHOLD] > -np.inf).any():
        raise InputError(
            "pruning runs on CPUs only: a GPU visits every action and would gain nothing;\n"
            "leave out prune_warmup"
        )
