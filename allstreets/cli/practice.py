"""allstreets practice: play hands against a solution, and see the cost of each decision."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allstreets.cli.terminal.output import (
    JsonOption,
    console,
    percent,
    plain_table,
    print_json,
    written,
)

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.study import (
        Answer,
        Draw,
        Hand,
        Question,
        Results,
        Session,
        StoredAnswer,
        Summary,
        Wanted,
    )


HANDS = 20
QUIT = "q"
HINT = "h"
END_OF_KEYS = ("\x03", "\x04")  # Ctrl-C and Ctrl-D, where they arrive as keys
DAYS_SHOWN = 14
BAR = 20  # letters of the longest bar


def practice(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="SOLUTION", help="A solved spot or whole game, or a name in allstreets library."
        ),
    ] = None,
    seat: Annotated[str, typer.Option(help="sb (ip), bb (oop), or both in turn.")] = "both",
    street: Annotated[
        list[str] | None, typer.Option(help="Streets to decide on: preflop, flop, turn, river.")
    ] = None,
    pot: Annotated[
        list[str] | None, typer.Option(help="Kinds of pot: limped, raised, 3bet, 4bet.")
    ] = None,
    line: Annotated[str, typer.Option(help="Start after this line: 'r2.5 c', 'c x | * | x'.")] = "",
    flop_suits: Annotated[
        list[str] | None, typer.Option(help="Flops: rainbow, two-tone, monotone.")
    ] = None,
    flop_pairing: Annotated[
        list[str] | None, typer.Option(help="Flops: unpaired, paired, trips.")
    ] = None,
    flop_high: Annotated[
        list[str] | None, typer.Option(help="Highest card of flops: A, K, …, or A,K,Q.")
    ] = None,
    hands: Annotated[int, typer.Option(min=1, help="How many hands.")] = HANDS,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, max=2**31 - 1, help="Repeats the same hands.  [default: new hands every time]"
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Where results are stored.  [default: your data folder]")
    ] = None,
    no_grid: Annotated[
        bool, typer.Option("--no-grid", help="Leave out the 13×13 picture after decisions.")
    ] = False,
    stats: Annotated[
        bool, typer.Option("--stats", help="Show your results so far; no hands are dealt.")
    ] = False,
    export: Annotated[Path | None, written("Write all results to a .csv or .json file.")] = None,
    anki: Annotated[
        Path | None, written("Write missed decisions to an .apkg file for Anki.")
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete all results; asks first.")
    ] = False,
    drafts: Annotated[
        bool,
        typer.Option(
            "--drafts", help="Play any flop with real cards: drafted in seconds when it is dealt."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Play hands against a solution, and see what each of your decisions costs.

    The solution mixes by seeded random numbers, which are shown after the hand. Decisions that you
    miss come back after 8 hands, then after 1, 3, 7 and 21 days.

    \b
    Examples:
      allstreets practice solved/
      allstreets practice pf-10bb
      allstreets practice game/ --seat bb --street flop --pot raised --flop-suits monotone
      allstreets practice game/ --line 'r2.5 c | * | x' --hands 50 --seed 7
      allstreets practice game/ --drafts --street flop
      allstreets practice --stats
      allstreets practice --export results.csv

    Keys: 1 to 9 take an action, and so do f, x, c, b, r, a; h is a hint, q ends.
    docs/practice.md says more.
    """
    from allstreets.base import InputError
    from allstreets.storage import mirrored
    from allstreets.study import Results, Session, Wanted, default_file, load_playable, parse_seat

    wanted = Wanted.parse(
        street or (), pot or (), line, flop_suits or (), flop_pairing or (), flop_high or ()
    )
    player = parse_seat(seat)
    folder = None if folder is None else mirrored(folder)
    results, out = Results(file or default_file()), console(stderr=json)
    if stats:
        _show_stats(out, results, folder, json)
    if export is not None:
        _export(out, results, folder, export)
    if anki is not None:
        _export_anki(out, results, folder, wanted, anki)
    if delete:
        _delete(out, results)
    if stats or export is not None or anki is not None or delete:
        return
    if folder is None:
        raise InputError("name a solution: allstreets practice DIR; or show results with --stats")

    def announce(flop: str) -> None:
        out.print(f"Drafting {flop} …", style="dim")

    solution = load_playable(folder, drafts=drafts, announce=announce)
    session = Session(solution, player, wanted, seed, results)
    _play(out, session, hands, not no_grid)
    if json:
        figures = {"seed": session.seed, "hands": session.played}
        print_json({**figures, **session.summary().mapping()})


def _play(out: "Console", session: "Session", hands: int, grid: bool) -> None:
    """Play hands until there are enough, or no more keys; results are kept in any case."""
    from allstreets.base import INTERRUPTED
    from allstreets.cli.practice import play_hand, print_begin, print_summary
    from allstreets.cli.terminal.streams import key_reader

    interrupted = False
    print_begin(out, session)
    with key_reader() as read_key:
        try:
            for _ in range(hands):
                if not play_hand(out, session, read_key, grid):
                    break
        except KeyboardInterrupt:
            interrupted = True
    print_summary(out, session)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _kept(results: "Results", folder: Path | None) -> "list[StoredAnswer]":
    """Stored answers: those of `folder` if it is given, or else all."""
    return results.answers(None if folder is None else folder.resolve())


def _show_stats(out: "Console", results: "Results", folder: Path | None, json: bool) -> None:
    from allstreets.cli.practice import print_stats
    from allstreets.study import stats_mapping

    stored = _kept(results, folder)
    print_stats(out, results, stored)
    if json:
        print_json(stats_mapping(stored))


def _export(out: "Console", results: "Results", folder: Path | None, path: Path) -> None:
    from allstreets.study import export

    stored = _kept(results, folder)
    export(stored, path)
    out.print(f"{len(stored):,} decisions written to {path}", soft_wrap=True)


def _export_anki(
    out: "Console", results: "Results", folder: Path | None, wanted: "Wanted", path: Path
) -> None:
    from allstreets.study import chosen, export_anki

    count = export_anki(chosen(_kept(results, folder), wanted), path)
    out.print(f"{count:,} cards written to {path}", soft_wrap=True)


def _delete(out: "Console", results: "Results") -> None:
    from allstreets.base import printable

    hands, _ = results.counts()
    typer.confirm(f"Delete {hands:,} hands in {printable(str(results.path))}?", abort=True)
    results.delete()
    out.print("Deleted.")


def print_begin(out: "Console", session: "Session") -> None:
    """Print the game and the settings of a session."""
    from allstreets.study import practice_note

    solution = session.solution
    out.print(f"{solution.name}, seed {session.seed}")
    note = practice_note(solution)
    if note:
        out.print(f"{note[0].upper()}{note[1:]}.", soft_wrap=True)


def play_hand(out: "Console", session: "Session", read_key: Callable[[], str], grid: bool) -> bool:
    """One hand to its end; False: the player has had enough."""
    hand = session.deal()
    back = "   (missed before)" if hand.repeated else ""
    out.print(f"\n─── hand {session.hands}{back} ───")
    while (asked := hand.question) is not None:
        print_question(out, hand, asked)
        hint = session.hint()
        if hint:
            out.print(f"{HINT} shows a hint")
        action = read_action(out, asked.actions, read_key, hint)
        if action is None:
            return False
        print_answer(out, session.answer(action), asked, grid)
    print_end(out, hand)
    return True


def read_action(
    out: "Console", actions: Sequence[str], read_key: Callable[[], str], hint: str = ""
) -> int | None:
    """The action of the next key that stands for one; None: the player quits."""
    while key := read_key():
        key = key.lower()
        if key == HINT and hint:
            out.print(hint)
            continue
        if key == QUIT or key in END_OF_KEYS:
            return None
        action = action_of_key(key, actions)
        if action is not None:
            return action
        out.print(f"{key}: press 1 to {len(actions)}, or {QUIT} to end")
    return None


def action_of_key(key: str, actions: Sequence[str]) -> int | None:
    """The action that a number or a letter stands for; letters only where one action has it.

    >>> [action_of_key(key, ["f", "c", "r7.5", "r12"]) for key in "14cr9x"]
    [0, 3, 1, None, None, None]
    """
    if key.isdecimal():
        return int(key) - 1 if 1 <= int(key) <= len(actions) else None
    matches = [index for index, word in enumerate(actions) if word[0] == key]
    return matches[0] if len(matches) == 1 else None


def print_question(out: "Console", hand: "Hand", asked: "Question") -> None:
    """Print the state of the hand and the actions on offer."""
    from allstreets.cards import cards_text

    node = asked.node
    board = f" {cards_text(node.board)}" if node.board else ""
    hero, them = hand.seats[hand.player], hand.seats[hand.player.opponent]
    call = f", {asked.to_call_bb:.4g} to call" if asked.to_call_bb else ""
    mine, theirs = asked.stacks_bb[hand.player], asked.stacks_bb[hand.player.opponent]
    left = f"{mine:.4g} bb left, {them} {theirs:.4g}"
    out.print(f"\n{node.street.text}{board}   {node.words}")
    out.print(f"You are {hero} with ", end="")
    out.print(cards_text(asked.cards), style="bold", end="")
    out.print(f"   pot {asked.pot_bb:.4g} bb{call}; {left}")
    options = "   ".join(f"{number} {label}" for number, label in enumerate(asked.labels, start=1))
    out.print(options)


def print_answer(out: "Console", answer: "Answer", asked: "Question", grid: bool) -> None:
    """Print the solution's play of this hand, the loss, and the play of its range."""
    from allstreets.cli.terminal.decisions import mix_picture

    labels = dict(zip(asked.actions, asked.labels, strict=True))
    taken, best = labels[answer.taken], answer.best
    if answer.loss_bb is None:
        out.print(f"You: {taken}. Not graded: {answer.note}", soft_wrap=True)
    elif answer.missed:
        named = "" if best is None else f" Best: {labels[best.action]}."
        text = f"You: {taken}, {answer.loss_bb:.3f} bb lost.{named}"
        out.print(text, style="bold red")
    else:
        lost = f", {answer.loss_bb:.3f} bb lost" if answer.loss_bb >= 5e-4 else ""
        out.print(f"You: {taken}. Right{lost}.", style="bold green")
    if answer.note and answer.loss_bb is not None:
        out.print(answer.note, soft_wrap=True)
    table = plain_table("", "how often", "EV bb", numbers=slice(1, 3))
    for option, label in zip(answer.options, asked.labels, strict=False):
        mark = "►" if option.action == answer.taken else " "
        ev = "" if option.ev_bb is None else f"{round(option.ev_bb, 3) + 0.0:.3f}"
        table.add_row(f"{mark} {label}", percent(option.frequency, 1), ev)
    out.print(table)
    if grid:
        out.print(mix_picture(asked.decision))


def print_end(out: "Console", hand: "Hand") -> None:
    """Print the result, the opponent's hand, and the numbers that the solution drew."""
    end = hand.end
    assert end is not None
    out.print(f"\n{end.text}", soft_wrap=True)
    if end.how != "showdown":
        out.print(f"{hand.seats[hand.player.opponent]} had {end.theirs}.")
    for draw in hand.draws:
        out.print(f"  {draw_text(draw)}", style="dim", soft_wrap=True)


def draw_text(draw: "Draw") -> str:
    """A draw in words: "flop: BB check, drew 0.312 (check to 0.784, bet 50 % to 1)"."""
    ends, parts = 0.0, []
    for word, share in draw.mix:
        ends += share
        if share > 5e-4:
            parts.append(f"{word} to {min(ends, 1.0):.3g}")
    return f"{draw.street}: {draw.seat} {draw.action}, drew {draw.number:.3f} ({', '.join(parts)})"


def print_summary(out: "Console", session: "Session") -> None:
    """Print the totals of a session."""
    summary = session.summary()
    out.print(f"\n{session.played:,} hands, seed {session.seed}")
    print_totals(out, summary)
    if session.results is not None:
        _, waiting = session.results.counts()
        out.print(f"Kept in {session.results.path}", soft_wrap=True)
        if waiting:
            out.print(_waiting(waiting))


def print_totals(out: "Console", summary: "Summary") -> None:
    """Score, loss, leaks, worst decisions."""
    if summary.score is None or summary.loss_per_100 is None:
        out.print("No decision was graded.")
        return
    out.print(
        f"{summary.graded:,} decisions, {percent(summary.score, 0)} right; "
        f"{summary.loss_bb:.2f} bb lost, {summary.loss_per_100:.1f} per 100 decisions"
    )
    if summary.leaks:
        out.print("\nLeaks:")
        table = plain_table("lost bb", "times", "", numbers=slice(2))
        for leak in summary.leaks:
            table.add_row(f"{leak.loss_bb:.2f}", str(leak.times), leak.text)
        out.print(table)
        out.print("\nThe costliest decisions:")
        table = plain_table("lost bb", "cards", "line", "did", "best", numbers=slice(1))
        for answer in summary.worst:
            lost = f"{answer.loss_bb or 0.0:.2f}"
            table.add_row(lost, answer.cards, answer.words, answer.did, answer.better)
        out.print(table)


def print_stats(out: "Console", results: "Results", stored: "Sequence[StoredAnswer]") -> None:
    """Print all stored results, and their trend over time."""
    from allstreets.study import grouped, summarise

    hands, waiting = results.counts()
    out.print(f"{results.path}: {hands:,} hands", soft_wrap=True)
    print_totals(out, summarise(entry.answer for entry in stored))
    if not stored:
        return
    for by in ("street", "pot", "solution"):
        _print_groups(out, by, grouped(stored, by))
    _print_groups(out, "day", grouped(stored, "day")[-DAYS_SHOWN:])
    out.print(f"\n{_waiting(waiting)}")


def _waiting(count: int) -> str:
    return f"{count:,} decision{'s' * (count != 1)} will come back."


def _print_groups(out: "Console", title: str, rows: "list[tuple[str, Summary]]") -> None:
    table = plain_table(title, "decisions", "right", "bb per 100", "", numbers=slice(1, 4))
    most = max((row.loss_per_100 or 0.0 for _, row in rows), default=0.0)
    for name, row in rows:
        lost = row.loss_per_100 or 0.0
        bar = "█" * round(BAR * lost / most) if most else ""
        right = "" if row.score is None else percent(row.score, 0)
        table.add_row(name, f"{row.decisions:,}", right, f"{lost:.1f}", bar)
    out.print()
    out.print(table)
