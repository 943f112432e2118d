"""What every hand wins from every other hand, when both play stored strategies.

Values are chips that OOP wins on average, over the turns and rivers and over both players' mixed
actions; IP wins as much less. Where no combos of two hands fit beside the flop and each other they
cannot meet, and 0 stands there.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import OOP, NodeKind, Outcome
from allstreets.cards import COMBO_MASKS, HAND_COUNT, HAND_OF_COMBO
from allstreets.kernels.pair_sums import add_outer_products, reach_of_ends
from allstreets.subgames.packed import PackedStrategies

Floats = NDArray[np.float64]

ENDS_AT_ONCE = 256  # whose rows fit the second-level cache


def single_stage_values(
    strategies: PackedStrategies, payoffs: Floats, pairs: Floats, margin: NDArray[np.float32]
) -> Floats:
    """[H, H]: what OOP wins with the row's hand from IP with the column's, in a game of one stage.

    An end t is reached by hands h and o with probability x_t[h] · y_t[o], which are the products of
    both players' own actions. So the sum over all ends takes two matrices, one for what depends on
    who wins and one for what does not:

        chips = Σ (win − loss)/2 · x_t y_tᵀ · M / W + Σ (win + loss)/2 · x_t y_tᵀ
    """
    by_winner, anyhow = np.zeros(pairs.shape), np.zeros(pairs.shape)
    ends, own, other = _ends(strategies, len(pairs))
    win, loss = payoffs[ends, OOP, Outcome.WIN], payoffs[ends, OOP, Outcome.LOSE]
    for start in range(0, len(ends), ENDS_AT_ONCE):
        some = slice(start, start + ENDS_AT_ONCE)
        add_outer_products(own[some], other[some], ((win - loss) / 2)[some], by_winner)
        add_outer_products(own[some], other[some], ((win + loss) / 2)[some], anyhow)
    met = pairs > 0
    edge = np.divide(margin, pairs, out=np.zeros(pairs.shape), where=met)
    return np.where(met, by_winner * edge + anyhow, 0.0)


def _ends(strategies: PackedStrategies, hands: int) -> tuple[NDArray[np.int64], Floats, Floats]:
    """(ends [T], OOP's reach [T, H], IP's reach [T, H]) in a game of one stage."""
    tree = strategies.tree
    decides = tree.kind == NodeKind.DECISION
    ends = np.flatnonzero(tree.is_terminal)
    own, other = np.empty((2, len(ends), hands))
    reach_of_ends(
        tree.parent.astype(np.int64),
        np.where(decides, tree.player, -1).astype(np.int64),
        tree.child_count.astype(np.int64),
        strategies.first_row,
        ends,
        strategies.stored[0].astype(np.float64),
        own,
        other,
    )
    return ends, own, other


def first_stage_values(evaluate: Callable[[Floats], Floats], pairs: Floats) -> Floats:
    """[H, H]: the same for the hands of the first stage, in a game of any number of stages.

    `evaluate` gives OOP's values [H] against a reach [H] of IP. Those against a range that holds a
    single hand are those against that hand, times the `pairs` [H, H] of combos.
    """
    totals = np.stack([evaluate(alone) for alone in np.eye(len(pairs))], axis=1)
    return np.divide(totals, pairs, out=np.zeros_like(totals), where=pairs > 0)


def class_values(buckets: NDArray[np.int16], values: Floats) -> Floats:
    """[169, 169]: values of buckets [K, K] as means over the combos that fit beside each other.

    `buckets` [1326] gives each combo's bucket, −1 where the flop blocks it.
    """
    combos = np.flatnonzero(buckets >= 0)
    combos = combos[np.argsort(HAND_OF_COMBO[combos], kind="stable")]
    fits = (COMBO_MASKS[combos][:, None] & COMBO_MASKS[combos][None, :]) == 0
    of_combos = np.where(fits, values[np.ix_(buckets[combos], buckets[combos])], 0.0)
    hands, starts = np.unique(HAND_OF_COMBO[combos], return_index=True)
    means = np.zeros((HAND_COUNT, HAND_COUNT))
    sums, counts = _by_hand(of_combos, starts), _by_hand(fits.astype(np.float64), starts)
    means[np.ix_(hands, hands)] = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    return means


def _by_hand(table: Floats, starts: NDArray[np.int64]) -> Floats:
    """Sums over the combos of each hand; its rows and columns begin at `starts`."""
    sums: Floats = np.add.reduceat(np.add.reduceat(table, starts, axis=0), starts, axis=1)
    return sums
