"""Trees with locked decisions, in the engines that know real cards.

Those of hand classes and buckets are compared with a recursion in `test_matrix`.
"""

from dataclasses import replace

import numpy as np
import pytest
from builders.locked_trees import with_locks
from builders.small_games import small_config
from reference.boards import BoardsTwin

from allstreets.base import InputError
from allstreets.betting import BettingTree, Player, Street
from allstreets.cards import COMBO_COUNT, HAND_COUNT, HAND_OF_COMBO
from allstreets.cfr import parse_schedule
from allstreets.engines.boards.cards import BucketSettings, FlopBoards, flop_boards
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.boards.subgame import RIVER, TURN, BoardsPots, BoardsSubgame, PotsOnFlop
from allstreets.engines.card_model import CardModel
from allstreets.engines.exact.buckets import suit_street_buckets
from allstreets.engines.exact.cards import next_street
from allstreets.engines.exact.strategies import average_strategy
from allstreets.engines.exact.subgame import ExactSubgame, lock_strategy
from allstreets.games import Spot
from allstreets.games.locks import Lock
from allstreets.games.spot import spot_root

AHEAD = parse_schedule("ahead")
TURN_SPOT = Spot(
    board="QsJh2h7s",
    oop="AKs,99,54s,T8s,A3s",
    ip="QTs,88,6s5s,KK,A4s",
    pot=50,
    stack=120,
    bets="75%",
    raises="a",
)
GROUPS = 16
GAME = small_config(
    stack_depth=5, postflop_bet_sizes=[1.0], max_raises_per_street=0, flops=["KsKhKd"]
).game()


def exact_game(tree: BettingTree, precision: str = "float32", shared: bool = False) -> ExactSubgame:
    spot = TURN_SPOT
    combos = np.flatnonzero(spot.ranges[0].weights), np.flatnonzero(spot.ranges[1].weights)
    buckets = suit_street_buckets if shared else None
    return ExactSubgame(tree, spot.payoffs, spot_root(spot), combos, 1, precision, buckets=buckets)


def reach_of(game: ExactSubgame) -> list[np.ndarray]:
    return [TURN_SPOT.ranges[p].weights[game.streets[0].combos(p, 0)] for p in Player]


def exploitability(game: ExactSubgame, reach: list[np.ndarray]) -> float:
    """The gain of both best responses, in no particular unit."""
    best, kept = (
        [float(reach[p] @ run(p, reach[p.opponent])) for p in Player]
        for run in (game.best_response, game.evaluate)
    )
    assert abs(sum(kept)) < 1e-4 * abs(kept[0])
    return sum(best) - sum(kept)


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_locked_tree_is_every_hand_locked_on_every_board(precision: str) -> None:
    """As spots lock hands one by one, which other code does."""
    tree = with_locks(TURN_SPOT.tree, 5)
    games = [exact_game(tree, precision), exact_game(TURN_SPOT.tree, precision)]
    for node, chances in tree.locks.items():
        level = games[1].levels.index(Street(int(tree.street[node])))
        strategy = np.repeat(np.array(chances)[:, None], COMBO_COUNT, axis=1)
        for number in range(len(games[1].streets[level].runouts)):
            every = np.ones(COMBO_COUNT, np.bool_)
            lock_strategy(games[1], level, number, node, strategy, every)
    reach = reach_of(games[0])
    for iteration in range(1, 7):
        for player in Player:
            one, other = (
                game.step(player, reach[player], reach[player.opponent], AHEAD.at(iteration))
                for game in games
            )
            np.testing.assert_allclose(one, other, atol=2e-3 * np.abs(other).max())
    for player in Player:
        one, other = (game.best_response(player, reach[player.opponent]) for game in games)
        np.testing.assert_allclose(one, other, atol=2e-3 * np.abs(other).max())


@pytest.mark.parametrize("shared", [False, True])
def test_a_lock_to_one_action_is_a_tree_without_the_others(shared: bool) -> None:
    """OOP never bets the river that was checked to it, by a lock and by the tree."""
    spot, node = TURN_SPOT, None
    edited = Spot.from_mapping(
        {
            **{name: getattr(spot, name) for name in ("board", "pot", "stack", "bets", "raises")},
            "oop_range": spot.oop,
            "ip_range": spot.ip,
            "edit": [{"line": "x x | * |", "remove": "b75%"}],
        }
    )
    tree = spot.tree
    (node,) = [
        one
        for one in tree.decisions(Street.RIVER)
        if tree.player[one] == Player.OOP and tree.pot_at(one) == spot.pot
    ]
    actions = int(tree.child_count[node])
    game = exact_game(replace(tree, locks={node: (1.0,) + (0.0,) * (actions - 1)}), shared=shared)
    combos = np.flatnonzero(spot.ranges[0].weights), np.flatnonzero(spot.ranges[1].weights)
    buckets = suit_street_buckets if shared else None
    other = ExactSubgame(edited.tree, edited.payoffs, spot_root(edited), combos, buckets=buckets)
    reach = reach_of(game)
    for each in (game, other):
        each.iterate((reach[0], reach[1]), AHEAD.run(1, 60))
    values = [
        [float(reach[p] @ each.evaluate(p, reach[1 - p])) for p in Player] for each in (game, other)
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-3)
    gains = [exploitability(each, reach) for each in (game, other)]
    assert gains[0] == pytest.approx(gains[1], rel=0.02)
    free = exact_game(tree, shared=shared)
    free.iterate((reach[0], reach[1]), AHEAD.run(1, 60))
    # A best response against the same play that may bet there gains more.
    assert float(reach[0] @ free.evaluate(Player.OOP, reach[1])) > values[0][0] + 1e-3 * abs(
        values[0][0]
    )


def test_regret_sums_leave_out_what_is_locked() -> None:
    tree = with_locks(TURN_SPOT.tree, 4)
    game, free = exact_game(tree), exact_game(TURN_SPOT.tree)
    assert game.regret_sums()[:2] == (0.0, 0.0)
    assert 0 < game.regret_sums()[2] < free.regret_sums()[2]
    everything = exact_game(with_locks(TURN_SPOT.tree, 1))
    assert everything.regret_sums() == (0.0, 0.0, 0)


@pytest.fixture(scope="module")
def cards() -> FlopBoards:
    return flop_boards(GAME.flops.flops[0].cards, [ranges(1)], BucketSettings(GROUPS, 32))


def ranges(seed: int) -> np.ndarray:
    """[2, 169]"""
    found: np.ndarray = np.random.default_rng(seed).random((2, HAND_COUNT))
    return found


def two_pots(cards: FlopBoards) -> PotsOnFlop:
    """Two pots side by side, every third decision locked."""
    trees = [(with_locks(pot.tree, 3), pot.payoffs) for pot in GAME.pots[:2]]
    return PotsOnFlop(BoardsPots(trees, GROUPS), cards, 0)


def strategies(subgame: BoardsSubgame, node: int) -> np.ndarray:
    """[…, A]: what is played at a node on all of its boards."""
    level = subgame.levels.index(Street(int(subgame.tree.street[node])))
    if level == RIVER:
        boards = range(subgame.cards.river_boards)
        stored = [subgame.stored_at(subgame.averages, level, one, node) for one in boards]
        flat = np.concatenate([one.transpose(0, 2, 1).reshape(-1, one.shape[1]) for one in stored])
        return np.asarray(flat / flat.sum(axis=1, keepdims=True))
    boards = range(len(subgame.streets[level].runouts))
    return np.concatenate([average_strategy(subgame, level, one, node).T for one in boards])


def test_pots_with_real_boards_equal_loops_over_cards(cards: FlopBoards) -> None:
    """Locked on the flop, by row on the turn and by group on the river."""
    pots, reach = two_pots(cards), ranges(2)
    for iteration in range(1, 5):
        for player in Player:
            opponent_reach = np.stack([reach[player.opponent]] * 2)
            pots.step(player, opponent_reach, AHEAD.at(iteration))
    subgame, pot = pots.subgames[1], GAME.pots[1]
    streets = {int(subgame.tree.street[node]) for node in subgame.tree.locks}
    assert streets == {Street.FLOP, Street.TURN, Street.RIVER}
    for node, chances in subgame.tree.locks.items():
        played = strategies(subgame, node)
        np.testing.assert_allclose(played, np.broadcast_to(chances, played.shape), atol=1e-4)
    river = next_street(cards.streets[TURN])
    by_combo = reach[:, HAND_OF_COMBO]
    for player in Player:
        combos = subgame.streets[0].combos(player, 0)
        twin = BoardsTwin(subgame, pot.payoffs, river, best=True)
        expected = twin.values(player, by_combo[player.opponent])[combos]
        found = subgame.best_response(player, by_combo[player.opponent][combos])
        assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


def test_groups_made_again_play_what_is_locked() -> None:
    trees = [(with_locks(pot.tree, 3), pot.payoffs) for pot in GAME.pots[:1]]
    model = CardModel("boards", groups=GROUPS, rows=32)
    games = BoardsEngine(trees, GAME.flops.flops, 1, model, ranges(1)[:, None])
    tree = trees[0][0]
    (node, *_) = [one for one in tree.locks if tree.street[one] == Street.FLOP]
    rng = np.random.default_rng(3)
    given = rng.dirichlet(
        np.ones(int(tree.child_count[node])), games.average(0, 0, node).shape[1]
    ).T
    games.set_average(0, 0, node, given)
    given = games.average(0, 0, node)  # combos that suits make alike play alike
    every = AHEAD.run(1, 2)
    games.iterate(ranges(1)[:, None], np.ones((1, 1), np.bool_), every)
    games.rebucket(ranges(5)[:, None])
    games.iterate(ranges(5)[:, None], np.ones((1, 1), np.bool_), every)
    np.testing.assert_allclose(games.average(0, 0, node), given, atol=1e-4)
    for one, chances in tree.locks.items():
        if one != node:
            played = strategies(games.subgames[0][0], one)
            np.testing.assert_allclose(played, np.broadcast_to(chances, played.shape), atol=1e-4)


def test_sampled_deals_refuse_locks() -> None:
    game = replace(GAME, lock=(Lock("c x | * | x", strategy={"x": 1.0}),))
    with pytest.raises(InputError, match="cards sampled does not support locks after the flop"):
        game.build(game.engine(CardModel("sampled")))
