"""allstreets solve of several files or boards: progress, a table, and where the solutions are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from allstreets.base import INTERRUPTED, InputError
from allstreets.cli.output import command, console, print_json
from allstreets.cli.solve import Job

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.jobs import SpotRow, SpotsOutcome

FAILED = 2  # the exit code where a spot could not be solved
SHOWN_ROWS = 60
SHOWN_ERRORS = 10


def solve_many(
    files: Sequence[Path],
    flags: dict[str, Any],
    boards: str | None,
    job: Job,
    *,
    processes: int | None,
    cluster: str | None,
    csv: Path | None,
) -> None:
    """Solve spots side by side and print their rows."""
    from allstreets.jobs import (
        Limits,
        SpotJob,
        plan_spots,
        read_many,
        run_spots,
        show_spots_progress,
        spots_executor,
        table_rows,
    )

    read = read_many(files, flags, boards)
    planned, count = plan_spots(
        read,
        limits=Limits(job.max_iterations, job.seconds),
        threads=job.threads,
        processes=processes,
        cluster=cluster,
        output=job.output,
        saved=job.saved,
    )
    spots = [one for one in planned if isinstance(one, SpotJob)]
    if not spots:
        reasons = [one.error for one in planned if not isinstance(one, SpotJob)]
        raise InputError(f"none of the spots can be solved: {reasons[0]}")
    err = console(stderr=True)
    at_once = f"{count} at a time, " if count > 1 else ""
    threads = spots[0].threads
    what = f"{len(spots):,} spot{'s' * (len(spots) != 1)}"
    err.print(f"{what}, {at_once}{threads} thread{'s' * (threads > 1)} each")
    with (
        spots_executor(count, cluster, err.print) as executor,
        show_spots_progress() as observer,
    ):
        outcome = run_spots(
            planned,
            executor,
            output=job.output,
            resume=job.resume,
            csv=csv,
            observers=[observer],
        )
    out = console(stderr=job.json)
    _print_rows(out, outcome.rows)
    _print_errors(err, outcome)
    _print_way_on(out, job.output, csv, outcome)
    if job.json:
        print_json({"spots": table_rows(outcome.rows), "interrupted": outcome.interrupted})
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)
    if outcome.failed:
        raise typer.Exit(FAILED)


def _print_rows(out: "Console", rows: "Sequence[SpotRow]") -> None:
    """A line for each, and their means by weight where they are of one game."""
    from allstreets.jobs import table_rows

    solved = [row for row in rows if row.error is None]
    if not solved:
        return
    names = len({row.name for row in solved}) > 1
    words = list(dict.fromkeys(word for row in solved for word in row.frequencies))
    width = max(len(row.name) for row in solved) + 2 if names else 0
    out.print(
        f"{'name' if names else '':{width}}{'board':11}{'weight':>8}{'EV OOP':>10}{'EV IP':>10}"
        f"{'equity OOP':>12}{'EQR OOP':>9}{'exploit.':>10}"
        + "".join(f"{word:>9}" for word in words)
    )
    shown = table_rows(solved[:SHOWN_ROWS])
    means = _means(table_rows(solved)) if not names and len(solved) > 1 else []
    for row in [*shown, *means]:
        cells = [
            f"{row['name'] if names else '':{width}}{row['board']:11}{row['weight']:8,.4g}",
            *(f"{_number(row[key]):>10}" for key in ("ev_oop", "ev_ip")),
            f"{_percent(row['equity_oop']):>12}{_percent(row['eqr_oop'], 0):>9}",
            f"{_percent(row['exploitability_pct'], 2, 1):>10}",
            *(f"{_percent(row.get(word)):>9}" for word in words),
        ]
        out.print("".join(cells), markup=False)
    if len(solved) > SHOWN_ROWS:
        out.print(f"… and {len(solved) - SHOWN_ROWS:,} more")
    out.print(
        "weight: boards that one stands for; then what the first decision does, in % of hands."
    )


def _means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line with the means of what all rows have, over the hands that are dealt."""
    dealt = [row["weight"] * row["pairs"] for row in rows]
    mean: dict[str, Any] = dict.fromkeys(rows[0])
    for key in rows[0]:
        values = [row[key] for row in rows]
        if not key.startswith("eqr") and all(isinstance(value, float) for value in values):
            weighed = sum(value * times for value, times in zip(values, dealt, strict=True))
            mean[key] = weighed / sum(dealt)
    return [{**mean, "name": "", "board": "mean", "weight": sum(row["weight"] for row in rows)}]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _percent(value: float | None, digits: int = 1, factor: float = 100) -> str:
    return "–" if value is None else f"{factor * value:.{digits}f} %"


def _print_errors(err: "Console", outcome: "SpotsOutcome") -> None:
    failed = outcome.failed
    for row in failed[:SHOWN_ERRORS]:
        where = f"{row.name} {row.board}".strip()
        err.print(f"Not solved: {where}: {row.error}", markup=False, soft_wrap=True)
    if len(failed) > SHOWN_ERRORS:
        err.print(f"… and {len(failed) - SHOWN_ERRORS:,} more that were not solved")


def _print_way_on(
    out: "Console", output: Path | None, csv: Path | None, outcome: "SpotsOutcome"
) -> None:
    out.print()
    if outcome.interrupted:
        kept = f"saved in {output}. Go on with the same command and --resume." if output else (
            "the rows above are all. --output DIR saves solutions, for --resume."
        )  # fmt: skip
        out.print(f"Interrupted; {kept}", markup=False, soft_wrap=True)
    if csv is not None:
        out.print(f"Rows: {csv}", markup=False, soft_wrap=True)
    if output is None:
        if not outcome.interrupted:
            out.print("--output DIR saves the solutions and their rows, for reports and --resume.")
        return
    out.print(f"Rows: {output / 'spots.csv'}", markup=False, soft_wrap=True)
    report = command("report", output, "--by", "category")
    out.print(f"Look further: {report}", markup=False, soft_wrap=True)
    out.print(f"In the browser: {command('explore', output)}", markup=False, soft_wrap=True)
