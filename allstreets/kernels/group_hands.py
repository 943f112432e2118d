"""Groups of hands on river boards: alike in what they beat, lose to and block.

The *top-heavy profile* of a hand is its margin (weight beaten − weight lost to) and its compatible
weight against parts of the other player's range, cut by strength, finer at the top, where money
goes in. No cut goes through a tie. Hands with close profiles stand in one group (k-means by the
player's own weights).

Hands are those of the exact engine: combos that are the same by suits, in order of strength.
Axis letters: B boards, H hands (padded, board by board), C combos, K groups.
"""

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.bucket_means import BLOCK, lloyd, seed_centres
from allstreets.kernels.exact_layout import Floats, Longs, Shorts
from allstreets.kernels.group_layout import MATRIX_ONE
from allstreets.kernels.jit import inner_kernel, kernel

Bytes = NDArray[np.uint8]

CUTS = np.array([0.0, 0.25, 0.5, 0.65, 0.75, 0.85, 0.92, 0.97, 1.0], np.float64)
"""Where the range is cut by strength, from the weakest hands up."""

PARTS = len(CUTS) - 1
CARDS = 53


@inner_kernel
def part_of_combos(
    strengths: Shorts, weights: Floats, first: int, count: int, parts: NDArray[np.int64]
) -> float:
    """The part of the range that each combo of a board belongs to; the total weight.

    A part ends with the tie in which its share of the weight is reached.
    """
    total = 0.0
    for combo in range(count):
        total += weights[first + combo]
    part, below = 0, 0.0
    combo = 0
    while combo < count:
        end = combo
        level = 0.0
        while end < count and strengths[first + end] == strengths[first + combo]:
            level += weights[first + end]
            parts[end] = part
            end += 1
        below += level
        while part < PARTS - 1 and below >= CUTS[part + 1] * total:
            part += 1
        combo = end
    return total


@inner_kernel
def board_profiles(
    strengths: Shorts,
    cards: Bytes,
    first: int,
    hands: int,
    combo_strengths: Shorts,
    combo_cards: Bytes,
    combo_first: int,
    combos: int,
    weights: Floats,
    twin: Longs,
    blocks: Floats,
    equity: Floats,
) -> None:
    """Profiles of a board's hands into `blocks` [hands / 16, 2 · PARTS, 16], and their equities.

    `weights` are those of the other player's combos. A hand's margin over the whole range comes
    from running sums; over the part that it stands in itself it is what the other parts leave.
    """
    parts = np.zeros(combos, np.int64)
    total = part_of_combos(combo_strengths, weights, combo_first, combos, parts)
    scale = 1.0 / total if total > 0.0 else 0.0
    part_total = np.zeros(PARTS, np.float64)
    part_card = np.zeros((PARTS, CARDS), np.float64)
    for combo in range(combos):
        place, weight = 2 * (combo_first + combo), weights[combo_first + combo]
        a, b = combo_cards[place], combo_cards[place + 1]
        part_total[parts[combo]] += weight
        part_card[parts[combo], a] += weight
        part_card[parts[combo], b] += weight
        twin[CARDS * np.int64(a) + b] = combo
    below = np.zeros(CARDS + 1, np.float64)  # by card, and in all: weaker combos
    upto = np.zeros(CARDS + 1, np.float64)  # and those of equal strength
    weaker = through = 0
    dimensions = 2 * PARTS
    for hand in range(hands):
        strength = strengths[first + hand]
        a, b = cards[2 * (first + hand)], cards[2 * (first + hand) + 1]
        while weaker < combos and combo_strengths[combo_first + weaker] < strength:
            place, weight = 2 * (combo_first + weaker), weights[combo_first + weaker]
            below[combo_cards[place]] += weight
            below[combo_cards[place + 1]] += weight
            below[CARDS] += weight
            weaker += 1
        while through < combos and combo_strengths[combo_first + through] <= strength:
            place, weight = 2 * (combo_first + through), weights[combo_first + through]
            upto[combo_cards[place]] += weight
            upto[combo_cards[place + 1]] += weight
            upto[CARDS] += weight
            through += 1
        same = twin[CARDS * np.int64(a) + b]
        own = parts[min(weaker, combos - 1)] if combos else 0
        met = 0.0
        rest = 0.0
        at = (hand // BLOCK) * dimensions * BLOCK + hand % BLOCK
        for part in range(PARTS):
            mass = part_total[part] - part_card[part, a] - part_card[part, b]
            if same >= 0 and parts[same] == part:
                mass += weights[combo_first + same]
            met += mass
            sign = 1.0 if part < own else -1.0
            if part != own:
                rest += sign * mass
            blocks[at + part * BLOCK] = sign * mass * scale
            blocks[at + (PARTS + part) * BLOCK] = mass * scale
        won = below[CARDS] - below[a] - below[b]
        not_lost = upto[CARDS] - upto[a] - upto[b]
        if same >= 0:
            not_lost += weights[combo_first + same]
        margin = won - (met - not_lost)
        blocks[at + own * BLOCK] = (margin - rest) * scale
        equity[first + hand] = margin / met if met > 0.0 else 0.0
    for combo in range(combos):
        place = 2 * (combo_first + combo)
        twin[CARDS * np.int64(combo_cards[place]) + combo_cards[place + 1]] = -1


@kernel
def group_hands(
    strengths: Shorts,
    cards: Bytes,
    start: Longs,
    count: Longs,
    combo_strengths: Shorts,
    combo_cards: Bytes,
    combo_start: Longs,
    own_weights: NDArray[np.float64],
    other_weights: Floats,
    draws: NDArray[np.float64],
    rounds: int,
    groups: Bytes,
    equity: Floats,
) -> None:
    """The group of every hand on every board, [H], from the weakest group to the strongest.

    `own_weights` [H] weigh the hands in the means, `other_weights` [C] are the range that profiles
    are taken against. `draws` [K, …] in [0, 1) choose the first centres. `equity` [H] gets each
    hand's mean of won − lost.
    """
    dimensions = 2 * PARTS
    group_count = len(draws)
    twin = np.full(CARDS * CARDS, -1, np.int64)
    for board in range(len(count)):
        first, hands = start[board], count[board]
        padded = start[board + 1] - first
        blocks = np.zeros((padded // BLOCK, dimensions, BLOCK), np.float32)
        weights = np.zeros(padded, np.float64)
        weights[:hands] = own_weights[first : first + hands]
        board_profiles(
            strengths,
            cards,
            first,
            hands,
            combo_strengths,
            combo_cards,
            combo_start[board],
            combo_start[board + 1] - combo_start[board],
            other_weights,
            twin,
            blocks.reshape(-1),
            equity,
        )
        centres = np.zeros((group_count, dimensions), np.float32)
        labels = np.zeros(padded, np.float32)
        seed_centres(blocks, weights, draws, centres)
        lloyd(blocks, weights, centres, rounds, labels)
        # The margin over the whole range puts the groups in order.
        order = np.argsort(centres[:, :PARTS].sum(axis=1))
        rank = np.zeros(group_count, np.uint8)
        for place in range(group_count):
            rank[order[place]] = place
        for hand in range(hands):
            groups[first + hand] = rank[np.int64(labels[hand])]


@kernel
def turn_rows(
    start: Longs,
    count: Longs,
    children: Longs,
    weights: NDArray[np.float64],
    river_start: Longs,
    river_count: Longs,
    river_parent: Shorts,
    river_sizes: NDArray[np.float64],
    equity: Floats,
    draws: NDArray[np.float64],
    rounds: int,
    rows: Bytes,
) -> None:
    """The row of every hand on every turn board: hands whose rivers are alike play alike.

    A hand is described by the equities that the river cards leave it with, in order, at
    `2 · PARTS` places: how often it improves counts, not by which card. `river_sizes` say how many
    pairs of card and combo a river hand stands for. Rows are no more than a board has hands.
    """
    points = 2 * PARTS
    most_rivers = 64
    row_count = len(draws)
    for board in range(len(count)):
        hands, padded = count[board], start[board + 1] - start[board]
        if hands <= row_count:
            for hand in range(hands):
                rows[start[board] + hand] = hand
            continue
        seen = np.zeros(hands, np.int64)
        values = np.zeros((hands, most_rivers), np.float32)
        masses = np.zeros((hands, most_rivers), np.float64)
        for river in range(children[board], children[board + 1]):
            for place in range(river_start[river], river_start[river] + river_count[river]):
                hand = int(river_parent[place])
                values[hand, seen[hand]] = equity[place]
                masses[hand, seen[hand]] = river_sizes[place]
                seen[hand] += 1
        blocks = np.zeros((padded // BLOCK, points, BLOCK), np.float32)
        for hand in range(hands):
            order = np.argsort(values[hand, : seen[hand]])
            total = masses[hand].sum()
            at, below = 0, 0.0
            for point in range(points):
                wanted = (point + 0.5) / points * total
                while at < seen[hand] - 1 and below + masses[hand, order[at]] < wanted:
                    below += masses[hand, order[at]]
                    at += 1
                blocks[hand // BLOCK, point, hand % BLOCK] = values[hand, order[at]]
        own = np.zeros(padded, np.float64)
        own[:hands] = weights[start[board] : start[board] + hands]
        centres = np.zeros((row_count, points), np.float32)
        labels = np.zeros(padded, np.float32)
        seed_centres(blocks, own, draws, centres)
        lloyd(blocks, own, centres, rounds, labels)
        for hand in range(hands):
            rows[start[board] + hand] = np.int64(labels[hand])


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


@kernel
def group_matrices(
    combo_start: Longs,
    combo_strengths: Shorts,
    combo_cards: Bytes,
    groups: tuple[Bytes, Bytes],
    weights: tuple[Floats, Floats],
    group_count: int,
    margin: NDArray[np.int8],
    pairs: NDArray[np.int8],
) -> None:
    """Means over the pairs of combos of two groups, OOP's in rows: won − lost, and who fits.

    `groups` and `weights` [C] are those of OOP's and IP's combos; both hold the same combos, in
    order of strength. Sums run over all pairs, in order of strength, and the pairs that share a
    card, some 90 for each combo, are taken off again.
    """
    size = group_count * group_count
    for board in range(len(combo_start) - 1):
        begin, end = combo_start[board], combo_start[board + 1]
        combos = end - begin
        won = np.zeros((group_count, group_count), np.float64)
        shared = np.zeros((group_count, group_count), np.float64)
        totals = np.zeros((2, group_count), np.float64)
        card_first = np.zeros(CARDS + 1, np.int64)
        for combo in range(begin, end):
            for player in range(2):
                totals[player, groups[player][combo]] += weights[player][combo]
            card_first[combo_cards[2 * combo] + 1] += 1
            card_first[combo_cards[2 * combo + 1] + 1] += 1
        card_first = np.cumsum(card_first)
        at = card_first.copy()
        by_card = np.zeros(2 * combos, np.int64)
        for combo in range(begin, end):
            for side in range(2):
                card = combo_cards[2 * combo + side]
                by_card[at[card]] = combo
                at[card] += 1
        below = np.zeros(group_count, np.float64)
        level = np.zeros(group_count, np.float64)
        combo = begin
        while combo < end:
            last = combo
            level[:] = 0.0
            while last < end and combo_strengths[last] == combo_strengths[combo]:
                level[groups[1][last]] += weights[1][last]
                last += 1
            for mine in range(combo, last):
                row, weight = int(groups[0][mine]), weights[0][mine]
                for group in range(group_count):
                    net = 2.0 * below[group] + level[group] - totals[1, group]
                    won[row, group] += weight * net
                for side in range(2):
                    card = combo_cards[2 * mine + side]
                    for place in range(card_first[card], card_first[card + 1]):
                        his = int(by_card[place])
                        if side == 1 and his == mine:
                            continue  # the combo itself holds both cards
                        both = weight * weights[1][his]
                        column = int(groups[1][his])
                        shared[row, column] += both
                        if his < combo:
                            won[row, column] -= both
                        elif his >= last:
                            won[row, column] += both
            below += level
            combo = last
        for row in range(group_count):
            for column in range(group_count):
                all_pairs = totals[0, row] * totals[1, column]
                if all_pairs > 0.0:
                    place = board * size + row * group_count + column
                    margin[place] = round(MATRIX_ONE * won[row, column] / all_pairs)
                    fits = 1.0 - shared[row, column] / all_pairs
                    pairs[place] = round(MATRIX_ONE * max(fits, 0.0))
