"""allstreets explore: view solutions, and solve spots, in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from allstreets.cli.terminal.output import written

RUNS = Path("runs")  # where `allstreets train` writes its solutions


def explore(
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR",
            help="Solutions, URLs of them, or folders of them; default: runs, if it exists. The "
            "library is always there.",
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Default: 8169, or any free port.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    solves: Annotated[
        Path | None, written("Folder for spots solved in the browser; default: your data folder.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Ask for this token; default: a random one where several users can log in.",
        ),
    ] = None,
    no_token: Annotated[
        bool, typer.Option("--no-token", help="Answer every user of this machine.")
    ] = False,
) -> None:
    """View solutions in the browser, and solve spots there.

    The home page has the library on top, your own solutions below.

    \b
    Examples:
      allstreets explore
      allstreets explore pf-10bb
      allstreets explore solved/
      allstreets explore runs/ solved/ --port 9000 --no-browser

    The server listens on this machine only. Ctrl-C ends it and saves running solves.
    """
    from allstreets.base import InputError
    from allstreets.storage import mirrored

    if token is not None and no_token:
        raise InputError("--token asks for a token, --no-token for none: leave one of both out")
    opened = [mirrored(folder) for folder in folders or ()]
    for folder in opened:
        if not folder.is_dir():
            what = "is a file" if folder.exists() else "does not exist"
            raise InputError(f"{folder} {what}; name the folder of a solution, or one above it")

    from allstreets.explorer import choose_token, default_folder, serve

    serve(
        opened or default_folders(),
        solves or default_folder(),
        port,
        not no_browser,
        lambda line: print(line, flush=True),
        choose_token(token, False if no_token else None),
    )


def default_folders() -> list[Path]:
    """Folders opened by default: the runs of the current folder."""
    return [RUNS] if any(RUNS.glob("*/manifest.json")) else []
