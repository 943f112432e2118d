"""What games with real boards take of a GPU's memory, counted before anything is built.

Numbers, matrices and rooms are counted as they are allocated (`boards_set`). How far lists are
filled up depends on the groups: a list is taken to be SPARE longer than its
places.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from allstreets.base import Longs
from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.engines.boards.subgame import FLOP_COMBOS, TURN_COMBOS
from allstreets.engines.cuda.boards_layout import FLOP, RIVER, TURN, river_parts
from allstreets.engines.cuda.boards_set import AT_ONCE, ROOM_BYTES
from allstreets.engines.cuda.boards_street import StreetBetting, street_bettings
from allstreets.engines.exact.cards import whole_vectors
from allstreets.engines.joined_trees import Trees
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS

RIVER_COMBOS = 1081
SPARE = 1.5  # places that fill up a list, in the mean
ROWS = "reach_rows", "value_rows"
SHARED_BYTES = 227 * 1024  # of a block on the GPUs that such games are for

Hands = Sequence[tuple[Longs, Longs]]
"""For each street the padded hands of both players on every board."""


@dataclass(frozen=True)
class FlopCounts:
    """Boards and hands of a flop."""

    flop_hands: int
    turns: int
    turn_hands: int
    most_rivers: int  # of a turn
    rivers: int

    @classmethod
    def of(cls, hands: Hands) -> "FlopCounts":
        """From the hands on all boards."""
        flop, turn, river = (each[0] for each in hands)
        # A turn has as many river boards as there are cards that play differently: 48 at most.
        return cls(int(flop.sum()), len(turn), int(turn.sum()), min(48, len(river)), len(river))


@dataclass(frozen=True, eq=False)
class BoardsMemory:
    """Bytes of all pots on some flops: `flops` are how many are alike, and their boards."""

    trees: Trees
    flops: Sequence[tuple[int, FlopCounts]]
    groups: int
    rows: int  # on a turn; 0: every hand its own
    sets: int  # of ranges

    def numbers(self, flop: FlopCounts) -> int:
        """Of regrets and averages, two each."""
        turn = flop.turns * whole_vectors(self.rows) if self.rows else flop.turn_hands
        rows = flop.flop_hands, turn, self.groups * flop.rivers
        total = 0
        for betting in self._betting:
            actions = (int(street.forest.own_actions[-1]) for street in betting)
            total += 4 * sum(each * count for each, count in zip(actions, rows, strict=True))
        return total

    def matrices(self, flop: FlopCounts) -> int:
        """Of one set, a byte for each number."""
        return 2 * self.groups**2 * flop.rivers

    def lists(self, flop: FlopCounts) -> int:
        """Of one set: who is in which group, who blocks whom, where boards and hands stand."""
        groups, rivers, hands = self.groups, flop.rivers, flop.turn_hands
        parts = river_parts(flop.most_rivers, groups, SHARED_BYTES)[0]
        dealt = rivers * (4 + 2 * (groups + 1) + 2 * (RIVER_COMBOS + SPARE * groups))
        collected = 4 * hands * parts + 2 * (rivers * RIVER_COMBOS + SPARE * hands * parts)
        shared = 2 * (4 * flop.turns * whole_vectors(self.rows) + 8 * hands) if self.rows else 0
        river = 24 * rivers
        turn = flop.turns * (144 + 4 * TURN_COMBOS) + 9 * hands + shared
        above = 16 * hands + 11 * flop.flop_hands + 4 * FLOP_COMBOS + 340
        return int(2 * (dealt + collected) + river + turn + above)

    def rooms(self) -> int:
        """Rows of the flops that are worked on at once, the same for all sets."""
        flops = [max(4 * getattr(each[FLOP].rows, name) for each in self._betting) for name in ROWS]
        turns = max(
            each[TURN].rows.reach_rows + each[TURN].rows.value_rows for each in self._betting
        )
        lines = self._betting[0][RIVER].lines
        whole = sum(
            like * 4 * (flop.turn_hands * turns + flop.rivers * lines * self.groups)
            for like, flop in self.flops
        )
        share = min(1.0, ROOM_BYTES / max(whole, 1))
        hands = sum(like * flop.flop_hands for like, flop in self.flops)
        return int(share * (whole + hands * sum(flops)))

    @property
    def whole(self) -> int:
        """Everything."""
        each = [
            like * (self.numbers(flop) + self.sets * (self.matrices(flop) + self.lists(flop)))
            for like, flop in self.flops
        ]
        games = len(self.trees) * sum(like for like, _ in self.flops)
        told = games * (8 * (HAND_COUNT + 2) + 1 + 4 * 2 * AT_ONCE * len(NO_WEIGHTS))
        return sum(each) + self.rooms() + told

    @cached_property
    def _betting(self) -> list[list[StreetBetting]]:
        return [street_bettings(self.trees, own, self.groups) for own in Player]
