"""External-sampling Monte Carlo CFR, reproducible on any number of threads.

One iteration walks the game once for each player p:
1. Down: try all of p's actions; sample one move wherever nature or the opponent moves.
   Where the opponent moves, add his strategy to the sums of his average: S(a) += σ(a).
2. Up: at each of p's information sets on the walk add R(a) += value of a − value of the set, and
   match regrets again.

The opponent and nature reach a history with their probabilities, so these are not multiplied in
again: the expectation of what is added is the counterfactual regret. For the same reason S sums the
opponent's strategy with his own reach. Every iteration has the same weight, in the regrets and in
the average, as in the original proof. Weights that grow with t forget the bad first iterations
sooner, but then the average has fewer walks; on Kuhn and Leduc the noise of the walks is the larger
part, and linear weights are worse on the one and no better on the other.

**The tree** of the walks differs from that of a `FlatGame` in two ways. Chance moves that follow
one another directly, such as the deal of one card after another, become one move, drawn in constant
time. And the order is that of a walk: the children of a node stay neighbours, and all that is below
the first child comes before what is below the second. A walk goes down into a part of the tree and
stays there, so what it needs next is mostly near what it has just read.

**Streams.** Random walks are split over `streams`, each with its own random state. With one stream
every walk updates the strategy at once. With several, each accumulates against a strategy that is
fixed for a round, and at the end of the round all are added in the order of the streams. The result
depends on the seed and the number of streams, never on the number of threads. A strategy fixed for
m iterations out of t leaves an exploitability of about √(m / t) of the stakes, so rounds are short:
64 iterations do not show on Leduc, 1,000 do. Handing a round to other threads takes some 100 µs; in
games whose walks are as short as Leduc's, an eighth of a microsecond, one thread is fastest.

**Pruning** leaves out actions with a regret below the threshold. Thresholds and floors are in the
unit of the stored regrets: here utility, summed over the walks that came by. The noise of a regret
grows like √t, and so should thresholds: "-C*sqrt(t)", C near the size of the stakes.

Lanctot et al. (2009), Monte Carlo sampling for regret minimization in extensive games.
"""

from collections.abc import Mapping
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Longs
from allstreets.cfr.game import CHANCE, NOWHERE, TERMINAL, FlatGame, Game
from allstreets.cfr.kernels.external_sampling import (
    Learned,
    Skipping,
    Stack,
    Tree,
    match_all,
    put_together,
    run_walks,
)
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.sequence_form import SequenceForm
from allstreets.cfr.solver import Solver, check_state

LONGEST_ROUND = 64  # iterations of all streams together; at first a quarter of those before


class MccfrSolver(Solver):
    """External-sampling MCCFR of one game; bit-identical for the same seed and streams."""

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
        super().__init__(game, pruning)
        if self.pruning and self.pruning.is_sound:
            raise InputError(
                "sampled regrets have no upper bound to prune by: give prune_threshold, "
                'a negative number or "-C*sqrt(t)"'
            )
        self.seed, self.streams, self.threads = seed, streams, threads
        self._tree = sampling_tree(self.form.game)
        slots = self.form.game.slots
        self._regrets, self._sums, self._strategy = np.zeros((3, slots))
        self._new_regrets, self._new_sums = np.zeros((2, streams, slots))
        self._random = _seeds(seed, streams)
        self._done = np.zeros((streams, 1), dtype=np.int64)  # of the current round
        self._before_round = np.zeros(1, dtype=np.int64)
        self._stacks = [self._stack() for _ in range(streams)]
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
    def strategy_sums(self) -> Floats:
        """[K] a copy of the sums of the strategies that were walked with."""
        return self._sums.copy()

    def skip_counts(self) -> tuple[int, int]:
        """Actions skipped at the nodes walked since the warm-up of pruning, and all of them."""
        skipped, due = np.sum([stack.counts for stack in self._stacks], axis=0).tolist()
        return skipped, due

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on, random state and open round included."""
        return {
            "regrets": self.regrets,
            "strategy_sums": self.strategy_sums,
            "round_regrets": self._new_regrets.copy(),
            "round_strategy_sums": self._new_sums.copy(),
            "random": self._random.copy(),
            "round_iterations": self._done.copy(),
            "iterations_before_round": self._before_round.copy(),
            "skip_counts": np.stack([stack.counts for stack in self._stacks]),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same identity, bit-identical to an uninterrupted run."""
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

    def _run(self, iterations: int) -> None:
        if self.streams == 1:
            self._walk_stream(0, int(self._done[0, 0]) + iterations)
        else:
            self._run_rounds(iterations)

    def _run_rounds(self, iterations: int) -> None:
        """Run `iterations` more, through all the rounds that they touch."""
        wanted = self.iterations + iterations
        workers = min(self.threads, self.streams)
        with ThreadPoolExecutor(workers) as pool:
            while self.iterations < wanted:
                before = int(self._before_round[0])
                length = max(min(before // 4, LONGEST_ROUND) // self.streams, 1)
                goal = min(wanted - before, length * self.streams)
                interrupted: KeyboardInterrupt | None = None
                try:
                    self._walk_streams(pool, workers, goal)
                except KeyboardInterrupt as signal:
                    # Otherwise some streams would be ahead, and a resumed run would differ from an
                    # uninterrupted one.
                    self._walk_streams(pool, workers, goal)
                    interrupted = signal
                if goal == length * self.streams:
                    self._close_round()
                if interrupted:
                    raise interrupted

    def _walk_streams(self, pool: Executor, workers: int, goal: int) -> None:
        """Bring the round to `goal` iterations; streams that are already there wait."""

        def work(worker: int) -> None:
            for stream in range(worker, self.streams, workers):
                # The streams take turns, so a round that is cut short has them all equally far.
                self._walk_stream(stream, (goal + self.streams - 1 - stream) // self.streams)

        others = [pool.submit(work, worker) for worker in range(1, workers)]
        try:
            work(0)
        finally:
            wait(others)  # also after Ctrl-C: no stream may still be running when one resumes
        for other in others:
            other.result()

    def _walk_stream(self, stream: int, target: int) -> None:
        """Bring a stream to `target` iterations of the round."""
        at_once = self.streams == 1
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
                    self._skipping(part) if part[0] > warmup else None,
                )

    def _skipping(self, numbers: Longs) -> Skipping | None:
        """Pruning for the iterations `numbers`."""
        if self.pruning is None:
            return None
        return Skipping(
            thresholds=self.pruning.thresholds(numbers),
            everything=self.pruning.visits_everything(numbers),
            floor=-self.pruning.regret_floor,
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
            path=np.zeros(2 * depth, dtype=np.uint64),
            shares=np.zeros(depth),
            values=np.zeros(depth << (actions - 1).bit_length()),
            counts=np.zeros(2, dtype=np.int64),
        )


def _seeds(seed: int, streams: int) -> NDArray[np.uint64]:
    """[S] a random state for each stream, far apart from each other."""
    return np.random.SeedSequence(seed).generate_state(streams, dtype=np.uint64).astype(np.uint64)


def sampling_tree(game: FlatGame) -> Tree:
    """Order the nodes of `game` for walks and prepare its chance nodes."""
    numbers, chances, firsts, counts = _walking_order(game)
    order = np.array(numbers)
    inner = game.actor[order] != TERMINAL
    nodes = np.zeros((len(order), 4), dtype=np.uint32)
    nodes[:, 0] = game.actor[order]
    nodes[:, 1] = counts
    nodes[:, 2] = 4 * np.array(firsts)
    sets = game.information_set[order]
    nodes[:, 3] = np.where(sets == NOWHERE, 0, game.slot_start[sets])
    utility = nodes.view(np.float64)  # [N, 2]: the second half of a node's bytes
    utility[~inner, 1] = game.utility[order][~inner]
    probability = np.array(chances)
    accept, alias = np.ones(len(order)), np.arange(len(order))
    for chance in np.flatnonzero(game.actor[order] == CHANCE):
        children = slice(firsts[chance], firsts[chance] + counts[chance])
        accept[children], other = alias_table(probability[children])
        alias[children] = firsts[chance] + other
    return Tree(
        nodes=nodes.reshape(-1),
        utility=utility.reshape(-1),
        accept=accept,
        alias=(4 * alias).astype(np.uint32),
        slot_start=game.slot_start,
    )


def alias_table(probabilities: Floats) -> tuple[Floats, Longs]:
    """(accept, alias) of Walker's method: draw i uniformly, keep it with accept[i], else alias[i].

    >>> alias_table(np.array([0.5, 0.5]))[0].tolist()
    [1.0, 1.0]

    Walker (1977), An efficient method for generating discrete random variables.
    """
    count = len(probabilities)
    accept, alias = np.ones(count), np.arange(count)
    scaled = probabilities * count
    small = [i for i in range(count) if scaled[i] < 1 - 1e-12]
    large = [i for i in range(count) if scaled[i] > 1 + 1e-12]
    while small and large:
        giver, taker = large[-1], small.pop()
        accept[taker], alias[taker] = scaled[taker], giver
        scaled[giver] -= 1 - scaled[taker]
        if scaled[giver] < 1 + 1e-12:
            large.pop()
            if scaled[giver] < 1 - 1e-12:
                small.append(giver)
    return accept, alias


def _walking_order(game: FlatGame) -> tuple[list[int], list[float], list[int], list[int]]:
    """For each node of the new order: its number in `game`, nature's probability of the move into
    it, the index of its first child in the new order, the number of its children."""
    numbers, chances, firsts, counts = [0], [1.0], [0], [0]
    waiting = [0]
    while waiting:
        node = waiting.pop()
        children = _children(game, numbers[node])
        firsts[node], counts[node] = len(numbers), len(children)
        waiting += reversed(range(len(numbers), len(numbers) + len(children)))
        numbers += [child for child, _ in children]
        chances += [chance for _, chance in children]
        firsts += [0] * len(children)
        counts += [0] * len(children)
    return numbers, chances, firsts, counts


def _children(game: FlatGame, node: int) -> list[tuple[int, float]]:
    """The node's children and nature's probability of each, chance moves in a row as one."""
    first = int(game.first_child[node])
    children: list[tuple[int, float]] = []
    for child in range(first, first + int(game.child_count[node])):
        chance = float(game.probability[child])
        if game.actor[node] == CHANCE and game.actor[child] == CHANCE:
            children += [(below, chance * more) for below, more in _children(game, child)]
        else:
            children.append((child, chance))
    return children
