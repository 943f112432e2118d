"""What a hand is worth to both players where it ends.

Results are in chips and relative to an even split of the starting pot:

    result = chips received − chips invested since the root − starting pot / 2

so that both results add up to minus the rake, and to 0 without one. A player's share of the
starting pot, as solvers print it, is his result + starting pot / 2. Before the flop the starting
pot is 0, and blinds and antes are invested.

Whoever folds loses what he has put in. The part of a bet that nobody called goes back to the
bettor and is never raked: what the house takes is min(rake · matched pot, cap), where the matched
pot is the starting pot and twice the smaller investment. It comes from whoever wins the pot, by a
showdown or by a fold, and from both halves when the pot is split. Before the flop most houses take
nothing from a fold (`no_flop_no_drop`).
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from allstreets.betting.preflop_rules import PreflopRules
from allstreets.betting.rules import PostflopRules
from allstreets.betting.table import IP, OOP
from allstreets.betting.tree import BettingTree, NodeKind, read_only


class Outcome(IntEnum):
    """The last axis of `payoffs`."""

    WIN = 0
    TIE = 1
    LOSE = 2


def payoffs(tree: BettingTree, rules: PostflopRules | PreflopRules) -> NDArray[np.float64]:
    """[N,2,3]: the result of OOP and IP at each node if he wins, ties or loses the showdown.

    At a FOLD all three are the same: the result of having folded, or of the fold of the other.
    Nodes where the hand goes on hold zeros.
    """
    half = tree.pot / 2
    matched = tree.invested.min(axis=1)  # [N]
    rake = rakes(tree, rules)
    results = np.zeros((tree.node_count, 2, 3))

    shown = tree.kind == NodeKind.SHOWDOWN
    results[shown, :, Outcome.WIN] = (half + matched - rake)[shown, None]
    results[shown, :, Outcome.TIE] = (-rake / 2)[shown, None]
    results[shown, :, Outcome.LOSE] = (-half - matched)[shown, None]

    for player in (OOP, IP):
        folded = (tree.kind == NodeKind.FOLD) & (tree.player == player)
        results[folded, player] = (-half - matched)[folded, None]
        results[folded, player.opponent] = (half + matched - rake)[folded, None]
    return read_only(results)


def rakes(tree: BettingTree, rules: PostflopRules | PreflopRules) -> NDArray[np.float64]:
    """[N]: the rake if the hand ended at each node, whoever wins."""
    matched_pot = tree.pot + 2.0 * tree.invested.min(axis=1)
    cap = np.inf if rules.rake_cap is None else rules.rake_cap
    rake: NDArray[np.float64] = np.minimum(rules.rake * matched_pot, cap)
    if isinstance(rules, PreflopRules) and rules.no_flop_no_drop:
        rake[tree.kind == NodeKind.FOLD] = 0.0
    return rake
