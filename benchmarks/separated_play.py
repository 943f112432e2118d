"""The separated pipeline as play in the whole game: what a player loses who solves in parts.

`play_separated` puts preflop strategies and models of flops into a `WholeGameSolver`, whose
exploitability is that loss. `resolve_flops` instead solves the flops again, for the ranges that the
preflop solution sends there.

A postflop tree is then played with the strategies of another. Trees of the same bet sizes and
different stack-to-pot ratios have the same lines of play until a player is all-in in one of them.
Both are walked from the root at once:

1. Check, call and fold stand for themselves.
2. A bet or raise stands for the one that is nearest in size, by the ratio of their shares of the
   pot; of two that are equally near, for the smaller.
3. Where the hand is over in the other tree, or had no bet to match, nothing is known. As far as the
player knows, his chips are already in: he checks, and calls.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from allstreets.base import Floats
from allstreets.betting import (
    CHIPS_PER_POT,
    ActionKind,
    BettingTree,
    FlopPot,
    NodeKind,
    Player,
    pot_share,
)
from allstreets.engines import EvaluatesPairs
from allstreets.games import PotGame, Strategies, WholeGame, model_stack
from allstreets.solvers import PairValues, mean_over_flops, refuse_rake
from allstreets.solvers.flops import FlopsSolver
from allstreets.solvers.separated import EVEN, PreflopSolver, nearest_spr
from allstreets.solvers.whole_game import WholeGameSolver

PASSIVE = (ActionKind.CHECK, ActionKind.CALL)


def own_models(game: WholeGame) -> tuple[PotGame, ...]:
    """The game's pots, those with the same rules once; the values ignore antes."""
    refuse_rake(game.preflop)
    pots = (game.after_the_flop(replace(pot.pot, bb_ante=0)) for pot in game.pots)
    return tuple({pot.rules: pot for pot in pots}.values())


def models_at(game: WholeGame, sprs: Sequence[float]) -> tuple[PotGame, ...]:
    """The postflop game at each of these SPRs, with the sizes of `game`."""
    refuse_rake(game.preflop)
    return tuple(
        game.after_the_flop(FlopPot(0, CHIPS_PER_POT, model_stack(spr), 0, f"spr{spr:.12g}"))
        for spr in sprs
    )


def model_values(models: FlopsSolver) -> PairValues:
    """The values of pairs of hands after the flop under the average strategies of solved flops."""

    def shares(number: int, pot: PotGame) -> Iterator[Floats]:
        for flop in range(models.engine.flops):
            assert isinstance(models.engine, EvaluatesPairs)
            (won,) = models.engine.pair_values(number, np.array([flop]))
            yield EVEN + won.astype(np.float64) / pot.pot.pot

    by_spr: dict[float, Iterator[Floats]] = {}
    for number, pot in enumerate(models.pots):
        by_spr.setdefault(pot.pot.spr, shares(number, pot))  # `nearest_spr` takes the first as well
    return mean_over_flops(models.flops, by_spr)


def play_preflop(unified: WholeGameSolver, preflop: Strategies) -> None:
    """Let the averages before the flop be `preflop`."""
    for node, strategy in preflop.items():
        unified.preflop.sums[node][...] = strategy


def play_separated(unified: WholeGameSolver, preflop: Strategies, models: FlopsSolver) -> None:
    """Let the averages be `preflop` before the flop and those of the nearest model after it.

    The solver is only for evaluating then: its regrets are not those of these strategies. Its flops
    must be those of the models.
    """
    play_preflop(unified, preflop)
    engine = unified.engine
    sprs = [pot.pot.spr for pot in models.pots]
    for place, pot in enumerate(unified.game.pots):
        model = nearest_spr(sprs, pot.pot.spr)
        matches = match_trees(pot.tree, models.pots[model].tree)
        for flop in range(engine.flops):
            at = partial(models.engine.average, model, flop)
            for node, match in matches.items():
                hands = engine.average(place, flop, node).shape[1]
                strategy = matched_strategy(pot.tree, node, match, at, hands)
                engine.set_average(place, flop, node, strategy)


def resolve_flops(unified: WholeGameSolver, preflop: Strategies, iterations: int) -> None:
    """Let the averages be `preflop` before the flop and solve all flops for its ranges."""
    play_preflop(unified, preflop)
    reach = unified.preflop.pot_reach(preflop)
    unified.leaves.visit_all()
    for _ in range(iterations):
        for player in Player:
            unified.leaves.step(player, reach[player], reach[player.opponent])


def pot_sprs(solver: PreflopSolver) -> tuple[tuple[float, float], ...]:
    """(its own SPR, that of its model) of every pot that sees a flop."""
    values, pots = solver.pair_values, solver.preflop.game.pots
    return tuple((pot.spr, values.sprs[values.model_of(pot)]) for pot in pots)


@dataclass(frozen=True)
class Match:
    """The counterpart of a tree's decision in another tree, the `model`."""

    node: int  # of the model
    places: tuple[int, ...]  # [A of the model]: the action of the tree that each is played as


def match_trees(tree: BettingTree, model: BettingTree) -> dict[int, Match | None]:
    """Every decision of `tree` with its counterpart; `None` where there is none."""
    matches: dict[int, Match | None] = {}
    waiting: list[tuple[int, int | None]] = [(0, 0)]
    while waiting:
        node, other = waiting.pop()
        if tree.is_terminal[node]:
            continue
        children = tree.children_of(node).tolist()
        if other is None or model.kind[other] != tree.kind[node]:
            waiting += [(child, None) for child in children]
            if tree.kind[node] == NodeKind.DECISION:
                matches[node] = None
            continue
        others = model.children_of(other).tolist()
        if tree.kind[node] == NodeKind.CHANCE:
            waiting.append((children[0], others[0]))
            continue
        places = tuple(_played_as(tree, children, model, choice) for choice in others)
        matches[node] = Match(other, places)
        for child in children:
            place = _nearest(model, others, tree, child)
            waiting.append((child, None if place is None else others[place]))
    return matches


def matched_strategy(
    tree: BettingTree, node: int, match: Match | None, model: Callable[[int], Floats], hands: int
) -> Floats:
    """[A, H]: the strategy at a decision, given the model's [A', H] by node."""
    children = tree.children_of(node).tolist()
    strategy = np.zeros((len(children), hands))
    if match is None:
        strategy[_passive(tree, children)] = 1.0
    else:
        np.add.at(strategy, list(match.places), model(match.node))
    return strategy


def _played_as(tree: BettingTree, children: Sequence[int], model: BettingTree, choice: int) -> int:
    """The index among `children` of the action that an action of the model is played as."""
    place = _nearest(tree, children, model, choice)
    return _passive(tree, children) if place is None else place


def _nearest(
    tree: BettingTree, children: Sequence[int], other: BettingTree, action: int
) -> int | None:
    """The index among `children` of the action nearest to the one that led to `other`'s node."""
    share = pot_share(other, action)
    if share is None:
        kinds = [_kind(tree, child) for child in children]
        return kinds.index(_kind(other, action))
    gaps = [
        (max(share / child_share, child_share / share), child_share, index)
        for index, child in enumerate(children)
        if (child_share := pot_share(tree, child)) is not None
    ]
    return min(gaps)[2] if gaps else None


def _passive(tree: BettingTree, children: Sequence[int]) -> int:
    return next(place for place, child in enumerate(children) if _kind(tree, child) in PASSIVE)


def _kind(tree: BettingTree, node: int) -> ActionKind:
    action = tree.actions[node]
    assert action is not None  # it is a child of a decision
    return action.kind
