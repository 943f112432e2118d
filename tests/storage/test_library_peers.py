"""Ready-made games beside what others have published on short stacks with limps and min-raises.

A school for hyper-turbo games publishes parts of its equilibria. At 18 to 20 bb 94o always limps,
Q4o limps three times out of four, J8o and 95s raise often; folds are rare, and most hands limp.
Over a limp the big blind raises 38 % of hands at 12 to 25 bb and 48 % at 8 to 10.
"""

import pytest

from allstreets import load
from allstreets.solutions import WholeSolution


@pytest.mark.parametrize(
    ("name", "raises"), [("hu-20bb", 0.38), ("hu-12bb", 0.38), ("hu-10bb", 0.48)]
)
def test_raises_over_a_limp(name: str, raises: float) -> None:
    often = load(name, WholeSolution).at("c").decision.frequencies()
    assert 1 - often["x"] == pytest.approx(raises, abs=0.05)


def test_the_small_blind_at_20_bb() -> None:
    play = load("hu-20bb", WholeSolution).at().decision
    often = play.frequencies()
    assert max(often, key=lambda word: often[word]) == "c"
    assert often["f"] < 0.1
    assert play.hand("94o").frequencies["c"] > 0.95
    limps, raises = (play.hand("Q4o").frequencies[word] for word in ("c", "r2"))
    assert (limps, raises) == pytest.approx((0.75, 0.25), abs=0.1)
    assert 0.2 < play.hand("J8o").frequencies["r2"] < 0.8
    assert play.hand("95s").frequencies["r2"] > 0.7
    for hand in ("AA", "KK", "AKs", "A2o", "22"):
        assert play.hand(hand).frequencies["f"] < 1e-6
