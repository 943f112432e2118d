"""Names of hands, one combo at a time, by trying every card and every five of the cards."""

from itertools import combinations

from allstreets.cards import card_rank, card_suit

RANKS_OF_STRAIGHTS = [{12, 0, 1, 2, 3}, *({low + k for k in range(5)} for low in range(9))]


def straight_of(cards: tuple[int, ...]) -> int:
    """The highest straight among cards, −1: none."""
    ranks = {card_rank(card) for card in cards}
    return max((n for n, five in enumerate(RANKS_OF_STRAIGHTS) if five <= ranks), default=-1)


def has_flush(cards: tuple[int, ...]) -> bool:
    return any(sum(card_suit(card) == suit for card in cards) >= 5 for suit in range(4))


def slow_categories(board: tuple[int, ...], hole: tuple[int, ...]) -> tuple[str, str] | None:
    """(made hand, draw); None where a card is on the board."""
    if set(board) & set(hole):
        return None
    made = _made(board, hole)
    strong = ("straight flush", "quads", "full house", "flush", "straight")
    return made, "no draw" if made in strong or len(board) == 5 else _draw(board, hole)


def _made(board: tuple[int, ...], hole: tuple[int, ...]) -> str:
    cards = (*board, *hole)
    if any(straight_of(five) >= 0 and has_flush(five) for five in combinations(cards, 5)):
        return "straight flush"
    counts = sorted(
        (sum(card_rank(card) == rank for card in cards) for rank in range(13)), reverse=True
    )
    if counts[0] == 4:
        return "quads"
    if counts[0] == 3 and counts[1] >= 2:
        return "full house"
    if has_flush(cards):
        return "flush"
    if straight_of(cards) >= 0:
        return "straight"
    high, low = sorted((card_rank(card) for card in hole), reverse=True)
    there = [card_rank(card) for card in board]
    different = sorted(set(there), reverse=True)
    if high == low and high in there:
        return "set"
    if any(there.count(rank) == 2 for rank in (high, low)):
        return "trips"
    if high == low:
        return "overpair" if high > different[0] else "underpair"
    if high in there and low in there:
        return "two pair"
    for rank in (high, low):
        if rank in there:
            return ["top pair", "second pair", "low pair"][min(different.index(rank), 2)]
    return "ace high" if high == 12 else "no pair"


def _draw(board: tuple[int, ...], hole: tuple[int, ...]) -> str:
    cards = (*board, *hole)
    left = [card for card in range(52) if card not in cards]
    outs = {
        card_rank(card)
        for card in left
        if straight_of((*cards, card)) > straight_of((*board, card))
    }
    suits = [
        suit
        for suit in {card_suit(card) for card in hole}
        if sum(card_suit(card) == suit for card in cards) == 4
    ]
    if suits and outs:
        return "flush and straight draw"
    if suits:
        own = max(card for card in hole if card_suit(card) == suits[0])
        others = [card for card in left if card_suit(card) == suits[0]]
        return "nut flush draw" if own > max(others) else "flush draw"
    return {0: "no draw", 1: "gutshot"}.get(len(outs), "open-ended")
