"""Set-ups of postflop-solver's tests with the numbers that these expect.

Only facts are taken over: boards, ranges, sizes and results. EVs are shares of the pot, equities
lie between 0 and 1. "Even" play takes all actions alike, as a solver does that was not trained.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.betting import Player, parse_sizes
from allstreets.cards import Range, equity
from allstreets.games import Lock, Spot
from allstreets.solutions import SpotSolution, solve
from allstreets.solvers import SpotSolver

NO_BETS: dict[str, Any] = {"bet": [], "raise": []}
WINNER = "AA"
LOSER = "KK-22,K9-K2,Q8-Q2,J8-J2,T8-T2,92+,82+,72+,62+"
RAKED = {"rake": 0.05, "rake_cap": 10}


def spot(board: str, oop: str, ip: str, *, bet: bool = False, **more: Any) -> Spot:
    """Pot 60, stack 970; no bets, or OOP bets half the pot on the river."""
    streets = ("flop", "turn", "river")[len(board) // 2 - 3 :]
    sizes = {f"{street}_{seat}": NO_BETS for street in streets for seat in ("oop", "ip")}
    if bet:
        sizes["river_oop"] = {"bet": ["50%"], "raise": []}
    return Spot(board, oop, ip, 60, 970, bet_sizes=sizes, **more)


def untrained(game: Spot) -> SpotSolution:
    return SpotSolution.of(SpotSolver(game))


def shares(solution: SpotSolution, line: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """EVs and equities of both ranges."""
    shown = solution.at(line).ranges
    means = tuple(shown.mean(shown.equity(player), player) for player in Player)
    return tuple(shown.mean(shown.evaluate().hands[player], player) for player in Player), means


@pytest.mark.parametrize(
    ("board", "line", "evs"),
    [
        ("Td9d6h", "", (37.5, 22.5)),
        ("Td9d6h", "x", (37.5, 22.5)),
        ("Td9d6h", "x x | Qc |", (37.5, 22.5)),
        ("Td9d6h", "x x | Qc | x x | 7s |", (37.5, 22.5)),
        ("Td9d6h", "x x | Qc | x x | 7s | b30", (75, 15)),
        ("Td9d6h", "x x | Qc | x x | 7s | b30 c", (60, 60)),
        ("Td9d6hQc", "", (37.5, 22.5)),
        ("Td9d6hQc7s", "", (37.5, 22.5)),
        ("Td9d6hQc7s", "x", (30, 30)),
        ("Td9d6hQc7s", "b30", (75, 15)),
        ("Td9d6hQc7s", "b30 f", (90, 0)),
    ],
)
def test_even_play_of_all_hands_with_a_bet_on_the_river(
    board: str, line: str, evs: tuple[float, float]
) -> None:
    told, shown = shares(even(board), line)
    assert told == pytest.approx(evs, abs=1e-3)
    if not line.endswith("f"):
        assert shown == pytest.approx((0.5, 0.5), abs=1e-5)


@cache
def even(board: str) -> SpotSolution:
    """All hands against all hands, not trained."""
    return untrained(spot(board, "random", "random", bet=True))


@pytest.mark.parametrize("line", ["", "x", "x x | Qc |", "x x | Qc | x x | 7s | x"])
def test_checks_of_all_hands(line: str) -> None:
    told, shown = shares(untrained(spot("Td9d6h", "random", "random")), line)
    assert told == pytest.approx((30, 30), abs=1e-4)
    assert shown == pytest.approx((0.5, 0.5), abs=1e-5)


@pytest.mark.parametrize(
    ("board", "oop", "ip", "rules", "evs", "equities"),
    [
        ("AcAdKh", WINNER, LOSER, {}, (60, 0), (1, 0)),
        ("AcAdKh", WINNER, LOSER, RAKED, (57, 0), (1, 0)),
        ("AcAdKh", LOSER, WINNER, {}, (0, 60), (0, 1)),
        ("AcAdKh", LOSER, WINNER, RAKED, (0, 57), (0, 1)),
        ("2c6dTh", WINNER, WINNER, {}, (30, 30), (0.5, 0.5)),
        ("2c6dTh", WINNER, WINNER, RAKED, (28.5, 28.5), (0.5, 0.5)),
    ],
)
def test_hands_that_always_win_lose_or_tie(
    board: str,
    oop: str,
    ip: str,
    rules: dict[str, Any],
    evs: tuple[float, float],
    equities: tuple[float, float],
) -> None:
    solution = untrained(spot(board, oop, ip, **rules))
    for line in ("", "x", "x x | 3s | x x | 4h |", "x x | 3s | x x | 4h | x x"):
        told, shown = shares(solution, line)
        assert told == pytest.approx(evs, abs=1e-4)
        assert shown == pytest.approx(equities, abs=1e-5)


def test_no_pair_of_hands_is_possible() -> None:
    with pytest.raises(InputError, match="block each other"):
        spot("Td9d6h", "TT", "TT")


# PioSOLVER's preset, as postflop-solver's tests have it; both name EVs within 0.2.
PRESET_OOP = (
    "88+,A8s+,A5s-A2s:0.5,AJo+,ATo:0.75,K9s+,KQo,KJo:0.75,KTo:0.25,Q9s+,QJo:0.5,J8s+,JTo:0.25,T8s+,"
    "T7s:0.45,97s+,96s:0.45,87s,86s:0.75,85s:0.45,75s+:0.75,74s:0.45,65s:0.75,64s:0.5,63s:0.45,"
    "54s:0.75,53s:0.5,52s:0.45,43s:0.5,42s:0.45,32s:0.45"
)
PRESET_IP = (
    "AA:0.25,99-22,AJs-A2s,AQo-A8o,K2s+,K9o+,Q2s+,Q9o+,J6s+,J9o+,T6s+,T9o,96s+,95s:0.5,98o,86s+,"
    "85s:0.5,75s+,74s:0.5,64s+,63s:0.5,54s,53s:0.5,43s"
)


def preset(**rules: Any) -> Spot:
    sizes = {
        f"{street}_{seat}": {"bet": [bet], "raise": ["45%"]}
        for street, bet in (("flop", "52%"), ("turn", "55%"), ("river", "70%"))
        for seat in ("oop", "ip")
    }
    return Spot("QsJh2h", PRESET_OOP, PRESET_IP, 180, 910, bet_sizes=sizes, **rules)


def test_the_equity_of_the_preset() -> None:
    first, second = preset().ranges
    assert equity(first, second, "QsJh2h").first == pytest.approx(0.55347, abs=1e-5)


@pytest.mark.long
@pytest.mark.parametrize(
    ("rules", "evs"),
    [({}, (105.11, 74.89)), ({"rake": 0.05, "rake_cap": 30}, (95.57, 66.98))],
)
def test_the_evs_of_the_preset(rules: dict[str, Any], evs: tuple[float, float]) -> None:
    solution = solve(preset(**rules), target=0.001)
    assert solution.exploitability <= 0.001
    assert solution.evs == pytest.approx(evs, abs=0.2)


ALL_IN: dict[str, Any] = {"bets": ("a",), "raises": ("a",)}
LOCKED = "2s3h4d6c7c"


def hand(solution: SpotSolution, player: Player, combo: str) -> float:
    shown = solution.at().ranges
    held = np.flatnonzero(Range.parse(combo).weights)[0]
    combos = shown.hands[player].combos
    assert combos is not None
    return float(shown.evs(player)[combos == held][0])


@pytest.mark.parametrize(
    ("fold", "evs", "bets"),
    [
        (0.25, {"QsQh": 0, "AsAh": 27.5, "KsKh": 6.25}, {"QsQh": 0, "AsAh": 1}),
        (0.5, {"QsQh": 5, "AsAh": 25, "KsKh": 5}, {"QsQh": 1, "AsAh": 1}),
    ],
)
def test_a_locked_call(fold: float, evs: dict[str, float], bets: dict[str, float]) -> None:
    lock = Lock("a", {"fold": fold, "call": 1 - fold})
    solution = solve(Spot(LOCKED, "AsAh,QsQh", "KsKh", 20, 10, lock=(lock,), **ALL_IN), target=1e-5)
    for combo, ev in evs.items():
        player = Player.IP if combo == "KsKh" else Player.OOP
        assert hand(solution, player, combo) == pytest.approx(ev, abs=0.05)
    for combo, often in bets.items():
        frequencies = solution.at().decision.hand(combo).frequencies
        assert frequencies["a"] == pytest.approx(often, abs=1e-2)


def test_a_lock_of_one_hand() -> None:
    lock = Lock("", hands={"JsJh": {"check": 0.8, "allin": 0.2}})
    solution = solve(
        Spot(LOCKED, "AsAh,QsQh,JsJh", "KsKh", 10, 10, lock=(lock,), **ALL_IN), target=1e-5
    )
    for combo, ev in {"JsJh": 0, "QsQh": 0, "AsAh": 15}.items():
        assert hand(solution, Player.OOP, combo) == pytest.approx(ev, abs=0.05)
    assert hand(solution, Player.IP, "KsKh") == pytest.approx(5, abs=0.05)
    play = solution.at().decision
    assert play.hand("QsQh").frequencies["a"] == pytest.approx(0.3, abs=1e-2)
    assert play.hand("AsAh").frequencies["a"] == pytest.approx(1, abs=1e-2)
    assert play.hand("JsJh").frequencies["a"] == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize(
    "size", ["75%", "112.5%", "1.001x", "3.5X", "123C", "e", "E", "2e", "E37.5%", "a", "A"]
)
def test_bet_sizes_that_both_accept(size: str) -> None:
    assert parse_sizes([size], raises=True, what="sizes")


REFUSED = "0 % +42% -30% x 0x 1x c 10c10 42cr c3r 0c0r 123c101r 1c2r3 12c3.4r 0e 2.7e 101e 3e7"


@pytest.mark.parametrize("size", [*REFUSED.split(), *["E%", "1e2e3", "bet", "1a", "a1"]])
def test_bet_sizes_that_both_refuse(size: str) -> None:
    with pytest.raises(InputError):
        parse_sizes([size], raises=True, what="sizes")


def test_a_bet_has_no_last_bet() -> None:
    with pytest.raises(InputError):
        parse_sizes(["2.5x"], raises=False, what="sizes")


@pytest.mark.parametrize(
    ("text", "hands"),
    [
        ("88+", "AA,KK,QQ,JJ,TT,99,88"),
        ("8s8h+", "AsAh,KsKh,QsQh,JsJh,TsTh,9s9h,8s8h"),
        ("98s+", "AKs,KQs,QJs,JTs,T9s,98s"),
        ("A8o+", "A8o,A9o,ATo,AJo,AQo,AKo"),
        ("88-55", "88,77,66,55"),
        ("98s-65s", "98s,87s,76s,65s"),
        ("AQo-86o", "AQo,KJo,QTo,J9o,T8o,97o,86o"),
        ("K5-K2", "K5,K4,K3,K2"),
        ("AhAs-QhQs,JJ", "AhAs,KhKs,QhQs,JJ"),
        ("AsJh-As9h:0.5", "AsJh:0.5,AsTh:0.5,As9h:0.5"),
        ("9h8s+", "9h8s,Th9s,JhTs,QhJs,KhQs,AhKs"),
        ("AhTs+", "AhTs,AhJs,AhQs,AhKs"),
        ("AK,", "AKs,AKo"),
    ],
)
def test_ranges(text: str, hands: str) -> None:
    assert Range.parse(text) == Range.parse(hands)
    assert Range.parse(str(Range.parse(text))) == Range.parse(hands)


@pytest.mark.parametrize(
    "text", ["AAo", "AQo:1.1", "AQo-86s", "AQo-KQo", "AhAs-QsQh", "8s8s+", "AhAs-QQ", "AhAs-KhQs"]
)
def test_ranges_that_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        Range.parse(text)
