"""allstreets review: the cost of decisions in played hands, by a solution."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allstreets.cli.terminal.output import (
    JsonOption,
    ThreadsOption,
    console,
    percent,
    plain_table,
    print_json,
    written,
)

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.interop import Skipped
    from allstreets.study import Review

SHOWN = 8  # reasons and places that are named
ACCURACY = (
    "Accuracy in bb: the most that a perfect answer could gain at that decision, on average over "
    "the hands that reach it; the loss of a single hand may be off by more."
)


def review(
    hands: Annotated[
        list[Path],
        typer.Argument(
            metavar="HANDS", help="Hand histories, or folders of them: PHH, PokerStars, GGPoker."
        ),
    ],
    solutions: Annotated[
        Path,
        typer.Option(
            help="A solved whole game, a folder with several stack depths, or library: the "
            "ready-made games."
        ),
    ],
    hero: Annotated[
        str | None,
        typer.Option(help="The player to grade.  [default: the one whose cards the history shows]"),
    ] = None,
    rows: Annotated[int, typer.Option(min=0, help="Rows of the table.")] = 20,
    csv: Annotated[Path | None, written("Write all decisions to this file.")] = None,
    seconds_per_spot: Annotated[
        float,
        typer.Option(
            min=0.1, help="Time limit for a street of a hand; flops that take longer are drafted."
        ),
    ] = 5.0,
    target: Annotated[
        str, typer.Option(help="Exploitability that spots are solved to, of the pot.")
    ] = "0.1%",
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the choice between two sizes of the tree.")
    ] = 1,
    threads: ThreadsOption = None,
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Hands at a time.  [default: one per core, if there are many]"),
    ] = None,
    output: Annotated[
        Path | None,
        written("Store the review here, for allstreets explore.  [default: the cache folder]"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Grade played hands: the EV of every action, and what yours cost.

    Before the flop, the whole game with the nearest stack grades your decisions. After it, every
    street is solved again for the ranges that get there, the real pot and stack, and the sizes that
    were bet: exactly, or as a draft if a flop takes too long.

    \b
    Examples:
      allstreets review hands.txt --solutions solved/
      allstreets review hands.txt --solutions library
      allstreets review histories/ --solutions games/ --hero Ann --csv losses.csv
      allstreets review hands.txt --solutions solved/ --output mine && allstreets explore mine
      allstreets review session.phhs --solutions solved/ --hero p1 --seconds-per-spot 60

    Ctrl-C keeps every reviewed hand, and the same command resumes. docs/review.md explains the
    figures.
    """
    from allstreets.cli.terminal.running import exit_code, run_on_terminal
    from allstreets.interop import read_hands
    from allstreets.jobs import parse_target
    from allstreets.study import (
        Effort,
        open_games,
        plan_review,
        write_csv,
    )

    effort = Effort(parse_target(target), seconds_per_spot, threads)
    files = read_hands(hands)
    job = plan_review(
        files,
        open_games(solutions),
        hero,
        effort=effort,
        seed=seed,
        output=output,
        processes=processes,
        name=", ".join(path.absolute().name for path in hands[:3]) + ", …" * (len(hands) > 3),
    )
    out = console(stderr=json)
    _print_skipped(console(stderr=True), job.skipped)
    outcome = run_on_terminal(job)
    if csv is not None:
        write_csv(outcome, csv)
    _print_review(out, outcome, rows)
    if json:
        print_json(outcome.to_json())
    if output is not None and outcome.hands:
        out.print(f"In the browser: allstreets explore {output}", soft_wrap=True)
    if outcome.interrupted:
        out.print(
            f"Interrupted; {len(outcome.hands):,} of {outcome.total:,} hands are reviewed and kept "
            f"in {outcome.output}. Resume with the same command.",
            soft_wrap=True,
        )
    raise typer.Exit(exit_code(outcome))


def _print_skipped(out: "Console", skipped: "tuple[Skipped, ...]") -> None:
    """Print the number of skipped hands, the reasons, and the place of the first of each kind."""
    from allstreets.interop import HandFiles

    files = HandFiles((), skipped)
    if not files.skipped:
        return
    out.print(f"{len(files.skipped):,} skipped:")
    reasons = files.reasons()
    for reason, count in reasons[:SHOWN]:
        where = files.first(reason).place
        out.print(f"  {count:,} × {reason} ({where})", soft_wrap=True)
    if len(reasons) > SHOWN:
        out.print(f"  and {sum(count for _, count in reasons[SHOWN:]):,} for other reasons")


def _print_review(out: "Console", outcome: "Review", shown: int) -> None:
    from allstreets.betting import action_in_words, line_in_words
    from allstreets.study import decision_rows, total_rows, ungraded

    if not outcome.hands:
        out.print("No hand was reviewed.")
        return
    heads = ("loss", "accuracy", "hand", "street", "cards", "line", "did", "best", "note")
    table = plain_table(*heads, numbers=slice(2))
    rows = [row for row in decision_rows(outcome) if row["missed"]]
    for row in rows[:shown]:
        table.add_row(
            f"{row['loss_bb']:.3f}",
            "" if row["within_bb"] is None else f"{row['within_bb']:.2g}",
            row["hand"].rpartition("#")[2],
            row["street"],
            row["cards"],
            line_in_words(row["line"]),
            f"{action_in_words(row['taken'], row['line'])} ({percent(row['frequency'] or 0.0, 0)})",
            action_in_words(row["best"], row["line"]) if row["best"] else "",
            row["note"],
        )
    if rows and shown:
        out.print(
            "Mistakes, the costliest first: the loss in bb, and how often the solution does the "
            "same:"
        )
        out.print(table)
        out.print(f"{ACCURACY}\n", soft_wrap=True)
    _print_totals(out, total_rows(outcome))
    missing = ungraded(outcome)
    if missing:
        reasons = ", ".join(f"{count:,} × {reason}" for reason, count in missing[:SHOWN])
        out.print(f"\nNot graded: {reasons}", soft_wrap=True)
    files = sorted({hand.solution for hand in outcome.hands})
    far = [hand for hand in outcome.hands if hand.notes]
    if far:
        out.print(
            f"{len(far):,} of {len(outcome.hands):,} hands differ from {' or '.join(files)}; "
            f"the first: {far[0].notes[0]}.",
            soft_wrap=True,
        )


def _print_totals(out: "Console", rows: list[dict[str, object]]) -> None:
    heads = ("by", "", "hands", "decisions", "graded", "lost bb", "bb/100")
    table = plain_table(*heads, numbers=slice(2, None))
    for row in rows:
        table.add_row(
            str(row["by"]),
            str(row["name"]),
            f"{row['hands']:,}",
            f"{row['decisions']:,}",
            f"{row['judged']:,}",
            f"{row['loss_bb']:.2f}",
            f"{row['loss_bb_per_100']:.1f}",
        )
    out.print(table)
