"""Where a hand is over: who won what."""

from dataclasses import replace
from typing import Literal

import numpy as np

from allstreets.betting import NodeKind, Outcome, Player, Street
from allstreets.explorer.models.place import End
from allstreets.explorer.views.betting import Betting
from allstreets.explorer.views.figures import grids
from allstreets.solutions import Decision, Evs

ENDS = (NodeKind.FOLD, NodeKind.SHOWDOWN)


def end(betting: Betting, node: int, scene: Decision) -> End:
    """The end at a node."""
    tree, seats = betting.tree, betting.notation.seats
    pot, rake = tree.pot_at(node), rake_at(betting, node)
    less = f" (after {betting.amount_words(rake)} of rake)" if rake > 0 else ""
    amount = f"{betting.amount_words(pot - rake)}{less}"
    if tree.kind[node] == NodeKind.FOLD:
        folded = Player(int(tree.player[node]))
        text = f"{seats[folded]} folds, {seats[folded.opponent]} wins {amount}"
        return End(how="fold", text=text, grids=grids(scene))
    how: Literal["allin", "showdown"] = "allin" if tree.street[node] < Street.RIVER else "showdown"
    text = f"Showdown for {amount}"
    if how == "allin":
        text = f"All-in for {amount}: the rest of the board is dealt, and the better hand wins"
    return End(how=how, text=text, grids=grids(scene))


def rake_at(betting: Betting, node: int) -> float:
    """What the house takes where a hand ends, in chips."""
    shown = betting.tree.kind[node] == NodeKind.SHOWDOWN
    return -float(betting.payoffs[node, :, Outcome.TIE if shown else Outcome.WIN].sum())


def ended(scene: Decision, betting: Betting, node: int) -> Decision:
    """The same place; where a hand ends, hands are worth their share of the pot.

    Who folds has no share, whatever he holds, and the other one has it all.
    """
    tree = betting.tree
    if tree.kind[node] not in ENDS:
        return scene
    pot = scene.unit.amount(tree.pot_at(node) - rake_at(betting, node))
    folded = int(tree.player[node]) if tree.kind[node] == NodeKind.FOLD else None

    def evs() -> Evs:
        shares = scene.equities
        if folded is not None:
            oop, ip = (np.full(len(shares[p]), float(p != folded)) for p in Player)
            shares = oop, ip
        return Evs((shares[0] * pot - scene.paid[0], shares[1] * pot - scene.paid[1]))

    return replace(scene, evaluate=evs)
