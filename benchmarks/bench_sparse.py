"""Sparse storage in the whole game: the saving of closed hands, and its effect on convergence.

    python benchmarks/bench_sparse.py [--seconds 20] [--games one,two]

20 bb, raises to 2.5 times, hand classes, one thread. For each game, solvers that store all hands
(`drop_unplayed_every: 0`) and solvers that close what is not played take turns of ten iterations,
so that a busy moment hits them all alike. Clocks count seconds of the processor, reviews included
and best responses for this report not. For each: exploitability when a quarter, half and all of the
time is over, milliseconds per iteration in the last quarter, and what is stored at the end. Then,
in the first game, how much memory the process gives back. Writes benchmarks/results/sparse.json."""

import argparse
import gc
import mmap
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench_unified import ONE_SIZE, TWO_SIZES, make_solver
from report import Row, write_report

from allstreets.solvers.whole_game import WholeGameSolver

GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "one": ("one size, 100 flops", {"flops": "spread_100", "postflop_bet_sizes": ONE_SIZE}),
    "two": ("two sizes, 40 flops", {"flops": "spread_40", "postflop_bet_sizes": TWO_SIZES}),
}
AFTER = (0, 50, 25)  # iterations between reviews; 0: all hands are stored
SHARES = (0.25, 0.5, 1.0)  # of the time
TURN = 10  # iterations


@dataclass
class Contestant:
    """A solver with a clock of its own."""

    after: int
    solver: WholeGameSolver
    seconds: float = 0.0
    found: dict[float, float] = field(default_factory=dict)  # exploitability by share of the time
    marks: dict[float, tuple[int, float]] = field(default_factory=dict)  # iterations and seconds

    @property
    def name(self) -> str:
        return f"drop_unplayed_every {self.after}" if self.after else "all hands stored"

    def run(self) -> None:
        """One turn."""
        start = time.process_time()
        self.solver.train_batch(TURN)
        self.seconds += time.process_time() - start

    def judge(self, share: float) -> None:
        """Write down how good it is by now."""
        reached = self.solver.exploitability()
        assert reached is not None
        self.found[share] = reached
        self.marks[share] = self.solver.iterations, self.seconds

    @property
    def milliseconds(self) -> float:
        """Milliseconds per iteration, from half of the time to its end."""
        (first, begin), (last, end) = self.marks[SHARES[-2]], self.marks[SHARES[-1]]
        return 1000 * (end - begin) / (last - first)


def equal_time(title: str, keys: dict[str, Any], seconds: float) -> list[Row]:
    """All contestants on one game."""
    runners = [
        Contestant(after, make_solver(1, drop_unplayed_every=after, **keys)) for after in AFTER
    ]
    for share in SHARES:
        waiting = list(runners)
        while waiting:
            for runner in waiting:
                runner.run()
            waiting = [runner for runner in waiting if runner.seconds < share * seconds]
        for runner in runners:
            runner.judge(share)
    rows = []
    for runner in runners:
        path = ", ".join(f"{runner.found[share]:.3g}" for share in SHARES[:-1])
        remark = f"before {path}; {runner.solver.iterations:,} iterations"
        rows.append(Row(f"{title}: {runner.name}", runner.found[1.0], "mbb/hand", remark))
    dense = runners[0]
    for runner in runners[1:]:
        solver, dropping = runner.solver, runner.solver.dropping
        assert dropping is not None
        review = dropping.last_review
        assert review is not None
        rows.append(
            Row(
                f"{title}: {runner.name}, saved",
                100 * solver.saved_bytes / dense.solver.memory_bytes,
                "%",
                f"{solver.memory_bytes / 1e6:.1f} MB instead of "
                f"{dense.solver.memory_bytes / 1e6:.1f}; {review.closed:,} actions of hands "
                f"are closed; in the last review {review.newly_closed} went and "
                f"{review.reopened} came back",
            )
        )
        rows.append(
            Row(
                f"{title}: {runner.name}, an iteration",
                runner.milliseconds / dense.milliseconds,
                "×",
                f"{runner.milliseconds:.1f} ms, reviews included, where all hands take "
                f"{dense.milliseconds:.1f} ms",
            )
        )
    return rows


def resident() -> float:
    """Megabytes that the process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE / 1e6


def given_back(title: str, keys: dict[str, Any]) -> list[Row]:
    """The memory of the process before anything is closed, and later."""
    solver = make_solver(1, drop_unplayed_every=50, **{**keys, "flops": "spread_400"})
    solver.train_batch(51)
    full, before = solver.memory_bytes / 1e6, resident()
    solver.train_batch(150)
    after = resident()
    return [
        Row(
            f"{title.partition(',')[0]}, 400 flops: memory given back",
            before - after,
            "MB",
            f"process {before:.0f} MB after 51 iterations, {after:.0f} MB after 201; stored "
            f"{full:.0f} and {solver.memory_bytes / 1e6:.0f} MB",
        )
    ]


def main() -> None:
    """Run the requested parts and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each contestant")
    parser.add_argument("--games", default=",".join(GAMES))
    options = parser.parse_args()
    make_solver(1, drop_unplayed_every=1, flops="spread_1").train_batch(3)  # compiles
    rows = []
    for name in options.games.split(","):
        rows += equal_time(*GAMES[name], options.seconds)
        gc.collect()
    rows += given_back(*GAMES["one"])
    write_report("sparse", rows)


if __name__ == "__main__":
    main()
