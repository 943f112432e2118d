"""allstreets play, match: a solution at a table, and against another solution."""

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from allstreets.cli.terminal.output import (
    JsonOption,
    ThreadsOption,
    console,
    print_json,
    print_lines,
    written,
)

if TYPE_CHECKING:
    from allstreets.interop import DealtPlayer, TableResult
    from allstreets.play import SolutionPlayer


def play(
    solution: Annotated[Path, typer.Argument(metavar="SOLUTION", help="A solved whole game.")],
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="Address of the table: HOST:PORT of a dealer (acpc), or the base URL (slumbot).",
        ),
    ],
    protocol: Annotated[
        Literal["acpc", "slumbot"], typer.Option(help="The table's protocol.")
    ] = "acpc",
    hands: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of hands.  [default: until the dealer ends; slumbot: 100]"
        ),
    ] = None,
    stack: Annotated[int, typer.Option(min=1, help="Chips of each player.")] = 20_000,
    blinds: Annotated[str, typer.Option(help="Small and big blind, in chips.")] = "50/100",
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Time limit for solving a street again.")
    ] = 5.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of mixed actions.")] = 1,
    threads: ThreadsOption = None,
) -> None:
    """Play a solution at a table: an ACPC dealer, or a server with Slumbot's HTTP interface.

    The solution plays its stored strategies as long as its tree has the table's bets. After any
    other bet, and on flops that it does not store, the street is solved again for the real pot and
    sizes.

    \b
    Examples:
      allstreets play solved/ localhost:2000 --stack 2000
      allstreets play solved/ http://localhost:8080 --protocol slumbot --hands 500
      allstreets match solved/ tcp:2000 & allstreets play other/ localhost:2000 --stack 2000

    The table's stacks and blinds must be the solution's: stacks within 10 % are played with a note
    on the difference, others are refused. docs/play.md has the details.
    """
    from allstreets.interop import SlumbotTable, TableRules, play_acpc
    from allstreets.play import Decider, SolutionPlayer, load_game
    from allstreets.study import Effort

    small, big = _blinds(blinds)
    rules = TableRules(stack, small, big)
    player = SolutionPlayer(
        load_game(solution), Effort(seconds=seconds, threads=threads), seed=seed
    )
    far = player.require_table(rules)
    out = console(stderr=True)
    if far:
        out.print(far, soft_wrap=True)
    won: list[float] = []

    def note(result: "TableResult") -> None:
        if result.won is not None:
            won.append(float(result.won) / rules.big_blind)
        shown = "not shown" if result.won is None else f"{won[-1]:+.2f} bb"
        out.print(f"{result.hand.name}: {shown}, {sum(won):+.2f} bb in all")

    try:
        if protocol == "acpc":
            host, port = _address(table)
            play_acpc(host, port, rules, Decider(player), note, hands)
        else:
            SlumbotTable(table, rules).play(hands or 100, Decider(player), note)
    finally:
        _print_end(won, player)


def _print_end(won: list[float], player: "SolutionPlayer") -> None:
    import numpy as np

    from allstreets.play import Estimate, Tally

    out, tally = console(), player.tally
    if not won and tally == Tally():  # the table has not answered
        return
    if won:
        out.print(f"{len(won):,} hands: {Estimate.of(np.array(won))} bb/100 (95 % interval)")
    out.print(
        f"{tally.stored:,} decisions as stored, {tally.solved:,} on streets solved again, "
        f"{tally.mapped:,} bets before the flop counted as another size, {tally.guessed:,} answers "
        "by equity alone",
        soft_wrap=True,
    )


def _blinds(text: str) -> tuple[int, int]:
    from allstreets.base import InputError

    small, _, big = text.partition("/")
    if not (small.isdecimal() and big.isdecimal()):
        raise InputError(f"--blinds '{text}': write the small and the big blind, such as 50/100")
    return int(small), int(big)


def _address(text: str) -> tuple[str, int]:
    from allstreets.base import InputError

    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise InputError(f"'{text}' is not the address of a dealer: write HOST:PORT")
    return host, int(port)


PORT = "tcp:"


def match(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="A solved whole game.")],
    second: Annotated[
        str,
        typer.Argument(
            metavar="SECOND",
            help="Another solution with the same stacks and blinds; or tcp:PORT, for a program "
            "that connects to this port and speaks the ACPC dealer protocol.",
        ),
    ],
    hands: Annotated[
        int, typer.Option(min=2, help="Number of hands; each deal is played in both seatings.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of cards and actions.")] = 1,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Time limit for solving a street again.")
    ] = 5.0,
    threads: ThreadsOption = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Blocks of deals at a time.  [default: one per core]")
    ] = None,
    output: Annotated[
        Path | None, written("Store the match here.  [default: the cache folder]")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Play two solutions against each other: the winnings in bb/100, with a 95 % interval.

    Every deal is played twice, with the seats swapped and the same cards. Results are corrected for
    luck without bias (AIVAT): cards and actions by the EVs of the solutions, and the players' hands
    by all hands that they might have held. Flops that both solutions store are dealt; a solution
    that stores none plays every flop, solved as it is dealt.

    \b
    Examples:
      allstreets match classes/ boards/ --hands 10000
      allstreets match solved/ solved/ --hands 200 --seed 7 --json
      allstreets match solved/ tcp:2000 --hands 1000     # then connect a player to port 2000

    Ctrl-C keeps every finished block of deals, and the same command resumes; more --hands continue
    a match. docs/play.md says how results are corrected.
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
    print_lines(out, outcome.lines())
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
        raise InputError(f"'{text}' has no port: write {PORT}2000, say")
    return DealtPlayer(int(port), console(stderr=True).print)
