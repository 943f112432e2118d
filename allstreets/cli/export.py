"""allstreets export, import, chart: files for and from other programs, and posters."""

from pathlib import Path
from typing import Annotated

import typer

from allstreets.cli.terminal.output import command, console, written, written_path
from allstreets.interop import ExportKind


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="SOLUTION", help="A preflop or whole game, or a name in allstreets library."
        ),
    ],
    output: Annotated[
        Path, typer.Argument(parser=written_path, metavar="FOLDER", help="A new folder.")
    ],
    kind: Annotated[
        ExportKind, typer.Option("--kind", "-k", help="The format of the files.")
    ] = ExportKind.pio,
    digits: Annotated[
        int,
        typer.Option(
            min=1, max=7, help="Decimals of weights; with 2, hands below 0.5 % are left out."
        ),
    ] = 2,
) -> None:
    """Write every range of the preflop tree to files for other programs.

    \b
    Examples:
      allstreets export game/ ranges/
      allstreets export game/ ranges/ --kind gto+
      allstreets export game/ ranges/ --kind monker
      allstreets export game/ hrc/ --kind hrc
      allstreets export game/ ranges/ --digits 4
      allstreets export pf-10bb ranges/

    The folder of a line contains BB.txt and SB.txt, the ranges that get there: r2.5/c has the
    ranges that see a flop after a raise to 2.5 bb and a call. MonkerSolver's files are in one
    folder, each with the frequency and the EV of an action. hrc writes the JSON of Holdem Resources
    Calculator, which allstreets import reads. README.txt lists all files.
    """
    from allstreets.interop import export_ranges, load_tree

    files = export_ranges(load_tree(folder), output, kind, digits)
    out = console()
    out.print(f"{files:,} files in {output}; README.txt lists them.")


def import_tree(
    source: Annotated[
        Path, typer.Argument(metavar="EXPORT", help="The folder or the .zip of an export of HRC.")
    ],
    output: Annotated[
        Path, typer.Argument(parser=written_path, metavar="DIR", help="A new folder.")
    ],
) -> None:
    """Import a preflop tree of Holdem Resources Calculator (HRC) as a solution.

    \b
    Examples:
      allstreets import hrc-export/ hrc/
      allstreets import export.zip hrc/
      allstreets report hrc/ --line r2.5
      allstreets range --from hrc/ --line "r2.5 c" --player bb --to pio
      allstreets compare hrc/ game/ --line r2.5

    HRC exports strategies as JSON: settings.json and a folder nodes. Of a table with more players,
    the import reads the game between the blinds after all others have folded. docs/hrc.md lists the
    figures that are computed from the files.
    """
    from allstreets.interop import read_hrc
    from allstreets.storage import require_preflop_folder, save_preflop

    require_preflop_folder(output, resume=False)
    solution = read_hrc(source)
    save_preflop(solution, output, identity={"source": solution.facts.algorithm})
    out = console()
    out.print(str(solution), soft_wrap=True)
    out.print(f"\nSaved in {output}. Look at it: allstreets explore {output}")


def chart(
    solution: Annotated[
        str,
        typer.Argument(
            metavar="SOLUTION", help="A preflop or whole game: a folder, or a name in the library."
        ),
    ],
    line: Annotated[
        str,
        typer.Option("--line", "-l", help="Begin after this line.  [default: the first action]"),
    ] = "",
    png: Annotated[
        Path | None, written("Folder for the pictures and charts.pdf.  [default: charts]", "--png")
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
        out.print(str(path), soft_wrap=True)
    if posters.left_out:
        more = "s are" if posters.left_out > 1 else " is"
        again = command("chart", solution, "--all")
        out.print(
            f"{posters.left_out:,} decision{more} hardly ever reached and left out: {again} has "
            "them, too.",
            markup=False,
            soft_wrap=True,
        )
