"""Node locking: a player must play a given strategy, and the rest is solved around it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, compress
from typing import Any

import numpy as np

from allstreets.base import Flags, Floats, InputError, Longs, suggest
from allstreets.betting import (
    ANY_CARD,
    CHIPS,
    Action,
    ActionKind,
    BettingTree,
    Line,
    NodeKind,
    Notation,
    action_text,
    find_action,
    parse_line,
)
from allstreets.cards import (
    CARD_PERMUTATIONS,
    COMBO_COUNT,
    COMBO_PERMUTATIONS,
    SPACED_SIGN,
    SUIT_PERMUTATIONS,
    TOKEN,
    Range,
    Runouts,
    combo_text,
    live_combos,
)

SUITS = np.arange(4)
KEYS = ("line", "strategy", "hands", "ranges", "frequencies", "aim", "solution", "alike")
WORDS = {
    "fold": ActionKind.FOLD,
    "check": ActionKind.CHECK,
    "call": ActionKind.CALL,
    "bet": ActionKind.BET,
    "raise": ActionKind.RAISE,
    "allin": ActionKind.ALL_IN,
    "all-in": ActionKind.ALL_IN,
}


@dataclass(frozen=True)
class Lock:
    """A strategy that is fixed at one node.

    `line` leads to the node; a dealt card may be `*`, any card. `strategy` is for all hands there,
    `hands` for some (range text → strategy), and overrides it. A strategy gives actions their
    probabilities: by word (fold, check, call, bet, raise, allin) or as in a line (b50, b33%, r120);
    those that are not named get 0. `ranges` says the same the other way round, combo by combo
    (action → range text): the weight of a combo is its probability of the action.

    In a spot a lock after a card holds, with the suits swapped, after every card that is the same
    except for suits; where it is not `alike`, after that card alone.

    On the flops of a whole game there may be `frequencies` of actions over the whole range instead
    ("<=30%"), reached by the cheapest change of the play of `solution`, a folder. The ranges that
    count are those of that solution; `aim` are the frequencies in these that lead to `frequencies`
    in the ranges of the locked game, once it is solved.
    """

    line: str
    strategy: Mapping[str, float] | None = None
    hands: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)
    frequencies: Mapping[str, str] = field(default_factory=dict)
    aim: Mapping[str, str] = field(default_factory=dict)
    solution: str | None = None
    alike: bool = True

    @classmethod
    def from_mapping(cls, keys: Mapping[str, Any]) -> "Lock":
        """Read a lock as a spot file has it."""
        unknown = set(keys) - set(KEYS)
        if unknown:
            word = sorted(unknown)[0]
            raise InputError(f"lock: unknown key '{word}': {suggest(word, KEYS)}")
        if "line" not in keys:
            raise InputError('lock: a lock needs a \'line\', such as "x b50"; "" is the root')
        return cls(
            line=str(keys["line"]),
            strategy=keys.get("strategy"),
            hands={str(hand): given for hand, given in (keys.get("hands") or {}).items()},
            ranges=_texts(keys.get("ranges")),
            frequencies=_texts(keys.get("frequencies")),
            aim=_texts(keys.get("aim")),
            solution=keys.get("solution"),
            alike=bool(keys.get("alike", True)),
        )


def _texts(given: Mapping[str, Any] | None) -> dict[str, str]:
    return {str(word): str(text) for word, text in (given or {}).items()}


def lock_mapping(lock: Lock) -> dict[str, Any]:
    """A lock as a spot file has it."""
    keys: dict[str, Any] = {"line": lock.line}
    if lock.strategy is not None:
        keys["strategy"] = {word: float(chance) for word, chance in lock.strategy.items()}
    if lock.hands:
        keys["hands"] = {
            hands: {word: float(chance) for word, chance in given.items()}
            for hands, given in lock.hands.items()
        }
    if lock.ranges:
        keys["ranges"] = dict(lock.ranges)
    if lock.frequencies:
        keys["frequencies"] = dict(lock.frequencies)
    if lock.aim:
        keys["aim"] = dict(lock.aim)
    if lock.solution is not None:
        keys["solution"] = lock.solution
    return keys


@dataclass(frozen=True)
class LockedNode:
    """A lock with its node in the tree and its strategy by combo."""

    node: int
    cards: tuple[int, ...]  # dealt on the way; ANY_CARD where any will do
    weights: Floats  # [1326]: 1 where locked
    strategy: Floats  # [A, 1326]

    def holds_on(self, cards: tuple[int, ...]) -> bool:
        """Whether it applies when these cards were dealt on the way."""
        return _meet(self.cards, cards)


@dataclass(frozen=True, eq=False)
class ClassLock:
    """The strategy that some hand classes are locked to at a decision."""

    held: Flags  # [169]: the locked classes
    strategy: Floats  # [A, 169]; without meaning for classes that are free

    @property
    def is_alike(self) -> bool:
        """Whether all classes are locked to the same strategy."""
        return bool(self.held.all()) and bool((self.strategy == self.strategy[:, :1]).all())


@dataclass(frozen=True)
class _Part:
    """The part of a lock for some combos."""

    path: str  # of the key that gives it: "lock[0].hands.AA"
    lock: int
    is_rest: bool  # for all hands that the lock does not name
    line: Line
    held: Flags  # [1326]
    chances: Floats  # [A, 1326]

    def contradicts(self, other: "_Part") -> Flags:
        """[1326]: the combos to which both give a strategy, but different ones."""
        if (
            self.line.node != other.line.node
            or not _meet(self.line.cards, other.line.cards)
            or (self.lock == other.lock and self.is_rest != other.is_rest)
        ):
            return np.zeros(len(self.held), np.bool_)
        differ = np.abs(self.chances - other.chances).max(axis=0) > 1e-9
        both: Flags = self.held & other.held & differ
        return both


def find_locks(
    tree: BettingTree,
    board: tuple[int, ...],
    ranges: tuple[Range, Range],
    locks: Mapping[int, Lock],
    notation: Notation = CHIPS,
) -> tuple[LockedNode, ...]:
    """Locks with their nodes, combos and probabilities; each must be valid, and none may contradict
    another.

    They come with their numbers in the file, for messages.
    """
    lines = [_line(tree, board, number, lock, notation) for number, lock in locks.items()]
    parts: list[list[_Part]] = []
    for (number, lock), line in zip(locks.items(), lines, strict=True):
        player = tree.player_at(line.node)
        dealt = tuple(card for card in line.cards if card != ANY_CARD)
        live = (ranges[player].weights > 0) & live_combos((*board, *dealt))
        parts.append(list(_parts(tree, number, lock, line, live, notation)))
    for first, second in combinations(chain(*parts), 2):
        twice = np.flatnonzero(first.contradicts(second))
        if len(twice):
            raise InputError(
                f"{second.path}: {combo_text(int(twice[0]))} is locked by {first.path} already, to "
                "another strategy: keep one of them, or write both into one lock, where 'hands' "
                "override 'strategy'"
            )
    return tuple(_node(tree, *pair) for pair in zip(lines, parts, strict=True))


def _line(
    tree: BettingTree, board: tuple[int, ...], number: int, lock: Lock, notation: Notation
) -> Line:
    where = f"lock[{number}]"
    try:
        line = parse_line(tree, lock.line, board=board, any_card=True, notation=notation)
    except InputError as error:
        raise InputError(f"{where}.line: {error}") from None
    if lock.frequencies:
        raise InputError(
            f"{where}.frequencies: these are for flops of whole games; allstreets lock spreads "
            "them over the hands of other decisions"
        )
    if tree.kind[line.node] != NodeKind.DECISION:
        raise InputError(
            f"{where}.line '{lock.line}': no player acts there, so there is nothing to lock"
        )
    if lock.strategy is None and not lock.hands and not lock.ranges:
        raise InputError(
            f"{where} '{lock.line}': give a 'strategy' for all hands, or 'hands', or 'ranges'"
        )
    return line


def _parts(
    tree: BettingTree, number: int, lock: Lock, line: Line, live: Flags, notation: Notation
) -> Iterator[_Part]:
    """The parts of a lock, that of all combos first; `live` [1326] can be held at the node."""

    def alike(given: Mapping[str, float], path: str) -> Floats:
        chances = mixed_actions(tree, line.node, given, path, notation)
        return np.repeat(chances[:, None], COMBO_COUNT, axis=1)

    if lock.strategy is not None:
        path = f"lock[{number}].strategy"
        yield _Part(path, number, True, line, live, alike(lock.strategy, path))
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
        named = np.any([np.zeros_like(live), *tokens.values()], axis=0)
        yield _Part(path, number, False, line, named, alike(given, path))
    if lock.ranges:
        path = f"lock[{number}].ranges"
        chances = _by_combo(tree, line.node, lock.ranges, live, path, notation)
        yield _Part(path, number, False, line, chances.sum(axis=0) > 0, chances)


def _node(tree: BettingTree, line: Line, parts: list[_Part]) -> LockedNode:
    weights = np.zeros(COMBO_COUNT)
    strategy = np.zeros((len(tree.children_of(line.node)), COMBO_COUNT))
    for part in parts:
        weights[part.held] = 1.0
        strategy[:, part.held] = part.chances[:, part.held]
    return LockedNode(line.node, line.cards, weights, strategy)


def _tokens(text: str) -> list[str]:
    """The hands of a range text, one by one: "KQs", "TT+"."""
    return TOKEN.findall(SPACED_SIGN.sub(r"\1", text))


def _combos(token: str) -> Flags:
    """[1326]: the combos that a token names."""
    named: Flags = Range.parse(token).weights > 0
    return named


def _meet(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether both can be the same dealt cards."""
    return all(ANY_CARD in pair or pair[0] == pair[1] for pair in zip(first, second, strict=True))


def _by_combo(
    tree: BettingTree,
    node: int,
    ranges: Mapping[str, str],
    live: Flags,
    where: str,
    notation: Notation,
) -> Floats:
    """[A, 1326]: the probabilities that ranges give to combos; 0 for combos that none names."""
    result = np.zeros((len(tree.children_of(node)), len(live)))
    for word, text in ranges.items():
        try:
            weights = Range.parse(text).weights
        except InputError as error:
            raise InputError(f"{where}.{word}: {error}") from None
        result[named_action(tree, node, word, where, notation)] += np.where(live, weights, 0.0)
    total = result.sum(axis=0)
    wrong = np.flatnonzero((total > 0) & (np.abs(total - 1) > 1e-6))
    if len(wrong):
        combo = int(wrong[0])
        raise InputError(
            f"{where}: the probabilities of {combo_text(combo)} sum to {total[combo]:g}, not to 1"
        )
    if not total.any():
        seat = tree.player_at(node).name
        raise InputError(f"{where}: none of these hands is in the range of {seat} there")
    shares: Floats = result / np.where(total > 0, total, 1.0)
    return shares


def mixed_actions(
    tree: BettingTree, node: int, given: Mapping[str, float], where: str, notation: Notation = CHIPS
) -> Floats:
    """[A]: the probabilities that words give to the actions of a decision."""
    result = np.zeros(len(tree.children_of(node)))
    for word, probability in given.items():
        action = named_action(tree, node, str(word), where, notation)
        if not 0 <= probability <= 1:
            raise InputError(f"{where}: the probability {probability} of {word} is not in 0..1")
        result[action] += probability
    if abs(result.sum() - 1) > 1e-6:
        raise InputError(f"{where}: the probabilities sum to {result.sum():g}, not to 1")
    normalised: Floats = result / result.sum()
    return normalised


def named_action(
    tree: BettingTree, node: int, word: str, where: str, notation: Notation = CHIPS
) -> int:
    """The index of an action at a decision: "check", "bet", or any word of a line."""
    actions = tree.actions_at(node)
    matching = _named(actions, word.strip().lower())
    if len(matching) == 1:
        return matching[0]
    if matching:
        sizes = ", ".join(action_text(actions[index], notation) for index in matching)
        raise InputError(f"{where}: '{word}' may be one of several there: write {sizes}")
    try:
        child = find_action(tree, node, word.strip(), notation)
    except InputError:
        names = {action_text(action, notation) for action in actions}
        names |= {name for name in WORDS if _named(actions, name)}
        raise InputError(
            f"{where}: no action '{word}' there: {suggest(word, sorted(names))}"
        ) from None
    index: int = tree.children_of(node).tolist().index(child)
    return index


def _named(actions: Sequence[Action], word: str) -> list[int]:
    """The actions with this name: all-in is a bet or raise if it is the only one."""
    kind = WORDS.get(word)
    matching = [index for index, action in enumerate(actions) if action.kind == kind]
    facing_bet = any(action.kind == ActionKind.FOLD for action in actions)
    if not matching and kind == (ActionKind.RAISE if facing_bet else ActionKind.BET):
        return [index for index, action in enumerate(actions) if action.is_aggressive]
    return matching


def copied_locks(
    root: Runouts, locks: tuple[LockedNode, ...], alike: Sequence[bool]
) -> tuple[LockedNode, ...]:
    """Locks, and copies of `alike` ones for all cards that are the same except for suits.

    Of several renamings that lead to the same cards the one that moves the fewest suits is taken.
    Where the locks themselves hold after these cards, nothing is copied.
    """
    copies: list[LockedNode] = []
    by_moves = sorted(root.symmetries, key=lambda p: int((SUIT_PERMUTATIONS[p] != SUITS).sum()))
    for lock in compress(locks, alike):
        for number in by_moves:
            cards = _renamed(lock.cards, number)
            known = (*locks, *copies)
            if any(other.node == lock.node and other.holds_on(cards) for other in known):
                continue
            combos = COMBO_PERMUTATIONS[number]
            weights, strategy = np.empty_like(lock.weights), np.empty_like(lock.strategy)
            weights[combos], strategy[:, combos] = lock.weights, lock.strategy
            copies.append(LockedNode(lock.node, cards, weights, strategy))
    return (*locks, *copies)


def _renamed(cards: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Dealt cards after a renaming of suits."""
    return tuple(
        card if card == ANY_CARD else int(CARD_PERMUTATIONS[number, card]) for card in cards
    )


def lock_root(root: Runouts, locks: tuple[LockedNode, ...]) -> Runouts:
    """The symmetry that the locks leave: renamings of suits that map every lock to a lock."""

    def stay(number: int) -> bool:
        combos = COMBO_PERMUTATIONS[number]
        return all(any(_becomes(lock, other, number, combos) for other in locks) for lock in locks)

    return root.with_symmetries(tuple(filter(stay, root.symmetries)))


def _becomes(lock: LockedNode, other: LockedNode, number: int, combos: Longs) -> bool:
    """Whether a renaming of suits turns a lock into another one."""
    if lock.node != other.node:
        return False
    return (
        _renamed(lock.cards, number) == other.cards
        and np.array_equal(other.weights[combos], lock.weights)
        and np.array_equal(other.strategy[:, combos], lock.strategy)
    )
