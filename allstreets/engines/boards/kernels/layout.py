"""What the kernels of grouped rivers work on, beside the layout of the exact ones.

On a river board each player's combos stand in K groups, and the betting is solved with a group as
one hand: its reach is the sum of its combos', and its value, that of one combo, goes to all of
them. So `Forest`, `Storage` and the decision nodes are those of `exact.kernels` with K hands, folds
and showdowns are products with the board's two matrices, and only the way in and out is new.

Axis letters: B river boards, K groups, C combos of a player on all boards, G groups of lines.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Ints, Longs, Singles
from allstreets.engines.exact.kernels.layout import Shorts

MATRIX_ONE = 127
"""The integer that stands for 1 in the matrices of a board."""


class GroupedCombos(NamedTuple):
    """One player's combos on the river boards of a flop, those of a group side by side."""

    start: Longs  # [B+1]: combos before each board
    first: Shorts  # [B, K+1]: where each group of a board begins, counted from the board's first
    parent: Shorts  # [C]: the hand that the combo is on the turn


class GroupedBoards(NamedTuple):
    """The river boards of a flop as the own player sees them."""

    own: GroupedCombos
    other: GroupedCombos
    own_is_oop: bool
    chance: Singles  # [B]: of the river cards that the board stands for, given both hands
    margin: NDArray[np.int8]  # [B, K, K]: mean share won − lost of OOP's group against IP's
    pairs: NDArray[np.int8]  # [B, K, K]: share of their pairs of combos that fit beside each other
    own_share: Singles  # by own hand of the turn, padded: 1 / its combos


class Products(NamedTuple):
    """Folds and showdowns of a river forest as rows of matrix products, spares included."""

    group_shows: Longs  # [G+1]
    show_reach: Longs  # reach row that is multiplied by the margins
    show_value: Longs  # value row that it is added to
    show_factor: Singles
    group_folds: Longs  # [G+1]
    fold_reach: Longs  # reach row that is multiplied by the pairs: folds and rake
    fold_value: Longs
    fold_factor: Singles
    group_sums: Longs  # [G+1]
    sums: Longs  # value rows that products are added to


class GroupSpace(NamedTuple):
    """What one thread needs for the matrices of a board."""

    margin: Singles  # [K, K]: of the other's groups with the own ones
    pairs: Singles  # [K, K]
    turned: Singles  # [K, K]
    rows: Longs  # [K]: 0, 1, …
    marks: Singles  # [16]
    terms: Ints  # [K + 16]
    no_union: Bytes
