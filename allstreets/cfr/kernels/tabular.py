"""Counterfactual regret minimisation on a game in sequence form.

Axis letters: I information sets, K lanes, G bands, M blocks, T iterations.

A **band** holds information sets of one player that have the same number of own moves before them
and the same number of actions. A **lane** is one action of one set; inside a band, the lanes of the
first action of all sets come first, then those of the second, …: lane = first lane + action · width
+ set. So every loop over a band is a loop over neighbours, which the compiler turns into vector
instructions, and no branch depends on the data. Bands of one player are ordered by the number of
own moves before them: forward through the bands is down the player's tree, backward is up.

Lane K is where lines begin: reach[K] = 1 for a player who has not acted, and what flows up to
values[K] is the value of the whole game to the player.

A **block** is up to four entries of one row of the payoff matrix, padded with zero payoffs, so that
the product with the opponent's reach has neither inner loops nor branches.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, Longs, inner_kernel, kernel

POSITIVE, NEGATIVE, AVERAGE, WEIGHT = range(4)  # columns of the table of multipliers


class Layout(NamedTuple):
    """A game in sequence form; made once, never changed."""

    player_band: Longs  # [3] bands of player p: player_band[p] to player_band[p + 1]
    band_set: Longs  # [G + 1] first information set of each band
    band_lane: Longs  # [G + 1] first lane of each band
    band_actions: Longs  # [G] actions of each of its sets
    parent_lane: NDArray[np.uint32]  # [I] the player's lane before the set, K where there is none
    player_block: NDArray[
        np.int64
    ]  # [3] blocks of player p: player_block[p] to player_block[p + 1]
    block_lane: NDArray[np.uint32]  # [M] row of each block: a lane of the player, or K
    block_column: NDArray[np.uint32]  # [M, 4] lanes of the opponent, or K
    block_payoff: Floats  # [M, 4] nature's probability × utility, to the player


class Tables(NamedTuple):
    """What a solver learns, in lane order, and its scratch arrays."""

    regrets: Floats  # [K]
    strategy_sums: Floats  # [K] weighted sum of the player's own reach
    strategy: Floats  # [K] regret matching of the regrets
    reach: Floats  # [K + 1] product of own probabilities up to the lane
    values: Floats  # [K + 1] all 0 between half-iterations
    set_value: Floats  # [widest band] scratch
    set_total: Floats  # [widest band] scratch
    regret_weight: Floats  # [1] sum of the weights still carried by positive regrets
    iterations: Longs  # [1]


@kernel
def iterate(layout: Layout, tables: Tables, multipliers: Floats, lowest_regret: float) -> None:
    """One iteration for each row of `multipliers` [T, 4]; each updates both players in turn.

    `lowest_regret` is 0 where regrets are clipped, −∞ where not. Of each row (positive, negative,
    average, weight) the first three multiply what is stored, before the new regrets and the new
    strategy, the latter times `weight`, are added.
    """
    for row in range(multipliers.shape[0]):
        positive = multipliers[row, POSITIVE]
        negative = multipliers[row, NEGATIVE]
        average = multipliers[row, AVERAGE]
        weight = multipliers[row, WEIGHT]
        for player in range(2):
            collect_payoffs(layout, player, tables.reach, tables.values)
            update_regrets(layout, player, tables, positive, negative, lowest_regret)
            tables.values[-1] = 0.0
            update_average(layout, player, tables, average, weight)
            spread_reach(layout, player, tables.strategy, tables.reach, tables.set_value)
        tables.regret_weight[0] = positive * tables.regret_weight[0] + 1.0
        tables.iterations[0] += 1


@kernel
def collect_payoffs(layout: Layout, player: int, reach: Floats, values: Floats) -> None:
    """Add to each of the player's lanes what it earns where he does not move again."""
    rows, columns, payoffs = layout.block_lane, layout.block_column, layout.block_payoff
    for block in range(layout.player_block[player], layout.player_block[player + 1]):
        column = columns[block]
        payoff = payoffs[block]
        # Two sums of two: shorter chains than one of four.
        values[rows[block]] += (payoff[0] * reach[column[0]] + payoff[1] * reach[column[1]]) + (
            payoff[2] * reach[column[2]] + payoff[3] * reach[column[3]]
        )


@inner_kernel
def update_regrets(
    layout: Layout,
    player: int,
    tables: Tables,
    positive: float,
    negative: float,
    lowest_regret: float,
) -> None:
    """Up the player's tree: values, new regrets, and the strategy that follows from them.

    The values of the lanes are used up: they are 0 afterwards, but for lane K.
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
                new = new if new > lowest_regret else lowest_regret
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
    """Both players' strategies and reach from the regrets, bit for bit as `iterate` leaves them."""
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
    """Down the player's tree: the reach of every lane, given the player's strategy.

    `scratch` is as long as the widest band. Reach is gathered into it before the products, which
    otherwise might alias what they read, and would be done one by one.
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
