"""The betting of a flop model: one tree for each stack-to-pot ratio, the same on every flop."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import (
    BettingTree,
    PostflopRules,
    Street,
    StreetSizes,
    build_postflop_tree,
    payoffs,
    same_sizes,
)

POT = 1000
"""Chips in the pot of every flop model. Only ratios matter: a chip is a thousandth of the pot, so
that rounding bets to whole chips moves no size by more than 0.05 % of the pot."""

LARGEST_SPR = 1000.0


@dataclass(frozen=True, eq=False)
class FlopGame:
    """What both players may do from the flop on when the stacks are `spr` pots deep."""

    spr: float
    rules: PostflopRules
    tree: BettingTree
    payoffs: NDArray[np.float64]  # [N, 2, 3], as `betting.payoffs` gives them

    @property
    def decisions(self) -> int:
        """How many decisions the tree has."""
        return sum(self.tree.decision_counts().values())

    @property
    def slots(self) -> int:
        """How many actions all decisions have together."""
        return int(self.tree.child_count[self.tree.player >= 0].sum())


def flop_game(
    spr: float,
    sizes: tuple[StreetSizes, ...] = same_sizes(Street.FLOP, [0.5, 1.0], [0.5, 1.0]),
    max_raises: int | None = 1,
) -> FlopGame:
    """The game of one stack-to-pot ratio; `sizes` are those of flop, turn and river."""
    stack = round(spr * POT)
    if not 1 <= stack <= LARGEST_SPR * POT:
        raise InputError(
            f"an SPR of {spr:g} cannot be played: stacks of {1 / POT:g} to {LARGEST_SPR:g} pots can"
        )
    rules = PostflopRules(
        street=Street.FLOP, pot=POT, stack=stack, sizes=sizes, max_raises=max_raises
    )
    tree = build_postflop_tree(rules)
    return FlopGame(spr, rules, tree, payoffs(tree, rules))
