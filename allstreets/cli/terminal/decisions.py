"""Decisions on a terminal: head, actions, 13×13 picture, table by combo; the opening of a game."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

    from allstreets.jobs import Progress
    from allstreets.solutions import Decision, WholeSolution


EDGE = 1e-4  # a reach below it is shown as 0


def print_head(out: "Console", node: "Decision") -> None:
    """The place, and the EVs of both ranges."""
    from allstreets.solutions import decision_notes, number_text, percent_text, player_rows

    out.print(node.line.strip() or "first decision", markup=False)
    for line in _where(node):
        out.print(line)
    for note in decision_notes(node):
        out.print(note, style="bold", markup=False, highlight=False)
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


def _where(node: "Decision") -> list[str]:
    """Board or street, who acts, pot and stacks; of a whole game how often play gets here."""
    from allstreets.cards import cards_text
    from allstreets.solutions import pot_text, share_text

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


def print_mix(out: "Console", node: "Decision") -> None:
    """How often each action is taken, its EV, and the 13×13 picture."""
    from allstreets.solutions import (
        EV_LEGEND,
        action_symbols,
        decision_lines,
        ev_note,
        node_colours,
    )

    print_table(out, decision_lines(node), action_symbols(node), node_colours(node))
    if node.known:
        out.print(f"{ev_note(node)}\n{EV_LEGEND}")
    out.print()
    out.print(mix_picture(node))
    star = "; * locked" if node.locked.any() else ""
    out.print(f"In each cell: the most frequent action and how often, in %{star}; suited above.")


def mix_picture(node: "Decision") -> "Text":
    """The 13×13 picture of a decision."""
    from allstreets.cli.terminal.grid import mix_grid
    from allstreets.solutions import action_symbols, node_colours

    locked = node.locked_cells() > 0
    return mix_grid(node.shown_strategy(), action_symbols(node), node_colours(node), locked)


def print_table(
    out: "Console", rows: "Sequence[str]", symbols: "Sequence[str]", colours: "Sequence[str]"
) -> None:
    """A head and one row per action, each after its symbol in its colour."""
    out.print(f"\n{'':4}{rows[0]}")
    for line in coloured_rows(rows[1:], symbols, colours):
        out.print(line)


def coloured_rows(
    rows: "Sequence[str]", symbols: "Sequence[str]", colours: "Sequence[str]"
) -> "list[Text]":
    """Rows after the symbols of their actions."""
    from rich.style import Style
    from rich.text import Text

    return [
        Text.assemble((f" {symbol} ", Style(color="black", bgcolor=colour)), f" {row}")
        for row, symbol, colour in zip(rows, symbols, colours, strict=True)
    ]


def print_combos(out: "Console", node: "Decision") -> None:
    """One line per combo, with the EVs of the actions next to their frequencies if they fit."""
    from allstreets.solutions import number_text, percent_text, reached_rows

    rows = [row for row in reached_rows(node) if row["reach"] >= EDGE]
    unit, sign = node.unit.column, node.sign
    head = f"{'combo':6}{'reach':>6}{'equity':>8}{'EV':>9}{'EQR':>7}"
    head += f"{'group':>7}" if node.alike is not None else ""
    wide = len(head) + 17 * len(node.actions) <= out.width
    for action in node.actions:
        head += f"{action:>8}" + (f"{'EV':>9}" if wide else "")
    out.print(f"\n{head}")
    for row in rows:
        mark = "*" if row.get("locked") else ""
        text = f"{row['combo'] + mark:6}{row['reach']:6.3f}{percent_text(row['equity']):>8}"
        text += f"{number_text(row[f'ev{unit}'], sign):>9}{percent_text(row['eqr'], 0):>7}"
        text += f"{row['group']:>7}" if node.alike is not None else ""
        for action in node.actions:
            text += f"{percent_text(row[action]):>8}"
            text += f"{number_text(row[f'ev{unit}_{action}'], sign):>9}" if wide else ""
        out.print(text)
    if node.alike is not None:
        out.print("Combos of the same group play alike on this board.")
    if any(row.get("locked") for row in rows):
        out.print("* locked: the strategy was given, not solved.")
    if not wide:
        out.print("EVs per action: --format csv or json, or a wider window.")


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

    from allstreets.cli.terminal.decisions import coloured_rows, mix_picture
    from allstreets.solutions import action_symbols, decision_lines, node_colours

    rows = decision_lines(node, evs=False)[1:]
    lines = coloured_rows(rows, action_symbols(node), node_colours(node))
    return Text(_opening_title(node)), Group(*lines), mix_picture(node)


def print_opening(out: "Console", result: "WholeSolution") -> None:
    """The small blind's first decision, and the big blind's response to the first raise."""
    from allstreets.cli.terminal.decisions import print_mix

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
