"""Output: results go to stdout, progress to stderr; --json: one object, last on stdout."""

import json
import math
import shlex
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from allstreets.base import Place


UNSAVED = 2  # exit codes: a solution that is not saved, a folder that cannot be used

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")
]
ThreadsOption = Annotated[
    int | None, typer.Option(min=1, help="Threads to use.  [default: every core]")
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Continue the run in --output.")]


def written_path(text: str) -> Path:
    """The parser of options and arguments that name a file or a folder to write to."""
    _require_named(text)
    if "://" in text:
        raise typer.BadParameter(
            f"{text} is remote, and this command writes to this machine: name a local file or "
            "folder, and copy that. Only train --cluster writes to URLs."
        )
    return Path(text)


def written(help: str, *names: str) -> Any:
    """An option that names a file or a folder to write to."""
    return typer.Option(*names, parser=written_path, metavar="<Path>", help=help)


def written_place(text: str) -> str:
    """The same where URLs are written to as well."""
    _require_named(text)
    return text


def _require_named(text: str) -> None:
    if not text.strip():
        raise typer.BadParameter("the name is empty: name a file or a folder")


def command(*words: "str | Place") -> str:
    """A command that can be typed: by the path of this program if its name is not on the PATH.

    `make run` runs it from an environment that a newcomer's shell does not search.
    """
    from allstreets.storage import origin

    called = Path(sys.argv[0])
    known = shutil.which("allstreets") is not None or called.name != "allstreets"
    texts = [origin(word) if isinstance(word, Path) else str(word) for word in words]
    return " ".join(_quoted(text) for text in ("allstreets" if known else str(called), *texts))


def _quoted(word: str) -> str:
    """A word quoted for a shell; with double quotes where they suffice: every shell knows them."""
    quoted = shlex.quote(word)
    return f'"{word}"' if quoted == f"'{word}'" and not set(word) & set('"$`\\!') else quoted


def console(*, stderr: bool = False) -> "Console":
    """A console that shows users' texts literally; plain text without a terminal."""
    from allstreets.base import PlainConsole

    made = PlainConsole(stderr=stderr)
    # Output for programs is not wrapped.
    return made if made.is_terminal else PlainConsole(stderr=stderr, width=10_000)


def plain_table(*columns: str, numbers: slice = slice(0)) -> "Table":
    """A table without lines, in which columns of `numbers` are right-aligned."""
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False)
    for column in table.columns[numbers]:
        column.justify = "right"
    return table


def number(value: float, digits: int = 3, width: int = 0, sign: str = "") -> str:
    """A number, right-aligned in `width` letters; zero after rounding has no minus, NaN is a dash.

    >>> number(-0.00001), number(0.25, 2, sign="+"), number(math.nan, width=3)
    ('0.000', '+0.25', '  –')
    """
    if math.isnan(value):
        return f"{'–':>{width}}"
    return f"{round(value, digits) + 0.0:>{sign}{width}.{digits}f}"


def percent(share: float, digits: int = 2, width: int = 0, sign: str = "") -> str:
    """A share in per cent, as `number` has it.

    >>> percent(0.125), percent(-0.00001, 1), percent(0.5, 0, width=7), percent(math.nan)
    ('12.50 %', '0.0 %', '   50 %', '–')
    """
    if math.isnan(share):
        return number(share, width=width)
    return f"{number(100 * share, digits, max(width - 2, 0), sign)} %"


def print_lines(out: "Console", lines: Iterable[str]) -> None:
    """Lines of text as they are: a narrow terminal wraps them itself."""
    for line in lines:
        out.print(line, soft_wrap=True)


def print_looks(out: "Console", folder: "Place", *where: str) -> None:
    """Print how to open the solution; a flop beside its whole game is explored with the game."""
    game = folder.parent.parent
    beside = folder.parent.name == "spots" and (game / "manifest.json").exists()
    opened = game if beside else folder
    report, explore = command("report", folder, *where), command("explore", opened)
    print_lines(out, [f"Look further: {report}", f"In the browser: {explore}"])


def print_csv(rows: list[dict[str, Any]]) -> None:
    """Rows that share their keys as CSV on stdout; missing values are empty."""
    from allstreets.base import write_csv_rows

    write_csv_rows(sys.stdout, list(rows[0]) if rows else ["combo"], rows, line_end="\r\n")


def print_json(figures: dict[str, Any]) -> None:
    """One JSON object on one line; numbers that do not exist become null, never NaN."""
    typer.echo(json.dumps(figures, allow_nan=False))
