"""All pots on all flops as matrix games; threads fetch a flop at a time with all its pots.

Where hands are classes, a pot need not store hands that a player never brings to it (`keep_hands`).
They have no strategy there: when evaluated they play uniformly. A best response to the opponent's
strategies still visits all hands.

Pruning follows the rule of `allstreets.cfr.pruning` with a threshold, for sixteen hands at a time
(`kernels.passes`). Thresholds and floors are in the unit of the stored regrets, **chips times pairs
of combos** (own combos of the hand × the other player's combos that fit, each weighted by his
reach), summed over iterations as the schedule discounts them. Where 1,000 other combos get to a pot
of 500 chips, a hand of 12 combos that loses a tenth of the pot by an action loses 600,000 per
iteration. The sound rule (no threshold) needs an upper bound of what each action could have gained
meanwhile, for which a matrix game has no room: it must be given a threshold.

`pair_values` has the value of every hand against every other hand when both play stored strategies:
the chips that OOP wins on average, over turns, rivers and both players' mixed actions; IP loses as
much. It is 0 where no combos of two hands fit beside the flop and each other.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Bytes, Flags, Floats, InputError, Longs, Singles
from allstreets.betting import OOP, BettingTree, NodeKind, Outcome, Player
from allstreets.cards import COMBO_MASKS, HAND_COUNT, HAND_OF_COMBO
from allstreets.cfr import IterationWeights, Pruning, Schedule
from allstreets.engines.card_model import CLASSES, CardModel, DealtPairs
from allstreets.engines.machine import Pool
from allstreets.engines.matrix.cards import Stage, StageMatrices
from allstreets.engines.matrix.game import (
    NO_WEIGHTS,
    Allocate,
    MatrixGame,
    make_spaces,
    pruned_parts,
)
from allstreets.engines.matrix.kernels.layout import (
    BEST_RESPONSE,
    EVALUATE,
    PLAY_EVENLY,
    THRESHOLD,
    UPDATE,
    filled,
)
from allstreets.engines.matrix.kernels.pair_sums import PairTree, mean_over_pairs, pair_values
from allstreets.engines.matrix.kernels.pots import NO_ROOTS, PotTables, iterate_pots, run_pots
from allstreets.engines.matrix.plan import (
    HandSelection,
    blocks_of_hands,
    cut_pieces,
    listed,
    pot_tables,
)
from allstreets.engines.protocol import Arrays, Flops, RegretSums, Values
from allstreets.engines.quantised import Numbers
from allstreets.engines.simd.vectors import LANES, aligned
from allstreets.engines.simd.work_counter import new_counter
from allstreets.engines.subgames import flop_key

LEAST_REACH = 1e-12
"""A hand that reaches a pot less often than this does not count: whole pots drop out early."""
COMBO_BITS = COMBO_MASKS.astype(np.int64)
HANDS = HAND_OF_COMBO.astype(np.int64)


@dataclass(frozen=True, eq=False)
class MatrixCards:
    """The cards of F flops.

    `roots` [F, 169, H] leads from classes to the hands of the first stage, where these are others:
    reach of hands = reach of classes · root, and values of classes = root · values of hands.
    """

    stages: Sequence[tuple[Stage, ...]]  # [F]
    dealt: DealtPairs  # pairs of combos by class
    roots: Floats | None = None
    combo_hands: NDArray[np.int16] | None = None  # [F, 1326]: where there are roots; −1: blocked
    hands: tuple[int, ...] | None = None  # at most, by stage; None: as many as there are


class MatrixEngine:
    """P betting trees, each with its payoffs [N, 2, 3], on F flops."""

    def __init__(
        self,
        trees: Sequence[tuple[BettingTree, Floats]],
        cards: MatrixCards,
        model: CardModel = CLASSES,
        threads: int = 1,
        allocate: Allocate = aligned,
    ) -> None:
        self.model, self.dealt, self.roots = model, cards.dealt, cards.roots
        self._kernel_roots = NO_ROOTS if cards.roots is None else cards.roots
        self._facts = cards
        self.cards = StageMatrices(cards.stages, cards.hands)
        self.payoffs = [payoffs for _, payoffs in trees]
        self.games = [MatrixGame(tree, payoffs, self.cards, allocate) for tree, payoffs in trees]
        self._pool = Pool(threads)
        self._cards = filled(self.cards.kernel)
        self._spaces = [filled(make_spaces(self.games)) for _ in range(threads)]
        sizes = [game.full_bytes for game in self.games]
        self._by_size = np.argsort(np.array(sizes, np.int64), kind="stable")[::-1].copy()
        self._known_tables: dict[tuple[Player, HandSelection], PotTables] = {}

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

    @property
    def can_drop_hands(self) -> bool:
        """Whether hands are the same from the root to the river, so that some can be left out."""
        same = self.roots is None and self.cards.stages == 1
        return same and not any(game.tree.is_locked for game in self.games)

    def keep_hands(self, hands: Flags) -> None:
        """Store only these hands [2, P, 169]; one that returns starts from zero."""
        if not self.can_drop_hands:
            raise ValueError("hands change after the flop or are locked: all must be stored")
        changes = [
            (int(game.slots[0, player]) * len(game.kept[player]), pot, player)
            for player in Player
            for pot, game in enumerate(self.games)
            if not np.array_equal(listed(hands[player, pot]), game.kept[player])
        ]
        # The smallest first: the memory they free makes room for the copies of the larger ones.
        for _, pot, player in sorted(changes):
            self._keep(pot, player, listed(hands[player, pot]))
        self.__dict__.pop("_pair_trees", None)
        self._known_tables.clear()

    def _keep(self, pot: int, player: Player, hands: Longs) -> None:
        self.games[pot].keep(player, hands, self._pool)

    def step(
        self,
        player: Player,
        player_reach: Floats,
        opponent_reach: Floats,
        flops: Flops,
        weights: Sequence[IterationWeights],
        hand_mask: Flags | None = None,
    ) -> Values:
        """[P, K, 169]: a half-iteration on K flops; the player's own reach is not needed."""
        del player_reach
        rows = weight_rows(weights)
        return self._run(player, opponent_reach, UPDATE, flops, rows, "kept", hand_mask)

    def iterate(self, reach: Floats, pairs: Flags, weights: Sequence[IterationWeights]) -> None:
        """Whole iterations with a fixed reach [2, P, 169], a pot on a flop at a time."""
        table = np.array(weights, np.float32)
        # In a fixed order of axes, since kernels are compiled for each order.
        reached = np.ascontiguousarray(np.where(reach > LEAST_REACH, reach, 0.0))
        for player in Player:
            self._require_stored(player, reached[player])
        pot, flop = np.nonzero(pairs[self._by_size])
        pieces = np.stack([self._by_size[pot], flop], axis=1)
        both = self._tables(OOP, "kept"), self._tables(OOP.opponent, "kept")
        length = self.cards.lengths[0]

        def iterate_part(part: Singles, blocks: Bytes) -> None:
            counter = new_counter()

            def work(thread: int) -> None:
                iterate_pots(
                    counter, pieces, both, self._cards, self._spaces[thread], reached,
                    self._kernel_roots, part, blocks,
                )  # fmt: skip

            self._pool.together(work)

        for part, blocks in pruned_parts(table, np.ones(length // LANES, np.uint8)):
            iterate_part(part, blocks)

    def best_response(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the best response to the average strategies."""
        values = self._run(player, opponent_reach, BEST_RESPONSE, flops, NO_WEIGHTS, "all")
        return values.astype(np.float64)

    def evaluate(self, player: Player, opponent_reach: Floats, flops: Flops) -> Floats:
        """[P, K, 169]: values of the average strategies."""
        values = self._run(player, opponent_reach, EVALUATE, flops, NO_WEIGHTS, "kept")
        if any(len(game.kept[player]) < self.cards.hands[0] for game in self.games):
            values += self._run(player, opponent_reach, PLAY_EVENLY, flops, NO_WEIGHTS, "rest")
        return values.astype(np.float64)

    def pair_values(self, pot: int, flops: Flops) -> Singles:
        """[K, 169, 169]: chips that OOP wins with the row's hand from the column's."""
        values = np.empty((len(flops), HAND_COUNT, HAND_COUNT), np.float32)
        if self.roots is None and self.cards.stages == 1:
            self._add_up_pairs(pot, flops, values)
        else:
            self._pool.run(len(flops), partial(self._evaluate_pairs, pot, flops, values))
        return values

    def _add_up_pairs(self, pot: int, flops: Flops, found: Singles) -> None:
        """Add up pair values over the terminals, in games whose hands stay the same."""
        game, tree = self.games[pot], self._pair_trees[pot]
        sums = game.averages[0][OOP], game.averages[0][OOP.opponent]
        places = game.places_of_hands(0, OOP), game.places_of_hands(0, OOP.opponent)
        cards, counter = self.cards.kernel[0], new_counter()

        def work(thread: int) -> None:
            del thread
            pair_values(counter, flops, tree, sums, places, cards, found)

        self._pool.together(work)

    def _evaluate_pairs(
        self, pot: int, flops: Flops, found: Singles, thread: int, place: int
    ) -> None:
        """Evaluate against each hand of the first stage, in games whose hands change."""
        game, flop, spaces = self.games[pot], int(flops[place]), self._spaces[thread]
        assert self._facts.combo_hands is not None

        def evaluate(reach: Floats) -> Floats:
            return game.run(OOP, reach, EVALUATE, spaces, flop).astype(np.float64)

        of_hands = first_stage_values(evaluate, self._facts.stages[flop][0].pairs)
        found[place] = class_values(self._facts.combo_hands[flop], of_hands)

    def _run(
        self,
        player: Player,
        other: Floats,
        mode: int,
        flops: Flops,
        weights: Singles,
        selection: HandSelection,
        hand_mask: Flags | None = None,
    ) -> Singles:
        """[P, K, 169]: passes about some hands of each pot; 0 for all others."""
        reach = np.where(other > LEAST_REACH, other, 0.0)
        self._require_stored(player.opponent, reach)
        own = [len(game.own_hands(player, selection)) for game in self.games]
        # A pot that the opponent never reaches is worth nothing to either player. Without own
        # hands an update still sums the other's average strategy.
        seen = reach.any(axis=1) & (np.array(own, np.bool_) | (mode == UPDATE))
        classes = self.cards.hands[0] if self.roots is None else HAND_COUNT
        values = np.empty((self.pots, len(flops), classes), np.float32)
        values[~seen] = 0.0
        order = self._by_size[seen[self._by_size]]
        pieces = cut_pieces(len(flops), len(order), self._pool.threads)
        tables = self._tables(player, selection)
        wanted, limited = self._wanted(player, mode, flops, weights, hand_mask)
        counter = new_counter()

        def work(thread: int) -> None:
            run_pots(
                counter, pieces, order, tables, self._cards, self._spaces[thread], flops,
                reach, self._kernel_roots, values, mode, weights, wanted, limited,
            )  # fmt: skip

        if len(order):
            self._pool.together(work)
        return values

    def _tables(self, player: Player, selection: HandSelection) -> PotTables:
        """All pots as the kernels read them."""
        tables = self._known_tables.get((player, selection))
        if tables is None:
            tables = pot_tables([game.stages(player, selection) for game in self.games])
            self._known_tables[player, selection] = tables
        return tables

    def _require_stored(self, player: Player, reach: Floats) -> None:
        """Only stored hands may reach [P, 169] a pot."""
        for game, row in zip(self.games, reach, strict=True):
            kept = game.kept[player]
            some = len(kept) < self.cards.hands[0]
            if some and np.count_nonzero(row[kept]) < np.count_nonzero(row):
                raise ValueError("a hand that is not stored reaches a pot")

    def _wanted(
        self, player: Player, mode: int, flops: Flops, weights: Singles, hand_mask: Flags | None
    ) -> tuple[Bytes, Bytes]:
        """The blocks of own hands that an update computes, [P, 1 or K, H / 16], and where [P].

        [P, 1, 0]: all of them, in all pots. Best responses and evaluations are always for all.
        """
        limited = np.zeros(self.pots, np.uint8)
        everything = np.zeros((self.pots, 1, 0), np.uint8)
        pruned = bool((weights[:, THRESHOLD] > -np.inf).any())
        if mode != UPDATE or (hand_mask is None and not pruned):
            return everything, limited
        wanted = np.ones((self.pots, len(flops), self.cards.lengths[0] // LANES), np.uint8)
        limited[:] = pruned
        for pot, game in enumerate(self.games if hand_mask is not None else ()):
            assert hand_mask is not None
            blocks = self._blocks(hand_mask[pot], flops, game.kept[player])
            if blocks is not None:
                wanted[pot, :, : blocks.shape[1]] = blocks
                limited[pot] = 1
        return (wanted, limited) if limited.any() else (everything, limited)

    def _blocks(self, hand_mask: Flags, flops: Flops, own: Longs) -> Bytes | None:
        """[1 or K, H / 16]: the blocks of own hands that hold a class of the mask [169]."""
        if self.roots is not None:
            return blocks_of_hands((hand_mask @ self.roots[flops]) > 0)
        kept = hand_mask[own[own < len(hand_mask)]]
        return None if kept.all() else blocks_of_hands(kept[None])

    @contextmanager
    def quantised(self, flops: range, numbers: Numbers) -> Iterator[None]:
        """Quantise the average strategies of some flops, as in a bundle, within this context."""
        largest = int(np.iinfo(numbers).max)
        with ExitStack() as stack:
            for game in self.games:
                stack.enter_context(game.quantised(flops, largest, self._pool))
            yield

    def average(self, pot: int, flop: int, node: int) -> Floats:
        """[A, H]: the average strategy at a decision of a pot's tree, in the hands of its stage."""
        return self.games[pot].average(flop, node)

    def set_average(self, pot: int, flop: int, node: int, strategy: Floats) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]; all hands must be stored."""
        self.games[pot].set_average(flop, node, strategy)

    @cached_property
    def _pair_trees(self) -> list[PairTree]:
        """The pair trees of all pots, with the hands that each stores."""
        return [
            pair_tree(game, payoffs) for game, payoffs in zip(self.games, self.payoffs, strict=True)
        ]

    def pack(self, flop: int, reach: Floats, numbers: Sequence[Numbers]) -> Arrays:
        """The strategies of all pots on a flop, and the bucket of each combo."""
        del reach
        arrays: Arrays = {}
        for pot, game in enumerate(self.games):
            for stage, shares in enumerate(game.packed(flop, numbers[pot])):
                arrays[f"strategy.{pot}.{stage}"] = shares
        if self.roots is not None:
            root = self.roots[flop]
            combos = self.cards.kernel[0].combos[flop, : root.shape[1]]
            arrays["held"] = np.rint(root * combos).astype(np.uint8)
        return arrays

    def regret_sums(self, flops: Flops) -> RegretSums:
        """Positive regrets of K flops."""
        sums = np.zeros((3, self.pots, len(flops)))
        for pot, game in enumerate(self.games):
            sums[:, pot] = game.regret_sums(flops, self._pool)
        return RegretSums(sums[0], sums[1], sums[2].astype(np.int64))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on, flop by flop."""
        arrays = [
            (f"{name}.{pot}.{stage}.{player.name.lower()}", pair[player])
            for pot, game in enumerate(self.games)
            for name, stages in (("regrets", game.regrets), ("average", game.averages))
            for stage, pair in enumerate(stages)
            for player in Player
        ]
        return {
            flop_key(flop, name): array[flop]
            for flop in range(self.flops)
            for name, array in arrays
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same games."""
        for name, array in self.state().items():
            array[...] = state[name]


def weight_rows(weights: Sequence[IterationWeights]) -> Singles:
    """[1 or K, 7]: the weights of K flops as kernels take them; one row where all are alike."""
    alike = weights[:1] if weights and weights.count(weights[0]) == len(weights) else weights
    return np.array(alike, np.float32).reshape(-1, len(IterationWeights._fields))


def checked_pruning(pruning: Pruning | None, schedule: Schedule) -> Pruning | None:
    """The pruning of a matrix game, `None` where it is off."""
    if pruning is None or not pruning.is_on:
        return None
    if schedule.clip:
        raise InputError(
            f"{schedule} clips regrets at 0, so there are no negative ones to prune by: use "
            "pruning with dcfr or linear, or leave it out"
        )
    if pruning.is_sound:
        raise InputError(
            "prune_threshold is missing: games over hand classes or buckets prune by a threshold "
            'only. Give one in chips times pairs of combos, such as "-1e6*sqrt(t)", or set '
            "prune_warmup to 0 for no pruning"
        )
    return pruning


def pair_tree(game: MatrixGame, payoffs: Floats) -> PairTree:
    """A game of one stage as the kernel reads it; good as long as it stores the same hands."""
    tree = game.tree
    decides = tree.kind == NodeKind.DECISION
    starts = np.zeros(tree.node_count, np.int64)
    for player in Player:
        nodes, first = game.decisions_of(0, player)
        starts[nodes] = first
    depth, action = np.zeros((2, tree.node_count), np.int64)
    for node in np.flatnonzero(~tree.is_terminal).tolist():
        children = tree.children_of(node)
        depth[children] = depth[node] + 1
        action[children] = np.arange(len(children))
    win, loss = payoffs[:, OOP, Outcome.WIN], payoffs[:, OOP, Outcome.LOSE]
    return PairTree(
        tree.parent.astype(np.int64),
        depth,
        np.where(decides, tree.player, -1).astype(np.int64),
        tree.child_count.astype(np.int64),
        action,
        starts,
        np.where(tree.is_terminal, (win - loss) / 2, 0.0),
        np.where(tree.is_terminal, (win + loss) / 2, 0.0),
    )


def first_stage_values(evaluate: Callable[[Floats], Floats], pairs: Floats) -> Floats:
    """[H, H]: the same for the hands of the first stage, in a game of any number of stages.

    `evaluate` gives OOP's values [H] against a reach [H] of IP. Those against a range that holds a
    single hand are those against that hand, times the `pairs` [H, H] of combos.
    """
    totals = np.stack([evaluate(alone) for alone in np.eye(len(pairs))], axis=1)
    return np.divide(totals, pairs, out=np.zeros_like(totals), where=pairs > 0)


def class_values(buckets: NDArray[np.int16], values: Floats) -> Floats:
    """[169, 169]: values of buckets [K, K] as means over the combos that fit beside each other.

    `buckets` [1326] gives each combo's bucket, −1 where the flop blocks it.
    """
    means = np.empty((HAND_COUNT, HAND_COUNT))
    combos, groups = np.flatnonzero(buckets >= 0), buckets.astype(np.int64)
    mean_over_pairs(combos, COMBO_BITS, HANDS, groups, values, means)
    return means
