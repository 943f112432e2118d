"""A decision by hand class on a terminal: head, actions, and the 13×13 picture."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from allstreets.solvers.class_node import NodeView
    from allstreets.solvers.unified.result import PreflopResult
    from allstreets.solvers.unified.solver import UnifiedSolver
    from allstreets.training import Progress

CHART_WIDTH, CHART_GAP = 67, 4  # columns of a 13×13 picture, and between two
EV_NOTE = "EVs are in bb, results of the whole hand: what was put in before counts as lost."


def print_node(out: "Console", node: "NodeView") -> None:
    """Everything about a decision."""
    print_node_head(out, node)
    print_node_mix(out, node)


def print_node_head(out: "Console", node: "NodeView") -> None:
    """Where we are, and what both ranges are worth."""
    from allstreets.solvers.class_node import SEATS, player_rows

    call = f", {node.to_call:g} bb to call" if node.to_call else ""
    behind = " and ".join(
        dict.fromkeys(f"{stack:g} bb" for stack in (node.stacks[1], node.stacks[0]))
    )
    out.print(node.line or "first decision", markup=False)
    out.print(
        f"{node.street.text}   {node.player.seat} to act   pot {node.pot:g} bb{call}, "
        f"{behind} behind"
    )
    among = "of all hands" if node.flop is None else "of the hands that are dealt this flop"
    rare = ": hardly ever" if node.is_rare else ""
    out.print(f"reached in {_percent(node.share, 0)} {among}{rare}")
    if not node.reached:
        out.print(node.line_reach.why_not(SEATS), style="bold", markup=False, highlight=False)
    out.print(f"\n{'':4}{'combos':>8}{'EV bb':>9}")
    for row in reversed(player_rows(node)):
        out.print(f"{row['player']:4}{row['combos']:8.1f}{_signed(row['ev_bb'], 9)}")


def print_node_mix(out: "Console", node: "NodeView") -> None:
    """How often each action is taken and what it is worth, and the 13×13 picture."""
    from allstreets.cli.node_view import print_table
    from allstreets.solvers.spot.html import node_colours
    from allstreets.solvers.spot.report import action_symbols
    from allstreets.solvers.words import EV_LEGEND

    print_table(out, _rows(node, evs=True), action_symbols(node), node_colours(node))
    if node.known:
        out.print(EV_LEGEND)
    out.print()
    out.print(mix_picture(node))
    out.print("In each cell: the most frequent action and how often, in %; suited above.")


def _rows(node: "NodeView", *, evs: bool) -> list[str]:
    """A head and a line an action: its name, how often it is taken, its EVs."""
    from allstreets.solvers.words import mix_lines, number_text

    told = (node.taken_evs(), node.range_evs()) if evs else None
    notes = node.line_reach.action_notes() if evs else [""] * len(node.labels)
    return mix_lines(node.labels, node.frequencies(), told, notes, lambda ev: number_text(ev, "+"))


def mix_lines(node: "NodeView") -> "list[Text]":
    """A line an action: its symbol in its colour, its name, how often it is taken."""
    from allstreets.cli.node_view import coloured_rows
    from allstreets.solvers.spot.html import node_colours
    from allstreets.solvers.spot.report import action_symbols

    return coloured_rows(_rows(node, evs=False)[1:], action_symbols(node), node_colours(node))


def mix_picture(node: "NodeView") -> "Text":
    """The 13×13 picture of a decision."""
    from allstreets.cli.grid import mix_grid
    from allstreets.solvers.spot.html import node_colours
    from allstreets.solvers.spot.report import action_symbols

    return mix_grid(node.shown_strategy(), action_symbols(node), node_colours(node))


def print_charts(out: "Console", progress: "Progress", result: "PreflopResult") -> None:
    """The opening while a game is being solved, in one piece: a table may be drawn below it.

    On a terminal that is wide enough the two charts stand side by side.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from allstreets.training.progress import standing

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


def _chart(node: "NodeView") -> "tuple[RenderableType, ...]":
    """Title, actions and picture of a decision."""
    from rich.console import Group
    from rich.text import Text

    return Text(_opening_title(node)), Group(*mix_lines(node)), mix_picture(node)


def print_opening(out: "Console", solution: "PreflopResult | UnifiedSolver") -> None:
    """The small blind's first decision, and the big blind's answer to the first raise.

    `solution` is a solver in memory, or what was loaded from a bundle.
    """
    nodes = _opening(_result(solution))
    if not nodes:
        out.print("The blinds are all-in: there is no decision before the flop.")
    for node in nodes:
        out.print(f"\n{_opening_title(node)}", markup=False, end="")
        print_node_mix(out, node)
    if any(node.known for node in nodes):
        out.print(EV_NOTE)


def _opening(result: "PreflopResult") -> "list[NodeView]":
    return [result.node(line) for line in result.opening_lines()]


def _opening_title(node: "NodeView") -> str:
    from allstreets.solvers.preflop.chart import node_title

    reached = f" ({_percent(node.share, 0)} of hands)" if node.line else ""
    return f"{node_title(node)}{reached}:"


def _result(solution: "PreflopResult | UnifiedSolver") -> "PreflopResult":
    from allstreets.solvers.unified.result import PreflopResult, UnifiedResult

    return solution if isinstance(solution, PreflopResult) else UnifiedResult.of(solution)


def _percent(share: Any, width: int = 10) -> str:
    if math.isnan(share):
        return f"{'–':>{width}}"
    digits = 1 if share >= 0.0005 or share == 0 else 3
    return f"{100 * share:>{max(width - 2, 0)}.{digits}f} %"


def _signed(value: Any, width: int) -> str:
    if math.isnan(value):
        return f"{'–':>{width}}"
    return f"{round(value, 2) + 0.0:>+{width}.2f}"  # + 0.0: no minus before a zero
