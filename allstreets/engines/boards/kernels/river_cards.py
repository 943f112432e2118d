"""Hands of river boards: combos that the board's suits make the same, in order of strength.

Both players may hold every combo that a board leaves. Axis letters: B river boards, T turn boards,
H hands (padded, board by board), C combos.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.cards.kernels.evaluator import DEAD
from allstreets.engines.boards.kernels.bucketing import CARDS, CLASS_STEP
from allstreets.engines.boards.kernels.layout import MATRIX_ONE
from allstreets.engines.exact.kernels.layout import Shorts

CHANCE = 1 / 44
"""Of each river card, given both hands."""


@kernel
def count_hands(
    strengths: Shorts, orbit_of: Longs, orbits: Shorts, hands: Longs, combos: Longs
) -> None:
    """How many hands and combos each board has, [B].

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
    start: Longs,
    combo_start: Longs,
    cards: Bytes,
    hand_strengths: Shorts,
    parent: Shorts,
    weight: Singles,
    combo_cards: Bytes,
    combo_strengths: Shorts,
    combo_hand: Shorts,
    mass: Shorts,
) -> None:
    """Fill the arrays of `HandLists` from `start` on, and `mass` [H]: pairs of card and combo.

    `parents` [B] are turn boards, `above` [T, 1326] the hands that combos are there, of
    `above_sizes` [T, 1326] combos, `absent` [T] what stands for none, `same` [B] how many
    cards the last one of a board stands for, and `every_combo` [1326, 2] the combos' cards.
    """
    many = strengths.shape[1]
    first = np.zeros(many, np.int64)  # of each hand: its lowest combo
    place = np.zeros(many, np.int64)
    for board in range(len(orbit_of)):
        orbit, turn = orbits[orbit_of[board]], parents[board]
        lowest, highest = int(DEAD), 0
        for combo in range(many):
            if strengths[board, combo] != DEAD and orbit[combo] == combo:
                lowest = min(lowest, int(strengths[board, combo]))
                highest = max(highest, int(strengths[board, combo]))
        # Counting sorts, both stable: hands by strength, and combos by hand.
        at = np.zeros(max(highest - lowest + 2, 1), np.int64)
        hands = 0
        for combo in range(many):
            if strengths[board, combo] != DEAD and orbit[combo] == combo:
                at[int(strengths[board, combo]) - lowest + 1] += 1
                hands += 1
        for level in range(len(at) - 1):
            at[level + 1] += at[level]
        for combo in range(many):
            if strengths[board, combo] != DEAD and orbit[combo] == combo:
                level = int(strengths[board, combo]) - lowest
                first[at[level]] = combo
                place[combo] = at[level]
                at[level] += 1
        sizes = np.zeros(hands + 1, np.int64)
        for combo in range(many):
            if strengths[board, combo] != DEAD:
                sizes[place[orbit[combo]] + 1] += 1
        for hand in range(hands):
            one, here = first[hand], start[board] + hand
            cards[2 * here] = every_combo[one, 0]
            cards[2 * here + 1] = every_combo[one, 1]
            hand_strengths[here] = strengths[board, one]
            parent[here] = above[turn, one]
            weight[here] = same[board] * CHANCE * sizes[hand + 1] / above_sizes[turn, one]
            mass[here] = same[board] * sizes[hand + 1]
        parent[start[board] + hands : start[board + 1]] = absent[turn]
        for hand in range(hands):
            sizes[hand + 1] += sizes[hand]
        for combo in range(many):
            if strengths[board, combo] != DEAD:
                hand = place[orbit[combo]]
                here = combo_start[board] + sizes[hand]
                sizes[hand] += 1
                combo_cards[2 * here] = every_combo[combo, 0]
                combo_cards[2 * here + 1] = every_combo[combo, 1]
                combo_strengths[here] = strengths[board, combo]
                combo_hand[here] = hand


@kernel
def group_lists(
    combo_start: Longs,
    combo_hand: Shorts,
    start: Longs,
    hand_parent: Shorts,
    groups: Bytes,
    group_count: int,
    first: Shorts,
    parent: Shorts,
) -> None:
    """Combos of each board by group, and by their hand on the turn within it.

    `first` [B, K+1] and `parent` [C] are those of `GroupedCombos`.
    """
    most = int(hand_parent.max()) + 1
    for board in range(len(combo_start) - 1):
        begin, combos = combo_start[board], combo_start[board + 1] - combo_start[board]
        # Two rounds of counting sort, the second stable.
        places = np.zeros(most + 1, np.int64)
        for combo in range(begin, begin + combos):
            places[np.int64(hand_parent[start[board] + combo_hand[combo]]) + 1] += 1
        places = np.cumsum(places)
        by_parent = np.zeros(combos, np.int64)
        for combo in range(begin, begin + combos):
            hand = start[board] + combo_hand[combo]
            by_parent[places[hand_parent[hand]]] = hand
            places[hand_parent[hand]] += 1
        at = np.zeros(group_count + 1, np.int64)
        for hand in by_parent:
            at[np.int64(groups[hand]) + 1] += 1
        at = np.cumsum(at)
        for group in range(group_count + 1):
            first[board * (group_count + 1) + group] = at[group]
        for hand in by_parent:
            parent[begin + at[groups[hand]]] = hand_parent[hand]
            at[groups[hand]] += 1


@inner_kernel
def add_margins(
    combos: Longs,
    strengths: Shorts,
    groups: Longs,
    weights: Floats,
    totals: Floats,
    sign: float,
    net: Floats,
    won: Floats,
) -> None:
    """Add to `won` [K, K] the pairs of some combos of a board, which stand in order of strength.

    `groups` and `weights` [2, C] are both players', `totals` [K] sums of IP's weights by group.
    """
    count = len(totals)
    for group in range(count):
        net[group] = -totals[group]
    begin = 0
    while begin < len(combos):
        end = begin
        while end < len(combos) and strengths[combos[end]] == strengths[combos[begin]]:
            net[groups[1, combos[end]]] += weights[1, combos[end]]
            end += 1
        # Now it is what is weaker − what is stronger; a tie is half of each.
        for place in range(begin, end):
            row, weight = groups[0, combos[place]], sign * weights[0, combos[place]]
            for group in range(count):
                won[row, group] += weight * net[group]
        for place in range(begin, end):
            net[groups[1, combos[place]]] += weights[1, combos[place]]
        begin = end


@kernel
def group_matrices(
    combo_start: Longs,
    combo_strengths: Shorts,
    combo_cards: Bytes,
    combo_hand: Shorts,
    start: Longs,
    hand_groups: tuple[Bytes, Bytes],
    hand_class: Bytes,
    class_weights: Floats,
    group_count: int,
    margin: NDArray[np.int8],
    pairs: NDArray[np.int8],
) -> None:
    """Means over the pairs of combos of two groups, OOP's in rows: won − lost, and who fits.

    `hand_groups` [H] are those of OOP's and IP's hands, `class_weights` [2, 169] what combos weigh:
    whole numbers, so that all sums are exact. Sums run over all pairs, and those that share a card,
    card by card, are taken off again.
    """
    size = group_count * group_count
    net = np.zeros(group_count, np.float64)
    for board in range(len(combo_start) - 1):
        begin, end = combo_start[board], combo_start[board + 1]
        combos = end - begin
        groups = np.zeros((2, combos), np.int64)
        weights = np.zeros((2, combos), np.float64)
        totals = np.zeros((2, group_count), np.float64)
        by_card = np.zeros((2, CARDS, group_count), np.float64)
        card_first = np.zeros(CARDS + 1, np.int64)
        shared = np.zeros((group_count, group_count), np.float64)
        for combo in range(combos):
            place = 2 * (begin + combo)
            a, b = np.int64(combo_cards[place]), np.int64(combo_cards[place + 1])
            kind = hand_class[CLASS_STEP * a + b]
            hand = start[board] + combo_hand[begin + combo]
            groups[0, combo], groups[1, combo] = hand_groups[0][hand], hand_groups[1][hand]
            for player in range(2):
                group, weight = groups[player, combo], class_weights[player, kind]
                weights[player, combo] = weight
                totals[player, group] += weight
                by_card[player, a, group] += weight
                by_card[player, b, group] += weight
            # The combo itself holds both cards, and would be taken off twice.
            shared[groups[0, combo], groups[1, combo]] -= weights[0, combo] * weights[1, combo]
            card_first[a + 1] += 1
            card_first[b + 1] += 1
        card_first = np.cumsum(card_first)
        with_card = np.zeros(2 * combos, np.int64)
        at = card_first.copy()
        for combo in range(combos):
            for place in range(2 * (begin + combo), 2 * (begin + combo) + 2):
                card = combo_cards[place]
                with_card[at[card]] = combo
                at[card] += 1
        won = np.zeros((group_count, group_count), np.float64)
        strengths = combo_strengths[begin:end]
        add_margins(np.arange(combos), strengths, groups, weights, totals[1], 1.0, net, won)
        for card in range(CARDS):
            chosen = with_card[card_first[card] : card_first[card + 1]]
            add_margins(chosen, strengths, groups, weights, by_card[1, card], -1.0, net, won)
        for row in range(group_count):
            for card in range(CARDS):
                weight = by_card[0, card, row]
                if weight > 0.0:
                    for column in range(group_count):
                        shared[row, column] += weight * by_card[1, card, column]
        for row in range(group_count):
            for column in range(group_count):
                all_pairs = totals[0, row] * totals[1, column]
                if all_pairs > 0.0:
                    place = board * size + row * group_count + column
                    margin[place] = np.rint(MATRIX_ONE * won[row, column] / all_pairs)
                    fits = all_pairs - shared[row, column]
                    pairs[place] = np.rint(MATRIX_ONE * fits / all_pairs)
