"""allstreets train, for whole games: unified, or preflop on top of models of flops."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from allstreets.base.interrupt import INTERRUPTED
from allstreets.cli.keeping import UNSAVED, kept_in
from allstreets.cli.output import command, console, print_json, print_looks
from allstreets.cli.preflop_view import print_charts, print_opening

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.cli.train import TrainOptions
    from allstreets.training.preflop_run import PreflopOutcome
    from allstreets.training.train_config import TrainConfig
    from allstreets.training.unified_run import UnifiedJob, UnifiedOutcome


def train_unified(config: "TrainConfig", options: "TrainOptions") -> int:
    """The job `unified_cfr`; returns the exit code."""
    from allstreets.training import show_progress
    from allstreets.training.solver_config import UnifiedConfig
    from allstreets.training.unified_run import (
        build_tables,
        plan_unified,
        require_unified,
        run_unified,
        save_outcome,
    )

    assert isinstance(config.solver, UnifiedConfig)
    solver = config.solver
    if options.threads is not None:
        solver = solver.model_copy(update={"threads": options.threads})
    job = plan_unified(solver, config.name, config.description)
    print_plan(job)
    require_unified(job, options.output, options.resume)
    announce_compiling(f"unified-{solver.cards}")
    with table_progress() as counted:
        build_tables(job, counted)
    with show_progress() as view:
        outcome = run_unified(
            job,
            output=options.output,
            resume=options.resume,
            observers=[view],
            on_charts=partial(print_charts, view.console),
        )
    out = console(stderr=options.json)
    where = print_unified(out, outcome)
    return end_run(out, outcome, options, where, partial(save_outcome, outcome))


def train_preflop(config: "TrainConfig", options: "TrainOptions") -> int:
    """The job `preflop_cfr`, with the flops below it where the file has them; the exit code."""
    from allstreets.cli.train import exit_code, solve_flops
    from allstreets.training import show_progress
    from allstreets.training.preflop_run import (
        MODELS,
        plan_preflop,
        require_preflop,
        run_preflop,
        save_outcome,
    )

    job = plan_preflop(config, options.output)
    require_preflop(job, options.output, options.resume)
    if config.postflop_model is not None:
        again = options.resume and (options.output / MODELS).exists()
        flops = solve_flops(config, options.at(options.output / MODELS, resume=again))
        if code := exit_code(flops):
            if options.json:
                print_json(flops.figures())
            return code
    with show_progress() as view:
        outcome = run_preflop(
            job,
            output=options.output,
            resume=options.resume,
            observers=[view],
            on_charts=partial(print_charts, view.console),
        )
    out = console(stderr=options.json)
    where = print_preflop(out, outcome)
    return end_run(out, outcome, options, where, partial(save_outcome, outcome))


def end_run(
    out: "Console",
    outcome: "UnifiedOutcome | PreflopOutcome",
    options: "TrainOptions",
    where: list[str],
    keep: Callable[[Path], None],
) -> int:
    """The end of a run whose figures have been told: where it is kept; returns the exit code."""
    kept = kept_in(options.output, outcome.unsaved, keep)
    if outcome.training.unsaved is not None:
        typer.echo(f"Warning: {outcome.training.unsaved}", err=True)
    if kept is not None:
        print_way_on(out, options, kept, where, interrupted=outcome.interrupted)
    if options.json:
        print_json(outcome.to_json())
    if kept is None:
        return UNSAVED
    return INTERRUPTED if outcome.interrupted else 0


def print_plan(job: "UnifiedJob") -> None:
    """Say what is solved and what it takes."""
    from allstreets.solvers.spot.estimate import available_bytes
    from allstreets.training.wording import data_size, duration

    config, need = job.config, job.need
    out = console(stderr=True)
    name = f"{job.name}: " if job.name else ""
    which = "all 1,755 flops" if job.game.flops.is_all else f"{need.flops:,} flops"
    out.print(
        f"{name}{config.stack_depth:g} bb, {which}, cards {config.cards}, {need.pots} pots that "
        f"see a flop, {need.postflop_decisions:,} decisions on each flop"
    )
    free = available_bytes()
    room = f", {data_size(free)} free" if free is not None else ""
    kept = {"resident": "in memory", "memmap": "on disk", "values": "for one batch"}
    out.print(
        f"{data_size(need.memory_bytes)} of regrets and strategies {kept[config.memory]}, "
        f"{data_size(need.resident_bytes)} of memory in all{room}"
    )
    limit = config.time_limit_seconds
    seconds = need.seconds_to(job.iterations)
    until = f"at most {duration(limit)}" if limit and limit < seconds else duration(seconds)
    out.print(
        f"{job.iterations:,} iterations of about {need.seconds_per_iteration:.2g} s on "
        f"{job.threads} thread{'s' if job.threads > 1 else ''}: {until}, without the checks"
    )


def announce_compiling(what: str) -> None:
    """Say once that kernels are compiled; the file that remembers it lies beside them."""
    from contextlib import suppress

    from allstreets.kernels.jit import compiled_folder

    marker = compiled_folder() / what
    if not marker.exists():
        typer.echo("compiling kernels, once, about a minute …", err=True)
        with suppress(OSError):
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.touch()


class table_progress:  # noqa: N801  # reads as a statement: with table_progress() as counted
    """Tells how far the table of flops is, on a terminal in place, elsewhere not at all."""

    def __enter__(self) -> Any:
        import sys

        self._shown = False
        self._live = sys.stderr.isatty()
        return self._count

    def _count(self, done: int, total: int) -> None:
        import sys

        if self._live:
            self._shown = True
            sys.stderr.write(f"\rcounting flops, once: {done:,} of {total:,} ")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        import sys

        if self._shown:
            sys.stderr.write("\r\033[K")


def print_unified(out: "Console", outcome: "UnifiedOutcome") -> list[str]:
    """What was solved, how well, and the first charts; returns what to look at in a report."""
    from allstreets.solvers.unified.result import UnifiedResult
    from allstreets.training.wording import data_size, duration, figure

    job, figures = outcome.job, outcome.figures
    seconds = outcome.training.progress.seconds
    result = UnifiedResult.of(outcome.solver, outcome.kept)
    out.print()
    print_opening(out, result)
    which = "all 1,755 flops" if job.game.flops.is_all else f"{job.need.flops:,} flops"
    cards = f"{which}, cards {job.config.cards}" if job.game.pots else "no flop is seen"
    reached = (
        "not known: the strategies of other flops are not kept"
        if figures.exploitability is None
        else f"{figure(figures.exploitability)} mbb/hand"
    )
    out.print(f"\nExploitability of the whole game: {reached}")
    if figures.values is not None and figures.preflop_exploitability is not None:
        out.print(
            f"Before the flop alone: {figure(figures.preflop_exploitability)} mbb/hand. "
            f"The game is worth {figures.values[1]:+.1f} mbb/hand to the small blind."
        )
    if job.config.cards == "classes" and job.game.pots:
        out.print(
            "That is the game of hand classes, a quick picture: it is blind to turn and river, and "
            "its figures say nothing about real cards (docs/training.md).",
            soft_wrap=True,
        )
    out.print(
        f"Solved: {job.config.stack_depth:g} bb, {cards}, "
        f"{outcome.solver.iterations:,} iterations in {duration(seconds)}.",
        soft_wrap=True,
    )
    if outcome.solver.saved_bytes:
        out.print(
            f"Hands that are not played to a pot are not stored there: regrets and strategies take "
            f"{data_size(outcome.solver.memory_bytes)}, {outcome.saved_share:.0%} saved.",
            soft_wrap=True,
        )
    flop = job.game.flops.flops[0].text if job.config.memory != "values" else None
    lines = result.flop_lines() if flop else result.opening_lines()[1:]
    return ["--line", lines[0], *(["--flop", flop] if flop else [])] if lines else []


def print_preflop(out: "Console", outcome: "PreflopOutcome") -> list[str]:
    """The same for the separated pipeline."""
    from allstreets.training.wording import duration, figure

    out.print()
    print_opening(out, outcome.result)
    out.print(
        f"\nExploitability within the models of flops: "
        f"{figure(outcome.result.exploitability)} mbb/hand, "
        f"{outcome.solver.iterations:,} iterations in "
        f"{duration(outcome.training.progress.seconds)}. In the whole game it is larger.",
        soft_wrap=True,
    )
    lines = outcome.result.opening_lines()[1:]
    return ["--line", lines[0]] if lines else []


def print_way_on(
    out: "Console", options: "TrainOptions", kept: Path, where: list[str], *, interrupted: bool
) -> None:
    """How to go on with an interrupted run, and how to look into what was solved."""
    if interrupted:
        file = [options.file] if options.file else []
        again = command("train", *file, "--output", options.output, "--resume")
        out.print(f"Interrupted; kept in {kept}. Go on: {again}", markup=False, soft_wrap=True)
    print_looks(out, kept, *where)


def default_output() -> Path:
    """A folder that is not there yet, named by the time."""
    from datetime import datetime

    return Path("runs") / datetime.now().strftime("%Y-%m-%d-%H%M%S")
