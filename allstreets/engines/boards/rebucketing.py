"""Buckets follow the ranges: which ranges they are made for, and what a pot carries to new ones.

Buckets are made for the ranges that start a pot. Every set of buckets takes memory on every flop,
so pots that begin with similar ranges share one: they are merged into a few *range sets*, the most
similar first.

When ranges have moved, hands are bucketed again, and a bucket starts from the mean of what its
hands have learned elsewhere, by their weight in the ranges: regrets, and the average strategy. What
is learned on the flop is by combo and stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allstreets.base import Bytes, Floats, Longs
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, HAND_SIZES
from allstreets.engines.boards.cards import (
    Bucketing,
    BucketSettings,
    FlopBoards,
    hand_weights,
    river_street,
)
from allstreets.engines.boards.kernels.bucketing import carry_rows
from allstreets.engines.boards.subgame import (
    FLOP,
    RIVER,
    TURN,
    BoardsPots,
    BoardsSubgame,
    PotsOnFlop,
)
from allstreets.engines.exact.kernels.layout import HandLists
from allstreets.engines.exact.subgame import play_locks


@dataclass(frozen=True, eq=False)
class RangeSets:
    """S pairs of ranges, and the pair that each pot uses."""

    ranges: Floats  # [S, 2, 169]: each player's largest weight is 1
    of_pot: tuple[int, ...]  # [P]


def range_sets(ranges: Floats | None, pots: int, most: int) -> RangeSets:
    """Put pots together by the ranges [2, P, 169] that start them, in `most` sets at most.

    Without ranges all are one.
    """
    if ranges is None or pots == 0:
        return RangeSets(np.ones((1, 2, HAND_COUNT)), (0,) * pots)
    shares, mass = _shares(ranges), _masses(ranges)
    members = [[pot] for pot in range(pots)]
    means = [shares[:, pot] for pot in range(pots)]
    while len(members) > most:
        masses = [mass[pots_].sum() for pots_ in members]
        cost = np.full((len(members), len(members)), np.inf)
        for a in range(len(members)):
            for b in range(a + 1, len(members)):
                # The error of the common mean: Ward's distance.
                share = masses[a] * masses[b] / (masses[a] + masses[b])
                cost[a, b] = share * np.abs(means[a] - means[b]).sum()
        a, b = divmod(int(np.argmin(cost)), len(members))
        total = masses[a] + masses[b]
        means[a] = (masses[a] * means[a] + masses[b] * means[b]) / total
        members[a] += members[b]
        del members[b], means[b]
    of_pot = [0] * pots
    for number, pots_ in enumerate(members):
        for pot in pots_:
            of_pot[pot] = number
    weights = np.stack(means) / HAND_SIZES
    largest = weights.max(axis=2, keepdims=True)
    weights = np.where(largest > 0, weights / np.where(largest > 0, largest, 1.0), 1.0)
    return RangeSets(weights, tuple(of_pot))


def moved(before: RangeSets, after: RangeSets, ranges: Floats) -> float:
    """The distance that ranges of pots have moved, 0 (not at all) to 1 (no combo in common).

    The mean over both players and all pots, which weigh as with the `ranges` [2, P, 169].
    """
    if not after.of_pot:
        return 0.0
    now, then = (_shares(sets.ranges[list(sets.of_pot)]) for sets in (after, before))
    apart = np.abs(now - then).sum(axis=2) / 2  # [P, 2]
    return float(np.average(apart.mean(axis=1), weights=_masses(ranges)))


def _shares(ranges: Floats) -> Floats:
    """[…, 169]: the classes' shares in the combos of ranges."""
    combos = ranges * HAND_SIZES
    shares: Floats = combos / np.maximum(combos.sum(axis=-1, keepdims=True), 1e-300)
    return shares


def _masses(ranges: Floats) -> Floats:
    """[P]: the pots' shares in the pairs of hands that start one, for ranges [2, P, 169]."""
    mass = (ranges * HAND_SIZES).sum(axis=2).prod(axis=0)
    share = mass / mass.sum() if mass.sum() > 0 else mass + 1.0
    masses: Floats = np.maximum(share, 1e-6)
    return masses


def rebucket_flop(
    before: Sequence[BoardsSubgame],
    sets: RangeSets,
    layouts: Sequence[tuple[Longs, BoardsPots]],
    settings: BucketSettings,
    bucketing: Bucketing,
) -> tuple[FlopBoards, list[tuple[Longs, PotsOnFlop]]]:
    """Move all pots of a flop to buckets that are made for other sets of ranges.

    `layouts` are, by set, its pots and how they are laid out; what comes back, their games.
    """
    turn = before[0].cards.streets[TURN]
    river = river_street(turn)
    buckets = bucketing(turn, river, list(sets.ranges), settings)
    cards = replace(before[0].cards, buckets=buckets)
    after = []
    for number, (pots, layout) in enumerate(layouts):
        games = PotsOnFlop(layout, cards, number)
        weights = StreetWeights.of(turn.lists[0], river.hands, sets.ranges[number])
        for pot, new in zip(pots.tolist(), games.subgames, strict=True):
            carry(before[pot], new, weights)
        after.append((pots, games))
    return cards, after


@dataclass(frozen=True, eq=False)
class StreetWeights:
    """The weights of the hands of turn and river in a pair of ranges."""

    lists: tuple[HandLists, HandLists]
    weights: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]  # [H], by street and player

    @classmethod
    def of(cls, turn: HandLists, river: HandLists, ranges: Floats) -> "StreetWeights":
        """The weights in the ranges [2, 169]."""
        oop, ip = ranges
        on_turn, on_river = (
            (hand_weights(street, oop), hand_weights(street, ip)) for street in (turn, river)
        )
        return cls((turn, river), (on_turn, on_river))


def carry(old: BoardsSubgame, new: BoardsSubgame, hands: StreetWeights) -> None:
    """Carry what a pot has learned from its old buckets to its new ones."""
    for level in (FLOP, TURN, RIVER):
        for player in Player:
            before, after = (_buckets(subgame, level, player) for subgame in (old, new))
            for sources, targets in ((old.regrets, new.regrets), (old.averages, new.averages)):
                stored, carried = sources[level][player], targets[level][player]
                if before is None or after is None:
                    carried[:] = stored
                elif len(stored):
                    carry_rows(
                        hands.lists[level - TURN],
                        before,
                        after,
                        hands.weights[level - TURN][player],
                        int(new.boards[player][level].own_rows[1]),
                        new.slot_actions(level, player),
                        stored,
                        carried,
                    )
    play_locks(new, TURN)  # buckets without any hand have carried nothing
    new.steps, new.weights, new.waiting = list(old.steps), list(old.weights), list(old.waiting)


def _buckets(subgame: BoardsSubgame, level: int, player: Player) -> Bytes | None:
    """[H]: the bucket of each hand of a street; None: every hand its own."""
    buckets = subgame.cards.buckets[subgame.ranges]
    if level == RIVER:
        return buckets.river[player]
    if level == FLOP or buckets.turn is None:
        return None
    return buckets.turn[player].row.astype(np.uint8)
