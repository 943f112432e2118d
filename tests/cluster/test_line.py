"""Lines between processes: what is asked, what is answered, and what happens at their ends."""

import threading
from multiprocessing import AuthenticationError
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.cluster.line import Exchange, Line, Traffic, answer, question, read_answer

KEY = b"a key that both ends know"


class Clerk:
    """Answers in several ways."""

    def double(self, array: NDArray[np.float64], *, times: int = 1) -> NDArray[np.float64]:
        return np.multiply(array, 2.0**times)

    def refuse(self) -> None:
        raise InputError("no\nnever")

    def fill_disk(self) -> None:
        raise OSError(28, "No space left on device")

    def break_down(self) -> None:
        class SecretError(Exception):  # which cannot be sent
            pass

        raise SecretError("broken")


def serve(key: bytes = KEY) -> tuple[Exchange, threading.Thread]:
    exchange = Exchange("127.0.0.1", key)
    thread = threading.Thread(target=exchange.serve, args=(Clerk(),), daemon=True)
    thread.start()
    return exchange, thread


def test_questions_are_answered_and_counted() -> None:
    exchange, thread = serve()
    traffic = Traffic()
    line = Line(exchange.address, KEY, traffic)
    asked = question("double", np.arange(3), times=2)
    for _ in range(2):
        line.send(asked)
        found = line.receive()
        assert found.value.tolist() == [0, 4, 8]
        assert found.value.flags.writeable
        assert not found.failed
        assert found.seconds >= 0
    assert (traffic.messages, traffic.sent_bytes) == (2, 2 * len(asked))
    assert traffic.received_bytes > 0
    line.close()
    thread.join()  # a worker whose caller has hung up ends


def test_whoever_does_not_know_the_key_is_not_heard() -> None:
    exchange, thread = serve()
    with pytest.raises(AuthenticationError):
        Line(exchange.address, b"another key", Traffic())
    Line(exchange.address, KEY, Traffic()).close()
    thread.join()


def test_errors_are_answers() -> None:
    refused = read_answer(answer(Clerk(), question("refuse")))
    assert refused.failed
    assert isinstance(refused.value, InputError)
    assert str(refused.value) == "no\nnever"
    full = read_answer(answer(Clerk(), question("fill_disk"))).value
    assert isinstance(full, OSError)
    assert full.errno == 28
    broken = read_answer(answer(Clerk(), question("break_down"))).value
    assert (type(broken), str(broken)) == (RuntimeError, "SecretError: broken")


def test_nobody_answers_at_the_other_end() -> None:
    exchange, thread = serve()
    line = Line(exchange.address, KEY, Traffic())
    line.close()
    thread.join()
    with pytest.raises(OSError, match="handle is closed"):
        line.send(b"")
    with pytest.raises(ConnectionRefusedError):
        Line(exchange.address, KEY, Traffic())


def test_a_question_is_written_down_once() -> None:
    """What all workers are asked is the same bytes, whichever worker it is for."""
    assert question("double", np.ones(2)) == question("double", np.ones(2))
    assert Path("/proc/self/statm").exists() == bool(
        read_answer(answer(Clerk(), question("double", np.ones(1)))).memory_bytes
    )
