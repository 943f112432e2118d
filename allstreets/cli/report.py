"""allstreets report: look into a solved spot, node by node."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.cli.output import JsonOption, console, print_json

if TYPE_CHECKING:
    from allstreets.solvers import Spot


class ReportFormat(StrEnum):
    """How a node is written."""

    text = "text"
    json = "json"
    csv = "csv"


def report(
    folder: Annotated[Path, typer.Argument(help="A folder that allstreets solve has made.")],
    line: Annotated[
        str, typer.Option("--line", "-l", help="The way to the node; without it the first one.")
    ] = "",
    form: Annotated[
        ReportFormat, typer.Option("--format", "-f", help="csv is one line a combo.")
    ] = ReportFormat.text,
    combos: Annotated[bool, typer.Option("--combos", help="Add the table by combo.")] = False,
    json: JsonOption = False,
) -> None:
    """Show a node of a solution: who does what, how often, and what it is worth.

    \b
    Examples:
      allstreets report solved/
      allstreets report solved/ --line "x b33% c | 7h | x" --combos
      allstreets report solved/ --line "b50" --format csv > facing_a_bet.csv

    Lines: x check, c call, f fold, a all-in, b33% or b50 (chips), r60% or r120 (to), | 7h | a card.
    EVs are in chips from here on: folding is 0, and both players' EVs sum to the pot less rake.
    """
    from allstreets.storage import load_spot

    if json:
        form = ReportFormat.json
    result = load_spot(folder, _announce)
    node = result.node(line)
    if form is ReportFormat.json:
        from allstreets.solvers.spot_report import node_report

        print_json(node_report(node))
        return
    if form is ReportFormat.csv:
        from allstreets.solvers.spot_report import combo_rows

        _write_csv(combo_rows(node))
        return
    from allstreets.cli.node_view import print_combos, print_head, print_mix

    out = console()
    print_head(out, node)
    print_mix(out, node)
    if combos:
        print_combos(out, node)


def _announce(spot: "Spot", line: str, target: float) -> None:
    typer.echo(
        f"'{line}' was not kept: solving it again to {100 * target:.2g} % of its pot "
        f"of {spot.pot} chips …",
        err=True,
    )


def _write_csv(rows: list[dict[str, Any]]) -> None:
    import csv
    import math

    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else ["combo"])
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                key: "" if isinstance(value, float) and math.isnan(value) else value
                for key, value in row.items()
            }
        )
