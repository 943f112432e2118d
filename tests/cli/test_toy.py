"""allstreets toy: figures, files, curves, resume and bad input."""

import json
from pathlib import Path

import pytest
from harness.pressing import press_in

from allstreets.cli.main import main
from allstreets.jobs import metrics_file

KEYS = {
    "game", "algorithm", "iterations", "exploitability", "game_value", "avg_positive_regret",
    "max_regret", "strategy_entropy", "seconds", "strategy",
}  # fmt: skip


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["toy", *arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("algorithm", ["vanilla", "linear", "cfr+", "dcfr", "dcfr+", "tuned"])
def test_kuhn_is_worth_minus_one_eighteenth(
    capsys: pytest.CaptureFixture[str], algorithm: str
) -> None:
    iterations = "20000" if algorithm in ("vanilla", "linear") else "2000"
    shown = figures(capsys, "kuhn", "--algorithm", algorithm, "--iterations", iterations)
    assert set(shown) >= KEYS
    assert shown["game_value"] == pytest.approx(-1 / 18, abs=1e-4)
    assert shown["iterations"] == int(iterations)
    strategy = shown["strategy"]
    assert isinstance(strategy, dict)
    assert len(strategy) == 12
    assert strategy["J b"]["call"] == pytest.approx(0, abs=1e-3)
    assert strategy["Q b"]["call"] == pytest.approx(1 / 3, abs=0.02)


def test_a_target_ends_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["toy", "leduc", "-a", "dcfr+", "--target", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "CONVERGED" in out
    assert "game value for the first player: -0.08" in out
    assert "a trend, not a bound" in out
    assert "912 more; --json prints them all" in out


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_the_curve_is_drawn(tmp_path: Path, ending: str, start: bytes) -> None:
    path = tmp_path / f"curve.{ending}"
    assert main(["toy", "kuhn", "-n", "200", "--plot", str(path)]) == 0
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("algorithm", ["tuned", "mccfr"])
def test_a_resumed_run_equals_one_that_was_never_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], algorithm: str
) -> None:
    options = ["leduc", "-a", algorithm, "--check-interval", "100"]
    whole = figures(capsys, *options, "-n", "3000")
    folder = str(tmp_path / "run")
    figures(capsys, *options, "-n", "1700", "--output", folder)
    resumed = figures(capsys, *options, "-n", "3000", "--output", folder, "--resume")
    for shown in (whole, resumed):
        del shown["seconds"]
    assert resumed == whole


def test_ctrl_c_saves_and_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    command = ["toy", "leduc", "-n", "100000000", "--check-interval", "10"]
    with monkeypatch.context() as patch:
        press_in(patch, metrics_file, "append")
        assert main([*command, "--output", str(folder)]) == 130
    out, err = capsys.readouterr()
    assert f"saved in {folder}, continue with the same command and --resume" in out
    assert f"Saving to {folder} …" in err
    assert main(["toy", "leduc", "-n", "10", "--output", str(folder)]) == 2  # never overwritten


def test_a_full_disk_does_not_hide_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("allstreets.storage.checkpoints.write_checked_arrays", full)
    assert main(["toy", "kuhn", "-n", "50", "--output", str(tmp_path / "run")]) == 2
    out, err = capsys.readouterr()
    assert "game value for the first player: -0.05" in out
    assert "Error: cannot write the checkpoint of iteration 50" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kuhm"], "unknown game 'kuhm': did you mean 'kuhn'?"),
        (["kuhn", "-a", "dcfrr"], "unknown algorithm 'dcfrr': did you mean 'dcfr'?"),
        (["kuhn", "-a", "dcfr(1)"], "cannot read 'dcfr(1)'"),
        (["kuhn", "--target", "-1"], "exploitability_threshold: must be above 0, not -1"),
        (["kuhn", "--regret-threshold", "-1"], "regret_threshold: must be above 0, not -1"),
        (["kuhn", "-n", "0", "--regret-threshold", "1"], "iterations: must be 1 or more, not 0"),
        (["kuhn", "--plot", "curve.jpg"], "name a .png or .svg file"),
        (["kuhn", "--resume"], "--resume needs the folder"),
        (["kuhn", "--threads", "0"], "threads: 0 is too few"),
        (["kuhn", "-a", "dcfr+", "--prune-warmup", "5"], "there is nothing to prune"),
        (["kuhn", "--prune-warmup", "5", "--prune-threshold", "x"], "threshold"),
        (["openspiel:no_such_game"], "no_such_game"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["toy", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_a_checkpoint_of_another_game_is_refused_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(["toy", "kuhn", "-n", "1000", "--output", str(folder)]) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for other in (["leduc"], ["kuhn", "-a", "cfr+"]):
        assert main(["toy", *other, "-n", "2000", "--output", str(folder), "--resume"]) == 2
        assert "Error" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    # Cut off half of every array file: nothing good is left to resume from.
    for path in before:
        if path.suffix == ".safetensors":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert main(["toy", "kuhn", "-n", "2000", "--output", str(folder), "--resume"]) == 2
    assert "Traceback" not in capsys.readouterr().err
