"""Pots that go by the same ranges, and how far ranges move."""

import numpy as np
import pytest

from allstreets.cards import HAND_COUNT, parse_hand
from allstreets.engines.boards.rebucketing import RangeSets, moved, range_sets


def only(*names: str) -> np.ndarray:
    """[169]: a range of some hands."""
    found = np.zeros(HAND_COUNT)
    found[[parse_hand(name) for name in names]] = 1.0
    return found


def pots(*oop: np.ndarray) -> np.ndarray:
    """[2, P, 169]: pots that IP starts with all hands."""
    return np.stack([np.stack(oop), np.ones((len(oop), HAND_COUNT))])


def test_pots_whose_ranges_differ_least_share_a_set() -> None:
    ranges = pots(only("AA"), only("72o", "AA"), only("72o"), only("KK", "QQ"))
    found = range_sets(ranges, 4, 3)
    assert len(found.ranges) == 3
    assert found.of_pot[1] == found.of_pot[2]  # 72o is most of what both start with
    assert len(set(found.of_pot)) == 3
    own = found.ranges[found.of_pot[0], 0]
    assert own[parse_hand("AA")] == own.sum() == 1.0


def test_a_set_goes_by_what_its_pots_bring_together() -> None:
    """Six combos of one pot and twelve of the other are eighteen that are as likely."""
    found = range_sets(pots(only("AA"), only("72o")), 2, 1)
    assert found.of_pot == (0, 0)
    np.testing.assert_allclose(found.ranges[0, 0], only("AA", "72o"))
    # A pot that half as many pairs get to has half the say.
    ranges = pots(only("AA"), only("72o"))
    ranges[1, 0] = 0.5
    seldom = range_sets(ranges, 2, 1).ranges[0, 0]
    np.testing.assert_allclose(seldom, 0.5 * only("AA") + only("72o"))


def test_a_pot_that_is_seldom_played_goes_along_with_another() -> None:
    """Though its ranges differ more: little goes wrong by that."""
    ranges = pots(only("AA"), only("AA", "KK"), 0.001 * only("QQ"))
    assert range_sets(ranges, 3, 2).of_pot == (0, 1, 0)
    ranges[0, 2] *= 1000
    assert range_sets(ranges, 3, 2).of_pot == (0, 0, 1)


def test_without_ranges_all_pots_go_by_all_hands() -> None:
    found = range_sets(None, 5, 3)
    assert found.of_pot == (0,) * 5
    assert (found.ranges == 1.0).all()


@pytest.mark.parametrize(
    ("then", "now", "far"),
    [
        (("AA", "KK"), ("AA", "KK"), 0.0),
        (("AA",), ("KK",), 1.0),
        (("AA",), ("AA", "KK"), 1 / 2),
        (("AA", "AKs"), ("AA",), 4 / 10),  # six combos and four
    ],
)
def test_how_far_ranges_move_is_a_share_of_their_combos(
    then: tuple[str, ...], now: tuple[str, ...], far: float
) -> None:
    before, after = pots(only(*then)), pots(only(*now))
    found = moved(range_sets(before, 1, 3), range_sets(after, 1, 3), after)
    assert found == pytest.approx(far / 2)  # IP's have not moved


def test_a_pot_counts_by_the_pairs_of_hands_that_start_it() -> None:
    ranges = pots(only("AA"), only("72o"))  # six combos, and twelve
    before = RangeSets(np.stack([ranges[:, 1], ranges[:, 0]]), (1, 1))
    after = RangeSets(before.ranges, (1, 0))
    assert moved(before, after, ranges) == pytest.approx(1 / 2 * 12 / 18)
    assert moved(after, after, ranges) == 0.0


def test_a_game_without_pots_has_no_ranges_to_move() -> None:
    nothing = np.zeros((2, 0, HAND_COUNT))
    assert moved(range_sets(nothing, 0, 3), range_sets(nothing, 0, 3), nothing) == 0.0
