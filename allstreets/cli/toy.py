"""allstreets toy: solve a small game with a known solution, and watch it converge."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.base import INTERRUPTED
from allstreets.cli.terminal.output import (
    UNSAVED,
    JsonOption,
    ResumeOption,
    console,
    percent,
    plain_table,
    print_json,
    written,
)

if TYPE_CHECKING:
    from allstreets.cfr import CfrSolver, MccfrSolver
    from allstreets.jobs import LoopConfig, TrainingOutcome

SHOWN_ROWS = 24
SAMPLING = "mccfr"


def toy(
    game: Annotated[str, typer.Argument(metavar="GAME", help="kuhn, leduc, or openspiel:NAME.")],
    algorithm: Annotated[
        str,
        typer.Option(
            "--algorithm",
            "-a",
            help="vanilla, linear, cfr+, dcfr, dcfr(α,β,γ), dcfr+, tuned, or mccfr (sampled).",
        ),
    ] = "tuned",
    iterations: Annotated[
        int, typer.Option("--iterations", "-n", help="At most this many.")
    ] = 1000,
    target: Annotated[
        float | None, typer.Option(help="Stop when exploitability is at most this.")
    ] = None,
    regret_threshold: Annotated[
        float | None, typer.Option(help="Stop when the average positive regret is at most this.")
    ] = None,
    check_interval: Annotated[
        int | None,
        typer.Option(help="Iterations between checks.  [default: 1 % of all, at most 100]"),
    ] = None,
    seed: Annotated[int, typer.Option(help="For mccfr.")] = 1,
    threads: Annotated[int, typer.Option(help="For mccfr; the result does not depend on it.")] = 1,
    prune_warmup: Annotated[
        int, typer.Option(help="Iterations before actions are pruned; 0 = never.")
    ] = 0,
    prune_threshold: Annotated[
        str | None, typer.Option(help="Prune below this regret: -300 or '-C*sqrt(t)'.")
    ] = None,
    output: Annotated[
        Path | None, written("Folder for checkpoints and metrics.", "--output", "-o")
    ] = None,
    resume: ResumeOption = False,
    plot: Annotated[
        Path | None, written("Draw the convergence curve: a .png or .svg file.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Solve Kuhn or Leduc poker, or any two-player zero-sum game of OpenSpiel.

    \b
    Examples:
      allstreets toy kuhn
      allstreets toy leduc --algorithm dcfr+ --target 1e-3 --plot leduc.svg
      allstreets toy leduc -a mccfr -n 1000000 --seed 7 --output runs/leduc
      allstreets toy leduc -a mccfr -n 5000000 --seed 7 --output runs/leduc --resume
      allstreets toy openspiel:liars_dice --json

    Exploitability is the mean of both players' best-response gains (NashConv / 2), in the game's
    own unit.
    """
    from allstreets.jobs import (
        LoopConfig,
        RunFiles,
        check_config,
        check_plot_path,
        plot_convergence,
        show_progress,
        train,
    )

    if plot is not None:
        check_plot_path(plot)
    loop = check_config(
        {
            "iterations": iterations,
            "exploitability_threshold": target,
            "regret_threshold": regret_threshold,
            "check_interval": check_interval or max(1, min(100, iterations // 100)),
            "checkpoint_interval": max(1000, iterations // 10),
            "seed": seed,
        },
        LoopConfig,
        source="options",
    )
    solver = _solver(game, algorithm, loop, threads, prune_warmup, prune_threshold)
    files = RunFiles(
        checkpoints=output,
        metrics=None if output is None else output / "metrics.jsonl",
        resume=resume,
    )
    with show_progress() as observer:
        outcome = train(
            solver, loop.stop_rules(), intervals=loop.intervals(), files=files, observers=[observer]
        )
    if json:
        print_json(_figures(game, algorithm, solver, outcome))
    else:
        _print(solver, outcome)
    if plot is not None:
        title = f"{game}, {algorithm}"
        plot_convergence(plot, outcome.history, unit=solver.unit, title=title, target=target)
        console(stderr=json).print(f"curve: {plot}")
    if outcome.unsaved is not None:
        typer.echo(f"Error: {outcome.unsaved}", err=True)
        raise typer.Exit(UNSAVED)
    if outcome.reason == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _solver(
    game: str,
    algorithm: str,
    loop: "LoopConfig",
    threads: int,
    prune_warmup: int,
    prune_threshold: str | None,
) -> "CfrSolver | MccfrSolver":
    from allstreets.base import InputError, suggest, thread_count
    from allstreets.cfr import SCHEDULES, CfrSolver, MccfrSolver, Pruning, load_game, parse_schedule

    if algorithm != SAMPLING and "(" not in algorithm and algorithm.lower() not in SCHEDULES:
        known = [*SCHEDULES, SAMPLING]
        raise InputError(f"unknown algorithm '{algorithm}': {suggest(algorithm, known)}")
    threads = thread_count(threads)
    pruning = Pruning(prune_warmup, _threshold(prune_threshold))
    loaded = load_game(game)
    if algorithm == SAMPLING:
        return MccfrSolver(loaded, seed=loop.seed, pruning=pruning, threads=threads)
    return CfrSolver(loaded, parse_schedule(algorithm), pruning)


def _threshold(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text  # a formula, which the pruning rule reads


def _figures(
    game: str, algorithm: str, solver: "CfrSolver | MccfrSolver", outcome: "TrainingOutcome"
) -> dict[str, Any]:
    return {
        "game": game,
        "algorithm": algorithm,
        "iterations": solver.iterations,
        **asdict(solver.metrics()),
        "game_value": solver.game_value(),
        "pruned_fraction": solver.pruned_fraction,
        "seconds": outcome.progress.seconds,
        "strategy": solver.strategies(),
    }


def _print(solver: "CfrSolver | MccfrSolver", outcome: "TrainingOutcome") -> None:
    from allstreets.jobs import outcome_lines

    out = console()
    strategies = solver.strategies()
    table = plain_table("information set", "strategy")
    for number, (name, chances) in enumerate(strategies.items()):
        if number == SHOWN_ROWS:
            break
        table.add_row(name, "  ".join(f"{action} {p:.3f}" for action, p in chances.items()))
    out.print(table)
    if len(strategies) > SHOWN_ROWS:
        out.print(f"… and {len(strategies) - SHOWN_ROWS:,} more; --json prints them all")
    out.print()
    for line in outcome_lines(outcome):
        out.print(line)
    if solver.pruned_fraction:
        out.print(f"pruned: {percent(solver.pruned_fraction, 1)} of the actions since the warm-up")
    out.print(f"game value for the first player: {solver.game_value():.6f} {solver.unit}")
