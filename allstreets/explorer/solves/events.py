"""Server-sent events of a solve.

A listener holds a place in the curve and nothing else: whenever something has changed it gets the
state as it is now and the points that it has not seen. So a slow listener misses what came
between, and delays no other.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress

from allstreets.explorer.models.solves import SolveEvent

HEARTBEAT_SECONDS = 10.0
HEARTBEAT = ": still here\n\n"

# From the number of points that a listener has seen to what is new, and whether that is the end.
Look = Callable[[int], tuple[SolveEvent, bool]]


class Bell:
    """Wakes listeners in event loops, from any thread."""

    def __init__(self) -> None:
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    @contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """An event that is set with every ring."""
        entry = asyncio.get_running_loop(), asyncio.Event()
        self._listeners.add(entry)
        try:
            yield entry[1]
        finally:
            self._listeners.discard(entry)

    def ring(self) -> None:
        """Something has changed."""
        for loop, event in tuple(self._listeners):
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(event.set)


async def stream(
    look: Look, bell: Bell, heartbeat: float = HEARTBEAT_SECONDS
) -> AsyncIterator[str]:
    """All points so far, then every change, to the end of the solve."""
    seen = 0
    with bell.listening() as changed:
        while True:
            changed.clear()
            event, over = look(seen)
            seen += len(event.points)
            yield event_text(event)
            if over:
                return
            while not changed.is_set():
                try:
                    await asyncio.wait_for(changed.wait(), heartbeat)
                except TimeoutError:
                    yield HEARTBEAT


def event_text(event: SolveEvent) -> str:
    """One event as it travels."""
    return f"event: solve\ndata: {event.model_dump_json(by_alias=True)}\n\n"
