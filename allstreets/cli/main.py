"""The `allstreets` command: its subcommands, and how errors are reported.

Exit codes: 0 success, 2 bad input, 1 a bug of ours, 130 Ctrl-C (and SIGTERM or SIGHUP to a run).
Subcommands import their tools when they run, so that help and completion answer immediately.
"""

import gc
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache, wraps
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from allstreets.base import INTERRUPTED, InputError, clean_message, ends_by_signals, shortened
from allstreets.cli.certify import certify
from allstreets.cli.compare import compare
from allstreets.cli.config import app as config
from allstreets.cli.export import chart, export, import_tree
from allstreets.cli.flops import flops
from allstreets.cli.library import app as library
from allstreets.cli.lock import lock
from allstreets.cli.machine import compile_kernels, devices
from allstreets.cli.play import match, play
from allstreets.cli.practice import practice
from allstreets.cli.range import equity, show_range
from allstreets.cli.report import report
from allstreets.cli.review import review
from allstreets.cli.servers import explore, mcp, upi
from allstreets.cli.simplify import simplify
from allstreets.cli.solve import solve
from allstreets.cli.terminal.streams import give_up_output, output_fault, prepare_streams
from allstreets.cli.toy import toy
from allstreets.cli.train import train, tree
from allstreets.version import __version__

DEBUG_VARIABLE = "ALLSTREETS_DEBUG"
NAME_SHOWN = 60  # characters of a file's name in a message
IMPORTED_OBJECTS = 50_000  # that are made before Python collects garbage

app = typer.Typer(
    name="allstreets",
    help="Heads-up no-limit hold'em solved as one game, preflop through river.",
    epilog="Each command has its own help, with examples: allstreets equity --help",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _keeps(subcommand: Callable[..., None]) -> Callable[..., None]:
    """A subcommand that may have unsaved state from its first line on."""

    @wraps(subcommand)
    def run(*arguments: Any, **options: Any) -> None:
        with ends_by_signals():
            subcommand(*arguments, **options)

    return run


def _add(name: str, subcommand: Callable[..., None], short_help: str) -> None:
    """Add a subcommand, with its line in the list of all: short enough for a narrow terminal."""
    app.command(name, short_help=short_help)(subcommand)


# Look at solutions, and study.
_add("report", report, "Show a decision: who acts, how often, and what it is worth")
_add("chart", chart, "Write posters of the decisions before the flop")
_add("explore", explore, "View solutions in the browser, and solve spots there")
_add("practice", practice, "Play hands against a solution, and see what mistakes cost")
_add("review", _keeps(review), "Grade played hands: what every action was worth")
_add("compare", compare, "Compare two solutions: frequencies, values, who gains")
app.add_typer(library, name="library", short_help="List ready-made solutions, or build some")

# Solve.
_add("solve", _keeps(solve), "Solve spots: equilibrium strategies from a flop, turn or river")
_add("train", _keeps(train), "Solve a whole game, preflop through river")
_add("certify", _keeps(certify), "Measure how exploitable a whole game is with real cards")
_add("lock", _keeps(lock), "Lock a decision, solve again around it, and compare")
_add("simplify", simplify, "Make strategies simple, and measure what that costs")

# Ranges, flops and trees.
app.command(
    "equity",
    short_help="Equity of one range against another, exactly",
    context_settings={"allow_extra_args": True},
)(equity)
_add("range", show_range, "Show a range, or convert it")
_add("flops", flops, "List the 1,755 distinct flops, or choose some to stand for all")
_add("tree", tree, "Draw the preflop tree of a training file")

# Other programs.
_add("export", export, "Write the ranges before the flop to files for other programs")
_add("import", import_tree, "Read a preflop tree of Holdem Resources Calculator (HRC)")
_add("upi", upi, "Let programs written for PioSOLVER drive this solver")
_add("mcp", mcp, "Serve solutions to agents (Model Context Protocol)")
_add("play", play, "Play a solution at a table: an ACPC dealer's, or a server's")
_add("match", _keeps(match), "Play two solutions against each other")

# Settings, and this machine.
app.add_typer(config, name="config", short_help="Print schemas of config files, or make some")
_add("devices", devices, "List the processors and GPUs of this machine")
_add("compile", compile_kernels, "Compile kernels ahead of time")
_add("toy", _keeps(toy), "Solve Kuhn or Leduc poker, or a game of OpenSpiel")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"allstreets {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Heads-up no-limit hold'em solved as one game, preflop through river."""
    del version  # its callback has done the work
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _with_hints(error: InputError) -> str:
    """The message of an error; after a final colon come lines that were perhaps meant."""
    lines = [f"'{line}'" for _, line in getattr(error, "hints", ())]
    return f"{error} {', '.join(lines)}" if str(error).endswith(":") and lines else str(error)


@cache
def _command() -> Any:
    """All verbs with their options, read once in a process however many commands it runs."""
    return typer.main.get_command(app)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    warnings.showwarning = _show_warning
    prepare_streams()
    try:
        code = _command()(args=arguments, prog_name="allstreets", standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        return _complain(error.format_message(), _help_hint(error))
    except InputError as error:
        return _complain(_with_hints(error))
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("\nStopped.\n")
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        give_up_output()
        return 0
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):  # as Typer raises it
            raise
        give_up_output()
        return 0
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        if isinstance(error, OSError):
            return _complain(_system_fault(error))
        if isinstance(error, MemoryError):
            return _complain("not enough memory; make the job smaller")
        sys.stderr.write(
            f"Internal error: {type(error).__name__}: {clean_message(str(error))}\n"
            f"This is a bug in allstreets; {DEBUG_VARIABLE}=1 shows where it happened.\n"
        )
        return 1
    return code if isinstance(code, int) else 0


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Warnings are for users: one line, without the place in our code that raised them."""
    sys.stderr.write(f"Warning: {clean_message(str(message))}\n")


def _complain(message: str, hint: str = "") -> int:
    sys.stderr.write(f"Error: {clean_message(message)}\n{hint}")
    return 2


def _system_fault(error: OSError) -> str:
    """The operation that the system refused: writing to standard output, or using a path."""
    reason = error.strerror or str(error)
    if error.filename is None:
        if (output := output_fault()) is not None:
            give_up_output()
            return f"cannot write to standard output: {output.strerror}"
        return f"the system refused: {reason}; check the free space on disk and in memory"
    name = os.fsdecode(error.filename) if isinstance(error.filename, bytes) else str(error.filename)
    return f"cannot use {shortened(name, NAME_SHOWN)}: {reason}; name another file or folder"


def _help_hint(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"See: {context.command_path} --help\n" if context else ""


def run() -> None:
    """The entry point of the installed command."""
    # Importing makes many objects and no garbage; collecting it is a tenth of a short command.
    gc.set_threshold(IMPORTED_OBJECTS)
    code = main()
    # Else Python would search everything imported for garbage, several times, before it ends.
    gc.freeze()
    sys.exit(code)
