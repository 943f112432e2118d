"""Categories of hands in PioSOLVER's words: the made hand and the draw of each combo.

Names and order are its own, from the weakest up, unlike those of `cards.hand_categories`, and a
category is what the *hole cards* add:

1. Of the best five cards, those count that use the fewest hole cards. A straight, flush or straight
   flush needs a hole card among them; quads, a full house, trips and pairs need one in the group.
2. A pair is named by the position of its rank among the different ranks of the board: 1st top pair,
   2nd, 3rd, then low. A pocket pair counts the ranks above it: none overpair, one underpair, two
   3rd pair, then low. Two pair needs a board without a pair.
3. Without a group of its own, a hand is ace high or king high if that card is among the five.
4. A board with a flush gives nothing but straight flushes.
5. A draw is to a hand in which a hole card takes part; it counts cards, not ranks: where the board
   has four of a suit, the card of that suit does not complete a straight draw.

These rules, and `top_pair_tp`, which no hand gets, are known from programs that use the categories;
PioSOLVER does not document them. Combos that the board blocks have category 0.
"""

from itertools import combinations

import numpy as np

from allstreets.base import Flags, Longs
from allstreets.cards import COMBO_CARDS, COMBO_COUNT, evaluate, live_combos

MADE = (
    *("nothing", "king_high", "ace_high", "low_pair", "3rd-pair", "2nd-pair", "underpair"),
    *("top_pair", "top_pair_tp", "overpair", "two_pair", "trips", "set", "straight", "flush"),
    *("fullhouse", "top_fullhouse", "quads", "straight_flush"),
)
DRAWS = (
    *("no_draw", "bdfd_1card", "bdfd_2card", "4out_straight_draw", "8out_straight_draw"),
    *("flush_draw", "combo_draw"),
)
RANKS, SUITS = np.arange(13), np.arange(4)
KING, ACE = 11, 12
WHEEL = 0b1_0000_0000_1111  # A2345
STRAIGHTS = (WHEEL, *(0b11111 << low for low in range(9)))  # rising
OUTS = 4  # cards of a rank


def category_names() -> list[str]:
    """Two lines of names, those of made hands and those of draws, each in its order."""
    return [" ".join(MADE), " ".join(DRAWS)]


def categories(board: tuple[int, ...]) -> tuple[Longs, Longs]:
    """[1326] of `MADE` and of `DRAWS`: what every combo is on a board of three to five cards.

    >>> from allstreets.cards import parse_cards, parse_combo
    >>> made, draws = categories(tuple(parse_cards("Ks9s4d")))
    >>> combos = [parse_combo(text) for text in ("KhQd", "AsQs", "JcTc", "7h7d")]
    >>> [(MADE[made[c]], DRAWS[draws[c]]) for c in combos]  # doctest: +NORMALIZE_WHITESPACE
    [('top_pair', 'no_draw'), ('ace_high', 'flush_draw'), ('nothing', '4out_straight_draw'),
     ('3rd-pair', 'no_draw')]
    """
    live = live_combos(board)
    made = _made(board, live)
    draws = _draws(board, made) if len(board) < 5 else np.zeros(COMBO_COUNT, np.int64)
    return np.where(live, made, 0), np.where(live, draws, 0)


def _best_five(board: tuple[int, ...], live: Flags) -> tuple[Longs, Flags]:
    """[1326, 5] the best five cards with the fewest hole cards, and which of them are those."""
    cards = np.hstack([COMBO_CARDS, np.tile(np.array(board), (COMBO_COUNT, 1))]).astype(np.int64)
    best = np.full(COMBO_COUNT, -1)
    five, own = np.zeros((COMBO_COUNT, 5), np.int64), np.zeros((COMBO_COUNT, 5), np.bool_)
    for columns in combinations(range(cards.shape[1]), 5):
        hole = np.array(columns) < 2
        drawn = cards[:, columns]
        # One point of strength is more than any number of hole cards.
        worth = np.zeros(COMBO_COUNT, np.int64)
        worth[live] = evaluate(drawn[live]).astype(np.int64) * 3 + 2 - hole.sum()
        better = worth > best
        best[better], five[better], own[better] = worth[better], drawn[better], hole
    return five, own


def _made(board: tuple[int, ...], live: Flags) -> Longs:
    five, own = _best_five(board, live)
    ranks, suits = five >> 2, five & 3
    counts = (ranks[:, :, None] == RANKS).sum(axis=1)  # [1326, 13]
    mine = ((ranks[:, :, None] == RANKS) & own[:, :, None]).sum(axis=1)  # those of the hole
    grouped = (counts >= 2) & (mine > 0)
    group = np.where(grouped, RANKS, -1).max(axis=1)  # the highest with a hole card
    at = np.arange(COMBO_COUNT)
    size, added = counts[at, group], mine[at, group]

    has_group, takes_part = group >= 0, own.any(axis=1)
    top = np.where(own, ranks, -1).max(axis=1)
    different = sorted({card >> 2 for card in board}, reverse=True)
    paired = len(different) < len(board)
    is_flush = (suits == suits[:, :1]).all(axis=1)
    is_straight = np.isin((1 << ranks).sum(axis=1), STRAIGHTS) & (counts.max(axis=1) == 1)
    full = (counts == 3).any(axis=1) & (counts == 2).any(axis=1)

    made = np.select(
        [top == ACE, top == KING], [MADE.index("ace_high"), MADE.index("king_high")], 0
    )
    made = np.where(has_group, _pair(group, different), made)
    two = (grouped.sum(axis=1) >= 2) & (not paired)
    made[two] = MADE.index("two_pair")
    made[has_group & (size >= 3)] = MADE.index("trips")
    made[has_group & (size >= 3) & (added >= 2)] = MADE.index("set")
    made[is_straight & takes_part] = MADE.index("straight")
    made[is_flush & takes_part] = MADE.index("flush")
    made[full & has_group] = MADE.index("fullhouse")
    made[full & has_group & _tops(board, counts)] = MADE.index("top_fullhouse")
    made[(counts == 4).any(axis=1) & has_group] = MADE.index("quads")
    whole = is_straight & is_flush & takes_part
    if (np.bincount([card & 3 for card in board], minlength=4) >= 5).any():
        made[:] = 0
    made[whole] = MADE.index("straight_flush")
    return made


def _pair(group: Longs, board: list[int]) -> Longs:
    """[1326]: the name of a pair of this rank, beside the different ranks of the board, falling."""
    above = (np.array(board)[:, None] > group).sum(axis=0)
    on_board = np.isin(group, board)
    low, third = MADE.index("low_pair"), MADE.index("3rd-pair")
    hit = np.array([MADE.index("top_pair"), MADE.index("2nd-pair"), third, low, low, low])
    pocket = np.array([MADE.index("overpair"), MADE.index("underpair"), third, low, low, low])
    return np.asarray(np.where(on_board, hit[above], pocket[above]))


def _tops(board: tuple[int, ...], counts: Longs) -> Flags:
    """[1326]: whether trips are higher than those of a board that is a full house itself."""
    there = np.bincount([card >> 2 for card in board], minlength=13)
    trips = np.flatnonzero(there >= 3)
    if len(board) < 5 or not len(trips) or not (there == 2).any():
        return np.zeros(COMBO_COUNT, np.bool_)
    return np.asarray(np.where(counts >= 3, RANKS, -1).max(axis=1) > trips[-1])


def _draws(board: tuple[int, ...], made: Longs) -> Longs:
    hole = COMBO_CARDS.astype(np.int64)
    there = np.bincount([card & 3 for card in board], minlength=4)
    held = ((hole & 3)[:, :, None] == SUITS).sum(axis=1)  # [1326, 4]
    is_flush = made >= MADE.index("flush")
    drawn = ((held + there == 4) & (held > 0)).any(axis=1) & ~is_flush
    outs = _straight_outs(board) * (OUTS - int((there >= 4).any()))
    outs[made >= MADE.index("straight")] = 0

    draws = np.zeros(COMBO_COUNT, np.int64)
    if len(board) == 3:
        for count in (1, 2):
            back = ((held + there == 3) & (held == count)).any(axis=1) & ~is_flush
            draws[back] = DRAWS.index(f"bdfd_{count}card")
    draws[outs >= 4] = DRAWS.index("4out_straight_draw")
    draws[outs >= 8] = DRAWS.index("8out_straight_draw")
    draws[drawn] = DRAWS.index("flush_draw")
    draws[drawn & (outs >= 4)] = DRAWS.index("combo_draw")
    return draws


def _straight_outs(board: tuple[int, ...]) -> Longs:
    """[1326]: ranks whose highest straight passes through a rank that only the hole has."""
    shared = np.bitwise_or.reduce([1 << (card >> 2) for card in board])
    hole = np.bitwise_or.reduce(1 << (COMBO_CARDS.astype(np.int64) >> 2), axis=1)
    outs = np.zeros(COMBO_COUNT, np.int64)
    for rank in RANKS.tolist():
        ranks = shared | hole | 1 << rank
        highest = np.zeros(COMBO_COUNT, np.int64)
        for straight in STRAIGHTS:
            highest[(ranks & straight) == straight] = straight
        missing = ((shared | hole) & 1 << rank) == 0
        outs += missing & ((highest & hole & ~shared) != 0)
    return outs
