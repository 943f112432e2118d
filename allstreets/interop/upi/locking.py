"""Commands that set and lock strategies."""

from collections.abc import Mapping

import numpy as np

from allstreets.base import InputError
from allstreets.cards import COMBO_COUNT, combo_text
from allstreets.interop.upi.state import Answer, Command, State
from allstreets.interop.upi.text import read_numbers, vector_line


def set_strategy(state: State, rest: str) -> Answer:
    """set_strategy NODE NUMBERS: 1,326 for each child, one after the other."""
    text, _, numbers = rest.partition(" ")
    tree = state.spot()
    nodes, node = state.node(text)
    actions = len(node.decision.actions)
    values = np.array(read_numbers(numbers, actions * COMBO_COUNT))
    strategy = values.reshape(actions, COMBO_COUNT)[::-1]
    total, held = strategy.sum(axis=0), nodes.held(node)
    missing = np.flatnonzero(held & (total <= 0))
    if len(missing):
        raise InputError(f"{combo_text(int(missing[0]))} is given no action")
    where = (total > 0) & held
    tree.give(node, np.divide(strategy, total, out=np.zeros_like(strategy), where=where))
    return None


def lock_node(state: State, rest: str) -> Answer:
    """lock_node NODE: to the strategy that was set there, else to the solved one."""
    state.spot().lock(state.node(rest)[1], np.ones(COMBO_COUNT, np.bool_))
    return None


def combo_lock_node(state: State, rest: str) -> Answer:
    """combo_lock_node NODE FLAGS: some hands, those with 1 of 1,326 numbers."""
    text, _, numbers = rest.partition(" ")
    tree, node = state.spot(), state.node(text)[1]
    tree.lock(node, np.array(read_numbers(numbers, COMBO_COUNT)) > 0)
    return None


def unlock_node(state: State, rest: str) -> Answer:
    """unlock_node NODE: the next go solves it again."""
    state.spot().unlock(state.node(rest)[1])
    return None


def show_locked_combos(state: State, rest: str) -> Answer:
    """show_locked_combos NODE: 1 for hands that are locked."""
    return [vector_line(state.spot().locked(state.node(rest)[1]).astype(float))]


LOCKING: Mapping[str, Command] = {
    "set_strategy": set_strategy,
    "lock_node": lock_node,
    "combo_lock_node": combo_lock_node,
    "unlock_node": unlock_node,
    "show_locked_combos": show_locked_combos,
}
