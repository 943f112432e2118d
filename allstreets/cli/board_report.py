"""allstreets report --by: a decision on many boards, by texture, category or hand."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from allstreets.analysis import HAND_KEYS, BoardReport, ReportRow
from allstreets.base import require_parquet, write_csv, write_parquet
from allstreets.cli.terminal.output import console, number, percent, print_csv, print_json
from allstreets.jobs import Progress, show_progress
from allstreets.solutions import without_nan
from allstreets.storage import board_report, boards_of

SHOWN_ROWS = 200
BAR = 20  # letters of the longest bar
MANY = 50  # boards from which on they are counted while they are read


def report_boards(
    folder: Path,
    line: str,
    key: str,
    *,
    sort: str | None,
    form: str,
    csv: Path | None,
    parquet: Path | None,
    pio: Path | None,
    spr: float | None,
    name: str | None,
    whole_hand: bool,
) -> None:
    """Print the table of `allstreets report --by`; `form` is text, json or csv."""
    if parquet is not None:
        require_parquet()
    decisions = 0 if pio is None else _export(folder, line, pio, spr=spr, name=name)
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
        _print(console(), report, key, rows)
        for path in (csv, parquet):
            if path is not None:
                console().print(f"Table: {path}")
        if pio is not None:
            console().print(f"Reports for PioViewer on {decisions:,} decisions: {pio}")


def _export(folder: Path, line: str, pio: Path, *, spr: float | None, name: str | None) -> int:
    """Write PioViewer's folders; returns the number of decisions."""
    from allstreets.interop import export_report

    with _counting() as count:
        return export_report(boards_of(folder, line, spr=spr, name=name), pio, count)


@contextmanager
def _counting() -> "Iterator[Callable[[int, int], None]]":
    """Tells how many boards are read, where they are many."""
    with ExitStack() as stack:
        draw: Callable[[Progress], None] | None = None

        def count(done: int, total: int) -> None:
            nonlocal draw
            if total >= MANY:
                draw = draw or stack.enter_context(show_progress())
                draw(Progress(things="boards", done=done, total=total, seconds=0))

        yield count


def _print(out: Console, report: BoardReport, key: str, rows: "list[ReportRow]") -> None:
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
        "of hands: of those that get here on all boards; then how often each action is taken. "
        f"EVs in {unit} {report.counted}."
    )
