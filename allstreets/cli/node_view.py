"""A decision on a terminal: head, actions, 13×13 picture, table by combo."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text

    from allstreets.solutions import Decision

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
    from allstreets.cli.grid import mix_grid
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
