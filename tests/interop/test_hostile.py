"""Texts made to stop a reader: each is refused quickly, in one line, beside good hands.

Sizes are such that a reader whose time grows with their square would never come back.
"""

import os
import re
from pathlib import Path

import pytest
from builders.played_hands import play
from interop.test_reading import TEXT

from allstreets.interop import HandFiles, phh, read_hands, read_text, site_text
from allstreets.interop.phh import is_phh

PHH = """variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [200, 200]
actions = ['d dh p1 AhKd', 'd dh p2 ????', 'p2 f']
"""
LONG = 2_000_000
LINES = 200_000
PIECES = (" ", "1", ",", "a", "[", "(", " [", " (", " (1 in chips", " collected 1", "-", "*")
GOOD = TEXT.replace("Hand #1:", "Hand #2:")


def skipped(files: HandFiles) -> str:
    """Why the one bad hand of a text was not read."""
    (skip,) = files.skipped
    assert "\n" not in skip.reason
    assert len(skip.reason) <= 200
    return skip.reason


def beside_a_good_one(text: str) -> str:
    """Why a hand is not read, beside one that is."""
    files = read_text(text + GOOD, "a.txt")
    assert [hand.name for hand in files.hands] == ["PokerStars Hand #2"]
    assert files.skipped[0].hand == "PokerStars Hand #1"
    return skipped(files)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("starting_stacks", "[1e200000000, 1000]", "'1e200000000' is out of range"),
        ("starting_stacks", "[1.0e-200000000, 1000]", "'1.0e-200000000' is out of range"),
        ("starting_stacks", f"[1.{'0' * 20_000}, 1000]", "too long for an amount"),
        ("starting_stacks", "[nan, inf]", "'nan' is not an amount"),
        ("starting_stacks", f"[{'9' * 5_000}, 1]", "Exceeds the limit"),
        ("starting_stacks", f"[0x{'f' * 5_000}, 1]", "'starting_stacks': an amount is out of"),
        ("starting_stacks", "[999999999999999, 1000]", "more than 1,000,000 big blinds deep"),
        ("starting_stacks", "'many'", "'starting_stacks' is not a list of amounts"),
        ("antes", "[0, true]", "'antes': true or false is not an amount"),
        ("antes", "5", "'antes' is not a list of amounts"),
        ("min_bet", "[2]", "'min_bet': a list is not an amount"),
        ("actions", "5", "'actions' is not a list of texts"),
        ("actions", "[5]", "'actions' is not a list of texts"),
        ("actions", "[" + "'p1 cc'," * 2_000 + "]", "'actions' has 2,000 entries, more than 1,000"),
        ("actions", "['p2 cbr 1e200000000']", "action 1, 'p2 cbr 1e200000000': "),
        ("actions", f"['p{'9' * 5_000} f']", "action 1, 'p9999"),
        ("variant", "5", "another game: 5"),
        ("players", "5", "'players' is not a list of texts"),
        ("players", "['Ann']", "1 names of 2 players"),
        ("hand", "[1]", "a list is not an amount"),
        ("finishing_stacks", "['much', 'nothing']", "'finishing_stacks': text is not an amount"),
        ("finishing_stacks", "[200]", "1 finishing stacks of 2 players"),
        ("divmod", "5", ""),
        ("automations", "[]", ""),
        ("more", "[" * 5_000, "lists are nested too deeply"),
        ("more", "{a=" * 5_000, "lists are nested too deeply"),
        ("more." + "a." * 20_000 + "a", "1", "letters are too many for one hand in PHH"),
        ("more", f"'{'x' * LONG}'", "2,000,161 letters are too many for one hand in PHH"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_field_of_phh(field: str, value: str, why: str) -> None:
    lines = [line for line in PHH.splitlines() if not line.startswith(f"{field} =")]
    text = "\n".join([*lines, f"{field} = {value}", ""])
    files = read_text(f"[1]\n{text}[2]\n{PHH}", "all.phhs", phh=True)
    if not why:  # fields that mean something to PokerKit's objects mean nothing in a file
        assert not files.skipped
        return
    assert [hand.name for hand in files.hands] == ["Hand 2"]
    assert why in skipped(files)
    assert files.skipped[0].hand == "Hand 1"


@pytest.mark.parametrize(
    ("pattern", "begin"),
    [
        (site_text.BEGINS, ""),
        (site_text.BEGINS, "Poker "),
        (site_text.BEGINS, "PokerStars Hand #"),
        (site_text.GAME, "Hold'em "),
        (site_text.TOURNAMENT, "Tournament #"),
        (site_text.TOURNAMENT, "Tournament #1,"),
        (site_text.BLINDS, "("),
        (site_text.BLINDS, "(1"),
        (site_text.BUTTON, "Table "),
        (site_text.SEAT, "Seat 1"),
        (site_text.SEAT, "Seat 1: "),
        (site_text.SEAT, "Seat 1: A (1 in chips"),
        (site_text.POST, "posts "),
        (site_text.DEALT, "Dealt to A"),
        (site_text.STREET, "*** FLOP ***"),
        (site_text.CARDS, "["),
        (site_text.MOVE, "raises "),
        (site_text.MOVE, "raises 1"),
        (site_text.UNCALLED, "Uncalled bet (1"),
        (site_text.UNCALLED, "Uncalled bet (1) returned to A"),
        (site_text.COLLECTED, "A collected "),
        (site_text.SEEN, "shows ["),
        (site_text.SUMMARY_SEAT, "Seat "),
        (phh.BEGINS, "variant"),
        (phh.BEGINS, ""),
        (phh.HEADER, "[1]"),
        (phh.HEADER, ""),
        (phh.PLACE, " (at line "),
    ],
    ids=str,
)
def test_a_pattern_takes_a_time_that_grows_with_the_line(
    pattern: re.Pattern[str], begin: str
) -> None:
    """A line is searched at every place, so that a pattern of two loops would never come back."""
    for piece in PIECES:
        pattern.search(begin + piece * 100_000 + "\0")


def test_blanks_before_nothing() -> None:
    assert not is_phh("\n" * LINES)
    assert not is_phh(" \n" * LINES)
    assert is_phh("\n" * LINES + "  variant = 'NT'")
    assert skipped(read_text("\n" * LINES)).startswith("it holds no hand")
    assert skipped(read_text(" " * LONG)).startswith("it holds no hand")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("($100 in chips)", "($,,, in chips)", "',,,' is not an amount"),
        ("($100 in chips)", f"(${'9' * 400} in chips)", "is too long for an amount"),
        ("($100 in chips)", f"(${'9' * 40} in chips)", "is out of range for an amount"),
        ("Seat #1 is", f"Seat #{'1' * 1_900} is", "the button is not with one of the two players"),
        ("Hold'em No Limit", " " * LONG, "letters, more than 2,000"),
        ("Hold'em No Limit", "Tournament #1," + " " * 1_500 + "x", "another game: x"),
        ("Hold'em No Limit", "Omaha" + " " * 1_500 + "x", "another game: Omaha"),
        ("returned to Zoë", "returned to" + " " * LONG + "Zoë", "letters, more than 2,000"),
        ("[2c 7d Jh]\nBob", "[" * LONG + "\nBob", "letters, more than 2,000"),
        ("Dealt to Zoë", "Dealt to Zoë" + " [" * LONG, "letters, more than 2,000"),
        ("Zoë: raises", "x" * LONG + "\nZoë: raises", "letters, more than 2,000"),
        ("Zoë: raises", "Zoë: \x1b[31mraises", "Bob acts out of turn"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_line_of_a_site(old: str, new: str, why: str) -> None:
    assert old in TEXT
    assert why in beside_a_good_one(TEXT.replace(old, new, 1))


def test_more_seats_than_cards() -> None:
    seats = "".join(f"Seat {number}: P{number} ($1 in chips)\n" for number in range(3, 100_000))
    text = TEXT.replace("Zoë: posts small", f"{seats}Zoë: posts small")
    assert beside_a_good_one(text) == "more than 23 players"


def test_more_actions_than_a_hand_can_have() -> None:
    start, end = TEXT.index("Bob: checks"), TEXT.index("Bob: folds")
    raises = "".join(
        f"{'Bob' if number % 2 else 'Zoë'}: raises $0.01 to ${number / 100:.2f}\n"
        for number in range(1, 5_000)
    )
    assert beside_a_good_one(TEXT[:start] + raises + TEXT[end:]) == "more than 500 actions"


def test_a_seat_of_many_digits() -> None:
    """Seats are numbered as written, with any number of digits."""
    seat = "1" * 1_900
    text = TEXT.replace("Seat 1: Zoë", f"Seat {seat}: Zoë").replace(
        "Seat #1 is", f"Seat #{seat} is"
    )
    files = read_text(text.replace(" 1,", f" {seat},"))
    assert not files.skipped
    assert files.hands[0].players == ("Bob", "Zoë")


def test_what_follows_a_hand_is_no_part_of_it() -> None:
    assert not read_text(TEXT + "\n" * LINES + "x" * LONG).skipped


def test_control_characters_are_shown_as_what_they_are() -> None:
    text = TEXT.replace("Hold'em No Limit", "\x1b[2J\u202eOmaha")
    assert beside_a_good_one(text) == r"another game: \x1b[2J\u202eOmaha"


def test_a_folder_is_no_file_whatever_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "x.txt").mkdir()
    (tmp_path / "x.txt" / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "lost.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.txt")  # nothing ever writes to it
    (tmp_path / "hand.phh").write_text(play(1).phh)
    files = read_hands([tmp_path])
    assert len(files.hands) == 2
    assert [(Path(skip.file).name, skip.reason) for skip in files.skipped] == [
        ("lost.txt", "it cannot be read: No such file or directory")
    ]
