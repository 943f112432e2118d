"""HTTP with a limit on how long a request takes to arrive.

uvicorn closes connections that are idle between two requests. A client that sends half a request
and goes silent would hold its connection for as long as it likes.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

INCOMPLETE = (h11.IDLE, h11.SEND_BODY)  # states of a client that has more to send


class TimedProtocol(H11Protocol):
    """Closes a connection whose request is not there after `seconds`."""

    seconds: float
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected: its first request is awaited."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """A piece of a request; that it is not the first gives no more time."""
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
