"""Node locking: a player is made to play a given strategy, and the rest is solved around it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError, suggest
from allstreets.betting import ActionKind, BettingTree, NodeKind, Player, parse_line
from allstreets.betting.lines import ANY_CARD, action_text
from allstreets.cards import Range, Runouts
from allstreets.kernels.simd import LARGEST, narrow, widen
from allstreets.subgames.exact import ExactSubgame

WORDS = {
    ActionKind.FOLD: "fold",
    ActionKind.CHECK: "check",
    ActionKind.CALL: "call",
    ActionKind.ALL_IN: "allin",
}


@dataclass(frozen=True)
class Lock:
    """A strategy that is held fixed at one node.

    `line` leads to the node; a dealt card may be `*`, any card. `strategy` is for all hands there,
    `hands` for some (range text → strategy), and goes before it. A strategy gives actions their
    probabilities: by word (fold, check, call, allin) or as in a line (b50, r120); those that are
    not named get 0.
    """

    line: str
    strategy: Mapping[str, float] | None = None
    hands: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def from_mapping(cls, keys: Mapping[str, Any]) -> "Lock":
        """Read a lock as a spot file has it."""
        unknown = set(keys) - {"line", "strategy", "hands"}
        if unknown:
            word = sorted(unknown)[0]
            raise InputError(
                f"lock: unknown key '{word}': {suggest(word, ['line', 'strategy', 'hands'])}"
            )
        if "line" not in keys:
            raise InputError('lock: a lock needs a \'line\', such as "x b50"; "" is the root')
        return cls(
            line=str(keys["line"]),
            strategy=keys.get("strategy"),
            hands={str(hand): given for hand, given in (keys.get("hands") or {}).items()},
        )


@dataclass(frozen=True)
class LockedNode:
    """A lock found in the tree."""

    node: int
    cards: tuple[int, ...]  # dealt on the way; ANY_CARD where any will do
    weights: NDArray[np.float64]  # [1326]: 1 where locked
    strategy: NDArray[np.float64]  # [A, 1326]


def find_locks(
    tree: BettingTree, board: tuple[int, ...], locks: tuple[Lock, ...]
) -> tuple[LockedNode, ...]:
    """Locks with their nodes, combos and probabilities; each must make sense."""
    return tuple(_find(tree, board, lock) for lock in locks)


def _find(tree: BettingTree, board: tuple[int, ...], lock: Lock) -> LockedNode:
    line = parse_line(tree, lock.line, board=board, any_card=True)
    node = line.node
    if tree.kind[node] != NodeKind.DECISION:
        raise InputError(f"lock '{lock.line}': nobody acts there, so there is nothing to lock")
    if lock.strategy is None and not lock.hands:
        raise InputError(f"lock '{lock.line}': give a 'strategy' for all hands, or 'hands'")
    actions = len(tree.children_of(node))
    strategy, weights = np.zeros((actions, 1326)), np.zeros(1326)
    given = [("", Range.full(), lock.strategy)] if lock.strategy is not None else []
    given += [(text, Range.parse(text), chosen) for text, chosen in lock.hands.items()]
    for text, hands, chosen in given:
        where = f"lock '{lock.line}'" + (f", {text}" if text else "")
        held = hands.weights > 0
        weights[held] = 1.0
        strategy[:, held] = _probabilities(tree, node, chosen, where)[:, None]
    return LockedNode(node, tuple(line.cards), weights, strategy)


def _probabilities(
    tree: BettingTree, node: int, chosen: Mapping[str, float], where: str
) -> NDArray[np.float64]:
    offered = {}
    for place, action in enumerate(tree.actions_at(node)):
        offered[action_text(action)] = place
        if action.kind in WORDS:
            offered[WORDS[action.kind]] = place
    result = np.zeros(len(tree.children_of(node)))
    for word, probability in chosen.items():
        if word not in offered:
            raise InputError(f"{where}: no action '{word}' there: {suggest(word, offered)}")
        if not 0 <= probability <= 1:
            raise InputError(f"{where}: the probability {probability} of {word} is not in 0..1")
        result[offered[word]] += probability
    if abs(result.sum() - 1) > 1e-6:
        raise InputError(f"{where}: the probabilities sum to {result.sum():g}, not to 1")
    normalised: NDArray[np.float64] = result / result.sum()
    return normalised


def lock_root(root: Runouts, locks: tuple[LockedNode, ...]) -> Runouts:
    """The symmetry that the locks leave: none at all when one of them names a card."""
    named = any(card != ANY_CARD for lock in locks for card in lock.cards)
    return root.without_symmetry() if named else root


def impose(subgame: ExactSubgame, locks: tuple[LockedNode, ...]) -> None:
    """Put the locked strategies where the subgame plays them and never changes them."""
    for lock in locks:
        player = Player(int(subgame.tree.player[lock.node]))
        level = len(lock.cards)
        slots, boards = subgame.slots[level], subgame.boards[player][level]
        nodes = slots.nodes[player]
        if not subgame.locked[level][player].size:
            size = int(boards.own_start[-1]) * nodes
            subgame.locked[level][player] = np.zeros(size, np.float32)
        root = len(subgame.streets[0].runouts[0].board)
        actions = int(subgame.tree.child_count[lock.node])
        for number, runout in enumerate(subgame.streets[level].runouts):
            dealt = runout.board[root:]
            if any(c not in (ANY_CARD, d) for c, d in zip(lock.cards, dealt, strict=True)):
                continue
            combos = subgame.streets[level].hands[player][number].first
            hands = int(boards.own_start[number + 1] - boards.own_start[number])
            flags = subgame.locked[level][player]
            at = int(boards.own_start[number]) * nodes + slots.number[lock.node] * hands
            held = lock.weights[combos] > 0
            flags[at : at + len(combos)][held] = 1.0
            start = int(boards.own_slots[number]) + slots.slot[lock.node] * hands
            for arrays in (subgame.regrets, subgame.averages):
                stored = arrays[level][player][start : start + actions * hands]
                wide = widen(stored).reshape(hands // 16, actions, 16).copy()
                by_action = wide.transpose(1, 0, 2).reshape(actions, hands).copy()
                one = LARGEST if stored.dtype == np.int16 else 1.0
                by_action[:, np.flatnonzero(held)] = one * lock.strategy[:, combos[held]]
                back = by_action.reshape(actions, hands // 16, 16).transpose(1, 0, 2).reshape(-1)
                stored[:] = narrow(back, stored.dtype)
