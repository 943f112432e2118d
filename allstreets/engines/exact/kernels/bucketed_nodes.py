"""Decision nodes with buckets: values and reach by hand, stored numbers by bucket.

A bucket holds the hands of a board that play alike. The buckets of one node are worked on in a
buffer (`Workspace.rows`), each line of which has one number for each bucket:

    A lines      the positive parts of the stored numbers, action by action
    one line     their sum
    A lines      the value of each action to a bucket: the mean of its hands' values
    one line     the value of the node to it

Hands read the first of these through the number of their bucket. From there each hand goes through
the same arithmetic as a hand with its own numbers. `rows` counts a board's buckets, padding
included.
"""

import numpy as np

from allstreets.base import Singles, inner_kernel
from allstreets.engines.exact.kernels.layout import Boards, NodePlace, Shorts
from allstreets.engines.simd.regret_matching import (
    normalised,
    normaliser_of,
    positive_sum,
    trembling,
)
from allstreets.engines.simd.vectors import (
    TINY,
    fma,
    gather,
    load,
    maximum,
    splat,
    store,
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
