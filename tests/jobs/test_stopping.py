"""Stop rules: each fires on its own figure, and one that could never fire is refused."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from builders.matrix_game import MatrixGameSolver

from allstreets.base import InputError
from allstreets.cfr.metrics import Metrics
from allstreets.jobs import (
    Check,
    ExploitabilityThreshold,
    Iterations,
    Progress,
    RegretThreshold,
    StopRule,
    TimeLimit,
)
from allstreets.jobs.loop import check_rules
from allstreets.jobs.stopping import find_rule, holding


def progress(
    iteration: int = 100,
    *,
    metrics: Metrics | None = None,
    checked_at: int | None = None,
    session_seconds: float = 1.0,
) -> Progress:
    check = Check(checked_at or iteration, 1.0, None, 0, None, metrics) if metrics else None
    return Progress(
        done=iteration,
        total=None,
        seconds=1000.0,
        session_seconds=session_seconds,
        iterations_per_second=None,
        eta_seconds=None,
        target_eta_seconds=None,
        solver_bytes=0,
        process_bytes=None,
        unit="chips",
        rules=(),
        check=check,
    )


@pytest.mark.parametrize("kind", [ExploitabilityThreshold, RegretThreshold])
def test_thresholds_look_at_their_own_figure(
    kind: type[ExploitabilityThreshold] | type[RegretThreshold],
) -> None:
    own, other = "exploitability", "avg_positive_regret"
    if kind is RegretThreshold:
        own, other = other, own
    rule = kind(0.5)
    assert rule.holds(progress(metrics=replace(Metrics(), **{own: 0.5, other: 9.0})))
    assert not rule.holds(progress(metrics=replace(Metrics(), **{own: 0.51, other: 0.0})))
    assert not rule.holds(progress(metrics=replace(Metrics(), **{other: 0.0})))
    assert not rule.holds(progress())


def test_figures_of_an_earlier_iteration_do_not_count() -> None:
    figures = Metrics(exploitability=0.1)
    rule = ExploitabilityThreshold(0.5)
    assert rule.holds(progress(100, metrics=figures, checked_at=100))
    assert not rule.holds(progress(137, metrics=figures, checked_at=100))


@pytest.mark.parametrize("kind", [ExploitabilityThreshold, RegretThreshold])
def test_thresholds_wait_for_the_iteration_they_begin_at(
    kind: type[ExploitabilityThreshold] | type[RegretThreshold],
) -> None:
    figures = Metrics(exploitability=0.1, avg_positive_regret=0.1)
    rule = kind(0.5, begins=160)
    assert not rule.holds(progress(159, metrics=figures))
    assert rule.holds(progress(160, metrics=figures))


def test_iterations_and_time() -> None:
    assert Iterations(100).holds(progress(100))
    assert Iterations(100).holds(progress(101))
    assert not Iterations(100).holds(progress(99))
    # Only the time of this process counts.
    assert not TimeLimit(2.0).holds(progress(session_seconds=1.9))
    assert TimeLimit(2.0).holds(progress(session_seconds=2.0))


def test_an_untrained_solver_is_not_converged() -> None:
    figures = Metrics(exploitability=0.0, avg_positive_regret=0.0)
    rules = (RegretThreshold(0.5), ExploitabilityThreshold(0.5))
    assert holding(rules, progress(0, metrics=figures)) == ()
    assert holding(rules, progress(1, metrics=figures)) == (
        "exploitability_threshold",
        "regret_threshold",
    )


def test_the_most_telling_rule_comes_first() -> None:
    rules = (TimeLimit(1), Iterations(5), RegretThreshold(1), ExploitabilityThreshold(1))
    figures = Metrics(exploitability=0.0, avg_positive_regret=0.0)
    assert holding(rules, progress(5, metrics=figures)) == (
        "exploitability_threshold",
        "regret_threshold",
        "iterations",
        "time",
    )


@pytest.mark.parametrize("target", [0.0, -1.0, float("nan"), float("inf")])
def test_thresholds_of_the_wrong_sign(target: float) -> None:
    for kind, name in (
        (ExploitabilityThreshold, "exploitability_threshold"),
        (RegretThreshold, "regret_threshold"),
        (TimeLimit, "the time limit"),
    ):
        with pytest.raises(InputError) as error:
            kind(target)
        assert str(error.value) == f"{name} must be above 0, not {target:g}; for example 0.01"


def test_no_iterations() -> None:
    with pytest.raises(InputError) as error:
        Iterations(0)
    assert str(error.value) == (
        "iterations must be 1 or more, not 0; to run until a threshold holds, leave iterations out"
    )


class Blind(MatrixGameSolver):
    """A solver that does not know its convergence."""

    def metrics(self, *, exploitability: bool = True) -> Metrics:
        figures = super().metrics(exploitability=exploitability)
        return replace(figures, exploitability=None, avg_positive_regret=None)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], "nothing would end this run; give iterations, a threshold or a time limit"),
        (
            [Iterations(5), ExploitabilityThreshold(1)],
            "exploitability_threshold: this solver cannot compute its exploitability, so the rule "
            "would never hold; give iterations or a time limit instead",
        ),
        (
            [Iterations(5), RegretThreshold(1)],
            "regret_threshold: this solver does not know its average positive regret, so the rule "
            "would never hold; give iterations or a time limit instead",
        ),
        (
            [Iterations(5), Iterations(6)],
            "the stop rule iterations is given twice; keep one of the two",
        ),
    ],
)
def test_rules_that_could_not_end_the_run(rules: Sequence[StopRule], expected: str) -> None:
    with pytest.raises(InputError) as error:
        check_rules(rules, Blind())
    assert str(error.value) == expected


def test_good_rules() -> None:
    check_rules([Iterations(5)], Blind())
    check_rules([ExploitabilityThreshold(1), RegretThreshold(1)], MatrixGameSolver())


def test_words() -> None:
    assert Iterations(12345).describe("chips") == "12,345 iterations"
    assert TimeLimit(90).describe("chips") == "90 seconds"
    assert (
        ExploitabilityThreshold(0.5).describe("mbb/hand") == "exploitability at most 0.5 mbb/hand"
    )
    assert RegretThreshold(1e-5).describe("chips") == "avg +regret at most 1e-05 chips"


def test_find_rule() -> None:
    assert find_rule([TimeLimit(3), Iterations(5)], Iterations) == Iterations(5)
    assert find_rule([TimeLimit(3)], Iterations) is None


def test_a_threshold_may_ask_for_several_checks_in_a_row() -> None:
    rule = ExploitabilityThreshold(1.0, checks=3)
    good = progress(metrics=Metrics(exploitability=0.5))
    assert not rule.holds(replace(good, recent=(0.5, 0.5)))
    assert not rule.holds(replace(good, recent=(0.5, 1.5, 0.5)))
    assert not rule.holds(replace(good, recent=(None, 0.5, 0.5)))
    assert rule.holds(replace(good, recent=(9.0, 0.5, 1.0, 0.5)))
    assert "3 times in a row" in rule.describe("mbb/hand")
    with pytest.raises(InputError, match="1 or more"):
        ExploitabilityThreshold(1.0, checks=0)
