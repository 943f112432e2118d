"""Solving a spot: a thin loop around the exact subgame.

    for t in 1, 2, …: for player in OOP, IP: subgame.step(player, his reach, the other's reach)

The ranges enter as reach at every step. Exploitability is the mean of both players' gains from
their best responses to the average strategies, in % of the starting pot.
"""

import time
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
    DeviceUse,
    ExactSubgame,
    RiverGroups,
    StreetView,
    average_strategy,
    exact_subgame,
    lock_strategy,
    open_device,
    suit_street_buckets,
)
from allstreets.games import LockedNode, Spot, require_precision, require_river_groups, spot_root
from allstreets.solvers.spot.dealt_out import mean_result, only_end
from allstreets.solvers.spot.result import SpotResult

BATCH = 25  # iterations between two callbacks of a river spot, and on a GPU: milliseconds each
DEFAULT_CHECK = 10  # iterations between two evaluations in `solve`


class SpotSolver:
    """Solves one spot; can be trained in batches, evaluated, stored and restored."""

    def __init__(
        self,
        spot: Spot,
        algorithm: str | Schedule = "ahead",
        threads: int | None = None,
        precision: str = "float32",
        river_groups: RiverGroups = "none",
        device: str = CPU,
    ) -> None:
        """`device`: "cpu", or "cuda" for a GPU of this machine, "cuda:1" for another."""
        self.spot, self.river_groups = spot, river_groups
        self.schedule = parse_schedule(algorithm) if isinstance(algorithm, str) else algorithm
        self.threads = thread_count(threads)
        require_precision(precision)
        require_river_groups(river_groups)
        if precision == "int16" and spot.lock:
            raise InputError(
                "precision: int16 shares one scale among locked and free hands, which "
                "rounds the locks away: use float16"
            )
        weights = [one.weights for one in spot.ranges]
        combos = np.flatnonzero(weights[0]), np.flatnonzero(weights[1])
        by_suits = partial(suit_street_buckets, weights=(weights[0], weights[1]))
        self.device = device
        self.subgame = exact_subgame(
            spot.tree,
            spot.payoffs,
            spot_root(spot),
            combos,
            self.threads,
            precision,
            buckets=None if river_groups == "none" else by_suits,
            device=open_device(device),
        )
        _impose(self.subgame, spot.locked_nodes)
        hands = [self.subgame.streets[0].combos(player, 0) for player in Player]
        self.reach = weights[0][hands[0]], weights[1][hands[1]]
        self._iterations = 0
        self._regret_weight = 0.0

    @property
    def identity(self) -> Mapping[str, Any]:
        """What a checkpoint must share to be restored."""
        spot = self.spot
        groups = {} if self.river_groups == "none" else {"river_groups": self.river_groups}
        edits = {} if not spot.edit else {"edit": repr(spot.edit)}
        return {
            **edits,
            "game": "spot",
            "board": spot.board,
            "oop": str(spot.ranges[0]),
            "ip": str(spot.ranges[1]),
            "rules": repr(spot.rules),
            "lock": repr(spot.lock),
            "algorithm": str(self.schedule),
            "precision": self.subgame.precision,
            **groups,
        }

    @property
    def device_use(self) -> DeviceUse | None:
        """What the subgame makes of a GPU; None: it is not on one."""
        found: DeviceUse | None = getattr(self.subgame, "device_use", None)
        return found

    @property
    def unit(self) -> str:
        """Exploitability is in % of the starting pot."""
        return "% of pot"

    @property
    def iterations(self) -> int:
        """Iterations done so far."""
        return self._iterations

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return self.subgame.memory_bytes

    @property
    def avg_positive_regret(self) -> float:
        """Mean positive regret per entry and iteration, in % of the pot per hand."""
        total, _, entries = self.subgame.regret_sums()
        if not entries or not self._regret_weight:
            return 0.0
        return 100 * total / entries / self._regret_weight / self.subgame.chips

    def train_batch(self, iterations: int, callback: Callable[[int], bool] | None = None) -> None:
        """Run `iterations` more; now and then ask `callback` whether to stop."""
        end = self._iterations + iterations
        at_once = BATCH if len(self.spot.cards) == 5 or self.device != CPU else 1
        while self._iterations < end:
            count = min(at_once, end - self._iterations)
            every = self.schedule.run(self._iterations + 1, count)
            self.subgame.iterate(self.reach, every)
            self._iterations += count
            for now in every:
                self._regret_weight = self._regret_weight * now.positive + 1.0
            if callback is not None and callback(self._iterations):
                return

    def expected_values(self) -> tuple[float, float]:
        """Both players' expected share of the pot under the average strategies, in chips."""
        half = self.spot.pot / 2
        return self.mean(Player.OOP, best=False) + half, self.mean(Player.IP, best=False) + half

    def mean(self, player: Player, *, best: bool) -> float:
        """A player's result in chips, over all pairs of combos."""
        end = only_end(self.spot)
        if end is not None:
            return mean_result(self.spot, end, player)
        other = self.reach[player.opponent]
        subgame = self.subgame
        values = subgame.best_response(player, other) if best else subgame.evaluate(player, other)
        return float(self.reach[player] @ values) / self.spot.pairs

    def exploitability(self) -> float:
        """Mean of both players' best-response gains, in chips."""
        best = sum(self.mean(player, best=True) for player in Player)
        if self.spot.rake:
            # Under rake the results do not cancel: a gain is what the best response adds.
            best -= sum(self.mean(player, best=False) for player in Player)
        return max(best / 2, 0.0)

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        """Convergence figures; exploitability in % of the starting pot."""
        total, largest, entries = self.subgame.regret_sums()
        weight = self._regret_weight * self.subgame.chips / 100
        return Metrics(
            exploitability=100 * self.exploitability() / self.spot.pot if exploitability else None,
            avg_positive_regret=total / entries / weight if entries and weight else 0.0,
            max_regret=largest / weight if weight else 0.0,
            strategy_entropy=self._entropy(),
        )

    def _entropy(self) -> float | None:
        """Mean entropy of the strategies of the first street, 0 (pure) to 1 (even)."""
        entropies = []
        for node in self._first_street():
            chances = average_strategy(self.subgame, 0, 0, node)
            if len(chances) == 1:  # nothing is chosen there
                continue
            logs = np.log(np.where(chances > 0, chances, 1.0))
            entropies.append(-(chances * logs).sum(axis=0) / np.log(len(chances)))
        return float(np.concatenate(entropies).mean()) if entropies else None

    def _first_street(self) -> list[int]:
        tree = self.spot.tree
        here = (tree.kind == NodeKind.DECISION) & (tree.street == tree.first_street)
        return [int(node) for node in np.flatnonzero(here)]

    def strategies(self) -> Mapping[str, Mapping[str, float]]:
        """The average strategy of the first street: "line: combo" → action → probability."""
        tree, street = self.spot.tree, self.subgame.streets[0]
        found: dict[str, dict[str, float]] = {}
        for node in self._first_street():
            names = [action_text(action) for action in tree.actions_at(node)]
            player = int(tree.player[node])
            strategy = average_strategy(self.subgame, 0, 0, node)
            combos = street.combos(player, 0).tolist()
            for combo, chances in zip(combos, strategy.T.tolist(), strict=True):
                key = f"{line_text(tree, node)}: {combo_text(combo)}".strip()
                found[key] = dict(zip(names, chances, strict=True))
        return found

    def result(self) -> SpotResult:
        """The solution as it stands now; later iterations change what it shows."""
        return SpotResult(self.spot, self.view, self)

    def view(self, cards: tuple[int, ...]) -> StreetView:
        """One board of the street that is reached when `cards` have been dealt."""
        return StreetView(self.subgame, self.reach, cards)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next iteration depends on."""
        progress = np.array([float(self._iterations), self._regret_weight])
        return {"progress": progress, **self.subgame.state()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same spot."""
        self.subgame.restore(state)
        self._iterations = int(state["progress"][0])
        self._regret_weight = float(state["progress"][1])


def _impose(subgame: ExactSubgame, locks: tuple[LockedNode, ...]) -> None:
    """Let the subgame play the locked strategies, and never change them."""
    for lock in locks:
        level, root = len(lock.cards), len(subgame.streets[0].runouts[0].board)
        for number, runout in enumerate(subgame.streets[level].runouts):
            if lock.holds_on(runout.board[root:]):
                lock_strategy(subgame, level, number, lock.node, lock.strategy, lock.weights > 0)


def solve(
    spot: Spot,
    target: float = 0.003,
    max_iterations: int = 10_000,
    seconds: float | None = None,
    algorithm: str | Schedule = "ahead",
    threads: int | None = None,
    precision: str = "float32",
    check: int = DEFAULT_CHECK,
    river_groups: RiverGroups = "none",
    device: str = CPU,
) -> SpotResult:
    """Solve until exploitability is at most `target` of the pot, or iterations or time run out.

    The result carries `exploitability` (a fraction of the pot), `iterations` and `seconds`.
    """
    if target < 0 or max_iterations < 1 or check < 1:
        raise InputError("target must not be negative, max_iterations and check at least 1")
    start = time.perf_counter()
    solver = SpotSolver(spot, algorithm, threads, precision, river_groups, device)
    reached = np.inf
    while solver.iterations < max_iterations and reached > target:
        solver.train_batch(min(check, max_iterations - solver.iterations))
        reached = solver.exploitability() / spot.pot
        if seconds is not None and time.perf_counter() - start >= seconds:
            break
    result = solver.result()
    result.exploitability = float(reached)
    result.iterations = solver.iterations
    result.seconds = time.perf_counter() - start
    return result
