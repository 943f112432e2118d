"""Matrix games: a betting tree on flops whose card facts are matrices, solved by vector CFR.

`MatrixGame` is one betting tree on F flops: it owns their regrets and average strategies
(`store`). `MatrixEngine` runs passes over all pots and flops, this file over one of them.

The average strategy of a player is summed, weighted by his reach, while the other player is
updated; after iteration t it holds OOP's strategies of iterations 1 … t and IP's of 0 … t − 1,
those that the opponent's regrets were computed against.

With pruning, iterations after the warm-up leave out blocks of own hands whose regrets are far below
zero, see `pruning`. It is off by default.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from allstreets.base import Bytes, Floats, Longs, Singles
from allstreets.betting import BettingTree, Player
from allstreets.engines.machine import Pool
from allstreets.engines.matrix.cards import StageMatrices, padded
from allstreets.engines.matrix.hands import HandSelection, stage_hands
from allstreets.engines.matrix.kernels.layout import (
    THRESHOLD,
    UPDATE,
    Discounting,
    StageHands,
    StageSpace,
    filled,
)
from allstreets.engines.matrix.kernels.pots import NO_ROOTS, PotTables, iterate_pots, run_pots
from allstreets.engines.matrix.plan import build_plans
from allstreets.engines.matrix.store import Allocate, MatrixStore
from allstreets.engines.matrix.tables import pot_tables
from allstreets.engines.simd.vectors import LANES, aligned
from allstreets.engines.simd.work_counter import new_counter

Spaces = tuple[StageSpace, ...]

NO_DISCOUNTS = np.zeros((1, len(Discounting._fields)), np.float32)
ONE_PIECE = np.array([[0, 1, 0, 1]])
ONE_POT = np.zeros(1, np.int64)
ALL_LIMITED = np.ones(1, np.uint8)


class MatrixGame(MatrixStore):
    """One betting tree on F flops; `payoffs` [N, 2, 3] are those of `betting.payoffs`."""

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Floats,
        cards: StageMatrices,
        allocate: Allocate = aligned,
    ) -> None:
        super().__init__(tree, cards, allocate)
        self.plans = [build_plans(tree, payoffs, own, cards.streets) for own in Player]
        self._hands: dict[tuple[Player, HandSelection], tuple[StageHands, ...]] = {}
        self._tables: dict[Player, PotTables] = {}
        self.chips = float(tree.pot) if tree.pot else 1.0

    def spaces(self) -> Spaces:
        """Scratch arrays of one thread, for either player."""
        return make_spaces([self])

    def keep(self, player: Player, hands: Longs, pool: Pool) -> None:
        """Store these hands only; one that was not stored before starts from zero."""
        super().keep(player, hands, pool)
        self._hands.clear()
        self._tables.clear()

    def run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        spaces: Spaces,
        flop: int = 0,
        discounts: Singles = NO_DISCOUNTS,
        wanted: Bytes | None = None,
    ) -> Singles:
        """A pass on one flop: reach [H] of the other's hands in, values [H] of own ones out.

        `discounts` [1, 7] are `IterationWeights`. An update can be limited to some blocks of own
        hands, [H / 16] of `blocks_of_hands`: for the others values are 0, and nothing is learned.
        """
        values = np.empty((1, 1, len(other)), np.float32)
        if mode == UPDATE and wanted is None and (discounts[:, THRESHOLD] > -np.inf).any():
            wanted = self.all_blocks(len(self.kept[player]))
        run_pots(
            new_counter(),
            ONE_PIECE,
            ONE_POT,
            self.tables(player),
            filled(self.cards.kernel),
            filled(spaces),
            np.array([flop]),
            other[None],
            NO_ROOTS,
            values,
            mode,
            discounts,
            None if wanted is None else wanted[None, None],
            ALL_LIMITED,
        )
        found: Singles = values[0, 0]
        return found

    def iterate(self, reach: Floats, flop: int, every: Singles, spaces: Spaces) -> None:
        """Whole iterations of both players on one flop; reach [2, H] stays the same.

        `every` [T, 7] are the multipliers of the iterations.
        """
        for part, blocks in pruned_parts(every, self.all_blocks()):
            iterate_pots(
                new_counter(),
                np.array([[0, flop]]),
                (self.tables(Player.OOP), self.tables(Player.IP)),
                filled(self.cards.kernel),
                filled(spaces),
                reach[:, None],
                NO_ROOTS,
                part,
                blocks,
            )

    def tables(self, player: Player) -> PotTables:
        """The game as the kernels read it."""
        found = self._tables.get(player)
        if found is None:
            found = self._tables[player] = pot_tables([self], player, "kept")
        return found

    def own_hands(self, player: Player, selection: HandSelection) -> Longs:
        """The own hands of a pass, those of the first stage."""
        if selection == "rest":
            return np.setdiff1d(self.all_hands[: self.cards.hands[0]], self.kept[player])
        return self.kept[player] if selection == "kept" else self.all_hands

    def hands(self, player: Player, selection: HandSelection = "kept") -> tuple[StageHands, ...]:
        """The hands of a pass."""
        found = self._hands.get((player, selection))
        if found is None:
            own, other = self.own_hands(player, selection), self.kept[player.opponent]
            found = stage_hands(own, other, self.cards.lengths)
            self._hands[player, selection] = found
        return found

    def all_blocks(self, hands: int | None = None) -> Bytes:
        """[H / 16]: so many own hands at the root, or all hands, all requested."""
        length = self.cards.lengths[0] if hands is None else padded(hands)
        return np.ones(length // LANES, np.uint8)

    def units(self, player: Player) -> int:
        """How many (own action, block of hands) a full pass on one flop visits."""
        blocks = np.array(self.cards.lengths[: len(self.slots)]) // LANES
        return int(self.slots[:, player] @ blocks)


def pruned_parts(every: Singles, blocks: Bytes) -> Iterator[tuple[Singles, Bytes | None]]:
    """Iterations [T, 6] before pruning begins, and those since then with all `blocks` wanted."""
    pruned = np.flatnonzero(every[:, THRESHOLD] > -np.inf)
    warm = int(pruned[0]) if len(pruned) else len(every)
    if warm:
        yield every[:warm], None
    if warm < len(every):
        yield every[warm:], blocks


def make_spaces(games: Sequence[MatrixGame]) -> Spaces:
    """Scratch arrays of one thread that works on any of these games, for either player."""
    spaces = []
    lengths = games[0].cards.lengths if games else []  # a short stack may never see a flop
    for stage, length in enumerate(lengths):
        plans = [plan[stage] for game in games for plan in game.plans if stage < len(plan)]
        value_rows = max((plan.value_rows for plan in plans), default=1)
        spaces.append(
            StageSpace(
                reach=aligned(max((plan.reach_rows for plan in plans), default=1) * length),
                values=aligned(value_rows * length),
                lanes=aligned(2 * length * LANES),
                sums=aligned(52 * LANES),
                terms=np.zeros(length, np.int32),
                margin=aligned(length * length + LANES),
                combos=aligned(length),
                needed=np.zeros(value_rows * (length // LANES), np.uint8),
                union=np.zeros(length // LANES, np.uint8),
                left_out=np.zeros(1, np.int64),
            )
        )
    return tuple(spaces)
