"""The cards of river boards: hands in order of strength, and what the players' buckets are there.

A hand is the combos that the board's suits make the same. Both players may hold every combo that a
board leaves. Axis letters: B river boards, T turn boards, H hands (padded, board by board), C
combos, K buckets.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.cards.kernels.evaluator import DEAD
from allstreets.engines.boards.kernels.bucketing import CARDS, CLASS_STEP
from allstreets.engines.boards.kernels.layout import MATRIX_ONE
from allstreets.engines.exact.kernels.layout import HandLists, Shorts

CHANCE = 1 / 44
"""Of each river card, given both hands."""


@kernel
def count_hands(
    strengths: Shorts, orbit_of: Longs, orbits: Shorts, hands: Longs, combos: Longs
) -> None:
    """The numbers of hands and combos on each board, [B].

    `strengths` [B, 1326] are those of all combos, `orbits` [S, 1326] the lowest combos that they
    become under sets of renamings, and `orbit_of` [B] says which set leaves a board as it is.
    """
    for board in range(len(orbit_of)):
        orbit = orbits[orbit_of[board]]
        for combo in range(len(orbit)):
            if strengths[board, combo] != DEAD:
                combos[board] += 1
                hands[board] += orbit[combo] == combo


@kernel
def share_buckets(
    start: Longs, counts: Longs, buckets: Bytes, rows: Longs, weights: Floats, share: Singles
) -> None:
    """Fill `share` [H]: the part of a hand's weight in that of its bucket on its board.

    `rows` [B+1] are the buckets before each board; without `weights` all hands weigh the same.
    """
    totals = np.zeros(rows[1] - rows[0])
    uniform = len(weights) == 0
    for board in range(len(counts)):
        totals[:] = 0.0
        for hand in range(start[board], start[board] + counts[board]):
            totals[buckets[hand]] += 1.0 if uniform else weights[hand]
        for hand in range(start[board], start[board] + counts[board]):
            share[hand] = (1.0 if uniform else weights[hand]) / totals[buckets[hand]]


@kernel
def list_hands(
    strengths: Shorts,
    orbit_of: Longs,
    orbits: Shorts,
    parents: Longs,
    above: Shorts,
    above_sizes: Longs,
    absent: Longs,
    same: Longs,
    every_combo: Bytes,
    lists: HandLists,
    mass: Shorts,
) -> None:
    """Fill `lists`, whose starts and counts are known, and `mass` [H]: pairs of card and combo.

    `parents` [B] are turn boards, `above` [T, 1326] the hands that combos are there, of
    `above_sizes` [T, 1326] combos, `absent` [T] what stands for none, `same` [B] how many
    cards the last one of a board stands for, and `every_combo` [1326, 2] the combos' cards.
    """
    many = strengths.shape[1]
    first = np.zeros(many, np.int64)  # of each hand: its lowest combo
    hand_of = np.zeros(many, np.int64)
    for board in range(len(orbit_of)):
        orbit, turn = orbits[orbit_of[board]], parents[board]
        lowest, highest = int(DEAD), 0
        for combo in range(many):
            if strengths[board, combo] != DEAD and orbit[combo] == combo:
                lowest = min(lowest, int(strengths[board, combo]))
                highest = max(highest, int(strengths[board, combo]))
        # Counting sorts, both stable: hands by strength, and combos by hand.
        at = np.zeros(max(highest - lowest + 2, 1), np.int64)
        hands = lists.counts[board]
        for combo in range(many):
            if strengths[board, combo] != DEAD and orbit[combo] == combo:
                at[int(strengths[board, combo]) - lowest + 1] += 1
        for level in range(len(at) - 1):
            at[level + 1] += at[level]
        for combo in range(many):
            if strengths[board, combo] != DEAD and orbit[combo] == combo:
                level = int(strengths[board, combo]) - lowest
                first[at[level]] = combo
                hand_of[combo] = at[level]
                at[level] += 1
        sizes = np.zeros(hands + 1, np.int64)
        for combo in range(many):
            if strengths[board, combo] != DEAD:
                sizes[hand_of[orbit[combo]] + 1] += 1
        for hand in range(hands):
            combo, here = first[hand], lists.start[board] + hand
            lists.cards[2 * here] = every_combo[combo, 0]
            lists.cards[2 * here + 1] = every_combo[combo, 1]
            lists.strengths[here] = strengths[board, combo]
            lists.parent[here] = above[turn, combo]
            lists.weight[here] = same[board] * CHANCE * sizes[hand + 1] / above_sizes[turn, combo]
            mass[here] = same[board] * sizes[hand + 1]
        lists.parent[lists.start[board] + hands : lists.start[board + 1]] = absent[turn]
        for hand in range(hands):
            sizes[hand + 1] += sizes[hand]
        for combo in range(many):
            if strengths[board, combo] != DEAD:
                hand = hand_of[orbit[combo]]
                here = lists.combo_start[board] + sizes[hand]
                sizes[hand] += 1
                lists.combo_cards[2 * here] = every_combo[combo, 0]
                lists.combo_cards[2 * here + 1] = every_combo[combo, 1]
                lists.combo_strengths[here] = strengths[board, combo]
                lists.combo_hand[here] = hand


@kernel
def bucket_lists(
    lists: HandLists, buckets: Bytes, bucket_count: int, first: Shorts, parent: Shorts
) -> None:
    """Combos of each board by bucket, and by their hand on the turn within it.

    `buckets` [H] are those of hands; `first` [B, K+1] and `parent` [C] those of `BucketCombos`.
    """
    most = int(lists.parent.max()) + 1
    for board in range(len(lists.counts)):
        start, begin = lists.start[board], lists.combo_start[board]
        combos = lists.combo_start[board + 1] - begin
        # Two rounds of counting sort, the second stable.
        places = np.zeros(most + 1, np.int64)
        for combo in range(begin, begin + combos):
            places[np.int64(lists.parent[start + lists.combo_hand[combo]]) + 1] += 1
        places = np.cumsum(places)
        by_parent = np.zeros(combos, np.int64)
        for combo in range(begin, begin + combos):
            hand = start + lists.combo_hand[combo]
            by_parent[places[lists.parent[hand]]] = hand
            places[lists.parent[hand]] += 1
        at = np.zeros(bucket_count + 1, np.int64)
        for hand in by_parent:
            at[np.int64(buckets[hand]) + 1] += 1
        at = np.cumsum(at)
        for bucket in range(bucket_count + 1):
            first[board * (bucket_count + 1) + bucket] = at[bucket]
        for hand in by_parent:
            parent[begin + at[buckets[hand]]] = lists.parent[hand]
            at[buckets[hand]] += 1


@inner_kernel
def add_margins(
    combos: Longs,
    strengths: Shorts,
    buckets: Longs,
    weights: Floats,
    totals: Floats,
    sign: float,
    net: Floats,
    won: Floats,
) -> None:
    """Add to `won` [K, K] the pairs of some combos of a board, which stand in order of strength.

    `buckets` and `weights` [2, C] are both players', `totals` [K] sums of IP's weights by bucket.
    """
    count = len(totals)
    for bucket in range(count):
        net[bucket] = -totals[bucket]
    begin = 0
    while begin < len(combos):
        end = begin
        while end < len(combos) and strengths[combos[end]] == strengths[combos[begin]]:
            net[buckets[1, combos[end]]] += weights[1, combos[end]]
            end += 1
        # Now it is weaker − stronger; a tie is half of each.
        for place in range(begin, end):
            row, weight = buckets[0, combos[place]], sign * weights[0, combos[place]]
            for bucket in range(count):
                won[row, bucket] += weight * net[bucket]
        for place in range(begin, end):
            net[buckets[1, combos[place]]] += weights[1, combos[place]]
        begin = end


@kernel
def bucket_matrices(
    lists: HandLists,
    hand_buckets: tuple[Bytes, Bytes],
    hand_class: Bytes,
    class_weights: Floats,
    bucket_count: int,
    margin: NDArray[np.int8],
    pairs: NDArray[np.int8],
) -> None:
    """Means over the pairs of combos of two buckets, OOP's in rows: won − lost, and who fits.

    `hand_buckets` [H] are those of OOP's and IP's hands, `class_weights` [2, 169] what combos
    weigh: whole numbers, so that all sums are exact. Sums run over all pairs, and those that share
    a card, card by card, are taken off again.
    """
    size = bucket_count * bucket_count
    net = np.zeros(bucket_count, np.float64)
    for board in range(len(lists.counts)):
        begin, end = lists.combo_start[board], lists.combo_start[board + 1]
        combos = end - begin
        buckets = np.zeros((2, combos), np.int64)
        weights = np.zeros((2, combos), np.float64)
        totals = np.zeros((2, bucket_count), np.float64)
        by_card = np.zeros((2, CARDS, bucket_count), np.float64)
        card_first = np.zeros(CARDS + 1, np.int64)
        shared = np.zeros((bucket_count, bucket_count), np.float64)
        for combo in range(combos):
            offset = 2 * (begin + combo)
            a, b = np.int64(lists.combo_cards[offset]), np.int64(lists.combo_cards[offset + 1])
            kind = hand_class[CLASS_STEP * a + b]
            hand = lists.start[board] + lists.combo_hand[begin + combo]
            buckets[0, combo], buckets[1, combo] = hand_buckets[0][hand], hand_buckets[1][hand]
            for player in range(2):
                bucket, weight = buckets[player, combo], class_weights[player, kind]
                weights[player, combo] = weight
                totals[player, bucket] += weight
                by_card[player, a, bucket] += weight
                by_card[player, b, bucket] += weight
            # The combo itself holds both cards, and would be taken off twice.
            shared[buckets[0, combo], buckets[1, combo]] -= weights[0, combo] * weights[1, combo]
            card_first[a + 1] += 1
            card_first[b + 1] += 1
        card_first = np.cumsum(card_first)
        with_card = np.zeros(2 * combos, np.int64)
        at = card_first.copy()
        for combo in range(combos):
            for offset in range(2 * (begin + combo), 2 * (begin + combo) + 2):
                card = lists.combo_cards[offset]
                with_card[at[card]] = combo
                at[card] += 1
        won = np.zeros((bucket_count, bucket_count), np.float64)
        strengths = lists.combo_strengths[begin:end]
        add_margins(np.arange(combos), strengths, buckets, weights, totals[1], 1.0, net, won)
        for card in range(CARDS):
            chosen = with_card[card_first[card] : card_first[card + 1]]
            add_margins(chosen, strengths, buckets, weights, by_card[1, card], -1.0, net, won)
        for row in range(bucket_count):
            for card in range(CARDS):
                weight = by_card[0, card, row]
                if weight > 0.0:
                    for column in range(bucket_count):
                        shared[row, column] += weight * by_card[1, card, column]
        for row in range(bucket_count):
            for column in range(bucket_count):
                all_pairs = totals[0, row] * totals[1, column]
                if all_pairs > 0.0:
                    offset = board * size + row * bucket_count + column
                    margin[offset] = np.rint(MATRIX_ONE * won[row, column] / all_pairs)
                    fits = all_pairs - shared[row, column]
                    pairs[offset] = np.rint(MATRIX_ONE * fits / all_pairs)
