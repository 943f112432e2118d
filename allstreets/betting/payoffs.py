"""The value of a hand to both players where it ends.

Results are in chips and relative to what a player has put in, half the starting pot included:

    result = chips received − chips invested since the root − starting pot / 2

so that both results add up to minus the rake, and to 0 without one. A player's share of the
starting pot, as solvers print it, is his result + starting pot / 2. Before the flop the starting
pot is 0, and blinds and antes are invested. A big-blind ante is in the starting pot, and OOP alone
has put it in: half of it is added to his half of the pot and taken from IP's.

A player who folds loses what he has put in. The uncalled part of a bet goes back to the
bettor and is never raked: what the house takes is min(rake · matched pot, cap), where the matched
pot is the starting pot and twice the smaller investment. It comes from the winner of the pot, by a
showdown or by a fold, and from both halves when the pot is split. Before the flop most houses take
nothing from a fold (`no_flop_no_drop`).
"""

from enum import IntEnum

import numpy as np

from allstreets.base import Floats
from allstreets.betting.preflop_rules import PreflopRules
from allstreets.betting.rules import PostflopRules
from allstreets.betting.table import IP, OOP
from allstreets.betting.tree import BettingTree, NodeKind, read_only


class Outcome(IntEnum):
    """The last axis of `payoffs`."""

    WIN = 0
    TIE = 1
    LOSE = 2


def payoffs(tree: BettingTree, rules: PostflopRules | PreflopRules) -> Floats:
    """[N,2,3]: the result of OOP and IP at each node if he wins, ties or loses the showdown.

    At a FOLD all three are the same: the result of having folded, or of the opponent's fold.
    Nodes where the hand continues have zeros.
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
    if rules.bb_ante:
        results[tree.is_terminal, OOP] -= rules.bb_ante / 2
        results[tree.is_terminal, IP] += rules.bb_ante / 2
    return read_only(results)


def paid_at(tree: BettingTree, bb_ante: float, node: int) -> tuple[float, float]:
    """The chips that OOP and IP have put in at a node: results are relative to them."""
    oop, ip = (tree.pot / 2 + tree.invested[node]).tolist()
    return oop + bb_ante / 2, ip - bb_ante / 2


def rakes(tree: BettingTree, rules: PostflopRules | PreflopRules) -> Floats:
    """[N]: the rake if the hand ended at each node, whichever player wins."""
    matched_pot = tree.pot + 2.0 * tree.invested.min(axis=1)
    cap = np.inf if rules.rake_cap is None else rules.rake_cap
    rake: Floats = np.minimum(rules.rake * matched_pot, cap)
    if isinstance(rules, PreflopRules) and rules.no_flop_no_drop:
        rake[tree.kind == NodeKind.FOLD] = 0.0
    return rake
