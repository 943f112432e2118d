"""Actions in letters and colours, and a decision as HTML for notebooks: the 13×13 picture."""

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from allstreets.cards import HAND_COUNT, HAND_NAMES, cards_text, grid_cell
from allstreets.solutions.format import decision_notes, number_text, percent_text, pot_text

if TYPE_CHECKING:
    from allstreets.solutions.decision import Decision

FOLD, PASSIVE = "#6da2d3", "#7cc287"
# From a small bet to all-in; dark letters are readable on all of them.
BETS = ((250, 190, 165), (205, 75, 60))
ABSENT = "#eeeeee"
LOCKED = "outline:2px solid #333;outline-offset:-2px"  # a hand with a locked strategy
GREYS = (225, 150)  # from the first action to the last, where nothing was learned


class HasActions(Protocol):
    """A decision, which may not have been reached."""

    @property
    def actions(self) -> tuple[str, ...]:
        """As in a line: "x", "b33", "r120", "a"."""

    @property
    def reached(self) -> bool:
        """Whether what is done there was learned."""


def action_symbols(node: HasActions) -> tuple[str, ...]:
    """One letter for each action: f, x, c, b or r, a; several sizes become 1, 2, 3 by size.

    A letter is what is left of an action where there is neither room nor colour.
    """
    sized = [action for action in node.actions if action[0] in "br"]
    if len(sized) <= 1:
        return tuple(action[0] for action in node.actions)
    return tuple(
        str(1 + sized.index(action)) if action in sized else action[0] for action in node.actions
    )


def node_colours(node: HasActions) -> tuple[str, ...]:
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


def decision_html(node: "Decision") -> str:
    """The head of a decision, its grid and its legend; hovering over a cell gives the figures."""
    colours, shown = node_colours(node), node.shown_strategy()  # [A, 169]
    evs = node.cells(node.evs(), evs=True)
    locked = node.locked_cells() > 0
    cells = [[""] * 13 for _ in range(13)]
    for hand in range(HAND_COUNT):
        row, column = grid_cell(hand)
        more = [f"EV {number_text(evs[hand])}"] if np.isfinite(evs[hand]) else []
        more += ["locked"] if locked[hand] else []
        cells[row][column] = _cell(node, hand, shown[:, hand].tolist(), more, colours)
    style = "border-collapse:collapse;font:11px monospace;text-align:center;color:#111"
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    board = [cards_text(node.board)] if node.board else []
    where = " · ".join([f"<b>{html.escape(node.line) or 'first decision'}</b>", *board])
    head = (
        f"{where} · {node.seat} to act · {pot_text(node)} · EV {number_text(node.ev())}"
        + "".join(f"</div><div>{html.escape(note)}" for note in decision_notes(node))
    )
    legend = " ".join(
        f'<span style="background:{colour};color:#111;padding:1px 6px">'
        f"{html.escape(label)} {percent_text(frequency)}</span>"
        for label, colour, frequency in zip(node.labels, colours, node.taken.tolist(), strict=True)
    )
    return f'<div>{head}</div><table style="{style}">{rows}</table><div>{legend}</div>'


def _cell(
    node: "Decision", hand: int, shares: list[float], more: list[str], colours: Sequence[str]
) -> str:
    size = "width:34px;height:22px;border:1px solid #fff;padding:0"
    name = HAND_NAMES[hand]
    if np.isnan(shares[0]):
        return f'<td style="{size};background:{ABSENT};color:#999">{name}</td>'
    stops, start = [], 0.0
    for colour, share in zip(colours, shares, strict=True):
        stops.append(f"{colour} {100 * start:.1f}% {100 * (start + share):.1f}%")
        start += share
    mix = [
        f"{label}: {100 * share:.1f} %" for label, share in zip(node.labels, shares, strict=True)
    ]
    title = html.escape("; ".join([name, *mix, *more]), quote=True)
    fill = f"background:linear-gradient(to right,{','.join(stops)})"
    fill += f";{LOCKED}" if "locked" in more else ""
    return f'<td style="{size};{fill}" title="{title}">{name}</td>'
