"""A decision in a few plain lines for `print`, and as a 13×13 picture in HTML for notebooks."""

import html
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from allstreets.base import Floats
from allstreets.cards import HAND_COUNT, HAND_NAMES, cards_text, grid_cell
from allstreets.games import Lock
from allstreets.solutions.reached import LEAST_SHARE

if TYPE_CHECKING:
    from allstreets.solutions.decision import Decision

DASH = "–"
NO_DECISION = "all-in already: there is no decision"
SHOWN_PLACES = 4  # of a lock on every card there are dozens
SELDOM = 5e-4  # less frequent actions are shown with more digits
TAKERS, RANGE = "EV of takers", "EV of range"
EV_LEGEND = (
    f"{TAKERS}: mean of the hands that take it, if {100 * LEAST_SHARE:g} % of the range does.\n"
    f"{RANGE}: EV of the whole range if all of it took the action."
)


def percent_text(share: float, digits: int = 1) -> str:
    """A share in per cent, "33.3 %"; a dash where there is none."""
    return DASH if math.isnan(share) else f"{round(100 * share, digits) + 0.0:.{digits}f} %"


def share_text(share: float) -> str:
    """The same with more digits where the share is small."""
    return percent_text(share, 3 if 0 < share < SELDOM else 1)


def number_text(value: float, sign: str = "", digits: int = 2) -> str:
    """A number with a few digits; a dash where there is none, no minus before a zero."""
    return DASH if math.isnan(value) else f"{round(value, digits) + 0.0:{sign},.{digits}f}"


def mix_lines(
    labels: Sequence[str],
    frequencies: Floats,
    evs: tuple[Floats, Floats] | None,
    notes: Sequence[str],
    number: Callable[[float], str] = number_text,
) -> list[str]:
    """A head and a line per action: its frequency, `evs` [A] of takers and range, notes."""
    width = max(map(len, labels))
    heads = (TAKERS, RANGE) if evs is not None else ()
    lines = [f"{'':{width}}{'taken':>10}" + "".join(f"{head:>14}" for head in heads)]
    for action, label in enumerate(labels):
        line = f"{label:{width}}{share_text(float(frequencies[action])):>10}"
        for column in evs or ():
            line += f"{number(float(column[action])):>14}"
        lines.append(f"{line}   {notes[action]}".rstrip())
    return lines


def decision_text(node: "Decision") -> str:
    """The node, the player who acts, both ranges, and the frequencies of actions."""
    unit, acts = node.unit, node.actor is not None
    ranges = "; ".join(
        f"{unit.seats[player]} {node.hands[player].size:.1f} combos, "
        f"EV {number_text(node.ev(player), node.sign)}{' bb' * _in_bb(node)}"
        for player in unit.order
    )
    if _in_bb(node):
        cards = "flop" if len(node.board) == 3 else "board"
        among = f"the hands that are dealt this {cards}" if node.board else "hands"
        ranges += f" ({node.counted}); reached in {percent_text(node.share, 2)} of {among}"
    else:
        ranges += f" ({node.unit.name}{'s' * (node.unit.name == 'pot')} {node.counted})"
    lines = [
        f"{_place(node)}: {node.seat if acts else 'no player'} to act, {pot_text(node)}",
        ranges,
        *decision_notes(node),
        *(decision_lines(node) if acts else ()),
    ]
    return "\n".join(lines)


def decision_line(node: "Decision") -> str:
    """Node, player and actions: "'x' on Ks7d4c9h2s: IP has x, b50, a"."""
    where = f"'{node.line.strip()}'{_board(node)}"
    if node.actor is None:
        return f"{where}: no player acts"
    return f"{where}: {node.seat} has {', '.join(node.actions)}"


def decision_lines(node: "Decision", *, evs: bool = True) -> list[str]:
    """A head and a line per action: its frequency and its EV."""
    labels, taken = node.labels, node.taken
    if not evs:
        return mix_lines(labels, taken, None, [""] * len(labels))
    worth, notes = (node.taken_evs(), node.range_evs()), node.line_reach.action_notes()
    return mix_lines(labels, taken, worth, notes, lambda ev: number_text(ev, node.sign))


def counted_text(*, over_hand: bool) -> str:
    """The start from which EVs count, in words."""
    return "over the whole hand" if over_hand else "from here on"


def ev_note(node: "Decision") -> str:
    """The note on the EVs of a decision: "EVs in bb from here on: folding is 0."."""
    unit = "pots" if node.unit.name == "pot" else node.unit.name
    rest = "chips already put in count as lost" if node.over_hand else "folding is 0"
    return f"EVs in {unit} {node.counted}: {rest}."


def decision_notes(node: "Decision") -> list[str]:
    """Notes that a reader needs to read the numbers of a decision correctly."""
    return [note for note in (*node.notes, locked_text(node), node.why_not()) if note]


def locked_text(node: "Decision") -> str:
    """The number of hands with a locked strategy; "" for none."""
    if not node.locked.any():
        return ""
    if node.locked.all():
        return f"locked: {node.seat}'s strategy here was given for all hands, not solved"
    held, all_held = float(node.reach[node.locked].sum()), node.own.size
    return f"locked: {node.seat}'s strategy here was given for {held:.1f} of {all_held:.1f} combos"


def pot_text(node: "Decision") -> str:
    """The pot, and the amount to call: "pot 1.5 bb, 0.5 bb to call"."""
    if _in_bb(node):
        return f"pot {node.pot:g} bb" + f", {node.to_call:g} bb to call" * bool(node.to_call)
    if node.unit.name == "pot":
        call = f", {node.to_call:g} to call" * bool(node.to_call)
        return f"pot {node.pot:g}{call} (starting pot = 1)"
    return f"pot {node.pot} chips" + f", {node.to_call} to call" * bool(node.to_call)


def _place(node: "Decision") -> str:
    return (node.line.strip() or "first decision") + _board(node)


def _board(node: "Decision") -> str:
    """The board, where the line does not name all of its cards."""
    return f" on {cards_text(node.board)}" if node.unit.name == "chips" else ""


def _in_bb(node: "Decision") -> bool:
    return node.unit.name == "bb"


def locks_text(locks: Sequence[Lock]) -> str:
    """The decisions where a solution has locks, in words; "" where it has none."""
    if not locks:
        return ""
    lines = dict.fromkeys(lock.line.strip() for lock in locks)
    nodes = [f"'{line}'" if line else "the first decision" for line in lines]
    more = len(nodes) - SHOWN_PLACES
    rest = f" and {more} more decisions" if more > 0 else ""
    return f"strategies are locked at {', '.join(nodes[:SHOWN_PLACES])}{rest}"


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
        """The actions as in a line: "x", "b33", "r120", "a"."""

    @property
    def reached(self) -> bool:
        """Whether play there was learned."""


def action_symbols(node: HasActions) -> tuple[str, ...]:
    """One letter for each action: f, x, c, b or r, a; several sizes become 1, 2, 3 by size.

    A letter stands for an action where there is neither room nor colour.
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
    """Fold blue, check and call green, bets and raises red, the larger the darker."""
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
