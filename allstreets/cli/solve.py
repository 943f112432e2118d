"""allstreets solve: the strategies of a flop, turn or river spot."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.base import InputError
from allstreets.cli.terminal.output import (
    UNSAVED,
    JsonOption,
    ThreadsOption,
    console,
    print_json,
    print_looks,
    written_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from allstreets.jobs import SpotJob, SpotOutcome
    from allstreets.solutions import FlopSpot, Origin
    from allstreets.storage import KeptFlop


class Saved(StrEnum):
    """What a bundle stores."""

    flop = "flop"
    turn = "turn"
    full = "full"


def solve(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SPOT.yaml…", help="Spot files; flags override their keys."),
    ] = None,
    board: Annotated[str | None, typer.Option(help="Three to five cards, QsJh2h.")] = None,
    boards: Annotated[
        str | None,
        typer.Option(help="Several: a CSV file, a set (subset_25), or 'QsJh2h,9h8h2c'."),
    ] = None,
    oop: Annotated[str | None, typer.Option(help="Range of the player out of position.")] = None,
    ip: Annotated[str | None, typer.Option(help="Range of the player in position.")] = None,
    pot: Annotated[float | None, typer.Option(help="Chips in the middle.")] = None,
    stack: Annotated[float | None, typer.Option(help="Chips left to each player.")] = None,
    bets: Annotated[str | None, typer.Option(help="Bet sizes, '33%,75%,a'.")] = None,
    raises: Annotated[str | None, typer.Option(help="Raise sizes, '60%,a'.")] = None,
    donk: Annotated[str | None, typer.Option(help="Donk sizes; default: the bet sizes.")] = None,
    rake: Annotated[str | None, typer.Option(help="Share of the pot, 5%.")] = None,
    rake_cap: Annotated[float | None, typer.Option(help="Most chips taken per pot.")] = None,
    target: Annotated[
        str | None, typer.Option(help="Exploitability to reach, of the pot.  [default: 0.3%]")
    ] = None,
    max_iterations: Annotated[int | None, typer.Option(help="Stop after this many.")] = None,
    time: Annotated[str | None, typer.Option(help="Stop after 60s, 5m, 2h.")] = None,
    threads: ThreadsOption = None,
    processes: Annotated[
        int | None, typer.Option(help="Of many spots: how many at a time.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="auto|local|HOST:PORT", help="Many spots on a Ray cluster (docs/cluster.md)."
        ),
    ] = None,
    algorithm: Annotated[str | None, typer.Option(help="ahead, tuned, dcfr, …")] = None,
    precision: Annotated[
        str | None, typer.Option(help="float32; float16, int16: half the memory.")
    ] = None,
    river_groups: Annotated[
        str | None, typer.Option(help="suits: river hands alike share strategies, 1/5 the memory.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu; cuda: a GPU of this machine, cuda:1 another.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", parser=written_path, metavar="<Path>", help="Save the solution here."
        ),
    ] = None,
    save: Annotated[Saved, typer.Option(help="Last street to save; later ones are re-solved.")] = (
        Saved.full
    ),
    resume: Annotated[bool, typer.Option("--resume", help="Continue the solution in --output.")] = (
        False
    ),
    game: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="A solved whole game: solve a flop of it."),
    ] = None,
    line: Annotated[str | None, typer.Option(help="With --from: the betting before it.")] = None,
    flop: Annotated[str | None, typer.Option(help="With --from: any flop, QsJh2h.")] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            parser=written_path, metavar="<Path>", help="Of many spots: append a row of each."
        ),
    ] = None,
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

    Several files or boards are solved side by side, with a row for each in DIR/spots.csv (name,
    board, weight, EVs, equities, frequencies of the first decision) and its solution in DIR; with
    --cluster on the machines of a Ray cluster, which must all see DIR.
    With --from, pot, ranges and sizes are those that a whole-game solution sends to the flop; the
    spot is kept in DIR/spots, found again by the same command, and continued with --resume.
    Ctrl-C stops after the current iteration and saves what is solved, as SIGTERM and SIGHUP do.
    docs/solving.md lists all keys.
    """
    from allstreets.jobs import Limits, SpotConfig, SpotJob, parse_time, plan_spots, read_spots

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
        "device": device,
    }
    seconds = None if time is None else parse_time(time)
    limits: dict[str, Any] = {"max_iterations": max_iterations, "seconds": seconds}
    kept: dict[str, Any] = {"output": output, "resume": resume, "saved": save.value}
    many: dict[str, Any] = {"processes": processes, "cluster": cluster, "csv": csv}
    if game is not None or line is not None or flop is not None:
        if len(named) > 1:
            raise InputError("--from solves one flop at a time: name one file at most")
        _refuse_many({"boards": boards, **many})
        solve_flop(game, line, flop, named[0] if named else None, flags, json=json,
                   threads=threads, **limits, **kept)  # fmt: skip
        return

    configs = read_spots(named, flags)
    config = configs[0][1]
    alone = len(configs) == 1 and boards is None
    if alone and isinstance(config, SpotConfig) and config.boards is None:
        _refuse_many(many)
        try:
            spot = config.spot()
        except InputError as error:
            raise InputError(f"{named[0] if named else 'command line'}: {error}") from None
        solve_spot(SpotJob(config, spot, threads=threads, **limits, **kept), json=json)
        return

    from allstreets.cli.solve_many import solve_many

    solve_many(
        plan_spots(configs, boards, limits=Limits(**limits), threads=threads, **many, **kept),
        json=json,
    )


def _refuse_many(options: dict[str, Any]) -> None:
    """Refuse what is for many spots."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for many spots: name several files, or --boards")


def solve_spot(
    job: "SpotJob",
    *,
    json: bool,
    more: "Callable[[Console, SpotOutcome], dict[str, Any]] | None" = None,
) -> None:
    """Solve a spot and print the outcome.

    `more` prints what else there is to say, and returns it for --json.
    """
    from allstreets.cli.terminal.decisions import print_mix
    from allstreets.cli.terminal.running import exit_code, kept_in, run_on_terminal

    outcome = run_on_terminal(job)
    out = console(stderr=json)
    for text in outcome.lines():
        out.print(text, markup=False, soft_wrap=True)
    decides = outcome.solver.spot.tree.child_count[0]
    first = outcome.result.at("").decision if decides else None
    if first is not None:
        out.print(f"\nFirst decision, {first.seat}:", end="")
        print_mix(out, first)
    else:
        out.print("No player has chips left to bet: there is no decision.")
    if outcome.origin is not None:
        print_origin(out, outcome.origin, outcome.exploitability)
    told = {} if more is None else more(out, outcome)
    kept = kept_in(job.output, outcome.unsaved, outcome.save)
    if kept is not None:
        if outcome.interrupted:
            out.print(f"\nInterrupted; saved in {kept}. Go on with the same command and --resume.")
        out.print()
        print_looks(out, kept, "--line", "" if first is None else first.actions[0])
    elif outcome.unsaved is None:
        lost = "Interrupted; nothing was saved. " if outcome.interrupted else ""
        out.print(f"\n{lost}--output DIR saves a solution, for reports and for --resume.")
    if json:
        if outcome.origin is not None:
            told = {"folder": str(kept), "origin": outcome.origin.mapping(), **told}
        print_json({**outcome.to_json(), **told})
    raise typer.Exit(UNSAVED if outcome.unsaved and kept is None else exit_code(outcome))


def print_origin(out: "Console", origin: "Origin", reached: float) -> None:
    """Which figures come from where, and how much they differ."""
    from allstreets.solutions import origin_lines

    out.print()
    for text in origin_lines(origin, reached):
        out.print(text, markup=False)


# What a flag may still say: everything else about the spot comes from the solution.
SETTINGS = ("exploitability_threshold", "algorithm", "precision", "river_groups", "device")
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
    """Solve a flop of the whole game in `folder`, or show it where it is kept already."""
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


def _show_kept(found: "FlopSpot", kept: "KeptFlop", target: float | None, *, json: bool) -> None:
    """A flop that is solved already."""
    from allstreets.cards import parse_flop
    from allstreets.jobs import SpotConfig
    from allstreets.solutions import suits_text

    out, manifest, origin = console(stderr=json), kept.manifest, kept.origin
    out.print(
        f"Solved already, to {100 * kept.exploitability:.3g} % of pot in "
        f"{manifest['iterations']:,} iterations: {kept.folder}",
        markup=False,
        soft_wrap=True,
    )
    renamed = suits_text(found.flop, parse_flop(origin.flop))
    if renamed:
        out.print(f"{found.cards} is {origin.flop} there: {renamed}.")
    oop, ip = manifest["evs"]
    out.print(f"EV OOP {oop:.2f}, IP {ip:.2f} of the pot of {found.spot.pot} chips")
    print_origin(out, origin, kept.exploitability)
    out.print()
    goal = SpotConfig().exploitability_threshold if target is None else target
    if kept.exploitability > goal:
        out.print(f"To go on to {100 * goal:g} %: the same command with --resume.")
    print_looks(out, kept.folder)
    if json:
        print_json(
            {
                "exploitability_pct": 100 * kept.exploitability,
                "exploitability_chips": kept.exploitability * found.spot.pot,
                "iterations": manifest["iterations"],
                "seconds": manifest["seconds"],
                "ev_oop": oop,
                "ev_ip": ip,
                "folder": str(kept.folder),
                "origin": origin.mapping(),
            }
        )
