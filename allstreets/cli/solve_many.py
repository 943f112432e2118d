"""allstreets solve of several files or boards: progress, a table, and where the solutions are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from allstreets.cli.terminal.output import command, console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.jobs import SpotRow, SpotsJob, SpotsOutcome

FAILED = 2  # the exit code where a spot could not be solved
SHOWN_ROWS = 60
SHOWN_ERRORS = 10


def solve_many(job: "SpotsJob", *, json: bool) -> None:
    """Solve spots side by side and print their rows."""
    from allstreets.cli.terminal.running import exit_code, run_on_terminal

    outcome = run_on_terminal(job)
    out, err, faults = console(stderr=json), console(stderr=True), outcome.lines()
    _print_rows(out, outcome.rows)
    for line in faults[:SHOWN_ERRORS]:
        err.print(line, markup=False, soft_wrap=True)
    if len(faults) > SHOWN_ERRORS:
        err.print(f"… and {len(faults) - SHOWN_ERRORS:,} more that were not solved")
    _print_way_on(out, job, outcome)
    if json:
        print_json(outcome.to_json())
    raise typer.Exit(exit_code(outcome) or (FAILED if faults else 0))


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


def _print_way_on(out: "Console", job: "SpotsJob", outcome: "SpotsOutcome") -> None:
    output, csv = job.output, job.csv
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
