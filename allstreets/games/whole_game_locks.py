"""Locks of a whole game: hands before the flop, and whole decisions after it on every flop.

    lock:
      - {line: "r2.5", hands: {"22-66": {fold: 1}}}              before the flop, by hand
      - {line: "r2.5 c | * | x", strategy: {b33%: 1}}            all hands, on every flop
      - {line: "r2.5 c | * | x b33%", hands: {QQ: {call: 1}}}    some hands, on every flop
      - {line: "r2.5 c | * | x", frequencies: {b33%: "<=30%"}, solution: game/}

A hand is a class, and those that no lock names are free; on turn and river a decision is locked
with every hand, whatever the cards. After the flop a lock is a rule of its pot
(`PostflopRules.locks`), so that engines and best responses both keep to it. Frequencies are spread
over hands flop by flop, by the play of another solution (`analysis.flop_locks`); until then all
hands take every action equally often.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from allstreets.base import InputError
from allstreets.betting import (
    ANY_CARD_WORD,
    BIG_BLINDS,
    BLINDS_AND_CARDS,
    BettingTree,
    HandChances,
    NodeKind,
    Street,
    dealt,
    line_text,
    parse_line,
    split_line,
    whole_line,
)
from allstreets.cards import HAND_COUNT, HAND_NAMES, HAND_OF_COMBO, Range, combo_text
from allstreets.games.frequencies import Bound, limits
from allstreets.games.locks import ClassLock, Lock, LockedNode, find_locks

RuleLocks = tuple[tuple[int, tuple[float, ...]], ...]
"""Decisions of a pot's tree, and how often each of their actions is taken."""
HandRuleLocks = tuple[tuple[int, HandChances], ...]
"""The same for some hands."""

FIRST_COMBO = np.unique(HAND_OF_COMBO, return_index=True)[1]  # [169]
EVERY_COMBO = Range.full(), Range.full()


@dataclass(frozen=True, eq=False)
class GameNode:
    """A decision of a whole game: before the flop, or after it on every flop."""

    tree: BettingTree  # of the betting before the flop, or of the pot
    node: int
    root: int | None  # where the flop is dealt; None: before the flop
    line: str  # in its canonical text, `| * |` for the flop and for cards

    @property
    def order(self) -> tuple[int, int]:
        """A number that rises along a line: nodes in pre-order, before the flop first."""
        return -1 if self.root is None else self.root, self.node


PotTree = Callable[[int], BettingTree]
"""The tree of the pot that sees the flop at a node."""


@dataclass(frozen=True, eq=False)
class GameLocks:
    """The locks of a whole game, found in its trees."""

    preflop: Mapping[int, ClassLock] = field(default_factory=dict)  # by decision
    pots: Mapping[int, tuple[RuleLocks, HandRuleLocks]] = field(default_factory=dict)
    """By where the flop is dealt: `locks` and `hand_locks` of the rules of the pot."""
    by_flop: Mapping[tuple[int, int], Lock] = field(default_factory=dict)
    """Locks that play as another solution on every flop, by pot and decision."""


def find_game_locks(tree: BettingTree, pot_tree: PotTree, locks: Sequence[Lock]) -> GameLocks:
    """Locks with their decisions; each must be valid, and none may contradict another."""
    nodes = [
        find_node(tree, pot_tree, lock.line, f"lock[{number}].line")
        for number, lock in enumerate(locks)
    ]
    before = {number: lock for number, lock in enumerate(locks) if nodes[number].root is None}
    locked = find_locks(tree, (), EVERY_COMBO, before, BIG_BLINDS)
    preflop: dict[int, ClassLock] = {}
    for number, by_combo in zip(before, locked, strict=True):
        by_class = _by_class(by_combo, f"lock[{number}]")
        preflop[by_combo.node] = _joined(preflop.get(by_combo.node), by_class)
    pots: dict[int, dict[int, ClassLock]] = {}
    by_flop: dict[tuple[int, int], Lock] = {}
    for number, (lock, node) in enumerate(zip(locks, nodes, strict=True)):
        if node.root is None:
            continue
        in_pot = pots.setdefault(node.root, {})
        if node.node in in_pot:
            raise InputError(
                f"lock[{number}].line: '{lock.line}' is locked already: keep one of the two"
            )
        in_pot[node.node] = _postflop_lock(node, number, lock)
        if lock.solution is not None:
            by_flop[node.root, node.node] = lock
    return GameLocks(preflop, {root: _rules(in_pot) for root, in_pot in pots.items()}, by_flop)


def preflop_locks(tree: BettingTree, locks: Sequence[Lock]) -> Mapping[int, ClassLock]:
    """The same of a game that ends where the flop is dealt."""

    def no_tree(node: int) -> BettingTree:
        del node
        raise InputError("this game ends where the flop is dealt: lock a decision before it")

    return find_game_locks(tree, no_tree, locks).preflop


def find_node(tree: BettingTree, pot_tree: PotTree, line: str, where: str) -> GameNode:
    """The decision that a line leads to, on every flop and card; `where` names it in messages."""
    try:
        parts = split_line(line, lambda words: parse_line(tree, words, notation=BIG_BLINDS).node)
        before = line_text(tree, parts.root, notation=BIG_BLINDS)
        if parts.after is None:
            node = GameNode(tree, parts.root, None, before)
        elif tree.kind[parts.root] != NodeKind.CHANCE:
            raise InputError(
                f"'{parts.before}' ends before the flop: leave the bar out, or continue until the "
                "flop is dealt"
            )
        elif parts.flop is not None:
            raise InputError(
                f"a lock of a whole game holds on every flop: write '| * |' instead of "
                f"{parts.cards}; lock a single flop by solving it separately (solve --from)"
            )
        else:
            below = pot_tree(parts.root)
            number = dealt(below, parse_line(below, parts.after, notation=BIG_BLINDS).node)
            after = line_text(below, number, notation=BLINDS_AND_CARDS)
            node = GameNode(below, number, parts.root, whole_line(before, ANY_CARD_WORD, after))
        if node.tree.kind[node.node] != NodeKind.DECISION:
            raise InputError(f"no player acts at '{line}', so there is nothing to lock")
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return node


def _postflop_lock(node: GameNode, number: int, lock: Lock) -> ClassLock:
    """The strategy of a lock after the flop, by hand class."""
    where = f"lock[{number}]"
    given = lock.strategy is not None or bool(lock.hands) or bool(lock.ranges)
    if lock.frequencies and lock.solution is None:
        raise InputError(
            f"{where}: 'frequencies' need a 'solution', the folder whose play they change least"
        )
    if lock.aim and not lock.frequencies:
        raise InputError(f"{where}: 'aim' needs the 'frequencies' that it leads to")
    if given == (lock.solution is not None):
        raise InputError(
            f"{where} '{lock.line}': give a 'strategy' for all hands, 'hands' for some, or a "
            "'solution' to play as, with or without 'frequencies'"
        )
    if lock.solution is not None:
        for bounds in (lock_bounds(lock, where), aimed_bounds(lock, where)):
            limits(node.tree, node.node, bounds, BIG_BLINDS)  # errors are raised
        actions = int(node.tree.child_count[node.node])
        even = np.full((actions, HAND_COUNT), 1 / actions)
        return ClassLock(np.ones(HAND_COUNT, np.bool_), even)
    # With any cards: without them a line to the first decision of a street ends at its deal.
    after = replace(lock, line=line_text(node.tree, node.node, notation=BLINDS_AND_CARDS))
    (by_combo,) = find_locks(node.tree, (), EVERY_COMBO, {number: after}, BLINDS_AND_CARDS)
    by_class = _by_class(by_combo, where)
    if not by_class.is_alike and node.tree.street[node.node] != Street.FLOP:
        raise InputError(
            f"{where} '{lock.line}': on turn and river all hands are locked alike, by a "
            "'strategy'; some hands are on the flop"
        )
    return by_class


def _rules(in_pot: Mapping[int, ClassLock]) -> tuple[RuleLocks, HandRuleLocks]:
    """The locks of a pot: of all hands alike, and by hand."""
    alike, by_hand = list[tuple[int, tuple[float, ...]]](), list[tuple[int, HandChances]]()
    for node, lock in sorted(in_pot.items()):
        columns = [tuple(column) for column in lock.strategy.T.tolist()]
        if lock.is_alike:
            alike.append((node, columns[0]))
        else:
            held = np.flatnonzero(lock.held).tolist()
            by_hand.append((node, tuple((hand, columns[hand]) for hand in held)))
    return tuple(alike), tuple(by_hand)


def lock_bounds(lock: Lock, where: str) -> list[Bound]:
    """The frequencies of a lock."""
    return [
        Bound.read(lock.line, word, share, f"{where}.frequencies.{word}")
        for word, share in lock.frequencies.items()
    ]


def aimed_bounds(lock: Lock, where: str) -> list[Bound]:
    """The frequencies of a lock in the ranges of its solution."""
    if not lock.aim:
        return lock_bounds(lock, where)
    return [
        Bound.read(lock.line, word, share, f"{where}.aim.{word}")
        for word, share in lock.aim.items()
    ]


def _by_class(node: LockedNode, where: str) -> ClassLock:
    """A lock by combo as one by hand class: all combos of a class must be locked alike."""
    held, strategy = node.weights[FIRST_COMBO], node.strategy[:, FIRST_COMBO]
    differ = (held[HAND_OF_COMBO] != node.weights) | (
        np.abs(strategy[:, HAND_OF_COMBO] - node.strategy).max(axis=0) > 1e-9
    )
    if differ.any():
        combo = int(np.flatnonzero(differ)[0])
        raise InputError(
            f"{where}: before the flop, and on all flops together, suits have no meaning: "
            f"{combo_text(combo)} must play as the other combos of "
            f"{HAND_NAMES[HAND_OF_COMBO[combo]]} do"
        )
    return ClassLock(held > 0, strategy)


def _joined(first: ClassLock | None, second: ClassLock) -> ClassLock:
    """Two locks of a decision; where both lock a hand they agree (`find_locks`)."""
    if first is None:
        return second
    strategy = np.where(second.held, second.strategy, first.strategy)
    return ClassLock(first.held | second.held, strategy)
