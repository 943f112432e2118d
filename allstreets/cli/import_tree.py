"""allstreets import: a tree that another program has solved, as a solution."""

from pathlib import Path
from typing import Annotated

import typer

from allstreets.cli.terminal.output import console, written_path


def import_tree(
    source: Annotated[
        Path, typer.Argument(metavar="EXPORT", help="The folder or the .zip of an export of HRC.")
    ],
    output: Annotated[
        Path, typer.Argument(parser=written_path, metavar="DIR", help="A folder to be made.")
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

    HRC exports strategies as JSON: settings.json and a folder nodes. Of a table with more players
    the game of the blinds is read, after everybody else has folded. docs/hrc.md says what is
    computed from what the files hold.
    """
    from allstreets.interop import read_hrc
    from allstreets.storage import require_preflop_folder, save_preflop

    require_preflop_folder(output, resume=False)
    solution = read_hrc(source)
    save_preflop(solution, output, identity={"source": solution.facts.algorithm})
    out = console()
    out.print(str(solution), soft_wrap=True)
    out.print(f"\nSaved in {output}. Look at it: allstreets explore {output}")
