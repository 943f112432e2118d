"""allstreets report: any decision of a solution, and tables over flops."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from allstreets.base import InputError
from allstreets.cli.terminal.output import (
    JsonOption,
    command,
    console,
    number,
    percent,
    print_csv,
    print_json,
    print_lines,
    written,
)

if TYPE_CHECKING:
    from rich.console import Console

    from allstreets.analysis import BoardReport, ReportRow
    from allstreets.games import Spot
    from allstreets.solutions import Announce, Decision, Node

SHOWN_ROWS = 200
BAR = 20  # letters of the longest bar
MANY = 50  # from this number on, boards are counted while they are read

HOLDS = {
    "boards": "many boards",
    "spot": "a spot",
    "postflop": "a model of flops",
    "preflop": "a preflop or whole game",
    "unified": "a preflop or whole game",
}
NOT_FOR = {
    "boards": ("flop", "chart", "behind"),
    "spot": ("flop", "spr", "parquet", "flops"),
    "postflop": ("combos", "behind"),
    "preflop": ("spr", "behind"),
    "unified": ("spr", "behind"),
    "flops": ("flop", "chart", "combos"),
}
"""Options that have no meaning for a kind of solution, or for the table over flops."""


By = Literal[
    "board", "texture", "suits", "pairing", "high", "connected", "category", "draw", "hand"
]


ReportFormat = Literal["text", "json", "csv"]


EvsFrom = Literal["here", "hand"]


def report(
    solution: Annotated[
        str,
        typer.Argument(
            metavar="SOLUTION",
            help="A folder written by allstreets solve or allstreets train, or its URL; or a name "
            "in allstreets library.",
        ),
    ],
    line: Annotated[
        str,
        typer.Option("--line", "-l", help="The line to the decision.  [default: the first one]"),
    ] = "",
    form: Annotated[
        ReportFormat, typer.Option("--format", "-f", help="csv: one line per combo, hand or flop.")
    ] = "text",
    combos: Annotated[
        bool, typer.Option("--combos", help="Add a table by combo, if hands are combos.")
    ] = False,
    evs: Annotated[
        EvsFrom,
        typer.Option(help="here: from this decision on, folding is 0; hand: the whole hand."),
    ] = "here",
    flop: Annotated[str | None, typer.Option(help="One flop, with any suits: AhKd7s.")] = None,
    spr: Annotated[
        float | None, typer.Option(help="The stack-to-pot ratio, if there are several.")
    ] = None,
    flops: Annotated[
        bool, typer.Option("--flops", help="A table over flops; with --line, of that decision.")
    ] = False,
    by: Annotated[
        By | None,
        typer.Option("--by", help="The decision over all boards, grouped by this."),
    ] = None,
    sort: Annotated[
        str | None, typer.Option(help="With --by: a column, largest first: ev, share, x, …")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="With --by: the spot, if the folder has several.")
    ] = None,
    behind: Annotated[
        bool, typer.Option("--behind", help="Solve an unreached line of a spot separately.")
    ] = False,
    chart: Annotated[Path | None, written("Draw the decision to an .svg or .png.")] = None,
    csv: Annotated[Path | None, written("With --by: write the table to this file.")] = None,
    parquet: Annotated[Path | None, written("Write the table over flops to this file.")] = None,
    pio: Annotated[
        Path | None, written("With --by: folders of PioViewer's reports, of all flop decisions.")
    ] = None,
    turns: Annotated[
        bool, typer.Option("--turns", help="With --pio: decisions on the turn too, card by card.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show a decision of a solution: the player, the frequency and the EV of each action.

    \b
    Examples:
      allstreets report solved/
      allstreets report pf-10bb --line a
      allstreets report solved/ --line "x b33% c | 7h | x" --combos
      allstreets report solved/ --line "b50" --format csv > facing_a_bet.csv
      allstreets report solved/ --line "x b50%" --behind
      allstreets report models/
      allstreets report models/ --format csv > flops.csv
      allstreets report models/ --line "spr3.5 | AhKd7s | x b50%"
      allstreets report game/ --line "r2.5" --chart bb.svg
      allstreets report game/ --line "r2.5" --evs hand
      allstreets report game/ --line "r2.5 c | x b50%" --flop AhKd7s
      allstreets report game/ --line "r2.5 c | AhKd7s | x x | 5c | x" --combos
      allstreets report game/ --line "r2.5 c | x" --flops --format csv > flops.csv
      allstreets report game/ --line "r2.5 c | x" --by texture --sort ev
      allstreets report flops/ --line "x" --by category --csv categories.csv
      allstreets report game/ --line "r2.5 c" --by texture --pio viewer/

    Lines: x check, c call, f fold, a all-in, b33% or b50 (chips), r60% or r120 (to), | 7h | a card.
    In whole games amounts are in bb: r2.5 raises to 2.5 bb, and a bar separates the streets; with
    cards: boards the turn and river cards are between bars, as in a spot.
    EVs count from here on: folding is 0, and both EVs sum to the pot less rake.
    """
    from allstreets.storage import folder_kind, mirrored

    folder = mirrored(solution)
    form = "json" if json else form
    kind = folder_kind(folder)
    many = by is not None or kind == "spots"
    given: dict[str, Any] = {"flop": flop, "spr": spr, "chart": chart, "parquet": parquet}
    given |= {"combos": combos, "flops": flops, "behind": behind}
    _refuse("boards" if many else kind, folder, given)
    if many:
        _report_boards(
            folder,
            line,
            by or "board",
            sort=sort,
            form=form,
            csv=csv,
            parquet=parquet,
            pio=pio,
            turns=turns,
            spr=spr,
            name=name,
            whole_hand=evs == "hand",
        )
        return
    _need_by(sort=sort, name=name, csv=csv, pio=pio, turns=turns or None)
    if chart is not None:
        from allstreets.jobs import check_plot_path

        check_plot_path(chart)
    asked = kind == "spot" or any((line, flop, chart, combos))
    if flops or parquet is not None or (form == "csv" and not asked):
        _refuse("flops", folder, given)
        _report_table(folder, line, spr, form, parquet)
    elif asked:
        node, decision, remarks = _decision(folder, kind, line, flop, spr, behind=behind)
        decision = decision.whole_hand() if evs == "hand" else decision
        _report_decision(node, decision, remarks, form, chart, combos=combos)
        if kind == "spot" and not (decision.reached or behind or form != "text"):
            way = command("report", folder, "--line", line, "--behind")
            console().print(f"\nTo solve this line separately: {way}", soft_wrap=True)
    else:
        _report_overview(folder, spr, form)


def _decision(
    folder: Path, kind: str, line: str, flop: str | None, spr: float | None, *, behind: bool
) -> "tuple[Node, Decision, list[str]]":
    """The requested node, its numbers, and remarks to print before them."""
    # A stored spot is shown without loading kernels.
    if kind != "spot":
        from allstreets.solutions import NotStoredError, WholeSolution
        from allstreets.storage import load

        whole = load(folder, WholeSolution)
        try:
            node = whole.at(line if spr is None else whole.with_ratio(line, spr), flop)
            return node, node.decision, node.remarks
        except NotStoredError as error:
            before, *dealt = (part.strip() for part in line.split("|"))
            board = flop or (dealt[0] if len(dealt) > 1 else "…")
            solve = command("solve", "--from", folder, "--line", before, "--flop", board, "--draft")
            raise InputError(f"{error}, in seconds: {solve}") from None
    from allstreets.storage import load_spot

    spot = load_spot(folder, _announced("was not saved: solving it again"))
    node = spot.at(line)
    remarks = node.remarks
    if spot.origin is not None and node.parent is None:
        from allstreets.solutions import Origin, origin_lines

        remarks = [*origin_lines(Origin.read(spot.origin), spot.exploitability), "", *remarks]
    if not behind:
        return node, node.decision, remarks
    from allstreets.solutions import solve_behind

    announce = _announced("is not reached: solving it separately")
    return node, solve_behind(spot, node.line, announce=announce).node(node.line), remarks


def _report_decision(
    node: "Node",
    decision: "Decision",
    remarks: list[str],
    form: ReportFormat,
    chart: Path | None,
    *,
    combos: bool,
) -> None:
    from allstreets.cli.terminal.decisions import print_combos, print_head, print_mix
    from allstreets.solutions import node_report, reached_rows, without_nan

    if combos and not decision.by_combo:
        raise InputError(
            "--combos has no meaning here: hands are the 169 classes; they are combos after the "
            "flop with cards: exact or boards, and on flops that were solved exactly"
        )
    if chart is not None:
        from allstreets.jobs import plot_chart
        from allstreets.solutions import node_chart

        plot_chart(chart, node_chart(node.solution, decision))
    if form == "json":
        print_json({**without_nan(node.flop_figures), **node_report(decision)})
        return
    if form == "csv":
        print_csv(reached_rows(decision))
        return
    out = console()
    print_lines(out, remarks)
    print_head(out, decision)
    print_mix(out, decision)
    if decision.reached and not decision.known:
        out.print("EVs are unknown here.")
    if combos:
        print_combos(out, decision)
    if chart is not None:
        out.print(f"Chart: {chart}")


def _report_overview(folder: Path, spr: float | None, form: ReportFormat) -> None:
    """Report the solution and its quality, the first decisions, and where to look next."""
    from allstreets.cli.terminal.decisions import print_opening
    from allstreets.jobs import solution_mapping, summary_lines
    from allstreets.solutions import WholeSolution
    from allstreets.storage import load

    result = load(folder, WholeSolution)
    if form == "json":
        print_json(solution_mapping(result, spr))
        return
    out = console()
    for text in (result.facts.name, result.facts.description, *summary_lines(result, spr)):
        if text is not None:
            out.print(text)
    if result.unit.name == "bb":
        print_opening(out, result)
    opening, seen = result.opening_lines(), result.flop_lines() if result.has_flops else []
    ways = []
    if seen:
        first = result.flops_at(result.read(seen[0]))[0].flop.text
        ways.append(["--line", seen[0], "--flop", first])
    ways += [["--line", opening[-1], "--chart", "chart.svg"]] if opening else []
    sees_flops = not result.is_game or bool(result.game.pots)
    ways += [["--flops"]] if result.below is not None and sees_flops else []
    out.print()
    for way in ways:
        out.print(command("report", folder, *way), soft_wrap=True)


def _report_table(
    folder: Path, line: str, spr: float | None, form: ReportFormat, parquet: Path | None
) -> None:
    """The table over flops, or that of a decision on every flop."""
    from allstreets.jobs import table_lines
    from allstreets.solutions import WholeSolution, without_nan
    from allstreets.storage import load

    result = load(folder, WholeSolution)
    rows = result.flop_table(result.with_ratio(line, spr)) if line else result.rows_at(spr)
    if parquet is not None:
        from allstreets.base import write_parquet

        write_parquet(parquet, rows)
    elif form == "csv":
        print_csv(rows)
    elif form == "json":
        print_json({"line": line or None, "flops": [without_nan(row) for row in rows]})
    else:
        console().print("\n".join(table_lines(rows)))


def _report_boards(
    folder: Path,
    line: str,
    key: str,
    *,
    sort: str | None,
    form: ReportFormat,
    csv: Path | None,
    parquet: Path | None,
    pio: Path | None,
    turns: bool,
    spr: float | None,
    name: str | None,
    whole_hand: bool,
) -> None:
    """Print the decision on many boards, by texture, category or hand."""
    from allstreets.base import require_parquet, write_csv, write_parquet
    from allstreets.solutions import without_nan
    from allstreets.storage import board_report

    if parquet is not None:
        require_parquet()
    decisions = 0
    if turns and pio is None:
        raise InputError("--turns is for the folders of PioViewer's reports: add --pio DIR")
    if pio is not None:
        decisions = _export_for_pio(folder, line, pio, turns=turns, spr=spr, name=name)
    with _counting() as count:
        report = board_report(
            folder, line, spr=spr, name=name, whole_hand=whole_hand, progress=count
        )
    rows = report.by(key)
    table = report.table(key)
    if sort is not None:
        order = [id(row) for row in report.sorted(rows, sort)]
        places = [order.index(id(row)) for row in rows]
        table = [cells for _, cells in sorted(zip(places, table, strict=True), key=lambda p: p[0])]
        rows = report.sorted(rows, sort)
    if csv is not None:
        write_csv(csv, table)
    if parquet is not None:
        write_parquet(parquet, [without_nan(cells) for cells in table])
    if form == "csv":
        print_csv(table)
    elif form == "json":
        print_json(
            {
                "line": line,
                "by": key,
                "player": report.unit.seats[report.player],
                "unit": report.unit.name,
                "evs": report.counted,
                "actions": list(report.actions),
                "total": without_nan(report.cells(report.total)),
                "rows": [without_nan(cells) for cells in table],
            }
        )
    else:
        _print_boards(console(), report, key, rows)
        for path in (csv, parquet):
            if path is not None:
                console().print(f"Table: {path}")
        if pio is not None:
            console().print(f"Reports for PioViewer on {decisions:,} decisions: {pio}")


def _export_for_pio(
    folder: Path, line: str, pio: Path, *, turns: bool, spr: float | None, name: str | None
) -> int:
    """Write PioViewer's folders; returns the number of decisions."""
    from allstreets.interop import export_report
    from allstreets.storage import boards_of

    with _counting() as count:
        boards = boards_of(folder, line, spr=spr, name=name)
        return export_report(boards, pio, count, turns=turns)


@contextmanager
def _counting() -> "Iterator[Callable[[int, int], None]]":
    """Reports the number of boards read, where they are many."""
    from allstreets.jobs import Progress, show_progress

    with ExitStack() as stack:
        draw: Callable[[Progress], None] | None = None

        def count(done: int, total: int) -> None:
            nonlocal draw
            if total >= MANY:
                draw = draw or stack.enter_context(show_progress())
                draw(Progress(noun="boards", done=done, total=total, seconds=0))

        yield count


def _print_boards(out: "Console", report: "BoardReport", key: str, rows: "list[ReportRow]") -> None:
    from allstreets.analysis import HAND_KEYS

    seats, unit = report.unit.seats, report.unit.name
    by_hand = key in HAND_KEYS
    players = [report.player] if by_hand else list(report.unit.order)
    words = list(report.actions)
    boards = report.total.boards
    out.print(
        f"{report.line.strip() or 'first decision'}   {seats[report.player]} to act, pot "
        f"{report.pot:g} {'' if unit == 'pot' else unit}   {boards:,} boards"
    )
    width = max(len(row.name) for row in [*rows, report.total]) + 2
    head = f"{key:{width}}" + ("" if by_hand or key == "board" else f"{'boards':>7}")
    head += f"{'of hands':>10}" + "".join(f"{word:>9}" for word in words)
    for what in ("EV", "equity", "EQR"):
        head += "".join(f"{f'{what} {seats[player]}':>12}" for player in players)
    out.print(f"\n{head}")
    longest = max(row.share for row in rows)
    for row in [*rows[:SHOWN_ROWS], report.total]:
        text = f"{row.name:{width}}"
        text += "" if by_hand or key == "board" else f"{row.boards:7,}"
        text += f"{percent(row.share, 1):>10}"
        text += "".join(f"{percent(chance, 1):>9}" for chance in row.frequencies)
        text += "".join(f"{number(row.evs[p]):>12}" for p in players)
        text += "".join(f"{percent(row.equities[p], 1):>12}" for p in players)
        text += "".join(f"{percent(row.eqrs[p], 0):>12}" for p in players)
        if row is not report.total and row.name != "all" and key != "board":
            text += "  " + "█" * round(BAR * row.share / longest)
        out.print(text)
    if len(rows) > SHOWN_ROWS:
        out.print(f"… and {len(rows) - SHOWN_ROWS:,} more: --csv FILE writes all")
    out.print(
        "of hands: share of those that get here on all boards; then the frequency of each action. "
        f"EVs in {unit} {report.counted}."
    )


def _refuse(kind: str, folder: Path, given: dict[str, Any]) -> None:
    """Refuse options that do not apply to the solution in a folder."""
    for name in NOT_FOR[kind]:
        if given[name] and kind == "flops":
            raise InputError(f"the table covers all flops: leave --{name} out")
        if given[name]:
            raise InputError(
                f"--{name} has no meaning here: {folder} contains {HOLDS[kind]}; leave it out"
            )


def _need_by(**options: Any) -> None:
    """Refuse options of reports over boards without --by."""
    for name, value in options.items():
        if value is not None:
            raise InputError(f"--{name} is for reports over boards: add --by board, texture, …")


def _announced(what: str) -> "Announce":
    """Announces on stderr that a line is being solved."""

    def announce(spot: "Spot", line: str, target: float) -> None:
        way = f"to {100 * target:.2g} % of its pot of {spot.pot} chips …"
        typer.echo(f"'{line}' {what} {way}", err=True)

    return announce
