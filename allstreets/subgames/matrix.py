"""Matrix games: a betting tree on flops whose card facts are matrices, solved by vector CFR.

`MatrixGame` is one betting tree on F flops: it owns their regrets and average strategies
(`matrix_store`) and runs passes over any range of flops, one thread each.

The average strategy of a player is summed, weighted by his reach, while the other player is
updated; after iteration t it holds OOP's strategies of iterations 1 … t and IP's of 0 … t − 1,
those that the opponent's regrets were computed against.

With pruning, iterations after the warm-up leave out blocks of own hands whose regrets are far below
zero, see `matrix_pruning`. It is off by default.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, Player
from allstreets.kernels.matrix_layout import (
    THRESHOLD,
    UPDATE,
    Bytes,
    Discounting,
    Floats,
    Longs,
    StageHands,
    StageSpace,
    filled,
)
from allstreets.kernels.matrix_pass import run_flops, run_iterations
from allstreets.kernels.simd import LANES, aligned
from allstreets.subgames.matrix_hands import HandSelection, stage_hands
from allstreets.subgames.matrix_model import StageMatrices, padded
from allstreets.subgames.matrix_plan import build_plans
from allstreets.subgames.matrix_store import Allocate, MatrixStore
from allstreets.subgames.pool import Pool

Spaces = tuple[StageSpace, ...]

NO_DISCOUNTS = np.zeros((1, len(Discounting._fields)), np.float32)
ONE_FLOP = np.zeros(1, np.int64)


class MatrixGame(MatrixStore):
    """One betting tree on F flops; `payoffs` [N, 2, 3] are those of `betting.payoffs`."""

    def __init__(
        self,
        tree: BettingTree,
        payoffs: NDArray[np.float64],
        cards: StageMatrices,
        allocate: Allocate = aligned,
    ) -> None:
        super().__init__(tree, cards, allocate)
        self.plans = [build_plans(tree, payoffs, own, cards.streets) for own in Player]
        self._hands: dict[tuple[Player, HandSelection], tuple[StageHands, ...]] = {}
        self.chips = float(tree.pot) if tree.pot else 1.0

    def spaces(self) -> Spaces:
        """Scratch arrays of one thread, for either player."""
        return make_spaces([self])

    def keep(self, player: Player, hands: Longs, pool: Pool) -> None:
        """Store these hands only; one that was not stored before starts from zero."""
        super().keep(player, hands, pool)
        self._hands.clear()

    def run(
        self,
        player: Player,
        other: Floats,
        values: Floats,
        mode: int,
        spaces: Spaces,
        flops: NDArray[np.int64] = ONE_FLOP,
        part: tuple[int, int] = (0, 1),
        discounts: Floats = NO_DISCOUNTS,
        wanted: Bytes | None = None,
        selection: HandSelection = "kept",
    ) -> None:
        """Passes on flops[part[0] : part[1]]: reach [K or 1, H] in, values [K, H] out, H padded.

        Reach is that of the other's stored hands, values are those of the own hands that a pass is
        about. Of hands that are not stored nothing can be learned or evaluated.

        `discounts` [K or 1, 6] are `Multipliers`. An update can be limited to some blocks
        of own hands, [K or 1, H / 16] of `blocks_of_hands`: for the others values are 0, and
        nothing is learned. A best response or evaluation is always for all.
        """
        if mode != UPDATE:
            wanted = None
        elif wanted is None and (discounts[:, THRESHOLD] > -np.inf).any():
            wanted = self.all_blocks(1, len(self.kept[player]))
        count = len(self.plans[player])
        run_flops(
            count,
            filled(self.plans[player]),
            filled(self.cards.kernel),
            filled(self.stores(player)),
            filled(spaces),
            filled(self.hands(player, selection)),
            flops,
            part[0],
            part[1],
            other,
            values,
            mode,
            discounts,
            wanted,
        )

    def iterate(self, reach: Floats, flop: int, every: Floats, spaces: Spaces) -> None:
        """Whole iterations of both players on one flop; reach [2, H], H padded, stays the same.

        `every` [T, 6] are the multipliers of the iterations. All hands must be stored.
        """
        count = len(self.plans[0])
        values = aligned((2, self.cards.lengths[0]))
        pruned = np.flatnonzero(every[:, THRESHOLD] > -np.inf)
        warm = int(pruned[0]) if len(pruned) else len(every)
        for part, blocks in ((every[:warm], None), (every[warm:], self.all_blocks(2))):
            if len(part):
                run_iterations(
                    count,
                    (filled(self.plans[0]), filled(self.plans[1])),
                    filled(self.cards.kernel),
                    (filled(self.stores(Player.OOP)), filled(self.stores(Player.IP))),
                    filled(spaces),
                    filled(self.hands(Player.OOP)),
                    flop,
                    reach,
                    values,
                    part,
                    blocks,
                )

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

    def all_blocks(self, rows: int, hands: int | None = None) -> Bytes:
        """[rows, H / 16]: so many own hands at the root, or all hands, all requested."""
        length = self.cards.lengths[0] if hands is None else padded(hands)
        return np.ones((rows, length // LANES), np.uint8)

    def units(self, player: Player) -> int:
        """How many (own action, block of hands) a full pass on one flop visits."""
        blocks = np.array(self.cards.lengths[: len(self.slots)]) // LANES
        return int(self.slots[:, player] @ blocks)


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
