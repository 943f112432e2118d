"""Connections between processes: questions, answers, and broken ends."""

import socket
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from allstreets.base import InputError
from allstreets.cluster.connection import (
    ASKER,
    NUMBER,
    STRANGERS,
    Connection,
    Exchange,
    Traffic,
    UnprovenError,
    answer,
    question,
    read_answer,
    signed,
)

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


def serve(key: bytes = KEY, seconds: float = 1e6) -> tuple[Exchange, threading.Thread]:
    exchange = Exchange("127.0.0.1", key, seconds)
    thread = threading.Thread(target=exchange.serve, args=(Clerk(),), daemon=True)
    thread.start()
    return exchange, thread


def asked_once(exchange: Exchange, thread: threading.Thread) -> None:
    """A caller that knows the key is answered, whatever has happened before."""
    line = Connection(exchange.address, KEY, Traffic())
    line.send(question("double", np.ones(1)))
    assert line.receive().value.tolist() == [2.0]
    line.close()
    thread.join()


def until_hung_up(stranger: socket.socket) -> bytes:
    """Everything that the other end still says."""
    heard = b""
    try:
        while more := stranger.recv(1 << 16):
            heard += more
    except ConnectionResetError:  # what it did not read was thrown away
        pass
    return heard


def test_questions_are_answered_and_counted() -> None:
    exchange, thread = serve()
    traffic = Traffic()
    line = Connection(exchange.address, KEY, traffic)
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
    with pytest.raises(UnprovenError):
        Connection(exchange.address, b"another key", Traffic())
    asked_once(exchange, thread)


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\nHost: worker\r\n\r\n" * 10,
        b"\x7f\xff\xff\xff" + bytes(200),  # two gigabytes are to come
        b"\xff\xff\xff\xff" + b"\xff" * 300,  # or far more
        bytes(1 << 20),
        b"\x00",
        b"",
    ],
    ids=["HTTP", "a long frame", "a longer frame", "a megabyte", "a byte", "nothing"],
)
def test_strangers_are_sent_away(said: bytes) -> None:
    exchange, thread = serve()
    with socket.create_connection(exchange.address) as stranger:
        try:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the worker has hung up already
        assert len(until_hung_up(stranger)) <= NUMBER
    asked_once(exchange, thread)


def test_who_says_nothing_keeps_nobody_waiting() -> None:
    """Nor does who stops in the middle of a proof; strangers stay as long as they like here."""
    exchange, thread = serve()
    silent = [socket.create_connection(exchange.address) for _ in range(2)]
    silent[1].sendall(b"x")
    asked_once(exchange, thread)
    for stranger in silent:
        assert len(until_hung_up(stranger)) <= NUMBER
        stranger.close()


def test_who_says_nothing_is_sent_away_after_a_while() -> None:
    exchange, thread = serve(seconds=0.0)
    with socket.create_connection(exchange.address) as silent:
        assert len(until_hung_up(silent)) <= NUMBER
    exchange.seconds = 1e6
    asked_once(exchange, thread)


def test_the_first_of_very_many_has_to_go() -> None:
    exchange, thread = serve()
    crowd = [socket.create_connection(exchange.address) for _ in range(STRANGERS + 1)]
    assert len(until_hung_up(crowd[0])) <= NUMBER
    asked_once(exchange, thread)
    for stranger in crowd:
        stranger.close()


def test_a_proof_is_good_for_one_number() -> None:
    exchange, thread = serve()
    with socket.create_connection(exchange.address) as stranger:
        heard = stranger.recv(NUMBER, socket.MSG_WAITALL)
        proof = signed(KEY, ASKER, heard) + bytes(NUMBER)
    with socket.create_connection(exchange.address) as again:
        assert again.recv(NUMBER, socket.MSG_WAITALL) != heard
        again.sendall(proof)
        assert until_hung_up(again) == b""
    asked_once(exchange, thread)


@pytest.mark.parametrize("said", [b"", b"x" * 10, b"SSH-2.0-OpenSSH_9.6\r\n" * 20])
def test_somebody_else_listens_where_a_worker_should(said: bytes) -> None:
    """He who asks gives up: at once if the other hangs up, else after a while."""
    with socket.create_server(("127.0.0.1", 0)) as other:

        def greet() -> None:
            connection, _ = other.accept()
            connection.sendall(said)
            if said:
                connection.close()
            else:
                thread.kept = connection  # type: ignore[attr-defined]

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(OSError, match=r"the worker|reset|timed out|Broken pipe"):
            Connection(other.getsockname(), KEY, Traffic(), seconds=1e6 if said else 0.05)
        thread.join()
        if not said:
            thread.kept.close()  # type: ignore[attr-defined]


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
    line = Connection(exchange.address, KEY, Traffic())
    line.close()
    thread.join()
    with pytest.raises(OSError, match="handle is closed"):
        line.send(b"")
    with pytest.raises(ConnectionRefusedError):
        Connection(exchange.address, KEY, Traffic())


def test_a_question_is_written_down_once() -> None:
    """A question to all workers is the same bytes for each of them."""
    assert question("double", np.ones(2)) == question("double", np.ones(2))
    assert Path("/proc/self/statm").exists() == bool(
        read_answer(answer(Clerk(), question("double", np.ones(1)))).memory_bytes
    )
