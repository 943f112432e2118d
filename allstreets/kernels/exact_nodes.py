"""Decision nodes: the other's reach on the way down, own values and regrets on the way up."""

import numpy as np

from allstreets.kernels.dither import dither
from allstreets.kernels.exact_layout import (
    BEST_RESPONSE,
    PADDING_CARD,
    UPDATE,
    Boards,
    Discounts,
    Floats,
    Forest,
    NodePlace,
    Storage,
)
from allstreets.kernels.exact_scaled import update_scaled_node
from allstreets.kernels.jit import kernel
from allstreets.kernels.reach import split_reach
from allstreets.kernels.simd import (
    TINY,
    fma,
    load,
    maximum,
    pick,
    prefetch,
    splat,
    steps,
    store,
    store_dithered,
    where_positive,
)

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@kernel
def update_node(
    node: NodePlace,
    values: Floats,
    storage: Storage,
    actions: int,
    hands: int,
    discounts: Discounts,
) -> None:
    """Own node: value under regret matching, then regrets and running mean, in one pass.

    Where a hand is locked its regrets hold the locked strategy and stay as they are.
    """
    regrets, average = storage.own_regrets, storage.own_average
    zero = splat(ZERO)
    uniform, tiny = splat(ONE / np.float32(actions)), splat(TINY)
    keep_positive, keep_negative = splat(discounts.positive), splat(discounts.negative)
    floor, weight = splat(discounts.floor), splat(discounts.average)
    averages, wobble = discounts.average > ZERO, dither(discounts.phase)
    for block in range(0, hands, 16):
        base = node.slot + block * actions
        total = zero
        for a in range(actions):
            total = total + maximum(load(regrets, base + 16 * a), zero)
        inverse = where_positive(total - tiny, splat(ONE) / total, zero)
        even = where_positive(total - tiny, zero, uniform)
        value = zero
        for a in range(actions):
            strategy = fma(maximum(load(regrets, base + 16 * a), zero), inverse, even)
            value = fma(strategy, load(values, (node.child + a) * hands + block), value)
        for a in range(actions):
            place = base + 16 * a
            prefetch(storage.other_regrets, node.soon + block * actions + 16 * a)
            regret = load(regrets, place)
            gain = load(values, (node.child + a) * hands + block) - value
            kept = regret * where_positive(regret, keep_positive, keep_negative)
            updated = maximum(kept + gain, floor)
            if storage.own_locked.size:
                updated = where_positive(
                    load(storage.own_locked, node.lock + block), regret, updated
                )
            store(regrets, place, updated)
            if averages:
                # What a lock plays is its average from the start: a mean of equals.
                strategy = fma(maximum(regret, zero), inverse, even)
                mean = load(average, place)
                moved = fma(weight, strategy * steps(average) - mean, mean)
                store_dithered(average, place, moved, wobble)
        if node.adds:
            value = value + load(values, node.target * hands + block)
        store(values, node.target * hands + block, value)


@kernel
def judge_node(
    node: NodePlace, values: Floats, storage: Storage, actions: int, hands: int, best: bool
) -> None:
    """Own node, nothing updated: value of the best action, or of the average strategy.

    Where a hand is locked there is no choice: the average is what it plays.
    """
    average = storage.own_average
    zero = splat(ZERO)
    uniform, tiny = splat(ONE / np.float32(actions)), splat(TINY)
    for block in range(0, hands, 16):
        base = node.slot + block * actions
        total = zero
        for a in range(actions):
            total = total + maximum(load(average, base + 16 * a), zero)
        inverse = where_positive(total - tiny, splat(ONE) / total, zero)
        even = where_positive(total - tiny, zero, uniform)
        value = zero
        highest = load(values, node.child * hands + block)
        for a in range(actions):
            strategy = fma(maximum(load(average, base + 16 * a), zero), inverse, even)
            here = load(values, (node.child + a) * hands + block)
            value = fma(strategy, here, value)
            highest = maximum(highest, here)
        if best:
            if storage.own_locked.size:
                locked = load(storage.own_locked, node.lock + block)
                value = where_positive(locked, value, highest)
            else:
                value = highest
        if node.adds:
            value = value + load(values, node.target * hands + block)
        store(values, node.target * hands + block, value)


@kernel
def go_down(
    forest: Forest,
    group: int,
    reach: Floats,
    storage: Storage,
    start: int,
    hands: int,
    mode: int,
) -> None:
    """Fill the reach rows of a group from those of its lines."""
    for node in range(forest.group_nodes[group], forest.group_nodes[group + 1]):
        if forest.is_own[node]:
            continue
        actions = forest.actions[node]
        slot = start + forest.slot[node] * hands
        row, child = forest.reach_row[node], forest.child_row[node]
        if mode != UPDATE:
            split_reach(reach, row, child, storage.other_average, slot, actions, hands)
        elif actions == 2:  # known numbers of actions let the compiler unroll
            split_reach(reach, row, child, storage.other_regrets, slot, 2, hands)
        elif actions == 3:
            split_reach(reach, row, child, storage.other_regrets, slot, 3, hands)
        elif actions == 4:
            split_reach(reach, row, child, storage.other_regrets, slot, 4, hands)
        else:
            split_reach(reach, row, child, storage.other_regrets, slot, actions, hands)


@kernel
def go_up(
    forest: Forest,
    group: int,
    values: Floats,
    storage: Storage,
    boards: Boards,
    board: int,
    mode: int,
    discounts: Discounts,
) -> None:
    """Fold the values of a group's leaves into those of its lines, children before parents."""
    hands = boards.own_start[board + 1] - boards.own_start[board]
    live = hands
    while live and pick(boards.own_cards, 2 * (boards.own_start[board] + live - 1)) == PADDING_CARD:
        live -= 1
    start, locks = boards.own_slots[board], boards.own_start[board] * forest.own_nodes
    for number in range(forest.group_nodes[group + 1] - 1, forest.group_nodes[group] - 1, -1):
        if not forest.is_own[number]:
            continue  # his values were added up where they arose
        actions = forest.actions[number]
        node = NodePlace(
            forest.child_row[number],
            forest.value_row[number],
            forest.adds[number],
            start + forest.slot[number] * hands,
            board * forest.own_nodes + forest.number[number],
            locks + forest.number[number] * hands,
            # The other player's regrets on the next board, read first thing there.
            boards.other_slots[board + 1] + forest.slot[number] * hands,
        )
        if mode != UPDATE:
            judge_node(node, values, storage, actions, hands, mode == BEST_RESPONSE)
        elif storage.own_scales.size:
            update_scaled_node(node, values, storage, actions, hands, live, discounts)
        elif actions == 2:
            update_node(node, values, storage, 2, hands, discounts)
        elif actions == 3:
            update_node(node, values, storage, 3, hands, discounts)
        elif actions == 4:
            update_node(node, values, storage, 4, hands, discounts)
        else:
            update_node(node, values, storage, actions, hands, discounts)
