"""Bucketing again: for the ranges of pots, carrying over by combo what was learned."""

from dataclasses import replace

import numpy as np
import pytest
from builders.small_games import small_config
from reference.boards import carried_rows, numbers_of

from allstreets.betting import Player
from allstreets.cards import HAND_COUNT, parse_hand
from allstreets.cfr import parse_schedule
from allstreets.engines.boards.cards import (
    BucketSettings,
    FlopBoards,
    flop_boards,
    hand_weights,
    river_street,
)
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.boards.rebucketing import RangeSets, StreetWeights, carry, moved, range_sets
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


@pytest.mark.long
def test_games_go_on_in_groups_of_other_ranges() -> None:
    """Long: an engine is bucketed three times."""
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


def only(*names: str) -> np.ndarray:
    """[169]: a range of some hands."""
    found = np.zeros(HAND_COUNT)
    found[[parse_hand(name) for name in names]] = 1.0
    return found


def pots(*oop: np.ndarray) -> np.ndarray:
    """[2, P, 169]: pots that IP starts with all hands."""
    return np.stack([np.stack(oop), np.ones((len(oop), HAND_COUNT))])


def test_pots_whose_ranges_differ_least_share_a_set() -> None:
    ranges = pots(only("AA"), only("72o", "AA"), only("72o"), only("KK", "QQ"))
    found = range_sets(ranges, 4, 3)
    assert len(found.ranges) == 3
    assert found.of_pot[1] == found.of_pot[2]  # 72o is most of what both start with
    assert len(set(found.of_pot)) == 3
    own = found.ranges[found.of_pot[0], 0]
    assert own[parse_hand("AA")] == own.sum() == 1.0


def test_a_set_goes_by_what_its_pots_bring_together() -> None:
    """Six combos of one pot and twelve of the other are eighteen that are as likely."""
    found = range_sets(pots(only("AA"), only("72o")), 2, 1)
    assert found.of_pot == (0, 0)
    np.testing.assert_allclose(found.ranges[0, 0], only("AA", "72o"))
    # A pot that half as many pairs get to has half the say.
    ranges = pots(only("AA"), only("72o"))
    ranges[1, 0] = 0.5
    seldom = range_sets(ranges, 2, 1).ranges[0, 0]
    np.testing.assert_allclose(seldom, 0.5 * only("AA") + only("72o"))


def test_a_pot_that_is_seldom_played_goes_along_with_another() -> None:
    """Though its ranges differ more: little goes wrong by that."""
    ranges = pots(only("AA"), only("AA", "KK"), 0.001 * only("QQ"))
    assert range_sets(ranges, 3, 2).of_pot == (0, 1, 0)
    ranges[0, 2] *= 1000
    assert range_sets(ranges, 3, 2).of_pot == (0, 0, 1)


def test_without_ranges_all_pots_go_by_all_hands() -> None:
    found = range_sets(None, 5, 3)
    assert found.of_pot == (0,) * 5
    assert (found.ranges == 1.0).all()


@pytest.mark.parametrize(
    ("then", "now", "far"),
    [
        (("AA", "KK"), ("AA", "KK"), 0.0),
        (("AA",), ("KK",), 1.0),
        (("AA",), ("AA", "KK"), 1 / 2),
        (("AA", "AKs"), ("AA",), 4 / 10),  # six combos and four
    ],
)
def test_how_far_ranges_move_is_a_share_of_their_combos(
    then: tuple[str, ...], now: tuple[str, ...], far: float
) -> None:
    before, after = pots(only(*then)), pots(only(*now))
    found = moved(range_sets(before, 1, 3), range_sets(after, 1, 3), after)
    assert found == pytest.approx(far / 2)  # IP's have not moved


def test_a_pot_counts_by_the_pairs_of_hands_that_start_it() -> None:
    ranges = pots(only("AA"), only("72o"))  # six combos, and twelve
    before = RangeSets(np.stack([ranges[:, 1], ranges[:, 0]]), (1, 1))
    after = RangeSets(before.ranges, (1, 0))
    assert moved(before, after, ranges) == pytest.approx(1 / 2 * 12 / 18)
    assert moved(after, after, ranges) == 0.0


def test_a_game_without_pots_has_no_ranges_to_move() -> None:
    nothing = np.zeros((2, 0, HAND_COUNT))
    assert moved(range_sets(nothing, 0, 3), range_sets(nothing, 0, 3), nothing) == 0.0
