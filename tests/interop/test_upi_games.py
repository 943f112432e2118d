"""Whole games by PioSOLVER's protocol: built of lines, solved, stored and read again."""

from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from builders.solutions import folder, solution
from builders.upi_client import Client, consistent, walk
from hypothesis import given
from hypothesis import strategies as st

from allstreets import load
from allstreets.betting import Player, PreflopRules, build_preflop_tree, tree_lines
from allstreets.cards import COMBO_COUNT, HAND_OF_COMBO
from allstreets.engines import CardModel
from allstreets.interop.pio_script import bets_of
from allstreets.interop.upi.games import listed_lines
from allstreets.solutions import WholeSolution

FLOP = "7s7h7d"
SMALL = CardModel("boards", groups=16, rows=16)
BETTING = """
set_pot 100 50 0
set_eff_stack 500
add_preflop_line 100 500
add_preflop_line 250 500
add_preflop_line 500
"""
GAME = f"""{BETTING}
build_preflop_tree
add_line 250
add_line 0 250
add_schematic_tree r:0:b250:c
add_to_subset 2 7s 7h 7d
"""


@pytest.fixture(scope="module")
def solved() -> Client:
    client = Client(SMALL)
    client.tell(GAME)
    client.tell("set_accuracy 0 chips\ngo 12 steps\nwait_for_solver")
    return client


def test_the_tree_before_it_is_solved() -> None:
    client = Client()
    client.tell(BETTING)
    client.tell("build_preflop_tree")
    assert client.children("r:0") == ["r:0:b500", "r:0:b250", "r:0:c", "r:0:f"]
    assert client.children("r:0:c") == ["r:0:c:b500", "r:0:c:c"]
    assert client.children("r:0:b250:b500") == ["r:0:b250:b500:c", "r:0:b250:b500:f"]
    assert client.ask("show_node r:0:b250") == [
        *("r:0:b250", "OOP_DEC", "", "100 250 0 ", "3 children", "flags: PIO_CFR ", ""),
    ]
    assert client.ask("show_node r:0:b250:c")[1] == "SPLIT_NODE"
    assert client.ask("show_effective_stack") == ["500"]
    assert client.numbers("show_strategy r:0") == pytest.approx(np.full((4, COMBO_COUNT), 0.25))
    assert "add_to_subset" in client.ask("go")[0]
    client.tell("add_to_subset 1 7s 7h 7d")
    assert client.ask("estimate_tree")[0].startswith("estimated memory: ")


def test_the_game_is_that_of_its_lines(solved: Client) -> None:
    tree = solved.session.state.game()
    game = tree.trainable(None).game
    rules = PreflopRules.parse(5, lines=["f", "c x", "c a f", "c a c", "r2.5 f", "r2.5 c"])
    listed = set(rules.lines) | {"r2.5 a f", "r2.5 a c", "a f", "a c"}
    assert set(tree_lines(game.tree)) == listed
    assert [flop.text for flop in game.flops.flops] == [FLOP]
    kinds = {pot.kind: game.after_the_flop(pot).tree for pot in game.flop_pots}
    assert bets_of(kinds["limped"]) == set()
    assert bets_of(kinds["raised"]) == {(Fraction(250),), (Fraction(0), Fraction(250))}


def test_its_numbers(solved: Client) -> None:
    """Where a decision follows, EV(node) = Σ frequency · EV(action), and nothing is lost."""
    assert solved.children("r:0:b250:c") == [f"r:0:b250:c:{FLOP}"]
    assert solved.children(f"r:0:b250:c:{FLOP}:b500") == [
        f"r:0:b250:c:{FLOP}:b500:{word}" for word in "cf"
    ]
    nodes = list(walk(solved, "r:0"))
    early = [node for node in nodes if FLOP not in node]
    for node in [*early, *[node for node in nodes if FLOP in node][::11]]:
        cards = [word for word in node.split(":") if len(word) == 2 and word[0] != "b"]
        if FLOP not in node or cards:  # EVs on the flop count buckets, those after it real cards
            consistent(solved, node, chips=500)
        worth = 0.0
        for player in Player:
            evs, met = solved.numbers(f"calc_ev {player.name} {node}")
            worth += float(np.average(evs[met > 0], weights=met[met > 0]))
        assert worth == pytest.approx(0, abs=0.02)  # there is no rake
        often = [float(solved.ask(f"calc_global_freq {n}")[0]) for n in solved.children(node)]
        total = float(solved.ask(f"calc_global_freq {node}")[0])
        assert sum(often) == pytest.approx(total, rel=1e-5, abs=1e-9)


def test_how_often_cards_come(solved: Client) -> None:
    for node in ("r:0:c:c", f"r:0:c:c:{FLOP}:c:c", f"r:0:c:c:{FLOP}:c:c:2c:c:c"):
        assert solved.ask(f"show_node {node}")[1] == "SPLIT_NODE"
        often = [float(solved.ask(f"calc_global_freq {n}")[0]) for n in solved.children(node)]
        assert sum(often) == pytest.approx(float(solved.ask(f"calc_global_freq {node}")[0]))


def test_its_results(solved: Client) -> None:
    solver = solved.session.state.game().trainable(None)
    figures = solver.figures()
    assert figures.values is not None
    oop, ip, best_oop, best_ip, gain = (
        float(line.split(": ")[1]) for line in solved.ask("calc_results")[1:]
    )
    assert (oop, ip) == pytest.approx([value / 10 for value in figures.values], abs=1e-3)
    assert gain == pytest.approx((best_oop + best_ip - oop - ip) / 2, abs=1e-3)
    assert gain == pytest.approx(solver.exploitability() / 10, rel=1e-3)  # type: ignore[operator]


def test_it_is_stored_and_read(solved: Client, tmp_path: Path) -> None:
    path = tmp_path / "a game"
    solved.tell(f'dump_tree "{path}"')
    known = load(path, WholeSolution)
    other = Client()
    other.tell(f'load_tree "{path}"')
    for command in ("show_all_lines", "node_count", "show_effective_stack", "show_tree_info"):
        assert other.ask(command) == solved.ask(command), command
    for command in (
        *("show_strategy r:0", "calc_ev OOP r:0:b250", f"show_range IP r:0:b250:c:{FLOP}:b500"),
        f"show_strategy r:0:c:c:{FLOP}:c:c:2c",
    ):
        numbers = solved.numbers(command)
        assert other.numbers(command) == pytest.approx(numbers, abs=1e-3, nan_ok=True), command
    play = known.at().decision
    expected = play.strategy[::-1][:, HAND_OF_COMBO]
    assert other.numbers("show_strategy r:0") == pytest.approx(expected, abs=1e-6)
    assert other.ask("calc_results")[1:3] == solved.ask("calc_results")[1:3]
    assert other.ask(f'show_metadata "{path}"')[1] == "ROOT"
    other.tell("recover_subset")
    assert other.ask("show_subsets") == ["2 7s 7h 7d", "1 total"]
    assert "train --resume" in other.ask("go")[0]
    assert "allstreets lock" in other.ask("lock_node r:0")[0]


def test_other_lines_make_another_game() -> None:
    client = Client(CardModel())
    client.tell(GAME)
    client.tell("set_accuracy 0\ngo 2 steps\nwait_for_solver")
    tree = client.session.state.game()
    first = tree.trainable(None)
    assert tree.trainable(None) is first
    client.tell("add_to_subset 1 2s 2h 2d")
    assert [flop.text for flop in tree.trainable(None).game.flops.flops] == [FLOP, "2s2h2d"]
    client.tell("go 2 steps\nstop\nwait_for_solver")
    assert len(client.children("r:0:b250:c")) == 2


def test_what_lies_in_the_pot_is_lost_by_nobody() -> None:
    """Blinds of 10 and 5 and 4 chips of others, all-in or fold."""
    client = Client()
    client.tell("set_pot 10 5 4\nset_eff_stack 100\nadd_preflop_line 100\nbuild_preflop_tree")
    client.tell("set_accuracy 0.01 fraction")
    assert client.solve() == "SOLVER: stopped (required accuracy reached)"
    assert client.ask("show_node r:0:b100:c")[3] == "100 100 4 "
    evs = client.numbers("calc_ev IP r:0:f")[0]
    assert evs == pytest.approx(np.full(COMBO_COUNT, -5.0))
    assert client.numbers("calc_ev OOP r:0:f")[0] == pytest.approx(np.full(COMBO_COUNT, 9.0))
    for node in ("r:0", "r:0:b100"):
        consistent(client, node)
    results = [float(line.split(": ")[1]) for line in client.ask("calc_results")[1:]]
    assert results[0] + results[1] == pytest.approx(4, abs=1e-3)
    assert results[4] <= 0.01 * 19


def test_a_game_of_hand_classes() -> None:
    """Turn and river have no words there."""
    client = Client()
    client.tell(f'load_tree "{folder("classes")}"')
    game = solution("classes")
    assert isinstance(game, WholeSolution)
    nodes = islice(walk(client, "r:0:b250:c"), 0, 70, 9)
    for node in ["r:0", "r:0:c", "r:0:b250:c:Qs7h4d:c:c", *nodes]:
        consistent(client, node, chips=2000)
    assert game.values is not None
    value = float(client.ask("calc_results")[1].split()[-1])
    assert value == pytest.approx(game.values[0] / 10, abs=1e-4)
    assert client.children("r:0:b250:c:Qs7h4d:c:c")[-1] == "r:0:b250:c:Qs7h4d:c:c:c"


WRONG = [
    ("build_preflop_tree", "a tree needs blinds"),
    ("set_pot 50 100 0\nbuild_preflop_tree", "a tree needs blinds"),
    ("set_pot 100 50 0\nbuild_preflop_tree", "a tree needs add_preflop_line"),
    (f"{BETTING}set_eff_stack 90\nbuild_preflop_tree", "a tree needs set_eff_stack"),
    (f"{BETTING}add_preflop_line 80\nbuild_preflop_tree", "80 lies outside 100 to 500"),
    (f"{BETTING}add_preflop_line 250 250 400\nbuild_preflop_tree", "400 stands behind the end"),
    (f"{BETTING}set_range OOP AA\nbuild_preflop_tree", "begins with every hand"),
    (f"{BETTING}add_line 30\nset_board QsJh2h\nbuild_tree", "bets before the root"),
    (f"{BETTING}build_preflop_tree\nadd_schematic_tree r:0:b250", "no flop is dealt"),
    ("add_schematic_tree r:0:c", "there is no whole game"),
    ("recover_subset", "there is no whole game"),
    ("add_to_subset 1 As Kh", "three cards"),
    ("add_to_subset 0 As Kh 7d", "never comes"),
    (
        f"{BETTING}build_preflop_tree\nadd_line 250\nadd_line 0 100\nadd_line 0 0 80\n"
        "add_schematic_tree r:0:b250:c",
        "do not follow from bet sizes",
    ),
]


@pytest.mark.parametrize(("script", "why"), WRONG)
def test_what_is_refused(script: str, why: str) -> None:
    client = Client()
    *before, last = script.strip().splitlines()
    client.tell("\n".join(before))
    (line,) = client.ask(last)
    assert line.startswith(f"ERROR: {last.split()[0]}: ")
    assert why in line


BIG, STACK = 100, 3000


@st.composite
def preflop_lines(draw: st.DrawFn) -> tuple[Fraction, ...]:
    """A limp, perhaps, and raises that rise."""
    raises = draw(st.sets(st.integers(BIG + 1, STACK), max_size=4).map(sorted))
    limp = [BIG] if draw(st.booleans()) or not raises else []
    return tuple(Fraction(amount) for amount in (*limp, *raises))


@given(st.lists(preflop_lines(), min_size=1, max_size=5))
def test_every_bet_of_a_line_is_in_the_tree_and_no_other(
    lines: list[tuple[Fraction, ...]],
) -> None:
    listed = listed_lines(lines, Fraction(BIG), Fraction(50), Fraction(STACK))
    tree = build_preflop_tree(PreflopRules.parse(STACK / BIG, lines=listed))
    bets = {
        line[:count] for line in lines for count in range(1, len(line) + 1) if line[count - 1] > BIG
    }
    assert bets_of(tree) == bets
    limps = any(line[0] == BIG for line in lines)
    assert any(line.split()[0] == "c" for line in listed) == limps
    assert set(tree_lines(tree)) == set(listed)
