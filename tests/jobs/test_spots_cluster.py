"""Many spots on a cluster, with tasks of this process: the same rows and files on any worker."""

import io
import json
import signal
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders.small_spots import RIVER
from builders.worker_pools import TasksHere, as_cluster

from allstreets import solve_many
from allstreets.base import InputError
from allstreets.cluster import signed
from allstreets.jobs import Here, Observer, Progress, SpotPiece, SpotRow, line_progress
from allstreets.jobs.spot_rows import LOCK_SECONDS, SolveSpot, spot_need, wait_until_free
from allstreets.storage import claim

BOARDS = ["Ks7d4c9h2s", "Qs7d4c9h2s", "Ks7d4c9h2c"]
OPTIONS: dict[str, Any] = {"boards": BOARDS, "target": 0.01, "threads": 1}
SETTINGS: dict[str, Any] = {
    "algorithm": "ahead",
    "precision": "float32",
    "river_groups": "none",
    "device": "cpu",
    "exploitability_threshold": 0.05,
}


def figures(rows: list[SpotRow]) -> list[SpotRow]:
    """All but the time."""
    return [replace(row, seconds=None) for row in rows]


def files(folder: Path) -> dict[str, Any]:
    """Of every bundle what a manifest says of it, with the checksums of its files."""
    found = {}
    for path in sorted(folder.glob("*/manifest.json")):
        facts = json.loads(path.read_text())
        sums = {
            name: {key: value for key, value in entry.items() if key != "file"}
            for name, entry in facts["files"].items()
        }
        found[path.parent.name] = (facts["config"], facts["evs"], facts["exploitability"], sums)
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[SpotRow], dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("spots") / "here"
    rows = solve_many([RIVER], executor=Here(), output=folder, **OPTIONS)
    assert len(files(folder)) == 3
    return figures(rows), files(folder)


@pytest.mark.parametrize(("workers", "lost"), [(1, []), (2, [0, 2])])
def test_rows_and_files_do_not_depend_on_workers(
    tmp_path: Path,
    whole: tuple[list[SpotRow], dict[str, Any]],
    workers: int,
    lost: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # workers have another folder to begin with
    tasks = TasksHere(workers, lost)
    as_cluster(monkeypatch, tasks)
    rows = solve_many([RIVER], cluster="auto", output="run", **OPTIONS)
    assert len(tasks.done) == 3 + len(lost)
    assert (figures(rows), files(tmp_path / "run")) == whole
    assert not (tmp_path / "run" / ".cluster").exists()


def test_an_interrupted_run_goes_on_and_tells_of_its_machines(
    tmp_path: Path,
    whole: tuple[list[SpotRow], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Progress] = []

    def press(progress: Progress) -> None:
        if progress.done == 1:
            signal.raise_signal(signal.SIGINT)

    def run(tasks: TasksHere, observer: Observer, **options: Any) -> list[SpotRow]:
        as_cluster(monkeypatch, tasks)
        return solve_many(
            [RIVER],
            cluster="auto",
            output=tmp_path / "run",
            observers=[observer],
            **OPTIONS,
            **options,
        )

    tasks = TasksHere(1)
    with pytest.raises(KeyboardInterrupt):
        run(tasks, press)
    assert (tasks.done, len(files(tmp_path / "run"))) == ([0], 1)
    rows = run(TasksHere(2), seen.append, resume=True)
    assert (figures(rows), files(tmp_path / "run")) == whole
    assert [progress.done for progress in seen] == [1, 2, 3]
    assert [node.solved for node in seen[-1].nodes] == [1, 1]
    text = io.StringIO()
    with line_progress(text) as draw:
        draw(seen[-1])
    first, *machines = text.getvalue().splitlines()
    assert first.startswith("spots 3 of 3 | ")
    assert [line.partition(" solved | ")[0] for line in machines] == [
        "  10.0.0.0: 1 spots",
        "  10.0.0.1: 1 spots",
    ]


def test_what_cannot_be_solved_does_not_touch_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    spots = [
        {**RIVER, "name": "gpu", "device": "cuda:1"},
        {**RIVER, "name": "blocked", "oop_range": "KsKd"},
        {**RIVER, "name": "good"},
    ]
    tasks = TasksHere(1)
    as_cluster(monkeypatch, tasks)
    rows = solve_many(spots, target=0.05, threads=1, cluster="auto")
    assert rows[0].error == "no machine of the cluster has a GPU"
    assert "is blocked" in (rows[1].error or "")
    assert (rows[2].error, tasks.done) == (None, [0])


def test_what_a_spot_needs_and_is_sent_as(tmp_path: Path) -> None:
    job = SpotPiece("a", "", 1.0, RIVER, SETTINGS, threads=3)
    need = spot_need(job)
    assert (need.cores, need.gpus) == (3, 0)
    assert need.memory_bytes > 1_000_000
    on_gpu = replace(job, settings={**SETTINGS, "device": "cuda:1"}, folder=tmp_path / "a")
    assert replace(need, gpus=1) == spot_need(on_gpu)
    assert on_gpu.as_sent().settings["device"] == "cuda"  # the one that Ray lends


def test_a_machine_that_does_not_see_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "spots"
    job = SpotPiece("a", "", 1.0, RIVER, SETTINGS, folder=folder / "a")
    with signed(folder) as sign:
        sign.require()
        other = replace(sign, text="that of another folder of this name")
        for blind in (other, replace(sign, path=tmp_path / "elsewhere" / "sign")):
            with pytest.raises(InputError, match=r"is not there on .*\nWorkers write their own"):
                SolveSpot((sign, blind))(job)
        with pytest.raises(InputError, match="is not there"):
            TasksHere(2).ask_each(TasksHere(2).nodes(), SolveSpot((other,)).require)
    assert list(folder.iterdir()) == []


def test_the_lock_of_a_machine_that_died_is_waited_for(tmp_path: Path) -> None:
    waited: list[float] = []
    with ExitStack() as held:
        held.enter_context(claim(tmp_path))

        def sleep(seconds: float) -> None:
            waited.append(seconds)
            if len(waited) == 3:
                held.close()

        wait_until_free(tmp_path, sleep)
    assert len(waited) == 3
    with claim(tmp_path):  # of a living process: the solver reports it
        wait_until_free(tmp_path, waited.append)
    assert len(waited) == 3 + LOCK_SECONDS


def test_refusals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="--processes is for this machine"):
        solve_many([RIVER], cluster="local", processes=2)
    with pytest.raises(InputError, match="give one of them"):
        solve_many([RIVER], cluster="local", executor=Here())
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"not installed\.\nInstall it, on every machine") as error:
        solve_many([RIVER], cluster="local", output=tmp_path / "run")
    assert len(str(error.value).splitlines()) == 2
    assert not (tmp_path / "run").exists()
