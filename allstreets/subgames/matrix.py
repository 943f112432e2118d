"""Matrix games: a betting tree on flops whose card facts are matrices, solved by vector CFR.

`MatrixGame` is one betting tree on F flops: it owns their regrets and average strategies
(`matrix_store`) and runs passes over any range of flops, one thread each. `MatrixSubgame` is the
case of one flop, a function from reach to values as every subgame is.

The average strategy of a player is gathered, weighted by his reach, while the other player is
updated; after iteration t it holds OOP's strategies of iterations 1 … t and IP's of 0 … t − 1,
those that the opponent's regrets were computed against.

With pruning, iterations after the warm-up leave out blocks of own hands whose regrets are far below
zero, see `matrix_pruning`. It is off unless asked for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.betting import BettingTree, Player
from allstreets.cfr.pruning import Pruning
from allstreets.cfr.schedules import Multipliers
from allstreets.kernels.matrix_layout import (
    BEST_RESPONSE,
    EVALUATE,
    UPDATE,
    Bytes,
    Floats,
    Longs,
    StageHands,
    StageSpace,
)
from allstreets.kernels.matrix_pass import run_flops, run_iterations
from allstreets.kernels.simd import LANES, aligned
from allstreets.subgames.base import Reach, Values
from allstreets.subgames.matrix_hands import Whose, stage_hands
from allstreets.subgames.matrix_model import FlopCards, Stage, padded
from allstreets.subgames.matrix_plan import build_plans
from allstreets.subgames.matrix_pruning import checked_pruning, limits
from allstreets.subgames.matrix_store import Allocate, MatrixStore
from allstreets.subgames.pool import Pool

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


class MatrixGame(MatrixStore):
    """One betting tree on F flops; `payoffs` [N, 2, 3] are those of `betting.payoffs`."""

    def __init__(
        self,
        tree: BettingTree,
        payoffs: NDArray[np.float64],
        cards: FlopCards,
        allocate: Allocate = aligned,
    ) -> None:
        super().__init__(tree, cards, allocate)
        self.plans = [build_plans(tree, payoffs, own, cards.streets) for own in Player]
        self._hands: dict[tuple[Player, Whose], tuple[StageHands, ...]] = {}
        self.chips = float(tree.pot) if tree.pot else 1.0

    def spaces(self) -> Spaces:
        """Room for one thread, good for both players."""
        return make_spaces([self])

    def keep(self, player: Player, hands: Longs, pool: Pool) -> None:
        """Store something of these hands only; who was not stored before starts from nothing."""
        super().keep(player, hands, pool)
        self._hands.clear()

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
        whose: Whose = "kept",
    ) -> None:
        """Passes on flops[part[0] : part[1]]: reach [K or 1, H] in, values [K, H] out, H padded.

        Reach is that of the other's hands that are kept, values are those of the own hands that a
        pass is about. Of hands that are not kept nothing can be learned or evaluated.

        `discounts` [K or 1, 6] are rows of `discount_row`. An update can be asked for some blocks
        of own hands only, [K or 1, H / 16] of `blocks_of_hands`: for the others values are 0, and
        nothing is learned. A best response or evaluation always is for all.
        """
        if mode != UPDATE:
            asked = None
        elif asked is None and (discounts[:, THRESHOLD] > -np.inf).any():
            asked = self.all_blocks(1, len(self.kept[player]))
        plans = self.plans[player]
        count = len(plans)
        cards = self.cards.kernel[:count]
        run_flops(
            plans,
            cards,
            self.stores(player),
            spaces[:count],
            self.hands(player, whose)[:count],
            flops,
            part[0],
            part[1],
            other,
            values,
            mode,
            discounts,
            asked,
        )

    def own_hands(self, player: Player, whose: Whose) -> Longs:
        """The own hands of a pass, those of the first stage."""
        if whose == "rest":
            return np.setdiff1d(self.everyone[: self.cards.hands[0]], self.kept[player])
        return self.kept[player] if whose == "kept" else self.everyone

    def hands(self, player: Player, whose: Whose = "kept") -> tuple[StageHands, ...]:
        """The hands of a pass."""
        found = self._hands.get((player, whose))
        if found is None:
            own, other = self.own_hands(player, whose), self.kept[player.opponent]
            found = stage_hands(own, other, self.cards.lengths)
            self._hands[player, whose] = found
        return found

    def all_blocks(self, rows: int, hands: int | None = None) -> Bytes:
        """[rows, H / 16]: so many own hands at the root, or everybody, all asked for."""
        length = self.cards.lengths[0] if hands is None else padded(hands)
        return np.ones((rows, length // LANES), np.uint8)

    def units(self, player: Player) -> int:
        """How many (own action, block of hands) a full pass on one flop visits."""
        blocks = np.array(self.cards.lengths[: len(self.slots)]) // LANES
        return int(self.slots[:, player] @ blocks)


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
                margin=aligned(length * length + LANES),
                combos=aligned(length),
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
                    game.hands(Player.OOP)[: len(game.plans[0])],
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
