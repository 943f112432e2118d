"""allstreets certify: what a whole-game solution is worth with real cards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allstreets.cli.output import JsonOption, command, console, print_json

if TYPE_CHECKING:
    from allstreets.training import CertifyJob


def certify(
    folder: Annotated[
        Path, typer.Argument(help="A whole game, as allstreets train … --output writes it.")
    ],
    flops: Annotated[
        str | None,
        typer.Option(
            metavar="all|own|N",
            help="Which flops are judged: all 1,755; own, those that the solution was trained on; "
            "or N that are drawn from these and N from the others. Default: 32.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw of flops.")] = 1,
    threads: Annotated[int | None, typer.Option(min=1, help="Default: every core.")] = None,
    json: JsonOption = False,
) -> None:
    """How exploitable a whole game is in the real game, preflop through river.

    Its strategies are played by real combos on real boards, against best responses that see every
    card. Flops that it was not trained on are solved for its own ranges first. The certificate is
    kept in the folder and shown by report and explore.

    \b
    Examples:
      allstreets certify solved/
      allstreets certify solved/ --flops 100
      allstreets certify solved/ --flops own
      allstreets certify solved/ --flops all --json

    Ctrl-C keeps every flop that is judged, and the same command goes on from there.
    docs/certificates.md says what the figures mean.
    """
    from allstreets.training import plan_certify

    code = run_certify(plan_certify(folder, flops, seed=seed, threads=threads), json=json)
    if code:
        raise typer.Exit(code)


def run_certify(job: "CertifyJob", *, json: bool) -> int:
    """Certify on a terminal; returns the exit code."""
    from allstreets.base import INTERRUPTED
    from allstreets.cli.train_jobs import announce_compiling
    from allstreets.training import certificate_lines, show_certify_progress

    print_plan(job)
    announce_compiling("certify")
    with show_certify_progress() as observer:
        outcome = job.run([observer])
    out = console(stderr=json)
    if outcome.certificate is None:
        again = command(
            "certify", job.folder, *([] if job.chosen == "32" else ["--flops", job.chosen])
        )
        out.print(
            f"Interrupted; {outcome.done:,} of {len(job.flops):,} flops are judged and kept. "
            f"Go on with: {again}",
            markup=False,
            soft_wrap=True,
        )
        return INTERRUPTED
    for line in certificate_lines(outcome.certificate):
        out.print(line, markup=False, soft_wrap=True)
    if json:
        print_json(outcome.certificate.to_json())
    return 0


def print_plan(job: "CertifyJob") -> None:
    """Say which flops are judged, what becomes of earlier work, and what it takes."""
    from allstreets.training import data_size, duration

    out = console(stderr=True)
    need = job.estimate()
    differs = job.work.differs()
    if differs:
        why = "the solution has changed" if "judged" in differs else f"{', '.join(differs)} differ"
        out.print(f"{job.folder} was certified before, and {why} since: all flops are judged anew.")
    completed = job.completed
    how = f", {completed:,} of them solved first ({job.judge.completion.text})" if completed else ""
    known = f", {need.known:,} of them already judged" if need.known else ""
    out.print(f"{len(job.flops):,} flops{known}{how}", soft_wrap=True)
    out.print(
        f"about {duration(need.seconds)} on {job.judge.threads} "
        f"thread{'' if job.judge.threads == 1 else 's'}, {data_size(need.memory_bytes)} of memory"
    )
