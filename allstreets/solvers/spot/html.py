"""A node as HTML for notebooks: the 13×13 picture with the mix of actions in every cell."""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from allstreets.cards import HAND_COUNT, HAND_NAMES, cards_text, grid_cell
from allstreets.solvers.spot.words import locks_text, node_notes
from allstreets.solvers.words import number_text, percent_text

if TYPE_CHECKING:
    from allstreets.solvers.spot.result import NodeResult, SpotResult

FOLD, PASSIVE = "#6da2d3", "#7cc287"
# From a small bet to all-in; dark letters are readable on all of them.
BETS = ((250, 190, 165), (205, 75, 60))
ABSENT = "#eeeeee"
LOCKED = "outline:2px solid #333;outline-offset:-2px"  # a hand whose strategy was given
GREYS = (225, 150)  # from the first action to the last, where nothing was learned


class HasReach(Protocol):
    """A decision that may not have been reached."""

    @property
    def actions(self) -> tuple[str, ...]:
        """As in a line: "x", "b33", "r120", "a"."""

    @property
    def reached(self) -> bool:
        """Whether what is done there was learned."""


def node_colours(node: HasReach) -> tuple[str, ...]:
    """The colours of a decision's actions; greys where nothing was learned."""
    if node.reached:
        return action_colours(node.actions)
    shades = np.linspace(*GREYS, len(node.actions)).astype(int).tolist()
    return tuple("#" + 3 * f"{shade:02x}" for shade in shades)


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
    colours = node_colours(node)
    by_hand = np.array([node.by_hand(row) for row in node.strategy])  # [A, 169]
    evs = node.by_hand(node.evs())
    locked = node.by_hand(node.locked.astype(np.float64)) > 0
    cells = [[""] * 13 for _ in range(13)]
    for hand in range(HAND_COUNT):
        row, column = grid_cell(hand)
        told = [f"EV {evs[hand]:.2f}"] if np.isfinite(evs[hand]) else []
        told += ["locked"] if locked[hand] else []
        cells[row][column] = _cell(node, hand, by_hand[:, hand].tolist(), told, colours)
    style = "border-collapse:collapse;font:11px monospace;text-align:center;color:#111"
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    call = f", {node.to_call} to call" if node.to_call else ""
    ev = number_text(node.total(node.evs()))
    head = (
        f"<b>{html.escape(node.line) or 'first decision'}</b> · {cards_text(node.board)} · "
        f"{node.player.name} to act · pot {node.pot}{call} · EV {ev}"
    )
    head += "".join(f"</div><div>{html.escape(note)}" for note in node_notes(node))
    legend = " ".join(
        f'<span style="background:{colour};color:#111;padding:1px 6px">'
        f"{html.escape(label)} {percent_text(frequency)}</span>"
        for label, colour, frequency in zip(
            node.labels, colours, node.frequencies().tolist(), strict=True
        )
    )
    return f'<div>{head}</div><table style="{style}">{rows}</table><div>{legend}</div>'


def _cell(
    node: "NodeResult", hand: int, shares: list[float], more: list[str], colours: Sequence[str]
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
    title = html.escape("; ".join([name, *told, *more]), quote=True)
    fill = f"background:linear-gradient(to right,{','.join(stops)})"
    fill += f";{LOCKED}" if "locked" in more else ""
    return f'<td style="{size};{fill}" title="{title}">{name}</td>'


def result_html(result: "SpotResult") -> str:
    """A solution: how good it is, what it is worth, and its first decision."""
    evs = result.evs
    head = (
        f"<div>exploitability {100 * result.exploitability:.3f} % of pot after "
        f"{result.iterations:,} iterations · EV OOP {evs[0]:.2f}, IP {evs[1]:.2f} chips</div>"
    )
    if result.spot.lock:
        head += f"<div>{html.escape(locks_text(result.spot))}</div>"
    if not result.spot.tree.child_count[0]:
        return f"{head}<div>all-in already: there is no decision</div>"
    return head + node_html(result.node(""))
