"""allstreets simplify: strategies that a person can remember, and their cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from allstreets.cli.terminal.output import (
    JsonOption,
    ThreadsOption,
    console,
    plain_table,
    print_json,
    print_looks,
    written,
)

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.analysis import Mixes, Simplified


def simplify(
    solution: Annotated[
        str,
        typer.Argument(
            metavar="SOLUTION",
            help="A spot or a whole game: a folder written by allstreets solve or train.",
        ),
    ],
    grid: Annotated[
        str | None, typer.Option(metavar="25%", help="Round frequencies to multiples of this.")
    ] = None,
    sizes: Annotated[
        int | None,
        typer.Option(help="Keep this many bet sizes at each decision; all-in counts as one."),
    ] = None,
    drop: Annotated[
        str | None,
        typer.Option(metavar="5%", help="Drop actions that a hand takes less often than this."),
    ] = None,
    player: Annotated[
        Literal["oop", "ip", "bb", "sb"] | None,
        typer.Option(help="Make this player's strategies simple.  [default: both]"),
    ] = None,
    output: Annotated[
        Path | None, written("Save the simple strategies to this new folder.", "--output", "-o")
    ] = None,
    threads: ThreadsOption = None,
    json: JsonOption = False,
) -> None:
    """Make strategies simple, and show what a best response gains: before, after, by street.

    Rounded frequencies still sum to 100 %; a dropped size is played as the nearest size that stays.
    Options apply together, in the order sizes, drop, grid.

    \b
    Examples:
      allstreets simplify solved/ --grid 25%
      allstreets simplify solved/ --sizes 1
      allstreets simplify solved/ --drop 5% --player oop
      allstreets simplify solved/ --sizes 1 --grid 50% --output simple/
      allstreets simplify game/ --grid 25% --output simple_game/

    A player's price is how much more the opponent's best response wins when only this player is
    simple: in % of the pot for a spot, in mbb/hand for a whole game. More in docs/simplify.md.
    """
    from allstreets.analysis import Simplification
    from allstreets.cli.terminal.running import run_on_terminal
    from allstreets.jobs import plan_simplify, read_share

    shares = [None if text is None else read_share(text) for text in (grid, drop)]
    rule = Simplification(shares[0], sizes, shares[1])
    price = run_on_terminal(
        plan_simplify(solution, rule, player, output=output, threads=threads)
    ).price
    if json:
        print_json(price.to_json())
        return
    out = console()
    print_price(out, price)
    if output is not None:
        out.print(f"\nSaved to {output}.", soft_wrap=True)
        print_looks(out, output)


def print_price(out: "Console", price: "Simplified") -> None:
    """Print the figures as a table: the streets, the exploitability, and each player's price."""
    digits = 3 if "%" in price.unit else 2
    before, after = _figure(price.before, digits), _figure(price.after, digits)
    for line in (
        f"{price.who} simple: {price.rule}",
        f"Exploitable for {after} {price.unit}, {before} before; best responses {price.judged}\n",
    ):
        out.print(line, soft_wrap=True)
    prices = [f"price of {price.seats[player]}" for player in price.players]
    heads = ("simple on", "exploitability", *prices, "mixed decisions")
    table = plain_table(*heads, numbers=slice(1, None))

    def add(what: str, exploitability: float, prices: tuple[float, float], mixes: str) -> None:
        own = [_figure(prices[player], digits) for player in price.players]
        table.add_row(what, _figure(exploitability, digits), *own, mixes)

    table.add_row("nothing", before, *["" for _ in price.players], _share(price.mixes_before))
    for each in price.streets if len(price.streets) > 1 else ():
        mixes = f"{each.before.mixed:,} → {each.after.mixed:,}"
        add(f"{each.street} alone", each.exploitability, each.prices, mixes)
    last = "all streets" if len(price.streets) > 1 else price.streets[0].street
    add(last, price.after, price.prices, _share(price.mixes_after))
    out.print(table)


def _figure(number: float, digits: int) -> str:
    """Format a number; zero after rounding has no sign."""
    return f"{round(number, digits) + 0.0:,.{digits}f}"


def _share(mixes: "Mixes") -> str:
    return f"{mixes.mixed:,} of {mixes.decisions:,}"
