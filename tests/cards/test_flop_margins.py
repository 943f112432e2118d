"""Margins of hands on a flop, against slow counting, other programs and the equity of ranges."""

from collections.abc import Callable

import eval7
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import flops as naive_flops
from reference import kernels as naive

from allstreets.cards import (
    CARD_PERMUTATIONS,
    HAND_COUNT,
    HAND_OF_COMBO,
    FlopMatchups,
    Range,
    card_text,
    equity,
    hand_combos,
    hand_pairs,
    live_combos,
    matchups,
    parse_board,
    parse_hand,
)
from allstreets.cards.flop_tables import _weighted_boards, count_margins
from allstreets.cards.hands import disjoint_combos
from allstreets.cards.kernels.matchups import ROW_LENGTH, add_class_wins

RAINBOW, TWO_TONE, MONOTONE, PAIRED, TRIPS = "AhKd2c", "QsJh2h", "9s6s3s", "8s8h3d", "5s5h5d"
PAIRED_TWO_TONE = "8s8h3s"
TEXTURES = [RAINBOW, TWO_TONE, MONOTONE, PAIRED, PAIRED_TWO_TONE, TRIPS]

CARDS = [eval7.Card(card_text(card)) for card in range(52)]


def eval7_strength(cards: list[int]) -> int:
    """Another program's strength of seven cards."""
    return int(eval7.evaluate([CARDS[card] for card in cards]))


def on_flop(text: str) -> FlopMatchups:
    cards = parse_board(text)
    return FlopMatchups(hand_pairs(cards), count_margins(cards))


@pytest.mark.parametrize("text", TEXTURES)
def test_every_hand_agrees_with_comparing_every_two_combos(text: str) -> None:
    """All 169 × 169 against the counts of combo pairs, which deal all 1,176 boards one by one."""
    board = parse_board(text)
    combos = np.flatnonzero(live_combos(board))
    counts = matchups(board, combos, combos)
    fits = disjoint_combos()[np.ix_(combos, combos)]
    margins = np.where(fits, counts.wins.astype(np.int64) - counts.wins.T, 0)
    members = (HAND_OF_COMBO[combos][:, None] == np.arange(HAND_COUNT)).astype(np.int64)
    assert np.array_equal(count_margins(board), members.T @ (margins @ members))


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        (RAINBOW, "AA", "KK"),
        (RAINBOW, "AA", "QJs"),
        (TWO_TONE, "AKo", "QTs"),
        (TWO_TONE, "KTs", "KTs"),
        (MONOTONE, "AKs", "66"),
        (MONOTONE, "AKo", "T8s"),
        (PAIRED, "A8o", "33"),
        (PAIRED_TWO_TONE, "JTo", "JTs"),
        (TRIPS, "AKo", "AKs"),
        (TRIPS, "A5s", "22"),
    ],
)
def test_two_hands_agree_with_dealing_every_card_under_another_evaluator(
    text: str, first: str, second: str
) -> None:
    board = parse_board(text)
    found = count_margins(board)[parse_hand(first), parse_hand(second)]
    assert found == naive_flops.margin(first, second, board, eval7_strength)


def test_two_hands_agree_with_dealing_every_card_by_the_rules() -> None:
    board = parse_board(MONOTONE)
    found = count_margins(board)[parse_hand("T8s"), parse_hand("99")]
    assert found == naive_flops.margin("T8s", "99", board, naive.hand_key)


def test_aces_with_top_set_against_kings() -> None:
    table = on_flop(RAINBOW)
    aces, kings = parse_hand("AA"), parse_hand("KK")
    # Of 45 cards one helps the kings: 44 · 1 of 990 runouts, and then no ace may come with it.
    assert table.equity[aces, kings] == 1 - 43 / 990
    assert table.margins[aces, kings] == 9 * (990 - 2 * 43)
    assert table.pairs[aces, kings] == 9


@pytest.mark.parametrize("text", TEXTURES)
def test_equities_are_those_of_the_ranges(text: str) -> None:
    table = on_flop(text)
    board = parse_board(text)
    for first, second in (("AA", "T9s"), ("K9o", "77"), ("98s", "98s"), ("AKo", "J4o")):
        result = equity(Range.parse(first), Range.parse(second), board)
        place = parse_hand(first), parse_hand(second)
        assert table.equity[place] == pytest.approx(result.first, abs=1e-12)
        assert table.pairs[place] == result.pairs
        margin = (result.win - result.lose) * result.pairs
        assert table.margin[place] == pytest.approx(margin, abs=1e-5)


@pytest.mark.parametrize("text", TEXTURES)
def test_one_player_wins_what_the_other_loses(text: str) -> None:
    table = on_flop(text)
    assert table.margins.dtype == np.int32
    assert np.array_equal(table.margins, -table.margins.T)
    assert (np.abs(table.margins) <= 990 * table.pairs).all()
    meet = table.pairs > 0
    shares = table.equity
    assert np.abs(shares + shares.T - 1)[meet].max() < 1e-15
    assert (shares[meet] >= 0).all()
    assert table.margin.dtype == np.float32
    assert np.array_equal(table.margin, -table.margin.T)


def test_hands_that_cannot_meet_have_no_equity_rather_than_a_wrong_one() -> None:
    table = on_flop("AsAhKd")
    aces, king_ace = parse_hand("AA"), parse_hand("AKs")
    assert table.pairs[aces, aces] == 0
    assert table.pairs[aces, king_ace] == 0  # one pair of aces is left, and it holds both aces
    assert table.margins[aces, aces] == table.margin[aces, aces] == 0
    assert np.isnan(table.equity[aces, aces])
    assert np.array_equal(np.isnan(table.equity), table.pairs == 0)


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 51), min_size=3, max_size=3, unique=True),
    st.integers(0, 23),
    st.randoms(),
)
def test_names_of_suits_and_the_order_of_cards_do_not_matter(
    flop: list[int], permutation: int, random: object
) -> None:
    shuffle: Callable[[list[int]], None] = random.shuffle  # type: ignore[attr-defined]
    renamed = CARD_PERMUTATIONS[permutation][flop].tolist()
    shuffle(renamed)
    assert np.array_equal(count_margins(flop), count_margins(renamed))


# Burnside: the mean, over the renamings that keep the flop, of the pairs of cards each one keeps.
BOARDS_BY_TEXTURE = {
    RAINBOW: 1176,
    TWO_TONE: (1176 + (253 + 13)) // 2,  # two suits change places
    MONOTONE: (1176 + 3 * (253 + 13) + 2 * 45) // 6,  # three suits change places
    PAIRED: (1176 + (300 + 12)) // 2,
    PAIRED_TWO_TONE: (1176 + (253 + 13)) // 2,
    TRIPS: (1176 + 3 * (300 + 12) + 2 * 78) // 6,
}


@pytest.mark.parametrize("text", TEXTURES)
def test_weighted_boards_stand_for_all_runouts(text: str) -> None:
    flop = parse_board(text)
    boards, weights = _weighted_boards(flop)
    assert len(boards) == BOARDS_BY_TEXTURE[text]
    assert weights.sum() == 1176
    assert (boards[:, :3] == flop).all()
    assert all(len(set(board)) == 5 for board in boards.tolist())


def test_a_hand_that_a_board_blocks_wins_nothing() -> None:
    table = on_flop("AsAhAd")
    assert hand_combos(parse_board("AsAhAd"))[parse_hand("AA")] == 0
    assert not table.margins[parse_hand("AA")].any()


@st.composite
def classed_combos(
    draw: st.DrawFn,
) -> tuple[NDArray[np.uint16], list[int], list[list[int]], list[int]]:
    """Strengths [B, C] with many ties and some that do not fit, weights, cards, classes."""
    every = [[high, low] for high in range(6) for low in range(high)]
    cards = draw(st.lists(st.sampled_from(every), min_size=1, max_size=15, unique_by=tuple))
    count = len(cards)
    strength = st.sampled_from([1, 2, 3, 4000, 7461, 7462, 7463, 65535])
    row = st.lists(strength, min_size=count, max_size=count)
    strengths = draw(st.lists(row, min_size=1, max_size=4))
    weights = draw(st.lists(st.integers(0, 24), min_size=len(strengths), max_size=len(strengths)))
    classes = draw(st.lists(st.integers(0, 4), min_size=count, max_size=count))
    return np.array(strengths, np.uint16), weights, cards, classes


@given(classed_combos())
def test_wins_of_classes_agree_with_looking_at_every_two_combos(
    case: tuple[NDArray[np.uint16], list[int], list[list[int]], list[int]],
) -> None:
    strengths, weights, cards, classes = case
    wins = np.ones((5, ROW_LENGTH), np.int32)  # what is there is added to
    add_class_wins(
        strengths,
        np.array(weights, np.int32),
        np.array(cards, np.uint8),
        np.array(classes, np.uint8),
        wins,
    )
    expected = naive_flops.class_wins(strengths.tolist(), weights, cards, classes, 5)
    assert (wins[:, :5] - 1).tolist() == expected
    assert (wins[:, 5:] == 1).all()
