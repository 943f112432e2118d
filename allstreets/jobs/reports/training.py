"""The report of a run: its figures, their meaning, and a ready-made game beside it."""

from dataclasses import dataclass

from allstreets.analysis import Comparison
from allstreets.base import data_size, duration, figure
from allstreets.jobs.job import Progress, TrainingOutcome
from allstreets.jobs.stopping import ExploitabilityThreshold, RegretThreshold, find_rule
from allstreets.storage import ReadyMadeComparison

TREND = "a trend, not a bound"
BOUND = "exploitability cannot be above it"
NO_BOUND = "not known: discounted or sampled regrets prove no bound"
NO_EXPLOITABILITY = "not known: this solver cannot compute it"
NO_FIGURE = "not known to this solver"


@dataclass(frozen=True)
class ReportRow:
    """One figure: its name, its value with the unit, and its meaning."""

    name: str
    value: str
    remark: str


def report_rows(progress: Progress) -> list[ReportRow]:
    """The figures of the latest check, in order of importance; none before the first check."""
    metrics = progress.metrics
    if metrics is None:
        return []
    unit = progress.unit
    exploitability, regret = metrics.exploitability, metrics.avg_positive_regret
    aim = find_rule(progress.rules, ExploitabilityThreshold)
    regret_aim = find_rule(progress.rules, RegretThreshold)
    return [
        _row(
            "exploitability",
            exploitability,
            unit,
            _target(exploitability, aim.target) if aim else "by true best response",
            NO_EXPLOITABILITY,
        ),
        _row(
            "avg +regret",
            regret,
            unit,
            f"{_target(regret, regret_aim.target)}; {TREND}" if regret_aim else TREND,
            NO_FIGURE,
        ),
        _row("regret bound", metrics.regret_bound, unit, BOUND, NO_BOUND),
        _row("max regret", metrics.max_regret, unit, "the worst single decision", NO_FIGURE),
        _row(
            "strategy entropy",
            metrics.strategy_entropy,
            "",
            "0 = always one action, 1 = uniform",
            NO_FIGURE,
        ),
    ]


def report_lines(progress: Progress) -> list[str]:
    """The report as plain text, for a checkpoint or for the end."""
    heading = f"iteration {progress.iteration:,} after {duration(progress.seconds)}"
    if progress.iterations_per_second is not None:
        heading += f", {figure(progress.iterations_per_second)} it/s"
    if progress.process_bytes is not None:
        heading += f", {data_size(progress.process_bytes)}"
    rows = report_rows(progress)
    if progress.check is None:
        return [heading, "  no check has been made yet"]
    if progress.check.iteration != progress.iteration:
        heading += f"; figures of iteration {progress.check.iteration:,}"
    names = max(len(row.name) for row in rows)
    values = max(len(row.value) for row in rows)
    return [heading, *(f"  {r.name:{names}}  {r.value:{values}}  {r.remark}" for r in rows)]


def outcome_lines(outcome: TrainingOutcome) -> list[str]:
    """The closing report: the figures, the reason why the run ended, and how to continue."""
    return [*report_lines(outcome.progress), ending(outcome)]


def ending(outcome: TrainingOutcome) -> str:
    """The reason why the run ended, in one line, with the way to continue if there is one."""
    at = f"iteration {outcome.progress.iteration:,}"
    if outcome.reason == "interrupted":
        if outcome.checkpoints is None:
            return f"interrupted at {at}; nothing was saved, since no checkpoint folder was given"
        if outcome.unsaved is not None:
            return f"interrupted at {at}; not saved"
        saved = f"saved in {outcome.checkpoints}"
        return f"interrupted at {at}; {saved}, continue with the same command and --resume"
    rules = (rule for rule in outcome.progress.rules if rule.name == outcome.reason)
    what = next((rule.describe(outcome.progress.unit) for rule in rules), outcome.reason)
    if outcome.converged:
        return f"CONVERGED at {at}: {what}"
    aims = [
        rule.describe(outcome.progress.unit)
        for rule in outcome.progress.rules
        if rule.name in ("exploitability_threshold", "regret_threshold")
    ]
    if aims:
        return f"ended at {at} ({what}); not converged: {' or '.join(aims)} was not reached"
    return f"ended at {at} ({what})"


def _row(name: str, value: float | None, unit: str, remark: str, unknown: str) -> ReportRow:
    if value is None:
        return ReportRow(name, figure(None), unknown)
    return ReportRow(name, f"{figure(value)} {unit}".rstrip(), remark)


def _target(value: float | None, target: float) -> str:
    reached = value is not None and value <= target
    return f"target {target:g}: {'CONVERGED' if reached else 'not converged'}"


def ready_made_lines(beside: ReadyMadeComparison) -> list[str]:
    """The solution that ships, its quality, and the differences of the trained one."""
    certificate, (here, there) = beside.certificate, beside.stacks
    away = "" if here == there else f", {there:g} bb deep instead of {here:g}"
    if certificate is None:
        lines = [f"A ready-made solution of this game ships: {beside.name}{away}."]
    else:
        low, high = certificate.interval_mbb
        sure = "" if low == high else f", 95 % between {figure(low)} and {figure(high)}"
        worth = f"{figure(certificate.real_exploitability_mbb)} mbb/hand with real cards{sure}"
        lines = [f"A certified solution of this game ships: {beside.name}{away} ({worth})."]
    lines += [_decision_line(decision) for decision in beside.decisions]
    if beside.values is not None:
        own, other = beside.values
        lines.append(
            f"  The game is worth {own:+.1f} mbb/hand to the small blind here, {other:+.1f} there: "
            f"{own - other:+.1f}"
        )
    return lines


def _decision_line(decision: Comparison) -> str:
    where = f"after '{decision.line}'" if decision.line else "first to act"
    actions = ", ".join(
        f"{label} {100 * own:.1f} % ({100 * other:.1f} %)"
        for label, own, other in zip(decision.labels, *decision.frequencies, strict=True)
    )
    return (
        f"  {decision.seat} {where}, here (there): {actions}; a hand acts differently "
        f"{100 * decision.distance:.1f} % of the time"
    )
