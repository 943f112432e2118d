"""Charts as data."""

import json
from dataclasses import replace

import numpy as np
import pytest
from builders.whole_solution import FLOP, forgotten, result

from allstreets.cards import HAND_NAMES
from allstreets.solutions.chart import chart_mapping, chart_rows, node_chart, preflop_chart
from allstreets.solutions.whole_game import WholeSolution


def test_a_chart_is_its_decision() -> None:
    chart, node = preflop_chart(result(), "r2.5"), result().at("r2.5").decision
    assert chart.title == "BB after r2.5"
    assert chart.subtitle == (
        "20 bb stacks, pot 3.5 bb, 1.5 bb to call, exploitability 110 mbb/hand"
    )
    assert (chart.actions, chart.labels) == (node.actions, node.labels)
    assert np.array_equal(chart.strategy, node.strategy)
    assert np.array_equal(chart.frequencies, node.taken)
    assert preflop_chart(result()).title == "SB, first to act"


def test_rows_and_json() -> None:
    chart = preflop_chart(result())
    rows = chart_rows(chart)
    assert [row["hand"] for row in rows] == list(HAND_NAMES)
    places = {row["hand"]: (row["row"], row["column"]) for row in rows}
    assert places["AA"] == (0, 0)
    assert places["AKs"] == (0, 1)
    assert places["AKo"] == (1, 0)
    for row in rows:
        assert sum(row[action] for action in chart.actions) == pytest.approx(1)
    data = json.loads(json.dumps(chart_mapping(chart), allow_nan=False))
    assert data["hands"][0]["ev_bb"] == rows[0]["ev_bb"]
    assert sum(action["frequency"] for action in data["actions"]) == pytest.approx(1)


def test_after_the_flop_and_without_evs() -> None:
    chart = preflop_chart(result(), "c x | x", FLOP)
    assert chart.title == f"SB after c x | {FLOP} | x"
    chart = preflop_chart(WholeSolution.of(forgotten()), "")
    assert chart.subtitle.endswith("exploitability not known")
    assert chart_mapping(chart)["hands"][0]["ev_bb"] is None


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
