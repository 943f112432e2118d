"""A connection to a worker: questions one way, answers the other, counted and with a timeout.

Ray starts workers, places them and reports when they die. Questions go over a connection of the
standard library: a half-iteration is a question to every worker, and calls of Ray's actors took
four times as long for 64 of them (docs/cluster.md). A question is encoded once and sent to all as
the same bytes.

Both ends prove that they know a key, which came through Ray, before anything else is read:

    worker → driver     a number, drawn again for each
    driver → worker     the number signed with the key, and its own number
    worker → driver     that number signed

Each is `NUMBER` or `SIGNED` bytes long, so that a stranger can neither claim a length nor keep a
worker reading; a silent caller is dropped, and delays no other caller meanwhile. Nothing is
encrypted, as nothing between Ray's own processes is.
"""

import hmac
import os
import pickle
import secrets
import selectors
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, NamedTuple

STALLED_SECONDS = 120  # in the middle of an answer
PROOF_SECONDS = 30.0  # until both ends have proved that they know the key
STRANGERS = 64  # callers connected without proof; one more, and the first is dropped
NUMBER = SIGNED = 32  # bytes
ASKER, WORKER = b"allstreets asker", b"allstreets worker"


class UnprovenError(ConnectionError):
    """The other end does not know the key."""


def signed(key: bytes, who: bytes, number: bytes) -> bytes:
    """A number signed by one of the two ends."""
    return hmac.digest(key, who + number, "sha256")


@dataclass
class Traffic:
    """Messages and bytes over all connections so far."""

    messages: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0


class Answer(NamedTuple):
    """The answer of a worker."""

    value: Any  # or the exception that was raised
    failed: bool
    seconds: float  # of work
    memory_bytes: int  # of its process


def question(name: str, *arguments: Any, **options: Any) -> bytes:
    """A call of a worker's method, encoded."""
    return pickle.dumps((name, arguments, options), protocol=5)


def answer(worker: object, asked: bytes) -> bytes:
    """Answer a question; errors are part of the answer."""
    name, arguments, options = pickle.loads(asked)
    began = time.perf_counter()
    try:
        value, failed = getattr(worker, name)(*arguments, **options), False
    except Exception as error:
        value, failed = _can_be_sent(error), True
    ended = time.perf_counter()
    reply = Answer(value, failed, ended - began, process_bytes(int(ended)))
    return pickle.dumps(tuple(reply), protocol=5)


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
    """Memory of this process in this second; 0 where the system does not report it."""
    del second
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class Connection:
    """The driver's end."""

    def __init__(
        self, address: tuple[str, int], key: bytes, traffic: Traffic, seconds: float = PROOF_SECONDS
    ) -> None:
        """`OSError` if no answer comes within `seconds`, or it does not prove the key."""
        until = time.monotonic() + seconds
        with socket.create_connection(address, seconds) as opened:
            number = _read(opened, NUMBER, until)
            own = secrets.token_bytes(NUMBER)
            opened.sendall(signed(key, ASKER, number) + own)
            if not hmac.compare_digest(_read(opened, SIGNED, until), signed(key, WORKER, own)):
                raise UnprovenError("the worker does not know the key")
            self._connection = _connected(opened, STALLED_SECONDS)
        self._traffic = traffic

    def fileno(self) -> int:
        """The file descriptor, for waiting on several connections."""
        return self._connection.fileno()

    def send(self, asked: bytes) -> None:
        """Ask; `OSError` if the worker is gone."""
        self._connection.send_bytes(asked)
        self._traffic.messages += 1
        self._traffic.sent_bytes += len(asked)

    def receive(self) -> Answer:
        """The answer; `EOFError` or `OSError` if the worker is gone."""
        data = self._connection.recv_bytes()
        self._traffic.received_bytes += len(data)
        return read_answer(data)

    def close(self) -> None:
        """Hang up, which ends the worker."""
        with suppress(OSError):
            self._connection.close()


@dataclass(eq=False)
class _Stranger:
    """A caller that has not yet proved that it knows the key, and the bytes it has sent."""

    connection: socket.socket
    number: bytes
    until: float
    sent: bytes = b""

    def listen(self, key: bytes) -> bool:
        """Read the bytes that have arrived; return whether they prove that it knows the key.

        `ConnectionError` if it does not, or is gone.
        """
        data = self.connection.recv(SIGNED + NUMBER - len(self.sent))
        self.sent += data
        if not data:
            raise ConnectionResetError
        if len(self.sent) < SIGNED + NUMBER:
            return False
        proof, number = self.sent[:SIGNED], self.sent[SIGNED:]
        if not hmac.compare_digest(proof, signed(key, ASKER, self.number)):
            raise UnprovenError
        self.connection.sendall(signed(key, WORKER, number))
        return True


class Exchange:
    """The worker's end: one caller, whose questions are answered one by one."""

    def __init__(self, host: str, key: bytes, seconds: float = PROOF_SECONDS) -> None:
        """`seconds`: for callers to prove that they know the key."""
        self._listener = socket.create_server((host, 0), backlog=STRANGERS)
        self._listener.setblocking(False)
        self._key, self.seconds = key, seconds
        self._strangers: list[_Stranger] = []
        self.address: tuple[str, int] = self._listener.getsockname()

    def serve(self, worker: object) -> None:
        """Answer until the caller hangs up."""
        with self._listener, self._caller() as caller:
            connection = _connected(caller)
        with connection, suppress(EOFError, ConnectionError):
            while True:
                connection.send_bytes(answer(worker, connection.recv_bytes()))

    def _caller(self) -> socket.socket:
        """The first caller that knows the key; others are dropped, and delay nothing."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            while True:
                for ready, _ in selector.select(self._until_next()):
                    if ready.data is None:
                        self._meet(selector)
                        continue
                    stranger: _Stranger = ready.data
                    if stranger not in self._strangers:
                        continue  # dropped to make room for another
                    try:
                        if stranger.listen(self._key):
                            self._strangers.remove(stranger)
                            self._dismiss(selector, len(self._strangers))
                            return stranger.connection
                    except BlockingIOError:
                        continue
                    except OSError:
                        self._send_away(selector, stranger)
                now = time.monotonic()
                self._dismiss(selector, sum(each.until <= now for each in self._strangers))

    def _until_next(self) -> float | None:
        """Seconds until the next caller has to be dropped; None: there is none."""
        if not self._strangers:
            return None
        return max(0.0, self._strangers[0].until - time.monotonic())

    def _meet(self, selector: selectors.BaseSelector) -> None:
        """Accept a caller, and ask for a proof."""
        with suppress(OSError):  # the caller is gone again
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            until = time.monotonic() + self.seconds
            stranger = _Stranger(connection, secrets.token_bytes(NUMBER), until)
            selector.register(connection, selectors.EVENT_READ, stranger)
            self._strangers.append(stranger)
            self._dismiss(selector, len(self._strangers) - STRANGERS)
            try:
                connection.sendall(stranger.number)
            except OSError:
                self._send_away(selector, stranger)

    def _dismiss(self, selector: selectors.BaseSelector, count: int) -> None:
        """Drop the callers that have waited longest."""
        for stranger in self._strangers[: max(0, count)]:
            self._send_away(selector, stranger)

    def _send_away(self, selector: selectors.BaseSelector, stranger: _Stranger) -> None:
        self._strangers.remove(stranger)
        selector.unregister(stranger.connection)
        stranger.connection.close()


def _read(opened: socket.socket, size: int, until: float) -> bytes:
    """Read this many bytes; an `OSError` if they do not come in time."""
    data = b""
    while len(data) < size:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the worker does not answer")
        opened.settimeout(left)
        more = opened.recv(size - len(data))
        if not more:
            raise UnprovenError("the worker has hung up: the keys differ")
        data += more
    return data


def _connected(opened: socket.socket, stalled: int | None = None) -> Pipe:
    """The connection over a socket whose two ends both know the key.

    Small messages are sent immediately; it fails if the rest of a message does not come.
    """
    opened.setblocking(True)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if stalled is not None:
        limit = struct.pack("ll", stalled, 0)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
    return Pipe(opened.detach())
