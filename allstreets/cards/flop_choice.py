"""Flops that stand for all, with weights: chosen by what they do to hands (`flop_features`).

Where a game has been solved on all flops already, the values of its pots on every flop say more
than any general features; they come on top, as blocks of their own.
"""

from collections.abc import Sequence

import numpy as np

from allstreets.base import Floats, InputError, Longs
from allstreets.cards.flop_features import flop_features
from allstreets.cards.flop_sets import FlopSet, every_flop
from allstreets.cards.flops import FLOP_COUNT, all_flops
from allstreets.cards.subset_choice import (
    choose,
    covariances,
    nonnegative,
    remaining_error,
    variance,
)

LEAF_SHARE = 2.0  # standard deviation of the leaves' block, in those of the general features


def choose_flops(count: int, leaves: Sequence[Floats] = (), name: str | None = None) -> FlopSet:
    """`count` flops that stand for all, by general features and `leaves` [1755, D] of solutions.

    Takes seconds, and a minute or two the first time, when the tables of all flops are counted.
    """
    if not 1 <= count < FLOP_COUNT:
        raise InputError(f"{count} flops: choose between 1 and {FLOP_COUNT - 1}, or all of them")
    dealt = every_flop().weights
    found = choose(_stacked(leaves, dealt), dealt, count)
    flops = tuple(all_flops()[place] for place in found.places)
    return FlopSet(name or f"chosen_{count}", flops, _rounded(found.weights))


def reweighted(flops: FlopSet, leaves: Sequence[Floats] = ()) -> FlopSet:
    """The same flops with the weights that let them stand for all best; one may drop out."""
    dealt = every_flop().weights
    matrix = covariances(_stacked(leaves, dealt), dealt)
    places = _places(flops)
    weights = nonnegative(matrix[np.ix_(places, places)], (matrix @ dealt)[places])
    kept = weights > 0
    chosen = tuple(flop for flop, keep in zip(flops.flops, kept, strict=True) if keep)
    return FlopSet(flops.name, chosen, _rounded(weights[kept] * (dealt.sum() / weights.sum())))


def flop_set_error(flops: FlopSet, leaves: Sequence[Floats] = ()) -> float:
    """How far a set is from all flops: 0 is the same, 1 as far as a flop at random."""
    dealt = every_flop().weights
    return remaining_error(_stacked(leaves, dealt), dealt, _places(flops), flops.weights)


def _rounded(weights: Floats) -> Floats:
    """Weights in hundredths with the same sum, so that no machine's last bits are in them."""
    hundredths = np.rint(100 * weights)
    hundredths[weights.argmax()] += np.rint(100 * weights.sum()) - hundredths.sum()
    found: Floats = hundredths / 100
    return found


def _places(flops: FlopSet) -> Longs:
    return np.array([flop.number for flop in flops.flops], np.int64)


def _stacked(leaves: Sequence[Floats], dealt: Floats) -> Floats:
    """[1755, D]: the general features, and those of solutions in their proportion."""
    general = flop_features()
    # A game in which no pot is played to says nothing.
    spreads = [(block, variance(block, dealt)) for block in leaves]
    telling = [block / np.sqrt(spread) for block, spread in spreads if spread > 0]
    if not telling:
        return general
    share = LEAF_SHARE * np.sqrt(variance(general, dealt) / len(telling))
    return np.concatenate([general, *(share * block for block in telling)], axis=1)
