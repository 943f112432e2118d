"""Regret-based pruning of matrix games: which blocks of own hands a pass has to look at.

What is left out is a pair (own action, **block** of sixteen hands): where the action's regret is
below the threshold for each of the sixteen, and each has an action with positive regret, none of
them plays it, and the node's values do without the action's. That block is then not needed in the
value row of the action, nor in any row below it. A pruned pass

1. marks on a way down over own nodes the blocks that each value row needs (`mark_needed`), from
   those that are wanted at the root;
2. runs products and folds over the blocks that any of the rows at hand needs;
3. on the way up leaves alone what is not needed, neither discounted nor updated. An action that is
   left out at a node that is needed is discounted and otherwise not written.

What is computed is computed in the same order as in a full pass, to the same bits.
"""

import numpy as np

from allstreets.base import Bytes, Longs, Singles, inner_kernel
from allstreets.engines.matrix.kernels.layout import StagePlan
from allstreets.engines.simd.regret_matching import positive_sum
from allstreets.engines.simd.vectors import TINY, any_positive, load, splat, where_positive

ZERO = np.float32(0.0)
ONE = np.float32(1.0)
NEVER = np.float32(-np.inf)


@inner_kernel
def mark_needed(
    plan: StagePlan,
    hands: int,
    regrets: Singles,
    combos: Singles,
    threshold: np.float32,
    needed: Bytes,
) -> int:
    """Mark the blocks that own actions need; returns how many they do not.

    The marks of the stage's lines are given. A hand without combos [H] needs nothing.
    """
    blocks = hands // 16
    zero, one, tiny, limit = splat(ZERO), splat(ONE), splat(TINY), splat(threshold)
    needed[plan.lines * blocks : (plan.lines + 1) * blocks] = 0
    left_out = 0
    for node in range(len(plan.own_value) - 1, -1, -1):  # parents before children
        above, below = plan.own_value[node] * blocks, plan.own_child[node] * blocks
        actions, slot = plan.own_actions[node], plan.own_slot[node] * hands
        for block in range(blocks):
            if not needed[above + block]:
                for a in range(actions):
                    needed[below + a * blocks + block] = 0
                left_out += actions
                continue
            if threshold == NEVER:
                for a in range(actions):
                    needed[below + a * blocks + block] = 1
                continue
            base = slot + 16 * block * actions
            playing = positive_sum(regrets, base, actions)
            present = load(combos, 16 * block)
            for a in range(actions):
                under = where_positive(limit - load(regrets, base + 16 * a), zero, one)
                objecting = where_positive(playing - tiny, under, one)
                wanted = any_positive(where_positive(present, objecting, zero))
                needed[below + a * blocks + block] = wanted
                left_out += not wanted
    return left_out


@inner_kernel
def mark_lines_below(
    plan: StagePlan, needed: Bytes, union: Bytes, below: Bytes, union_below: Bytes
) -> None:
    """Mark the lines into the next stage: all hands of it, if any of this stage's is needed."""
    blocks = len(union_below)
    for way in range(len(plan.exit_value)):
        start = plan.exit_line[way] * blocks
        below[start : start + blocks] = unite(needed, plan.exit_value, way, 1, union)


@inner_kernel
def unite(needed: Bytes, rows: Longs, first: int, count: int, union: Bytes) -> bool:
    """The blocks that any of so many rows from rows[first] on needs; whether there are any."""
    blocks = len(union)
    union[:] = 0
    for row in range(first, first + count):
        start = rows[row] * blocks
        for block in range(blocks):
            union[block] |= needed[start + block]
    some = np.uint8(0)
    for block in range(blocks):
        some |= union[block]
    return bool(some)


@inner_kernel
def run_length(union: Bytes, block: int, most: int) -> int:
    """How many neighbours from `block` on are needed, up to `most`."""
    count = 0
    while count < most and union[block + count]:
        count += 1
    return count
