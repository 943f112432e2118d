"""Flops one by one: the pots of a whole game on flops, for given ranges.

A fixed reach [2, P, 169], by default every hand, replaces the preflop tree. Then nothing connects
the flops: each is a separate game, and training it ends when it is solved:

1. Train all pots and flops in progress up to the next check.
2. Compute the true exploitability of their average strategies.
3. A pot on a flop is solved when that is small enough, also after its strategies are rounded as a
   bundle stores them: to one byte each, or to two where the exploitability would change by more
   than 5 % (`engines.quantised`).

Memory and the longest time are estimated before anything is built. Constants are those of a typical
core; the time is a guess, and most flops end before their last iteration.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Flags, Floats, InputError, Longs
from allstreets.betting import POSTFLOP, Player
from allstreets.cards import HAND_COUNT, FlopSet
from allstreets.cfr import Metrics, Pruning, Schedule
from allstreets.engines import (
    ONE_BYTE,
    TWO_BYTES,
    Arrays,
    CardModel,
    Engine,
    EvaluatesPairs,
    PackedStrategies,
    Pool,
    Values,
    agree,
    checked_pruning,
    deals_for,
)
from allstreets.games import PROGRAM_BYTES, PotGame

CHECK_INTERVAL = 25  # iterations: a check costs about two
TICK_SECONDS = 0.25  # between two calls that may stop a batch

Row = dict[str, Any]
SECONDS_PER_HAND = 1.5e-9  # per action of a hand and iteration
SECONDS_PER_PAIR = 1.2e-11  # per action of a hand, hand of its stage, and iteration
SECONDS_PER_DEAL = 1.4e-8  # per deal, times the square root of the actions
SETUP_SECONDS = {"classes": 0.05, "buckets": 0.6, "sampled": 0.05}
TREE_SECONDS_PER_ACTION = 5e-5  # laying a tree out and reading its strategies
CHECK_ITERATIONS = 2.0  # the cost of a check, in iterations
TABLE_BYTES = 114_244  # the table of a flop in use: 169 · 169 · 4
GROUP_BYTES = 200_000_000  # regrets and strategies of a group
LARGEST_GROUP = 64  # flops
PIECES_PER_THREAD = 2  # pots on flops in progress: with fewer, threads would wait for the last pot
MANY_THREADS = (
    8  # train a group as quickly as it is laid out and stored: a third group fills the gaps
)


@dataclass(frozen=True)
class FlopTargets:
    """The targets at which a pot on a flop counts as solved."""

    exploitability: float = 0.01  # of the pot; 0: never
    regret: float | None = None  # average positive regret, in pots: a trend, not a bound
    check_interval: int = CHECK_INTERVAL  # iterations


class FlopsSolver:
    """Solves P pots on F flops; can be trained in batches, evaluated, stored and restored."""

    unit = "% of pot"

    def __init__(
        self,
        pots: Sequence[PotGame],
        flops: FlopSet,
        engine: Engine,
        schedule: Schedule,
        targets: FlopTargets | None = None,
        pruning: Pruning | None = None,
        reach: Floats | None = None,
    ) -> None:
        self.pots, self.flops, self.engine = tuple(pots), flops, engine
        self.schedule, self.pruning = schedule, checked_pruning(pruning, schedule)
        self.targets = targets or FlopTargets()
        self.reach = np.ones((2, len(self.pots), HAND_COUNT)) if reach is None else reach
        chips = [
            pot.pot.pot * engine.dealt.reached(*self.reach[:, place])
            for place, pot in enumerate(self.pots)
        ]
        self._chips = np.array(chips)  # [P, F]: pots times pairs of combos
        shape = (engine.pots, engine.flops)
        self._iterations = np.zeros(1, np.int64)
        self._at_once = 1  # iterations between two calls that may stop a batch
        self._regret_weights = np.zeros(shape)  # of all iterations in the positive regrets
        self.solved = np.zeros(shape, np.bool_)
        self.trained_for = np.zeros(shape, np.int64)  # iterations of each
        self.exploitability_by_flop = np.full(shape, np.nan)  # at the latest check, in pots

    @property
    def iterations(self) -> int:
        """Iterations of the flops in progress; one updates both players."""
        return int(self._iterations[0])

    @property
    def in_work(self) -> Flags:
        """[P, F]: the pots on flops that are not solved yet."""
        return ~self.solved

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return self.engine.memory_bytes

    @property
    def identity(self) -> Mapping[str, Any]:
        """The settings that a checkpoint must share to be restored; threads may differ."""
        return {
            "game": "flops",
            "pots": [repr(pot.rules) for pot in self.pots],
            "flops": [flop.text for flop in self.flops.flops],
            "cards": str(self.engine.model),
            "algorithm": str(self.schedule),
            "targets": repr(self.targets),
            "pruning": self.pruning.facts() if self.pruning else None,
            "reach": hashlib.sha256(self.reach.tobytes()).hexdigest()[:16],
        }

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more of the flops in progress; `callback` may stop it in between."""
        last = self.iterations + iterations
        interval = self.targets.check_interval
        while self.iterations < last and self.in_work.any():
            due = min(self.iterations // interval * interval + interval, last)
            begun, count = time.perf_counter(), min(self._at_once, due - self.iterations)
            self._iterate(count)
            pace = (time.perf_counter() - begun) / count
            self._at_once = max(1, min(2 * count, int(TICK_SECONDS / max(pace, 1e-9))))
            if self.iterations % interval == 0:
                self._check()
            if callback is not None and callback(self.iterations):
                return

    def _iterate(self, count: int) -> None:
        """Run this many iterations of the flops in progress; splitting them has no effect."""
        every = self.schedule.run(self.iterations + 1, count, self.pruning)
        self.engine.iterate(self.reach, self.in_work, every)
        weights = self._regret_weights[self.in_work]
        for now in every:
            weights = now.positive * weights + 1.0
        self._regret_weights[self.in_work] = weights
        self._iterations[0] += count
        self.trained_for[self.in_work] = self.iterations

    def _check(self) -> None:
        """Mark the pots and flops in progress that are solved."""
        flops = np.flatnonzero(self.in_work.any(axis=0))
        work = self.in_work[:, flops]
        exploitability = self._exploitability(flops)
        kept = self.exploitability_by_flop[:, flops]
        kept[work] = exploitability[work]
        self.exploitability_by_flop[:, flops] = kept
        solved = self.in_work & (self.exploitability_by_flop <= self.targets.exploitability)
        if solved.any():
            flops = np.flatnonzero(solved.any(axis=0))
            kept, _ = self._rounded(range(flops[0], flops[-1] + 1))
            solved[:, flops[0] : flops[-1] + 1] &= kept <= self.targets.exploitability
        if self.targets.regret is not None:
            solved |= self.in_work & (self.positive_regrets() <= self.targets.regret)
        self.solved |= solved

    def _exploitability(self, flops: Longs) -> Floats:
        """[P, K]: mean of both players' best-response gains, in pots."""
        gains = np.zeros((self.engine.pots, len(flops)))
        for player in Player:
            values = self.engine.best_response(player, self.reach[player.opponent], flops)
            gains += np.einsum("pkh,ph->pk", values, self.reach[player])
        return self._in_pots(gains / 2, flops)

    def _in_pots(self, chips: Floats, flops: Longs) -> Floats:
        """[P, K]: totals over all pairs of combos as shares of the pot; 0 where no hands meet."""
        stakes = self._chips[:, flops]
        shares: Floats = np.divide(chips, stakes, out=np.zeros_like(chips), where=stakes > 0)
        return shares

    def _rounded(
        self, flops: range, look: Callable[[Flags], None] | None = None
    ) -> tuple[Floats, Flags]:
        """[P, K] each: exploitability as a bundle stores it, in pots, and whether in two bytes.

        `look` is called with pots and flops [P, K] while their strategies are quantised.
        """
        numbers = np.array(flops)
        trained = self._exploitability(numbers)
        with self.engine.quantised(flops, ONE_BYTE):
            stored = self._exploitability(numbers)
            two = ~np.vectorize(agree, otypes=[bool])(stored, trained)
            if look is not None and not two.all():
                look(~two)
        if two.any():
            with self.engine.quantised(flops, TWO_BYTES):
                stored = np.where(two, self._exploitability(numbers), stored)
                if look is not None:
                    look(two)
        return stored, two

    def positive_regrets(self) -> Floats:
        """[P, F]: Σ max(R, 0) / (actions · weight of the iterations), in pots."""
        actions = [[float(pot.tree.child_count[pot.tree.decisions()].sum())] for pot in self.pots]
        flops = np.arange(self.engine.flops)
        sums = self.engine.regret_sums(flops)
        weights = np.maximum(self._regret_weights, 1.0)
        regrets: Floats = self._in_pots(sums.total, flops) / actions / weights
        return regrets

    @property
    def avg_positive_regret(self) -> float | None:
        """The mean over pots and flops, in % of the pot; None where it is not a target, since it
        takes time.

        `positive_regrets` has it for each.
        """
        if self.targets.regret is None:
            return None
        return 100 * float(np.average(self.positive_regrets(), weights=self._weights))

    @property
    def _weights(self) -> Floats:
        """[P, F]: how often each flop is dealt."""
        return np.broadcast_to(self.flops.weights, self.solved.shape)

    def mean_exploitability(self) -> Floats:
        """[P]: of each pot over all flops, by the pairs that are dealt, in pots."""
        flops = np.arange(self.engine.flops)
        weights = self._chips * self.flops.weights
        totals = np.maximum(weights.sum(axis=1), 1.0)
        return np.asarray((self._exploitability(flops) * weights).sum(axis=1) / totals)

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """The means over all pots and flops at the latest check, in % of the pot."""
        mean = None
        if exploitability:
            by_flop = self.exploitability_by_flop
            if not np.isfinite(by_flop).all():  # before the first check
                by_flop = self._exploitability(np.arange(self.engine.flops))
            mean = float(np.average(by_flop, weights=self._weights))
        return Metrics(
            exploitability=None if mean is None else 100 * mean,
            avg_positive_regret=self.avg_positive_regret,
            max_regret=None,
            strategy_entropy=None,
        )

    def results(self, threads: int = 1) -> list[tuple[Row, Arrays]]:
        """The figures of every pot on every flop, and the arrays that a bundle stores.

        In the arrays it is pot 0; `pair_values` [169, 169] are those of `EvaluatesPairs`.
        """
        flops = range(self.engine.flops)
        shape = self.engine.pots, self.engine.flops
        values = np.zeros((2, *shape, HAND_COUNT), np.float32)
        pair_values: dict[tuple[int, int], Values] = {}  # by pot and flop

        def look(chosen: Flags) -> None:
            for player in Player:
                of_pots = self.engine.evaluate(player, self.reach[player.opponent], np.array(flops))
                values[player][chosen] = of_pots[chosen]
            for pot, row in enumerate(chosen):
                numbers = np.flatnonzero(row)
                assert isinstance(self.engine, EvaluatesPairs)
                tables = self.engine.pair_values(pot, numbers)
                pair_values.update(
                    {
                        (pot, flop): table
                        for flop, table in zip(numbers.tolist(), tables, strict=True)
                    }
                )

        exploitability, two = self._rounded(flops, look)
        regrets = self.positive_regrets()
        by_flop: list[list[tuple[Row, Arrays]]] = [[] for _ in flops]

        def pack(_: int, flop: int) -> None:
            kept = [TWO_BYTES if each else ONE_BYTE for each in two[:, flop]]
            packed = self.engine.pack(flop, self.reach, kept)
            for pot in range(self.engine.pots):
                arrays = _of_pot(packed, pot)
                arrays["values"] = values[:, pot : pot + 1, flop]
                arrays["pair_values"] = pair_values[pot, flop].astype(np.float32, copy=False)
                row = self._row(flop, pot, arrays)
                row["exploitability"] = float(exploitability[pot, flop])
                row["avg_positive_regret"] = float(regrets[pot, flop])
                by_flop[flop].append((row, arrays))

        Pool(threads).run(len(flops), pack)
        return [pair for of_flop in by_flop for pair in of_flop]

    def _row(self, flop: int, number: int, arrays: Arrays) -> Row:
        """The figures of a pot on a flop. Shares are of the pot; both players' EVs sum to 1."""
        cards = self.flops.flops[flop]
        won = float(self.reach[0, number] @ arrays["values"][0, 0])
        value = won / max(float(self._chips[number, flop]), 1.0)  # 0 where no hands meet
        return {
            "flop": cards.text,
            "spr": self.pots[number].pot.spr,
            "multiplicity": cards.multiplicity,
            "suits": cards.texture.suits,
            "pairing": cards.texture.pairing,
            "high_card": cards.texture.high_card,
            "connectedness": cards.texture.connectedness,
            "exploitability": np.nan,
            "converged": bool(self.solved[number, flop]),
            "iterations": int(self.trained_for[number, flop]),
            "avg_positive_regret": np.nan,
            "ev_oop": 0.5 + value,
            "ev_ip": 0.5 - value,
            **self._bets(flop, number, arrays),
        }

    def _bets(self, flop: int, number: int, arrays: Arrays) -> dict[str, float]:
        """The frequencies with which OOP bets first, and IP after a check."""
        tree, streets = self.pots[number].tree, self.engine.model.streets
        stored = tuple(arrays[f"strategy.0.{k}"] for k in range(len(streets)))
        strategies, held = PackedStrategies(tree, streets, stored), arrays.get("held")
        check = 0
        opening = _by_class(strategies.at(0), held)
        answer = _by_class(strategies.at(int(tree.children_of(0)[check])), held)
        (oop, ip), dealt = self.reach[:, number], self.engine.dealt
        starts = oop * dealt.met(flop, ip)
        checked = ip * dealt.met(flop, oop * opening[check])
        return {
            "bet_oop": _share(1 - opening[check], starts),
            "bet_ip": _share(1 - answer[check], checked),
        }

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        return {
            "iterations": self._iterations,
            "regret_weights": self._regret_weights,
            "solved": self.solved,
            "trained_for": self.trained_for,
            "exploitability": self.exploitability_by_flop,
            **self.engine.state(),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same flops."""
        self._iterations[...] = state["iterations"]
        self._regret_weights[...] = state["regret_weights"]
        self.solved[...] = state["solved"]
        self.trained_for[...] = state["trained_for"]
        self.exploitability_by_flop[...] = state["exploitability"]
        self.engine.restore(state)


def _by_class(strategy: Floats, held: Bytes | None) -> Floats:
    """[A, 169]: a strategy [A, H] by hand class; `held` [169, H] are the combos in buckets."""
    if held is None:
        return strategy
    by_class: Floats = strategy @ held.T / np.maximum(held.sum(axis=1), 1)
    return by_class


def _share(chances: Floats, weights: Floats) -> float:
    """The mean of chances [H]; 0 where no hand gets there."""
    total = float(weights.sum())
    return float(chances @ weights) / total if total > 0 else 0.0


def _of_pot(arrays: Arrays, pot: int) -> Arrays:
    """The arrays of one pot of a flop, as if it were the only pot."""
    of_pot: Arrays = {}
    for name, array in arrays.items():
        kind, *rest = name.split(".")
        if not rest:
            of_pot[name] = array
        elif rest[0] == str(pot):
            of_pot[".".join([kind, "0", *rest[1:]])] = array
    return of_pot


@dataclass(frozen=True)
class FlopEstimate:
    """The size of a job."""

    nodes: int  # of the betting trees of all stack-to-pot ratios
    slots: int  # actions of all their decisions
    memory_bytes: int  # everything, the program itself included
    seconds: float  # if no flop ended before its last iteration
    at_once: int = 1  # groups of flops that are in progress


def estimate_flops(
    flops: int,
    pots: Sequence[PotGame],
    model: CardModel,
    iterations: int,
    targets: FlopTargets,
    threads: int,
    free: int | None = None,
) -> FlopEstimate:
    """Estimate the work of solving this many flops at every stack-to-pot ratio.

    On several threads several groups run: while one lays out or stores its flops, or waits
    for its last flop, threads find work in another. No more than fit into half of `free` memory, or
    two where that is not known.
    """
    each, size = sum(flop_bytes(pot, model) for pot in pots), group_size(pots, model)
    busy = -(-PIECES_PER_THREAD * threads // (size * len(pots)))
    least = 2 if threads < MANY_THREADS else 3
    fit = 2 if free is None else max(1, free // 2 // (size * each))
    at_once = 1 if threads == 1 else min(-(-flops // size), max(least, busy), fit)
    side_by_side = min(flops, at_once * size)
    workers = min(threads, side_by_side * len(pots))
    seconds = sum(_seconds(pot, model, iterations, targets) for pot in pots) * flops / workers
    return FlopEstimate(
        nodes=sum(pot.tree.node_count for pot in pots),
        slots=sum(_slots(pot) for pot in pots),
        memory_bytes=PROGRAM_BYTES + side_by_side * each + flops * TABLE_BYTES,
        seconds=seconds,
        at_once=at_once,
    )


def group_size(pots: Sequence[PotGame], model: CardModel) -> int:
    """The number of flops in a group; it does not depend on the threads."""
    each = sum(flop_bytes(pot, model) for pot in pots)
    return min(LARGEST_GROUP, max(1, GROUP_BYTES // each))


def require_flop_room(need: FlopEstimate, free: int | None) -> None:
    """Refuse a job that does not fit into `free` bytes."""
    if free is not None and need.memory_bytes > free:
        raise InputError(
            f"this job needs {need.memory_bytes / 1e9:.1f} GB and {free / 1e9:.1f} GB are free.\n"
            "Use fewer bet sizes, raises or buckets."
        )


def _slots(pot: PotGame) -> int:
    return int(pot.tree.child_count[pot.tree.decisions()].sum())


def _stages(pot: PotGame, model: CardModel) -> list[tuple[int, int]]:
    """(actions, hands) of every stage."""
    if model.kind != "buckets":
        return [(_slots(pot), HAND_COUNT)]
    tree = pot.tree
    return [
        (int(tree.child_count[tree.decisions(street)].sum()), hands)
        for street, hands in zip(POSTFLOP, model.buckets, strict=True)
    ]


def flop_bytes(pot: PotGame, model: CardModel) -> int:
    """Regrets and averages, rows of reach and values, matrices."""
    return sum(4 * (4 * slots * hands + 5 * hands * hands) for slots, hands in _stages(pot, model))


def _seconds(pot: PotGame, model: CardModel, iterations: int, targets: FlopTargets) -> float:
    """One flop on one thread, all its iterations."""
    vector = sum(
        slots * hands * (SECONDS_PER_HAND + SECONDS_PER_PAIR * hands)
        for slots, hands in _stages(pot, model)
    )
    iteration = vector
    if model.kind == "sampled":
        iteration = 2 * deals_for(model.sample_pct) * SECONDS_PER_DEAL * float(_slots(pot)) ** 0.5
    checks = iterations / targets.check_interval
    values = HAND_COUNT * vector / 2
    setup = SETUP_SECONDS[model.kind] + TREE_SECONDS_PER_ACTION * _slots(pot)
    return setup + iterations * iteration + checks * CHECK_ITERATIONS * vector + values
