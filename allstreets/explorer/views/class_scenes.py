"""Scenes out of decisions by hand class, as whole games and models of flops have them."""

import numpy as np

from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.explorer.views.ends import acted
from allstreets.explorer.views.scene import Floats, Scene, Side
from allstreets.solvers.class_node import NodeView

RARE = "play hardly ever gets here: the numbers are rough"
FLOP_EQUITY = "turn and river are averaged over: equity is that of the flop"
NO_EQUITY = "hands of a bucket play alike: their equity is not known here"
BUCKET_EVS = (
    "EVs of actions do not quite add up to the EV of the range: buckets meet without regard to the "
    "cards they hold, while frequencies are counted over real pairs of hands; and a hand lies in "
    "several buckets: the EV of its action is that of taking it in all of them"
)

Equities = tuple[Floats, Floats]


def no_equity() -> Equities:
    """Where a card model does not know it."""
    return np.full(HAND_COUNT, np.nan), np.full(HAND_COUNT, np.nan)


def class_scene(
    node: NodeView, board: tuple[int, ...], paid: tuple[float, float], equities: Equities
) -> Scene:
    """A decision; EVs and amounts are those of the node."""
    sides = [
        Side(
            combos=None,
            reach=node.reach[player],
            weights=node.weights[player],
            evs=node.node_evs.players[player],
            equity=equities[player],
        )
        for player in Player
    ]
    return Scene(
        board=board,
        pot=node.pot,
        paid=paid,
        sides=(sides[0], sides[1]),
        player=node.player,
        actions=node.actions,
        strategy=node.strategy,
        action_evs=node.action_evs,
        taken_evs=node.node_evs.taken,
        share=node.share,
        notes=(RARE,) if node.is_rare else (),
        settled=node.settled,
    )


def reach_after(node: NodeView, action: int) -> Floats:
    """[2, 169]: both players' reach after an action of a decision."""
    reach = node.reach.copy()
    reach[node.player] = acted(reach[node.player], node.strategy[action])
    return reach


def bare_scene(
    board: tuple[int, ...],
    pot: float,
    paid: tuple[float, float],
    reach: Floats,
    met: Floats,
    equities: Equities,
    evs: Floats | None = None,
) -> Scene:
    """Where nobody acts; `met` [2, 169] is what a hand meets of the other's."""
    sides = [
        Side(
            combos=None,
            reach=reach[player],
            weights=reach[player] * met[player],
            evs=np.full(HAND_COUNT, np.nan) if evs is None else evs[player],
            equity=equities[player],
        )
        for player in Player
    ]
    return Scene(board, pot, paid, (sides[0], sides[1]))
