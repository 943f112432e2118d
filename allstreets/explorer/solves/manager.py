"""All solves of a server: the one that runs, and those that lie in the folder.

    starting → running ⇄ paused → stopping    with a process
    done, stopped, failed                     ended; all but what is done to its target can go on
    interrupted                               the server or the process was ended; can go on

What is not running is read from its folder at every request, so a server knows what
earlier ones have left. Everything here may be called from any thread.
"""

import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from allstreets.base import InputError
from allstreets.explorer.errors import BusyError, MissingError
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import (
    FlopSource,
    Solve,
    SolveDetail,
    SolveEvent,
    SpotForm,
)
from allstreets.explorer.solves.events import Bell, stream
from allstreets.explorer.solves.flops import need_bytes
from allstreets.explorer.solves.folders import (
    LIVE_STATES,
    Request,
    SolveFolder,
    Status,
    all_folders,
    find_folder,
    new_folder,
)
from allstreets.explorer.solves.process import SolvingProcess
from allstreets.explorer.solves.reports import Report
from allstreets.explorer.solves.running import Running
from allstreets.explorer.solves.spots import spot_name, spot_title
from allstreets.solvers import available_bytes
from allstreets.storage import SPOTS

ANSWER_SECONDS = 3.0  # to wait for a process to pause or to go on: an iteration may be long
CLOSE_SECONDS = 10.0  # to wait for processes to save when the server ends
ELSEWHERE = "another process solves this: it can be viewed, not controlled"


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
        self._changed = threading.Condition()  # guards everything below
        self._running: dict[str, Running] = {}
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

    def start(self, form: SpotForm, flop: FlopSource | None = None) -> Solve:
        """Begin to solve a spot; `flop` says which flop of a whole game it is."""
        need = self._need_bytes(Request(run=0, state="starting", form=form, created=0, flop=flop))
        with self._changed:
            self._require_turn()
            return self._launch(new_folder(self.folder, form, flop), need)

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
            folder = self._find(name)
            solve = self._describe_stored(folder)
            self._require_unfinished(solve)
            request = folder.request()
            assert request is not None
        need = self._need_bytes(request)
        with self._changed:
            self._require_turn()
            if name in self._running:
                raise BusyError("this solve goes on already")
            return self._launch(folder, need)

    def stop(self, name: str) -> Solve:
        """Stop a solve and save what is solved."""
        with self._changed:
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

    def delete(self, name: str) -> None:
        """Remove a solve that is not running, with its solution."""
        with self._changed:
            if name in self._running:
                raise BusyError("this solve is running: stop it first")
            folder = self._find(name)
            self._describe_stored(folder)  # what is no whole solve is not ours to delete
            try:
                folder.remove()
            except OSError as error:
                raise InputError(f"cannot delete {folder.path}: {error.strerror}") from None

    def events(self, name: str) -> AsyncIterator[str]:
        """Server-sent events: all points so far, then every change, to the end of the solve."""
        with self._changed:
            one = self._running.get(name)
        if one is not None:
            return stream(lambda seen: self._look(one, seen), self._bell)
        detail = self.detail(name)
        event = SolveEvent(solve=_without_curve(detail), points=detail.curve)
        return stream(lambda _: (event, True), self._bell)

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

    def _require_turn(self) -> None:
        if self._closed:
            raise BusyError("the server is ending")
        if len(self._running) >= self.at_once:
            one = next(iter(self._running.values()))
            name = spot_name(one.request.form)
            others = "" if self.at_once == 1 else f", and {self.at_once} may run at once"
            raise BusyError(f"'{name}' is {one.status.state}{others}: stop it, or wait for its end")

    def _require_unfinished(self, solve: Solve) -> None:
        if solve.state in LIVE_STATES:
            raise BusyError(ELSEWHERE)
        progress = solve.progress
        reached = progress.exploitability if progress is not None else None
        if solve.state == "done" and reached is not None and reached <= solve.target_pct:
            raise BusyError(
                f"this solve has reached its target of {solve.target_pct:g} %: "
                "start a new one with a smaller target"
            )

    def _need_bytes(self, request: Request) -> int:
        """What a spot takes, if there is room for it; computed without holding the lock."""
        with self._changed:
            self._require_turn()
        return need_bytes(request, self.free_bytes)

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
        status = folder.status() or Status(run=0, state="interrupted")
        if request.state not in LIVE_STATES:
            changes: dict[str, object] = request.model_dump(include={"state", "reason", "error"})
            return self._solve(folder, request, status.model_copy(update=changes))
        if folder.in_use():
            running = status.model_copy(update={"state": "running"})
            return self._solve(folder, request, running, ELSEWHERE)
        if status.run != request.run or status.state in LIVE_STATES:
            changes = {"state": "interrupted", "error": None}
            changes["reason"] = "the server ended before the solve did; it can go on"
            status = status.model_copy(update=changes)
        return self._solve(folder, request, status)

    def _solve(
        self, folder: SolveFolder, request: Request, status: Status, note: str | None = None
    ) -> Solve:
        return Solve(
            id=folder.id,
            name=spot_name(request.form),
            title=spot_title(request.form),
            state=status.state,
            created=request.created,
            form=request.form,
            target_pct=request.form.target_pct,
            progress=status.progress,
            note=note,
            reason=status.reason,
            error=status.error,
            solution=self._library_id(folder.solution) if folder.has_solution else None,
            saves=status.saves,
        )


def _with_curve(solve: Solve, points: list[CurvePoint]) -> SolveDetail:
    fields = {name: getattr(solve, name) for name in Solve.model_fields}
    return SolveDetail(**fields, curve=points)


def _without_curve(detail: SolveDetail) -> Solve:
    return Solve(**{name: getattr(detail, name) for name in Solve.model_fields})
