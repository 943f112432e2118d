"""Posters: one for each decision before the flop, with its colours and totals, and a PDF of all."""

import re
import zlib
from pathlib import Path

import numpy as np
import pytest
from builders.whole_solution import result, trips_result
from matplotlib.image import imread

from allstreets.base import InputError
from allstreets.cli.main import main
from allstreets.jobs import Posters
from allstreets.jobs.reports.pictures import chart_colours
from allstreets.storage import load


def test_each_decision_has_its_poster() -> None:
    solution = result()
    posters = Posters(solution, everything=True)
    tree = solution.tree(solution.start)
    before = [node for node in tree.decisions() if tree.street[node] == 0]
    assert {node.index for node in posters.nodes} == set(before)
    charts = dict(posters.charts())
    assert len(charts) == len(before)
    for (name, chart), node in zip(charts.items(), posters.nodes, strict=True):
        assert node.seat.lower() in name
        assert node.seat in chart.title
        np.testing.assert_allclose(chart.frequencies, node.decision.taken)
    reached = Posters(solution)
    assert reached.left_out == len(before) - len(reached.nodes)
    assert all(not node.decision.is_rare for node in reached.nodes)
    below = Posters(solution, posters.nodes[1].line, everything=True)
    assert below.nodes[0] == posters.nodes[1]
    assert all(node.line.startswith(below.nodes[0].line) for node in below.nodes)


def test_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chart", "pf-10bb", "--png", str(tmp_path / "charts")]) == 0
    names = sorted(path.name for path in (tmp_path / "charts").iterdir())
    assert names == ["01-sb-first.png", "02-bb-after-a.png", "charts.pdf"]
    assert str(tmp_path / "charts/charts.pdf") in capsys.readouterr().out
    pages = (tmp_path / "charts/charts.pdf").read_bytes()
    assert len(re.findall(rb"/Type /Page\b", pages)) == 2
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pages, re.DOTALL)
    assert any(b" re" in _plain(stream) or b" m\n" in _plain(stream) for stream in streams)
    # AA is all-in, 32o folds: their cells have these colours.
    picture = imread(tmp_path / "charts/01-sb-first.png")
    seen = {tuple(np.round(255 * pixel[:3]).astype(int)) for pixel in picture.reshape(-1, 4)[::7]}
    for colour in chart_colours(("f", "a")):
        assert tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5)) in seen
    again = tmp_path / "again"
    assert main(["chart", "pf-10bb", "--png", str(again)]) == 0
    assert (again / "charts.pdf").read_bytes() == pages


def _plain(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return stream


def test_what_has_no_posters(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="before the flop"):
        Posters(trips_result(), "c x | 7c7d7h |")
    with pytest.raises(InputError, match="no player decides"):
        Posters(load("pf-10bb"), "f")  # type: ignore[arg-type]
    (tmp_path / "file").touch()
    assert main(["chart", "pf-10bb", "--png", str(tmp_path / "file")]) == 2
