"""The first decisions of a whole game on a terminal: in full, or as charts while it is solved."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from allstreets.jobs import Progress
    from allstreets.solutions import Decision, WholeSolution

CHART_WIDTH, CHART_GAP = 67, 4  # columns of a 13×13 picture, and between two


def print_charts(out: "Console", progress: "Progress", result: "WholeSolution") -> None:
    """The opening while a game is being solved, in one piece: a table may be drawn below it.

    On a terminal that is wide enough the two charts stand side by side.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from allstreets.jobs import standing

    charts = [_chart(node) for node in _opening(result)]
    if not charts:
        return
    heading = Text(f"\n{standing(progress)}", style="bold")
    if progress.metrics is None or progress.metrics.exploitability is None:
        heading.append(" | exploitability not known" + " yet" * (progress.metrics is None))
    if out.is_terminal and out.width >= len(charts) * (CHART_WIDTH + CHART_GAP):
        table = Table.grid(padding=(0, CHART_GAP, 0, 0))
        for row in zip(*charts, strict=True):
            table.add_row(*row)
        parts: list[RenderableType] = [table]
    else:
        parts = [part for chart in charts for part in chart]
    out.print(Group(heading, *parts), no_wrap=True, overflow="crop")


def _chart(node: "Decision") -> "tuple[RenderableType, ...]":
    """Title, actions and picture of a decision."""
    from rich.console import Group
    from rich.text import Text

    from allstreets.cli.node_view import coloured_rows, mix_picture
    from allstreets.solutions import action_symbols, decision_lines, node_colours

    rows = decision_lines(node, evs=False)[1:]
    lines = coloured_rows(rows, action_symbols(node), node_colours(node))
    return Text(_opening_title(node)), Group(*lines), mix_picture(node)


def print_opening(out: "Console", result: "WholeSolution") -> None:
    """The small blind's first decision, and the big blind's response to the first raise."""
    from allstreets.cli.node_view import print_mix

    nodes = _opening(result)
    if not nodes:
        out.print("The blinds are all-in: there is no decision before the flop.")
    for node in nodes:
        out.print(f"\n{_opening_title(node)}", markup=False, end="")
        print_mix(out, node)


def _opening(result: "WholeSolution") -> "list[Decision]":
    return [result.at(line).decision for line in result.opening_lines()]


def _opening_title(node: "Decision") -> str:
    from allstreets.solutions import node_title, share_text

    reached = f" ({share_text(node.share)} of hands)" if node.line else ""
    return f"{node_title(node)}{reached}:"
