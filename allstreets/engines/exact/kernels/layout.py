"""The arrays that the exact kernels work on: one street of the game as one player sees it.

A *hand* is a combo, or all combos that are equivalent by suits on the board: they play alike. Hands
stand in blocks of sixteen (lanes), padded; a row is one number per hand, as long as the padded
hand list. *Own* is the player whose values are computed; *other* is the opponent.

- **Reach rows** hold the other player's reach: first the rows of the street's lines (a line is a
  betting sequence that leads into the street), then one row for each action of each of his nodes.
- **Value rows** hold the own player's counterfactual values: first one per line, then one for
  each action of each of his nodes.
- Nodes come in *groups* that are worked on together, small enough for the second-level cache.
  Lines, and the leaves where a card is dealt, are numbered in *lane groups* of sixteen, so that
  between two streets a hand is one vector and re-ordering hands moves whole vectors.
- A **tile** is sixteen terminal places computed at once, one per lane.

Axis letters: D decision nodes of the street, G groups, J lane groups, B boards, T tiles.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Flags, Longs, Singles

Shorts = NDArray[np.uint16]

PADDING_CARD = 52
"""The card that hands of the padding hold."""

ZERO_ROW = 0
"""The reach row that stands in for one that is not there: whatever it holds counts for nothing."""


class Forest(NamedTuple):
    """The betting of one street for one own player; the same below every board."""

    group_nodes: Longs  # [G+1]: nodes of a group, parents first
    group_lanes: Longs  # [G+1]: lane groups of a group's lines
    reach_rows: int  # rows that a group needs at most
    value_rows: int
    is_own: Flags  # [D]
    actions: Longs  # [D]
    reach_row: Longs  # [D]: where the other's reach at the node stands
    child_row: Longs  # [D]: first of the reach rows (other's node) or value rows (own node) below
    value_row: Longs  # [D]: where the node's own value goes
    adds: Flags  # [D]: value is added to what stands there
    pot: Longs  # [D]: the pot that the node belongs to, where several are worked on together
    slot: Longs  # [D]: actions of that player's nodes in its pot before this one
    number: Longs  # [D]: that player's nodes before this one
    locked: Flags  # [D]: every hand plays its average there, whatever its regrets
    own_nodes: int  # nodes of the own player on the street
    own_actions: Longs  # [P+1]: actions of the own player's nodes in the pots before each
    other_actions: Longs  # [P+1]
    group_slots: Longs  # [G]: the first slot of the own player's nodes in a group
    line_reach: Longs  # [16·J]: reach row of each line
    line_value: Longs  # [16·J]: value row of each line
    group_zeros: Longs  # [G+1]
    zeros: Longs  # value rows that are only ever added to
    # Terminals: a node's showdown (a call, or a check behind a check), and its fold.
    group_tiles: Longs  # [G+1]: tiles
    tile_kind: Longs  # [T]: OWN_FOLDS, OTHER_FOLDS or BOTH_FOLD
    shown_reach: Longs  # [16·T]: reach row of the showdown
    folded_reach: Longs  # [16·T]: reach row of the other player's fold
    terminal_value: Longs  # [16·T]: value row of the showdown and the other player's fold together
    own_fold_value: Longs  # [16·T]: value row of the own player's fold
    terminal_stake: Singles  # [16·T]: of the showdown, half the pot less half the rake
    terminal_rake: Singles  # [16·T]: minus half the rake
    terminal_gain: Singles  # [16·T]: result of the other player's fold
    terminal_loss: Singles  # [16·T]: result of the own player's fold
    # Leaves at which a card is dealt, as lanes of the next street's lane groups.
    leaf_reach: Longs  # [16·J']
    leaf_value: Longs  # [16·J']
    leaf_sums: Longs  # [2·…]: pairs (value row of a leaf, value row that it is added to)


class HandLists(NamedTuple):
    """One player's hands on all boards of a street, one board after the other."""

    start: Longs  # [B+1]: hands, padded
    counts: Longs  # [B]: hands without the padding
    cards: Bytes  # by hand, 2
    strengths: Shorts  # by hand; 0 before the river
    parent: Shorts  # by hand: its hand on the board one street up
    weight: Singles  # by hand: share of its value that the hand above gets
    combo_start: Longs  # [B+1]
    combo_cards: Bytes  # by combo, 2
    combo_strengths: Shorts  # by combo; 0 before the river
    combo_hand: Shorts  # by combo: its hand on the board


class Boards(NamedTuple):
    """The boards of one street and both players' hands on each, for one own player."""

    own_start: Longs  # [B+1]: where a board's hands begin in the arrays by hand; multiples of 16
    other_start: Longs  # [B+1]
    own_slots: Longs  # [B+1]: where a board's regrets begin
    other_slots: Longs  # [B+1]
    own_rows: Longs  # [B+1]: buckets before each board; `own_start` where each hand is its own
    other_rows: Longs  # [B+1]
    own_row: Shorts  # by own hand: its bucket on the board; empty = every hand its own
    other_row: Shorts  # by other hand
    # The own hands of sixteen buckets at a time, one of each bucket side by side; lists that are
    # shorter than the longest of the sixteen end in hands without a share.
    member_start: Longs  # [own buckets / 16 + 1]: where the lists of sixteen buckets begin
    members: Shorts  # [16·…]: own hands
    member_share: Singles  # [16·…]: the hand's share in what its bucket regrets
    other_parent: Shorts  # by other hand: its place on the board one street up
    own_parent: Shorts  # by own hand: its place on the board one street up
    own_weight: Singles  # by own hand: share of its value that goes there, over all same boards
    children: Longs  # [B+1]: boards one street down
    own_cards: Bytes  # by own hand, 2: of one of its combos; 52 for padding
    combo_start: Longs  # [B+1]: where the other's combos on a board begin
    combo_cards: Bytes  # by other combo, 2: cards
    combo_hand: Shorts  # by other combo: its hand on the board; never falls
    own_twin: Shorts  # by own hand: the other's hand that has its combo, or one behind the last
    equity_start: Longs  # [B]: where the all-in matrix of a board begins
    equity: Singles  # by board [own, other]: share won − share lost, over all runouts and combos
    # River only: counts of the other's combos, which stand in order of strength.
    below: Shorts  # by own hand: combos that it beats
    upto: Shorts  # by own hand: combos that it does not lose to


class Storage(NamedTuple):
    """Regrets and average strategy of one street: [node][row / 16][action][16], board by board.

    Where pots are worked on together, all boards of one pot come before those of the next.
    A row is a hand, or a bucket of hands that play alike on the board.
    Regrets are float32, float16 or int16; averages float32 or, with either of the others, int16
    fractions of 32767.
    """

    own_regrets: Singles
    own_average: Singles
    other_regrets: Singles
    other_average: Singles
    own_scales: Singles  # [board, node] of int16 regrets; empty for floats
    own_locked: Singles  # 1 where a strategy is locked: [node][hand], board by board; empty = none
    tremble: np.float32  # of the other's reach, at the least, takes every action while own learns


class NodePlace(NamedTuple):
    """The offsets of the numbers of one own node."""

    child: int  # first value row of its actions
    target: int  # value row of the node
    adds: bool  # whether the value is added to what stands there
    slot: int  # first stored number
    number: int  # among the own nodes of all boards
    lock: int  # first lock flag
    soon: int  # what to prefetch meanwhile


class Workspace(NamedTuple):
    """The scratch arrays of one thread for one street; contents do not outlive a board."""

    reach: Singles
    values: Singles
    tile: Singles
    leaf_reach: Singles  # [J', other hands + padding, 16]
    leaf_values: Singles  # [J', own hands + padding, 16]; on the last street the parent's
    rows: Singles  # of one node with buckets, see `nodes`


OWN_FOLDS, OTHER_FOLDS, BOTH_FOLD = 0, 1, 2
"""Kinds of tiles: nodes of the own player, of the other player, or of both."""

UPDATE, BEST_RESPONSE, EVALUATE = 0, 1, 2
"""The pass at the player's nodes: update regrets, take the best action, or play the average.
In the first the other player plays by his regrets, in the last two by his average strategy."""
