"""Pausing and stopping a job from outside: by signals, a server, a program or the end of a parent.

Ctrl-C, SIGTERM and SIGHUP are requests to stop: unsaved work is saved first. While nothing can be
lost (imports, compiling, dealing, printing) the first signal ends the program. Once a job holds
something that is not on disk:

1. the first signal is answered immediately, and asks the job to stop and save;
2. the second is answered too, and the save continues;
3. the third exits without saving, and says what is lost.

In our own commands no signal raises an exception where the program happens to be. Python drops
exceptions raised inside callbacks (when a module's lock is freed, when LLVM asks for a compiled
kernel): the run would continue as if no signal had come, or crash inside the compiler.

Python runs its handlers only when compiled code returns, and once for several signals. So signals
are counted through a socket that the interpreter writes to at once, and a thread answers: kernels
release the GIL.

A process that is killed cannot tell its children. But the system closes its end of the pipe that is
their standard input, on every platform, and a reader there notices (`listen_to_parent`).
"""

import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

INTERRUPTED = 130  # the exit code
LAST = 3  # the signal that exits, saved or not
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
HANGUP = getattr(signal, "SIGHUP", None)  # the terminal is gone; Windows has no such signal
SHOW_CURSOR = "\x1b[?25h"  # which a progress table hides


class Control:
    """Control of a job, which it checks and reports to between iterations; this one never stops it.

    `InterruptRequest` stops by signals, the explorer pauses and stops by commands of its server.
    """

    def wants_to_stop(self) -> bool:
        """Whether to save and end."""
        return False

    def is_paused(self) -> bool:
        """Whether to wait before the next iteration."""
        return False

    def wait_while_paused(self) -> None:
        """Return when the job may continue, or has to end."""

    def hold(self) -> None:
        """Mark that the job has unsaved work from now on."""

    def saved(self, iteration: int) -> None:
        """The job is saved up to this iteration."""


@dataclass(frozen=True)
class StopWhen(Control):
    """Stops a job when a function says so."""

    asked: Callable[[], bool]

    def wants_to_stop(self) -> bool:
        """Whether it says so."""
        return self.asked()


_program: "_Signals | None" = None  # those of the command that runs, if one does


class InterruptRequest(Control):
    """Whether a job should stop, and what would be lost if it ended right now."""

    def __init__(self, doing: str = "stopping", lost: str = "the result") -> None:
        """`doing`: what follows a request to stop, "saving to solved"; `lost` if it exits."""
        self.made = False
        self.doing, self.lost = doing, lost
        self.holds = False

    def wants_to_stop(self) -> bool:
        """Whether a signal has come."""
        return self.made

    def hold(self) -> None:
        """Mark that there is unsaved work from now on: signals wait for the save."""
        self.holds = True

    def saved(self, iteration: int) -> None:
        """The job is saved up to this iteration."""
        self.lost = f"what was solved after iteration {iteration:,}"


@contextmanager
def ends_by_signals() -> Iterator[None]:
    """Let signals end this process while a command runs, after a save if a job needs one."""
    global _program
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with _Signals(program=True) as signals:
        before, _program = _program, signals
        try:
            yield
        finally:
            _program = before


@contextmanager
def interrupt_request(
    doing: str = "stopping", lost: str = "the result"
) -> Iterator[InterruptRequest]:
    """The request to stop a job, from its start to the end of its last save.

    Outside our own commands, in a user's program or notebook, what would end the process raises
    `KeyboardInterrupt` instead. Only the main thread receives signals; in other threads
    the request is never made, and the main thread stays in charge.
    """
    request = InterruptRequest(doing, lost)
    if threading.current_thread() is not threading.main_thread():
        yield request
    elif _program is not None:
        with _program.serving(request):
            yield request
    else:
        with _Signals(program=False) as signals, signals.serving(request):
            yield request


class _Signals:
    """Our signal handlers, for a while; the previous ones are restored."""

    def __init__(self, *, program: bool) -> None:
        self._program = program
        self._request: InterruptRequest | None = None
        self._count = 0
        self._stopped = False  # a job has ended on request
        self._answers: list[str] = []
        self._raised: str | None = None  # what the main thread is to raise
        self._lock = threading.RLock()  # a handler may interrupt the main thread inside it
        self._before: dict[int, Any] = {}  # the previous handlers, by signal

    def __enter__(self) -> "_Signals":
        self._terminals = [number for number in (1, 2) if _is_terminal(number)]
        self._receiver, self._sender = socket.socketpair()
        self._receiver.setblocking(False)
        self._sender.setblocking(False)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        self._fd_before = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is signal.SIG_IGN and number != signal.SIGINT:
                continue  # nohup
            self._before[number] = before
            signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            # `before` is None when the handler was not installed from Python; then ours is dropped.
            signal.signal(number, before if before is not None else signal.SIG_DFL)
        signal.set_wakeup_fd(self._fd_before)
        self._sender.close()
        self._thread.join(5.0)  # it may wait for a terminal that blocks
        self._receiver.close()

    @contextmanager
    def serving(self, request: InterruptRequest) -> Iterator[None]:
        """Signals are meant for this job."""
        if self._stopped:
            raise KeyboardInterrupt  # meant for the job before it, which was about to end anyway
        before, self._request = self._request, request
        try:
            yield
        finally:
            self._stopped = request.made
            self._request = before

    def _handle(self, _: int, __: FrameType | None) -> None:
        self._take()
        with suppress(OSError):
            self._sender.send(b"\0")  # for the thread: there may be something to say
        text, self._raised = self._raised, None
        if text is not None:
            raise KeyboardInterrupt(text)

    def _listen(self) -> None:
        while True:
            select.select([self._receiver], [], [])
            is_open = self._take()
            while self._answers:
                with suppress(OSError, ValueError):  # a terminal that is gone, a closed file
                    # In one piece: the thread that exits immediately may write at this moment.
                    sys.stderr.write(f"{self._answers.pop(0)}\n")
                    sys.stderr.flush()
            if not is_open:
                return

    def _take(self) -> bool:
        """Count the signals that have come and act on them; return whether there may be more."""
        with self._lock:
            try:
                numbers = self._receiver.recv(4096)
            except OSError:  # the other thread was first
                return True
            for number in numbers:
                if number in self._before:
                    self._act(number)
            return bool(numbers)

    def _act(self, number: int) -> None:
        self._count += 1
        if number == HANGUP:
            self._let_go_of_terminals()
        request = self._request
        holds = request is not None and request.holds
        if request is not None:
            request.made = True
        if self._count >= LAST or not (holds or self._stopped):
            lost = request.lost if request is not None and holds else None
            self._leave("Stopped." if lost is None else f"Left at once: {lost} is lost.")
        elif request is not None and self._count == 1:
            doing = request.doing[:1].upper() + request.doing[1:]
            self._answers.append(f"\n{doing} …; Ctrl-C twice more leaves at once.")
        elif request is not None:
            self._answers.append(
                f"\nStill {request.doing} …; once more leaves at once, and {request.lost} is lost."
            )

    def _leave(self, text: str) -> None:
        if not self._program:
            self._raised = text
            return
        # Nothing is tidied up here: the next run removes half-written files, as it does after a
        # power cut. So leaving can never fail.
        cursor = SHOW_CURSOR if 2 in self._terminals else ""
        with suppress(OSError):
            os.write(2, f"{cursor}\n{text}\n".encode())
        os._exit(INTERRUPTED)

    def _let_go_of_terminals(self) -> None:
        """Writing to a terminal that is gone would fail in the middle of a save."""
        for number in self._terminals:
            if not _is_terminal(number):
                with suppress(OSError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _is_terminal(number: int) -> bool:
    try:
        return os.isatty(number)
    except OSError:
        return False


def _end_at_once() -> None:
    os._exit(1)


def _ignore(_: str) -> None:
    pass


def listen_to_parent(
    take: Callable[[str], object] = _ignore,
    gone: Callable[[], object] = _end_at_once,
    source: int = 0,
) -> None:
    """Read standard input in a thread: `take` is called with each line, `gone` at its end.

    By default this process ends then, whatever it is doing.
    """

    def read() -> None:
        # Plain reads: a thread inside a buffered file would hold its lock when Python ends.
        waiting = b""
        while chunk := os.read(source, 4096):
            *lines, waiting = (waiting + chunk).split(b"\n")
            for line in lines:
                take(line.decode(errors="replace").strip())
        gone()

    threading.Thread(target=read, daemon=True).start()
