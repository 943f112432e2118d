"""A decision by hand class on a terminal: head, actions, and the 13×13 picture."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.solvers.class_node import NodeView
    from allstreets.solvers.unified import UnifiedSolver
    from allstreets.solvers.unified_result import PreflopResult

EV_NOTE = "EVs are in bb, results of the whole hand: what was put in before counts as lost."


def print_node(out: "Console", node: "NodeView") -> None:
    """Everything about a decision."""
    print_node_head(out, node)
    print_node_mix(out, node)


def print_node_head(out: "Console", node: "NodeView") -> None:
    """Where we are, and what both ranges are worth."""
    from allstreets.solvers.class_node import player_rows

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
    out.print(f"\n{'':4}{'combos':>8}{'EV bb':>9}")
    for row in reversed(player_rows(node)):
        out.print(f"{row['player']:4}{row['combos']:8.1f}{_signed(row['ev_bb'], 9)}")


def print_node_mix(out: "Console", node: "NodeView") -> None:
    """How often each action is taken and what it is worth, and the 13×13 picture."""
    from rich.style import Style
    from rich.text import Text

    from allstreets.cli.grid import mix_grid
    from allstreets.solvers.class_node import action_rows
    from allstreets.solvers.spot_html import action_colours
    from allstreets.solvers.spot_report import action_symbols

    symbols, colours = action_symbols(node), action_colours(node.actions)
    rows = action_rows(node)
    width = max(len(row["label"]) for row in rows)
    out.print(f"\n{'':4}{'':{width}}{'taken':>10}{'EV bb':>9}")
    for row, symbol, colour in zip(rows, symbols, colours, strict=True):
        text = Text()
        text.append(f" {symbol} ", Style(color="black", bgcolor=colour))
        text.append(
            f" {row['label']:{width}}{_percent(row['frequency'])}{_signed(row['ev_bb'], 9)}"
        )
        out.print(text)
    out.print()
    out.print(mix_grid(node.shown_strategy(), symbols, colours))
    out.print("In each cell: the most frequent action and how often, in %; suited above.")


def print_opening(out: "Console", solution: "PreflopResult | UnifiedSolver") -> None:
    """The small blind's first decision, and the big blind's answer to the first raise.

    `solution` is a solver in memory, or what was loaded from a bundle.
    """
    from allstreets.solvers.preflop_chart import node_title

    result = _result(solution)
    nodes = [result.node(line) for line in result.opening_lines()]
    if not nodes:
        out.print("The blinds are all-in: there is no decision before the flop.")
    for node in nodes:
        reached = f" ({_percent(node.share, 0)} of hands)" if node.line else ""
        out.print(f"\n{node_title(node)}{reached}:", markup=False, end="")
        print_node_mix(out, node)
    if any(node.known for node in nodes):
        out.print(EV_NOTE)


def _result(solution: "PreflopResult | UnifiedSolver") -> "PreflopResult":
    from allstreets.solvers.unified_result import PreflopResult, UnifiedResult

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
