"""Tables of a river board: which of the other's combos each hand beats, and which is its own."""

import numpy as np

from allstreets.base import Bytes, Longs, Singles, kernel
from allstreets.engines.exact.kernels.layout import Shorts
from allstreets.engines.simd.vectors import load, maximum, splat, store, total


@kernel
def place_hands(
    own_strengths: Shorts,
    own_cards: Bytes,
    own_start: Longs,
    own_count: Longs,
    other_start: Longs,
    combo_strengths: Shorts,
    combo_cards: Bytes,
    combo_hand: Shorts,
    combo_start: Longs,
    below: Shorts,
    upto: Shorts,
    own_twin: Shorts,
) -> None:
    """Fill the tables of all boards; hands and combos stand in order of strength, weakest first."""
    twin = np.full(53 * 53, -1, np.int64)
    for board in range(len(own_count)):
        combos, mine = combo_start[board], own_start[board]
        last = combo_start[board + 1]
        beaten = tied = 0
        for hand in range(mine, mine + own_count[board]):
            strength = own_strengths[hand]
            while combos + beaten < last and combo_strengths[combos + beaten] < strength:
                beaten += 1
            while combos + tied < last and combo_strengths[combos + tied] <= strength:
                tied += 1
            below[hand], upto[hand] = beaten, tied
        for combo in range(combos, last):
            cards = 53 * np.int64(combo_cards[2 * combo]) + combo_cards[2 * combo + 1]
            twin[cards] = combo_hand[combo]
        own_twin[mine : own_start[board + 1]] = other_start[board + 1] - other_start[board]  # none
        for hand in range(mine, mine + own_count[board]):
            found = twin[53 * np.int64(own_cards[2 * hand]) + own_cards[2 * hand + 1]]
            if found >= 0:
                own_twin[hand] = found
        for combo in range(combos, last):
            twin[53 * np.int64(combo_cards[2 * combo]) + combo_cards[2 * combo + 1]] = -1


@kernel
def sum_regrets(
    regrets: Singles, start: Longs, count: Longs, actions: Longs, scales: Singles, weights: Singles
) -> tuple[float, float]:
    """Sum and maximum of the positive regrets of one street, padding left out.

    `start` [B+1] and `count` [B] are the boards' hands, `actions` those of each of the nodes,
    `weights` what its regrets count: 0 where there are none, since a strategy stands there.
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
            scale = splat(weights[node])
            if scales.size:
                scale = splat(weights[node] * scales[board * len(actions) + node])
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
