"""Looking into an exact subgame: both players' average strategies on one board of one street.

The pass that evaluates the average strategies is run down to the requested board, with
every board below it, and the rows that the kernels leave behind are copied. A card that is not a
representative is looked up under the renaming of suits that makes it one.

With a best responder, values are those of his best response to the other's average strategy, and
his strategy takes the best action with every hand. His reach stays that of his average strategy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allstreets.base import Flags, Floats, Longs, Singles
from allstreets.betting import NodeKind, Player, Street
from allstreets.cards import CARD_PERMUTATIONS, COMBO_COUNT, COMBO_PERMUTATIONS, met_reach
from allstreets.engines.exact.kernels.layout import BEST_RESPONSE, EVALUATE
from allstreets.engines.exact.kernels.streets import early_forward, reach_lines, river_group
from allstreets.engines.exact.strategies import (
    average_strategy,
    combo_rows,
    set_average_strategy,
)
from allstreets.engines.exact.subgame import ExactSubgame, Reach
from allstreets.engines.simd.iteration_weights import NO_WEIGHTS
from allstreets.engines.trees import NodeNumbers

Rows = tuple[Singles, Singles]  # reach rows, value rows of one group


@dataclass(frozen=True)
class BoardPlace:
    """A board of a street, and the renaming of combos from the requested board to it."""

    level: int
    numbers: tuple[int, ...]  # its number among the boards of each street down to its own
    renamed: Longs  # [1326]


def find_board(subgame: ExactSubgame, cards: tuple[int, ...]) -> BoardPlace:
    """The representative board after the given cards were dealt."""
    renamed = np.arange(COMBO_COUNT)
    card_names = np.arange(52)
    number, numbers = 0, [0]
    for level, card in enumerate(cards):
        here = subgame.streets[level].runouts[number]
        name = int(card_names[card])
        permutation = int(here.permutation[name])
        representative = int(here.representative[name])
        renamed = COMBO_PERMUTATIONS[permutation][renamed].astype(np.int64)
        card_names = CARD_PERMUTATIONS[permutation][card_names].astype(np.int64)
        first = int(subgame.boards[0][level].children[number])
        number = first + here.representatives.index(representative)
        numbers.append(number)
    return BoardPlace(len(cards), tuple(numbers), renamed)


def copy_averages(
    source: ExactSubgame, target: ExactSubgame, players: Sequence[Player] = tuple(Player)
) -> None:
    """Let some players of a subgame play as in another subgame of the same tree and ranges.

    They may fold suits differently: every board of `target` is looked up in `source`.
    """
    root = len(target.streets[0].runouts[0].board)
    where = np.empty(COMBO_COUNT, np.int64)  # of a combo among those of a board
    for level, street in enumerate(target.streets):
        decisions = target.tree.decisions(target.levels[level])
        nodes = [node for node in decisions if target.tree.player[node] in players]
        for number, runout in enumerate(street.runouts):
            board = find_board(source, runout.board[root:])
            chosen = []
            for player in Player:
                stored = source.streets[level].combos(player, board.numbers[-1])
                where[stored] = np.arange(len(stored))
                chosen.append(where[board.renamed[street.combos(player, number)]])
            for node in nodes:
                strategy = average_strategy(source, level, board.numbers[-1], node)
                own = strategy[:, chosen[int(target.tree.player[node])]]
                set_average_strategy(target, level, number, node, own)


class StreetView:
    """Every decision node of one street on one board.

    `held` [1326] of OOP and IP are the combos to show, if the game deals others as well.
    """

    def __init__(
        self,
        subgame: ExactSubgame,
        reach: tuple[Reach, Reach],
        cards: tuple[int, ...] = (),
        held: tuple[Flags, Flags] | None = None,
        best: Player | None = None,
    ) -> None:
        """`best`: the player who best responds; None: both play their averages."""
        self.subgame, self.best = subgame, best
        self.board = find_board(subgame, cards)
        self.level = self.board.level
        self._rows = [self._run(own, reach[own.opponent]) for own in Player]
        number = self.board.numbers[-1]
        before = np.empty(COMBO_COUNT, np.int64)
        before[self.board.renamed] = np.arange(COMBO_COUNT)
        self._hands = [subgame.streets[self.level].hands[player][number] for player in Player]
        oop, ip = (before[hands.combos] for hands in self._hands)
        self._shown: list[Longs] = [np.arange(len(oop)), np.arange(len(ip))]
        if held is not None:
            self._shown = [np.flatnonzero(held[0][oop]), np.flatnonzero(held[1][ip])]
        self.combos = oop[self._shown[0]], ip[self._shown[1]]

    def _run(self, own: Player, other: Reach) -> list[Rows]:
        """The rows of every group of the street when `own` is computed."""
        subgame, level, mode = self.subgame, self.level, self._mode(own)
        forests, boards, spaces = subgame.forests[own], subgame.boards[own], subgame.spaces[0]
        if level == 0:
            subgame.look(own, other, mode)
            return [self._copied_rows(0)]
        subgame.enter(own, other)
        early_forward(forests[0], boards[0], subgame.storage(0, own), spaces[0], 0, mode)
        number = self.board.numbers[1]
        if level == 1 and subgame.levels[1] != Street.RIVER:
            values = subgame.run_turn(own, number, mode)
            return [(spaces[1].reach.copy(), values.copy())]
        parent = 0
        if level == 2:
            hands = int(boards[0].other_start[1])
            here = int(boards[1].other_start[number + 1] - boards[1].other_start[number])
            for lanes in range(len(forests[1].line_reach) // 16):
                reach_lines(
                    forests[1],
                    boards[1],
                    number,
                    lanes,
                    spaces[1],
                    spaces[0].leaf_reach,
                    hands,
                    here,
                )
            early_forward(forests[1], boards[1], subgame.storage(1, own), spaces[1], number, mode)
            parent = number
        return self._river_groups(own, self.board.numbers[-1], parent)

    def _mode(self, own: Player) -> int:
        return BEST_RESPONSE if own == self.best else EVALUATE

    def _river_groups(self, own: Player, number: int, parent: int) -> list[Rows]:
        subgame, level = self.subgame, self.level
        forest, boards = subgame.forests[own][level], subgame.boards[own][level]
        above, space = subgame.boards[own][level - 1], subgame.spaces[0][level]
        leaf_reach = subgame.spaces[0][level - 1].leaf_reach
        hands = int(above.other_start[parent + 1] - above.other_start[parent])
        his = int(boards.other_start[number + 1] - boards.other_start[number])
        rows = []
        for group in range(len(forest.group_nodes) - 1):
            for lanes in range(int(forest.group_lanes[group]), int(forest.group_lanes[group + 1])):
                reach_lines(forest, boards, number, lanes, space, leaf_reach, hands, his)
            storage = subgame.storage(level, own)
            river_group(forest, boards, storage, space, number, group, self._mode(own), NO_WEIGHTS)
            rows.append(self._copied_rows(level))
        return rows

    def _copied_rows(self, level: int) -> Rows:
        space = self.subgame.spaces[0][level]
        return space.reach.copy(), space.values.copy()

    def node(self, node: int) -> NodeNumbers:
        """The numbers of one decision node of the tree."""
        tree = self.subgame.tree
        assert tree.kind[node] == NodeKind.DECISION
        player = Player(int(tree.player[node]))
        reaches = [self._reach(own, node) for own in Player]  # of the opponent of `own`
        reach = reaches[1], reaches[0]
        oop, ip = self.combos
        met = met_reach(oop, ip, reach[1]), met_reach(ip, oop, reach[0])
        mine = self._action_values(player, node)
        strategy = self.strategy(node)
        if player == self.best:
            strategy = np.zeros_like(mine)
            strategy[mine.argmax(axis=0), np.arange(mine.shape[1])] = 1.0
        values = [(strategy * mine).sum(axis=0)] * 2
        values[player.opponent] = self._value(player.opponent, node)
        with np.errstate(divide="ignore", invalid="ignore"):
            return NodeNumbers(
                player,
                self.combos,
                reach,
                met,
                strategy,
                mine / met[player],
                (values[0] / met[0], values[1] / met[1]),
            )

    def strategy(self, node: int) -> Floats:
        """[A, H]: the average strategy of the player who acts."""
        strategy = average_strategy(self.subgame, self.level, self.board.numbers[-1], node)
        return strategy[:, self._shown[self.subgame.tree.player_at(node)]]

    def rows(self, player: Player) -> Longs:
        """[H]: the stored row of each combo of a player; combos with the same row play alike."""
        rows = combo_rows(self.subgame, self.level, self.board.numbers[-1], player)
        return rows[self._shown[player]]

    def _group(self, own: Player, node: int) -> tuple[int, Rows]:
        forest = self.subgame.forests[own][self.level]
        street_node = self.subgame.places[own][self.level][node]
        group = int(np.searchsorted(forest.group_nodes, street_node, side="right")) - 1
        return street_node, self._rows[own][group]

    def _reach(self, own: Player, node: int) -> Floats:
        """[H]: reach of the opponent of `own` at the node, in combos."""
        place, (reach, _) = self._group(own, node)
        boards, number = self.subgame.boards[own][self.level], self.board.numbers[-1]
        hands = int(boards.other_start[number + 1] - boards.other_start[number])
        row = int(self.subgame.forests[own][self.level].reach_row[place]) * hands
        scale = self.subgame.scale[own] / self.subgame.chips
        hand = self._hands[own.opponent].hand[self._shown[own.opponent]]
        return reach[row + hand].astype(np.float64) * scale

    def _value_row(self, own: Player, values: Singles, row: int) -> Floats:
        boards, number = self.subgame.boards[own][self.level], self.board.numbers[-1]
        hands = int(boards.own_start[number + 1] - boards.own_start[number])
        shown = values[row * hands + self._hands[own].hand[self._shown[own]]]
        return shown.astype(np.float64) * self.subgame.scale[own]

    def _value(self, own: Player, node: int) -> Floats:
        """[H]: Σ of reach · result of `own` at a node where the other acts."""
        place, (_, values) = self._group(own, node)
        row = int(self.subgame.forests[own][self.level].value_row[place])
        return self._value_row(own, values, row)

    def _action_values(self, own: Player, node: int) -> Floats:
        """[A, H]: Σ of reach · result of `own` after each of his actions."""
        place, (_, values) = self._group(own, node)
        forest = self.subgame.forests[own][self.level]
        first = int(forest.child_row[place])
        count = int(forest.actions[place])
        return np.stack([self._value_row(own, values, first + a) for a in range(count)])
