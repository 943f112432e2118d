"""The decisions of a street: where they are stored, and what a solution says at one of them.

Nothing here needs a kernel, so that what is stored can be shown without loading any.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BettingTree, NodeKind, Player, Street


def deal_streets(tree: BettingTree, run_out: bool = False) -> list[Street]:
    """The streets of a tree from the first one to the last on which a card is dealt.

    Where all-ins are `run_out`, cards are dealt up to the river whatever the betting.
    """
    return [
        street
        for street in Street
        if street == tree.first_street
        or (run_out and street > tree.first_street)
        or bool(((tree.kind == NodeKind.CHANCE) & (tree.street == street - 1)).any())
    ]


@dataclass(frozen=True)
class NodeSlots:
    """Where a street's decision nodes stand in the stored arrays of their player."""

    slot: dict[int, int]  # tree node → actions of that player's nodes before it
    number: dict[int, int]  # tree node → that player's nodes before it
    actions: tuple[int, int]  # of all nodes of OOP, IP
    nodes: tuple[int, int]


def node_slots(tree: BettingTree, street: Street) -> NodeSlots:
    """Number the decision nodes of a street in the order of the tree."""
    actions, nodes = [0, 0], [0, 0]
    slot, number = {}, {}
    for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street)).tolist():
        player = int(tree.player[node])
        slot[node], number[node] = actions[player], nodes[player]
        actions[player] += int(tree.child_count[node])
        nodes[player] += 1
    return NodeSlots(slot, number, (actions[0], actions[1]), (nodes[0], nodes[1]))


@dataclass(frozen=True)
class NodeNumbers:
    """The solution at one decision node on one board; H hands of a player there."""

    player: Player
    combos: tuple[Longs, Longs]  # [H] of OOP and IP
    reach: tuple[Floats, Floats]  # [H] of OOP and IP: range weight times own actions so far
    met: tuple[Floats, Floats]  # [H] of OOP and IP: reach of the other's hands that fit beside it
    strategy: Floats  # [A, H] of the player who acts
    action_values: Floats  # [A, H]: his result in chips, relative to half the starting pot
    values: tuple[Floats, Floats]  # [H] of OOP and IP: result when both play on
    equity: tuple[Floats, Floats] | None = None  # [H] of OOP and IP, where it is known already
