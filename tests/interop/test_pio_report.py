"""Reports as PioViewer's folders; pious, an independent client, reads what we write."""

import atexit
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
from builders.solutions import folder
from builders.whole_solution import result

from allstreets import board_report
from allstreets.base import InputError
from allstreets.betting import Player
from allstreets.cards import HAND_NAMES, parse_combo
from allstreets.cli.main import main
from allstreets.interop import export_report
from allstreets.storage import boards_of

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


def test_the_command_and_real_combos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["report", str(folder("exact")), "--line", LIMPED, "--pio", str(tmp_path / "out")]
    assert main(asked) == 2
    assert "add --by" in capsys.readouterr().err
    assert main([*asked, "--by", "suits"]) == 0
    assert "Reports for PioViewer on" in capsys.readouterr().out
    table = read_folder(tmp_path / "out" / "Root")._df
    assert list(table["raw_flop"]) == ["7s 7h 7d"]
    assert np.isfinite(table["ev"].astype(float)).all()
