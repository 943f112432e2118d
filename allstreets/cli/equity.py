"""allstreets equity: one hand or range against another."""

import time
from typing import Annotated

import typer

from allstreets.cli.terminal.output import JsonOption, console, percent, print_json

BAR_WIDTH = 67


def equity(
    context: typer.Context,
    first: Annotated[str, typer.Argument(help="A hand or a range: AKs, AsKh, 'TT+,AQs+'.")],
    second: Annotated[str, typer.Argument(help="The opposing hand or range.")],
    board: Annotated[str, typer.Option("--board", "-b", help="Flop, turn or river.")] = "",
    json: JsonOption = False,
) -> None:
    """Equity of one range against another: exact, every runout, card removal included.

    \b
    Examples:
      allstreets equity AA KK
      allstreets equity AsKs "QQ+,AK" --board "Qs Jh 2h"
      allstreets equity "TT+,AQs+" "22+,A2s+,KTs+" --board QsJh2h7c --json

    Ranges: AA, AKs, AKo, AK, ATs+, QQ-88, 98s-65s, AsKh, 76s:0.5, separated by commas.
    """
    from allstreets.base import InputError
    from allstreets.cards import Range, cards_text, parse_board
    from allstreets.cards import equity as compute

    if context.args:
        raise InputError(
            f"equity is heads-up: name two hands or ranges, not {2 + len(context.args)}; quote a "
            'range that has spaces, "QQ+, AK"'
        )
    ranges = Range.parse(first), Range.parse(second)
    cards = parse_board(board)
    if not cards:
        _announce_preflop_table()
    start = time.perf_counter()
    result = compute(*ranges, cards)
    seconds = time.perf_counter() - start
    if json:
        print_json(
            {
                "first": str(ranges[0]),
                "second": str(ranges[1]),
                "board": cards_text(cards),
                "equity_first": result.first,
                "equity_second": result.second,
                "win": result.win,
                "tie": result.tie,
                "lose": result.lose,
                "pairs": result.pairs,
                "runouts": result.runouts,
                "seconds": seconds,
            }
        )
        return

    import numpy as np

    from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
    from allstreets.cli.terminal.decisions import heat_grid, share_bar

    out = console()
    out.print(f"Board {cards_text(cards)}" if cards else "Before the flop")
    out.print(share_bar(result.first, BAR_WIDTH))
    for title, given, share, by_combo in (
        ("First", ranges[0], result.first, result.by_combo[0]),
        ("Second", ranges[1], result.second, result.by_combo[1]),
    ):
        live = given.on(cards)
        out.print(f"\n{title}: {given}")
        out.print(f"{live.combos:g} combos, equity {percent(share)}")
        weights = np.where(np.isnan(by_combo), 0.0, live.weights)
        totals = np.bincount(HAND_OF_COMBO, weights * np.nan_to_num(by_combo), HAND_COUNT)
        counts = np.bincount(HAND_OF_COMBO, weights, HAND_COUNT)
        by_hand = np.divide(totals, counts, out=np.full(HAND_COUNT, np.nan), where=counts > 0)
        out.print(heat_grid(by_hand))
    out.print(
        "In each grid: the hand's equity in %, suited above the diagonal, offsuit below.\n"
        f"First wins {percent(result.win)}, ties {percent(result.tie)}, "
        f"loses {percent(result.lose)}.\n"
        f"Exact: {result.runouts:,} runouts for each pair of combos, {seconds:.2f} s."
    )


def _announce_preflop_table() -> None:
    """Announce the table that is computed on first use."""
    from allstreets.cards import preflop_table_is_kept

    if not preflop_table_is_kept():
        typer.echo("Computing all preflop equities, once, about ten seconds …", err=True)
