"""A worker: owns the games of some flops, and answers questions about them.

It learns the pots and flops once (an `EngineSpec`), and then which flops are its own. Their tables
and arrays are built on its machine and never sent. Flops are identified by their indices among all
flops; a question about some flops goes to every worker unchanged, and each answers for its own, in
the order of the question.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, Place, Singles, write_checked_arrays
from allstreets.betting import Player
from allstreets.cfr import IterationWeights
from allstreets.cluster.connect import require_version
from allstreets.engines import (
    DropsHands,
    Engine,
    EngineSpec,
    EvaluatesPairs,
    Flops,
    Numbers,
    RebucketsHands,
    RegretSums,
    SomeFlops,
    Values,
    flop_of,
    moved_key,
    quantised_values,
)
from allstreets.storage import StoredArrays, write_flops

WRITERS = 4  # threads that write the files of a checkpoint

Arrays = dict[str, NDArray[Any]]


class Sizes(NamedTuple):
    """Memory use of a worker."""

    memory_bytes: int
    saved_bytes: int
    can_drop_hands: bool


@dataclass(frozen=True, eq=False)
class Block:
    """Some flops whose games were built together."""

    places: Flops  # [K], rising
    games: Engine


@dataclass(frozen=True)
class Visits:
    """The work of an iteration on K flops; equal weights are stored once, not 1,755 times."""

    kinds: tuple[IterationWeights, ...]
    of_flop: Longs  # [K] indices into the kinds, where there are several

    @classmethod
    def of(cls, weights: Sequence[IterationWeights]) -> "Visits":
        """The visits of a list of weights, one for each flop."""
        if weights and weights.count(weights[0]) == len(weights):
            return cls((weights[0],), np.zeros(0, np.int64))
        kinds = tuple(dict.fromkeys(weights))
        number = {kind: index for index, kind in enumerate(kinds)}
        return cls(kinds, np.array([number[each] for each in weights], np.int64))

    def some(self, positions: Longs) -> list[IterationWeights]:
        """The weights of the flops at some positions."""
        if len(self.kinds) == 1:
            return [self.kinds[0]] * len(positions)
        return [self.kinds[kind] for kind in self.of_flop[positions].tolist()]


class Worker:
    """The games of some flops."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._rounding = ExitStack()

    def begin(self, spec: EngineSpec, version: str, threads: int) -> str:
        """Learn the games; return the name of this machine."""
        host = require_version(version)
        self._spec = replace(spec, threads=threads)
        self._trees = self._spec.trees()
        return host

    def sees(self, path: Place) -> bool:
        """Whether this machine sees a file of the driver."""
        return path.exists()

    def own(self, places: Flops, fresh: bool) -> None:
        """Own these flops from now on; games already built are reused unless `fresh`.

        New flops have the state of untrained games.
        """
        wanted = set(places.tolist())
        kept = [] if fresh else [b for b in self._blocks if wanted.issuperset(b.places.tolist())]
        self._blocks = kept  # the others' memory is free before more is taken
        wanted -= {flop for block in kept for flop in block.places.tolist()}
        if wanted:
            new = np.array(sorted(wanted), np.int64)
            games = self._spec.of(new).build(self._trees)
            self._blocks = [*kept, Block(new, games)]

    def sizes(self) -> Sizes:
        """Memory use of all blocks."""
        games = [block.games for block in self._blocks]
        return Sizes(
            sum(each.memory_bytes for each in games),
            sum(each.saved_bytes for each in games if isinstance(each, DropsHands)),
            all(isinstance(each, DropsHands) and each.can_drop_hands for each in games),
        )

    # Questions about K flops; answers cover the owned ones, in the order of `flops`.

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        now: Visits,
        hand_mask: Flags | None,
    ) -> Values:
        """A half-iteration."""
        return self._values(
            flops,
            lambda games, places, positions: np.asarray(
                games.step(
                    player, player_reach, opponent_reach, places, now.some(positions), hand_mask
                )
            ),
        )

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Values:
        """Values of the best response to the average strategies."""
        return self._values(
            flops, lambda games, places, _: games.best_response(player, opponent_reach, places)
        )

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Values:
        """Values of the average strategies."""
        return self._values(
            flops, lambda games, places, _: games.evaluate(player, opponent_reach, places)
        )

    def pair_values(self, pot: int, flops: Flops) -> Values:
        """Chips that OOP wins of every hand with every hand, [K, 169, 169]."""

        def ask(games: Engine, places: Flops, _: Longs) -> Values:
            assert isinstance(games, EvaluatesPairs)
            return games.pair_values(pot, places)

        return self._values(flops, ask, axis=0)

    def regret_sums(self, flops: Flops) -> Floats:
        """Positive regrets, [3, P, K]: totals, largest, how many."""

        def sums(games: Engine, places: Flops, _: Flops) -> Floats:
            regrets: RegretSums = games.regret_sums(places)
            return np.stack([regrets.total, regrets.largest, regrets.entries.astype(np.float64)])

        return self._values(flops, sums, axis=2).astype(np.float64)

    def _values(
        self, flops: Flops, ask: Callable[[Engine, Flops, Flops], Values], axis: int = 1
    ) -> Values:
        """The blocks' answers, in the order of `flops` along `axis`."""
        answers, order = [], []
        for block, places, positions in self._own(flops):
            answers.append(ask(block.games, places, positions))
            order.append(positions)
        if len(answers) == 1:
            return answers[0]
        joined: Any = np.concatenate(answers, axis=axis)
        values: Values = joined.take(np.argsort(np.concatenate(order)), axis=axis)
        return values

    def _own(self, flops: Flops) -> Iterator[tuple[Block, Flops, Flops]]:
        """Blocks, the flops of each that are asked about, and their positions in `flops`."""
        for block in self._blocks:
            index = np.searchsorted(block.places, flops)
            index[index == len(block.places)] = 0
            positions = np.flatnonzero(block.places[index] == flops)
            if len(positions):
                yield block, index[positions], positions

    def _at(self, flop: int) -> tuple[Engine, int]:
        block, places, _ = next(self._own(np.array([flop])))
        return block.games, int(places[0])

    # Questions about all flops, or about one that is owned.

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach."""
        for block in self._blocks:
            own = pairs[:, block.places]
            if own.any():
                block.games.iterate(reach, own, weights)

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """The average strategy at a decision."""
        games, index = self._at(flop)
        return games.average(pot, index, node)

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy`."""
        games, index = self._at(flop)
        games.set_average(pot, index, node, strategy)

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The arrays of a flop for a bundle."""
        games, index = self._at(flop)
        return games.pack(index, reach, numbers)

    def begin_rounding(self, flops: range, numbers: Numbers) -> None:
        """Quantise average strategies of some flops as a bundle does, until `end_rounding`."""
        for block in self._blocks:
            # Flops that follow each other in a block: those of a range do.
            first, last = np.searchsorted(block.places, (flops.start, flops.stop)).tolist()
            if first < last:
                self._rounding.enter_context(block.games.quantised(range(first, last), numbers))

    def end_rounding(self) -> None:
        """Restore the average strategies that `begin_rounding` replaced."""
        self._rounding.close()

    def quantised_values(self, reach: Floats, numbers: Numbers, flops: Flops) -> Values:
        """[2, 2, P, K, 169]: best responses and values of both players, strategies rounded."""

        def values(games: Engine, places: Flops, _: Flops) -> Floats:
            return quantised_values(games, reach, numbers)[:, :, :, places]

        return self._values(flops, values, axis=3)

    def keep_hands(self, hands: Flags) -> None:
        """Store only these hands."""
        for block in self._blocks:
            assert isinstance(block.games, DropsHands)
            block.games.keep_hands(hands)

    def rebucket(self, reach: Floats, least: float) -> float:
        """Group hands again for the reach if it has moved by more than `least`."""
        far = 0.0
        for block in self._blocks:
            assert isinstance(block.games, RebucketsHands)
            far = block.games.rebucket(reach, least)
        return far

    # Files, in folders that all machines see.

    def shared_state(self) -> Arrays:
        """The part of the state that is the same for all flops."""
        for block in self._blocks:
            return {name: a for name, a in block.games.state().items() if flop_of(name) is None}
        return {}

    def write_state(self, folder: Place) -> dict[str, str]:
        """Write the state of each own flop as a file of a folder; their names and checksums."""
        files: dict[str, Arrays] = {}
        for block in self._blocks:
            for name, array in block.games.state().items():
                own = flop_of(name)
                if own is not None:
                    file = f"flop-{int(block.places[own]):04d}.safetensors"
                    files.setdefault(file, {})[moved_key(name, block.places)] = array
        with ThreadPoolExecutor(WRITERS) as pool:
            sums = pool.map(lambda file: write_checked_arrays(folder / file, files[file]), files)
            return dict(zip(files, sums, strict=True))

    def restore(self, folder: Place, files: Mapping[str, str], shared: Arrays) -> None:
        """Resume all own flops from their files and from `shared`."""
        stored = _Joined(StoredArrays(folder, files), shared)
        for block in self._blocks:
            block.games.restore(SomeFlops(stored, block.places))

    def write_packed(
        self,
        folder: Place,
        token: str,
        names: Sequence[str],
        values: Singles,
        reach: Floats,
        numbers: Sequence[Numbers],
        places: Flops,
    ) -> list[dict[str, Any]]:
        """Write K own flops as a bundle stores them, with these values [2, P, K, 169]."""

        def arrays(number: int) -> Arrays:
            packed = self.pack(int(places[number]), reach, numbers)
            return {"values": values[:, :, number], **packed}

        arrays(0)  # the part that all flops share is computed once
        return write_flops(folder, token, names, arrays)


class _Joined(Mapping[str, NDArray[Any]]):
    """Arrays of files, and some more."""

    def __init__(self, stored: StoredArrays, shared: Arrays) -> None:
        self._stored, self._shared = stored, shared

    def __getitem__(self, name: str) -> NDArray[Any]:
        shared = self._shared.get(name)
        return self._stored[name] if shared is None else shared

    def __iter__(self) -> Iterator[str]:
        yield from self._shared
        yield from self._stored

    def __len__(self) -> int:
        return len(self._shared) + len(self._stored)
