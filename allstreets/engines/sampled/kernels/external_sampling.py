"""External sampling of a flop game on concrete deals: dealing, walking the betting, learning.

A deal is two combos by reach, a turn, a river, and who wins.

Axis letters: N nodes, C combos that fit beside the flop, H = 169 hand classes, D deals, I decision
nodes of a player, K their slots (a slot is one action of a node). Tables by class and slot are rows
of H · K numbers, class by class, so that everything a walk touches lies close together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.cards.kernels.evaluator import (
    FLUSH_MASK,
    HIGH_MASK,
    LOW_BITS,
    LOW_MASK,
    EvaluatorTables,
    flush_strength,
)
from allstreets.cfr.kernels.external_sampling import random_number

SEED_STEP = np.uint64(0x9E3779B97F4A7C15)  # between two random numbers
GOLDEN = 0.6180339887498949  # multiples of it, whole parts left out, fill [0, 1) most evenly
TRIES = 64  # to find a combo that fits, before all are looked at
CELLS = 2048  # a power of 2, so that multiplying a number of [0, 1) by it is exact
DOUBTFUL = 1e-6  # share of all weights below which a difference may be rounding error
HANDS = 169
# A node is four numbers in a row and is named by its place, the position of the first of them:
# its kind, how many children, the place of the first child, the first slot. At a terminal
# the last three are the bytes of three floats: the player's result if he wins, ties or loses.
PLAYER, OPPONENT, LAST, TERMINAL = (np.uint32(kind) for kind in range(4))
ZERO, ONE, TWO, THREE = (np.uint64(number) for number in range(4))  # unsigned: no check for < 0
CHILDREN, FIRST_CHILD, SLOT, RESULTS = ONE, TWO, THREE, ONE
NODE = TWO  # place = number << NODE


class Cards(NamedTuple):
    """The flop, and the combos that fit beside it, those of a class side by side."""

    cards: Bytes  # [C, 2]
    masks: NDArray[np.uint64]  # [C] both cards as bits
    keys: NDArray[np.uint64]  # [C] both cards' keys of the evaluator, added
    suits: NDArray[np.uint64]  # [C] both cards' bits of the evaluator
    hands: Bytes  # [C] class
    deck: Bytes  # [49] the cards that are not on the flop
    flop_key: np.uint64
    flop_suits: np.uint64


class Deals(NamedTuple):
    """Hands, runouts, and who wins."""

    player: NDArray[np.uint16]  # [D] number of the player's combo
    opponent: NDArray[np.uint16]  # [D] number of the opponent's combo
    runouts: Bytes  # [D, 2] turn and river
    outcomes: Bytes  # [D] 0: the player wins, 1: a tie, 2: he loses


@inner_kernel
def weigh_pairs(cards: Cards, weights: Floats, met: Floats) -> None:
    """Into `met` [C]: Σ of the opponent's `weights` [C] over his combos that fit beside each combo.

    All weights, less those with either card, plus those with both, which were taken off twice.
    Where next to nothing is left it may be rounding error: there the sum is taken directly.
    """
    by_card = np.zeros(52)
    total = 0.0
    for c in range(len(weights)):
        total += weights[c]
        by_card[cards.cards[c, 0]] += weights[c]
        by_card[cards.cards[c, 1]] += weights[c]
    for c in range(len(weights)):
        high, low = cards.cards[c, 0], cards.cards[c, 1]
        met[c] = total - by_card[high] - by_card[low] + weights[c]
        if met[c] < DOUBTFUL * total:
            met[c] = 0.0
            for d in range(len(weights)):
                if not cards.masks[c] & cards.masks[d]:
                    met[c] += weights[d]


class Shares(NamedTuple):
    """[0, 1) shared out by weight, and a guide to find one's share without a search."""

    ends: Floats  # [C] where each share ends, times the sum of the weights
    guide: Longs  # [CELLS] the share that holds the start of each cell
    total: float


@inner_kernel
def share_out(weights: Floats) -> Shares:
    """Shares by `weights` [C], not all of which may be 0."""
    ends = np.cumsum(weights)
    total = ends[-1]
    final = len(weights) - 1
    while final > 0 and weights[final] == 0.0:
        final -= 1
    ends[final:] = np.inf  # whatever rounding does, a look-up ends here
    guide = np.empty(CELLS, np.int64)
    c = 0
    for cell in range(CELLS):
        while ends[c] <= cell * total / CELLS:
            c += 1
        guide[cell] = c
    return Shares(ends, guide, total)


@inner_kernel
def look_up(shares: Shares, number: float) -> int:
    """The share that holds `number`; never an empty one."""
    c = shares.guide[np.int64(number * CELLS)]
    while shares.ends[c] <= number * shares.total:
        c += 1
    return int(c)


@inner_kernel
def fitting_combo(cards: Cards, weights: Floats, mask: np.uint64, position: float) -> int:
    """The combo at which the weights of those that fit beside `mask` add up to `position`."""
    fitting, reached = 0, 0.0
    for d in range(len(weights)):
        if weights[d] > 0.0 and not cards.masks[d] & mask:
            fitting = d
            reached += weights[d]
            if reached > position:
                break
    return fitting


@inner_kernel
def strength(key: np.uint64, suits: np.uint64, tables: EvaluatorTables) -> np.uint16:
    """The strength of seven cards, given their keys and their bits, each added up."""
    if key & FLUSH_MASK:
        return flush_strength(key, suits, tables.flushes)
    row = tables.row_starts[2, np.int64((key >> LOW_BITS) & HIGH_MASK)]
    value: np.uint16 = tables.strengths[row + tables.low_slots[np.int64(key & LOW_MASK)]]
    return value


@kernel
def deal_hands(
    cards: Cards,
    tables: EvaluatorTables,
    player: Floats,
    opponent: Floats,
    deals: Deals,
    random: NDArray[np.uint64],
) -> float:
    """Fill `deals`; return Σ player · opponent over the pairs of combos that fit, which may be 0.

    Each deal is a pair of combos that share no card, drawn in proportion to `player` [C] times
    `opponent` [C], with a turn and a river from the cards that are left. The deals are not
    independent of each other: the draws of both hands are spread evenly, which makes sums over
    deals less noisy.

    1. The player's combo. Deal i takes the one at place (i + u) / D of the cumulative weights, with
       one random u for all: each combo is dealt with its exact frequency, to within one deal.
    2. The opponent's combo, by a number of [0, 1) that moves by the golden ratio from deal to deal.
       If it shares a card with the player's, another one is drawn until it fits.
    3. Turn and river, drawn until they fit.
    """
    count, deal_count = len(player), len(deals.player)
    met = np.empty(count)
    weigh_pairs(cards, opponent, met)
    pairs, final = 0.0, 0
    for c in range(count):
        pairs += player[c] * met[c]
        if player[c] * met[c] > 0.0:
            final = c
    if not pairs > 0.0:
        return 0.0
    shares = share_out(opponent)
    masks, keys, suits = cards.masks, cards.keys, cards.suits
    seed = random[0] + SEED_STEP
    offset = random_number(seed)
    seed += SEED_STEP
    number = random_number(seed)
    c, reached = 0, player[0] * met[0]
    for i in range(deal_count):
        position = (i + offset) * (pairs / deal_count)
        while c < final and reached <= position:
            c += 1
            reached += player[c] * met[c]
        number += GOLDEN
        number -= np.floor(number)
        d = look_up(shares, number)
        tries = 0
        while masks[d] & masks[c] and tries <= TRIES:
            seed += SEED_STEP
            tries += 1
            if tries <= TRIES:
                d = look_up(shares, random_number(seed))
            else:  # hardly anything fits
                d = fitting_combo(cards, opponent, masks[c], random_number(seed) * met[c])
        dead = masks[c] | masks[d]
        key, bits = cards.flop_key, cards.flop_suits
        for street in range(2):
            while True:
                seed += SEED_STEP
                card = cards.deck[np.int64(random_number(seed) * len(cards.deck))]
                if not dead & (ONE << np.uint64(card)):
                    break
            dead |= ONE << np.uint64(card)
            key += tables.card_keys[card]
            bits |= tables.card_bits[card]
            deals.runouts[i, street] = card
        mine = strength(key + keys[c], bits | suits[c], tables)
        theirs = strength(key + keys[d], bits | suits[d], tables)
        deals.player[i], deals.opponent[i] = c, d
        deals.outcomes[i] = 0 if mine > theirs else 1 if mine == theirs else 2
    random[0] = seed
    return float(pairs)


class Tree(NamedTuple):
    """The betting as one player walks it; dealt cards are not nodes."""

    nodes: NDArray[np.uint32]  # [4 N]
    results: Singles  # [4 N] the same bytes


class Room(NamedTuple):
    """The arrays that a walk writes to."""

    places: NDArray[np.uint64]  # [2 I] place of a node of the player, where its value goes
    values: Floats  # [1 + K]
    counts: Longs  # [2] actions skipped, actions due


@kernel
def walk(
    tree: Tree,
    hands: Bytes,
    deals: Deals,
    scale: Floats,
    regrets: Singles,
    strategy: Singles,
    opponent_strategy: Singles,
    room: Room,
    totals: Floats,
    random: NDArray[np.uint64],
    threshold: float | None,
) -> None:
    """Walk all `deals` for one player; both strategies [H K] are fixed.

    `hands` [C] are the classes of combos. The regrets of class h in a deal count `scale`[h] times:
    it is added to `regrets` [H K], and the value of the game to `totals` [H]. With a `threshold`,
    actions that are not played and whose regret is below it are left out and left alone.

    1. Down, level by level: open his nodes in the order in which they are found. Below each of his
    actions continue, sampling the opponent's, to a node of the player, which is noted, or a
    terminal, whose result is the action's value. Where all of the opponent's actions end
       the game, their mean is taken: that costs no more than drawing one.
    2. Up, his nodes in reverse: the mean of the actions' values under the strategy is the value
       of the node, and the difference to an action's value is the action's regret.
    """
    nodes, results = tree.nodes, tree.results
    places, values, counts = room.places, room.values, room.counts
    player_slots = np.uint64(len(regrets) // HANDS)
    opponent_slots = np.uint64(len(opponent_strategy) // HANDS)
    seed = random[0]
    for i in range(len(deals.player)):
        hand = np.uint64(hands[deals.player[i]])
        row = hand * player_slots
        opponent_row = np.uint64(hands[deals.opponent[i]]) * opponent_slots
        result = RESULTS + np.uint64(deals.outcomes[i])
        weight = scale[hand]
        found, opened, target = ZERO, ZERO, ZERO
        first, actions, slot = ZERO, ONE, ZERO  # the root, as if it were the only action of a node
        while True:
            for action in range(actions):
                if threshold is not None and opened > ZERO:
                    counts[1] += 1
                    if can_skip(regrets, strategy, slot + action, threshold):
                        counts[0] += 1
                        values[target] = 0.0
                        target += ONE
                        continue
                node = first + (action << NODE)
                kind = nodes[node]
                while kind == OPPONENT:
                    begin = opponent_row + np.uint64(nodes[node + SLOT])
                    last = begin + np.uint64(nodes[node + CHILDREN]) - ONE
                    seed += SEED_STEP
                    number = random_number(seed)
                    # No branch on the random number: it would be mispredicted half of the time.
                    total, child = 0.0, ZERO
                    for k in range(begin, last):
                        total += opponent_strategy[k]
                        child += np.uint64(number >= total)
                    node = np.uint64(nodes[node + FIRST_CHILD]) + (child << NODE)
                    kind = nodes[node]
                if kind == TERMINAL:
                    values[target] = results[node + result]
                elif kind == PLAYER:
                    places[TWO * found] = node
                    places[TWO * found + ONE] = target
                    found += ONE
                else:
                    begin = opponent_row + np.uint64(nodes[node + SLOT])
                    end = np.uint64(nodes[node + FIRST_CHILD])
                    value = 0.0
                    for k in range(begin, begin + np.uint64(nodes[node + CHILDREN])):
                        value += opponent_strategy[k] * results[end + result]
                        end += ONE << NODE
                    values[target] = value
                target += ONE
            if opened == found:
                break
            node = places[TWO * opened]
            opened += ONE
            first = np.uint64(nodes[node + FIRST_CHILD])
            actions = np.uint64(nodes[node + CHILDREN])
            slot = row + np.uint64(nodes[node + SLOT])
        while found > ZERO:
            found -= ONE
            node = places[TWO * found]
            actions = np.uint64(nodes[node + CHILDREN])
            slot = row + np.uint64(nodes[node + SLOT])
            target -= actions
            value = 0.0
            for a in range(actions):
                value += strategy[slot + a] * values[target + a]
            for a in range(actions):
                if threshold is not None and can_skip(regrets, strategy, slot + a, threshold):
                    continue
                regrets[slot + a] += np.float32(weight * (values[target + a] - value))
            values[places[TWO * found + ONE]] = value
        totals[hand] += weight * values[ZERO]
    random[0] = seed


@inner_kernel
def can_skip(regrets: Singles, strategy: Singles, slot: np.uint64, threshold: float) -> bool:
    """Whether an action may be left out: not played, and with a regret below the threshold."""
    return bool(strategy[slot] == 0.0 and regrets[slot] < threshold)


@kernel
def discount(
    regrets: Singles,
    sums: Singles,
    strategy: Singles,
    slot_start: Longs,
    action_before: Longs,
    reach: Floats,
    extra: float,
    factors: Singles,
) -> None:
    """Discount what is stored, [H K] each, and add the strategy to the sums of the average.

    Its weight is the player's reach: `reach` [H] at the root times the probabilities
    of his actions since, and `extra` everywhere. `slot_start` [I + 1] are the first slots of his
    nodes in an order that has each after those above it, `action_before` [I] the slot of his last
    action on the way there, −1 if none. `factors` [3]: positive regrets, negative ones, sums.
    """
    slots = len(regrets) // HANDS
    positive, negative, kept = factors[0], factors[1], factors[2]
    passed = np.empty(slots, np.float32)  # reach after each action
    for hand in range(HANDS):
        row = hand * slots
        at_root, everywhere = np.float32(reach[hand]), np.float32(extra)
        for node in range(len(action_before)):
            before = action_before[node]
            here = at_root if before < 0 else passed[before]
            for k in range(slot_start[node], slot_start[node + 1]):
                chance, regret = strategy[row + k], regrets[row + k]
                passed[k] = here * chance
                sums[row + k] = kept * sums[row + k] + (here + everywhere) * chance
                regrets[row + k] = regret * (positive if regret > 0 else negative)


@kernel
def match(
    regrets: Singles,
    strategy: Singles,
    slot_start: Longs,
    lowest_regret: np.float32,
) -> None:
    """Raise `regrets` [H K] that are too low; `strategy` [H K] follows them by regret matching."""
    nothing, whole = np.float32(0.0), np.float32(1.0)
    slots = len(regrets) // HANDS
    for hand in range(HANDS):
        row = hand * slots
        for node in range(len(slot_start) - 1):
            begin, end = row + slot_start[node], row + slot_start[node + 1]
            total = nothing
            for k in range(begin, end):
                regrets[k] = max(regrets[k], lowest_regret)
                total += max(regrets[k], nothing)
            factor = whole / total if total > nothing else nothing
            constant = nothing if total > nothing else whole / np.float32(end - begin)
            for k in range(begin, end):
                strategy[k] = max(regrets[k], nothing) * factor + constant
