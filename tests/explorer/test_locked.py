"""Views for many threads: one at a time, in the order of asking."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from builders.explorer_solutions import folder, view_of

from allstreets.explorer.models.place import BoardHandsPart, FlopReport
from allstreets.explorer.views.reports import joined
from allstreets.explorer.views.view import SolutionView
from allstreets.solutions import Decision, Position, SpotSolution
from allstreets.storage import load_spot


def watched(name: str) -> tuple[SpotSolution, SolutionView]:
    """A spot from its file, and a view of it."""
    solution = load_spot(folder(name))
    return solution, view_of(solution)


def test_one_request_at_a_time() -> None:
    solution, view = watched("turn")
    free: list[bool] = []
    find = solution.decision

    def decision(position: Position) -> Decision:
        free.append(not view._turns.locked())  # whether others could ask as well
        return find(position)

    solution.decision = decision  # type: ignore[method-assign]
    plain = view_of(load_spot(folder("turn")))
    assert view.place("x") == plain.place("x")
    assert view.hand("x", "ip", "AKs") == plain.hand("x", "ip", "AKs")
    assert free
    assert not any(free)
    assert not view._turns.locked()


class Noticed(deque[Event]):
    """The waiting threads; signals when there is one."""

    def __init__(self) -> None:
        super().__init__()
        self.somebody = Event()

    def append(self, turn: Event) -> None:
        super().append(turn)
        self.somebody.set()


def test_a_reader_is_served_while_a_report_over_cards_is_made() -> None:
    solution, view = watched("flop")
    begun, go_on = Event(), Event()
    looked: list[tuple[int, ...]] = []  # the cards of each node that was looked at
    find = solution.decision

    def slow(position: Position) -> Decision:
        if position.cards:
            begun.set()
            assert go_on.wait()
        looked.append(position.cards)
        return find(position)

    solution.decision = slow  # type: ignore[method-assign]
    waiting = view._turns._waiting = Noticed()
    with ThreadPoolExecutor(2) as pool:
        report = pool.submit(lambda: joined(view.cards("x x")))
        assert begun.wait()
        place = pool.submit(view.place, "x")
        assert waiting.somebody.wait()
        go_on.set()
        assert place.result().line == "x"
        found = report.result()
    before = {cards for cards in looked[: looked.index(())] if cards}
    assert len(before) == 1  # after the board that was begun, before all others
    assert len({cards for cards in looked if cards}) > 2
    assert found == joined(view_of(load_spot(folder("flop"))).cards("x x"))


def test_a_report_over_flops_by_hands_leaves_the_lock_of_readers_alone() -> None:
    turns: list[tuple[bool, bool]] = []

    class TwoFlops:
        """Tables of two flops, which look whether others could ask meanwhile."""

        def table(self, line: str) -> FlopReport:
            raise NotImplementedError

        def hands(self, line: str, *, over_hand: bool) -> Iterator[BoardHandsPart]:
            assert (line, over_hand) == ("x", False)
            for done in (1, 2):
                turns.append((view._turns.locked(), view._table_turns.locked()))
                yield BoardHandsPart(done=done, boards=2, report=None)

    _, view = watched("turn")
    view._tables = TwoFlops()
    parts = view.flop_hands("x")
    assert next(parts).done == 1
    assert not view._table_turns.locked()
    assert view.place("x").line == "x"
    assert next(parts).done == 2
    assert turns == [(False, True), (False, True)]


def test_between_two_boards_nothing_is_locked() -> None:
    _, view = watched("flop")
    parts = view.cards("x x")
    first = next(parts)
    assert not view._turns.locked()
    assert view.place(first.rows[0].line).line == first.rows[0].line
    assert next(parts).rows[0].card != first.rows[0].card
