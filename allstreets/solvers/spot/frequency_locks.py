"""Locks from frequencies: an action is taken so often, at most, or at least so often.

A frequency says nothing about hands. The strategy of a solution is changed as little as it takes
(`games.frequencies`), over all hands that get there, each counted as often as it meets the other
player's range; on a line with `*` over all cards together. The hands are those that the given
solution, and the locks above, bring there: solved again, a little more or less of them may come.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from allstreets.base import Floats, InputError
from allstreets.betting import ANY_CARD, Line, NodeKind, action_text, line_text, parse_line
from allstreets.cards import COMBO_COUNT, COMBO_PERMUTATIONS, DECK_SIZE, Range, fitting
from allstreets.games import Bound, Lock, Spot, limits, named_action, smallest_change, spot_root
from allstreets.solvers.decision import Decision
from allstreets.solvers.spot.result import SpotResult, taken_action

DIGITS = 7  # of locked probabilities: more would only make texts long
Place = tuple[int, tuple[int, ...]]  # a decision of the tree and the cards dealt before it
Played = dict[Place, Floats]  # [A, 1326] of decisions that are locked


def observed_locks(result: SpotResult, bounds: Sequence[Bound]) -> tuple[Lock, ...]:
    """Locks that take every action as often as the bounds say, by the smallest change.

    Bounds of one node count together; nodes are locked from the root on, so that a range that a
    lock has changed is the one that gets to the next.
    """
    found: dict[Place, list[tuple[Bound, Line]]] = {}
    for bound in bounds:
        line = _find(result, bound)
        found.setdefault((line.node, line.cards), []).append((bound, line))
    played: Played = {}
    locks: list[Lock] = []
    for _, some in sorted(found.items()):
        least, most = limits(result.spot.tree, some[0][1].node, [bound for bound, _ in some])
        lines = _boards(result, some[0][1], some[0][0].where)
        nodes = [result.node(line_text(result.spot.tree, one.node, one.cards)) for one in lines]
        weights = [
            _weights(result, node, one, played) for node, one in zip(nodes, lines, strict=True)
        ]
        if not any(one.any() for one in weights):
            raise InputError(
                f"{some[0][0].where}: no hand of {nodes[0].seat} gets to '{some[0][0].line}', so "
                "nothing is taken there so often"
            )
        strategy = np.concatenate([node.strategy for node in nodes], axis=1)
        changed = smallest_change(strategy, np.concatenate(weights), least, most)
        ends = np.cumsum([len(one) for one in weights])[:-1]
        for node, line, part in zip(nodes, lines, np.split(changed, ends, axis=1), strict=True):
            lock, by_combo = played_lock(result.spot, line, _over_combos(node, part))
            played[line.node, line.cards] = by_combo
            locks.append(lock)
    return tuple(locks)


def lock_as_played(result: SpotResult, line: str) -> Lock:
    """The strategy of a whole range at a decision, as the solution has it."""
    found = result.find(line)
    node = result.node(line)
    return played_lock(result.spot, found, _over_combos(node, node.strategy))[0]


def with_locks(spot: Spot, locks: Sequence[Lock]) -> Spot:
    """The spot with more locks, in place of those that it has at the same lines."""

    def place(lock: Lock) -> Place:
        line = parse_line(spot.tree, lock.line, board=spot.cards, any_card=True)
        return line.node, line.cards

    taken = {place(lock) for lock in locks}
    kept = (lock for lock in spot.lock if place(lock) not in taken)
    return replace(spot, lock=(*kept, *locks))


def _find(result: SpotResult, bound: Bound) -> Line:
    """The decision of a bound; ANY_CARD where all cards are meant."""
    spot = result.spot
    try:
        line = parse_line(spot.tree, bound.line, board=spot.cards, any_card=True)
    except InputError as error:
        raise InputError(f"{bound.where}: {error}") from None
    if spot.tree.kind[line.node] != NodeKind.DECISION:
        raise InputError(f"{bound.where}: no player acts at '{bound.line}'")
    named_action(spot.tree, line.node, bound.action, bound.where)
    return line


def _boards(result: SpotResult, line: Line, where: str) -> list[Line]:
    """The line with each card that `*` can stand for."""
    opened = [place for place, card in enumerate(line.cards) if card == ANY_CARD]
    if not opened:
        return [line]
    if len(opened) > 1:
        raise InputError(
            f"{where}: frequencies over all turns and rivers together are too many boards: name "
            "the turn card, or lock the range alike with 'strategy' in the spot file"
        )
    named = {*result.spot.cards, *line.cards}
    place = opened[0]
    return [
        replace(line, cards=(*line.cards[:place], card, *line.cards[place + 1 :]))
        for card in range(DECK_SIZE)
        if card not in named
    ]


def _weights(result: SpotResult, node: Decision, line: Line, played: Played) -> Floats:
    """[H]: how often each hand gets to a decision beside the other's range, after locks above."""
    tree = result.spot.tree
    steps = {
        (step, line.cards[: tree.street[step] - tree.first_street]): child
        for step, child in zip(line.nodes, line.nodes[1:], strict=False)
        if tree.kind[step] == NodeKind.DECISION and tree.player[step] == node.player
    }
    if not any(place in played for place in steps):
        return node.own.weights
    reach = result.spot.ranges[node.player].weights[node.combos].copy()
    for (step, cards), child in steps.items():
        chances = played.get((step, cards))
        if chances is None:
            there = result.node(line_text(tree, step, cards))
            chances = _over_combos(there, there.strategy)
        reach *= chances[taken_action(tree, child)][node.combos]
    other = node.hands[node.player.opponent]
    assert other.combos is not None
    met: Floats = fitting(node.combos, other.combos) @ other.reach
    return reach * met


def _over_combos(node: Decision, strategy: Floats) -> Floats:
    """[A, 1326]: a strategy [A, H] by combo; 0 for combos that are not held."""
    found = np.zeros((len(strategy), COMBO_COUNT))
    found[:, node.combos] = strategy
    return found


def played_lock(spot: Spot, line: Line, by_combo: Floats) -> tuple[Lock, Floats]:
    """A lock of a decision to a strategy [A, 1326], and what it plays.

    Combos that differ in the names of suits alone play alike, though a solver's last digits may
    not: otherwise the cards that are the same to the spot would have to be solved one by one.
    """
    root = spot_root(spot)
    for card in line.cards:
        root = root.after(card)
    renamed = np.array([by_combo[:, COMBO_PERMUTATIONS[p]] for p in root.symmetries])
    even = np.round(renamed.mean(axis=0), DIGITS)
    # What rounding has lost goes to the action that is taken most.
    lost = np.where(even.any(axis=0), 1 - even.sum(axis=0), 0.0)
    even[even.argmax(axis=0), np.arange(COMBO_COUNT)] += lost
    by_combo = np.clip(np.round(even, DIGITS), 0.0, 1.0)
    words = [action_text(action) for action in spot.tree.actions_at(line.node)]
    ranges = {word: str(Range(row)) for word, row in zip(words, by_combo, strict=True) if row.any()}
    return Lock(line_text(spot.tree, line.node, line.cards), ranges=ranges), by_combo
