"""Groups made again: what was learned is carried over by combos, and a run goes on from there."""

from dataclasses import replace

import numpy as np
import pytest
from builders.small_games import small_config
from reference.boards import carried_rows, numbers_of

from allstreets.betting import Player
from allstreets.cards import HAND_COUNT
from allstreets.cfr import parse_schedule
from allstreets.engines.boards.cards import (
    BucketSettings,
    FlopBoards,
    flop_boards,
    hand_weights,
    river_street,
)
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.boards.rebucketing import StreetWeights, carry
from allstreets.engines.boards.subgame import FLOP, RIVER, TURN, BoardsLayout, BoardsSubgame
from allstreets.engines.card_model import CardModel
from allstreets.engines.subgames import flop_key

GROUPS, ROWS = 16, 32
SCHEDULE = parse_schedule("tuned")
GAME = small_config(
    stack_depth=5, raise_cap=1, postflop_bet_sizes=[1.0], max_raises_per_street=0, flops=["KsKhKd"]
).game()
MODEL = CardModel("boards", groups=GROUPS, rows=ROWS)


def ranges(seed: int) -> np.ndarray:
    """[2, 169]"""
    found: np.ndarray = np.random.default_rng(seed).random((2, HAND_COUNT))
    return found


RANGES = [ranges(1), ranges(2)]


@pytest.fixture(scope="module")
def cards() -> FlopBoards:
    return flop_boards(GAME.flops.flops[0].cards, RANGES, BucketSettings(GROUPS, ROWS))


@pytest.fixture(scope="module")
def weights(cards: FlopBoards) -> StreetWeights:
    """Of the second pair of ranges."""
    turn = cards.streets[TURN]
    return StreetWeights.of(turn.lists[0], river_street(turn).hands, RANGES[1])


@pytest.fixture(scope="module")
def learned(cards: FlopBoards) -> BoardsSubgame:
    """A pot after a few iterations in the first of two sets of groups."""
    pot = GAME.pots[0]
    subgame = BoardsSubgame(BoardsLayout([(pot.tree, pot.payoffs)], GROUPS), cards)
    reach = np.ones(len(subgame.streets[0].combos(Player.OOP, 0)))
    for number in range(1, 6):
        for player in Player:
            subgame.step(player, reach, reach, SCHEDULE.at(number))
    return subgame


def test_in_the_same_groups_not_a_bit_changes(
    cards: FlopBoards, weights: StreetWeights, learned: BoardsSubgame
) -> None:
    same = BoardsSubgame(learned.layout, cards)
    learned.regrets[RIVER][0][5] = 0x8000  # −0, whose sign counts as a bit
    carry(learned, same, weights)
    expected = learned.state()
    for name, array in same.state().items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)


@pytest.mark.parametrize(("level", "rows"), [(TURN, ROWS), (RIVER, GROUPS)])
def test_rows_get_the_means_of_what_their_hands_had(
    cards: FlopBoards, weights: StreetWeights, learned: BoardsSubgame, level: int, rows: int
) -> None:
    other = BoardsSubgame(learned.layout, cards, 1)
    carry(learned, other, weights)
    street = weights.lists[level - TURN]
    for player in Player:
        old, new = (marks_of(cards, number, level, player) for number in (0, 1))
        assert not np.array_equal(old, new)
        actions = learned.slot_actions(level, player)
        weight = hand_weights(street, RANGES[1][player])
        for board in (0, 7, len(street.counts) - 1):
            hands = slice(*street.start[board : board + 2].tolist())
            live = slice(hands.start, hands.start + int(street.counts[board]))
            moves = (old[live], new[live], weight[live])
            regrets, averages = (
                [numbers_of(array[level][player], actions, rows, board) for array in arrays]
                for arrays in (
                    (learned.regrets, other.regrets),
                    (learned.averages, other.averages),
                )
            )
            has = np.bincount(new[live], minlength=rows) > 0
            expected = carried_rows(regrets[0], *moves)
            np.testing.assert_allclose(regrets[1][:, has], expected[:, has], 1e-3, 1e-7)
            expected = carried_rows(averages[0], *moves)
            np.testing.assert_allclose(averages[1][:, has], expected[:, has], 1e-6, 0.51)
            whole = np.add.reduceat(averages[1], np.cumsum(actions) - actions)
            np.testing.assert_allclose(whole[:, has], 32767, atol=2 * actions.max())


def marks_of(cards: FlopBoards, number: int, level: int, player: Player) -> np.ndarray:
    """By hand: its row on the turn, or its group on the river."""
    rivers = cards.buckets[number]
    assert rivers.turn is not None
    return rivers.turn[player].row if level == TURN else rivers.river[player]


def test_the_flop_and_what_was_counted_stay(
    cards: FlopBoards, weights: StreetWeights, learned: BoardsSubgame
) -> None:
    other = BoardsSubgame(learned.layout, cards, 1)
    carry(learned, other, weights)
    for player in Player:
        np.testing.assert_array_equal(other.regrets[FLOP][player], learned.regrets[FLOP][player])
        np.testing.assert_array_equal(other.averages[FLOP][player], learned.averages[FLOP][player])
    np.testing.assert_array_equal(other.state()["counters"], learned.state()["counters"])
    other.steps[0] += 1
    assert other.steps != learned.steps


def steps(games: BoardsEngine, numbers: range) -> np.ndarray:
    every = np.ones((games.pots, HAND_COUNT))
    for number in numbers:
        for player in Player:
            values = games.step(player, every, every, np.arange(1), [SCHEDULE.at(number)])
    return values


def test_games_go_on_in_groups_of_other_ranges() -> None:
    reach = np.stack([ranges(seed) for seed in range(len(GAME.pots))], axis=1)
    games, fresh = (GAME.build(GAME.engine(MODEL)) for _ in range(2))
    assert isinstance(games, BoardsEngine)
    assert isinstance(fresh, BoardsEngine)
    steps(games, range(1, 4))
    before = {name: array.copy() for name, array in games.state().items()}
    far = games.rebucket(reach, 1.0)
    assert 0.1 < far < 0.5
    assert len(games.sets.ranges) == 1  # it was not far enough
    assert games.rebucket(reach, far - 1e-9) == far
    assert len(games.sets.ranges) == len(GAME.pots)
    assert games.rebucket(reach) == 0.0
    state = {name: array.copy() for name, array in games.state().items()}
    kept = {name for name in before if np.array_equal(state[name], before[name])}
    assert {name for name in before if ".flop." in name or "counters" in name} <= kept
    assert not any(name.endswith(("regrets.river.oop", "average.turn.ip")) for name in kept)
    assert state[flop_key(0, "0.average.river.ip")].any()
    after = steps(games, range(4, 6))
    fresh.restore(state)
    assert np.array_equal(after, steps(fresh, range(4, 6)))
    one, other = (game.pack(0, reach, [np.dtype(np.uint8)] * game.pots) for game in (games, fresh))
    for name, array in one.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


def test_hands_of_the_turn_that_have_rows_of_their_own_keep_them(
    cards: FlopBoards, weights: StreetWeights
) -> None:
    own = replace(cards, buckets=tuple(replace(one, turn=None) for one in cards.buckets))
    pot = GAME.pots[0]
    first, second = (
        BoardsSubgame(BoardsLayout([(pot.tree, pot.payoffs)], GROUPS), own, number)
        for number in (0, 1)
    )
    first.regrets[TURN][0][:] = np.arange(len(first.regrets[TURN][0])) % 999
    carry(first, second, weights)
    np.testing.assert_array_equal(first.regrets[TURN][0], second.regrets[TURN][0])
