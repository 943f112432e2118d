"""External-sampling Monte Carlo CFR, reproducible on any number of threads.

One iteration walks the game once for each player. A walk for player p tries all of p's actions and
samples nature and the opponent; on the way up each of p's information sets on the walk gains

    R(a) += value of a − value of the set,     and where the opponent moves     S(a) += σ(a).

The opponent and nature get to a history as often as their probabilities say, so these are not
multiplied in again: the expectation of what is added is the counterfactual regret. For the same
reason S sums the opponent's strategy with his own reach. Every iteration weighs alike, in the
regrets and in the average, as in the original proof. Weights that grow with t forget the bad first
iterations sooner, but make the average one of fewer walks; on Kuhn and Leduc the noise of the walks
is the larger part, and linear weights are worse on the one and no better on the other.

**Streams.** Random walks are split over `streams`, each with its own random state. With one stream
every walk updates the strategy at once. With several, each accumulates against a strategy that is
fixed for a round, and at the end of the round all are added in the order of the streams. The result
depends on the seed and the number of streams, never on the number of threads. A strategy fixed for
m iterations out of t leaves an exploitability of about √(m / t) of the stakes, so rounds are short:
64 iterations do not show on Leduc, 1,000 do. Handing a round to other threads takes some 100 µs; in
games whose walks are as short as Leduc's, an eighth of a microsecond, one thread is fastest.

**Pruning** leaves out actions with a regret below the threshold. Thresholds and floors are in the
unit of the stored regrets: here utility, summed over the walks that came by. Chance moves a regret
by about √t, so thresholds should grow like that: "-C*sqrt(t)", C near the size of the stakes.

Lanctot et al. (2009), Monte Carlo sampling for regret minimization in extensive games.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Longs
from allstreets.cfr import strategies
from allstreets.cfr.best_response import compiled
from allstreets.cfr.chunks import Chunks
from allstreets.cfr.figures import Figures
from allstreets.cfr.game import CHANCE, Game
from allstreets.cfr.kernels.external_sampling import (
    Learned,
    Skipping,
    Stack,
    match_all,
    put_together,
    run_walks,
)
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.sampling_tree import sampling_tree
from allstreets.cfr.sequence_form import SequenceForm
from allstreets.cfr.states import check_state

LONGEST_ROUND = 64  # iterations of all streams together; at first a quarter of those before


class MccfrSolver(Figures):
    """External-sampling MCCFR of one game; the same seed and streams give the same bits."""

    def __init__(
        self,
        game: Game | SequenceForm,
        seed: int = 1,
        pruning: Pruning | None = None,
        streams: int = 1,
        threads: int = 1,
    ) -> None:
        """`game` may be compiled already; `threads` beyond `streams` stay idle."""
        if not 0 <= seed < 2**63:
            raise InputError(f"the seed is {seed}: give a whole number from 0 to 2^63 − 1")
        if streams < 1 or threads < 1:
            raise InputError(
                f"streams is {streams} and threads is {threads}: both must be at least 1"
            )
        self.pruning = pruning if pruning is not None and pruning.is_on else None
        if self.pruning and self.pruning.is_sound:
            raise InputError(
                "sampled regrets have no upper bound to prune by: give prune_threshold, "
                'a negative number or "-C*sqrt(t)"'
            )
        self.form = compiled(game)
        self.seed, self.streams, self.threads = seed, streams, threads
        self._tree = sampling_tree(self.form.game)
        slots = self.form.game.slots
        self._regrets, self._sums, self._strategy = np.zeros((3, slots))
        self._new_regrets, self._new_sums = np.zeros((2, streams, slots))
        self._random = _seeds(seed, streams)
        self._done = np.zeros((streams, 1), dtype=np.int64)  # of the current round
        self._before_round = np.zeros(1, dtype=np.int64)
        self._stacks = [self._stack() for _ in range(streams)]
        self._chunks = Chunks()
        match_all(self._tree, self._regrets, self._strategy)

    @property
    def identity(self) -> Mapping[str, Any]:
        """JSON facts that a checkpoint must share to be restored; threads may differ."""
        return {
            "game": self.form.game.name,
            "game_fingerprint": self.form.game.fingerprint,
            "algorithm": "mccfr",
            "seed": self.seed,
            "streams": self.streams,
            "pruning": self.pruning.facts() if self.pruning else None,
        }

    @property
    def iterations(self) -> int:
        """Iterations done so far; one walks once for each player."""
        return int(self._before_round[0] + self._done.sum())

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays that grow with the game."""
        tables = (self._regrets, self._sums, self._strategy, self._new_regrets, self._new_sums)
        own = sum(part.nbytes for part in tables)
        shared = sum(int(part.nbytes) for part in (*self._tree, *self.form.layout))
        return own + shared + self.form.game.memory_bytes

    @property
    def regrets(self) -> Floats:
        """[K] a copy of the sampled regrets, by slot."""
        return self._regrets.copy()

    @property
    def regret_weight(self) -> float:
        """The number of iterations that the regrets contain: all but those of an open round."""
        return float(self.iterations if self.streams == 1 else self._before_round[0])

    @property
    def average_probabilities(self) -> Floats:
        """[K] the average strategy, by slot."""
        return strategies.normalised(self.form.game, self._sums)

    @property
    def pruned_fraction(self) -> float | None:
        """The share of actions skipped at the nodes walked since the warm-up."""
        if self.pruning is None:
            return None
        skipped, due = np.sum([stack.counts for stack in self._stacks], axis=0)
        return float(skipped / due) if due else 0.0

    def train(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more, nature and opponent sampled."""
        self._chunks.run(iterations, self._run_sampled, lambda: self.iterations, callback)

    def train_full(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more with all of nature's moves tried, the opponent sampled."""
        chunks = Chunks()  # such iterations take their own time
        chunks.run(iterations, self._run_full, lambda: self.iterations, callback)

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """As `train`."""
        self.train(iterations, callback)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on, random state and open round included."""
        return {
            "regrets": self._regrets.copy(),
            "strategy_sums": self._sums.copy(),
            "round_regrets": self._new_regrets.copy(),
            "round_strategy_sums": self._new_sums.copy(),
            "random": self._random.copy(),
            "round_iterations": self._done.copy(),
            "iterations_before_round": self._before_round.copy(),
            "skip_counts": np.stack([stack.counts for stack in self._stacks]),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same identity, bit for bit as if never interrupted."""
        check_state(state, self.state())
        self._regrets[:] = state["regrets"]
        self._sums[:] = state["strategy_sums"]
        self._new_regrets[:] = state["round_regrets"]
        self._new_sums[:] = state["round_strategy_sums"]
        self._random[:] = state["random"]
        self._done[:] = state["round_iterations"]
        self._before_round[:] = state["iterations_before_round"]
        for stack, counts in zip(self._stacks, state["skip_counts"], strict=True):
            stack.counts[:] = counts
        match_all(self._tree, self._regrets, self._strategy)

    def _run_sampled(self, count: int) -> None:
        if self.streams == 1:
            self._walk_stream(0, int(self._done[0, 0]) + count, at_once=True, probability=None)
        else:
            self._run_rounds(count, None)

    def _run_full(self, count: int) -> None:
        self._run_rounds(count, self._tree.probability)

    def _run_rounds(self, count: int, probability: Floats | None) -> None:
        """Go `count` iterations on, through as many rounds as that touches."""
        wanted = self.iterations + count
        workers = min(self.threads, self.streams)
        with ThreadPoolExecutor(workers) as pool:
            while self.iterations < wanted:
                before = int(self._before_round[0])
                length = max(min(before // 4, LONGEST_ROUND) // self.streams, 1)
                if self.streams == 1:
                    length = 1  # all of nature's moves: one iteration is plenty
                goal = min(wanted - before, length * self.streams)
                interrupted: KeyboardInterrupt | None = None
                try:
                    self._walk_streams(pool, workers, goal, probability)
                except KeyboardInterrupt as signal:
                    # Else some streams would be ahead, and going on would differ from not stopping.
                    self._walk_streams(pool, workers, goal, probability)
                    interrupted = signal
                if goal == length * self.streams:
                    self._close_round()
                if interrupted:
                    raise interrupted

    def _walk_streams(
        self, pool: Executor, workers: int, goal: int, probability: Floats | None
    ) -> None:
        """Bring the round to `goal` iterations; streams that are already there stay put."""

        def work(worker: int) -> None:
            for stream in range(worker, self.streams, workers):
                # The streams take turns, so a round that is cut short has them all equally far.
                target = (goal + self.streams - 1 - stream) // self.streams
                self._walk_stream(stream, target, at_once=False, probability=probability)

        others = [pool.submit(work, worker) for worker in range(1, workers)]
        try:
            work(0)
        finally:
            wait(others)  # also after Ctrl-C: no stream may still be running when one goes on
        for other in others:
            other.result()

    def _walk_stream(
        self, stream: int, target: int, *, at_once: bool, probability: Floats | None
    ) -> None:
        done = int(self._done[stream, 0])
        turns = np.arange(done, max(done, target), dtype=np.int64)
        numbers = self._before_round[0] + turns * self.streams + stream + 1
        learned = Learned(
            regrets=self._regrets,
            strategy=self._strategy,
            new_regrets=self._regrets if at_once else self._new_regrets[stream],
            new_sums=self._sums if at_once else self._new_sums[stream],
        )
        warmup = self.pruning.warmup if self.pruning else int(numbers[-1]) if len(numbers) else 0
        for part in (numbers[numbers <= warmup], numbers[numbers > warmup]):
            if len(part):
                run_walks(
                    self._tree,
                    learned,
                    self._stacks[stream],
                    self._random[stream : stream + 1],
                    self._done[stream],
                    len(part),
                    at_once,
                    probability,
                    self._skipping(part) if part[0] > warmup else None,
                )

    def _skipping(self, numbers: Longs) -> Skipping | None:
        """Pruning for the iterations `numbers`."""
        if self.pruning is None:
            return None
        return Skipping(
            thresholds=self.pruning.thresholds(numbers),
            everything=self.pruning.visits_everything(numbers),
            lowest_regret=-self.pruning.regret_floor,
            interval=float(self.pruning.explore_interval),
        )

    def _close_round(self) -> None:
        now = self.iterations
        floor = -np.inf
        if self.pruning and now > self.pruning.warmup:
            floor = -self.pruning.regret_floor
        put_together(
            self._tree,
            self._regrets,
            self._sums,
            self._strategy,
            self._new_regrets,
            self._new_sums,
            floor,
        )
        self._before_round[0] = now
        self._done[:] = 0

    def _stack(self) -> Stack:
        flat = self.form.game
        depth = len(flat.level_start)
        actions = int(flat.child_count[flat.actor != CHANCE].max(initial=1))
        return Stack(
            places=np.zeros(2 * depth, dtype=np.uint64),
            shares=np.zeros(2 * depth),
            values=np.zeros(depth << (actions - 1).bit_length()),
            counts=np.zeros(2, dtype=np.int64),
        )


def _seeds(seed: int, streams: int) -> NDArray[np.uint64]:
    """[S] a random state for each stream, far apart from each other."""
    return np.random.SeedSequence(seed).generate_state(streams, dtype=np.uint64).astype(np.uint64)
