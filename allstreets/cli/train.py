"""allstreets train, tree: the jobs of a training file, and its preflop tree."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allstreets.cli.terminal.output import (
    UNSAVED,
    JsonOption,
    ResumeOption,
    command,
    console,
    print_json,
    print_lines,
    print_looks,
    written_place,
)

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.jobs import (
        Job,
        LockJob,
        TrainingJob,
        TrainingJobOutcome,
        UnifiedJob,
        UnifiedOutcome,
    )
    from allstreets.solutions import WholeSolution

    More = Callable[[Console, Any], dict[str, Any]]


def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.yaml", help="A training file.  [default: a small example]"),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            parser=written_place,
            metavar="<Path>",
            help="Folder for the solution; on a cluster also a URL, s3://bucket/run.  "
            "[default: runs/<time>]",
        ),
    ] = None,
    resume: ResumeOption = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Overrides the file.  [default: every core]")
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(help="Overrides the file: cpu; cuda, a GPU of this machine, cuda:1 another."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="auto|local|HOST:PORT",
            help="Solve on a Ray cluster (docs/cluster.md); overrides the file.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Start from the ranges of this whole game: a folder, or a name in allstreets "
            "library. Without a file, its settings are used too.",
        ),
    ] = None,
    stack: Annotated[
        float | None, typer.Option(min=0, metavar="BB", help="Overrides the file, in big blinds.")
    ] = None,
    flops: Annotated[
        str | None, typer.Option(metavar="SET", help="Overrides the file: subset_25, all, …")
    ] = None,
    chart_interval: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Draw the preflop charts every N iterations, 0 = only at the end; overrides "
            "the file.  [default: three times per run]",
        ),
    ] = None,
    certify: Annotated[
        bool,
        typer.Option(
            "--certify", help="Then certify it with real cards, as allstreets certify does."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Solve a whole game, preflop through river, or flops one by one, from a training file.

    \b
    Examples:
      allstreets train
      allstreets train sample_configurations/smoke.yaml --output solved/
      allstreets train sample_configurations/unified_20bb.yaml --output solved/ --resume
      allstreets train sample_configurations/unified_20bb.yaml --output solved/ --certify
      allstreets train --like hu-20bb --stack 17 --flops subset_25 --output hu-17bb/
      allstreets report solved/ --line "r2.5 c" --flop AhKd7s

    \b
    A file to start with:
      solver:
        type: unified_cfr
        stack_depth: 20
        quality: quick

    Ctrl-C, SIGTERM and SIGHUP stop and save. docs/training.md and
    docs/postflop-models.md list all keys.
    """
    from allstreets.base import InputError, place_of
    from allstreets.jobs import FIRST_RUN, like_config, load_neighbour, plan, read_train_config
    from allstreets.solutions import OWN

    if output is None and resume:
        raise InputError("--resume needs --output, the folder of the run to continue")
    target = default_output() if output is None else place_of(output)
    flags = {
        "threads": threads,
        "device": device,
        "cluster": cluster,
        "chart_interval": chart_interval,
        "stack_depth": stack,
        "flops": flops,
    }
    neighbour = None if like is None else load_neighbour(like)
    if neighbour is not None and file is None:
        config = like_config(neighbour, flags)
    else:
        config = read_train_config(file or FIRST_RUN, flags)
    jobs = plan(config, target, resume=resume, like=neighbour)
    if certify and config.job != "unified_cfr":
        raise InputError(
            "--certify: only solutions of unified_cfr, a whole game, have certificates"
        )
    if certify and not isinstance(target, Path):
        raise InputError(f"--certify: {target} is remote; certify a copy of it on this machine")
    where = ["--cluster", cluster] if cluster else []
    options = {"--like": like, "--stack": stack, "--flops": flops}
    given = [f"{part}" for option in options.items() if option[1] is not None for part in option]
    named = [file] if file else []
    again = command("train", *named, *given, "--output", target, *where, "--resume")
    first = file is None and not given  # whose own flops take half a minute
    for job in jobs:
        if code := train_job(
            job,
            again,
            json=json,
            last=job is jobs[-1],
            certify=certify or first,
            flops=OWN if first else None,
        ):
            raise typer.Exit(code)


def _print_ready_made(out: "Console", solution: "WholeSolution") -> dict[str, Any] | None:
    """Print the ready-made solution of a game, and how the two differ."""
    from allstreets.jobs import ready_made_lines
    from allstreets.storage import compare_with_ready_made

    beside = compare_with_ready_made(solution)
    if beside is None:
        return None
    out.print()
    print_lines(out, ready_made_lines(beside))
    out.print(f"Look at it: {command('report', beside.name)}", soft_wrap=True)
    return beside.to_json()


def default_output() -> Path:
    """A folder that does not exist yet, named by the time."""
    from datetime import datetime

    return Path("runs") / datetime.now().strftime("%Y-%m-%d-%H%M%S")


def train_job(
    job: "TrainingJob | LockJob[UnifiedOutcome]",
    again: str,
    *,
    json: bool,
    last: bool = True,
    certify: bool = False,
    flops: str | None = None,
    more: "More | None" = None,
) -> int:
    """Run a job, print its outcome and its folder; return the exit code.

    `again` is the command that resumes it, `more` prints further lines and returns them for --json.
    `certify` evaluates a whole game with real cards, on some `flops`.
    """
    from allstreets.cli.certify import certify_on_terminal
    from allstreets.cli.terminal.decisions import print_opening
    from allstreets.cli.terminal.running import exit_code, kept_in, run_on_terminal
    from allstreets.jobs import plan_certify

    training: Job[TrainingJobOutcome] = job
    outcome = run_on_terminal(training)
    out = console(stderr=json)
    if outcome.opening is not None:
        out.print()
        print_opening(out, outcome.opening)
        out.print()
    figures, look = outcome.to_json(), outcome.look()
    print_lines(out, outcome.lines())
    figures |= more(out, outcome) if more is not None else {}
    kept = kept_in(job.output, outcome.unsaved, outcome.save)
    if outcome.warning is not None:
        typer.echo(f"Warning: {outcome.warning}", err=True)
    code = UNSAVED if outcome.unsaved and kept is None else exit_code(outcome)
    if kept is not None:
        print_lines(out, outcome.way_on(kept, again))
        if look or outcome.opening is not None:
            print_looks(out, kept, *look)
        if certify and not outcome.interrupted:
            assert isinstance(kept, Path)  # `train` has refused others
            judged = certify_on_terminal(out, plan_certify(kept, flops))
            figures["certificate"], code = judged.to_json(), exit_code(judged)
        if outcome.opening is not None and not outcome.interrupted:
            figures["ready_made"] = _print_ready_made(out, outcome.opening)
    code = code or (1 if outcome.problem and kept is job.output else 0)
    if json and (last or code):
        print_json(figures)
    return code


def tree(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.yaml", help="A training file.  [default: a small example]"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Draw the preflop tree of a training file, with sizes in big blinds.

    \b
    Examples:
      allstreets tree
      allstreets tree sample_configurations/unified_20bb.yaml

    At pots that see a flop, decisions, actions and memory are per flop; the totals cover all flops
    of the file.
    """
    from allstreets.base import InputError
    from allstreets.betting import build_preflop_tree, draw_tree
    from allstreets.jobs import FIRST_RUN, UnifiedConfig, read_train_config

    config = read_train_config(file or FIRST_RUN).solver
    if config is None:
        raise InputError(f"{file} has no section solver, so it has no preflop tree")
    if not isinstance(config, UnifiedConfig):
        rules = config.preflop_rules()
        drawn = draw_tree(build_preflop_tree(rules), rules)
        if json:
            print_json({"tree": drawn})
            return
        typer.echo("\n".join(drawn))
        return
    from allstreets.jobs import plan_unified

    job = plan_unified(config)
    if json:
        print_json(_tree_facts(job))
        return
    _draw_tree(job)


def _draw_tree(job: "UnifiedJob") -> None:
    from allstreets.base import data_size
    from allstreets.betting import draw_tree

    need, config = job.need, job.config
    notes = {}
    for pot, size in zip(job.game.flop_pots, job.game.tree_sizes, strict=True):
        share = need.memory_bytes * size.slots // max(need.slots * need.flops, 1)
        notes[pot] = (
            f"{size.decision_count:,} decisions, {size.slots:,} actions, "
            f"{data_size(share)} per flop"
        )
    typer.echo("\n".join(draw_tree(job.game.tree, job.game.preflop, notes)))
    out = console()
    out.print(
        f"\nPreflop {need.preflop_decisions:,} decisions; {need.pots} pots see a flop: "
        f"{need.postflop_decisions:,} decisions and {need.slots:,} actions on each of "
        f"{need.flops:,} flops, cards {config.cards}.",
        soft_wrap=True,
    )
    out.print(
        f"Regrets and strategies {data_size(need.memory_bytes)}, in all "
        f"{data_size(need.resident_bytes)} of memory (memory: {config.memory}), about "
        f"{need.seconds_per_iteration:.2g} s per iteration.",
        soft_wrap=True,
    )
    on_device = job.on_device()
    if on_device is not None:
        out.print(on_device.text, soft_wrap=True)


def _tree_facts(job: "UnifiedJob") -> dict[str, Any]:
    from dataclasses import asdict

    pots = [
        {
            "name": pot.name,
            "pot_bb": pot.pot / 100,
            "stack_bb": pot.stack / 100,
            "raises": pot.raises,
            "nodes": size.node_count,
        }
        for pot, size in zip(job.game.flop_pots, job.game.tree_sizes, strict=True)
    ]
    return {**asdict(job.need), "flop_pots": pots}
