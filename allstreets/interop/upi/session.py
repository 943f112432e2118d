"""PioSOLVER's text protocol (UPI): programs written for PioSOLVER drive this solver instead.

One command a line comes in, and its answer goes out, followed by the end string once one is set:

    set_end_string END         set_end_string ok! / END
    set_board QsJh2h           set_board ok! / END
    go                         go ok! / END, and later: SOLVER: stopped (required accuracy reached)
    show_strategy r:0          a line of 1,326 numbers for each child / END

A command without data answers `<command> ok!`. A command that fails answers with a line that begins
with ERROR, and the session continues. The solver trains in the background, and lines that begin
with `SOLVER:` come between two answers, never inside one.

`Session` reads, answers and solves. What the commands do to its `State` stands in files of their
own: `settings`, `building` (trees), `reading` (nodes and numbers) and `locking`.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

from allstreets.base import InputError, clean_message, decode_text, shorten
from allstreets.engines import CardModel
from allstreets.interop.upi.building import BUILDING
from allstreets.interop.upi.games import BOARDS
from allstreets.interop.upi.locking import LOCKING
from allstreets.interop.upi.reading import READING
from allstreets.interop.upi.settings import SETTINGS, Settings
from allstreets.interop.upi.solving import BackgroundSolve, Limits
from allstreets.interop.upi.state import Answer, Command, State
from allstreets.interop.upi.text import one_line, read_numbers, read_path
from allstreets.interop.upi.trees import Tree
from allstreets.version import __version__

BANNER = (
    f"allstreets {__version__} (speaks the UPI protocol)",
    "heads-up no-limit hold'em, solved as one game",
    "registered to everyone",
)
ALGORITHM = "auto,allstreets,discounted CFR with alternating updates"
MOST_SCRIPT_BYTES = 100_000_000
MOST_SCRIPTS = 8  # scripts that call scripts
LONGEST_BREAK = 3600.0  # seconds


class Session:
    """One client's session; `write` takes whole texts, from one thread at a time."""

    def __init__(self, write: Callable[[str], None], model: CardModel = BOARDS) -> None:
        """`model` is the card model of whole games."""
        self.state = State(model)
        self.solve: BackgroundSolve | None = None  # the last one
        self._write, self._lock = write, threading.Lock()
        self._file: Path | None = None  # that answers go to instead
        self._end: str | None = None
        self._starts: BackgroundSolve | None = None  # once `go` has been answered
        self._scripts = 0
        self._over = False

    # The loop.

    def run(self, commands: Iterable[str]) -> None:
        """Answer commands until `exit`, or until there are no more."""
        self._say(BANNER, end=False)
        try:
            for line in commands:
                self.execute(line)
                if self._over:
                    break
        finally:
            if self.solve is not None:
                self.solve.stop()

    def execute(self, line: str) -> None:
        """Answer one command; empty lines and comments have no answer."""
        answer = self._answer(line)
        if answer is not None:
            self._say(answer)
        self._start()

    def _start(self) -> None:
        if self._starts is not None:
            self._starts.start()
            self._starts = None

    def _say(self, lines: Sequence[str], *, end: bool = True) -> None:
        ending = [self._end] if end and self._end is not None else []
        text = "".join(f"{line}\n" for line in (*lines, *ending))
        with self._lock:
            if self._file is not None:
                try:
                    with self._file.open("a", encoding="utf-8") as file:
                        file.write(text)
                    return
                except OSError:  # a full disk must not end the session
                    self._file = None
            self._write(text)

    def _answer(self, line: str) -> Sequence[str] | None:
        text = line.strip()
        if not text or text.startswith("#"):
            return None
        name, _, rest = text.partition(" ")
        try:
            command = COMMANDS.get(name)
            if command is None:
                return [_unknown(name)]
            with self._turn(name):
                answer = command(self, rest.strip())
        except InputError as error:
            return [f"ERROR: {name}: {' '.join(str(error).split())}"]
        except OSError as error:
            return [f"ERROR: {name}: {error.strerror or 'the system refused'}"]
        except MemoryError:
            return [f"ERROR: {name}: not enough memory"]
        except Exception as error:  # a bug of ours must not end the client's session
            problem = " ".join(clean_message(f"{type(error).__name__}: {error}").split())
            return [f"ERROR: {name}: internal error, {problem}"]
        return [f"{name} ok!"] if answer is None else answer

    def _turn(self, name: str) -> AbstractContextManager[None]:
        """The moment when a command may run: now, or between two iterations of the solver."""
        if self.solve is None or name in AT_ONCE:
            return nullcontext()
        if not self.solve.runs:
            self.solve.wait()  # until it has said so
            return nullcontext()
        if name in ALONE:
            raise InputError("the solver is running: send stop or wait_for_solver first")
        return self.solve.resting()

    # The session itself.

    def exit(self, _: str) -> Answer:
        """exit: the solver stops, and the session ends."""
        self._over = True
        return None

    def set_end_string(self, rest: str) -> Answer:
        """set_end_string END."""
        self._end = one_line(rest) or None
        return None

    def reset_end_string(self, _: str) -> Answer:
        """reset_end_string: answers end without one."""
        self._end = None
        return None

    def redirect(self, rest: str) -> Answer:
        """stdoutredi FILE: this answer and all that follow go to a new file."""
        path = read_path(rest)
        path.write_bytes(b"")
        self._file = path
        return None

    def redirect_on(self, rest: str) -> Answer:
        """stdoutredi_append FILE: they go to the end of a file."""
        path = read_path(rest)
        path.open("ab").close()
        self._file = path
        return None

    def redirect_back(self, _: str) -> Answer:
        """stdoutback: answers go to standard output again."""
        self._file = None
        return None

    def load_script(self, rest: str) -> Answer:
        """load_script FILE: every command of a file, with its answers."""
        return [line for answer in self._script(rest) for line in answer]

    def load_script_silent(self, rest: str) -> Answer:
        """load_script_silent FILE: the same; only errors are answered."""
        answers = [line for answer in self._script(rest) for line in answer]
        return [line for line in answers if line.startswith("ERROR")] or None

    def _script(self, rest: str) -> list[Sequence[str]]:
        path = read_path(rest)
        if self._scripts >= MOST_SCRIPTS:
            raise InputError(f"scripts load scripts {MOST_SCRIPTS} deep: does one load itself?")
        with path.open("rb") as file:
            data = file.read(MOST_SCRIPT_BYTES + 1)
        if len(data) > MOST_SCRIPT_BYTES:
            raise InputError("the script is larger than 100 MB: is it the right file?")
        self._scripts += 1
        try:
            answers = []
            for line in decode_text(data, "the script").splitlines():
                if self._over:
                    break
                answers.append(self._answer(line) or ())
                self._start()  # so that the next command can wait for it
            return answers
        finally:
            self._scripts -= 1

    # Solving.

    def go(self, rest: str) -> Answer:
        """Go [N seconds|steps]: train in the background; a number alone counts steps."""
        state = self.state
        tree, limits = state.known(), self._limits(rest)
        solve = BackgroundSolve(
            tree.trainable(state.settings.threads),
            tree.exploitability,
            limits,
            tell=lambda line: self._say([line], end=False),
            report=lambda: self._say(["SOLVER:", *_results(tree)]),
            interval=state.settings.report_seconds,
        )
        tree.runs.append(solve)
        self.solve = self._starts = solve
        return None

    def _limits(self, rest: str) -> Limits:
        words, pot = rest.split(), self.state.known().pot
        value, unit = self.state.settings.target
        target = value / pot if unit == "chips" else value
        limits = Limits(target if target > 0 else -math.inf)  # 0: until it is stopped
        if not words:
            return limits
        unit = words[1].lower() if len(words) > 1 else "steps"
        (amount,) = read_numbers(words[0], 1)
        if unit not in ("seconds", "steps") or len(words) > 2:
            raise InputError("write go, go 30 seconds or go 100 steps")
        if unit == "seconds":
            return replace(limits, seconds=amount)
        return replace(limits, iterations=max(int(amount), 1))

    def stop(self, _: str) -> Answer:
        """Stop the solver after this iteration."""
        if self.solve is not None:
            self.solve.stop()
        return None

    def wait_for_solver(self, _: str) -> Answer:
        """wait_for_solver: answered when the solver has ended."""
        if self.solve is not None:
            self.solve.wait()
        return None

    def calc_results(self, _: str) -> Answer:
        """calc_results: EVs, and the winnings of best responses."""
        return _results(self.state.known())


def _results(tree: Tree) -> list[str]:
    results = tree.results()
    return [
        f"running time: {tree.seconds:.3f}",
        f"EV OOP: {results.evs[0]:.6g}",
        f"EV IP: {results.evs[1]:.6g}",
        f"OOP's MES: {results.best[0]:.6g}",
        f"IP's MES: {results.best[1]:.6g}",
        f"Exploitable for: {results.exploitable:.6g}",
    ]


def _take_a_break(rest: str) -> Answer:
    """take_a_break SECONDS: the next command waits."""
    (seconds,) = read_numbers(rest, 1)
    time.sleep(min(seconds, LONGEST_BREAK))
    return None


def _ok(session: Session, _: str) -> Answer:
    """Take a command that changes nothing here."""
    del session
    return None


def _say(answer: Callable[[str], Answer]) -> Callable[[Session, str], Answer]:
    return lambda _, rest: answer(rest)


def _set(change: Callable[[Settings, str], None]) -> Callable[[Session, str], Answer]:
    return lambda session, rest: change(session.state.settings, rest)


def _do(command: Command) -> Callable[[Session, str], Answer]:
    return lambda session, rest: command(session.state, rest)


COMMANDS: Mapping[str, Callable[[Session, str], Answer]] = {
    "is_ready": _ok,
    "exit": Session.exit,
    "set_end_string": Session.set_end_string,
    "reset_end_string": Session.reset_end_string,
    "echo": _say(lambda rest: [rest]),
    "show_version": _say(lambda _: [__version__]),
    "show_build_version": _say(lambda _: [__version__]),
    "load_script": Session.load_script,
    "load_script_silent": Session.load_script_silent,
    "stdoutredi": Session.redirect,
    "stdoutredi_append": Session.redirect_on,
    "stdoutback": Session.redirect_back,
    "take_a_break": _say(_take_a_break),
    "list_algorithms": _say(lambda _: [ALGORITHM]),
    "go": Session.go,
    "stop": Session.stop,
    "wait_for_solver": Session.wait_for_solver,
    "calc_results": Session.calc_results,
    **{name: _set(change) for name, change in SETTINGS.items()},
    **{
        name: _do(command)
        for commands in (BUILDING, READING, LOCKING)
        for name, command in commands.items()
    },
    # What they ask for is always so.
    "set_isomorphism": _ok,
    "set_recalc_accuracy": _ok,
    "set_always_recalc": _ok,
    "set_algorithm": _ok,
    "clear_cache": _ok,
    "load_all_nodes": _ok,
    "rebuild_forgotten_streets": _ok,
}
# Commands that a running solver does not disturb, and those that it forbids.
AT_ONCE = {
    *("is_ready", "exit", "set_end_string", "reset_end_string", "echo", "stop", "wait_for_solver"),
    *("show_version", "show_build_version", "show_memory", "show_settings", "is_tree_present"),
    *("show_hand_order", "show_preflop_order", "show_category_names", "show_categories"),
    *("set_info_freq", "set_accuracy", "load_script", "load_script_silent", "list_algorithms"),
    *("stdoutredi", "stdoutredi_append", "stdoutback", "take_a_break"),
}
ALONE = {
    *("go", "build_tree", "free_tree", "load_tree", "build_preflop_tree", "add_schematic_tree"),
    *("set_strategy", "lock_node", "combo_lock_node", "unlock_node"),
}
# Commands of PioSOLVER that have no counterpart yet.
LATER = {
    *("solve_partial", "solve_all_splits", "explo_partial", "forget", "cut_line"),
    *("eliminate_path", "round_up_to", "set_mes", "set_equal_strats", "small_strats"),
    *("set_first_iteration_player", "show_step", "change_step", "set_adjust_strat", "bench"),
    *("needed_memory", "normalize_tree", "ignore_mem_check"),
}


def _unknown(name: str) -> str:
    if name in LATER:
        return f"ERROR: {name} is not supported by allstreets yet"
    return f"ERROR: Command {shorten(name, 60)} not recognized"
