"""Hands on a flop, counted one pair of combos and one runout at a time.

Nothing here shares code with the package; hand strengths come from the caller.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

Combo = tuple[int, int]
Strength = Callable[[list[int]], object]  # of seven cards; only compared

RANKS = "23456789TJQKA"


def combos_of(hand: str) -> list[Combo]:
    """The combos of a hand such as AA, AKs or AKo."""
    first, second = RANKS.index(hand[0]), RANKS.index(hand[1])
    return [
        (4 * first + a, 4 * second + b)
        for a in range(4)
        for b in range(4)
        if (first != second or a > b) and (hand[2:] == "" or (a == b) == (hand[2] == "s"))
    ]


def pairs(first: str, second: str, board: Sequence[int]) -> int:
    """How many pairs of their combos fit beside the board and each other."""
    return sum(
        len({*own, *other, *board}) == 4 + len(board)
        for own in combos_of(first)
        for other in combos_of(second)
    )


def margin(first: str, second: str, flop: Sequence[int], strength: Strength) -> int:
    """Wins − losses of the first hand over every pair of combos and every runout that fits."""
    total = 0
    for runout in combinations([card for card in range(52) if card not in flop], 2):
        board = [*flop, *runout]
        own, other = (
            [
                (set(combo), strength([*combo, *board]))
                for combo in combos_of(hand)
                if not {*combo} & {*board}
            ]
            for hand in (first, second)
        )
        for cards, mine in own:
            for opposing, theirs in other:
                if not cards & opposing:
                    total += (mine > theirs) - (mine < theirs)  # type: ignore[operator]
    return total


def class_wins(
    strengths: Sequence[Sequence[int]],
    weights: Sequence[int],
    cards: Sequence[Sequence[int]],
    classes: Sequence[int],
    class_count: int,
) -> list[list[int]]:
    """Weighted wins of classes of combos; a strength above 7462 is a combo that does not fit."""
    wins = [[0] * class_count for _ in range(class_count)]
    for row, weight in zip(strengths, weights, strict=True):
        for c, own in enumerate(row):
            for d, other in enumerate(row):
                if other < own <= 7462 and not {*cards[c]} & {*cards[d]}:
                    wins[classes[c]][classes[d]] += weight
    return wins
