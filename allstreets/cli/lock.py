"""allstreets lock: hold a strategy of a solution fixed, solve again, and see what changes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.cli.output import JsonOption
from allstreets.cli.solve import Job, run_job

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.solvers import Bound, SpotResult
    from allstreets.training import SpotConfig, SpotOutcome

LEAST_TARGET = 0.0005  # of the pot: a river may be solved to less, and need not be again


def lock(
    solution: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A spot that allstreets solve has saved.")
    ],
    line: Annotated[
        str, typer.Option("--line", "-l", help="The line to the decision; default: the first one.")
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
        typer.Option(metavar="ACTION=30%", help="The range takes it so often at most; repeatable."),
    ] = None,
    at_least: Annotated[
        list[str] | None,
        typer.Option(metavar="ACTION=30%", help="So often at least; repeatable."),
    ] = None,
    exactly: Annotated[
        list[str] | None, typer.Option(metavar="ACTION=30%", help="Just so often; repeatable.")
    ] = None,
    locks: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Columns node, action, frequency.")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="Exploitability to reach, of the pot.  [default: the solution's]"),
    ] = None,
    max_iterations: Annotated[int | None, typer.Option(help="Stop after this many.")] = None,
    time: Annotated[str | None, typer.Option(help="Stop after 60s, 5m, 2h.")] = None,
    threads: Annotated[int | None, typer.Option(help="Default: every core.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save the new solution in this folder.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Lock a decision of a solved spot, solve again around it, and show the difference.

    \b
    Examples:
      allstreets lock solved/ --always b33%
      allstreets lock solved/ --line "x" --at-most "b75%=30%" --output locked/
      allstreets lock solved/ --line "b33%" --hands "QQ,JJ=call" --hands "A5s-A2s=raise"
      allstreets lock solved/ --line "x x | * |" --exactly "x=60%"
      allstreets lock solved/ --locks observed.csv --output against_him/

    A frequency is spread over the hands by the least change of the solution's strategy (squares,
    each hand counted as often as it gets there). A CSV file has lines such as 'x b50%,call,45%'
    or 'x,b75%,<=30%' under the head node,action,frequency. docs/solving.md says more.
    """
    from allstreets.base import InputError
    from allstreets.solvers import Lock, lock_as_played, observed_locks, with_locks
    from allstreets.storage import load_spot
    from allstreets.training import parse_time

    result = load_spot(solution)
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
    given: tuple[Lock, ...]
    if bounds:
        given = observed_locks(result, bounds)
    elif as_is:
        given = (lock_as_played(result, line),)
    elif always is not None:
        given = (Lock(line, strategy={always: 1.0}),)
    else:
        parts = [_split(text, "--hands") for text in hands or ()]
        given = (Lock(line, hands={some: {action: 1.0} for some, action in parts}),)
    spot = with_locks(result.spot, given)
    _ = spot.locked_nodes  # errors are raised now
    config = _config(solution, result, target)
    seconds = None if time is None else parse_time(time)
    lines = list(dict.fromkeys(bound.line for bound in bounds)) or [line]
    run_job(
        config,
        spot,
        Job(
            max_iterations,
            seconds,
            threads,
            output,
            resume=False,
            saved="full",
            json=json,
            made_from={"folder": str(solution.absolute()), "line": lines[0]},
        ),
        more=lambda out, outcome: _print_difference(out, result, outcome, lines),
    )


def _bounds(line: str, texts: list[str] | None, flag: str, sign: str) -> "list[Bound]":
    from allstreets.solvers import Bound

    pairs = [_split(text, flag) for text in texts or ()]
    return [Bound.read(line, action, f"{sign}{share}", flag) for action, share in pairs]


def _file_bounds(file: Path) -> "list[Bound]":
    from allstreets.cli.text_files import read_text
    from allstreets.solvers import read_bounds

    return read_bounds(read_text(file), file.name)


def _split(text: str, flag: str) -> tuple[str, str]:
    from allstreets.base import InputError

    first, sign, second = text.rpartition("=")
    if not sign or not first.strip() or not second.strip():
        form = "HANDS=ACTION, 'AA,KK=check'" if flag == "--hands" else "ACTION=30%"
        raise InputError(f"{flag} '{text}': write {form}")
    return first.strip(), second.strip()


def _config(folder: Path, result: "SpotResult", target: str | None) -> "SpotConfig":
    """How the solution was solved, and so will be what is locked."""
    from allstreets.storage import read_spot_manifest
    from allstreets.training import SpotConfig, check_config

    solved = read_spot_manifest(folder)["config"]
    precision = solved["precision"]
    keys = {
        "algorithm": solved["algorithm"],
        # Which is as small, and leaves locks as they are.
        "precision": "float16" if precision == "int16" else precision,
        "river_groups": solved.get("river_groups", "none"),
        "exploitability_threshold": target or max(result.exploitability, LEAST_TARGET),
    }
    return check_config(keys, SpotConfig, "command line")


def _print_difference(
    out: "Console", before: "SpotResult", outcome: "SpotOutcome", lines: list[str]
) -> dict[str, Any]:
    from allstreets.solvers import change_lines, difference

    found = difference(before, outcome.result, [line for line in lines if "*" not in line])
    out.print()
    for text in change_lines(found):
        out.print(text, markup=False)
    return {"difference": found.mapping()}
