"""How good an action could at best be: the bounds behind the sound rule of pruning.

Axis letters: K lanes, E entries; see `cfr.kernels.pruned.Bounds` for the arrays.
"""

import numpy as np

from allstreets.base import Floats
from allstreets.cfr.game import FIRST, NOWHERE, TERMINAL, FlatGame
from allstreets.cfr.kernels.pruned import Bounds, Skips
from allstreets.cfr.sequence_form import SequenceForm


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
    mine = game.actor[node]
    best = np.where(mine == FIRST, high[child], -low[child])
    worst = np.where(mine == FIRST, low[node], -high[node])
    row = form.lane[game.slot_start[game.information_set[node]] + action]
    column = form.lane[game.last_slot[1 - mine, node]]
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
    """What pruning remembers before it has started."""
    slots = form.game.slots
    return Skips(
        upper=np.zeros(slots),
        skipped=np.zeros(slots + 1, dtype=np.bool_),
        hopeless=np.zeros(slots, dtype=np.bool_),
        best=np.zeros(slots),
        counts=np.zeros(2, dtype=np.int64),
    )


def _extremes(game: FlatGame) -> tuple[Floats, Floats]:
    """[N] the smallest and the largest utility at the ends below each node."""
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
