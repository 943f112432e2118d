"""Flops that stand for all, with weights: chosen by what they do to hands.

Each of F flops has features [D] and a weight m. A function of a flop that is linear in the
features, with independent coefficients and some noise, has the covariance

    K = Φ Φᵀ + NOISE · variance · I

and the sum Σ m_f · function(f) is known best from the K flops S and the weights w that leave the
least variance (m − w)ᵀ K (m − w). For given S the best w solves K_SS w = K_S m, and one more flop
lowers the variance by its residual squared over its Schur complement. So:

1. Take the flop that lowers the variance most, until there are enough (greedy).
2. Exchange one for another as long as that lowers it further.
3. Weights must not be negative: solve for them again under that condition.

The features are numbers whose sums over the flops decide play before it. For a hand class h and a
range r of the opponent, with the pairs W and the margins M of the flop:

    P = W·r                          pairs of combos that fit: how often the hand meets the range
    G = M·r                          pots won from it
    G² / P                           how far it is ahead or behind, whichever: what can be bet
    P · max(±G / P − 0.4, 0)         how often it is far ahead, or far behind

Each is divided by √(Σ of P over all flops), so that rare hands and narrow ranges do not count more
than they are dealt. Counts of textures do not do that: flops of one texture differ too much. Where
a game has been solved on all flops already, the values of its pots on every flop say more than any
general features; they are added as separate blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from allstreets.base import Floats, InputError, Longs
from allstreets.cards.equity import preflop_equity
from allstreets.cards.flop_sets import FLOP_COUNT, Flop, FlopSet, all_flops, every_flop
from allstreets.cards.flop_tables import flop_table
from allstreets.cards.hands import HAND_COUNT, hand_pairs

Places = Longs

NOISE = 0.03  # of each item, in variances of the features
LEAST_GAIN = 1e-3  # of the variance that is left: exchanges for less are not worth the time
TOLERANCE = 1e-10
FAR = 0.4  # pots won a pair: an equity of 70 %
CUTS = (0.5, 0.25, 0.12)  # of all combos: a wide, a usual and a narrow range
LEAF_SHARE = 2.0  # standard deviation of the leaves' block, in those of the general features


@dataclass(frozen=True, eq=False)
class Choice:
    """K items that stand for all."""

    places: Places  # [K], ascending
    weights: Floats  # [K], positive; their sum is that of all weights


def variance(features: Floats, weights: Floats) -> float:
    """The weighted mean squared distance of features [F, D] from their mean."""
    shares = weights / weights.sum()
    apart = features - shares @ features
    return float(shares @ np.einsum("fd,fd->f", apart, apart))


def covariances(features: Floats, weights: Floats) -> Floats:
    """K [F, F] of items with features [F, D]."""
    products: Floats = features @ features.T
    products[np.diag_indices(len(products))] += NOISE * variance(features, weights)
    return products


def choose(features: Floats, weights: Floats, count: int) -> Choice:
    """Choose `count` of F items with weights; fewer only where more would get no weight."""
    matrix = covariances(features, weights)
    aims = matrix @ weights
    places = exchanged(matrix, aims, weights, greedy(matrix, aims, count))
    solved = nonnegative(matrix[np.ix_(places, places)], aims[places])
    places, solved = places[solved > 0], solved[solved > 0]
    return Choice(places, solved * (weights.sum() / solved.sum()))


def remaining_error(features: Floats, weights: Floats, places: Places, chosen: Floats) -> float:
    """The distance of the choice from all: 0 is the same, 1 as far as one item drawn at random.

    The distance between the two means of the features, in standard deviations of the features.
    """
    apart = chosen @ features[places] / chosen.sum() - weights @ features / weights.sum()
    return float(np.sqrt(apart @ apart / variance(features, weights)))


def greedy(matrix: Floats, aims: Floats, count: int) -> Places:
    """The indices of `count` items, each the one that lowers the variance most when it is added."""
    residuals, left = aims.copy(), matrix.diagonal().copy()
    columns = np.zeros((count, len(matrix)))
    chosen: list[int] = []
    for number in range(count):
        gains = residuals**2 / left
        gains[chosen] = -1.0
        best = int(gains.argmax())
        column = matrix[best] - columns[:number, best] @ columns[:number]
        columns[number] = column / np.sqrt(column[best])
        residuals -= columns[number] * (residuals[best] / np.sqrt(left[best]))
        left = np.maximum(left - columns[number] ** 2, np.finfo(float).tiny)
        chosen.append(best)
    return np.sort(np.array(chosen))


def exchanged(matrix: Floats, aims: Floats, weights: Floats, places: Places) -> Places:
    """The best single exchange, again and again until none lowers the variance noticeably."""
    places, all_of_it = places.copy(), float(weights @ aims)
    while True:
        out, into, gain, known = _best_exchange(matrix, aims, places)
        if gain <= LEAST_GAIN * (all_of_it - known):
            return np.sort(places)
        places[out] = into


def _best_exchange(matrix: Floats, aims: Floats, places: Places) -> tuple[int, int, float, float]:
    """(item out, item in, by how much that lowers the variance, by how much all exchanges have)."""
    inverse = np.linalg.inv(matrix[np.ix_(places, places)])  # [K, K]
    lines = inverse @ matrix[places]  # [K, F]
    weights = inverse @ aims[places]  # [K]
    own = inverse.diagonal()[:, None]
    # What is left of every item's aim and variance once one of the chosen is removed, [K, F].
    residuals = aims - weights @ matrix[places] + (weights[:, None] / own) * lines
    left = matrix.diagonal() - np.einsum("kf,kf->f", matrix[places], lines) + lines**2 / own
    gains = residuals**2 / np.maximum(left, TOLERANCE * matrix.diagonal())
    gains[:, places] = 0.0
    gains -= weights[:, None] ** 2 / own
    out, into = divmod(int(gains.argmax()), gains.shape[1])
    return out, into, float(gains[out, into]), float(weights @ aims[places])


def nonnegative(matrix: Floats, aims: Floats) -> Floats:
    """The w ≥ 0 that make wᵀ·matrix·w − 2·aims·w least, by active sets (Lawson and Hanson)."""
    weights = np.zeros(len(aims))
    active = np.zeros(len(aims), np.bool_)
    enough = TOLERANCE * float(np.abs(aims).max(initial=0.0))
    while True:
        slopes = np.where(active, -np.inf, aims - matrix @ weights)
        if active.all() or slopes.max() <= enough:
            return weights
        active[int(slopes.argmax())] = True
        while True:
            wanted = np.zeros_like(weights)
            wanted[active] = np.linalg.solve(matrix[np.ix_(active, active)], aims[active])
            negative = active & (wanted <= 0)
            if not negative.any():
                break
            # Step towards the solution until a weight would become negative; weights of 0 then drop
            # out.
            steps = weights[negative] / (weights[negative] - wanted[negative])
            weights += steps.min() * (wanted - weights)
            gone = negative & (weights <= TOLERANCE * weights.max())
            active &= ~gone
            weights[~active] = 0.0
        weights = wanted


def opponent_ranges() -> Floats:
    """[R, 169]: everything, the best hands, those without the very best, and a polarised range.

    Hands are ordered by their equity against all.
    """
    equity = preflop_equity()
    combos = equity.pairs.sum(axis=1)
    strength = (equity.equity * equity.pairs).sum(axis=1) / combos
    order = np.argsort(-strength)
    before = np.zeros(HAND_COUNT)
    before[order] = (np.cumsum(combos[order]) - combos[order]) / combos.sum()
    best = [(before < cut).astype(np.float64) for cut in CUTS]
    capped = best[0] - best[-1]
    polarised = np.maximum(best[-1], (np.abs(before - 0.6) < 0.08).astype(np.float64))
    return np.array([np.ones(HAND_COUNT), *best, capped, polarised])


def hand_features(flop: Flop, ranges: Floats) -> Floats:
    """[5, 169, R]: P, G and what is made of them, of every hand against ranges [R, 169]."""
    pairs = hand_pairs(flop.cards) @ ranges.T
    margin = flop_table().margin(flop.number) @ ranges.T
    ahead = margin / np.maximum(pairs, 1.0)  # whole numbers; nothing is won where they are 0
    far = [pairs * np.maximum(sign * ahead - FAR, 0.0) for sign in (1, -1)]
    return np.stack([pairs, margin, margin * ahead, *far])


@cache
def flop_features() -> Floats:
    """[1755, D]: the features of every flop, for one of the deals that it stands for."""
    ranges = opponent_ranges()
    by_hand = np.stack([hand_features(flop, ranges) for flop in all_flops()])
    dealt = np.array([flop.multiplicity for flop in all_flops()], np.float64)
    totals = np.einsum("f,fhr->hr", dealt, by_hand[:, 0])
    features: Floats = (by_hand / np.sqrt(totals)).reshape(FLOP_COUNT, -1)
    features.setflags(write=False)
    return features


def choose_flops(count: int, leaves: Sequence[Floats] = (), name: str | None = None) -> FlopSet:
    """`count` flops that stand for all, by general features and `leaves` [1755, D] of solutions.

    Takes seconds, and a minute or two the first time, when the tables of all flops are counted.
    """
    if not 1 <= count < FLOP_COUNT:
        raise InputError(f"{count} flops: choose between 1 and {FLOP_COUNT - 1}, or all of them")
    dealt = every_flop().weights
    choice = choose(_stacked(leaves, dealt), dealt, count)
    flops = tuple(all_flops()[number] for number in choice.places)
    return FlopSet(name or f"chosen_{count}", flops, _rounded(choice.weights))


def reweighted(flops: FlopSet, leaves: Sequence[Floats] = ()) -> FlopSet:
    """The same flops with the weights that let them stand for all best; one may drop out."""
    dealt = every_flop().weights
    matrix = covariances(_stacked(leaves, dealt), dealt)
    places = _places(flops)
    weights = nonnegative(matrix[np.ix_(places, places)], (matrix @ dealt)[places])
    kept = weights > 0
    chosen = tuple(flop for flop, keep in zip(flops.flops, kept, strict=True) if keep)
    return FlopSet(flops.name, chosen, _rounded(weights[kept] * (dealt.sum() / weights.sum())))


def flop_set_error(flops: FlopSet) -> float:
    """The distance of a set from all flops: 0 is the same, 1 as far as a flop drawn at random."""
    dealt = every_flop().weights
    return remaining_error(_stacked((), dealt), dealt, _places(flops), flops.weights)


def _rounded(weights: Floats) -> Floats:
    """Weights in hundredths with the same sum, so that rounding on a machine never shows."""
    hundredths = np.rint(100 * weights)
    hundredths[weights.argmax()] += np.rint(100 * weights.sum()) - hundredths.sum()
    rounded: Floats = hundredths / 100
    return rounded


def _places(flops: FlopSet) -> Longs:
    return np.array([flop.number for flop in flops.flops], np.int64)


def _stacked(leaves: Sequence[Floats], dealt: Floats) -> Floats:
    """[1755, D]: the general features and, scaled to match, those of solutions."""
    general = flop_features()
    # A game in which no pot is reached says nothing.
    spreads = [(block, variance(block, dealt)) for block in leaves]
    telling = [block / np.sqrt(spread) for block, spread in spreads if spread > 0]
    if not telling:
        return general
    share = LEAF_SHARE * np.sqrt(variance(general, dealt) / len(telling))
    return np.concatenate([general, *(share * block for block in telling)], axis=1)
