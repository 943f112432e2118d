"""Charts as data."""

from dataclasses import replace

import numpy as np
from builders.whole_solution import FLOP, forgotten, result

from allstreets.solutions.chart import Chart, node_chart
from allstreets.solutions.whole_game import WholeSolution


def chart_of(solution: WholeSolution, line: str = "", flop: str | None = None) -> Chart:
    """The chart of the decision that a line leads to."""
    return node_chart(solution, solution.at(line, flop).decision)


def test_a_chart_is_its_decision() -> None:
    chart, node = chart_of(result(), "r2.5"), result().at("r2.5").decision
    assert chart.title == "BB after r2.5"
    assert chart.subtitle == (
        "20 bb stacks, pot 3.5 bb, 1.5 bb to call, exploitability 110 mbb/hand"
    )
    assert (chart.actions, chart.labels) == (node.actions, node.labels)
    assert np.array_equal(chart.strategy, node.strategy)
    assert np.array_equal(chart.frequencies, node.taken)
    assert chart_of(result()).title == "SB, first to act"


def test_after_the_flop_and_without_evs() -> None:
    chart = chart_of(result(), "c x | x", FLOP)
    assert chart.title == f"SB after c x | {FLOP} | x"
    chart = chart_of(WholeSolution.of(forgotten()))
    assert chart.subtitle.endswith("exploitability not known")


def test_what_nobody_plays_is_drawn_in_full() -> None:
    """A decision without a range has strategies to look at all the same."""
    found = result()
    often = found.at("r2.5").decision
    oop, ip = (
        replace(hands, reach=hands.reach / 1000, weights=hands.weights / 1e6)
        for hands in often.hands
    )
    never = replace(often, hands=(oop, ip))
    assert not often.is_rare
    assert never.is_rare
    chart = node_chart(found, never)
    assert chart.title == "BB after r2.5 (hardly ever reached)"
    assert (chart.reach == 1).all()
    assert np.isfinite(never.shown_strategy()).all()
    raised = found.at("r2.5 r6.25").decision
    assert np.isnan(raised.shown_strategy()).any()  # hands that the small blind does not raise
    assert np.array_equal(raised.shown_reach, raised.reach)
