"""Kernels compiled before a job needs them: on a new machine, while other things are installed.

A task is the smallest job of its kind: it calls every kernel that a real job calls, and the kernels
do not depend on its sizes. Numba compiles one kernel at a time in a process, so tasks run side by
side in separate processes; a kernel that two of them need is compiled by one.
"""

import gc
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path

from allstreets.base import InputError, compiled_folder, listen_to_parent, suggest, thread_count
from allstreets.betting import PreflopRules, Street, same_sizes
from allstreets.cards import parse_flop_set
from allstreets.cfr import parse_schedule
from allstreets.engines import CardModel
from allstreets.games import Spot, WholeGame
from allstreets.jobs.job import DRAFT_KERNELS, mark_compiled, must_announce
from allstreets.solvers import SpotSolver, WholeGameSolver, first_ranges, quantise_solution

FLOP = "7s7h7d"  # on which most runouts are isomorphic, so that there are few


def compile_spot(board: str, precision: str) -> None:
    """The kernels of spots that start with as many cards."""
    spot = Spot(board=board, oop="AKs", ip="QQ", pot=10, stack=20, bets="50%", raises="a")
    solver = SpotSolver(spot, threads=1, precision=precision)
    solver.train_batch(1)
    solver.metrics()
    solver.expected_values()
    mark_compiled(spot, precision)
    if len(spot.cards) == 3 and precision == "float32":
        must_announce("certify")  # exact flops evaluate the strategies of whole games


def _small_game() -> WholeGame:
    """A whole game of one pot on one flop."""
    sizes = same_sizes(Street.FLOP, "100%", "100%")
    return WholeGame(PreflopRules.parse(3, [], 4), sizes, parse_flop_set([FLOP]), max_raises=0)


def compile_boards() -> None:
    """The kernels of whole games with real boards."""
    game = _small_game()
    engine = game.build(game.engine(CardModel("boards", groups=16)))
    solver = WholeGameSolver(game, engine, parse_schedule("ahead"))
    solver.train_batch(1)
    solver.metrics()
    quantise_solution(solver)
    must_announce("unified-boards")
    must_announce(DRAFT_KERNELS)  # learned there, and evaluated like exact flops


def compile_classes() -> None:
    """The kernels of whole games by hand classes, from which those with real boards start."""
    first_ranges(_small_game(), parse_schedule("ahead"))
    must_announce("unified-classes")


TASKS: Mapping[str, Callable[[], None]] = {
    "boards": compile_boards,
    "classes": compile_classes,
    "flop": partial(compile_spot, FLOP, "float32"),
    "turn": partial(compile_spot, f"{FLOP}2c", "float32"),
    "river": partial(compile_spot, f"{FLOP}2c2d", "float32"),
    "flop-float16": partial(compile_spot, FLOP, "float16"),
    "flop-int16": partial(compile_spot, FLOP, "int16"),
}
"""By name, the longest first."""

KINDS: Mapping[str, tuple[str, ...]] = {
    "first-run": ("boards", "classes", "flop"),  # which evaluates its strategies
    "spots": ("flop", "turn", "river"),
    "all": tuple(TASKS),
}
"""The tasks behind each kind of kernels that a user may ask for."""


def tasks_of(kinds: Sequence[str]) -> list[str]:
    """The tasks of some kinds, each once."""
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"'{kind}' is not a kind of job: {suggest(kind, KINDS)}")
    return list(dict.fromkeys(task for kind in kinds for task in KINDS[kind]))


def _task_marker(task: str) -> Path:
    """A file beside the compiled kernels, which is removed with them."""
    return compiled_folder() / f"ahead-{task}"


def compile_ahead(kinds: Sequence[str], processes: int | None = None) -> None:
    """Compile the kernels of some kinds of jobs in several processes (default: one per core)."""
    tasks = [task for task in tasks_of(kinds) if not _task_marker(task).exists()]
    if not tasks:
        return

    count = min(thread_count(processes, "processes"), len(tasks))
    running: list[subprocess.Popen[bytes]] = []
    failed = threading.Event()
    with ThreadPoolExecutor(count) as pool:
        try:
            for done in as_completed([pool.submit(_run, task, running, failed) for task in tasks]):
                done.result()
        except BaseException:
            failed.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for child in running:
                child.kill()
            raise


def _run(task: str, running: list[subprocess.Popen[bytes]], failed: threading.Event) -> None:
    """Run a task in a process, which ends with its input: that is, with this one."""
    command = [sys.executable, "-m", __name__, task]
    # In its own session: a terminal's Ctrl-C is for this process, which ends the others.
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as child:
        running.append(child)
        if failed.is_set():  # while it was started
            child.kill()
        if code := child.wait():
            raise subprocess.CalledProcessError(code, command)
    with suppress(OSError):  # then it is run once more
        _task_marker(task).touch()


if __name__ == "__main__":
    listen_to_parent()
    # The compiler makes millions of objects and hardly any garbage: collecting it takes a tenth.
    gc.set_threshold(50_000, 50, 100)
    TASKS[sys.argv[1]]()
