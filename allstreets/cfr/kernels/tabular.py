"""Counterfactual regret minimisation on a game in sequence form, with and without pruning.

Axis letters: I information sets, K lanes, G bands, M blocks, E entries of bounds, T iterations.

A **band** holds information sets of one player that have the same number of own moves before them
and the same number of actions. A **lane** is one action of one set; inside a band, the lanes of the
first action of all sets come first, then those of the second, …: lane = first lane + action · width
+ set. So every loop over a band is a loop over neighbours, which the compiler turns into vector
instructions, and no branch depends on the data. Bands of one player are ordered by the number of
own moves before them: forward through the bands is down the player's tree, backward is up.

Lines begin at lane K: reach[K] = 1 for a player who has not acted, and the value that reaches
values[K] is that of the whole game to the player.

A **block** is up to four entries of one row of the payoff matrix, padded with zero payoffs, so that
the product with the opponent's reach has neither inner loops nor branches.

Pruning works set by set, since each set leaves out different actions; where nothing is left out
the results are those of the iterations without it, bit for bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, inlined_kernel, inner_kernel, kernel

POSITIVE, NEGATIVE, FLOOR, AVERAGE, WEIGHT, THRESHOLD = range(6)
"""Columns of a table of iteration weights: the first fields of `IterationWeights`."""


class Layout(NamedTuple):
    """A game in sequence form; made once, never changed."""

    player_band: Longs  # [3] bands of player p: player_band[p] to player_band[p + 1]
    band_set: Longs  # [G + 1] first information set of each band
    band_lane: Longs  # [G + 1] first lane of each band
    band_actions: Longs  # [G] actions of each of its sets
    parent_lane: NDArray[np.uint32]  # [I] the player's lane before the set, K where there is none
    player_block: Longs  # [3] blocks of player p: player_block[p] to player_block[p + 1]
    block_lane: NDArray[np.uint32]  # [M] row of each block: a lane of the player, or K
    block_column: NDArray[np.uint32]  # [M, 4] lanes of the opponent, or K
    block_payoff: Floats  # [M, 4] nature's probability × utility, to the player


class Tables(NamedTuple):
    """The learned numbers of a solver, in lane order, and its scratch arrays."""

    regrets: Floats  # [K]
    strategy_sums: Floats  # [K] weighted sum of the player's own reach
    strategy: Floats  # [K] regret matching of the regrets
    reach: Floats  # [K + 1] product of own probabilities up to the lane
    values: Floats  # [K + 1] all 0 between half-iterations
    set_value: Floats  # [widest band] scratch
    set_total: Floats  # [widest band] scratch
    regret_weight: Floats  # [1] sum of the weights still carried by positive regrets
    iterations: Longs  # [1]


class Bounds(NamedTuple):
    """The facts of a game that pruning needs; built once, never changed.

    The matrix of bounds has one row per lane and one column per opponent's lane. At each history of
    the lane's information set, times nature's probability: `best` is the player's largest payoff
    below the action, `gap` that minus the smallest payoff below the history.
    """

    block_start: Longs  # [K] first block of the payoff matrix's row
    block_end: Longs  # [K]
    bound_start: Longs  # [K + 1] entries of row k: bound_start[k] to bound_start[k + 1]
    bound_column: NDArray[np.uint32]  # [E]
    best: Floats  # [E]
    gap: Floats  # [E]


class Skips(NamedTuple):
    """The stored numbers of pruning, and its scratch arrays."""

    upper: Floats  # [K] upper bound of the true regret; the regret where not skipped
    skipped: Flags  # [K + 1] whether the current half-iteration leaves the lane out
    hopeless: Flags  # [K] sound rule: not positive after this half-iteration, surely
    best: Floats  # [K] scratch: best payoff below a hopeless action × reach
    counts: Longs  # [2] lanes skipped, lanes due, since the warm-up


@kernel
def iterate(layout: Layout, tables: Tables, weights: Floats) -> None:
    """One iteration for each row of `weights` [T, 7]; each updates both players in turn.

    Stored numbers are multiplied first; then the new regrets, and the new strategy times its
    weight, are added.
    """
    for row in range(weights.shape[0]):
        positive, negative = weights[row, POSITIVE], weights[row, NEGATIVE]
        for player in range(2):
            collect_payoffs(layout, player, tables.reach, tables.values)
            update_regrets(layout, player, tables, positive, negative, weights[row, FLOOR])
            tables.values[-1] = 0.0
            update_average(layout, player, tables, weights[row, AVERAGE], weights[row, WEIGHT])
            spread_reach(layout, player, tables.strategy, tables.reach, tables.set_value)
        tables.regret_weight[0] = positive * tables.regret_weight[0] + 1.0
        tables.iterations[0] += 1


@kernel
def collect_payoffs(layout: Layout, player: int, reach: Floats, values: Floats) -> None:
    """Add to each of the player's lanes what it earns where he does not move again."""
    rows, columns, payoffs = layout.block_lane, layout.block_column, layout.block_payoff
    for block in range(layout.player_block[player], layout.player_block[player + 1]):
        values[rows[block]] += block_value(payoffs[block], columns[block], reach)


@inlined_kernel
def block_value(payoff: Floats, column: NDArray[np.uint32], reach: Floats) -> float:
    """Four entries of the payoff matrix times the opponent's reach."""
    # Two sums of two: shorter chains than one of four.
    first = payoff[0] * reach[column[0]] + payoff[1] * reach[column[1]]
    second = payoff[2] * reach[column[2]] + payoff[3] * reach[column[3]]
    return float(first + second)


@inner_kernel
def update_regrets(
    layout: Layout,
    player: int,
    tables: Tables,
    positive: float,
    negative: float,
    floor: float,
) -> None:
    """Go up the player's tree: values, new regrets, and the strategy that follows from them.

    The values of the lanes are consumed: they are 0 afterwards, except for lane K.
    """
    values = tables.values
    for band in range(layout.player_band[player + 1] - 1, layout.player_band[player] - 1, -1):
        first, last = layout.band_set[band], layout.band_set[band + 1]
        width, actions = last - first, layout.band_actions[band]
        set_value = tables.set_value[:width]
        set_total = tables.set_total[:width]
        set_value[:] = 0.0
        set_total[:] = 0.0
        for action in range(actions):
            begin = layout.band_lane[band] + action * width
            value = values[begin : begin + width]
            strategy = tables.strategy[begin : begin + width]
            for i in range(width):
                set_value[i] += strategy[i] * value[i]
        parent = layout.parent_lane[first:last]
        for i in range(width):
            values[parent[i]] += set_value[i]
        for action in range(actions):
            begin = layout.band_lane[band] + action * width
            value = values[begin : begin + width]
            regret = tables.regrets[begin : begin + width]
            strategy = tables.strategy[begin : begin + width]
            for i in range(width):
                old = regret[i]
                new = old * (positive if old > 0.0 else negative) + (value[i] - set_value[i])
                new = new if new > floor else floor
                regret[i] = new
                gain = new if new > 0.0 else 0.0
                strategy[i] = gain
                set_total[i] += gain
                value[i] = 0.0
        normalise(layout, band, tables.strategy, set_total, set_value)


@inner_kernel
def normalise(
    layout: Layout,
    band: int,
    strategy: Floats,
    set_total: Floats,
    scratch: Floats,
) -> None:
    """Divide the positive regrets in `strategy` by their sum, or play uniformly where it is 0."""
    width, actions = len(set_total), layout.band_actions[band]
    uniform = 1.0 / actions
    for i in range(width):
        total = set_total[i]
        set_total[i] = 1.0 / total if total > 0.0 else 0.0
        scratch[i] = 0.0 if total > 0.0 else uniform
    for action in range(actions):
        begin = layout.band_lane[band] + action * width
        probability = strategy[begin : begin + width]
        for i in range(width):
            probability[i] = probability[i] * set_total[i] + scratch[i]


@kernel
def match_regrets(layout: Layout, tables: Tables) -> None:
    """Strategies and reach of both players from the regrets, bit-identical to `iterate`'s."""
    for player in range(2):
        for band in range(layout.player_band[player], layout.player_band[player + 1]):
            width = layout.band_set[band + 1] - layout.band_set[band]
            set_total = tables.set_total[:width]
            set_total[:] = 0.0
            for action in range(layout.band_actions[band]):
                begin = layout.band_lane[band] + action * width
                for i in range(width):
                    gain = max(tables.regrets[begin + i], 0.0)
                    tables.strategy[begin + i] = gain
                    set_total[i] += gain
            normalise(layout, band, tables.strategy, set_total, tables.set_value[:width])
        spread_reach(layout, player, tables.strategy, tables.reach, tables.set_value)


@inner_kernel
def update_average(
    layout: Layout, player: int, tables: Tables, average: float, weight: float
) -> None:
    """Add the reach of the strategy that was just played, still the old one, to the sums."""
    begin = layout.band_lane[layout.player_band[player]]
    end = layout.band_lane[layout.player_band[player + 1]]
    sums, reach = tables.strategy_sums[begin:end], tables.reach[begin:end]
    for lane in range(end - begin):
        sums[lane] = sums[lane] * average + weight * reach[lane]


@kernel
def spread_reach(
    layout: Layout,
    player: int,
    strategy: Floats,
    reach: Floats,
    scratch: Floats,
) -> None:
    """Go down the player's tree: the reach of every lane, given the player's strategy.

    `scratch` is as long as the widest band. Reach is gathered into it first: the compiler could not
    vectorise products that may alias their inputs.
    """
    for band in range(layout.player_band[player], layout.player_band[player + 1]):
        first, last = layout.band_set[band], layout.band_set[band + 1]
        width = last - first
        parent = layout.parent_lane[first:last]
        above = scratch[:width]
        for i in range(width):
            above[i] = reach[parent[i]]
        for action in range(layout.band_actions[band]):
            begin = layout.band_lane[band] + action * width
            probability = strategy[begin : begin + width]
            below = reach[begin : begin + width]
            for i in range(width):
                below[i] = above[i] * probability[i]


@kernel
def respond(
    layout: Layout,
    player: int,
    reach: Floats,
    values: Floats,
    choice: Longs,
) -> float:
    """The value of the player's best response to the opponent's `reach`.

    `values` [K + 1] must be 0; afterwards it holds the values of the lanes. `choice` [I] receives
    the best action of each of the player's sets, the first where several are best. The maximum is
    taken once per set, over all its histories together: no player sees the other's cards.
    """
    collect_payoffs(layout, player, reach, values)
    for band in range(layout.player_band[player + 1] - 1, layout.player_band[player] - 1, -1):
        first, width = layout.band_set[band], layout.band_set[band + 1] - layout.band_set[band]
        for i in range(width):
            best = values[layout.band_lane[band] + i]
            choice[first + i] = 0
            for action in range(1, layout.band_actions[band]):
                value = values[layout.band_lane[band] + action * width + i]
                if value > best:
                    best = value
                    choice[first + i] = action
            values[layout.parent_lane[first + i]] += best
    return float(values[-1])


@kernel
def iterate_pruned(
    layout: Layout, tables: Tables, bounds: Bounds, skips: Skips, weights: Floats, sound: bool
) -> None:
    """Iterate with skipping: by upper bounds if `sound`, else below the threshold.

    An iteration with a threshold of −∞ skips nothing.
    """
    for row in range(weights.shape[0]):
        positive, negative = weights[row, POSITIVE], weights[row, NEGATIVE]
        threshold, floor = weights[row, THRESHOLD], weights[row, FLOOR]
        for player in range(2):
            mark_skips(layout, player, tables, bounds, skips, negative, threshold, sound)
            update_visited(layout, player, tables, bounds, skips, positive, negative, floor)
            update_average(layout, player, tables, weights[row, AVERAGE], weights[row, WEIGHT])
            spread_reach(layout, player, tables.strategy, tables.reach, tables.set_value)
        skips.counts[1] += len(tables.regrets)
        tables.regret_weight[0] = positive * tables.regret_weight[0] + 1.0
        tables.iterations[0] += 1


@inner_kernel
def mark_skips(
    layout: Layout,
    player: int,
    tables: Tables,
    bounds: Bounds,
    skips: Skips,
    negative: float,
    threshold: float,
    sound: bool,
) -> None:
    """Go down the player's tree: mark what this half-iteration leaves out, and all below it.

    These are actions with a regret below the threshold or, if `sound`, those that cannot have
    positive regret after this iteration.
    """
    for band in range(layout.player_band[player], layout.player_band[player + 1]):
        first, width = layout.band_set[band], layout.band_set[band + 1] - layout.band_set[band]
        begin, end = layout.band_lane[band], layout.band_lane[band + 1]
        for i in range(width):
            above = skips.skipped[layout.parent_lane[first + i]]
            played = is_played(tables.regrets, begin + i, end, width)
            for lane in range(begin + i, end, width):
                out = played and tables.regrets[lane] < threshold
                if sound:
                    hopeless = False
                    if not above and played and tables.regrets[lane] < 0.0:
                        gain = bound_of(bounds, bounds.gap, lane, tables.reach)
                        hopeless = negative * skips.upper[lane] + gain <= 0.0
                        skips.best[lane] = bound_of(bounds, bounds.best, lane, tables.reach)
                    skips.hopeless[lane] = hopeless
                    out = hopeless and threshold > -np.inf
                skips.skipped[lane] = above or out
                skips.counts[0] += skips.skipped[lane]


@inner_kernel
def is_played(regrets: Floats, begin: int, end: int, step: int) -> bool:
    """Whether some action has positive regret; where none has, all are played, none skipped."""
    largest = regrets[begin]
    for lane in range(begin, end, step):
        largest = max(largest, regrets[lane])
    return bool(largest > 0.0)


@kernel
def bound_of(bounds: Bounds, entries: Floats, lane: int, reach: Floats) -> float:
    """A row of the matrix of bounds times the opponent's reach."""
    total = 0.0
    for entry in range(bounds.bound_start[lane], bounds.bound_start[lane + 1]):
        total += entries[entry] * reach[bounds.bound_column[entry]]
    return total


@inner_kernel
def update_visited(
    layout: Layout,
    player: int,
    tables: Tables,
    bounds: Bounds,
    skips: Skips,
    positive: float,
    negative: float,
    floor: float,
) -> None:
    """Go up the visited part of the player's tree: values, regrets, strategy.

    A skipped action of a visited set has probability 0: its regret is discounted and otherwise
    kept. Sets below it are not touched at all. When it comes back because its true regret might
    become positive, its regret starts from the upper bound: the stored one may be lower than the
    true one, and then it would be skipped again and again however good it has become.
    """
    values, regrets, strategy = tables.values, tables.regrets, tables.strategy
    skipped, hopeless, upper = skips.skipped, skips.hopeless, skips.upper
    first_band, end_band = layout.player_band[player], layout.player_band[player + 1]
    for lane in range(layout.band_lane[first_band], layout.band_lane[end_band]):
        if not skipped[lane]:
            values[lane] = payoff_of(layout, bounds, lane, tables.reach)
    for band in range(end_band - 1, first_band - 1, -1):
        first, width = layout.band_set[band], layout.band_set[band + 1] - layout.band_set[band]
        begin, end = layout.band_lane[band], layout.band_lane[band + 1]
        for i in range(width):
            parent = layout.parent_lane[first + i]
            if skipped[parent]:
                continue
            set_value = 0.0
            for lane in range(begin + i, end, width):
                if not skipped[lane]:
                    set_value += strategy[lane] * values[lane]
            values[parent] += set_value
            total = 0.0
            for lane in range(begin + i, end, width):
                old = regrets[lane] if hopeless[lane] else max(regrets[lane], upper[lane])
                new = old * (positive if old > 0.0 else negative)
                bound = negative * upper[lane]
                if skipped[lane]:
                    bound += skips.best[lane] - set_value
                else:
                    new += values[lane] - set_value
                    bound += values[lane] - set_value
                new = new if new > floor else floor
                regrets[lane] = new
                upper[lane] = max(bound, new) if hopeless[lane] else new
                strategy[lane] = new if new > 0.0 else 0.0
                total += strategy[lane]
                values[lane] = 0.0
            factor = 1.0 / total if total > 0.0 else 0.0
            constant = 0.0 if total > 0.0 else 1.0 / layout.band_actions[band]
            for lane in range(begin + i, end, width):
                strategy[lane] = strategy[lane] * factor + constant
    values[-1] = 0.0


@inner_kernel
def payoff_of(layout: Layout, bounds: Bounds, lane: int, reach: Floats) -> float:
    """The earnings of a lane where the player does not move again."""
    total = 0.0
    for block in range(bounds.block_start[lane], bounds.block_end[lane]):
        total += block_value(layout.block_payoff[block], layout.block_column[block], reach)
    return total
