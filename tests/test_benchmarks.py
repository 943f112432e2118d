"""`make bench`: what got slower since the stored figures."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """benchmarks/run.py, which is no package."""
    sys.path.append(str(FOLDER))
    try:
        found = importlib.util.spec_from_file_location("benchmarks_run", FOLDER / "run.py")
        assert found is not None
        assert found.loader is not None
        module = importlib.util.module_from_spec(found)
        sys.modules["benchmarks_run"] = module  # where dataclasses look
        found.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


def figures(calibration: float | None = None, **values: tuple[float, str]) -> dict[str, Any]:
    """A file of figures."""
    machine = {"processors": 2}
    if calibration is not None:
        machine["calibration_seconds"] = calibration  # type: ignore[assignment]
    rows = [{"name": name, "value": value, "unit": unit} for name, (value, unit) in values.items()]
    return {"machine": machine, "rows": rows}


def costs(bench: ModuleType, before: dict[str, Any], now: dict[str, Any]) -> dict[str, float]:
    """The cost of each figure that is compared."""
    return {change.name: change.cost for change in bench.changes("any", before, now)}


def test_units_say_what_is_better(bench: ModuleType) -> None:
    before = figures(a=(2, "s"), b=(2, "M/s"), c=(2, "MB"), d=(2, "mbb/hand"), e=(2, "s"))
    now = figures(a=(3, "s"), b=(3, "M/s"), c=(3, "MB"), d=(3, "mbb/hand"), f=(2, "s"))
    assert costs(bench, before, now) == pytest.approx({"a": 1.5, "b": 2 / 3, "c": 1.5})


def test_a_slower_machine_is_no_slower_program(bench: ModuleType) -> None:
    before = figures(0.01, a=(2, "s"), b=(2, "M/s"), c=(2, "MB"))
    now = figures(0.02, a=(4, "s"), b=(1, "M/s"), c=(2, "MB"))
    assert costs(bench, before, now) == pytest.approx({"a": 1.0, "b": 1.0, "c": 1.0})
    del before["machine"]["calibration_seconds"]  # figures of earlier days
    assert costs(bench, before, now) == pytest.approx({"a": 2.0, "b": 2.0, "c": 1.0})


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.sampled_from(["s", "M/s", "MB"]))
def test_the_better_of_two_runs(bench: ModuleType, one: float, other: float, unit: str) -> None:
    first, second = figures(a=(one, unit)), figures(a=(other, unit), b=(1, "s"))
    best = max(one, other) if unit == "M/s" else min(one, other)
    rows = bench.better(first, second)["rows"]
    assert [(row["name"], row["value"]) for row in rows] == [("a", best), ("b", 1)]


def test_summary_puts_the_worst_first(bench: ModuleType) -> None:
    before = figures(a=(1, "s"), b=(1, "s"), c=(1, "s"), d=(1, "s"))
    now = figures(a=(1.3, "s"), b=(2, "s"), c=(1.05, "s"), d=(0.5, "s"))
    lines = bench.summary(bench.changes("spots", before, now), 0.15)
    assert lines[0] == "2 of 4 figures got slower or larger by over 15%"
    assert "spots: b: 1 → 2 s" in lines[1]
    assert "spots: a" in lines[2]
    assert lines[3] == "1 got faster or smaller by as much"
    assert "0.50 ×  spots: d" in lines[4]


def test_a_run_compares_with_what_is_stored(
    bench: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A real benchmark beside figures that nothing can be as fast as; another that fails."""
    stored = tmp_path / "stored"
    stored.mkdir()
    old = json.dumps(figures(None, **{"one flop, 1 thread": (1e-9, "ms")}))
    for name in ("tables", "missing"):
        (stored / f"{name}.json").write_text(old)
    monkeypatch.setattr(bench, "STORED", stored)
    monkeypatch.setattr(bench, "BUDGET", -1.0)  # no second run
    quick = (bench.Benchmark("tables", ("--quick",)), bench.Benchmark("missing"))
    monkeypatch.setattr(bench, "BENCHMARKS", quick)
    assert bench.main(["--into", str(tmp_path / "new")]) == 1
    printed = capfd.readouterr().out
    assert "1 of 1 figures got slower or larger by over 15%" in printed
    assert "tables: one flop, 1 thread: 1e-09 →" in printed
    assert "bench_missing.py failed" in printed
    assert (stored / "tables.json").read_text() == old
    new = json.loads((tmp_path / "new" / "tables.json").read_text())
    assert [row["name"] for row in new["rows"]] == ["one flop, 1 thread"]
    assert new["machine"]["calibration_seconds"] > 0
    assert not (tmp_path / "new" / "missing.json").exists()


def test_every_benchmark_has_its_script_and_its_figures(bench: ModuleType) -> None:
    for benchmark in bench.BENCHMARKS:
        script = FOLDER / f"bench_{benchmark.name}.py"
        assert script.exists(), benchmark.name
        assert (FOLDER / "results" / f"{benchmark.name}.json").exists(), benchmark.name


def test_an_unknown_name_is_said(bench: ModuleType) -> None:
    with pytest.raises(SystemExit, match="no benchmark is named sports; there are"):
        bench.chosen("sports", False)
