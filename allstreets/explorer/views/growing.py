"""Reports over boards that grow board by board: reading many flops takes a while the first time.

What was begun is gone on with by whoever asks next, and what is complete is kept.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from allstreets.analysis import BoardReport, Gathering
from allstreets.solutions import OnBoard

KEPT = 8  # reports

Where = TypeVar("Where", bound=Hashable)


@dataclass(frozen=True, eq=False)
class Boards:
    """The same decision on many boards, which are read one after the other."""

    line: str  # to it
    count: int
    decisions: Iterator[OnBoard]


class _Growing:
    """A report that is being made."""

    def __init__(self, boards: Boards) -> None:
        self.boards, self.done = boards, 0
        self._gathered = Gathering(boards.line)
        self.report: BoardReport | None = None  # when it is complete

    def step(self) -> None:
        """Read one more board."""
        one = next(self.boards.decisions, None)
        if one is not None:
            self._gathered.add(one)
            self.done += 1
        if one is None or self.done == self.boards.count:
            self.report = self._gathered.report


@dataclass(frozen=True, eq=False)
class Step:
    """How far a report is."""

    done: int
    boards: int
    report: BoardReport | None  # when it is complete


class GrowingReports(Generic[Where]):
    """Reports by where they are of; one thread at a time may take a step."""

    def __init__(self, begin: Callable[[Where], Boards]) -> None:
        self._begin = begin
        self._kept: dict[Where, _Growing] = {}

    def steps(self, where: Where) -> Iterator[Step]:
        """A step for each board that is still to be read; the last one has the report."""
        while True:
            found = self._kept.pop(where, None) or _Growing(self._begin(where))
            if found.report is None:
                found.step()  # if that fails, the next who asks begins anew
            self._kept[where] = found  # the last to be given up
            while len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
            yield Step(found.done, found.boards.count, found.report)
            if found.report is not None:
                return

    def report(self, where: Where) -> BoardReport:
        """The whole report."""
        *_, last = self.steps(where)
        assert last.report is not None
        return last.report
