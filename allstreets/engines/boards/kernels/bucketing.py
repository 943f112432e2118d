"""Groups of hands on river boards: alike in what they beat, lose to and block.

The *top-heavy profile* of a hand is its margin (weight beaten − weight lost to) and its compatible
weight against parts of the other player's range, cut by strength, finer at the top, where money
goes in. No cut goes through a tie. Hands with close profiles stand in one group (k-means by the
player's own weights). Weights are whole numbers, so that their sums are exact in any order.

Hands are those of the exact engine: combos that are the same by suits, in order of strength.
Axis letters: B boards, H hands (padded, board by board), C combos, K groups.
"""

import numpy as np

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.engines.boards.kernels.k_means import DIMENSIONS, cluster
from allstreets.engines.exact.kernels.layout import Shorts
from allstreets.engines.simd.vectors import LANES, load, store

CUTS = np.array([0.0, 0.25, 0.5, 0.65, 0.75, 0.85, 0.92, 0.97, 1.0], np.float64)
"""Where the range is cut by strength, from the weakest hands up."""

PARTS = len(CUTS) - 1
CARDS = 53
CLASS_STEP = 64
"""Cards a and b are a combo of class hand_class[CLASS_STEP · a + b]."""


@kernel
def weigh_hands(
    start: Longs,
    combo_start: Longs,
    combo_cards: Bytes,
    combo_hand: Shorts,
    hand_class: Bytes,
    class_weights: Floats,
    weights: Floats,
) -> None:
    """The weight of every hand, [H], from those of the 169 classes; it comes in as zeros."""
    for board in range(len(combo_start) - 1):
        for combo in range(combo_start[board], combo_start[board + 1]):
            place = CLASS_STEP * np.int64(combo_cards[2 * combo]) + combo_cards[2 * combo + 1]
            weights[start[board] + combo_hand[combo]] += class_weights[hand_class[place]]


@inner_kernel
def part_of_combos(strengths: Shorts, weights: Floats, first: int, parts: Longs) -> float:
    """The part of the range that each combo of a board belongs to; the total weight.

    A part ends with the tie in which its share of the weight is reached.
    """
    count = len(weights)
    total = 0.0
    for weight in weights:
        total += weight
    part, below = 0, 0.0
    combo = 0
    while combo < count:
        end = combo
        while end < count and strengths[first + end] == strengths[first + combo]:
            below += weights[end]
            parts[end] = part
            end += 1
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
    combo_hand: Shorts,
    combo_first: int,
    weights: Floats,
    blocks: Singles,
    equity: Singles,
) -> None:
    """Profiles of a board's hands into `blocks` [hands / 16, 2 · PARTS, 16], and their equities.

    `weights` are those of the other player's combos on the board. A hand's margin over the whole
    range comes from running sums; over the part that it stands in itself it is what the other parts
    leave. The first combo of a hand holds the hand's cards.
    """
    combos = len(weights)
    parts = np.zeros(combos, np.int64)
    total = part_of_combos(combo_strengths, weights, combo_first, parts)
    scale = 1.0 / total if total > 0.0 else 0.0
    part_total = np.zeros(PARTS, np.float64)
    part_card = np.zeros((CARDS, PARTS), np.float64)
    for combo in range(combos):
        place, weight = 2 * (combo_first + combo), weights[combo]
        part_total[parts[combo]] += weight
        part_card[combo_cards[place], parts[combo]] += weight
        part_card[combo_cards[place + 1], parts[combo]] += weight
    below = np.zeros(CARDS + 1, np.float64)  # by card, and in all: weaker combos
    upto = np.zeros(CARDS + 1, np.float64)  # and those of equal strength
    mass = np.zeros(PARTS, np.float64)
    weaker = through = same = 0
    for hand in range(hands):
        strength = strengths[first + hand]
        a, b = cards[2 * (first + hand)], cards[2 * (first + hand) + 1]
        while weaker < combos and combo_strengths[combo_first + weaker] < strength:
            place, weight = 2 * (combo_first + weaker), weights[weaker]
            below[combo_cards[place]] += weight
            below[combo_cards[place + 1]] += weight
            below[CARDS] += weight
            weaker += 1
        while through < combos and combo_strengths[combo_first + through] <= strength:
            place, weight = 2 * (combo_first + through), weights[through]
            upto[combo_cards[place]] += weight
            upto[combo_cards[place + 1]] += weight
            upto[CARDS] += weight
            through += 1
        while combo_hand[combo_first + same] < hand:
            same += 1
        own = parts[weaker]
        for part in range(PARTS):
            mass[part] = part_total[part] - part_card[a, part] - part_card[b, part]
        mass[parts[same]] += weights[same]
        met = rest = 0.0
        at = (hand // LANES) * DIMENSIONS * LANES + hand % LANES
        for part in range(PARTS):
            met += mass[part]
            signed = mass[part] if part < own else -mass[part]
            if part != own:
                rest += signed
            blocks[at + part * LANES] = signed * scale
            blocks[at + (PARTS + part) * LANES] = mass[part] * scale
        won = below[CARDS] - below[a] - below[b]
        not_lost = upto[CARDS] - upto[a] - upto[b] + weights[same]
        margin = won - (met - not_lost)
        blocks[at + own * LANES] = (margin - rest) * scale
        equity[first + hand] = margin / met if met > 0.0 else 0.0


@kernel
def group_hands(
    strengths: Shorts,
    cards: Bytes,
    start: Longs,
    count: Longs,
    combo_strengths: Shorts,
    combo_cards: Bytes,
    combo_hand: Shorts,
    combo_start: Longs,
    hand_class: Bytes,
    own_weights: Floats,
    other_weights: Floats,
    draws: Singles,
    rounds: int,
    groups: Bytes,
    equity: Singles,
) -> None:
    """The group of every hand on every board, [H], from the weakest group to the strongest.

    By class [169]: `own_weights` weigh the hands in the means, `other_weights` are the range that
    profiles are taken against. `draws` [K, …] in [0, 1) choose the first centres. `equity` [H] gets
    each hand's mean of won − lost.
    """
    group_count = len(draws)
    centres = np.zeros((group_count, DIMENSIONS), np.float32)
    margins = np.zeros(group_count, np.float32)
    rank = np.zeros(group_count, np.uint8)
    for board in range(len(count)):
        first, hands = start[board], count[board]
        padded = start[board + 1] - first
        begin, end = combo_start[board], combo_start[board + 1]
        blocks = np.zeros(padded * DIMENSIONS, np.float32)
        own = np.zeros(padded, np.float32)
        other = np.zeros(end - begin, np.float64)
        for combo in range(begin, end):
            place = CLASS_STEP * np.int64(combo_cards[2 * combo]) + combo_cards[2 * combo + 1]
            own[combo_hand[combo]] += np.float32(own_weights[hand_class[place]])
            other[combo - begin] = other_weights[hand_class[place]]
        board_profiles(
            strengths,
            cards,
            first,
            hands,
            combo_strengths,
            combo_cards,
            combo_hand,
            begin,
            other,
            blocks,
            equity,
        )
        labels = np.zeros(padded, np.float32)
        cluster(blocks, own, hands, draws, rounds, centres, labels)
        # The margin over the whole range puts the groups in order.
        for group in range(group_count):
            margins[group] = 0.0
            for part in range(PARTS):
                margins[group] += centres[group, part]
        for group in range(group_count):
            below = 0
            for other_group in range(group_count):
                if margins[other_group] < margins[group] or (
                    margins[other_group] == margins[group] and other_group < group
                ):
                    below += 1
            rank[group] = below
        for hand in range(hands):
            groups[first + hand] = rank[np.int64(labels[hand])]


@kernel
def turn_rows(
    start: Longs,
    count: Longs,
    children: Longs,
    weights: Floats,
    river_start: Longs,
    river_count: Longs,
    river_parent: Shorts,
    river_mass: Shorts,
    equity: Singles,
    draws: Singles,
    rounds: int,
    rows: Bytes,
) -> None:
    """The row of every hand on every turn board: hands whose rivers are alike play alike.

    A hand is described by the equities that the river cards leave it with, in order, at sixteen
    places: how often it improves counts, not by which card. `river_mass` [H] are pairs of
    river card and combo. Rows are no more than a board has hands.
    """
    most_rivers = 48  # as many as cards that neither the hand nor the board holds
    row_count = len(draws)
    centres = np.zeros((row_count, DIMENSIONS), np.float32)
    for board in range(len(count)):
        hands, padded = count[board], start[board + 1] - start[board]
        if hands <= row_count:
            for hand in range(hands):
                rows[start[board] + hand] = hand
            continue
        seen = np.zeros(hands, np.int64)
        total = np.zeros(hands, np.int64)
        values = np.zeros((hands, most_rivers), np.float32)
        masses = np.zeros((hands, most_rivers), np.int64)
        for river in range(children[board], children[board + 1]):
            for place in range(river_start[river], river_start[river] + river_count[river]):
                hand = int(river_parent[place])
                mass = np.int64(river_mass[place])
                # Each is put in its place among those before.
                at = seen[hand]
                while at > 0 and values[hand, at - 1] > equity[place]:
                    values[hand, at] = values[hand, at - 1]
                    masses[hand, at] = masses[hand, at - 1]
                    at -= 1
                values[hand, at] = equity[place]
                masses[hand, at] = mass
                seen[hand] += 1
                total[hand] += mass
        blocks = np.zeros(padded * DIMENSIONS, np.float32)
        for hand in range(hands):
            at, below = 0, 0
            for point in range(DIMENSIONS):
                while (
                    at < seen[hand] - 1
                    and 2 * DIMENSIONS * (below + masses[hand, at]) < (2 * point + 1) * total[hand]
                ):
                    below += masses[hand, at]
                    at += 1
                place = (hand // LANES * DIMENSIONS + point) * LANES + hand % LANES
                blocks[place] = values[hand, at]
        own = np.zeros(padded, np.float32)
        for hand in range(hands):
            own[hand] = weights[start[board] + hand]
        labels = np.zeros(padded, np.float32)
        cluster(blocks, own, hands, draws, rounds, centres, labels)
        for hand in range(hands):
            rows[start[board] + hand] = np.int64(labels[hand])


@inner_kernel
def find_sources(mass: Floats, first: Longs, source: Longs, share: Singles) -> None:
    """The earlier rows that each row's hands come from, and their shares in it.

    `mass` [R, R] is the weight of the hands of a row that stood in each earlier one. Row r's
    sources are those from first[r] up to first[r + 1]. A row without hands stays what it was.
    """
    found = 0
    for row in range(len(mass)):
        first[row] = found
        whole = mass[row].sum()
        if whole == 0.0:
            source[found], share[found] = row, 1.0
            found += 1
            continue
        for before in range(len(mass)):
            if mass[row, before] > 0.0:
                source[found], share[found] = before, mass[row, before] / whole
                found += 1
    first[len(mass)] = found


@kernel
def carry_rows(
    start: Longs,
    count: Longs,
    before: Bytes,
    after: Bytes,
    weights: Floats,
    rows: int,
    actions: Longs,
    stored: Singles,
    carried: Singles,
) -> None:
    """Numbers of all nodes of a street, `stored` in the rows `before` [H], in the rows `after` [H].

    A row gets the mean of what its hands had, by `weights` [H]; where all of them come from one row
    not a bit changes. `start` [B+1] and `count` [B] are the boards' hands; every board has `rows`
    rows. Both arrays are [board][node][row / 16][action][16], with `actions` at each of the nodes.
    """
    mass = np.zeros((rows, rows), np.float64)
    first = np.zeros(rows + 1, np.int64)
    source = np.zeros(rows * rows, np.int64)
    share = np.zeros(rows * rows, np.float32)
    node_before = np.zeros(rows * actions.max(), np.float32)
    lanes = np.zeros(LANES, np.float32)
    at = 0
    for board in range(len(count)):
        mass[:] = 0.0
        for hand in range(start[board], start[board] + count[board]):
            mass[after[hand], before[hand]] += weights[hand]
        find_sources(mass, first, source, share)
        for width in actions:
            for place in range(0, rows * width, LANES):
                store(node_before, place, load(stored, at + place))
            for row in range(0, rows, LANES):
                for action in range(width):
                    for lane in range(LANES):
                        begin, end = first[row + lane], first[row + lane + 1]
                        for one in range(begin, end):
                            old = source[one]
                            place = (old // LANES * width + action) * LANES + old % LANES
                            part = share[one] * node_before[place]
                            # Not 0 + part for the first: a negative zero would lose its sign.
                            lanes[lane] = part if one == begin else lanes[lane] + part
                    store(carried, at + row * width + action * LANES, load(lanes, 0))
            at += rows * width
