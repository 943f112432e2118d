"""The preflop tree as range files."""

from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from builders.whole_solution import result

from allstreets.base import InputError
from allstreets.betting import BIG_BLINDS, Player, line_text
from allstreets.cards import HAND_NAMES, HAND_OF_COMBO, Range, RangeKind
from allstreets.interop import export_ranges, zip_ranges


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Callable[[RangeKind], tuple[Path, int]]:
    """The folder of all ranges as one kind of files, made once, and how many there are."""

    @cache
    def export(kind: RangeKind) -> tuple[Path, int]:
        out = tmp_path_factory.mktemp("ranges") / kind
        return out, export_ranges(result(), out, kind)

    return export


@pytest.mark.parametrize("kind", [kind for kind in RangeKind if kind != RangeKind.monker])
def test_every_line_has_a_folder_with_both_ranges(
    exported: Callable[[RangeKind], tuple[Path, int]], kind: RangeKind
) -> None:
    tree, reach = result().before.tree, result().before.reach
    out, count = exported(kind)
    seen = 0
    for node in range(tree.node_count):
        where = out.joinpath(*line_text(tree, node, notation=BIG_BLINDS).split())
        for player in Player:
            text = (where / f"{player.seat}{kind.suffix}").read_text()
            expected = np.round(reach[node, player], 2)[HAND_OF_COMBO]
            if expected.any():
                np.testing.assert_array_equal(Range.parse(text).weights, expected)
            seen += 1
    files = [path for path in out.rglob("*") if path.is_file()]
    assert seen == count == len(files) - 1
    listed = (out / "README.txt").read_text()
    for path in files:
        if path.name != "README.txt":
            assert f"\n{path.relative_to(out).as_posix()} " in listed


def test_the_range_that_takes_an_action_lies_in_its_folder(tmp_path: Path) -> None:
    export_ranges(result(), tmp_path / "out", "pio")
    node = result().at("r2.5").decision
    for place, word in enumerate(node.actions):
        read = (tmp_path / "out" / "r2.5" / word / "BB.txt").read_text().strip()
        weights = Range.parse(read).weights if read else np.zeros(1326)
        expected = np.round(node.combo_weights(Player.OOP, place), 2)
        np.testing.assert_array_equal(weights, expected)


def test_monker_files_have_codes_frequencies_and_evs(tmp_path: Path) -> None:
    """20 bb: a raise to 2.5 bb is 75 % of the 2 bb in the pot after the call."""
    out = tmp_path / "out"
    count = export_ranges(result(), out, "monker", digits=4)
    names = {path.name for path in out.glob("*.rng")}
    assert len(names) == count
    assert {"0.rng", "1.rng", "40075.rng", "3.rng", "40075.1.rng", "1.1.rng"} < names
    node = result().at("r2.5").decision.whole_hand()
    for name, word in (("40075.0", "f"), ("40075.1", "c"), ("40075.3", "a")):
        lines = (out / f"{name}.rng").read_text().splitlines()
        assert lines[::2] == list(HAND_NAMES)
        place = node.actions.index(word)
        for line, chance, ev in zip(
            lines[1::2], node.strategy[place], node.action_evs[place], strict=True
        ):
            frequency, value = map(float, line.split(";"))
            assert frequency == pytest.approx(chance, abs=5.1e-5)
            assert value == pytest.approx(2000 * ev, abs=0.0051)
    folded = (out / "0.rng").read_text().splitlines()[1]
    assert folded.endswith(";-1000")  # the small blind
    everything = Range.parse((out / "40075.0.rng").read_text()).weights
    assert everything.max() <= 1


@pytest.mark.parametrize("kind", [RangeKind.pio, RangeKind.monker])  # a layout each
def test_a_zip_holds_the_same_files(
    exported: Callable[[RangeKind], tuple[Path, int]], kind: RangeKind
) -> None:
    out, count = exported(kind)
    packed = zip_ranges(result(), kind)
    with ZipFile(BytesIO(packed)) as archive:
        assert archive.testzip() is None
        held = {name: archive.read(name) for name in archive.namelist()}
        assert len(held) == len(archive.namelist()) == count + 1
    written = {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in out.rglob("*")
        if path.is_file()
    }
    assert held == written


def test_a_zip_is_the_same_whenever_it_is_made() -> None:
    assert zip_ranges(result(), "pio") == zip_ranges(result(), "pio")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "mine.txt").write_text("AA")
    file = tmp_path / "file"
    file.write_text("AA")
    for taken in (kept, file):
        with pytest.raises(InputError, match="exists: name a new folder"):
            export_ranges(result(), taken, "pio")
    assert [path.name for path in kept.iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert export_ranges(result(), tmp_path / "empty", "pio") > 0
    assert not list(tmp_path.glob(".*"))
