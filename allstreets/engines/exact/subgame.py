"""The exact postflop subgame: real combos, every card, vector CFR street by street.

One half-iteration for a player is a forward pass through the streets with the other player's reach,
and a backward pass with counterfactual values. The kernels do the work (`kernels.streets`); this
file owns the arrays; threads fetch the boards below the root piece by piece (`work_queue`), and
results do not depend on which thread took which.

The average strategy is a running mean over the iterations, weighted by the schedule and not by own
reach: it needs no second set of rows, stays sensible where a player hardly ever goes, and fits 16
bits. The best response evaluates it like any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.base import Flags, Floats, InputError, Longs, Singles
from allstreets.betting import BettingTree, NodeKind, Player, Street
from allstreets.cards import COMBO_COUNT, HAND_OF_COMBO, Runouts
from allstreets.cfr import IterationWeights
from allstreets.engines.exact.buckets import (
    MakeBuckets,
    StreetBuckets,
    street_buckets,
    with_buckets,
)
from allstreets.engines.exact.cards import (
    StreetBoards,
    first_street,
    kernel_boards,
    next_street,
    whole_vectors,
)
from allstreets.engines.exact.forest import build_forests
from allstreets.engines.exact.kernels.layout import (
    BEST_RESPONSE,
    EVALUATE,
    UPDATE,
    Boards,
    Forest,
    Storage,
    Workspace,
)
from allstreets.engines.exact.kernels.nodes import sum_regrets
from allstreets.engines.exact.kernels.streets import (
    SPARE_ROWS,
    Passes,
    early_backward,
    early_forward,
    river_passes,
)
from allstreets.engines.exact.kernels.terminals import TILE_ROWS
from allstreets.engines.exact.kernels.work_queue import PlayersStreets
from allstreets.engines.exact.kernels.work_queue import Street as ThreadStreet
from allstreets.engines.exact.work_queue import BoardWork, single_pass, useful_threads
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS, KernelWeights
from allstreets.engines.simd.quantise import dither_phase
from allstreets.engines.simd.vectors import LANES, LARGEST, aligned, narrow, widen
from allstreets.engines.trees import deal_streets, node_slots

Reach = Floats  # [H]: one number for each of a player's combos at the root
Values = Floats  # [H]: Σ over the other's combos of their reach · result in chips

EVERY_STRATEGY = 64  # half-iterations in which every strategy enters the running mean
PRECISIONS = {"float32": np.float32, "float16": np.uint16, "int16": np.int16}  # halves as bits


class ExactSubgame:
    """A spot as a function from reach to values; regrets and average strategy live here.

    `payoffs` [N, 2, 3] are those of `betting.payoffs`; `root` carries the board and the renamings
    of suits under which every reach that is passed in stays the same; `combos` are the hands that
    either player may hold there. `like` is another game with the same root and combos: what depends
    on the cards only is then shared with it. `streets` are the boards of the first streets where
    they are known. `buckets`, or what it returns for the boards of all streets, says which hands
    play alike. A game that does not learn has no regrets: it evaluates given averages. With a
    `tremble` ε a player learns against an opponent who takes every action with at least ε · reach,
    (1 − A · ε) · σ + ε in all, so that answers to off-path actions are learned as well; strategies,
    averages and values exclude the tremble.
    """

    def __init__(
        self,
        tree: BettingTree,
        payoffs: Floats,
        root: Runouts,
        combos: tuple[Longs, Longs],
        threads: int = 1,
        precision: str = "float32",
        like: "ExactSubgame | None" = None,
        buckets: StreetBuckets | MakeBuckets | None = None,
        learns: bool = True,
        tremble: float = 0.0,
        streets: Sequence[StreetBoards] = (),
    ) -> None:
        self.tree, self.threads, self.precision = tree, threads, precision
        self.learns, self.tremble = learns, tremble
        self.levels = deal_streets(tree)
        like = like if like is not None and like.levels == self.levels else None
        known = like.streets if like else list(streets)
        self.streets: list[StreetBoards] = known or [first_street(root, combos)]
        while len(self.streets) < len(self.levels):
            self.streets.append(next_street(self.streets[-1]))
        self.buckets = street_buckets(self.streets, buckets)
        counts = [len(self.streets[0].combos(player, 0)) for player in Player]
        # One scale for all stored numbers, so that 16 bits hold them: payoffs in pots, reach as a
        # share of the other player's hands.
        self.chips = float(tree.pot) if tree.pot else 1.0
        self.scale = [self.chips * max(1, counts[1 - player]) for player in Player]
        self.slots = [node_slots(tree, street) for street in self.levels]
        longest = whole_vectors(
            max(len(self.streets[0].hands[player][0].first) for player in Player)
        )
        self.places: list[list[dict[int, int]]] = []
        self.forests: list[list[Forest]] = []
        self.boards: list[list[Boards]] = []
        for own in Player:
            forests = build_forests(tree, payoffs / self.chips, own, longest)
            self.forests.append([forest.kernel for forest in forests])
            self.places.append([forest.place for forest in forests])
            levels = range(len(forests))
            self.boards.append([self._kernel_boards(level, own, like) for level in levels])
        dtype = PRECISIONS[precision]
        sizes = [
            [int(self.boards[player][level].own_slots[-1]) for player in Player]
            for level in range(len(self.levels))
        ]
        self.regrets = [[aligned(size if learns else 0, dtype) for size in pair] for pair in sizes]
        fractions = np.float32 if dtype == np.float32 else np.int16
        self.averages = [[aligned(size, fractions) for size in pair] for pair in sizes]
        boards_by_level = [len(street.runouts) for street in self.streets]
        self.scales = [
            [
                np.ones(count * slots.nodes[p] if dtype == np.int16 and learns else 0, np.float32)
                for p in Player
            ]
            for count, slots in zip(boards_by_level, self.slots, strict=True)
        ]
        self.locked = [[np.zeros(0, np.float32) for _ in Player] for _ in self.levels]
        # Half-iterations done, their weight in the running mean, and the weight that waits to be
        # added.
        self.steps, self.weights, self.waiting = [0, 0], [0.0, 0.0], [0.0, 0.0]
        threads = useful_threads(threads, sum(map(sum, sizes)))
        self.spaces = [
            [self._workspace(level) for level in range(len(self.levels))] for _ in range(threads)
        ]
        self._work: BoardWork | None = None  # below the root, where a card is dealt
        if len(self.levels) > 1:
            self._work = BoardWork(self.forests, self.boards, self.spaces[0], threads)
        play_locks(self)

    def _kernel_boards(self, level: int, own: Player, like: "ExactSubgame | None") -> Boards:
        street = self.levels[level]
        shown = (self.tree.kind == NodeKind.SHOWDOWN) & (self.tree.street == street)
        all_ins = street < Street.RIVER and bool(shown.any())
        actions, buckets = self.slots[level].actions, self.buckets[level]
        known = like.boards[own][level] if like else None
        if known is not None and (known.equity.size or not all_ins):
            return with_buckets(known, own, actions, buckets, learns=self.learns)
        # Players with the same hands share the all-in matrices.
        lists = self.streets[level].lists
        first = self.boards[Player.OOP][level] if own == Player.IP else None
        same = first is not None and np.array_equal(lists[0].combo_cards, lists[1].combo_cards)
        boards = kernel_boards(
            self.streets[level],
            self.streets[level + 1] if level + 1 < len(self.levels) else None,
            own,
            all_ins=all_ins and not same,
            threads=self.threads,
        )
        if first is not None and same:
            boards = boards._replace(equity_start=first.equity_start, equity=first.equity)
        return with_buckets(boards, own, actions, buckets, learns=self.learns)

    def _workspace(self, level: int) -> Workspace:
        longest = self._longest(level)
        forests = [self.forests[own][level] for own in Player]
        rows = 0
        if self.buckets[level] is not None:
            most = max(int(np.diff(boards[level].own_rows).max()) for boards in self.boards)
            rows = most * 2 * (1 + max(int(forest.actions.max(initial=0)) for forest in forests))
        last = level > 0 and level == len(self.levels) - 1  # there values are summed for the parent
        return Workspace(
            reach=aligned(max(forest.reach_rows for forest in forests) * longest),
            values=aligned(max(forest.value_rows for forest in forests) * longest),
            tile=aligned(16 * (3 * longest + TILE_ROWS)),
            leaf_reach=aligned(self._leaf_size(level)),
            leaf_values=aligned(self._leaf_size(level - 1 if last else level)),
            rows=aligned(rows),
        )

    def _longest(self, level: int) -> int:
        """The longest padded list of hands on a board of a street."""
        return max(int(np.diff(boards[level].own_start).max()) for boards in self.boards)

    def _leaf_size(self, level: int) -> int:
        """Numbers in the buffer of a street's leaves."""
        lanes = max(len(self.forests[own][level].leaf_reach) for own in Player)
        return lanes * (self._longest(level) + SPARE_ROWS)

    def step(self, player: Player, own: Reach, other: Reach, weights: IterationWeights) -> Values:
        """One half-iteration: values [H] of the player's hands, his regrets updated.

        Own reach is part of the protocol; the running mean does not need it.
        """
        del own
        return self.run(player, other, UPDATE, self.kernel_weights(player, weights))

    def kernel_weights(self, player: Player, weights: IterationWeights) -> KernelWeights:
        """The iteration weights of a running mean.

        After the first few, only every second strategy enters the mean, with the weight of the
        skipped one too: the mean hardly differs, and memory traffic falls by a fifth.
        """
        assert self.learns, "a game without regrets cannot learn"
        self.steps[player] += 1
        self.weights[player] = self.weights[player] * weights.average + weights.weight
        self.waiting[player] = self.waiting[player] * weights.average + weights.weight
        share = 0.0
        if self.steps[player] <= EVERY_STRATEGY or self.steps[player] % 2 == 0:
            share = self.waiting[player] / self.weights[player]
            self.waiting[player] = 0.0
        of_mean = weights._replace(average=1.0 - share, weight=share)
        return KernelWeights(*np.array([*of_mean, dither_phase(self.steps[player])], np.float32))

    def iterate(self, reach: tuple[Reach, Reach], weights: Sequence[IterationWeights]) -> None:
        """Whole iterations of both players, one for each of `weights`, with the same reach."""
        table = np.array([self.kernel_weights(Player.OOP, now) for now in weights], np.float32)
        self.steps[Player.IP] = self.steps[Player.OOP]
        self.weights[Player.IP] = self.weights[Player.OOP]
        self.waiting[Player.IP] = self.waiting[Player.OOP]
        players = np.tile(np.arange(len(Player)), len(weights))
        oop, ip = (self._padded_reach(player, reach[player.opponent]) for player in Player)
        self._pass(Passes(players, np.repeat(table, len(Player), axis=0), (oop, ip), UPDATE))

    def best_response(self, player: Player, other: Reach) -> Values:
        """Values [H] of the best response to the other player's average strategy."""
        return self.run(player, other, BEST_RESPONSE)

    def evaluate(self, player: Player, other: Reach) -> Values:
        """Values [H] when both play their average strategies."""
        return self.run(player, other, EVALUATE)

    def look(self, player: Player, other: Reach, mode: int = EVALUATE) -> None:
        """Evaluate, leaving the rows of the first street in the first thread's space."""
        self.run(player, other, mode)

    def storage(self, level: int, own: Player) -> Storage:
        """The stored arrays of a street as the kernels read them."""
        other = own.opponent
        regrets, averages = self.regrets[level], self.averages[level]
        return Storage(
            regrets[own],
            averages[own],
            regrets[other],
            averages[other],
            self.scales[level][own],
            self.locked[level][own],
            np.float32(self.tremble),
        )

    def run(
        self, player: Player, other: Reach, mode: int, weights: KernelWeights = NO_WEIGHTS
    ) -> Values:
        """One pass from the root and back."""
        self._pass(single_pass(player, self._padded_reach(player, other), mode, weights))
        boards, forest = self.boards[player][0], self.forests[player][0]
        row = int(forest.line_value[0]) * int(boards.own_start[1])
        values = self.spaces[0][0].values[row + self.streets[0].hands[player][0].hand]
        return values.astype(np.float64) * self.scale[player]

    def _pass(self, passes: Passes) -> None:
        """Passes from the root and back; the last one's rows stay in the first thread's space."""
        if self._work is not None:
            self._work.run([self._streets(spaces) for spaces in self.spaces], passes)
            return
        space, views = (
            self.spaces[0][0],
            [
                (self.forests[player][0], self.boards[player][0], self.storage(0, player))
                for player in Player
            ],
        )
        if self.levels[0] == Street.RIVER:
            river_passes((views[0], views[1]), space, passes)
            return
        for player, row in zip(passes.players.tolist(), passes.weights, strict=True):
            forest, boards, storage = views[player]
            self._enter_row(Player(player), passes.reach[player])
            early_forward(forest, boards, storage, space, 0, passes.mode)
            leaves, weights = space.leaf_values, KernelWeights(*row)
            early_backward(forest, boards, storage, space, leaves, 0, passes.mode, weights)

    def enter(self, player: Player, other: Reach) -> None:
        """Put the other player's reach into the root's row."""
        self._enter_row(player, self._padded_reach(player, other))

    def _enter_row(self, player: Player, padded_reach: Singles) -> None:
        row = int(self.forests[player][0].line_reach[0]) * len(padded_reach)
        self.spaces[0][0].reach[row : row + len(padded_reach)] = padded_reach

    def _padded_reach(self, player: Player, other: Reach) -> Singles:
        """The other player's reach in the subgame's own scale, padding zero."""
        row = np.zeros(int(self.boards[player][0].other_start[1]), np.float32)
        hands = self.streets[0].hands[player.opponent][0]
        row[hands.hand] = other * (self.chips / self.scale[player])  # alike for a hand's combos
        return row

    def _streets(self, spaces: Sequence[Workspace]) -> PlayersStreets:
        """All streets by own player, in the space of one thread; all threads share the root's."""
        shared = [self.spaces[0][0], *spaces[1:]]
        oop, ip = (
            tuple(
                ThreadStreet(forest, boards, self.storage(level, player), space)
                for level, (forest, boards, space) in enumerate(
                    zip(self.forests[player], self.boards[player], shared, strict=True)
                )
            )
            for player in Player
        )
        return oop, ip

    def run_turn(self, player: Player, turn: int, mode: int) -> Singles:
        """One turn board of a flop and everything below it, once reach has come down to its line.

        Its reach rows are in the first thread's space; its value rows come back.
        """
        assert self._work is not None
        return self._work.run_turn(player, self._streets(self.spaces[0]), turn, mode)

    @property
    def memory_bytes(self) -> int:
        """Bytes of regrets and average strategies."""
        return sum(array.nbytes for pair in self.regrets + self.averages for array in pair)

    def regret_sums(self) -> tuple[float, float, int]:
        """(Σ of positive regrets, the largest, how many regrets there are), in chips per hand."""
        total, largest, entries = 0.0, 0.0, 0
        for level, pair in enumerate(self.regrets if self.learns else ()):
            for player in Player:
                counts = self.row_counts(level, player)
                starts = self.boards[player][level].own_rows
                actions = self.slot_actions(level, player)
                free = self._free_nodes(level, player)
                part, most = sum_regrets(
                    pair[player], starts, counts, actions, self.scales[level][player], free
                )
                total += part * self.chips
                largest = max(largest, most * self.chips)
                entries += int(counts.sum()) * int(actions @ free)
        return total, largest, entries

    def row_counts(self, level: int, player: Player) -> Longs:
        """[B]: the stored rows of a player's nodes on each board of a street, without padding."""
        lists, buckets = self.streets[level].lists[player], self.buckets[level]
        return lists.counts if buckets is None else buckets[player].counts(lists)

    def slot_actions(self, level: int, player: Player) -> Longs:
        """The number of actions of each of a player's nodes on a street, in stored order."""
        return self.tree.child_count[self._nodes(level, player)].astype(np.int64)

    def _nodes(self, level: int, player: Player) -> Longs:
        """A player's decisions on a street, in stored order."""
        here = (self.tree.kind == NodeKind.DECISION) & (self.tree.street == self.levels[level])
        return np.flatnonzero(here & (self.tree.player == player))

    def _free_nodes(self, level: int, player: Player) -> Singles:
        """0 for those that the tree locks, 1 for the others."""
        nodes = self._nodes(level, player).tolist()
        return np.array([node not in self.tree.locks for node in nodes], np.float32)

    def put_strategy(
        self, level: int, number: int, node: int, strategy: NDArray[np.floating[Any]]
    ) -> None:
        """Let the average strategy of a node on a board be `strategy` [R / 16, A, 16].

        At a locked node it becomes the locked strategy.
        """
        average = self.stored_at(self.averages, level, number, node)
        unit = LARGEST if average.dtype == np.int16 else 1.0
        average[:] = narrow(strategy * unit, average.dtype)
        if node in self.tree.locks and self.learns:
            regrets = self.stored_at(self.regrets, level, number, node)
            unit = LARGEST if regrets.dtype == np.int16 else 1.0
            regrets[:] = narrow(strategy * unit, regrets.dtype)

    def stored_at(
        self, arrays: Sequence[Sequence[NDArray[Any]]], level: int, number: int, node: int
    ) -> NDArray[Any]:
        """[R / 16, A, 16]: a node's entries in `regrets` or `averages` on a board, R rows."""
        player = self.tree.player_at(node)
        boards, actions = self.boards[player][level], int(self.tree.child_count[node])
        rows = int(boards.own_rows[number + 1] - boards.own_rows[number])
        start = int(boards.own_slots[number]) + self.slots[level].slot[node] * rows
        stored = arrays[level][player][start : start + actions * rows]
        return stored.reshape(-1, actions, LANES)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything that the next half-iteration depends on."""
        counters = np.array([self.steps, self.weights, self.waiting], np.float64)
        state: dict[str, NDArray[Any]] = {"counters": counters}
        stored = [("regrets", self.regrets), ("average", self.averages)]
        if self.precision == "int16":
            stored.append(("scales", self.scales))
        for name, arrays in stored:
            for street, pair in zip(self.levels, arrays, strict=True):
                for player in Player:
                    state[f"{name}.{street.text}.{player.name.lower()}"] = pair[player]
        return state

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a `state()` of the same subgame."""
        for name, array in self.state().items():
            if name != "counters":
                array[:] = state[name]
        steps, weights, waiting = state["counters"].tolist()
        self.steps, self.weights, self.waiting = [int(step) for step in steps], weights, waiting


def play_locks(subgame: ExactSubgame, first: int = 0) -> None:
    """Let hands play what the tree locks, from a level on, so that no iteration changes it."""
    tree = subgame.tree
    for node, chances in tree.locks.items():
        level = subgame.levels.index(Street(int(tree.street[node])))
        if level < first:
            continue
        for number in range(len(subgame.boards[0][level].own_rows) - 1):
            subgame.put_strategy(level, number, node, np.array(chances)[None, :, None])
    if not first:
        play_hand_locks(subgame)


def play_hand_locks(subgame: ExactSubgame) -> None:
    """The same for decisions of the first street that are locked for some hands."""
    for node, hands in subgame.tree.hand_locks.items():
        strategy = np.zeros((int(subgame.tree.child_count[node]), COMBO_COUNT))
        held = np.zeros(COMBO_COUNT, np.bool_)
        for hand, chances in hands.items():
            of_class = hand == HAND_OF_COMBO
            strategy[:, of_class] = np.array(chances)[:, None]
            held |= of_class
        lock_strategy(subgame, 0, 0, node, strategy, held)


def lock_strategy(
    subgame: ExactSubgame, level: int, number: int, node: int, strategy: Floats, locked: Flags
) -> None:
    """Let the `locked` combos [1326] play `strategy` [A, 1326] at a node on board `number`."""
    if subgame.buckets[level] is not None:
        raise InputError(
            f"lock: hands share strategies on the {subgame.levels[level].text}, so none of them "
            "can be locked there.\nLock nodes of other streets, or leave out river_groups"
        )
    player = Player(int(subgame.tree.player[node]))
    slots, boards = subgame.slots[level], subgame.boards[player][level]
    nodes, actions = slots.nodes[player], len(strategy)
    if not subgame.locked[level][player].size:
        size = int(boards.own_start[-1]) * nodes
        subgame.locked[level][player] = np.zeros(size, np.float32)
    combos = subgame.streets[level].hands[player][number].first
    hands = int(boards.own_start[number + 1] - boards.own_start[number])
    held = locked[combos]
    flags = int(boards.own_start[number]) * nodes + slots.number[node] * hands
    subgame.locked[level][player][flags : flags + len(combos)][held] = 1.0
    start = int(boards.own_slots[number]) + slots.slot[node] * hands
    for arrays in (subgame.regrets, subgame.averages):
        stored = arrays[level][player][start : start + actions * hands]
        if not stored.size:  # regrets of a game that does not learn
            continue
        blocks = widen(stored).reshape(hands // LANES, actions, LANES)
        by_action = blocks.transpose(1, 0, 2).reshape(actions, hands).copy()
        unit = LARGEST if stored.dtype == np.int16 else 1.0
        by_action[:, np.flatnonzero(held)] = unit * strategy[:, combos[held]]
        back = by_action.reshape(actions, hands // LANES, LANES).transpose(1, 0, 2).reshape(-1)
        stored[:] = narrow(back, stored.dtype)
