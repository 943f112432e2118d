"""Strategies lifted to real combos: the same as assigning them one by one."""

from functools import cache

import numpy as np
import pytest
from builders.small_games import BUCKETS, small_config
from reference.lifting import Array, Board, Handed

from allstreets.betting import Street
from allstreets.cards import HAND_OF_COMBO
from allstreets.cfr.schedules import parse_schedule
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.card_model import CardModel
from allstreets.engines.exact.cards import next_street
from allstreets.engines.lifting import Lift, LiftedValues, evaluate_flop, lift_flop, slot_block
from allstreets.engines.matrix.buckets import BucketCounts, build_bucket_model
from allstreets.engines.quantised import TWO_BYTES, PackedStrategies
from allstreets.solvers.precision import evaluate_quantised
from allstreets.solvers.whole_game import WholeGameSolver

# A pot, checked or all-in, on a flop of which most runouts are alike.
LIMPED = {"stack_depth": 2, "raise_cap": 0, "flops": ["KsKhKd"]}
BOARDS = CardModel("boards", groups=16, precision="float16")


@cache
def solved(cards: str) -> WholeGameSolver:
    config = small_config(**(BUCKETS if cards == "buckets" else {}), **LIMPED)
    game = config.game()
    model = BOARDS if cards == "boards" else config.card_model()
    games = game.build(game.engine(model))
    solver = WholeGameSolver(game, games, parse_schedule("tuned"))
    solver.train_batch(12)
    return solver


def judged(cards: str, play: Lift | None = None) -> LiftedValues:
    """A solution with real cards, as it is stored or as another play."""
    solver = solved(cards)
    games, game = solver.engine, solver.game
    reach = solver.preflop.pot_reach(solver.preflop.average())
    trees, flop = [(pot.tree, pot.payoffs) for pot in game.pots], game.flops.flops[0]
    arrays = games.pack(0, reach, [TWO_BYTES] * games.pots)
    plays = lift_flop(games.model, flop, [tree for tree, _ in trees], arrays)
    return evaluate_flop(trees, flop, plays if play is None else [play], reach)


class ByRow:
    """The strategies of a class's or bucket's hands on every board."""

    def __init__(self, solver: WholeGameSolver) -> None:
        model, flop = solver.engine.model, solver.game.flops.flops[0]
        arrays = solver.engine.pack(0, np.ones((2, 1, 169)), [TWO_BYTES])
        stored = tuple(arrays[f"strategy.0.{stage}"] for stage in range(len(model.streets)))
        self.packed = PackedStrategies(solver.game.pots[0].tree, model.streets, stored)
        self.buckets = None
        if model.kind == "buckets":
            counts = BucketCounts(*model.buckets)
            self.buckets = build_bucket_model(flop.cards, counts, model.seed)

    def at(self, node: int, board: Board) -> Array:
        rows = HAND_OF_COMBO if self.buckets is None else self.buckets.buckets_on(board)
        return self.packed.at(node)[:, rows]


class ByBoard:
    """The strategies of a row's hands on each turn board, and of a group's on each river board."""

    def __init__(self, solver: WholeGameSolver) -> None:
        games = solver.engine
        assert isinstance(games, BoardsEngine)
        self.tree, self.model = solver.game.pots[0].tree, games.model
        reach = solver.preflop.pot_reach(solver.preflop.average())
        self.arrays = games.pack(0, reach, [TWO_BYTES])
        flop, turn = games.cards[0].streets
        self.streets = [flop, turn, next_street(turn)]

    def at(self, node: int, board: Board) -> Array:
        level, tree = len(board) - 3, self.tree
        number, player = self.streets[level].boards.index(board), int(tree.player[node])
        hands = self.streets[level].hands[player][number]
        actions, same = int(tree.child_count[node]), tree.decisions(Street(level + 1))
        table = np.zeros((actions, 1326))
        if level == 0:
            first = sum(int(tree.child_count[one]) for one in same if one < node)
            rows = self.arrays["strategy.0.0"][first : first + actions]
            table[:, np.sort(hands.combos)] = rows
            return table
        name = "oop" if player == 0 else "ip"
        kind, count = ("rows", 176) if level == 1 else ("groups", self.model.groups)
        stored = self.arrays[f"average.0.{level}.{name}"].astype(np.float64)
        own = [one for one in same if tree.player[one] == player]
        slots = sum(int(tree.child_count[one]) for one in own)
        before = sum(int(tree.child_count[one]) for one in own if one < node)
        first = int(self.streets[level].lists[0].start[number])
        row = self.arrays[f"{kind}.0.{name}"][first + hands.hand].astype(int)
        start = (number * slots + before) * count + row // 16 * 16 * actions + row % 16
        shares = np.stack([stored[start + 16 * action] for action in range(actions)])
        total = shares.sum(axis=0)
        table[:, hands.combos] = np.where(total > 0, shares / np.maximum(total, 1), 1 / actions)
        return table


@pytest.mark.parametrize(
    "cards", ["classes", pytest.param("buckets", marks=pytest.mark.thorough), "boards"]
)
def test_every_combo_plays_its_row(cards: str) -> None:
    solver = solved(cards)
    play = ByBoard(solver) if cards == "boards" else ByRow(solver)
    fast, slow = judged(cards), judged(cards, Handed(play))
    for found, wanted in ((fast.best, slow.best), (fast.own, slow.own)):
        assert found is not None
        assert wanted is not None
        np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())


def test_classes_win_as_much_with_real_cards_as_in_their_own_game() -> None:
    solver = solved("classes")
    found, own = judged("classes"), evaluate_quantised(solver, TWO_BYTES)
    assert found.own is not None
    np.testing.assert_allclose(found.own, own.own[:, :, 0], atol=1e-5 * np.abs(own.own).max())
    # Who sees turn and river does at least as well as who does not.
    reach = solver.preflop.pot_reach(solver.preflop.average())
    assert (np.einsum("aph,aph->a", reach, found.best - own.best[:, :, 0]) > 0).all()


def test_actions_stand_as_the_kernels_read_them() -> None:
    actions, rows = np.array([2, 3, 1]), 32
    strategies = np.arange(6 * 20).reshape(6, 20)
    block = slot_block(strategies, actions, rows)
    at = 0
    for node, count in enumerate(actions.tolist()):
        first = int(actions[:node].sum())
        for part in range(0, rows, 16):
            for action in range(count):
                for row in range(part, part + 16):
                    wanted = strategies[first + action, row] if row < 20 else 0
                    assert block[at] == wanted
                    at += 1
