"""Decision nodes: the other's reach on the way down, own values and regrets on the way up."""

import numpy as np

from allstreets.base import Longs, Singles, inner_kernel
from allstreets.engines.exact.kernels.bucketed_nodes import (
    keep_rows,
    mix_rows,
    play_rows,
    shared_place,
    split_by_row,
    sum_rows,
)
from allstreets.engines.exact.kernels.layout import (
    BEST_RESPONSE,
    EVALUATE,
    PADDING_CARD,
    UPDATE,
    Boards,
    Discounts,
    Forest,
    NodePlace,
    Storage,
    Workspace,
)
from allstreets.engines.exact.kernels.scaled_nodes import update_scaled_node
from allstreets.engines.simd.quantise import dither
from allstreets.engines.simd.regret_matching import (
    add_gain,
    best_value,
    look_ahead,
    mean_value,
    move_mean,
    new_regret,
    no_gains,
    normalised,
    normaliser,
    regret_weights,
    split_reach,
)
from allstreets.engines.simd.vectors import load, pick, prefetch, splat, store, where_positive

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@inner_kernel
def update_node(
    node: NodePlace,
    values: Singles,
    storage: Storage,
    actions: int,
    hands: int,
    discounts: Discounts,
) -> None:
    """Own node: value under regret matching, then regrets and running mean, in one pass.

    Regrets compare with what was played; the node above hears the value moved by
    `discounts.ahead` towards what the new regrets will play.
    Where a hand is locked its regrets hold the locked strategy and stay as they are.
    """
    regrets, average = storage.own_regrets, storage.own_average
    weights = regret_weights(discounts.positive, discounts.negative, discounts.floor)
    one, weight, ahead = splat(ONE), splat(discounts.average), splat(discounts.ahead)
    averages, wobble = discounts.average > ZERO, dither(discounts.phase)
    for block in range(0, hands, 16):
        base, row = node.slot + block * actions, node.child * hands + block
        strategy = normaliser(regrets, base, actions, one)
        value = mean_value(regrets, base, actions, strategy, values, row, hands)
        gains = no_gains()
        for a in range(actions):
            place = base + 16 * a
            prefetch(storage.other_regrets, node.soon + block * actions + 16 * a)
            regret, gain = load(regrets, place), load(values, row + a * hands) - value
            updated = new_regret(regret, gain, weights)
            if storage.own_locked.size:
                updated = where_positive(
                    load(storage.own_locked, node.lock + block), regret, updated
                )
            store(regrets, place, updated)
            gains = add_gain(gains, updated, gain)
            if averages:
                # What a lock plays is its average from the start: a mean of equals.
                move_mean(average, place, normalised(regret, strategy), weight, wobble)
        value = look_ahead(value, gains, ahead)
        if node.adds:
            value = value + load(values, node.target * hands + block)
        store(values, node.target * hands + block, value)


@inner_kernel
def evaluate_node(
    node: NodePlace, values: Singles, storage: Storage, actions: int, hands: int, best: bool
) -> None:
    """Own node, nothing updated: value of the best action, or of the average strategy.

    Where a hand is locked there is no choice: the average is what it plays.
    """
    average = storage.own_average
    some_locked = storage.own_locked.size > 0
    for block in range(0, hands, 16):
        base, row = node.slot + block * actions, node.child * hands + block
        value = best_value(values, row, hands, actions)
        if some_locked or not best:
            strategy = normaliser(average, base, actions, splat(ONE))
            played = mean_value(average, base, actions, strategy, values, row, hands)
            if best:
                locked = load(storage.own_locked, node.lock + block)
                value = where_positive(locked, played, value)
            else:
                value = played
        if node.adds:
            value = value + load(values, node.target * hands + block)
        store(values, node.target * hands + block, value)


@inner_kernel
def pot_start(actions: Longs, pot: int, rows: Longs, board: int) -> int:
    """Where the stored numbers of a pot's nodes on a board begin.

    `actions` [P+1] are those before each pot, `rows` [B+1] the stored rows before each board.
    """
    before = actions[pot]
    start: int = before * rows[len(rows) - 1] + (actions[pot + 1] - before) * rows[board]
    return start


@inner_kernel
def go_down(
    forest: Forest,
    group: int,
    space: Workspace,
    storage: Storage,
    boards: Boards,
    board: int,
    mode: int,
) -> None:
    """Fill the reach rows of a group from those of its lines."""
    first = boards.other_start[board]
    reach, hands = space.reach, boards.other_start[board + 1] - first
    rows = boards.other_rows[board + 1] - boards.other_rows[board]
    for node in range(forest.group_nodes[group], forest.group_nodes[group + 1]):
        if forest.is_own[node]:
            continue
        actions = forest.actions[node]
        start = pot_start(forest.other_actions, forest.pot[node], boards.other_rows, board)
        slot = start + forest.slot[node] * rows
        row, child = forest.reach_row[node], forest.child_row[node]
        if boards.other_row.size:
            if mode == UPDATE:
                keep_rows(storage.other_regrets, slot, actions, rows, space.rows)
            else:
                keep_rows(storage.other_average, slot, actions, rows, space.rows)
            split_by_row(
                reach, row, child, actions, hands, boards.other_row, first, rows, space.rows
            )
        elif mode != UPDATE:
            split_reach(reach, row, child, storage.other_average, slot, actions, hands)
        elif actions == 2:  # known numbers of actions let the compiler unroll
            split_reach(reach, row, child, storage.other_regrets, slot, 2, hands)
        elif actions == 3:
            split_reach(reach, row, child, storage.other_regrets, slot, 3, hands)
        elif actions == 4:
            split_reach(reach, row, child, storage.other_regrets, slot, 4, hands)
        else:
            split_reach(reach, row, child, storage.other_regrets, slot, actions, hands)


@inner_kernel
def go_up(
    forest: Forest,
    group: int,
    space: Workspace,
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
    locks = boards.own_start[board] * forest.own_nodes
    rows = boards.own_rows[board + 1] - boards.own_rows[board]
    for number in range(forest.group_nodes[group + 1] - 1, forest.group_nodes[group] - 1, -1):
        if not forest.is_own[number]:
            continue  # his values were added up where they arose
        actions, pot = forest.actions[number], forest.pot[number]
        start = pot_start(forest.own_actions, pot, boards.own_rows, board)
        soon = pot_start(forest.other_actions, pot, boards.other_rows, board + 1)
        node = NodePlace(
            forest.child_row[number],
            forest.value_row[number],
            forest.adds[number],
            start + forest.slot[number] * rows,
            board * forest.own_nodes + forest.number[number],
            locks + forest.number[number] * hands,
            # The other player's regrets on the next board, read first thing there.
            soon + forest.slot[number] * rows,
        )
        # At a locked node there is nothing to learn, and a best response has no choice.
        here = EVALUATE if forest.locked[number] else mode
        # Hands that share a row play alike, so the mean of their values is the row's value under
        # the same strategy: a row learns like a hand that has its hands' mean values.
        shared = boards.own_row.size > 0 and here != BEST_RESPONSE
        place, values, stored, real = node, space.values, hands, live
        if shared and here != UPDATE:
            keep_rows(storage.own_average, node.slot, actions, rows, space.rows)
        elif shared:
            keep_rows(storage.own_regrets, node.slot, actions, rows, space.rows)
            sum_rows(space.values, node, actions, hands, boards, board, rows, space.rows)
            place = shared_place(node, actions)
            values, stored, real = space.rows, rows, rows
        if here != UPDATE:
            if not shared:
                evaluate_node(place, values, storage, actions, stored, here == BEST_RESPONSE)
        elif storage.own_scales.size:
            update_scaled_node(place, values, storage, actions, stored, real, discounts)
        elif actions == 2:
            update_node(place, values, storage, 2, stored, discounts)
        elif actions == 3:
            update_node(place, values, storage, 3, stored, discounts)
        elif actions == 4:
            update_node(place, values, storage, 4, stored, discounts)
        else:
            update_node(place, values, storage, actions, stored, discounts)
        if shared:
            if here == UPDATE and discounts.ahead > ZERO:
                mix_rows(storage.own_regrets, node.slot, actions, rows, discounts.ahead, space.rows)
            first = boards.own_start[board]
            play_rows(space.values, node, actions, hands, boards.own_row, first, rows, space.rows)
