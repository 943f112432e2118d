"""The convergence curve: a true picture, or a clear refusal."""

import errno
import os
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest
from builders.matrix_game import MatrixGameSolver, random_game
from PIL import Image

from allstreets.base import InputError
from allstreets.cfr.metrics import Metrics
from allstreets.jobs import Check, Intervals, Iterations, check_plot_path, plot_convergence, train


def history(*values: float | None) -> list[Check]:
    return [
        Check(100 * (i + 1), 1.0, None, 0, None, Metrics(exploitability=value))
        for i, value in enumerate(values)
    ]


def colours(path: Path) -> set[tuple[int, ...]]:
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    return {tuple(int(c) for c in pixel) for pixel in np.unique(pixels, axis=0)}


def test_png(tmp_path: Path) -> None:
    outcome = train(MatrixGameSolver(random_game()), [Iterations(1000)], intervals=Intervals(50))
    path = tmp_path / "curve.png"
    plot_convergence(path, outcome.history, unit="chips", title="Random game", target=0.001)
    with Image.open(path) as image:
        assert image.format == "PNG"
        assert image.size == (1200, 750)
    curve, target = (0x1F, 0x5F, 0xA8), (0xC2, 0x41, 0x0C)
    assert {curve, target} <= colours(path)
    plot_convergence(path, outcome.history, unit="chips")
    assert target not in colours(path)
    assert list(tmp_path.iterdir()) == [path]


def test_svg_is_the_same_every_time(tmp_path: Path) -> None:
    paths = [tmp_path / "one.svg", tmp_path / "two.SVG"]
    for path in paths:
        plot_convergence(path, history(1.0, 0.5, 0.1), unit="mbb/hand", title="$5 & <b>")
    root = xml.etree.ElementTree.parse(paths[0]).getroot()
    assert root.tag.endswith("svg")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    text = paths[0].read_text()
    for comment in ("exploitability (mbb/hand)", "iterations", "$5 &amp; &lt;b&gt;", "100"):
        assert f"<!-- {comment} -->" in text


@pytest.mark.parametrize(
    "values", [(0.5,), (0.5, None, 0.0, 0.25), (1e-12, 1e12), tuple([0.1] * 99)]
)
def test_odd_curves(tmp_path: Path, values: tuple[float | None, ...]) -> None:
    path = tmp_path / "curve.png"
    plot_convergence(path, history(*values), unit="chips", target=0.01)
    assert path.stat().st_size > 5000


@pytest.mark.parametrize("values", [(), (None, None), (0.0,)])
def test_nothing_to_draw(tmp_path: Path, values: tuple[float | None, ...]) -> None:
    path = tmp_path / "curve.png"
    with pytest.raises(InputError) as error:
        plot_convergence(path, history(*values), unit="chips")
    assert str(error.value) == (
        f"there is no exploitability to draw in {path}: none of the {len(values)} checks has one"
    )
    assert not path.exists()


def test_files_that_cannot_be_plots(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    for name, expected in (
        ("curve.pdf", "the plot file {path} ends in '.pdf'; name a .png or .svg file"),
        ("curve", "the plot file {path} has no ending; name a .png or .svg file"),
        ("folder.png", "the plot file {path} is a folder; name a .png or .svg file"),
        ("no/x.png", "the folder {path.parent} for the plot does not exist; create it first"),
    ):
        path = tmp_path / name
        with pytest.raises(InputError) as error:
            check_plot_path(path)
        assert str(error.value) == expected.format(path=path)
        with pytest.raises(InputError) as error:
            plot_convergence(path, history(1.0), unit="chips")
        assert str(error.value) == expected.format(path=path)
    assert [path.name for path in tmp_path.iterdir()] == ["folder.png"]


def test_a_full_disk_keeps_the_old_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "curve.png"
    plot_convergence(path, history(1.0, 0.5), unit="chips")
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot write the plot .*: No space left on device"):
        plot_convergence(path, history(1.0, 0.1), unit="chips")
    assert path.read_bytes() == before


def test_pyplot_and_its_windows_stay_out(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from allstreets.cfr.metrics import Metrics\n"
        "from allstreets.jobs import Check, plot_convergence\n"
        "check = Check(1, 1.0, None, 0, None, Metrics(exploitability=0.5))\n"
        "plot_convergence(pathlib.Path(sys.argv[1]), [check], unit='chips')\n"
        "assert 'matplotlib.figure' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "x.png")], check=True)
