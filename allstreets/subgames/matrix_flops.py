"""All pots on all flops as matrix games; threads take pieces of a few flops of one pot."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, Player
from allstreets.kernels.matrix_layout import BEST_RESPONSE, EVALUATE, UPDATE
from allstreets.kernels.simd import aligned
from allstreets.subgames.flop_games import Flags, Floats, Flops
from allstreets.subgames.flop_pairs import FlopPairs
from allstreets.subgames.matrix import NO_DISCOUNTS, Allocate, MatrixGame, make_spaces
from allstreets.subgames.matrix_model import FlopCards, Stage
from allstreets.subgames.matrix_pruning import blocks_of_hands
from allstreets.subgames.pool import Pool

PIECES_A_THREAD = 8  # of every pot: enough that no thread waits long for the last one
LEAST_PIECE = 4  # flops: fewer are not worth the handing over
LEAST_REACH = 1e-12
"""Who plays to a pot less often than this does not count there: whole pots fall away early."""

STATE_BYTES = 200_000_000  # of one array of the state, so that no copy of it is large


class MatrixFlops:
    """P betting trees on F flops, on which `dealt` tells the pairs of combos by class.

    `roots` [F, 169, H] leads from classes to the hands of the first stage, where these are others:
    reach of hands = reach of classes · root, and values of classes = root · values of hands.
    """

    def __init__(
        self,
        trees: Sequence[tuple[BettingTree, NDArray[np.float64]]],
        flops: Sequence[tuple[Stage, ...]],
        dealt: FlopPairs,
        roots: NDArray[np.float64] | None = None,
        threads: int = 1,
        allocate: Allocate = aligned,
        model: str = "classes",
    ) -> None:
        self.model, self.dealt, self.roots = model, dealt, roots
        self.cards = FlopCards(flops)
        self.games = [MatrixGame(tree, results, self.cards, allocate) for tree, results in trees]
        self._pool = Pool(threads)
        self._spaces = [make_spaces(self.games) for _ in range(threads)]

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

    def keeps(self, flops: Flops) -> bool:
        """All games go on from where they were."""
        del flops
        return True

    def step(
        self,
        player: int,
        own: Floats,
        other: Floats,
        flops: Flops,
        discounts: Floats,
        asked: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops; own reach is not needed."""
        del own
        rows = discounts.astype(np.float32)
        return self._run(Player(player), other, UPDATE, flops, rows, asked)

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
        asked: Flags | None = None,
    ) -> Floats:
        length, hands = self.cards.lengths[0], self.cards.hands[0]
        rows = [self._rows(reach, flops, length) for reach in other]
        values = np.zeros((self.pots, len(flops), length), np.float32)
        size = max(LEAST_PIECE, -(-len(flops) // (PIECES_A_THREAD * self._pool.threads)))
        blocks = (
            [None] * self.pots if asked is None else [self._blocks(one, flops) for one in asked]
        )
        # A pot that the other player never gets to is worth nothing to either of them.
        reached = [pot for pot in range(self.pots) if other[pot].max() > LEAST_REACH]
        pieces = [(pot, start) for start in range(0, len(flops), size) for pot in reached]

        def work(thread: int, number: int) -> None:
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
                blocks[pot],
            )

        self._pool.run(len(pieces), work)
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

    def _blocks(self, asked: Flags, flops: Flops) -> NDArray[np.uint8]:
        """[1 or K, H / 16]: the blocks of hands in which any class [169] is asked for."""
        hands = asked[None] if self.roots is None else (asked @ self.roots[flops]) > 0
        return blocks_of_hands(hands)

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision of a pot's tree, in the hands of its stage."""
        return self.games[pot].average(flop, node)

    def regret_sums(self, weights: Floats) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many), in chips times pairs of combos."""
        sums = [game.regret_sums(weights) for game in self.games]
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
