"""Addresses of GTO Wizard lead where the lines lead that they stand for."""

from functools import cache
from pathlib import Path
from urllib.parse import quote

import pytest
from builders.small_games import LIMPED, small_config
from builders.small_spots import TURN, spot
from builders.whole_solution import FLOP, combo_result, result, save_classes, solver_of
from hypothesis import given
from hypothesis import strategies as st

from allstreets import LockRequest, board_report, range_at
from allstreets.base import InputError
from allstreets.jobs.spot import SpotJob, plan_flop
from allstreets.solutions import Solution, SpotSolution, WholeSolution, solve


@cache
def spot_result() -> SpotSolution:
    return solve(spot(TURN), max_iterations=2, threads=1)


@cache
def boards_result() -> WholeSolution:
    """A whole game whose turn and river cards are named."""
    keys = {**LIMPED, "flops": ["9s7s2s"], "cards": "boards", "river_groups": 16, "turn_rows": 32}
    config = small_config(**keys)
    return WholeSolution.of(solver_of(config.game(), 1, config.card_model()))


LIMP = "preflop_actions=C-X"
SOLUTIONS = {
    "classes": result,
    "exact": combo_result,
    "boards": boards_result,
    "spot": spot_result,
}


@pytest.mark.parametrize("name", SOLUTIONS)
@given(data=st.data())
def test_every_node_has_an_address(name: str, data: st.DataObject) -> None:
    solution: Solution = SOLUTIONS[name]()
    node = solution.at()
    for _ in range(data.draw(st.integers(0, 12))):
        if not node.children:
            break
        node = data.draw(st.sampled_from(node.children))
        if node.deal is not None and node.deal.count == 0:  # no line ends there
            (node,) = node.children
    for address in (node.address, f"https://app.example.com/solutions?a=b&{node.address}#x"):
        assert solution.at(address) == node == solution.at(node.line)
    assert solution.at(quote(node.address, safe="")) == node


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("preflop_actions=", ""),
        ("preflop_actions=R2.5", "r2.5"),
        ("preflop_actions=F-F-R2.5-RAI", "r2.5 a"),
        ("preflop_actions=F", "f"),
        ("?preflop_actions=c-x&board=qs7h4d", f"c x | {FLOP}"),
        (f"board={FLOP}&preflop_actions=C-X&flop_actions=X-B2-C", f"c x | {FLOP} | x b100% c |"),
        (f"preflop_actions=C-X&board={FLOP}&flop_actions=X-R2-R8", f"c x | {FLOP} | x b100% r100%"),
        (f"{LIMP}&board={FLOP}5c&flop_actions=X-X&turn_actions=X", f"c x | {FLOP} | x x x"),
        (f"{LIMP}&board={FLOP}5c3c&flop_actions=X&history_spot=3", f"c x | {FLOP} | x"),
    ],
)  # fmt: skip
def test_addresses_by_hand(address: str, line: str) -> None:
    assert result().at(address) == result().at(line)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("a=b", "names neither a board nor actions: write preflop_actions="),
        ("preflop_actions=R2.5-Q", "preflop_actions: 'Q' is not an action: write F, X, C"),
        ("preflop_actions=C-X&board=Ks7h", "the board 'Ks7h' has 2 cards"),
        ("preflop_actions=C-X&flop_actions=X", "the flop is dealt after 'c x'"),
        ("preflop_actions=R3", "'r3' is not offered"),
    ],
)
def test_what_is_wrong_is_said(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        result().at(address)


def test_a_spot_has_its_own_board() -> None:
    found = spot_result()
    shuffled = "preflop_actions=R3-C&board=7dKs4c9h&flop_actions=X-X&turn_actions=X-B75"
    assert found.at(shuffled) == found.at("x b75%") == found.at("turn_actions=X-B75")
    with pytest.raises(InputError, match="of the board As7d4c9h, and this spot of Ks7d4c9h"):
        found.at("board=As7d4c9h&turn_actions=X")


def test_addresses_of_reports_over_all_flops() -> None:
    """The board of an address does not count where all flops are meant."""
    expected = board_report(result(), "c x | x").total
    for board in ("", f"&board={FLOP}"):
        told = board_report(result(), f"{LIMP}{board}&flop_actions=X")
        assert told.total == expected


def test_addresses_of_ranges_locks_and_flops(tmp_path: Path) -> None:
    game = save_classes(tmp_path / "game")
    beside = range_at(game, f"{LIMP}&flop_actions=X", flop=FLOP).range
    assert beside == range_at(game, f"c x | {FLOP} | x").range
    request = LockRequest.often("preflop_actions=R2.5", {"f": ">=60%"})
    (line,) = request.named_by(result().named_line).lines
    assert line == "r2.5"
    job = plan_flop(game, LIMP, "7s7h2d", {})
    assert isinstance(job, SpotJob)
    assert job.config.name == "c x | 7s7h2d"
