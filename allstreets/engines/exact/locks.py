"""Strategies of an exact subgame that are given, and that no iteration changes."""

from typing import TYPE_CHECKING

import numpy as np

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import Player, Street
from allstreets.cards import COMBO_COUNT, HAND_OF_COMBO
from allstreets.engines.simd.vectors import LANES, LARGEST, narrow, widen

if TYPE_CHECKING:
    from allstreets.engines.exact.subgame import ExactSubgame


def play_locks(subgame: "ExactSubgame", first: int = 0) -> None:
    """Let hands play what the tree tells them, from a level on."""
    tree = subgame.tree
    for node, chances in tree.locks.items():
        level = subgame.levels.index(Street(int(tree.street[node])))
        if level < first:
            continue
        for number in range(len(subgame.boards[0][level].own_rows) - 1):
            subgame.put_strategy(level, number, node, np.array(chances)[None, :, None])
    if not first:
        play_hand_locks(subgame)


def play_hand_locks(subgame: "ExactSubgame") -> None:
    """The same for decisions of the first street that are locked for some hands."""
    for node, hands in subgame.tree.hand_locks.items():
        told = np.zeros((int(subgame.tree.child_count[node]), COMBO_COUNT))
        held = np.zeros(COMBO_COUNT, np.bool_)
        for hand, chances in hands.items():
            of_class = hand == HAND_OF_COMBO
            told[:, of_class] = np.array(chances)[:, None]
            held |= of_class
        lock_strategy(subgame, 0, 0, node, told, held)


def lock_strategy(
    subgame: "ExactSubgame",
    level: int,
    number: int,
    node: int,
    strategy: Floats,
    locked: Flags,
) -> None:
    """Let the `locked` combos [1326] play `strategy` [A, 1326] at a node on board `number`."""
    if subgame.sharing[level] is not None:
        raise InputError(
            f"lock: hands share strategies on the {subgame.levels[level].text}, so none of them "
            "can be locked there.\nLock nodes of other streets, or leave out river_groups"
        )
    player = Player(int(subgame.tree.player[node]))
    slots, boards = subgame.slots[level], subgame.boards[player][level]
    nodes, actions = slots.nodes[player], len(strategy)
    if not subgame.locked[level][player].size:
        size = int(boards.own_start[-1]) * nodes
        subgame.locked[level][player] = np.zeros(size, np.float32)
    combos = subgame.streets[level].hands[player][number].first
    hands = int(boards.own_start[number + 1] - boards.own_start[number])
    held = locked[combos]
    flags = int(boards.own_start[number]) * nodes + slots.number[node] * hands
    subgame.locked[level][player][flags : flags + len(combos)][held] = 1.0
    start = int(boards.own_slots[number]) + slots.slot[node] * hands
    for arrays in (subgame.regrets, subgame.averages):
        stored = arrays[level][player][start : start + actions * hands]
        if not stored.size:  # regrets of a game that does not learn
            continue
        blocks = widen(stored).reshape(hands // LANES, actions, LANES)
        by_action = blocks.transpose(1, 0, 2).reshape(actions, hands).copy()
        one = LARGEST if stored.dtype == np.int16 else 1.0
        by_action[:, np.flatnonzero(held)] = one * strategy[:, combos[held]]
        back = by_action.reshape(actions, hands // LANES, LANES).transpose(1, 0, 2).reshape(-1)
        stored[:] = narrow(back, stored.dtype)
