"""Which flops a certificate looks at, and what each stands for.

Flops that a solution was trained on and flops that it never saw are two populations: from either,
some are drawn. Monotone flops are a stratum of their own: they are 5 % of the deal, less than one
draw in a small sample, and what a solution loses after the flop may lie there alone. A stratum is
ordered by likeness and cut into parts of equal numbers of dealt flops, and every part gives one
flop, each as likely as it is dealt: sums over the draws, weighted by the parts, are unbiased. Two
neighbouring parts are a *pair*: how much their draws differ tells how far the sums may be off
(`figures`).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count as count_from

import numpy as np

from allstreets.cards import Flop, FlopSet, all_flops, by_likeness

FEWEST = 4  # draws from a population: a pair of monotone flops, and a pair of others
MONOTONE_SHARE = 1 / 6  # of the draws: three times their share of the deal, since they vary most


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

    An odd count is raised by one, and less than four to four. A population that is not larger is
    taken whole.
    """
    random, pairs = np.random.default_rng(seed), count_from()
    count = max(count + count % 2, FEWEST)
    draws: list[Draw] = []
    for is_trained in (True, False):
        population = [flop for flop in all_flops() if (flop.number in trained) == is_trained]
        if len(population) <= count:
            draws += _whole(population)
            continue
        monotone = [flop for flop in population if flop.texture.suits == "monotone"]
        others = [flop for flop in population if flop.texture.suits != "monotone"]
        first = _draw(monotone, max(_even(count * MONOTONE_SHARE), 2), random, pairs)
        draws += first
        draws += _draw(others, count - _even(len(first)), random, pairs)
    return tuple(draws)


def _even(number: float) -> int:
    """The nearest even number; of two, the larger."""
    return 2 * int(number / 2 + 0.5)


def _whole(flops: Sequence[Flop]) -> list[Draw]:
    return [Draw(flop, float(flop.multiplicity)) for flop in flops]


def _draw(
    stratum: Sequence[Flop], count: int, random: np.random.Generator, pairs: Iterator[int]
) -> list[Draw]:
    """`count` flops of a stratum, or all where there are no more; every pair takes a number."""
    if len(stratum) <= count:
        return _whole(stratum)
    flops = by_likeness(stratum)
    ends = np.cumsum([flop.multiplicity for flop in flops])
    part = float(ends[-1] / count)
    points = (np.arange(count) + random.random(count)) * part
    numbers = np.minimum(np.searchsorted(ends, points, side="right"), len(flops) - 1)
    drawn = [flops[number] for number in numbers.tolist()]
    return [
        Draw(flop, part, pair)
        for first, second in zip(drawn[::2], drawn[1::2], strict=True)
        for pair in [next(pairs)]
        for flop in (first, second)
    ]
