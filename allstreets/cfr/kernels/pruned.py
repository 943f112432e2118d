"""Counterfactual regret minimisation that leaves actions out: regret-based pruning.

Axis letters as in `cfr.kernels.tabular`: I information sets, K lanes, T iterations; E entries of
the matrix of bounds. The work is done set by set, since what is left out differs from set to set;
where nothing is left out the results are those of `tabular.iterate` bit for bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, Longs, inner_kernel, kernel
from allstreets.cfr.kernels.tabular import (
    AVERAGE,
    NEGATIVE,
    POSITIVE,
    WEIGHT,
    Layout,
    Tables,
    spread_reach,
    update_average,
)


class Bounds(NamedTuple):
    """What pruning needs to know of a game; built once, never changed.

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
    """What pruning stores, and its scratch arrays."""

    upper: Floats  # [K] upper bound of the true regret; the regret where not skipped
    skipped: Flags  # [K + 1] whether the current half-iteration leaves the lane out
    hopeless: Flags  # [K] sound rule: not positive after this half-iteration, surely
    best: Floats  # [K] scratch: best payoff below a hopeless action × reach
    counts: Longs  # [2] lanes skipped, lanes due, since the warm-up


@kernel
def iterate_pruned(
    layout: Layout,
    tables: Tables,
    bounds: Bounds,
    skips: Skips,
    multipliers: Floats,
    lowest_regret: float,
    thresholds: Floats,
    everything: Flags,
    sound: bool,
) -> None:
    """As `tabular.iterate`, but skipping; [T] `thresholds` and `everything` go with `multipliers`.

    Where `everything` is set nothing is skipped. `sound` goes by upper bounds, not by thresholds.
    """
    for row in range(multipliers.shape[0]):
        positive = multipliers[row, POSITIVE]
        negative = multipliers[row, NEGATIVE]
        for player in range(2):
            if sound:
                skip_soundly(layout, player, tables, bounds, skips, negative, everything[row])
            else:
                skip_below(layout, player, tables, skips, thresholds[row], everything[row])
            update_visited(layout, player, tables, bounds, skips, positive, negative, lowest_regret)
            update_average(
                layout, player, tables, multipliers[row, AVERAGE], multipliers[row, WEIGHT]
            )
            spread_reach(layout, player, tables.strategy, tables.reach, tables.set_value)
        skips.counts[1] += len(tables.regrets)
        tables.regret_weight[0] = positive * tables.regret_weight[0] + 1.0
        tables.iterations[0] += 1


@inner_kernel
def skip_below(
    layout: Layout, player: int, tables: Tables, skips: Skips, threshold: float, everything: bool
) -> None:
    """Down the player's tree: leave out what has a regret below the threshold, and all below it."""
    for band in range(layout.player_band[player], layout.player_band[player + 1]):
        first, width = layout.band_set[band], layout.band_set[band + 1] - layout.band_set[band]
        begin, end = layout.band_lane[band], layout.band_lane[band + 1]
        for i in range(width):
            above = skips.skipped[layout.parent_lane[first + i]]
            played = is_played(tables.regrets, begin + i, end, width)
            for lane in range(begin + i, end, width):
                out = played and not everything and tables.regrets[lane] < threshold
                skips.skipped[lane] = above or out
                skips.counts[0] += skips.skipped[lane]


@inner_kernel
def skip_soundly(
    layout: Layout,
    player: int,
    tables: Tables,
    bounds: Bounds,
    skips: Skips,
    negative: float,
    everything: bool,
) -> None:
    """Down the player's tree: leave out what cannot have positive regret after this iteration."""
    for band in range(layout.player_band[player], layout.player_band[player + 1]):
        first, width = layout.band_set[band], layout.band_set[band + 1] - layout.band_set[band]
        begin, end = layout.band_lane[band], layout.band_lane[band + 1]
        for i in range(width):
            above = skips.skipped[layout.parent_lane[first + i]]
            played = is_played(tables.regrets, begin + i, end, width)
            for lane in range(begin + i, end, width):
                hopeless = False
                if not above and played and tables.regrets[lane] < 0.0:
                    gain = bound_of(bounds, bounds.gap, lane, tables.reach)
                    hopeless = negative * skips.upper[lane] + gain <= 0.0
                    skips.best[lane] = bound_of(bounds, bounds.best, lane, tables.reach)
                skips.hopeless[lane] = hopeless
                skips.skipped[lane] = above or (hopeless and not everything)
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
    lowest_regret: float,
) -> None:
    """Up the player's tree over what is not left out: values, regrets, strategy.

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
                new = new if new > lowest_regret else lowest_regret
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
    """What a lane earns where the player does not move again."""
    total = 0.0
    for block in range(bounds.block_start[lane], bounds.block_end[lane]):
        column = layout.block_column[block]
        payoff = layout.block_payoff[block]
        total += (payoff[0] * reach[column[0]] + payoff[1] * reach[column[1]]) + (
            payoff[2] * reach[column[2]] + payoff[3] * reach[column[3]]
        )
    return total
