"""Workers who are asked together: everybody's answer, or `WorkerLost`.

A question goes to all at once, and the asker waits until the last has answered. How workers are
started and reached is left to those who implement `_exchange`: `ray_crew`.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from allstreets.cluster.line import Answer, Traffic, question

FIRST_SECONDS = 3600.0  # for an answer of a kind that nobody has given yet
LEAST_SECONDS = 60.0
PATIENCE = 20  # times the longest answer of its kind


@dataclass(eq=False)
class Station:
    """Where a worker lives, and what is known of it."""

    node: str  # by which the cluster knows the machine
    address: str  # of the machine, for people
    cores: int
    process: int = 0
    memory_bytes: int = 0


@dataclass
class Patience:
    """How long to wait for answers, by what has been asked before."""

    longest: dict[str, float] = field(default_factory=dict)  # seconds, by question

    def limit(self, name: str) -> float:
        """Seconds after which nobody will answer any more."""
        known = self.longest.get(name)
        return FIRST_SECONDS if known is None else max(LEAST_SECONDS, PATIENCE * known)

    def note(self, name: str, seconds: float) -> None:
        """An answer took so long."""
        self.longest[name] = max(self.longest.get(name, 0.0), seconds)


class Crew(ABC):
    """Some workers, numbered from 0."""

    def __init__(self) -> None:
        self.traffic = Traffic()
        self.patience = Patience()

    @property
    @abstractmethod
    def stations(self) -> Sequence[Station]:
        """Where the workers live."""

    @abstractmethod
    def replace(self, lost: Sequence[int]) -> list[int | None]:
        """Do without these workers, and start others where there is room.

        For each of the workers from now on: who of those before it is; None: a new one.
        """

    @abstractmethod
    def close(self) -> None:
        """End all workers, and give everything back."""

    @abstractmethod
    def _exchange(self, asked: Mapping[int, bytes], limit: float) -> dict[int, Answer]:
        """Everybody's answer; when all have answered or failed to, `WorkerLost` for those."""

    def ask(
        self, name: str, *arguments: Any, of: Sequence[int] | None = None, **options: Any
    ) -> list[Answer]:
        """Ask all workers the same, or some of them; the first error of theirs is raised here."""
        chosen = range(len(self.stations)) if of is None else of
        asked = question(name, *arguments, **options)
        return self._ask(name, dict.fromkeys(chosen, asked))

    def ask_each(self, name: str, arguments: Mapping[int, tuple[Any, ...]]) -> list[Answer]:
        """Ask some workers, each with arguments of its own."""
        return self._ask(name, {each: question(name, *own) for each, own in arguments.items()})

    def _ask(self, name: str, asked: Mapping[int, bytes]) -> list[Answer]:
        began = time.monotonic()
        found = self._exchange(asked, self.patience.limit(name))
        self.patience.note(name, time.monotonic() - began)
        for worker, answer in found.items():
            self.stations[worker].memory_bytes = answer.memory_bytes
            if answer.failed:
                answer.value.add_note(f"on {self.stations[worker].address}")
                raise answer.value
        return [found[worker] for worker in asked]
