"""Results where a hand ends: by hand, and chips conserved in random games."""

import numpy as np
import pytest
from betting.random_games import games
from hypothesis import given

from allstreets.betting import (
    IP,
    OOP,
    BettingTree,
    NodeKind,
    Outcome,
    PostflopRules,
    Street,
    build_postflop_tree,
    parse_line,
    payoffs,
    rakes,
    same_sizes,
)

Game = tuple[PostflopRules, BettingTree]


def results(line: str, rake: float = 0.0, rake_cap: float | None = None) -> list[list[float]]:
    """Results of OOP and IP at the end of a line, pot 100 and 500 behind on the river."""
    rules = PostflopRules(
        Street.RIVER,
        100,
        500,
        same_sizes(Street.RIVER, "60%", "100%"),
        rake=rake,
        rake_cap=rake_cap,
    )
    tree = build_postflop_tree(rules)
    found: list[list[float]] = payoffs(tree, rules)[parse_line(tree, line).node].tolist()
    return found


def test_showdowns_by_hand() -> None:
    assert results("x x") == [[50, 0, -50]] * 2
    assert results("b60 c") == [[110, 0, -110]] * 2


def test_who_folds_loses_what_he_has_put_in() -> None:
    """IP folds to the bet: his half of the pot. OOP folds to the raise to 280: that and his 60."""
    assert results("b60 f") == [[50] * 3, [-50] * 3]
    assert results("b60 r280 f") == [[-110] * 3, [110] * 3]


def test_rake_comes_from_the_winner_and_from_both_halves_of_a_split_pot() -> None:
    assert results("b60 c", rake=0.05) == [[110 - 11, -5.5, -110]] * 2
    assert results("b60 c", rake=0.05, rake_cap=3) == [[110 - 3, -1.5, -110]] * 2


def test_the_uncalled_part_of_a_bet_is_not_raked() -> None:
    assert results("b60 f", rake=0.05) == [[50 - 5] * 3, [-50] * 3]
    assert results("b60 r280 f", rake=0.05) == [[-110] * 3, [110 - 11] * 3]
    assert results("b60 r280 f", rake=0.05, rake_cap=4) == [[-110] * 3, [110 - 4] * 3]


@given(games())
def test_chips_are_conserved(game: Game) -> None:
    rules, tree = game
    values = payoffs(tree, rules)
    rake = rakes(tree, rules)
    shown = tree.kind == NodeKind.SHOWDOWN
    folded = tree.kind == NodeKind.FOLD
    for outcome, other in ((Outcome.WIN, Outcome.LOSE), (Outcome.TIE, Outcome.TIE)):
        total = values[shown, OOP, outcome] + values[shown, IP, other]
        np.testing.assert_allclose(total, -rake[shown], atol=1e-9)
    np.testing.assert_allclose(
        values[folded].sum(axis=1), -np.repeat(rake[folded, None], 3, axis=1), atol=1e-9
    )
    assert not values[~tree.is_terminal].any()
    assert np.isfinite(values).all()
    if rules.rake == 0 or rules.rake_cap == 0:
        assert not rake.any()


@given(games())
def test_a_fold_costs_what_was_put_in_and_wins_no_more(game: Game) -> None:
    rules, tree = game
    values = payoffs(tree, rules)
    for node in np.flatnonzero(tree.kind == NodeKind.FOLD).tolist():
        folder = int(tree.player[node])
        lost = -rules.pot / 2 - tree.invested[node, folder]
        assert (values[node, folder] == lost).all()
        assert values[node, 1 - folder, 0] == pytest.approx(-lost - rakes(tree, rules)[node])
