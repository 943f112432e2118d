"""Reports as PioViewer's folders; pious, an independent client, reads what we write."""

import atexit
import csv
import shutil
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from builders.small_spots import FLOP, spot
from builders.solutions import folder
from builders.whole_solution import result

from allstreets import board_report
from allstreets.base import InputError
from allstreets.betting import Player, Street
from allstreets.cards import HAND_NAMES, parse_combo
from allstreets.cli.main import main
from allstreets.interop import export_report
from allstreets.solutions import SpotSolution
from allstreets.solvers import SpotSolver
from allstreets.storage import Entry, SpotSetBundle, boards_of, load, save_spot

LIMPED = "c x"
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")


@cache
def written() -> Path:
    root = mkdtemp(prefix="allstreets-viewer-")
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    viewer = Path(root) / "viewer"
    assert export_report(boards_of(result(), LIMPED), viewer) > 4
    return viewer


def read_folder(folder: Path) -> Any:
    """A report as pious has it, which is imported here: it takes a second."""
    import matplotlib as mpl

    mpl.use("Agg")  # it opens a window otherwise
    from pious.pio.aggregation import AggregationReport

    return AggregationReport(str(folder))


def read(*words: str) -> Any:
    return read_folder(written().joinpath("Root", *words))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "c x |"),
        (("CHECK",), "c x | * | x"),
        (("BET 200",), "c x | * | b100%"),
        (("CHECK", "BET 200"), "c x | * | x b100%"),
        (("CHECK", "BET 200", "RAISE 800"), "c x | * | x b100% r100%"),
    ],
)
def test_pious_reads_the_figures_of_our_report(words: tuple[str, ...], line: str) -> None:
    theirs, ours = read(*words), board_report(result(), line)
    table = theirs._df
    assert theirs.info.player == ours.player.name
    assert theirs.info.line == ",".join(["Root", *words])
    assert theirs.info.starting_stacks == 1900
    assert len(table) == len(ours.boards)
    names = {"OOP": "ip", "IP": "oop"}
    other = names[ours.player.name]
    for board, row in zip(ours.boards, ours.by("board"), strict=True):
        cards = row.name[:2], row.name[2:4], row.name[4:]
        shown = table[table["raw_flop"] == " ".join(cards)].iloc[0]
        assert shown["ev"] == pytest.approx(100 * row.evs[ours.player], rel=1e-5)
        assert shown[f"{other}_ev"] == pytest.approx(
            100 * row.evs[ours.player.opponent], rel=1e-5, abs=1e-4
        )
        assert shown["ev"] + shown[f"{other}_ev"] == pytest.approx(100 * ours.pot, rel=1e-4)
        assert shown["equity"] == pytest.approx(100 * board.equities[ours.player], rel=1e-5)
        assert shown["eqr"] == pytest.approx(100 * row.eqrs[ours.player], rel=1e-5)
        actions = [name for name in table.columns if name in _actions(theirs)]
        assert [shown[name] for name in actions[::-1]] == pytest.approx(
            [100 * chance for chance in row.frequencies], rel=1e-5, abs=1e-4
        )


def _actions(report: Any) -> list[str]:
    """The columns of frequencies, by what the file says."""
    header = (Path(report.agg_report_directory) / "report.csv").read_text().splitlines()[3]
    names = [name for name in header.split(",") if name.endswith(" freq")]
    return [name.removesuffix(" freq").lower().replace(" ", "_") for name in names]


def test_an_action_is_taken_as_often_as_play_gets_behind_it() -> None:
    root = read()
    table = root._df.set_index("raw_flop")
    assert list(table["global_freq"]) == pytest.approx([100.0] * len(table))
    for word in _actions(root):
        below = read_folder(written() / "Root").take_action(word)._df
        shares = below.set_index("raw_flop")["global_freq"]
        for flop, share in shares.items():
            assert share == pytest.approx(table.loc[flop, word], rel=1e-4, abs=1e-4)


def test_hands_are_means_over_all_flops() -> None:
    text = (written() / "Root" / "handsEV.csv").read_text()
    parts = [part.splitlines() for part in text.strip().split("\n\n")]
    tables = {part[0]: part[2:] for part in parts}
    classes = {row.split(",")[0]: row.split(",")[1:] for row in tables["Preflop Hands OOP"]}
    ours = {row.name: row for row in board_report(result(), "c x |").by("hand")}
    assert set(classes) == set(ours) <= set(HAND_NAMES)
    for name, (ev, equity, eqr, mass) in classes.items():
        row = ours[name]
        assert float(ev) == pytest.approx(100 * row.evs[Player.OOP], rel=1e-5)
        assert float(equity) == pytest.approx(100 * row.equities[Player.OOP], rel=1e-5)
        assert float(eqr) == pytest.approx(100 * row.eqrs[Player.OOP], rel=1e-5)
        assert float(mass) > 0
    order = (written() / "Root" / "oopPreflopOrder.txt").read_text().strip().split(",")
    assert order == list(classes)
    combos = [row.split(",")[0] for row in tables["Hands EV IP"]]
    assert len({parse_combo(combo) for combo in combos}) == len(combos)


def test_a_line_begins_where_it_was_asked_for(tmp_path: Path) -> None:
    export_report(boards_of(result(), "c x | x"), tmp_path / "out")
    assert not (tmp_path / "out" / "Root" / "report.csv").exists()
    shares = read_folder(tmp_path / "out" / "Root" / "CHECK")._df["global_freq"]
    assert list(shares) == pytest.approx(list(read("CHECK")._df["global_freq"]))


def test_folders_that_exist_and_single_boards_are_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(InputError, match="exists: name a new folder"):
        export_report(boards_of(result(), LIMPED), tmp_path / "out")
    with pytest.raises(InputError, match="decisions on the flop"):
        export_report(boards_of(result(), "c x | * | x x x"), tmp_path / "turn")


RESOURCES = Path(str(files("pious"))) / "pio" / "resources"
THEIRS = RESOURCES / "aggregation" / "Root" / "CHECK" / "CHECK"
FLOPS = {"7s7h7d": 1.0, "2s2h2d": 2.0}  # most turns are alike


def rows(folder: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The head of a report, and its rows."""
    lines = (folder / "report.csv").read_text().splitlines()
    return lines[:3], list(csv.DictReader(lines[3:]))


def put_flops(root: Path) -> dict[str, SpotSolution]:
    """The same spot on two flops, of which one counts twice."""
    bundle, solved = SpotSetBundle(root, resume=False), {}
    entries = [Entry("srp", flop, weight, flop, "") for flop, weight in FLOPS.items()]
    bundle.begin(entries)
    for entry in entries:
        solver = SpotSolver(spot(FLOP, board=entry.board, bets=["100%"], stack=100), threads=1)
        solver.train_batch(4)
        save_spot(solver, root / entry.folder)
        bundle.save(entry.folder, {"exploitability_pct": 1.0})
        solved[entry.board] = load(root / entry.folder, SpotSolution)
    return solved


def test_turns_card_by_card(tmp_path: Path) -> None:
    """As PioViewer has them: a flop, then its 49 turns; the figures are those of the solution."""
    solved = put_flops(tmp_path / "set")
    boards = boards_of(tmp_path / "set")
    flops = export_report(boards, tmp_path / "flops")
    count = export_report(boards_of(tmp_path / "set"), tmp_path / "viewer", turns=True)
    assert flops == len(boards.tree.decisions(Street.FLOP))
    assert count - flops == len(boards.tree.decisions(Street.TURN))
    for path in (tmp_path / "flops").rglob("*.*"):
        again = tmp_path / "viewer" / path.relative_to(tmp_path / "flops")
        assert path.read_text() == again.read_text()
    folder = tmp_path / "viewer" / "Root" / "CHECK" / "CHECK"
    head, shown = rows(folder)
    their_head, theirs = rows(THEIRS)
    assert [name.replace("100", "300") for name in shown[0]] == list(theirs[0])
    assert head[2].rpartition(" ")[0] == their_head[2].rpartition(" ")[0]
    assert (folder / "info.txt").read_text().splitlines()[:4] == [
        "OOP Decision",
        "Node id: r:0:c:c:2c",
        "Board: 7s 7h 7d 2c",
        "Line: Root,CHECK,CHECK,2c",
    ]
    assert len(shown) == 2 * (1 + 49) + 1
    assert [row["Turn"] for row in (shown[0], shown[50], shown[-1])] == ["", "", ""]
    for row in shown[1:-1:7]:
        flop, card = row["Flop"].replace(" ", ""), row["Turn"]
        if not card:
            continue
        play = solved[flop].at(f"x x | {card} |").decision
        for player in Player:
            ev = float(row[f"{player.name} EV"])
            assert ev == pytest.approx(play.ev(player), rel=1e-4, abs=1e-3)
            equity = play.mean(play.equity(player), player)
            assert float(row[f"{player.name} Equity"]) == pytest.approx(100 * equity, rel=1e-4)
        often = [float(row[name]) for name in row if name.endswith(" freq")]
        assert often[::-1] == pytest.approx(100 * play.taken, rel=1e-4, abs=1e-3)
        # The hands that both check twice, of those that this turn leaves.
        assert float(row["Global %"]) == pytest.approx(100 * play.share, rel=1e-4)
    for word in ("BET 100", "CHECK"):
        _, below = rows(folder / word)
        for row, there in zip(shown, below, strict=True):
            part = float(row["Global %"]) * float(row[f"{word} freq"]) / 100
            assert float(there["Global %"]) == pytest.approx(part, rel=1e-3, abs=1e-3)


def test_turns_of_hand_classes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="do not see the turn"):
        export_report(boards_of(result(), LIMPED), tmp_path / "viewer", turns=True)
    assert not (tmp_path / "viewer").exists()


def test_the_command_and_real_combos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["report", str(folder("exact")), "--line", LIMPED, "--pio", str(tmp_path / "out")]
    assert main(asked) == 2
    assert "add --by" in capsys.readouterr().err
    assert main([*asked[:4], "--by", "suits", "--turns"]) == 2
    assert "add --pio" in capsys.readouterr().err
    assert main([*asked, "--by", "suits"]) == 0
    assert "Reports for PioViewer on" in capsys.readouterr().out
    table = read_folder(tmp_path / "out" / "Root")._df
    assert list(table["raw_flop"]) == ["7s 7h 7d"]
    assert np.isfinite(table["ev"].astype(float)).all()
