"""Hands that share strategies, against loops over combos and against games in which they do not."""

from collections.abc import Sequence

import numpy as np
import pytest

from allstreets.betting import NodeKind, Player
from allstreets.cfr import parse_schedule
from allstreets.solvers import Spot
from allstreets.solvers.spot.estimate import spot_root
from allstreets.subgames.exact import ExactSubgame
from allstreets.subgames.exact_cards import StreetBoards
from allstreets.subgames.exact_sharing import SharedRows, Sharing, rows_by_hand, shared_rows
from allstreets.subgames.exact_view import average_strategy, set_average_strategy

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


def exact_game(spot: Spot, sharing=None, precision: str = "float32", **settings) -> ExactSubgame:  # type: ignore[no-untyped-def]
    combos = np.flatnonzero(spot.ranges[0].weights), np.flatnonzero(spot.ranges[1].weights)
    root = spot_root(spot)
    return ExactSubgame(
        spot.tree, spot.payoffs, root, combos, 1, precision, sharing=sharing, **settings
    )


def by_hand(streets: Sequence[StreetBoards]) -> Sharing:
    """Every hand its own row, on all streets but the first."""
    return [None, *((rows_by_hand(street, 0), rows_by_hand(street, 1)) for street in streets[1:])]


def random_rows(street: StreetBoards, player: int, rng: np.random.Generator) -> SharedRows:
    """Hands in three rows at random, with random shares."""
    hands = [len(one.first) for one in street.hands[player]]
    return shared_rows(
        street,
        player,
        [rng.integers(0, 3, count) for count in hands],
        [rng.random(count) for count in hands],
    )


def at_random(streets: Sequence[StreetBoards]) -> Sharing:
    """Rows on the last street, of any hands together."""
    rng = np.random.default_rng(1)
    last = random_rows(streets[-1], 0, rng), random_rows(streets[-1], 1, rng)
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


@pytest.mark.parametrize("precision", ["float32", "int16"])
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


def test_shared_strategies_are_judged_like_the_same_strategies_of_every_hand() -> None:
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
