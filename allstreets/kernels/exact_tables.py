"""Tables of a river board: where each hand stands in the prefix sums over the other's hands."""

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.exact_layout import Floats, Longs, Shorts
from allstreets.kernels.jit import kernel
from allstreets.kernels.simd import load, maximum, splat, store, total


@kernel
def place_hands(
    own_strengths: Shorts,
    own_cards: NDArray[np.uint8],
    own_start: Longs,
    own_count: Longs,
    combo_strengths: Shorts,
    combo_cards: NDArray[np.uint8],
    combo_start: Longs,
    below: Shorts,
    upto: Shorts,
    below_cards: Shorts,
    upto_cards: Shorts,
    card_places: Shorts,
    card_first: Shorts,
    own_twin: Shorts,
) -> None:
    """Fill the tables of all boards; hands and combos stand in order of strength, weakest first.

    The prefix sums of card c begin with the empty one and go on with one for each of the other's
    combos that holds c; those of the next card follow. `card_first` [B, 54] says where each card's
    begin.
    """
    running = np.zeros(53, np.int64)
    first_place = np.zeros(53, np.int64)
    twin = np.full(53 * 53, -1, np.int64)
    for board in range(len(own_count)):
        combos, mine = combo_start[board], own_start[board]
        count = combo_start[board + 1] - combos
        running[:] = 0
        for combo in range(combos, combos + count):
            running[combo_cards[2 * combo]] += 1
            running[combo_cards[2 * combo + 1]] += 1
        place = 0
        for card in range(53):
            first_place[card] = place
            card_first[54 * board + card] = place
            place += running[card] + 1
        card_first[54 * board + 53] = place
        running[:] = 0
        for combo in range(combos, combos + count):
            first, second = combo_cards[2 * combo], combo_cards[2 * combo + 1]
            card_places[2 * combo] = first_place[first] + running[first] + 1
            card_places[2 * combo + 1] = first_place[second] + running[second] + 1
            running[first] += 1
            running[second] += 1
            twin[53 * np.int64(first) + second] = combo - combos
        for bound in range(2):  # 0: strictly below, 1: up to and including ties
            running[:] = 0
            done = 0
            for hand in range(mine, mine + own_count[board]):
                strength = own_strengths[hand]
                while done < count and (
                    combo_strengths[combos + done] < strength
                    or (bound == 1 and combo_strengths[combos + done] == strength)
                ):
                    running[combo_cards[2 * (combos + done)]] += 1
                    running[combo_cards[2 * (combos + done) + 1]] += 1
                    done += 1
                for side in range(2):
                    card = own_cards[2 * hand + side]
                    at = first_place[card] + running[card]
                    if bound == 0:
                        below_cards[2 * hand + side] = at
                    else:
                        upto_cards[2 * hand + side] = at
                if bound == 0:
                    below[hand] = done
                else:
                    upto[hand] = done
        for hand in range(mine, own_start[board + 1]):
            own_twin[hand] = count  # none
        for hand in range(mine, mine + own_count[board]):
            found = twin[53 * np.int64(own_cards[2 * hand]) + own_cards[2 * hand + 1]]
            if found >= 0:
                own_twin[hand] = found
        for combo in range(combos, combos + count):
            twin[53 * np.int64(combo_cards[2 * combo]) + combo_cards[2 * combo + 1]] = -1


@kernel
def sum_regrets(
    regrets: Floats, start: Longs, count: Longs, actions: Longs, scales: Floats
) -> tuple[float, float]:
    """Sum and maximum of the positive regrets of one street, padding left out.

    `start` [B+1] and `count` [B] are the boards' hands, `actions` those of each of the nodes.
    """
    zero = splat(np.float32(0.0))
    whole = 0.0
    highest = zero
    buffer = np.zeros(16, np.float32)
    slots = 0
    for node in range(len(actions)):
        slots += actions[node]
    for board in range(len(count)):
        hands = start[board + 1] - start[board]
        at = start[board] * slots
        for node in range(len(actions)):
            # Sums of one node in single precision, those of all nodes in double.
            part = zero
            scale = splat(np.float32(1.0))
            if scales.size:
                scale = splat(scales[board * len(actions) + node])
            for block in range(0, hands, 16):
                live = count[board] - block
                for _ in range(actions[node]):
                    regret = maximum(load(regrets, at), zero) * scale
                    at += 16
                    if live < 16:
                        store(buffer, 0, regret)
                        for lane in range(max(live, 0), 16):
                            buffer[lane] = 0.0
                        regret = load(buffer, 0)
                    part = part + regret
                    highest = maximum(highest, regret)
            whole += np.float64(total(part))
    store(buffer, 0, highest)
    most = buffer[0]
    for lane in range(1, 16):
        most = max(most, buffer[lane])
    return whole, np.float64(most)
