"""Node locking: a player is made to play a given strategy, and the rest is solved around it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError, suggest
from allstreets.betting import (
    ANY_CARD,
    Action,
    ActionKind,
    BettingTree,
    Line,
    NodeKind,
    action_text,
    find_action,
    parse_line,
)
from allstreets.cards import SPACED_SIGN, TOKEN, Range, Runouts, combo_text, live_combos

WORDS = {
    "fold": ActionKind.FOLD,
    "check": ActionKind.CHECK,
    "call": ActionKind.CALL,
    "bet": ActionKind.BET,
    "raise": ActionKind.RAISE,
    "allin": ActionKind.ALL_IN,
    "all-in": ActionKind.ALL_IN,
}

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Lock:
    """A strategy that is held fixed at one node.

    `line` leads to the node; a dealt card may be `*`, any card. `strategy` is for all hands there,
    `hands` for some (range text → strategy), and overrides it. A strategy gives actions their
    probabilities: by word (fold, check, call, bet, raise, allin) or as in a line (b50, b33%, r120);
    those that are not named get 0.
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

    def held_by(self, weights: Floats) -> "Lock | None":
        """The lock without hands that a range [1326] does not hold; None if nothing is left."""
        kept = {}
        for text, given in self.hands.items():
            tokens = [token for token in _tokens(text) if (weights[_combos(token)] > 0).any()]
            if tokens:
                kept[",".join(tokens)] = given
        return replace(self, hands=kept) if kept or self.strategy is not None else None


@dataclass(frozen=True)
class LockedNode:
    """A lock found in the tree."""

    node: int
    cards: tuple[int, ...]  # dealt on the way; ANY_CARD where any will do
    weights: Floats  # [1326]: 1 where locked
    strategy: Floats  # [A, 1326]

    def holds_on(self, cards: tuple[int, ...]) -> bool:
        """Whether it holds when these cards were dealt on the way."""
        return _meet(self.cards, cards)


@dataclass(frozen=True)
class _Part:
    """What a lock says of some hands."""

    path: str  # of the key that says it: "lock[0].hands.AA"
    lock: int
    is_rest: bool  # for all hands that the lock does not name
    line: Line
    held: Bools  # [1326]
    chances: Floats  # [A]

    def contradicts(self, other: "_Part") -> Bools:
        """[1326]: the combos to which both give a strategy, and not the same one."""
        if (
            self.line.node != other.line.node
            or not _meet(self.line.cards, other.line.cards)
            or (self.lock == other.lock and self.is_rest != other.is_rest)
            or np.allclose(self.chances, other.chances, atol=1e-9)
        ):
            return np.zeros(len(self.held), np.bool_)
        both: Bools = self.held & other.held
        return both


def find_locks(
    tree: BettingTree,
    board: tuple[int, ...],
    ranges: tuple[Range, Range],
    locks: tuple[Lock, ...],
) -> tuple[LockedNode, ...]:
    """Locks with their nodes, combos and probabilities; each must make sense, and all together."""
    lines = [_line(tree, board, number, lock) for number, lock in enumerate(locks)]
    parts: list[list[_Part]] = []
    for number, (lock, line) in enumerate(zip(locks, lines, strict=True)):
        player = tree.player_at(line.node)
        dealt = tuple(card for card in line.cards if card != ANY_CARD)
        live = (ranges[player].weights > 0) & live_combos((*board, *dealt))
        parts.append(list(_parts(tree, number, lock, line, live)))
    for first, second in combinations([part for some in parts for part in some], 2):
        twice = np.flatnonzero(first.contradicts(second))
        if len(twice):
            raise InputError(
                f"{second.path}: {combo_text(int(twice[0]))} is locked by {first.path} already, to "
                "another strategy: keep one of them, or write both into one lock, where 'hands' "
                "override 'strategy'"
            )
    return tuple(_node(tree, line, some) for line, some in zip(lines, parts, strict=True))


def _line(tree: BettingTree, board: tuple[int, ...], number: int, lock: Lock) -> Line:
    where = f"lock[{number}]"
    try:
        line = parse_line(tree, lock.line, board=board, any_card=True)
    except InputError as error:
        raise InputError(f"{where}.line: {error}") from None
    if tree.kind[line.node] != NodeKind.DECISION:
        raise InputError(
            f"{where}.line '{lock.line}': no player acts there, so there is nothing to lock"
        )
    if lock.strategy is None and not lock.hands:
        raise InputError(f"{where} '{lock.line}': give a 'strategy' for all hands, or 'hands'")
    return line


def _parts(tree: BettingTree, number: int, lock: Lock, line: Line, live: Bools) -> Iterator[_Part]:
    """What a lock says, that of all hands first; `live` [1326] are those that can be held there."""
    if lock.strategy is not None:
        path = f"lock[{number}].strategy"
        yield _Part(path, number, True, line, live, _chances(tree, line.node, lock.strategy, path))
    seat = tree.player_at(line.node).name
    for text, given in lock.hands.items():
        path = f"lock[{number}].hands.{text}"
        try:
            tokens = {token: _combos(token) & live for token in _tokens(text)}
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        for token, held in tokens.items():
            if not held.any():
                raise InputError(
                    f"{path}: {token} is not in the range of {seat} there: leave it out, or add it "
                    f"to {seat.lower()}_range"
                )
        found = np.any([np.zeros_like(live), *tokens.values()], axis=0)
        yield _Part(path, number, False, line, found, _chances(tree, line.node, given, path))


def _node(tree: BettingTree, line: Line, parts: list[_Part]) -> LockedNode:
    strategy, weights = np.zeros((len(tree.children_of(line.node)), 1326)), np.zeros(1326)
    for part in parts:
        weights[part.held] = 1.0
        strategy[:, part.held] = part.chances[:, None]
    return LockedNode(line.node, line.cards, weights, strategy)


def _tokens(text: str) -> list[str]:
    """The hands of a range text, one by one: "KQs", "TT+"."""
    return TOKEN.findall(SPACED_SIGN.sub(r"\1", text))


def _combos(token: str) -> Bools:
    """[1326]: the combos that a token names."""
    named: Bools = Range.parse(token).weights > 0
    return named


def _meet(some: tuple[int, ...], others: tuple[int, ...]) -> bool:
    """Whether the same cards can have been dealt."""
    pairs = zip(some, others, strict=True)
    return all(ANY_CARD in (one, other) or one == other for one, other in pairs)


def _chances(tree: BettingTree, node: int, given: Mapping[str, float], where: str) -> Floats:
    """[A]: the probabilities that words give to the actions of a decision."""
    result = np.zeros(len(tree.children_of(node)))
    for word, probability in given.items():
        place = _action(tree, node, str(word), where)
        if not 0 <= probability <= 1:
            raise InputError(f"{where}: the probability {probability} of {word} is not in 0..1")
        result[place] += probability
    if abs(result.sum() - 1) > 1e-6:
        raise InputError(f"{where}: the probabilities sum to {result.sum():g}, not to 1")
    normalised: Floats = result / result.sum()
    return normalised


def _action(tree: BettingTree, node: int, word: str, where: str) -> int:
    """The place among a decision's actions of a word: "check", "bet", or any word of a line."""
    actions = tree.actions_at(node)
    places = _named(actions, word.strip().lower())
    if len(places) == 1:
        return places[0]
    if places:
        sizes = ", ".join(action_text(actions[place]) for place in places)
        raise InputError(f"{where}: '{word}' may be one of several there: write {sizes}")
    try:
        child = find_action(tree, node, word.strip())
    except InputError:
        names = {action_text(action) for action in actions}
        names |= {name for name in WORDS if _named(actions, name)}
        raise InputError(
            f"{where}: no action '{word}' there: {suggest(word, sorted(names))}"
        ) from None
    place: int = tree.children_of(node).tolist().index(child)
    return place


def _named(actions: Sequence[Action], word: str) -> list[int]:
    """The places of the actions with this name: all-in is a bet or raise if it is the only one."""
    kind = WORDS.get(word)
    places = [place for place, action in enumerate(actions) if action.kind == kind]
    facing_bet = any(action.kind == ActionKind.FOLD for action in actions)
    if not places and kind == (ActionKind.RAISE if facing_bet else ActionKind.BET):
        return [place for place, action in enumerate(actions) if action.is_aggressive]
    return places


def lock_root(root: Runouts, locks: tuple[LockedNode, ...]) -> Runouts:
    """The symmetry that the locks leave: none at all when one of them names a card."""
    named = any(card != ANY_CARD for lock in locks for card in lock.cards)
    return root.without_symmetry() if named else root
