"""The sequence form: a flat game seen from each player's own lines.

A player's **reach** is one number per slot: the product of his own probabilities on his line up to
and including that action. The value that a slot of player p earns at the terminals right below it,
where he does not move again, is then linear in the opponent's reach:

    value[k] = Σ over opponent slots c of payoff[k, c] · reach[c]

with payoff[k, c] = Σ of nature's probability × utility over the terminals with last slots k and c.
So one product with a sparse matrix, an entry for each terminal, replaces the walk over all
histories, and the rest of an iteration happens on the player's own information sets. Nothing is
approximated: the values are the counterfactual values of the walk, summed in another order.

The bounds behind the sound rule of `pruning`, how good an action could be at best, have the same
form: `payoff_bounds` makes matrices that are multiplied by the opponent's reach.

For the kernels the slots are put in another order, that of lanes. `cfr.kernels.tabular` describes
this order and all arrays.

Koller, Megiddo & von Stengel (1996), Efficient computation of equilibria for extensive games.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.base import Floats, Longs
from allstreets.cfr.game import FIRST, NOWHERE, SECOND, TERMINAL, FlatGame
from allstreets.cfr.kernels.tabular import Bounds, Layout, Skips, Tables

BLOCK = 4  # entries of the payoff matrix that the kernel takes at once


@dataclass(frozen=True, eq=False)
class SequenceForm:
    """A flat game and its order for the kernels."""

    game: FlatGame
    layout: Layout
    lane: Longs  # [K + 1] lane of each slot; lane[K], which is also lane[NOWHERE], is K

    def to_lanes(self, by_slot: Floats) -> Floats:
        """[K] a table in slot order put into lane order."""
        by_lane = np.empty_like(by_slot)
        by_lane[self.lane[:-1]] = by_slot
        return by_lane

    def to_slots(self, by_lane: Floats) -> Floats:
        """[K] a table in lane order put into slot order."""
        return by_lane[self.lane[:-1]]

    def empty_tables(self) -> Tables:
        """Tables before the first iteration; strategy and reach still have to be matched."""
        slots = self.game.slots
        widest = int(np.diff(self.layout.band_set).max(initial=0))
        reach = np.zeros(slots + 1)
        reach[slots] = 1.0
        return Tables(
            regrets=np.zeros(slots),
            strategy_sums=np.zeros(slots),
            strategy=np.zeros(slots),
            reach=reach,
            values=np.zeros(slots + 1),
            set_value=np.zeros(widest),
            set_total=np.zeros(widest),
            regret_weight=np.zeros(1),
            iterations=np.zeros(1, dtype=np.int64),
        )


def sequence_form(game: FlatGame) -> SequenceForm:
    """Order the slots of `game` into lanes, its terminals into both players' payoff matrices."""
    band_set, player_band = _bands(game)
    band_lane = game.slot_start[band_set].astype(np.int64)
    counts = np.diff(game.slot_start)
    lane = _lanes(game, band_set, band_lane)
    blocks = [_blocks(game, lane, FIRST, SECOND, 1.0), _blocks(game, lane, SECOND, FIRST, -1.0)]
    layout = Layout(
        player_band=player_band,
        band_set=band_set,
        band_lane=band_lane,
        band_actions=counts[band_set[:-1]].astype(np.int64),
        parent_lane=lane[game.parent_slot].astype(np.uint32),
        player_block=np.cumsum([0, *(len(rows) for rows, _, _ in blocks)]),
        block_lane=np.concatenate([rows for rows, _, _ in blocks]).astype(np.uint32),
        block_column=np.concatenate([columns for _, columns, _ in blocks]).astype(np.uint32),
        block_payoff=np.concatenate([payoffs for _, _, payoffs in blocks]),
    )
    return SequenceForm(game, layout, lane)


def _bands(game: FlatGame) -> tuple[Longs, Longs]:
    """First set of each band, [G + 1], and first band of each player, [3].

    Sets are numbered by player, own depth and number of actions, so bands are runs of sets.
    """
    depth = np.zeros(len(game.keys), dtype=np.int64)
    for number, parent in enumerate(game.parent_slot):
        if parent != NOWHERE:
            depth[number] = depth[game.set_of_slot[parent]] + 1
    player = np.repeat([FIRST, SECOND], np.diff(game.set_start))
    kind = np.stack([player, depth, np.diff(game.slot_start)])
    changes = np.flatnonzero((kind[:, 1:] != kind[:, :-1]).any(axis=0)) + 1
    starts = [0, *changes] if len(game.keys) else []
    band_set = np.array([*starts, len(game.keys)], dtype=np.int64)
    return band_set, np.searchsorted(band_set, game.set_start).astype(np.int64)


def _lanes(game: FlatGame, band_set: Longs, band_lane: Longs) -> Longs:
    lane = np.empty(game.slots + 1, dtype=np.int64)
    lane[game.slots] = game.slots
    for begin, end, first_lane in zip(band_set[:-1], band_set[1:], band_lane[:-1], strict=True):
        width = end - begin
        slots = game.slot_start[end] - game.slot_start[begin]
        # Slots run set by set, lanes action by action: the transpose of (sets, actions).
        by_action = first_lane + np.arange(slots).reshape(-1, width)
        lane[game.slot_start[begin] : game.slot_start[end]] = by_action.T.reshape(-1)
    return lane


def _blocks(
    game: FlatGame, lane: Longs, player: int, opponent: int, sign: float
) -> tuple[Longs, Longs, Floats]:
    """The player's payoff matrix in blocks: rows [M], columns [M, 4], payoffs [M, 4]."""
    terminals = np.flatnonzero(game.actor == TERMINAL)
    stakes = sign * game.chance_reach[terminals] * game.utility[terminals]
    rows = lane[game.last_slot[player, terminals]]
    columns = lane[game.last_slot[opponent, terminals]]
    # Terminals that share both last slots become one entry: they differ in nature's moves only.
    pairs, entry = np.unique(rows * (game.slots + 1) + columns, return_inverse=True)
    payoff = np.zeros(len(pairs))
    np.add.at(payoff, entry, stakes)
    pairs, payoff = pairs[payoff != 0], payoff[payoff != 0]
    row, column = pairs // (game.slots + 1), pairs % (game.slots + 1)
    in_row = np.arange(len(row)) - np.searchsorted(row, row)
    new_block = in_row % BLOCK == 0
    block = np.cumsum(new_block) - 1
    block_column = np.full((np.count_nonzero(new_block), BLOCK), game.slots, dtype=np.int64)
    block_payoff = np.zeros(block_column.shape)
    block_column[block, in_row % BLOCK] = column
    block_payoff[block, in_row % BLOCK] = payoff
    return row[new_block], block_column, block_payoff


def payoff_bounds(form: SequenceForm) -> Bounds:
    """Best payoffs, and the largest gain in regret, of every action of a game."""
    game = form.game
    low, high = _extremes(game)
    nodes = np.flatnonzero(game.information_set != NOWHERE)
    # One entry for each action of each history: node and child, repeated by the number of actions.
    counts = game.child_count[nodes]
    node = np.repeat(nodes, counts)
    action = np.arange(len(node)) - np.repeat(np.cumsum(counts) - counts, counts)
    child = game.first_child[node] + action
    actor = game.actor[node]
    best = np.where(actor == FIRST, high[child], -low[child])
    worst = np.where(actor == FIRST, low[node], -high[node])
    row = form.lane[game.slot_start[game.information_set[node]] + action]
    column = form.lane[game.last_slot[1 - actor, node]]
    order = np.lexsort((column, row))
    chance = game.chance_reach[node]
    block_start, block_end = _block_rows(form)
    return Bounds(
        block_start=block_start,
        block_end=block_end,
        bound_start=np.searchsorted(row[order], np.arange(game.slots + 1)).astype(np.int64),
        bound_column=column[order].astype(np.uint32),
        best=(chance * best)[order],
        gap=(chance * (best - worst))[order],
    )


def empty_skips(form: SequenceForm) -> Skips:
    """The state of pruning before it has started."""
    slots = form.game.slots
    return Skips(
        upper=np.zeros(slots),
        skipped=np.zeros(slots + 1, dtype=np.bool_),
        hopeless=np.zeros(slots, dtype=np.bool_),
        best=np.zeros(slots),
        counts=np.zeros(2, dtype=np.int64),
    )


def _extremes(game: FlatGame) -> tuple[Floats, Floats]:
    """[N] the smallest and the largest utility at the terminals below each node."""
    low, high = game.utility.copy(), game.utility.copy()
    for node in range(len(game.actor) - 1, -1, -1):
        if game.actor[node] != TERMINAL:
            first = game.first_child[node]
            children = slice(first, first + game.child_count[node])
            low[node], high[node] = low[children].min(), high[children].max()
    return low, high


def _block_rows(form: SequenceForm) -> tuple[np.ndarray, np.ndarray]:
    """[K] first and end block of each lane's row; each player's blocks are sorted by lane."""
    layout, slots = form.layout, form.game.slots
    start, end = np.zeros(slots, dtype=np.int64), np.zeros(slots, dtype=np.int64)
    for player in range(2):
        begin = layout.player_block[player]
        rows = layout.block_lane[begin : layout.player_block[player + 1]]
        bands = layout.player_band[player : player + 2]
        lanes = np.arange(*layout.band_lane[bands])
        start[lanes] = begin + np.searchsorted(rows, lanes, side="left")
        end[lanes] = begin + np.searchsorted(rows, lanes, side="right")
    return start, end
