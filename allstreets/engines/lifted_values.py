"""A flop judged with real cards: what pots are worth against the strategies that are played there.

The pots of a flop share what depends on the cards only, and one pot after the other is played: no
more than one exact game is in memory at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_OF_COMBO, Flop
from allstreets.engines.device import Device
from allstreets.engines.exact.cards import every_combo
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.exact_factory import exact_subgame
from allstreets.engines.joined_trees import Trees
from allstreets.engines.lifting import RealPlay

LEAST_REACH = 1e-12
"""A pot to which the other player brings no hand more often than this is worth nothing."""


@dataclass(frozen=True, eq=False)
class RealValues:
    """[2, P, 169]: what the pots of a flop are worth by hand class, in chips times pairs of combos.

    The first axis is the player who holds the hands; the other one plays what is judged.
    """

    best: Floats  # by best responses that see every card
    own: Floats | None = None  # when the player does what is judged, too; None: not computed


def judge_flop(
    trees: Trees,
    flop: Flop,
    plays: Sequence[RealPlay],
    reach: Floats,
    *,
    own: bool = True,
    threads: int = 1,
    device: Device | None = None,
) -> RealValues:
    """Play the pots of a flop with real cards; `reach` [2, P, 169] is that of their roots.

    Those that are solved for it are solved on `device`; without one, here.
    """
    root, combos = every_combo(flop.cards)
    best, kept = np.zeros((2, 2, len(trees), HAND_COUNT))
    first: ExactSubgame | None = None
    # The smallest first: its players are all-in soonest, so that the others find its matrices.
    for pot in sorted(range(len(trees)), key=lambda number: trees[number][0].node_count):
        (tree, payoffs), play = trees[pot], plays[pot]
        if not (reach[:, pot].max(axis=1) > LEAST_REACH).any():
            continue
        game = exact_subgame(
            tree, payoffs, root, combos, threads, play.precision, first, play.sharing, play.learns,
            device,
        )  # fmt: skip
        play.give(game)
        hands = HAND_OF_COMBO[game.streets[0].combos(Player.OOP, 0)]
        for player in Player:
            opponent_reach = reach[player.opponent, pot][hands]
            best[player, pot] = np.bincount(
                hands, game.best_response(player, opponent_reach), HAND_COUNT
            )
            if own:
                kept[player, pot] = np.bincount(
                    hands, game.evaluate(player, opponent_reach), HAND_COUNT
                )
        first = first or game
    return RealValues(best, kept if own else None)
