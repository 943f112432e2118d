"""A line to a worker: questions one way, answers the other, counted and with a time limit.

Ray starts workers, places them and tells when they have died. What is asked of them goes over a
connection of the standard library: a half-iteration is a question to every worker, and calls of
Ray's actors took four times as long for 64 of them (docs/cluster.md). A question is written down
once and sent to all as the same bytes.

Both ends prove that they know a key, which came by way of Ray, before anything is read. Nothing is
encrypted, as nothing between Ray's own processes is.
"""

import os
import pickle
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, NamedTuple

STALLED_SECONDS = 120  # in the middle of an answer


@dataclass
class Traffic:
    """What has gone over lines so far."""

    messages: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0


class Answer(NamedTuple):
    """What a worker answers."""

    value: Any  # or the exception that was raised
    failed: bool
    seconds: float  # of work
    memory_bytes: int  # of its process


def question(name: str, *arguments: Any, **options: Any) -> bytes:
    """A call of a worker's method, written down."""
    return pickle.dumps((name, arguments, options), protocol=5)


def answer(worker: object, asked: bytes) -> bytes:
    """Do what is asked; errors are part of the answer."""
    name, arguments, options = pickle.loads(asked)
    began = time.perf_counter()
    try:
        value, failed = getattr(worker, name)(*arguments, **options), False
    except Exception as error:
        value, failed = _can_be_sent(error), True
    ended = time.perf_counter()
    found = Answer(value, failed, ended - began, process_bytes(int(ended)))
    return pickle.dumps(tuple(found), protocol=5)


def read_answer(data: bytes) -> Answer:
    """An answer, read."""
    return Answer(*pickle.loads(data))


def _can_be_sent(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@lru_cache(maxsize=1)
def process_bytes(second: int) -> int:
    """Memory of this process in a second of its clock; 0 where the system does not say."""
    del second
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class Line:
    """The asker's end."""

    def __init__(self, address: tuple[str, int], key: bytes, traffic: Traffic) -> None:
        self._connection = Client(address, authkey=key)
        self._traffic = traffic
        _set_up(self._connection, STALLED_SECONDS)

    def fileno(self) -> int:
        """For whoever waits for several lines."""
        return self._connection.fileno()

    def send(self, asked: bytes) -> None:
        """Ask; `OSError` if nobody is there."""
        self._connection.send_bytes(asked)
        self._traffic.messages += 1
        self._traffic.sent_bytes += len(asked)

    def receive(self) -> Answer:
        """The answer; `EOFError` or `OSError` if there is nobody any more."""
        data = self._connection.recv_bytes()
        self._traffic.received_bytes += len(data)
        return read_answer(data)

    def close(self) -> None:
        """Hang up, upon which the worker ends."""
        with suppress(OSError):
            self._connection.close()


class Exchange:
    """The worker's end: one caller, whose questions are answered one by one."""

    def __init__(self, host: str, key: bytes) -> None:
        self._listener = Listener((host, 0), authkey=key)
        self.address: tuple[str, int] = self._listener.address

    def serve(self, worker: object) -> None:
        """Answer until the caller hangs up."""
        with self._listener:
            connection = self._caller()
        _set_up(connection)
        with connection, suppress(EOFError, ConnectionError):
            while True:
                connection.send_bytes(answer(worker, connection.recv_bytes()))

    def _caller(self) -> Connection:
        """The first who knows the key; others are sent away."""
        while True:
            with suppress(AuthenticationError, EOFError, ConnectionError):
                return self._listener.accept()


def _set_up(connection: Connection, stalled: int | None = None) -> None:
    """Send small messages at once; fail where the rest of a message does not come."""
    with socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as same:
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if stalled is not None:
            limit = struct.pack("ll", stalled, 0)
            same.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
