"""External sampling of a flop game on concrete deals: walking the betting, and learning from it.

Axis letters: N nodes, C combos that fit beside the flop, H = 169 hand classes, D deals, I decision
nodes of a player, K their slots (a slot is one action of a node). Tables by class and slot lie in
a row of H · K numbers, class by class, so that all that one walk touches lies close together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Floats, Longs, Singles, inner_kernel, kernel
from allstreets.cfr.kernels.external_sampling import random_number
from allstreets.engines.sampled.kernels.deals import SEED_STEP, Deals

HANDS = 169
# A node is four numbers in a row and is named by its place, the position of the first of them:
# its kind, how many children, the place of the first child, the first slot. At an end of the game
# the last three are the bytes of three floats: the player's result if he wins, ties or loses.
OWN, OTHER, LAST, END = (np.uint32(kind) for kind in range(4))
ZERO, ONE, TWO, THREE = (np.uint64(number) for number in range(4))  # unsigned: no check for < 0
CHILDREN, FIRST_CHILD, SLOT, RESULTS = ONE, TWO, THREE, ONE
NODE = TWO  # place = number << NODE


class Tree(NamedTuple):
    """The betting as one player walks it; cards that fall are no nodes."""

    nodes: NDArray[np.uint32]  # [4 N]
    results: Singles  # [4 N] the same bytes


class Room(NamedTuple):
    """What a walk writes to."""

    places: NDArray[np.uint64]  # [2 I] place of an own node, where its value goes
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
    their_strategy: Singles,
    room: Room,
    totals: Floats,
    random: NDArray[np.uint64],
    threshold: float | None,
) -> None:
    """Walk all `deals` for one player; both strategies [H K] are fixed.

    `hands` [C] are the classes of combos. What class h learns in a deal counts `scale`[h] times:
    it is added to `regrets` [H K], and the value of the game to `totals` [H]. With a `threshold`,
    actions that are not played and whose regret is below it are left out and left alone.

    1. Down, level by level: open the own nodes in the order in which they are found. Below each of
       his actions go on, sampling the other's, as far as an own node, which is noted, or an end,
       whose result is the action's value. Where all of the other's actions end the game, their mean
       is taken: that costs no more than drawing one.
    2. Up, the own nodes in reverse: the mean of the actions' values under the strategy is the value
       of the node, and what an action is better than that is its regret.
    """
    nodes, results = tree.nodes, tree.results
    places, values, counts = room.places, room.values, room.counts
    own_slots = np.uint64(len(regrets) // HANDS)
    their_slots = np.uint64(len(their_strategy) // HANDS)
    seed = random[0]
    for i in range(len(deals.own)):
        hand = np.uint64(hands[deals.own[i]])
        row = hand * own_slots
        their_row = np.uint64(hands[deals.other[i]]) * their_slots
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
                place = first + (action << NODE)
                kind = nodes[place]
                while kind == OTHER:
                    begin = their_row + np.uint64(nodes[place + SLOT])
                    last = begin + np.uint64(nodes[place + CHILDREN]) - ONE
                    seed += SEED_STEP
                    number = random_number(seed)
                    # No branch on the random number: it would be mispredicted half of the time.
                    total, child = 0.0, ZERO
                    for k in range(begin, last):
                        total += their_strategy[k]
                        child += np.uint64(number >= total)
                    place = np.uint64(nodes[place + FIRST_CHILD]) + (child << NODE)
                    kind = nodes[place]
                if kind == END:
                    values[target] = results[place + result]
                elif kind == OWN:
                    places[TWO * found] = place
                    places[TWO * found + ONE] = target
                    found += ONE
                else:
                    begin = their_row + np.uint64(nodes[place + SLOT])
                    end = np.uint64(nodes[place + FIRST_CHILD])
                    value = 0.0
                    for k in range(begin, begin + np.uint64(nodes[place + CHILDREN])):
                        value += their_strategy[k] * results[end + result]
                        end += ONE << NODE
                    values[target] = value
                target += ONE
            if opened == found:
                break
            place = places[TWO * opened]
            opened += ONE
            first = np.uint64(nodes[place + FIRST_CHILD])
            actions = np.uint64(nodes[place + CHILDREN])
            slot = row + np.uint64(nodes[place + SLOT])
        while found > ZERO:
            found -= ONE
            place = places[TWO * found]
            actions = np.uint64(nodes[place + CHILDREN])
            slot = row + np.uint64(nodes[place + SLOT])
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

    It is added as often as the player gets there: `reach` [H] at the root times the probabilities
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
