"""Building the tree of a postflop game out of its rules, or only counting its nodes."""

from collections import deque
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count

import numpy as np

from allstreets.base import InputError
from allstreets.betting.menu import Situation, Thresholds, amounts_offered
from allstreets.betting.rules import DEAL, Edit, PostflopRules
from allstreets.betting.sizes import Geometric, Sizes, TimesLastBet
from allstreets.betting.table import GRAINS, IP, OOP, Player, Street, in_grains, neat
from allstreets.betting.tree import (
    KINDS,
    PLAYERS,
    STREETS,
    Action,
    ActionKind,
    BettingTree,
    NodeKind,
    TreeSize,
    make_tree,
)
from allstreets.betting.words import find_action

NODE_LIMIT = 2_000_000
COUNTED_FROM = 20_000  # nodes: a tree that has more is counted before it grows further
NO_PLAYER = -1
TOLERANCE = 100  # a bet may be off by one part in so many
STATES_COMPARED = 5_000  # the first ones: rounding weighs most in small pots

FOLD = Action(ActionKind.FOLD)
CHECK = Action(ActionKind.CHECK)
CALL = Action(ActionKind.CALL)


class LargeTreeError(InputError):
    """A tree of more nodes than are allowed."""


@dataclass(frozen=True, slots=True)
class Grains:
    """The amounts of the rules in grains."""

    pot: int
    stack: int
    min_bet: int
    per_chip: int

    @classmethod
    def of(cls, rules: PostflopRules) -> "Grains":
        """The amounts of these rules."""
        per_chip = rules.grains_per_chip
        pot, stack, least = (
            in_grains(chips, per_chip) for chips in (rules.pot, rules.stack, rules.min_bet)
        )
        return cls(pot, stack, max(least, 1), per_chip)


@dataclass(frozen=True, slots=True)
class State:
    """The state of the betting in a hand; amounts in grains."""

    street: Street
    kind: NodeKind
    player: int  # the player who acts; who folded; NO_PLAYER
    invested: tuple[int, int]  # since the root
    before: int  # what each player had invested when this street began
    raises: int = 0  # on this street, its first bet not counted
    aggressor: int = NO_PLAYER  # who made the last bet or raise of this street
    leader: int = NO_PLAYER  # who made the last bet or raise of the street before


@dataclass(frozen=True, slots=True)
class EditedState:
    """A state, and the edits at it or below: each with the number of its words already followed."""

    state: State
    edits: tuple[tuple[Edit, int], ...] = ()


def build_postflop_tree(rules: PostflopRules, node_limit: int = NODE_LIMIT) -> BettingTree:
    """The tree of a postflop game.

    Raises InputError when it would have more than `node_limit` nodes.
    """
    thresholds, grains = Thresholds.of(rules), Grains.of(rules)
    kind: list[int] = []
    street: list[int] = []
    player: list[int] = []
    parent: list[int] = []
    invested: list[tuple[int, int]] = []
    actions: list[Action | None] = []

    # The last entry of this list is the next node in pre-order. No recursion:
    # small raises into deep stacks make lines longer than Python's call stack.
    root = EditedState(_root(rules, grains.stack), tuple((edit, 0) for edit in rules.edits))
    waiting: list[tuple[EditedState, Action | None, int]] = [(root, None, -1)]
    while waiting:
        edited, action, from_node = waiting.pop()
        state = edited.state
        node = len(kind)
        if node >= node_limit:
            raise _too_large(node_limit)
        if node == COUNTED_FROM:
            measure_postflop_tree(rules, node_limit)
        kind.append(state.kind)
        street.append(state.street)
        player.append(state.player)
        parent.append(from_node)
        invested.append(state.invested)
        actions.append(action)
        if state.kind == NodeKind.CHANCE:
            waiting.append((_dealt(edited), None, node))
        elif state.kind == NodeKind.DECISION:
            offered = _choices(edited, rules, thresholds, grains)
            waiting.extend((below, choice, node) for choice, below in reversed(offered))
        else:
            _refuse_end(edited)
    tree = make_tree(
        grains.pot, grains.stack, kind, street, player, parent, invested, actions, grains.per_chip
    )
    if not rules.locks and not rules.hand_locks:
        return tree
    by_hand = {node: dict(hands) for node, hands in rules.hand_locks}
    return replace(tree, locks=dict(rules.locks), hand_locks=by_hand)


def measure_postflop_tree(rules: PostflopRules, node_limit: int = NODE_LIMIT) -> TreeSize:
    """The size of the tree that `build_postflop_tree` would build.

    Many lines lead to the same state, and what follows a state does not depend on the line. So each
    state is visited once, after all states that lead to it, and counts once for each line. Raises
    InputError, early on, when there are more than `node_limit`.
    """
    thresholds, grains = Thresholds.of(rules), Grains.of(rules)
    needed = {street: _dependencies(rules, street) for street in Street if street >= rules.street}
    nodes = [[0] * KINDS for _ in range(STREETS)]
    decisions, actions = ([[0] * PLAYERS for _ in range(STREETS)] for _ in range(2))
    lines: dict[EditedState, int] = {}  # that lead to each decision that waits
    waiting: list[tuple[int, int, int, int, EditedState]] = []
    ties = count()  # states of one stage do not lead to each other
    sure = 0  # nodes visited, and those that must be below what waits

    def meet(edited: EditedState, new: int) -> None:
        nonlocal sure
        state = edited.state
        nodes[state.street][state.kind] += new
        sure += new
        if state.kind == NodeKind.CHANCE:
            meet(_dealt(edited), new)
        elif state.kind == NodeKind.DECISION:
            if not edited.edits:
                edited = EditedState(_bare(state, *needed[state.street]))
            if edited not in lines:
                heappush(waiting, (*_stage(state), next(ties), edited))
            lines[edited] = lines.get(edited, 0) + new
            sure += new * _at_least_below(state, grains.stack)
        else:
            _refuse_end(edited)
        if sure > node_limit:
            raise _too_large(node_limit)

    meet(EditedState(_root(rules, grains.stack), tuple((edit, 0) for edit in rules.edits)), 1)
    while waiting:
        *_, edited = heappop(waiting)
        state, here = edited.state, lines.pop(edited)
        sure -= here * _at_least_below(state, grains.stack)
        offered = _choices(edited, rules, thresholds, grains)
        decisions[state.street][state.player] += here
        actions[state.street][state.player] += here * len(offered)
        for _, below in offered:
            meet(below, here)
    return TreeSize(rules.street, np.array(nodes), np.array(decisions), np.array(actions))


def is_rounded(rules: PostflopRules) -> bool:
    """Whether rounding to grains moves a size by more than 1 % or makes two sizes equal.

    Every state's amounts are compared with those in grains of a hundredth, the smallest pots
    first. Edits that do not fit the tree are reported where it is built.
    """
    thresholds, grains = Thresholds.of(rules), Grains.of(rules)
    fine = Grains.of(replace(rules, grains=GRAINS * grains.per_chip))
    needed = {street: _dependencies(rules, street) for street in Street if street >= rules.street}
    root = EditedState(_root(rules, grains.stack), tuple((edit, 0) for edit in rules.edits))
    waiting, seen = deque([root]), {root}
    try:
        while waiting:
            edited = waiting.popleft()
            if edited.state.kind != NodeKind.DECISION:
                continue
            whole, exact = _amounts(edited, rules, grains), _amounts(_finer(edited), rules, fine)
            apart = (
                abs(GRAINS * a - b) * TOLERANCE > b for a, b in zip(whole, exact, strict=False)
            )
            if len(whole) != len(exact) or any(apart):
                return True
            for _, below in _choices(edited, rules, thresholds, grains):
                if below.state.kind == NodeKind.CHANCE:
                    below = _dealt(below)
                if not below.edits:
                    below = EditedState(_bare(below.state, *needed[below.state.street]))
                if below not in seen and len(seen) < STATES_COMPARED:
                    seen.add(below)
                    waiting.append(below)
    except InputError:
        pass
    return False


def _amounts(edited: EditedState, rules: PostflopRules, grains: Grains) -> list[int]:
    """The totals of a state's sizes, edits included, before any threshold."""
    situation = _situation(edited.state, rules, grains)
    if situation is None:
        return []
    added = [size for edit, done in edited.edits if done == len(edit.words) for size in edit.add]
    sizes = (*_wanted(edited.state, rules), *added)
    return amounts_offered(sizes, situation, Thresholds(), rules.chips_per_bb, grains.per_chip)


def _finer(edited: EditedState) -> EditedState:
    """The same in grains of a hundredth."""
    state = edited.state
    oop, ip = (GRAINS * amount for amount in state.invested)
    fine = replace(state, invested=(oop, ip), before=GRAINS * state.before)
    return replace(edited, state=fine)


def _stage(state: State) -> tuple[int, int, int]:
    """A number that rises with every action: bets add chips, and OOP checks before IP."""
    return state.street, sum(state.invested), state.player


def _at_least_below(state: State, stack: int) -> int:
    """The nodes that any sizes put below a decision: a fold, a call, checks to the end."""
    checked_down = 3 * (Street.RIVER - state.street)  # a card and two decisions per street
    if state.aggressor == NO_PLAYER:
        return checked_down + (2 if state.player == OOP else 1)
    return 2 if max(state.invested) == stack else checked_down + 2


def _dependencies(rules: PostflopRules, street: Street) -> tuple[bool, bool]:
    """Whether any rule of a street depends on its raises, and on who bet last the street before."""
    sizes = rules.sizes_of(street, OOP), rules.sizes_of(street, IP)
    grows = any(isinstance(size, Geometric) for own in sizes for size in own.raises)
    return grows or rules.max_raises is not None, sizes[OOP].donk is not None


def _bare(state: State, raises: bool, leader: bool) -> State:
    """The state reduced to what the rules depend on, so that more lines share it."""
    if state.raises and not raises:
        state = replace(state, raises=0)
    if state.leader != NO_PLAYER and not leader:
        state = replace(state, leader=NO_PLAYER)
    return state


def _too_large(node_limit: int) -> LargeTreeError:
    return LargeTreeError(
        f"the betting tree has more than {node_limit:,} nodes: use fewer sizes, larger "
        "raises, a smaller stack, max_raises, or a higher force_allin_threshold or "
        "merging_threshold"
    )


def _choices(
    edited: EditedState, rules: PostflopRules, thresholds: Thresholds, grains: Grains
) -> list[tuple[Action, EditedState]]:
    """The actions of the player to act, edits included, and where each one leads."""
    state, stack = edited.state, grains.stack
    offered = _actions(state, rules, thresholds, grains)
    if not edited.edits:
        return [(action, EditedState(_after(state, action, stack))) for action in offered]
    for edit, done in edited.edits:
        if done == len(edit.words):
            offered = _edited(edit, offered, state, rules, thresholds, grains)
    below: list[list[tuple[Edit, int]]] = [[] for _ in offered]
    chosen: dict[str, int] = {}  # the action of each word: many edits share their first words
    for edit, done in edited.edits:
        if done < len(edit.words):
            word = edit.words[done]
            if word not in chosen:
                chosen[word] = _named(edit, word, offered, state, grains)
            below[chosen[word]].append((edit, done + 1))
    return [
        (action, EditedState(_after(state, action, stack), tuple(some)))
        for action, some in zip(offered, below, strict=True)
    ]


def _edited(
    edit: Edit,
    offered: list[Action],
    state: State,
    rules: PostflopRules,
    thresholds: Thresholds,
    grains: Grains,
) -> list[Action]:
    """The actions of a node after an edit."""
    gone = [_named(edit, word, offered, state, grains) for word in edit.remove]
    for number, word in zip(gone, edit.remove, strict=True):
        if not offered[number].is_aggressive:
            raise InputError(f"edit '{edit.line}', remove '{word}': only bets and raises can go")
    kept = [action for number, action in enumerate(offered) if number not in gone]
    if not edit.add:
        return kept
    what, situation = f"edit '{edit.line}', add", _situation(state, rules, grains)
    if situation is None:
        raise InputError(f"{what}: nothing can be bet or raised there any more")
    for size in edit.add:
        if isinstance(size, TimesLastBet) and not situation.last_bet:
            raise InputError(f"{what} '{size}': there is no bet to raise: write 50% or 100c")
        forced = Thresholds(force_allin=thresholds.force_allin)
        (amount,) = amounts_offered((size,), situation, forced, rules.chips_per_bb, grains.per_chip)
        if any(action.amount == amount for action in kept):
            chips = neat(amount / grains.per_chip)
            raise InputError(f"{what} '{size}': {chips} chips are offered there already")
        kept.append(_bet(amount, situation))
    return sorted(kept, key=lambda action: (action.is_aggressive, action.amount, action.kind))


def _named(edit: Edit, word: str, offered: list[Action], state: State, grains: Grains) -> int:
    """The index of the action that a word of an edit names, as in a line."""
    if word == DEAL:
        raise InputError(f"edit '{edit.line}': no card is dealt where '| * |' stands")
    states = [state, *(_after(state, action, grains.stack) for action in offered)]
    menu = make_tree(
        grains.pot,
        grains.stack,
        [state.kind for state in states],
        [state.street for state in states],
        [state.player for state in states],
        [-1, *(0 for _ in offered)],
        [state.invested for state in states],
        [None, *offered],
        grains.per_chip,
    )
    try:
        return find_action(menu, 0, word) - 1
    except InputError as error:
        raise InputError(f"edit '{edit.line}': {error}") from None


def _dealt(edited: EditedState) -> EditedState:
    """The state after a card has been dealt."""
    for edit, done in edited.edits:
        if edit.words[done : done + 1] != (DEAL,):
            raise InputError(f"edit '{edit.line}': a card is dealt there: write '| * |'")
    return EditedState(
        _next_street(edited.state), tuple((edit, done + 1) for edit, done in edited.edits)
    )


def _refuse_end(edited: EditedState) -> None:
    for edit, _ in edited.edits:
        raise InputError(f"edit '{edit.line}': the hand is over there: no player acts")


def _root(rules: PostflopRules, stack: int) -> State:
    state = State(rules.street, NodeKind.DECISION, OOP, (0, 0), 0)
    if stack == 0:
        return replace(state, kind=NodeKind.SHOWDOWN, player=NO_PLAYER)
    return state


def _actions(
    state: State, rules: PostflopRules, thresholds: Thresholds, grains: Grains
) -> list[Action]:
    """The actions of the player to act: fold, check or call, bets or raises rising, all-in last."""
    situation = _situation(state, rules, grains)
    passive = [FOLD, CALL] if _facing_bet(state) else [CHECK]
    if situation is None:
        return passive
    wanted = _wanted(state, rules)
    offered = amounts_offered(wanted, situation, thresholds, rules.chips_per_bb, grains.per_chip)
    return passive + [_bet(amount, situation) for amount in offered]


def _facing_bet(state: State) -> bool:
    player = Player(state.player)
    return state.invested[player] < state.invested[player.opponent]


def _wanted(state: State, rules: PostflopRules) -> Sizes:
    """The sizes of the player to act."""
    sizes = rules.sizes_of(state.street, Player(state.player))
    if _facing_bet(state):
        return sizes.raises
    if state.player == OOP and state.leader == IP and sizes.donk is not None:
        return sizes.donk
    return sizes.bet


def _situation(state: State, rules: PostflopRules, grains: Grains) -> Situation | None:
    """The situation in which the player to act bets or raises; None: he may not."""
    player = Player(state.player)
    own, last = (state.invested[p] - state.before for p in (player, player.opponent))
    all_in = grains.stack - state.before
    capped = last > own and rules.max_raises is not None and state.raises >= rules.max_raises
    if last == all_in or capped:
        return None
    return Situation(
        pot=grains.pot + 2 * (state.before + last),
        last_bet=last,
        own_bet=own,
        all_in=all_in,
        streets_left=state.street.left,
        raises=state.raises,
        min_bet=grains.min_bet,
    )


def _bet(amount: int, situation: Situation) -> Action:
    usual = ActionKind.RAISE if situation.last_bet else ActionKind.BET
    return Action(ActionKind.ALL_IN if amount == situation.all_in else usual, amount)


def _after(state: State, action: Action, stack: int) -> State:
    """The state after an action."""
    player = Player(state.player)
    if action.kind == ActionKind.FOLD:
        return replace(state, kind=NodeKind.FOLD)
    if action.kind == ActionKind.CHECK:
        if player == IP:
            return _street_over(state, stack)
        return replace(state, player=IP)
    if action.kind == ActionKind.CALL:
        called = state.invested[player.opponent]
        return _street_over(replace(state, invested=(called, called)), stack)
    total = state.before + int(action.amount)
    theirs = state.invested[player.opponent]
    return replace(
        state,
        player=player.opponent,
        invested=(total, theirs) if player == OOP else (theirs, total),
        raises=state.raises + (state.aggressor != NO_PLAYER),
        aggressor=player,
    )


def _street_over(state: State, stack: int) -> State:
    """The node after equal investments: showdown on the river or all-in, else the next card."""
    over = state.street == Street.RIVER or state.invested[OOP] == stack
    kind = NodeKind.SHOWDOWN if over else NodeKind.CHANCE
    return replace(state, kind=kind, player=NO_PLAYER)


def _next_street(state: State) -> State:
    return State(
        street=Street(state.street + 1),
        kind=NodeKind.DECISION,
        player=OOP,
        invested=state.invested,
        before=state.invested[OOP],
        leader=state.aggressor,
    )
