"""What decisions add up to: score, loss per 100 decisions, leaks, and how that moves over time."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

from allstreets.base import InputError, write_atomic, write_csv_rows
from allstreets.practice.records import Answer
from allstreets.practice.results import StoredAnswer
from allstreets.review import ACTIONS

SHOWN = 5


@dataclass(frozen=True)
class Leak:
    """Decisions that were missed in the same way."""

    text: str  # "flop, raised pot: bet instead of check"
    times: int
    loss_bb: float


@dataclass(frozen=True)
class Summary:
    """Decisions in figures."""

    decisions: int
    graded: int
    right: int  # that were not missed
    loss_bb: float
    leaks: tuple[Leak, ...]  # the costliest first
    worst: tuple[Answer, ...]  # likewise, single decisions

    @property
    def score(self) -> float | None:
        """The share of right decisions; None: none was graded."""
        return self.right / self.graded if self.graded else None

    @property
    def loss_per_100(self) -> float | None:
        """In bb per 100 decisions; None: none was graded."""
        return 100 * self.loss_bb / self.graded if self.graded else None


def summarise(answers: Iterable[Answer]) -> Summary:
    """Figures of decisions."""
    given = list(answers)
    graded = [one for one in given if one.loss_bb is not None]
    missed = sorted(
        (one for one in graded if one.missed), key=lambda one: one.loss_bb or 0.0, reverse=True
    )
    groups: dict[str, list[float]] = {}
    for one in missed:
        groups.setdefault(_leak(one), []).append(one.loss_bb or 0.0)
    leaks = [Leak(text, len(losses), sum(losses)) for text, losses in groups.items()]
    return Summary(
        decisions=len(given),
        graded=len(graded),
        right=len(graded) - len(missed),
        loss_bb=sum(one.loss_bb or 0.0 for one in graded),
        leaks=tuple(sorted(leaks, key=lambda leak: -leak.loss_bb)[:SHOWN]),
        worst=tuple(missed[:SHOWN]),
    )


def grouped(
    stored: Sequence[StoredAnswer], name_of: Callable[[StoredAnswer], str]
) -> list[tuple[str, Summary]]:
    """Summaries by name, names in the order in which they come up."""
    found: dict[str, list[Answer]] = {}
    for one in stored:
        found.setdefault(name_of(one), []).append(one.answer)
    return [(name, summarise(answers)) for name, answers in found.items()]


def day_of(stored: StoredAnswer) -> str:
    """The day on which a decision was made, where the player lives: "2026-05-31"."""
    return datetime.fromtimestamp(stored.at).astimezone().strftime("%Y-%m-%d")


def summary_mapping(summary: Summary) -> dict[str, Any]:
    """A summary as JSON data."""
    return {
        "decisions": summary.decisions,
        "judged": summary.graded,
        "right": summary.right,
        "score": summary.score,
        "loss_bb": summary.loss_bb,
        "loss_bb_per_100": summary.loss_per_100,
        "leaks": [asdict(leak) for leak in summary.leaks],
        "worst": [answer.mapping() for answer in summary.worst],
    }


def stats_mapping(stored: Sequence[StoredAnswer]) -> dict[str, Any]:
    """Everything that was kept in figures, as JSON data."""
    parts = {
        "by_street": lambda one: one.answer.street,
        "by_pot": lambda one: one.answer.pot_kind,
        "by_solution": lambda one: one.answer.solution,
        "by_day": day_of,
    }
    return {
        **summary_mapping(summarise(one.answer for one in stored)),
        **{
            key: [
                {
                    "name": name,
                    "decisions": each.decisions,
                    "score": each.score,
                    "loss_bb_per_100": each.loss_per_100,
                }
                for name, each in grouped(stored, name_of)
            ]
            for key, name_of in parts.items()
        },
    }


def answer_rows(stored: Iterable[StoredAnswer]) -> list[dict[str, Any]]:
    """One row per decision: pandas.DataFrame(answer_rows(results.answers())) is a table."""
    rows = []
    for one in stored:
        answer = one.answer
        best = answer.best
        row = {
            "time": datetime.fromtimestamp(one.at).astimezone().isoformat(timespec="seconds"),
            **answer.mapping(),
            "frequency": answer.frequency,
            "best": None if best is None else best.action,
            "missed": answer.missed,
        }
        rows.append(row)
    return rows


def export_text(stored: Sequence[StoredAnswer], form: str) -> str:
    """All decisions as "csv" or "json"."""
    rows = answer_rows(stored)
    if form == "json":
        return json.dumps(rows, indent=1) + "\n"
    for row in rows:
        row["options"] = " ".join(
            f"{one['action']}={one['frequency']:.3f}:"
            f"{'' if one['ev_bb'] is None else format(one['ev_bb'], '.4f')}"
            for one in row["options"]
        )
    out = StringIO(newline="")
    write_csv_rows(out, list(rows[0]) if rows else ["time"], rows)
    return out.getvalue()


def export(stored: Sequence[StoredAnswer], path: Path) -> None:
    """Write all decisions to a .csv or .json file, whole or not at all."""
    form = path.suffix.lower().removeprefix(".")
    if form not in ("csv", "json"):
        raise InputError(f"{path}: results are exported as .csv or .json")
    text = export_text(stored, form)
    write_atomic(path, lambda out: out.write(text.encode()), durable=False)


def _leak(one: Answer) -> str:
    best = one.best
    pot = "" if one.pot_kind in ("spot", "unopened") else f", {one.pot_kind} pot"
    instead = "" if best is None else f" instead of {ACTIONS[best.action[0]]}"
    return f"{one.street}{pot}: {ACTIONS[one.taken[0]]}{instead}"
