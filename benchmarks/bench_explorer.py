"""Looking into a solution of all 1,755 flops through the explorer's server: milliseconds a read.

    python benchmarks/bench_explorer.py [--folder DIR] [--iterations 4] [--threads 2]

1. Makes a solution of the whole game on all flops, unless DIR holds one: 20 bb, one bet size, a few
   iterations, since how well it is solved does not matter here (a minute or two, 2 GB).
2. Asks the application, without a network: each kind of read the first time and again. The first
   look at a flop reads its file and checks every byte of it; the first table over flops reads all.

Writes benchmarks/results/explorer.json.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx
from report import Row, write_report

from allstreets.betting import PreflopRules, Street, same_sizes
from allstreets.cards.flop_sets import every_flop
from allstreets.cfr.schedules import parse_schedule
from allstreets.explorer.app import create_app
from allstreets.explorer.library import Library
from allstreets.explorer.solves.manager import Solves
from allstreets.games.whole_game import WholeGame
from allstreets.solvers.whole_game import WholeGameSolver
from allstreets.storage import save_unified

HOST = "127.0.0.1:8000"
REPEATS = 15

# What is asked, the lines of the first look and those of other places on the same flop.
READS = (
    ("place before the flop", "place", ("", "r2.5")),
    ("place on a flop, first decision", "place", ("c x | AhKd7s", "c x | 9h8h2c")),
    ("place on a flop, facing a bet", "place", ("c x | AhKd7s | b100%", "c x | 9h8h2c | b100%")),
    ("place on the river", "place", ("c x | AhKd7s | x x | x x | x", "c x | 9h8h2c | x x | x x")),
    ("equity curves", "equity", ("c x | AhKd7s", "c x | 9h8h2c")),
    ("range as text", "range", ("c x | AhKd7s | x", "c x | 9h8h2c | x")),
    ("a hand", "hand", ("c x | AhKd7s", "c x | 9h8h2c")),
    ("decision as CSV", "table.csv", ("c x | AhKd7s", "c x | 9h8h2c")),
    ("table over all flops", "flops", ("c x", "r2.5 c | * | x")),
    ("table over all flops as CSV", "flops.csv", ("c x", "r2.5 c | * | x")),
)


def make_solution(folder: Path, iterations: int, threads: int) -> None:
    """A whole game on all flops."""
    game = WholeGame(
        PreflopRules.parse(20, [2.5], 1),
        same_sizes(Street.FLOP, "100%", "100%"),
        every_flop(),
        max_raises=1,
    )
    solver = WholeGameSolver(
        game, game.build(game.engine(threads=threads)), parse_schedule("tuned")
    )
    solver.train_batch(iterations)
    save_unified(solver, folder, config={})


async def seconds(client: httpx.AsyncClient, path: str, **query: str) -> tuple[float, int]:
    """(seconds, bytes of the answer) of one request."""
    begun = time.perf_counter()
    answer = await client.get(path, params=query)
    took = time.perf_counter() - begun
    answer.raise_for_status()
    return took, len(answer.content)


async def measure(client: httpx.AsyncClient) -> list[Row]:
    """All reads."""
    rows = []
    for name, path in (("list of solutions", "/api/solutions"), ("about", "/api/about")):
        rows += await _rows(client, name, path, [{}])
    solution = (await client.get("/api/solutions")).json()[0]["id"]
    root = f"/api/solutions/{solution}"
    rows += await _rows(client, "what it is", root, [{}])
    for name, read, lines in READS:
        more = {"range": {"player": "ip"}, "hand": {"player": "ip", "hand": "AKo"}}.get(read, {})
        rows += await _rows(
            client, name, f"{root}/{read}", [{"line": one, **more} for one in lines]
        )
    return rows


async def _rows(
    client: httpx.AsyncClient, name: str, path: str, queries: Sequence[dict[str, str]]
) -> list[Row]:
    first = [await seconds(client, path, **query) for query in queries]
    again = [await seconds(client, path, **query) for query in queries for _ in range(REPEATS)]
    size = max(count for _, count in first)
    times = sorted(took for took, _ in again)
    firsts = ", ".join(f"{1e3 * took:.1f}" for took, _ in first)
    return [
        Row(f"{name}: first", 1e3 * max(took for took, _ in first), "ms", f"each: {firsts}"),
        Row(f"{name}: again", 1e3 * times[len(times) // 2], "ms",
            f"median; slowest {1e3 * times[-1]:.1f}; {size / 1e3:,.0f} kB"),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="a solution, or where to make one")
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        folder = options.folder or Path(spare) / "solution"
        if not (folder / "manifest.json").exists():
            make_solution(folder, options.iterations, options.threads)
        library = Library([folder])
        solves = Solves(Path(spare) / "solves", library.id_of)
        app = create_app(library, solves, [HOST])

        async def ask() -> list[Row]:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
                return await measure(client)

        try:
            write_report("explorer", asyncio.run(ask()))
        finally:
            solves.close()


if __name__ == "__main__":
    main()
