"""The way down at a decision node, which exact and matrix games share."""

from allstreets.base import Singles, inner_kernel
from allstreets.engines.simd.regret_matching import share, sharing
from allstreets.engines.simd.vectors import load, store


@inner_kernel
def split_reach(
    reach: Singles, row: int, child: int, stored: Singles, slot: int, actions: int, hands: int
) -> None:
    """Reach rows of one node's actions: the node's reach times the strategy.

    `stored` holds regrets, or an average strategy (a sum, or rounded to 16 bits).
    """
    for block in range(0, hands, 16):
        base = slot + block * actions
        shared = sharing(stored, base, actions, load(reach, row * hands + block))
        for a in range(actions):
            part = share(load(stored, base + 16 * a), shared)
            store(reach, (child + a) * hands + block, part)
