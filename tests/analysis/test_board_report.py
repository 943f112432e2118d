"""Reports over boards: the figures of the node views, added up slowly by hand."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from builders import whole_solution
from reference.categories import slow_categories

from allstreets.analysis import BoardReport, report_of
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import (
    COMBO_CARDS,
    HAND_NAMES,
    HAND_OF_COMBO,
    cards_text,
    live_combos,
    texture,
)
from allstreets.cards.hands import disjoint_combos
from allstreets.solutions import Decision, OnBoard, WholeSolution

Weighted = list[tuple[float, Decision]]


def line_of(result: WholeSolution) -> str:
    """A decision that is reached: after a check, or the first one on the flop."""
    first = result.flop_lines()[0]
    return first if result.cards.plays_combos else f"{first} | x"


def views(result: WholeSolution, line: str) -> Weighted:
    """The decision on every flop as a reader looks it up, by hand class."""
    flops = result.game.flops
    return [
        (weight, result.at(line, flop.text).decision)
        for flop, weight in zip(flops.flops, flops.weights.tolist(), strict=True)
    ]


def mean(pairs: Iterable[tuple[float, float]]) -> float:
    """Of (mass, value), where there is one."""
    known = [(mass, value) for mass, value in pairs if not math.isnan(value) and mass > 0]
    total = sum(mass for mass, _ in known)
    return sum(mass * value for mass, value in known) / total if total else math.nan


def twin(nodes: Weighted, every: float) -> dict[str, Any]:
    """The figures of a row over some boards."""
    mass = [weight * sum(node.own.weights.tolist()) for weight, node in nodes]
    taken = [node.taken.tolist() for _, node in nodes]
    row: dict[str, Any] = {
        "share": sum(mass) / every,
        "frequencies": [mean(zip(mass, each, strict=True)) for each in zip(*taken, strict=True)],
    }
    for player in Player:
        evs = [node.ev(player) for _, node in nodes]
        equities = [node.mean(node.equity(player), player) for _, node in nodes]
        ev, equity = mean(zip(mass, evs, strict=True)), mean(zip(mass, equities, strict=True))
        row[f"ev {player}"], row[f"equity {player}"] = ev, equity
        row[f"eqr {player}"] = ev / (equity * nodes[0][1].pot)
    return row


def check(row: Any, expected: dict[str, Any]) -> None:
    close: Callable[[Any], Any] = lambda value: pytest.approx(value, rel=1e-6, nan_ok=True)  # noqa: E731
    assert row.share == close(expected["share"])
    assert list(row.frequencies) == close(expected["frequencies"])
    assert sum(row.frequencies) == pytest.approx(1)
    for player in Player:
        assert row.evs[player] == close(expected[f"ev {player}"])
        assert row.equities[player] == close(expected[f"equity {player}"])
        assert row.eqrs[player] == close(expected[f"eqr {player}"])


@pytest.fixture(params=["classes", "combos"])
def solution(request: pytest.FixtureRequest) -> WholeSolution:
    return whole_solution.result() if request.param == "classes" else whole_solution.combo_result()


def test_boards_and_textures(solution: WholeSolution) -> None:
    line = line_of(solution)
    report, nodes = report_of(solution.boards(line).decisions, line), views(solution, line)
    every = sum(weight * float(node.own.weights.sum()) for weight, node in nodes)
    for row, one in zip(report.by("board"), nodes, strict=True):
        check(row, twin([one], every))
        assert (row.name, row.line) == (cards_text(one[1].board), one[1].line)
    check(report.total, twin(nodes, every))
    groups: dict[str, Weighted] = defaultdict(list)
    for one in nodes:
        groups[texture(one[1].board).suits].append(one)
    rows = {row.name: row for row in report.by("suits")}
    assert set(rows) == set(groups)
    for name, group in groups.items():
        check(rows[name], twin(group, every))
    for key in ("pairing", "high", "connected", "texture"):
        rows = {row.name: row for row in report.by(key)}
        assert sum(row.share for row in rows.values()) == pytest.approx(1)
        assert sum(row.boards for row in rows.values()) == len(nodes)


def combo_sums(nodes: Iterable[OnBoard], name_of: Callable[[Decision, int], str]) -> dict[str, Any]:
    """Combo by combo against every combo of the other: mass, what is done, EV and equity."""
    fits = disjoint_combos()
    found: dict[str, list[Any]] = defaultdict(list)
    for on in nodes:
        node, live = on.node, live_combos(on.node.board)
        reaches = []
        for hands in node.hands:
            reach = np.zeros(1326)
            if hands.combos is None:
                reach[live] = hands.reach[HAND_OF_COMBO[live]]
            else:
                reach[hands.combos] = hands.reach
            reaches.append(reach)
        own, other = reaches[node.player], reaches[node.player.opponent]
        for combo in np.flatnonzero(own).tolist():
            mass = on.weight * own[combo] * float(other[fits[combo]].sum())
            place = int(HAND_OF_COMBO[combo])
            if node.by_combo:
                place = int(np.flatnonzero(node.combos == combo)[0])
            facts = mass, node.strategy[:, place], node.evs()[place], node.equity()[place]
            found[name_of(node, combo)].append(facts)
    return found


@pytest.mark.parametrize("key", ["category", "draw", "hand"])
def test_hands(solution: WholeSolution, key: str) -> None:
    line = line_of(solution)
    report = report_of(solution.boards(line).decisions, line)

    def name_of(node: Decision, combo: int) -> str:
        if key == "hand":
            return str(HAND_NAMES[HAND_OF_COMBO[combo]])
        names = slow_categories(node.board, tuple(COMBO_CARDS[combo].tolist()))
        assert names is not None
        return names[0 if key == "category" else 1]

    expected = combo_sums(solution.boards(line).decisions, name_of)
    rows, every = report.by(key), sum(fact[0] for facts in expected.values() for fact in facts)
    assert {row.name for row in rows} == set(expected)
    for row in rows:
        facts = expected[row.name]
        mass = [fact[0] for fact in facts]
        assert row.share == pytest.approx(sum(mass) / every)
        for action, chance in enumerate(row.frequencies):
            taken = [fact[1][action] for fact in facts]
            assert chance == pytest.approx(mean(zip(mass, taken, strict=True)))
        assert sum(row.frequencies) == pytest.approx(1)
        for value, place in ((row.evs, 2), (row.equities, 3)):
            wanted = mean((fact[0], fact[place]) for fact in facts)
            assert value[report.player] == pytest.approx(wanted, nan_ok=True, abs=1e-9)
            assert math.isnan(value[report.player.opponent])
    # All hands together are the range.
    total = mean((row.share, row.evs[report.player]) for row in rows)
    assert total == pytest.approx(report.total.evs[report.player], rel=1e-6)


def test_order_and_cells(solution: WholeSolution) -> None:
    line = line_of(solution)
    report: BoardReport = report_of(solution.boards(line).decisions, line)
    rows = report.sorted(report.by("category"), "ev")
    evs = [row.evs[report.player] for row in rows]
    assert evs == sorted(evs, reverse=True)
    names = [row.name for row in report.sorted(rows, "name")]
    assert names == sorted(names)
    table = report.table()
    assert list(table[0])[:7] == [
        "board", "suits", "pairing", "high", "connected", "texture", "boards",
    ]  # fmt: skip
    assert table[0][report.actions[0]] == report.boards[0].frequencies[0]
    with pytest.raises(InputError, match="there is no report by 'suit'"):
        report.by("suit")
    with pytest.raises(InputError, match="there is no column 'evs'"):
        report.sorted(rows, "evs")


def test_what_is_no_decision_on_all_boards() -> None:
    result = whole_solution.result()
    with pytest.raises(InputError, match="no board to report on"):
        report_of([], "")
    one, other = (next(result.boards(f"{result.flop_lines()[k]} | x").decisions) for k in (0, 1))
    with pytest.raises(InputError, match="the decision differs between boards"):
        report_of([one, other], "")
