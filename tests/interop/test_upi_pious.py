"""Pious, a client of PioSOLVER that others wrote, drives this solver."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pious.pio import equity
from pious.pio.aggregate import AggregationConfig, SpotData, aggregate_lines_for_solver
from pious.pio.blockers import compute_single_card_blocker_effects
from pious.pio.line import FLOP, TURN, Line
from pious.pio.rebuild_utils import rebuild_and_resolve
from pious.pio.solver import Solver

from allstreets import load
from allstreets.betting import NodeKind, Player
from allstreets.solutions import SpotSolution

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="starts the command by a script")


@pytest.fixture(scope="module")
def solver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Solver]:
    """A client with the process that it talks to."""
    folder = tmp_path_factory.mktemp("pious")
    program = "from allstreets.cli.main import run; run()"
    command = folder / "solver.exe"  # Pious adds the ending
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{program}' upi\n")
    command.chmod(0o755)
    client = Solver(str(folder), "solver")
    yield client
    answered, faults = client.process.communicate("exit\n")
    assert (answered, faults) == ("exit ok!\nEND\n", "")


def build(solver: Solver) -> None:
    solver.set_board("QsJh2h8c")
    solver.set_range("OOP", "AA,QQ,98s,KQs:0.5")
    solver.set_range("IP", "KK,JJ,AQs")
    solver.set_pot(0, 0, 60)
    solver.set_eff_stack(100)
    solver.clear_lines()
    for line in ("30 100 100", "0 30 100 100", "30 30 100 100", "0 0 50 100 100"):
        solver.add_line(line.split())
    assert solver.build_tree() == "build_tree ok!"
    solver.set_accuracy(0.3)


def test_its_equity_calculator(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of its own tests."""
    monkeypatch.setattr(equity, "make_solver", lambda: solver)
    calculator = equity.EquityCalculator("Kh9d8d", "AKo, 32o", "T9s, T8s")
    assert calculator.compute_equities() == pytest.approx((0.347, 0.652), abs=1e-3)
    calculator.set_board("3h3d3c")
    assert calculator.compute_equities() == pytest.approx((0.795, 0.205), abs=1e-3)
    calculator = equity.EquityCalculator("3h3d3c", "JJ, TT", "AA, KK, QQ")
    assert calculator.compute_equities() == pytest.approx((0.088, 0.912), abs=1e-3)
    assert calculator.compute_equities(preflop=True) == pytest.approx((0.186, 0.813), abs=1e-3)
    assert calculator.matchups() == 12 * 18


def test_it_solves_saves_and_reads(solver: Solver, tmp_path: Path) -> None:
    build(solver)
    assert "SOLVER: stopped (required accuracy reached)" in solver.go(quiet=True)
    assert solver.show_children_actions("r:0:b30") == ["b100", "c", "f"]
    node = solver.show_node("r:0:b30")
    assert (node.get_position(), node.pot, node.num_children) == ("IP", (30, 0, 60), 3)
    assert solver.show_effective_stack() == 100
    assert solver.show_tree_info()["Pot"] == 60
    folder = tmp_path / "a turn"
    solver.dump_tree(f'"{folder}"', "full")
    solution = load(folder, SpotSolution)
    solver.load_tree(str(folder))
    play = solution.at("x").decision
    combos = play.own.combos
    assert combos is not None
    strategy = np.array(solver.show_strategy("r:0:c"))[:, combos]
    assert strategy == pytest.approx(play.strategy[::-1], abs=1e-6)
    reach = np.array(solver.show_range("IP", "r:0:c").range_array)[combos]
    assert reach == pytest.approx(play.reach, abs=1e-6)
    evs, matchups = solver.calc_ev("IP", "r:0:c")
    assert evs[combos] == pytest.approx(play.whole_hand().evs(), abs=1e-4, nan_ok=True)
    live = matchups > 0
    assert np.average(evs[live], weights=matchups[live]) == pytest.approx(play.ev(Player.IP))
    actions = np.array(
        [solver.calc_ev("IP", child.node_id)[0] for child in solver.show_children("r:0:c")]
    )
    strategy = np.array(solver.show_strategy("r:0:c"))
    assert (strategy * actions)[:, live].sum(axis=0) == pytest.approx(evs[live], abs=1e-3)
    lines = [Line(line, starting_street=2) for line in solver.show_all_lines()[1:]]
    tree = solution.spot.tree  # where a card is dealt, it has two nodes and the protocol one
    assert len(lines) == tree.node_count - 1 - np.sum(tree.kind == NodeKind.CHANCE)


def test_it_locks_nodes(solver: Solver) -> None:
    build(solver)
    solver.go(quiet=True)
    before = solver.calc_results()
    rows = [0.0] * 1326 + [1.0] * 1326  # always check
    solver.set_strategy("r:0", rows)
    solver.lock_node("r:0")
    solver.go(quiet=True)
    evs, _ = solver.calc_ev("OOP", "r:0")
    checked, _ = solver.calc_ev("OOP", "r:0:c")
    assert evs == pytest.approx(checked, abs=1e-4, nan_ok=True)
    solver.unlock_node("r:0")
    solver.go(quiet=True)
    assert solver.calc_results().splitlines()[1:] == before.splitlines()[1:]


def test_its_report_of_a_spot(solver: Solver) -> None:
    """Its aggregation: a row for each card, with EVs, equities and frequencies."""
    build(solver)
    solver.go(quiet=True)
    spot = SpotData(solver, "r:0:c")
    assert spot.available_actions() == ["b30", "c"]
    results = dict(line.split(": ") for line in solver.calc_results().splitlines())
    root = SpotData(solver, "r:0")
    for player, name in enumerate(("OOP", "IP")):
        assert root.ev(player) == pytest.approx(float(results[f"EV {name}"]), abs=1e-3)
        assert np.nansum(root.hand_eqs(player) * root.matchups(player)) == pytest.approx(
            root.eq(player) * root.total_matchups(player)
        )
    line = Line("r:0:c:c:c", starting_street=TURN)  # the decision of IP on every river
    settings = AggregationConfig(global_freq=True, evs=True, action_freqs=True)
    table = aggregate_lines_for_solver(solver, [line], settings)[line]
    assert len(table) == 48
    children = [child.node_id for child in solver.show_children("r:0:c:c")]
    expected = [solver.calc_global_freq(f"{node}:c") for node in children]
    assert sorted(table["Global Freq"]) == pytest.approx(sorted(expected))
    assert table.iloc[:, -1].tolist() == pytest.approx([100.0] * 48)  # there is only a check


def test_it_rebuilds_rivers_that_were_not_saved(solver: Solver, tmp_path: Path) -> None:
    build(solver)
    solver.go(quiet=True)
    before = solver.calc_ev("OOP", "r:0")[0]
    solver.dump_tree(f'"{tmp_path / "a turn"}"', "no_rivers")
    solver.load_tree(str(tmp_path / "a turn"))
    # To Pious the first street is a flop: its decisions are locked, and the rest is solved again.
    assert FLOP == 1
    rebuild_and_resolve(solver, lock_turns=False, accuracy=0.005)
    assert solver.calc_ev("OOP", "r:0")[0] == pytest.approx(before, abs=2, nan_ok=True)


def test_its_blockers(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equity, "make_solver", lambda: solver)
    build(solver)
    effects = compute_single_card_blocker_effects(solver, "r:0:c")
    # To hold a king leaves OOP fewer KQs; no hand of his has a three.
    assert {hand for hand, _ in effects.blocked_combos["Kh"]} == {"KhQh"}
    assert effects.equity_deltas["3c"] == pytest.approx(0)
