"""A Model Context Protocol server: the tools, described for the agents that call them."""

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec

from pydantic import Field

from allstreets.agents.tools import BETS, HANDS, LISTED, RAISES, Json, Tools, rounded
from allstreets.base import InputError, clean_message
from allstreets.version import __version__

if TYPE_CHECKING:
    from mcp.server import MCPServer

Arguments = ParamSpec("Arguments")

MISSING = "the MCP server needs the package mcp, 2 or later: pip install 'allstreets[mcp]'"
INSTRUCTIONS = """\
Heads-up no-limit hold'em solutions. Call list_solutions first. BB is OOP: it acts last before the
flop and first after it; SB is the button, IP.

A line names a node by the actions from the start: f fold, x check, c call (the small blind's first
c limps), r2.5 raise to 2.5 bb, b50% bet half the pot, a all-in. In whole games a bar separates the
streets and the cards stand between bars: "r2.5 c | Ks7h2d | x b33%". In spots a card that is dealt
stands between bars: "x x | 7h | b75%". The empty line is the first decision. get_node lists the
lines that lead on; use them as they are. An address of GTO Wizard is a line as well.

EVs count from here on: folding is 0, and both EVs sum to the pot less rake. Amounts of games are in
big blinds, those of spots in chips. Frequencies are shares of 1.
"""
Solution = Annotated[str, Field(description="A name that list_solutions gives.")]
Line = Annotated[str, Field(description='The actions from the start, "" for the first decision.')]
Flop = Annotated[str, Field(description="Of whole games: the flop, if the line names none: Ks7h2d")]
Cards = Annotated[str, Field(description="A hand or a range: AKs, AsKh, 'TT+,AQs+,76s:0.5'")]


def _bounds(about: str | None = None, **limits: float) -> Any:
    """A number whose limits agents read; a request outside of them is answered by the tool."""
    return Field(description=about, json_schema_extra=dict(limits))


def make_server(tools: Tools) -> "MCPServer[Any]":
    """The server; `run()` serves standard input and output."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError:
        raise InputError(MISSING) from None

    server: MCPServer[Any] = MCPServer(
        "allstreets",
        title="allstreets: heads-up no-limit hold'em solved",
        instructions=INSTRUCTIONS,
        version=__version__,
        log_level="ERROR",
    )

    def tool(method: Callable[Arguments, Json]) -> Callable[Arguments, Json]:
        """Offer a function as a tool; errors of a request are part of its answer."""

        @wraps(method)
        def answered(*given: Arguments.args, **named: Arguments.kwargs) -> Json:
            try:
                answer: Json = rounded(method(*given, **named))
            except InputError as error:
                raise ToolError(clean_message(str(error))) from None
            return answer

        about = cleandoc(method.__doc__ or "")
        server.tool(description=about, structured_output=True)(answered)
        return answered

    @tool
    def list_solutions(
        search: Annotated[str, Field(description='A part of the name, such as "20bb".')] = "",
        limit: Annotated[int, _bounds(minimum=1, maximum=LISTED)] = 30,
    ) -> dict[str, Any]:
        """List the solved games and spots that the other tools can open, with their exploitability.

        Ready-made ones come with the program: hu-20bb, push-or-fold games pf-1bb to pf-20bb.
        """
        return tools.list_solutions(search, limit)

    @tool
    def get_range(
        solution: Solution,
        line: Line = "",
        player: Annotated[
            str, Field(description="bb, sb, oop or ip; empty: the one who acts.")
        ] = "",
        action: Annotated[
            str, Field(description="Only the hands that take this action: raise, call, r2.5, b50%.")
        ] = "",
        flop: Flop = "",
    ) -> dict[str, Any]:
        """The range with which a player gets to a node, as text with weights, or a part of it."""
        return tools.get_range(solution, line, player, action, flop)

    @tool
    def get_node(
        solution: Solution,
        line: Line = "",
        flop: Flop = "",
        hand: Annotated[str, Field(description="How this hand plays there: AKs, 77, AhKh.")] = "",
        with_ranges: Annotated[
            bool, Field(description="Add the range that takes each action.")
        ] = False,
    ) -> dict[str, Any]:
        """A node: pot, stacks, player, frequencies and EVs of actions, the lines that follow.

        At a node where cards are dealt it lists lines with cards that can come.
        """
        return tools.get_node(solution, line, flop, hand, with_ranges)

    @tool
    def solve_spot(
        board: Annotated[str, Field(description="Flop, turn or river: QsJh2h, QsJh2h7c, …")],
        oop: Annotated[str, Field(description="Range of the player who acts first.")],
        ip: Annotated[str, Field(description="Range of the player who acts last.")],
        pot: Annotated[float, _bounds("Chips in the middle.", exclusiveMinimum=0)],
        stack: Annotated[float, _bounds("Chips that each player has behind.", minimum=0)],
        bets: Annotated[str, Field(description="Bet sizes, of the pot.")] = BETS,
        raises: Annotated[str, Field(description="Raise sizes; a is all-in.")] = RAISES,
        rake: Annotated[str, Field(description="Share of the pot that the house takes.")] = "0%",
        target_percent: Annotated[
            float,
            _bounds("Exploitability to reach, in % of the pot.", exclusiveMinimum=0, maximum=100),
        ] = 0.5,
        seconds: Annotated[float, _bounds("Time limit.", exclusiveMinimum=0)] = 30.0,
    ) -> dict[str, Any]:
        """Solve a postflop spot with every combo and card; rivers and turns take seconds.

        The answer names the solution: get_node and get_range open it for the rest of the session.
        Spots that need too much memory or time are refused, with advice on what to make smaller.
        """
        return tools.solve_spot(
            board, oop, ip, pot, stack, bets, raises, rake, target_percent, seconds
        )

    @tool
    def review_hand(
        history: Annotated[
            str, Field(description=f"The text of {HANDS} hands at most: PokerStars, GGPoker, PHH.")
        ],
        solution: Annotated[
            str, Field(description="A whole game, or library: the nearest ready-made one.")
        ] = "library",
        hero: Annotated[
            str,
            Field(description="The graded player; empty: the one who recorded the history."),
        ] = "",
    ) -> dict[str, Any]:
        """Grade the decisions of played heads-up hands: losses in bb, and best actions."""
        return tools.review_hand(history, solution, hero)

    @tool
    def equity(
        first: Cards,
        second: Cards,
        board: Annotated[str, Field(description="Flop, turn or river; empty: before it.")] = "",
    ) -> dict[str, Any]:
        """The exact equity of one hand or range against another, every runout counted."""
        return tools.equity(first, second, board)

    return server
