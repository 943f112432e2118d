"""The chips that pairs of hands win from each other, summed over the terminals of a stage."""

from typing import NamedTuple

import numpy as np

from allstreets.base import Floats, Longs, Singles, inner_kernel, kernel
from allstreets.engines.matrix.kernels.layout import StageCards
from allstreets.engines.simd.vectors import LANES
from allstreets.engines.simd.work_counter import Counter, take

GATHERED = 32
"""Terminals whose outer products are added at once: the rows of both players stay in the cache."""


class PairTree(NamedTuple):
    """A betting tree in pre-order, [N] each."""

    parent: Longs
    depth: Longs
    player: Longs  # who acts; −1: nobody
    actions: Longs
    action: Longs  # the action of its parent that leads here
    start: Longs  # of a decision's sums within those of its player, on any flop
    by_winner: Floats  # chips of a terminal that OOP wins or loses, half of the difference
    anyhow: Floats  # chips of a terminal that OOP wins with either hand


@kernel
def add_outer_products(own: Floats, other: Floats, factors: Floats, sums: Floats) -> None:
    """sums [R, C] += Σ over t of factors[t] · own[t, R] ⊗ other[t, C], one t after the other.

    Four of them at a time: a sum is read and written once for all four.
    """
    fours = len(factors) // 4 * 4
    for row in range(sums.shape[0]):
        target = sums[row]
        for end in range(0, fours, 4):
            first, second = factors[end] * own[end, row], factors[end + 1] * own[end + 1, row]
            third, fourth = (
                factors[end + 2] * own[end + 2, row],
                factors[end + 3] * own[end + 3, row],
            )
            if first == 0.0 and second == 0.0 and third == 0.0 and fourth == 0.0:
                continue
            for column in range(len(target)):
                total = target[column] + first * other[end, column]
                total += second * other[end + 1, column]
                total += third * other[end + 2, column]
                target[column] = total + fourth * other[end + 3, column]
        for end in range(fours, len(factors)):
            weight = factors[end] * own[end, row]
            for column in range(len(target)):
                target[column] += weight * other[end, column]


@inner_kernel
def play_action(
    row: Floats, sums: Singles, start: int, actions: int, action: int, places: Longs
) -> None:
    """Multiply a reach [H] by how often an action of a decision is played.

    `places` [H] say where a hand stands among those that are stored, −1: nowhere; such a hand, and
    one without any sums, plays uniformly.
    """
    for hand in range(len(places)):
        place, total = places[hand], np.float64(0.0)
        if place >= 0:
            first = start + place // LANES * actions * LANES + place % LANES
            for other in range(actions):
                total += np.float64(sums[first + other * LANES])
        if total > 0.0:
            row[hand] *= np.float64(sums[first + action * LANES]) / total
        else:
            row[hand] *= 1.0 / actions


@inner_kernel
def pairs_of_hand(cards: StageCards, flop: int, hand: int, pairs: Floats) -> None:
    """Fill pairs [H] with those of one hand: a row of W (`cards`)."""
    for other in range(len(pairs)):
        pairs[other] = np.float64(cards.combos[flop, hand]) * cards.combos[flop, other]
    pairs[hand] += cards.twins[flop, hand]
    for held in range(cards.hand_start[flop, hand], cards.hand_start[flop, hand + 1]):
        card, count = cards.hand_card[flop, held], np.float64(cards.hand_count[flop, held])
        for place in range(cards.card_start[flop, card], cards.card_start[flop, card + 1]):
            pairs[cards.card_hand[flop, place]] -= count * cards.card_count[flop, place]


@kernel
def pair_values(
    counter: Counter,
    flops: Longs,
    tree: PairTree,
    sums: tuple[Singles, Singles],
    places: tuple[Longs, Longs],
    cards: StageCards,
    found: Singles,
) -> None:
    """Fill found [K, H, H] for those of the flops [K] that this thread takes.

    `sums` [F, …] are both players' average strategies and `places` [H] where their hands are
    stored. Hands h and o reach terminal t with probability x_t[h] · y_t[o], the products of both
    players' own actions. So the sum over all terminals takes two matrices, one for results that
    depend on who wins and one for results that do not:

        chips = Σ (win − loss)/2 · x_t y_tᵀ · M / W + Σ (win + loss)/2 · x_t y_tᵀ
    """
    hands, length = found.shape[1], cards.hands
    levels = np.zeros((tree.depth.max() + 1, 2, length))
    totals = np.zeros((2, hands, length))
    own, other = np.zeros((2, GATHERED, length)), np.zeros((2, GATHERED, length))
    factors, gathered = np.zeros((2, GATHERED)), np.zeros(2, np.int64)
    pairs = np.zeros(length)
    while True:
        piece = take(counter)
        if piece >= len(flops):
            break
        flop = flops[piece]
        totals[:] = 0.0
        levels[0, :, :hands] = 1.0
        for node in range(len(tree.parent)):
            here = levels[tree.depth[node]]
            if node > 0:
                above = tree.parent[node]
                before = levels[tree.depth[above]]
                for hand in range(length):
                    here[0, hand], here[1, hand] = before[0, hand], before[1, hand]
                acts, start, count = tree.player[above], tree.start[above], tree.actions[above]
                if acts == 0:
                    play_action(here[0], sums[0][flop], start, count, tree.action[node], places[0])
                elif acts == 1:
                    play_action(here[1], sums[1][flop], start, count, tree.action[node], places[1])
            for kind in range(2):
                chips = tree.by_winner[node] if kind == 0 else tree.anyhow[node]
                if chips != 0.0:
                    item = gathered[kind]
                    for hand in range(length):
                        own[kind, item, hand] = here[0, hand]
                        other[kind, item, hand] = here[1, hand]
                    factors[kind, item] = chips
                    gathered[kind] = item + 1
                    if item + 1 == GATHERED:
                        add_outer_products(own[kind], other[kind], factors[kind], totals[kind])
                        gathered[kind] = 0
        for kind in range(2):
            some = gathered[kind]
            add_outer_products(
                own[kind, :some], other[kind, :some], factors[kind, :some], totals[kind]
            )
            gathered[kind] = 0
        for hand in range(hands):
            pairs_of_hand(cards, flop, hand, pairs)
            for against in range(hands):
                won = 0.0
                if pairs[against] > 0.0:
                    margin = np.float64(cards.margin[flop, against * length + hand])
                    won = totals[0, hand, against] * (margin / pairs[against])
                    won += totals[1, hand, against]
                found[piece, hand, against] = won


@kernel
def mean_over_pairs(
    combos: Longs,
    masks: Longs,
    hands: Longs,
    groups: Longs,
    values: Floats,
    found: Floats,
) -> None:
    """Fill found [169, 169] with means over the pairs of `combos` that share no card.

    0 stands where there are none. `masks`, `hands` and `groups` [1326] are a combo's cards as bits,
    its class, and its row and column of `values`.
    """
    counts = np.zeros(found.shape, np.int64)
    found[:] = 0.0
    for first in combos:
        sums, pairs, row = found[hands[first]], counts[hands[first]], values[groups[first]]
        for second in combos:
            if masks[first] & masks[second] == 0:
                sums[hands[second]] += row[groups[second]]
                pairs[hands[second]] += 1
    for hand in range(len(found)):
        for other in range(len(found)):
            if counts[hand, other] > 0:
                found[hand, other] /= counts[hand, other]
