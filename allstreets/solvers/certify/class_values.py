"""What every flop is worth where hand classes play it: a cheap likeness of its true values.

All 1,755 flops are solved with hand classes for the ranges that a solution sends there, a part of
them at a time. Such play sees neither turn nor river, so its values are off; but on flops where
a hand's true value is high, this one is high too (`known`).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from allstreets.base import Floats
from allstreets.betting import Player
from allstreets.cards import Flop, all_flops
from allstreets.cfr import parse_schedule
from allstreets.games import WholeGame

ITERATIONS = 60
PART_BYTES = 1 << 28  # of regrets and strategies that are in memory at a time, about
SLOT_BYTES = 8 * 169  # of an action: regrets and average of every class, in 32 bits


def class_values(
    game: WholeGame,
    reach: Floats,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    flops: Sequence[Flop] | None = None,
    part_bytes: int = PART_BYTES,
) -> Floats:
    """[F, 2, P, 169]: values of best responses to hand classes, given reach [2, P, 169].

    In chips times pairs of combos; of all 1,755 flops unless some are named.
    `progress` gets how many of how many flops are done.
    """
    game = game.roughly
    pots, flops = reach.shape[1], all_flops() if flops is None else flops
    every = parse_schedule("ahead").run(1, ITERATIONS)
    spec = game.engine(threads=threads)
    a_flop = SLOT_BYTES * sum(size.slots for size in game.tree_sizes)
    count = min(max(threads, part_bytes // max(a_flop, 1)), len(flops))
    found = np.zeros((len(flops), *reach.shape))
    for first in range(0, len(flops), count):
        part = flops[first : first + count]
        games = game.build(replace(spec, flops=tuple(part)))
        games.iterate(reach, np.ones((pots, len(part)), np.bool_), every)
        places = np.arange(len(part))
        for player in Player:
            best = games.best_response(player, reach[1 - player], places)
            found[first : first + len(part), player] = best.transpose(1, 0, 2)
        if progress is not None:
            progress(first + len(part), len(flops))
    return found
