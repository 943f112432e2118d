"""Cards and boards."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.cards import card_text, cards_text, parse_board, parse_card, parse_cards


def test_numbering_is_rank_major_with_suits_c_d_h_s() -> None:
    assert [card_text(card) for card in (0, 1, 2, 3, 4, 48, 51)] == [
        "2c", "2d", "2h", "2s", "3c", "Ac", "As",
    ]  # fmt: skip


@given(st.integers(0, 51))
def test_every_card_reads_back(card: int) -> None:
    assert parse_card(card_text(card)) == card
    assert parse_card(card_text(card).lower()) == card


@given(st.lists(st.integers(0, 51), unique=True, max_size=7), st.sampled_from(["", " ", ",", ", "]))
def test_cards_read_back_in_every_spelling(cards: list[int], separator: str) -> None:
    assert parse_cards(separator.join(map(card_text, cards))) == tuple(cards)
    assert parse_cards(cards_text(cards)) == tuple(cards)


def test_ten_may_be_written_with_digits() -> None:
    assert parse_cards("10h 9h") == parse_cards("Th9h")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Qs Qs 2h", "'Qs Qs 2h' contains the card Qs twice"),
        ("Xs", "'Xs' is not a card: write a rank 23456789TJQKA and a suit cdhs, such as As or Td"),
        ("Qx", "'Qx' is not a card"),
        ("QsJ", "'QsJ' has an odd number of letters: every card takes two, as in Qs"),
        ("QsJh", "the board 'QsJh' has 2 cards: a flop has 3, a turn 4 and a river 5"),
        ("Qs", "the board 'Qs' has 1 card: "),
        ("QsJh2h3h4h5h", "the board 'QsJh2h3h4h5h' has 6 cards"),
    ],
)
def test_bad_boards_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_board(text)
    assert message in str(caught.value)
