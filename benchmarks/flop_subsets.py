"""The quality of a few flops that stand for all 1,755, measured in the game of all flops.

    python benchmarks/flop_subsets.py                              20 bb, one size, all subsets
    python benchmarks/flop_subsets.py --threads 16 --stacks 20,40 --sizes one,two --minutes 8
    python benchmarks/flop_subsets.py --threads 16 --stacks 20,40 --sizes one,two --make DIR

For every game a solution on all flops is the reference. Then for each way to choose N flops the
game is trained on these alone (hand classes); its strategy before the flop is frozen, all 1,755
flops are solved again for the ranges that it sends there, and the exploitability of the whole is
measured in the game of all flops. A strategy that fits itself to its few flops loses there. Beside
it, two distances of the charts from the reference's at the small blind's first decision: the mean
total variation over all hands, and that of the steps between neighbouring suited hands (92s, 93s,
94s …), where a chart looks jagged.

The ways: `spread` (`spread_N`), `weighted` (its flops, weights fitted to the features), `subset`
(`subset_N`: flops and weights by features), `fitted` (with the leaf values of the reference).
Figures are written after every judgement; when `--minutes` are over, no new one begins.
With --make nothing is judged: the subsets of the package are made, by general features and the leaf
values of all these games. With --record the figures of `subset` are added to their files.
"""

import argparse
import os

from allstreets.base import Floats

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench_unified import ONE_SIZE, TWO_SIZES, make_solver
from report import RESULTS, Row, write_rows

from allstreets.cards import (
    HAND_SIZES,
    RANKS,
    FlopSet,
    build_flop_table,
    choose_flops,
    flop_set_error,
    hand_index,
    read_subset,
    reweighted,
    spread_flops,
    subset_counts,
    subset_flops,
    subset_path,
    subset_text,
)
from allstreets.jobs.config.flop_choice import leaf_features
from allstreets.solvers import WholeGameSolver

SIZES = {"one": ONE_SIZE, "two": TWO_SIZES}
WAYS = ("spread", "weighted", "subset", "fitted")
FIRST = 100  # the schedule's position when ranges have changed: old regrets fade slowly
CHECK = 25  # iterations between two checks whether training has gone far enough


@dataclass(frozen=True)
class Effort:
    """The effort of training a game."""

    reference: float  # mbb/hand
    subset: float  # mbb/hand in its own game
    iterations: int  # at most, of either
    resolve: int  # iterations of all flops for a frozen strategy


def train(solver: WholeGameSolver, target: float, most: int) -> float:
    """Train until the exploitability is at most `target` mbb/hand; return the one reached."""
    reached = np.inf
    while solver.iterations < most and reached > target:
        solver.train_batch(CHECK if solver.iterations >= 100 else 100)
        found = solver.exploitability()
        assert found is not None
        reached = found
    return reached


def resolve(reference: WholeGameSolver, strategies: dict[int, Floats], iterations: int) -> float:
    """Freeze a strategy before the flop, solve all flops for it; mbb/hand of the whole."""
    preflop, games = reference.preflop, reference.engine
    for node, strategy in strategies.items():
        preflop.sums[node][...] = strategy
    every = reference.schedule.run(FIRST, iterations)
    games.iterate(
        preflop.pot_reach(strategies), np.ones((games.pots, games.flops), np.bool_), every
    )
    found = reference.exploitability()
    assert found is not None
    return found


def chart_distance(one: Floats, other: Floats) -> float:
    """Mean total variation between two strategies [A, 169], by combos."""
    apart = np.abs(one - other).sum(axis=0) / 2
    return float(HAND_SIZES @ apart / HAND_SIZES.sum())


def step_distance(one: Floats, other: Floats) -> float:
    """Mean total variation between the steps from each suited hand to its neighbour."""
    steps = []
    for high in range(2, len(RANKS)):
        hands = [hand_index(high, low, suited=True) for low in range(high)]
        steps.append(np.abs(np.diff((one - other)[:, hands], axis=1)).sum(axis=0) / 2)
    return float(np.concatenate(steps).mean())


def chosen(way: str, count: int, leaves: Floats) -> FlopSet:
    """The flops of a way."""
    if way == "spread":
        return spread_flops(count)
    if way == "weighted":
        return reweighted(spread_flops(count))
    if way == "subset" and count in subset_counts():
        return subset_flops(count)
    return choose_flops(count, [leaves] if way == "fitted" else [])


def solved(
    keys: dict[str, Any], name: str, threads: int, effort: Effort
) -> tuple[WholeGameSolver, Floats, Row]:
    """A game on all flops, its leaves as features, and how good it is."""
    begun = time.perf_counter()
    reference = make_solver(threads, flops="all", **keys)
    reached = train(reference, effort.reference, effort.iterations)
    remark = f"{reference.iterations} iterations, {time.perf_counter() - begun:.0f} s"
    reach = reference.preflop.pot_reach(reference.preflop.average())
    leaves = leaf_features(reference.evaluate().own, reach)
    return reference, leaves, Row(f"{name}, all flops", reached, "mbb/hand", remark)


def judged(
    keys: dict[str, Any], name: str, arguments: argparse.Namespace, effort: Effort
) -> Iterator[Row]:
    """The figures of a game, one after the other."""
    reference, leaves, row = solved(keys, name, arguments.threads, effort)
    yield row
    truth = {node: strategy.copy() for node, strategy in reference.preflop.average().items()}
    floor = resolve(reference, truth, effort.resolve)
    yield Row(f"{name}, all flops, solved again", floor, "mbb/hand", "the floor of what follows")
    for count in arguments.counts:
        for way in arguments.ways:
            if time.perf_counter() > arguments.end:
                return
            begun = time.perf_counter()
            flops = chosen(way, count, leaves)
            solver = make_solver(arguments.threads, flop_set=flops, **keys)
            own = train(solver, effort.subset, effort.iterations)
            strategies = solver.preflop.average()
            whole = resolve(reference, strategies, effort.resolve)
            chart = chart_distance(strategies[0], truth[0])
            steps = step_distance(strategies[0], truth[0])
            seconds = time.perf_counter() - begun
            yield Row(
                f"{name}, {way}_{count}",
                whole,
                "mbb/hand",
                f"chart {chart:.3f}, steps {steps:.3f}, own game {own:.2f} mbb/hand in "
                f"{solver.iterations}, {seconds:.0f} s",
            )
            if arguments.record and way == "subset":
                record(count, name, whole, chart, steps)


def record(count: int, game: str, whole: float, chart: float, steps: float) -> None:
    """Add how a subset was judged in a game to its file."""
    kept = read_subset(count)
    figures = {"exploitability_mbb": round(whole, 2), "chart": round(chart, 3)}
    rows = [row for row in kept["judged"] if row["game"] != game]
    rows.append({"game": game, **figures, "steps": round(steps, 3)})
    text = subset_text(kept["flops"], kept["error"], kept["made"], rows)
    subset_path(count).write_text(text, encoding="utf-8")
    read_subset.cache_clear()


def make(folder: Path, games: list[tuple[str, Floats]], counts: list[int]) -> None:
    """Write the subsets chosen by general features and the leaves of games."""
    folder.mkdir(parents=True, exist_ok=True)
    made = f"general features, and leaf values of {'; '.join(name for name, _ in games)}"
    for count in counts:
        found = choose_flops(count, [leaves for _, leaves in games])
        texts = [flop.text for flop in found.flops]
        weights = dict(zip(texts, found.weights.tolist(), strict=True))
        text = subset_text(weights, flop_set_error(found), made)
        (folder / subset_path(count).name).write_text(text, encoding="utf-8")


def main() -> None:
    """Evaluate the requested subsets."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu", help="cuda: a GPU")
    parser.add_argument("--stacks", type=_numbers, default=[20], help="in bb: 20,40")
    parser.add_argument("--sizes", type=_words, default=["one"], help="one,two bets after the flop")
    parser.add_argument(
        "--counts", type=_numbers, default=None, help="of flops; default: 15,25,49,95,184"
    )
    parser.add_argument("--ways", type=_words, default=list(WAYS), help=",".join(WAYS))
    parser.add_argument("--light", action="store_true", help="two raises before the flop, 0 after")
    parser.add_argument("--target", type=float, default=1.0, help="mbb/hand of the reference")
    parser.add_argument("--most", type=int, default=400, help="iterations of a game at most")
    parser.add_argument("--resolve", type=int, default=100, help="iterations of all flops")
    parser.add_argument("--make", type=Path, help="write subsets to this folder, judge nothing")
    parser.add_argument("--record", action="store_true", help="add figures to the subsets' files")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--out", type=Path, default=RESULTS / "flop_subsets.json")
    arguments = parser.parse_args()
    arguments.counts = arguments.counts or list(subset_counts())
    arguments.end = time.perf_counter() + 60 * arguments.minutes
    effort = Effort(arguments.target, arguments.target / 2, arguments.most, arguments.resolve)
    build_flop_table(arguments.threads)
    rows: list[Row] = []

    def add(row: Row) -> None:
        rows.append(row)
        print(f"{row.name:<40} {row.value:>8.2f} {row.unit}  {row.remark}", flush=True)
        if arguments.make is None:
            write_rows(arguments.out, rows)

    games = []
    for stack in arguments.stacks:
        for size in arguments.sizes:
            name = f"{stack:g} bb, {size} size{'s' * (size != 'one')}"
            keys: dict[str, Any] = {
                "stack_depth": stack,
                "postflop_bet_sizes": SIZES[size],
                "device": arguments.device,
            }
            if arguments.light:
                name += ", light"
                keys |= {"raise_cap": 2, "max_raises_per_street": 0}
            if arguments.make is not None:
                _, leaves, row = solved(keys, name, arguments.threads, effort)
                add(row)
                games.append((name, leaves))
                make(arguments.make, games, arguments.counts)
                continue
            for row in judged(keys, name, arguments, effort):
                add(row)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _words(text: str) -> list[str]:
    return text.split(",")


if __name__ == "__main__":
    main()
