"""Solve a spot: vector CFR with alternating updates on one exact subgame.

A spot is a board, two ranges, a pot and stacks. Its public tree has decision nodes, chance nodes
(the cards to come) and terminals. Each decision stores two arrays [A, H], A actions by H combos
of the player who acts: his cumulative regrets R and his average strategy σ̄.

For t = 1, 2, …, and in each iteration for player = OOP, then IP:

1. **Forward pass.** The opponent's reach [H] starts as his range at the root. His decisions
   multiply it by his current strategy, which is regret matching: σ(a) = R⁺(a) / Σ R⁺, or all
   actions alike where no regret is positive. A dealt card removes the combos that contain it. With
   a tremble ε the reach is multiplied by (1 − A · ε) · σ(a) + ε, so that every line has a range.
2. **Terminals.** The counterfactual value of each of the player's combos is the payoff, summed over
   the opponent's reach: over the combos that share no card with it, and at a showdown with the
   sign of win, tie or loss.
3. **Backward pass.** Values [H] are summed over cards and over the opponent's actions. At the
   player's decisions v = Σ σ(a) · v(a).
4. **Regrets.** There R(a) ← d · R(a) + v(a) − v; the discount d depends on the sign of the regret.
5. **Average.** There, too, σ̄ moves towards σ by the weight of this iteration among all so far. The
   player's reach does not count, so σ̄ stays sensible at decisions that he hardly ever reaches.

IP is updated against the strategy that OOP has just learned: that is what alternating means. The
iteration weights (discounts, weights of the average) come from a schedule (`cfr.schedules`); the
default, `ahead`, also lets the values of step 3 look ahead to the new regrets. Steps 1 to 5 are one
call, `ExactSubgame.iterate`, and its kernels (`engines.exact.kernels`).

**Exploitability** is the mean of both players' gains from best responses to the averages:

    ((BR_OOP − u_OOP) + (BR_IP − u_IP)) / 2

BR is a player's result in chips when he best responds and the opponent plays his average, u his
result when both play their averages. Without rake u_OOP + u_IP = 0, and BR alone is computed. It is
0 in an equilibrium; `metrics` has it in % of the starting pot.

References:

- Zinkevich, Johanson, Bowling & Piccione (2007), "Regret Minimization in Games with Incomplete
  Information": CFR.
- Tammelin (2014), "Solving Large Imperfect Information Games Using CFR+": alternating updates of
  whole vectors of hands, on every card.
- Brown & Sandholm (2019), "Solving Imperfect-Information Games via Discounted Regret
  Minimization": the discounts.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError, thread_count
from allstreets.betting import NodeKind, Player, action_text, line_text
from allstreets.cards import combo_text
from allstreets.cfr import Metrics, Schedule, parse_schedule
from allstreets.engines import (
    CPU,
    CardModel,
    DeviceUse,
    ExactSubgame,
    RiverGroups,
    StreetView,
    average_strategy,
    copy_averages,
    exact_subgame,
    lock_strategy,
    open_device,
    suit_street_buckets,
)
from allstreets.games import LockedNode, Spot, require_precision, require_river_groups, spot_root
from allstreets.solvers.dealt_out import mean_result, only_end

BATCH, BATCH_BYTES = 25, 1 << 30
"""Limits between two callbacks: iterations, and on processors the bytes of regrets and strategies
that these visit, a tenth of a second's work."""


class SpotSolver:
    """Solves one spot; can be trained in batches, evaluated, stored and restored.

    reach: [H] of OOP and of IP, the weights of their combos at the root.
    """

    river_groups: RiverGroups = "none"
    device: str = CPU
    tremble: float = 0.0
    draft_cards: CardModel | None = None  # None: it is solved exactly

    def __init__(
        self,
        spot: Spot,
        algorithm: str | Schedule = "ahead",
        threads: int | None = None,
        precision: str = "float32",
        river_groups: RiverGroups = "none",
        device: str = CPU,
        tremble: float = 0.0,
    ) -> None:
        """`device`: "cpu", or "cuda" for a GPU of this machine, "cuda:1" for another."""
        self.schedule = parse_schedule(algorithm) if isinstance(algorithm, str) else algorithm
        self.threads = thread_count(threads)
        require_precision(precision)
        require_river_groups(river_groups)
        if precision == "int16" and spot.lock:
            raise InputError(
                "precision: int16 shares one scale among locked and free hands, which "
                "rounds the locks away: use float16"
            )
        most = int(spot.tree.child_count.max(initial=1))
        if not 0 <= most * tremble < 1:
            raise InputError(
                f"tremble: {tremble:g} of the reach takes every action, of which there are up to "
                f"{most}: give 0 or a small share, 0.001"
            )
        weights = spot.ranges[0].weights, spot.ranges[1].weights
        by_suits = partial(suit_street_buckets, weights=weights)
        subgame = exact_subgame(
            spot.tree,
            spot.payoffs,
            spot_root(spot),
            (np.flatnonzero(weights[0]), np.flatnonzero(weights[1])),
            self.threads,
            precision,
            buckets=None if river_groups == "none" else by_suits,
            device=open_device(device),
            tremble=tremble,
        )
        _impose(subgame, spot.locked_nodes)
        self.river_groups, self.device, self.tremble = river_groups, device, tremble
        self._begin(spot, subgame)

    def _begin(self, spot: Spot, learner: ExactSubgame) -> None:
        """Start from an untrained subgame."""
        self.spot, self.learner = spot, learner
        weights = spot.ranges[0].weights, spot.ranges[1].weights
        root = learner.streets[0]
        self.reach = (
            weights[Player.OOP][root.combos(Player.OOP, 0)],
            weights[Player.IP][root.combos(Player.IP, 0)],
        )
        self._iterations = 0
        self._regret_weight = 0.0  # of all iterations so far in the positive regrets

    @property
    def subgame(self) -> ExactSubgame:
        """The exact subgame that plays the average strategies: here, the one that learns them."""
        return self.learner

    # The algorithm: iterate, and evaluate by best responses.

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more; now and then ask `callback` whether to stop."""
        end = self._iterations + iterations
        at_once = self.at_once
        while self._iterations < end:
            count = min(at_once, end - self._iterations)
            weights = self.schedule.run(self._iterations + 1, count)  # of each iteration
            self.learner.iterate(self.reach, weights)
            self._iterations += count
            for iteration in weights:
                self._regret_weight = self._regret_weight * iteration.positive + 1.0
            if callback is not None and callback(self._iterations):
                return

    @property
    def at_once(self) -> int:
        """The iterations between two callbacks."""
        if self.device != CPU:
            return BATCH
        return max(1, min(BATCH, BATCH_BYTES // max(1, self.learner.memory_bytes)))

    def exploitability(self) -> float:
        """Mean of both players' best-response gains, in chips."""
        gains = sum(self.mean(player, best=True) for player in Player)
        if self.spot.rake:
            # Under rake the results do not cancel: a gain is what the best response adds.
            gains -= sum(self.mean(player, best=False) for player in Player)
        return max(gains / 2, 0.0)

    def mean(self, player: Player, *, best: bool) -> float:
        """A player's result in chips over all pairs of combos, relative to half the pot.

        The opponent plays his average strategy; the player best responds to it, or plays his own.
        """
        end = only_end(self.spot)
        if end is not None:
            return mean_result(self.spot, end, player)
        opponent, subgame = self.reach[player.opponent], self.subgame
        if best:
            values = subgame.best_response(player, opponent)
        else:
            values = subgame.evaluate(player, opponent)
        return float(self.reach[player] @ values) / self.spot.pairs

    def expected_values(self) -> tuple[float, float]:
        """Both players' expected share of the pot under the average strategies, in chips."""
        half = self.spot.pot / 2
        return self.mean(Player.OOP, best=False) + half, self.mean(Player.IP, best=False) + half

    def with_locks(
        self, spot: Spot, other_play: "tuple[Player, SpotSolver] | None" = None
    ) -> "SpotSolver":
        """A solver of the same spot with other locks, where all other play is as in this solver.

        `other_play`: a player, and the solver whose strategies he plays instead.
        """
        other = SpotSolver(spot, self.schedule, self.threads)
        copy_averages(self.subgame, other.subgame)
        if other_play is not None:
            player, source = other_play
            copy_averages(source.subgame, other.subgame, (player,))
        _impose(other.subgame, spot.locked_nodes)
        return other

    # Figures, for the training loop and for reports.

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return self._iterations

    @property
    def unit(self) -> str:
        """Exploitability is in % of the starting pot."""
        return "% of pot"

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return self.learner.memory_bytes

    @property
    def device_use(self) -> DeviceUse | None:
        """The subgame's use of a GPU; None: it is not on one."""
        use: DeviceUse | None = getattr(self.learner, "device_use", None)
        return use

    @property
    def avg_positive_regret(self) -> float:
        """Mean positive regret per entry and iteration, in % of the pot per hand."""
        return self._regrets()[0]

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """Convergence figures; exploitability in % of the starting pot."""
        mean, largest = self._regrets()
        return Metrics(
            exploitability=100 * self.exploitability() / self.spot.pot if exploitability else None,
            avg_positive_regret=mean,
            max_regret=largest,
            strategy_entropy=self._entropy(),
        )

    def _regrets(self) -> tuple[float, float]:
        """The mean positive regret and the largest, per iteration, in % of the pot per hand."""
        total, largest, entries = self.learner.regret_sums()
        weight = self._regret_weight * self.learner.chips / 100
        if not weight:
            return 0.0, 0.0
        return total / entries / weight if entries else 0.0, largest / weight

    def _entropy(self) -> float | None:
        """Mean entropy of the strategies of the first street, 0 (pure) to 1 (even)."""
        entropies = []
        for node in self._first_street():
            held = self.reach[self.spot.tree.player_at(node)] > 0
            chances = average_strategy(self.learner, 0, 0, node)[:, held]
            if len(chances) == 1:  # nothing is chosen there
                continue
            logs = np.log(np.where(chances > 0, chances, 1.0))
            entropies.append(-(chances * logs).sum(axis=0) / np.log(len(chances)))
        return float(np.concatenate(entropies).mean()) if entropies else None

    def _first_street(self) -> list[int]:
        """The decision nodes of the first street."""
        tree = self.spot.tree
        first = (tree.kind == NodeKind.DECISION) & (tree.street == tree.first_street)
        return [int(node) for node in np.flatnonzero(first)]

    # The solution.

    def strategies(self) -> Mapping[str, Mapping[str, float]]:
        """The average strategy of the first street: "line: combo" → action → probability."""
        tree, street = self.spot.tree, self.subgame.streets[0]
        table: dict[str, dict[str, float]] = {}
        for node in self._first_street():
            names = [action_text(action) for action in tree.actions_at(node)]
            strategy = average_strategy(self.subgame, 0, 0, node)
            player = tree.player_at(node)
            held = self.reach[player] > 0
            combos = street.combos(player, 0)[held].tolist()
            for combo, chances in zip(combos, strategy.T[held].tolist(), strict=True):
                key = f"{line_text(tree, node)}: {combo_text(combo)}".strip()
                table[key] = dict(zip(names, chances, strict=True))
        return table

    def view(self, cards: tuple[int, ...], best: Player | None = None) -> StreetView:
        """One board of the street that is reached when `cards` have been dealt.

        `best`: the player who best responds to the average; None: both play their averages.
        """
        return StreetView(self.subgame, self.reach, cards, best=best)

    # The state, for checkpoints and bundles.

    @property
    def identity(self) -> Mapping[str, Any]:
        """Facts that a checkpoint must share to be restored."""
        spot = self.spot
        buckets = {} if self.river_groups == "none" else {"river_groups": self.river_groups}
        edits = {} if not spot.edit else {"edit": repr(spot.edit)}
        cards = {} if self.draft_cards is None else {"cards": str(self.draft_cards)}
        trembles = {} if not self.tremble else {"tremble": self.tremble}
        return {
            **cards,
            **edits,
            "game": "spot",
            "board": spot.board,
            "oop": str(spot.ranges[0]),
            "ip": str(spot.ranges[1]),
            "rules": repr(spot.rules),
            "lock": repr(spot.lock),
            "algorithm": str(self.schedule),
            "precision": self.learner.precision,
            **buckets,
            **trembles,
        }

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        progress = np.array([float(self._iterations), self._regret_weight])
        return {"progress": progress, **self.learner.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same spot."""
        self.learner.restore(state)
        self._iterations = int(state["progress"][0])
        self._regret_weight = float(state["progress"][1])


def _impose(subgame: ExactSubgame, locks: tuple[LockedNode, ...]) -> None:
    """Let the subgame play the locked strategies, and never change them."""
    root = len(subgame.streets[0].runouts[0].board)
    for lock in locks:
        street = len(lock.cards)  # counted from the first one of the spot
        for number, runout in enumerate(subgame.streets[street].runouts):
            if lock.holds_on(runout.board[root:]):
                lock_strategy(subgame, street, number, lock.node, lock.strategy, lock.weights > 0)
