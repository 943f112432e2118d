"""Graded decisions as tables: totals, leaks, rows for spreadsheets and JSON.

A review's decisions are listed under their hands; its losses count per 100 hands. Decisions of
practice are separate; their losses count per 100 decisions.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any

from allstreets.base import InputError, write_atomic, write_csv_rows
from allstreets.betting import POT_KINDS, action_in_words
from allstreets.interop import Skipped
from allstreets.study.games import UNOPENED
from allstreets.study.grading import ACTIONS, STREETS, Answer, GradedDecision
from allstreets.study.results import StoredAnswer
from allstreets.study.review_folder import HandReview

Row = dict[str, Any]
Pair = tuple[HandReview, GradedDecision]
SHOWN = 5
WITHOUT = ("ranges", "strategy", "evs_bb")  # in JSON only on request
SORTS: tuple[tuple[str, Iterable[str], Callable[[Pair], str]], ...] = (
    ("street", STREETS, lambda pair: pair[1].street),
    ("pot", (UNOPENED, *POT_KINDS), lambda pair: pair[0].kind),
    ("action", ACTIONS.values(), lambda pair: ACTIONS[pair[1].taken[0]]),
)
"""Groupings of a review's totals: their names in order, and the name for a decision."""
GROUPS: dict[str, Callable[[StoredAnswer], str]] = {
    "street": lambda stored: stored.answer.street,
    "pot": lambda stored: stored.answer.pot_kind,
    "solution": lambda stored: stored.answer.solution,
    "day": lambda stored: f"{_time(stored):%Y-%m-%d}",
}
"""Groupings of practice figures; days are in the player's time zone."""


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
        """The loss in bb per 100 decisions; None: none was graded."""
        return 100 * self.loss_bb / self.graded if self.graded else None

    def mapping(self) -> Row:
        """The summary as JSON data."""
        return {
            "decisions": self.decisions,
            "judged": self.graded,
            "right": self.right,
            "score": self.score,
            "loss_bb": self.loss_bb,
            "loss_bb_per_100": self.loss_per_100,
            "leaks": [asdict(leak) for leak in self.leaks],
            "worst": [answer.mapping() for answer in self.worst],
        }


def summarise(answers: Iterable[Answer]) -> Summary:
    """Figures of decisions."""
    given = list(answers)
    losses = [loss for answer in given if (loss := answer.loss_bb) is not None]
    missed = sorted(
        (answer for answer in given if answer.missed), key=lambda answer: -(answer.loss_bb or 0.0)
    )
    groups: dict[str, list[float]] = {}
    for answer in missed:
        groups.setdefault(_leak(answer), []).append(answer.loss_bb or 0.0)
    leaks = [Leak(text, len(lost), sum(lost)) for text, lost in groups.items()]
    return Summary(
        decisions=len(given),
        graded=len(losses),
        right=len(losses) - len(missed),
        loss_bb=sum(losses),
        leaks=tuple(sorted(leaks, key=lambda leak: -leak.loss_bb)[:SHOWN]),
        worst=tuple(missed[:SHOWN]),
    )


def _leak(answer: Answer) -> str:
    best = answer.best
    pot = "" if answer.pot_kind in ("spot", UNOPENED) else f", {answer.pot_kind} pot"
    instead = "" if best is None else f" instead of {_kind(best.action, answer.line)}"
    return f"{answer.street}{pot}: {_kind(answer.taken, answer.line)}{instead}"


def _kind(word: str, line: str) -> str:
    """An action without its size."""
    return action_in_words(word[0], line) if word == "c" else ACTIONS[word[0]]


def grouped(stored: Sequence[StoredAnswer], by: str) -> list[tuple[str, Summary]]:
    """Summaries by one of `GROUPS`, names in the order in which they come up."""
    groups: dict[str, list[Answer]] = {}
    for entry in stored:
        groups.setdefault(GROUPS[by](entry), []).append(entry.answer)
    return [(name, summarise(answers)) for name, answers in groups.items()]


def stats_mapping(stored: Sequence[StoredAnswer]) -> Row:
    """All stored results in figures, as JSON data."""
    keys = ("decisions", "score", "loss_bb_per_100")
    tables = {
        f"by_{by}": [
            {"name": name, **{key: summary.mapping()[key] for key in keys}}
            for name, summary in grouped(stored, by)
        ]
        for by in GROUPS
    }
    return {**summarise(entry.answer for entry in stored).mapping(), **tables}


def answer_rows(stored: Iterable[StoredAnswer]) -> list[Row]:
    """One row per decision: pandas.DataFrame(answer_rows(results.answers())) is a table."""
    return [
        {
            "time": _time(entry).isoformat(timespec="seconds"),
            **entry.answer.mapping(),
            "frequency": entry.answer.frequency,
            "best": entry.answer.best_action,
            "missed": entry.answer.missed,
        }
        for entry in stored
    ]


def export_text(stored: Sequence[StoredAnswer], form: str) -> str:
    """All decisions as "csv" or "json"."""
    rows = answer_rows(stored)
    if form == "json":
        return json.dumps(rows, indent=1) + "\n"
    for row in rows:
        row["options"] = " ".join(
            f"{option['action']}={option['frequency']:.3f}:"
            f"{'' if option['ev_bb'] is None else format(option['ev_bb'], '.4f')}"
            for option in row["options"]
        )
    return _csv(rows, ["time"])


def export(stored: Sequence[StoredAnswer], path: Path) -> None:
    """Write all decisions to a .csv or .json file, whole or not at all."""
    form = path.suffix.lower().removeprefix(".")
    if form not in ("csv", "json"):
        raise InputError(f"{path}: results are exported as .csv or .json")
    _write(path, export_text(stored, form))


def _time(stored: StoredAnswer) -> datetime:
    return datetime.fromtimestamp(stored.at).astimezone()


@dataclass(frozen=True)
class Review:
    """All reviewed hands, and the others: the outcome of the job."""

    hands: tuple[HandReview, ...]
    skipped: tuple[Skipped, ...]
    total: int  # hands to review
    output: Path
    problem: str | None = None  # every hand is stored when it is reviewed

    @property
    def decisions(self) -> list[tuple[HandReview, GradedDecision]]:
        """All decisions, each with its hand."""
        return [(hand, made) for hand in self.hands for made in hand.decisions]

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it before the last hand."""
        return len(self.hands) < self.total

    def lines(self) -> list[str]:
        """The number of reviewed hands, and their loss."""
        lost = total_rows(self)[0]["loss_bb"] if self.hands else 0.0
        return [f"{len(self.hands):,} of {self.total:,} hands are reviewed, {lost:.2f} bb lost"]

    def to_json(self) -> dict[str, Any]:
        """Hands, decisions and totals."""
        return review_mapping(self)


def decision_rows(review: Review) -> list[Row]:
    """One row per decision: the costliest first, ungraded ones last."""
    rows = [_row(*pair) for pair in review.decisions]
    return sorted(rows, key=lambda row: -1.0 if row["loss_bb"] is None else row["loss_bb"])[::-1]


def _row(hand: HandReview, made: GradedDecision) -> Row:
    best = made.best
    return {
        "loss_bb": made.loss_bb,
        "within_bb": made.within_bb,
        "missed": made.missed,
        "hand": hand.name,
        "street": made.street,
        "pot_kind": hand.kind,
        "seat": hand.seat,
        "cards": hand.cards,
        "board": made.board,
        "line": made.line,
        "taken": made.taken,
        "counted_as": made.counted_as,
        "frequency": made.frequency,
        "best": best.action if best else None,
        "best_ev_bb": best.ev_bb if best else None,
        "options": " ".join(f"{each.action}={each.frequency:.3f}" for each in made.options),
        "evs_bb": " ".join(
            f"{each.action}={'' if each.ev_bb is None else f'{each.ev_bb:.4f}'}"
            for each in made.options
        ),
        "pot_bb": made.pot_bb,
        "to_call_bb": made.to_call_bb,
        "stack_bb": made.stack_bb,
        "solution": hand.solution,
        "solution_stack_bb": hand.solution_stack_bb,
        "judged_by": made.evaluated_by,
        "solved_to": made.solved_to,
        "note": "; ".join([made.note, *hand.notes] if made.note else hand.notes),
        "file": hand.file,
        "file_line": hand.line,
    }


def total_rows(review: Review) -> list[Row]:
    """Losses in all and by street, kind of pot and action."""
    rows = [_total("all", "all", review.decisions, len(review.hands))]
    for by, names, name_of in SORTS:
        for name in names:
            some = [pair for pair in review.decisions if name_of(pair) == name]
            if some:
                hands = len({id(hand) for hand, _ in some})
                rows.append(_total(by, name, some, hands, len(review.hands)))
    return rows


def _total(by: str, name: str, some: Sequence[Pair], hands: int, all_hands: int = 0) -> Row:
    """`hands` are those of the decisions, of `all_hands` (0: the same number)."""
    losses = [made.loss_bb for _, made in some if made.loss_bb is not None]
    return {
        "by": by,
        "name": name,
        "hands": hands,
        "decisions": len(some),
        "judged": len(losses),
        "loss_bb": sum(losses),
        "loss_bb_per_100": 100 * sum(losses) / ((all_hands or hands) or 1),
    }


def ungraded(review: Review) -> list[tuple[str, int]]:
    """The reasons for ungraded decisions with their counts, the most frequent first."""
    notes = (made.note.partition(":")[0] for _, made in review.decisions if made.loss_bb is None)
    return Counter(notes).most_common()


def review_mapping(review: Review, *, grids: bool = False) -> Row:
    """The review as JSON data; `grids`: with ranges, strategies and EVs of every decision."""
    hands = [hand.to_json() for hand in review.hands]
    for made in (made for hand in hands for made in hand["decisions"] if not grids):
        for key in WITHOUT:
            del made[key]
    return {
        "hands": hands,
        "totals": total_rows(review),
        "not_judged": dict(ungraded(review)),
        "skipped": [asdict(skipped) for skipped in review.skipped],
        "interrupted": review.interrupted,
    }


def write_csv(review: Review, path: Path) -> None:
    """Write the rows of all decisions, whole or not at all."""
    _write(path, _csv(decision_rows(review), ["loss_bb", "hand", "street"], "\r\n"))


def _csv(rows: Sequence[Row], empty: Sequence[str], line_end: str = "\n") -> str:
    """Rows as CSV; `empty` are the columns of a table without rows."""
    out = StringIO(newline="")
    write_csv_rows(out, list(rows[0]) if rows else empty, rows, line_end=line_end)
    return out.getvalue()


def _write(path: Path, text: str) -> None:
    write_atomic(path, lambda out: out.write(text.encode()), durable=False)
