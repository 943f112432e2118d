"""Groups of river hands by strength and suits, against their definition spelled out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.shared_spot import suit_class

from allstreets.cards import COMBO_MASKS, parse_cards, runouts
from allstreets.engines.exact.buckets import suit_buckets, suit_street_buckets
from allstreets.engines.exact.cards import first_street, next_street


def live(board: tuple[int, ...]) -> np.ndarray:
    return np.flatnonzero((COMBO_MASKS & np.uint64(sum(1 << card for card in board))) == 0)


@settings(max_examples=12)
@given(
    st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True),
    st.integers(0, 2),
    st.randoms(use_true_random=False),
)
def test_groups_are_those_of_the_definition(cards, suits, random) -> None:  # type: ignore[no-untyped-def]
    if suits:  # two suits or one: flushes and draws on most boards
        cards = random.sample([card for card in range(52) if card % 4 < suits], 5)
    board = tuple(cards)
    combos = np.array(random.sample(live(board).tolist(), 120))
    groups = suit_buckets(board, combos)
    named: dict[object, int] = {}
    for combo, group in zip(combos.tolist(), groups.tolist(), strict=True):
        assert named.setdefault(suit_class(combo, board), group) == group
    assert sorted(named.values()) == list(range(len(named)))


def test_a_board_has_a_few_hundred_groups_at_most() -> None:
    for text in ("Ks8s3d5c2s", "Ks8s3d5c2h", "8h5d2cKhJd", "KsQsJs4s2s"):
        board = tuple(parse_cards(text))
        assert 20 < suit_buckets(board, live(board)).max() < 260, text


def test_shares_go_by_combos_or_by_the_range() -> None:
    flop = tuple(parse_cards("QsJh2h7s"))
    root = runouts(flop, [np.ones(1326)])
    combos = live(flop)
    turn = first_street(root, (combos, combos))
    streets = [turn, next_street(turn)]
    plain = suit_street_buckets(streets)
    assert plain[0] is None
    assert plain[1] is not None
    assert plain[1][0] is plain[1][1]
    rng = np.random.default_rng(3)
    weights = np.where(rng.random(169)[np.arange(1326) % 169] < 0.5, 0.0, 1.0)
    ranged = suit_street_buckets(streets, (weights, np.ones(1326)))[1]
    assert ranged is not None
    lists, hands = streets[1].lists[0], streets[1].hands[0]
    for board in (0, 5, 11):
        rows, share = ranged[0].of_board(lists, board)
        _, by_combos = plain[1][0].of_board(lists, board)
        for row in range(rows.max() + 1):
            mine = rows == row
            held = np.bincount(hands[board].hand, weights[hands[board].combos])[mine]
            want = held / held.sum() if held.sum() else np.full(len(held), 1 / len(held))
            assert share[mine] == pytest.approx(want, abs=1e-6)
            sizes = hands[board].sizes[mine]
            assert by_combos[mine] == pytest.approx(sizes / sizes.sum(), abs=1e-6)
