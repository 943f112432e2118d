"""allstreets report: any decision of a solution, and tables over flops."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.cli.output import JsonOption, command, console, written_path

if TYPE_CHECKING:
    from allstreets.games import Spot


class By(StrEnum):
    """What a report over boards is grouped by."""

    board = "board"
    texture = "texture"
    suits = "suits"
    pairing = "pairing"
    high = "high"
    connected = "connected"
    category = "category"
    draw = "draw"
    hand = "hand"


class ReportFormat(StrEnum):
    """How a decision is written."""

    text = "text"
    json = "json"
    csv = "csv"


def report(
    solution: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="A folder written by allstreets solve or allstreets train, or its URL.",
        ),
    ],
    line: Annotated[
        str, typer.Option("--line", "-l", help="The line to the decision; default: the first one.")
    ] = "",
    form: Annotated[
        ReportFormat, typer.Option("--format", "-f", help="csv: one line per combo, hand or flop.")
    ] = ReportFormat.text,
    combos: Annotated[
        bool, typer.Option("--combos", help="Add the table by combo, where hands are combos.")
    ] = False,
    flop: Annotated[str | None, typer.Option(help="One flop, with any suits: AhKd7s.")] = None,
    spr: Annotated[
        float | None, typer.Option(help="Its stack-to-pot ratio, if there are several.")
    ] = None,
    flops: Annotated[
        bool, typer.Option("--flops", help="The table over flops; with --line, of that decision.")
    ] = False,
    by: Annotated[
        By | None,
        typer.Option("--by", help="Over all boards: the line's decision, grouped by this."),
    ] = None,
    sort: Annotated[
        str | None, typer.Option(help="With --by: a column, largest first: ev, share, x, …")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="With --by: the spot, of a folder with several.")
    ] = None,
    behind: Annotated[
        bool,
        typer.Option("--behind", help="Solve an unreached line separately (of a spot)."),
    ] = False,
    chart: Annotated[
        Path | None,
        typer.Option(
            parser=written_path,
            metavar="<Path>",
            help="Draw the decision (of a whole game) to an .svg or .png.",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            parser=written_path, metavar="<Path>", help="With --by: write the table to this file."
        ),
    ] = None,
    parquet: Annotated[
        Path | None,
        typer.Option(
            parser=written_path, metavar="<Path>", help="Write the table over flops to this file."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a decision of a solution: who acts, how often each action is taken, and its EV.

    \b
    Examples:
      allstreets report solved/
      allstreets report solved/ --line "x b33% c | 7h | x" --combos
      allstreets report solved/ --line "b50" --format csv > facing_a_bet.csv
      allstreets report solved/ --line "x b50%" --behind
      allstreets report models/
      allstreets report models/ --format csv > flops.csv
      allstreets report models/ --flop AhKd7s --line "x b50%"
      allstreets report game/ --line "r2.5" --chart bb.svg
      allstreets report game/ --line "r2.5 c | x b50%" --flop AhKd7s
      allstreets report game/ --line "r2.5 c | AhKd7s | x x | 5c | x" --combos
      allstreets report game/ --line "r2.5 c | x" --flops --format csv > flops.csv
      allstreets report game/ --line "r2.5 c | x" --by texture --sort ev
      allstreets report flops/ --line "x" --by category --csv categories.csv

    Lines: x check, c call, f fold, a all-in, b33% or b50 (chips), r60% or r120 (to), | 7h | a card.
    In whole games amounts are in bb: r2.5 raises to 2.5 bb, and a bar separates the streets; with
    cards: boards the turn and river cards stand between bars, as in a spot.
    EVs of a spot are in chips from here on: folding is 0, and both EVs sum to the pot less rake.
    """
    from allstreets.storage import folder_kind, load_spot, mirrored

    folder = mirrored(solution)
    if json:
        form = ReportFormat.json
    kind = folder_kind(folder)
    if by is not None or kind == "spots":
        from allstreets.cli.board_report import report_boards

        _refuse(folder, "many boards", flop=flop, chart=chart, behind=behind or None)
        report_boards(
            folder,
            line,
            (by or By.board).value,
            sort=sort,
            form=form.value,
            csv=csv,
            parquet=parquet,
            spr=spr,
            name=name,
        )
        return
    _need_by(sort=sort, name=name, csv=csv)
    if kind in ("preflop", "unified"):
        from allstreets.cli.report_unified import report_unified

        given = {"spr": spr, "behind": behind or None}
        _refuse(folder, "a preflop or whole game", **given)
        report_unified(
            folder,
            line=line or None,
            flop=flop,
            form=form.value,
            combos=combos,
            flops=flops,
            chart=chart,
            parquet=parquet,
        )
        return
    _refuse(folder, "no preflop or whole game", flops=flops or None, chart=chart)
    if kind == "postflop":
        _refuse(folder, "a model of flops", behind=behind or None)
        from allstreets.cli.flop_report import report_flops

        report_flops(folder, flop, line, spr, form.value, parquet, combos=combos)
        return
    _require_spot(folder, flop=flop, spr=spr, parquet=parquet)
    result = load_spot(folder, _announce)
    if behind:
        from allstreets.solutions import solve_behind

        node = solve_behind(result, line, announce=_announce_behind).node(line)
    else:
        node = result.at(line).decision
    from allstreets.cli.node_view import print_combos, print_head, print_mix, write_node

    if form is not ReportFormat.text:
        write_node(node, form.value)
        return
    out = console()
    print_head(out, node)
    if result.origin is not None and not line.strip():
        from allstreets.cli.solve import print_origin
        from allstreets.solutions import Origin

        print_origin(out, Origin.read(result.origin), result.exploitability)
    if result.simplified is not None and not line.strip():
        out.print("\n".join(("", *result.simplified.lines())), markup=False, soft_wrap=True)
    if result.spot.lock and not node.locked.any():
        from allstreets.solutions import locks_text

        out.print(f"\n{locks_text(result.spot.lock)}", markup=False)
    print_mix(out, node)
    if combos:
        print_combos(out, node)
    if not node.reached and not behind:
        way = command("report", folder, "--line", line, "--behind")
        out.print(f"\nTo solve this line separately: {way}", markup=False, soft_wrap=True)


def _refuse(folder: Path, what: str, **options: Any) -> None:
    """Refuse options that do not apply to the solution in a folder."""
    from allstreets.base import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} has no meaning here: {folder} holds {what}")


def _need_by(**options: Any) -> None:
    """Refuse options of reports over boards without --by."""
    from allstreets.base import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for reports over boards: add --by board, texture, …")


def _require_spot(folder: Path, **options: Any) -> None:
    from allstreets.base import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for models of flops, and {folder} holds a spot")


def _announce(spot: "Spot", line: str, target: float) -> None:
    typer.echo(
        f"'{line}' was not saved: solving it again to {100 * target:.2g} % of its pot "
        f"of {spot.pot} chips …",
        err=True,
    )


def _announce_behind(spot: "Spot", line: str, target: float) -> None:
    typer.echo(
        f"'{line}' is not reached: solving it separately to {100 * target:.2g} % of its pot "
        f"of {spot.pot} chips …",
        err=True,
    )


def write_csv(rows: list[dict[str, Any]]) -> None:
    """Rows that share their keys as CSV on stdout; what does not exist is empty."""
    from allstreets.base import write_csv_rows

    write_csv_rows(sys.stdout, list(rows[0]) if rows else ["combo"], rows, line_end="\r\n")
