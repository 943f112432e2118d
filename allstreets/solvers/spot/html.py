"""A node as HTML for notebooks: the 13×13 picture with the mix of actions in every cell."""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from allstreets.cards import HAND_COUNT, HAND_NAMES, cards_text, grid_cell

if TYPE_CHECKING:
    from allstreets.solvers.spot.result import NodeResult, SpotResult

FOLD, PASSIVE = "#6da2d3", "#7cc287"
# From a small bet to all-in; dark letters are readable on all of them.
BETS = ((250, 190, 165), (205, 75, 60))
ABSENT = "#eeeeee"


def action_colours(actions: Sequence[str]) -> tuple[str, ...]:
    """Fold blue, check and call green, bets and raises redder the larger they are."""
    aggressive = [action for action in actions if action[0] in "bra"]
    colours = []
    for action in actions:
        if action == "f":
            colours.append(FOLD)
        elif action in "xc":
            colours.append(PASSIVE)
        else:
            steps = len(aggressive) - 1
            share = aggressive.index(action) / steps if steps else 1.0
            mixed = (round(low + (high - low) * share) for low, high in zip(*BETS, strict=True))
            colours.append("#" + "".join(f"{part:02x}" for part in mixed))
    return tuple(colours)


def node_html(node: "NodeResult") -> str:
    """The head of a node, its grid and its legend; hovering over a cell gives the figures."""
    colours = action_colours(node.actions)
    by_hand = np.array([node.by_hand(row) for row in node.strategy])  # [A, 169]
    evs = node.by_hand(node.evs())
    cells = [[""] * 13 for _ in range(13)]
    for hand in range(HAND_COUNT):
        row, column = grid_cell(hand)
        cells[row][column] = _cell(node, hand, by_hand[:, hand].tolist(), float(evs[hand]), colours)
    style = "border-collapse:collapse;font:11px monospace;text-align:center;color:#111"
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    call = f", {node.to_call} to call" if node.to_call else ""
    head = (
        f"<b>{html.escape(node.line) or 'first decision'}</b> · {cards_text(node.board)} · "
        f"{node.player.name} to act · pot {node.pot}{call} · EV {node.total(node.evs()):.2f}"
    )
    legend = " ".join(
        f'<span style="background:{colour};color:#111;padding:1px 6px">'
        f"{html.escape(label)} {100 * frequency:.1f} %</span>"
        for label, colour, frequency in zip(
            node.labels, colours, node.frequencies().tolist(), strict=True
        )
    )
    return f'<div>{head}</div><table style="{style}">{rows}</table><div>{legend}</div>'


def _cell(
    node: "NodeResult", hand: int, shares: list[float], ev: float, colours: Sequence[str]
) -> str:
    size = "width:34px;height:22px;border:1px solid #fff;padding:0"
    name = HAND_NAMES[hand]
    if np.isnan(shares[0]):
        return f'<td style="{size};background:{ABSENT};color:#999">{name}</td>'
    stops, start = [], 0.0
    for colour, share in zip(colours, shares, strict=True):
        stops.append(f"{colour} {100 * start:.1f}% {100 * (start + share):.1f}%")
        start += share
    told = [
        f"{label}: {100 * share:.1f} %" for label, share in zip(node.labels, shares, strict=True)
    ]
    told += [f"EV {ev:.2f}"] if np.isfinite(ev) else []
    title = html.escape("; ".join([name, *told]), quote=True)
    fill = f"background:linear-gradient(to right,{','.join(stops)})"
    return f'<td style="{size};{fill}" title="{title}">{name}</td>'


def result_html(result: "SpotResult") -> str:
    """A solution: how good it is, what it is worth, and its first decision."""
    evs = result.evs
    head = (
        f"<div>exploitability {100 * result.exploitability:.3f} % of pot after "
        f"{result.iterations:,} iterations · EV OOP {evs[0]:.2f}, IP {evs[1]:.2f} chips</div>"
    )
    if not result.spot.tree.child_count[0]:
        return f"{head}<div>all-in already: there is no decision</div>"
    return head + node_html(result.node(""))
