"""Regret minimisers on Leduc hold'em beside OpenSpiel's, in the same run, one thread each.

    python benchmarks/bench_leduc.py [--quick]

Prints a table and writes benchmarks/results/leduc.json. Compilation is not counted; each figure is
the best of several runs, ours and theirs taken in turns so that a busy moment hits both. That all
play the same game is checked: vanilla CFR must have OpenSpiel's exploitability to 1e-6.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import pyspiel
from open_spiel.python.algorithms import cfr, exploitability, external_sampling_mccfr
from report import Row, write_report

from allstreets.cfr import CfrSolver, Leduc, MccfrSolver, Pruning, compile_game, sequence_form

GAME = pyspiel.load_game("leduc_poker")
CHECKED_AT = 10  # iterations after which exploitabilities are compared


Job = tuple[Callable[[int], object], int]  # runs a number of iterations; that number


def rates(jobs: list[Job], rounds: int) -> list[float]:
    """Iterations a second of each job."""
    best = [0.0] * len(jobs)
    for _ in range(rounds):
        for number, (run, count) in enumerate(jobs):
            start = time.perf_counter()
            run(count)
            best[number] = max(best[number], count / (time.perf_counter() - start))
    return best


def repeat(step: Callable[[], object], count: int) -> None:
    """Call `step` repeatedly."""
    for _ in range(count):
        step()


def exploitability_after(solver: CfrSolver | MccfrSolver, iterations: int) -> float:
    """Exploitability in chips when `iterations` have been done."""
    solver.train_batch(iterations - solver.iterations)
    figure = solver.metrics().exploitability
    assert figure is not None
    return figure


def tabular_rows(quick: bool) -> list[Row]:
    """Vanilla CFR: ours, OpenSpiel's in C++ and in Python."""
    form = sequence_form(compile_game(Leduc()))
    ours, in_cpp, in_python = (
        CfrSolver(form, "vanilla"),
        pyspiel.CFRSolver(GAME),
        cfr.CFRSolver(GAME),
    )
    figure = exploitability_after(ours, CHECKED_AT)
    repeat(in_cpp.evaluate_and_update_policy, CHECKED_AT)
    repeat(in_python.evaluate_and_update_policy, CHECKED_AT)
    gaps = [
        abs(figure - pyspiel.exploitability(GAME, in_cpp.average_policy())),
        abs(figure - exploitability.exploitability(GAME, in_python.average_policy())),
    ]
    if max(gaps) > 1e-6:
        raise SystemExit(
            f"exploitability differs from OpenSpiel's by {max(gaps):g}: not the same game"
        )
    ours.train_batch(20_000)  # compiles, and learns how many iterations to ask for at once
    jobs: list[Job] = [
        (ours.train_batch, 10_000 if quick else 50_000),
        (partial(repeat, in_cpp.evaluate_and_update_policy), 20 if quick else 100),
        (partial(repeat, in_python.evaluate_and_update_policy), 2 if quick else 8),
    ]
    mine, cpp, python = rates(jobs, 3 if quick else 5)
    return [
        Row("CFR", mine, "iterations/s", "vanilla, alternating updates"),
        Row("CFR, OpenSpiel C++", cpp, "iterations/s", f"{mine / cpp:,.0f} times slower"),
        Row("CFR, OpenSpiel Python", python, "iterations/s", f"{mine / python:,.0f} times slower"),
        Row(f"difference after {CHECKED_AT}", max(gaps), "chips", "of exploitability, must be 0"),
    ]


def sampling_rows(quick: bool) -> list[Row]:
    """External sampling: ours, OpenSpiel's in C++ and in Python."""
    ours = MccfrSolver(Leduc(), seed=1)
    in_cpp = pyspiel.ExternalSamplingMCCFRSolver(GAME, seed=1)
    in_python = external_sampling_mccfr.ExternalSamplingSolver(GAME)
    ours.train_batch(50_000)
    jobs: list[Job] = [
        (ours.train_batch, 200_000 if quick else 1_000_000),
        (partial(repeat, in_cpp.run_iteration), 10_000 if quick else 50_000),
        (partial(repeat, in_python.iteration), 200 if quick else 2000),
    ]
    mine, cpp, python = rates(jobs, 3 if quick else 5)
    same = 20_000 if quick else 200_000
    fresh, other = MccfrSolver(Leduc(), seed=2), pyspiel.ExternalSamplingMCCFRSolver(GAME, seed=2)
    repeat(other.run_iteration, same)
    theirs = pyspiel.exploitability(GAME, other.average_policy())
    figure = exploitability_after(fresh, same)
    return [
        Row("external sampling", mine, "iterations/s", "a walk for each player"),
        Row("… OpenSpiel C++", cpp, "iterations/s", f"{mine / cpp:,.0f} times slower"),
        Row("… OpenSpiel Python", python, "iterations/s", f"{mine / python:,.0f} times slower"),
        Row(f"… after {same:,}", figure, "chips", f"exploitability; OpenSpiel C++ {theirs:.4f}"),
    ]


def schedule_rows() -> list[Row]:
    """The exploitability of each schedule after 1,000 iterations, and dcfr with pruning."""
    form = sequence_form(compile_game(Leduc()))
    rows = []
    for name in ("vanilla", "linear", "cfr+", "dcfr", "dcfr+", "tuned"):
        figure = exploitability_after(CfrSolver(form, name), 1000)
        rows.append(Row(f"{name} after 1,000", figure, "chips", "exploitability"))
    for label, rule in (("sound", Pruning(100)), ("-0.02*sqrt(t)", Pruning(100, "-0.02*sqrt(t)"))):
        plain, pruned = CfrSolver(form, "dcfr"), CfrSolver(form, "dcfr", rule)
        ratio = exploitability_after(pruned, 1000) / exploitability_after(plain, 1000)
        fraction = pruned.pruned_fraction or 0.0
        slow, fast = rates([(pruned.train_batch, 5000), (plain.train_batch, 5000)], 3)
        remark = f"of actions skipped; exploitability × {ratio:.2f}, speed × {slow / fast:.2f}"
        rows.append(Row(f"dcfr pruned, {label}", fraction, "", remark))
    return rows


def main() -> None:
    """Measure everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a short run with rougher figures")
    quick = parser.parse_args().quick
    write_report("leduc", [*tabular_rows(quick), *sampling_rows(quick), *schedule_rows()])


if __name__ == "__main__":
    main()
