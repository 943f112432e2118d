"""The arrays of the kernels of bucketed rivers, beside the layout of the exact ones.

On a river board each player's combos stand in K buckets, and the betting is solved with a bucket as
one hand: its reach is the sum of its combos', and its value, that of one combo, goes to all of
them. So `Forest`, `Storage` and the decision nodes are those of `exact.kernels` with K hands, folds
and showdowns are products with the board's two matrices, and only entering and leaving a board is
new.

Axis letters: B river boards, K buckets, C combos of a player on all boards, G groups of lines.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Longs, Singles
from allstreets.engines.exact.kernels.layout import Boards, Forest, Shorts, Storage, Workspace
from allstreets.engines.simd.work_counter import Counter

MATRIX_ONE = 127
"""The integer that stands for 1 in the matrices of a board."""


class BucketCombos(NamedTuple):
    """One player's combos on the river boards of a flop, those of a bucket side by side."""

    start: Longs  # [B+1]: combos before each board
    first: Shorts  # [B, K+1]: where each bucket of a board begins, counted from the board's first
    parent: Shorts  # [C]: the hand that the combo is on the turn


class BucketBoards(NamedTuple):
    """The river boards of a flop as a player sees them."""

    player: BucketCombos
    opponent: BucketCombos
    player_is_oop: bool
    chance: Singles  # [B]: of the river cards that the board stands for, given both hands
    margin: NDArray[np.int8]  # [B, K, K]: mean share won − lost of OOP's bucket against IP's
    pairs: NDArray[np.int8]  # [B, K, K]: share of their pairs of combos that fit beside each other
    turn_share: Singles  # by the player's hand of the turn, padded: 1 / its combos


class ProductRows(NamedTuple):
    """Rows of products with one matrix, in whole tiles for each group of lines."""

    groups: Longs  # [G+1]: rows before each group
    reach: Longs  # reach row that is multiplied by the matrix
    value: Longs  # value row that it is added to
    factor: Singles


class Products(NamedTuple):
    """Folds and showdowns of a river forest as rows of matrix products, spares included."""

    shows: ProductRows  # with the margins
    folds: ProductRows  # with the pairs: folds and rake
    group_sums: Longs  # [G+1]
    sums: Longs  # value rows that products are added to


class BucketSpace(NamedTuple):
    """The scratch arrays of one thread for the matrices of a board."""

    margin: Singles  # [K, K]: of the opponent's buckets with the player's
    pairs: Singles  # [K, K]
    turned: Singles  # [K, K]
    rows: Longs  # [K]: 0, 1, …


class StreetGame(NamedTuple):
    """The betting of one street on all its boards, and what a thread needs to pass through it."""

    forest: Forest
    boards: Boards
    storage: Storage
    space: Workspace


class RiverGame(NamedTuple):
    """The river: its betting with a bucket as one hand, and the cards below it."""

    street: StreetGame
    cards: BucketBoards
    products: Products
    space: BucketSpace


class FlopLeaves(NamedTuple):
    """The leaves of a flop, which its turn boards start from, shared by the threads at work there.

    Those that all pots of the forests use, as in `Workspace`.
    """

    counter: Counter  # the next turn board that no thread works on
    sent: Longs  # [1]: turn boards whose values have arrived
    reach: Singles
    values: Singles
    player_hands: int  # of the flop, padded
    opponent_hands: int
