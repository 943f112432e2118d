"""allstreets play: a solution sits at a table elsewhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from allstreets.cli.terminal.output import ThreadsOption, console

if TYPE_CHECKING:
    from allstreets.interop import TableResult
    from allstreets.play import SolutionPlayer


def play(
    solution: Annotated[Path, typer.Argument(help="A solved whole game.")],
    table: Annotated[
        str,
        typer.Argument(
            help="Where the table is: HOST:PORT of a dealer (acpc), or the base URL (slumbot)."
        ),
    ],
    protocol: Annotated[
        Literal["acpc", "slumbot"], typer.Option(help="The table's language.")
    ] = "acpc",
    hands: Annotated[
        int | None,
        typer.Option(min=1, help="Hands.  [default: until the dealer ends; slumbot: 100]"),
    ] = None,
    stack: Annotated[int, typer.Option(min=1, help="Chips of each player.")] = 20_000,
    blinds: Annotated[str, typer.Option(help="Small and big blind, in chips.")] = "50/100",
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Most time to solve a street again.")
    ] = 5.0,
    seed: Annotated[int, typer.Option(min=0, help="Of mixed actions.")] = 1,
    threads: ThreadsOption = None,
) -> None:
    """Let a solution sit at a table: an ACPC dealer's, or one with Slumbot's HTTP interface.

    It plays what is stored as long as the table's bets are its own. After any other bet, and on
    flops that it does not store, the street is solved again for the real pot and sizes.

    \b
    Examples:
      allstreets play solved/ localhost:2000 --stack 2000
      allstreets play solved/ http://localhost:8080 --protocol slumbot --hands 500
      allstreets match solved/ tcp:2000 & allstreets play other/ localhost:2000 --stack 2000

    The table's stacks and blinds must be the solution's: stacks within 10 % are played, with the
    distance said, and others are refused. docs/play.md has the details.
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
        out.print(f"{result.hand.name}: {shown}, {sum(won):+.2f} bb in all", highlight=False)

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
    if not won and tally == Tally():  # nobody has answered at the table
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
        raise InputError(f"'{text}' is no address of a dealer: write HOST:PORT")
    return host, int(port)
