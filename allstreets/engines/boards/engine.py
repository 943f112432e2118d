"""All pots on all flops with real boards, the hands of every turn and river board in buckets.

Buckets are made for the ranges that start a pot, and again when these have moved (`rebucketing`).
Everything else is as in exact games: reach comes by class, every combo of a class has the same
reach, and a class gets the sum of its combos' values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, Flop
from allstreets.cfr import IterationWeights
from allstreets.engines.boards.cards import (
    Bucketing,
    BucketSettings,
    FlopBoards,
    bucket_hands,
    flop_boards,
)
from allstreets.engines.boards.rebucketing import RangeSets, moved, range_sets, rebucket_flop
from allstreets.engines.boards.subgame import (
    RIVER,
    TURN,
    BoardsPots,
    BoardsSubgame,
    NewArray,
    PotsOnFlop,
)
from allstreets.engines.card_model import CardModel
from allstreets.engines.exact.engine import ExactEngine
from allstreets.engines.exact.kernels.layout import BEST_RESPONSE, EVALUATE
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.machine import Pool
from allstreets.engines.protocol import Arrays, Flops
from allstreets.engines.quantised import ONE_BYTE, Numbers
from allstreets.engines.simd.quantise import round_shares
from allstreets.engines.simd.vectors import aligned
from allstreets.engines.trees import Trees

LARGEST = int(np.iinfo(ONE_BYTE).max)


class BoardsEngine(ExactEngine):
    """P betting trees on F flops, each a `BoardsSubgame`."""

    subgames: Sequence[Sequence[BoardsSubgame]]
    bucketing: Bucketing | None = None  # of a device; processors use `bucket_hands`
    fresh_numbers: NewArray = staticmethod(aligned)  # what untrained games start from

    def __init__(
        self,
        trees: Trees,
        flops: Sequence[Flop],
        threads: int,
        model: CardModel,
        ranges: Floats | None = None,
    ) -> None:
        self.sets = range_sets(ranges, len(trees), model.sets)
        self._settings = BucketSettings(model.groups, model.rows, model.seed)
        self._description = trees, flops, threads
        super().__init__(trees, flops, threads, model)

    def _build(
        self, trees: Trees, flops: Sequence[Flop], pool: Pool
    ) -> Sequence[Sequence[BoardsSubgame]]:
        layouts = self._layouts(trees, self.fresh_numbers, pool)
        bucketing = self.bucketing or partial(bucket_hands, pool=pool)
        cards: list[FlopBoards | None] = [None] * len(flops)

        def build(_: int, place: int) -> None:
            cards[place] = flop_boards(
                flops[place].cards, list(self.sets.ranges), self._settings, bucketing
            )

        pool.run(len(flops), build)
        self.cards = [each for each in cards if each is not None]
        # By flop and set of ranges: the pots of the set, and their games on the flop.
        self._together = [
            [
                (pots, PotsOnFlop(layout, each, number))
                for number, (pots, layout) in enumerate(layouts)
            ]
            for each in self.cards
        ]
        return self._by_pot(len(trees))

    def _layouts(self, trees: Trees, new: NewArray, pool: Pool) -> list[tuple[Longs, BoardsPots]]:
        """The pots of each set of ranges, and how they are laid out."""
        of_pot = np.array(self.sets.of_pot)
        sets = [np.flatnonzero(of_pot == ranges) for ranges in range(len(self.sets.ranges))]
        return [
            (pots, BoardsPots([trees[pot] for pot in pots.tolist()], self.model.groups, new, pool))
            for pots in sets
        ]

    def _by_pot(self, pots: int) -> list[list[BoardsSubgame]]:
        """The games of every pot on every flop."""
        subgames: list[list[BoardsSubgame]] = [[] for _ in range(pots)]
        for row in self._together:
            for places, games in row:
                for pot, subgame in zip(places.tolist(), games.subgames, strict=True):
                    subgames[pot].append(subgame)
        return subgames

    def rebucket(self, reach: Floats, least: float = 0.0) -> float:
        """Bucket hands again for the reach [2, P, 169] if it has moved by more than `least`.

        Return how far it moved (`rebucketing.moved`). Flops are replaced one by one, so that few
        are in memory twice.
        """
        sets = range_sets(reach, self.pots, self.model.sets)
        far = moved(self.sets, sets, reach)
        if far <= least:
            return far
        self.sets = sets
        layouts = self._layouts(self._description[0], aligned, self._pool)
        rows = [list(row) for row in self.subgames]
        self.subgames = rows
        bucketing = self.bucketing or partial(bucket_hands, pool=self._pool)

        def work(_: int, flop: int) -> None:
            before = [row[flop] for row in rows]
            self.cards[flop], after = rebucket_flop(
                before, sets, layouts, self._settings, bucketing
            )
            self._together[flop] = after
            for pots, games in after:
                for pot, subgame in zip(pots.tolist(), games.subgames, strict=True):
                    rows[pot][flop] = subgame

        self._pool.run(self.flops, work)
        return far

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
        return self._pass(
            flops,
            lambda games, pots, place: games.step(player, opponent_reach[pots], weights[place]),
        )

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the average strategies."""
        return self._pass(
            flops, lambda games, pots, _: games.run(player, opponent_reach[pots], BEST_RESPONSE)
        )

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies."""
        return self._pass(
            flops, lambda games, pots, _: games.run(player, opponent_reach[pots], EVALUATE)
        )

    def _pass(self, flops: Flops, work: Callable[[PotsOnFlop, Longs, int], Floats]) -> Floats:
        """[P, K, 169]: the results of `work` for the pots of each set on each flop."""
        values = np.zeros((self.pots, len(flops), HAND_COUNT))
        pieces = [
            (place, pots, games)
            for place, flop in enumerate(flops.tolist())
            for pots, games in self._together[flop]
        ]

        def run(_: int, number: int) -> None:
            place, pots, games = pieces[number]
            values[pots, place] = work(games, pots, place)

        self._pool.run(len(pieces), run)
        return values

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach [2, P, 169], the pots of a flop together."""
        pieces = [
            (pots, pairs[pots, flop], games)
            for flop, row in enumerate(self._together)
            for pots, games in row
            if pairs[pots, flop].any()
        ]

        def run(_: int, number: int) -> None:
            pots, chosen, games = pieces[number]
            games.iterate(reach[:, pots], chosen, weights)

        self._pool.run(len(pieces), run)

    @contextmanager
    def quantised(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """Within the context, average strategies on turn and river are bytes, as in a bundle."""
        del numbers
        arrays = [
            (subgame, level, player, subgame.averages[level][player].copy())
            for row in self.subgames
            for subgame in row[flops.start : flops.stop]
            for level in (TURN, RIVER)
            for player in Player
        ]

        def work(_: int, number: int) -> None:
            subgame, level, player, _copy = arrays[number]
            _round(subgame, level, player, subgame.averages[level][player])

        try:
            self._pool.run(len(arrays), work)
            yield
        finally:
            for subgame, level, player, copy in arrays:
                subgame.averages[level][player][:] = copy

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The arrays that exact games store of the flop, and the strategies of all boards below it.

        They stand as in the engine, in bytes; `groups` and `rows` say in which bucket a hand is.
        """
        arrays = super().pack(flop, reach, numbers)
        for pot, row in enumerate(self.subgames):
            for level in (TURN, RIVER):
                for player in Player:
                    rounded = row[flop].averages[level][player].copy()
                    _round(row[flop], level, player, rounded)
                    name = f"average.{pot}.{level}.{player.name.lower()}"
                    arrays[name] = rounded.astype(ONE_BYTE)
        for number, buckets in enumerate(self.cards[flop].buckets):
            for player in Player:
                name = f"{number}.{player.name.lower()}"
                arrays[f"groups.{name}"] = buckets.river[player]
                if buckets.turn is not None:
                    arrays[f"rows.{name}"] = buckets.turn[player].row.astype(np.uint8)
        arrays["sets"] = np.array(self.sets.of_pot, np.uint8)
        return arrays

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""
        of_pot = np.array(self.sets.of_pot, np.int64)
        return {"ranges": self.sets.ranges, "sets": of_pot, **super().state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same games, in the buckets that it was trained in."""
        sets = RangeSets(np.array(state["ranges"]), tuple(np.array(state["sets"]).tolist()))
        if sets.of_pot != self.sets.of_pot or not np.array_equal(sets.ranges, self.sets.ranges):
            self.sets = sets
            self._rebuild()
        super().restore(state)

    def _rebuild(self) -> None:
        """Fresh games for other sets of ranges."""
        self.subgames = self._build(*self._description[:2], self._pool)


def _round(subgame: ExactSubgame, level: int, player: Player, averages: NDArray[Any]) -> None:
    """Round the strategies of a street to bytes, in place."""
    boards, actions = subgame.boards[player][level], subgame.slot_actions(level, player)
    if not len(actions):
        return
    slots = np.cumsum(actions) - actions
    rows = np.diff(boards.own_rows)
    for count in np.unique(rows).tolist():
        same = np.flatnonzero(rows == count)
        starts = boards.own_slots[same][:, None] + slots * count
        every = np.tile(actions, len(same))
        round_shares(averages, starts.reshape(-1), every, count // 16, LARGEST)
