"""Pausing and stopping a job from outside: by signals, a server or a program."""

from collections.abc import Callable
from dataclasses import dataclass


class Control:
    """Control of a job, which it checks and reports to between iterations; this one never stops it.

    `base.interrupt` stops by signals, the explorer pauses and stops by commands of its server.
    """

    def wants_to_stop(self) -> bool:
        """Whether to save and end."""
        return False

    def is_paused(self) -> bool:
        """Whether to wait before the next iteration."""
        return False

    def wait_while_paused(self) -> None:
        """Return when the job may go on, or has to end."""

    def hold(self) -> None:
        """From now on the job has unsaved work."""

    def saved(self, iteration: int) -> None:
        """The job is saved up to this iteration."""


@dataclass(frozen=True)
class StopWhen(Control):
    """Stops a job when a function says so."""

    asked: Callable[[], bool]

    def wants_to_stop(self) -> bool:
        """Whether it says so."""
        return self.asked()
