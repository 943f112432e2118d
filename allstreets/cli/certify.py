"""allstreets certify: the exploitability of a whole-game solution with real cards."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from allstreets.cli.terminal.output import (
    JsonOption,
    ThreadsOption,
    command,
    console,
    print_json,
    print_lines,
    written,
)

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.jobs import CertifyJob, CertifyOutcome


def certify(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="SOLUTION",
            help="A whole game: a folder of allstreets train or, with --output, a name in "
            "allstreets library.",
        ),
    ],
    flops: Annotated[
        str | None,
        typer.Option(
            metavar="all|own|N",
            help="Flops to evaluate. all: all 1,755; own: the flops that the solution was trained "
            "on; N: draw N of its own and N others.  [default: 32]",
        ),
    ] = None,
    cards: Annotated[
        Literal["boards", "classes", "exact"] | None,
        typer.Option(
            help="Card model for flops that the solution does not store; exact takes ten times as "
            "long and loses almost nothing after the flop.  [default: its own boards, or boards "
            "with 32 river buckets]"
        ),
    ] = None,
    groups: Annotated[
        int | None, typer.Option(min=16, help="River buckets on each board, with boards.")
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Iterations on each flop that is solved.  [default: 100]"),
    ] = None,
    drafts: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Extra flops to draft (boards, 32 river buckets), which narrow the interval.  "
            "[default: none; with --cards exact all 1,755 on a GPU, else 4 per exact flop]",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw of flops.")] = 1,
    threads: ThreadsOption = None,
    device: Annotated[
        str,
        typer.Option(help="For --cards exact and drafts: cpu; cuda, a GPU of this machine."),
    ] = "cpu",
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="auto|local|HOST:PORT", help="Evaluate on a Ray cluster (docs/cluster.md)."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        written("Certify a copy in this folder; the solution stays as it is.", "--output", "-o"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure how exploitable a whole game is with real cards, preflop through river.

    Real combos play its strategies on real boards, against best responses that see every card.
    Flops that it does not store are first solved for its own ranges. The certificate is stored in
    the folder; report and explore show it.

    \b
    Examples:
      allstreets certify solved/
      allstreets certify solved/ --flops 100
      allstreets certify solved/ --flops own
      allstreets certify solved/ --flops all --json
      allstreets certify hu-20bb --output mine/

    Ctrl-C keeps every evaluated flop, and the same command resumes.
    docs/certificates.md explains the figures.
    """
    from allstreets.cli.terminal.running import exit_code
    from allstreets.jobs import plan_certify
    from allstreets.solvers import Completion

    completion = partial(Completion.like, kind=cards, groups=groups, iterations=iterations)
    job = plan_certify(
        folder,
        flops,
        output=output,
        completion=completion,
        seed=seed,
        threads=threads,
        device=device,
        cluster=cluster,
        drafts=drafts,
    )
    outcome = certify_on_terminal(console(stderr=json), job)
    if json and not outcome.interrupted:
        print_json(outcome.to_json() or {})
    raise typer.Exit(exit_code(outcome))


def certify_on_terminal(out: "Console", job: "CertifyJob") -> "CertifyOutcome":
    """Certify with plan and progress; the figures go to `out`."""
    from allstreets.cli.terminal.running import run_on_terminal

    outcome = run_on_terminal(job)
    lines = outcome.lines()
    if outcome.interrupted:
        lines.append(
            f"Interrupted; {outcome.done:,} of {len(job.flops):,} flops are evaluated and kept. "
            f"Continue with: {command('certify', job.folder)}, and the same options."
        )
    print_lines(out, lines)
    return outcome
