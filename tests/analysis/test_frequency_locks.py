"""Locks from observed frequencies."""

from dataclasses import replace

import numpy as np
import pytest
from builders.small_spots import RIVER, TURN, spot

from allstreets.analysis import change_lines, difference, lock_as_played, observed_locks, with_locks
from allstreets.base import Floats, InputError
from allstreets.betting import Player
from allstreets.cards import COMBO_COUNT, Range
from allstreets.games import Lock, Spot, read_bounds, smallest_change, spot_mapping, spot_root
from allstreets.solutions import SpotSolution, played_lock, solve


def bounds_of(*rows: str) -> str:
    return "\n".join(["node,action,frequency", *rows])


@pytest.fixture(scope="module")
def turn() -> SpotSolution:
    return solve(spot(TURN), max_iterations=20, target=0, threads=1)


def test_a_range_takes_an_action_as_often_as_observed(turn: SpotSolution) -> None:
    locks = observed_locks(turn, read_bounds(bounds_of("x,bet,<=30%"), "seen.csv"))
    node = turn.at("x").decision
    assert node.taken[1] > 0.35
    locked = with_locks(turn.spot, locks).locked_nodes[0].strategy[:, node.combos]
    assert node.mean(locked[1]) == pytest.approx(0.3, abs=1e-6)
    # Who never bets does not begin to; who loses less by it stops betting before who loses more.
    less = node.strategy[1] - locked[1]
    assert less.min() >= -1e-6
    losses = node.action_evs[1] - node.action_evs[0]
    held = node.own.weights > 0
    stay, go = held & (locked[1] > 1e-5), held & (less > 1e-5)
    assert stay.any()
    assert go.any()
    assert losses[stay & ~go].min() >= np.maximum(losses[go], 0.0).max() - 1e-9


def test_a_frequency_over_all_cards_is_met_over_all_of_them_together(turn: SpotSolution) -> None:
    rows = bounds_of("x x | * |,check,80%", "x,x,50%")
    locks = observed_locks(turn, read_bounds(rows, "seen.csv"))
    assert [lock.line for lock in locks][:2] == ["x", "x x | 2c"]
    assert len(locks) == 1 + 48
    taken, weights = 0.0, 0.0
    nodes = with_locks(turn.spot, locks).locked_nodes
    for lock, found in zip(locks[1:], nodes[1:], strict=True):
        node = turn.at(lock.line).decision
        taken += float(found.strategy[0][node.combos] @ node.own.weights)
        weights += float(node.own.weights.sum())
    # OOP's own first action is as it was: his range at the turn is that of the solution.
    assert taken / weights == pytest.approx(0.8, abs=1e-6)


def test_ranges_that_a_lock_has_changed_are_counted_below_it(turn: SpotSolution) -> None:
    """On the river after a check, OOP's range is what his locked check leaves of it."""
    rows = bounds_of(",x,40%", "x x | 2c |,x,90%")
    first, second = observed_locks(turn, read_bounds(rows, "seen.csv"))
    root, river = turn.at("").decision, turn.at("x x | 2c |").decision
    nodes = with_locks(turn.spot, (first, second)).locked_nodes
    reach = turn.spot.ranges[0].weights * nodes[0].strategy[0]
    met = river.own.weights / np.where(river.reach > 0, river.reach, 1)
    weights = np.where(river.reach > 0, reach[river.combos] * met, 0)
    share = float(nodes[1].strategy[0][river.combos] @ weights / weights.sum())
    assert share == pytest.approx(0.9, abs=1e-3)
    assert root.mean(nodes[0].strategy[0][root.combos]) == pytest.approx(0.4, abs=1e-6)


def test_locks_keep_the_suits_that_the_spot_does_not_tell_apart() -> None:
    result = solve(spot(TURN, board="Ks7d4d9d"), max_iterations=4, target=0, threads=1)
    symmetries = spot_root(result.spot).symmetries
    assert len(symmetries) == 2
    everywhere = read_bounds(bounds_of("x x | * |,x,30%"), "seen.csv")
    one = observed_locks(result, read_bounds(bounds_of("x x | 2c |,x,30%"), "seen.csv"))
    for locks in (observed_locks(result, everywhere), (lock_as_played(result, "x"),), one):
        assert spot_root(with_locks(result.spot, locks)).symmetries == symmetries
    alone = tuple(replace(lock, alike=False) for lock in one)
    assert spot_root(with_locks(result.spot, alone)).symmetries == (0,)


def test_the_difference_says_who_gains(turn: SpotSolution) -> None:
    always = with_locks(turn.spot, (Lock("", strategy={"bet": 1}),))
    after = solve(always, max_iterations=20, target=0, threads=1)
    found = difference(turn, after, ["", "x b75"])
    assert found.evs[0][1] < found.evs[0][0]
    bet = found.places[0].actions[1]
    assert bet.frequency[1] == pytest.approx(1)
    text = "\n".join(change_lines(found))
    assert "IP gains" in text
    assert "bet 75 (75 %)" in text
    assert found.mapping()["places"][1]["ev_ip_after"] is None  # a check is never made


def test_a_lock_is_replaced_by_another_at_its_line(turn: SpotSolution) -> None:
    first = with_locks(turn.spot, (Lock("x", strategy={"check": 1}), Lock("", strategy={"x": 1})))
    again = with_locks(first, (Lock("x", ranges={"x": "AA", "bet": "KK"}),))
    assert [lock.line for lock in again.lock] == ["", "x"]
    assert Spot.from_mapping(spot_mapping(again)).lock == again.lock
    weights = again.locked_nodes[1].weights
    assert weights.sum() == 6 + 3  # of which the board has a king


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["x,bet,30%", "x,check,1.3"], "seen.csv, line 3: a frequency of 1.3 is more than 1"),
        (["x,bet,0.6", "x,check,70%"], "line 3: the frequencies at 'x' add up to 1.3"),
        (["x,bet,<=10%", "x,check,<=20%"], "line 3: the frequencies at 'x' add up to 0.3"),
        (["x,bet,30%", "", "x b50,call,1"], "line 4: line 'x b50': 'b50' is not offered"),
        (["x,raise,30%"], "line 2: no action 'raise' there"),
        (["x,bet,often"], "line 2: 'often' is not a frequency"),
        (["x,bet"], "line 2: 2 cells"),
        (["x,bet,much", "x,bet,more"], "line 2: .*\n1 more line"),
        (["x,bet,0.3", "x,b75,0.4"], "line 3: 'b75' at 'x' has another frequency"),
        (["x x,check,30%"], "line 2: no player acts at 'x x'"),
        ([], "seen.csv has no frequencies"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    turn: SpotSolution, rows: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        observed_locks(turn, read_bounds(bounds_of(*rows), "seen.csv"))


def test_columns_must_be_named() -> None:
    with pytest.raises(InputError, match="line 1: no column node and action and frequency"):
        read_bounds("x,bet,30%", "seen.csv")


def test_ranges_of_a_lock_are_checked() -> None:
    for ranges, message in (
        ({"x": "AA:0.5"}, "probabilities of AdAc sum to 0.5"),
        ({"x": "72o"}, "none of these hands is in the range of OOP"),
        ({"x": "AAA"}, r"lock\[0\].ranges.x: "),
    ):
        with pytest.raises(InputError, match=message):
            _ = with_locks(spot(TURN), (Lock("", ranges=ranges),)).locked_nodes


def test_tables_of_other_programs() -> None:
    """Lines that end in a lone CR are lines; errors in a cell name its line."""
    rows = ["node,action,frequency", "x,bet,30%", "x,check,70%"]
    for end in ("\n", "\r", "\r\n"):
        assert [one.action for one in read_bounds(end.join(rows), "seen.csv")] == ["bet", "check"]
    for row in (f"x,bet,{'3' * 200_000}", f'x,"{"b" * 200_000}'):
        with pytest.raises(InputError, match=r"line 2: not a row of a table \(field larger"):
            read_bounds(f"{rows[0]}\n{row}\n", "seen.csv")
    with pytest.raises(InputError) as caught:
        read_bounds(f"{rows[0]}\nx,bet,{'y' * 100_000}\x1b\n", "seen.csv")
    assert str(caught.value) == (
        f"seen.csv, line 2: '{'y' * 199}…' is not a frequency: write 30%, 0.3, or <=30%"
    )


def equal_parts(result: SpotSolution, line: str, action: str, share: float) -> Lock:
    """A lock that takes an action at least so often, by hands that move in equal parts."""
    node = result.at(line).decision
    least = np.array([share if word == action else 0.0 for word in node.actions])
    moved = smallest_change(node.strategy, node.own.weights, least, np.ones(len(least)))
    by_combo = np.zeros((len(moved), COMBO_COUNT))
    by_combo[:, node.combos] = moved
    return played_lock(result.spot, result.path(line), by_combo)[0]


@pytest.mark.parametrize("share", [0.7, 0.8, 0.9])
@pytest.mark.parametrize(
    "ranges",
    [
        {},
        {"oop_range": "22+,A2s+,KTs+,QJs,83o"},
        {"ip_range": "66+,A5s+,KQ,J9s+", "oop_range": "44+,A8s+,K9s+,98s"},
    ],
)
def test_hands_that_lose_least_cost_no_more_than_equal_parts(
    ranges: dict[str, str], share: float
) -> None:
    """Also against a best response, where the player's other decisions stay as they are."""
    before = solve(spot(RIVER, **ranges), target=0.0005, threads=1)
    assert before.solver is not None
    text = bounds_of(f"x b50,fold,>={share}")
    (cheap,) = observed_locks(before, read_bounds(text, "seen.csv"))
    equal = equal_parts(before, "x b50", "f", share)
    node, worth = before.at("x b50").decision, []
    for lock in (cheap, equal):
        locked = with_locks(before.spot, (lock,))
        strategy = locked.locked_nodes[0].strategy[:, node.combos]
        assert node.mean(strategy[0]) == pytest.approx(share, abs=1e-5)
        worth.append(before.solver.with_locks(locked).mean(Player.IP, best=True))
    assert worth[0] <= worth[1]
    assert worth[0] >= before.solver.mean(Player.IP, best=False) - 1e-6
    if "83o" in ranges.get("oop_range", ""):
        assert played_by(before, equal, "AA")[0] > 0.1
        assert played_by(before, cheap, "AA")[0] == 0 or played_by(before, cheap, "83o")[0] == 1


def played_by(result: SpotSolution, lock: Lock, hand: str) -> Floats:
    """[A]: the mean over the combos of a hand that a lock has on."""
    strategy = with_locks(result.spot, (lock,)).locked_nodes[0].strategy
    combos = strategy[:, Range.parse(hand).weights > 0]
    played: Floats = combos[:, combos.any(axis=0)].mean(axis=1)
    return played
