"""Run as a program: saves a whole game over and over and is killed at one write after the other.

Prints one JSON object: what was found in the folder after each kill.
"""

import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
from builders.whole_solution import solver_of, whole_game

from allstreets.storage import load_unified, save_unified

KILLS = 12  # a save takes ten: the preflop file, three flops, the manifest, and their folders


def die_at_write(number: int) -> None:
    """At the n-th call that brings bytes to the disk, before it has done so."""
    sync, lock, calls = os.fsync, threading.Lock(), iter(range(number))

    def dying(fd: Any) -> None:
        with lock:  # flops are written side by side
            if next(calls, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)
        sync(fd)

    os.fsync = dying


def main(folder: Path) -> None:
    solver = solver_of(whole_game(["Ks7h2d", "9s8s7h", "AsAhAd"], 6, "50%", ()), 1)
    save_unified(solver, folder, config={})
    found = []
    for number in range(KILLS):
        pid = os.fork()
        if not pid:
            die_at_write(number)
            while True:
                solver.train_batch(1)
                save_unified(solver, folder, config={})
        _, status = os.waitpid(pid, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        files = len(list(folder.iterdir()))
        solution = load_unified(folder)
        sums = [
            float(np.nanmean(solution.at("c x | x", flop.text).decision.strategy.sum(axis=0)))
            for flop in solution.game.flops.flops
        ]
        found.append({"files": files, "iterations": solution.iterations, "sums": sums})
    save_unified(solver, folder, config={})
    print(json.dumps({"found": found, "after": len(list(folder.iterdir()))}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
