"""The report says what each figure is worth, and never calls a trend a bound."""

from pathlib import Path

import pytest
from builders.matrix_game import MatrixGameSolver, random_game

from allstreets.cfr.metrics import Metrics
from allstreets.jobs import (
    Check,
    ExploitabilityThreshold,
    Iterations,
    Progress,
    RegretThreshold,
    StopRule,
    TimeLimit,
    TrainingOutcome,
    ending,
    outcome_lines,
    report_lines,
    train,
)
from allstreets.jobs.job import Reason

KNOWN = Metrics(
    exploitability=0.0123,
    avg_positive_regret=0.00045,
    regret_bound=0.05,
    max_regret=0.002,
    strategy_entropy=0.41,
)


def progress(
    metrics: Metrics | None,
    *rules: StopRule,
    iteration: int = 1000,
    holding: tuple[Reason, ...] = (),
) -> Progress:
    check = Check(1000, 70.0, 500.0, 10, 94_000_000, metrics) if metrics else None
    return Progress(
        done=iteration,
        total=None,
        seconds=70.0,
        session_seconds=70.0,
        iterations_per_second=500.0,
        eta_seconds=None,
        target_eta_seconds=None,
        solver_bytes=10,
        process_bytes=94_000_000,
        unit="chips",
        rules=rules,
        check=check,
        holding=holding,
    )


def test_all_figures() -> None:
    assert report_lines(progress(KNOWN, Iterations(1000))) == [
        "iteration 1,000 after 1:10, 500 it/s, 94 MB",
        "  exploitability    0.0123 chips    by true best response",
        "  avg +regret       0.000450 chips  a trend, not a bound",
        "  regret bound      0.0500 chips    exploitability cannot be above it",
        "  max regret        0.00200 chips   the worst single decision",
        "  strategy entropy  0.410           0 = always one action, 1 = uniform",
    ]


def test_targets() -> None:
    rules = (ExploitabilityThreshold(0.02), RegretThreshold(0.0001))
    lines = report_lines(progress(KNOWN, *rules))
    assert lines[1].endswith("0.0123 chips    target 0.02: CONVERGED")
    assert lines[2].endswith("0.000450 chips  target 0.0001: not converged; a trend, not a bound")


def test_what_is_not_known_is_not_zero() -> None:
    lines = report_lines(progress(Metrics(strategy_entropy=0.0)))
    assert lines[1:] == [
        "  exploitability    –  not known: this solver cannot compute it",
        "  avg +regret       –  not known to this solver",
        "  regret bound      –  not known: discounted or sampled regrets prove no bound",
        "  max regret        –  not known to this solver",
        "  strategy entropy  0  0 = always one action, 1 = uniform",
    ]


def test_figures_of_an_earlier_iteration_are_marked() -> None:
    heading = report_lines(progress(KNOWN, iteration=1037))[0]
    assert heading == "iteration 1,037 after 1:10, 500 it/s, 94 MB; figures of iteration 1,000"
    assert report_lines(progress(None, iteration=5)) == [
        "iteration 5 after 1:10, 500 it/s, 94 MB",
        "  no check has been made yet",
    ]


@pytest.mark.parametrize(
    ("reason", "folder", "expected"),
    [
        (
            "interrupted",
            Path("runs/a"),
            "interrupted at iteration 1,000; saved in runs/a, "
            "continue with the same command and --resume",
        ),
        (
            "interrupted",
            None,
            "interrupted at iteration 1,000; nothing was saved, "
            "since no checkpoint folder was given",
        ),
        (
            "exploitability_threshold",
            None,
            "CONVERGED at iteration 1,000: exploitability at most 0.02 chips",
        ),
        ("regret_threshold", None, "CONVERGED at iteration 1,000: avg +regret at most 0.1 chips"),
        (
            "iterations",
            None,
            "ended at iteration 1,000 (1,000 iterations); not converged: "
            "exploitability at most 0.02 chips or avg +regret at most 0.1 chips was not reached",
        ),
    ],
)
def test_the_end(reason: Reason, folder: Path | None, expected: str) -> None:
    rules = (Iterations(1000), ExploitabilityThreshold(0.02), RegretThreshold(0.1))
    outcome = TrainingOutcome(reason, progress(KNOWN, *rules), (), folder)
    assert ending(outcome) == expected
    assert outcome_lines(outcome)[-1] == expected


def test_the_end_without_an_aim() -> None:
    outcome = TrainingOutcome("time", progress(KNOWN, TimeLimit(70)), (), None)
    assert ending(outcome) == "ended at iteration 1,000 (70 seconds)"


def test_a_true_run() -> None:
    solver = MatrixGameSolver(random_game())
    outcome = train(solver, [ExploitabilityThreshold(0.005), Iterations(10_000)])
    metrics = outcome.progress.metrics
    assert metrics is not None
    assert metrics.exploitability is not None
    assert metrics.exploitability == solver.metrics().exploitability
    assert metrics.exploitability <= 0.005
    assert outcome_lines(outcome)[-1].startswith("CONVERGED at iteration ")
    assert metrics.regret_bound is not None
    assert metrics.exploitability <= metrics.regret_bound
