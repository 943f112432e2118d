"""allstreets solve: the strategies of a flop, turn or river spot."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from allstreets.base import INTERRUPTED
from allstreets.cli.keeping import UNSAVED, kept_in
from allstreets.cli.output import JsonOption, console, print_json, print_looks, written_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from allstreets.games import Estimate, Spot
    from allstreets.jobs import SpotConfig, SpotOutcome
    from allstreets.solutions import Origin, SpotSolution


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
    threads: Annotated[int | None, typer.Option(help="Default: every core.")] = None,
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
    from allstreets.jobs import parse_time

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
    job = Job(max_iterations, seconds, threads, output, resume, save.value, json)
    if game is not None or line is not None or flop is not None:
        from allstreets.cli.solve_flop import solve_flop

        _one_at_a_time(
            named, {"boards": boards, "processes": processes, "cluster": cluster, "csv": csv}
        )
        solve_flop(game, line, flop, named[0] if named else None, flags, job)
        return

    from allstreets.jobs import read_spot, read_spot_config

    file = named[0] if named else None
    if len(named) > 1 or boards is not None or read_spot_config(file, flags).boards is not None:
        from allstreets.cli.solve_many import solve_many

        solve_many(named, flags, boards, job, processes=processes, cluster=cluster, csv=csv)
        return
    _one_at_a_time(named, {"processes": processes, "cluster": cluster, "csv": csv})
    run_job(*read_spot(file, flags), job)


def _one_at_a_time(files: list[Path], options: dict[str, Any]) -> None:
    """Refuse what is for many spots."""
    from allstreets.base import InputError

    if len(files) > 1:
        raise InputError("--from solves one flop at a time: name one file at most")
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for many spots: name several files, or --boards")


@dataclass(frozen=True)
class Job:
    """How a spot is to be solved and kept."""

    max_iterations: int | None
    seconds: float | None
    threads: int | None
    output: Path | None
    resume: bool
    saved: Literal["flop", "turn", "full"]
    json: bool
    made_from: Mapping[str, Any] | None = None  # the solution that a lock has made it from


def run_job(
    config: "SpotConfig",
    spot: "Spot",
    job: Job,
    origin: "Callable[[SpotSolution], Origin] | None" = None,
    more: "Callable[[Console, SpotOutcome], dict[str, Any]] | None" = None,
) -> None:
    """Solve a spot and print the outcome; `origin` says which flop of a whole game it is.

    `more` prints what else there is to say, and returns it for --json.
    """
    from allstreets.jobs import (
        COMPILING,
        mark_compiled,
        must_compile,
        require_job,
        show_progress,
        solve_job,
    )

    output, json = job.output, job.json
    require_job(config, spot, output, job.resume, job.saved)
    plan = _plan(config, spot, job.threads)
    if must_compile(spot, config.precision):
        typer.echo(f"{COMPILING} …", err=True)
    with show_progress() as observer:
        outcome = solve_job(
            config,
            spot,
            max_iterations=job.max_iterations,
            seconds=job.seconds,
            threads=plan.threads,
            output=output,
            resume=job.resume,
            saved=job.saved,
            observers=[observer],
            made_from=job.made_from,
            origin=None if origin is None else lambda result: origin(result).mapping(),
        )
    mark_compiled(spot, config.precision)
    out = console(stderr=json)
    found = None if origin is None else origin(outcome.result)
    _print_outcome(out, config, outcome)
    if found is not None:
        print_origin(out, found, outcome.exploitability)
    told = {} if more is None else more(out, outcome)
    kept = kept_in(output, outcome.unsaved, outcome.keep)
    if outcome.unsaved is None or kept is not None:
        _print_way_on(out, outcome, kept)
    if json:
        if found is not None:
            told = {"folder": str(kept), "origin": found.mapping(), **told}
        print_json({**outcome.figures(), **told})
    if outcome.unsaved is not None and kept is None:
        raise typer.Exit(UNSAVED)
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)


def print_origin(out: "Console", origin: "Origin", reached: float) -> None:
    """Which figures come from where, and how much they differ."""
    from allstreets.solutions import origin_lines

    out.print()
    for text in origin_lines(origin, reached):
        out.print(text, markup=False)


def _plan(config: "SpotConfig", spot: "Spot", threads: int | None) -> "Estimate":
    """Print the memory and time of the spot, and refuse one that does not fit."""
    from allstreets.base import available_bytes, thread_count
    from allstreets.cards import cards_text
    from allstreets.games import (
        device_bytes,
        estimate_spot,
        require_device_room,
        require_memory,
    )
    from allstreets.jobs import data_size, duration
    from allstreets.solvers import FIRST_CHECK

    groups = config.river_groups
    need = estimate_spot(spot, config.precision, thread_count(threads), groups)
    free = available_bytes()
    streets = [f"{count:,} {street.text}" for street, count in need.decisions.items()]
    boards = [f"{count:,} {street.text}" for street, count in need.boards.items()]
    out = console(stderr=True)
    combos = [f"{one.combos:g}" for one in spot.ranges]
    name = f"{config.name}: " if config.name else ""
    out.print(
        f"{name}{cards_text(spot.cards)}, pot {spot.pot}, stack {spot.stack}, "
        f"{combos[0]} × {combos[1]} combos"
    )
    out.print(f"decisions {' + '.join(streets)}, boards {' + '.join(boards)}")
    room = f", {data_size(free)} free" if free is not None else ""
    out.print(
        f"memory {data_size(need.memory_bytes)} ({data_size(need.process_bytes)} in all{room}), "
        f"first check in about {duration(max(need.seconds_to(FIRST_CHECK), 1))}"
    )
    require_memory(spot, config.precision, need, free, groups)
    require_device_room(config.device, device_bytes(need.memory_bytes))
    return need


def _print_outcome(out: "Console", config: "SpotConfig", outcome: "SpotOutcome") -> None:
    from allstreets.cli.node_view import print_mix

    figures, pot = outcome.figures(), outcome.solver.spot.pot
    reached, goal = figures["exploitability_pct"], 100 * config.exploitability_threshold
    verb = "Solved" if reached <= goal else "Stopped at"
    out.print(
        f"{verb}{' to' if reached <= goal else ''} {reached:.3g} % of pot "
        f"({figures['exploitability_chips']:.3g} chips) exploitability, "
        f"{figures['iterations']:,} iterations, {figures['seconds']:.1f} s"
    )
    if reached > goal > 0:
        out.print(f"The target of {goal:g} % is not reached.")
    rake = pot - figures["ev_oop"] - figures["ev_ip"]
    raked = f", rake {rake:.2f}" if outcome.solver.spot.rake else ""
    out.print(
        f"EV OOP {figures['ev_oop']:.2f}, IP {figures['ev_ip']:.2f} of the pot of {pot} "
        f"chips{raked}"
    )
    if outcome.solver.spot.tree.child_count[0]:
        node = outcome.result.at("").decision
        out.print(f"\nFirst decision, {node.seat}:", end="")
        print_mix(out, node)
    else:
        out.print("No player has chips left to bet: there is no decision.")


def _print_way_on(out: "Console", outcome: "SpotOutcome", output: Path | None) -> None:
    if output is None:
        lost = "Interrupted; nothing was saved. " if outcome.interrupted else ""
        out.print(f"\n{lost}--output DIR saves a solution, for reports and for --resume.")
        return
    if outcome.interrupted:
        out.print(f"\nInterrupted; saved in {output}. Go on with the same command and --resume.")
    words = (
        outcome.result.at("").decision.actions if outcome.solver.spot.tree.child_count[0] else ("",)
    )
    out.print()
    print_looks(out, output, "--line", words[0])
