"""Charts as pictures."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from builders.whole_solution import result
from matplotlib.image import imread
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.cards import HAND_NAMES, grid_cell
from allstreets.jobs.reports.pictures import ALL_IN, EMPTY, FOLD, PASSIVE, chart_colours, plot_chart
from allstreets.solutions.chart import Chart, node_chart

# What colours become for people who see fewer of them (Machado, Oliveira, Fernandes 2009).
SIGHT = {
    "all colours": np.eye(3),
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def pure(best: str, line: str = "") -> Chart:
    """A chart on which every hand does the same."""
    chart = node_chart(result(), result().at(line).decision)
    mix = np.zeros_like(chart.strategy)
    mix[chart.actions.index(best)] = 1.0
    return Chart(**{**chart.__dict__, "strategy": mix, "reach": np.ones(169)})


def colour_at(picture: NDArray[Any], row: float, column: float) -> str:
    """The colour of a place of the 13×13 cells, by row and column."""
    height, width = picture.shape[:2]
    side = 0.94 * width
    top = height * (1 - 0.1) - side
    found = picture[int(top + row * side / 13), int(0.03 * width + column * side / 13), :3]
    return "#" + "".join(f"{round(255 * part):02x}" for part in found.tolist())


@pytest.mark.parametrize(("action", "colour"), [("f", FOLD), ("c", PASSIVE), ("a", ALL_IN)])
def test_cells_have_the_colour_of_their_action(tmp_path: Path, action: str, colour: str) -> None:
    plot_chart(tmp_path / "chart.png", pure(action))
    picture = imread(tmp_path / "chart.png")
    for hand in (0, 13, 100, 168):
        row, column = grid_cell(hand)
        assert colour_at(picture, row + 0.1, column + 0.5) == colour


def test_cells_are_split_by_action(tmp_path: Path) -> None:
    chart = pure("f")
    mix = np.zeros_like(chart.strategy)
    mix[0], mix[1], mix[3] = 0.5, 0.25, 0.25
    reach = np.ones(169)
    reach[0], reach[1] = 0.4, 0.0
    plot_chart(tmp_path / "chart.png", Chart(**{**chart.__dict__, "strategy": mix, "reach": reach}))
    picture = imread(tmp_path / "chart.png")
    row, column = grid_cell(100)
    for place, colour in ((0.2, FOLD), (0.45, FOLD), (0.6, PASSIVE), (0.9, ALL_IN)):
        assert colour_at(picture, row + 0.1, column + place) == colour
    # Aces get there four times out of ten, kings never.
    assert colour_at(picture, 0.5, 0.1) == EMPTY
    assert colour_at(picture, 0.7, 0.1) == FOLD
    assert colour_at(picture, 1.8, 1.1) == EMPTY


def test_svg(tmp_path: Path) -> None:
    chart = pure("c")
    plot_chart(tmp_path / "one.svg", chart)
    plot_chart(tmp_path / "two.svg", chart)
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()  # no dates, no random names
    ElementTree.fromstring(text)
    assert all(f"<!-- {name} -->" in text for name in HAND_NAMES)
    assert re.search(r"<!-- limp {1,2}\d+\.\d % -->", text)
    assert "exploitability 110 mbb/hand" in text


def test_raises_grow_redder() -> None:
    colours = chart_colours(("f", "c", "r2", "r3", "r4", "a"))
    assert colours[:2] == (FOLD, PASSIVE)
    assert colours[-1] == ALL_IN
    greens = [int(colour[3:5], 16) for colour in colours[2:5]]
    assert greens == sorted(greens, reverse=True)
    assert chart_colours(("x", "b50%")) == (PASSIVE, colours[4])


@pytest.mark.parametrize("sight", list(SIGHT))
def test_colours_can_be_told_apart(sight: str) -> None:
    colours = {*chart_colours(("f", "c", "r2", "r3", "a")), EMPTY}
    seen = [_lab(np.array(SIGHT[sight]) @ _linear(colour)) for colour in sorted(colours)]
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(gaps) > 15  # 2.3 is the least that people notice side by side


def _linear(colour: str) -> NDArray[Any]:
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts > 0.04045, ((parts + 0.055) / 1.055) ** 2.4, parts / 12.92)


def _lab(linear: NDArray[Any]) -> NDArray[Any]:
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.array(to_xyz) @ np.clip(linear, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    chart = node_chart(result(), result().at().decision)
    with pytest.raises(InputError, match=r"name a \.png or \.svg file"):
        plot_chart(tmp_path / "chart.jpg", chart)
    with pytest.raises(InputError, match="does not exist"):
        plot_chart(tmp_path / "nowhere" / "chart.svg", chart)
