"""Whole games, flops, spots and certificates that name a device are solved there, and agree."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders.host_device import HostDevice, tried_device
from builders.small_forms import river
from builders.small_games import small_config
from builders.whole_solution import trips_result, whole_game

from allstreets.analysis.certify import FlopEvaluator
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import parse_flop
from allstreets.cfr import parse_schedule
from allstreets.engines.card_model import CLASSES, EXACT, CardModel
from allstreets.engines.cuda.exact import CudaSubgame
from allstreets.engines.cuda.matrix import CudaMatrixEngine
from allstreets.engines.cuda.residence import device_room, table_bytes
from allstreets.engines.device import CPU, Device
from allstreets.explorer.solves import worker
from allstreets.explorer.solves.folders import Request, new_folder
from allstreets.explorer.solves.process import Channel, Commands, Reporter
from allstreets.explorer.solves.spots import read_form
from allstreets.games import Spot, matrix_lengths
from allstreets.games.locks import Lock
from allstreets.jobs.api import plan, run
from allstreets.jobs.config.train import read_train_config
from allstreets.solutions import WholeSolution, solve
from allstreets.solvers import EXACTLY, Completion, SpotSolver, WholeGameSolver
from allstreets.storage.spot_bundle import restore_spot

SCHEDULE = parse_schedule("ahead")
ON_TWO_FLOPS = whole_game(["Ks7h2d", "9s8s7h"], 6, "50%", ())
LOCK = Lock("c x | * | x", strategy={"b50%": 0.7, "x": 0.3})
GAMES = {
    "classes": (CLASSES, ON_TWO_FLOPS),
    "locked": (CLASSES, replace(ON_TWO_FLOPS, lock=(LOCK,))),
    "buckets": (
        CardModel("buckets", buckets=(6, 16, 20)),
        whole_game(["Ks7h2d", "9s8s7h"], 4, "100%", ()),
    ),
    "exact": (EXACT, whole_game(["7s7h7d"], 3, "100%", ())),
    "boards": (CardModel("boards", groups=16, rows=32), whole_game(["7s7h7d"], 3, "100%", ())),
}


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch, device: None) -> None:
    """Let "cuda" be the device of the test."""
    del device

    def opened(name: str) -> Device | None:
        return None if name == CPU else tried_device()

    for module in (
        "engines.spec",
        "solvers.spot",
        "games.estimates",
        "analysis.certify",
    ):
        monkeypatch.setattr(f"allstreets.{module}.open_device", opened)


def solver_of(kind: str, device: str) -> WholeGameSolver:
    model, game = GAMES[kind]
    games = game.build(game.engine(model, device=device))
    return WholeGameSolver(game, games, SCHEDULE)


@pytest.mark.parametrize(
    "kind",
    ["classes", "locked", "buckets", "exact", pytest.param("boards", marks=pytest.mark.long)],
)
def test_whole_games(kind: str) -> None:
    here, there = solver_of(kind, CPU), solver_of(kind, "cuda")
    for solver in (here, there):
        solver.train_batch({"classes": 30, "locked": 30, "buckets": 12}.get(kind, 4))
    assert here.device_use is None
    assert there.device_use is not None
    mine, other = here.figures(), there.figures()
    assert other.exploitability == pytest.approx(mine.exploitability, rel=0.05)
    assert other.values == pytest.approx(mine.values, abs=0.5)  # mbb/hand
    assert there.avg_positive_regret == pytest.approx(here.avg_positive_regret, rel=0.02)


def test_hands_that_do_not_play_a_pot_are_dropped() -> None:
    game = small_config(stack_depth=12, raise_cap=2).game()
    schedule = parse_schedule("dcfr(1.2,0.5,4)")
    here, there, again = (
        WholeGameSolver(
            game, game.build(game.engine(CLASSES, device=device)), schedule, drop_unplayed_every=10
        )
        for device in (CPU, "cuda", "cuda")
    )
    for solver in (here, there):
        solver.train_batch(45)
    assert there.saved_bytes > 0.1 * there.memory_bytes
    assert there.saved_bytes == pytest.approx(here.saved_bytes, rel=0.05)
    mine, other = here.figures(), there.figures()
    assert other.exploitability == pytest.approx(mine.exploitability, rel=0.05)
    assert other.values == pytest.approx(mine.values, abs=0.5)  # mbb/hand
    again.restore({name: array.copy() for name, array in there.state().items()})
    assert again.memory_bytes == there.memory_bytes
    assert again.exploitability() == there.exploitability()
    for solver in (there, again):
        solver.train_batch(10)  # a review among them
    assert again.exploitability() == there.exploitability()


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=() if kind == "classes" else pytest.mark.long) for kind in GAMES],
)
def test_a_whole_game_goes_on_there_and_back(kind: str) -> None:
    first, second, third = (solver_of(kind, device) for device in (CPU, "cuda", CPU))
    first.train_batch(2)
    second.restore({name: array.copy() for name, array in first.state().items()})
    assert second.exploitability() == pytest.approx(first.exploitability(), rel=1e-4)
    second.train_batch(2)
    third.restore({name: array.copy() for name, array in second.state().items()})
    assert third.iterations == 4
    assert third.exploitability() == pytest.approx(second.exploitability(), rel=1e-4)


@pytest.mark.parametrize("kind", ["classes", pytest.param("buckets", marks=pytest.mark.thorough)])
def test_a_game_larger_than_the_device_is_the_same_bit_for_bit(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(tried_device(), HostDevice):
        pytest.skip("a GPU has the memory that it has")
    model, _ = GAMES[kind]
    flops = ["Ks7h2d", "9s8s7h", "QsJh3d", "8s8h2d", "As5s2h", "6s5h4d"]
    game = whole_game(flops, 4, "100%", ())
    solvers = [WholeGameSolver(game, game.build(game.engine(model, device="cuda")), SCHEDULE)]
    stored, lengths = solvers[0].memory_bytes, matrix_lengths(model)
    least = device_room(stored, table_bytes(lengths, len(flops))) - stored // 4
    small = HostDevice(free_bytes=least)
    monkeypatch.setattr("allstreets.engines.spec.open_device", lambda _: small)
    games = game.build(game.engine(model, device="cuda"))
    assert isinstance(games, CudaMatrixEngine)
    assert 3 < games.where.streamed < 6  # a slot is used again
    solvers.append(WholeGameSolver(game, games, SCHEDULE))
    for solver in solvers:
        solver.train_batch(3)
    assert solvers[0].exploitability() == solvers[1].exploitability()
    state = solvers[0].state()
    for name, array in solvers[1].state().items():
        np.testing.assert_array_equal(array, state[name])
    small.free_bytes = least - stored
    with pytest.raises(InputError, match="streamed over PCIe this needs"):
        game.build(game.engine(model, device="cuda"))


def test_spots() -> None:
    spot = Spot("Ks8s5d2c", "AA,KQs,87s", "QQ,A5s,98s:0.7", 10, 25, bets=("100%",), raises=("a",))
    assert isinstance(SpotSolver(spot, device="cuda").subgame, CudaSubgame)
    found = solve(spot, device="cuda", threads=1)
    assert found.exploitability is not None
    assert found.exploitability <= 0.003
    root, expected = found.at("").decision, solve(spot, threads=1).at("").decision
    for mine, other in zip(root.evaluate().hands, expected.evaluate().hands, strict=True):
        np.testing.assert_allclose(mine, other, atol=0.1)


def test_spots_of_the_explorer(tmp_path: Path) -> None:
    given = Request(run=0, state="starting", created=0, form=river(device="cuda"))
    folder = new_folder(tmp_path / "solves", given)
    request = folder.request()
    assert request is not None
    with (tmp_path / "reports").open("wb") as file:
        reporter = Reporter(folder, request, Channel(file.fileno()))
        ending = worker.attempt(folder, request, Commands(), reporter)
    assert (ending.state, ending.error) == ("done", None)
    here = SpotSolver(read_form(river())[1])
    restore_spot(here, folder.solution)
    assert 100 * here.exploitability() / here.spot.pot <= river().target_pct


@pytest.mark.thorough
def test_flops_that_are_completed_exactly() -> None:
    flop = parse_flop("9s9h9d").flop
    here = FlopEvaluator(trips_result(), Completion(replace(EXACTLY, precision="float32"), 1))
    there = replace(here, device="cuda")
    mine, other = here.values(flop).best, there.values(flop).best
    for player in Player:
        np.testing.assert_allclose(mine[player], other[player], atol=1e-4 * np.abs(mine).max())


@pytest.mark.thorough
@pytest.mark.parametrize(
    "cards",
    ["cards: classes", "cards: buckets, num_hand_buckets_flop: 6, num_hand_buckets_turn: 16"],
)
def test_flops_one_by_one(cards: str, tmp_path: Path) -> None:
    file = tmp_path / "flops.yaml"
    keys = f"{cards}, flops: [AhKd7s, 9s8s7h], bet_sizes: [1.0], iterations: 25"
    file.write_text(f"postflop_model: {{{keys}}}")
    rows = []
    for device in (None, "cuda"):
        output = tmp_path / str(device)
        solution = run(plan(read_train_config(file, {"threads": 1, "device": device}), output))
        assert isinstance(solution, WholeSolution)
        rows.append(solution.flops)
    for mine, other in zip(*rows, strict=True):
        assert other["exploitability"] == pytest.approx(mine["exploitability"], rel=0.05)


def test_cards_that_no_gpu_takes() -> None:
    game = whole_game(["7s7h7d"], 3, "100%", ())
    with pytest.raises(ValueError, match="device: cuda takes cards: classes, buckets, exact"):
        game.build(game.engine(CardModel("sampled"), device="cuda"))
