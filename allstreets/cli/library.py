"""allstreets library: the ready-made solutions, and how they are built."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from allstreets.base import ends_by_signals
from allstreets.cli.terminal.output import (
    JsonOption,
    ThreadsOption,
    console,
    plain_table,
    print_json,
    print_lines,
    written,
)

if TYPE_CHECKING:
    from allstreets.storage import Packed

EXACT = 0.001  # mbb/hand: games below it count as solved

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def library(
    context: typer.Context,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table of docs/library.md.")
    ] = False,
    every: Annotated[
        bool, typer.Option("--all", help="List each game of a long series on its own line.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the ready-made solutions, each with its certificate and the date it was made.

    \b
    Examples:
      allstreets library
      allstreets library --all
      allstreets report hu-20bb --line r2
      allstreets library --json
      allstreets library build game.yaml --output packs/

    Use a name wherever a command takes a folder. docs/library.md says how the solutions were made.
    """
    if context.invoked_subcommand is not None:
        return
    from allstreets.storage import library as ready_made

    rows = [_row(packed) for packed in ready_made().values()]
    if json:
        print_json({"solutions": rows})
        return
    cells = [_cells(row) for row in rows] if every else _short(rows)
    if markdown:
        lines = [COLUMNS, ["---"] * len(COLUMNS), *cells]
        typer.echo("\n".join(f"| {' | '.join(line)} |" for line in lines))
        return
    table = plain_table(*COLUMNS)
    for line in cells:
        table.add_row(*line)
    console().print(table)


COLUMNS = ["name", "format", "stack", "mbb/hand with real cards", "target", "flops", "date"]
MANY = 16  # games of a series that share a line of the table


def _short(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The cells of all rows, by format and stack; a long series of exact games is one line."""
    lines, series = list[list[str]](), dict[str, list[dict[str, Any]]]()
    for row in rows:
        series.setdefault(row["format"], []).append(row)
    for name, games in series.items():
        games = sorted(games, key=lambda row: row["stack_bb"])
        first, last = games[0], games[-1]
        worst = max(row["real_exploitability_mbb"] or 0.0 for row in games)
        if len(games) <= MANY or worst >= EXACT:
            lines += [_cells(row) for row in games]
            continue
        lines.append(
            [
                f"{first['name']} … {last['name']}",
                name,
                f"{first['stack_bb']:g} to {last['stack_bb']:g} bb, {len(games)} games",
                f"< {EXACT:g}",
                f"≤ {last['target_mbb']:g}",
                "none",
                last["date"],
            ]
        )
    return lines


def _cells(row: dict[str, Any]) -> list[str]:
    """A ready-made solution as the cells of a table."""
    low, high = row["interval_mbb"] or (None, None)
    return [
        row["name"],
        row["format"],
        f"{row['stack_bb']:g} bb",
        _worth(row["real_exploitability_mbb"], low, high),
        f"≤ {row['target_mbb']:g}" + ("" if row["reaches_target"] else ", missed"),
        str(row["flops"] or "none"),
        row["date"],
    ]


def _worth(value: float | None, low: float | None, high: float | None) -> str:
    from allstreets.base import figure

    if value is None:
        return "not certified"
    return figure(value) + ("" if low == high else f" [{figure(low)}, {figure(high)}]")


def _row(packed: "Packed") -> dict[str, Any]:
    """A ready-made solution as data."""
    from allstreets.jobs import target_mbb

    certificate, stack = packed.certificate, packed.stack
    value = None if certificate is None else certificate.real_exploitability_mbb
    return {
        "name": packed.name,
        "format": packed.format,
        "tree": packed.tree,
        "stack_bb": stack,
        "real_exploitability_mbb": value,
        "interval_mbb": None if certificate is None else list(certificate.interval_mbb),
        "target_mbb": target_mbb(stack),
        "reaches_target": value is not None and value <= target_mbb(stack),
        "flops": None if certificate is None else certificate.flops,
        "date": packed.note["date"],
        "code_version": packed.note["code_version"],
    }


@app.command("build")
def build(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE.yaml", help="Training files of whole games.")
    ],
    output: Annotated[
        Path | None, written("Folder for the packs.  [default: packs]", "--output", "-o")
    ] = None,
    work: Annotated[
        Path | None,
        written("Folder for runs, to resume them.  [default: work in --output]", "--work"),
    ] = None,
    stacks: Annotated[
        str | None,
        typer.Option(
            metavar="10,15,20|1-20/0.5",
            help="Stacks in bb: a game for each file and stack; hu.yaml at 20 bb is hu-20bb.",
        ),
    ] = None,
    pack: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="One pack for all games.  [default: one for each]"),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Overrides the files: cpu; cuda, a GPU of this machine.")
    ] = None,
    threads: ThreadsOption = None,
    flops: Annotated[int, typer.Option(min=2, help="Flops drawn for a certificate.")] = 64,
    cards: Annotated[
        Literal["boards", "classes", "exact"],
        typer.Option(help="Card model for these flops."),
    ] = "exact",
    iterations: Annotated[
        int, typer.Option(min=1, help="Iterations on each of these flops.")
    ] = 120,
    drafts: Annotated[int | None, typer.Option(min=0, help="As in allstreets certify.")] = None,
    train_only: Annotated[
        bool,
        typer.Option("--train-only", help="Train only; the next build certifies and packs."),
    ] = False,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Start no new game after this many minutes.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print time and memory of each game, and stop.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Train whole games, certify them with real cards and pack each into a small file.

    Games are built one after the other. A game whose pack exists is skipped, an interrupted one
    resumes, and one that fails does not stop the others.

    \b
    Examples:
      allstreets library build game.yaml --output packs/
      allstreets library build hu.yaml --stacks 10,15,20 --output packs/ --device cuda
      allstreets library build pf.yaml --stacks 1-20/0.5 --pack push-fold --output packs/
      allstreets library build hu.yaml --stacks 6-30/2 --device cuda --dry-run

    docs/library.md describes the packs. The path of a pack works as a solution too:
    allstreets report packs/hu-20bb.zip
    """
    from allstreets.cli.terminal.running import exit_code, run_on_terminal
    from allstreets.jobs import CertificatePlan, plan_library, read_stacks

    job = plan_library(
        files,
        output or Path("packs"),
        stacks=() if stacks is None else read_stacks(stacks),
        work=work,
        pack=pack,
        certificates=None if train_only else CertificatePlan(flops, iterations, cards, drafts),
        device=device,
        threads=threads,
        minutes=minutes,
    )
    out = console(stderr=json)
    if dry_run:
        print_lines(out, job.plan().lines)
        return
    with ends_by_signals():
        outcome = run_on_terminal(job)
    print_lines(out, outcome.lines())
    if json:
        print_json(outcome.to_json())
    raise typer.Exit(exit_code(outcome) or (1 if outcome.problem else 0))
