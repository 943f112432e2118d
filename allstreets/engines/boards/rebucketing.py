"""What a pot has learned, carried over to other groups of its hands.

Groups are made for the ranges that start a pot. When these have moved, hands are grouped again, and
a row or group goes on from the mean of what its hands have learned elsewhere, by their weight in
the ranges: regrets, and the average strategy. What is learned on the flop is by combo and stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allstreets.base import Bytes, Floats, Longs
from allstreets.betting import Player
from allstreets.engines.boards.cards import FlopBoards, Grouping, GroupSettings, hand_weights
from allstreets.engines.boards.kernels.rebucketing import carry_rows
from allstreets.engines.boards.pots import BoardsPots, PotsOnFlop
from allstreets.engines.boards.range_sets import RangeSets
from allstreets.engines.boards.river_street import river_street
from allstreets.engines.boards.subgame import FLOP, RIVER, TURN, BoardsSubgame
from allstreets.engines.card_model import CardModel
from allstreets.engines.exact.cards import HandLists
from allstreets.engines.exact.strategies import play_locks


def regroup_flop(
    before: Sequence[BoardsSubgame],
    sets: RangeSets,
    layouts: Sequence[tuple[Longs, BoardsPots]],
    model: CardModel,
    grouping: Grouping,
) -> tuple[FlopBoards, list[tuple[Longs, PotsOnFlop]]]:
    """Let all pots of a flop go on in groups that are made for other sets of ranges.

    `layouts` are, by set, its pots and how they are laid out; what comes back, their games.
    """
    turn = before[0].cards.streets[TURN]
    river = river_street(turn)
    settings = GroupSettings(model.groups, model.rows, model.seed)
    rivers = grouping(turn, river, list(sets.ranges), settings)
    cards = replace(before[0].cards, rivers=rivers)
    after = []
    for number, (pots, layout) in enumerate(layouts):
        games = layout.on(cards, number)
        weights = HandWeights.of(turn.lists[0], river.hands, sets.ranges[number])
        for pot, new in zip(pots.tolist(), games.subgames, strict=True):
            carry(before[pot], new, weights)
        after.append((pots, games))
    return cards, after


@dataclass(frozen=True, eq=False)
class HandWeights:
    """What the hands of turn and river weigh in a pair of ranges."""

    streets: tuple[HandLists, HandLists]
    weights: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]  # [H], by street and player

    @classmethod
    def of(cls, turn: HandLists, river: HandLists, ranges: Floats) -> "HandWeights":
        """Those in the ranges [2, 169]."""
        oop, ip = ranges
        on_turn, on_river = (
            (hand_weights(street, oop), hand_weights(street, ip)) for street in (turn, river)
        )
        return cls((turn, river), (on_turn, on_river))


def carry(old: BoardsSubgame, new: BoardsSubgame, hands: HandWeights) -> None:
    """Let a pot go on in its new groups from where it stands in the old ones."""
    for level in (FLOP, TURN, RIVER):
        for player in Player:
            before, after = (_marks(one, level, player) for one in (old, new))
            for was, now in ((old.regrets, new.regrets), (old.averages, new.averages)):
                stored, carried = was[level][player], now[level][player]
                if before is None or after is None:
                    carried[:] = stored
                elif len(stored):
                    carry_rows(
                        hands.streets[level - TURN].start,
                        hands.streets[level - TURN].count,
                        before,
                        after,
                        hands.weights[level - TURN][player],
                        int(new.boards[player][level].own_rows[1]),
                        new.slot_actions(level, player),
                        stored,
                        carried,
                    )
    play_locks(new, TURN)  # groups without any hand have carried nothing
    new.steps, new.weights, new.waiting = list(old.steps), list(old.weights), list(old.waiting)


def _marks(subgame: BoardsSubgame, level: int, player: Player) -> Bytes | None:
    """By hand of a street: its row or group; None: every hand its own."""
    rivers = subgame.cards.rivers[subgame.ranges]
    if level == RIVER:
        return rivers.groups[player]
    if level == FLOP or rivers.rows is None:
        return None
    return rivers.rows[player].row.astype(np.uint8)
