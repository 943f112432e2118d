"""The folder of a solve: everything that a restarted server needs.

20261115-143012-qsjh2h-3fa90b12/
    solve.json     the request, and the state: written by the server
    status.json    its progress: written by the solving process
    solution/      the bundle, from the first save on; or the review
    hands.txt      the hands of a review
    worker.log     errors of the solving process, if any

The bundle of a flop of a whole game is kept beside that solution instead (`FlopSource.output`).
"""

import json
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from allstreets.base import (
    DamagedFileError,
    InputError,
    data_path,
    read_json_object,
    typed_record,
    write_atomic,
)
from allstreets.explorer.models.solution import CurvePoint
from allstreets.explorer.models.solves import (
    FlopSource,
    GameForm,
    LockedSource,
    SolveProgress,
    SolveState,
    SpotForm,
)
from allstreets.explorer.models.study import ReviewSource
from allstreets.storage import MANIFEST, claim, read_spot_manifest

SCHEMA = 1
ID = re.compile(r"[0-9a-z-]{1,64}")
LIVE_STATES: tuple[SolveState, ...] = ("waiting", "starting", "running", "paused", "stopping")
METRICS = "metrics.jsonl"  # that training keeps beside a whole game
ELSEWHERE = "another process is solving this: you can look at it, but not control it"
LEFT_WAITING = "the server ended before its turn came; it can be resumed"
CUT_OFF = "the server ended before the solve did; it can be resumed"


def default_folder() -> Path:
    """The folder of all solves: $ALLSTREETS_SOLVES, or the platform's place for a user's data."""
    return data_path("solves")


class _File(BaseModel):
    """A JSON file; keys of later versions are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    version: int = SCHEMA
    run: int  # the number of starts: the run that the file describes
    state: SolveState
    reason: str | None = None
    error: str | None = None

    def at(
        self, state: SolveState, reason: str | None = None, error: str | None = None, **more: Any
    ) -> Self:
        """The same in another state."""
        return self.model_copy(update={"state": state, "reason": reason, "error": error, **more})


class Request(_File):
    """solve.json."""

    created: float
    form: SpotForm | None = None  # the spot that is solved
    flop: FlopSource | None = None  # if it is a flop of a whole game; the form describes it
    locked: LockedSource | None = None  # if a lock was added to a spot or a game
    game: GameForm | None = None  # the whole game to train instead
    review: ReviewSource | None = None  # the review to make instead

    @model_validator(mode="after")
    def _one_work(self) -> "Request":
        if sum(work is not None for work in (self.form, self.game, self.review)) != 1:
            raise ValueError("a solve is of a spot, of a whole game, or of played hands")
        return self

    @property
    def spot(self) -> SpotForm:
        """The spot, where it is one."""
        assert self.form is not None
        return self.form


class Status(_File):
    """status.json."""

    saves: int = 0
    progress: SolveProgress | None = None


AnyFile = TypeVar("AnyFile", bound=_File)


@dataclass(frozen=True)
class SolveFolder:
    """One solve on the disk."""

    path: Path
    kept: Path | None = None  # the folder of the bundle, if not this one

    @property
    def id(self) -> str:
        """The name of the folder."""
        return self.path.name

    @property
    def solution(self) -> Path:
        """The folder of the bundle."""
        return self.path / "solution" if self.kept is None else self.kept

    @classmethod
    def open(cls, path: Path) -> "SolveFolder":
        """An existing folder, with the bundle at the place its request names."""
        request = cls(path).request()
        kept = None if request is None or request.flop is None else Path(request.flop.output)
        return cls(path, kept)

    def needs(self) -> list[Path]:
        """The folders that must stay where they are while it is solved."""
        request = self.request()
        flop = None if request is None else request.flop
        judges = request.review.folders if request is not None and request.review else []
        others = [*judges, *([] if flop is None else [flop.folder])]
        return [self.path, self.solution, *map(Path, others)]

    @property
    def hands(self) -> Path:
        """The hands of a review."""
        return self.path / "hands.txt"

    @property
    def log(self) -> Path:
        """The errors of the solving process."""
        return self.path / "worker.log"

    @property
    def has_solution(self) -> bool:
        """Whether a bundle has been saved."""
        return (self.solution / MANIFEST).is_file()

    def request(self) -> Request | None:
        """The request; None if this is not the folder of a solve, or an incomplete one."""
        return self._read("solve.json", Request)

    def status(self) -> Status | None:
        """The progress as of the last save."""
        return self._read("status.json", Status)

    def write(self, file: Request | Status) -> None:
        """Write the request or the status; whole or not at all."""
        name = "solve.json" if isinstance(file, Request) else "status.json"
        text = file.model_dump_json(by_alias=True, indent=1)
        write_atomic(self.path / name, lambda out: out.write(text.encode()))

    def standing(self, request: Request, *, waits: bool) -> tuple[Status, str | None]:
        """The status of a solve without a process of this server, and a note.

        `waits`: it is in the queue of this server.
        """
        status = self.status() or Status(run=0, state="interrupted")
        changes: dict[str, Any] = {}
        note = None
        if request.state == "waiting":
            changes = {"state": "interrupted", "reason": LEFT_WAITING, "error": None}
            if waits:
                changes |= {"state": "waiting", "reason": None}
        elif request.state not in LIVE_STATES:
            changes = request.model_dump(include={"state", "reason", "error"})
        elif self.in_use():
            changes, note = {"state": "running"}, ELSEWHERE
        elif status.run != request.run or status.state in LIVE_STATES:
            changes = {"state": "interrupted", "reason": CUT_OFF, "error": None}
        return status.model_copy(update=changes), note

    def conclude(
        self, state: SolveState, reason: str | None = None, error: str | None = None
    ) -> None:
        """Store the end of a solve without a process."""
        request = self.request()
        if request is not None:  # not deleted meanwhile
            with suppress(OSError):  # a full disk: the next server works out the state
                self.write(request.at(state, reason, error))

    def curve(self) -> list[CurvePoint]:
        """The checks so far, as of the last save."""
        try:
            rows = self._training() or read_spot_manifest(self.solution)["metrics"]
            return [CurvePoint.of_check(row) for row in rows]
        except (InputError, KeyError, TypeError, ValueError, RecursionError):
            return []

    def _training(self) -> list[dict[str, Any]]:
        """The checks of a whole game that is trained here."""
        try:
            lines = (self.solution / METRICS).read_text().splitlines()
        except OSError:
            return []
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.endswith("}")]
        return rows

    def in_use(self) -> bool:
        """Whether some process is solving here, of this server or another."""
        if self.solution.is_symlink() or not self.solution.is_dir():
            return False
        try:
            with claim(self.solution):
                return False
        except InputError:
            return True

    def _read(self, name: str, kind: type[AnyFile]) -> AnyFile | None:
        try:
            return typed_record(kind, read_json_object(self.path / name))
        except (OSError, DamagedFileError):
            return None


def new_folder(
    root: Path, request: Request, now: float | None = None, hands: str | None = None
) -> SolveFolder:
    """Make the folder of a new solve: date and time, board, and a unique suffix."""
    created = time.time() if now is None else now
    what = request.form.board if request.form else "game" if request.game else "review"
    folder = SolveFolder(new_path(root, what, created))
    try:
        folder.path.mkdir(parents=True)
        if hands is not None:
            folder.hands.write_text(hands, encoding="utf-8")
        folder.write(request.model_copy(update={"created": created}))
    except OSError as error:
        raise InputError(
            f"cannot write to {root}: {error.strerror}; make room, or start the explorer with "
            "--solves and another folder"
        ) from None
    return SolveFolder.open(folder.path)


def new_path(root: Path, what: str, now: float) -> Path:
    """A new path in the folder of all solves; it is not made yet."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    word = re.sub(r"[^0-9a-z]", "", what.lower())[:10]
    return root / f"{stamp}-{word}-{secrets.token_hex(4)}"


def find_folder(root: Path, name: str) -> SolveFolder | None:
    """The solve of this name; None if there is none, or only a link to another folder."""
    path = root / name
    if not ID.fullmatch(name) or path.is_symlink() or not (path / "solve.json").is_file():
        return None
    return SolveFolder.open(path)


def all_folders(root: Path) -> Iterator[SolveFolder]:
    """All solves, in no order."""
    try:
        names = [entry.name for entry in os.scandir(root)]
    except OSError:
        return
    for name in names:
        folder = find_folder(root, name)
        if folder is not None:
            yield folder
