"""Strangers at a worker's port are dropped, whatever they send, and the driver is answered."""

import random
import socket
import threading
from contextlib import suppress

import pytest
from harness.fuzzing import NASTY, damaged

from allstreets.cluster.connection import (
    ASKER,
    NUMBER,
    Connection,
    Exchange,
    Traffic,
    answer,
    question,
    signed,
)

KEY = b"a key that both ends know"
HEADS = (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x40", b"#CHALLENGE#", b"GET / ")


class Clerk:
    """Answers with what it was asked."""

    def repeat(self, text: str) -> str:
        return text


def said(proof: bytes, case: int) -> bytes:
    """A stranger's bytes: a damaged proof, the head of a frame, or something nasty."""
    rng = random.Random(case)
    kind = rng.randrange(4)
    if kind == 0:
        return damaged(proof, case)
    if kind == 1:
        return rng.choice(HEADS) + rng.randbytes(rng.choice((0, 7, 60, 300)))
    if kind == 2:
        return rng.choice(NASTY) * rng.choice((1, 9))
    return rng.randbytes(len(proof))


def strangers(count: int) -> list[str]:
    """The failures with a number of strangers at one worker."""
    exchange = Exchange("127.0.0.1", KEY, 1e6)
    thread = threading.Thread(target=exchange.serve, args=(Clerk(),), daemon=True)
    thread.start()
    failures = []
    for case in range(count):
        with socket.create_connection(exchange.address) as stranger:
            number = stranger.recv(NUMBER, socket.MSG_WAITALL)
            proof = signed(KEY, ASKER, number) + bytes(NUMBER)
            sent = said(proof, case)
            if sent.startswith(proof[:NUMBER]) and len(sent) >= len(proof):
                continue  # the damage lies where any number will do
            heard = b""
            with suppress(OSError):  # the worker hangs up as soon as it has heard enough
                stranger.sendall(sent)
                stranger.shutdown(socket.SHUT_WR)
                while more := stranger.recv(1 << 16):
                    heard += more
            if heard:
                failures.append(f"case {case}: heard {heard[:40]!r}")
    line = Connection(exchange.address, KEY, Traffic())
    line.send(question("repeat", "still there"))
    assert line.receive().value == "still there"
    line.close()
    thread.join()
    return failures


def cut_answers(count: int) -> list[str]:
    """The driver's result for answers that end too soon, in chunks of any size."""
    whole = answer(Clerk(), question("repeat", "x" * 5_000))
    failures = []
    for case in range(count):
        rng = random.Random(case)
        with socket.create_server(("127.0.0.1", 0)) as server:
            line = _opened(server)
            connection = line[1]
            frame = len(whole).to_bytes(4, "big") + whole
            connection.sendall(frame[: rng.randrange(len(frame))])
            connection.close()
            try:
                line[0].receive()
                failures.append(f"case {case}: an answer that was split_flops is taken for one")
            except (EOFError, OSError):
                pass
            line[0].close()
    return failures


def _opened(server: socket.socket) -> tuple[Connection, socket.socket]:
    """A line, and its other end once both have proved that they know the key."""
    found: list[Connection] = []

    def ask() -> None:
        found.append(Connection(server.getsockname(), KEY, Traffic(), 1e6))

    thread = threading.Thread(target=ask)
    thread.start()
    connection, _ = server.accept()
    number = bytes(NUMBER)
    connection.sendall(number)
    heard = connection.recv(2 * NUMBER, socket.MSG_WAITALL)
    assert heard[:NUMBER] == signed(KEY, ASKER, number)
    connection.sendall(signed(KEY, b"allstreets worker", heard[NUMBER:]))
    thread.join()
    return found[0], connection


def test_strangers_at_a_port() -> None:
    assert strangers(200) == []


def test_answers_that_end_too_soon() -> None:
    assert cut_answers(100) == []


@pytest.mark.thorough
def test_very_many_strangers() -> None:
    assert strangers(18_000) == []
    assert cut_answers(2_000) == []
