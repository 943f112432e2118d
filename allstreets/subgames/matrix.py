"""Matrix games: a betting tree on flops whose card facts are matrices, solved by vector CFR.

`MatrixGame` is one betting tree on F flops: it owns their regrets and average strategies and runs
passes over any range of flops, one thread each. `MatrixSubgame` is the case of one flop, a function
from reach to values as every subgame is.

The average strategy of a player is gathered, weighted by his reach, while the other player is
updated; after iteration t it holds OOP's strategies of iterations 1 … t and IP's of 0 … t − 1,
those that the opponent's regrets were computed against.

With pruning, iterations after the warm-up leave out blocks of own hands whose regrets are far below
zero, see `matrix_pruning`. It is off unless asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import BettingTree, NodeKind, Player
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import Multipliers
from allstreets.kernels.matrix_layout import (
    BEST_RESPONSE,
    EVALUATE,
    UPDATE,
    Bytes,
    Floats,
    StageSpace,
    StageStore,
)
from allstreets.kernels.matrix_pass import run_flops, run_iterations, sum_positive
from allstreets.kernels.simd import LANES, aligned
from allstreets.subgames.base import Reach, Values
from allstreets.subgames.matrix_model import FlopCards, Stage
from allstreets.subgames.matrix_plan import build_plans, node_slots, slot_counts, stage_of_nodes
from allstreets.subgames.matrix_pruning import checked_pruning, limits

Allocate = Callable[[tuple[int, int]], Floats]
Spaces = tuple[StageSpace, ...]

THRESHOLD = 5  # where a row of discounts says below which regret actions are left out

NO_DISCOUNTS = np.zeros((1, 6), np.float32)
ONE_FLOP = np.zeros(1, np.int64)


def discount_row(
    now: Multipliers, regret_floor: float = np.inf, threshold: float = -np.inf
) -> list[float]:
    """The multipliers of an iteration as the kernels take them, and where it prunes."""
    lowest = 0.0 if now.clip else -regret_floor
    return [now.positive, now.negative, lowest, now.average, now.weight, threshold]


class MatrixGame:
    """One betting tree on F flops.

    `payoffs` [N, 2, 3] are those of `betting.payoffs`; `allocate` makes the stored arrays, [F, …]
    of float32 zeros that begin at a cache line (in memory by default).
    """

    def __init__(
        self,
        tree: BettingTree,
        payoffs: NDArray[np.float64],
        cards: FlopCards,
        allocate: Allocate = aligned,
    ) -> None:
        self.tree, self.cards = tree, cards
        self.plans = [build_plans(tree, payoffs, own, cards.streets) for own in Player]
        self.stage_of_node = stage_of_nodes(tree, cards.streets)
        self.slot_of_node = node_slots(tree, self.stage_of_node)
        self.slots = slot_counts(tree, self.stage_of_node)  # [stages, 2]
        shapes = [
            [(cards.count, int(count) * length) for count in counts]
            for counts, length in zip(self.slots, cards.lengths, strict=False)
        ]
        self.regrets = [[allocate(shape) for shape in pair] for pair in shapes]
        self.averages = [[allocate(shape) for shape in pair] for pair in shapes]
        self.chips = float(tree.pot) if tree.pot else 1.0

    def stores(self, own: Player) -> tuple[StageStore, ...]:
        """The stored arrays as the kernels want them, stage by stage."""
        other = own.opponent
        return tuple(
            StageStore(regrets[own], averages[own], regrets[other], averages[other])
            for regrets, averages in zip(self.regrets, self.averages, strict=True)
        )

    def spaces(self) -> Spaces:
        """Room for one thread, good for both players."""
        return make_spaces([self])

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
        asked: Bytes | None = None,
    ) -> None:
        """Passes on flops[part[0] : part[1]]: reach [K or 1, H] in, values [K, H] out, H padded.

        `discounts` [K or 1, 6] are rows of `discount_row`. An update can be asked for some blocks
        of own hands only, [K or 1, H / 16] of `blocks_of_hands`: for the others values are 0, and
        nothing is learned. A best response or evaluation always is for all.
        """
        if mode != UPDATE:
            asked = None
        elif asked is None and (discounts[:, THRESHOLD] > -np.inf).any():
            asked = self.all_blocks(1)
        plans = self.plans[player]
        count = len(plans)
        cards = self.cards.kernel[:count]
        run_flops(
            plans,
            cards,
            self.stores(player),
            spaces[:count],
            flops,
            part[0],
            part[1],
            other,
            values,
            mode,
            discounts,
            asked,
        )

    def all_blocks(self, rows: int) -> Bytes:
        """[rows, H / 16]: own hands at the root, all asked for."""
        return np.ones((rows, self.cards.lengths[0] // LANES), np.uint8)

    def units(self, player: Player) -> int:
        """How many (own action, block of hands) a full pass on one flop visits."""
        blocks = np.array(self.cards.lengths[: len(self.slots)]) // LANES
        return int(self.slots[:, player] @ blocks)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(array.nbytes for pair in self.regrets + self.averages for array in pair)

    def numbers_at(self, stored: list[list[Floats]], flop: int, node: int) -> Floats:
        """[A, H]: what `regrets` or `averages` hold at a decision on a flop."""
        stage = int(self.stage_of_node[node])
        actions = int(self.tree.child_count[node])
        length = self.cards.lengths[stage]
        start = int(self.slot_of_node[node]) * length
        block = stored[stage][self.tree.player_at(node)][flop, start : start + actions * length]
        turned = block.reshape(length // LANES, actions, LANES).transpose(1, 0, 2)
        return turned.reshape(actions, length)[:, : self.cards.hands[stage]]

    def average(self, flop: int, node: int) -> NDArray[np.float64]:
        """[A, H]: the average strategy at a decision; even where nothing is known."""
        sums = self.numbers_at(self.averages, flop, node).astype(np.float64)
        totals = sums.sum(axis=0)
        even = np.full_like(sums, 1 / len(sums))
        found: NDArray[np.float64] = np.divide(sums, totals, out=even, where=totals > 0)
        return found

    def set_average(self, flop: int, node: int, strategy: NDArray[np.floating[Any]]) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]."""
        stage = int(self.stage_of_node[node])
        actions, length = len(strategy), self.cards.lengths[stage]
        rows = np.zeros((actions, length), np.float32)
        rows[:, : strategy.shape[1]] = strategy
        start = int(self.slot_of_node[node]) * length
        block = rows.reshape(actions, length // LANES, LANES).transpose(1, 0, 2).reshape(-1)
        target = self.averages[stage][self.tree.player_at(node)]
        target[flop, start : start + actions * length] = block

    def decisions(self) -> list[int]:
        """All decision nodes, in pre-order."""
        return [int(node) for node in np.flatnonzero(self.tree.kind == NodeKind.DECISION)]

    def regret_sums(self, weights: NDArray[np.float64] | None = None) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many), in chips times pairs of combos.

        Flops count by their `weights` [F], if given.
        """
        total, largest, entries = 0.0, 0.0, 0
        for flop in range(self.cards.count):
            weight = 1.0 if weights is None else float(weights[flop])
            sums = np.zeros(2)
            for stage, pair in enumerate(self.regrets):
                for array in pair:
                    sum_positive(array[flop], sums)
                    entries += (
                        array[flop].size // self.cards.lengths[stage] * self.cards.hands[stage]
                    )
            total, largest = total + weight * sums[0], max(largest, weight * sums[1])
        return float(total), float(largest), entries


def make_spaces(games: Sequence[MatrixGame]) -> Spaces:
    """Room for one thread that works on any of these games, for either player."""
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
                needed=np.zeros(value_rows * (length // LANES), np.uint8),
                union=np.zeros(length // LANES, np.uint8),
                left_out=np.zeros(1, np.int64),
            )
        )
    return tuple(spaces)


class MatrixSubgame:
    """A matrix game on one flop, as a function from reach to values.

    Pruning counts two half-iterations as one iteration, and its threshold and floor in chips times
    pairs of combos.
    """

    def __init__(
        self,
        tree: BettingTree,
        payoffs: NDArray[np.float64],
        stages: tuple[Stage, ...],
        pruning: Pruning | None = None,
    ) -> None:
        self.stages = stages
        self.pruning = checked_pruning(pruning)
        # Half-iterations done, (action, block of hands) left out and due since the warm-up.
        self._counts = np.zeros(3, np.int64)
        self.game = MatrixGame(tree, payoffs, FlopCards([stages]))
        self._spaces = self.game.spaces()
        self._length = self.game.cards.lengths[0]
        self._hands = self.game.cards.hands[0]

    def step(self, player: Player, own: Reach, other: Reach, now: Multipliers) -> Values:
        """One half-iteration: values [H], the player's regrets updated, the other's average too.

        Own reach is part of the protocol; it is needed when the other player is updated.
        """
        del own
        discounts = self._discounts([now], (player,))
        values = self._run(player, other, UPDATE, discounts)
        self._count_left_out()
        return values

    def best_response(self, player: Player, other: Reach) -> Values:
        """Values [H] of the best response to the other player's average strategy."""
        return self._run(player, other, BEST_RESPONSE, NO_DISCOUNTS)

    def evaluate(self, player: Player, other: Reach) -> Values:
        """Values [H] when both play their average strategies."""
        return self._run(player, other, EVALUATE, NO_DISCOUNTS)

    def iterate(self, reach: tuple[Reach, Reach], every: Sequence[Multipliers]) -> None:
        """Whole iterations of both players, one for each of `every`, the same reach throughout."""
        rows = np.concatenate([self._row(reach[player]) for player in Player])
        values = aligned((2, self._length))
        table = self._discounts(every, tuple(Player))
        game = self.game
        pruned = np.flatnonzero(table[:, THRESHOLD] > -np.inf)
        warm = int(pruned[0]) if len(pruned) else len(table)
        for part, asked in ((table[:warm], None), (table[warm:], game.all_blocks(2))):
            if len(part):
                run_iterations(
                    (game.plans[0], game.plans[1]),
                    game.cards.kernel[: len(game.plans[0])],
                    (game.stores(Player.OOP), game.stores(Player.IP)),
                    self._spaces[: len(game.plans[0])],
                    0,
                    rows,
                    values,
                    part,
                    asked,
                )
        self._count_left_out()

    @property
    def pruned_fraction(self) -> float | None:
        """The share of (action, block of hands) left out since the warm-up; `None` if off."""
        _, left_out, due = self._counts.tolist()
        return None if self.pruning is None else left_out / max(due, 1)

    def _discounts(self, every: Sequence[Multipliers], players: tuple[Player, ...]) -> Floats:
        """[T, 6]: what the coming iterations of `players` do; they are counted as done."""
        first = int(self._counts[0]) // 2 + 1
        if self.pruning and any(now.clip for now in every):
            raise InputError(
                "a schedule that clips at 0 keeps no negative regrets, so there is nothing to "
                "prune: use pruning with dcfr or linear, or leave it out"
            )
        around = limits(self.pruning, first, len(every))
        rows = [discount_row(now, *pair) for now, pair in zip(every, around, strict=True)]
        self._counts[0] += len(every) * len(players)
        if self.pruning:
            pruned = min(len(every), max(0, first + len(every) - 1 - self.pruning.warmup))
            self._counts[2] += pruned * sum(self.game.units(player) for player in players)
        return np.array(rows, np.float32).reshape(-1, 6)

    def _count_left_out(self) -> None:
        for space in self._spaces:
            self._counts[1] += space.left_out[0]
            space.left_out[0] = 0

    def _row(self, reach: Reach) -> Floats:
        row: Floats = aligned((1, self._length))
        row[0, : len(reach)] = reach
        return row

    def _run(self, player: Player, other: Reach, mode: int, discounts: Floats) -> Values:
        values = aligned((1, self._length))
        self.game.run(player, self._row(other), values, mode, self._spaces, discounts=discounts)
        found: Values = values[0, : self._hands].astype(np.float64)
        return found

    def average(self, node: int) -> NDArray[np.float64]:
        """[A, H]: the average strategy at a decision."""
        return self.game.average(0, node)

    def set_average(self, node: int, strategy: NDArray[np.floating[Any]]) -> None:
        """Let the average strategy at a decision be `strategy` [A, H]."""
        self.game.set_average(0, node, strategy)

    def regrets(self, node: int) -> Floats:
        """[A, H]: the regrets at a decision, in chips times combos of both players."""
        return self.game.numbers_at(self.game.regrets, 0, node)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next half-iteration depends on."""
        stored = {
            f"{name}.{stage}.{player.name.lower()}": pair[player]
            for name, arrays in (("regrets", self.game.regrets), ("average", self.game.averages))
            for stage, pair in enumerate(arrays)
            for player in Player
        }
        return {**stored, "pruning": self._counts} if self.pruning else stored

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a `state()` of the same game."""
        for name, array in self.state().items():
            array[...] = state[name]
