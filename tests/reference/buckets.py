"""Slow, obvious counts for the bucket model, with another program's evaluator.

Nothing here shares code with the fast ones. Combos are pairs of cards, the higher one first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations

import eval7

Combo = tuple[int, int]
RANKS, SUITS = "23456789TJQKA", "cdhs"


@cache
def other_program_card(card: int) -> eval7.Card:
    return eval7.Card(RANKS[card // 4] + SUITS[card % 4])


def strength(combo: Sequence[int], board: Sequence[int]) -> int:
    return int(eval7.evaluate([other_program_card(card) for card in (*combo, *board)]))


def combos_without(cards: Sequence[int]) -> list[Combo]:
    """All combos of the cards that are left."""
    deck = [card for card in range(52) if card not in cards]
    return [(high, low) for low, high in combinations(deck, 2)]


def points(combo: Sequence[int], board: Sequence[int]) -> int:
    """2 for each opposing combo that is beaten, 1 for each tie."""
    own = strength(combo, board)
    total = 0
    for other in combos_without([*combo, *board]):
        theirs = strength(other, board)
        total += 2 * (own > theirs) + (own == theirs)
    return total


def runouts(combo: Sequence[int], board: Sequence[int]) -> list[tuple[int, ...]]:
    """Every complete board that fits beside the combo."""
    deck = [card for card in range(52) if card not in (*combo, *board)]
    return [(*board, *rest) for rest in combinations(deck, 5 - len(board))]


def spread(found: Sequence[int], cells: int, width: int) -> list[int]:
    """For each cell, Σ over its numbers of how many of the found ones are no larger."""
    return [
        sum(sum(one <= number for one in found) for number in range(width * k, width * (k + 1)))
        for k in range(cells)
    ]


Buckets = Mapping[Combo, int]


def river_meetings(board: Sequence[int], buckets: Buckets) -> tuple[Counter[Combo], Counter[Combo]]:
    """Meetings and margin of each pair of buckets on one complete board, pair by pair."""
    meetings, margin = Counter[Combo](), Counter[Combo]()
    strengths = {combo: strength(combo, board) for combo in combos_without(board)}
    for own, own_strength in strengths.items():
        for other, other_strength in strengths.items():
            if own[0] in other or own[1] in other:
                continue
            pair = buckets[own], buckets[other]
            meetings[pair] += 1
            margin[pair] += (own_strength > other_strength) - (own_strength < other_strength)
    return meetings, margin


def dealt_share(
    counts: Sequence[Mapping[Combo, int]],
    own: int,
    other: int,
    river_net: Sequence[Sequence[float]],
) -> float:
    """Net share of one bucket against another when each is dealt on, street by street.

    `counts` say, for each street to come, how often a bucket (first of the pair) becomes another.
    """
    if not counts:
        return river_net[own][other]
    here, *rest = counts
    after = [
        [(then, count) for (before, then), count in here.items() if before == bucket]
        for bucket in (own, other)
    ]
    share = 0.0
    for mine, my_count in after[0]:
        for theirs, their_count in after[1]:
            share += my_count * their_count * dealt_share(rest, mine, theirs, river_net)
    return share / (sum(count for _, count in after[0]) * sum(count for _, count in after[1]))


def chosen_seeds(
    points: Sequence[Sequence[int]], weights: Sequence[int], draws: Sequence[Sequence[float]]
) -> list[Sequence[int]]:
    """Greedy k-means++ point by point, in whole numbers."""

    def away(one: Sequence[int], other: Sequence[int]) -> int:
        return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))

    centres: list[Sequence[int]] = []
    for candidates in draws:
        masses = [
            weight * (min(away(point, centre) for centre in centres) if centres else 1)
            for point, weight in zip(points, weights, strict=True)
        ]
        best: tuple[int, Sequence[int]] | None = None
        for draw in candidates:
            left = draw * sum(masses)
            drawn = 0
            while left >= masses[drawn]:
                left -= masses[drawn]
                drawn += 1
            then = [*centres, points[drawn]]
            remaining = sum(
                weight * min(away(point, centre) for centre in then)
                for point, weight in zip(points, weights, strict=True)
            )
            if best is None or remaining < best[0]:
                best = remaining, points[drawn]
        assert best is not None
        centres.append(best[1])
    return centres


def least_spread(weights: Sequence[int], count: int) -> float:
    """The least Σ weight × distance² to the mean over all ways to cut a line into intervals."""
    values = [value for value, weight in enumerate(weights) if weight]

    def cost(part: Sequence[int]) -> float:
        mass = sum(weights[value] for value in part)
        mean = sum(weights[value] * value for value in part) / mass
        return sum(weights[value] * (value - mean) ** 2 for value in part)

    count = min(count, len(values))
    return min(
        sum(
            cost(values[start:end])
            for start, end in zip((0, *cuts), (*cuts, len(values)), strict=True)
        )
        for cuts in combinations(range(1, len(values)), count - 1)
    )
