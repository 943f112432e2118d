"""allstreets lock: hold a strategy of a solution fixed, solve again, and see what changes."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.cli.solve import solve_spot
from allstreets.cli.terminal.output import (
    JsonOption,
    ResumeOption,
    ThreadsOption,
    command,
    console,
    print_json,
    written,
)
from allstreets.cli.train import default_output, train_job

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.analysis import LockRequest, Solved
    from allstreets.games import Bound
    from allstreets.jobs import SpotOutcome


def lock(
    solution: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="A solved spot or whole game: a folder, or a name in allstreets library.",
        ),
    ],
    line: Annotated[
        str,
        typer.Option(
            "--line",
            "-l",
            help="The line to the decision; default: the first one. '| * |' stands for every flop "
            "or card.",
        ),
    ] = "",
    always: Annotated[
        str | None, typer.Option(metavar="ACTION", help="All hands take this action.")
    ] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="All hands play as they do in the solution.")
    ] = False,
    hands: Annotated[
        list[str] | None,
        typer.Option(metavar="HANDS=ACTION", help="Some hands take an action; repeatable."),
    ] = None,
    at_most: Annotated[
        list[str] | None,
        typer.Option(metavar="ACTION=30%", help="At most this frequency; repeatable."),
    ] = None,
    at_least: Annotated[
        list[str] | None,
        typer.Option(metavar="ACTION=30%", help="At least this frequency; repeatable."),
    ] = None,
    exactly: Annotated[
        list[str] | None,
        typer.Option(metavar="ACTION=30%", help="Exactly this frequency; repeatable."),
    ] = None,
    locks: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Columns node, action, frequency.")
    ] = None,
    same_range: Annotated[
        bool,
        typer.Option(
            "--same-range",
            help="Keep the player's earlier decisions on the line, so that the same range gets "
            "there; by default they are solved again.",
        ),
    ] = False,
    exploit: Annotated[
        bool,
        typer.Option(
            "--exploit",
            help="Do not solve again: show the opponent's best response hand by hand, while all "
            "other play stays as it is. For spots.",
        ),
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="With --exploit: the opponent's decision to show.  [default: his last one before "
            "the lock]",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="Exploitability to reach, of the pot (0.3%) or in mbb/hand (5).  "
            "[default: the solution's]"
        ),
    ] = None,
    max_iterations: Annotated[int | None, typer.Option(min=1, help="Stop after this many.")] = None,
    time: Annotated[str | None, typer.Option(help="Stop after 60s, 5m, 2h.")] = None,
    threads: ThreadsOption = None,
    device: Annotated[
        str | None,
        typer.Option(help="cpu; cuda, a GPU of this machine.  [default: for games the solution's]"),
    ] = None,
    output: Annotated[
        Path | None,
        written(
            "Save the new solution in this folder; default for a whole game: runs/<time>.",
            "--output",
            "-o",
        ),
    ] = None,
    resume: ResumeOption = False,
    json: JsonOption = False,
) -> None:
    """Lock a decision of a solution, solve again around it, and show the difference.

    \b
    Examples:
      allstreets lock solved/ --always b33%
      allstreets lock solved/ --line "x" --at-most "b75%=30%" --output locked/
      allstreets lock solved/ --line "b33%" --hands "QQ,JJ=call" --hands "A5s-A2s=raise"
      allstreets lock solved/ --line "x x | * |" --exactly "x=60%"
      allstreets lock solved/ --line "x b75%" --at-least "fold=60%" --exploit
      allstreets lock solved/ --locks observed.csv --output exploited/
      allstreets lock game/ --line "r2.5" --at-least "fold=55%" --output folds_more/
      allstreets lock game/ --line "r2.5 c | * | x" --always b33% --output bets_more/

    To reach a frequency, the hands that lose least EV move first. After re-solving, other hands may
    get there; so hands are moved and the game is solved again, for up to 8 rounds, until the
    frequency holds (--time and --max-iterations limit each round). A CSV file has lines such as
    'x b50%,call,45%' or 'x,b75%,<=30%' under the header node,action,frequency. More in
    docs/solving.md, and for whole games in docs/locks.md.
    """
    from allstreets.analysis import LockRequest
    from allstreets.base import InputError
    from allstreets.jobs import UnifiedOutcome, cut_short, parse_time, plan_lock
    from allstreets.solutions import SpotSolution
    from allstreets.storage import folder_kind, mirrored

    bounds = [
        *_bounds(line, at_most, "--at-most", "<="),
        *_bounds(line, at_least, "--at-least", ">="),
        *_bounds(line, exactly, "--exactly", ""),
        *(_file_bounds(locks) if locks is not None else ()),
    ]
    ways = [always is not None, as_is, bool(hands), bool(bounds)]
    if sum(ways) != 1:
        raise InputError(
            "give one way to lock: --always, --as-is, --hands, --locks, or frequencies by "
            "--at-most, --at-least and --exactly"
        )
    if resume and output is None:
        raise InputError("--resume needs --output, the folder of the run to continue")
    seconds = None if time is None else parse_time(time)
    some = tuple(_split(text, "--hands") for text in hands or ())
    request = LockRequest(line, always, as_is, some, tuple(bounds), same_range)
    solution, destination = mirrored(solution), output
    if at is not None and not exploit:
        raise InputError("--at names the decision of --exploit")
    if exploit:
        _print_exploit(solution, request, at, threads, json=json)
        return
    if destination is None and folder_kind(solution) == "unified":
        destination = default_output()
    job, before, lines = plan_lock(
        solution,
        request,
        destination,
        target=target,
        iterations=max_iterations,
        seconds=seconds,
        threads=threads,
        device=device,
        resume=resume,
    )

    def more(out: "Console", outcome: "UnifiedOutcome | SpotOutcome") -> dict[str, Any]:
        figures = _print_difference(out, before, outcome.result(), lines, request.bounds)
        if isinstance(outcome, UnifiedOutcome):
            if (short := cut_short(outcome, before.exploitability)) is not None:
                out.print(short)
            figures["before_mbb"] = before.exploitability
        return figures

    if isinstance(before, SpotSolution):
        solve_spot(job, json=json, more=more)
        return
    given = [word for word in sys.argv[1:] if word != "--resume"]
    where = [] if output is not None else ["--output", str(destination)]
    again = command(*given, *where, "--resume")
    raise typer.Exit(train_job(job, again, json=json, more=more))


def _print_exploit(
    folder: Path, request: "LockRequest", line: str | None, threads: int | None, *, json: bool
) -> None:
    from allstreets.jobs import best_response_to

    best = best_response_to(folder, request, line, threads)
    out = console(stderr=json)
    for text in best.lines():
        out.print(text, markup=False, soft_wrap=True)
    if json:
        print_json({"exploit": best.mapping()})


def _bounds(line: str, texts: list[str] | None, flag: str, sign: str) -> "list[Bound]":
    from allstreets.games import Bound

    pairs = [_split(text, flag) for text in texts or ()]
    return [Bound.read(line, action, f"{sign}{share}", flag) for action, share in pairs]


def _file_bounds(file: Path) -> "list[Bound]":
    from allstreets.cli.terminal.streams import read_text
    from allstreets.games import read_bounds

    return read_bounds(read_text(file), file.name)


def _split(text: str, flag: str) -> tuple[str, str]:
    from allstreets.base import InputError

    first, sign, second = text.rpartition("=")
    if not sign or not first.strip() or not second.strip():
        form = "HANDS=ACTION, 'AA,KK=check'" if flag == "--hands" else "ACTION=30%"
        raise InputError(f"{flag} '{text}': write {form}")
    return first.strip(), second.strip()


def _print_difference(
    out: "Console", before: "Solved", after: "Solved", lines: list[str], asked: "tuple[Bound, ...]"
) -> dict[str, Any]:
    from allstreets.analysis import change_lines, difference

    change = difference(before, after, lines, asked)
    out.print()
    for text in change_lines(change):
        out.print(text)
    return {"difference": change.mapping()}
