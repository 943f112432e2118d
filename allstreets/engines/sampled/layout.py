"""What the kernels of the sampled flop game read: the cards beside a flop, the betting as walked.

Axis letters: N nodes, I decision nodes of a player, C combos that fit beside the flop.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.cards import COMBO_CARDS, COMBO_MASKS, HAND_OF_COMBO, evaluator_tables, live_combos
from allstreets.cards.kernels.evaluator import SUIT_START
from allstreets.engines.sampled.kernels.deals import Cards
from allstreets.engines.sampled.kernels.flop import END, LAST, OTHER, OWN, Tree


def flop_cards(flop: tuple[int, ...]) -> Cards:
    """The flop and the combos that fit beside it, as the kernels read them."""
    tables = evaluator_tables()
    combos = np.flatnonzero(live_combos(flop))
    combos = combos[np.argsort(HAND_OF_COMBO[combos], kind="stable")]
    cards = COMBO_CARDS[combos]
    deck = np.setdiff1d(np.arange(52, dtype=np.uint8), np.array(flop, np.uint8))
    return Cards(
        cards=cards,
        masks=COMBO_MASKS[combos],
        keys=tables.card_keys[cards].sum(axis=1, dtype=np.uint64),
        suits=np.bitwise_or.reduce(tables.card_bits[cards], axis=1),
        hands=HAND_OF_COMBO[combos],
        deck=deck,
        flop_key=SUIT_START + tables.card_keys[list(flop)].sum(dtype=np.uint64),
        flop_suits=np.bitwise_or.reduce(tables.card_bits[list(flop)]),
    )


@dataclass(frozen=True, eq=False)
class Slots:
    """Where a player's actions are stored; his I decision nodes in the order of the tree."""

    first: Longs  # [N] first slot of each of his nodes, elsewhere −1
    start: Longs  # [I + 1] first slots in a row, and the number of slots
    before: Longs  # [I] slot of his last action on the way there, −1 if none


def own_slots(tree: BettingTree, player: Player) -> Slots:
    """Slots for all actions of a player."""
    nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.player == player))
    start = np.concatenate([[0], np.cumsum(tree.child_count[nodes], dtype=np.int64)])
    first = np.full(tree.node_count, -1, np.int64)
    first[nodes] = start[:-1]
    # The action that leads to each node, if it is his: the first slot of the node above, and the
    # place among its children.
    action = np.full(tree.node_count, -1, np.int64)
    child, above = tree.children, tree.parent[tree.children]
    place = np.arange(len(child)) - tree.first_child[above]
    action[child] = np.where(first[above] >= 0, first[above] + place, -1)
    at = nodes
    before = action[nodes]
    while (open_ := (before < 0) & (at > 0)).any():
        at = np.where(open_, tree.parent[at], at)
        before = np.where(open_, action[at], before)
    return Slots(first, start, before)


def walking_tree(tree: BettingTree, payoffs: Floats, slots: list[Slots], player: Player) -> Tree:
    """The betting as `player` walks it.

    Nodes are numbered in the order of `tree.children`, the root before them, so that siblings stand
    side by side. In the place of a node where a card falls stands the node below it.
    """
    node = np.concatenate([[0], tree.children])
    falls = tree.kind[node] == NodeKind.CHANCE
    node[falls] = tree.children[tree.first_child[node[falls]]]
    decides = tree.kind == NodeKind.DECISION
    goes_on = np.bincount(tree.parent[1:][~tree.is_terminal[1:]], minlength=tree.node_count) > 0
    theirs = np.where(goes_on, OTHER, LAST)
    kind = np.where(decides, np.where(tree.player == player, OWN, theirs), END)
    columns = [
        kind,
        tree.child_count,
        4 * (1 + tree.first_child),
        np.maximum(slots[0].first, slots[1].first),
    ]
    nodes = np.stack(columns, axis=1)[node].astype(np.uint32)
    results = nodes.view(np.float32)
    ends = tree.is_terminal[node]
    results[ends, 1:] = payoffs[node[ends], player]
    return Tree(nodes.reshape(-1), results.reshape(-1))
