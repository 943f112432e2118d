"""The `classes` model: 169 hands, turn and river integrated out.

A player knows his hand class and the betting, not the turn and the river. The facts of a flop are
then two matrices over pairs of classes: how many pairs of combos fit, and what they win from
each other on average over all runouts.
"""

from collections.abc import Sequence

import numpy as np

from allstreets.betting import POSTFLOP
from allstreets.cards import canonical_flop, flop_table, hand_cards, hand_combos
from allstreets.engines.matrix.cards import Stage


def class_stages(flop: Sequence[int]) -> tuple[Stage]:
    """The one stage of a flop; hands of the same class count alike, so suits may be renamed."""
    canonical = canonical_flop(flop).flop
    return (
        Stage(
            streets=POSTFLOP,
            combos=hand_combos(canonical.cards).astype(np.float64),
            cards=hand_cards(canonical.cards).astype(np.float64),
            margin=flop_table().margin(canonical.number),
        ),
    )
