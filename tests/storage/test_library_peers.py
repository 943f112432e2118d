"""Ready-made games beside what others have published on short stacks with limps and min-raises.

A school for hyper-turbo games publishes parts of its equilibria. At 18 to 20 bb 94o always limps,
Q4o limps three times out of four, J8o and 95s raise often; folds are rare, and most hands limp.
Over a limp the big blind raises 38 % of hands at 12 to 25 bb and 48 % at 8 to 10.

robopoker tests its strategies by facts that hold in any good one: the worst hands fold the more the
worse they are, good hands defend against a small raise, aces are not only called with, and better
hands are worth more. Those of its tests that need 100 bb are left out.
"""

from functools import cache
from itertools import combinations, pairwise, product

import pytest

from allstreets import load
from allstreets.cards import HAND_NAMES
from allstreets.solutions import WholeSolution

RANKS = "AKQJT98765432"
RAISING = ("hu-12bb", "hu-15bb", "hu-20bb")
GAMES = ("hu-10bb", *RAISING)  # at 10 bb the small blind does not raise to 2 bb


@cache
def opened(name: str) -> WholeSolution:
    return load(name, WholeSolution)


@pytest.mark.parametrize(
    ("name", "raises"), [("hu-20bb", 0.38), ("hu-12bb", 0.38), ("hu-10bb", 0.48)]
)
def test_raises_over_a_limp(name: str, raises: float) -> None:
    often = opened(name).at("c").decision.frequencies()
    assert 1 - often["x"] == pytest.approx(raises, abs=0.05)


def test_the_small_blind_at_20_bb() -> None:
    play = opened("hu-20bb").at().decision
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


@pytest.mark.parametrize("name", GAMES)
def test_weak_hands_fold_in_order(name: str) -> None:
    play = opened(name).at().decision
    folds = [play.hand(hand).frequencies["f"] for hand in ("72o", "73o", "75o", "76o")]
    assert all(worse >= better - 1e-6 for worse, better in pairwise(folds))
    assert folds[0] > 0.95 > 0.05 > folds[-1]


@pytest.mark.parametrize("name", RAISING)
def test_the_big_blind_against_a_small_raise(name: str) -> None:
    play = opened(name).at("r2").decision
    for hand in ("87s", "76s", "KQo"):
        assert play.hand(hand).frequencies["f"] < 0.05
    assert play.hand("AA").frequencies["c"] < 0.95
    assert play.hand("AA").frequencies["f"] < 1e-6


@pytest.mark.parametrize(
    ("name", "line"),
    [*product(GAMES, ("", "c", "c r3")), *product(RAISING, ("r2",))],
)
def test_better_hands_are_worth_more(name: str, line: str) -> None:
    """Pairs in order, suited hands above offsuit ones; kickers too, but for aces with a small one.

    An ace with a five makes straights that one with a six does not.
    """
    evs = dict(zip(HAND_NAMES, opened(name).at(line).decision.evs().tolist(), strict=True))
    pairs = [evs[rank + rank] for rank in RANKS]
    assert all(better > worse - 1e-3 for better, worse in pairwise(pairs))
    for high, low in combinations(RANKS, 2):
        assert evs[f"{high}{low}s"] > evs[f"{high}{low}o"] - 0.005
    for high, suits in product(RANKS[:-2], "so"):
        for better, worse in pairwise(RANKS[RANKS.index(high) + 1 :]):
            least = -0.12 if high + better == "A6" else -0.035
            assert evs[high + better + suits] - evs[high + worse + suits] > least
