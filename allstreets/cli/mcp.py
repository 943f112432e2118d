"""allstreets mcp: solutions for agents, by the Model Context Protocol."""

from pathlib import Path
from typing import Annotated

import typer


def mcp(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FOLDER]…",
            help="Solutions to offer, or folders of them, beside the ready-made ones.",
        ),
    ] = None,
    memory: Annotated[
        float, typer.Option(min=0.1, help="The most memory that a solve may need, in GB.")
    ] = 2.0,
    seconds: Annotated[
        float, typer.Option(min=1, help="The most time that a solve or a review may take.")
    ] = 60.0,
) -> None:
    """Serve solutions to agents: a server of the Model Context Protocol on stdin and stdout.

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
    'allstreets[mcp]'; docs/mcp.md shows what the tools answer.
    """
    from allstreets.agents import Bounds, Tools, make_server

    tools = Tools(folders or (), Bounds(int(memory * 1e9), seconds))
    make_server(tools).run()
