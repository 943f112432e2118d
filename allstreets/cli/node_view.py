"""A node of a solution on a terminal: head, actions, 13×13 picture, table by combo."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.solvers import NodeResult

EDGE = 1e-4  # a reach below it is shown as 0


def print_head(out: "Console", node: "NodeResult") -> None:
    """Where we are, and what both ranges are worth."""
    from allstreets.cards import cards_text
    from allstreets.solvers.spot.report import player_rows

    line = node.line.strip() or "first decision"
    call = f", {node.to_call} to call" if node.to_call else ""
    out.print(
        f"{line}\nboard {cards_text(node.board)}   {node.player.name} to act   "
        f"pot {node.pot} chips{call}"
    )
    out.print(f"\n{'':4}{'combos':>8}{'equity':>10}{'EV chips':>11}{'EQR':>9}")
    for row in player_rows(node):
        out.print(
            f"{row['player']:4}{row['combos']:8.1f}{_percent(row['equity'])}"
            f"{_number(row['ev'], 11)}{_percent(row['eqr'], 9)}"
        )


def print_mix(out: "Console", node: "NodeResult") -> None:
    """How often each action is taken and what it is worth, and the 13×13 picture."""
    from rich.style import Style
    from rich.text import Text

    from allstreets.cli.grid import mix_grid
    from allstreets.solvers.spot.html import action_colours
    from allstreets.solvers.spot.report import action_rows, action_symbols

    symbols, colours = action_symbols(node), action_colours(node.actions)
    rows = action_rows(node)
    width = max(len(row["label"]) for row in rows)
    out.print(f"\n{'':4}{'':{width}}{'taken':>10}{'EV chips':>11}")
    for row, symbol, colour in zip(rows, symbols, colours, strict=True):
        text = Text()
        text.append(f" {symbol} ", Style(color="black", bgcolor=colour))
        text.append(f" {row['label']:{width}}{_percent(row['frequency'])}{_number(row['ev'], 11)}")
        out.print(text)
    out.print()
    shares = np.array([node.by_hand(chances) for chances in node.strategy])
    out.print(mix_grid(shares, symbols, colours))
    out.print("In each cell: the most frequent action and how often, in %; suited above.")


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
        text = f"{row['combo']:6}{row['reach']:6.3f}{_percent(row['equity'], 8)}"
        text += f"{_number(row['ev'], 9)}{_percent(row['eqr'], 7, 0)}"
        for action in node.actions:
            text += _percent(row[action], 8)
            text += _number(row[f"ev_{action}"], 9) if wide else ""
        out.print(text)
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
