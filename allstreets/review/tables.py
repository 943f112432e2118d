"""A review as tables: decisions by loss, totals, CSV and JSON."""

from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from allstreets.base import write_atomic, write_csv_rows
from allstreets.betting import Street
from allstreets.review.folder import HandReview
from allstreets.review.grading import ACTIONS, GradedDecision
from allstreets.review.run import Review

Row = dict[str, Any]
STREETS = [street.text for street in Street]
KINDS = ["unopened", "limped", "raised", "3bet", "4bet"]
WITHOUT = ("ranges", "strategy", "evs_bb")  # in JSON only on request


def decision_rows(review: Review) -> list[Row]:
    """One row per decision: the costliest first, those that are not graded last."""
    rows = [_row(hand, one) for hand, one in _decisions(review)]
    return sorted(rows, key=lambda row: -1.0 if row["loss_bb"] is None else row["loss_bb"])[::-1]


def total_rows(review: Review) -> list[Row]:
    """What was lost, in all and by street, kind of pot and action."""
    count = len(review.hands)
    rows = [_total("all", "all", list(_decisions(review)), count)]
    sorts: list[tuple[str, list[str], Callable[[HandReview, GradedDecision], str]]] = [
        ("street", STREETS, lambda _, one: one.street),
        ("pot", KINDS, lambda hand, _: hand.kind),
        ("action", list(ACTIONS.values()), lambda _, one: ACTIONS[one.taken[0]]),
    ]
    for by, names, name_of in sorts:
        for name in names:
            some = [pair for pair in _decisions(review) if name_of(*pair) == name]
            if some:
                rows.append(_total(by, name, some, count))
    return rows


def ungraded(review: Review) -> list[tuple[str, int]]:
    """Why decisions are not graded and how many, the most frequent first."""
    found: dict[str, int] = {}
    for _, one in _decisions(review):
        if one.loss_bb is None:
            reason = one.note.partition(":")[0]
            found[reason] = found.get(reason, 0) + 1
    return sorted(found.items(), key=lambda item: -item[1])


def review_mapping(review: Review, *, grids: bool = False) -> Row:
    """The review as JSON data; `grids`: with ranges, strategies and EVs of every decision."""
    hands = [hand.to_json() for hand in review.hands]
    if not grids:
        for hand in hands:
            hand["decisions"] = [
                {key: value for key, value in one.items() if key not in WITHOUT}
                for one in hand["decisions"]
            ]
    return {
        "hands": hands,
        "totals": total_rows(review),
        "not_judged": dict(ungraded(review)),
        "skipped": [
            {"file": one.file, "line": one.line, "hand": one.hand, "reason": one.reason}
            for one in review.skipped
        ],
        "interrupted": review.interrupted,
    }


def write_csv(review: Review, path: Path) -> None:
    """Write the rows of all decisions, whole or not at all."""
    rows = decision_rows(review)
    out = StringIO(newline="")
    write_csv_rows(out, list(rows[0]) if rows else COLUMNS, rows, line_end="\r\n")
    write_atomic(path, lambda file: file.write(out.getvalue().encode()), durable=False)


COLUMNS = ["loss_bb", "hand", "street"]  # of a table without rows


def _decisions(review: Review) -> Iterator[tuple[HandReview, GradedDecision]]:
    for hand in review.hands:
        for one in hand.decisions:
            yield hand, one


def _row(hand: HandReview, one: GradedDecision) -> Row:
    best = one.best
    return {
        "loss_bb": one.loss_bb,
        "within_bb": one.within_bb,
        "hand": hand.name,
        "street": one.street,
        "pot_kind": hand.kind,
        "seat": hand.seat,
        "cards": hand.cards,
        "board": one.board,
        "line": one.line,
        "taken": one.taken,
        "counted_as": one.counted_as,
        "frequency": one.frequency,
        "best": best.action if best else None,
        "best_ev_bb": best.ev_bb if best else None,
        "options": " ".join(f"{each.action}={each.frequency:.3f}" for each in one.options),
        "evs_bb": " ".join(
            f"{each.action}={'' if each.ev_bb is None else f'{each.ev_bb:.4f}'}"
            for each in one.options
        ),
        "pot_bb": one.pot_bb,
        "to_call_bb": one.to_call_bb,
        "stack_bb": one.stack_bb,
        "solution": hand.solution,
        "solution_stack_bb": hand.solution_stack_bb,
        "judged_by": one.evaluated_by,
        "solved_to": one.solved_to,
        "note": "; ".join([one.note, *hand.notes] if one.note else hand.notes),
        "file": hand.file,
        "file_line": hand.line,
    }


def _total(by: str, name: str, some: list[tuple[HandReview, GradedDecision]], hands: int) -> Row:
    losses = [one.loss_bb for _, one in some if one.loss_bb is not None]
    return {
        "by": by,
        "name": name,
        "hands": len({id(hand) for hand, _ in some}) if by != "all" else hands,
        "decisions": len(some),
        "judged": len(losses),
        "loss_bb": sum(losses),
        "loss_bb_per_100": 100 * sum(losses) / hands if hands else 0.0,
    }
