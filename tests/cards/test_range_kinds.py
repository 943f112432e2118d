"""Ranges as other programs write them: read by their looks, written and read back."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.cards import COMBO_COUNT, HAND_NAMES, Range, RangeKind, combo_text, parse_board

FILES = Path(__file__).parents[1] / "data" / "ranges"

# What each of these files says, written by hand.
SAME = "AA,KK:0.5,AKs,AhKh:0.2,AdKd:0,76o:0.125,AhQd:0.75"


def test_the_files_are_of_every_kind() -> None:
    assert {path.stem for path in FILES.iterdir()} >= set(RangeKind)


@pytest.mark.parametrize("path", sorted(FILES.iterdir()), ids=lambda path: path.name)
def test_a_file_is_recognised(path: Path) -> None:
    assert Range.parse(path.read_text(encoding="utf-8")) == Range.parse(SAME)


def test_numbers_stand_in_the_order_that_piosolver_prints() -> None:
    """The beginning of `show_hand_order`, the places where its rule shows, and its end."""
    first = "2d2c 2h2c 2h2d 2s2c 2s2d 2s2h 3c2c 3c2d 3c2h 3c2s 3d2c 3d2d 3d2h 3d2s 3d3c 3h2c"
    order = [combo_text(combo) for combo in range(COMBO_COUNT)]
    assert order[:16] == first.split()
    assert order[-3:] == ["AsAc", "AsAd", "AsAh"]
    numbers = ["0"] * COMBO_COUNT
    numbers[6], numbers[1325] = "0.25", "1"
    read = Range.parse(" ".join(numbers))
    assert read == Range.parse("3c2c:0.25,AsAh")
    assert read.text("pio-1326").split() == numbers


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text", "AA,KK:0.5,AsKs,AhKh:0.2,AcKc,AhQd:0.75,76o:0.125"),
        ("pio", "AA,KK:0.5,AcKc,AhKh:0.2,AsKs,AhQd:0.75,76o:0.125"),
        ("gto+", "AA,AcKc,AsKs,[75]AhQd[/75],[50]KK[/50],[20]AhKh[/20],[12.5]76o[/12.5]"),
        (
            "monker",
            "AA\n1;0\nKK\n0.5;0\nAcKc\n1;0\nAhKh\n0.2;0\nAsKs\n1;0\nAhQd\n0.75;0\n76o\n0.125;0",
        ),
        (
            "json",
            '{"AA": 1, "KK": 0.5, "AcKc": 1, "AhKh": 0.2, "AsKs": 1, "AhQd": 0.75, "76o": 0.125}',
        ),
        ("csv", "hand,weight\nAA,1\nKK,0.5\nAcKc,1\nAhKh,0.2\nAsKs,1\nAhQd,0.75\n76o,0.125"),
    ],
)
def test_what_is_written(kind: str, text: str) -> None:
    assert Range.parse(SAME).text(kind) == text


def test_runs_as_gto_plus_writes_them() -> None:
    written = Range.parse("TT+,ATs+,K9s-K7s:0.3,98s-65s,AKo").text("gto+")
    assert written == "AA-TT,AKs-ATs,98s,87s,76s,65s,AKo,[30]K9s-K7s[/30]"


WEIGHTS = st.sampled_from([0.0, 0.0, 0.25, 1 / 3, 1e-7, 1.0]) | st.floats(0, 1)
HANDS = st.dictionaries(st.sampled_from(HAND_NAMES), WEIGHTS, max_size=40)
COMBOS = st.dictionaries(st.integers(0, COMBO_COUNT - 1), WEIGHTS, min_size=1, max_size=80)


@given(st.sampled_from(list(RangeKind)), HANDS, COMBOS)
def test_every_weight_survives_to_the_last_bit(
    kind: RangeKind, hands: dict[str, float], combos: dict[int, float]
) -> None:
    weights = np.zeros(COMBO_COUNT)
    for hand, weight in hands.items():
        weights[Range.parse(hand).weights > 0] = weight
    weights[list(combos)] = list(combos.values())
    weights[7] = 1.0  # an empty range has no text
    assert Range.parse(Range(weights).text(kind)) == Range(weights)


@pytest.mark.parametrize("kind", list(RangeKind))
def test_1326_different_weights_survive(kind: RangeKind) -> None:
    weights = np.random.default_rng(3).random(COMBO_COUNT)
    assert Range.parse(Range(weights).text(kind)) == Range(weights)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("AA,1\nAKs,0.5\n", "AA,AKs:0.5"),
        ("\ufeffhand;weight\r\nAA;0,5\r\nAKs;1\r\n", "AA:0.5,AKs"),
        ("combo\treach\tev\nAhKh\t0.5\t12\n", "AhKh:0.5"),
        ('"hand","frequency"\n"AA","50%"\n', "AA:0.5"),
        ("AA\n0.5;2289.79\n\nAKs\n1.0;-3\n", "AA:0.5,AKs"),
        ("AhKh\n0.25\nAKs\n0.5\n", "AKs:0.5"),
        ('{"AA": 1, "AKs": 1, "AhKh": 0.2, "TT-88": 0.5}', "AA,AKs,AhKh:0.2,TT-88:0.5"),
        (
            json.dumps([0.5] * COMBO_COUNT),
            "22+:0.5," + ",".join(f"{r}2+:0.5" for r in "AKQJT9876543"),
        ),
        ("22 33 44", "22,33,44"),
        ("98,22", "98,22"),
        ("AA:1.0;KK:0.5;", "AA,KK:0.5"),
        ("AA\nKK\nQQ", "AA,KK,QQ"),
    ],
)
def test_other_ways_of_writing(text: str, same: str) -> None:
    assert Range.parse(text) == Range.parse(same)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 1", "range: 3 numbers: in PioSOLVER's order of combos there are 1,326"),
        ("0 " * 1325 + "2", "character 2651, number 1,326: the weight 2 is not between 0"),
        ("AA\n1\nKK", "range, line 3: the weight of 'KK' is missing"),
        ("AA\n1\nKX\n1", "range, line 3: 'KX' is not a hand or a combo"),
        ("hand,ev\nAA,1", "line 1: the table has no column of weights: name one of weight"),
        ("hand,weight\n", "the range is empty: there is no hand below the head of the table"),
        ("hand,weight\nAA,1\nKK,1.5", "range, line 3: the weight 1.5 is not between 0 and 1"),
        ("hand,weight\nAA,1,2", "range, line 2: 3 fields, not 2: write a hand and its weight"),
        ("AA,0.5,KK", "range, line 1: 3 fields, not 2"),
        ('{"AA": 1,\n "KK": x}', "range, line 2, character 8: not valid JSON (Expecting value)"),
        ('{"AA": NaN}', "not valid JSON (NaN is not a weight)"),
        ('{"AA": true}', "range, entry 'AA': write a number, as in"),
        ('{"AA": {"call": 1}}', "range, entry 'AA': write a number"),
        ('{"AX": 1}', "range, entry 'AX': 'AX' is not a hand or a combo"),
        ("{}", "the range is empty: write hands such as {"),
    ],
)
def test_what_is_wrong_is_pointed_at(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Range.parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60) | st.text('[]()%/{}":;,.0159AKhs\n ', max_size=60))
def test_any_text_is_a_range_or_a_message(text: str) -> None:
    try:
        read = Range.parse(text)
    except InputError:
        return
    assert read.weights.min() >= 0
    assert read.largest <= 1


def test_combos_that_a_board_blocks_go_with_their_hand() -> None:
    board = parse_board("AsKd2c")
    given_range = Range.parse("AA:0.5,AKs,AhKh:0.2,22")
    shown = given_range.on(board).beside(board)
    assert shown.on(board) == given_range.on(board)
    assert shown.text("pio") == "AA:0.5,22,AcKc,AhKh:0.2"


def test_rounding() -> None:
    assert Range.parse("AA:0.123456,KK:0.00001").rounded().text() == "AA:0.1235"
