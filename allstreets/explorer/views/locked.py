"""One request at a time: views cache what they find, and a spot's solver has one workspace."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from threading import Event, Lock
from typing import Any, TypeVar

from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import EquityCurves, HandDetail, Place
from allstreets.explorer.models.reports import BoardHandsPart, CardReport, FlopReport, HandGroups
from allstreets.explorer.views.base import Description, SolutionView
from allstreets.explorer.views.range_words import Reaching
from allstreets.solutions import Decision

Part = TypeVar("Part")


class Turns:
    """A lock that goes round: who asks for it again comes after all who wait already.

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


class LockedView:
    """A view for many threads.

    A report over cards takes many turns, one for each board, and others have theirs between them.
    A table over flops takes seconds the first time and works on nothing that others change: it has
    a lock of its own, so that other requests go on while it is built. A report over flops by hands
    may take a minute: it has that lock for a flop at a time.
    """

    def __init__(self, view: SolutionView) -> None:
        self._view = view
        self._lock, self._flops_lock = Turns(), Turns()

    def describe(self) -> Description:
        """What it is."""
        with self._lock:
            return self._view.describe()

    def place(self, line: str) -> Place:
        """What is seen at a line."""
        with self._lock:
            return self._view.place(line)

    def record(self, line: str) -> Decision:
        """Both players' hands at a line, and what is done with them."""
        with self._lock:
            return self._view.record(line)

    def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
        """A cell of the grid, combo by combo."""
        with self._lock:
            return self._view.hand(line, player, hand)

    def equity(self, line: str) -> EquityCurves:
        """Both ranges, sorted by equity."""
        with self._lock:
            return self._view.equity(line)

    def range(self, line: str, player: PlayerName | None, action: str | None) -> Reaching:
        """A player's range at a line, or the part of it that takes an action."""
        with self._lock:
            return self._view.range(line, player, action)

    def cards(self, line: str) -> Iterator[CardReport]:
        """One row per card that can be dealt at a line, board by board."""
        return _in_turns(self._lock, lambda: self._view.cards(line))

    def flops(self, line: str) -> FlopReport:
        """One row per flop: the decision of a line on all of them."""
        with self._flops_lock:
            return self._view.flops(line)

    def flop_hands(self, line: str) -> Iterator[BoardHandsPart]:
        """The decision of a line on all flops by hands, flop by flop."""
        return _in_turns(self._flops_lock, lambda: self._view.flop_hands(line))

    def groups(self, line: str) -> HandGroups:
        """The hands of a line by category."""
        with self._lock:
            return self._view.groups(line)

    def rows(self, line: str) -> list[Mapping[str, Any]]:
        """The decision of a line as a table: one row per combo or hand."""
        with self._lock:
            return self._view.rows(line)


def _in_turns(turns: Turns, begin: Callable[[], Iterator[Part]]) -> Iterator[Part]:
    """The parts of a report, each in a turn of its own."""
    with turns:
        parts = begin()
    while True:
        with turns:
            part = next(parts, None)
        if part is None:
            return
        yield part
