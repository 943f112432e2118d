"""allstreets match: two solutions play against each other, or one against a program."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allstreets.cli.terminal.output import JsonOption, ThreadsOption, console, print_json, written

if TYPE_CHECKING:
    from allstreets.interop import DealtPlayer

PORT = "tcp:"


def match(
    first: Annotated[Path, typer.Argument(help="A solved whole game.")],
    second: Annotated[
        str,
        typer.Argument(
            help="Another one of the same stacks and blinds; or tcp:PORT, for a program that "
            "connects to this port and speaks the ACPC dealer protocol."
        ),
    ],
    hands: Annotated[
        int, typer.Option(min=2, help="Hands; each deal is played in both seatings.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Of cards and actions.")] = 1,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Most time to solve a street again.")
    ] = 5.0,
    threads: ThreadsOption = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Blocks of deals at a time.  [default: one a core]")
    ] = None,
    output: Annotated[
        Path | None, written("Keep the match here.  [default: the cache folder]")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Let two solutions play: who wins how much, in bb/100 with a 95 % interval.

    Every deal is played twice, with the seats swapped and the same luck. Results are corrected for
    luck without bias (AIVAT): cards and actions by what the solutions expect of them, and the hands
    that both hold by all that they might have held. Flops are those that both solutions store.

    \b
    Examples:
      allstreets match classes/ boards/ --hands 10000
      allstreets match solved/ solved/ --hands 200 --seed 7 --json
      allstreets match solved/ tcp:2000 --hands 1000     # then connect a player to port 2000

    Ctrl-C keeps every block of deals that is played, and the same command resumes from there; more
    --hands continue a match. docs/play.md says how results are corrected.
    """
    from allstreets.cli.terminal.running import exit_code, run_on_terminal
    from allstreets.play import OutsidePlayer, plan_match
    from allstreets.study import Effort

    effort = Effort(seconds=seconds, threads=threads or (1 if processes != 1 else None))
    with ExitStack() as stack:
        other: Path | OutsidePlayer = Path(second)
        if second.startswith(PORT):
            dealt = stack.enter_context(closing(_waited_for(second)))
            other = OutsidePlayer(second, dealt)
        outcome = run_on_terminal(
            plan_match(
                first, other, hands, effort=effort, seed=seed, output=output, processes=processes
            )
        )
    out = console(stderr=json)
    for line in outcome.lines():
        out.print(line, soft_wrap=True)
    if json:
        print_json(outcome.to_json())
    if outcome.interrupted:
        out.print(
            f"Interrupted; {2 * len(outcome.deals):,} of {2 * outcome.total:,} hands are played "
            f"and kept in {outcome.folder}. Resume with the same command.",
            soft_wrap=True,
        )
    raise typer.Exit(exit_code(outcome))


def _waited_for(text: str) -> "DealtPlayer":
    """The program that connects to a port."""
    from allstreets.base import InputError
    from allstreets.interop import DealtPlayer

    port = text.removeprefix(PORT)
    if not port.isdecimal() or not 0 <= int(port) < 2**16:
        raise InputError(f"'{text}' names no port: write {PORT}2000, say")
    return DealtPlayer(int(port), console(stderr=True).print)
