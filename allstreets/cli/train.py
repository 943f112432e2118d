"""allstreets train: run the jobs that a training file describes."""

from pathlib import Path
from typing import Annotated

import typer

from allstreets.cli.output import JsonOption, written_place


def train(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.yaml", help="A training file; default: a small example."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            parser=written_place,
            metavar="<Path>",
            help="Folder for the solution (on a cluster also a URL: s3://bucket/run); "
            "default: runs/<time>.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --output.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Overrides the file; default: every core.")
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
    chart_interval: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="N",
            help="Draw the preflop charts every N iterations, 0 = only at the end; overrides "
            "the file; default: three times per run.",
        ),
    ] = None,
    certify: Annotated[
        bool,
        typer.Option("--certify", help="Then judge it with real cards, as allstreets certify."),
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
      allstreets report solved/ --line "r2.5 c" --flop AhKd7s

    \b
    A file to start with:
      solver:
        type: unified_cfr
        stack_depth: 20
        flops: subset_25

    Ctrl-C saves what is solved, as SIGTERM and SIGHUP do. docs/training.md and
    docs/postflop-models.md list all keys.
    """
    from allstreets.base import InputError, place_of
    from allstreets.cli.train_jobs import TrainOptions, run_job
    from allstreets.jobs import FIRST_RUN, plan, read_train_config

    if output is None and resume:
        raise InputError("--resume needs --output, the folder of the run to continue")
    place = default_output() if output is None else place_of(output)
    config = read_train_config(file or FIRST_RUN)
    if chart_interval is not None:
        if config.solver is None:
            raise InputError("--chart-interval: flops one by one have no preflop charts")
        solver = config.solver.model_copy(update={"chart_interval": chart_interval})
        config = config.model_copy(update={"solver": solver})
    jobs = plan(config, place, resume=resume, threads=threads, device=device, cluster=cluster)
    if certify and config.job != "unified_cfr":
        raise InputError(
            "--certify: only solutions of unified_cfr, a whole game, have certificates"
        )
    if certify and not isinstance(place, Path):
        raise InputError(f"--certify: {place} is elsewhere; certify a copy of it on this machine")
    for job in jobs:
        judged = certify or file is None
        options = TrainOptions(
            file, place, json, last=job is jobs[-1], certify=judged, cluster=cluster
        )
        if code := run_job(job, options):
            raise typer.Exit(code)


def default_output() -> Path:
    """A folder that does not exist yet, named by the time."""
    from datetime import datetime

    return Path("runs") / datetime.now().strftime("%Y-%m-%d-%H%M%S")
