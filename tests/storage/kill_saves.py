"""Run as a program: saves a whole game over and over and is killed at random moments.

Prints one JSON object: what was found in the folder after each kill.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
from whole_solution import solver_of, whole_game

from allstreets.storage import load_unified, save_unified

KILLS = 15


def main(folder: Path) -> None:
    solver = solver_of(whole_game(["Ks7h2d", "9s8s7h", "AsAhAd"], 6, "50%", ()), 1)
    save_unified(solver, folder, config={})
    begun = time.monotonic()
    save_unified(solver, folder, config={})
    a_save = time.monotonic() - begun  # however busy the machine is
    chance = random.Random(5)
    found = []
    for kill in range(KILLS):
        told, tell = os.pipe()
        pid = os.fork()
        if not pid:
            while True:
                solver.train_batch(1)
                save_unified(solver, folder, config={})
                os.write(tell, b".")
        if kill % 2:
            os.read(told, 1)  # one save is done, and the next has begun
        time.sleep(chance.uniform(0.0, 1.5) * a_save)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(told)
        os.close(tell)
        files = len(list(folder.iterdir()))
        solution = load_unified(folder)
        sums = [
            float(np.nanmean(solution.node("c x | x", flop.text).strategy.sum(axis=0)))
            for flop in solution.game.flops.flops
        ]
        found.append({"files": files, "iterations": solution.iterations, "sums": sums})
    save_unified(solver, folder, config={})
    print(json.dumps({"found": found, "after": len(list(folder.iterdir()))}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
