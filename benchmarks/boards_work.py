"""The least work of the kernels of real boards: bytes of memory, and multiply-adds.

Each array that a kernel needs is counted once when it is read and once when it is written, for all
boards of a set and one half-iteration. What blocks read again (matrices by piece, lists by 32
lines) is not: a kernel that reaches what the memory can do on these bytes is at its floor.
"""

from dataclasses import dataclass

import numpy as np

from allstreets.betting import Player
from allstreets.engines.cuda.boards_layout import FLOP, RIVER, TURN
from allstreets.engines.cuda.boards_passes import BoardsPasses, folds


@dataclass(frozen=True)
class Work:
    """The work of one launch of all chunks."""

    bytes: float
    multiplications: float = 0.0  # with an addition each


def work_of(one: BoardsPasses, player: Player) -> list[Work]:
    """The work of the launches of a half-iteration, one after the other."""
    cards, betting = one.cards, one.betting[player]
    buckets, other = cards.buckets, player.opponent
    rivers = int(cards.flop_first[RIVER][-1])
    hands = [4.0 * int(cards.start[level][-1]) for level in (FLOP, TURN)]  # bytes of a row
    lines = [street.lines for street in betting]
    stored = [
        [2.0 * int(cards.stored_rows(level, who)[-1]) for who in (player, other)]
        for level in (FLOP, TURN, RIVER)
    ]  # bytes of an action
    own, others = (
        [int(one.betting[who][level].forest.own_actions[-1]) for level in (FLOP, TURN, RIVER)]
        for who in (player, other)
    )
    found = []
    for level in (FLOP, TURN):
        rows = betting[level].reach_rows + (lines[level] if level else 0)
        found.append(Work(hands[level] * rows + others[level] * stored[level][1]))
        ends = int((folds(betting[level])["rows"][:, 1] >= 0).sum())
        if ends:
            found.append(Work(2 * hands[level] * ends))
    line_rows = 4.0 * rivers * lines[RIVER] * buckets
    pieces = one.pieces[player]
    products = sum(
        int((pieces.terms[f"{name}_factor"] != 0).sum()) for name in ("show", "fold", "rake")
    )
    dealt, collected = (
        sum(array.nbytes for array in arrays.values())
        for arrays in (cards.dealt(other), cards.collected(player))
    )
    moved = hands[TURN] * lines[RIVER]
    numbers = stored[RIVER][0] * (others[RIVER] + 4 * own[RIVER])
    return [
        *found,
        Work(moved + line_rows + dealt),
        Work(
            2 * buckets**2 * rivers + 2 * line_rows + numbers,
            float(products) * buckets**2 * rivers,
        ),
        Work(line_rows + collected + moved),
        Work(_backward(one, player, TURN, hands[TURN]) + 4 * own[TURN] * stored[TURN][0]),
        Work(hands[TURN] * lines[TURN] + hands[FLOP] * lines[TURN]),
        Work(_backward(one, player, FLOP, hands[FLOP]) + 4 * own[FLOP] * stored[FLOP][0]),
        Work(hands[FLOP] * lines[FLOP]),
    ]


def _backward(one: BoardsPasses, player: Player, level: int, row: float) -> float:
    """Rows of terminals and leaves are read, those of lines written; the rest stay in a block."""
    betting = one.betting[player][level]
    inner = len(np.unique(betting.forest.value_row))
    return row * (betting.value_rows - inner + betting.lines)
