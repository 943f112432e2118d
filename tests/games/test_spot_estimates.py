"""The memory of a spot is known before anything is allocated."""

from typing import Any

import pytest
from builders.small_spots import FLOP, RIVER, TURN, spot

from allstreets.base import InputError
from allstreets.betting import Street
from allstreets.games import Lock, Spot, estimate_spot, usual_iterations
from allstreets.games.estimates import require_memory
from allstreets.games.spot import spot_root
from allstreets.solvers import SpotSolver


@pytest.mark.parametrize("keys", [RIVER, TURN, FLOP])
@pytest.mark.parametrize("precision", ["float32", "float16", "int16"])
def test_memory_is_exact(keys: dict[str, Any], precision: str) -> None:
    solver = SpotSolver(spot(keys), precision=precision)
    found = estimate_spot(solver.spot, precision)
    assert found.memory_bytes == solver.memory_bytes
    assert list(found.boards.values()) == [len(s.runouts) for s in solver.subgame.streets]
    assert found.nodes == sum(solver.spot.tree.decision_counts().values())


def test_suits_that_locks_or_ranges_tell_apart_are_not_folded() -> None:
    plain = spot(FLOP)
    clubs = {"line": "x x | 2c | ", "strategy": {"check": 1}}
    hearts = {"line": "x x | 2h | ", "strategy": {"check": 0.5, "b75%": 0.5}}
    by_card, by_suit, alone = (
        Spot.from_mapping({**FLOP, "lock": locks})
        for locks in ([clubs], [clubs, hearts], [{**clubs, "alike": False}])
    )
    for each in (plain, by_card, by_suit, alone, spot(FLOP, oop_range="QQ+,AsKs")):
        solver = SpotSolver(each)
        root = solver.subgame.streets[0].runouts[0]
        assert spot_root(each).representatives == root.representatives
        assert estimate_spot(each).memory_bytes == solver.memory_bytes
    # A lock on one card holds on the cards like it; locks that differ tell these apart.
    folded, copied, *apart = (
        estimate_spot(each).boards[Street.TURN] for each in (plain, by_card, by_suit, alone)
    )
    assert folded == copied < 49
    assert apart == [49, 49]
    assert isinstance(by_card.lock[0], Lock)


@pytest.mark.parametrize(("keys", "error"), [(RIVER, 0), (TURN, 0), (FLOP, 0.1)])
def test_rows_that_hands_share_are_counted(keys: dict[str, Any], error: float) -> None:
    wide = spot(keys, oop_range="22+,A2+,K2+,Q2s+", ip_range="22+,A2+,KT+,54s")
    solver = SpotSolver(wide, precision="int16", river_groups="suits")
    need = estimate_spot(wide, "int16", river_groups="suits")
    assert need.memory_bytes == pytest.approx(solver.memory_bytes, rel=error)
    plain = estimate_spot(wide, "int16")
    assert need.memory_bytes < 0.7 * plain.memory_bytes
    assert need.seconds_per_iteration == plain.seconds_per_iteration  # values stay by hand


def test_float16_takes_half() -> None:
    assert (
        estimate_spot(spot(TURN)).memory_bytes
        == 2 * estimate_spot(spot(TURN), "float16").memory_bytes
    )


def test_all_in_already_takes_nothing() -> None:
    found = estimate_spot(spot(TURN, stack=0))
    assert (found.nodes, found.memory_bytes) == (0, 0)


def test_what_does_not_fit_is_refused_with_what_would() -> None:
    wide = spot(FLOP, oop_range="22+,A2+,K2+,Q2+", ip_range="22+,A2+,K2+,Q2+", stack=1000)
    need, half = estimate_spot(wide), estimate_spot(wide, "float16")
    require_memory(wide, "float32", need, need.process_bytes)
    require_memory(wide, "float32", need, None)
    with pytest.raises(InputError, match="With precision float16 it needs"):
        require_memory(wide, "float32", need, half.process_bytes)
    grouped = estimate_spot(wide, "float16", river_groups="suits").process_bytes
    with pytest.raises(InputError, match="With precision float16 and river_groups suits it needs"):
        require_memory(wide, "float32", need, grouped)
    with pytest.raises(InputError, match=r"fewer bet and raise sizes.*times fewer actions"):
        require_memory(wide, "float32", need, grouped // 2)


def test_unknown_precisions() -> None:
    with pytest.raises(InputError, match="use float32 or float16 or int16"):
        estimate_spot(spot(RIVER), "double")
    with pytest.raises(
        InputError, match="river_groups: 'strength' is not known: use none or suits"
    ):
        SpotSolver(spot(RIVER), river_groups="strength")  # type: ignore[arg-type]


def test_time_grows_with_the_spot() -> None:
    small, large = estimate_spot(spot(RIVER)), estimate_spot(spot(FLOP))
    assert 0 < small.seconds_per_iteration < large.seconds_per_iteration
    assert small.seconds_to(10) < large.seconds_to(10)
    assert estimate_spot(spot(FLOP), threads=2).seconds_per_iteration == pytest.approx(
        large.seconds_per_iteration / 2
    )


def test_the_iterations_to_a_target() -> None:
    """Within a factor of two of what was measured (docs/any-flop.md); closer takes more."""
    for target, measured in ((0.977, 45), (0.876, 45), (0.18, 108)):
        assert measured / 2 < usual_iterations(target) < 2 * measured
    counts = [usual_iterations(target) for target in (50.0, 5.0, 1.0, 0.3, 0.1, 0.01)]
    assert counts == sorted(counts)
    assert counts[0] == 10
