"""Building ready-made solutions: packed as certified, skipped when there, and resumed."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from allstreets.base import Control, InputError
from allstreets.cli.main import main
from allstreets.jobs import Callbacks, CertificatePlan, LibraryJob, plan_library
from allstreets.jobs.library import BUILT, FAILED, KNOWN, LATER, STOPPED, TRAINED
from allstreets.solutions import WholeSolution
from allstreets.storage import load, load_unified

GAME = """
name: game  # of the test
solver:
  type: unified_cfr
  cards: classes
  stack_depth: 2
  raise_sizes: []
  postflop_bet_sizes: [1.0]
  max_raises_per_street: 0
  flops: [KsKhKd]
  store: preflop
  epochs: 4
  check_interval: 2
  threads: 1
"""
PUSH = """
name: push
solver: {type: unified_cfr,
  limp: false, raise_sizes: [], flops: spread_1, store: preflop, epochs: 200,
  stack_depth: 10
  }
"""
QUICK = CertificatePlan(flops=2, iterations=2, cards="classes")


@pytest.fixture(autouse=True)
def _own_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of packs go into a folder of the test; tables are those of all tests."""
    monkeypatch.setenv("ALLSTREETS_LIBRARY", str(tmp_path / "cache" / "library"))


def job_of(folder: Path, text: str = GAME, name: str = "game", **options: Any) -> LibraryJob:
    file = folder / f"{name}.yaml"
    file.write_text(text)
    options = {"certificates": QUICK, "threads": 1, **options}
    return plan_library([file], folder / "packs", **options)


def states(job: LibraryJob, callbacks: Callbacks | None = None) -> list[str]:
    return [built.state for built in job.run(callbacks or Callbacks()).games]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a game was trained, and then certified and packed."""
    folder = tmp_path_factory.mktemp("built")
    assert states(job_of(folder, certificates=None)) == [TRAINED]
    assert not (folder / "packs/game.zip").exists()
    job = job_of(folder)
    assert "trained" in job.plan().lines[0]
    outcome = job.run()
    assert [built.state for built in outcome.games] == [BUILT]
    assert outcome.problem is None
    assert outcome.to_json()["games"][0]["certificate"]["flops"] == 4
    return folder


@pytest.fixture
def packed(built: Path, tmp_path: Path) -> Path:
    """The same, for a test of its own."""
    return Path(shutil.copytree(built, tmp_path / "built"))


def test_a_game_is_trained_certified_and_packed(tmp_path: Path, packed: Path) -> None:
    assert "then certificates on 2 drawn flops" in "\n".join(job_of(tmp_path).plan().lines)
    pack = packed / "packs/game.zip"
    solution = load(pack, WholeSolution)
    certificate = solution.certificate
    assert certificate is not None
    assert not certificate.outdated, "what ships is what was certified"
    assert certificate.flops == 4
    assert solution.iterations == 4
    # Again: it is there.
    written = pack.read_bytes()
    again = job_of(packed)
    assert again.plan().lines == ("game: there",)
    outcome = again.run()
    assert [built.state for built in outcome.games] == [KNOWN]
    assert pack.read_bytes() == written


def test_an_interrupted_run_goes_on(tmp_path: Path, built: Path) -> None:
    class Stop(Control):
        asked = False

        def wants_to_stop(self) -> bool:
            return self.asked

    stop = Stop()

    def after_two(progress: Any) -> None:
        stop.asked = progress.done >= 2

    callbacks = Callbacks(progress=(after_two,), control=stop)
    job = job_of(tmp_path, certificates=None)
    outcome = job.run(callbacks)
    assert [built.state for built in outcome.games] == [STOPPED]
    assert outcome.interrupted
    assert states(job_of(tmp_path, certificates=None)) == [TRAINED]
    interrupted = load_unified(job._folder(job.games[0]))
    uninterrupted = load(built / "packs/game.zip", WholeSolution)
    assert interrupted.iterations == uninterrupted.iterations == 4
    assert interrupted.exploitability == uninterrupted.exploitability


def test_stacks_and_one_pack_for_all(tmp_path: Path) -> None:
    job = job_of(tmp_path, PUSH, "pf", stacks=(2.5, 10), pack="push-fold")
    assert states(job) == [BUILT, BUILT]
    for name, stack in (("pf-2.5bb", 2.5), ("pf-10bb", 10)):
        solution = load(tmp_path / "packs/push-fold.zip" / name, WholeSolution)
        assert solution.rules.stack == 100 * stack
        assert solution.name == name
        assert solution.certificate is not None
        # All that a certificate finds is the error of the game itself, to the rounding.
        assert solution.exploitability is not None
        found = solution.certificate.real_exploitability_mbb
        assert found == pytest.approx(solution.exploitability, rel=0.01, abs=1e-5)
    more = job_of(tmp_path, PUSH, "pf", stacks=(2.5, 10, 12), pack="push-fold")
    assert states(more) == [KNOWN, KNOWN, BUILT]
    load(tmp_path / "packs/push-fold.zip/pf-2.5bb")


def test_a_failure_is_told_and_the_next_game_is_built(tmp_path: Path) -> None:
    job = job_of(tmp_path, PUSH, "pf", stacks=(5, 10))
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs/pf-5bb.zip").write_bytes(b"no pack")
    outcome = job.run()
    assert [built.state for built in outcome.games] == [FAILED, BUILT]
    assert outcome.problem is not None
    assert "pf-5bb: failed. the pack" in outcome.problem


def test_no_game_is_begun_after_the_time(tmp_path: Path) -> None:
    assert states(job_of(tmp_path, PUSH, "pf", minutes=-1.0)) == [LATER]


def test_files_that_cannot_be_built(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs one line with stack_depth:, and there are 0"):
        job_of(tmp_path, "name: a\nsolver: {type: unified_cfr}\n", stacks=(5,))
    with pytest.raises(InputError, match="the library contains whole games"):
        job_of(tmp_path, "postflop_model: {flops: spread_2}\n")
    with pytest.raises(InputError, match="two games have the name pf-5bb"):
        job_of(tmp_path, PUSH, "pf", stacks=(5, 5))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pf.yaml"
    file.write_text(PUSH)
    packs = str(tmp_path / "packs")
    build = ["library", "build", str(file), "--stacks", "3-4/0.5", "--output", packs]
    assert main([*build, "--dry-run"]) == 0
    assert "pf-3.5bb: no flop is seen" in capsys.readouterr().out
    assert main(build) == 0
    assert "pf-4bb: built, " in capsys.readouterr().out
    assert main(["report", f"{packs}/pf-3bb.zip"]) == 0
    assert "3 bb stacks" in capsys.readouterr().out
    assert main(["library", "build", str(file), "--stacks", "x"]) == 2
    assert "write stacks in bb" in capsys.readouterr().err
    assert main(["library"]) == 0
    assert "pf-ante-20bb" in capsys.readouterr().out


def test_every_game_of_the_package_can_be_read() -> None:
    games = sorted((Path(__file__).parents[2] / "allstreets/library/games").glob("*.yaml"))
    job = plan_library(games, Path("packs"), stacks=(20,), device=None)
    assert {game.name for game in job.games} >= {"hu-20bb", "cash-20bb", "pf-20bb"}
    for game in job.games:
        assert game.config.store == "preflop"
