"""A `Game` compiled once into flat arrays, so that kernels need no game objects.

Axis letters: N nodes (histories), I information sets, K slots, L levels.
A **slot** is one action of one information set. Slots are numbered set by set: the actions of set i
are the slots `slot_start[i]` to `slot_start[i + 1]`, and every table of a solver (regrets, sums of
strategies) is one float64[K]. A slot also names a player's own line: with
perfect recall, his last action determines all his actions before it.

The steps:
1. Walk the game level by level. The children of one node are neighbours, and every node comes after
   its parent, so passes down and up the tree are plain loops.
2. On the way check what the solvers rely on: each information set belongs to one player, offers the
   same actions at each of its histories, and is reached by one own line only (perfect recall).
3. Number the information sets: the first player's, then the second's; in each, sets that come after
   fewer own moves first. So one player's slots are one contiguous range, and a parent's slots stand
   before its children's. Within that, sets of the same shape stand together: the loops over them
   then take the same branches again and again, which the processor learns to predict.
"""

import hashlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Ints
from allstreets.cfr.game import FIRST, SECOND, Game, State

CHANCE = 2
TERMINAL = 3
NOWHERE = -1  # the slot of a player who has not acted yet; the information set of no player

HISTORY_LIMIT = 1_000_000

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
    child_count: Ints  # [N] 0 at the end of the game
    probability: Floats  # [N] nature's probability of the move into the node, 1 after a player's
    utility: Floats  # [N] what the first player wins, 0 where the game is not over
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
        """The most that a player can win from one end of the game to another."""
        ends = self.utility[self.actor == TERMINAL]
        return float(ends.max() - ends.min())

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


@dataclass
class _Walk:
    """What the walk over the game has found so far; sets and slots in the order of finding."""

    actor: list[int] = field(default_factory=list)
    information_set: list[int] = field(default_factory=list)
    first_child: list[int] = field(default_factory=list)
    child_count: list[int] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    utility: list[float] = field(default_factory=list)
    last_slot: list[tuple[int, int]] = field(default_factory=list)
    level_start: list[int] = field(default_factory=lambda: [0])
    number: dict[str, int] = field(default_factory=dict)
    players: list[int] = field(default_factory=list)
    actions: list[tuple[str, ...]] = field(default_factory=list)
    slot_start: list[int] = field(default_factory=lambda: [0])
    parent_slot: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)


def compile_game(game: Game) -> FlatGame:
    """Compile `game`; raises `InputError` when it is not one that the solvers can play."""
    walk = _walk(game)
    order = _numbering(walk)
    new_set = np.empty(len(order), dtype=np.int32)
    new_set[order] = np.arange(len(order), dtype=np.int32)
    counts = np.array([len(walk.actions[found]) for found in order], dtype=np.int32)
    slot_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    new_slot = np.full(walk.slot_start[-1] + 1, NOWHERE, dtype=np.int32)  # the last: NOWHERE itself
    for found, count in enumerate(map(len, walk.actions)):
        begin = walk.slot_start[found]
        new_slot[begin : begin + count] = slot_start[new_set[found]] + np.arange(count)
    sets = np.array([*new_set, NOWHERE], dtype=np.int32)
    return FlatGame(
        name=game.name,
        unit=game.unit,
        level_start=np.array(walk.level_start, dtype=np.int32),
        actor=np.array(walk.actor, dtype=np.int8),
        information_set=sets[walk.information_set],
        first_child=np.array(walk.first_child, dtype=np.int32),
        child_count=np.array(walk.child_count, dtype=np.int32),
        probability=np.array(walk.probability),
        utility=np.array(walk.utility),
        last_slot=np.ascontiguousarray(new_slot[np.array(walk.last_slot).T]),
        set_start=np.array([0, walk.players.count(FIRST), len(order)], dtype=np.int32),
        slot_start=slot_start,
        parent_slot=new_slot[np.array(walk.parent_slot, dtype=np.int64)[order]],
        keys=tuple(np.array(list(walk.number), dtype=object)[order]),
        actions=tuple(walk.actions[found] for found in order),
    )


def _walk(game: Game) -> _Walk:
    walk = _Walk()
    # How to make a state, which is made when its turn comes: most of those of a game that is too
    # large never are. Then nature's probability of the move into it, and both players' last slots.
    level: list[tuple[Callable[[], State], Move]] = [(game.root, (1.0, (NOWHERE, NOWHERE)))]
    while level:
        below: list[tuple[Callable[[], State], Move]] = []
        next_level = len(walk.actor) + len(level)
        walk.level_start.append(next_level)
        for make, (probability, last) in level:
            walk.probability.append(probability)
            walk.last_slot.append(last)
            walk.first_child.append(next_level + len(below))
            state = make()
            moves = _visit(walk, state, last)
            walk.child_count.append(len(moves))
            if next_level + len(below) + len(moves) > HISTORY_LIMIT:
                raise InputError(
                    f"{game.name} has more than {HISTORY_LIMIT:,} histories, and these solvers "
                    "visit every one of them.\nChoose a smaller game, such as leduc or "
                    "openspiel:liars_dice, or smaller parameters of this one."
                )
            below += [(partial(state.child, index), move) for index, move in enumerate(moves)]
        level = below
    return walk


def _visit(walk: _Walk, state: State, last: tuple[int, int]) -> list[Move]:
    """Record what kind of node `state` is; returns the legal moves there."""
    terminal = state.is_terminal
    walk.utility.append(state.utility() if terminal else 0.0)
    if terminal:
        walk.actor.append(TERMINAL)
        walk.information_set.append(NOWHERE)
        return []
    if state.is_chance:
        walk.actor.append(CHANCE)
        walk.information_set.append(NOWHERE)
        chances = [chance for _, chance in state.chance_outcomes()]
        if not chances or min(chances) <= 0 or abs(sum(chances) - 1) > 1e-9:
            raise InputError(
                f"the probabilities at a chance node are {chances}: "
                "they must be positive and sum to 1"
            )
        return [(chance, last) for chance in chances]
    player = state.player
    found = _find_set(walk, state, player, last[player])
    walk.actor.append(player)
    walk.information_set.append(found)
    slots = range(walk.slot_start[found], walk.slot_start[found] + len(walk.actions[found]))
    if player == FIRST:
        return [(1.0, (slot, last[SECOND])) for slot in slots]
    return [(1.0, (last[FIRST], slot)) for slot in slots]


def _find_set(walk: _Walk, state: State, player: int, own_slot: int) -> int:
    """The information set of `state`, new or known; a known one must agree with this history."""
    key = state.information_set()
    actions = tuple(state.actions())
    known = walk.number.get(key)
    if known is None:
        if not actions or len(set(actions)) < len(actions):
            raise InputError(
                f"information set {key!r} has the actions {list(actions)}: "
                "give it at least one, each with its own label"
            )
        walk.number[key] = len(walk.players)
        walk.players.append(player)
        walk.actions.append(actions)
        walk.slot_start.append(walk.slot_start[-1] + len(actions))
        walk.parent_slot.append(own_slot)
        above = NOWHERE if own_slot == NOWHERE else _set_of(walk, own_slot)
        walk.depth.append(0 if above == NOWHERE else walk.depth[above] + 1)
        return walk.number[key]
    if walk.players[known] != player:
        raise InputError(
            f"information set {key!r} is used by both players: put the player into its text"
        )
    if walk.actions[known] != actions:
        raise InputError(
            f"information set {key!r} has the actions {list(walk.actions[known])} at one history "
            f"and {list(actions)} at another: what a player may do must follow from what he knows"
        )
    if walk.parent_slot[known] != own_slot:
        raise InputError(
            f"information set {key!r} is reached by different own actions, so its player has "
            "forgotten some: the solvers need perfect recall. Put his own past actions in the text"
        )
    return known


def _set_of(walk: _Walk, slot: int) -> int:
    return bisect_right(walk.slot_start, slot) - 1


def _numbering(walk: _Walk) -> list[int]:
    """The found sets in their final order: by player, own depth, shape, and order of finding."""
    ends: Counter[int] = Counter()
    for node, actor in enumerate(walk.actor):
        if actor == TERMINAL:
            ends.update(slot for slot in walk.last_slot[node] if slot != NOWHERE)

    def rank(found: int) -> tuple[int, int, int, list[int], int]:
        slots = range(walk.slot_start[found], walk.slot_start[found + 1])
        shape = [ends[slot] for slot in slots]
        return walk.players[found], walk.depth[found], len(shape), shape, found

    return sorted(range(len(walk.players)), key=rank)
