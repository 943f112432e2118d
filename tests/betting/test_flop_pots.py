"""The pots that see a flop, and the rules of the games that follow."""

import numpy as np
import pytest
from betting.random_preflop import Game, preflop_games
from hypothesis import given

from allstreets.betting import (
    BIG_BLINDS,
    FlopPot,
    NodeKind,
    PostflopRules,
    PreflopRules,
    Street,
    build_postflop_tree,
    build_preflop_tree,
    flop_pots,
    line_text,
    neat,
    paid_at,
    parse_line,
    postflop_rules,
    same_sizes,
)

SIZES = same_sizes(Street.FLOP, "50%", "60%")


def test_the_pots_of_twenty_big_blinds() -> None:
    tree = build_preflop_tree(PreflopRules.parse(20))
    pots = flop_pots(tree)
    found = [
        (line_text(tree, pot.node, notation=BIG_BLINDS), pot.name, pot.raises, pot.pot, pot.stack)
        for pot in pots
    ]
    assert found == [
        ("c x", "limped", 0, 200, 1900),
        ("c r2.5 c", "raised", 1, 500, 1750),
        ("c r2.5 r6.25 c", "3-bet", 2, 1250, 1375),
        ("c r2.5 r6.25 r15.63 c", "4-bet", 3, 3126, 437),
        ("r2.5 c", "raised", 1, 500, 1750),
        ("r2.5 r6.25 c", "3-bet", 2, 1250, 1375),
        ("r2.5 r6.25 r15.63 c", "4-bet", 3, 3126, 437),
    ]
    assert pots[0].spr == 9.5


def test_antes_are_in_the_pot() -> None:
    tree = build_preflop_tree(PreflopRules.parse(200, ante=0.1, raise_cap=5))
    node = parse_line(tree, "r2.5 r6.25 r15.63 r39.08 r97.7 c", notation=BIG_BLINDS).node
    pots = {pot.node: pot for pot in flop_pots(tree)}
    assert pots[node] == FlopPot(node, 2 * 9780, 20_000 - 9780, 5, "6-bet")


@given(preflop_games())
def test_half_of_every_pot_is_each_player_s(game: Game) -> None:
    """So a result relative to half the pot of the flop is one relative to the chips put in.

    An ante that the big blind posts for both is accounted for.
    """
    _, rules, tree = game
    pots = flop_pots(tree)
    assert [pot.node for pot in pots] == np.flatnonzero(tree.kind == NodeKind.CHANCE).tolist()
    for pot in pots:
        assert pot.bb_ante == rules.bb_ante
        own = neat((pot.pot - pot.bb_ante) / 2)
        assert (tree.invested[pot.node] == own).all()
        assert pot.stack == neat(rules.playing_stack - own) > 0
        oop, ip = paid_at(tree, pot.bb_ante, pot.node)
        assert (oop, ip) == pytest.approx((own + rules.bb_ante, own))
        assert (pot.raises == 0) == (pot.name == "limped")


def test_a_tree_from_the_flop_on_has_no_such_pots() -> None:
    tree = build_postflop_tree(PostflopRules(Street.FLOP, 100, 500, SIZES))
    assert (tree.kind == NodeKind.CHANCE).any()
    assert flop_pots(tree) == ()


def test_the_game_after_the_flop_keeps_the_rake() -> None:
    rules = PreflopRules.parse(20, rake=0.05, rake_cap=0.5)
    limped = flop_pots(build_preflop_tree(rules))[0]
    found = postflop_rules(limped, SIZES, rules, force_allin_threshold=0.1, max_raises=2)
    assert found == PostflopRules(
        Street.FLOP,
        200,
        1900,
        SIZES,
        force_allin_threshold=0.1,
        rake=0.05,
        rake_cap=50,
        max_raises=2,
        chips_per_bb=100,
        min_bet=100,
        grains=1,
    )
