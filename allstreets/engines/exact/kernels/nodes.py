"""Decision nodes: the other's reach in the forward pass, own values in the backward pass.

Regrets as 16-bit integers have one scale for each node and board. Regret matching and normalising
do not depend on it, so only the update uses it: the new regrets of a node are put where the values
of its actions stood, which are no longer needed, and when the largest is known all are rounded to
the scale that makes it 32767.

A bucket holds the hands of a board that play alike: values and reach are by hand, stored numbers by
bucket. The buckets of one node are worked on in a buffer (`Workspace.rows`), each line of which has
one number for each bucket:

    A lines      the positive parts of the stored numbers, action by action
    one line     their sum
    A lines      the value of each action to a bucket: the mean of its hands' values
    one line     the value of the node to it

Hands read the first of these through the number of their bucket. From there each hand goes through
the same arithmetic as a hand with its own numbers. `rows` counts a board's buckets, padding
included.
"""

from typing import Any

import numpy as np

from allstreets.base import Longs, Singles, inlined_kernel, inner_kernel, kernel
from allstreets.engines.exact.kernels.layout import (
    BEST_RESPONSE,
    EVALUATE,
    PADDING_CARD,
    UPDATE,
    Boards,
    Forest,
    NodePlace,
    Shorts,
    Storage,
    Workspace,
)
from allstreets.engines.simd.iteration_weights import KernelWeights
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
    normaliser_of,
    positive_sum,
    split_reach,
    trembling,
)
from allstreets.engines.simd.vectors import (
    LARGEST,
    TINY,
    fma,
    gather,
    load,
    maximum,
    pick,
    prefetch,
    splat,
    store,
    store_dithered,
    total,
    where_positive,
)

ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@inner_kernel
def positive_parts(stored: Singles, slot: int, actions: int, rows: int, buffer: Singles) -> None:
    """The positive parts of a node's regrets or average, and their sums."""
    zero = splat(ZERO)
    for block in range(0, rows, 16):
        total = zero
        for a in range(actions):
            number = maximum(load(stored, slot + block * actions + 16 * a), zero)
            store(buffer, a * rows + block, number)
            total = total + number
        store(buffer, actions * rows + block, total)


@inner_kernel
def mix_buckets(
    regrets: Singles, slot: int, actions: int, rows: int, ahead: np.float32, buffer: Singles
) -> None:
    """The strategy that buckets played, moved by `ahead` towards that of their new regrets.

    It stays where no new regret is positive.
    """
    zero, one = splat(ZERO), splat(ONE)
    for block in range(0, rows, 16):
        base = slot + block * actions
        before = normaliser_of(load(buffer, actions * rows + block), actions, one)
        total = positive_sum(regrets, base, actions)
        moved = where_positive(total - splat(TINY), splat(ahead), zero)
        after = normaliser_of(total, actions, one)
        for a in range(actions):
            played = normalised(load(buffer, a * rows + block), before)
            then = normalised(load(regrets, base + 16 * a), after)
            store(buffer, a * rows + block, fma(moved, then - played, played))
        store(buffer, actions * rows + block, one)


@inner_kernel
def split_by_bucket(
    reach: Singles,
    row: int,
    child: int,
    actions: int,
    hands: int,
    bucket_of_hand: Shorts,
    first: int,
    rows: int,
    buffer: Singles,
    tremble: np.float32,
) -> None:
    """Reach rows of one node's actions: each hand's reach times the strategy of its bucket.

    A `tremble` of the reach takes every action.
    """
    for block in range(0, hands, 16):
        total = gather(buffer, actions * rows, bucket_of_hand, first + block)
        whole = load(reach, row * hands + block)
        portions = normaliser_of(total, actions, whole)
        if tremble > ZERO:
            portions = trembling(portions, whole, actions, tremble)
        for a in range(actions):
            number = gather(buffer, a * rows, bucket_of_hand, first + block)
            store(reach, (child + a) * hands + block, normalised(number, portions))


@inner_kernel
def play_buckets(
    values: Singles,
    node: NodePlace,
    actions: int,
    hands: int,
    bucket_of_hand: Shorts,
    first: int,
    rows: int,
    buffer: Singles,
) -> None:
    """Own node: the value of every hand under the strategy of its bucket."""
    for block in range(0, hands, 16):
        total = gather(buffer, actions * rows, bucket_of_hand, first + block)
        strategy = normaliser_of(total, actions, splat(ONE))
        value = splat(ZERO)
        for a in range(actions):
            chance = normalised(gather(buffer, a * rows, bucket_of_hand, first + block), strategy)
            value = fma(chance, load(values, (node.child + a) * hands + block), value)
        if node.adds:
            value = value + load(values, node.target * hands + block)
        store(values, node.target * hands + block, value)


@inner_kernel
def bucket_values(
    values: Singles,
    node: NodePlace,
    actions: int,
    hands: int,
    boards: Boards,
    board: int,
    rows: int,
    buffer: Singles,
) -> None:
    """Own node: the value of each action to a bucket, its hands' values by their shares."""
    for block in range(0, rows, 16):
        lists = (boards.own_rows[board] + block) // 16
        for a in range(actions):
            total = splat(ZERO)
            for place in range(boards.member_start[lists], boards.member_start[lists + 1]):
                value = gather(values, (node.child + a) * hands, boards.members, 16 * place)
                total = fma(load(boards.member_share, 16 * place), value, total)
            store(buffer, (actions + 1 + a) * rows + block, total)


@inner_kernel
def bucket_node(node: NodePlace, actions: int) -> NodePlace:
    """A node with buckets instead of hands: where `bucket_values` has put their values."""
    return NodePlace(actions + 1, 2 * actions + 1, False, node.slot, node.number, 0, node.soon)


TOP = np.float32(LARGEST)
ZERO = np.float32(0.0)
ONE = np.float32(1.0)


@inner_kernel
def update_node(
    node: NodePlace,
    values: Singles,
    storage: Storage,
    actions: int,
    hands: int,
    live: int,
    weights: KernelWeights,
    scaled: bool,
) -> None:
    """Own node: value under regret matching, then regrets and running mean, in one pass.

    Regrets compare actions with the strategy that was played; the node above gets the value moved
    by `weights.ahead` towards the strategy of the new regrets. Where a hand is locked its regrets
    hold the locked strategy and stay as they are. `scaled` regrets are integers; `live` of the
    hands are real, the rest padding.
    """
    regrets, average = storage.own_regrets, storage.own_average
    zero, one, weight, ahead = splat(ZERO), splat(ONE), splat(weights.weight), splat(weights.ahead)
    averages, wobble = weights.weight > ZERO, dither(weights.phase)
    scale = splat(storage.own_scales[node.number]) if scaled else one
    largest = zero
    for block in range(0, hands, 16):
        base, first = node.slot + block * actions, node.child * hands + block
        strategy = normaliser(regrets, base, actions, one)
        value = mean_value(regrets, base, actions, strategy, values, first, hands)
        gains = no_gains()
        for a in range(actions):
            place, row = base + 16 * a, first + a * hands
            prefetch(storage.other_regrets, node.soon + block * actions + 16 * a)
            stored, gain = load(regrets, place), load(values, row) - value
            if scaled:
                store(values, row, new_regret(stored * scale, gain, weights))
                for lane in range(max(live - block, 0), 16):
                    values[row + lane] = ZERO  # padding must not set the scale
                updated = load(values, row)
                largest = maximum(largest, maximum(updated, zero - updated))
            else:
                updated = new_regret(stored, gain, weights)
                if storage.own_locked.size:
                    locked = load(storage.own_locked, node.lock + block)
                    updated = where_positive(locked, stored, updated)
                store(regrets, place, updated)
            gains = add_gain(gains, updated, gain)
            if averages:
                # A lock is its own average from the start.
                move_mean(average, place, normalised(stored, strategy), weight, wobble)
        value = look_ahead(value, gains, ahead)
        if node.adds:
            value = value + load(values, node.target * hands + block)
        store(values, node.target * hands + block, value)
    if scaled:
        quantise_regrets(node, values, storage, actions, hands, largest, wobble)


@inlined_kernel
def quantise_regrets(
    node: NodePlace,
    values: Singles,
    storage: Storage,
    actions: int,
    hands: int,
    largest: Any,
    wobble: Any,
) -> None:
    """Store the new regrets, which stand in the value rows of the actions, with a new scale."""
    first = node.child * hands
    spared = load(values, first)
    store(values, first, largest)
    top = ZERO
    for lane in range(16):
        top = max(top, values[first + lane])
    store(values, first, spared)
    if top == ZERO:
        top = ONE
    storage.own_scales[node.number] = top / TOP
    inverse_scale = splat(TOP / top)
    for block in range(0, hands, 16):
        base = node.slot + block * actions
        for a in range(actions):
            updated = load(values, (node.child + a) * hands + block)
            store_dithered(storage.own_regrets, base + 16 * a, updated * inverse_scale, wobble)


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
    """The offset of the stored numbers of a pot's nodes on a board.

    `actions` [P+1] are those before each pot, `rows` [B+1] the stored rows before each board.
    """
    before = actions[pot]
    start: int = before * rows[len(rows) - 1] + (actions[pot + 1] - before) * rows[board]
    return start


@inner_kernel
def forward(
    forest: Forest,
    group: int,
    space: Workspace,
    storage: Storage,
    boards: Boards,
    board: int,
    mode: int,
) -> None:
    """Fill the reach rows of a group from those of its lines.

    The opponent trembles only while the player learns.
    """
    first = boards.other_start[board]
    tremble = storage.tremble if mode == UPDATE else ZERO
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
                positive_parts(storage.other_regrets, slot, actions, rows, space.rows)
            else:
                positive_parts(storage.other_average, slot, actions, rows, space.rows)
            split_by_bucket(
                reach,
                row,
                child,
                actions,
                hands,
                boards.other_row,
                first,
                rows,
                space.rows,
                tremble,
            )
        elif mode != UPDATE:
            split_reach(reach, row, child, storage.other_average, slot, actions, hands, tremble)
        elif actions == 2:  # known numbers of actions let the compiler unroll
            split_reach(reach, row, child, storage.other_regrets, slot, 2, hands, tremble)
        elif actions == 3:
            split_reach(reach, row, child, storage.other_regrets, slot, 3, hands, tremble)
        elif actions == 4:
            split_reach(reach, row, child, storage.other_regrets, slot, 4, hands, tremble)
        else:
            split_reach(reach, row, child, storage.other_regrets, slot, actions, hands, tremble)


@inner_kernel
def backward(
    forest: Forest,
    group: int,
    space: Workspace,
    storage: Storage,
    boards: Boards,
    board: int,
    mode: int,
    weights: KernelWeights,
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
            # The other player's regrets on the next board, which are read first there.
            soon + forest.slot[number] * rows,
        )
        # At a locked node there is nothing to learn, and a best response has no choice.
        here = EVALUATE if forest.locked[number] else mode
        # Hands of a bucket play alike, so the mean of their values is the bucket's value under
        # the same strategy: a bucket learns like a hand that has its hands' mean values.
        bucketed = boards.own_row.size > 0 and here != BEST_RESPONSE
        learner, values, stored, real = node, space.values, hands, live
        if bucketed and here != UPDATE:
            positive_parts(storage.own_average, node.slot, actions, rows, space.rows)
        elif bucketed:
            positive_parts(storage.own_regrets, node.slot, actions, rows, space.rows)
            bucket_values(space.values, node, actions, hands, boards, board, rows, space.rows)
            learner = bucket_node(node, actions)
            values, stored, real = space.rows, rows, rows
        if here != UPDATE:
            if not bucketed:
                evaluate_node(learner, values, storage, actions, stored, here == BEST_RESPONSE)
        elif storage.own_scales.size:
            update_node(learner, values, storage, actions, stored, real, weights, True)
        elif actions == 2:
            update_node(learner, values, storage, 2, stored, real, weights, False)
        elif actions == 3:
            update_node(learner, values, storage, 3, stored, real, weights, False)
        elif actions == 4:
            update_node(learner, values, storage, 4, stored, real, weights, False)
        else:
            update_node(learner, values, storage, actions, stored, real, weights, False)
        if bucketed:
            if here == UPDATE and weights.ahead > ZERO:
                mix_buckets(
                    storage.own_regrets, node.slot, actions, rows, weights.ahead, space.rows
                )
            first = boards.own_start[board]
            play_buckets(
                space.values, node, actions, hands, boards.own_row, first, rows, space.rows
            )


@kernel
def sum_regrets(
    regrets: Singles, start: Longs, count: Longs, actions: Longs, scales: Singles, weights: Singles
) -> tuple[float, float]:
    """Sum and maximum of the positive regrets of one street, padding left out.

    `start` [B+1] and `count` [B] are the boards' hands, `actions` those of each of the nodes,
    `weights` are those of its regrets: 0 where a strategy stands instead of regrets.
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
