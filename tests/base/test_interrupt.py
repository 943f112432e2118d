"""Signals: nothing at stake ends at once, something at stake is saved, the third leaves.

What ends a process is tried in processes of their own, which send themselves their signals at the
place in question: nobody waits for anybody.
"""

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from allstreets.base.control import SIGNALS, interrupt_request

Done = subprocess.CompletedProcess[str]


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    """As a shell starts a program: background jobs ignore some signals, and children inherit it."""
    before: dict[int, Any] = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def program(body: str) -> list[str]:
    """A command of ours; `press` is Ctrl-C, and `job` a job with something at stake."""
    lines = (
        "import os, signal, sys",
        "from contextlib import contextmanager",
        "from allstreets.base.control import ends_by_signals, interrupt_request",
        "def press(number=signal.SIGINT): signal.raise_signal(number)",
        "def say(*words): print(*words, flush=True)",
        "@contextmanager",
        "def job():",
        "    with interrupt_request('saving to d', 'the solution') as request:",
        "        request.hold()",
        "        yield request",
        "with ends_by_signals():",
        *(f"    {line}" for line in body.strip().splitlines()),
        "say('end')",
    )
    return [sys.executable, "-c", "\n".join(lines)]


def run(body: str) -> Done:
    return subprocess.run(program(body), capture_output=True, text=True)


def test_nothing_at_stake() -> None:
    done = run("press(signal.SIGTERM)\nsay('goes on')")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nStopped.\n")
    # Made ready, and not begun: as long as it takes.
    done = run("with interrupt_request() as request:\n    press()\n    say('goes on')")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nStopped.\n")


def test_where_python_drops_exceptions() -> None:
    """In a callback nothing can be raised: the program would run on to its end."""
    for body in (
        "import weakref\nclass Lock: pass\nlock = Lock()\n"
        "seen = weakref.ref(lock, lambda _: press())\ndel lock",
        "import ctypes\nctypes.CFUNCTYPE(None)(press)()",
        "try:\n    press()\nexcept:\n    pass",
    ):
        done = run(f"{body}\nsay('goes on')")
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nStopped.\n")


@pytest.mark.parametrize(("name", "presses"), [("SIGINT", 1), ("SIGTERM", 2), ("SIGHUP", 2)])
def test_one_and_two_are_answered_and_the_save_goes_on(name: str, presses: int) -> None:
    done = run(
        f"with job() as request:\n    for _ in range({presses}): press(signal.{name})\n"
        "    say(request.made)"
    )
    assert (done.returncode, done.stdout) == (0, "True\nend\n")
    answers = [
        "Saving to d …; Ctrl-C twice more leaves at once.",
        "Still saving to d …; once more leaves at once, and the solution is lost.",
    ]
    assert [line for line in done.stderr.splitlines() if line] == answers[:presses]


def test_the_third_leaves_and_says_what_is_lost() -> None:
    body = (
        "with job() as request:\n    request.saved(1200)\n"
        "    for _ in range(3): press()\n    say('goes on')"
    )
    done = run(body)
    assert (done.returncode, done.stdout) == (130, "")
    assert "\nLeft at once: what was solved after iteration 1,200 is lost.\n" in done.stderr


def test_several_while_python_hears_nothing() -> None:
    """As in compiled code: handlers written in Python are called once for all of them."""
    body = (
        "import ctypes\n"
        "with job() as request:\n"
        "    list(map(ctypes.CDLL(None)['raise'], [signal.SIGINT] * {}))\n"
        "    say(request.made)"
    )
    done = run(body.format(2))
    assert (done.returncode, done.stdout) == (0, "True\nend\n")
    assert "Still saving to d" in done.stderr
    done = run(body.format(3))
    assert (done.returncode, done.stdout) == (130, "")


def test_after_the_save_the_result_is_still_told() -> None:
    body = "with job(): press()\npress()\nsay('the result')"
    done = run(body)
    assert (done.returncode, done.stdout) == (0, "the result\nend\n")
    # And the next part of the job is not begun.
    done = run("with job(): press()\ntry:\n    with job(): say('goes on')\n"
               "except KeyboardInterrupt: say('stopped')")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "stopped\nend\n")


def test_nohup_is_respected() -> None:
    command = program("with job() as request:\n    press(signal.SIGHUP)\n    say(request.made)")
    done = subprocess.run(["nohup", *command], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "False\nend\n")


def test_a_terminal_that_is_closed() -> None:
    """Words to it would be errors in the middle of the save; the result goes nowhere."""
    told, tell = os.pipe()
    gone, hold = os.pipe()  # closed by the parent when the terminal is
    body = (
        "with job() as request:\n"
        f"    os.write({tell}, b'.')\n"
        f"    os.read({gone}, 1)\n"
        "    say('drawn')\n"
        f"    os.write({tell}, str(request.made).encode())\n"
    )
    child, terminal = pty.fork()
    if not child:
        os.close(hold)
        for number in (tell, gone):
            os.set_inheritable(number, True)
        command = program(body)
        os.execv(command[0], command)
    os.close(tell)
    assert os.read(told, 1) == b"."
    os.close(terminal)
    os.close(hold)
    assert os.read(told, 10) == b"True"
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    os.close(told)
    os.close(gone)


# Inside a user's program.


def test_a_program_of_others_gets_an_exception(capsys: pytest.CaptureFixture[str]) -> None:
    with interrupt_request() as request, pytest.raises(KeyboardInterrupt, match="Stopped"):
        signal.raise_signal(signal.SIGINT)
    assert request.made  # even where a user's code swallows it
    with interrupt_request("saving to d", "the solution") as request:
        request.hold()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.raise_signal(number)
            assert request.made
        with pytest.raises(KeyboardInterrupt, match="Left at once: the solution is lost"):
            signal.raise_signal(signal.SIGINT)
    err = capsys.readouterr().err
    assert "Saving to d" in err
    assert "Still saving to d" in err


def test_what_was_there_before_is_put_back() -> None:
    def mine(*_: object) -> None: ...

    for number in SIGNALS:
        signal.signal(number, mine)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    threads = threading.active_count()
    try:
        with interrupt_request():
            assert signal.getsignal(signal.SIGINT) is not mine
        assert [signal.getsignal(number) for number in SIGNALS] == [mine] * len(SIGNALS)
        assert signal.set_wakeup_fd(-1) == writing
    finally:
        signal.set_wakeup_fd(-1)
        os.close(reading)
        os.close(writing)
    assert threading.active_count() == threads


def test_other_threads_leave_signals_alone() -> None:
    found: list[tuple[bool, Any]] = []

    def work() -> None:
        with interrupt_request() as request:
            found.append((request.made, signal.getsignal(signal.SIGINT)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(False, signal.SIG_DFL)]


def test_the_module_is_light() -> None:
    """It has to be in place before Numba is imported."""
    script = "import sys, allstreets.base.control; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False\n"
