"""Where nobody acts any more: who won what, and how ranges change with the last action."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import NodeKind, Outcome, Player, Street
from allstreets.explorer.models.place import End
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.figures import grids
from allstreets.explorer.views.scene import Floats, Scene

ENDS = (NodeKind.FOLD, NodeKind.SHOWDOWN)


def end(betting: Betting, node: int, results: NDArray[np.float64], scene: Scene) -> End:
    """The end at a node; `results` [N, 2, 3] are the tree's payoffs."""
    tree = betting.tree
    pot, rake = tree.pot_at(node), rake_at(betting, node, results)
    less = f" (after {betting.amount_words(rake)} of rake)" if rake > 0 else ""
    amount = f"{betting.amount_words(pot - rake)}{less}"
    if tree.kind[node] == NodeKind.FOLD:
        folded = Player(int(tree.player[node]))
        text = f"{betting.seats[folded]} folds, {betting.seats[folded.opponent]} wins {amount}"
        return End(how="fold", text=text, grids=grids(scene, betting.seats))
    how: Literal["allin", "showdown"] = "allin" if tree.street[node] < Street.RIVER else "showdown"
    text = f"Showdown for {amount}"
    if how == "allin":
        text = f"All-in for {amount}: the rest of the board is dealt, and the better hand wins"
    return End(how=how, text=text, grids=grids(scene, betting.seats))


def rake_at(betting: Betting, node: int, results: NDArray[np.float64]) -> float:
    """What the house takes where a hand ends, in chips."""
    if betting.tree.kind[node] == NodeKind.SHOWDOWN:
        return -float(results[node, :, Outcome.TIE].sum())
    return -float(results[node, :, Outcome.WIN].sum())


def end_evs(betting: Betting, node: int, results: NDArray[np.float64], scene: Scene) -> Scene:
    """The scene with what hands are worth where a hand ends: their share of the pot.

    Who folds has no share, whatever he holds, and the other one has it all.
    """
    tree = betting.tree
    pot = betting.amount(tree.pot_at(node) - rake_at(betting, node, results))
    folded = int(tree.player[node]) if tree.kind[node] == NodeKind.FOLD else None
    sides = []
    for player, (side, paid) in enumerate(zip(scene.sides, scene.paid, strict=True)):
        share = side.equity if folded is None else np.full(len(side.reach), float(player != folded))
        sides.append(replace(side, evs=share * pot - paid))
    return replace(scene, sides=(sides[0], sides[1]))


def acted(reach: Floats, chances: Floats) -> Floats:
    """[H]: what is left of a reach by an action."""
    return reach * np.nan_to_num(chances)
