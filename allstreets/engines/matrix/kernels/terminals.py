"""Terminals: products of reach rows with the matrices of a flop.

A showdown multiplies a row by the dense margin matrix. A fold multiplies it by the matrix of pairs
that fit, W = n nᵀ − N Nᵀ + diag(n), where n counts a hand's combos and N those that hold each card.
The matrix is never written out: a hand meets at most eight cards, so the product takes some 15
operations per hand instead of 169, with sixteen rows in the lanes of a vector.

A pruned pass passes `needed`, the blocks of own hands that each value row needs; without pruning it
is empty.
"""

import numpy as np

from allstreets.base import Bytes, Longs, Singles, inner_kernel, kernel
from allstreets.engines.matrix.kernels.layout import StageCards, StageHands, StagePlan, StageSpace
from allstreets.engines.simd.row_products import multiply_rows, unite
from allstreets.engines.simd.vectors import (
    compress,
    fma,
    load,
    splat,
    store,
    transpose_from,
    transpose_to,
)

ZERO = np.float32(0.0)
CARDS = 52


@inner_kernel
def own_combos(cards: StageCards, hands: StageHands, space: StageSpace, flop: int) -> Singles:
    """[Hₓ]: combos of the own hands of a pass."""
    combos: Singles = cards.combos[flop]
    if len(hands.own) == cards.hands:
        return combos
    space.combos[: hands.own_length] = ZERO
    for place in range(len(hands.own)):
        space.combos[place] = combos[hands.own[place]]
    return space.combos


@inner_kernel
def margin_of(cards: StageCards, hands: StageHands, space: StageSpace, flop: int) -> Singles:
    """[Hₒ · Hₓ]: the margins of the hands of a pass; rows that are mere padding are not written.

    A vector may be written beyond its hands, where the next one follows; there is room for that
    after the last row.
    """
    margin: Singles = cards.margin[flop]
    picked = space.margin
    if len(hands.own) == cards.hands and len(hands.other) == cards.hands:
        return margin
    for row in range(len(hands.other)):
        start, target = hands.other[row] * cards.hands, row * hands.own_length
        for block in range(len(hands.own_bits)):
            chosen = compress(load(margin, start + 16 * block), hands.own_bits[block])
            store(picked, target + hands.own_place[block], chosen)
        store(picked, target + len(hands.own), splat(ZERO))
    return picked


@inner_kernel
def turn_reach(
    space: StageSpace, hands: StageHands, rows: Longs, first: int, all_hands: bool
) -> None:
    """Sixteen reach rows as vectors of sixteen numbers per hand, in `lanes`."""
    length = hands.other_length
    for block in range(0, length, 16):
        if all_hands:
            transpose_from(space.reach, rows, first, length, block, space.lanes, 16 * block, 16)
            continue
        # In the room of `sums`, then each hand to its place among all.
        transpose_from(space.reach, rows, first, length, block, space.sums, 0, 16)
        for place in range(block, min(block + 16, len(hands.other))):
            store(space.lanes, 16 * hands.other[place], load(space.sums, 16 * (place - block)))


@kernel
def add_folds(
    plan: StagePlan,
    cards: StageCards,
    hands: StageHands,
    space: StageSpace,
    flop: int,
    needed: Bytes,
) -> None:
    """Add the results of all folds of a stage to their value rows, sixteen at a time."""
    lanes, sums, length = space.lanes, space.sums, hands.own_length
    combos, twins = cards.combos[flop], cards.twins[flop]
    card_start, card_hand = cards.card_start[flop], cards.card_hand[flop]
    card_count = cards.card_count[flop]
    hand_start, hand_card = cards.hand_start[flop], cards.hand_card[flop]
    hand_count = cards.hand_count[flop]
    zero, pruned = splat(ZERO), len(needed) > 0
    union = space.union[: length // 16]
    result = 16 * cards.hands  # the second half of `lanes`
    whole = len(hands.other) == cards.hands
    if not whole:
        lanes[:result] = ZERO  # the other player holds no hand that is not listed
    for place in range(len(hands.own), length):
        store(lanes, result + 16 * place, zero)
    for first in range(0, len(plan.fold_reach), 16):
        if pruned and not unite(needed, plan.fold_value, first, 16, union):
            continue
        turn_reach(space, hands, plan.fold_reach, first, whole)
        all_reach = zero
        for hand in hands.other:
            all_reach = fma(splat(combos[hand]), load(lanes, 16 * hand), all_reach)
        if card_start[CARDS]:
            for card in range(CARDS):
                with_card = zero
                for place in range(card_start[card], card_start[card + 1]):
                    here = load(lanes, 16 * np.int64(card_hand[place]))
                    with_card = fma(splat(card_count[place]), here, with_card)
                store(sums, 16 * card, zero - with_card)
        factor = load(plan.fold_factor, first)
        for place in range(len(hands.own)):
            if pruned and not union[place // 16]:
                continue
            hand = hands.own[place]
            value = splat(combos[hand]) * all_reach
            value = fma(splat(twins[hand]), load(lanes, 16 * hand), value)
            for held in range(hand_start[hand], hand_start[hand + 1]):
                taken = load(sums, 16 * np.int64(hand_card[held]))
                value = fma(splat(hand_count[held]), taken, value)
            store(lanes, result + 16 * place, value * factor)
        for block in range(0, length, 16):
            if pruned and not union[block // 16]:
                continue
            # Turned back, in the room of `sums`; several folds may share a row.
            transpose_to(lanes, result + 16 * block, sums, plan.lanes, 0, 16, 0)
            for lane in range(16):
                row = plan.fold_value[first + lane] * length + block
                store(space.values, row, load(space.values, row) + load(sums, 16 * lane))


@kernel
def add_showdowns(
    plan: StagePlan,
    cards: StageCards,
    hands: StageHands,
    space: StageSpace,
    flop: int,
    needed: Bytes,
) -> None:
    """Add the results of all showdowns of a stage to their value rows."""
    multiply_rows(
        space.reach,
        plan.show_reach,
        hands.other_length,
        margin_of(cards, hands, space, flop),
        space.values,
        plan.show_value,
        hands.own_length,
        plan.show_factor,
        space.sums,
        space.terms,
        needed,
        space.union[: hands.own_length // 16],
    )
