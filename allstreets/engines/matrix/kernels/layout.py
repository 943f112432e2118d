"""The arrays that the matrix kernels work on: a postflop game with its card facts as matrices.

*Own* is the player whose values are computed; *other* is the opponent. A **row** is one number per
hand of its player. A pass covers some hands of either player (`StageHands`), usually all of them;
rows are as long as his list of hands, padded to whole vectors.

- **Reach rows** hold the other player's reach: first one per line that leads into the stage, then
  a row that is always zero, then one for each action of each of his nodes. A node's reach changes
  only where the opponent acts, so own nodes and cards take no rows.
- **Value rows** hold own values: first one per line, then a spare row, then one for each
  action of each own node. Values below the opponent's actions are added up where they arise.

Kernels are given `MOST_STAGES` of everything, so that they are compiled once for any number of
stages (`filled`).

Axis letters: F flops, H hands of a stage (padded to whole vectors), L lines into a stage; Hₓ and Hₒ
are the hands of a pass, own and the other's, padded.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Ints, Longs, Singles
from allstreets.engines.simd.iteration_weights import KernelWeights

Shorts = NDArray[np.int16]
Record = TypeVar("Record", bound=tuple[object, ...])

MOST_STAGES = 3
"""A stage has one street or more."""


class StagePlan(NamedTuple):
    """The betting of one stage for one own player; the same on every flop.

    Lists of rows are filled up to whole tiles or vectors with the spare row and factor 0.
    """

    lines: int  # L: reach and value rows 0 … L − 1 belong to them, row L is the spare one
    reach_rows: int
    value_rows: int
    other_reach: Longs  # the other's nodes, parents first: where his reach at the node stands
    other_child: Longs  # first of the reach rows of his actions
    other_actions: Longs
    other_slot: Longs  # actions of his nodes before this one
    own_value: Longs  # own nodes, children first: where the node's value is added
    own_child: Longs  # first of the value rows of his actions
    own_actions: Longs
    own_slot: Longs
    own_locked: Longs  # 1: every hand plays its average there, whatever its regrets
    fold_reach: Longs  # ends with a result that does not depend on the cards, in groups of 16
    fold_value: Longs
    fold_factor: Singles  # the result in chips
    show_reach: Longs  # showdowns, in groups of TILE_ROWS
    show_value: Longs
    show_factor: Singles  # half of what is at stake: (win − loss) / 2
    exit_reach: Longs  # where the stage ends, in the order of the next stage's lines, in groups
    exit_value: Longs
    exit_line: Longs  # the next stage's line, or its spare row
    lanes: Longs  # 0, 1, … 15
    ones: Singles  # as many as exits


class StageCards(NamedTuple):
    """The hands of one stage on F flops."""

    hands: int  # H
    margin: (
        Singles  # [F, H·H]: row by other's hand, column by own: share won − share lost, in pairs
    )
    combos: Singles  # [F, H]
    twins: Singles  # [F, H]: combos that both players would hold at once; 0 without card removal
    card_start: Shorts  # [F, 53]: hands that hold a card …
    card_hand: Bytes  # [F, …]
    card_count: Singles  # [F, …]: … and in how many combos
    hand_start: Shorts  # [F, H + 1]: cards that a hand holds …
    hand_card: Bytes  # [F, …]
    hand_count: Singles  # [F, …]
    down: Singles  # [F, H before · H]: reach into this stage; empty in the first
    up: Singles  # [F, H · H before]: values out of it


class StageHands(NamedTuple):
    """The hands of a stage that a pass covers; all of them are 0, 1, … H − 1, padding included.

    The opponent must hold no hand that is not listed.
    """

    own: Longs  # [≤ Hₓ], rising
    own_length: int  # Hₓ
    own_bits: Longs  # [H / 16]: which hands of each block of sixteen are in `own`, as bits …
    own_place: Longs  # [H / 16]: … and where the first of them stands there
    other: Longs  # [≤ Hₒ], rising
    other_length: int  # Hₒ


class StageStore(NamedTuple):
    """The learned numbers of one stage, by flop: [node][hand / 16][action][16].

    Hands are those of a pass. If it covers own hands that are not stored, it is a best response or
    they play uniformly: own arrays are then not read.
    """

    own_regrets: Singles  # [F, …]
    own_average: Singles
    other_regrets: Singles
    other_average: Singles


class Pot(NamedTuple):
    """One betting tree for one own player and the hands of a pass, stage by stage."""

    stages: int
    plans: tuple[StagePlan, ...]
    hands: tuple[StageHands, ...]
    stores: tuple[StageStore, ...]


class StageSpace(NamedTuple):
    """The scratch arrays of one thread for one stage; contents do not outlive a flop."""

    reach: Singles  # [reach rows · Hₒ]
    values: Singles  # [value rows · Hₓ]
    lanes: Singles  # [2, H · 16]: sixteen reach rows, and what comes out of them, by hand
    sums: Singles  # [52 · 16]: sums over the hands that hold each card
    terms: Ints  # [Hₒ]: hands that matter in a product
    margin: Singles  # [Hₒ · Hₓ + 16]: the part of the margin matrix that a pass covers
    combos: Singles  # [Hₓ]: of own hands
    needed: Bytes  # [value rows · Hₓ/16]: which blocks of own hands a pruned pass computes
    union: Bytes  # [Hₓ/16]: those that any of a few rows needs
    left_out: Longs  # [1]: how many (own action, block of hands) pruned passes did not visit


THRESHOLD = KernelWeights._fields.index("threshold")
"""The column of a table of `cfr.IterationWeights`, one row per flop or iteration."""

UPDATE, BEST_RESPONSE, EVALUATE, PLAY_EVENLY = 0, 1, 2, 3
"""The pass at the player's nodes: update regrets, take the best action, play the average,
play is uniform. In the first the other player plays by his regrets, in the others by his average
strategy."""


def filled(stages: tuple[Record, ...]) -> tuple[Record, ...]:
    """Records filled up to the number that kernels take: the last one stands in for the rest."""
    return stages + stages[-1:] * (MOST_STAGES - len(stages))
