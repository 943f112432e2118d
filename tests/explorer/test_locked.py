"""Views for many threads: one at a time, in the order of asking."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from builders.explorer_solutions import folder

from allstreets.betting import Line
from allstreets.explorer.models.base import PlayerName
from allstreets.explorer.models.place import HandDetail, Place
from allstreets.explorer.models.reports import BoardHandsPart
from allstreets.explorer.views.card_reports import joined
from allstreets.explorer.views.locked import LockedView
from allstreets.explorer.views.spot import SpotView
from allstreets.solutions import Decision
from allstreets.storage import load_spot


def test_one_request_at_a_time() -> None:
    free: list[bool] = []

    class Watched(SpotView):
        """A view that looks, whenever it is asked, whether others could ask as well."""

        def place(self, line: str) -> Place:
            free.append(not locked._lock.locked())
            return super().place(line)

        def hand(self, line: str, player: PlayerName, hand: str) -> HandDetail:
            free.append(not locked._lock.locked())
            return super().hand(line, player, hand)

    watched = Watched(load_spot(folder("turn")), {})
    locked = LockedView(watched)
    assert locked.place("x") == watched.place("x")
    assert locked.hand("x", "ip", "AKs") == watched.hand("x", "ip", "AKs")
    assert free == [False, True, False, True]


class Slow(SpotView):
    """A view whose first board is looked at until others wait."""

    def __init__(self) -> None:
        super().__init__(load_spot(folder("flop")), {})
        self.begun, self.go_on = Event(), Event()
        self.boards: list[int] = []  # looked at, by their cards
        self.served: list[int] = []  # how many boards had been looked at by then
        self._find_scene, self.scene = self.scene, self._look

    def _look(self, line: Line) -> Decision:
        if line.cards:
            self.boards.append(line.cards[-1])
            self.begun.set()
            assert self.go_on.wait(60)
        return self._find_scene(line)

    def place(self, line: str) -> Place:
        self.served.append(len(self.boards))
        return super().place(line)


class Noticed(deque[Event]):
    """Those who wait; says when somebody does."""

    def __init__(self) -> None:
        super().__init__()
        self.somebody = Event()

    def append(self, turn: Event) -> None:
        super().append(turn)
        self.somebody.set()


def test_a_reader_is_served_while_a_report_over_cards_is_made() -> None:
    slow = Slow()
    locked = LockedView(slow)
    waiting = locked._lock._waiting = Noticed()
    with ThreadPoolExecutor(2) as pool:
        report = pool.submit(lambda: joined(locked.cards("x x")))
        assert slow.begun.wait(60)
        place = pool.submit(locked.place, "x")
        assert waiting.somebody.wait(60)
        slow.go_on.set()
        assert place.result(60).line == "x"
        found = report.result(60)
    assert slow.served == [1]  # after the board that was begun, before all others
    assert len(slow.boards) == len(set(slow.boards)) > 2
    assert found == joined(SpotView(load_spot(folder("flop")), {}).cards("x x"))


def test_a_report_over_flops_by_hands_leaves_the_lock_of_readers_alone() -> None:
    turns: list[tuple[bool, bool]] = []

    class Watched(SpotView):
        """A view with two flops, which looks whether others could ask meanwhile."""

        def flop_hands(self, line: str) -> Iterator[BoardHandsPart]:
            assert line == "x"
            for done in (1, 2):
                turns.append((locked._lock.locked(), locked._flops_lock.locked()))
                yield BoardHandsPart(done=done, boards=2, report=None)

    locked = LockedView(Watched(load_spot(folder("turn")), {}))
    parts = locked.flop_hands("x")
    assert next(parts).done == 1
    assert not locked._flops_lock.locked()
    assert locked.place("x").line == "x"
    assert next(parts).done == 2
    assert turns == [(False, True), (False, True)]


def test_between_two_boards_nothing_is_locked() -> None:
    locked = LockedView(SpotView(load_spot(folder("flop")), {}))
    parts = locked.cards("x x")
    first = next(parts)
    assert not locked._lock.locked()
    assert locked.place(first.rows[0].line).line == first.rows[0].line
    assert next(parts).rows[0].card != first.rows[0].card
