"""A program for tests that end processes: trains a sampled matrix game, with files, and reports.

    run_matrix_game.py FOLDER ITERATIONS [--resume]

Prints the iterations whenever a checkpoint may have been written, and the outcome at the end.
"""

import sys
import time
from pathlib import Path

from matrix_game import MatrixGameSolver, random_game

from allstreets.training import (
    Intervals,
    Iterations,
    Progress,
    RunFiles,
    outcome_lines,
    show_progress,
    train,
)

CHECK, CHECKPOINT = 20, 40


def main(folder: Path, iterations: int, *, resume: bool) -> int:
    solver = MatrixGameSolver(random_game(), game="random", sampled=True)

    def tell(progress: Progress) -> None:
        if progress.iteration % CHECK == 0:
            print(progress.iteration, flush=True)
            time.sleep(0.001)  # so that there is time to be killed in

    try:
        with show_progress() as observer:
            outcome = train(
                solver,
                [Iterations(iterations)],
                intervals=Intervals(CHECK, CHECKPOINT),
                files=RunFiles(folder, folder / "metrics.jsonl", resume=resume),
                observers=[tell, observer],
            )
    except KeyboardInterrupt:
        print("aborted", flush=True)
        return 130
    print("\n".join(outcome_lines(outcome)), flush=True)
    return 130 if outcome.reason == "interrupted" else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), resume="--resume" in sys.argv))
