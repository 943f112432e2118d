"""Expected losses of games with real cards, beside certificates of some that were trained."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allstreets.games import UNCERTAINTY, expected_loss

DOCS = Path(__file__).parents[2] / "docs" / "appendix" / "models.md"
# Stack, flops, river buckets, iterations: (whole, of it before the flop), as certified.
CERTIFIED = {
    (20, 15, 32, 57): (30.2, None),
    (20, 25, 64, 140): (18.3, None),
    (20, 95, 64, 260): (16.4, 8.6),
    (20, 95, 32, 150): (None, 10.6),
    (20, 184, 64, 160): (None, 3.41),
    (20, 1755, 16, 200): (None, 10.5),
    (10, 95, 48, 250): (None, 1.8),
    (100, 184, 32, 400): (None, 14.0),
    (100, 95, 48, 300): (None, 14.5),
}


@pytest.mark.parametrize("game", CERTIFIED)
def test_known_games(game: tuple[int, int, int, int]) -> None:
    guess = expected_loss(*game)
    for certified, guessed in zip(CERTIFIED[game], (guess.whole, guess.before), strict=True):
        if certified is not None:
            assert certified / UNCERTAINTY < guessed < certified * UNCERTAINTY


def test_the_docs_have_them() -> None:
    text = DOCS.read_text()
    for (stack, flops, buckets, iterations), (whole, before) in CERTIFIED.items():
        guess = expected_loss(stack, flops, buckets, iterations)
        certified, guessed = (whole, guess.whole) if whole else (before, guess.before)
        row = f"| {stack} bb | {flops:,} | {buckets} | {iterations} | "
        row += f"{'whole' if whole else 'before the flop'} | {certified:g} | {guessed:.1f} |"
        assert row in re.sub(r" +", " ", text)


SIZES = st.tuples(
    st.floats(2, 200), st.integers(10, 1755), st.integers(16, 240), st.integers(10, 5000)
)


@given(SIZES, st.integers(0, 3))
def test_more_is_worth_more(size: tuple[float, int, int, int], part: int) -> None:
    larger = tuple(value * (1.3 if at == part else 1) for at, value in enumerate(size))
    less, more = expected_loss(*size), expected_loss(*larger)  # type: ignore[arg-type]
    assert less.before >= 0
    assert less.after >= 0
    assert (more.whole > less.whole) if part == 0 else (more.whole < less.whole)
