"""Flops judged side by side, each by a process of its own.

Half of judging a flop is laying out its boards in Python, where the threads of one process wait for
each other. So there are processes, *workers*: each opens the solution itself, is told one flop
after the other on its standard input, stores what it finds beside the solution, and says so.

    python -m allstreets.training.certify_workers FOLDER '{"model": {…}, "iterations": 100, …}'

A worker ends with its input, at once, so none outlives the job. One that is killed, for its memory
most likely, gives its flop back to the others.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from allstreets.analysis import Completion, Judge
from allstreets.base import InputError, listen_to_parent
from allstreets.cards import Flop, parse_flop
from allstreets.engines import CardModel
from allstreets.storage import CertificateWork, load_unified

DONE, FAILED = "done ", "failed "  # how the answers of a worker begin; the rest is JSON


def judge_and_keep(
    judge: Judge, work: CertificateWork, flop: Flop, following: Sequence[Flop] = ()
) -> None:
    """Judge one flop, and store what it is worth."""
    start = time.monotonic()
    values = judge.values(flop, following)
    work.save(flop.text, judge.completes(flop), values, time.monotonic() - start)


class Workers:
    """Some processes that judge the flops of a solution; none is started before it is needed."""

    def __init__(self, judge: Judge, folder: Path, count: int, threads: int = 1) -> None:
        """`threads` are those of each."""
        facts = {
            "model": judge.completion.model.facts(),
            "iterations": judge.completion.iterations,
            "threads": threads,
            "device": judge.device,
        }
        self._command = [
            sys.executable, "-m", "allstreets.training.certify_workers", str(folder.resolve()),
            json.dumps(facts),
        ]  # fmt: skip
        self._count = count
        self._processes: list[subprocess.Popen[str]] = []
        self._closing = False

    def judge(self, flops: Sequence[Flop], stop: Callable[[], bool]) -> Iterator[Flop]:
        """The flops in the order in which they are judged and stored.

        After `stop` no new one is begun. Flops that were given back when the last worker was
        killed are left out.
        """
        waiting, news = deque(flops), SimpleQueue[Flop | Exception | None]()

        def drive() -> None:
            try:
                self._drive(waiting, news, stop)
            except Exception as error:
                news.put(error)
            finally:
                news.put(None)

        drivers = [
            threading.Thread(target=drive, daemon=True) for _ in range(min(self._count, len(flops)))
        ]
        for driver in drivers:
            driver.start()
        try:
            left = len(drivers)
            while left:
                found = news.get()
                if isinstance(found, Exception):
                    raise found
                if found is None:
                    left -= 1
                else:
                    yield found
        finally:
            self._closing = True
            for process in self._processes:
                process.kill()
            for driver in drivers:
                driver.join()

    def _drive(
        self,
        waiting: "deque[Flop]",
        news: "SimpleQueue[Flop | Exception | None]",
        stop: Callable[[], bool],
    ) -> None:
        """Start a worker, and tell it flops as long as there are any."""
        # In a session of its own: a terminal's Ctrl-C is for the job, which lets flops be finished.
        # One that died with an order unread leaves a pipe that cannot be closed in order.
        with (
            suppress(BrokenPipeError),
            subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            ) as process,
        ):
            self._processes.append(process)
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                while not (stop() or self._closing):
                    try:
                        flop = waiting.popleft()
                    except IndexError:
                        return
                    if not _told(process.stdin, flop) or not _answered(process.stdout):
                        waiting.append(flop)
                        return
                    news.put(flop)
            finally:
                if self._closing:
                    process.kill()


def _told(pipe: IO[str], flop: Flop) -> bool:
    """Name a flop to a worker; False: it is gone."""
    try:
        pipe.write(f"{flop.text}\n")
        pipe.flush()
    except OSError:
        return False
    return True


def _answered(pipe: IO[str]) -> bool:
    """Wait until a worker has judged its flop; False: it was killed."""
    line = pipe.readline()
    if line.startswith(FAILED):
        raise InputError(json.loads(line.removeprefix(FAILED)))
    return line.startswith(DONE)


def work_for(folder: Path, facts: str, orders: Iterable[str], answers: IO[str]) -> None:
    """What a worker does: judge the flops that are named in `orders`, line by line."""
    told = json.loads(facts)
    completion = Completion(CardModel.of(told["model"]), told["iterations"])
    judge = Judge(load_unified(folder), completion, told["threads"], told["device"])
    work = CertificateWork.of(folder)
    for order in orders:
        flop = parse_flop(order.strip()).flop
        try:
            judge_and_keep(judge, work, flop)
            answer = f"{DONE}{flop.text}"
        except InputError as error:
            answer = FAILED + json.dumps(str(error))
        answers.write(f"{answer}\n")
        answers.flush()


def _orders() -> Iterator[str]:
    """The lines of standard input; at its end the process ends, in the middle of a flop too."""
    waiting = SimpleQueue[str]()
    listen_to_parent(waiting.put)
    while True:
        yield waiting.get()


if __name__ == "__main__":
    with suppress(BrokenPipeError):  # the job ends in the same moment
        work_for(Path(sys.argv[1]), sys.argv[2], _orders(), sys.stdout)
    os._exit(0)
