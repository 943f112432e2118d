"""What a pot has learned, carried over to other groups of its hands.

Groups are made for the ranges that start a pot. When these have moved, hands are grouped again, and
a row or group goes on from the mean of what its hands have learned elsewhere, by their weight in
the ranges: regrets, and the average strategy. What is learned on the flop is by combo and stays.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import Player
from allstreets.kernels.carry_rows import carry_rows
from allstreets.subgames.boards import FLOP, RIVER, TURN, BoardsSubgame
from allstreets.subgames.boards_cards import FlopBoards, hand_weights, river_groups
from allstreets.subgames.card_model import CardModel
from allstreets.subgames.exact_cards import StreetBoards, next_street
from allstreets.subgames.range_sets import RangeSets

Bytes = NDArray[np.uint8]


def regroup_flop(
    subgames: list[BoardsSubgame], sets: RangeSets, model: CardModel
) -> list[BoardsSubgame]:
    """All pots of a flop in groups that are made for other ranges, with what they have learned."""
    before: FlopBoards = subgames[0].cards
    turn = before.streets[TURN]
    river = next_street(turn)
    rivers = tuple(
        river_groups(turn, river, both, model.groups, model.rows, model.seed)
        for both in sets.ranges
    )
    after = replace(before, rivers=rivers)
    found = []
    for old, number in zip(subgames, sets.of_pot, strict=True):
        new = BoardsSubgame(old.pot, after, number)
        carry(old, new, river, sets)
        found.append(new)
    return found


def carry(old: BoardsSubgame, new: BoardsSubgame, river: StreetBoards, sets: RangeSets) -> None:
    """Let a pot go on in its new groups from where it stands in the old ones."""
    streets = (None, new.streets[TURN], river)
    for level, street in enumerate(streets):
        for player in Player:
            pairs = [
                (old.regrets[level][player], new.regrets[level][player]),
                (old.averages[level][player], new.averages[level][player]),
            ]
            before, after = (_marks(one, level, player) for one in (old, new))
            for stored, carried in pairs:
                if street is None or before is None or after is None:
                    carried[:] = stored
                elif len(stored):
                    carry_rows(
                        street.lists[0].start,
                        street.lists[0].count,
                        before,
                        after,
                        hand_weights(street, sets.ranges[new.ranges, player]),
                        int(new.boards[player][level].own_rows[1]),
                        new.slot_actions(level, player),
                        stored,
                        carried,
                    )
    new.steps, new.weights, new.waiting = list(old.steps), list(old.weights), list(old.waiting)


def _marks(subgame: BoardsSubgame, level: int, player: Player) -> Bytes | None:
    """By hand of a street: its row; None: every hand its own."""
    rivers = subgame.cards.rivers[subgame.ranges]
    if level == RIVER:
        return rivers.groups[player]
    if level == FLOP or rivers.rows is None:
        return None
    return rivers.rows[player].row.astype(np.uint8)
