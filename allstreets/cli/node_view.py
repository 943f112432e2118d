"""A node of a solution on a terminal: head, actions, 13×13 picture, table by combo."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from allstreets.solvers import NodeResult

EDGE = 1e-4  # a reach below it is shown as 0


def print_head(out: "Console", node: "NodeResult") -> None:
    """Where we are, and what both ranges are worth."""
    from allstreets.cards import cards_text
    from allstreets.solvers.spot.report import player_rows
    from allstreets.solvers.spot.words import node_notes

    line = node.line.strip() or "first decision"
    call = f", {node.to_call} to call" if node.to_call else ""
    out.print(
        f"{line}\nboard {cards_text(node.board)}   {node.player.name} to act   "
        f"pot {node.pot} chips{call}"
    )
    for note in node_notes(node):
        out.print(note, style="bold", markup=False, highlight=False)
    out.print(f"\n{'':4}{'combos':>8}{'equity':>10}{'EV chips':>11}{'EQR':>9}")
    for row in player_rows(node):
        out.print(
            f"{row['player']:4}{row['combos']:8.1f}{_percent(row['equity'])}"
            f"{_number(row['ev'], 11)}{_percent(row['eqr'], 9)}"
        )


def print_mix(out: "Console", node: "NodeResult") -> None:
    """How often each action is taken and what it is worth, and the 13×13 picture."""
    from allstreets.cli.grid import mix_grid
    from allstreets.solvers.spot.html import node_colours
    from allstreets.solvers.spot.report import action_symbols
    from allstreets.solvers.words import EV_LEGEND, mix_lines

    symbols, colours = action_symbols(node), node_colours(node)
    evs = node.taken_evs(), node.range_evs()
    rows = mix_lines(node.labels, node.frequencies(), evs, node.line_reach.action_notes())
    print_table(out, rows, symbols, colours)
    if node.reached:
        out.print(EV_LEGEND)
    out.print()
    shares = np.array([node.by_hand(chances) for chances in node.strategy])
    locked = node.by_hand(node.locked.astype(np.float64)) > 0
    out.print(mix_grid(shares, symbols, colours, locked))
    star = "; * locked" if locked.any() else ""
    out.print(f"In each cell: the most frequent action and how often, in %{star}; suited above.")


def print_table(
    out: "Console", rows: "Sequence[str]", symbols: "Sequence[str]", colours: "Sequence[str]"
) -> None:
    """A head and a row an action, each behind its symbol in its colour."""
    out.print(f"\n{'':4}{rows[0]}")
    for line in coloured_rows(rows[1:], symbols, colours):
        out.print(line)


def coloured_rows(
    rows: "Sequence[str]", symbols: "Sequence[str]", colours: "Sequence[str]"
) -> "list[Text]":
    """Rows behind the symbols of their actions."""
    from rich.style import Style
    from rich.text import Text

    return [
        Text.assemble((f" {symbol} ", Style(color="black", bgcolor=colour)), f" {row}")
        for row, symbol, colour in zip(rows, symbols, colours, strict=True)
    ]


def print_combos(out: "Console", node: "NodeResult") -> None:
    """One line a combo; the EVs of the actions stand beside their frequencies where they fit."""
    from allstreets.solvers.spot.report import combo_rows

    rows = [row for row in combo_rows(node) if row["reach"] >= EDGE]
    head = f"{'combo':6}{'reach':>6}{'equity':>8}{'EV':>9}{'EQR':>7}"
    wide = len(head) + 17 * len(node.actions) <= out.width
    for action in node.actions:
        head += f"{action:>8}" + (f"{'EV':>9}" if wide else "")
    out.print(f"\n{head}")
    for row in rows:
        mark = "*" if row["locked"] else ""
        text = f"{row['combo'] + mark:6}{row['reach']:6.3f}{_percent(row['equity'], 8)}"
        text += f"{_number(row['ev'], 9)}{_percent(row['eqr'], 7, 0)}"
        for action in node.actions:
            text += _percent(row[action], 8)
            text += _number(row[f"ev_{action}"], 9) if wide else ""
        out.print(text)
    if any(row["locked"] for row in rows):
        out.print("* locked: the strategy was given, not found.")
    if not wide:
        out.print("EVs of the single actions: --format csv or json, or a wider window.")


def _percent(share: Any, width: int = 10, digits: int = 1) -> str:
    if math.isnan(share):
        return f"{'–':>{width}}"
    return f"{round(100 * share, digits) + 0.0:>{width - 2}.{digits}f} %"


def _number(value: Any, width: int) -> str:
    if math.isnan(value):
        return f"{'–':>{width}}"
    return f"{round(value, 2) + 0.0:>{width},.2f}"  # + 0.0: no minus before a zero
