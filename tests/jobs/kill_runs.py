"""Run as a program: trains a sampled matrix game and dies at one write after the other.

    kill_runs.py FOLDER DEATHS ITERATIONS

Every child process resumes what the one before it has left and is killed at its n-th write,
for n = 0, 1, …; then one runs to the end. Prints one JSON object: for each death the iteration that
was told last, and that of the newest checkpoint.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from builders.matrix_game import MatrixGameSolver, random_game

from allstreets.base import InputError
from allstreets.jobs import Intervals, Iterations, Progress, RunFiles, train
from allstreets.storage import latest_checkpoint

CHECK, CHECKPOINT = 20, 40
FOREVER = 10_000_000


def solver() -> MatrixGameSolver:
    return MatrixGameSolver(random_game(), game="random", sampled=True)


def run(folder: Path, iterations: int, told: int) -> None:
    def tell(progress: Progress) -> None:
        os.write(told, f"{progress.iteration}\n".encode())

    resume = any(folder.glob("checkpoint-*"))
    files = RunFiles(folder, folder / "metrics.jsonl", resume=resume, own_folder=True)
    rules = [Iterations(iterations)]
    train(solver(), rules, intervals=Intervals(CHECK, CHECKPOINT), files=files, observers=[tell])


def die_at_write(number: int) -> None:
    """At the n-th call that brings bytes to the disk, before it has done so."""
    sync, calls = os.fsync, iter(range(number))

    def dying(fd: Any) -> None:
        if next(calls, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        sync(fd)

    os.fsync = dying


def main(folder: Path, deaths: int, iterations: int) -> None:
    found = []
    for number in range(deaths):
        reading, told = os.pipe()
        if not (child := os.fork()):
            die_at_write(number)
            run(folder, FOREVER, told)
        os.close(told)
        with os.fdopen(reading) as lines:
            last = max((int(line) for line in lines), default=0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        try:
            stored = latest_checkpoint(folder, solver().identity).iterations
        except InputError:
            stored = 0
        found.append((last, stored))
    run(folder, iterations, os.open(os.devnull, os.O_WRONLY))
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
