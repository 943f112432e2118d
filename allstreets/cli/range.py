"""allstreets range, equity: a range in any notation, and one range against another."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from allstreets.cards import RangeKind
from allstreets.cli.terminal.output import JsonOption, console, percent, print_json

if TYPE_CHECKING:
    from allstreets.cards import Range

STDIN = "-"
DIGITS = 2  # decimals of a solution's weights, as `export` writes them
PLAYERS: dict[str, Literal["oop", "ip"]] = {"oop": "oop", "bb": "oop", "ip": "ip", "sb": "ip"}


def show_range(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="RANGE",
            help="A range such as 'TT+,AQs+,76s:0.5', a file with one, or - for stdin.",
        ),
    ] = None,
    to: Annotated[
        RangeKind | None,
        typer.Option("--to", "-t", help="Print only the range, in this format."),
    ] = None,
    board: Annotated[
        str, typer.Option("--board", "-b", help="Remove the combos that it blocks.")
    ] = "",
    solution: Annotated[
        Path | None, typer.Option("--from", help="Take the range from this solution.")
    ] = None,
    line: Annotated[
        str | None,
        typer.Option("--line", "-l", help="The line to the decision.  [default: the first one]"),
    ] = None,
    player: Annotated[
        str | None,
        typer.Option("--player", "-p", help="bb, sb, oop or ip.  [default: the one who acts]"),
    ] = None,
    flop: Annotated[
        str | None, typer.Option(help="The flop, if the line does not name it.")
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(
            "--action", "-a", help="Only the part that takes this action: raise, call, r2.5, b50%."
        ),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=4,
            help="Decimals of a solution's weights; with 2, hands below 0.5 % are left out.  "
            "[default: 2]",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a range or convert it: its combos, its share of all hands, and the 13×13 picture.

    \b
    Examples:
      allstreets range "TT+,AQs+"
      allstreets range "22+,A2s+,98s-54s,AsKh:0.5" --board "Qs Jh 2h"
      allstreets range "[50]AA,KK[/50]" --to pio
      allstreets range open.rng --to gto+ > open.txt
      cat range.json | allstreets range - --to csv
      allstreets range --from game/ --line "r2.5 c" --player bb
      allstreets range --from game/ --line "r2.5" --action raise --to pio
      allstreets range --from game/ --line "r2.5 c | x" --flop QsJh2h --to gto+
      allstreets range --from game/ --line "r2.5 c" --player bb --digits 4

    Reads ranges of PioSOLVER, GTO+ and MonkerSolver, JSON and CSV (docs/ranges.md).
    """
    from allstreets.cards import parse_board

    cards = parse_board(board)
    if solution is None:
        _refuse(line=line, player=player, flop=flop, action=action, digits=digits)
        shown = compact = read_given(text).on(cards)
    else:
        _refuse_text(text, board)
        held, cards = _reaching(solution, line, player, flop, action)
        shown = held.rounded(DIGITS if digits is None else digits)
        compact = shown.beside(cards)
    if to is not None and not json:
        typer.echo(compact.text(to))
        return
    _print(shown, cards, compact, json=json)


def read_given(text: str | None) -> "Range":
    """A range that was typed, from a file, or through a pipe."""
    from allstreets.base import InputError
    from allstreets.cards import Range
    from allstreets.cli.terminal.streams import read_stdin, read_text

    if text is None:
        raise InputError("no range: write one, such as 'TT+,AQs+', name a file, or give --from DIR")
    if text == STDIN:
        return Range.parse(read_stdin())
    try:
        return Range.parse(text)
    except InputError:
        path = _file(text)
        if path is None:
            raise
    try:
        return Range.parse(read_text(path))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _file(text: str) -> Path | None:
    """The file that a text names, if there is one."""
    try:
        path = Path(text)
        return path if path.is_file() else None
    except (OSError, ValueError):  # too long for a name, or not a name
        return None


def _refuse(**options: str | int | None) -> None:
    from allstreets.base import InputError

    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for ranges of a solution: name its folder with --from")


def _refuse_text(text: str | None, board: str) -> None:
    from allstreets.base import InputError

    if text is not None:
        raise InputError("give a range or --from DIR, not both")
    if board:
        raise InputError("--board is for ranges you type: name cards in --line or --flop")


def _reaching(
    folder: Path, line: str | None, player: str | None, flop: str | None, action: str | None
) -> "tuple[Range, tuple[int, ...]]":
    """The range of a solution, and the board there."""
    from allstreets.base import InputError, suggest
    from allstreets.explorer import range_at

    name = None
    if player is not None:
        name = PLAYERS.get(player.lower())
        if name is None:
            raise InputError(f"--player {player}: {suggest(player, list(PLAYERS))}")
    reaching = range_at(folder, line or "", name, flop=flop, action=action)
    return reaching.range, reaching.board


def _print(shown: "Range", cards: tuple[int, ...], compact: "Range", *, json: bool) -> None:
    from allstreets.cards import COMBO_COUNT, HAND_NAMES, cards_text, live_combos

    possible = int(live_combos(cards).sum())
    share = shown.combos / possible
    if json:
        figures: dict[str, Any] = {
            "range": str(compact),
            "board": cards_text(cards),
            "combos": shown.combos,
            "percent": 100 * share,
            "hands": {
                name: float(weight)
                for name, weight in zip(HAND_NAMES, shown.hand_weights, strict=True)
                if weight > 0
            },
        }
        print_json(figures)
        return
    from allstreets.cli.terminal.decisions import weight_grid

    out = console()
    out.print(weight_grid(shown.hand_weights), end="")
    out.print(f"\n{compact}")
    whole = f"{COMBO_COUNT:,}" if possible == COMBO_COUNT else f"{possible:,} left by the board"
    out.print(f"{shown.combos:g} combos = {percent(share)} of {whole}")


BAR_WIDTH = 67


def equity(
    context: typer.Context,
    first: Annotated[
        str, typer.Argument(metavar="FIRST", help="A hand or a range: AKs, AsKh, 'TT+,AQs+'.")
    ],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="The opposing hand or range.")],
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
    from allstreets.cards import cards_text, parse_board
    from allstreets.cards import equity as compute

    if context.args:
        raise InputError(
            f"equity is heads-up: name two hands or ranges, not {2 + len(context.args)}; quote a "
            'range that has spaces, "QQ+, AK"'
        )
    cards = parse_board(board)
    start = time.perf_counter()
    result = compute(first, second, cards)
    seconds = time.perf_counter() - start
    if json:
        print_json({**result.to_json(), "seconds": seconds})
        return

    import numpy as np

    from allstreets.cards import HAND_COUNT, HAND_OF_COMBO
    from allstreets.cli.terminal.decisions import heat_grid, share_bar

    out = console()
    out.print(f"Board {cards_text(cards)}" if cards else "Before the flop")
    out.print(share_bar(result.first, BAR_WIDTH))
    shares = result.first, result.second
    rows = zip(("First", "Second"), result.ranges, shares, result.by_combo, strict=True)
    for title, given, share, by_combo in rows:
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
