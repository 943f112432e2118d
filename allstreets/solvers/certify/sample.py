"""Which flops a certificate looks at, and what each stands for.

Flops that a solution was trained on and flops that it never saw are two populations: from either,
some are drawn. A population is ordered by likeness and cut into parts of equal numbers of dealt
flops, and every part gives one flop, each as likely as it is dealt: sums over the draws, weighted
by the parts, are unbiased. Two neighbouring parts are a *pair*: how much their draws differ tells
how far the sums may be off (`figures`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.cards import Flop, FlopSet, all_flops, by_likeness


@dataclass(frozen=True)
class Draw:
    """A flop and how many of the 22,100 dealt flops it stands for."""

    flop: Flop
    weight: float
    pair: int | None = None  # of draws from neighbouring parts; None: the flop was not left to luck


def everything(flops: FlopSet) -> tuple[Draw, ...]:
    """All flops of a set, each with its weight there."""
    pairs = zip(flops.flops, flops.weights.tolist(), strict=True)
    return tuple(Draw(flop, weight) for flop, weight in pairs)


def draw_flops(trained: Collection[int], count: int, seed: int) -> tuple[Draw, ...]:
    """`count` flops of those with the numbers `trained`, and as many of the others.

    An odd count is raised by one. A population that is not larger is taken whole.
    """
    random = np.random.default_rng(seed)
    seen = [flop for flop in all_flops() if flop.number in trained]
    unseen = [flop for flop in all_flops() if flop.number not in trained]
    first = _draw(seen, count, random, 0)
    return (*first, *_draw(unseen, count, random, len(first) // 2))


def _draw(
    population: Sequence[Flop], count: int, random: np.random.Generator, first_pair: int
) -> list[Draw]:
    count += count % 2
    if len(population) <= count:
        return [Draw(flop, float(flop.multiplicity)) for flop in population]
    flops = by_likeness(population)
    ends = np.cumsum([flop.multiplicity for flop in flops])
    part = float(ends[-1] / count)
    points = (np.arange(count) + random.random(count)) * part
    places = np.minimum(np.searchsorted(ends, points, side="right"), len(flops) - 1)
    return [
        Draw(flops[place], part, first_pair + number // 2)
        for number, place in enumerate(places.tolist())
    ]
