"""Set-ups of postflop-solver's tests with the numbers that these expect.

Only facts are taken over: boards, ranges, sizes and results. EVs are shares of the pot, equities
lie between 0 and 1. "Even" play takes all actions alike, as a solver does that was not trained.
"""

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allstreets.base import InputError
from allstreets.betting import Player, parse_sizes
from allstreets.cards import Range, equity, live_combos, parse_board
from allstreets.games import Lock, Spot
from allstreets.solutions import SpotSolution, solve
from allstreets.solvers import SpotSolver
from allstreets.storage import load, save_spot

DATA = Path(__file__).parents[1] / "data"
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


@pytest.mark.parametrize("precision", ["float16", "int16"])
@pytest.mark.parametrize(
    ("line", "evs"), [("", (37.5, 22.5)), ("x x | Qc | x x | 7s |", (37.5, 22.5))]
)
def test_even_play_in_half_the_memory(precision: str, line: str, evs: tuple[float, float]) -> None:
    game = spot("Td9d6h", "random", "random", bet=True)
    told, shown = shares(SpotSolution.of(SpotSolver(game, precision=precision)), line)
    assert told == pytest.approx(evs, abs=1e-2)
    assert shown == pytest.approx((0.5, 0.5), abs=1e-4)


@pytest.mark.parametrize("saved", ["full", "turn", "flop"])
def test_even_play_that_was_stored(saved: Any, tmp_path: Path) -> None:
    sizes = {
        f"{street}_{seat}": {"bet": ["50%"] if bets and seat == "oop" else [], "raise": []}
        for street, bets in (("flop", True), ("turn", True), ("river", False))
        for seat in ("oop", "ip")
    }
    game = Spot("Td9d6h", "random", "random", 60, 970, bet_sizes=sizes)
    save_spot(SpotSolver(game), tmp_path / saved, saved)
    told, _ = shares(load(tmp_path / saved, SpotSolution), "")
    assert told == pytest.approx((45, 15), abs=1e-3)


def test_lines_that_are_removed_on_one_card() -> None:
    """A tree has the same bets on every card here: what is not played there is a lock."""
    sizes = {
        f"{street}_{seat}": {"bet": ["50%"] if seat == "oop" else [], "raise": []}
        for street in ("flop", "turn", "river")
        for seat in ("oop", "ip")
    }
    sizes["flop_oop"] = {"bet": [], "raise": []}
    locks = (
        Lock("x x | 2h |", {"b30": 1.0}),
        Lock("x x | 2h | b30 c | 2s |", {"x": 1.0}),
    )
    game = Spot("2c6dTh", "TT+,AKo,AQs+", "AA", 60, 970, bet_sizes=sizes, lock=locks)
    solution = solve(game, target=0.01)
    assert solution.exploitability <= 0.01

    def taken(line: str) -> dict[str, float]:
        return solution.at(line).decision.frequencies()

    assert taken("x x | 2h |") == pytest.approx({"x": 0, "b30": 1})
    assert taken("x x | 2h | b30 c | 2s |") == pytest.approx({"x": 1, "b60": 0})
    for free in ("x x | 3h |", "x x | 2s |", "x x | 2h | b30 c | 3s |"):
        assert set(taken(free)) in ({"x", "b30"}, {"x", "b60"})
        assert not solution.at(free).decision.locked.any()


RUNOUTS = ("2s 3s", "2s 3h", "2s Kd", "Ac 3h", "Ac 9c", "7d 7c", "7d Ts", "Kh 3h", "8h 8c")


@pytest.mark.parametrize("runout", RUNOUTS)
def test_suits_that_are_alike(runout: str) -> None:
    """On a board of one suit: what is worked out once for three suits is right for each."""
    solution = alike()
    turn, river = runout.split()
    shown = solution.at(f"x x | {turn} | x x | {river} |").ranges
    board = parse_board(f"QhJh2h{turn}{river}")
    for player in Player:
        hands, other = shown.hands[player], shown.hands[player.opponent]
        assert hands.combos is not None
        assert other.combos is not None
        ours, theirs = (
            np.where(live_combos(board), solution.spot.ranges[each].weights, 0)
            for each in (player, player.opponent)
        )
        slow = equity(Range(ours), Range(theirs), board).by_combo[0][hands.combos]
        live = hands.weights > 0
        evs = shown.evs(player)[live]
        assert evs == pytest.approx(100 * slow[live], abs=1e-3)
        assert (np.abs(evs - 50) > 1e-4).any()


@cache
def alike() -> SpotSolution:
    streets = ("flop", "turn", "river")
    sizes = {f"{street}_{seat}": NO_BETS for street in streets for seat in ("oop", "ip")}
    return untrained(Spot("QhJh2h", PRESET_OOP, PRESET_IP, 100, 100, bet_sizes=sizes))


LOCKED_RUNOUTS = {
    *(("2s", "3h", "AhKh"), ("2s", "3d", "AdKd"), ("2h", "3s", "AsKs")),
    *(("2h", "3d", "AdKd"), ("2d", "3s", "AsKs"), ("2d", "3h", "AhKh")),
}


def test_a_lock_on_runouts_that_are_alike() -> None:
    """It appears on all six of them with the suits swapped, and nowhere else."""
    streets = ("flop", "turn", "river")
    sizes = {f"{street}_{seat}": NO_BETS for street in streets for seat in ("oop", "ip")}
    sizes["river_oop"] = {"bet": ["a"], "raise": []}
    lock = Lock("x x | 2s | x x | 3h |", hands={"AhKh": {"x": 1.0}})
    solution = untrained(Spot("2c3c4c", "AKs", "AKs", 100, 100, bet_sizes=sizes, lock=(lock,)))
    for turn, river in product("shd", "shd"):
        if turn == river:
            play = solution.at(f"x x | 2{turn} | x x | 3{river} |").decision
            assert play.strategy == pytest.approx(0.5)
            continue
        play = solution.at(f"x x | 2{turn} | x x | 3{river} |").decision
        for suit in "shdc":
            hand = f"A{suit}K{suit}"
            held = (f"2{turn}", f"3{river}", hand) in LOCKED_RUNOUTS
            often = {"x": 1.0, "a": 0.0} if held else {"x": 0.5, "a": 0.5}
            assert play.hand(hand).frequencies == pytest.approx(often), (turn, river, hand)


def test_what_a_lock_says_itself_overrides_its_copy() -> None:
    streets = ("flop", "turn", "river")
    sizes = {f"{street}_{seat}": NO_BETS for street in streets for seat in ("oop", "ip")}
    sizes["turn_oop"] = {"bet": ["a"], "raise": []}
    locks = (Lock("x x | 2s |", {"x": 1.0}), Lock("x x | 2h |", {"a": 1.0}))
    solution = untrained(Spot("2c3c4c", "AKs", "AKs", 100, 100, bet_sizes=sizes, lock=locks))
    often = {
        card: solution.at(f"x x | {card} |").decision.taken.tolist() for card in ("2s", "2h", "2d")
    }
    assert often == {"2s": [1.0, 0.0], "2h": [0.0, 1.0], "2d": [1.0, 0.0]}


def test_the_basic_example() -> None:
    sizes: dict[str, Any] = {
        f"{street}_{seat}": {"bet": ["60%", "e", "a"], "raise": ["2.5x"]}
        for street in ("turn", "river")
        for seat in ("oop", "ip")
    }
    sizes["river_oop"]["donk"] = ["50%"]
    oop = "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s"
    ip = "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+"
    thresholds: dict[str, Any] = {
        "add_allin_threshold": 1.5,
        "force_allin_threshold": 0.15,
        "merging_threshold": 0.1,
    }
    solution = solve(
        Spot("Td9d6hQc", oop, ip, 200, 900, bet_sizes=sizes, **thresholds), target=0.005
    )
    assert solution.at().decision.actions == ("x", "b120", "b216", "a")
    play = solution.at("b120").decision
    assert play.actions == ("f", "c", "r300")
    assert len(play.own.reach) == 250
    assert play.hand("KsJs").frequencies["f"] == pytest.approx(0, abs=1e-4)
    assert "7s" in [child.action for child in solution.at("b120 c").children]


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


@pytest.mark.parametrize("size", ["0%", "0c", "0c1r", "100C100R", "100e.5%"])
def test_bet_sizes_that_are_not_taken_over(size: str) -> None:
    """Bets of nothing, caps on raises within a size, and more streets than there are."""
    with pytest.raises(InputError):
        parse_sizes([size], raises=True, what="sizes")


def test_bet_sizes_that_only_this_program_reads() -> None:
    sizes = parse_sizes(["1.23", "12.3c", ""], raises=True, what="sizes")
    assert [str(size) for size in sizes] == ["123%", "12.3c"]


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


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("AA,KK", "KK+"),
        ("66-22,TT+", "TT+,66-22"),
        ("AK,AQ,AJs", "AQ+,AJs"),  # there: AJs+,AQo+
        ("KcQh,KJ", "KJ,KcQh"),
    ],
)
def test_ranges_as_they_are_written(text: str, canonical: str) -> None:
    assert str(Range.parse(text)) == canonical
    assert Range.parse("AJs+,AQo+") == Range.parse("AK,AQ,AJs")


@pytest.mark.parametrize(
    ("text", "meant"), [("89", "98"), ("AQo-AQo", "AQo"), ("K2-K5", "K5-K2"), ("AK,,", "AK")]
)
def test_ranges_that_only_this_program_reads(text: str, meant: str) -> None:
    assert Range.parse(text) == Range.parse(meant)


def test_a_range_without_hands_is_refused() -> None:
    """There it is a range of nothing."""
    with pytest.raises(InputError, match="the range is empty"):
        Range.parse("")


def test_a_river_of_gto_wizard() -> None:
    """What its page showed; where two sizes are worth the same, programs mix them differently."""
    told = json.loads((DATA / "gto_wizard_river.json").read_text())
    sizes = {
        f"river_{seat}": {"bet": told["bets"], "raise": told["raises"]} for seat in ("oop", "ip")
    }
    game = Spot(
        told["board"],
        told["oop"],
        told["ip"],
        told["pot"],
        told["stack"],
        rake=told["rake"],
        rake_cap=told["rake_cap"],
        bet_sizes=sizes,
        max_raises=3,
    )
    combos = [held.combos for held in (Range.parse(told["oop"]), Range.parse(told["ip"]))]
    assert combos == pytest.approx(told["combos"], abs=0.05)
    solution = solve(game, target=0.0005)
    assert solution.exploitability <= 0.0005
    assert np.array(solution.evs) / 100 == pytest.approx(told["evs_bb"], abs=0.01)
    play = solution.at().decision
    assert play.mean(play.equity()) == pytest.approx(told["equity"], abs=1e-4)
    for line, expected in told["frequencies"].items():
        often = solution.at(line).decision.frequencies()
        assert {word: often[word] for word in expected} == pytest.approx(expected, abs=0.04)
