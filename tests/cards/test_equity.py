"""Equities against slow counting, published figures, and other ranges' symmetry."""

import json
from itertools import chain, combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import kernels as naive

from allstreets.base import InputError, read_checked_arrays
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_CARDS,
    COMBO_COUNT,
    COMBO_PERMUTATIONS,
    HAND_SIZES,
    Range,
    combo_strengths,
    equity,
    matchups,
    parse_board,
    parse_combo,
    parse_hand,
    preflop_equity,
    preflop_matchups,
)
from allstreets.cards.hands import disjoint_combos
from allstreets.cards.matchups import count_preflop_matchups, write_preflop_table

DATA = Path(__file__).parents[1] / "data"

# Published heads-up all-in equities of hand classes, in %, ties split.
PUBLISHED = [
    ("AA", "KK", 81.95),
    ("AKs", "QQ", 46.05),
    ("AKo", "22", 47.35),
    ("AKo", "QQ", 43.24),
    ("AKs", "JTs", 62.01),
    ("AA", "72o", 88.20),
    ("AA", "AKs", 87.86),
]


@pytest.mark.parametrize(("first", "second", "percent"), PUBLISHED)
def test_published_preflop_equities(first: str, second: str, percent: float) -> None:
    table = preflop_equity().equity
    assert 100 * table[parse_hand(first), parse_hand(second)] == pytest.approx(percent, abs=0.006)
    result = equity(Range.parse(first), Range.parse(second))
    assert 100 * result.first == pytest.approx(percent, abs=0.006)
    assert result.runouts == comb(48, 5)


def test_single_combos_before_the_flop_agree_with_another_program_to_the_last_board() -> None:
    table = preflop_matchups()
    known = json.loads((DATA / "preflop_counts.json").read_text())["matchups"]
    assert len(known) == 6
    for matchup in known:
        pair = parse_combo(matchup["first"]), parse_combo(matchup["second"])
        assert table.wins[pair] == matchup["wins"]
        assert table.ties[pair] == matchup["ties"]
        assert table.wins[pair[::-1]] == matchup["losses"]


def test_preflop_counts_are_complete_and_symmetric() -> None:
    table = preflop_matchups()
    fits = disjoint_combos()
    total = table.wins.astype(np.int64) + table.wins.T + table.ties
    assert (total[fits] == comb(48, 5)).all()
    assert (table.ties == table.ties.T)[fits].all()
    for number in (1, 7, 23):
        renamed = np.ix_(COMBO_PERMUTATIONS[number], COMBO_PERMUTATIONS[number])
        assert np.array_equal(table.wins[renamed][fits], table.wins[fits])


def test_preflop_counts_of_random_combos_are_those_of_every_board() -> None:
    table, fits = preflop_matchups(), disjoint_combos()
    size = comb(48, 5)
    picks = np.fromiter(chain.from_iterable(combinations(range(48), 5)), np.uint8, 5 * size)
    chance = np.random.default_rng()
    for _ in range(4):
        first = int(chance.integers(COMBO_COUNT))
        second = int(chance.choice(np.flatnonzero(fits[first])))
        pair = COMBO_CARDS[[first, second]]
        deck = np.setdiff1d(np.arange(52, dtype=np.uint8), pair)
        ours, theirs = combo_strengths(deck[picks].reshape(-1, 5), pair).T
        assert table.wins[first, second] == np.count_nonzero(ours > theirs), pair
        assert table.wins[second, first] == np.count_nonzero(ours < theirs), pair
        assert table.ties[first, second] == np.count_nonzero(ours == theirs), pair


@pytest.mark.long
def test_the_table_of_the_package_is_what_counting_gives(tmp_path: Path) -> None:
    table, counted, fits = preflop_matchups(), count_preflop_matchups(), disjoint_combos()
    assert np.array_equal(table.wins[fits], counted.wins[fits])
    assert np.array_equal(table.ties[fits], counted.ties[fits])
    again = tmp_path / "table.safetensors"
    write_preflop_table(counted, again)
    assert len(read_checked_arrays(again)[0]["wins"]) == 47_008  # known from the literature


def test_hand_classes_before_the_flop() -> None:
    table = preflop_equity()
    assert np.abs(table.equity + table.equity.T - 1).max() < 1e-12
    assert np.array_equal(table.pairs, table.pairs.T)
    assert table.pairs.sum() == 1326 * 1225
    assert np.array_equal(table.pairs.sum(axis=1), HAND_SIZES * 1225)
    assert table.pairs[parse_hand("AA"), parse_hand("AA")] == 6  # AA meets AA in one way a combo


@pytest.mark.parametrize(
    ("board", "first", "second"),
    [
        ("QsJh2h7c", "AhKh", "QdQc"),
        ("QsJh2h7c", "2s2d", "AhKh"),
        ("Ts9s8s2d", "AsKd", "7s6s"),
        ("QsJh2h7c3d", "AhKh", "AdKd"),
        ("5s5h5d5c2s", "AhKh", "AdQd"),
    ],
)
def test_counts_of_two_combos_agree_with_dealing_every_card(
    board: str, first: str, second: str
) -> None:
    cards = parse_board(board)
    combos = parse_combo(first), parse_combo(second)
    counts = matchups(cards, np.array([combos[0]]), np.array([combos[1]]))
    wins, ties, losses = naive.matchup(
        COMBO_CARDS[combos[0]].tolist(), COMBO_CARDS[combos[1]].tolist(), cards
    )
    assert (counts.wins[0, 0], counts.ties[0, 0]) == (wins, ties)
    assert counts.runouts == wins + ties + losses


def weighted(text: str) -> list[tuple[list[int], float]]:
    weights = Range.parse(text).weights
    return [(COMBO_CARDS[c].tolist(), float(weights[c])) for c in np.flatnonzero(weights)]


@pytest.mark.parametrize(
    ("first", "second", "board"),
    [
        ("AA,KQs:0.5", "QQ:0.25,AsKs,76s", "QsJh2h7c9c"),
        ("AhAs,KhQh:0.5", "QdQc:0.25,AdKd,7h6h", "QsJh2h7c"),
    ],
)
def test_ranges_agree_with_counting_pair_by_pair(first: str, second: str, board: str) -> None:
    cards = parse_board(board)
    result = equity(Range.parse(first), Range.parse(second), cards)
    expected = naive.range_equity(weighted(first), weighted(second), cards)
    assert result.first == pytest.approx(expected, abs=1e-12)
    assert result.win + result.tie + result.lose == pytest.approx(1)


def test_a_flop_by_hand_agrees_with_dealing_every_card() -> None:
    board = parse_board("Ks7d2c")
    expected = naive.range_equity(weighted("AhAs"), weighted("KhKd:0.5"), board)
    assert equity(Range.parse("AhAs"), Range.parse("KhKd:0.5"), board).first == pytest.approx(
        expected, abs=1e-12
    )


ranges = st.sampled_from(["AA,AKs", "22+", "AsKs,QhJh:0.5", "T9s,98s,AKo", "A2s+,K9o+:0.3"])


@settings(max_examples=30)
@given(
    ranges,
    ranges,
    st.lists(st.integers(0, 51), min_size=3, max_size=5, unique=True),
    st.integers(0, 23),
)
def test_zero_sum_and_names_of_suits_do_not_matter(
    first: str, second: str, board: list[int], permutation: int
) -> None:
    pair = Range.parse(first), Range.parse(second)
    try:
        result = equity(*pair, tuple(board))
    except InputError:
        return  # a blocked range
    swapped = equity(pair[1], pair[0], tuple(board))
    assert result.first + result.second == pytest.approx(1)
    assert swapped.first == pytest.approx(result.second)
    renaming = COMBO_PERMUTATIONS[permutation]

    def renamed(given_range: Range) -> Range:
        weights = np.zeros(1326)
        weights[renaming] = given_range.weights
        return Range(weights)

    elsewhere = equity(
        renamed(pair[0]), renamed(pair[1]), tuple(CARD_PERMUTATIONS[permutation][board].tolist())
    )
    assert elsewhere.first == pytest.approx(result.first, abs=1e-12)


def test_equity_of_each_combo_averages_to_the_range() -> None:
    board = parse_board("QsJh2h")
    pair = Range.parse("TT+,AQs+:0.5"), Range.parse("22+,A2s+")
    result = equity(*pair, board)
    shares, weights = result.by_combo[0], pair[0].on(board).weights
    fits = disjoint_combos()
    against = fits @ pair[1].on(board).weights
    held = weights > 0
    mean = (shares * weights * against)[held].sum() / (weights * against)[held].sum()
    assert mean == pytest.approx(result.first)
    assert np.isnan(shares[~held]).all()


def test_a_combo_without_opponents_has_no_equity_rather_than_a_wrong_one() -> None:
    result = equity(Range.parse("AsAh,KsKh"), Range.parse("AsKd"), parse_board("2c3d4h"))
    assert np.isnan(result.by_combo[0][parse_combo("AsAh")])
    assert result.by_combo[0][parse_combo("KsKh")] > 0.5


@pytest.mark.parametrize(
    ("first", "second", "board", "message"),
    [
        (
            "QsQh",
            "AA",
            "QsJh2h",
            "the range 'QsQh' is blocked: every combo shares a card with the board QsJh2h",
        ),
        ("AA", "AA:0", "QsJh2h", "the range is empty: no combo has a weight above 0"),
        ("AsKs", "AsQs", "", "the two ranges block each other: no two combos differ in all cards"),
        ("AsKs", "AsQs", "2c3d4h", "the two ranges block each other on 2c3d4h"),
    ],
)
def test_impossible_meetings_say_why(first: str, second: str, board: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        equity(Range.parse(first), Range.parse(second), parse_board(board))
    assert message in str(caught.value)


def test_a_damaged_preflop_table_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache believes a file only if its checksum does."""
    from allstreets.base.cache import cache_path, cached_arrays

    monkeypatch.setenv("ALLSTREETS_CACHE", str(tmp_path))
    built = []

    def build() -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.uint32]]]:
        built.append(1)
        return {"wins": np.arange(1000, dtype=np.uint32)}

    for _ in range(2):
        assert cached_arrays("table", 1, build)["wins"][7] == 7
    assert len(built) == 1
    path = cache_path("table", 1)
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(bytes(content))
    assert cached_arrays("table", 1, build)["wins"][7] == 7
    assert len(built) == 2
    path.write_bytes(path.read_bytes()[:100])
    assert cached_arrays("table", 1, build)["wins"][7] == 7
    assert len(built) == 3
    assert cached_arrays("table", 2, build)["wins"][7] == 7  # another version, another file
    assert len(built) == 4


def test_ranges_and_boards_may_be_text() -> None:
    board = parse_board("QsJh2h")
    exact = equity(Range.parse("AKs"), Range.parse("QQ"), board)
    for text in (
        equity("AKs", "QQ", board="QsJh2h"),
        equity("AKs", Range.parse("QQ"), list(board)),
    ):
        assert (text.win, text.tie, text.pairs) == (exact.win, exact.tie, exact.pairs)
    assert equity("random", "100%").first == pytest.approx(0.5)
    with pytest.raises(InputError, match="has 2 cards"):
        equity("AKs", "QQ", board="QsJh")
