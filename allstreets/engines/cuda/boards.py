"""Games with real boards on a GPU: the same buckets, the same stored numbers, other kernels.

Regrets and averages live on the device; the host's copies are updated when they are read. A
half-iteration is about ten launches for as many flops as find room, all pots of a set of ranges
together (`boards.cu`): reach [P, 169] goes there and values [P, F, 169] come back. Everything but
passes is that of the engine for processors.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import Player, Street
from allstreets.cards import HAND_COUNT, Flop
from allstreets.cfr import IterationWeights
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.boards.subgame import BoardsSubgame, NewArray
from allstreets.engines.card_model import CardModel
from allstreets.engines.cuda.boards_layout import AT_ONCE, FlatBoards
from allstreets.engines.cuda.boards_passes import (
    EVERYWHERE,
    NAMES,
    BoardsPasses,
    arrange_together,
    compiled,
)
from allstreets.engines.cuda.bucketing import CudaBucketing
from allstreets.engines.cuda.programs import refuse_long_decisions
from allstreets.engines.cuda.residence import BriefMirror, followed
from allstreets.engines.device import Buffer, Device
from allstreets.engines.exact.kernels.layout import BEST_RESPONSE, EVALUATE, UPDATE
from allstreets.engines.protocol import Arrays, Flops, RegretSums
from allstreets.engines.quantised import Numbers
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS
from allstreets.engines.simd.vectors import aligned
from allstreets.engines.trees import Trees


def elsewhere(size: int, kind: Any) -> NDArray[Any]:
    """Zeros that take no memory here: the device has them."""
    return np.broadcast_to(np.zeros(1, kind), size)


def _locked_places(game: BoardsSubgame) -> set[tuple[int, int]]:
    """The streets and players of a fresh game whose numbers are not all zeros."""
    nodes = {*game.tree.locks, *game.tree.hand_locks}
    return {(game.levels.index(Street(int(game.tree.street[node]))), game.tree.player_at(node))
            for node in nodes}  # fmt: skip


class CudaBoardsEngine(BoardsEngine):
    """`BoardsEngine` whose passes run on a device."""

    fresh_numbers: NewArray = staticmethod(elsewhere)

    def __init__(
        self,
        trees: Trees,
        flops: Sequence[Flop],
        threads: int,
        model: CardModel,
        there: Device,
        ranges: Floats | None = None,
    ) -> None:
        refuse_long_decisions(tree for tree, _ in trees)
        if any(tree.is_locked for tree, _ in trees):
            self.fresh_numbers = aligned  # of which locked strategies take some pages
        self.bucketing = CudaBucketing(there)
        super().__init__(trees, flops, threads, model, ranges)
        self.device = self.there = there  # the one is None in games for processors
        self._kernels = compiled(there, model.groups)
        self._sets: list[BoardsPasses] = []
        self._looked_at: set[tuple[int, int]] = set()  # pots on flops of which the host has numbers
        self._open()

    # -- passes

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops."""
        del player_reach, hand_mask
        pairs = self._pairs(flops)
        by_flop = dict(zip(flops.tolist(), weights, strict=True))
        table = self._weights(player, pairs, by_flop)
        values = self._values(player, opponent_reach, pairs, UPDATE, table)
        self._fall_behind(pairs)
        return values[:, flops]

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the average strategies."""
        return self._values(player, opponent_reach, self._pairs(flops), BEST_RESPONSE)[:, flops]

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies."""
        return self._values(player, opponent_reach, self._pairs(flops), EVALUATE)[:, flops]

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach [2, P, 169]."""
        flops = np.flatnonzero(pairs.any(axis=0)).tolist()
        if not flops:
            return
        for first in range(0, len(weights), AT_ONCE):
            table = np.stack(
                [
                    [self._weights(player, pairs, dict.fromkeys(flops, now)) for player in Player]
                    for now in weights[first : first + AT_ONCE]
                ]
            )
            for passes in self._sets:
                for player in Player:
                    passes.enter(player, reach[player.opponent])
                passes.ask(pairs, table)
            for _ in table:
                for passes in self._sets:
                    passes.iterate()
        self.wait()
        self._fall_behind(pairs)

    def wait(self) -> None:
        """Wait until all launches are over."""
        for passes in self._sets:
            passes.wait()

    def _values(
        self,
        player: Player,
        opponent_reach: Floats,
        pairs: Flags,
        mode: int,
        weights: Singles | None = None,
    ) -> Floats:
        """[P, F, 169]: one pass of all pots on the flops of `pairs` [P, F]."""
        if weights is None:
            weights = np.zeros((self.flops, self.pots, len(NO_WEIGHTS)), np.float32)
        for passes in self._sets:
            passes.enter(player, opponent_reach)
            passes.ask(pairs, np.stack([weights, weights])[None])
            passes.launch(player, mode)
        values = np.zeros((self.pots, self.flops, HAND_COUNT))
        for passes in self._sets:
            values[passes.pots] = passes.values()
        scale = [row[0].scale[player] for row in self.subgames]
        return values * np.array(scale)[:, None, None] if self.flops else values

    def _weights(
        self, player: Player, pairs: Flags, by_flop: Mapping[int, IterationWeights]
    ) -> Singles:
        """[F, P, 8]: those of a half-iteration; games in the same state are asked once."""
        table = np.zeros((self.flops, self.pots, len(NO_WEIGHTS)), np.float32)
        known: dict[Any, Any] = {}
        chosen, rows = np.argwhere(pairs), []
        for pot, flop in chosen.tolist():
            game = self.subgames[pot][flop]
            key = game.steps[player], game.weights[player], game.waiting[player], by_flop[flop]
            if key not in known:
                weights = game.kernel_weights(player, by_flop[flop])
                known[key] = weights, game.steps[player], game.weights[player], game.waiting[player]
            row, game.steps[player], game.weights[player], game.waiting[player] = known[key]
            rows.append(row)
        table[chosen[:, 1], chosen[:, 0]] = rows
        return table

    # -- what is stored

    def _open(self, *, fresh: bool = True) -> None:
        """Bring everything to the device; numbers that are not `fresh`, and so zeros, too."""
        self._sets.clear()  # and what they own
        trees = self._description[0]
        for number, pots in enumerate(self._pots_of_sets()):
            if len(pots):
                locks = [row[number][1].hand_locks for row in self._together]
                flat = FlatBoards(
                    self.cards, number, self.model.groups, self.there.shared_bytes,
                    self._description[2],
                )  # fmt: skip
                chosen = [trees[pot] for pot in pots.tolist()]
                hand_locks = [np.concatenate([each[player] for each in locks]) for player in Player]
                self._sets.append(
                    BoardsPasses(self.there, self._kernels, pots, chosen, flat, hand_locks)
                )
        arrange_together(self.there, self._sets)
        self._looked_at.clear()
        self._together.clear()  # passes run there: nothing needs all pots of a flop in one array
        for pot, flop, game in self._games():
            for name in NAMES:
                here = getattr(game, name)
                sent = EVERYWHERE if not fresh else _locked_places(game)
                for level, player in sent:
                    if here[level][player].size:
                        address = self._place(name, pot, flop, level, player)
                        self.there.write(address, here[level][player])
                mirror: Any = BriefMirror(here)
                mirror.fetch = self._fetch(name, pot, flop, mirror)
                setattr(game, name, mirror)

    def _pots_of_sets(self) -> list[Longs]:
        of_pot = np.array(self.sets.of_pot, np.int64)
        return [np.flatnonzero(of_pot == number) for number in range(len(self.sets.ranges))]

    def _games(self) -> Iterator[tuple[int, int, BoardsSubgame]]:
        for pot, row in enumerate(self.subgames):
            for flop, game in enumerate(row):
                yield pot, flop, game

    def _place(self, name: str, pot: int, flop: int, level: int, player: int) -> Buffer:
        """The numbers of a game on the device."""
        passes = next(passes for passes in self._sets if pot in passes.pots)
        return passes.stored(name, int(np.searchsorted(passes.pots, pot)), flop, level, player)

    def _fetch(
        self, name: str, pot: int, flop: int, mirror: BriefMirror
    ) -> Callable[[int, int], None]:
        def fetch(level: int, player: int) -> None:
            self._looked_at.add((pot, flop))
            array = mirror.host[level][player]
            if array.size:
                self.there.read(self._place(name, pot, flop, level, player), array)

        return fetch

    def _fall_behind(self, pairs: Flags) -> None:
        """Mark the host's copies of the games as old."""
        for pot, flop in [place for place in self._looked_at if pairs[place]]:
            self._forget(pot, flop)

    def _forget(self, pot: int, flop: int) -> None:
        """Drop the host's copies of a game."""
        self._looked_at.discard((pot, flop))
        for name in NAMES:
            getattr(self.subgames[pot][flop], name).forget()

    def _forget_all(self, flops: range) -> None:
        for flop in flops:
            for pot in range(self.pots):
                self._forget(pot, flop)

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

    def _restore_flop(self, flop: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume a flop from a `state()` of any engine."""
        for row in self.subgames:
            for name in NAMES:
                getattr(row[flop], name).start_anew()
        super()._restore_flop(flop, state)
        self._send(range(flop, flop + 1), NAMES)
        self._forget_all(range(flop, flop + 1))

    def _rebuild(self) -> None:
        """Fresh games for other sets of ranges."""
        super()._rebuild()
        self._open()

    def rebucket(self, reach: Floats, least: float = 0.0) -> float:
        """Group hands again for the reach [2, P, 169] if it has moved by more than `least`."""
        self._together = [[] for _ in range(self.flops)]
        far = super().rebucket(reach, least)
        if far > least:
            self._open(fresh=False)
        return far

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The arrays of the flop for a bundle."""
        arrays = super().pack(flop, reach, numbers)
        self._forget_all(range(flop, flop + 1))
        return arrays

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        total, largest, entries = np.zeros((3, self.pots, self.flops))
        for passes in self._sets:
            total[passes.pots], largest[passes.pots], entries[passes.pots] = passes.regret_sums()
        # A subgame measures reach in shares of the other's hands.
        scale = np.array([row[0].scale[0] for row in self.subgames])[:, None]
        whole = entries[:, flops].astype(np.int64)
        return RegretSums((total * scale)[:, flops], (largest * scale)[:, flops], whole)

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]."""
        super().set_average(pot, flop, node, strategy)
        self._send(range(flop, flop + 1), NAMES)

    @contextmanager
    def quantised(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """Quantise the average strategies of some flops, as in a bundle, within this context."""
        with followed(super().quantised(flops, numbers), lambda: self._send(flops)):
            yield
        self._forget_all(flops)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(passes.stored_bytes for passes in self._sets)
