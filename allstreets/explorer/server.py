"""The server process: one port on this machine, from the first request to Ctrl-C.

uvicorn closes connections that are idle between two requests. A client that sends half a request
and goes silent would keep its connection open forever: here a request has a time limit to arrive
(`TimedProtocol`).
"""

import asyncio
import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from allstreets.base import InputError, available_bytes
from allstreets.explorer.app import create_app
from allstreets.explorer.library import Library
from allstreets.explorer.ready_made import ReadyMade
from allstreets.explorer.solves.manager import Solves

HOST = "127.0.0.1"
USUAL_PORT = 8169  # where bookmarks find it again
SOLVES_AT_ONCE = 1  # a solve takes every core
REQUEST_SECONDS = 30.0  # for a request to arrive, body included
GRACE_SECONDS = 2  # for requests that are under way when the server ends
INCOMPLETE = (h11.IDLE, h11.SEND_BODY)  # states of a client that has more to send


def serve(
    folders: Sequence[Path],
    solves_folder: Path,
    port: int | None = None,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
    token: str | None = None,
    request_seconds: float = REQUEST_SECONDS,
) -> None:
    """Serve the solutions in `folders` and solve in `solves_folder`, until Ctrl-C.

    Without a port the usual one is taken, or else any that is free. With a `token` only requests
    that carry it are answered. A request that takes longer than `request_seconds` to arrive is
    dropped.
    """
    try:
        solves_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot write to {solves_folder}: {error.strerror}; name another folder with --solves"
        ) from None
    library, solves = open_folders(folders, solves_folder)
    with open_port(port) as listening:
        number = listening.getsockname()[1]
        hosts = (f"{HOST}:{number}", f"localhost:{number}")
        address, ticket = f"http://{HOST}:{number}/", secrets.token_urlsafe(24)
        app = create_app(library, solves, hosts, token=token, tickets=[ticket])
        printed, opened = (
            (address, address)
            if token is None
            else (f"{address}?token={token}", f"{address}?token={ticket}")
        )
        server = _Server(
            app, solves, printed, opened if open_browser else None, say, request_seconds
        )
        with suppress(KeyboardInterrupt):  # uvicorn passes it on when everything has ended
            server.run(sockets=[listening])
    say("Stopped.")


def open_folders(folders: Sequence[Path], solves_folder: Path) -> tuple[Library, Solves]:
    """The library of solutions and the solves of this server; each knows the other's names."""
    library = Library(
        [*folders, solves_folder],
        solves_at_once=SOLVES_AT_ONCE,
        max_memory_bytes=available_bytes() or 0,
        ready_made=ReadyMade(),
    )
    solves = Solves(solves_folder, library.id_of, SOLVES_AT_ONCE)
    library.solve_of = solves.solve_of
    return library, solves


def open_port(port: int | None) -> socket.socket:
    """A free port of this machine; an `InputError` if the one given is taken."""
    if port is not None:
        return _bound(port)
    try:
        return _bound(USUAL_PORT)
    except InputError:
        return _bound(0)


def _bound(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # on other systems this would let two servers share a port
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except (OSError, OverflowError) as error:
        made.close()
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"port {port} cannot be used ({why}): give another one, or leave --port out"
        ) from None
    return made


class _Server(uvicorn.Server):
    """uvicorn, which prints its address and does not wait for pages that listen to a solve."""

    def __init__(
        self,
        app: FastAPI,
        solves: Solves,
        address: str,
        opened: str | None,
        say: Callable[[str], None],
        request_seconds: float,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                lifespan="on",
                http=timed_protocol(request_seconds),
                ws="none",
                access_log=False,
                log_level="warning",
                server_header=False,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._solves, self._say = solves, say
        self._address, self._opened = address, opened
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, and print the address."""
        await super().startup(sockets)
        self._loop = asyncio.get_running_loop()
        self._say(f"allstreets explorer: {self._address}")
        self._say("Ctrl-C ends it. A running solve is saved then, and can be resumed later.")
        if self._opened is not None:
            # A browser that is started here may keep its caller waiting.
            threading.Thread(target=webbrowser.open, args=(self._opened,), daemon=True).start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C: end in order; called at any moment, so the loop does work that takes a lock."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._solves.hang_up)


class TimedProtocol(H11Protocol):
    """Closes a connection whose request has not arrived after `seconds`."""

    seconds: float
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected: its first request is awaited."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """A piece of a request; later pieces get no extra time."""
        super().data_received(data)
        if self.conn.their_state in INCOMPLETE:
            self._await_request()
        else:
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._end_waiting()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self.transport.close)

    def _end_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def timed_protocol(seconds: float) -> type[asyncio.Protocol]:
    """The protocol with this limit, as uvicorn takes it."""
    fields: dict[str, Any] = {"seconds": seconds}
    return type("TimedProtocol", (TimedProtocol,), fields)
