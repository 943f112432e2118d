"""CFR before the flop: 169 hand classes, a small tree, and leaves valued by other code.

    for player in (OOP, IP):
        forward pass: both players' reach [169] at every node
        fold → result · pairs;  all-in → stake · margin;  flop → `leaves`
        backward pass: counterfactual values [169], the player's regrets, the opponent's average

The pots that see a flop are valued by `Leaves`: a table of values for pairs of hands in the
separated pipeline, 1,755 flops of subgames in the unified solver. Both share this file.

With pruning, an action whose regret is below the threshold is closed for a hand: it is not played,
so its value is not needed, and its regret is discounted and otherwise left alone. Everything below,
also after the flop, is left as it was. Whole pots drop out for hands such as 72o.

With trembles (`trembles`), off-path actions are reached by a small share of the range: the opponent
learns his answers to them.

Actions can be closed for good, too (`dropping`): whatever their regrets, they are not played.
Hands can be locked at a decision: they play their lock, in best responses too.

**Trembles** give off-path lines a range, so that answers to them are learned. A player learns his
answers from the opponent's hands that get to him. Where the opponent never goes, nothing is
learned, and a best response exploits that: at 20 bb, with a small blind that never limps and
re-raises, that line cost 69 mbb/hand. So while a solution is trained, every action before the flop
is taken by at least a small share of the range that gets there. The hands are those that lose least
by it: a loss of l chips makes a hand exp(−l / T) times as likely (a logit response, as in a quantal
response equilibrium; McKelvey & Palfrey 1998), and a small part is spread over all hands.

Only the reach that the opponent learns against changes. The effect of trembles stays below the
action by which a player trembles, so on-path lines are learned as before. Averages and every figure
of a solution are those of its strategies without trembles.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats
from allstreets.betting import NodeKind, Outcome, Player
from allstreets.cards import HAND_COUNT, HAND_SIZES
from allstreets.cfr import IterationWeights
from allstreets.games import PreflopGame, Strategies
from allstreets.solvers.kernels.preflop_pass import (
    PreflopLayout,
    Trembles,
    preflop_backward,
    preflop_forward,
)

TREMBLE = 0.001  # the least share of a range that takes every action
BELOW = 0.1  # the same as a share of the reach of a decision: off-path lines branch, too
TEMPERATURE = 5.0  # chips: a twentieth of a big blind
SPREAD = 0.02


def trembles(share: float, losses: float = 1.0) -> Trembles:
    """The usual trembles; `losses` are the iterations that stored losses add up."""
    return Trembles(share, BELOW, TEMPERATURE, SPREAD, max(losses, 1.0))


SMALL_SHARE = 0.01
"""The weight of every hand in the average on top of its reach: it keeps all strategies sensible."""

NO_FLAGS = np.zeros((0, HAND_COUNT), np.bool_)


class Leaves(Protocol):
    """The pots that see a flop: reach [P, 169] in, counterfactual values [P, 169] out.

    Values are totals over combos.
    """

    def step(
        self, player: Player, player_reach: Floats, opponent_reach: Floats, hand_mask: Flags | None
    ) -> Floats:
        """A half-iteration; `hand_mask` [P, 169] are the hands that need values, None: all."""

    def best_response(self, player: Player, opponent_reach: Floats) -> Floats:
        """Values of the best response to the average strategies below."""

    def evaluate(self, player: Player, opponent_reach: Floats) -> Floats:
        """Values of the average strategies below."""


def preflop_layout(game: PreflopGame) -> PreflopLayout:
    """The game as the kernels read it."""
    tree = game.tree
    decisions = tree.decisions()
    kinds, results = tree.kind, game.results.transpose(1, 0, 2)
    ends = np.flatnonzero((kinds == NodeKind.FOLD) | (kinds == NodeKind.SHOWDOWN))
    shown = kinds[ends] == NodeKind.SHOWDOWN
    win, loss = results[:, ends, Outcome.WIN], results[:, ends, Outcome.LOSE]
    children = [tree.children_of(node) for node in decisions]
    return PreflopLayout(
        decision=np.array(decisions, np.int64),
        player=tree.player[decisions].astype(np.int64),
        first=np.cumsum([0, *(len(each) for each in children)]),
        child=np.concatenate([np.zeros(0, np.int64), *children]).astype(np.int64),
        ends=ends,
        # In a fixed order of axes, since kernels are compiled for each order.
        on_pairs=np.ascontiguousarray(np.where(shown, (win + loss) / 2, win)),
        on_margin=np.ascontiguousarray(np.where(shown, (win - loss) / 2, 0.0)),
        pairs=np.ascontiguousarray(game.pairs, np.float64),
        margin=np.ascontiguousarray(game.margin.T, np.float64),
        sizes=HAND_SIZES.astype(np.float64),
    )


class PreflopCfr:
    """Regrets and average strategies before the flop."""

    def __init__(self, game: PreflopGame, leaves: Leaves, tremble: float = 0.0) -> None:
        self.game, self.leaves, self.tremble = game, leaves, tremble
        self._layout = preflop_layout(game)
        self._slots = {
            int(node): slice(int(first), int(last))
            for node, first, last in zip(
                self._layout.decision, self._layout.first[:-1], self._layout.first[1:], strict=True
            )
        }
        # All decisions in one array [S, 169], and a part of it for each.
        self._regrets, self._sums, self._strategies = (self._zeros() for _ in range(3))
        self.regrets = {node: self._regrets[slots] for node, slots in self._slots.items()}
        self.sums = {node: self._sums[slots] for node, slots in self._slots.items()}
        self._reach = np.ones((game.tree.node_count, 2, HAND_COUNT))
        self._meant = np.ones(len(self._layout.child))
        self._values = np.zeros((game.tree.node_count, HAND_COUNT))
        self._pots = np.array([pot.node for pot in game.pots], np.int64)
        self.closed: dict[int, Flags] = {}  # [A, 169] for good; decisions without any are left out
        self._held = self._locked()
        self._losses = np.zeros(1)  # the iterations that negative regrets add up
        self._play_locks()

    def _play_locks(self) -> None:
        """Set regrets and sums of locked hands to what their locks play."""
        for node, lock in self.game.locks.items():
            for numbers in (self.regrets[node], self.sums[node]):
                numbers[:, lock.held] = lock.strategy[:, lock.held]

    def _zeros(self) -> Floats:
        return np.zeros((len(self._layout.child), HAND_COUNT))

    def current(self) -> Strategies:
        """Regret matching at every decision."""
        return {
            node: normalised(regrets, self.closed.get(node))
            for node, regrets in self.regrets.items()
        }

    def average(self) -> Strategies:
        """The average strategy at every decision."""
        return {node: normalised(sums) for node, sums in self.sums.items()}

    def hand_mask(self, player: Player, threshold: float = -np.inf) -> Flags:
        """[N, 169]: the player's hands that can get to each node by actions that are not closed.

        Closed are actions with regrets below `threshold`, and those that are closed for good.
        """
        tree = self.game.tree
        mask = np.ones((tree.node_count, HAND_COUNT), np.bool_)
        for node in self.game.tree.decisions():
            children = tree.children_of(node)
            mask[children] = mask[node]
            if tree.player[node] == player:
                regrets, closed = self.regrets[node], self.closed.get(node)
                if closed is not None:
                    mask[children] &= ~closed
                    regrets = np.where(closed, -np.inf, regrets)
                # Where no action has positive regret all are played.
                mask[children] &= (regrets >= threshold) | (regrets <= 0).all(axis=0)
        return mask

    def step(self, player: Player, now: IterationWeights) -> Floats:
        """One half-iteration; returns the player's values at the root.

        Actions with regrets below `now.threshold` are closed; it is in chips times pairs of combos.
        """
        layout, reach, values = self._layout, self._reach, self._values
        preflop_forward(
            layout, int(player), self._regrets, self._closed(), self._held,
            trembles(self.tremble, float(self._losses[0])), self._strategies, reach, self._meant,
            values,
        )  # fmt: skip
        prunes = now.threshold > -np.inf or bool(self.closed)
        mask = self.hand_mask(player, now.threshold) if prunes else None
        values[self._pots] = self.leaves.step(
            player,
            reach[self._pots, player],
            reach[self._pots, player.opponent],
            None if mask is None else mask[self._pots],
        )
        preflop_backward(
            layout, int(player), self._regrets, self._sums, self._strategies, reach, self._meant,
            values, NO_FLAGS if mask is None else mask,
            np.array([now.positive, now.negative, now.floor, now.average, now.weight]),
            SMALL_SHARE,
        )  # fmt: skip
        self._play_locks()
        if player == Player.IP:  # the second half of an iteration
            self._losses[0] = self._losses[0] * now.negative + 1.0
        root: Floats = values[0].copy()
        return root

    def _locked(self) -> Flags:
        """[S, 169]: the actions of locked hands; [0, 169] where none is."""
        if not self.game.locks:
            return NO_FLAGS
        held = np.zeros(self._regrets.shape, np.bool_)
        for node, lock in self.game.locks.items():
            held[self._slots[node]] = lock.held
        return held

    def _closed(self) -> Flags:
        """[S, 169]: actions that are closed for good; [0, 169] where none is."""
        if not self.closed:
            return NO_FLAGS
        closed = np.zeros(self._regrets.shape, np.bool_)
        for node, flags in self.closed.items():
            closed[self._slots[node]] = flags
        return closed

    def values(
        self, player: Player, leaf_values: Floats, *, best: bool, strategies: Strategies
    ) -> Floats:
        """[N, 169]: values when the other plays `strategies`; the player too, or his best."""
        return self.game.values(player, leaf_values, best=best, strategies=strategies)

    def pot_reach(self, strategies: Strategies) -> Floats:
        """[2, P, 169]: both players' reach at the pots that see a flop."""
        return self.game.pot_reach(strategies)

    def regret_sums(self) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many), in chips times pairs of combos."""
        positive = [
            np.maximum(regrets[:, self._free(node)], 0.0) for node, regrets in self.regrets.items()
        ]
        return (
            float(sum(part.sum() for part in positive)),
            float(max((part.max(initial=0.0) for part in positive), default=0.0)),
            sum(part.size for part in positive),
        )

    def _free(self, node: int) -> Flags | slice:
        """The hands that choose for themselves at a decision."""
        lock = self.game.locks.get(node)
        return slice(None) if lock is None else ~lock.held

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next step depends on."""
        regrets = {f"preflop.regrets.{node:04d}": array for node, array in self.regrets.items()}
        sums = {f"preflop.sums.{node:04d}": array for node, array in self.sums.items()}
        losses = {"preflop.losses": self._losses} if self.tremble else {}
        return regrets | sums | losses

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same game."""
        for name, array in self.state().items():
            array[...] = state[name]


def normalised(stored: Floats, closed: Flags | None = None) -> Floats:
    """[A, 169]: positive parts divided by their sum; uniform where there are none.

    `closed` actions [A, 169] get nothing; every hand has an open one.
    """
    positive = np.maximum(stored, 0.0)
    even = np.full_like(positive, 1 / len(positive))
    if closed is not None:
        positive[closed] = 0.0
        even = ~closed / (~closed).sum(axis=0)
    total = positive.sum(axis=0)
    normalised: Floats = np.divide(positive, total, out=even, where=total > 0)
    return normalised
