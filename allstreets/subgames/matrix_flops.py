"""All pots on all flops as matrix games; threads take pieces of a few flops of one pot.

Where hands are classes, a pot need not store anything of hands that a player does not get there
with (`keep`). Of them there is no strategy: evaluated, they play evenly. A best response to the
others' strategies goes through all hands as always.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import BettingTree, Player
from allstreets.kernels.matrix_layout import (
    BEST_RESPONSE,
    EVALUATE,
    PLAY_EVENLY,
    UPDATE,
    Longs,
)
from allstreets.kernels.simd import aligned
from allstreets.subgames.flop_games import Flags, Floats, Flops
from allstreets.subgames.flop_pairs import FlopPairs
from allstreets.subgames.matrix import NO_DISCOUNTS, MatrixGame, make_spaces
from allstreets.subgames.matrix_hands import Whose, listed
from allstreets.subgames.matrix_model import FlopCards, Stage, padded
from allstreets.subgames.matrix_pruning import blocks_of_hands
from allstreets.subgames.matrix_store import Allocate
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

    @property
    def saved_bytes(self) -> int:
        """Bytes more that they would be if all hands were stored."""
        return sum(game.full_bytes - game.memory_bytes for game in self.games)

    def keeps(self, flops: Flops) -> bool:
        """All games go on from where they were."""
        del flops
        return True

    @property
    def can_keep_some(self) -> bool:
        """Whether hands are the same from the root to the river, so that some can be left out."""
        return self.roots is None and self.cards.stages == 1

    def keep(self, hands: Flags) -> None:
        """Store something of these hands [2, P, 169] only; who comes back starts from nothing."""
        if not self.can_keep_some:
            raise ValueError("hands change after the flop: all of them must be stored")
        changes = [
            (game.regrets[0][player].nbytes, pot, player)
            for player in Player
            for pot, game in enumerate(self.games)
            if not np.array_equal(listed(hands[player, pot]), game.kept[player])
        ]
        # The smallest first: what they give back makes room for the copies of the larger ones.
        for _, pot, player in sorted(changes):
            self.games[pot].keep(player, listed(hands[player, pot]), self._pool)

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
        return self._run(Player(player), other, UPDATE, flops, rows, "kept", asked)

    def judge(self, player: int, other: Floats, flops: Flops, *, best: bool) -> Floats:
        """[P, K, 169]: values of the best response to, or of, the average strategies."""

        def run(mode: int, whose: Whose) -> Floats:
            return self._run(Player(player), other, mode, flops, NO_DISCOUNTS, whose)

        if best:
            return run(BEST_RESPONSE, "all")
        values = run(EVALUATE, "kept")
        if all(len(game.kept[player]) >= self.cards.hands[0] for game in self.games):
            return values
        return values + run(PLAY_EVENLY, "rest")

    def _run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        flops: Flops,
        discounts: NDArray[np.float32],
        whose: Whose,
        asked: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: passes about some hands of each pot; 0 for all others."""
        own = [game.own_hands(player, whose) for game in self.games]
        rows = [
            self._rows(reach, flops, game.kept[player.opponent])
            for reach, game in zip(other, self.games, strict=True)
        ]
        values = [np.zeros((len(flops), padded(len(hands))), np.float32) for hands in own]
        size = max(LEAST_PIECE, -(-len(flops) // (PIECES_A_THREAD * self._pool.threads)))
        blocks = [
            None if asked is None else self._blocks(asked[pot], flops, own[pot])
            for pot in range(self.pots)
        ]
        # A pot that the other player never gets to is worth nothing to either of them. Without own
        # hands an update still gathers the other's average strategy.
        reached = [
            pot
            for pot in range(self.pots)
            if other[pot].max() > LEAST_REACH and (len(own[pot]) or mode == UPDATE)
        ]
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
                whose,
            )

        self._pool.run(len(pieces), work)
        length = self.cards.lengths[0]
        found = np.zeros((self.pots, len(flops), length))
        for pot, hands in enumerate(own):
            places = hands if len(hands) < length else slice(None)  # copying all is faster so
            found[pot][:, places] = values[pot][:, : len(hands)]
        found = found[:, :, : self.cards.hands[0]]
        if self.roots is None:
            return found
        classes: Floats = np.einsum("pkb,khb->pkh", found, self.roots[flops], optimize=True)
        return classes

    def _rows(self, reach: Floats, flops: Flops, kept: Longs) -> NDArray[np.float32]:
        """[1 or K, H]: reach at the root in the kept hands of the first stage, padded."""
        reach = np.where(reach > LEAST_REACH, reach, 0.0)
        by_flop = reach[None] if self.roots is None else reach @ self.roots[flops]
        rows: NDArray[np.float32] = aligned((len(by_flop), padded(len(kept))))
        if len(kept) >= by_flop.shape[1]:
            rows[:, : by_flop.shape[1]] = by_flop
        else:
            rows[:, : len(kept)] = by_flop[:, kept]
            if np.count_nonzero(rows) < np.count_nonzero(by_flop):
                raise ValueError("a hand of whom nothing is stored is played to a pot")
        return rows

    def _blocks(self, asked: Flags, flops: Flops, own: Longs) -> NDArray[np.uint8] | None:
        """[1 or K, H / 16]: the blocks of own hands in which any class [169] is asked for."""
        if self.roots is not None:
            return blocks_of_hands((asked @ self.roots[flops]) > 0)
        kept = asked[own[own < len(asked)]]
        return None if kept.all() else blocks_of_hands(kept[None])

    @contextmanager
    def rounded(self, flops: range, largest: int) -> Iterator[None]:
        """For a while, average strategies on some flops are whole numbers, as bundles keep them."""
        with ExitStack() as stack:
            for game in self.games:
                stack.enter_context(game.rounded(flops, largest, self._pool))
            yield

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
