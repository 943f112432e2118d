"""The sampled flop game: external-sampling MCCFR on concrete deals, strategies by hand class.

It is the game that `classes` solves with matrices: a player knows the betting and the class of his
hand, not the turn and the river. Here turn and river are dealt, both hands are ranked with seven
cards, and no cost grows with the square of the classes; a walk touches only a small part of the
tree.

A half-iteration (`step`) of a player:
1. Stored regrets and sums are discounted as the schedule says, and the strategy joins the average.
2. D deals: the opponent's hand is drawn by his reach, the player's by his own reach and a tenth of
   its largest number. Without that tenth, hands that never get here would have no values, and the
   game above could not learn whether they should.
3. One walk per deal tries all actions of the player and samples the opponent's. Its regrets are
scaled so that one step adds, in expectation, exactly the counterfactual regrets of the classes
game: chips · weight of the opponent's combo, summed over
   all pairs of combos that fit. Thresholds and floors of pruning are in that unit.
4. The strategy follows the regrets by regret matching.

The values that `step` returns are estimates: their expectation is the exact value of both current
strategies, for every class, whatever its own reach.

**Fixed strategies.** Within a step both strategies are fixed. If they followed immediately, as in
`cfr.mccfr`, walks would take half as long again and converge no faster deal by deal. And the
average of fixed strategies need not be sampled: they are added with the exact probability that the
player gets there, and a hundredth of the largest range weight everywhere, so that the average stays
sensible where he hardly ever goes. The remaining noise is that of the deals and of the opponent's
actions; deals are spread evenly (`deal_hands`).

**Schedule.** `linear` is best: the noise of the walks needs long averages, which the steeper
weights of `dcfr` and `tuned` cut short. One per cent of the pairs per iteration is a good start;
with less, discounting takes most of the time; with more, updates are too rare.

**Repeatable.** Results depend on the seed, the flop and the stakes, never on threads: each game
runs on one thread, and a job has many games.

Lanctot et al. (2009), Monte Carlo sampling for regret minimization in extensive games.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Floats, InputError, Longs, Singles
from allstreets.betting import BettingTree, NodeKind, Player, Street
from allstreets.cards import (
    COMBO_CARDS,
    COMBO_MASKS,
    HAND_COUNT,
    HAND_OF_COMBO,
    cards_text,
    evaluator_tables,
    live_combos,
)
from allstreets.cards.kernels.evaluator import SUIT_START
from allstreets.cfr import IterationWeights, check_state
from allstreets.engines.sampled.kernels.external_sampling import (
    LAST,
    OPPONENT,
    PLAYER,
    TERMINAL,
    Cards,
    Deals,
    Room,
    Tree,
    deal_hands,
    discount,
    match,
    walk,
)

Reach = Floats  # [169]
Values = Floats  # [169]

PAIRS = 1176 * 1081  # ordered pairs of combos that fit beside a flop and each other
SAMPLE_PCT = 1.0
LEAST_DEALT = 0.1  # of his largest reach, added to every class when the player's hands are drawn
LEAST_AVERAGED = 0.01  # of the player's largest reach, added to the weight of every strategy


def deals_for(sample_pct: float) -> int:
    """The number of deals in a percentage of the pairs of combos.

    >>> deals_for(1.0), deals_for(1e-9)
    (12713, 1)
    """
    if not 0 < sample_pct <= 100:
        raise InputError(
            f"sample_pct is {sample_pct:g}: give the per cent of the {PAIRS:,} pairs of "
            "combos that an iteration deals, above 0 and at most 100; 1 is usual"
        )
    return max(1, round(sample_pct / 100 * PAIRS))


class SampledSubgame:
    """A flop game as a function from reach to values, estimated by walks.

    `tree` goes from the flop to the river, `payoffs` [N, 2, 3] are those of `betting.payoffs`.
    Reach and values are by hand class: reach is a weight per combo, a value the sum over the combos
    of the class. Exact values of the average strategies are left to the `classes` engine.
    """

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Floats,
        flop: tuple[int, ...],
        sample_pct: float = SAMPLE_PCT,
        seed: int = 1,
    ) -> None:
        if not 0 <= seed < 2**63:
            raise InputError(f"the seed is {seed}: give a whole number from 0 to 2^63 − 1")
        if len(set(flop)) != 3 or tree.first_street != Street.FLOP:
            raise InputError(
                f"a sampled game starts on a flop of 3 different cards, not on the "
                f"{tree.first_street.text} with '{cards_text(flop)}'"
            )
        self.tree, self.flop = tree, flop
        self.deals = deals_for(sample_pct)
        self._cards = flop_cards(flop)
        self._slots = [player_slots(tree, player) for player in Player]
        self._trees = [walking_tree(tree, payoffs, self._slots, player) for player in Player]
        sizes = [HAND_COUNT * int(slots.start[-1]) for slots in self._slots]
        self._regrets = [np.zeros(size, np.float32) for size in sizes]
        self._sums = [np.zeros(size, np.float32) for size in sizes]
        self._strategy = [np.zeros(size, np.float32) for size in sizes]
        for player in Player:
            self._match(player, -math.inf)
        # Games of a job share its seed; flop and stakes distinguish them.
        entropy = np.random.SeedSequence((seed, *flop, int(tree.pot), int(tree.stack)))
        self._random = entropy.generate_state(1, np.uint64).astype(np.uint64)
        self._room = Room(
            places=np.zeros(2 * max(len(slots.before) for slots in self._slots), np.uint64),
            values=np.zeros(1 + max(int(slots.start[-1]) for slots in self._slots)),
            counts=np.zeros(2, np.int64),
        )

    def step(
        self, player: Player, player_reach: Reach, opponent_reach: Reach, weights: IterationWeights
    ) -> Values:
        """One half-iteration: an unbiased estimate of the values [H], regrets and average updated.

        The values are those of the strategies before the step.
        """
        assert player_reach.shape == opponent_reach.shape == (HAND_COUNT,)
        discount(
            self._regrets[player],
            self._sums[player],
            self._strategy[player],
            self._slots[player].start,
            self._slots[player].before,
            weights.weight * player_reach,
            weights.weight * LEAST_AVERAGED * float(player_reach.max()),
            np.array([weights.positive, weights.negative, weights.average], np.float32),
        )
        values = np.zeros(HAND_COUNT)
        deals, scale = self._deal(player_reach, opponent_reach)
        if scale is not None:
            walk(
                self._trees[player],
                self._cards.hands,
                deals,
                scale,
                self._regrets[player],
                self._strategy[player],
                self._strategy[player.opponent],
                self._room,
                values,
                self._random,
                None if weights.threshold == -math.inf else weights.threshold,
            )
        self._match(player, weights.floor)
        return values

    def _deal(self, player_reach: Reach, opponent_reach: Reach) -> tuple[Deals, Floats | None]:
        """Deals, and how often one of each class [H] counts; `None` if no two hands fit.

        A class has `drawn` · (its pairs, by the opponent's reach) / `pairs` of all deals, whereas
        its regrets and values are sums over its pairs.
        """
        deals = Deals(
            player=np.empty(self.deals, np.uint16),
            opponent=np.empty(self.deals, np.uint16),
            runouts=np.empty((self.deals, 2), np.uint8),
            outcomes=np.empty(self.deals, np.uint8),
        )
        most = player_reach.max()
        drawn = player_reach + LEAST_DEALT * most if most > 0 else np.ones(HAND_COUNT)
        pairs = deal_hands(
            self._cards,
            evaluator_tables(),
            drawn[self._cards.hands],
            opponent_reach[self._cards.hands].astype(np.float64),
            deals,
            self._random,
        )
        return deals, pairs / (self.deals * drawn) if pairs > 0 else None

    def average(self, node: int) -> Floats:
        """[A, H] the average strategy of a decision node; uniform where nothing is known."""
        sums = self._by_action(self._sums, node)
        total = sums.sum(axis=0)
        return np.where(total > 0, sums / np.where(total > 0, total, 1.0), 1.0 / len(sums))

    def strategy(self, node: int) -> Floats:
        """[A, H] the current strategy of a decision node."""
        return self._by_action(self._strategy, node)

    def regrets(self, node: int) -> Floats:
        """[A, H] the regrets of a decision node, in chips · weight of the opponent's combos."""
        return self._by_action(self._regrets, node)

    def _by_action(self, tables: list[Singles], node: int) -> Floats:
        player = self.tree.player_at(node)
        first, actions = int(self._slots[player].first[node]), int(self.tree.child_count[node])
        table = tables[player].reshape(HAND_COUNT, -1)
        return table[:, first : first + actions].T.astype(np.float64)

    def regret_sums(self) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many regrets there are), in the stored unit.

        Classes that the flop leaves no combo are not counted.
        """
        alive = np.unique(self._cards.hands)
        tables = [table.reshape(HAND_COUNT, -1)[alive] for table in self._regrets]
        total = sum(float(table.sum(where=table > 0, dtype=np.float64)) for table in tables)
        largest = max(float(table.max(initial=0.0)) for table in tables)
        return total, largest, sum(table.size for table in tables)

    @property
    def pruned_fraction(self) -> float | None:
        """The share of actions that pruned steps have skipped; None: there was none."""
        skipped, due = self._room.counts.tolist()
        return skipped / due if due else None

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets, sums and strategies."""
        return sum(table.nbytes for table in (*self._regrets, *self._sums, *self._strategy))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on; the game's arrays, not copies."""
        state: dict[str, NDArray[Any]] = {"random": self._random, "skip_counts": self._room.counts}
        for player in Player:
            state[f"regrets.{player.name.lower()}"] = self._regrets[player]
            state[f"average.{player.name.lower()}"] = self._sums[player]
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same game, bit-identical to an uninterrupted run."""
        arrays = self.state()
        check_state(state, arrays)
        for name, array in arrays.items():
            array[:] = state[name]
        for player in Player:
            self._match(player, -math.inf)

    def _match(self, player: Player, lowest_regret: float) -> None:
        match(
            self._regrets[player],
            self._strategy[player],
            self._slots[player].start,
            np.float32(lowest_regret),
        )


def flop_cards(flop: tuple[int, ...]) -> Cards:
    """The flop and the combos that fit beside it, as the kernels read them."""
    tables = evaluator_tables()
    combos = np.flatnonzero(live_combos(flop))
    combos = combos[np.argsort(HAND_OF_COMBO[combos], kind="stable")]
    cards = COMBO_CARDS[combos]
    deck = np.setdiff1d(np.arange(52, dtype=np.uint8), np.array(flop, np.uint8))
    return Cards(
        cards=cards,
        masks=COMBO_MASKS[combos],
        keys=tables.card_keys[cards].sum(axis=1, dtype=np.uint64),
        suits=np.bitwise_or.reduce(tables.card_bits[cards], axis=1),
        hands=HAND_OF_COMBO[combos],
        deck=deck,
        flop_key=SUIT_START + tables.card_keys[list(flop)].sum(dtype=np.uint64),
        flop_suits=np.bitwise_or.reduce(tables.card_bits[list(flop)]),
    )


@dataclass(frozen=True, eq=False)
class Slots:
    """The slots of a player's actions; his I decision nodes in the order of the tree."""

    first: Longs  # [N] first slot of each of his nodes, elsewhere −1
    start: Longs  # [I + 1] first slots in a row, and the number of slots
    before: Longs  # [I] slot of his last action on the way there, −1 if none


def player_slots(tree: BettingTree, player: Player) -> Slots:
    """Slots for all actions of a player."""
    nodes = np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.player == player))
    start = np.concatenate([[0], np.cumsum(tree.child_count[nodes], dtype=np.int64)])
    first = np.full(tree.node_count, -1, np.int64)
    first[nodes] = start[:-1]
    # The action that leads to each node, if it is his: the first slot of the node above, and the
    # place among its children.
    action = np.full(tree.node_count, -1, np.int64)
    child, above = tree.children, tree.parent[tree.children]
    index = np.arange(len(child)) - tree.first_child[above]
    action[child] = np.where(first[above] >= 0, first[above] + index, -1)
    at = nodes
    before = action[nodes]
    while (open_ := (before < 0) & (at > 0)).any():
        at = np.where(open_, tree.parent[at], at)
        before = np.where(open_, action[at], before)
    return Slots(first, start, before)


def walking_tree(tree: BettingTree, payoffs: Floats, slots: list[Slots], player: Player) -> Tree:
    """The betting as `player` walks it.

    Nodes are numbered in the order of `tree.children`, the root before them, so that siblings are
    side by side. A chance node is replaced by the node below it.
    """
    node = np.concatenate([[0], tree.children])
    falls = tree.kind[node] == NodeKind.CHANCE
    node[falls] = tree.children[tree.first_child[node[falls]]]
    decides = tree.kind == NodeKind.DECISION
    goes_on = np.bincount(tree.parent[1:][~tree.is_terminal[1:]], minlength=tree.node_count) > 0
    opponent = np.where(goes_on, OPPONENT, LAST)
    kind = np.where(decides, np.where(tree.player == player, PLAYER, opponent), TERMINAL)
    columns = [
        kind,
        tree.child_count,
        4 * (1 + tree.first_child),
        np.maximum(slots[0].first, slots[1].first),
    ]
    nodes = np.stack(columns, axis=1)[node].astype(np.uint32)
    results = nodes.view(np.float32)
    ends = tree.is_terminal[node]
    results[ends, 1:] = payoffs[node[ends], player]
    return Tree(nodes.reshape(-1), results.reshape(-1))
