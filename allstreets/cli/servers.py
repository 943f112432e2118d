"""allstreets explore, upi, mcp: solutions for browsers, programs and agents."""

import sys
from enum import StrEnum
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from allstreets.cli.terminal.output import written


class UpiCards(StrEnum):
    """The card models that whole games of clients are solved with."""

    boards = "boards"
    classes = "classes"


RUNS = Path("runs")  # where `allstreets train` writes its solutions


def explore(
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOLUTION",
            help="Solutions, their URLs, or folders of them; the library is always there.  "
            "[default: runs, if it exists]",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port of the server.  [default: 8169, or any free port]"
        ),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    solves: Annotated[
        Path | None, written("Folder for spots solved in the browser.  [default: your data folder]")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Ask for this token.  [default: a random one if several users can log in]",
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
        raise InputError("--token asks for a token, --no-token for none: leave one of them out")
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


def upi(
    script: Annotated[
        Path | None,
        typer.Argument(metavar="SCRIPT", help="A file of commands to run first."),
    ] = None,
    cards: Annotated[
        UpiCards, typer.Option(help="The card model of whole games: real boards, or hand classes.")
    ] = UpiCards.boards,
) -> None:
    """Let programs written for PioSOLVER drive this solver: its protocol on stdin and stdout.

    \b
    Examples:
      allstreets upi
      allstreets upi script.txt
      allstreets upi < script.txt > answers.txt
      allstreets upi --cards classes

    \b
    A script with one command per line, answered in turn:
      set_board QsJh2h8c3d
      set_range OOP AA,QQ,98s
      set_range IP KK,JJ,AQs
      set_pot 0 0 60
      set_eff_stack 100
      add_line 30 100 100
      add_line 0 30 100 100
      build_tree
      set_accuracy 0.1 chips
      go
      wait_for_solver
      show_children r:0
      show_strategy r:0
      calc_ev OOP r:0
      dump_tree "solved spot"
      exit

    The number of a bet (r:0:b30) is its player's total since the root. dump_tree and load_tree
    write and read folders of allstreets, not .cfr files. docs/upi.md lists all commands, also for
    whole games.
    """
    from allstreets.base import decode_text
    from allstreets.engines import CardModel
    from allstreets.interop import Session

    first = [] if script is None else decode_text(script.read_bytes(), str(script)).splitlines()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a client's stray bytes do not end the session

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    # Not `for line in sys.stdin`, which may read ahead while a client waits for its answer.
    commands = chain(first, iter(sys.stdin.readline, ""))
    Session(write, CardModel(cards.value)).run(commands)


def mcp(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SOLUTION",
            help="Solutions to offer, or folders of them, besides the ready-made ones.",
        ),
    ] = None,
    memory: Annotated[float, typer.Option(min=0.1, help="Memory limit of a solve, in GB.")] = 2.0,
    seconds: Annotated[
        float, typer.Option(min=1, help="Time limit of a solve or a review.")
    ] = 60.0,
) -> None:
    """Serve solutions to agents: a Model Context Protocol server on stdin and stdout.

    \b
    Examples:
      allstreets mcp
      allstreets mcp game/ solved/
      allstreets mcp solutions/ --memory 8 --seconds 120

    \b
    An entry of a client's list of servers:
      {"command": "allstreets", "args": ["mcp", "/home/ann/solutions"]}

    Tools: list_solutions, get_range, get_node, solve_spot, review_hand, equity. Only the folders
    that are named here and the ready-made solutions are read. It needs pip install
    'allstreets[mcp]'; docs/mcp.md shows the tools' answers.
    """
    from allstreets.agents import Bounds, Tools, make_server

    tools = Tools(folders or (), Bounds(int(memory * 1e9), seconds))
    make_server(tools).run()
