"""The pots that see a flop: where the betting before it ends with chips behind.

Both players have put in the same when a flop is seen, antes included: half the pot each. Results
after the flop are relative to half the pot of the subgame's start, results of the whole game to
what was put in since the deal. So they are the same number:

    whole = chips received − (pot / 2 + chips invested since the flop) = result of the subgame

A big-blind ante, which OOP alone has put in, is passed to the subgame (`bb_ante`).
"""

from dataclasses import dataclass

import numpy as np

from allstreets.betting.preflop_rules import PreflopRules
from allstreets.betting.rules import PostflopRules, StreetSizes
from allstreets.betting.table import CHIPS_PER_BB, OOP, Street
from allstreets.betting.tree import BettingTree, NodeKind

NAMES = ("limped", "raised")  # then 3-bet, 4-bet, …
POT_KINDS = ("limped", "raised", "3bet", "4bet")
"""The kinds of pots by which sizes after the flop may differ; the last has all later raises."""


@dataclass(frozen=True)
class FlopPot:
    """A leaf of the preflop tree where a flop is seen; amounts in chips."""

    node: int
    pot: float
    stack: float  # what each player has left
    raises: int
    name: str  # "limped", "raised", "3-bet", "4-bet", …; several pots may share one
    bb_ante: float = 0  # of the pot, what OOP has put in for both

    @property
    def kind(self) -> str:
        """The kind of pot, one of `POT_KINDS`."""
        return POT_KINDS[min(self.raises, len(POT_KINDS) - 1)]

    @property
    def spr(self) -> float:
        """Stack to pot ratio."""
        return self.stack / self.pot


def flop_pots(tree: BettingTree) -> tuple[FlopPot, ...]:
    """The pots of a preflop tree that see a flop, in pre-order."""
    seen = (tree.kind == NodeKind.CHANCE) & (tree.street == Street.PREFLOP)
    return tuple(_flop_pot(tree, node) for node in np.flatnonzero(seen).tolist())


def postflop_rules(
    pot: FlopPot,
    sizes: tuple[StreetSizes, ...],
    rules: PreflopRules,
    *,
    add_allin_threshold: float = 0.0,
    force_allin_threshold: float = 0.0,
    merging_threshold: float = 0.0,
    max_raises: int | None = None,
    min_bet: float | None = None,
) -> PostflopRules:
    """The rules of the game from the flop on; its rake is that of the whole game.

    A bet is at least a big blind; `min_bet` in chips overrides it.
    """
    return PostflopRules(
        street=Street.FLOP,
        pot=pot.pot,
        stack=pot.stack,
        sizes=sizes,
        add_allin_threshold=add_allin_threshold,
        force_allin_threshold=force_allin_threshold,
        merging_threshold=merging_threshold,
        rake=rules.rake,
        rake_cap=rules.rake_cap,
        max_raises=max_raises,
        chips_per_bb=CHIPS_PER_BB,
        min_bet=rules.big_blind if min_bet is None else min_bet,
        bb_ante=pot.bb_ante,
        grains=rules.grains,
    )


def _flop_pot(tree: BettingTree, node: int) -> FlopPot:
    actions = (tree.actions[step] for step in tree.path_to(node))
    raises = sum(action is not None and action.is_aggressive for action in actions)
    return FlopPot(
        node=node,
        pot=tree.pot_at(node),
        stack=tree.stack_at(node, OOP),
        raises=raises,
        name=NAMES[raises] if raises < len(NAMES) else f"{raises + 1}-bet",
        bb_ante=tree.pot,  # before the flop nothing else is in the middle from the start
    )
