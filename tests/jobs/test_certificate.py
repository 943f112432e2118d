"""Certifying a whole game in a folder: figures, interruptions, changes, and refusals."""

import json
import os
import shutil
import signal
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from builders.small_games import LIMPED, solve_limped, write_small
from builders.worker_pools import PiecesHere

import allstreets
from allstreets.base import InputError
from allstreets.cards import FLOP_COUNT, spread_flops
from allstreets.cli.main import main
from allstreets.engines import CLASSES
from allstreets.jobs import Callbacks, CertifyJob, Progress, plan_certify, progress_line
from allstreets.jobs.reports.solution import certificate_lines, quality_lines
from allstreets.solutions import Certificate
from allstreets.solvers import Completion
from allstreets.storage import load_unified

FLOPS = ["KsKhKd", "AsAhAd"]
QUICKLY = Completion(CLASSES, 5)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return solve_limped(tmp_path_factory.mktemp("certify"), FLOPS)


@pytest.fixture
def copy(solved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(solved, tmp_path / "copy"))


def job(folder: Path, flops: str = "own") -> CertifyJob:
    return plan_certify(folder, flops, completion=lambda _: QUICKLY, threads=1)


@pytest.fixture(scope="module")
def known(solved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judged on its own flops; tests may not change it."""
    folder = Path(shutil.copytree(solved, tmp_path_factory.mktemp("certify") / "known"))
    assert job(folder).run().certificate is not None
    return folder


@pytest.fixture
def judged(known: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(known, tmp_path / "judged"))


def test_on_its_own_flops(copy: Path) -> None:
    before = load_unified(copy)
    assert before.facts.certificate is None
    assert any("in its own game" in line for line in quality_lines(before))
    assert any("216 with real cards" in line for line in quality_lines(before))
    seen: list[Progress] = []
    outcome = job(copy).run(Callbacks(progress=(seen.append,)))
    found = outcome.certificate
    assert found is not None
    assert (found.flops, found.trained_flops, found.completion) == (2, 2, None)
    assert found.interval_mbb == (found.real_exploitability_mbb,) * 2
    parts = found.after_flop_mbb + found.unseen_gap_mbb
    assert found.real_exploitability_mbb == pytest.approx(parts)
    assert before.exploitability is not None
    # Only the river is left where both have seen a full house: blind play is worse.
    assert found.real_exploitability_mbb > before.exploitability == found.own_exploitability_mbb
    after = load_unified(copy)
    assert after.facts.certificate == found
    assert certificate_lines(found)[0] in quality_lines(after)
    assert [one.done for one in seen] == [0, 1, 2]
    assert progress_line(seen[1]).startswith("flops 1 of 2 | ")
    # What is judged is not judged again.
    again = job(copy)
    assert again.estimate().known == 2
    assert again.run(Callbacks(progress=(seen.append,))).certificate == found
    assert seen[-1].before == 2


def test_interrupted_it_goes_on_where_it_was(copy: Path, known: Path) -> None:
    def stop(progress: Progress) -> None:
        if progress.done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        job(copy).run(Callbacks(progress=(stop,)))
    assert load_unified(copy).facts.certificate is None
    assert job(copy).estimate().known == 1
    found, wanted = job(copy).run().certificate, load_unified(known).facts.certificate
    assert found is not None
    assert wanted is not None
    assert found.real_exploitability_mbb == wanted.real_exploitability_mbb
    damaged = next((copy / "certificate").glob("*.safetensors"))
    damaged.write_bytes(damaged.read_bytes()[:-3])
    assert job(copy).run().certificate is not None


@pytest.fixture(scope="module")
def drawn_six(solved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judged on six drawn pairs of flops; tests may not change it."""
    folder = Path(shutil.copytree(solved, tmp_path_factory.mktemp("certify") / "drawn"))
    six = plan_certify(folder, "6", completion=lambda _: QUICKLY, threads=1, drafts=0)
    assert six.run().certificate is not None
    return folder


@pytest.fixture
def drawn_copy(drawn_six: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(drawn_six, tmp_path / "drawn"))


def test_drafts_of_more_flops_are_kept_and_narrow_the_interval(
    drawn_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = drawn_copy
    monkeypatch.setattr("allstreets.jobs.certificate.DRAWN_BESIDE_DRAFTS", 6)

    def drawn(drafts: int) -> CertifyJob:
        return plan_certify(
            copy, "6", completion=lambda _: QUICKLY, threads=1, drafts=drafts, draft=QUICKLY
        )

    assert drawn(0).estimate().known == len(drawn(0).flops)
    alone = load_unified(copy).facts.certificate
    seen: list[Progress] = []
    job = drawn(12)
    assert len(job.drafted) > len(job.drafts) >= 12
    assert any("drafts of flops" in line for line in job.plan().lines)
    together = job.run(Callbacks(progress=(seen.append,))).certificate
    assert alone is not None
    assert together is not None
    # A draft that is solved as the flops themselves are knows everything about them but betting
    # against real cards; what is drawn decides less.
    widths = [high - low for low, high in (alone.interval_mbb, together.interval_mbb)]
    assert widths[1] < widths[0]
    assert together.after_flop_mbb == alone.after_flop_mbb
    assert (alone.drafts, together.drafts) == (0, len(job.drafted))
    assert f"quick drafts of {together.drafts}" in certificate_lines(together)[0]
    # Drafts are kept: an interrupted certificate makes only those that are missing.
    assert drawn(12)._new_drafts == 0
    assert drawn(12).run().certificate == together
    some = list((copy / "certificate").glob("*.safetensors"))
    some[0].unlink()
    again = drawn(12).run().certificate
    assert again is not None
    assert again.interval_mbb == pytest.approx(together.interval_mbb)


def test_drafts_of_all_flops_by_others_are_those_made_here(
    drawn_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = drawn_copy
    monkeypatch.setattr("allstreets.jobs.certificate.DRAWN_BESIDE_DRAFTS", 6)
    monkeypatch.setattr("allstreets.jobs.certificate.MOST_DRAWN", 9)
    few = spread_flops(12)
    monkeypatch.setattr("allstreets.jobs.certificate.spread_flops", lambda _: few)

    def drafting(folder: Path, threads: int) -> CertifyJob:
        job = plan_certify(
            folder, "6", completion=lambda _: QUICKLY, threads=threads, drafts=10, draft=QUICKLY
        )
        assert len(job.drafts) == 12
        with job._executor() as executor:
            assert executor.at_once == threads
        return job

    here = drafting(copy, 1).run().certificate
    other = drafting(Path(shutil.copytree(copy, tmp_path / "other")), 1)
    for flop in other.drafted:  # the flops with real cards are known there, and the drafts are not
        other.work._path(flop.text, other._draft_name).unlink()
    again = drafting(other.folder, 2)
    monkeypatch.setattr("allstreets.jobs.certificate.on_this_machine", PiecesHere)
    assert (again._new_drafts, again.estimate().known) == (len(again.drafted), len(again.flops))
    there = again.run().certificate
    assert here is not None
    assert there is not None
    assert there.interval_mbb == here.interval_mbb
    assert there.leaks == here.leaks


def test_without_exact_flops_there_are_no_drafts_unless_asked_for(copy: Path) -> None:
    exactly = partial(Completion.like, kind="exact")
    assert plan_certify(copy, "12", threads=1).drafts == ()
    assert len(plan_certify(copy, "12", completion=exactly, threads=1).drafts) == 4 * 12
    assert plan_certify(copy, "own", threads=1, drafts=8).drafts == ()
    assert len(plan_certify(copy, "12", threads=1, drafts=FLOP_COUNT).drafts) == FLOP_COUNT
    # Too few flops to compare them with.
    assert plan_certify(copy, "10", completion=exactly, threads=1).drafts == ()
    with pytest.raises(InputError, match="--flops 12"):
        plan_certify(copy, "10", threads=1, drafts=8)


def test_a_signal_ends_it_after_the_flop_at_work(copy: Path) -> None:
    def press(progress: Progress) -> None:
        if progress.done == 0:
            os.kill(os.getpid(), signal.SIGINT)

    outcome = job(copy).run(Callbacks(progress=(press,)))
    assert outcome.interrupted
    assert outcome.to_json() is None
    assert outcome.done <= 1
    assert job(copy).estimate().known == outcome.done


def test_a_solution_that_has_changed_is_judged_anew(judged: Path, tmp_path: Path) -> None:
    file = write_small(tmp_path / "longer.yaml", **LIMPED, flops=FLOPS, epochs=14)
    assert main(["train", str(file), "--output", str(judged), "--resume"]) == 0
    old = load_unified(judged).facts.certificate
    assert old is not None
    assert old.outdated
    assert "certify it again" in certificate_lines(old)[0]
    again = job(judged)
    assert again.work.differs() == ["judged"]
    assert again.estimate().known == 0
    assert again.run().certificate is not None
    new = load_unified(judged).facts.certificate
    assert new is not None
    assert not new.outdated


@pytest.mark.long
def test_flops_that_are_not_stored_are_solved_first(judged: Path) -> None:
    """Long: flops are solved."""
    found = job(judged, "2").run().certificate
    assert found is not None
    assert (found.flops, found.trained_flops, found.chosen) == (6, 2, "2")
    assert found.completion == QUICKLY.text
    low, high = found.interval_mbb
    assert low <= found.real_exploitability_mbb <= high
    assert "4 of these flops" in certificate_lines(found)[-1]
    assert len(job(judged, "all").flops) == FLOP_COUNT
    # Completed in another way they are judged again, those that are stored are not.
    other = plan_certify(judged, "2", completion=lambda _: Completion(CLASSES, 6), threads=1)
    assert other.work.differs() == []
    assert other.estimate().known == 2
    assert other.run().certificate is not None
    assert job(judged, "2").estimate().known == 6


def test_the_command(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", str(copy), "--flops", "own", "--threads", "1", "--json"]) == 0
    captured = capsys.readouterr()
    found = Certificate.of(json.loads(captured.out))
    assert found == load_unified(copy).facts.certificate
    assert found == allstreets.certify(copy, "own", threads=1)
    assert "2 flops" in captured.err
    assert "exploitability with real cards" in captured.err
    assert main(["report", str(copy)]) == 0
    assert "exploitability with real cards" in capsys.readouterr().out
    assert main(["report", str(copy), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"] == found.to_json()
    for flops in ("1", "some", "-3"):
        assert main(["certify", str(copy), "--flops", flops]) == 2
        assert "write all, own" in capsys.readouterr().err
    assert main(["certify", str(copy.parent)]) == 2


def test_where_no_flop_is_seen_cards_are_real_anyway(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_small(tmp_path / "push.yaml", raise_sizes=[], limp=False, stack_depth=4)
    folder = tmp_path / "push"
    assert main(["train", str(file), "--output", str(folder), "--certify", "--json"]) == 0
    found = Certificate.of(json.loads(capsys.readouterr().out)["certificate"])
    assert found == load_unified(folder).facts.certificate
    assert found.flops == 0
    assert found.real_exploitability_mbb == pytest.approx(found.own_exploitability_mbb, rel=1e-6)
    assert np.isfinite(found.interval_mbb).all()
