"""Games: the rules that a solver can play, and the same game compiled into flat arrays.

A game is finite, sequential, for two players and zero-sum, with chance and hidden information. A
`State` is one history: it never changes, and `child` makes another one. States know the rules and
nothing else; `compile_game` turns them once into a `FlatGame`, so that kernels need no objects.

Axis letters: N nodes (histories), I information sets, K slots, L levels.
A **slot** is one action of one information set. Slots are numbered set by set: the actions of set i
are the slots `slot_start[i]` to `slot_start[i + 1]`, and every table of a solver (regrets, sums of
strategies) is one float64[K]. A slot also names a player's own line: with perfect recall, the
player's last action determines all his actions before it.

Compiling a game:
1. Visit the game level by level. The children of one node are neighbours, and every node comes
   after its parent, so passes down and up the tree are plain loops.
2. On the way, check what the solvers rely on: each information set belongs to one player, offers
the
   same actions at each of its histories, and is reached by one own line only (perfect recall).
3. Number the information sets: the first player's, then the second's; in each, sets that come after
   fewer own moves first. So one player's slots are one contiguous range, and a parent's slots come
   before its children's. Within that, sets of the same shape are neighbours: the loops over them
   then take the same branches again and again, which the processor learns to predict.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Ints

FIRST = 0
SECOND = 1
CHANCE = 2
TERMINAL = 3
NOWHERE = -1  # the slot of a player who has not acted yet; the information set of no player

HISTORY_LIMIT = 1_000_000


@runtime_checkable
class State(Protocol):
    """One history of a game, immutable.

    Exactly one of three kinds: over (`is_terminal`), nature moves (`is_chance`), or `player` moves.
    A method that does not belong to the state's kind may return anything.
    """

    @property
    def is_terminal(self) -> bool:
        """Whether the game is over."""

    @property
    def is_chance(self) -> bool:
        """Whether nature moves."""

    @property
    def player(self) -> int:
        """The player who moves: `FIRST` or `SECOND`."""

    def chance_outcomes(self) -> Sequence[tuple[str, float]]:
        """Nature's moves: (label, probability), the probabilities positive with sum 1."""

    def actions(self) -> Sequence[str]:
        """Labels of the player's legal actions; the same, in the same order, all over one set."""

    def child(self, index: int) -> "State":
        """The state after `actions()[index]`, or after `chance_outcomes()[index]`."""

    def information_set(self) -> str:
        """The knowledge of the player who moves, as text; no text serves both players.

        Players have perfect recall: the text shows the player's own past moves and what he saw.
        """

    def utility(self) -> float:
        """The first player's win at a terminal; the second player's is its negative."""


@runtime_checkable
class Game(Protocol):
    """A two-player zero-sum game."""

    @property
    def name(self) -> str:
        """The name that `load_game` knows the game by."""

    @property
    def unit(self) -> str:
        """The unit of utilities, in words ("chips")."""

    def root(self) -> State:
        """The state before anything has happened."""


# Nature's probability of a move, 1 of a player's, and both players' last slots after it.
Move = tuple[float, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class FlatGame:
    """A game as arrays; nodes in level order, information sets and slots as numbered above."""

    name: str
    unit: str
    # The tree of histories.
    level_start: Ints  # [L + 1] nodes of level l: level_start[l] to level_start[l + 1]
    actor: NDArray[np.int8]  # [N] FIRST, SECOND, CHANCE or TERMINAL
    information_set: Ints  # [N] the set of the player who moves, else NOWHERE
    first_child: Ints  # [N] children are first_child[n] + 0, 1, …, in the order of the actions
    child_count: Ints  # [N] 0 at a terminal
    probability: Floats  # [N] nature's probability of the move into the node, 1 after a player's
    utility: Floats  # [N] what the first player wins at a terminal, 0 elsewhere
    last_slot: Ints  # [2, N] each player's last slot on the way to the node, else NOWHERE
    # The information sets.
    set_start: Ints  # [3] sets of player p: set_start[p] to set_start[p + 1]
    slot_start: Ints  # [I + 1]
    parent_slot: Ints  # [I] the player's own last slot before the set, else NOWHERE
    keys: tuple[str, ...]  # [I]
    actions: tuple[tuple[str, ...], ...]  # [I] labels of the actions, slot by slot

    @property
    def slots(self) -> int:
        """K, the number of (information set, action) pairs."""
        return int(self.slot_start[-1])

    @cached_property
    def set_of_slot(self) -> Ints:
        """[K] the information set of each slot."""
        return np.repeat(np.arange(len(self.keys), dtype=np.int32), np.diff(self.slot_start))

    @cached_property
    def chance_reach(self) -> Floats:
        """[N] the product of nature's probabilities on the way to each node."""
        reach = self.probability.copy()
        for parent in range(len(self.actor)):
            first = self.first_child[parent]
            reach[first : first + self.child_count[parent]] *= reach[parent]
        return reach

    @cached_property
    def utility_range(self) -> float:
        """The largest utility of a terminal minus the smallest."""
        payoffs = self.utility[self.actor == TERMINAL]
        return float(payoffs.max() - payoffs.min())

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of the rules: equal for equal games, whatever they are called."""
        digest = hashlib.sha256()
        for array in (self.actor, self.information_set, self.probability, self.utility):
            digest.update(array.tobytes())
        digest.update(repr((self.keys, self.actions)).encode())
        return digest.hexdigest()[:16]

    @property
    def memory_bytes(self) -> int:
        """Bytes of the arrays."""
        return sum(part.nbytes for part in vars(self).values() if isinstance(part, np.ndarray))


@dataclass(frozen=True)
class _InformationSet:
    """An information set while its game is compiled; numbers are in the order of discovery."""

    number: int
    player: int
    actions: tuple[str, ...]
    first_slot: int
    parent_slot: int  # the player's own last slot before the set, else NOWHERE
    depth: int  # own moves before the set

    @property
    def slots(self) -> range:
        return range(self.first_slot, self.first_slot + len(self.actions))


@dataclass
class _Histories:
    """The part of a game that has been visited; one entry per node, in level order."""

    actor: list[int] = field(default_factory=list)
    information_set: list[int] = field(default_factory=list)
    first_child: list[int] = field(default_factory=list)
    child_count: list[int] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    utility: list[float] = field(default_factory=list)
    last_slot: list[tuple[int, int]] = field(default_factory=list)
    level_start: list[int] = field(default_factory=lambda: [0])
    sets: dict[str, _InformationSet] = field(default_factory=dict)
    set_of_slot: list[_InformationSet] = field(default_factory=list)


def compile_game(game: Game) -> FlatGame:
    """Compile `game`; raises `InputError` when it is not one that the solvers can play."""
    histories = _visit_all(game)
    ordered = _order_sets(histories)
    new_set = np.full(len(ordered) + 1, NOWHERE, dtype=np.int32)  # the last: NOWHERE itself
    new_set[[info_set.number for info_set in ordered]] = np.arange(len(ordered), dtype=np.int32)
    new_slot = np.full(len(histories.set_of_slot) + 1, NOWHERE, dtype=np.int32)
    old_slots = [slot for info_set in ordered for slot in info_set.slots]
    new_slot[old_slots] = np.arange(len(old_slots), dtype=np.int32)
    counts = [len(info_set.actions) for info_set in ordered]
    parents = np.array([info_set.parent_slot for info_set in ordered], dtype=np.int64)
    first_sets = sum(info_set.player == FIRST for info_set in ordered)
    keys = np.array(list(histories.sets), dtype=object)
    return FlatGame(
        name=game.name,
        unit=game.unit,
        level_start=np.array(histories.level_start, dtype=np.int32),
        actor=np.array(histories.actor, dtype=np.int8),
        information_set=new_set[histories.information_set],
        first_child=np.array(histories.first_child, dtype=np.int32),
        child_count=np.array(histories.child_count, dtype=np.int32),
        probability=np.array(histories.probability),
        utility=np.array(histories.utility),
        last_slot=np.ascontiguousarray(new_slot[np.array(histories.last_slot).T]),
        set_start=np.array([0, first_sets, len(ordered)], dtype=np.int32),
        slot_start=np.cumsum([0, *counts], dtype=np.int32),
        parent_slot=new_slot[parents],
        keys=tuple(keys[[info_set.number for info_set in ordered]]),
        actions=tuple(info_set.actions for info_set in ordered),
    )


def _visit_all(game: Game) -> _Histories:
    """Visit the game level by level."""
    histories = _Histories()
    # A state is made when its turn comes: in a game that is too large, most never are.
    level: list[tuple[Callable[[], State], Move]] = [(game.root, (1.0, (NOWHERE, NOWHERE)))]
    while level:
        below: list[tuple[Callable[[], State], Move]] = []
        next_level = len(histories.actor) + len(level)
        histories.level_start.append(next_level)
        for make_state, (probability, last) in level:
            histories.probability.append(probability)
            histories.last_slot.append(last)
            histories.first_child.append(next_level + len(below))
            state = make_state()
            moves = _visit(histories, state, last)
            histories.child_count.append(len(moves))
            if next_level + len(below) + len(moves) > HISTORY_LIMIT:
                raise InputError(
                    f"{game.name} has more than {HISTORY_LIMIT:,} histories, and these solvers "
                    "visit every one of them.\nChoose a smaller game, such as leduc or "
                    "openspiel:liars_dice, or smaller parameters of this one."
                )
            below += [(partial(state.child, index), move) for index, move in enumerate(moves)]
        level = below
    return histories


def _visit(histories: _Histories, state: State, last: tuple[int, int]) -> list[Move]:
    """Record what kind of node `state` is; returns the legal moves."""
    number, moves = NOWHERE, list[Move]()
    if state.is_terminal:
        actor = TERMINAL
    elif state.is_chance:
        actor = CHANCE
        chances = [chance for _, chance in state.chance_outcomes()]
        if not chances or min(chances) <= 0 or abs(sum(chances) - 1) > 1e-9:
            raise InputError(
                f"the probabilities at a chance node are {chances}: "
                "they must be positive and sum to 1"
            )
        moves = [(chance, last) for chance in chances]
    else:
        actor = state.player
        info_set = _information_set(histories, state, last[actor])
        number = info_set.number
        if actor == FIRST:
            moves = [(1.0, (slot, last[SECOND])) for slot in info_set.slots]
        else:
            moves = [(1.0, (last[FIRST], slot)) for slot in info_set.slots]
    histories.actor.append(actor)
    histories.information_set.append(number)
    histories.utility.append(state.utility() if actor == TERMINAL else 0.0)
    return moves


def _information_set(histories: _Histories, state: State, own_slot: int) -> _InformationSet:
    """The information set of `state`, new or known; a known one must agree with this history."""
    key, player, actions = state.information_set(), state.player, tuple(state.actions())
    known = histories.sets.get(key)
    if known is None:
        if not actions or len(set(actions)) < len(actions):
            raise InputError(
                f"information set {key!r} has the actions {list(actions)}: "
                "give it at least one, each with its own label"
            )
        depth = 0 if own_slot == NOWHERE else histories.set_of_slot[own_slot].depth + 1
        number, first_slot = len(histories.sets), len(histories.set_of_slot)
        known = _InformationSet(number, player, actions, first_slot, own_slot, depth)
        histories.sets[key] = known
        histories.set_of_slot += [known] * len(actions)
    if known.player != player:
        raise InputError(
            f"information set {key!r} is used by both players: put the player into its text"
        )
    if known.actions != actions:
        raise InputError(
            f"information set {key!r} has the actions {list(known.actions)} at one history "
            f"and {list(actions)} at another: what a player may do must follow from what he knows"
        )
    if known.parent_slot != own_slot:
        raise InputError(
            f"information set {key!r} is reached by different own actions, so its player has "
            "forgotten some: the solvers need perfect recall. Put his own past actions in the text"
        )
    return known


def _order_sets(histories: _Histories) -> list[_InformationSet]:
    """The sets in their final order: by player, own depth, shape, and order of discovery."""
    terminals: Counter[int] = Counter()  # by slot: those right below it
    for actor, slots in zip(histories.actor, histories.last_slot, strict=True):
        if actor == TERMINAL:
            terminals.update(slot for slot in slots if slot != NOWHERE)

    def rank(info_set: _InformationSet) -> tuple[int, int, int, list[int], int]:
        shape = [terminals[slot] for slot in info_set.slots]
        return info_set.player, info_set.depth, len(shape), shape, info_set.number

    return sorted(histories.sets.values(), key=rank)
