"""Which flops an iteration visits.

An *epoch* visits flops in batches, each for some iterations. Shuffled, an epoch is a random order
of all flops cut into batches, so that each comes once. By reach, a batch is drawn anew each time,
and a flop is the likelier the more pairs of hands see it under the current strategy. In either case
the chance of every flop to be in the batch is known, which keeps the estimates unbiased.

What is drawn depends on the seed and the number of the epoch and batch alone.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from allstreets.base import Floats, InputError, Longs

Choice = Literal["shuffled", "reach"]


@dataclass(frozen=True)
class VisitPlan:
    """How flops are visited; a `size` of 0 means all of them, always."""

    size: int = 0
    iterations: int = 1  # of a batch
    choice: Choice = "shuffled"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.size < 0 or self.iterations < 1:
            raise InputError(
                f"flop_batch_size is {self.size} and iterations_per_batch {self.iterations}: "
                "the first must not be negative (0 = all flops), the second at least 1"
            )

    def visits_all(self, flops: int) -> bool:
        """Whether every iteration visits every flop."""
        return self.size == 0 or self.size >= flops

    def batches(self, flops: int) -> int:
        """Batches of an epoch."""
        return 1 if self.visits_all(flops) else -(-flops // self.size)

    def epoch_iterations(self, flops: int) -> int:
        """Iterations of an epoch."""
        return self.batches(flops) * self.iterations

    def place(self, iteration: int, flops: int) -> tuple[int, int, bool]:
        """(epoch, batch, whether it begins) of an iteration, all counted from 0."""
        done, within = divmod(iteration, self.epoch_iterations(flops))
        batch, inner = divmod(within, self.iterations)
        return done, batch, inner == 0

    def draw(self, epoch: int, batch: int, shares: Floats) -> tuple[Longs, Floats]:
        """(flops, chances) of a batch; `shares` [F] say how likely flops shall be, by reach."""
        flops = len(shares)
        if self.visits_all(flops):
            return np.arange(flops), np.ones(flops)
        if self.choice == "shuffled":
            order = np.random.default_rng([self.seed, epoch]).permutation(flops)
            chosen = np.sort(order[batch * self.size : (batch + 1) * self.size])
            return chosen, np.full(len(chosen), len(chosen) / flops)
        chances = inclusion_chances(shares, self.size)
        generator = np.random.default_rng([self.seed, epoch, batch])
        chosen = systematic_sample(chances, generator)
        return chosen, chances[chosen]


def inclusion_chances(shares: Floats, size: int) -> Floats:
    """[F] chances, in proportion to `shares`, at most 1 and `size` in all.

    A flop that no hand reaches keeps a small chance, so that its values are never frozen.
    """
    wanted = np.maximum(shares, 0.05 * shares.mean() if shares.any() else 1.0)
    chances = np.zeros(len(wanted))
    free = np.ones(len(wanted), bool)
    while True:
        left = size - float((~free).sum())
        chances[free] = wanted[free] * left / wanted[free].sum()
        above = free & (chances >= 1.0)
        if not above.any():
            return chances
        chances[above] = 1.0
        free &= ~above


def systematic_sample(chances: Floats, generator: np.random.Generator) -> Longs:
    """Flops, each with exactly its chance: a comb of unit steps laid over them in random order."""
    order = generator.permutation(len(chances))
    ends = np.cumsum(chances[order])
    teeth = np.arange(generator.random(), ends[-1], 1.0)
    return np.unique(order[np.searchsorted(ends, teeth, side="right")])
