"""All pots on all flops as matrix games, spread over threads.

Work is cut into pieces of a few flops of one pot, which threads take one after the other. Every
piece writes numbers of its own, so what comes out does not depend on who did what, or when.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, Player
from allstreets.cards.hands import HAND_COUNT
from allstreets.kernels.matrix_layout import BEST_RESPONSE, EVALUATE, UPDATE
from allstreets.kernels.simd import aligned
from allstreets.subgames.flop_games import Floats, Flops
from allstreets.subgames.matrix import NO_DISCOUNTS, Allocate, MatrixGame, make_spaces
from allstreets.subgames.matrix_model import FlopCards, Stage

PIECES_A_THREAD = 8  # of every pot: enough that no thread waits long for the last one
LEAST_REACH = 1e-12
"""Who plays to a pot less often than this does not count there: whole pots fall away early."""

STATE_BYTES = 200_000_000  # of one array of the state, so that no copy of it is large


class MatrixFlops:
    """P betting trees on F flops.

    `roots` [F, 169, H] leads from classes to the hands of the first stage, where these are others:
    reach of hands = reach of classes · root, and values of classes = root · values of hands.
    """

    def __init__(
        self,
        trees: Sequence[tuple[BettingTree, NDArray[np.float64]]],
        flops: Sequence[tuple[Stage, ...]],
        roots: NDArray[np.float64] | None = None,
        threads: int = 1,
        allocate: Allocate = aligned,
        model: str = "classes",
    ) -> None:
        self.model = model
        self.cards = FlopCards(flops)
        self.roots = roots
        self._stages = [stages[0] for stages in flops]
        self.games = [MatrixGame(tree, results, self.cards, allocate) for tree, results in trees]
        self.threads = threads
        self._spaces = [make_spaces(self.games) for _ in range(threads)]
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    @property
    def pots(self) -> int:
        """P."""
        return len(self.games)

    @property
    def flops(self) -> int:
        """F."""
        return self.cards.count

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(game.memory_bytes for game in self.games)

    def pairs(self, weights: Floats) -> Floats:
        """[169, 169]: Σ over flops of weight · pairs of combos that fit."""
        total = np.zeros((HAND_COUNT, HAND_COUNT))
        for flop, (weight, stage) in enumerate(zip(weights, self._stages, strict=True)):
            pairs = stage.pairs
            if self.roots is not None:
                root = self.roots[flop]
                pairs = root @ pairs @ root.T
            total += weight * pairs
        return total

    def pairs_reached(self, own: Floats, other: Floats) -> Floats:
        """[F]: Σ over pairs of combos on each flop of own reach · other's reach, [169] each."""
        reached = np.zeros(self.flops)
        for flop, stage in enumerate(self._stages):
            mine, theirs = own, other
            if self.roots is not None:
                mine, theirs = own @ self.roots[flop], other @ self.roots[flop]
            reached[flop] = (stage.combos @ mine) * (stage.combos @ theirs)
            if stage.cards is not None:
                reached[flop] += stage.combos @ (mine * theirs)
                reached[flop] -= (mine @ stage.cards) @ (theirs @ stage.cards)
        return reached

    def step(
        self, player: int, own: Floats, other: Floats, flops: Flops, discounts: Floats
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops; own reach is not needed."""
        del own
        return self._run(Player(player), other, UPDATE, flops, discounts.astype(np.float32))

    def judge(self, player: int, other: Floats, flops: Flops, *, best: bool) -> Floats:
        """[P, K, 169]: values of the best response to, or of, the average strategies."""
        mode = BEST_RESPONSE if best else EVALUATE
        return self._run(Player(player), other, mode, flops, NO_DISCOUNTS)

    def _run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        flops: Flops,
        discounts: NDArray[np.float32],
    ) -> Floats:
        length, hands = self.cards.lengths[0], self.cards.hands[0]
        rows = [self._rows(reach, flops, length) for reach in other]
        values = np.zeros((self.pots, len(flops), length), np.float32)
        size = max(1, -(-len(flops) // (PIECES_A_THREAD * self.threads)))
        # A pot that the other player never gets to is worth nothing to either of them.
        reached = [pot for pot in range(self.pots) if other[pot].max() > LEAST_REACH]
        pieces = [(pot, start) for start in range(0, len(flops), size) for pot in reached]
        numbers = count()

        def work(thread: int) -> None:
            while (number := next(numbers)) < len(pieces):
                pot, start = pieces[number]
                self.games[pot].run(
                    player,
                    rows[pot],
                    values[pot],
                    mode,
                    self._spaces[thread],
                    flops,
                    (start, min(start + size, len(flops))),
                    discounts,
                )

        if self._pool is None:
            work(0)
        else:
            others = [self._pool.submit(work, thread) for thread in range(1, self.threads)]
            work(0)
            for one in others:
                one.result()
        found = values[:, :, :hands].astype(np.float64)
        if self.roots is None:
            return found
        classes: Floats = np.einsum("pkb,khb->pkh", found, self.roots[flops], optimize=True)
        return classes

    def _rows(self, reach: Floats, flops: Flops, length: int) -> NDArray[np.float32]:
        """[1 or K, H]: reach at the root in the hands of the first stage, padded."""
        reach = np.where(reach > LEAST_REACH, reach, 0.0)
        by_flop = reach[None] if self.roots is None else reach @ self.roots[flops]
        rows: NDArray[np.float32] = aligned((len(by_flop), length))
        rows[:, : by_flop.shape[1]] = by_flop
        return rows

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision of a pot's tree, in the hands of its stage."""
        return self.games[pot].average(flop, node)

    def regret_sums(self) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many), in chips times pairs of combos."""
        sums = [game.regret_sums() for game in self.games]
        return (
            sum(one[0] for one in sums),
            max((one[1] for one in sums), default=0.0),
            sum(one[2] for one in sums),
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on, in parts of some flops."""
        state: dict[str, NDArray[Any]] = {}
        for pot, game in enumerate(self.games):
            for name, arrays in (("regrets", game.regrets), ("average", game.averages)):
                for stage, pair in enumerate(arrays):
                    for player in Player:
                        array = pair[player]
                        rows = max(1, STATE_BYTES // max(1, array[0].nbytes))
                        for start in range(0, len(array), rows):
                            key = f"{name}.{pot}.{stage}.{player.name.lower()}.{start:04d}"
                            state[key] = array[start : start + rows]
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same games."""
        for name, array in self.state().items():
            array[...] = state[name]
