"""Locks flop by flop: the play of another solution, changed as cheaply as possible.

A lock with a `solution` copies its play at the decision, on every flop. With `frequencies` the
hands that lose least move first, until the actions have these frequencies over all flops together
(`games.changed_strategy`): a hand counts by the weight of its flop and by how often it gets there
beside the opponent's range, in the given solution.

Hands play strategies that can be stored, so that the locked game has exactly these frequencies:
rounding a strategy hand by hand changes the frequency of an action. `evenly_rounded` moves some
hands by a rounding step or two until the frequencies are met again. Steps of hands differ in size,
as their weights do: one step, or two that nearly cancel, change a frequency by as little as
necessary.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from allstreets.base import Floats, InputError, Longs, quotient
from allstreets.betting import BIG_BLINDS, Street
from allstreets.cards import COMBO_COUNT, HAND_OF_COMBO, Flop
from allstreets.engines import CardModel, Engine, storable
from allstreets.games import GameNode, Lock, WholeGame, aimed_bounds, changed_strategy, limits
from allstreets.solutions import WholeSolution, live

Stored = Callable[[Floats], Floats]
"""Rounds strategies [A, H] to storable ones."""

STEPS = (2.0**-24, 2.0**-20, 2.0**-16, 2.0**-15)  # of probabilities; some are rounded away
CLOSE = 1e-13  # of frequencies
ROUNDS = 1_000  # a dozen are usual
PAIRED = 600  # steps of which two are taken at once


def evenly_rounded(
    wanted: Floats, weights: Floats, alike: Longs, stored: Stored, close: float = CLOSE
) -> Floats:
    """[A, H]: the strategy `wanted` [A, H] in storable form, its frequencies unchanged.

    Hands with the same number in `alike` [H] and the same strategy keep playing alike. A hand that
    never takes an action still never does. Frequencies within `close` count as met.
    """
    _, first, group = np.unique(
        np.vstack([alike, wanted]), axis=1, return_index=True, return_inverse=True
    )
    group = group.reshape(-1)
    shares = np.bincount(group, weights / weights.sum(), minlength=len(first))
    goal, played = wanted[:, first] @ shares, stored(wanted[:, first])
    for _ in range(ROUNDS):
        error = goal - played @ shares
        worst = np.abs(error).max()
        if worst <= close:
            break
        hands, moved = _steps(played, stored)
        effects = shares[hands] * (moved - played[:, hands])  # [A, M]
        left = np.abs(error[:, None] - effects).max(axis=0)
        chosen = [int(left.argmin())] if left.min(initial=np.inf) < worst else []
        if not chosen:
            chosen = _pair(hands, effects, error)
        if not chosen:
            break
        played[:, hands[chosen]] = moved[:, chosen]
    return played[:, group]


def _steps(played: Floats, stored: Stored) -> tuple[Longs, Floats]:
    """(hands [M], strategies [A, M]): every step of a hand from one action to another."""
    changes = [(np.zeros(0, np.int64), played[:, :0])]
    for more, less in permutations(range(len(played)), 2):
        hands = np.flatnonzero((played[more] > 0) & (played[less] > 0))
        for step in STEPS:
            moved = played[:, hands]
            steps = np.minimum(step, moved[less])
            moved[more] += steps
            moved[less] -= steps
            changes.append((hands, stored(moved)))
    hands, moved = (np.concatenate(parts, axis=-1) for parts in zip(*changes, strict=True))
    differ = (moved != played[:, hands]).any(axis=0)
    return hands[differ], moved[:, differ]


def _pair(hands: Longs, effects: Floats, error: Floats) -> list[int]:
    """Two steps of different hands that together leave less of the error; none: []."""
    sizes = np.abs(effects).max(axis=0)
    order = np.argsort(sizes, kind="stable")
    some = order[np.linspace(0, len(order) - 1, min(PAIRED, len(order))).astype(np.int64)]
    both = effects[:, some, None] + effects[:, None, some]  # [A, M, M]
    left = np.abs(error[:, None, None] - both).max(axis=0)
    left[hands[some][:, None] == hands[some]] = np.inf
    if left.min(initial=np.inf) >= np.abs(error).max():
        return []
    first, second = np.unravel_index(int(left.argmin()), left.shape)
    return [int(some[first]), int(some[second])]


@dataclass(frozen=True, eq=False)
class Order:
    """The strategy of a decision's hands on one flop."""

    pot: int
    flop: int  # its index
    node: int
    strategy: Floats  # [A, H], in the hands of `Engine.average`


def give_orders(
    games: Engine, game: WholeGame, open_solution: Callable[[str], WholeSolution]
) -> None:
    """Set the strategies that locks give flop by flop."""
    for order in flop_orders(game, games.model, open_solution):
        games.set_average(order.pot, order.flop, order.node, order.strategy)


def flop_orders(
    game: WholeGame,
    cards: CardModel,
    open_solution: Callable[[str], WholeSolution],
    reach: Floats | None = None,
) -> Iterator[Order]:
    """The strategies of all decisions that are locked flop by flop.

    `reach` [N, 2, 169] at the nodes before the flop says which hands get there, by default those of
    the solution whose play is changed.
    """
    for (root, node), lock in game.locks.by_flop.items():
        assert lock.solution is not None
        where = f"lock[{game.lock.index(lock)}]"
        source = open_solution(lock.solution)
        arriving = None if reach is None else reach[root]
        yield from _orders(game, cards, source, root, node, lock, where, arriving)


def taken_on_flops(result: WholeSolution, target: GameNode) -> tuple[Floats, float]:
    """([A], weight): how often the actions of a decision are taken, on all flops together.

    As `flop_orders` counts hands, whose weights are added up; NaN: none gets there.
    """
    assert target.root is not None
    taken, total = np.zeros(int(target.tree.child_count[target.node])), 0.0
    for flop, weight in zip(result.game.flops.flops, result.game.flops.weights, strict=True):
        _require_flop(result, flop, f"'{target.line}'")
        strategy, reached = result.stored.view(target.root, flop).stage_play(target.node)
        taken += weight * (strategy @ reached)
        total += weight * float(reached.sum())
    return quotient(taken, np.asarray(total)), total


def _orders(
    game: WholeGame,
    cards: CardModel,
    source: WholeSolution,
    root: int,
    node: int,
    lock: Lock,
    where: str,
    reach: Floats | None,
) -> Iterator[Order]:
    pot = [pot.node for pot in game.flop_pots].index(root)
    _require_alike(game, cards, source, pot, node, f"{where}.solution '{lock.solution}'")
    strategies, weights, classes = list[Floats](), list[Floats](), list[Longs]()
    evs = list[Floats]()
    for flop, weight in zip(game.flops.flops, game.flops.weights, strict=True):
        _require_flop(source, flop, f"{where}.solution")
        view = source.stored.view(source.game.flop_pots[pot].node, flop)
        if reach is not None:
            view = replace(view, reach=reach)
        strategy, reached = view.stage_play(node)
        strategies.append(strategy)
        weights.append(weight * reached)
        if lock.frequencies:
            evs.append(view.stage_evs(node))
        count = strategy.shape[1]
        own = HAND_OF_COMBO[live(flop)] if cards.plays_combos else np.arange(count)
        classes.append(len(classes) * COMBO_COUNT + own.astype(np.int64))
    if not any(held.any() for held in weights):
        raise InputError(f"{where}: no hand gets to '{lock.line}' in {lock.solution}")
    tree = game.pots[pot].tree
    changed = np.concatenate(strategies, axis=1)
    if lock.frequencies:
        least, most = limits(tree, node, aimed_bounds(lock, where), BIG_BLINDS)
        joined = np.concatenate(weights)
        changed = changed_strategy(changed, np.concatenate(evs, axis=1), joined, least, most)
        # Combos of a class that play alike on a flop may be one hand there.
        changed = evenly_rounded(
            changed,
            joined,
            np.concatenate(classes),
            lambda chances: storable(cards, chances),
        )
    ends = np.cumsum([strategy.shape[1] for strategy in strategies])[:-1]
    for index, part in enumerate(np.split(changed, ends, axis=1)):
        yield Order(pot, index, node, part)


def _require_flop(source: WholeSolution, flop: Flop, where: str) -> None:
    if source.stored.place_of(flop) is None:
        raise InputError(f"{where}: it was not solved on {flop.text}; name one with all the flops")


def _require_alike(
    game: WholeGame, cards: CardModel, source: WholeSolution, pot: int, node: int, where: str
) -> None:
    """Refuse a solution whose hands or betting differ."""
    if source.cards.flop_hands != cards.flop_hands:
        raise InputError(f"{where}: it is solved with cards {source.cards}, this game with {cards}")
    here, there = game.pots[pot].tree, source.game.pots
    names = [each.pot.name for each in game.pots]
    if names != [each.pot.name for each in there] or there[pot].tree.actions != here.actions:
        raise InputError(f"{where}: its betting differs from that of this game")
    if cards.plays_combos and here.street[node] != Street.FLOP:
        raise InputError(
            f"{where}: only flop decisions can be locked to a solution's play; on turn and river "
            "give a 'strategy' for all hands"
        )
