"""Buckets of hands, against loops over combos and against games in which each hand is its own."""

from collections.abc import Sequence

import numpy as np
import pytest
from reference.shared_spot import SharedSpot

from allstreets.base import InputError
from allstreets.betting import NodeKind, Player, Street
from allstreets.cards import make_card
from allstreets.cfr import parse_schedule
from allstreets.engines.exact.buckets import (
    HandBuckets,
    StreetBuckets,
    hand_buckets,
    suit_street_buckets,
)
from allstreets.engines.exact.cards import StreetBoards
from allstreets.engines.exact.strategies import (
    average_strategy,
    set_average_strategy,
)
from allstreets.engines.exact.subgame import ExactSubgame, lock_strategy
from allstreets.engines.exact.view import StreetView
from allstreets.games import Spot
from allstreets.games.spot import spot_root

# Clubs and diamonds change places, so that hands are one or two combos.
TURN = Spot(
    board="QsJh2h7s",
    oop="AKs,99,54s,T8s,A3s",
    ip="QTs,88,6s5s,KK,A4s",
    pot=50,
    stack=120,
    bets="75%",
    raises="a",
)
SCHEDULE = parse_schedule("tuned")


def reach_of(spot: Spot, game: ExactSubgame) -> tuple[np.ndarray, np.ndarray]:
    combos = [game.streets[0].combos(player, 0) for player in Player]
    return spot.ranges[0].weights[combos[0]], spot.ranges[1].weights[combos[1]]


def exact_game(spot: Spot, buckets=None, precision: str = "float32", **settings) -> ExactSubgame:  # type: ignore[no-untyped-def]
    combos = np.flatnonzero(spot.ranges[0].weights), np.flatnonzero(spot.ranges[1].weights)
    root = spot_root(spot)
    return ExactSubgame(
        spot.tree, spot.payoffs, root, combos, 1, precision, buckets=buckets, **settings
    )


def own_buckets(street: StreetBoards, player: int) -> HandBuckets:
    """Every hand is its own bucket: what is stored is what would be stored without buckets."""
    return hand_buckets(
        street, player, [np.arange(len(hands.first)) for hands in street.hands[player]]
    )


def by_hand(streets: Sequence[StreetBoards]) -> StreetBuckets:
    """Every hand its own bucket, on all streets but the first."""
    return [None, *((own_buckets(street, 0), own_buckets(street, 1)) for street in streets[1:])]


def random_buckets(street: StreetBoards, player: int, rng: np.random.Generator) -> HandBuckets:
    """Hands in three buckets at random, with random shares."""
    hands = [len(one.first) for one in street.hands[player]]
    return hand_buckets(
        street,
        player,
        [rng.integers(0, 3, count) for count in hands],
        [rng.random(count) for count in hands],
    )


def at_random(streets: Sequence[StreetBoards]) -> StreetBuckets:
    """Buckets on the last street, of any hands together."""
    rng = np.random.default_rng(1)
    last = random_buckets(streets[-1], 0, rng), random_buckets(streets[-1], 1, rng)
    return [*[None] * (len(streets) - 1), last]


def train(game: ExactSubgame, spot: Spot, iterations: int) -> None:
    game.iterate(reach_of(spot, game), SCHEDULE.run(1, iterations))


def exploitability(spot: Spot, game: ExactSubgame) -> float:
    """Mean of both best responses' gains, of the pot."""
    reach = reach_of(spot, game)
    gains = (reach[p] @ game.best_response(p, reach[p.opponent]) for p in Player)
    return float(sum(gains)) / spot.pairs / 2 / spot.pot


def decisions(game: ExactSubgame) -> list[tuple[int, int, int]]:
    """(level, board, node) of every decision on every board."""
    tree = game.tree
    return [
        (level, board, int(node))
        for level, street in enumerate(game.levels)
        for board in range(len(game.streets[level].runouts))
        for node in np.flatnonzero((tree.kind == NodeKind.DECISION) & (tree.street == street))
    ]


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_row_for_each_hand_is_the_game_without_rows(precision: str) -> None:
    plain, shared = (exact_game(TURN, sharing, precision) for sharing in (None, by_hand))
    for game in (plain, shared):
        train(game, TURN, 40)
    for where in decisions(plain):
        assert np.array_equal(average_strategy(shared, *where), average_strategy(plain, *where))
    assert shared.memory_bytes == plain.memory_bytes
    assert shared.regret_sums() == plain.regret_sums()
    reach = reach_of(TURN, plain)
    for player in Player:
        for run in ("best_response", "evaluate"):
            ours, theirs = (getattr(one, run)(player, reach[1 - player]) for one in (shared, plain))
            assert np.array_equal(ours, theirs)


def test_strategies_of_buckets_are_evaluated_like_the_same_strategies_of_every_hand() -> None:
    shared = exact_game(TURN, at_random)
    train(shared, TURN, 30)
    for learns in (True, False):
        plain = exact_game(TURN, learns=learns)
        for level, board, node in decisions(plain):
            given = average_strategy(shared, level, board, node)
            set_average_strategy(plain, level, board, node, given)
            assert average_strategy(plain, level, board, node) == pytest.approx(given, abs=1e-6)
        reach = reach_of(TURN, plain)
        for player in Player:
            other = reach[player.opponent]
            for run in ("best_response", "evaluate"):
                np.testing.assert_allclose(
                    getattr(shared, run)(player, other),
                    getattr(plain, run)(player, other),
                    atol=1e-5 * TURN.pot * other.sum(),
                )
    assert not any(array.size for pair in plain.regrets for array in pair)
    assert shared.memory_bytes < 1.5 * plain.memory_bytes


# Ranges that tell all suits apart, so that every card is dealt.
SMALL = Spot(
    board="AhTd6s3c",
    oop="AsKs,9h8h,TcTs:0.5,5d4d,QhJh",
    ip="AdQd,KdJd,6c6h,8s7s:0.75,AcKc",
    pot=60,
    stack=90,
    bets="75%",
    raises="a",
)


@pytest.mark.parametrize(("algorithm", "tremble"), [("tuned", 0.0), ("ahead", 0.0), ("ahead", 0.1)])
def test_iterations_agree_with_loops(algorithm: str, tremble: float) -> None:
    schedule = parse_schedule(algorithm)
    game = exact_game(SMALL, at_random)
    game.tremble = tremble
    assert len(game.streets[1].runouts) == 48
    known: dict[tuple[int, tuple[int, ...], int], tuple[int, float]] = {}
    shared = game.buckets[1]
    assert shared is not None
    for number, board in enumerate(game.streets[1].boards):
        for player in Player:
            hands, lists = game.streets[1].hands[player][number], game.streets[1].lists[player]
            rows, shares = shared[player].of_board(lists, number)
            for combo, place, share in zip(hands.first, rows, shares, strict=True):
                known[player, board, int(combo)] = int(place), float(share)

    def row(player: int, board: tuple[int, ...], combo: int) -> tuple[int, float]:
        return known.get((player, board, combo), (combo, 1.0))  # on the turn each for itself

    ranges = [
        {int(c): float(one.weights[c]) for c in np.flatnonzero(one.weights)} for one in SMALL.ranges
    ]
    spot = SMALL.tree, SMALL.payoffs, SMALL.cards, tuple(ranges), schedule, tremble
    twin = SharedSpot(*spot, row=row)
    reach = reach_of(SMALL, game)

    def compare(player: Player, ours: np.ndarray, slow: dict[int, float]) -> None:
        expected = [slow[int(combo)] for combo in game.streets[0].combos(player, 0)]
        scale = SMALL.pot * reach[player.opponent].sum()
        np.testing.assert_allclose(ours / scale, np.array(expected) / scale, atol=1e-5)

    for iteration in (1, 2, 3):
        for player in Player:
            other = reach[player.opponent]
            ours = game.step(player, reach[player], other, schedule.at(iteration))
            compare(player, ours, twin.step(player, iteration))
    for player in Player:
        other = reach[player.opponent]
        compare(player, game.best_response(player, other), twin.best_response(player))
        compare(player, game.evaluate(player, other), twin.evaluate(player))


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_shared_strategies_are_solved_for_and_taken_up_again(precision: str) -> None:
    game, again = (exact_game(TURN, suit_street_buckets, precision) for _ in range(2))
    plain = exact_game(TURN, None, precision)
    for one in (game, plain):
        train(one, TURN, 20)
    before = exploitability(TURN, game)
    again.restore({name: array.copy() for name, array in game.state().items()})
    for one in (game, again, plain):
        one.iterate(reach_of(TURN, one), SCHEDULE.run(21, 180))
    for name, array in game.state().items():
        assert np.array_equal(array, again.state()[name]), name
    assert exploitability(TURN, game) < min(0.2 * before, 0.01)
    # What the figures are about is counted by row.
    total, largest, entries = game.regret_sums()
    assert 0 < largest < total
    assert entries < plain.regret_sums()[2]
    assert game.memory_bytes < plain.memory_bytes


def test_a_view_of_a_shared_street_shows_every_combo() -> None:
    game = exact_game(TURN, at_random)
    train(game, TURN, 10)
    plain = exact_game(TURN)
    for where in decisions(plain):
        set_average_strategy(plain, *where, average_strategy(game, *where))
    cards = (make_card(3, 1),)
    views = [StreetView(one, reach_of(TURN, one), cards) for one in (game, plain)]
    for node in TURN.tree.decisions(Street.RIVER)[:6]:
        ours, theirs = (view.node(node) for view in views)
        np.testing.assert_allclose(ours.strategy, theirs.strategy, atol=1e-6)
        for player in Player:
            np.testing.assert_allclose(ours.reach[player], theirs.reach[player], atol=1e-5)
            np.testing.assert_allclose(ours.values[player], theirs.values[player], atol=1e-3)


def test_what_does_not_fit_is_refused() -> None:
    game = exact_game(TURN, by_hand)
    node = TURN.tree.decisions(Street.RIVER)[0]
    with pytest.raises(InputError, match="hands share strategies on the river"):
        lock_strategy(game, 1, 0, node, np.ones((2, 1326)) / 2, np.ones(1326, bool))
    with pytest.raises(ValueError, match="not those of the street"):
        exact_game(SMALL, [None, game.buckets[1]])
