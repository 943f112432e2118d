"""A solver that trains in the background, rests while someone reads, and can be stopped.

One thread trains (`solvers.drive`), another answers. Numbers are read only between two iterations:
`resting` waits until the trainer pauses and lets it continue afterwards.
"""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass

from allstreets.base import Control, clean_message
from allstreets.solvers import FIRST_CHECK, Ending, Multiples, Planned, Timer, Trainable, drive

REASONS: dict[Ending | None, str] = {
    "target": "required accuracy reached",
    "iterations": "step limit reached",
    "time": "time limit reached",
    None: "requested",
}


@dataclass(frozen=True)
class Limits:
    """The limits of a solve; the exploitability to reach is a fraction of the pot."""

    target: float
    seconds: float = math.inf
    iterations: float = math.inf


class _Rests(Control):
    """Rests while readers ask for it, and stops on request."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._readers, self._rests, self._stopped, self._ended = 0, False, False, False

    def wants_to_stop(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def is_paused(self) -> bool:
        """Whether someone reads."""
        return self._readers > 0

    def wait_while_paused(self) -> None:
        """Pause while someone reads; the next reader waits for an iteration."""
        with self._changed:
            self._rests = self._readers > 0
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._rests)

    def stop(self) -> None:
        """Let the solver stop after this iteration."""
        self._stopped = True

    @property
    def ended(self) -> bool:
        """Whether the solver has ended."""
        return self._ended

    def end(self) -> None:
        """The solver has ended."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Pause the solver within this context."""
        with self._changed:
            self._readers += 1
            self._changed.wait_for(lambda: self._rests or self._ended)
        try:
            yield
        finally:
            with self._changed:
                self._readers -= 1
                self._rests = self._rests and self._readers > 0
                self._changed.notify_all()


class BackgroundSolve:
    """One `go`: trains a solver until its limits, or until `stop`.

    `exploitability` is that of the solver, as a fraction of the pot.
    `tell` is called with a line when it starts and when it ends; `report` every `interval` seconds,
    at a check, while the solver pauses.
    """

    def __init__(
        self,
        solver: Trainable,
        exploitability: Callable[[], float],
        limits: Limits,
        tell: Callable[[str], None],
        report: Callable[[], None],
        interval: float,
    ) -> None:
        self.solver, self._exploitability, self._limits = solver, exploitability, limits
        self._tell, self._report, self._interval = tell, report, interval
        self._control = _Rests()
        self._thread = threading.Thread(target=self._run, name="solver", daemon=True)
        self.seconds = 0.0  # of training so far

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after this iteration; returns when it has ended."""
        self._control.stop()
        self.wait()

    def wait(self) -> None:
        """Return when it has ended."""
        if self._thread.ident is not None:
            self._thread.join()

    @property
    def runs(self) -> bool:
        """Whether it has not ended; it has when its client reads that it stopped."""
        return self._thread.is_alive() and not self._control.ended

    def resting(self) -> AbstractContextManager[None]:
        """Pause the solver within this context."""
        return self._control.resting()

    def _run(self) -> None:
        try:
            self._tell("SOLVER: started")
            reason = self._train()
        except Exception as error:  # any error is reported to the client, and the session continues
            reason = f"error: {' '.join(clean_message(str(error)).split())}"
        finally:
            self._control.end()
        with suppress(OSError):  # the client is gone
            self._tell(f"SOLVER: stopped ({reason})")

    def _train(self) -> str:
        solver, limits = self.solver, self._limits
        last_line = time.monotonic()
        steps = drive(
            solver,
            self._exploitability,
            Planned(limits.target) if limits.target > 0 else Multiples(FIRST_CHECK),
            Timer(limits.seconds),
            target=limits.target,
            iterations=solver.iterations + limits.iterations,
            control=self._control,
        )
        ending: Ending | None = None
        for step in steps:
            self.seconds, ending = step.seconds, step.ending
            is_due = time.monotonic() - last_line >= self._interval
            if ending is None and step.exploitability is not None and is_due:
                self._report()
                last_line = time.monotonic()
        return REASONS[ending]
