"""Locks from frequencies: an action's frequency is given, or bounded from above or below.

A frequency does not name hands. Those that lose least EV in a solution move first
(`games.changed_strategy`), out of all hands that get there, each counted as often as it meets the
opponent's range; on a line with `*` over all cards together. The hands are those that get there in
the given solution, with earlier locks. In the new solution others may get there: then the same
strategy is changed again for the hands that get there in `arriving`, the solution with the locks.
So a lock that holds is the cheapest change for the hands that get there: neither less nor more.

In a whole game decisions before the flop are locked from the root on, so that a range changed by
one lock is the one that gets to the next; strategies are rounded so that the frequency stays. On
the flop a lock names frequencies and a solution, and is spread over the hands of every flop when
the game is solved (`flop_locks`). There the ranges of the solution count. To hold in those of the
game with the lock, it aims at a frequency that is higher or lower by the error that is left.

`LockRequest` is a user's request at a decision, in one of a few forms. The same request makes locks
of a spot, whose board and combos are known, and of a whole game.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from allstreets.analysis.flop_locks import evenly_rounded, taken_on_flops
from allstreets.base import Floats, InputError, Longs
from allstreets.betting import (
    ANY_CARD,
    BIG_BLINDS,
    CHIPS,
    BettingTree,
    Line,
    NodeKind,
    Notation,
    action_text,
    line_text,
    parse_line,
)
from allstreets.cards import (
    COMBO_COUNT,
    DECK_SIZE,
    HAND_OF_COMBO,
    Range,
    fitting,
)
from allstreets.games import (
    Bound,
    GameNode,
    Lock,
    Spot,
    WholeGame,
    aimed_bounds,
    changed_strategy,
    limits,
    named_action,
)
from allstreets.solutions import (
    Decision,
    SpotSolution,
    WholeSolution,
    played_lock,
    taken_action,
)

CLOSE = 1e-10  # of frequencies before the flop
RARE = 0.02  # of the hands at the most frequent of several decisions
DIGITS = 7  # of locked probabilities: more would only make texts long
NodeOnCards = tuple[int, tuple[int, ...]]  # a decision of the tree and the cards dealt before it
Played = dict[NodeOnCards, Floats]  # [A, 1326] of decisions that are locked


def observed_locks(
    result: SpotSolution, bounds: Sequence[Bound], arriving: SpotSolution | None = None
) -> tuple[Lock, ...]:
    """Locks whose frequencies meet the bounds, by the cheapest change.

    Bounds of one node count together; nodes are locked from the root on, so that a range changed by
    one lock is the one that gets to the next. `arriving` is the solution whose ranges count, by
    default the same.
    """
    locks: list[Lock] = []
    for change in _changes(result, bounds, arriving or result):
        parts = np.split(change.strategy, change.ends, axis=1)
        for node, line, part in zip(change.nodes, change.lines, parts, strict=True):
            locks.append(played_lock(result.spot, line, _over_combos(node, part))[0])
    return tuple(locks)


@dataclass(frozen=True, eq=False)
class _Change:
    """The cheapest change at a decision, on one board or on several after each other."""

    bounds: list[Bound]
    lines: list[Line]
    nodes: list[Decision]
    weights: Floats  # [H]
    strategy: Floats  # [A, H]

    @property
    def ends(self) -> Longs:
        """The hands at which boards end, except for the last."""
        ends: Longs = np.cumsum([node.strategy.shape[1] for node in self.nodes])[:-1]
        return ends


def _changes(
    result: SpotSolution, bounds: Sequence[Bound], arriving: SpotSolution
) -> Iterator[_Change]:
    """The changes that meet the bounds, from the root on."""
    played: Played = {}
    for line, some in _bounds_at(result, bounds):
        least, most = limits(result.spot.tree, line.node, some)
        lines = _boards(result, line, some[0].where)
        nodes = [_decision(result, path) for path in lines]
        weights = np.concatenate([_weights(arriving, path, played) for path in lines])
        if not weights.any():
            raise InputError(
                f"{some[0].where}: no hand of {nodes[0].seat} gets to '{some[0].line}', so "
                "no frequency can be locked there"
            )
        strategy = np.concatenate([node.strategy for node in nodes], axis=1)
        evs = np.concatenate([node.action_evs for node in nodes], axis=1)
        changed = changed_strategy(strategy, evs, weights, least, most)
        change = _Change(some, lines, nodes, weights, changed)
        for node, path, part in zip(
            nodes, lines, np.split(changed, change.ends, axis=1), strict=True
        ):
            played[path.node, path.cards] = played_lock(
                result.spot, path, _over_combos(node, part)
            )[1]
        yield change


def _decision(result: SpotSolution, line: Line) -> Decision:
    return result.at(line_text(result.spot.tree, line.node, line.cards)).decision


def frequency_gap(
    result: SpotSolution, bounds: Sequence[Bound], arriving: SpotSolution
) -> tuple[float, float]:
    """(missed, moved too far): the largest errors of frequencies in `arriving`.

    `arriving` is a solution with locks for these bounds, made from `result`. A frequency may miss
    its bound; or it meets it, but other hands get there now, for which a smaller change would do.
    """
    gaps = [(0.0, 0.0)]
    for change in _changes(result, bounds, arriving):
        there = np.concatenate(
            [_decision(arriving, line).strategy for line in change.lines], axis=1
        )
        shares = change.weights / change.weights.sum()
        tree, node = result.spot.tree, change.lines[0].node
        gaps.append(_gap(there @ shares, change.strategy @ shares, tree, node, change.bounds))
    return _largest(gaps)


def game_frequency_gap(
    result: WholeSolution, bounds: Sequence[Bound], arriving: WholeSolution
) -> tuple[float, float]:
    """The same in a whole game, at decisions that are not `RARE` beside others on their street."""
    gaps: dict[bool, list[tuple[float, tuple[float, float]]]] = {True: [], False: []}
    for target, some, changed, weights in _game_changes(result, bounds, arriving):
        if changed is None:
            met, total = taken_on_flops(arriving, target)
            best = met.copy()
            for action, (_, error) in _aims(result, arriving, target, some).items():
                best[named_action(target.tree, target.node, action, "lock", BIG_BLINDS)] += error
        else:
            total = float(weights.sum())
            shares = weights / total
            met = arriving.before.node(target.node).strategy @ shares
            best = changed @ shares
        gap = _gap(met, best, target.tree, target.node, some, BIG_BLINDS)
        gaps[changed is None].append((total, gap))
    often = [(0.0, 0.0)]
    for street in gaps.values():
        most = max((total for total, _ in street), default=0.0)
        often += [gap for total, gap in street if total >= RARE * most]
    return _largest(often)


def _gap(
    met: Floats,
    best: Floats,
    tree: BettingTree,
    node: int,
    bounds: Sequence[Bound],
    notation: Notation = CHIPS,
) -> tuple[float, float]:
    """The errors of frequencies [A] with these bounds, where others [A] are the cheapest change."""
    missed = too_far = 0.0
    for bound in bounds:
        action = named_action(tree, node, bound.action, bound.where, notation)
        missed = max(missed, bound.least - met[action], met[action] - bound.most)
        too_far = max(too_far, abs(best[action] - met[action]))
    return missed, too_far


def _largest(gaps: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(missed for missed, _ in gaps), max(too_far for _, too_far in gaps)


def lock_as_played(result: SpotSolution, line: str) -> Lock:
    """A lock of the whole range to its strategy in the solution."""
    path = result.path(line)
    node = result.at(line).decision
    return played_lock(result.spot, path, _over_combos(node, node.strategy))[0]


def with_locks(spot: Spot, locks: Sequence[Lock]) -> Spot:
    """The spot with more locks, instead of those that it has at the same lines."""

    def target(lock: Lock) -> NodeOnCards:
        line = parse_line(spot.tree, lock.line, board=spot.cards, any_card=True)
        return line.node, line.cards

    taken = {target(lock) for lock in locks}
    kept = (lock for lock in spot.lock if target(lock) not in taken)
    return replace(spot, lock=(*kept, *locks))


def _bounds_at(result: SpotSolution, bounds: Sequence[Bound]) -> list[tuple[Line, list[Bound]]]:
    """Decisions with their bounds, from the root on."""
    bounds_at: dict[NodeOnCards, tuple[Line, list[Bound]]] = {}
    for bound in bounds:
        line = _find(result, bound)
        bounds_at.setdefault((line.node, line.cards), (line, []))[1].append(bound)
    return [bounds_at[key] for key in sorted(bounds_at)]


def _find(result: SpotSolution, bound: Bound) -> Line:
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


def _boards(result: SpotSolution, line: Line, where: str) -> list[Line]:
    """The line with each card that `*` can stand for."""
    opened = [index for index, card in enumerate(line.cards) if card == ANY_CARD]
    if not opened:
        return [line]
    if len(opened) > 1:
        raise InputError(
            f"{where}: frequencies over all turns and rivers together are too many boards: name "
            "the turn card, or lock the range alike with 'strategy' in the spot file"
        )
    named = {*result.spot.cards, *line.cards}
    index = opened[0]
    return [
        replace(line, cards=(*line.cards[:index], card, *line.cards[index + 1 :]))
        for card in range(DECK_SIZE)
        if card not in named
    ]


def _weights(result: SpotSolution, line: Line, played: Played) -> Floats:
    """[H]: how often hands get to a decision against the other's range, after earlier locks."""
    tree = result.spot.tree
    node = result.at(line_text(tree, line.node, line.cards)).decision
    steps = {
        (step, line.cards[: tree.street[step] - tree.first_street]): child
        for step, child in zip(line.nodes, line.nodes[1:], strict=False)
        if tree.kind[step] == NodeKind.DECISION and tree.player[step] == node.player
    }
    if not any(step in played for step in steps):
        return node.own.weights
    reach = result.spot.ranges[node.player].weights[node.combos].copy()
    for (step, cards), child in steps.items():
        chances = played.get((step, cards))
        if chances is None:
            there = result.at(line_text(tree, step, cards)).decision
            chances = _over_combos(there, there.strategy)
        reach *= chances[taken_action(tree, child)][node.combos]
    other = node.hands[node.player.opponent]
    assert other.combos is not None
    met: Floats = fitting(node.combos, other.combos) @ other.reach
    return reach * met


def _over_combos(node: Decision, strategy: Floats) -> Floats:
    """[A, 1326]: a strategy [A, H] by combo; 0 for combos that are not held."""
    by_combo = np.zeros((len(strategy), COMBO_COUNT))
    by_combo[:, node.combos] = strategy
    return by_combo


def observed_game_locks(
    result: WholeSolution,
    bounds: Sequence[Bound],
    folder: str,
    arriving: WholeSolution | None = None,
) -> tuple[Lock, ...]:
    """Locks whose frequencies meet the bounds; `folder` has the solution.

    `arriving` is the solution whose ranges count, by default the same.
    """
    locks = list[Lock]()
    for target, some, changed, _ in _game_changes(result, bounds, arriving or result):
        if changed is not None:
            locks.append(_played(target, changed)[0])
            continue
        shares = {bound.action: bound.text for bound in some}
        aims = {} if arriving is None else _aims(result, arriving, target, some)
        aim = {word: bound.text for word, (bound, _) in aims.items()}
        locks.append(Lock(target.line, frequencies=shares, aim=aim, solution=folder))
    return tuple(locks)


def _game_changes(
    result: WholeSolution, bounds: Sequence[Bound], arriving: WholeSolution
) -> Iterator[tuple[GameNode, list[Bound], Floats | None, Floats]]:
    """Decisions with their bounds, the cheapest change [A, 169] there, and the weights of hands.

    After the flop there is no change yet: a lock is spread over hands when the game is solved.
    """
    before = arriving.before
    for target, some in _game_bounds_at(result, bounds):
        least, most = limits(target.tree, target.node, some, BIG_BLINDS)
        if target.root is not None:
            yield target, some, None, np.zeros(0)
            continue
        shown, weights = result.before.node(target.node), before.node(target.node).own.weights
        if not weights.any():
            raise InputError(
                f"{some[0].where}: no hand of {shown.seat} gets to '{target.line}', so no "
                "frequency can be locked there"
            )
        changed = changed_strategy(shown.strategy, shown.action_evs, weights, least, most)
        changed = evenly_rounded(changed, weights, np.arange(len(weights)), _in_digits, CLOSE)
        played = _played(target, changed)[1]
        before = replace(before, strategies={**before.strategies, target.node: played})
        yield target, some, changed, weights


def _aims(
    result: WholeSolution, arriving: WholeSolution, target: GameNode, bounds: Sequence[Bound]
) -> dict[str, tuple[Bound, float]]:
    """Action → the frequency on all flops, in the ranges of `result`, and the error of the last.

    `arriving` was solved with another aim, or with none. A bound holds exactly where hands had to
    move for it; where the solution's own play meets it, none should.
    """
    (plain, _), (met, _) = taken_on_flops(result, target), taken_on_flops(arriving, target)
    last = [
        limits(target.tree, target.node, aimed_bounds(lock, "lock"), BIG_BLINDS)
        for lock in arriving.locks
        if lock.frequencies and result.game.node_at(lock.line, "lock").line == target.line
    ]
    aims = {}
    for bound in bounds:
        action = named_action(target.tree, target.node, bound.action, bound.where, BIG_BLINDS)
        least, most = (bound.least, bound.most) if not last else (end[action] for end in last[0])
        aimed = float(np.clip(plain[action], least, most))
        error = float(np.clip(met[action], bound.least, bound.most) - met[action])
        if error == 0 and aimed > plain[action]:
            error = float(max(bound.least - met[action], plain[action] - aimed))
        elif error == 0 and aimed < plain[action]:
            error = float(min(bound.most - met[action], plain[action] - aimed))
        if not np.isfinite(error):
            raise InputError(f"{bound.where}: no hand gets to '{target.line}' any more")
        share = min(max(aimed + error, 0.0), 1.0)
        low = 0.0 if bound.least <= 0 < bound.most else share
        high = 1.0 if bound.most >= 1 > bound.least else share
        aims[bound.action] = (replace(bound, least=low, most=high), error)
    return aims


def _game_bounds_at(
    result: WholeSolution, bounds: Sequence[Bound]
) -> list[tuple[GameNode, list[Bound]]]:
    """Decisions with their bounds, earlier ones first: nodes are in pre-order."""
    bounds_at: dict[str, tuple[GameNode, list[Bound]]] = {}
    for bound in bounds:
        target = result.game.node_at(bound.line, bound.where)
        bounds_at.setdefault(target.line, (target, []))[1].append(bound)
    return sorted(bounds_at.values(), key=lambda pair: pair[0].order)


def lock_game_as_played(result: WholeSolution, line: str, folder: str) -> Lock:
    """The play of the whole range at a decision of the solution in `folder`."""
    target = result.game.node_at(line, f"line '{line}'")
    if target.root is not None:
        return Lock(target.line, solution=folder)
    return _played(target, result.before.strategies[target.node])[0]


def with_game_locks(game: WholeGame, locks: Sequence[Lock]) -> WholeGame:
    """The game with more locks, which replace those at the same lines."""

    def line(lock: Lock) -> str:
        return game.node_at(lock.line, f"lock '{lock.line}'").line

    taken = {line(lock) for lock in locks}
    kept = (lock for lock in game.lock if line(lock) not in taken)
    return replace(game, lock=(*kept, *locks))


def _played(target: GameNode, strategy: Floats) -> tuple[Lock, Floats]:
    """A lock of a decision before the flop to a strategy [A, 169], and what it plays."""
    even = _in_digits(strategy)
    words = [action_text(action, BIG_BLINDS) for action in target.tree.actions_at(target.node)]
    ranges = {
        word: str(Range(row[HAND_OF_COMBO]))
        for word, row in zip(words, even, strict=True)
        if row.any()
    }
    return Lock(target.line, ranges=ranges), even


def earlier_lines(line: str) -> list[str]:
    """The lines to all earlier decisions on a line, in canonical text.

    >>> earlier_lines("x x | 2c | b50 c")
    ['', 'x', 'x x | 2c |', 'x x | 2c | b50']
    """
    words, dealt, lines = line.split(), False, []
    for index, word in enumerate(words):
        if word == "|":
            dealt = not dealt
        elif not dealt:
            lines.append(" ".join(words[:index]))
    return lines


def _in_digits(strategy: Floats) -> Floats:
    """A strategy [A, H] as texts of ranges have it."""
    even = np.round(strategy, DIGITS)
    # The rounding error goes to the most frequent action.
    even[even.argmax(axis=0), np.arange(even.shape[1])] += 1 - even.sum(axis=0)
    rounded: Floats = np.clip(np.round(even, DIGITS), 0.0, 1.0)
    return rounded


@dataclass(frozen=True)
class LockRequest:
    """One of: an action for all hands, or for some; the range as it plays; frequencies.

    With `same_range` the player's earlier decisions on the line are locked to their play, so that
    the same range gets there.
    """

    line: str = ""
    always: str | None = None
    as_is: bool = False
    hands: tuple[tuple[str, str], ...] = ()  # range text and action
    bounds: tuple[Bound, ...] = ()  # of this line, or of several
    same_range: bool = False

    def __post_init__(self) -> None:
        ways = [self.always is not None, self.as_is, bool(self.hands), bool(self.bounds)]
        if sum(ways) != 1:
            raise InputError(
                "give one way to lock: an action always, the range as it is, hands with an "
                "action, or frequencies"
            )

    @classmethod
    def often(
        cls, line: str, frequencies: Mapping[str, str], *, same_range: bool = False
    ) -> "LockRequest":
        """Frequencies of actions: {"fold": "55%", "r6": "<=10%"}."""
        where = f"line '{line}'"
        return cls(
            bounds=tuple(
                Bound.read(line, word, share, where) for word, share in frequencies.items()
            ),
            same_range=same_range,
        )

    @property
    def lines(self) -> list[str]:
        """The lines to the locked decisions."""
        return list(dict.fromkeys(bound.line for bound in self.bounds)) or [self.line]

    def named_by(self, read: Callable[[str], str]) -> "LockRequest":
        """The same with other texts for its lines, such as those of addresses."""
        bounds = tuple(replace(bound, line=read(bound.line)) for bound in self.bounds)
        return replace(self, line=read(self.line), bounds=bounds)

    def of_spot(
        self, result: SpotSolution, arriving: SpotSolution | None = None
    ) -> tuple[Lock, ...]:
        """The locks of a spot for this request, for the ranges of `arriving`."""
        if self.bounds:
            locks = observed_locks(result, self.bounds, arriving)
        else:
            locks = (lock_as_played(result, self.line) if self.as_is else self._told(self.line),)
        earlier = self._earlier(result, [lock.line for lock in locks])
        return (*(lock_as_played(result, line) for line in earlier), *locks)

    def of_game(
        self, result: WholeSolution, folder: str, arriving: WholeSolution | None = None
    ) -> tuple[Lock, ...]:
        """The locks of a whole game for this request; `folder` has the solution."""
        if self.bounds:
            locks = observed_game_locks(result, self.bounds, folder, arriving)
        elif self.as_is:
            locks = (lock_game_as_played(result, self.line, folder),)
        else:
            locks = (self._told(result.game.node_at(self.line, "line").line),)
        earlier = self._earlier(result, [lock.line for lock in locks])
        return (*(lock_game_as_played(result, line, folder) for line in earlier), *locks)

    def _earlier(self, result: SpotSolution | WholeSolution, lines: Sequence[str]) -> list[str]:
        """The lines to earlier decisions of the locked players, if these should stay."""
        earlier: dict[str, None] = {}
        for line in lines if self.same_range else ():
            here = result.lock_target(line, "line")
            for before in earlier_lines(line):
                there = result.lock_target(before, "line")
                if there.tree.player_at(there.node) == here.tree.player_at(here.node):
                    earlier[before] = None
        return [line for line in earlier if line not in lines]

    def _told(self, line: str) -> Lock:
        if self.always is not None:
            return Lock(line, strategy={self.always: 1.0})
        return Lock(line, hands={some: {action: 1.0} for some, action in self.hands})
