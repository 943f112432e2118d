"""The HTML of a notebook: complete, every hand once, nothing that could run."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from builders.small_spots import RIVER, TURN, spot

from allstreets.cards import HAND_NAMES
from allstreets.solutions import SpotSolution, solve
from allstreets.solutions.format import action_colours
from allstreets.solvers import SpotSolver


class Reader(HTMLParser):
    """Collects cells, and checks that every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.titles: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ("div", "b", "table", "tr", "td", "span")
        self.open.append(tag)
        self.titles += [value or "" for name, value in attrs if name == "title"]
        assert {name for name, _ in attrs} <= {"style", "title"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


@pytest.fixture(scope="module")
def result() -> SpotSolution:
    return solve(spot(RIVER), 0.01)


def test_every_hand_has_its_cell(result: SpotSolution) -> None:
    read = Reader(result.at("x b50%").decision._repr_html_())
    assert sorted(read.cells) == sorted(HAND_NAMES)
    assert len(read.titles) == len(set(spot(RIVER).ranges[0].hand_weights.nonzero()[0]))
    assert any(title.startswith("AA; fold: ") and "EV" in title for title in read.titles)


def test_the_result_tells_its_worth(result: SpotSolution) -> None:
    text = result._repr_html_()
    Reader(text)
    assert f"EV OOP {result.evs[0]:.2f}" in text
    assert "exploitable for" in text


def test_text_from_outside_is_escaped(result: SpotSolution) -> None:
    node = replace(result.at("").decision, line="<script>alert(1)</script>")
    assert "<script" not in node._repr_html_()


def test_a_hand_that_meets_nothing() -> None:
    alone = solve(spot(TURN, oop_range="AsKc", ip_range="AsAh,QQ"), max_iterations=3)
    text = alone.at("x").decision._repr_html_()
    Reader(text)
    assert "nan" not in text.lower()


def test_no_decision_left() -> None:
    solver = SpotSolver(spot(TURN, stack=0))
    text = SpotSolution(solver.spot, solver.view, solver)._repr_html_()
    Reader(text)
    assert "there is no decision" in text


def test_colours() -> None:
    fold, call, small, large = action_colours(["f", "c", "r100", "a"])
    assert len({fold, call, small, large}) == 4
    assert action_colours(["x"]) == (call,)
    assert action_colours(["x", "a"])[1] == large
