"""allstreets compare: a decision in two solutions of the same game, side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allstreets.cli.terminal.output import JsonOption, console, number, percent, print_json, written

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.analysis import Comparison


def compare(
    first: Annotated[
        Path,
        typer.Argument(
            metavar="FIRST", help="The folder of a solution, or its name in allstreets library."
        ),
    ],
    second: Annotated[
        Path, typer.Argument(metavar="SECOND", help="Another solution of the same game.")
    ],
    line: Annotated[
        str,
        typer.Option("--line", "-l", help="The line to the decision.  [default: the first one]"),
    ] = "",
    flop: Annotated[
        str | None, typer.Option(help="For whole games: the flop, if the line names none.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many hands to list.")] = 15,
    csv: Annotated[Path | None, written("Write all hands to this file.")] = None,
    json: JsonOption = False,
) -> None:
    """Compare two solutions: frequencies, EVs, who gains, and the hands that differ most.

    \b
    Examples:
      allstreets compare solved/ locked/ --line "x b50%"
      allstreets compare game_10/ game_100/ --line "r2.5" --csv hands.csv

    Both must be solutions of the same spot, or of the same preflop or whole game; locks, flops and
    card models may differ.
    """
    from allstreets.base import write_csv
    from allstreets.solutions import without_nan
    from allstreets.storage import compare as compared

    comparison = compared(first, second, line, flop)
    if csv is not None:
        write_csv(csv, comparison.table())
    if json:
        unit = comparison.unit.column
        print_json(
            {
                "line": comparison.line,
                "player": comparison.seat,
                "notes": list(comparison.notes),
                "distance": comparison.distance,
                "noise": comparison.noise,
                "actions": [
                    without_nan({"action": word, "a": a, "b": b})
                    for word, a, b in zip(comparison.actions, *comparison.frequencies, strict=True)
                ],
                "players": [
                    without_nan({"player": seat, f"ev{unit}_a": a, f"ev{unit}_b": b})
                    for seat, (a, b) in zip(comparison.unit.seats, comparison.evs, strict=True)
                ],
                "hands": [without_nan(row) for row in comparison.table()],
            }
        )
        return
    out = console()
    _print(out, comparison, first, second, top)
    if csv is not None:
        out.print(f"Table: {csv}")


def _print(out: "Console", comparison: "Comparison", first: Path, second: Path, top: int) -> None:
    unit, seats = comparison.unit, comparison.unit.seats
    out.print(f"A {first}   B {second}", soft_wrap=True)
    out.print(f"{comparison.line.strip() or 'first decision'}   {comparison.seat} to act")
    for note in comparison.notes:
        out.print(note, style="bold", soft_wrap=True)
    for name, reached in zip("AB", comparison.reached, strict=True):
        if not reached:
            out.print(f"{name} hardly ever gets here: nothing was learned.", style="bold")
    width = max(len(label) for label in (*comparison.labels, "action")) + 2
    out.print(f"\n{'action':{width}}{'A':>9}{'B':>9}{'B − A':>10}")
    for label, a, b in zip(comparison.labels, *comparison.frequencies, strict=True):
        out.print(
            f"{label:{width}}{percent(a, 1):>9}{percent(b, 1):>9}{percent(b - a, 1, sign='+'):>10}"
        )
    out.print(f"\n{'EV ' + unit.name:{width}}{'A':>9}{'B':>9}{'B − A':>10}")
    for player in unit.order:
        a, b = comparison.evs[player]
        out.print(
            f"{seats[player]:{width}}{number(a):>9}{number(b):>9}{number(b - a, sign='+'):>10}"
        )
    out.print(f"\nIn B: {comparison.gain_text()}", soft_wrap=True)
    out.print(f"A hand acts differently {percent(comparison.distance, 1)} of the time.", end="")
    shown = [hand for hand in comparison.hands[:top] if hand.weighted > 0]
    if not shown:
        out.print()
        return
    out.print(" Most of it:\n")
    words = "".join(f"{word + ' A':>9}{'B':>8}" for word in comparison.actions)
    out.print(f"{'hand':6}{'of hands':>10}{words}{'EV A':>10}{'EV B':>10}{'differs':>10}")
    for hand in shown:
        text = f"{hand.name:6}{percent(hand.share, 1):>10}"
        for a, b in zip(*hand.frequencies, strict=True):
            text += f"{percent(a, 1):>9}{percent(b, 1):>8}"
        text += "".join(f"{number(ev):>10}" for ev in hand.evs)
        out.print(f"{text}{percent(hand.weighted, 1):>10}")
