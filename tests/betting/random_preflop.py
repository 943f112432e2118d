"""Random rules of the betting before the flop, for tests of laws that hold in every game."""

from typing import Any, NamedTuple

from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import BettingTree, PreflopRules, build_preflop_tree

LARGEST_TREE = 2000

thousandths = st.integers(1, 4000).map(lambda count: count / 1000)
raise_sizes: st.SearchStrategy[str | float] = st.one_of(
    st.integers(1001, 6000).map(lambda count: count / 1000),
    st.integers(2, 5),
    st.integers(1001, 4000).map(lambda count: f"{count / 1000}x"),
    st.integers(1, 3000).map(lambda count: f"{count / 100}bb"),
    thousandths.map(lambda share: f"{share * 100:.1f}%").filter(lambda text: text != "0.0%"),
    st.integers(1, 3000).map(lambda count: f"{count}c"),
    st.just("a"),
)


class Game(NamedTuple):
    """Rules as a person writes them, as we read them, and their tree."""

    written: dict[str, Any]
    rules: PreflopRules
    tree: BettingTree


@st.composite
def preflop_games(draw: st.DrawFn) -> Game:
    """Random rules with everything in them; where the tree would be large, with fewer raises."""
    small_blind, big_blind = draw(
        st.sampled_from([(0.5, 1), (0.5, 1), (0.5, 1), (0.4, 1), (0, 1), (1, 1), (1, 2)])
    )
    written: dict[str, Any] = {
        "stack_depth": draw(st.integers(100, 30_000) | st.integers(1, 300)) / 100,
        "raise_sizes": draw(st.lists(st.lists(raise_sizes, max_size=2), max_size=3)),
        "raise_cap": draw(st.none() | st.integers(0, 5)),
        "ante": draw(st.sampled_from([0, 0, 0.1, 0.125, 0.25, 1])),
        "bb_ante": draw(st.sampled_from([0, 0, 0.005, 1])),
        "limp": draw(st.booleans() | st.just(True)),
        "allin": draw(st.sampled_from(["always", "always", "never", 0.7, 4])),
        "small_blind": small_blind,
        "big_blind": big_blind,
        "force_allin_threshold": draw(st.sampled_from([0.0, 0.0, 0.1, 0.35])),
        "rake": draw(st.sampled_from([0.0, 0.05])),
        "rake_cap": draw(st.sampled_from([None, 0, 0.035, 3])),
        "no_flop_no_drop": draw(st.booleans()),
    }
    if written["bb_ante"] >= written["stack_depth"]:
        written["bb_ante"] = 0
    rules = PreflopRules.parse(**written)
    try:
        return Game(written, rules, build_preflop_tree(rules, LARGEST_TREE))
    except InputError as error:
        written["raise_cap"] = 3
        if "could only fold" in str(error):
            written["limp"] = True
        rules = PreflopRules.parse(**written)
        return Game(written, rules, build_preflop_tree(rules))
