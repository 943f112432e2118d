"""Random rules and their trees, for tests of laws that hold in every game."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import strategies as st

from allstreets.base import InputError
from allstreets.betting import (
    BetSize,
    BettingTree,
    PlayerSizes,
    PostflopRules,
    Street,
    build_postflop_tree,
)
from allstreets.betting.sizes import (
    AllIn,
    BigBlinds,
    Chips,
    Geometric,
    PotShare,
    TimesLastBet,
)

LARGEST_TREE = 1000

decimals = st.integers(1, 3000).map(lambda thousandths: Decimal(thousandths) / 1000)
bet_sizes: st.SearchStrategy[BetSize] = st.one_of(
    decimals.map(PotShare),
    decimals.map(BigBlinds),
    st.integers(1, 100).map(Chips),
    st.builds(Geometric, st.none() | st.integers(1, 4), st.none() | decimals),
    st.just(AllIn()),
)
raise_sizes: st.SearchStrategy[BetSize] = st.one_of(
    bet_sizes, decimals.map(lambda factor: TimesLastBet(factor + 1))
)
no_sizes: st.SearchStrategy[list[BetSize]] = st.just([])


@st.composite
def postflop_rules(draw: st.DrawFn) -> PostflopRules:
    """Rules with everything in them: donks, thresholds, rake, caps, any street, any stack."""
    street = draw(st.sampled_from([Street.FLOP, Street.TURN, Street.RIVER]))
    threshold = st.sampled_from([0.0, 0.07, 0.1, 0.25])

    def sizes(may_donk: bool) -> PlayerSizes:
        donk = draw(st.none() | st.lists(bet_sizes, max_size=2)) if may_donk else None
        return PlayerSizes(
            tuple(draw(st.lists(bet_sizes, min_size=1, max_size=3) | no_sizes)),
            tuple(draw(st.lists(raise_sizes, min_size=1, max_size=2) | no_sizes)),
            None if donk is None else tuple(donk),
        )

    return PostflopRules(
        street=street,
        pot=draw(st.integers(1, 400)),
        stack=draw(st.integers(200, 3000) | st.integers(0, 200)),
        sizes=tuple((sizes(later > street), sizes(False)) for later in Street if later >= street),
        add_allin_threshold=draw(st.sampled_from([0.0, 0.5, 1.5])),
        force_allin_threshold=draw(threshold),
        merging_threshold=draw(threshold),
        rake=draw(st.sampled_from([0.0, 0.05])),
        rake_cap=draw(st.sampled_from([None, 0.0, 3.5])),
        max_raises=draw(st.sampled_from([None, None, 0, 1, 2])),
        chips_per_bb=(big_blind := draw(st.sampled_from([2, 10, 100]))),
        min_bet=draw(st.sampled_from([0, big_blind])),
    )


@st.composite
def games(draw: st.DrawFn) -> tuple[PostflopRules, BettingTree]:
    """Random rules with their tree; where it would be large, only the last streets are played."""
    rules = draw(postflop_rules())
    while True:
        try:
            return rules, build_postflop_tree(rules, LARGEST_TREE)
        except InputError:
            rules = smaller(rules)


def smaller(rules: PostflopRules) -> PostflopRules:
    """The same rules from a street later on, and in the end with fewer raises."""
    if rules.street == Street.RIVER:
        return replace(rules, max_raises=2)
    oop, ip = rules.sizes[1]
    return replace(
        rules,
        street=Street(rules.street + 1),
        sizes=((replace(oop, donk=None), ip), *rules.sizes[2:]),
    )
