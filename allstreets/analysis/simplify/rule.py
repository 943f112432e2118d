"""Simple strategies: fewer sizes, no rare actions, round frequencies.

Rules for the strategies of decisions, applied in this order:

1. `sizes`: at each decision the K most frequent bet sizes stay, counting all hands that get there.
Every other size is played as the nearest size that stays. A raise and an all-in are sizes too;
fold, check and call are not, and stay.
2. `drop`: a hand drops actions that it takes less often than this, but never its likeliest action;
the rest is scaled to 1.
3. `grid`: a hand's frequencies become multiples of this, by the method of the largest remainder:
all are rounded down, and the missing steps go to those that lost most; among equals to the likelier
action, then to the first in the list.

Hands with a locked strategy keep it (`Choice.given`).

The evaluated strategies are the stored ones, in the numbers of a bundle (`stored_numbers`). Reading
gives an action's share of the numbers of a hand (`engines.quantised`). So on a grid of N steps an
action's number is its count of steps, and its frequency is on the grid to the last bit. Without a
grid numbers are rounded like those of any solution, and a dropped action is exactly 0. A hand whose
strategy stays keeps its numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from allstreets.base import Flags, Floats, InputError
from allstreets.betting import BettingTree, read_only
from allstreets.engines import TWO_BYTES, Shares, encode

EQUAL = 1e-7  # steps of a grid that 32 bits cannot tell apart
MOST_STEPS = 1_000_000
CACHED_NODES = 4096


class Choice(NamedTuple):
    """A decision: the strategies of its hands, and the share of each that gets there."""

    chances: Floats  # [A, H]
    amounts: Floats  # [A]: of bets and raises, 0 for fold, check and call
    weights: Floats  # [H]
    given: Flags | None = None  # [H]: hands that keep their strategy; None: none does


@dataclass(frozen=True)
class Simplification:
    """The rule that makes strategies simple; a field that is None changes nothing."""

    grid: float | None = None  # 0.25: frequencies of 0, 25, 50, 75 and 100 %
    sizes: int | None = None  # that are kept at each decision
    drop: float | None = None  # 0.05: actions below 5 % are dropped

    def __post_init__(self) -> None:
        """Refuse rules that cannot be applied."""
        if self.grid is None and self.sizes is None and self.drop is None:
            raise InputError(
                "nothing to simplify: give a grid such as 25 %, a number of sizes such as 1, or "
                "drop, such as 5 %"
            )
        if self.grid is not None:
            _steps(self.grid)
        if self.sizes is not None and self.sizes < 1:
            raise InputError(f"sizes {self.sizes}: keep at least one size at each decision")
        if self.drop is not None and not 0 < self.drop < 1:
            raise InputError(
                f"drop {100 * self.drop:g} %: give a share between 0 and 100 %, such as 5 %"
            )

    def __str__(self) -> str:
        """The rule in words: "1 size, without actions below 5 %, in steps of 25 %"."""
        words = []
        if self.sizes is not None:
            words.append(f"{self.sizes} size{'s' * (self.sizes != 1)}")
        if self.drop is not None:
            words.append(f"no actions below {100 * self.drop:g} %")
        if self.grid is not None:
            words.append(f"steps of {100 * self.grid:g} %")
        return ", ".join(words)

    def apply(self, chances: Floats, amounts: Floats, weights: Floats) -> Floats:
        """[D, A, H]: the simple strategies of D decisions with A actions each.

        `amounts` [D, A] are those of bets and raises, 0 for fold, check and call; `weights` [D, H]
        are the shares of each hand that get there.
        """
        if self.sizes is not None:
            chances = keep_sizes(chances, amounts, weights, self.sizes)
        if self.drop is not None:
            chances = drop_rare(chances, self.drop)
        return chances if self.grid is None else round_to_grid(chances, self.grid)

    def apply_all(self, decisions: Sequence[Choice]) -> list[Floats]:
        """[A, H] each: the same for decisions with any numbers of actions."""
        simplified: list[Floats] = [choice.chances for choice in decisions]
        alike: dict[tuple[int, ...], list[int]] = {}
        for index, choice in enumerate(decisions):
            alike.setdefault(choice.chances.shape, []).append(index)
        for indices in alike.values():
            same = [decisions[index] for index in indices]
            simple = self.apply(
                np.stack([choice.chances for choice in same]),
                np.stack([choice.amounts for choice in same]),
                np.stack([choice.weights for choice in same]),
            )
            for index, choice, strategy in zip(indices, same, simple, strict=True):
                kept = choice.given
                simplified[index] = (
                    strategy if kept is None else np.where(kept, choice.chances, strategy)
                )
        return simplified

    @property
    def steps(self) -> int | None:
        """The number of steps of the grid in 1; None: there is no grid."""
        return None if self.grid is None else _steps(self.grid)


def _steps(grid: float) -> int:
    """The number of steps of a grid in 1."""
    steps = round(1 / grid) if grid > 0 else 0
    if not 1 <= steps <= MOST_STEPS or abs(steps * grid - 1) > 1e-9:
        raise InputError(
            f"grid {100 * grid:g} %: steps must divide 100 %, such as 50, 25, 20, 10 or 5 %"
        )
    return steps


def round_to_grid(chances: Floats, grid: float) -> Floats:
    """[…, A, H]: the nearest multiples of a grid that sum to 1."""
    steps = _steps(grid)
    exact = chances * steps
    whole = np.floor(exact + EQUAL)
    lost = exact - whole
    missing = np.rint(steps - whole.sum(axis=-2, keepdims=True))
    # Values that 32 bits cannot tell apart are equal, so that rounding does not depend on noise.
    order = np.lexsort((-np.round(chances, 6), -np.round(lost, 6)), axis=-2)
    rank = np.argsort(order, axis=-2, kind="stable")
    rounded: Floats = (whole + (rank < missing)) / steps
    return rounded


def drop_rare(chances: Floats, least: float) -> Floats:
    """[…, A, H]: without the actions that a hand takes less often than `least`."""
    likeliest = chances >= chances.max(axis=-2, keepdims=True)
    kept = np.where((chances >= least) | likeliest, chances, 0.0)
    shares: Floats = kept / kept.sum(axis=-2, keepdims=True)
    return shares


def keep_sizes(chances: Floats, amounts: Floats, weights: Floats, count: int) -> Floats:
    """[D, A, H]: with at most `count` sizes at each of D decisions."""
    # Where no hand gets, hands count alike.
    weights = np.where(weights.sum(axis=-1, keepdims=True) > 0, weights, 1.0)
    taken = np.where(amounts > 0, np.einsum("dah,dh->da", chances, weights), -1.0)
    order = np.argsort(-taken, axis=-1, kind="stable")
    kept = (np.argsort(order, axis=-1, kind="stable") < count) & (amounts > 0)
    ratios = np.log(np.where(amounts > 0, amounts, 1.0))
    apart = np.abs(ratios[:, :, None] - ratios[:, None, :])  # [D, A, A]
    nearest = np.where(kept[:, None, :], apart, np.inf).argmin(axis=-1)
    own = np.arange(amounts.shape[-1])
    target = np.where(kept | (amounts <= 0), own, nearest)  # [D, A]
    moves = (target[:, None, :] == own[None, :, None]).astype(np.float64)
    moved: Floats = moves @ chances
    return moved


@lru_cache(CACHED_NODES)
def amounts_at(tree: BettingTree, node: int) -> Floats:
    """[A]: what bets and raises put in at a decision; 0 for fold, check and call."""
    amounts = [action.amount if action.is_aggressive else 0.0 for action in tree.actions_at(node)]
    return read_only(np.array(amounts))


@dataclass(frozen=True)
class Mixes:
    """The number of reached decisions of hands, and how many of them are mixed."""

    decisions: int = 0
    mixed: int = 0

    def __add__(self, other: "Mixes") -> "Mixes":
        return Mixes(self.decisions + other.decisions, self.mixed + other.mixed)


LEAST_REACH = 0.01  # of a hand: one that gets there less often has no decision to remember
PURE = 0.995  # a hand that takes one action this often does not mix


def count_mixes(decisions: Iterable[tuple[Floats, Floats, Floats]]) -> Mixes:
    """Count mixes in (chances [A, H], weights [H], weights [H] as dealt), each with a choice."""
    total = mixed = 0
    for chances, weights, dealt in decisions:
        if len(chances) > 1:
            held = (dealt > 0) & (weights >= LEAST_REACH * dealt)
            total += int(held.sum())
            mixed += int((held & (chances.max(axis=0) < PURE)).sum())
    return Mixes(total, mixed)


def stored_numbers(
    rule: Simplification, stored: Shares, chances: Floats, simple: Floats, numbers: np.dtype[Any]
) -> Shares:
    """[A, H]: the numbers to store for `simple` where `stored` held `chances`.

    Off a grid strategies are rounded to `numbers`, bytes or words; floats hold them unchanged.
    """
    whole, steps = np.issubdtype(numbers, np.integer), rule.steps
    most = np.iinfo(TWO_BYTES).max if whole else np.inf
    if steps is not None and steps <= most:
        kind = np.min_scalar_type(steps) if whole else np.float32
        fresh: Shares = np.rint(simple * steps).astype(kind)
    elif whole:
        fresh = encode(simple, numbers)
    else:
        fresh = simple.astype(np.float32)
    return np.where((chances == simple).all(axis=0), stored, fresh)
