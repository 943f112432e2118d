"""allstreets solve: the strategies of a flop, turn or river spot."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from allstreets.base import InputError
from allstreets.cli.terminal.output import (
    UNSAVED,
    JsonOption,
    ThreadsOption,
    command,
    console,
    print_json,
    print_lines,
    print_looks,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from allstreets.jobs import LockJob, SpotJob, SpotOutcome, SpotRow, SpotsJob, SpotsOutcome
    from allstreets.solutions import FlopSpot, Origin
    from allstreets.storage import KeptFlop


Saved = Literal["flop", "turn", "full"]


def solve(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SPOT.yaml", help="Spot files; flags override their keys."),
    ] = None,
    board: Annotated[str | None, typer.Option(help="Three to five cards, QsJh2h.")] = None,
    boards: Annotated[
        str | None,
        typer.Option(help="Several boards: a CSV file, a set (subset_25), or 'QsJh2h,9h8h2c'."),
    ] = None,
    oop: Annotated[str | None, typer.Option(help="Range of the player out of position.")] = None,
    ip: Annotated[str | None, typer.Option(help="Range of the player in position.")] = None,
    pot: Annotated[float | None, typer.Option(help="Chips in the middle.")] = None,
    stack: Annotated[float | None, typer.Option(help="Chips left to each player.")] = None,
    bets: Annotated[str | None, typer.Option(help="Bet sizes, '33%,75%,a'.")] = None,
    raises: Annotated[str | None, typer.Option(help="Raise sizes, '60%,a'.")] = None,
    donk: Annotated[str | None, typer.Option(help="Donk sizes.  [default: the bet sizes]")] = None,
    rake: Annotated[str | None, typer.Option(help="Share of the pot, 5%.")] = None,
    rake_cap: Annotated[
        float | None, typer.Option(help="Largest rake from a pot, in chips.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Stop at this share of the pot.  [default: 0.3%]")
    ] = None,
    max_iterations: Annotated[int | None, typer.Option(help="Stop after this many.")] = None,
    time: Annotated[str | None, typer.Option(help="Stop after 60s, 5m, 2h.")] = None,
    threads: ThreadsOption = None,
    processes: Annotated[
        int | None, typer.Option(help="How many spots to solve at a time.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="auto|local|HOST:PORT",
            help="Solve many spots on a Ray cluster (docs/cluster.md).",
        ),
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help="ahead, tuned, dcfr, …")] = None,
    precision: Annotated[
        str | None, typer.Option(help="float32; float16, int16: half the memory.")
    ] = None,
    river_groups: Annotated[
        str | None,
        typer.Option(help="suits: similar river hands share a strategy; 1/5 of the memory."),
    ] = None,
    tremble: Annotated[
        float | None, typer.Option(help="0.001: learn answers to off-path actions too.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu; cuda, a GPU of this machine; cuda:1, its second one.")
    ] = None,
    output: Annotated[Path | None, written("Save the solution here.", "--output", "-o")] = None,
    save: Annotated[
        Saved | None,
        typer.Option(
            help="Last street to save; later ones are solved again on request.  "
            "[default: full; with --from: turn]"
        ),
    ] = None,
    draft: Annotated[
        bool,
        typer.Option("--draft", help="Stop at a draft: seconds, about 1 % of the pot from exact."),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the solution in --output.")] = (
        False
    ),
    game: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="SOLUTION",
            help="Solve a flop of this whole game: a folder, or a name in allstreets library.",
        ),
    ] = None,
    line: Annotated[
        str | None, typer.Option(help="With --from: the betting before the flop.")
    ] = None,
    flop: Annotated[str | None, typer.Option(help="With --from: any flop, QsJh2h.")] = None,
    csv: Annotated[Path | None, written("Append a row for each of many spots.")] = None,
    json: JsonOption = False,
) -> None:
    """Solve a spot, or many: equilibrium strategies from a flop, turn or river to the end.

    \b
    Examples:
      allstreets solve sample_spots/river.yaml
      allstreets solve sample_spots/flop.yaml --target 0.5% --output solved/
      allstreets solve --board "QsJh2h7c" --oop "TT+,AQs+" --ip "22+,A9s+,KTs+" \\
          --pot 10 --stack 95 --bets "33%,75%,a" --raises "60%,a"
      allstreets solve sample_spots/river.yaml sample_spots/turn.yaml --output spots/
      allstreets solve sample_spots/flop.yaml --boards subset_25 --output flops/ --resume
      allstreets solve --from game/ --line "r2.5 c" --flop QsJh2h
      allstreets solve --from hu-20bb --line "r2 c" --flop QsJh2h
      allstreets solve --from game/ --line "c x" --flop QsJh2h --draft

    Several files or boards are solved side by side: the folder --output has a solution of each, and
    a row in spots.csv (name, board, weight, EVs, equities, frequencies of the first decision). With
    --cluster a Ray cluster solves them; all of its machines must see that folder.

    --from takes the pot, the ranges and the sizes from a solved whole game. The spot is stored in
    the folder spots of the game; the same command opens it again, and --resume continues it. If the
    exact solution takes long, a draft answers first, with its accuracy; --draft stops there.

    Ctrl-C, SIGTERM and SIGHUP stop after the current iteration and save. docs/solving.md lists all
    keys.
    """
    from allstreets.jobs import Limits, SpotConfig, SpotJob, parse_time, plan_spots, read_spots
    from allstreets.solvers import DRAFT

    named = files or []
    flags: dict[str, Any] = {
        "board": board,
        "oop_range": oop,
        "ip_range": ip,
        "pot": pot,
        "stack": stack,
        "bets": bets,
        "raises": raises,
        "donk": donk,
        "rake": rake,
        "rake_cap": rake_cap,
        "exploitability_threshold": target,
        "algorithm": algorithm,
        "precision": precision,
        "river_groups": river_groups,
        "tremble": tremble,
        "device": device,
    }
    seconds = None if time is None else parse_time(time)
    limits: dict[str, Any] = {"max_iterations": max_iterations, "seconds": seconds}
    kept: dict[str, Any] = {"output": output, "resume": resume}
    many: dict[str, Any] = {"processes": processes, "cluster": cluster, "csv": csv}
    if game is not None or line is not None or flop is not None:
        if len(named) > 1:
            raise InputError("--from solves one flop at a time: name one file at most")
        _refuse_many({"boards": boards, **many})
        solve_flop(game, line, flop, named[0] if named else None, flags, json=json,
                   threads=threads, draft=draft, saved=save, **limits, **kept)  # fmt: skip
        return

    kept["saved"] = save or "full"
    configs = read_spots(named, flags)
    config = configs[0][1]
    alone = len(configs) == 1 and boards is None
    if alone and isinstance(config, SpotConfig) and config.boards is None:
        _refuse_many(many)
        try:
            spot = config.spot()
        except InputError as error:
            raise InputError(f"{named[0] if named else 'command line'}: {error}") from None
        if draft:
            kept |= {"completion": DRAFT, "saved": save or "flop"}
        solve_spot(SpotJob(config, spot, threads=threads, **limits, **kept), json=json)
        return

    if draft:
        raise InputError("--draft is for one flop: name one file and one board")
    solve_many(
        plan_spots(configs, boards, limits=Limits(**limits), threads=threads, **many, **kept),
        json=json,
    )


def _refuse_many(options: dict[str, Any]) -> None:
    """Refuse options that are for many spots."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for many spots: name several files, or --boards")


def solve_spot(
    job: "SpotJob | LockJob[SpotOutcome]",
    *,
    json: bool,
    more: "Callable[[Console, SpotOutcome], dict[str, Any]] | None" = None,
) -> None:
    """Solve a spot and print the outcome.

    `more` prints further lines, and returns them for --json.
    """
    from allstreets.cli.terminal.decisions import print_mix
    from allstreets.cli.terminal.running import exit_code, kept_in, run_on_terminal

    outcome = run_on_terminal(job)
    out = console(stderr=json)
    print_lines(out, outcome.lines())
    decides = outcome.solver.spot.tree.child_count[0]
    first = outcome.result().at("").decision if decides else None
    if first is not None:
        out.print(f"\nFirst decision, {first.seat}:", end="")
        print_mix(out, first)
    else:
        out.print("No player has chips left to bet: there is no decision.")
    if outcome.origin is not None:
        print_origin(out, outcome.origin, outcome.exploitability)
    extra = {} if more is None else more(out, outcome)
    kept = kept_in(job.output, outcome.unsaved, outcome.save)
    if kept is not None:
        if outcome.interrupted:
            resume = "" if outcome.is_draft else " and --resume"
            out.print(f"\nInterrupted; saved in {kept}. Continue with the same command{resume}.")
        out.print()
        print_looks(out, kept, "--line", "" if first is None else first.actions[0])
    elif outcome.unsaved is None:
        lost = "Interrupted; nothing was saved. " if outcome.interrupted else ""
        out.print(f"\n{lost}--output DIR saves a solution, for reports and for --resume.")
    if json:
        if outcome.origin is not None:
            extra = {"folder": str(kept), "origin": outcome.origin.mapping(), **extra}
        print_json({**outcome.to_json(), **extra})
    raise typer.Exit(UNSAVED if outcome.unsaved and kept is None else exit_code(outcome))


def print_origin(out: "Console", origin: "Origin", reached: float) -> None:
    """Print the figures with their sources and their differences."""
    from allstreets.solutions import origin_lines

    out.print()
    for text in origin_lines(origin, reached):
        out.print(text)


# The flags that still apply: everything else about the spot comes from the solution.
SETTINGS = (
    "exploitability_threshold", "algorithm", "precision", "river_groups", "tremble", "device",
)  # fmt: skip
FLAGS = {"oop_range": "oop", "ip_range": "ip", "rake_cap": "rake-cap"}


def solve_flop(
    folder: Path | None,
    line: str | None,
    flop: str | None,
    file: Path | None,
    flags: dict[str, Any],
    *,
    json: bool,
    **options: Any,
) -> None:
    """Solve a flop of the whole game in `folder`, or show it if it is kept already."""
    from allstreets.jobs import SpotJob, parse_target, plan_flop

    if folder is None:
        raise InputError("--line and --flop name a flop of a whole game: add --from DIR")
    _refuse_others(folder, file, flags)
    settings = {key: flags[key] for key in SETTINGS if flags[key] is not None}
    job = plan_flop(folder, line, flop, settings, **options)
    if isinstance(job, SpotJob):
        solve_spot(job, json=json)
        return
    wanted = flags["exploitability_threshold"]
    _show_kept(*job, None if wanted is None else parse_target(wanted), json=json)


def _refuse_others(folder: Path, file: Path | None, flags: dict[str, Any]) -> None:
    if file is not None:
        raise InputError(f"{file} or --from {folder}: a spot comes from one of them, leave one out")
    for key, value in flags.items():
        if value is not None and key not in SETTINGS:
            raise InputError(
                f"--{FLAGS.get(key, key)} has no meaning with --from: board, ranges, pot and "
                "sizes are those of the solution"
            )


def _show_kept(flop: "FlopSpot", kept: "KeptFlop", target: float | None, *, json: bool) -> None:
    """Print a flop that is solved already."""
    from allstreets.cards import parse_flop
    from allstreets.jobs import SpotConfig
    from allstreets.solutions import number_text, suits_text

    out, manifest, origin = console(stderr=json), kept.manifest, kept.origin
    how = "Drafted already, within" if kept.is_draft else "Solved already, to"
    out.print(
        f"{how} {100 * kept.exploitability:.3g} % of pot in "
        f"{manifest['iterations']:,} iterations: {kept.folder}",
        markup=False,
        soft_wrap=True,
    )
    renamed = suits_text(flop.flop, parse_flop(origin.flop))
    if renamed:
        out.print(f"{flop.cards} is {origin.flop} there: {renamed}.")
    oop, ip = manifest["evs"]
    out.print(
        f"EV OOP {number_text(oop)}, IP {number_text(ip)} of the pot of {flop.spot.pot} chips"
    )
    print_origin(out, origin, kept.exploitability)
    out.print()
    goal = SpotConfig().exploitability_threshold if target is None else target
    if kept.is_draft:
        out.print("To solve it exactly: the same command without --draft.")
    elif kept.exploitability > goal:
        anew = "" if kept.is_full else " (from its start: only --save full keeps regrets)"
        out.print(f"To continue to {100 * goal:g} %: the same command with --resume{anew}.")
    print_looks(out, kept.folder)
    if json:
        print_json(
            {
                "exploitability_pct": 100 * kept.exploitability,
                "exploitability_chips": kept.exploitability * flop.spot.pot,
                "iterations": manifest["iterations"],
                "seconds": manifest["seconds"],
                "ev_oop": oop,
                "ev_ip": ip,
                "folder": str(kept.folder),
                "origin": origin.mapping(),
            }
        )


FAILED = 2  # the exit code where a spot could not be solved
SHOWN_ROWS = 60
SHOWN_ERRORS = 10


def solve_many(job: "SpotsJob", *, json: bool) -> None:
    """Solve spots side by side and print their rows."""
    from allstreets.cli.terminal.running import exit_code, run_on_terminal

    outcome = run_on_terminal(job)
    out, err, faults = console(stderr=json), console(stderr=True), outcome.lines()
    _print_rows(out, outcome.rows)
    print_lines(err, faults[:SHOWN_ERRORS])
    if len(faults) > SHOWN_ERRORS:
        err.print(f"… and {len(faults) - SHOWN_ERRORS:,} more that were not solved")
    _print_way_on(out, job, outcome)
    if json:
        print_json(outcome.to_json())
    raise typer.Exit(exit_code(outcome) or (FAILED if faults else 0))


def _print_rows(out: "Console", rows: "Sequence[SpotRow]") -> None:
    """Print a line for each, and their means by weight if they are of one game."""
    from allstreets.jobs import table_rows

    solved = [row for row in rows if row.error is None]
    if not solved:
        return
    names = len({row.name for row in solved}) > 1
    words = list(dict.fromkeys(word for row in solved for word in row.frequencies))
    width = max(len(row.name) for row in solved) + 2 if names else 0
    out.print(
        f"{'name' if names else '':{width}}{'board':11}{'weight':>8}{'EV OOP':>10}{'EV IP':>10}"
        f"{'equity OOP':>12}{'EQR OOP':>9}{'exploit.':>10}"
        + "".join(f"{word:>9}" for word in words)
    )
    shown = table_rows(solved[:SHOWN_ROWS])
    means = _means(table_rows(solved)) if not names and len(solved) > 1 else []
    for row in [*shown, *means]:
        cells = [
            f"{row['name'] if names else '':{width}}{row['board']:11}{row['weight']:8,.4g}",
            *(f"{_number(row[key]):>10}" for key in ("ev_oop", "ev_ip")),
            f"{_percent(row['equity_oop']):>12}{_percent(row['eqr_oop'], 0):>9}",
            f"{_percent(row['exploitability_pct'], 2, 1):>10}",
            *(f"{_percent(row.get(word)):>9}" for word in words),
        ]
        out.print("".join(cells))
    if len(solved) > SHOWN_ROWS:
        out.print(f"… and {len(solved) - SHOWN_ROWS:,} more")
    out.print(
        "weight: boards that one stands for; then frequencies of the first decision, in % of hands."
    )


def _means(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line with the means of the common columns, over the hands that are dealt."""
    dealt = [row["weight"] * row["pairs"] for row in rows]
    mean: dict[str, Any] = dict.fromkeys(rows[0])
    for key in rows[0]:
        values = [row[key] for row in rows]
        if not key.startswith("eqr") and all(isinstance(value, float) for value in values):
            weighed = sum(value * times for value, times in zip(values, dealt, strict=True))
            mean[key] = weighed / sum(dealt)
    return [{**mean, "name": "", "board": "mean", "weight": sum(row["weight"] for row in rows)}]


def _number(value: float | None) -> str:
    from allstreets.solutions import number_text

    return "–" if value is None else number_text(value)


def _percent(value: float | None, digits: int = 1, factor: float = 100) -> str:
    return "–" if value is None else f"{factor * value:.{digits}f} %"


def _print_way_on(out: "Console", job: "SpotsJob", outcome: "SpotsOutcome") -> None:
    output, csv = job.output, job.csv
    out.print()
    if outcome.interrupted:
        kept = f"saved in {output}. Continue with the same command and --resume." if output else (
            "the rows above are all. --output DIR saves solutions, for --resume."
        )  # fmt: skip
        out.print(f"Interrupted; {kept}", soft_wrap=True)
    if csv is not None:
        out.print(f"Rows: {csv}", soft_wrap=True)
    if output is None:
        if not outcome.interrupted:
            out.print("--output DIR saves the solutions and their rows, for reports and --resume.")
        return
    out.print(f"Rows: {output / 'spots.csv'}", soft_wrap=True)
    report = command("report", output, "--by", "category")
    out.print(f"Look further: {report}", soft_wrap=True)
    out.print(f"In the browser: {command('explore', output)}", soft_wrap=True)
