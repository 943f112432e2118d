"""A lock that goes round, for threads that ask again and again."""

from collections import deque
from collections.abc import Callable, Iterator
from threading import Event, Lock
from typing import TypeVar

Part = TypeVar("Part")


class Turns:
    """Who asks for it again comes after all who wait already.

    A plain lock would mostly go back to the thread that has just released it.
    """

    def __init__(self) -> None:
        self._guard = Lock()
        self._taken = False
        self._waiting: deque[Event] = deque()

    def __enter__(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            turn = Event()
            self._waiting.append(turn)
        turn.wait()

    def __exit__(self, *_: object) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()  # it stays taken
            else:
                self._taken = False

    def locked(self) -> bool:
        """Whether it is somebody's turn."""
        return self._taken

    def each(self, begin: Callable[[], Iterator[Part]]) -> Iterator[Part]:
        """The parts of a report, each in a turn of its own."""
        with self:
            parts = begin()
        while True:
            with self:
                part = next(parts, None)
            if part is None:
                return
            yield part
