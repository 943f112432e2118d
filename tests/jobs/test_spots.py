"""Many spots: a row each, one that fails does not take the others along, and none is lost."""

import csv
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders.small_spots import RIVER, spot
from builders.worker_pools import PiecesHere

from allstreets import board_report, load, solve_many
from allstreets.base import InputError, StopWhen
from allstreets.betting import Player
from allstreets.jobs import (
    Here,
    Processes,
    Progress,
    SpotConfig,
    SpotJob,
    SpotPiece,
    SpotRow,
    StoppedError,
    piece_control,
)
from allstreets.jobs import spots as many_spots
from allstreets.jobs.executors import KILLED
from allstreets.jobs.spot_rows import SolveSpot
from allstreets.storage import SpotSet

BOARDS = ["Ks7d4c9h2s", "Qs7d4c9h2s", "KsKs4c9h2s", "Ks7d4c9h2c:3"]


class LastFirst(Here):
    """This process, the last piece first; of these at most so many."""

    def __init__(self, most: int = 1_000) -> None:
        super().__init__()
        self._most = most

    def map(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        on_result: Callable[[int, Any], None],
        **options: Any,
    ) -> None:
        places = list(reversed(range(len(items))))[: self._most]

        def told(index: int, result: Any) -> None:
            on_result(places[index], result)

        super().map(function, [items[place] for place in places], told, **options)


here = LastFirst()


def lines_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_in_order_with_their_errors(tmp_path: Path) -> None:
    path = tmp_path / "rows" / "many.csv"
    spots: list[Any] = [
        {**RIVER, "name": "first"},
        {**RIVER, "name": "blocked", "oop_range": "KsKd"},
        {**RIVER, "name": "typo", "pots": 3},
        spot(RIVER, pot=60),
        {
            **RIVER,
            "name": "own",
            "algorithm": "cfr+",
            "precision": "float16",
            "exploitability_threshold": 0.05,
        },
    ]
    rows = solve_many(spots, target=0.01, threads=1, executor=PiecesHere(), csv=path)
    assert [row.name for row in rows] == ["first", "blocked", "typo", "4", "own"]
    assert 1 < (rows[4].exploitability_pct or 0) <= 5
    assert "is blocked" in (rows[1].error or "")
    assert "pots" in (rows[2].error or "")
    assert rows[1].ev_oop is None
    config = SpotConfig(exploitability_threshold=0.01)
    alone = SpotJob(config, spot(RIVER), threads=1).run().result()
    assert (rows[0].ev_oop, rows[0].ev_ip) == alone.evs
    assert rows[0].exploitability_pct == 100 * alone.exploitability
    assert (rows[3].ev_oop or 0) + (rows[3].ev_ip or 0) == pytest.approx(60, abs=1e-3)
    node = alone.at("").decision
    assert rows[0].frequencies == dict(zip(node.actions, node.taken, strict=True))
    assert sum(rows[0].frequencies.values()) == pytest.approx(1)
    assert rows[0].equity_oop == pytest.approx(1 - (rows[0].equity_ip or 0))
    assert rows[0].eqr_oop == pytest.approx((rows[0].ev_oop or 0) / (rows[0].equity_oop or 0) / 100)
    solve_many(spots[:1], target=0.01, executor=here, csv=path)
    lines = lines_of(path)
    assert sorted(line["name"] for line in lines) == [
        "4",
        "blocked",
        "first",
        "first",
        "own",
        "typo",
    ]
    first = next(line for line in lines if line["name"] == "first")
    assert float(first["ev_oop"]) == rows[0].ev_oop
    assert float(first["b50"]) == rows[0].frequencies["b50"]
    assert (first["b30"], first["board"], first["weight"]) == ("", RIVER["board"], "24.0")
    assert next(line for line in lines if line["name"] == "blocked")["ev_oop"] == ""


def test_boards_in_a_folder_that_is_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "rivers"
    seen: list[Progress] = []
    game = {**{key: value for key, value in RIVER.items() if key != "board"}, "name": "a river"}
    options: dict[str, Any] = {"target": 0.01, "output": folder, "threads": 1}

    with pytest.raises(KeyboardInterrupt):  # two have no rows
        solve_many(
            [{**game, "boards": BOARDS}],
            executor=LastFirst(1),
            observers=[seen.append],
            **options,
        )
    assert [line["board"] for line in lines_of(folder / "spots.csv")] == [
        "KsKs4c9h2s",
        "Ks7d4c9h2c",
    ]
    with pytest.raises(InputError, match="already contains 3 spots; continue them with --resume"):
        solve_many([{**game, "boards": BOARDS}], executor=here, **options)

    rows = solve_many([game], boards=BOARDS, executor=here, resume=True, **options)
    assert [row.board for row in rows] == ["Ks7d4c9h2s", "Qs7d4c9h2s", "KsKs4c9h2s", "Ks7d4c9h2c"]
    assert "Ks twice" in (rows[2].error or "")
    assert [row.weight for row in rows] == [24, 24, None, 72]
    assert (seen[-1].done, seen[-1].total, seen[-1].failed) == (2, 4, 1)
    assert rows[3] == seen[-1].latest  # it was not solved again

    again = solve_many([game], boards=BOARDS[:2], executor=LastFirst(0), resume=True, **options)
    assert again == rows[:2]
    solved = load(folder)
    assert isinstance(solved, SpotSet)
    assert (len(solved.entries), solved.missing) == (3, 0)
    for entry, row in zip(solved.entries, solved.rows, strict=True):
        result = solved.open(entry)
        assert (row["ev_oop"], row["ev_ip"]) == result.evs
        assert row["board"] == result.spot.board
    with pytest.raises(InputError, match="is of another spot than a river on Ks7d4c9h2s"):
        solve_many([{**game, "pot": 50}], boards=BOARDS[:1], executor=here, resume=True, **options)


def test_a_better_target_goes_on_from_the_bundle(tmp_path: Path) -> None:
    options: dict[str, Any] = {"executor": here, "output": tmp_path / "spots", "threads": 1}
    (coarse,) = solve_many([RIVER], target=0.05, **options)
    (fine,) = solve_many([RIVER], target=0.01, resume=True, **options)
    assert (fine.iterations or 0) > (coarse.iterations or 0)
    (whole,) = solve_many([RIVER], target=0.01, executor=here, threads=1)
    assert fine.ev_oop == whole.ev_oop  # to the last bit
    assert fine.frequencies == whole.frequencies


class DieOnPot13(SolveSpot):
    """Does what the system does to a process that takes too much memory."""

    def __call__(self, job: SpotPiece) -> SpotRow:
        if job.game["pot"] == 13:
            os._exit(9)
        return SpotRow(job.name, job.board, iterations=1)


@pytest.mark.long
def test_a_process_that_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long: processes are killed."""
    monkeypatch.setattr(many_spots, "SolveSpot", DieOnPot13)
    spots = [{**RIVER, "pot": pot} for pot in (10, 11, 12, 13, 14, 15)]
    rows = solve_many(spots, executor=Processes(2))
    assert [row.error for row in rows] == [None, None, None, KILLED, None, None]
    assert [row.iterations for row in rows] == [1, 1, 1, None, 1, 1]


def wait_for_the_end(job: SpotPiece) -> SpotRow:
    """A spot that takes forever, until the run says stop."""
    if job.name == "1":
        return SpotRow(job.name, job.board, iterations=1)
    while not piece_control().wants_to_stop():
        pass
    raise StoppedError


@pytest.mark.long
def test_a_run_that_is_stopped() -> None:
    """Long: processes of its own."""
    done: list[SpotRow] = []
    jobs = [SpotPiece(str(number), "", 1.0, {}, {}) for number in range(1, 6)]
    control = StopWhen(lambda: bool(done))
    Processes(2).map(wait_for_the_end, jobs, lambda _, row: done.append(row), control=control)
    assert [row.name for row in done] == ["1"]


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="processes"):
        solve_many([RIVER], processes=0)
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="contains other columns"):
        solve_many([RIVER], csv=tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"
    with pytest.raises(InputError, match="contains other files"):
        solve_many([RIVER], output=tmp_path)
    with pytest.raises(InputError, match="needs --output"):
        solve_many([RIVER], resume=True)
    assert solve_many([]) == []


def test_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from pyarrow import parquet

    path = tmp_path / "many.parquet"
    rows = solve_many([{**RIVER, "name": "first"}], target=0.01, executor=here, parquet=path)
    (read,) = parquet.read_table(path).to_pylist()
    assert (read["name"], read["ev_oop"]) == ("first", rows[0].ev_oop)
    assert read["x"] == rows[0].frequencies["x"]
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"pip install 'allstreets\[parquet\]', or write CSV"):
        solve_many([RIVER], parquet=path)


def test_a_report_over_the_boards_of_a_set(tmp_path: Path) -> None:
    folder = tmp_path / "rivers"
    boards = ["Ks7d4c9h2s", "Qs7d4c9h2s", "Ks7s4s9h2c"]
    solve_many([RIVER], boards=boards, target=0.02, executor=here, output=folder, threads=1)
    solved = load(folder)
    assert isinstance(solved, SpotSet)
    nodes = [solved.open(entry).at("x").decision for entry in solved.entries]
    report = board_report(folder, "x")
    masses = [
        entry.weight * float(node.own.weights.sum())
        for entry, node in zip(solved.entries, nodes, strict=True)
    ]
    for row, node in zip(report.by("board"), nodes, strict=True):
        assert list(row.frequencies) == pytest.approx(node.taken.tolist())
        assert row.evs == pytest.approx((node.ev(Player.OOP), node.ev(Player.IP)))
    taken = np.array([node.taken for node in nodes])
    assert list(report.total.frequencies) == pytest.approx(
        (np.array(masses) @ taken / sum(masses)).tolist()
    )
    # With every pair counted: both EVs are the pot.
    assert sum(report.total.evs) == pytest.approx(100, abs=1e-3)
    assert [row.name for row in report.by("suits")] == ["rainbow", "monotone"]
    with pytest.raises(InputError, match="contains no spot 'turn'"):
        board_report(folder, "x", name="turn")
    with pytest.raises(InputError, match="a single board"):
        board_report(solved.open(solved.entries[0]))
