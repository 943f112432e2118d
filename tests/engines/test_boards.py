"""Real boards with bucketed rivers: tables by brute force, passes by loops over every card."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from builders.small_games import small_config
from reference.boards import BoardsTwin, board_matrices, fits

from allstreets.betting import Player
from allstreets.cards import (
    COMBO_COUNT,
    HAND_COUNT,
    HAND_OF_COMBO,
    Range,
    combo_strengths,
    parse_board,
    runouts,
)
from allstreets.cfr import parse_schedule
from allstreets.engines.boards.cards import (
    LEAST_WEIGHT,
    WEIGHT_ONE,
    BucketSettings,
    FlopBoards,
    bucket_hands,
    bucket_rows,
    flop_boards,
    river_street,
)
from allstreets.engines.boards.engine import BoardsEngine
from allstreets.engines.boards.kernels.bucketing import CUTS
from allstreets.engines.boards.kernels.layout import MATRIX_ONE
from allstreets.engines.boards.listed_river import flop_streets, listed_river
from allstreets.engines.boards.subgame import BoardsLayout, BoardsPots, BoardsSubgame, PotsOnFlop
from allstreets.engines.card_model import CardModel
from allstreets.engines.exact.buckets import StreetBuckets
from allstreets.engines.exact.cards import StreetBoards, first_street, next_street
from allstreets.engines.exact.kernels.layout import BEST_RESPONSE, EVALUATE
from allstreets.engines.exact.subgame import ExactSubgame
from allstreets.engines.machine import Pool

FLOP = "KsKhKd"  # on which most runouts are alike
GROUPS, ROWS = 16, 32
SETTINGS = BucketSettings(GROUPS, ROWS)
SCHEDULE = parse_schedule("tuned")
GAME = small_config(
    stack_depth=5, raise_cap=1, postflop_bet_sizes=[1.0], max_raises_per_street=0, flops=[FLOP]
).game()


def some_ranges() -> np.ndarray:
    """[2, 169]: neither all hands nor alike."""
    rng = np.random.default_rng(7)
    ranges = rng.random((2, HAND_COUNT))
    ranges[0, 100:] = 0.0
    return ranges


@pytest.fixture(scope="module")
def cards() -> FlopBoards:
    return flop_boards(GAME.flops.flops[0].cards, [some_ranges()], SETTINGS)


@pytest.fixture(scope="module")
def river(cards: FlopBoards) -> StreetBoards:
    return next_street(cards.streets[1])


def trained(cards: FlopBoards, iterations: int = 3, threads: int = 1) -> BoardsSubgame:
    pot = GAME.pots[0]
    layout = BoardsLayout([(pot.tree, pot.payoffs)], GROUPS, pool=Pool(threads))
    subgame = BoardsSubgame(layout, cards)
    reach = reaches(subgame)
    for number in range(1, iterations + 1):
        for player in Player:
            subgame.step(player, reach[player], reach[1 - player], SCHEDULE.at(number))
    return subgame


def reaches(subgame: BoardsSubgame) -> list[np.ndarray]:
    hands = HAND_OF_COMBO[subgame.streets[0].combos(0, 0)]
    return [row[hands] for row in some_ranges()]


def marks_on(cards: FlopBoards, river: StreetBoards, number: int) -> np.ndarray:
    """[2, 1326]: the groups of a river board; −1: blocked."""
    hands, start = river.hands[0][number], int(river.lists[0].start[number])
    found = np.full((2, COMBO_COUNT), -1)
    for player in Player:
        marks = cards.buckets[0].river[player][start : start + len(hands.first)]
        found[player, hands.combos] = marks[hands.hand]
    return found


def weights() -> np.ndarray:
    ranges = some_ranges()
    by_class = ranges / ranges.max(axis=1, keepdims=True) + LEAST_WEIGHT
    found: np.ndarray = np.rint(WEIGHT_ONE * by_class)[:, HAND_OF_COMBO]
    return found


def test_matrices_are_means_over_all_pairs(cards: FlopBoards, river: StreetBoards) -> None:
    for number in (0, 57, 333):
        marks = marks_on(cards, river, number)
        margin, pairs = board_matrices(river.boards[number], marks, weights(), GROUPS)
        rivers = cards.buckets[0]
        assert np.abs(rivers.margin[number] / MATRIX_ONE - margin).max() < 0.51 / MATRIX_ONE
        assert np.abs(rivers.pairs[number] / MATRIX_ONE - pairs).max() < 0.51 / MATRIX_ONE


def profiles(board: tuple[int, ...], own: int) -> np.ndarray:
    """[1326, 16]: margin and compatible weight against each part of the other's range."""
    strength = combo_strengths([board])[0].astype(np.int64)
    live = strength < 65535
    his = weights()[1 - own] * live
    parts = np.zeros(COMBO_COUNT, np.int64)
    part, below = 0, 0.0
    for level in np.unique(strength[live]):
        tied = live & (strength == level)
        parts[tied] = part
        below += his[tied].sum()
        while part < len(CUTS) - 2 and below >= CUTS[part + 1] * his.sum():
            part += 1
    compatible = fits()
    beats = np.sign(strength[:, None] - strength[None, :])
    columns = []
    for values in (beats * compatible, compatible):
        columns += [values @ (his * (parts == part)) for part in range(len(CUTS) - 1)]
    found: np.ndarray = np.stack(columns, axis=1) / his.sum()
    return found


def test_hands_stand_in_the_group_whose_mean_is_nearest(
    cards: FlopBoards, river: StreetBoards
) -> None:
    """Except for the last round of k-means, which moves few hands."""
    for number in (12, 200):
        marks = marks_on(cards, river, number)
        for own in Player:
            live = marks[own] >= 0
            points, found = profiles(river.boards[number], own)[live], marks[own][live]
            mine = weights()[own][live]
            sums = np.array([np.bincount(found, mine * column, GROUPS) for column in points.T]).T
            means = sums / np.maximum(np.bincount(found, mine, GROUPS), 1e-9)[:, None]
            away = ((points[:, None] - means[None]) ** 2).sum(axis=2)
            chosen = away[np.arange(len(points)), found]
            assert (mine * chosen).sum() < 1.1 * (mine * away.min(axis=1)).sum() + 1e-9
            one = points - np.average(points, axis=0, weights=mine)
            assert (mine * chosen).sum() < 0.1 * (mine[:, None] * one**2).sum()


def test_every_hand_of_every_board_has_a_group(cards: FlopBoards, river: StreetBoards) -> None:
    lists = river.lists[0]
    assert all(len(marks) == lists.start[-1] for marks in cards.buckets[0].river)
    assert all(int(marks.max()) < GROUPS for marks in cards.buckets[0].river)


@pytest.mark.parametrize("best", [pytest.param(False, marks=pytest.mark.thorough), True])
def test_passes_equal_loops_over_every_card(
    cards: FlopBoards, river: StreetBoards, best: bool
) -> None:
    subgame = trained(cards)
    pot, reach = GAME.pots[0], reaches(subgame)
    combos = subgame.streets[0].combos(0, 0)
    twin = BoardsTwin(subgame, pot.payoffs, river, best)
    own = Player.IP if best else Player.OOP
    other = np.zeros(COMBO_COUNT)
    other[combos] = reach[own.opponent]
    expected = twin.values(own, other)[combos]
    found = (subgame.best_response if best else subgame.evaluate)(own, reach[own.opponent])
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("weighted", [False, True])
def test_the_shares_of_a_bucket_are_those_of_its_hands_weights(
    cards: FlopBoards, river: StreetBoards, weighted: bool
) -> None:
    lists, marks = river.lists[0], cards.buckets[0].river[0]
    starts = GROUPS * np.arange(len(lists.start), dtype=np.int64)
    weights = np.random.default_rng(3).random(len(marks)) if weighted else np.ones(len(marks))
    found = bucket_rows(lists, marks, starts, weights if weighted else None).weight
    for board in (0, 7, len(lists.counts) - 1):
        hands = slice(int(lists.start[board]), int(lists.start[board] + lists.counts[board]))
        bucket, weight = marks[hands], weights[hands]
        expected = weight / np.bincount(bucket, weight, GROUPS)[bucket]
        assert np.allclose(found[hands], expected, rtol=1e-6)
        assert not found[hands.stop : int(lists.start[board + 1])].any()  # padding


@pytest.mark.long
def test_real_cards_judge_the_stored_strategies_where_they_stand(cards: FlopBoards) -> None:
    """An exact game with the same rows is given the arrays themselves.

    Long: exact flops in sixteen bits are compiled; `test_lifting` has real cards judge in 32.
    """
    subgame = trained(cards, 40)
    pot, rivers = GAME.pots[0], cards.buckets[0]
    combos = np.sort(subgame.streets[0].combos(0, 0))

    def sharing(streets: Sequence[StreetBoards]) -> StreetBuckets:
        lists = streets[2].lists[0]
        starts = GROUPS * np.arange(len(lists.start), dtype=np.int64)
        oop, ip = (bucket_rows(lists, marks, starts, None) for marks in rivers.river)
        return [None, rivers.turn, (oop, ip)]

    judge = ExactSubgame(
        pot.tree,
        pot.payoffs,
        subgame.streets[0].runouts[0],
        (combos, combos),
        1,
        "float16",
        buckets=sharing,
        learns=False,
    )
    judge.averages = subgame.averages
    reach = reaches(subgame)
    gains = [
        float((judge.best_response(p, reach[1 - p]) - judge.evaluate(p, reach[1 - p])) @ reach[p])
        for p in Player
    ]
    at_stake = pot.tree.pot * (reach[0].sum() * reach[1].sum())
    assert all(gain >= 0 for gain in gains)
    assert sum(gains) / 2 < 0.05 * at_stake  # sixteen groups lose some per cent of the pot
    value, abstract = (g.evaluate(Player.OOP, reach[1]) @ reach[0] for g in (judge, subgame))
    assert abs(value - abstract) < 0.01 * at_stake


def test_pots_together_do_what_each_does_by_itself(cards: FlopBoards) -> None:
    trees = [(pot.tree, pot.payoffs) for pot in GAME.pots]
    assert len(trees) > 1
    games = PotsOnFlop(BoardsPots(trees, GROUPS), cards, 0)
    alone = [BoardsSubgame(BoardsLayout([tree], GROUPS), cards) for tree in trees]
    rng = np.random.default_rng(3)
    reach = rng.random((2, len(trees), HAND_COUNT))
    hands = HAND_OF_COMBO[alone[0].streets[0].combos(0, 0)]

    def compare(together: np.ndarray, expected: Sequence[np.ndarray]) -> None:
        for row, by_combo in zip(together, expected, strict=True):
            by_class = np.bincount(hands, by_combo, HAND_COUNT)
            assert np.abs(row - by_class).max() < 1e-5 * np.abs(by_class).max()

    for number in range(1, 6):
        for player in Player:
            now = SCHEDULE.at(number)
            his = reach[player.opponent]
            compare(
                games.step(player, his, now),
                [
                    one.step(player, his[pot][hands], his[pot][hands], now)
                    for pot, one in enumerate(alone)
                ],
            )
    for part, one in zip(games.subgames, alone, strict=True):
        assert part.steps == one.steps
        for level in range(3):
            for player in Player:
                mine, his_ = (each.averages[level][player].astype(int) for each in (part, one))
                assert len(mine) == len(his_)
                assert np.abs(mine - his_).max(initial=0) <= 32  # of 32767
    for mode, run in ((BEST_RESPONSE, "best_response"), (EVALUATE, "evaluate")):
        compare(
            games.run(Player.IP, reach[0], mode),
            [getattr(one, run)(Player.IP, reach[0, pot][hands]) for pot, one in enumerate(alone)],
        )
    # A pot that has learned for longer continues separately.
    every = [SCHEDULE.at(6)]
    some = np.arange(len(trees)) == 1
    games.iterate(reach, some, every)
    alone[1].iterate((reach[0, 1][hands], reach[1, 1][hands]), every)
    compare(
        games.step(Player.OOP, reach[1], SCHEDULE.at(7)),
        [
            one.step(Player.OOP, reach[1, pot][hands], reach[1, pot][hands], SCHEDULE.at(7))
            for pot, one in enumerate(alone)
        ],
    )


def test_threads_share_the_turns_of_a_flop_and_change_no_bit(cards: FlopBoards) -> None:
    alone = trained(cards)
    reach = reaches(alone)
    for threads in (2, 3):
        shared = trained(cards, threads=threads)
        for name, array in alone.state().items():
            np.testing.assert_array_equal(shared.state()[name], array, strict=True)
        for player in Player:
            best, same = (g.best_response(player, reach[1 - player]) for g in (alone, shared))
            np.testing.assert_array_equal(best, same, strict=True)


def test_lists_of_rivers_are_those_of_their_boards(cards: FlopBoards, river: StreetBoards) -> None:
    found, slow = river_street(cards.streets[1]), river.lists[0]
    assert found.parents == river.parents
    sizes = [
        dict(zip(up.representatives, up.multiplicities, strict=True))
        for up in cards.streets[1].runouts
    ]
    for board, parent, same in zip(river.boards, river.parents, found.same, strict=True):
        assert same == sizes[parent][board[-1]]
    for listed, expected in zip(found.hands, slow, strict=True):
        np.testing.assert_array_equal(listed, expected, strict=True)


def test_a_listed_river_has_the_same_hands(cards: FlopBoards, river: StreetBoards) -> None:
    same_river(listed_river(cards.streets[1]), river)


@pytest.mark.parametrize(
    ("board", "ranges"),
    [
        ("7s7h7d", ("AA,77,87s", "AA,77,87s")),  # alike
        ("9h7h4h", ("22+,A2s+", "KK,QJo,8c7c")),  # hearts apart; clubs, diamonds and spades are not
        ("KsQh2d", ("AsAh", "QcQd,3c2c")),  # a range that many boards block
    ],
)
def test_the_streets_of_a_flop_are_those_of_its_boards_one_by_one(
    board: str, ranges: tuple[str, str]
) -> None:
    cards = parse_board(board)
    weights = [Range.parse(text).on(cards).weights for text in ranges]
    root, combos = runouts(cards, weights), (np.flatnonzero(weights[0]), np.flatnonzero(weights[1]))
    turn = next_street(first_street(root, combos))
    streets = flop_streets(root, combos)
    assert len(streets) == 3
    same_river(streets[2], next_street(turn))
    for here, expected in zip(streets[1].lists, turn.lists, strict=True):
        for listed, single in zip(here, expected, strict=True):
            np.testing.assert_array_equal(listed, single, strict=True)
    assert flop_streets(turn.runouts[0], combos) == []


def same_river(listed: StreetBoards, river: StreetBoards) -> None:
    """Board for board, and hand for hand of both players."""
    assert listed.boards == river.boards
    assert listed.parents == river.parents
    assert [one.representatives for one in listed.runouts] == [
        one.representatives for one in river.runouts
    ]
    assert (listed.hands[0] is listed.hands[1]) == (river.hands[0] is river.hands[1])
    assert len(listed.runouts[:2]) == 2
    for player in Player:
        assert len(listed.hands[player]) == len(river.hands[player])
        for mine, theirs in zip(listed.hands[player], river.hands[player], strict=True):
            for name, expected in vars(theirs).items():
                np.testing.assert_array_equal(getattr(mine, name), expected, strict=True)
        for by_list, expected_list in zip(listed.lists[player], river.lists[player], strict=True):
            np.testing.assert_array_equal(by_list, expected_list, strict=True)


def test_buckets_are_the_same_by_any_number_of_threads(cards: FlopBoards) -> None:
    turn, first = cards.streets[1], cards.buckets[0]
    again = bucket_hands(turn, river_street(turn), [some_ranges()], SETTINGS, Pool(3))[0]
    assert first.turn is not None
    assert again.turn is not None
    for player in Player:
        assert np.array_equal(again.river[player], first.river[player])
        assert np.array_equal(again.combos[player].first, first.combos[player].first)
        assert np.array_equal(again.combos[player].parent, first.combos[player].parent)
        assert np.array_equal(again.turn[player].row, first.turn[player].row)
        assert np.array_equal(again.turn[player].weight, first.turn[player].weight)
    assert np.array_equal(again.margin, first.margin)
    assert np.array_equal(again.pairs, first.pairs)


def test_a_whole_game_packs_and_goes_on_from_its_state() -> None:
    model = CardModel("boards", groups=16, rows=16)
    spec = GAME.engine(model, threads=2, ranges=np.ones((2, len(GAME.pots), HAND_COUNT)))
    games = GAME.build(spec)
    assert isinstance(games, BoardsEngine)
    reach = np.ones((2, games.pots, HAND_COUNT))
    flops = np.arange(1)
    for player in Player:
        games.step(player, reach[0], reach[1], flops, [SCHEDULE.at(1)])
    state = {name: array.copy() for name, array in games.state().items()}
    after = games.step(Player.OOP, reach[0], reach[1], flops, [SCHEDULE.at(2)])
    games.restore(state)
    assert np.array_equal(
        after, games.step(Player.OOP, reach[0], reach[1], flops, [SCHEDULE.at(2)])
    )
    others = GAME.build(replace(spec, ranges=np.stack([some_ranges()] * games.pots, axis=1)))
    others.restore(state)  # in the groups of the state
    assert np.array_equal(
        after, others.step(Player.OOP, reach[0], reach[1], flops, [SCHEDULE.at(2)])
    )
    arrays = games.pack(0, reach, [np.dtype(np.uint8)] * games.pots)
    with games.quantised(range(1), np.dtype(np.uint8)):
        rounded = games.subgames[0][0].averages[2][0].copy()
    assert np.array_equal(arrays["average.0.2.oop"], rounded.astype(np.uint8))
    assert games.subgames[0][0].averages[2][0].max() > 255  # and then they are what they were
