"""allstreets lock: fix a strategy in a solution, solve again, and see what changes."""

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
    print_lines,
    written,
)
from allstreets.cli.train import default_output, train_job

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.analysis import HudEntry, Solved
    from allstreets.betting import Player
    from allstreets.games import Bound
    from allstreets.jobs import Opponent, SpotOutcome


def lock(
    solution: Annotated[
        Path,
        typer.Argument(
            metavar="SOLUTION",
            help="A solved spot or whole game: a folder, or a name in allstreets library.",
        ),
    ],
    line: Annotated[
        str,
        typer.Option(
            "--line",
            "-l",
            help="The line to the decision; '| * |' stands for every flop or card.  "
            "[default: the first one]",
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
            help="Do not solve again: show the opponent's best response hand by hand, if "
            "everything else stays as in the solution.",
        ),
    ] = False,
    hud: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="HUD numbers of a player in a whole game: columns number, frequency.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="With --exploit: the opponent plays as in this solution."
        ),
    ] = None,
    opponent: Annotated[
        str | None,
        typer.Option(metavar="bb|sb", help="With --hud or --against: that player's seat."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="With --exploit: the decision of the responding player to show; '| * |' is every "
            "flop.  [default: his last one before the locked one, or where he gains most]",
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
            "Save the new solution in this folder.  [default: for games runs/<time>]",
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
      allstreets lock solved/ --locks observed.csv --output against_him/
      allstreets lock game/ --line "r2.5" --at-least "fold=55%" --output he_folds/
      allstreets lock game/ --line "r2.5 c | * | x" --always b33% --output he_bets/
      allstreets lock game/ --line "r2.5 c | * | x b33%" --at-least "fold=60%" --exploit
      allstreets lock game/ --hud villain.csv --opponent bb --exploit
      allstreets lock game/ --against his_game/ --opponent bb --exploit --at "r2.5 c | * | x"

    To meet a frequency, the hands that lose least EV move first. After solving again, other hands
    may get there: then hands are moved again, in up to 12 rounds, until the frequency holds (--time
    and --max-iterations are per round). A CSV file has lines such as 'x b50%,call,45%' or
    'x,b75%,<=30%' under the header node,action,frequency; HUD numbers such as 'fold_to_cbet,60%'
    go under the header number,frequency. More in docs/solving.md, and for whole games in
    docs/locks.md.
    """
    from allstreets.analysis import LockRequest, hud_locks, hud_seat
    from allstreets.base import InputError
    from allstreets.jobs import Opponent, UnifiedOutcome, cut_short, parse_time, plan_lock
    from allstreets.solutions import SpotSolution, WholeSolution
    from allstreets.storage import folder_kind, load, mirrored

    bounds = [
        *_bounds(line, at_most, "--at-most", "<="),
        *_bounds(line, at_least, "--at-least", ">="),
        *_bounds(line, exactly, "--exactly", ""),
        *(_file_bounds(locks) if locks is not None else ()),
    ]
    numbers = () if hud is None else _hud(hud)
    ways = [always is not None, as_is, bool(hands), bool(bounds), bool(numbers)]
    if sum(ways) != 1 and not (exploit and not any(ways)):
        raise InputError(
            "give one way to lock: --always, --as-is, --hands, --locks, --hud, or frequencies by "
            "--at-most, --at-least and --exactly"
        )
    if resume and output is None:
        raise InputError("--resume needs --output, the folder of the run to continue")
    seconds = None if time is None else parse_time(time)
    seat = None if opponent is None else _seat(opponent)
    some = tuple(_split(text, "--hands") for text in hands or ())
    solution, destination = mirrored(solution), output
    request = None
    if any(ways) and not numbers:
        request = LockRequest(line, always, as_is, some, tuple(bounds), same_range)
    for name, text in (("--at", at), ("--against", against)):
        if text is not None and not exploit:
            raise InputError(f"{name} belongs to --exploit")
    if exploit:
        _print_exploit(solution, Opponent(request, numbers, against, seat), at, threads, json=json)
        return
    if request is None:
        game = load(solution, WholeSolution)
        held = hud_locks(game, numbers, hud_seat(game.game, numbers, seat))
        request = LockRequest(bounds=held.bounds, same_range=same_range)
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
    folder: Path, opponent: "Opponent", line: str | None, threads: int | None, *, json: bool
) -> None:
    from allstreets.cli.terminal.running import run_on_terminal
    from allstreets.jobs import plan_exploit

    outcome = run_on_terminal(plan_exploit(folder, opponent, line, threads))
    out = console(stderr=json)
    print_lines(out, outcome.lines())
    if json:
        print_json(outcome.to_json())


def _hud(file: Path) -> "tuple[HudEntry, ...]":
    from allstreets.analysis import read_hud
    from allstreets.cli.terminal.streams import read_text

    return tuple(read_hud(read_text(file), file.name))


def _seat(text: str) -> "Player":
    from allstreets.base import InputError
    from allstreets.betting import Player

    seats = {"bb": Player.OOP, "oop": Player.OOP, "sb": Player.IP, "ip": Player.IP}
    if text.lower() not in seats:
        raise InputError(f"--opponent '{text}' is not a seat: write bb or sb")
    return seats[text.lower()]


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
