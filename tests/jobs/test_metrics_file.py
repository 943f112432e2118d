"""The metrics file and the checkpoint agree on resume: nothing twice, nothing lost."""

import json
from pathlib import Path

import pytest

from allstreets.base import InputError
from allstreets.jobs import metrics_file
from allstreets.storage import CheckpointWarning


def row(iteration: int, value: float = 0.5) -> dict[str, float]:
    return {"iteration": iteration, "exploitability": value}


def iterations(path: Path) -> list[int]:
    return [json.loads(line)["iteration"] for line in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "metrics.jsonl"
    metrics_file.begin(path)
    for iteration in (100, 200, 300):
        metrics_file.append(path, row(iteration))
    return path


def test_lines(path: Path) -> None:
    assert path.read_text().splitlines()[0] == '{"iteration": 100, "exploitability": 0.5}'
    assert iterations(path) == [100, 200, 300]


def test_a_fresh_run_does_not_write_into_old_metrics(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(InputError) as error:
        metrics_file.begin(path)
    assert str(error.value) == (
        f"{path} already contains metrics of a run; remove it or name another file"
    )
    assert path.read_bytes() == before
    path.write_text("")
    metrics_file.begin(path)


def test_lines_beyond_the_checkpoint_are_dropped(path: Path) -> None:
    metrics_file.continue_from(path, 250, [row(100), row(200)])
    assert iterations(path) == [100, 200]
    metrics_file.append(path, row(300))
    assert iterations(path) == [100, 200, 300]


def test_half_a_line_is_dropped(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"iteration": 350, "expl')
    metrics_file.continue_from(path, 400, [row(100), row(200), row(300)])
    assert iterations(path) == [100, 200, 300]


def test_lines_come_from_the_checkpoint(path: Path) -> None:
    """Whose checksum vouches for them: a digit of the file may have been flipped."""
    path.write_text(json.dumps(row(200, 0.25)) + "\n" + json.dumps(row(270)) + "\n")
    metrics_file.continue_from(path, 300, [row(100), row(200), row(300)])
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        row(100),
        row(200),
        row(300),
    ]
    path.unlink()
    metrics_file.continue_from(path, 300, [row(100), row(200), row(300)])
    assert iterations(path) == [100, 200, 300]


@pytest.mark.parametrize(
    "line", ["hello", "[1]", "3", '{"iteration": "1"}', '{"x": 1}', "", "{\xff", "[" * 10_000]
)
def test_a_damaged_line_costs_nothing(path: Path, line: str) -> None:
    path.write_text(f"{json.dumps(row(100))}\n{line}\n{json.dumps(row(300))}\n")
    with pytest.warns(CheckpointWarning) as told:
        metrics_file.continue_from(path, 300, [row(100), row(200), row(300)])
    assert [str(each.message) for each in told] == [
        f"{path}, line 2: damaged; rewritten from the checkpoint"
    ]
    assert iterations(path) == [100, 200, 300]


def test_a_file_without_one_good_line_is_set_aside(path: Path) -> None:
    path.write_text("dear all,\nhello\n")
    with pytest.warns(CheckpointWarning, match="line 1 and others: damaged"):
        metrics_file.continue_from(path, 100, [row(100)])
    assert iterations(path) == [100]
    (aside,) = path.parent.glob("metrics.jsonl.*.damaged")
    assert aside.read_text() == "dear all,\nhello\n"


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    inside = tmp_path / "file" / "metrics.jsonl"
    with pytest.raises(InputError, match=r"file is a file; name a folder for the metrics file"):
        metrics_file.begin(inside)
    with pytest.raises(InputError, match=r"cannot write the metrics file .*: Not a directory"):
        metrics_file.begin(inside / "deeper")
    with pytest.raises(InputError, match="is a folder; name a file"):
        metrics_file.begin(tmp_path)
    with pytest.raises(InputError, match="Is a directory\nMake room, then continue with --resume"):
        metrics_file.append(tmp_path, row(1))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk() -> None:
    with pytest.raises(InputError) as error:
        metrics_file.append(Path("/dev/full"), row(1))
    assert str(error.value) == (
        "cannot write the metrics file /dev/full: No space left on device\n"
        "Make room, then continue with --resume."
    )
