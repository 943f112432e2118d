"""Decisions by hand class on a terminal."""

import io
from dataclasses import replace
from typing import Any

import pytest
from builders.whole_solution import FLOP, classes, forgotten, result, save_classes
from rich.console import Console

from allstreets.cli.terminal.decisions import print_head, print_mix, print_opening
from allstreets.solutions import Decision, WholeSolution
from allstreets.storage import load_unified


def printed(draw: Any, what: Any) -> str:
    out = io.StringIO()
    draw(Console(file=out, width=200, highlight=False), what)
    return out.getvalue()


def print_node(out: Console, node: Decision) -> None:
    print_head(out, node)
    print_mix(out, node)


def test_opening_from_a_solver_and_from_a_bundle(tmp_path: Any) -> None:
    text = printed(print_opening, WholeSolution.of(classes()))
    assert text == printed(print_opening, result())
    assert text == printed(print_opening, load_unified(save_classes(tmp_path / "game")))
    lines = text.splitlines()
    assert "SB, first to act:" in lines
    assert any(line.startswith("BB after a (") for line in lines)
    grids = [line for line in lines if line[:2] in {f"{rank} " for rank in "AKQJT98765432"}]
    assert len(grids) == 26
    for label in ("fold", "limp", "raise to 2.5 bb", "all-in 20 bb", "call"):
        assert any(label in line and "%" in line for line in lines)
    assert lines.count("EVs in bb from here on: folding is 0.") == 2


def test_opening_without_evs() -> None:
    text = printed(print_opening, WholeSolution.of(forgotten()))
    assert "EVs in bb" not in text
    taken = [line for line in text.splitlines() if line.startswith(" ") and " %" in line]
    assert taken
    assert all(line.endswith("–") for line in taken)


@pytest.mark.parametrize(
    ("node", "head"),
    [
        (
            lambda: result().at("").decision,
            ["first decision", "preflop   SB to act   pot 1.5 bb, 0.5 bb to call, 19.5 bb and "
             "19 bb behind", "reached in 100.0 % of all hands"],
        ),
        (
            lambda: result().at("c x | x", FLOP).decision,
            [f"c x | {FLOP} | x", "flop   SB to act   pot 2 bb, 19 bb behind"],
        ),
    ],
)  # fmt: skip
def test_head_of_a_decision(node: Any, head: list[str]) -> None:
    found: Decision = node()
    lines = printed(print_node, found).splitlines()
    assert lines[: len(head)] == head
    share = f"{100 * float(found.taken[0]):.1f} %"
    assert any(share in line and found.labels[0] in line for line in lines)
    ev = f"{found.ev():.2f}"
    assert any(line.startswith("SB ") and line.endswith(f" {ev}") for line in lines)
    whole = found.whole_hand()
    lines, ev = printed(print_node, whole).splitlines(), f"{whole.ev():+.2f}"
    assert any(line.startswith("SB ") and line.endswith(f" {ev}") for line in lines)
    assert "EVs in bb over the whole hand: chips already put in count as lost." in lines


def test_rare_decisions_are_marked() -> None:
    node = result().at("r2.5 r6.25").decision
    assert " · " in printed(print_node, node)  # hands that the small blind does not raise
    oop, ip = (
        replace(hands, reach=hands.reach / 1000, weights=hands.weights / 1e6)
        for hands in node.hands
    )
    never = replace(node, hands=(oop, ip))
    text = printed(print_node, never)
    assert ": hardly ever" in text
    assert " · " not in text  # all hands are drawn
