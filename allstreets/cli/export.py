"""allstreets export: the tree before the flop as files for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from allstreets.cli.terminal.output import console, written_path
from allstreets.interop import ExportKind


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A preflop or whole game, or a name in allstreets library."
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

    The folder of a line contains BB.txt and SB.txt, the ranges that get there: r2.5/c has those
    that see a flop after a raise to 2.5 bb and a call. MonkerSolver's files are side by side, each
    with the frequency and the EV of an action. hrc writes the JSON of Holdem Resources Calculator,
    which allstreets import reads. README.txt lists them all.
    """
    from allstreets.interop import export_ranges, load_tree

    files = export_ranges(load_tree(folder), output, kind, digits)
    out = console()
    out.print(f"{files:,} files in {output}; README.txt says what is where.")
