"""All solves of a server: the one that runs, those that wait, and those that lie in the folder.

    waiting                                   in line behind the one that runs; can be stopped
    starting → running ⇄ paused → stopping    with a process
    done, stopped, failed                     ended; all but what is done to its target can go on
    interrupted                               the server or the process was ended; can go on

What is not running is read from its folder at every request, so a server knows what
earlier ones have left. Everything here may be called from any thread.
"""

import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from allstreets.base import InputError, available_bytes, data_size
from allstreets.explorer.errors import BusyError, MissingError
from allstreets.explorer.models.locks import LockedSource
from allstreets.explorer.models.reviews import ReviewSource
from allstreets.explorer.models.solution import CurvePoint, Trashed
from allstreets.explorer.models.solves import (
    FlopSource,
    GameForm,
    Solve,
    SolveDetail,
    SolveEvent,
    SpotForm,
)
from allstreets.explorer.solves.events import Bell, stream
from allstreets.explorer.solves.folders import (
    LIVE_STATES,
    Request,
    SolveFolder,
    Status,
    all_folders,
    find_folder,
    new_folder,
)
from allstreets.explorer.solves.line import Line, conclude
from allstreets.explorer.solves.process import SolvingProcess
from allstreets.explorer.solves.reports import Report
from allstreets.explorer.solves.running import Running
from allstreets.explorer.solves.stored import ELSEWHERE, stored_status
from allstreets.explorer.solves.work import Outline, need_bytes, outline
from allstreets.explorer.trash import Trash
from allstreets.storage import SPOTS

ANSWER_SECONDS = 3.0  # to wait for a process to pause or to go on: an iteration may be long
CLOSE_SECONDS = 10.0  # to wait for processes to save when the server ends


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
        self._line = Line()
        self._bell = Bell()
        self._closed = False

    @property
    def max_memory_bytes(self) -> int | None:
        """What solves may take in all: the given limit, or what is free; None: unknown."""
        return available_bytes() if self._max_memory_bytes is None else self._max_memory_bytes

    def solve_of(self, solution: Path) -> str | None:
        """The solve that a folder with a solution belongs to."""
        path = solution.resolve()
        if path.parent.name == SPOTS:  # a flop beside its whole game: the latest solve of it
            ours = [one.id for one in all_folders(self.folder) if one.solution.resolve() == path]
            return max(ours, default=None)
        folder = find_folder(self.folder, path.parent.name)
        own = folder is not None and folder.solution.resolve() == path
        return path.parent.name if own else None

    def list(self) -> list[Solve]:
        """All solves, the newest first."""
        found = []
        for folder in all_folders(self.folder):
            with suppress(MissingError):  # deleted meanwhile, or not whole
                found.append(self._describe_any(folder))
        return sorted(found, key=lambda solve: (solve.created, solve.id), reverse=True)

    def start(
        self, form: SpotForm, flop: FlopSource | None = None, locked: LockedSource | None = None
    ) -> Solve:
        """Solve a spot, now or in its turn.

        `flop` says which flop of a whole game it is, `locked` what it was before it was locked.
        """
        request = Request(run=0, state="waiting", form=form, created=0, flop=flop, locked=locked)
        return self._begin(request)

    def train(self, game: GameForm, locked: LockedSource | None = None) -> Solve:
        """Train a whole game, now or in its turn; `locked` is what it was before it was locked."""
        request = Request(run=0, state="waiting", game=game, created=0, locked=locked)
        return self._begin(request)

    def review(self, source: ReviewSource, hands: str) -> Solve:
        """Review played hands, now or in their turn."""
        return self._begin(Request(run=0, state="waiting", review=source, created=0), hands)

    def _begin(self, request: Request, hands: str | None = None) -> Solve:
        need = self._need_bytes(request)
        with self._changed:
            self._require_open()
            return self._line_up(new_folder(self.folder, request, hands=hands), need)

    def detail(self, name: str) -> SolveDetail:
        """Where a solve stands, with its curve."""
        folder = self._find(name)
        with self._changed:
            one = self._running.get(name)
            if one is not None:
                return _with_curve(self._describe(one), one.points)
        return _with_curve(self._describe_any(folder), folder.curve())

    def pause(self, name: str) -> Solve:
        """Pause a solve."""
        with self._changed:
            one = self._require_running(name)
            if one.status.state != "running":
                raise BusyError(f"only a running solve can be paused; this is {one.status.state}")
            return self._command(one, "pause")

    def resume(self, name: str) -> Solve:
        """Let a solve go on."""
        with self._changed:
            if name in self._running:
                one = self._running[name]
                if one.status.state != "paused":
                    raise BusyError(f"only a paused solve can go on; this is {one.status.state}")
                return self._command(one, "resume")
            if self._line.place(name) is not None:
                raise BusyError("this solve waits for its turn")
            folder = self._find(name)
            solve = self._describe_stored(folder)
            self._require_unfinished(solve)
            request = folder.request()
            assert request is not None
        need = self._need_bytes(request)
        with self._changed:
            self._require_open()
            if name in self._running or self._line.place(name) is not None:
                raise BusyError("this solve goes on already")
            return self._line_up(folder, need)

    def stop(self, name: str) -> Solve:
        """Stop a solve and save what is solved; one that waits leaves the line."""
        with self._changed:
            if self._line.place(name) is not None:
                self._line.leave(name)
                self._changed.notify_all()
                self._bell.ring()
                return self._describe_stored(self._find(name))
            one = self._require_running(name)
            assert one.process is not None
            if one.status.state == "stopping":
                raise BusyError("this solve is stopping already")
            if one.status.state == "starting":
                one.kill("stopped")
                self._changed.wait_for(lambda: one.over, ANSWER_SECONDS)
            else:
                one.process.send("stop")
                one.receive(Report(state="stopping"))
                self._bell.ring()
            return self._describe(one)

    @contextmanager
    def resting(self, folder: Path) -> Iterator[None]:
        """Nothing is begun meanwhile; a `BusyError` where a solve works in or for a folder."""
        with self._changed:
            busy = [one.folder for one in self._running.values()]
            for one in (*busy, *(waiting.folder for waiting in self._line)):
                for place in one.needs():
                    if folder.resolve() in (place.resolve(), *place.resolve().parents):
                        raise BusyError("a solve needs this solution: stop it first")
            yield

    def delete(self, name: str) -> Trashed:
        """Move a solve that is not running aside, with its solution."""
        with self._changed:
            if name in self._running or self._line.place(name) is not None:
                raise BusyError("this solve is running or waits: stop it first")
            folder = self._find(name)
            solve = self._describe_stored(folder)  # what is no whole solve is not ours to delete
            if folder.in_use():
                raise BusyError("a process is still saving this solve: try again in a moment")
            return self.trash.put(folder.path, solve.name)

    def events(self, name: str) -> AsyncIterator[str]:
        """Server-sent events: all points so far, then every change, to the end of the solve."""
        self._find(name)
        seen_running: list[Running] = []  # the one to follow, to its end

        def look(seen: int) -> tuple[SolveEvent, bool]:
            with self._changed:
                one = self._running.get(name)
                if one is not None and not seen_running:
                    seen_running.append(one)
                if seen_running:
                    return self._look(seen_running[0], seen)
                waits = self._line.place(name) is not None and not self._closed
            detail = self.detail(name)
            event = SolveEvent(solve=_without_curve(detail), points=detail.curve[seen:])
            return event, not waits

        return stream(look, self._bell)

    def hang_up(self) -> None:
        """End all event streams: a server that ends does not wait for its listeners."""
        self._closed = True
        self._bell.ring()

    def close(self, seconds: float = CLOSE_SECONDS) -> bool:
        """Let running solves save and end; whether all of them did in so many seconds.

        Those that need longer end by themselves, with the server or without it.
        """
        self.hang_up()
        with self._changed:
            processes = [one.process for one in self._running.values() if one.process]
            for one in self._running.values():
                if one.status.state == "starting":
                    one.kill("interrupted")
        for process in processes:
            process.leave()
        deadline = time.monotonic() + seconds
        ended = [process.wait(max(deadline - time.monotonic(), 0.0)) for process in processes]
        return all(ended)

    def _line_up(self, folder: SolveFolder, need_bytes: int) -> Solve:
        """Begin, or wait for all that came before."""
        if not self._line and len(self._running) < self.at_once:
            return self._launch(folder, need_bytes)
        self._line.join(folder, need_bytes)
        self._bell.ring()
        return self._describe_stored(folder)

    def _advance(self) -> None:
        """Let those begin whose turn has come."""
        while self._line and not self._closed and len(self._running) < self.at_once:
            first, free = self._line.turn(), self.free_bytes
            try:
                if free is not None and first.need_bytes > free:
                    raise InputError(
                        f"when its turn came it needed {data_size(first.need_bytes)} and "
                        f"{data_size(free)} were free: go on with it when there is room"
                    )
                self._launch(first.folder, first.need_bytes)
            except InputError as error:
                conclude(first.folder, "failed", error=str(error))

    def _launch(self, folder: SolveFolder, need_bytes: int) -> Solve:
        request = folder.request()
        if request is None:
            raise MissingError(f"there is no solve '{folder.id}'")
        changes = {"run": request.run + 1, "state": "starting", "reason": None, "error": None}
        request = request.model_copy(update=changes)
        one = Running(folder, request, need_bytes)
        try:
            folder.write(request)
            one.process = SolvingProcess(
                folder, lambda report: self._receive(one, report), lambda code: self._end(one, code)
            )
        except OSError as error:
            raise InputError(f"cannot start to solve: {error.strerror}") from None
        self._running[folder.id] = one
        return self._describe(one)

    def _receive(self, one: Running, report: Report) -> None:
        with self._changed:
            one.receive(report)
            self._changed.notify_all()
        self._bell.ring()

    def _end(self, one: Running, code: int) -> None:
        with self._changed:
            one.end(code)
            with suppress(OSError):  # a full disk: the next server works out the state
                one.folder.write(one.request)
            del self._running[one.folder.id]
            self._advance()
            self._changed.notify_all()
        self._bell.ring()

    def _command(self, one: Running, command: Literal["pause", "resume"]) -> Solve:
        """Make a process pause or go on, and wait a little for it to do so."""
        assert one.process is not None
        before = one.status.state
        one.process.send(command)
        self._changed.wait_for(lambda: one.status.state != before, ANSWER_SECONDS)
        return self._describe(one)

    def _look(self, one: Running, seen: int) -> tuple[SolveEvent, bool]:
        with self._changed:
            event = SolveEvent(solve=self._describe(one), points=one.points[seen:])
            return event, one.over or self._closed

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

    def _require_unfinished(self, solve: Solve) -> None:
        if solve.state in LIVE_STATES:
            raise BusyError(ELSEWHERE)
        progress = solve.progress
        reached = progress.exploitability if progress is not None else None
        if solve.state != "done":
            return
        if solve.review is not None:
            raise BusyError("all hands are reviewed: begin another review")
        if solve.target is None:
            raise BusyError("this game is trained to its end: start one with more epochs")
        if reached is not None and reached <= solve.target:
            raise BusyError(
                f"this solve has reached its target of {solve.target:g} {solve.unit}: "
                "start a new one with a smaller target"
            )

    def _need_bytes(self, request: Request) -> int:
        """What a solve takes, if there is room for it; computed without holding the lock.

        One that has to wait has the memory of those that run when its turn comes.
        """
        with self._changed:
            self._require_open()
            busy = self._line or len(self._running) >= self.at_once
            later = sum(one.need_bytes for one in self._running.values()) if busy else 0
        free = self.free_bytes
        return need_bytes(request, None if free is None else free + later)

    @property
    def free_bytes(self) -> int | None:
        """The memory that one more solve may take; None: unknown."""
        free = available_bytes()
        if self._max_memory_bytes is None:
            return free
        with self._changed:
            taken = sum(one.need_bytes for one in self._running.values())
        left = self._max_memory_bytes - taken
        return left if free is None else min(left, free)

    def _describe(self, one: Running) -> Solve:
        return self._solve(one.folder, one.request, one.status, one.note)

    def _describe_any(self, folder: SolveFolder) -> Solve:
        """A solve, running or not."""
        with self._changed:
            if folder.id in self._running:
                return self._describe(self._running[folder.id])
        stored = self._describe_stored(folder)
        with self._changed:  # it may have gone on while its files were read
            one = self._running.get(folder.id)
            return stored if one is None else self._describe(one)

    def _describe_stored(self, folder: SolveFolder) -> Solve:
        """A solve as its folder describes it."""
        request = folder.request()
        if request is None:
            raise MissingError(f"there is no solve '{folder.id}'")
        waits = self._line.place(folder.id) is not None
        return self._solve(folder, request, *stored_status(folder, request, waits=waits))

    def _solve(
        self, folder: SolveFolder, request: Request, status: Status, note: str | None = None
    ) -> Solve:
        told: Outline = outline(request)
        return Solve(
            id=folder.id,
            name=told.name,
            title=told.title,
            state=status.state,
            place=self._line.place(folder.id),
            created=request.created,
            form=request.form,
            game=request.game,
            review=None if request.review is None else self._library_id(folder.solution),
            unit=told.unit,
            target=told.target,
            progress=status.progress,
            note=note,
            reason=status.reason,
            error=status.error,
            solution=self._library_id(folder.solution) if folder.has_solution else None,
            saves=status.saves,
            locked=None if request.locked is None else request.locked.line,
        )


def _with_curve(solve: Solve, points: list[CurvePoint]) -> SolveDetail:
    fields = {name: getattr(solve, name) for name in Solve.model_fields}
    return SolveDetail(**fields, curve=points)


def _without_curve(detail: SolveDetail) -> Solve:
    return Solve(**{name: getattr(detail, name) for name in Solve.model_fields})
