"""Decisions on a terminal: head, actions, 13×13 picture, table by combo; the opening of a game."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from allstreets.base import Flags, Floats
from allstreets.cards import HAND_COUNT, HAND_NAMES, RANKS, cards_text, grid_cell
from allstreets.jobs import Progress, standing
from allstreets.solutions import (
    EV_LEGEND,
    Decision,
    action_symbols,
    decision_lines,
    decision_notes,
    ev_note,
    node_colours,
    node_title,
    number_text,
    percent_text,
    player_rows,
    pot_text,
    reached_rows,
    share_text,
)

if TYPE_CHECKING:
    from allstreets.solutions import WholeSolution  # which loads kernels

EDGE = 1e-4  # a reach below it is shown as 0


def print_head(out: Console, node: Decision) -> None:
    """Print the place and the EVs of both ranges."""
    out.print(node.line.strip() or "first decision")
    for line in _where(node):
        out.print(line)
    for note in decision_notes(node):
        out.print(note, style="bold")
    rows = player_rows(node)
    shares = [key for key in ("equity", "eqr") if key in rows[0]]
    width = 11 if shares else 9
    head = [f"{'EV ' + node.unit.name:>{width}}"]
    if shares:
        head = [f"{'equity':>10}", *head, f"{'EQR':>9}"]
    out.print(f"\n{'':4}{'combos':>8}{''.join(head)}")
    for player in node.unit.order:
        row = rows[player]
        cells = [f"{number_text(row[f'ev{node.unit.column}'], node.sign):>{width}}"]
        if shares:
            equity, eqr = percent_text(row["equity"]), percent_text(row["eqr"])
            cells = [f"{equity:>10}", *cells, f"{eqr:>9}"]
        out.print(f"{row['player']:4}{row['combos']:8.1f}{''.join(cells)}")


def _where(node: Decision) -> list[str]:
    """Board or street, player, pot and stacks; in a whole game how often play gets here."""
    table = f"{node.seat} to act   {pot_text(node)}"
    if node.by_combo:
        return [f"board {cards_text(node.board)}   {table}"]
    unit = "" if node.unit.name == "pot" else f" {node.unit.name}"
    stacks = dict.fromkeys(f"{node.stacks[player]:g}{unit}" for player in node.unit.order)
    among = "of the hands that are dealt this flop" if node.board else "of all hands"
    rare = ": hardly ever" if node.is_rare else ""
    return [
        f"{node.street.text}   {table}, {' and '.join(stacks)} behind",
        f"reached in {share_text(node.share)} {among}{rare}",
    ]


def print_mix(out: Console, node: Decision) -> None:
    """Print the frequency and EV of each action, and the 13×13 picture."""
    print_table(out, decision_lines(node), action_symbols(node), node_colours(node))
    if node.known:
        out.print(f"{ev_note(node)}\n{EV_LEGEND}")
    out.print()
    out.print(mix_picture(node))
    star = "; * locked" if node.locked.any() else ""
    out.print(f"Each cell: the most frequent action and its %{star}; suited hands above.")


def mix_picture(node: Decision) -> Text:
    """The 13×13 picture of a decision."""
    locked = node.locked_cells() > 0
    return mix_grid(node.shown_strategy(), action_symbols(node), node_colours(node), locked)


def print_table(
    out: Console, rows: "Sequence[str]", symbols: "Sequence[str]", colours: "Sequence[str]"
) -> None:
    """A head and one row per action, each after its symbol in its colour."""
    out.print(f"\n{'':4}{rows[0]}")
    for line in coloured_rows(rows[1:], symbols, colours):
        out.print(line)


def coloured_rows(
    rows: "Sequence[str]", symbols: "Sequence[str]", colours: "Sequence[str]"
) -> "list[Text]":
    """Rows after the symbols of their actions."""
    return [
        Text.assemble((f" {symbol} ", Style(color="black", bgcolor=colour)), f" {row}")
        for row, symbol, colour in zip(rows, symbols, colours, strict=True)
    ]


def print_combos(out: Console, node: Decision) -> None:
    """One line per combo, with the EVs of the actions next to their frequencies if they fit."""
    rows = [row for row in reached_rows(node) if row["reach"] >= EDGE]
    unit, sign = node.unit.column, node.sign
    head = f"{'combo':6}{'reach':>6}{'equity':>8}{'EV':>9}{'EQR':>7}"
    head += f"{'bucket':>8}" if node.alike is not None else ""
    wide = len(head) + 17 * len(node.actions) <= out.width
    for action in node.actions:
        head += f"{action:>8}" + (f"{'EV':>9}" if wide else "")
    out.print(f"\n{head}")
    for row in rows:
        mark = "*" if row.get("locked") else ""
        text = f"{row['combo'] + mark:6}{row['reach']:6.3f}{percent_text(row['equity']):>8}"
        text += f"{number_text(row[f'ev{unit}'], sign):>9}{percent_text(row['eqr'], 0):>7}"
        text += f"{row['bucket']:>8}" if node.alike is not None else ""
        for action in node.actions:
            text += f"{percent_text(row[action]):>8}"
            text += f"{number_text(row[f'ev{unit}_{action}'], sign):>9}" if wide else ""
        out.print(text)
    if node.alike is not None:
        out.print("Combos of the same bucket play alike on this board.")
    if any(row.get("locked") for row in rows):
        out.print("* locked: the strategy was given, not solved.")
    if not wide:
        out.print("EVs per action: --format csv or json, or a wider window.")


CHART_WIDTH, CHART_GAP = 67, 4  # columns of a 13×13 picture, and between two


def print_charts(out: Console, progress: Progress, result: "WholeSolution") -> None:
    """Print the opening while a game is being solved, in one piece: a table may be drawn below it.

    On a terminal that is wide enough the two charts are side by side.
    """
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


def _chart(node: Decision) -> tuple[RenderableType, ...]:
    """Title, actions and picture of a decision."""
    rows = decision_lines(node, evs=False)[1:]
    lines = coloured_rows(rows, action_symbols(node), node_colours(node))
    return Text(_opening_title(node)), Group(*lines), mix_picture(node)


def print_opening(out: Console, result: "WholeSolution") -> None:
    """The small blind's first decision, and the big blind's response to the first raise."""
    nodes = _opening(result)
    if not nodes:
        out.print("The blinds are all-in: there is no decision before the flop.")
    for node in nodes:
        out.print(f"\n{_opening_title(node)}", end="")
        print_mix(out, node)


def _opening(result: "WholeSolution") -> list[Decision]:
    return [result.at(line).decision for line in result.opening_lines()]


def _opening_title(node: Decision) -> str:
    reached = f" ({share_text(node.share)} of hands)" if node.line else ""
    return f"{node_title(node)}{reached}:"


BARS = " ▁▂▃▄▅▆▇█"
# From red through yellow to green: readable with dark letters on top.
HEAT = ((214, 96, 77), (253, 219, 120), (90, 174, 97))
ABSENT = Style(color="grey50")
MARGIN = Style(bold=True)
MIX_WIDTH = 5  # letters of a cell, which are the steps of its colours

Cell = Callable[[int], list[tuple[str, Style]]]


def grid(cell: Cell, *, margins: bool = False) -> Text:
    """All hands as thirteen lines; `cell` gives the letters of one, piece by piece with its style.

    With `margins` ranks are above and to the left, for cells that do not name their hand.
    """
    cells = {grid_cell(hand): cell(hand) for hand in range(HAND_COUNT)}
    picture = Text()
    if margins:
        width = sum(len(letters) for letters, _ in cells[0, 0])
        picture.append(
            "  " + "".join(f"{rank:^{width}}" for rank in reversed(RANKS)) + "\n", MARGIN
        )
    for row, rank in enumerate(reversed(RANKS)):
        if margins:
            picture.append(f"{rank} ", MARGIN)
        for column in range(len(RANKS)):
            for letters, style in cells[row, column]:
                picture.append(letters, style)
        picture.append("\n")
    return picture


def weight_grid(weights: Floats) -> Text:
    """Hands [169] by weight: a bar of that height beside the name, a dot for none at all."""

    def cell(hand: int) -> list[tuple[str, Style]]:
        weight = float(weights[hand])
        if weight <= 0:
            return [(f"{'·':^4} ", ABSENT)]
        bar = BARS[max(1, round(weight * (len(BARS) - 1)))]
        return [(f"{HAND_NAMES[hand]:<3}{bar} ", Style(color="green", bold=weight == 1))]

    return grid(cell)


def heat_grid(shares: Floats) -> Text:
    """Hands [169] by a share from 0 to 1 in per cent, coloured; a dot where it is NaN."""

    def cell(hand: int) -> list[tuple[str, Style]]:
        share = float(shares[hand])
        if np.isnan(share):
            return [(f"{'·':^5}", ABSENT)]
        return [(f"{100 * share:^5.0f}", _paint(heat_colour(share)))]

    return grid(cell, margins=True)


def heat_colour(share: float) -> str:
    """The colour between red (0) and green (1)."""
    position = min(max(share, 0.0), 1.0) * (len(HEAT) - 1)
    left = min(int(position), len(HEAT) - 2)
    mixed = [
        round(low + (high - low) * (position - left))
        for low, high in zip(HEAT[left], HEAT[left + 1], strict=True)
    ]
    return f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"


def share_bar(first: float, width: int) -> Text:
    """A bar split between two players."""
    cut = round(first * width)
    bar = Text()
    bar.append("█" * cut, Style(color=heat_colour(1.0)))
    bar.append("░" * (width - cut), Style(color=heat_colour(0.0)))
    return bar


def mix_grid(
    shares: Floats, symbols: Sequence[str], colours: Sequence[str], marked: Flags | None = None
) -> Text:
    """Hands by their mix of actions, `shares` [A, 169]: the cell is coloured in these proportions.

    For eyes and terminals without colour it names the most frequent action and its per cent. A star
    follows hands that are `marked` [169].
    """

    def cell(hand: int) -> list[tuple[str, Style]]:
        mix = shares[:, hand]
        if np.isnan(mix).any():
            return [(f"{'·':^{MIX_WIDTH}}", ABSENT)]
        most = int(np.argmax(mix))
        ends = np.round(np.cumsum(mix) * MIX_WIDTH)
        painted = [colours[int(np.searchsorted(ends, column + 0.5))] for column in range(MIX_WIDTH)]
        mark = "*" if marked is not None and marked[hand] else " "
        letters = f"{symbols[most]}{100 * mix[most]:3.0f}{mark}"
        return [(letter, _paint(colour)) for letter, colour in zip(letters, painted, strict=False)]

    picture = grid(cell, margins=True)
    picture.right_crop(1)  # the end of the last line
    return picture


def _paint(colour: str) -> Style:
    return Style(color="black", bgcolor=colour)
