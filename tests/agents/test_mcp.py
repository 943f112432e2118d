"""The MCP server, asked by the client of the official SDK: in memory, and as a process."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from builders.whole_solution import save_classes

from allstreets.agents import Tools, make_server
from allstreets.agents.tools import rounded


def sdk() -> Any:
    """The official SDK, when a test needs it: importing it takes a second."""
    return pytest.importorskip("mcp", reason="the MCP SDK is not installed")


NAMES = {"list_solutions", "get_range", "get_node", "solve_spot", "review_hand", "equity"}


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classes(tmp_path_factory.mktemp("mcp") / "game")


def asked(server: Any, ask: Callable[[Any], Awaitable[Any]]) -> Any:
    """The result of a conversation with a server."""

    async def talk() -> Any:
        async with sdk().Client(server) as client:
            return await ask(client)

    return asyncio.run(talk())


ABOVE_ZERO = {"pot", "target_percent", "seconds"}


def test_tools_and_arguments_are_described(game: Path) -> None:
    listed = asked(make_server(Tools([game])), lambda client: client.list_tools()).tools
    assert {tool.name for tool in listed} == NAMES
    for tool in listed:
        assert tool.description
        assert len(tool.description) > 40
        assert "  " not in tool.description  # without the indentation of a docstring
        for name, schema in tool.input_schema["properties"].items():
            assert "description" in schema or name == "limit", (tool.name, name)
            assert ("exclusiveMinimum" in schema) == (name in ABOVE_ZERO), (tool.name, name)


def test_answers_are_those_of_the_tools(game: Path) -> None:
    tools = Tools([game])
    asking: dict[str, dict[str, Any]] = {
        "list_solutions": {"search": "game"},
        "get_node": {"solution": "game", "line": "r2.5", "hand": "AKs"},
        "get_range": {"solution": "game", "line": "r2.5 c", "player": "bb"},
        "equity": {"first": "AA", "second": "KK", "board": "Qs Jh 2h"},
    }

    async def ask(client: Any) -> dict[str, Any]:
        return {name: await client.call_tool(name, given) for name, given in asking.items()}

    for name, answer in asked(make_server(tools), ask).items():
        assert not answer.is_error
        assert answer.structured_content == rounded(getattr(tools, name)(**asking[name]))


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "solve_spot",
            {"board": "Ks7h2d3c4d", "oop": "AA", "ip": "KK", "pot": -1, "stack": 200},
            "pot -1.0 is not between",
        ),
        ("get_node", {"solution": "hu-10bb", "line": "r2 c | Ks7h2d"}, "and solve_spot solves it"),
        ("get_node", {"solution": "other"}, "no solution is called 'other'"),
        ("get_node", {"solution": "game", "line": "r9"}, "'r9' is not offered"),
        ("get_node", {}, "Field required"),
        ("equity", {"first": "AA", "second": "?"}, "is not a hand"),
        (
            "solve_spot",
            {"board": "Ks7h2d", "oop": "100%", "ip": "100%", "pot": 10, "stack": 200},
            "are allowed here",
        ),
        ("review_hand", {"history": ""}, "no hand can be read"),
    ],
)
def test_what_cannot_be_answered_is_said(
    game: Path, name: str, given: dict[str, Any], message: str
) -> None:
    answer = asked(make_server(Tools([game])), lambda client: client.call_tool(name, given))
    assert answer.is_error
    assert message in answer.content[0].text
    assert "Traceback" not in answer.content[0].text


def test_a_process_serves_standard_input_and_output(game: Path) -> None:
    """A client starts the command, solves a river and looks into it."""
    inherited = ("PYTHONPATH", "ALLSTREETS_CACHE", "ALLSTREETS_LIBRARY", "HOME")
    command = sdk().StdioServerParameters(
        command=sys.executable,
        args=["-m", "allstreets", "mcp", str(game)],
        env={name: os.environ[name] for name in inherited if name in os.environ},
    )
    spot = {"board": "Ks7h2d3c8d", "oop": "AA,76s", "ip": "KK,QQ", "pot": 10, "stack": 20}

    async def ask(client: Any) -> tuple[Any, ...]:
        solved = await client.call_tool("solve_spot", spot)
        name = solved.structured_content["solution"]
        node = await client.call_tool("get_node", {"solution": name, "line": "x"})
        wrong = await client.call_tool("get_node", {"solution": name, "line": "zz"})
        return solved, node, wrong

    solved, node, wrong = asked(sdk().stdio_client(command), ask)
    assert solved.structured_content["target_reached"]
    assert node.structured_content["to_act"] == "IP"
    assert wrong.is_error
