"""Ranges for pots that are off-path, so that flops can be solved again without a hole.

A flop that a solution does not store is solved for the ranges that get there. Where a player hardly
ever goes, his range is a relic of the first iterations: solved for it, the opponent's answers are
meaningless, and a best response exploits them (unsafe re-solving). The cure is a gadget in front of
the pot (Burch, Johanson & Bowling 2014; Moravčík et al. 2016; Brown & Sandholm 2017): every hand of
the player chooses between entering the pot and declining, which is worth what the solution gives
the hand. So the hands that enter are those that bad answers would reward, and the opponent learns
answers that keep them out.

Flops are solved one by one, but a player enters before the flop. So the gadget is there: one choice
for each hand class, on some flops together:

1. the pots that are off-path are solved on these flops, a few iterations at a time;
2. best responses give the value of entering to each hand, over all flops together;
3. regret matching moves each hand's chance of entering: up where that beats declining;

and the mean chances are the *entry range*. It is a range like any other: every engine that solves a
flop of the solution solves it for that range.

Declining is worth what the pot was worth to the hand in training, plus a part of what the hand
loses by going there: a hand that loses much need not be answered to the last chip.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs
from allstreets.betting import Player
from allstreets.cards import HAND_SIZES, Flop, by_likeness
from allstreets.cfr import parse_schedule
from allstreets.engines import CPU, CardModel, Engine
from allstreets.games import PreflopGame, Strategies, WholeGame, largest_one
from allstreets.solvers.whole_game import WholeGameSolver

OFF_PATH = 1e-3  # a pot that a smaller share of a range reaches is off-path
ENTERING = 8.0  # weight of hands that enter an off-path pot, relative to the range at the pot
LEAST_ENTERING = 0.05  # a pot whose entering hands weigh less keeps its range
MARGIN = 0.25  # the part of a hand's loss by going to a pot that it may win back there
ITERATIONS, AT_ONCE = 60, 4  # AT_ONCE: between two looks at the best responses
SETTLED = 1 / 3  # the share of first iterations whose chances are not counted

Progress = Callable[[int, int], None]
BuildEngine = Callable[[Longs, Sequence[Flop], Floats], Engine]
"""(pots, flops, ranges [2, P, 169]) → the engine of some pots on some flops."""


def solution_ranges(
    solver: WholeGameSolver,
    values: NDArray[np.floating],
    model: CardModel,
    flops: int = 16,
    threads: int = 1,
    device: str = CPU,
    progress: Progress | None = None,
) -> Floats:
    """[2, P, 169]: the ranges to solve flops of a trained game for (`entry_ranges`).

    `values` [2, P, F, 169] are those of its average strategies; off-path pots are solved with the
    cards of `model`, on so many of its `flops`. `progress` receives the iterations done and their
    total.
    """
    if flops < 1:
        raise MemoryError("no room for a flop")
    preflop, game = solver.preflop, solver.game

    def build(pots: Longs, flops: Sequence[Flop], ranges: Floats) -> Engine:
        return _engine_of(game, pots, flops, model, ranges, threads, device)

    weights = solver.leaves.weights
    chosen = some_flops(game.flops.flops, weights, flops)
    return entry_ranges(
        preflop.game, preflop.average(), game.flops.flops, weights, values, chosen, build, progress
    )


def _engine_of(
    game: WholeGame,
    pots: Longs,
    flops: Sequence[Flop],
    model: CardModel,
    ranges: Floats,
    threads: int,
    device: str,
) -> Engine:
    """The engine of some pots of a game on some flops."""
    spec = game.engine(model, threads=threads, ranges=ranges, device=device)
    rules = tuple(spec.pots[pot] for pot in pots)
    trees = [(game.pots[pot].tree, game.pots[pot].payoffs) for pot in pots]
    return replace(spec, pots=rules, flops=tuple(flops)).build(trees)


def entering_weights(shares: Floats) -> Floats:
    """Weights of entering hands, by the share of a player's range that gets to a pot."""
    least = np.maximum(shares, 1e-12)
    weights: Floats = ENTERING * np.minimum(1.0, (OFF_PATH / least) ** 2)
    return np.where(weights >= LEAST_ENTERING, weights, 0.0)


@dataclass(eq=False)
class EntryGadget:
    """Hands that choose between entering P pots and declining; all arrays are [2, P, 169]."""

    ranges: Floats  # both players' ranges at the pots, 1 on average
    declining: Floats  # chips for each opposing combo, times combos
    met: Floats  # opposing combos, times combos
    weights: Floats  # [2, P] of entering hands

    def __post_init__(self) -> None:
        self.chances = np.full(self.ranges.shape, 0.5)  # of entering
        self._regrets = np.zeros((2, *self.ranges.shape))  # of entering and of declining

    @property
    def reach(self) -> Floats:
        """The ranges with the hands that enter now."""
        return self.with_chances(self.chances)

    def with_chances(self, chances: Floats) -> Floats:
        """The ranges when hands enter with these chances."""
        return self.ranges + self.weights[..., None] * chances

    def learn(self, player: Player, entering: Floats) -> None:
        """Update the chances of a player's hands by what entering is worth [P, 169] to them."""
        met = np.maximum(self.met[player], 1e-9)
        gains, chances = (entering - self.declining[player]) / met, self.chances[player]
        enter, decline = self._regrets[0, player], self._regrets[1, player]
        np.maximum(enter + gains * (1 - chances), 0.0, out=enter)
        np.maximum(decline - gains * chances, 0.0, out=decline)
        total = enter + decline
        np.divide(enter, total, out=chances, where=total > 0)


def entry_ranges(
    game: PreflopGame,
    strategies: Strategies,
    flops: Sequence[Flop],
    weights: Floats,
    values: NDArray[np.floating],
    chosen: Longs,
    build: BuildEngine,
    progress: Progress | None = None,
) -> Floats:
    """[2, P, 169]: the ranges to solve flops for, the largest weight 1.

    They are those of `strategies`, and entry ranges where a pot is off-path. `values`
    [2, P, F, 169] are what the pots are worth on the flops, in chips times pairs of combos,
    `weights` [F] how often these come. Off-path pots are solved on the `chosen` ones.
    """
    reach = game.pot_reach(strategies)  # [2, P, 169]
    shares = reach @ HAND_SIZES / HAND_SIZES.sum()
    ranges = np.divide(reach, shares[..., None], out=np.zeros_like(reach), where=reach > 0)
    entering = entering_weights(shares)
    pots = np.flatnonzero(entering.any(axis=0))
    if len(pots):
        leaves = np.einsum("f,apfh->aph", weights, values)
        margins = MARGIN * _margins(game, strategies, leaves)[:, pots] / weights.sum()
        worth = values[:, pots][:, :, chosen].mean(axis=2) + margins
        arrives = shares[::-1, pots, None]  # of the opponent's range, which is 1 on average below
        declining = np.divide(worth, arrives, out=np.zeros_like(worth), where=arrives > 0)
        most = ranges[:, pots] + entering[:, pots, None]
        engine = build(pots, [flops[flop] for flop in chosen], most)
        ranges[:, pots] = _solve(ranges[:, pots], declining, entering[:, pots], engine, progress)
    return largest_one(ranges)


def some_flops(flops: Sequence[Flop], weights: Floats, most: int) -> Longs:
    """Indices of a few flops that stand for all, each for the same number of dealt flops."""
    places = {flop.number: place for place, flop in enumerate(flops)}
    order = np.array([places[flop.number] for flop in by_likeness(flops)])
    count = min(most, len(flops))
    ends = np.cumsum(weights[order])
    points = (np.arange(count) + 0.5) * ends[-1] / count
    chosen: Longs = order[np.searchsorted(ends, points)]
    return chosen


def _solve(
    ranges: Floats,
    declining: Floats,
    weights: Floats,
    engine: Engine,
    progress: Progress | None = None,
) -> Floats:
    """Ranges [2, P, 169] with the hands that enter."""
    flops = np.arange(engine.flops)
    met = np.stack(
        [
            [
                np.mean([engine.dealt.met(flop, row) for flop in range(engine.flops)], axis=0)
                for row in side
            ]
            for side in ranges[::-1]
        ]
    )
    gadget = EntryGadget(ranges, declining, met, weights)
    everything: Flags = np.ones((engine.pots, engine.flops), np.bool_)
    schedule = parse_schedule("ahead")
    mean, counted = np.zeros_like(ranges), 0
    for first in range(0, ITERATIONS, AT_ONCE):
        engine.iterate(gadget.reach, everything, schedule.run(first + 1, AT_ONCE))
        for player in Player:
            best = np.asarray(engine.best_response(player, ranges[player.opponent], flops))
            gadget.learn(player, best.mean(axis=1))
        if progress is not None:
            progress(first + AT_ONCE, ITERATIONS)
        if first >= SETTLED * ITERATIONS:
            mean += first**2 * gadget.chances
            counted += first**2
    return gadget.with_chances(mean / counted)


def _margins(game: PreflopGame, strategies: Strategies, leaves: Floats) -> Floats:
    """[2, P, 169]: what hands lose by the action that leads to each pot, over all flops."""
    tree = game.tree
    margins = np.zeros((len(Player), len(game.pots), len(HAND_SIZES)))
    for player in Player:
        values = game.values(player, leaves[player], best=False, strategies=strategies)
        for place, pot in enumerate(game.pots):
            node = pot.node
            while tree.parent[node] >= 0 and tree.player[tree.parent[node]] != player:
                node = int(tree.parent[node])
            above = int(tree.parent[node])
            if above >= 0:
                margins[player, place] = np.maximum(values[above] - values[node], 0.0)
    return margins
