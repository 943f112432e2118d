"""PioSOLVER trees as spot files."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.cards import Range
from allstreets.games import Spot
from allstreets.interop import read_pio_script
from allstreets.interop.pio_script import bets_of
from allstreets.jobs import read_spot

VIEWER = Path(__file__).parents[2] / "sample_spots" / "pio_tree.txt"
COMMANDS = """
set_threads 4
set_isomorphism 1 0
set_board {board}
set_eff_stack {stack}
set_pot 0 0 {pot}
set_range OOP AA,KK:0.5
set_range IP {ip}
clear_lines
{lines}
build_tree
"""


def script(lines: list[str], **given: Any) -> str:
    facts = {"board": "AsKdQh4c2s", "stack": 400, "pot": 100, "ip": "22+"} | given
    return COMMANDS.format(lines="\n".join(f"add_line {line}" for line in lines), **facts)


def test_what_the_viewer_saves(tmp_path: Path) -> None:
    tree = read_pio_script(VIEWER.read_text())
    assert tree.keys["bet_sizes"] == {
        "flop_oop": {"bet": ["25%", "3e"], "raise": ["33%", "3x"]},
        "flop_ip": {"bet": ["25%"], "raise": ["a"]},
        "turn_oop": {"bet": ["50%"], "raise": ["a"], "donk": []},
        "turn_ip": {"bet": ["50%"], "raise": ["a"]},
        "river_oop": {"bet": ["30%", "66%"], "raise": ["a"], "donk": ["30%"]},
        "river_ip": {"bet": ["30%", "66%"], "raise": ["a"]},
    }
    assert tree.keys["add_allin_threshold"] == 2.5
    assert tree.keys["merging_threshold"] == 0.12
    assert [setting.split()[0] for setting in tree.left_out] == ["AllinThreshold", "CapPerStreet"]
    assert tree.differs == ""
    file = tmp_path / "spot.yaml"
    file.write_text(tree.yaml)
    _, spot = read_spot(file, {})
    assert (spot.board, spot.pot, spot.stack) == ("AhKd9c", 550, 2100)
    assert spot.ranges[0] == Range.parse("AA:0.5,KK,AKs:0.25,T9s").on(spot.cards).normalised()


def test_commands_override_what_the_viewer_says() -> None:
    numbers = " ".join(["1"] * 1326)
    text = VIEWER.read_text() + f"set_pot 0 0 60\nset_range IP {numbers}\nset_rake 0.05 3\n"
    tree = read_pio_script(text + "set_accuracy 0.3\nadd_line 0 0\n")
    assert tree.keys["pot"] == 60
    assert Range.parse(tree.keys["ip_range"]) == Range.full()
    assert (tree.keys["rake"], tree.keys["rake_cap"]) == (0.05, 3)
    assert tree.keys["exploitability_threshold"] == "0.5%"
    assert tree.keys["bet_sizes"]["flop_ip"]["bet"] == ["25%"]


def test_lines_computed_by_hand() -> None:
    """River, pot 100: bets of 33 and 50; 116 = 33 + 50 % of 166, 150 = 50 + 50 % of 200."""
    tree = read_pio_script(script(["0 33 116 400", "0 33 400", "50 150 400", "50 400"]))
    assert tree.keys["bet_sizes"] == {
        "river_oop": {"bet": ["50%"], "raise": ["50%", "a"]},
        "river_ip": {"bet": ["33%"], "raise": ["50%", "a"]},
    }
    # 116 may be raised by half of the pot as well, to 282, and 150 to 350; both then to 400.
    assert tree.differs.endswith("has 4 bets more than the 8 of the lines and lacks 0 of them")


def lines_of(spot: Spot) -> list[str]:
    """Every bet of a tree as PioSOLVER has it."""
    return [" ".join(str(amount) for amount in bet) for bet in sorted(bets_of(spot.tree))]


SIZES = st.lists(
    st.sampled_from(["25%", "33%", "50%", "75%", "120%", "a"]), max_size=2, unique=True
)


@settings(max_examples=25)
@given(st.tuples(SIZES, SIZES, SIZES, SIZES, SIZES), st.sampled_from([90, 400, 2000]))
def test_the_lines_of_a_tree_lead_back_to_it(sizes: tuple[list[str], ...], stack: int) -> None:
    oop, ip, later, donk, raises = sizes
    keys = {
        "turn_oop": {"bet": oop, "raise": raises},
        "turn_ip": {"bet": ip, "raise": raises},
        "river_oop": {"bet": later, "raise": raises, "donk": donk},
        "river_ip": {"bet": later, "raise": raises},
    }
    spot = Spot(
        "AsKdQh4c", "AA", "KK", 1000, stack, bet_sizes=keys, force_allin_threshold=0, max_raises=2
    )
    lines = lines_of(spot)
    if not lines:
        return
    text = script(lines, board="AsKdQh4c", pot=1000, stack=stack, ip="JJ")
    tree = read_pio_script(text).keys
    again = Spot.from_mapping({**tree, "max_raises_per_street": 2})
    assert bets_of(again.tree) >= bets_of(spot.tree)
    if stack == 2000 and "a" not in raises:
        assert bets_of(again.tree) == bets_of(spot.tree)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line is a PioSOLVER setting (#Pot#55) or command (set_pot 0 0 55)"),
        ("# only words\n", "no line is a PioSOLVER setting"),
        ("#Pot#55\n#Board#AhKd9c", "the script does not say oop_range, ip_range, stack"),
        ("#Pot#x", "line 1: Pot: 'x' is not a number"),
        ("#Type#Limit", "line 1: Type Limit: only trees of NoLimit are read"),
        ("#Board#AhKd", "line 1: the board 'AhKd' has 2 cards"),
        ("set_range XX AA", "line 1: set_range XX: write set_range OOP or set_range IP"),
        ("set_range OOP AX", "line 1: range, character 1: 'AX' is not a hand or a combo"),
        ("set_pot 10 10 55", "line 1: set_pot 10 10 55: bets already in front of the players"),
        ("set_eff_stack", "line 1: set_eff_stack takes 1 numbers, not 0"),
        (script(["0 50 20"]), "add_line: OOP cannot have put in 20: 50 is called, 400 is the"),
        (script(["0 500"]), "add_line: IP cannot have put in 500"),
        (script([], pot=0) + "set_accuracy 1\n", "the pot is 0: a tree needs chips to play"),
        (script(["0 10"], pot=0), "the pot is 0: a tree needs chips to play for"),
        (script(["0 10"], stack=0), "the stack is 0: a tree needs chips to play for"),
        (script(["0 " * 500_000]), "line 10: add_line: 500,000 amounts, more than 100"),
        ("#Pot#" + "x" * 500_000, f"line 1: Pot: '{'x' * 199}…' is not a number"),
        ("set_board " + "As" * 200_000, f"line 1: '{'As' * 99}A…' contains the card As twice"),
        (script(["0 0 0"]), "add_line: 0 comes after the end of the hand"),
        (VIEWER.read_text().replace("#50", "#half"), "the size 'half' is not known"),
    ],
    ids=lambda value: value[:30],
)
def test_what_makes_no_sense_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_pio_script(text)
    assert message in str(caught.value)


def test_a_large_tree_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Walking its nodes one by one would take minutes."""
    monkeypatch.setattr("allstreets.interop.pio_script.MOST_COMPARED", 3)
    tree = read_pio_script(script(["0 50", "50"]))
    assert tree.differs.endswith("they were not compared")
    assert tree.keys["bet_sizes"]["river_oop"]["bet"] == ["50%"]


def test_what_is_left_out_is_named() -> None:
    text = script(["0 50"]) + "lock_node r:0\nremove_line 0 0\n"
    assert read_pio_script(text).left_out == ("lock_node (line 12)", "remove_line (line 13)")
    bare = read_pio_script(script([]))
    assert bare.left_out == ("sizes: there are none, so those of allstreets apply",)


@given(st.text("#set_rangeplo|OIP 0123.AKh\n", max_size=120))
def test_any_text_is_a_spot_or_a_message(text: str) -> None:
    with pytest.raises(InputError):
        read_pio_script(text)
