"""Hands that PokerKit has played are read to the same actions, stacks and results."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from builders.played_hands import NAMES, Played, play, site_text
from hypothesis import given, settings
from hypothesis import strategies as st

from allstreets.base.errors import InputError
from allstreets.betting import ActionKind, Player, Street
from allstreets.cards import cards_text, parse_cards
from allstreets.interop import HandFiles, PlayedHand, read_hands, read_text

SEEDS = st.integers(0, 2**32)
TEXT = """PokerStars Hand #1:  Hold'em No Limit ($0.50/$1.00 USD) - 2020/01/01 12:00:00 ET
Table 'A' 2-max Seat #1 is the button
Seat 1: Zoë ($100 in chips)
Seat 2: Bob ($80.50 in chips)
Zoë: posts small blind $0.50
Bob: posts big blind $1
*** HOLE CARDS ***
Dealt to Zoë [Ah Kd]
Zoë: raises $1.50 to $2.50
Bob: calls $1.50
*** FLOP *** [2c 7d Jh]
Bob: checks
Zoë: bets $3
Bob: folds
Uncalled bet ($3) returned to Zoë
Zoë collected $4.75 from pot
Zoë: doesn't show hand
*** SUMMARY ***
Total pot $5 | Rake $0.25
Board [2c 7d Jh]
Seat 1: Zoë (button) (small blind) collected ($4.75)
Seat 2: Bob (big blind) folded on the Flop mucked [Qs Qd]
"""


TWICE = """Poker Hand #RC123456: Hold'em No Limit ($0.5/$1) - 2023/05/01 10:00:00
Table 'RushAndCash77' 2-max Seat #2 is the button
Seat 1: 5d5e3b2a ($104.12 in chips)
Seat 2: Hero ($100 in chips)
Hero: posts small blind $0.5
5d5e3b2a: posts big blind $1
*** HOLE CARDS ***
Dealt to 5d5e3b2a
Dealt to Hero [Ah Kd]
Hero: raises $1.5 to $2.5
5d5e3b2a: raises $7.5 to $10
Hero: raises $90 to $100 and is all-in
5d5e3b2a: calls $90
5d5e3b2a: shows [Qs Qd] (a pair of Queens)
Hero: shows [Ah Kd] (Ace high)
5d5e3b2a: Chooses to EV Cashout
*** FIRST FLOP *** [2c 7d Jh]
*** FIRST TURN *** [2c 7d Jh] [3c]
*** FIRST RIVER *** [2c 7d Jh 3c] [4c]
*** SECOND FLOP *** [Ac 7s Js]
*** SECOND TURN *** [Ac 7s Js] [3d]
*** SECOND RIVER *** [Ac 7s Js 3d] [4h]
*** FIRST SHOWDOWN ***
5d5e3b2a collected $99.5 from pot
*** SECOND SHOWDOWN ***
Hero collected $99.5 from pot
*** SUMMARY ***
Total pot $200 | Rake $1 | Jackpot $0 | Bingo $0 | Fortune $0 | Tax $0
Hand was run two times
FIRST Board [2c 7d Jh 3c 4c]
SECOND Board [Ac 7s Js 3d 4h]
Seat 1: 5d5e3b2a (big blind) showed [Qs Qd] and won ($99.5) with a pair of Queens, and lost
Seat 2: Hero (button) (small blind) showed [Ah Kd] and lost with Ace high, and won ($99.5)
"""


def only_hand(files: HandFiles) -> PlayedHand:
    assert not files.skipped
    (hand,) = files.hands
    return hand


def reason(text: str, **changes: str) -> tuple[int, str]:
    """Where and why a text with some changes is not read."""
    for old, new in changes.items():
        text = text.replace(old, new)
    files = read_text(text, "a.txt")
    assert not files.hands
    (skipped,) = files.skipped
    return skipped.line, skipped.reason


def check_same(hand: PlayedHand, played: Played) -> None:
    """A hand in big blinds is the one that was played in chips."""
    big = played.blinds[1]
    assert hand.players == NAMES
    assert [stack * big for stack in hand.stacks] == list(played.stacks)
    assert [result * big for result in hand.results] == list(played.results)
    assert cards_text(hand.board) == played.board
    kinds = {
        "fold": ActionKind.FOLD,
        "check": ActionKind.CHECK,
        "call": ActionKind.CALL,
        "bet": ActionKind.BET,
        "raise": ActionKind.RAISE,
        "all_in": ActionKind.ALL_IN,
    }
    assert [
        (action.street.text, int(action.player), action.kind, int(action.to * big))
        for action in hand.actions
    ] == [(street, player, kinds[kind], to) for street, player, kind, to in played.actions]


@settings(max_examples=60)
@given(SEEDS)
def test_a_random_hand_in_phh(seed: int) -> None:
    played = play(seed)
    hand = only_hand(read_text(played.phh, "hand.phh", phh=True))
    check_same(hand, played)
    assert [hole and cards_text(hole) for hole in hand.holes] == list(played.holes)
    assert hand.name == "Hand #7"
    assert hand.rake == 0


@pytest.mark.parametrize("site", ["PokerStars", "GGPoker"])
@settings(max_examples=40)
@given(SEEDS)
def test_a_random_hand_as_a_site_writes_it(site: str, seed: int) -> None:
    played = play(seed)
    files = read_text(site_text(played, site), "hand.txt")
    if min(played.stacks) <= played.ante:  # who is all-in by the ante posts no blind
        assert [skipped.reason for skipped in files.skipped] == ["a blind is missing"]
        return
    hand = only_hand(files)
    check_same(hand, played)
    assert hand.viewer == Player.IP
    assert hand.holes[Player.IP] == parse_cards(played.holes[1])
    assert (hand.holes[Player.OOP] is not None) == played.shown


@settings(max_examples=40)
@given(SEEDS)
def test_chips_follow_the_actions(seed: int) -> None:
    """Chips behind, in the middle and uncalled add up to the stacks at every moment."""
    played = play(seed)
    hand = only_hand(read_text(played.phh, "hand.phh", phh=True))
    total = sum(hand.stacks)
    for moment in hand.moments():
        assert moment.pot + sum(moment.left) == total
        assert moment.to_call <= moment.left[moment.action.player]
        if moment.action.kind >= ActionKind.BET:
            assert moment.pot_share > 0
    assert sum(hand.results) == 0


def test_every_line_of_a_hand() -> None:
    hand = only_hand(read_text(TEXT, "a.txt"))
    assert hand.name == "PokerStars Hand #1"
    assert hand.players == ("Bob", "Zoë")
    assert hand.stacks == (Fraction("80.5"), Fraction(100))
    assert hand.blinds == (Fraction(1), Fraction(1, 2))
    assert hand.antes == (Fraction(0), Fraction(0))
    assert hand.holes == (parse_cards("QsQd"), parse_cards("AhKd"))
    assert hand.uncalled == (Fraction(0), Fraction(3))
    assert hand.results == (Fraction("-2.5"), Fraction("2.25"))
    assert hand.rake == Fraction("0.25")
    assert (hand.viewer, hand.raises, hand.stack) == (Player.IP, 1, Fraction("80.5"))
    assert hand.board_on(Street.FLOP) == parse_cards("2c7dJh")
    bets = [moment for moment in hand.moments() if moment.action.kind == ActionKind.BET]
    assert [float(bet.pot_share) for bet in bets] == [0.6]


def test_a_hand_of_ggpoker_that_was_run_twice() -> None:
    """Both boards pay; the first is the hand's. Lines of offers and insurance are passed over."""
    hand = only_hand(read_text(TWICE, "a.txt"))
    assert (hand.name, hand.viewer) == ("Poker Hand #RC123456", Player.IP)
    assert cards_text(hand.board) == "2c7dJh3c4c"
    assert hand.results == (Fraction(-1, 2), Fraction(-1, 2))
    assert hand.rake == 1
    assert [(action.kind, float(action.to)) for action in hand.actions] == [
        (ActionKind.RAISE, 2.5),
        (ActionKind.RAISE, 10.0),
        (ActionKind.ALL_IN, 100.0),
        (ActionKind.CALL, 100.0),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "hands.txt"
    path.write_bytes(TEXT.replace("\n", "\r\n").encode(encoding))
    assert only_hand(read_hands([path])) == only_hand(read_text(TEXT))


def test_other_games_and_tables_are_skipped_with_a_reason() -> None:
    assert reason(TEXT, **{"Hold'em No": "Omaha Pot"}) == (1, "another game: Omaha Pot Limit")
    assert reason(TEXT, **{"Hold'em No": "Hold'em"}) == (1, "another game: Hold'em Limit")
    assert reason(TEXT, **{"Hold'em No": "6+ Hold'em No"})[1].startswith("another game: 6+")
    third = "Seat 2: Bob ($80.50 in chips)\nSeat 3: Eve ($9 in chips)"
    assert reason(TEXT, **{"Seat 2: Bob ($80.50 in chips)": third}) == (8, "3 players")
    away = third.replace("$9 in chips)", "$9 in chips) is sitting out")
    files = read_text(TEXT.replace("Seat 2: Bob ($80.50 in chips)", away))
    assert only_hand(files) == only_hand(read_text(TEXT))
    straddle = "posts big blind $1\nZoë: posts straddle $2"
    assert reason(TEXT, **{"posts big blind $1": straddle})[1] == (
        "another game: Zoë posts straddle"
    )


def test_broken_hands_are_told_by_line_and_the_rest_is_read() -> None:
    again = TEXT.replace("Hand #1:", "Hand #2:")
    cut = TEXT[: TEXT.index("Bob: folds")]
    files = read_text(cut + again, "a.txt")
    assert [hand.name for hand in files.hands] == ["PokerStars Hand #2"]
    (skipped,) = files.skipped
    assert str(skipped) == "a.txt, line 13, PokerStars Hand #1: it is cut off: there is no summary"


@pytest.mark.parametrize(
    ("line", "why", "old", "new"),
    [
        (12, "Zoë acts out of turn", "Bob: checks\n", ""),
        (9, "Zoë raises to 0.5, and the bet is 1", "to $2.50", "to $0.50"),
        (9, "Zoë raises without an amount", " to $2.50", ""),
        (10, "Bob calls 4, the call is 1.5", "calls $1.50", "calls $4"),
        (13, "Zoë bets 300, and has 97.5", "bets $3\n", "bets $300\n"),
        (22, "the amounts do not add up: a pot of 5 pays 9", "collected $4.75", "collected $9"),
        (22, "an uncalled bet of 2 goes back, and it was 3", "($3) returned", "($2) returned"),
        (21, "it is cut off: no player wins the pot", "Zoë collected $4.75 from pot\n", ""),
        (21, "it is cut off: the betting is not over", "Bob: folds\n", ""),
        (22, "a card is dealt twice", "Ah Kd", "Ah 7d"),
        (6, "a blind is missing", "Bob: posts big blind $1\n", ""),
        (7, "the button is not with one of the two players", "#1 is the", "#6 is the"),
        (11, "'7x' is not a card: write", "2c 7d Jh]\nBob", "2c 7x Jh]\nBob"),
        (11, "the flop has 2 cards", "[2c 7d Jh]\nBob", "[2c 7d]\nBob"),
        (1, "the blinds are not in", "($0.50/$1.00 USD)", ""),
    ],
)
def test_what_is_wrong_and_where(line: int, why: str, old: str, new: str) -> None:
    assert old in TEXT
    where, files = reason(TEXT, **{old: new})
    assert files.startswith(why)
    assert where == line


def test_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "b.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "c.txt").write_text("a letter\n")
    (tmp_path / "d.pdf").write_text("not looked at")
    files = read_hands([tmp_path])
    assert len(files.hands) == 1
    assert dict(files.reasons()) == {
        "the same hand again": 1,
        "it holds no hand in PHH, PokerStars or GGPoker text": 1,
    }
    with pytest.raises(InputError, match="does not exist"):
        read_hands([tmp_path / "e.txt"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="contains no hand histories"):
        read_hands([tmp_path / "empty"])


@given(SEEDS)
@settings(max_examples=5)
def test_a_file_of_several_phh(seed: int) -> None:
    played = play(seed)
    broken = played.phh.replace("variant =", "variant")
    limit = played.phh.replace("'NT'", "'FT'")
    text = f"[1]\n{played.phh}\n\n[2]\n{broken}\n[3]\n{limit}\n[4]\n{played.phh}\n"
    files = read_text(text, "all.phhs", phh=True)
    assert [hand.file for hand in files.hands] == ["all.phhs", "all.phhs"]
    for hand in files.hands:
        check_same(hand, played)
    assert len(files.skipped) == 2
    line = text.splitlines().index("[2]") + 2
    assert str(files.skipped[0]).startswith(f"all.phhs, line {line}, Hand 2: Expected '='")
    assert files.skipped[1].reason.startswith(("another game: limit hold'em", "PHH"))


def test_phh_that_is_cut_off_or_garbled() -> None:
    text = """variant = 'NT'
antes = [0, 0]
blinds_or_straddles = [1, 2]
min_bet = 2
starting_stacks = [200, 200]
actions = ['d dh p1 AhKd', 'd dh p2 ????', 'p2 cbr 5', 'p1 cc', 'd db 2c7dJh', 'p1 cc']
"""
    assert reason(text) == (1, "it is cut off: the betting is not over")
    assert reason(text, **{"'p1 cc']": "'p2 cc']"})[1].startswith("action 6, 'p2 cc': ")
    assert reason(text, **{"[200, 200]": "[200, 200, 200]", "[0, 0]": "[0, 0, 0]"}) == (
        1,
        "3 players",
    )
    whole = text.replace("'p1 cc']", "'p1 cbr 6', 'p2 f']\nfinishing_stacks = [204.5, 195]")
    hand = only_hand(read_text(whole, "x.phh"))
    assert hand.results == (Fraction("2.25"), Fraction("-2.5"))
    assert hand.rake == Fraction("0.25")
    assert hand.holes == (parse_cards("AhKd"), None)
    assert replace(hand, name="").label == "x.phh:1"
