"""Damaged hand histories are read or listed as skipped, and never stop the reader."""

from collections.abc import Iterator

import pytest
from builders.played_hands import play, site_text
from harness.fuzzing import damaged_cases, internal_errors
from interop.test_reading import TEXT, TWICE

from allstreets.interop import read_text
from allstreets.interop.hand_histories import decode

QUICK, LONG = 200, 40_000
HANDS = 20  # of each kind


def valid() -> list[bytes]:
    """Hands in every format, and files of several."""
    hands = [play(seed) for seed in range(HANDS)]
    alone = [TEXT, TWICE]
    for hand in hands:
        alone += [hand.phh, site_text(hand), site_text(hand, "GGPoker")]
    several = "\n".join(f"[{number}]\n{hand.phh}" for number, hand in enumerate(hands[:3], 1))
    return [one.encode() for one in [*alone, several, TEXT + site_text(hands[0])]]


def read(data: bytes) -> None:
    """As `read_hands` reads a file; what it says of it is one short line for each hand."""
    for phh in (False, True):
        found = read_text(decode(data), "hands.txt", phh=phh)
        assert found.hands or found.skipped
        for one in found.skipped:
            assert one.line >= 1
            assert len(one.reason) <= 200
            assert one.reason.isprintable()
        for hand in found.hands:
            assert sum(hand.results) == -hand.rake
            list(hand.moments())


def cases(count: int) -> Iterator[tuple[int, bytes]]:
    return damaged_cases(valid(), count)


def test_some_damaged_hands() -> None:
    assert internal_errors(read, cases(QUICK), ()) == []


@pytest.mark.thorough
def test_many_damaged_hands() -> None:
    assert internal_errors(read, cases(LONG), ()) == []
