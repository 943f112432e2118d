"""allstreets practice: play hands against a solution, and learn what each decision cost."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allstreets.cli.terminal.output import JsonOption, console, print_json, written_path

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.study import Results, Session, StoredAnswer, Wanted

HANDS = 20


def practice(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="A solved spot or whole game.")
    ] = None,
    seat: Annotated[str, typer.Option(help="sb (ip), bb (oop), or both in turn.")] = "both",
    street: Annotated[
        list[str] | None, typer.Option(help="Streets that are asked: preflop, flop, turn, river.")
    ] = None,
    pot: Annotated[
        list[str] | None, typer.Option(help="Kinds of pot: limped, raised, 3bet, 4bet.")
    ] = None,
    line: Annotated[str, typer.Option(help="Begin after this line: 'r2.5 c', 'c x | * | x'.")] = "",
    flop_suits: Annotated[
        list[str] | None, typer.Option(help="Flops: rainbow, two-tone, monotone.")
    ] = None,
    flop_pairing: Annotated[
        list[str] | None, typer.Option(help="Flops: unpaired, paired, trips.")
    ] = None,
    flop_high: Annotated[
        list[str] | None, typer.Option(help="Highest card of flops: A, K, …, or A,K,Q.")
    ] = None,
    hands: Annotated[int, typer.Option(min=1, help="How many hands.")] = HANDS,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=2**31 - 1, help="The same hands again.  [default: others every time]"
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Where results are kept.  [default: your data folder]")
    ] = None,
    no_grid: Annotated[
        bool, typer.Option("--no-grid", help="Leave out the 13×13 picture after decisions.")
    ] = False,
    stats: Annotated[
        bool, typer.Option("--stats", help="Show what was kept so far, and play nothing.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(
            parser=written_path, metavar="<Path>", help="Write all results to a .csv or .json file."
        ),
    ] = None,
    anki: Annotated[
        Path | None,
        typer.Option(
            parser=written_path,
            metavar="<Path>",
            help="Write missed decisions to an .apkg file for Anki.",
        ),
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete all results, after a question.")
    ] = False,
    drafts: Annotated[
        bool,
        typer.Option(
            "--drafts", help="Any flop, with real cards: drafted when it is dealt, in seconds."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Play hands against a solution; after each decision: what it does, and what yours cost.

    The solution plays its mixed strategy by seeded random numbers, shown after the hand. What was
    missed comes back after 8 hands, then after 1, 3, 7 and 21 days.

    \b
    Examples:
      allstreets practice solved/
      allstreets practice game/ --seat bb --street flop --pot raised --flop-suits monotone
      allstreets practice game/ --line 'r2.5 c | * | x' --hands 50 --seed 7
      allstreets practice game/ --drafts --street flop
      allstreets practice --stats
      allstreets practice --export results.csv

    Keys: 1 to 9 take an action, and so do f, x, c, b, r, a; q ends. docs/practice.md says more.
    """
    from allstreets.base import InputError
    from allstreets.study import (
        Results,
        Session,
        Wanted,
        default_file,
        load_playable,
        parse_seat,
    )

    wanted = Wanted.parse(
        street or (), pot or (), line, flop_suits or (), flop_pairing or (), flop_high or ()
    )
    player = parse_seat(seat)
    results, out = Results(file or default_file()), console(stderr=json)
    if stats:
        _show_stats(out, results, folder, json)
    if export is not None:
        _export(out, results, folder, export)
    if anki is not None:
        _export_anki(out, results, folder, wanted, anki)
    if delete:
        _delete(out, results)
    if stats or export is not None or anki is not None or delete:
        return
    if folder is None:
        raise InputError("which solution? allstreets practice DIR, or --stats for what was kept")

    def announce(flop: str) -> None:
        out.print(f"Drafting {flop} …", style="dim", markup=False)

    solution = load_playable(folder, drafts=drafts, announce=announce)
    session = Session(solution, player, wanted, seed, results)
    _play(out, session, hands, not no_grid)
    if json:
        figures = {"seed": session.seed, "hands": session.played}
        print_json({**figures, **session.summary().mapping()})


def _play(out: "Console", session: "Session", hands: int, grid: bool) -> None:
    """Hands until there are enough, or no more keys; results are kept all the same."""
    from allstreets.base import INTERRUPTED
    from allstreets.cli.practice_view import play_hand, print_begin, print_summary
    from allstreets.cli.terminal.typed import key_reader

    interrupted = False
    print_begin(out, session)
    with key_reader() as read_key:
        try:
            for _ in range(hands):
                if not play_hand(out, session, read_key, grid):
                    break
        except KeyboardInterrupt:
            interrupted = True
    print_summary(out, session)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _kept(results: "Results", folder: Path | None) -> "list[StoredAnswer]":
    """Stored answers: those of `folder` if it is given, or else all."""
    return results.answers(None if folder is None else folder.resolve())


def _show_stats(out: "Console", results: "Results", folder: Path | None, json: bool) -> None:
    from allstreets.cli.practice_view import print_stats
    from allstreets.study import stats_mapping

    stored = _kept(results, folder)
    print_stats(out, results, stored)
    if json:
        print_json(stats_mapping(stored))


def _export(out: "Console", results: "Results", folder: Path | None, path: Path) -> None:
    from allstreets.study import export

    stored = _kept(results, folder)
    export(stored, path)
    out.print(f"{len(stored):,} decisions written to {path}", markup=False, soft_wrap=True)


def _export_anki(
    out: "Console", results: "Results", folder: Path | None, wanted: "Wanted", path: Path
) -> None:
    from allstreets.study import chosen, export_anki

    count = export_anki(chosen(_kept(results, folder), wanted), path)
    out.print(f"{count:,} cards written to {path}", markup=False, soft_wrap=True)


def _delete(out: "Console", results: "Results") -> None:
    from allstreets.base import printable

    hands, _ = results.counts()
    typer.confirm(f"Delete {hands:,} hands in {printable(str(results.path))}?", abort=True)
    results.delete()
    out.print("Deleted.")
