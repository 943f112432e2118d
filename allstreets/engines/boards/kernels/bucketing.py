"""Buckets of hands: river hands that beat, lose to and block much the same.

The *top-heavy profile* of a hand is its margin (weight beaten − weight lost to) and its compatible
weight against parts of the opponent's range, cut by strength, finer at the top, where money goes
in. No cut goes through a tie. Hands with close profiles stand in one bucket (k-means by the
player's own weights). Weights are whole numbers, so that their sums are exact in any order. On the
turn, hands whose rivers are alike stand in one bucket.

Hands that are bucketed again carry over what they have learned.

Hands are those of the exact engine: combos that are the same by suits, in order of strength.
Axis letters: B boards, H hands (padded, board by board), C combos, K buckets of a board, R rows of
a board, which are its buckets in whole vectors.
"""

import numpy as np

from allstreets.base import Bytes, Floats, Longs, Singles, inlined_kernel, inner_kernel, kernel
from allstreets.engines.boards.kernels.k_means import DIMENSIONS, cluster
from allstreets.engines.exact.kernels.layout import HandLists, Shorts
from allstreets.engines.simd.vectors import LANES, load, store

CUTS = np.array([0.0, 0.25, 0.5, 0.65, 0.75, 0.85, 0.92, 0.97, 1.0], np.float64)
"""The shares at which the range is cut by strength, from the weakest hands up."""

PARTS = len(CUTS) - 1
CARDS = 53
CLASS_STEP = 64
"""Cards a and b are a combo of class hand_class[CLASS_STEP · a + b]."""


@kernel
def weigh_hands(
    lists: HandLists, hand_class: Bytes, class_weights: Floats, weights: Floats
) -> None:
    """The weight of every hand, [H], from those of the 169 classes; it comes in as zeros."""
    for board in range(len(lists.counts)):
        for combo in range(lists.combo_start[board], lists.combo_start[board + 1]):
            weight = class_weights[class_of(lists, combo, hand_class)]
            weights[lists.start[board] + lists.combo_hand[combo]] += weight


@inlined_kernel
def class_of(lists: HandLists, combo: int, hand_class: Bytes) -> int:
    """The class of a combo."""
    high, low = lists.combo_cards[2 * combo], lists.combo_cards[2 * combo + 1]
    return int(hand_class[CLASS_STEP * np.int64(high) + low])


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
    lists: HandLists, board: int, weights: Floats, blocks: Singles, equity: Singles
) -> None:
    """Profiles of a board's hands into `blocks` [hands / 16, 2 · PARTS, 16], and their equities.

    `weights` are those of the opponent's combos on the board. A hand's margin over the whole
    range comes from running sums; over the part that it stands in itself it is what the other parts
    leave. The first combo of a hand holds the hand's cards.
    """
    strengths, cards = lists.strengths, lists.cards
    combo_strengths, combo_cards = lists.combo_strengths, lists.combo_cards
    first, combo_first = lists.start[board], lists.combo_start[board]
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
    for hand in range(lists.counts[board]):
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
        while lists.combo_hand[combo_first + same] < hand:
            same += 1
        own_part = parts[weaker]
        for part in range(PARTS):
            mass[part] = part_total[part] - part_card[a, part] - part_card[b, part]
        mass[parts[same]] += weights[same]
        met = rest = 0.0
        at = (hand // LANES) * DIMENSIONS * LANES + hand % LANES
        for part in range(PARTS):
            met += mass[part]
            signed = mass[part] if part < own_part else -mass[part]
            if part != own_part:
                rest += signed
            blocks[at + part * LANES] = signed * scale
            blocks[at + (PARTS + part) * LANES] = mass[part] * scale
        won = below[CARDS] - below[a] - below[b]
        not_lost = upto[CARDS] - upto[a] - upto[b] + weights[same]
        margin = won - (met - not_lost)
        blocks[at + own_part * LANES] = (margin - rest) * scale
        equity[first + hand] = margin / met if met > 0.0 else 0.0


@kernel
def bucket_river_hands(
    lists: HandLists,
    hand_class: Bytes,
    player_weights: Floats,
    opponent_weights: Floats,
    draws: Singles,
    rounds: int,
    buckets: Bytes,
    equity: Singles,
) -> None:
    """The bucket of every hand on every board, [H], from the weakest bucket to the strongest.

    By class [169]: `player_weights` weigh the hands in the means, `opponent_weights` are the range
    that profiles are taken against. `draws` [K, …] in [0, 1) choose the first centres. `equity` [H]
    gets each hand's mean of won − lost.
    """
    count = len(draws)
    centres = np.zeros((count, DIMENSIONS), np.float32)
    margins = np.zeros(count, np.float32)
    rank = np.zeros(count, np.uint8)
    for board in range(len(lists.counts)):
        first, hands = lists.start[board], lists.counts[board]
        padded = lists.start[board + 1] - first
        begin, end = lists.combo_start[board], lists.combo_start[board + 1]
        blocks = np.zeros(padded * DIMENSIONS, np.float32)
        weights = np.zeros(padded, np.float32)
        against = np.zeros(end - begin, np.float64)
        for combo in range(begin, end):
            kind = class_of(lists, combo, hand_class)
            weights[lists.combo_hand[combo]] += np.float32(player_weights[kind])
            against[combo - begin] = opponent_weights[kind]
        board_profiles(lists, board, against, blocks, equity)
        labels = np.zeros(padded, np.float32)
        cluster(blocks, weights, hands, draws, rounds, centres, labels)
        # The margin over the whole range puts the buckets in order.
        for bucket in range(count):
            margins[bucket] = 0.0
            for part in range(PARTS):
                margins[bucket] += centres[bucket, part]
        for bucket in range(count):
            below = 0
            for other in range(count):
                if margins[other] < margins[bucket] or (
                    margins[other] == margins[bucket] and other < bucket
                ):
                    below += 1
            rank[bucket] = below
        for hand in range(hands):
            buckets[first + hand] = rank[np.int64(labels[hand])]


@kernel
def bucket_turn_hands(
    turn: HandLists,
    river: HandLists,
    children: Longs,
    weights: Floats,
    river_mass: Shorts,
    equity: Singles,
    draws: Singles,
    rounds: int,
    buckets: Bytes,
) -> None:
    """The bucket of every hand on every turn board, [H]: hands whose rivers are alike play alike.

    A hand is described by sixteen of its sorted river equities: how often it improves counts, not
    which card does it. `children` [B+1] are the river boards before those of each turn board,
    `weights` those of the turn's hands, `river_mass` pairs of river card and combo, by river hand
    as `equity` is. A board has no more buckets than hands.
    """
    most_rivers = 48  # as many as cards that neither the hand nor the board holds
    count = len(draws)
    centres = np.zeros((count, DIMENSIONS), np.float32)
    for board in range(len(turn.counts)):
        hands, start = turn.counts[board], turn.start[board]
        padded = turn.start[board + 1] - start
        if hands <= count:
            for hand in range(hands):
                buckets[start + hand] = hand
            continue
        seen = np.zeros(hands, np.int64)
        total = np.zeros(hands, np.int64)
        values = np.zeros((hands, most_rivers), np.float32)
        masses = np.zeros((hands, most_rivers), np.int64)
        for child in range(children[board], children[board + 1]):
            for row in range(river.start[child], river.start[child] + river.counts[child]):
                hand = int(river.parent[row])
                mass = np.int64(river_mass[row])
                # Each is put in its place among those before.
                at = seen[hand]
                while at > 0 and values[hand, at - 1] > equity[row]:
                    values[hand, at] = values[hand, at - 1]
                    masses[hand, at] = masses[hand, at - 1]
                    at -= 1
                values[hand, at] = equity[row]
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
                offset = (hand // LANES * DIMENSIONS + point) * LANES + hand % LANES
                blocks[offset] = values[hand, at]
        points = np.zeros(padded, np.float32)
        for hand in range(hands):
            points[hand] = weights[start + hand]
        labels = np.zeros(padded, np.float32)
        cluster(blocks, points, hands, draws, rounds, centres, labels)
        for hand in range(hands):
            buckets[start + hand] = np.int64(labels[hand])


@inner_kernel
def find_sources(mass: Floats, first: Longs, source: Longs, share: Singles) -> None:
    """The earlier rows that each row's hands come from, and their shares in it.

    `mass` [R, R] is the weight of the hands of a row that stood in each earlier one. Row r's
    sources are those from first[r] up to first[r + 1]. A row without hands stays what it was.
    """
    sources = 0
    for row in range(len(mass)):
        first[row] = sources
        whole = mass[row].sum()
        if whole == 0.0:
            source[sources], share[sources] = row, 1.0
            sources += 1
            continue
        for before in range(len(mass)):
            if mass[row, before] > 0.0:
                source[sources], share[sources] = before, mass[row, before] / whole
                sources += 1
    first[len(mass)] = sources


@kernel
def carry_rows(
    lists: HandLists,
    before: Bytes,
    after: Bytes,
    weights: Floats,
    rows: int,
    actions: Longs,
    stored: Singles,
    carried: Singles,
) -> None:
    """Numbers of all nodes of a street, `stored` in the buckets `before` [H], in those `after` [H].

    A bucket gets the mean of its hands' earlier numbers, by `weights` [H]; where all come from one
    bucket, not a bit changes. Every board has `rows` rows. Both arrays are [board][node][row /
    16][action][16], with `actions` at each of the nodes.
    """
    mass = np.zeros((rows, rows), np.float64)
    first = np.zeros(rows + 1, np.int64)
    source = np.zeros(rows * rows, np.int64)
    share = np.zeros(rows * rows, np.float32)
    node_before = np.zeros(rows * actions.max(), np.float32)
    lanes = np.zeros(LANES, np.float32)
    at = 0
    for board in range(len(lists.counts)):
        mass[:] = 0.0
        for hand in range(lists.start[board], lists.start[board] + lists.counts[board]):
            mass[after[hand], before[hand]] += weights[hand]
        find_sources(mass, first, source, share)
        for width in actions:
            for offset in range(0, rows * width, LANES):
                store(node_before, offset, load(stored, at + offset))
            for row in range(0, rows, LANES):
                for action in range(width):
                    for lane in range(LANES):
                        begin, end = first[row + lane], first[row + lane + 1]
                        for entry in range(begin, end):
                            old = source[entry]
                            offset = (old // LANES * width + action) * LANES + old % LANES
                            part = share[entry] * node_before[offset]
                            # Not 0 + part for the first: a negative zero would lose its sign.
                            lanes[lane] = part if entry == begin else lanes[lane] + part
                    store(carried, at + row * width + action * LANES, load(lanes, 0))
            at += rows * width
