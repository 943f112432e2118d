"""Every cell of the notebooks runs, in one namespace per notebook, and its output is stored."""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(autouse=True)
def drawn_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    with mpl.rc_context():
        mpl.use("agg")
        yield
        plt.close("all")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        code = compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec")
        drawn = set(plt.get_fignums())
        exec(code, names)
        pictures = len(set(plt.get_fignums()) - drawn)
        stored = [output["output_type"] for output in cell["outputs"]]
        assert stored.count("display_data") == pictures, f"cell {number}: run the notebook again"
        assert ("stream" in stored) == bool(capsys.readouterr().out)
