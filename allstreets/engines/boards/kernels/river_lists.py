"""Hands of river boards: combos that the board's suits make the same, in order of strength.

Both players may hold every combo that a board leaves. Axis letters: B river boards, T turn boards,
H hands (padded, board by board), C combos.
"""

import numpy as np

from allstreets.base import Bytes, Longs, Singles, kernel
from allstreets.cards.kernels.evaluator import DEAD
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
