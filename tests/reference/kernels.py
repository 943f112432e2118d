"""Slow, obvious twins of the kernels. Nothing here shares code with them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

Cards = Sequence[int]


def five_card_key(cards: Cards) -> tuple[int, ...]:
    """Category and deciding ranks of exactly five cards, as a tuple that orders hands."""
    ranks = sorted((card // 4 for card in cards), reverse=True)
    suits = {card % 4 for card in cards}
    groups = sorted(Counter(ranks).items(), key=lambda item: (-item[1], -item[0]))
    shape = tuple(count for _, count in groups)
    by_group = tuple(rank for rank, _ in groups)
    straight = None
    if len(by_group) == 5:
        if ranks[0] - ranks[4] == 4:
            straight = ranks[0]
        elif ranks == [12, 3, 2, 1, 0]:
            straight = 3
    flush = len(suits) == 1
    if straight is not None and flush:
        return (8, straight)
    if shape == (4, 1):
        return (7, *by_group)
    if shape == (3, 2):
        return (6, *by_group)
    if flush:
        return (5, *ranks)
    if straight is not None:
        return (4, straight)
    if shape == (3, 1, 1):
        return (3, *by_group)
    if shape == (2, 2, 1):
        return (2, *by_group)
    if shape == (2, 1, 1, 1):
        return (1, *by_group)
    return (0, *ranks)


def hand_key(cards: Cards) -> tuple[int, ...]:
    """The best five of any number of cards."""
    return max(five_card_key(five) for five in combinations(cards, 5))


def showdown(first: Cards, second: Cards, board: Cards) -> int:
    """1 when the first combo wins on a full board, −1 when it loses, 0 for a tie."""
    keys = hand_key([*first, *board]), hand_key([*second, *board])
    return (keys[0] > keys[1]) - (keys[0] < keys[1])


def matchup(first: Cards, second: Cards, board: Cards) -> tuple[int, int, int]:
    """(wins, ties, losses) of one combo against another over every runout."""
    deck = [card for card in range(52) if card not in {*first, *second, *board}]
    results = Counter(
        showdown(first, second, [*board, *rest]) for rest in combinations(deck, 5 - len(board))
    )
    return results[1], results[0], results[-1]


Weighted = Iterable[tuple[Cards, float]]


def range_equity(first: Weighted, second: Weighted, board: Cards) -> float:
    """The first range's share of the pot, pair by pair."""
    total = won = 0.0
    opponents = list(second)
    for combo, weight in first:
        for other, other_weight in opponents:
            if len({*combo, *other, *board}) < 4 + len(board):
                continue
            wins, ties, losses = matchup(combo, other, board)
            total += weight * other_weight
            won += weight * other_weight * (wins + ties / 2) / (wins + ties + losses)
    return won / total
