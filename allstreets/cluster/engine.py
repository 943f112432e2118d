"""P pots on F flops that workers own: the engine of a cluster.

Both players' reach goes to all workers as one message, each answers for its own flops, and the
answers are put into the places of these flops. Nothing is added up on the way: the solver above
sums flops in their fixed order, as with every other engine, so that a result does not depend on
which worker owned which flops.

States never come here. A worker writes its own flops as files into a folder that all machines see,
and reads back those that it owns, whichever worker wrote them.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError, Longs, Place, Singles
from allstreets.betting import Player
from allstreets.cfr import IterationWeights
from allstreets.cluster.connect import NodeUse, not_shared
from allstreets.cluster.connection import Answer, Traffic
from allstreets.cluster.worker import Sizes, Visits
from allstreets.cluster.worker_pool import WorkerPool
from allstreets.engines import Arrays, EngineSpec, Flops, Numbers, RegretSums, Values, flop_of
from allstreets.storage import StoredArrays
from allstreets.version import __version__

MEASURED = 20  # half-iterations before flops move
FADING = 0.95  # of what earlier half-iterations say of a worker's speed


class ClusterEngine:
    """P pots on F flops of a pool of workers."""

    def __init__(
        self,
        spec: EngineSpec,
        pool: WorkerPool,
        costs: Floats | None = None,
        threads: int | None = None,
    ) -> None:
        """`costs` [F]: the cost of a flop, in any unit; `threads` of a worker, or all its cores."""
        if spec.memory != "resident":
            raise InputError(f"memory {spec.memory} is for one machine; on a cluster: resident")
        self._spec, self.pool, self._threads = spec, pool, threads
        self.model, self.pots, self.flops = spec.model, len(spec.pots), len(spec.flops)
        self.dealt = spec.dealt()
        self._all = np.arange(self.flops)
        self._costs = np.ones(self.flops) if costs is None else costs
        self._hands: Flags | None = None  # those that are stored, if not all
        self._handshake(range(len(pool.nodes)))
        self._partition = split_flops(self._costs, self._cores())
        self._own(range(len(pool.nodes)), fresh=True)

    @property
    def traffic(self) -> Traffic:
        """Messages and bytes sent and received so far."""
        return self.pool.traffic

    @property
    def partition(self) -> tuple[Flops, ...]:
        """The flops of each worker."""
        return tuple(self._partition)

    # Who owns what.

    def _cores(self) -> Floats:
        return np.array([float(node.cores) for node in self.pool.nodes])

    def _handshake(self, workers: Sequence[int]) -> None:
        nodes = self.pool.nodes
        self.pool.ask_each(
            "begin",
            {
                each: (self._spec, __version__, self._threads or nodes[each].cores)
                for each in workers
            },
        )

    def _own(self, workers: Sequence[int], *, fresh: bool) -> None:
        """Let workers own their parts."""
        owner = np.full(self.flops, -1)
        for worker, part in enumerate(self._partition):
            owner[part] = worker
        assert (owner >= 0).all()
        self._owner = owner
        self._asked: tuple[Flops, dict[int, Flops]] = np.full(1, -1), {}
        self._sizes: list[Sizes] = [Sizes(0, 0, True)] * len(self._partition)
        self._forget_speeds()
        self.pool.ask_each("own", {each: (self._partition[each], fresh) for each in workers})
        self._measure()

    def _measure(self) -> None:
        self._sizes = [answer.value for answer in self.pool.ask("sizes")]

    def recover(self, lost: Sequence[int], *, fresh: bool) -> None:
        """Continue without these workers: their flops are built again, without state.

        The caller restores everything; `fresh`: there is nothing to restore, and all begin again.
        """
        before = self._partition
        came_from = self.pool.replace(lost)
        none = np.zeros(0, np.int64)
        kept = [none if old is None else before[old] for old in came_from]
        # New workers have nothing to do yet, so lost flops go to them first.
        self._partition = split_flops(self._costs, self._cores(), kept)
        if fresh:
            self._hands = None
        workers = range(len(came_from))
        self._handshake(workers)  # all, in case some were lost before the handshake
        self._own(workers, fresh=fresh)

    def _moved(self, folder: Place, files: Mapping[str, str]) -> None:
        """Move flops from slow workers to fast ones, through files with their state."""
        speeds = self._speeds()
        partition = None if speeds is None else rebalanced(self._costs, speeds, self._partition)
        if partition is None:
            return
        shared = self.state()
        before, self._partition = self._partition, partition
        changed = [
            worker
            for worker, (old, new) in enumerate(zip(before, partition, strict=True))
            if not np.array_equal(old, new)
        ]
        self._own(changed, fresh=False)
        if self._hands is not None:
            self.pool.ask("keep_hands", self._hands, of=changed)
        self._restore(folder, files, shared, changed)
        self._measure()

    # Learning and evaluating.

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> Values:
        """[P, K, 169]: a half-iteration on K flops, each with its own weights."""
        began = time.perf_counter()
        visits = Visits.of(weights)
        workers, answers = self._ask(
            flops, "step", player, player_reach, opponent_reach, flops, visits, hand_mask
        )
        values = self._put_together(flops, workers, answers)
        self._note_speeds(flops, workers, answers, began)
        return values

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the average strategies."""
        return self._values(flops, "best_response", player, opponent_reach, flops)

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies."""
        return self._values(flops, "evaluate", player, opponent_reach, flops)

    def pair_values(self, pot: int, flops: Flops) -> Values:
        """[K, 169, 169]: chips that OOP wins with the row's hand from the column's."""
        workers, answers = self._ask(flops, "pair_values", pot, flops)
        return self._put_together(flops, workers, answers, axis=0)

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        if not len(flops):
            none = np.zeros((self.pots, 0))
            return RegretSums(none, none, none.astype(np.int64))
        workers, answers = self._ask(flops, "regret_sums", flops)
        total, largest, entries = self._put_together(flops, workers, answers, axis=2)
        return RegretSums(
            total.astype(np.float64), largest.astype(np.float64), entries.astype(np.int64)
        )

    def quantised_values(self, reach: Floats, numbers: Numbers) -> Floats:
        """[2, 2, P, F, 169]: best responses and own values, strategies as a bundle has them."""
        workers, answers = self._ask(self._all, "quantised_values", reach, numbers, self._all)
        return self._put_together(self._all, workers, answers, axis=3).astype(np.float64)

    def _values(self, flops: Flops, name: str, *arguments: Any) -> Floats:
        workers, answers = self._ask(flops, name, *arguments)
        return self._put_together(flops, workers, answers).astype(np.float64, copy=False)

    def _ask(self, flops: Flops, name: str, *arguments: Any) -> tuple[list[int], list[Answer]]:
        """Ask the workers that own some of the flops."""
        workers = list(self._positions(flops))
        return workers, self.pool.ask(name, *arguments, of=workers)

    def _positions(self, flops: Flops) -> dict[int, Flops]:
        """Positions of each worker's flops in `flops`; reused while `flops` stay the same."""
        if not np.array_equal(flops, self._asked[0]):
            owner = self._owner[flops]
            positions = {each: np.flatnonzero(owner == each) for each in np.unique(owner).tolist()}
            self._asked = flops.copy(), positions
        return self._asked[1]

    def _put_together(
        self, flops: Flops, workers: Sequence[int], answers: Sequence[Answer], axis: int = 1
    ) -> Values:
        """All workers' values in the places of their flops along `axis`."""
        if len(answers) == 1:
            only: Values = answers[0].value
            return only
        shape = list(answers[0].value.shape)
        shape[axis] = len(flops)
        values: Values = np.empty(shape, answers[0].value.dtype)
        where, before = self._positions(flops), (slice(None),) * axis
        for worker, answer in zip(workers, answers, strict=True):
            index: Any = (*before, where[worker])
            values[index] = answer.value
        return values

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach [2, P, 169], on all workers at once."""
        self._ask(np.flatnonzero(pairs.any(axis=0)), "iterate", reach, pairs, list(weights))

    def rebucket(self, reach: Floats, least: float = 0.0) -> float:
        """Group hands again for the reach [2, P, 169] if it has moved by more than `least`."""
        answers = self.pool.ask("rebucket", reach, least, of=self._busy())
        self._measure()
        far: float = max(answer.value for answer in answers)
        return far

    def _busy(self) -> list[int]:
        """The workers that own flops."""
        return [worker for worker, part in enumerate(self._partition) if len(part)]

    # Strategies.

    def _of(self, flop: int, name: str, *arguments: Any) -> Any:
        (answer,) = self.pool.ask(name, *arguments, of=[int(self._owner[flop])])
        return answer.value

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision of a pot's tree."""
        strategy: Floats = self._of(flop, "average", pot, flop, node)
        return strategy

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]; regrets stay."""
        self._of(flop, "set_average", pot, flop, node, strategy)

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The arrays of a flop for a bundle."""
        arrays: Arrays = self._of(flop, "pack", flop, reach, list(numbers))
        return arrays

    @contextmanager
    def quantised(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """Quantise average strategies of some flops, as bundles store them, within this context."""
        self.pool.ask("begin_rounding", flops, numbers)
        try:
            yield
        finally:
            self.pool.ask("end_rounding")

    # Memory.

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies, on all machines."""
        return sum(sizes.memory_bytes for sizes in self._sizes)

    @property
    def saved_bytes(self) -> int:
        """Additional bytes if all hands were stored."""
        return sum(sizes.saved_bytes for sizes in self._sizes)

    @property
    def can_drop_hands(self) -> bool:
        """Whether hands can be left out of a pot."""
        return all(sizes.can_drop_hands for sizes in self._sizes)

    def keep_hands(self, hands: Flags) -> None:
        """Store only these hands [2, P, 169]; one that returns starts from zero."""
        self._hands = hands.copy()
        self.pool.ask("keep_hands", hands, of=self._busy())
        self._measure()

    # Files.

    def require_folder(self, folder: Place) -> None:
        """Refuse a folder that some machine does not see."""
        answers = self.pool.ask("sees", folder.resolve())
        blind = [
            node.address
            for node, answer in zip(self.pool.nodes, answers, strict=True)
            if not answer.value
        ]
        if blind:
            raise not_shared(folder, blind)

    def state(self) -> dict[str, NDArray[Any]]:
        """State that all flops share; `write_state` writes the rest."""
        for worker in self._busy()[:1]:
            (answer,) = self.pool.ask("shared_state", of=[worker])
            shared: dict[str, NDArray[Any]] = answer.value
            return shared
        return {}

    def write_state(self, folder: Place) -> dict[str, str]:
        """Let workers write the state of their flops; then flops may move."""
        folder = folder.resolve()
        files: dict[str, str] = {}
        for answer in self.pool.ask("write_state", folder, of=self._busy()):
            files |= answer.value
        files = dict(sorted(files.items()))
        self._moved(folder, files)
        return files

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from stored files of the same games, whichever engine wrote them."""
        if not isinstance(state, StoredArrays):
            raise TypeError("workers read files: a state that is not stored cannot be restored")
        shared = {name: np.array(state[name]) for name in self.state()}
        names: dict[int, list[str]] = {}
        for name in state:
            flop = flop_of(name)
            if flop is not None:
                names.setdefault(flop, []).append(name)
        of_worker = [
            state.files_of(name for flop in part.tolist() for name in names[flop])
            for part in self._partition
        ]
        self._ask_restore(state.folder.resolve(), of_worker, shared, self._busy())
        for files in of_worker:
            state.verified_elsewhere(files)
        self._measure()

    def _restore(
        self, folder: Place, files: Mapping[str, str], shared: Arrays, workers: Sequence[int]
    ) -> None:
        """Let workers read what `write_state` has written, a file for each flop."""
        of_flop = list(files.items())
        of_worker = [dict(of_flop[flop] for flop in part.tolist()) for part in self._partition]
        self._ask_restore(folder, of_worker, shared, workers)

    def _ask_restore(
        self,
        folder: Place,
        files: Sequence[Mapping[str, str]],
        shared: Arrays,
        workers: Sequence[int],
    ) -> None:
        self.pool.ask_each(
            "restore", {each: (folder, dict(files[each]), shared) for each in workers}
        )

    def write_packed(
        self,
        folder: Place,
        token: str,
        names: Sequence[str],
        values: Singles,
        reach: Floats,
        numbers: Sequence[Numbers],
    ) -> list[dict[str, Any]]:
        """Let workers write their flops as a bundle stores them, with values [2, P, F, 169]."""
        asked = {
            worker: (
                folder.resolve(),
                token,
                [names[flop] for flop in self._partition[worker].tolist()],
                values[:, :, self._partition[worker]],
                reach,
                list(numbers),
                self._partition[worker],
            )
            for worker in self._busy()
        }
        entries: list[dict[str, Any]] = [{} for _ in names]
        for worker, answer in zip(asked, self.pool.ask_each("write_packed", asked), strict=True):
            for flop, entry in zip(self._partition[worker].tolist(), answer.value, strict=True):
                entries[flop] = entry
        return entries

    # Speed.

    def _forget_speeds(self) -> None:
        workers = len(self._partition)
        # Fading sums: seconds of work, cost of the work done, seconds that passed.
        self._seconds, self._done, self._passed = np.zeros(workers), np.zeros(workers), 0.0
        self._visits = 0

    def _note_speeds(
        self, flops: Flops, workers: Sequence[int], answers: Sequence[Answer], began: float
    ) -> None:
        ended = time.perf_counter()
        cost = np.bincount(self._owner[flops], self._costs[flops], len(self._partition))
        self._seconds *= FADING
        self._seconds[list(workers)] += [answer.seconds for answer in answers]
        self._done = FADING * self._done + cost
        self._passed = FADING * self._passed + ended - began
        self._visits += 1

    def _speeds(self) -> Floats | None:
        """[W]: the cost that each worker completes in a second; None: too early to say."""
        if self._visits < MEASURED or (self._seconds <= 0).any() or (self._done <= 0).any():
            return None
        speeds: Floats = self._done / self._seconds
        return speeds

    def node_use(self) -> tuple[NodeUse, ...]:
        """The work of each worker's machine."""
        uses = []
        for worker, node in enumerate(self.pool.nodes):
            seconds, done = self._seconds[worker], self._done[worker]
            own = self._costs[self._partition[worker]].sum()
            known = seconds > 0 and own > 0 and done > 0
            uses.append(
                NodeUse(
                    name=node.address,
                    solved=len(self._partition[worker]),
                    iterations_per_second=float(done / own / seconds / 2) if known else None,
                    memory_bytes=node.memory_bytes,
                    waiting=float(max(0.0, 1 - seconds / self._passed)) if self._passed else 0.0,
                )
            )
        return tuple(uses)

    def close(self) -> None:
        """End the workers."""
        self.pool.close()


Places = Longs

TOLERATED = 1.15  # the slowest part's time over the mean: less does not justify moving flops


def split_flops(
    costs: Floats, speeds: Floats, kept: Sequence[Places] | None = None
) -> list[Places]:
    """The flops of each worker, so that all take the same time; those `kept` stay where they are.

    A flop has a cost, by the boards and bets below it, and a worker a speed: its work per second so
    far, or its number of cores until that is known. The costliest flops come first, each to the
    worker that would finish it first. Results do not depend on the partition.

    >>> [part.tolist() for part in split_flops(np.ones(6), np.array([1.0, 2.0]))]
    [[1, 4], [0, 2, 3, 5]]
    """
    parts: list[set[int]] = [set() for _ in speeds]
    if kept is not None:
        parts = [set(places.tolist()) for places in kept]
    loads = np.array([sum(costs[flop] for flop in sorted(part)) for part in parts], np.float64)
    owned = set().union(*parts)
    free = [flop for flop in range(len(costs)) if flop not in owned]
    for flop in sorted(free, key=lambda flop: (-costs[flop], flop)):
        worker = int(np.argmin((loads + costs[flop]) / speeds))
        parts[worker].add(flop)
        loads[worker] += costs[flop]
    return [np.array(sorted(part), np.int64) for part in parts]


def rebalanced(costs: Floats, speeds: Floats, parts: Sequence[Places]) -> list[Places] | None:
    """A partition in which no part takes much longer than the mean; None: this one is good enough.

    Flops move from the slowest worker to the one that would finish them first, while that helps.
    """
    flops = [sorted(part.tolist(), key=lambda flop: -costs[flop]) for part in parts]
    loads = np.array([costs[part].sum() for part in parts])
    mean = loads.sum() / speeds.sum()
    if (loads / speeds).max() <= TOLERATED * mean:
        return None
    for _ in range(len(costs)):
        slowest = int(np.argmax(loads / speeds))
        worst = loads[slowest] / speeds[slowest]
        for flop in flops[slowest]:
            after = (loads + costs[flop]) / speeds
            after[slowest] = np.inf
            worker = int(np.argmin(after))
            if after[worker] < worst:
                break
        else:
            break
        flops[slowest].remove(flop)
        flops[worker].append(flop)
        loads[slowest] -= costs[flop]
        loads[worker] += costs[flop]
    return [np.array(sorted(part), np.int64) for part in flops]
