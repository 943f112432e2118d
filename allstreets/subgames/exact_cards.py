"""The boards below a spot, street by street, and both players' hands on each.

A street's boards are the representatives of suit-isomorphic runouts. On each board only the hands
that it does not block are kept, on the river in order of strength, and padded to whole vectors.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from allstreets.cards import COMBO_CARDS, COMBO_COUNT, COMBO_PERMUTATIONS, Runouts, combo_strengths
from allstreets.cards.combos import COMBO_MASKS
from allstreets.cards.matchups import matchups
from allstreets.kernels.exact_layout import PADDING_CARD, Boards
from allstreets.kernels.exact_tables import place_hands
from allstreets.kernels.simd import LANES


@dataclass(frozen=True)
class HandLists:
    """One player's hands on all boards of a street, one board after the other, padded."""

    start: NDArray[np.int64]  # [B+1]
    count: NDArray[np.int64]  # [B]: without the padding
    cards: NDArray[np.uint8]  # by hand, 2
    strengths: NDArray[np.uint16]  # by hand; 0 before the river


@dataclass(frozen=True)
class StreetBoards:
    """All boards of one street; `hands[p]` holds, board by board, the combos of player p."""

    runouts: tuple[Runouts, ...]  # [B]
    parents: tuple[int, ...]  # [B]: board one street up
    members: tuple[tuple[int, ...], ...]  # [B]: renamings that take each same board to this one
    hands: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]  # [2][B][H]: combos

    @property
    def boards(self) -> list[tuple[int, ...]]:
        """The cards of each board."""
        return [runout.board for runout in self.runouts]

    @cached_property
    def lists(self) -> tuple[HandLists, HandLists]:
        """The hands of OOP and IP as the kernels read them, whoever is the own player."""
        return _hand_lists(self.boards, self.hands[0]), _hand_lists(self.boards, self.hands[1])


def _hand_lists(
    boards: list[tuple[int, ...]], hands_by_board: list[NDArray[np.int64]]
) -> HandLists:
    start = np.zeros(len(boards) + 1, np.int64)
    np.cumsum([padded(len(hands)) for hands in hands_by_board], out=start[1:])
    cards = np.full((start[-1], 2), PADDING_CARD, np.uint8)
    strengths = np.zeros(start[-1], np.uint16)
    for board, first, hands in zip(boards, start[:-1], hands_by_board, strict=True):
        place = slice(first, first + len(hands))
        cards[place] = COMBO_CARDS[hands]
        if len(board) == 5:
            strengths[place] = combo_strengths([board], COMBO_CARDS[hands])[0]
    count = np.array([len(hands) for hands in hands_by_board], np.int64)
    return HandLists(start, count, cards.reshape(-1), strengths)


def padded(count: int) -> int:
    """The next multiple of sixteen, at least one vector."""
    return max(LANES, -(-count // LANES) * LANES)


def first_street(
    root: Runouts, combos: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> StreetBoards:
    """The street of the spot itself: one board."""
    return StreetBoards(
        (root,),
        (0,),
        ((0,),),
        ([_in_order(combos[0], root.board)], [_in_order(combos[1], root.board)]),
    )


def next_street(street: StreetBoards) -> StreetBoards:
    """One more card: the representatives of what may fall on each board."""
    runouts: list[Runouts] = []
    parents: list[int] = []
    members: list[tuple[int, ...]] = []
    hands: tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]] = ([], [])
    for number, here in enumerate(street.runouts):
        for card in here.representatives:
            below = here.after(card)
            runouts.append(below)
            parents.append(number)
            same = np.flatnonzero(here.representative == card)
            others = [int(here.permutation[other]) for other in same if other != card]
            members.append((0, *others))
            blocked = np.uint64(1 << card)
            for player in (0, 1):
                before = street.hands[player][number]
                live = before[(COMBO_MASKS[before] & blocked) == 0]
                hands[player].append(_in_order(live, below.board))
    return StreetBoards(tuple(runouts), tuple(parents), tuple(members), hands)


def _in_order(combos: NDArray[np.int64], board: tuple[int, ...]) -> NDArray[np.int64]:
    """Combos by rising number, on the river by rising strength."""
    ordered = np.sort(combos)
    if len(board) < 5:
        return ordered
    strengths = combo_strengths([board], COMBO_CARDS[ordered])[0]
    return ordered[np.argsort(strengths, kind="stable")]


def kernel_boards(
    street: StreetBoards,
    above: StreetBoards | None,
    below: StreetBoards | None,
    own: int,
    slots: tuple[int, int],
    all_ins: bool,
) -> Boards:
    """The street as the kernels read it when player `own` is computed.

    `slots` are the actions of all nodes of OOP and IP on this street; `all_ins` says whether the
    betting of this street can end in an all-in with cards to come.
    """
    other = 1 - own
    count = len(street.runouts)
    mine, his = street.lists[own], street.lists[other]
    starts = [one.start for one in street.lists]
    own_total, other_total = int(mine.start[-1]), int(his.start[-1])
    tables = {
        "below": np.zeros(own_total, np.uint16),
        "upto": np.zeros(own_total, np.uint16),
        "below_cards": np.zeros(2 * own_total, np.uint16),
        "upto_cards": np.zeros(2 * own_total, np.uint16),
        "card_places": np.zeros(2 * other_total, np.uint16),
        "card_first": np.zeros(54 * count, np.uint16),
        "own_twin": np.zeros(own_total, np.uint16),
    }
    place_hands(
        mine.strengths,
        mine.cards,
        mine.start,
        mine.count,
        his.strengths,
        his.cards,
        his.start,
        his.count,
        **tables,
    )
    other_parent, member_start, member_parent = _parents(street, above, own, starts)
    children = np.zeros(count + 1, np.int64)
    if below is not None:
        np.cumsum(np.bincount(below.parents, minlength=count), out=children[1:])
    equity_start, equity = (
        _all_in_matrices(street, own, starts)
        if all_ins
        else (
            np.zeros(count, np.int64),
            np.zeros(0, np.float32),
        )
    )
    board_size = len(street.runouts[0].board)
    return Boards(
        own_start=mine.start,
        other_start=his.start,
        own_slots=mine.start * slots[own],
        other_slots=his.start * slots[other],
        other_parent=other_parent,
        member_start=member_start,
        member_parent=member_parent,
        children=children,
        chance=np.float32(1 / (48 - board_size)),
        own_cards=mine.cards,
        other_cards=his.cards,
        equity_start=equity_start,
        equity=equity,
        **tables,
    )


def _parents(
    street: StreetBoards,
    above: StreetBoards | None,
    own: int,
    starts: list[NDArray[np.int64]],
) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.uint16]]:
    """Where hands stand one street up: the other's, and own ones for each same board."""
    other = 1 - own
    count = len(street.runouts)
    other_parent = np.zeros(int(starts[other][-1]), np.uint16)
    pieces: list[NDArray[np.uint16]] = []
    member_start = np.zeros(count + 1, np.int64)
    if above is None:
        return other_parent, member_start, np.zeros(0, np.uint16)
    place = np.zeros((2, COMBO_COUNT), np.uint16)
    parent = -1
    for board in range(count):
        if street.parents[board] != parent:
            parent = street.parents[board]
            for player in (0, 1):
                hands = above.hands[player][parent]
                place[player, :] = padded(len(hands))  # the row of hands that are not there
                place[player, hands] = np.arange(len(hands))
        absent = [padded(len(above.hands[player][parent])) for player in (0, 1)]
        begin, end = starts[other][board], starts[other][board + 1]
        hands = street.hands[other][board]
        other_parent[begin:end] = absent[other]
        other_parent[begin : begin + len(hands)] = place[other, hands]
        mine = street.hands[own][board]
        size = int(starts[own][board + 1] - starts[own][board])
        for renaming in street.members[board]:
            piece = np.full(size, absent[own], np.uint16)
            # The hand that the renaming takes to this one.
            before = np.empty(COMBO_COUNT, np.int64)
            before[COMBO_PERMUTATIONS[renaming]] = np.arange(COMBO_COUNT)
            piece[: len(mine)] = place[own, before[mine]]
            pieces.append(piece)
        member_start[board + 1] = member_start[board] + size * len(street.members[board])
    return other_parent, member_start, np.concatenate(pieces)


def _all_in_matrices(
    street: StreetBoards, own: int, starts: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Share won − share lost of own hands against the other's over all runouts."""
    other = 1 - own
    matrices = []
    for board, runout in enumerate(street.runouts):
        mine, his = street.hands[own][board], street.hands[other][board]
        counts = matchups(runout.board, mine, his, threads=1)
        fits = (COMBO_MASKS[mine][:, None] & COMBO_MASKS[his][None, :]) == 0
        net = 2.0 * counts.equity - 1.0
        matrix = np.zeros(
            (
                starts[own][board + 1] - starts[own][board],
                starts[other][board + 1] - starts[other][board],
            ),
            np.float32,
        )
        matrix[: len(mine), : len(his)] = np.where(fits, net, 0.0)
        matrices.append(matrix.reshape(-1))
    sizes = [matrix.size for matrix in matrices]
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), np.concatenate(matrices)
