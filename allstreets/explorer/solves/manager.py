"""All solves of a server: the running one, the queue, and those stored in the folder.

    waiting                                   in the queue; can be stopped
    starting → running ⇄ paused → stopping    with a process
    done, stopped, failed                     ended; can be resumed unless the target is reached
    interrupted                               the server or the process was ended; can be resumed

A solve that is not running is read from its folder at every request, so a server knows the solves
of earlier servers. Everything here may be called from any thread.

A page follows a solve by server-sent events. A listener is a position in the curve and nothing
else: at every change it gets the current state and the points that it has not seen. So a slow
listener misses states in between, and delays no other.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from allstreets.base import InputError, available_bytes, data_size
from allstreets.explorer.models import solves as messages
from allstreets.explorer.models.base import BusyError, MissingError
from allstreets.explorer.models.params import SolveId
from allstreets.explorer.models.solution import Trashed
from allstreets.explorer.models.solves import SolveEvent
from allstreets.explorer.models.study import ReviewSource
from allstreets.explorer.solves.folders import (
    ELSEWHERE,
    LIVE_STATES,
    Request,
    SolveFolder,
    Status,
    all_folders,
    find_folder,
    new_folder,
)
from allstreets.explorer.solves.jobs import kind_of
from allstreets.explorer.solves.process import Report, Running
from allstreets.explorer.trash import Trash
from allstreets.storage import SPOTS

HEARTBEAT_SECONDS = 10.0
HEARTBEAT = ": still here\n\n"

# From the number of points that a listener has seen to the new event, and whether it is the end.
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
        """Signal that something has changed."""
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


ANSWER_SECONDS = 3.0  # to wait for a process to pause or to resume: an iteration may be long
CLOSE_SECONDS = 10.0  # to wait for processes to save when the server ends
LEFT_QUEUE = "removed from the queue before its turn came"


class Solves:
    """The solves in a folder; `library_id` names the solution in a folder."""

    def __init__(
        self,
        folder: Path,
        library_id: Callable[[Path], str],
        at_once: int = 1,
        max_memory_bytes: int | None = None,
    ) -> None:
        self.folder, self._library_id = folder, library_id
        self.at_once, self._max_memory_bytes = at_once, max_memory_bytes
        self.trash = Trash([folder])
        self._changed = threading.Condition()  # guards everything below
        self._running: dict[str, Running] = {}
        self._queue: dict[str, tuple[SolveFolder, int]] = {}  # the queue, with the bytes each needs
        self._bell = Bell()
        self._closed = False

    @property
    def max_memory_bytes(self) -> int | None:
        """Memory that all solves may use: the given limit, or all free memory; None: unknown."""
        return available_bytes() if self._max_memory_bytes is None else self._max_memory_bytes

    def solve_of(self, solution: Path) -> str | None:
        """The solve that a folder with a solution belongs to."""
        path = solution.resolve()
        if path.parent.name == SPOTS:  # a flop beside its whole game: the latest solve of it
            ours = [
                solve.id for solve in all_folders(self.folder) if solve.solution.resolve() == path
            ]
            return max(ours, default=None)
        folder = find_folder(self.folder, path.parent.name)
        own = folder is not None and folder.solution.resolve() == path
        return path.parent.name if own else None

    def list(self) -> list[messages.Solve]:
        """All solves, the newest first."""
        solves = []
        for folder in all_folders(self.folder):
            with suppress(MissingError):  # deleted meanwhile, or not whole
                solves.append(self._describe_any(folder))
        return sorted(solves, key=lambda solve: (solve.created, solve.id), reverse=True)

    def start(
        self,
        form: messages.SpotForm,
        flop: messages.FlopSource | None = None,
        locked: messages.LockedSource | None = None,
    ) -> messages.Solve:
        """Solve a spot, now or in its turn.

        `flop` is its flop of a whole game, `locked` its source before the lock.
        """
        request = Request(run=0, state="waiting", form=form, created=0, flop=flop, locked=locked)
        return self._begin(request)

    def train(
        self, game: messages.GameForm, locked: messages.LockedSource | None = None
    ) -> messages.Solve:
        """Train a whole game, now or in its turn; `locked` is its source before the lock."""
        request = Request(run=0, state="waiting", game=game, created=0, locked=locked)
        return self._begin(request)

    def review(self, source: ReviewSource, hands: str) -> messages.Solve:
        """Review played hands, now or in their turn."""
        return self._begin(Request(run=0, state="waiting", review=source, created=0), hands)

    def _begin(self, request: Request, hands: str | None = None) -> messages.Solve:
        need = self._need_bytes(request)
        with self._changed:
            self._require_open()
            return self._enqueue(new_folder(self.folder, request, hands=hands), need)

    def detail(self, solve: SolveId) -> messages.SolveDetail:
        """The progress of a solve, with its curve."""
        folder = self._find(solve)
        with self._changed:
            running = self._running.get(solve)
            if running is not None:
                return messages.SolveDetail(**dict(self._describe(running)), curve=running.points)
        return messages.SolveDetail(**dict(self._describe_any(folder)), curve=folder.curve())

    def pause(self, solve: SolveId) -> messages.Solve:
        """Pause a solve; it keeps its memory and can be resumed."""
        with self._changed:
            running = self._require_running(solve)
            if running.status.state != "running":
                raise BusyError(
                    f"only a running solve can be paused; this is {running.status.state}"
                )
            return self._command(running, "pause")

    def resume(self, solve: SolveId) -> messages.Solve:
        """Resume a solve that was paused, stopped, or cut off by the end of a server."""
        with self._changed:
            if solve in self._running:
                running = self._running[solve]
                if running.status.state != "paused":
                    raise BusyError(
                        f"only a paused solve can be resumed; this is {running.status.state}"
                    )
                return self._command(running, "resume")
            if solve in self._queue:
                raise BusyError("this solve is waiting for its turn")
            folder = self._find(solve)
            request, stored = _request(folder), self._describe_stored(folder)
            self._require_unfinished(stored, kind_of(request).finished)
        need = self._need_bytes(request)
        with self._changed:
            self._require_open()
            if self._is_busy(solve):
                raise BusyError("this solve is running already")
            return self._enqueue(folder, need)

    def stop(self, solve: SolveId) -> messages.Solve:
        """Stop a solve and save what is solved."""
        with self._changed:
            if solve in self._queue:
                self._queue.pop(solve)[0].conclude("stopped", LEFT_QUEUE)
                self._changed.notify_all()
                self._bell.ring()
                return self._describe_stored(self._find(solve))
            running = self._require_running(solve)
            if running.status.state == "stopping":
                raise BusyError("this solve is stopping already")
            if running.status.state == "starting":
                running.kill("stopped")
                self._changed.wait_for(lambda: running.over, ANSWER_SECONDS)
            else:
                running.send("stop")
                running.receive(Report(state="stopping"))
                self._bell.ring()
            return self._describe(running)

    @contextmanager
    def resting(self, folder: Path) -> Iterator[None]:
        """Start nothing within this context; a `BusyError` if a solve works in or for a folder."""
        with self._changed:
            busy = [running.folder for running in self._running.values()]
            for solve in (*busy, *(waiting for waiting, _ in self._queue.values())):
                for path in solve.needs():
                    if folder.resolve() in (path.resolve(), *path.resolve().parents):
                        raise BusyError("a solve needs this solution: stop it first")
            yield

    def delete(self, solve: SolveId) -> Trashed:
        """Move a solve that is not running to the trash, with its solution."""
        with self._changed:
            if self._is_busy(solve):
                raise BusyError("this solve is running or waiting: stop it first")
            folder = self._find(solve)
            stored = self._describe_stored(folder)  # an incomplete solve is not ours to delete
            if folder.in_use():
                raise BusyError("a process is still saving this solve: try again in a moment")
            return self.trash.put(folder.path, stored.name)

    def events(self, name: str) -> AsyncIterator[str]:
        """Server-sent events: all points so far, then every change, to the end of the solve."""
        folder = self._find(name)
        followed: Running | None = None  # to its end

        def look(seen: int) -> tuple[messages.SolveEvent, bool]:
            nonlocal followed
            with self._changed:
                followed = followed or self._running.get(name)
                if followed is not None:
                    solve, points = self._describe(followed), followed.points
                    over = followed.over or self._closed
                    return messages.SolveEvent(solve=solve, points=points[seen:]), over
                waits = name in self._queue and not self._closed
            solve = self._describe_any(folder)
            return messages.SolveEvent(solve=solve, points=folder.curve()[seen:]), not waits

        return stream(look, self._bell)

    def hang_up(self) -> None:
        """End all event streams: a server that ends does not wait for its listeners."""
        self._closed = True
        self._bell.ring()

    def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        """Let running solves save and end; return whether all did so within `seconds`.

        Slower ones end by themselves, with or without the server.
        """
        self.hang_up()
        with self._changed:
            running = list(self._running.values())
            for solve in running:
                if solve.status.state == "starting":
                    solve.kill("interrupted")
        for solve in running:
            solve.leave()
        deadline = time.monotonic() + seconds
        ended = [solve.wait(max(deadline - time.monotonic(), 0.0)) for solve in running]
        return all(ended)

    def _enqueue(self, folder: SolveFolder, need_bytes: int) -> messages.Solve:
        """Start, or wait for all earlier solves."""
        if not self._queue and len(self._running) < self.at_once:
            return self._launch(folder, need_bytes)
        folder.conclude("waiting")
        self._queue[folder.id] = folder, need_bytes
        self._bell.ring()
        return self._describe_stored(folder)

    def _advance(self) -> None:
        """Start the solves whose turn has come."""
        while self._queue and not self._closed and len(self._running) < self.at_once:
            folder, need_bytes = self._queue.pop(next(iter(self._queue)))
            free = self.free_bytes
            try:
                if free is not None and need_bytes > free:
                    raise InputError(
                        f"when its turn came it needed {data_size(need_bytes)} and "
                        f"{data_size(free)} were free: resume it when there is room"
                    )
                self._launch(folder, need_bytes)
            except InputError as error:
                folder.conclude("failed", error=str(error))

    def _launch(self, folder: SolveFolder, need_bytes: int) -> messages.Solve:
        request = _request(folder)
        request = request.at("starting", run=request.run + 1)
        try:
            folder.write(request)
            running = Running(folder, request, need_bytes, self._receive, self._end)
        except OSError as error:
            raise InputError(f"cannot start to solve: {error.strerror}") from None
        self._running[folder.id] = running
        return self._describe(running)

    def _receive(self, running: Running, report: Report) -> None:
        with self._changed:
            running.receive(report)
            self._changed.notify_all()
        self._bell.ring()

    def _end(self, running: Running, code: int) -> None:
        with self._changed:
            running.end(code)
            with suppress(OSError):  # a full disk: the next server works out the state
                running.folder.write(running.request)
            del self._running[running.folder.id]
            self._advance()
            self._changed.notify_all()
        self._bell.ring()

    def _command(self, running: Running, command: Literal["pause", "resume"]) -> messages.Solve:
        """Make a process pause or resume, and wait briefly until it does."""
        before = running.status.state
        running.send(command)
        self._changed.wait_for(lambda: running.status.state != before, ANSWER_SECONDS)
        return self._describe(running)

    def _is_busy(self, name: str) -> bool:
        """Whether a solve runs or waits."""
        return name in self._running or name in self._queue

    def _find(self, name: str) -> SolveFolder:
        folder = find_folder(self.folder, name)
        if folder is None:
            raise MissingError(f"there is no solve '{name}'")
        return folder

    def _require_running(self, name: str) -> Running:
        if name not in self._running:
            solve = self._describe_stored(self._find(name))
            raise BusyError(solve.note or f"this solve is not running: it is {solve.state}")
        return self._running[name]

    def _require_open(self) -> None:
        if self._closed:
            raise BusyError("the server is ending")

    def _require_unfinished(self, solve: messages.Solve, finished: str) -> None:
        if solve.state in LIVE_STATES:
            raise BusyError(ELSEWHERE)
        reached = solve.progress.exploitability if solve.progress is not None else None
        if solve.state != "done":
            return
        if solve.target is None:
            raise BusyError(finished)
        if reached is not None and reached <= solve.target:
            raise BusyError(
                f"this solve has reached its target of {solve.target:g} {solve.unit}: "
                "start a new one with a smaller target"
            )

    def _need_bytes(self, request: Request) -> int:
        """Memory that a solve needs, if there is room for it; computed without holding the lock.

        A solve that has to wait gets the memory of the running ones when its turn comes.
        """
        with self._changed:
            self._require_open()
            busy = self._queue or len(self._running) >= self.at_once
            later = sum(running.need_bytes for running in self._running.values()) if busy else 0
        free = self.free_bytes
        return kind_of(request).need_bytes(request, None if free is None else free + later)

    @property
    def free_bytes(self) -> int | None:
        """The memory that one more solve may take; None: unknown."""
        free = available_bytes()
        if self._max_memory_bytes is None:
            return free
        with self._changed:
            taken = sum(running.need_bytes for running in self._running.values())
        left = self._max_memory_bytes - taken
        return left if free is None else min(left, free)

    def _describe(self, running: Running) -> messages.Solve:
        return self._solve(running.folder, running.request, running.status, running.note)

    def _describe_any(self, folder: SolveFolder) -> messages.Solve:
        """A solve, running or not."""
        with self._changed:
            if folder.id in self._running:
                return self._describe(self._running[folder.id])
        stored = self._describe_stored(folder)
        with self._changed:  # it may have progressed while its files were read
            running = self._running.get(folder.id)
            return stored if running is None else self._describe(running)

    def _describe_stored(self, folder: SolveFolder) -> messages.Solve:
        """A solve as described by its folder."""
        request = _request(folder)
        standing = folder.standing(request, waits=folder.id in self._queue)
        return self._solve(folder, request, *standing)

    def _solve(
        self, folder: SolveFolder, request: Request, status: Status, note: str | None = None
    ) -> messages.Solve:
        kind, queue = kind_of(request), list(self._queue)
        name, title, target = kind.outline(request)
        return messages.Solve.of(
            status,
            id=folder.id,
            name=name,
            title=title,
            place=queue.index(folder.id) + 1 if folder.id in queue else None,
            created=request.created,
            form=request.form,
            game=request.game,
            review=None if request.review is None else self._library_id(folder.solution),
            unit=kind.unit,
            target=target,
            note=note,
            solution=self._library_id(folder.solution) if folder.has_solution else None,
            locked=None if request.locked is None else request.locked.line,
        )


def _request(folder: SolveFolder) -> Request:
    request = folder.request()
    if request is None:
        raise MissingError(f"there is no solve '{folder.id}'")
    return request
