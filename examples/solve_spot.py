"""Solve a turn, walk through it, save it, and open it again. Runs in a few seconds.

python examples/solve_spot.py
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from allstreets.games import Lock, Spot
from allstreets.solutions import solve
from allstreets.solvers import SpotSolver
from allstreets.storage import load_spot, save_spot

SPOT = Spot(
    board="AhTd6s3c",
    oop="22+,A2s+,KTs+,QTs+,JTs,ATo+,KQo",
    ip="22+,A8s+,K9s+,QTs+,J9s+,T9s,98s,ATo+,KJo+",
    pot=100,
    stack=300,
    bets=["50%"],
    raises=["60%", "a"],
)


def main() -> None:
    """A study: solve, look, lock, look again, save."""
    result = solve(SPOT, target=0.003)
    print(
        f"exploitability {100 * result.exploitability:.2f} % of pot, {result.iterations} iterations"
    )
    print("EV OOP {:.2f}, IP {:.2f} chips".format(*result.evs))

    node = result.at("x b50%").decision
    for label, frequency in zip(node.labels, node.taken, strict=True):
        print(f"  {node.seat} facing a bet: {label:22} {100 * frequency:5.1f} %")
    best = max(node.table(), key=lambda row: row["ev"])
    print(f"  his best hand there: {best['combo']}, EV {best['ev']:.1f} chips")

    river = result.at("x b50% c | 2h | x").decision
    print(f"  on the river {river.player.name} bets {100 * river.taken[1:].sum():.1f} %")

    # What if OOP folds too much to that bet? Lock it, and let IP find a best response.
    timid = Lock("x b50%", strategy={"fold": 0.6, "call": 0.4})
    locked = solve(replace(SPOT, lock=(timid,)), target=0.003)
    bets = [100 * solved.at("x").decision.taken[1] for solved in (result, locked)]
    print(f"OOP folds 60 %: IP bets {bets[1]:.0f} % instead of {bets[0]:.0f} %", end=", ")
    print(f"EV of IP {locked.evs[1]:.2f} instead of {result.evs[1]:.2f} chips")

    with tempfile.TemporaryDirectory() as folder:
        solver = SpotSolver(SPOT)
        solver.train_batch(50)
        save_spot(solver, Path(folder) / "solved")
        opened = load_spot(Path(folder) / "solved")
        print(f"opened again: {opened.iterations} iterations, EV OOP {opened.evs[0]:.2f}")


if __name__ == "__main__":
    main()
