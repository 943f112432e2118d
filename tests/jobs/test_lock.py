"""A game with locks is trained until it is solved as well as the one that it was made from."""

from pathlib import Path
from typing import Any

import pytest
from builders.small_games import small_config, write_small

from allstreets.analysis import LockRequest
from allstreets.cli.main import main
from allstreets.jobs import lock_game
from allstreets.jobs.api import lock
from allstreets.jobs.lock import plan_lock
from allstreets.jobs.whole_game import UnifiedJob, UnifiedOutcome, plan_unified
from allstreets.storage import load_unified


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game that its epochs end, with a time limit that it does not get to."""
    folder = tmp_path_factory.mktemp("locking") / "solved"
    plan_unified(small_config(time_limit_seconds=3600), folder).run()
    return folder


def test_a_locked_game_is_no_more_exploitable_than_the_other(solved: Path) -> None:
    """Also if that takes more iterations: always to limp is solved more slowly."""
    before = load_unified(solved)
    request = LockRequest("", always="c")
    cut = lock_game(solved, before, request.of_game(before, str(solved)), None, iterations=12).run()
    assert cut.solver.iterations == before.iterations == 12
    assert before.exploitability is not None
    assert cut.figures.exploitability is not None
    assert cut.figures.exploitability > 2 * before.exploitability
    after = lock(solved, request)
    assert after.iterations > before.iterations
    assert after.exploitability is not None
    assert after.exploitability <= before.exploitability


def test_ten_times_the_iterations_are_the_most(solved: Path) -> None:
    before = load_unified(solved)
    locks = LockRequest("", always="c").of_game(before, str(solved))
    job = lock_game(solved, before, locks, None)
    assert job.iterations == 120
    assert job.config.time_limit_seconds is None
    limited = lock_game(solved, before, locks, None, time_limit_seconds=60.0)
    assert limited.config.time_limit_seconds == 60


def test_what_ends_too_soon_says_so(
    solved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lock", str(solved), "--always", "c", "--output", str(tmp_path / "locked")]
    assert main([*words, "--max-iterations", "12"]) == 0
    reached = load_unified(tmp_path / "locked").exploitability
    stands = load_unified(solved).exploitability
    said = (
        f"Stopped at 12 iterations at {reached:.3g} mbb/hand, the original stands at {stands:.3g}."
    )
    assert said in " ".join(capsys.readouterr().out.split())
    assert main([*words[:-1], str(tmp_path / "whole")]) == 0
    assert "the original stands at" not in capsys.readouterr().out


def test_the_time_that_a_threshold_may_save_is_an_upper_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for goal, words in ((None, "of about"), (1e9, "at most")):
        keys = {} if goal is None else {"exploitability_threshold": goal}
        file = write_small(tmp_path / f"{goal}.yaml", **keys, epochs=4)
        assert main(["train", str(file), "--output", str(tmp_path / f"{goal}")]) == 0
        line = next(x for x in capsys.readouterr().err.splitlines() if "without the checks" in x)
        assert words in line
        assert ("at most" in line) == (goal is not None)


def test_a_round_that_is_killed_leaves_the_one_before(
    solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round takes the place of the one before only when it has ended."""
    output, ran = tmp_path / "locked", list[Path]()
    monkeypatch.setattr("allstreets.jobs.lock.HOLDS", -1.0)  # it resumes after any round
    job, *_ = plan_lock(solved, LockRequest.often("", {"c": ">=90%"}), output, iterations=3)
    train = UnifiedJob.run

    def run(self: UnifiedJob, *given: Any) -> UnifiedOutcome:
        assert isinstance(self.output, Path)
        ran.append(self.output)
        if len(ran) == 3:
            raise KeyboardInterrupt
        return train(self, *given)

    monkeypatch.setattr(UnifiedJob, "run", run)
    with pytest.raises(KeyboardInterrupt):
        job.run()
    assert ran == [output, tmp_path / ".locked.round", tmp_path / ".locked.round"]
    assert load_unified(output).locks
    assert [path.name for path in tmp_path.iterdir()] == ["locked"]


def test_a_kill_while_a_round_is_put_in_place_leaves_the_one_before(
    solved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run finds the solution under its name again, and resumes with its locks."""
    output = tmp_path / "locked"
    monkeypatch.setattr("allstreets.jobs.lock.HOLDS", -1.0)  # another round follows any round
    request = LockRequest.often("", {"c": ">=90%"})
    job, *_ = plan_lock(solved, request, output, iterations=3)
    rename = Path.rename

    def killed(self: Path, target: Path) -> Path:
        if self.name == ".locked.round":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", killed)
    with pytest.raises(KeyboardInterrupt):
        job.run()
    assert not output.exists()
    first = load_unified(tmp_path / ".locked.before")
    resumed, *_ = plan_lock(solved, request, output, iterations=3, resume=True)
    assert load_unified(output).locks == first.locks
    assert isinstance(resumed.first, UnifiedJob)
    assert resumed.first.game.lock == first.locks
