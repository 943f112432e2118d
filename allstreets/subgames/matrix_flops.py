"""All pots on all flops as matrix games; threads take pieces of a few flops of one pot.

Where hands are classes, a pot need not store hands that a player never brings to it
(`keep_hands`). They have no strategy there: evaluated, they play uniformly. A best response to
the others' strategies goes through all hands as always.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.betting import OOP, BettingTree, Player
from allstreets.cfr import Multipliers
from allstreets.kernels.matrix_layout import (
    BEST_RESPONSE,
    EVALUATE,
    PLAY_EVENLY,
    UPDATE,
    Longs,
)
from allstreets.kernels.simd import aligned
from allstreets.subgames.card_model import CLASSES, CardModel
from allstreets.subgames.dealt_pairs import DealtPairs
from allstreets.subgames.flop_games import Arrays, Flags, Floats, Flops, RegretSums
from allstreets.subgames.matrix import NO_DISCOUNTS, MatrixGame, make_spaces
from allstreets.subgames.matrix_hands import HandSelection, listed
from allstreets.subgames.matrix_model import Stage, StageMatrices, padded
from allstreets.subgames.matrix_packing import MatrixPacker
from allstreets.subgames.matrix_pruning import blocks_of_hands
from allstreets.subgames.matrix_store import Allocate
from allstreets.subgames.packed import Numbers, PackedStrategies
from allstreets.subgames.pair_values import class_values, first_stage_values, single_stage_values
from allstreets.subgames.pool import Pool

PIECES_PER_THREAD = 8  # of every pot: enough that no thread waits long for the last one
LEAST_PIECE = 4  # flops: fewer are not worth handing over
LEAST_REACH = 1e-12
"""A hand that reaches a pot less often than this does not count: whole pots fall away early."""

STATE_BYTES = 200_000_000  # of one array of the state, so that no copy of it is large


@dataclass(frozen=True, eq=False)
class MatrixCards:
    """The cards of F flops.

    `roots` [F, 169, H] leads from classes to the hands of the first stage, where these are others:
    reach of hands = reach of classes · root, and values of classes = root · values of hands.
    """

    stages: Sequence[tuple[Stage, ...]]  # [F]
    dealt: DealtPairs  # pairs of combos by class
    roots: NDArray[np.float64] | None = None
    combo_hands: NDArray[np.int16] | None = None  # [F, 1326]: where there are roots; −1: blocked


class MatrixFlops:
    """P betting trees, each with its payoffs [N, 2, 3], on F flops."""

    def __init__(
        self,
        trees: Sequence[tuple[BettingTree, NDArray[np.float64]]],
        cards: MatrixCards,
        model: CardModel = CLASSES,
        threads: int = 1,
        allocate: Allocate = aligned,
    ) -> None:
        self.model, self.dealt, self.roots = model, cards.dealt, cards.roots
        self._facts = cards
        self.cards = StageMatrices(cards.stages)
        self.payoffs = [payoffs for _, payoffs in trees]
        self.games = [MatrixGame(tree, payoffs, self.cards, allocate) for tree, payoffs in trees]
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
        """Additional bytes if all hands were stored."""
        return sum(game.full_bytes - game.memory_bytes for game in self.games)

    def persists(self, flops: Flops) -> bool:
        """All games go on from their last step."""
        del flops
        return True

    @property
    def can_drop_hands(self) -> bool:
        """Whether hands are the same from the root to the river, so that some can be left out."""
        return self.roots is None and self.cards.stages == 1

    def keep_hands(self, hands: Flags) -> None:
        """Store only these hands [2, P, 169]; one that returns starts from zero."""
        if not self.can_drop_hands:
            raise ValueError("hands change after the flop: all of them must be stored")
        changes = [
            (game.regrets[0][player].nbytes, pot, player)
            for player in Player
            for pot, game in enumerate(self.games)
            if not np.array_equal(listed(hands[player, pot]), game.kept[player])
        ]
        # The smallest first: what they free makes room for the copies of the larger ones.
        for _, pot, player in sorted(changes):
            self.games[pot].keep(player, listed(hands[player, pot]), self._pool)
        self.__dict__.pop("_packers", None)

    def step(
        self,
        player: Player,
        hero: Floats,
        villain: Floats,
        flops: Flops,
        now: Sequence[Multipliers],
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: a half-iteration on K flops; hero's reach is not needed."""
        del hero
        rows = np.array(now, np.float32)
        return self._run(player, villain, UPDATE, flops, rows, "kept", hand_mask)

    def iterate(self, reach: Floats, pairs: Flags, every: Sequence[Multipliers]) -> None:
        """Whole iterations with a fixed reach [2, P, 169], a pot on a flop at a time."""
        table = np.array(every, np.float32)
        places = np.arange(self.flops)
        rows = [
            [self._rows(reach[player, pot], places, game.kept[player]) for player in Player]
            for pot, game in enumerate(self.games)
        ]
        pieces = np.argwhere(pairs).tolist()

        def work(thread: int, number: int) -> None:
            pot, flop = pieces[number]
            both = [row[flop if len(row) > 1 else 0] for row in rows[pot]]
            self.games[pot].iterate(np.stack(both), flop, table, self._spaces[thread])

        self._pool.run(len(pieces), work)

    def best_response(self, player: Player, villain: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the average strategies."""
        return self._run(player, villain, BEST_RESPONSE, flops, NO_DISCOUNTS, "all")

    def evaluate(self, player: Player, villain: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies."""
        values = self._run(player, villain, EVALUATE, flops, NO_DISCOUNTS, "kept")
        if all(len(game.kept[player]) >= self.cards.hands[0] for game in self.games):
            return values
        return values + self._run(player, villain, PLAY_EVENLY, flops, NO_DISCOUNTS, "rest")

    def pair_values(self, pot: int, flop: int) -> Floats:
        """[169, 169]: chips that OOP wins with the row's hand from the column's."""
        game, stages = self.games[pot], self._facts.stages[flop]
        if self.roots is None and self.cards.stages == 1:
            stored = self._packers[pot].pack(flop, np.dtype(np.uint16))
            strategies = PackedStrategies(game.tree, self.model.streets, stored)
            return single_stage_values(
                strategies, self.payoffs[pot], stages[0].pairs, stages[0].margin
            )
        assert self._facts.combo_hands is not None
        hands = len(stages[0].combos)
        place = np.array([flop])
        spaces = game.spaces()

        def evaluate(reach: Floats) -> Floats:
            row, values = aligned((1, self.cards.lengths[0])), aligned((1, self.cards.lengths[0]))
            row[0, :hands] = reach
            game.run(OOP, row, values, EVALUATE, spaces, place)
            found: Floats = values[0, :hands].astype(np.float64)
            return found

        of_hands = first_stage_values(evaluate, stages[0].pairs)
        return class_values(self._facts.combo_hands[flop], of_hands)

    def _run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        flops: Flops,
        discounts: NDArray[np.float32],
        selection: HandSelection,
        hand_mask: Flags | None = None,
    ) -> Floats:
        """[P, K, 169]: passes about some hands of each pot; 0 for all others."""
        own = [game.own_hands(player, selection) for game in self.games]
        rows = [
            self._rows(reach, flops, game.kept[player.opponent])
            for reach, game in zip(other, self.games, strict=True)
        ]
        values = [np.zeros((len(flops), padded(len(hands))), np.float32) for hands in own]
        size = max(LEAST_PIECE, -(-len(flops) // (PIECES_PER_THREAD * self._pool.threads)))
        blocks = [
            None if hand_mask is None else self._blocks(hand_mask[pot], flops, own[pot])
            for pot in range(self.pots)
        ]
        # A pot that the other player never gets to is worth nothing to either of them. Without own
        # hands an update still sums the other's average strategy.
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
                selection,
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
        """[1 or K, H]: reach at the root in the stored hands of the first stage, padded."""
        reach = np.where(reach > LEAST_REACH, reach, 0.0)
        by_flop = reach[None] if self.roots is None else reach @ self.roots[flops]
        rows: NDArray[np.float32] = aligned((len(by_flop), padded(len(kept))))
        if len(kept) >= by_flop.shape[1]:
            rows[:, : by_flop.shape[1]] = by_flop
        else:
            rows[:, : len(kept)] = by_flop[:, kept]
            if np.count_nonzero(rows) < np.count_nonzero(by_flop):
                raise ValueError("a hand that is not stored reaches a pot")
        return rows

    def _blocks(self, hand_mask: Flags, flops: Flops, own: Longs) -> NDArray[np.uint8] | None:
        """[1 or K, H / 16]: the blocks of own hands that hold a class of the mask [169]."""
        if self.roots is not None:
            return blocks_of_hands((hand_mask @ self.roots[flops]) > 0)
        kept = hand_mask[own[own < len(hand_mask)]]
        return None if kept.all() else blocks_of_hands(kept[None])

    @contextmanager
    def rounded(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """For a while, average strategies of some flops are whole numbers, as in a bundle."""
        largest = int(np.iinfo(numbers).max)
        with ExitStack() as stack:
            for game in self.games:
                stack.enter_context(game.rounded(flops, largest, self._pool))
            yield

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision of a pot's tree, in the hands of its stage."""
        return self.games[pot].average(flop, node)

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]; all hands must be stored."""
        self.games[pot].set_average(flop, node, strategy)

    @cached_property
    def _packers(self) -> list[MatrixPacker]:
        """Of every pot; which hands are stored is part of them."""
        return [MatrixPacker(game) for game in self.games]

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The strategies of all pots on a flop, and which bucket holds which combos."""
        del reach
        arrays: Arrays = {}
        for pot, packer in enumerate(self._packers):
            for stage, stored in enumerate(packer.pack(flop, numbers[pot])):
                arrays[f"strategy.{pot}.{stage}"] = stored
        if self.roots is not None:
            root = self.roots[flop]
            combos = self.cards.kernel[0].combos[flop, : root.shape[1]]
            arrays["held"] = np.rint(root * combos).astype(np.uint8)
        return arrays

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        found = np.zeros((3, self.pots, len(flops)))
        for pot, game in enumerate(self.games):
            found[:, pot] = game.regret_sums(flops)
        return RegretSums(found[0], found[1], found[2].astype(np.int64))

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
