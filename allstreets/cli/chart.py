"""allstreets chart: posters of the decisions before the flop, to be printed."""

from pathlib import Path
from typing import Annotated

import typer

from allstreets.cli.terminal.output import command, console, written


def chart(
    solution: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="A preflop or whole game: a folder, or a name in the library."
        ),
    ],
    line: Annotated[
        str, typer.Option("--line", "-l", help="Begin after this line; default: the first action.")
    ] = "",
    png: Annotated[
        Path | None, written("Folder for the pictures and charts.pdf; default: charts.", "--png")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also decisions that are hardly ever reached.")
    ] = False,
) -> None:
    """Write a poster of each decision before the flop, and one PDF of them all.

    \b
    Examples:
      allstreets chart pf-10bb --png charts/
      allstreets chart hu-20bb --line r2 --png facing_a_raise/
      allstreets chart game/ --all --png charts/

    A poster is the 13×13 grid of hands with their mix of actions, and how often each is taken.
    """
    from allstreets.jobs import Posters
    from allstreets.solutions import WholeSolution
    from allstreets.storage import load

    posters = Posters(load(solution, WholeSolution), line, everything=everything)
    out, folder = console(), png or Path("charts")
    for path in posters.write(folder):
        out.print(str(path), markup=False, soft_wrap=True)
    if posters.left_out:
        more = "s are" if posters.left_out > 1 else " is"
        again = command("chart", solution, "--all")
        out.print(
            f"{posters.left_out:,} decision{more} hardly ever reached and left out: {again} has "
            "them, too.",
            markup=False,
            soft_wrap=True,
        )
