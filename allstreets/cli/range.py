"""allstreets range: the combos of a range text."""

from typing import Annotated

import typer

from allstreets.cli.output import JsonOption, console, percent, print_json


def show_range(
    text: Annotated[str, typer.Argument(help="A range such as 'TT+,AQs+,76s:0.5'.")],
    board: Annotated[
        str, typer.Option("--board", "-b", help="Remove the combos that it blocks.")
    ] = "",
    json: JsonOption = False,
) -> None:
    """Show a range: its combos, its share of all hands, and the 13×13 picture.

    \b
    Examples:
      allstreets range "TT+,AQs+"
      allstreets range "22+,A2s+,98s-54s,AsKh:0.5" --board "Qs Jh 2h"
      allstreets range "AK,QQ-88" --json

    docs/ranges.md describes the notation.
    """
    from allstreets.cards import (
        COMBO_COUNT,
        HAND_NAMES,
        Range,
        cards_text,
        live_combos,
        parse_board,
    )

    cards = parse_board(board)
    shown = Range.parse(text).on(cards)
    possible = int(live_combos(cards).sum())
    share = shown.combos / possible
    if json:
        weights = shown.hand_weights
        print_json(
            {
                "range": str(shown),
                "board": cards_text(cards),
                "combos": shown.combos,
                "percent": 100 * share,
                "hands": {
                    name: float(weight)
                    for name, weight in zip(HAND_NAMES, weights, strict=True)
                    if weight > 0
                },
            }
        )
        return
    from allstreets.cli.grid import weight_grid

    out = console()
    out.print(weight_grid(shown.hand_weights), end="")
    out.print(f"\n{shown}")
    whole = f"{COMBO_COUNT:,}" if possible == COMBO_COUNT else f"{possible:,} left by the board"
    out.print(f"{shown.combos:g} combos = {percent(share)} of {whole}")
