"""A whole game written down by hand whose river has a closed form.

The small blind raises aces and threes to 2.5 bb and folds the rest; the big blind calls with kings
and folds the rest. Nobody bets before the river. On 7s7h7d9c2c aces beat kings and kings beat
threes, so that the small blind knows where he stands and the big blind does not. With a bet of b
pots (von Neumann's game):

- the small blind bets all aces, and threes so often that there are b/(1+b) of them per bet of aces;
- the big blind calls 1/(1+b) of the time.
"""

from typing import Any

import numpy as np

from allstreets.base import Arrays
from allstreets.betting import (
    CHIPS_PER_BB,
    IP,
    OOP,
    NodeKind,
    PlayerSizes,
    PreflopRules,
    build_preflop_tree,
    parse_line,
)
from allstreets.betting.words import BIG_BLINDS
from allstreets.cards import HAND_COUNT, parse_hand, preflop_equity
from allstreets.cards.flop_sets import parse_flop_set
from allstreets.games.whole_game import WholeGame
from allstreets.solutions.preflop import PreflopStrategies, SolutionFacts
from allstreets.solutions.whole_game import WholeSolution

ROOT_EVS = (-0.5, 0.3, 1.25)  # bb of the small blind's fold, limp and raise, for every hand
FACING_EVS = (-1.0, 0.75)  # bb of the big blind's fold and call


class Written:
    """A source of prepared random numbers."""

    stores_flops, rows = False, ()

    def __init__(self, before: PreflopStrategies) -> None:
        self.before = before

    def arrays(self, flop: int) -> Arrays:
        """Nothing is known after the flop."""
        del flop
        return {}


def polarised(river: str = "100%") -> WholeSolution:
    """The game; `river` are the sizes of its bets there."""
    rules = PreflopRules.parse(20, [2.5], 1, allin="never")
    nothing, bets = PlayerSizes(), PlayerSizes.parse(river, [])
    game = WholeGame(
        rules, ((nothing, nothing), (nothing, nothing), (bets, bets)), parse_flop_set(["7s7h7d"])
    )
    tree = build_preflop_tree(rules)
    pairs = preflop_equity().pairs.astype(np.float64)
    raised = parse_line(tree, "r2.5", notation=BIG_BLINDS).node
    strategies = {
        node: np.full((int(tree.child_count[node]), HAND_COUNT), 1 / tree.child_count[node])
        for node in np.flatnonzero(tree.kind == NodeKind.DECISION).tolist()
    }
    strategies[0][:] = _pure(3, 2, ["AA", "33"])
    strategies[raised][:] = _pure(2, 1, ["KK"])
    before = PreflopStrategies.known(tree, pairs, strategies, None)
    values = np.zeros((2, tree.node_count, HAND_COUNT))
    for node, player, evs in ((0, IP, ROOT_EVS), (raised, OOP, FACING_EVS)):
        met = before.reach[node, player.opponent] @ pairs
        for child, ev in zip(tree.children_of(node).tolist(), evs, strict=True):
            values[player, child] = CHIPS_PER_BB * ev * met
    source: Any = Written(PreflopStrategies.known(tree, pairs, strategies, values))
    return WholeSolution.game_of(game, source, SolutionFacts(1, "by hand", None))


def _pure(actions: int, chosen: int, hands: list[str]) -> np.ndarray[Any, Any]:
    """[A, 169]: some hands take one action, the others fold."""
    mix = np.zeros((actions, HAND_COUNT))
    mix[0] = 1.0
    for hand in hands:
        mix[:, parse_hand(hand)] = 0.0
        mix[chosen, parse_hand(hand)] = 1.0
    return mix
