"""What is locked flop by flop: the play of another solution, changed as little as it takes.

A lock with a `solution` plays as that one does at the decision, on every flop. With `frequencies`
its strategy is the nearest one that takes actions so often over all flops together
(`games.frequencies`): a hand counts by the weight of its flop and by how often it gets there beside
the opponent's range, in the given solution. Hands play what can be stored, so that what is shown of
the locked game takes the actions just so often (`spot.even_rounding`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, InputError, Longs
from allstreets.betting import BIG_BLINDS, Street
from allstreets.cards import COMBO_COUNT, HAND_OF_COMBO, Flop
from allstreets.engines import CardModel, Engine, storable
from allstreets.games import Lock, WholeGame, limits, lock_bounds, smallest_change
from allstreets.solvers.flops.hands import live
from allstreets.solvers.spot.even_rounding import evenly_rounded
from allstreets.solvers.whole_game.result import UnifiedResult


@dataclass(frozen=True, eq=False)
class Order:
    """What the hands of a decision play on one flop."""

    pot: int
    flop: int  # its place
    node: int
    strategy: Floats  # [A, H], in the hands of `Engine.average`


def give_orders(
    games: Engine, game: WholeGame, open_solution: Callable[[str], UnifiedResult]
) -> None:
    """Let games play what locks say flop by flop."""
    for order in flop_orders(game, games.model, open_solution):
        games.set_average(order.pot, order.flop, order.node, order.strategy)


def flop_orders(
    game: WholeGame, cards: CardModel, open_solution: Callable[[str], UnifiedResult]
) -> Iterator[Order]:
    """The strategies of all decisions that are locked flop by flop."""
    for (root, node), lock in game.locks.by_flop.items():
        assert lock.solution is not None
        where = f"lock[{game.lock.index(lock)}]"
        yield from _orders(game, cards, open_solution(lock.solution), root, node, lock, where)


def _orders(
    game: WholeGame,
    cards: CardModel,
    source: UnifiedResult,
    root: int,
    node: int,
    lock: Lock,
    where: str,
) -> Iterator[Order]:
    pot = [pot.node for pot in game.flop_pots].index(root)
    _require_alike(game, cards, source, pot, node, f"{where}.solution '{lock.solution}'")
    strategies, weights, classes = list[Floats](), list[Floats](), list[Longs]()
    for flop, weight in zip(game.flops.flops, game.flops.weights, strict=True):
        view = source.flop_view(_place(source, flop, f"{where}.solution"), pot)
        strategy, reached = view.stage_play(node)
        strategies.append(strategy)
        weights.append(weight * reached)
        count = strategy.shape[1]
        own = HAND_OF_COMBO[live(flop)] if cards.plays_combos else np.arange(count)
        classes.append(len(classes) * COMBO_COUNT + own.astype(np.int64))
    if not any(one.any() for one in weights):
        raise InputError(f"{where}: no hand gets to '{lock.line}' in {lock.solution}")
    tree = game.pots[pot].tree
    least, most = limits(tree, node, lock_bounds(lock, where), BIG_BLINDS)
    joined = np.concatenate(strategies, axis=1)
    changed = smallest_change(joined, np.concatenate(weights), least, most)
    if lock.frequencies:
        # Combos of a class that play alike on a flop may be one hand there.
        changed = evenly_rounded(
            changed,
            np.concatenate(weights),
            np.concatenate(classes),
            lambda chances: storable(cards, chances),
        )
    ends = np.cumsum([strategy.shape[1] for strategy in strategies])[:-1]
    for place, part in enumerate(np.split(changed, ends, axis=1)):
        yield Order(pot, place, node, part)


def _place(source: UnifiedResult, flop: Flop, where: str) -> int:
    found = source.place_of(flop)
    if found is None:
        raise InputError(f"{where}: it was not solved on {flop.text}; name one with all the flops")
    return found


def _require_alike(
    game: WholeGame, cards: CardModel, source: UnifiedResult, pot: int, node: int, where: str
) -> None:
    """Refuse a solution whose hands, or whose betting, are others."""
    if source.cards.flop_hands != cards.flop_hands:
        raise InputError(f"{where}: it is solved with cards {source.cards}, this game with {cards}")
    here, there = game.pots[pot].tree, source.game.pots
    names = [one.pot.name for one in game.pots]
    if names != [one.pot.name for one in there] or there[pot].tree.actions != here.actions:
        raise InputError(f"{where}: its betting differs from that of this game")
    if cards.plays_combos and here.street[node] != Street.FLOP:
        raise InputError(
            f"{where}: as a solution plays, decisions on the flop are locked; on turn and river "
            "give a 'strategy' for all hands"
        )
