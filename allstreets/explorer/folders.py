"""Finding solutions and reviews in the folders that were opened, and keeping a few of them open.

The names that users give their solutions are in label.json beside a manifest, without a checksum.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from allstreets.base import (
    DamagedFileError,
    InputError,
    read_json_object,
    typed_record,
    write_atomic,
)
from allstreets.explorer.models.base import MissingError
from allstreets.explorer.models.solution import Label
from allstreets.storage import CERTIFICATE, MANIFEST, SPOTS
from allstreets.study import INDEX

DEPTH = 4  # levels below an opened folder
MOST_FOLDERS = 5000  # that are searched: opening "/" must give an answer, too
ID_LETTERS = 12
MOST_OPEN = 4

Solution = TypeVar("Solution")

# Folders that runs and solutions store beside their manifests: these hold no solutions.
INSIDE = re.compile(r"flops(-[0-9a-f]{8})?|certificate|checkpoints|work")
LABEL = "label.json"
SCHEMA = 1


@dataclass(frozen=True)
class Signature:
    """A fingerprint of a folder: changes with its manifest, certificate, label or exact flops."""

    modified: int  # nanoseconds
    size: int
    inode: int
    certified: int = 0  # nanoseconds; 0: there is no certificate
    labelled: int = 0  # the same of its label
    spots: str = ""  # the same of its flops that were solved exactly

    @classmethod
    def of(cls, folder: Path) -> "Signature | None":
        """The signature of a folder; None: it has no manifest."""
        try:
            stat = (folder / MANIFEST).stat()
        except OSError:
            return None
        return cls(
            stat.st_mtime_ns,
            stat.st_size,
            stat.st_ino,
            certified=_modified(folder / CERTIFICATE),
            labelled=_modified(folder / LABEL),
            spots=_spots_written(folder / SPOTS),
        )

    @property
    def own(self) -> "Signature":
        """The signature without the exact flops."""
        return replace(self, spots="")

    @property
    def text(self) -> str:
        """The signature of the manifest and the flops as text, for pages to compare."""
        return f"{self.modified:x}-{self.size:x}-{self.inode:x}{self.spots}"


def _modified(path: Path) -> int:
    """The time of a file's last change, in nanoseconds; 0: there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _spots_written(folder: Path) -> str:
    """The spots in a folder and the times of their last changes, as text; "": none."""
    try:
        written = [f"{path.name} {_modified(path / MANIFEST)}" for path in sorted(folder.iterdir())]
    except OSError:
        return ""
    return f"-{hashlib.sha256(repr(written).encode()).hexdigest()[:ID_LETTERS]}" if written else ""


@dataclass(frozen=True)
class Found:
    """A folder with a manifest, or one that could not be read."""

    folder: Path
    problem: str | None = None
    part_of: Path | None = None  # the set that it is a spot of

    @property
    def id(self) -> str:
        """The solution's name in requests."""
        return id_of(self.folder)


def id_of(folder: Path) -> str:
    """A short name of a folder that stays the same while the folder stays in its place."""
    path = os.fsencode(Path(os.path.realpath(folder)))
    return hashlib.sha256(path).hexdigest()[:ID_LETTERS]


def find_solutions(opened: Sequence[Path]) -> Iterator[Found]:
    """Every solution in the opened folders, each once; links are not followed.

    A set of spots is a solution, and so is each of its spots.
    """
    solutions: list[Found] = []
    sets: dict[Path, frozenset[str]] = {}  # the folders of their spots
    for walked in _walk(opened):
        if walked.problem is not None:
            solutions.append(Found(walked.folder, walked.problem))
        elif MANIFEST in walked.files:
            manifest = _manifest(walked.folder)
            if _is_shown(manifest, walked.depth):
                solutions.append(Found(walked.folder))
                sets[walked.folder] = _spots(manifest)
    for solution in solutions:
        parent = solution.folder.parent
        together = solution.folder.name in sets.get(parent, ())
        yield replace(solution, part_of=parent) if together else solution


def find_reviews(opened: Sequence[Path]) -> Iterator[Path]:
    """The folder of every review in the opened folders."""
    for walked in _walk(opened):
        if INDEX in walked.files:
            yield walked.folder


@dataclass(frozen=True)
class _Searched:
    """A folder that was searched, or the reason why not."""

    folder: Path
    depth: int  # below an opened one
    files: frozenset[str] = frozenset()
    problem: str | None = None


def _walk(opened: Sequence[Path]) -> Iterator[_Searched]:
    """All folders in the opened ones, each once."""
    seen: set[Path] = set()
    left = [(Path(os.path.realpath(folder)), 0) for folder in reversed(opened)]
    while left:
        folder, depth = left.pop()
        if folder in seen:
            continue
        if len(seen) >= MOST_FOLDERS:
            problem = (
                f"only {MOST_FOLDERS:,} folders are searched: open one nearer to the solutions"
            )
            yield _Searched(folder, depth, problem=problem)
            return
        seen.add(folder)
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
                folders = [entry for entry in inside if entry.is_dir(follow_symlinks=False)]
        except OSError as error:
            problem = f"the folder cannot be read: {error.strerror}"
            yield _Searched(folder, depth, problem=problem)
            continue
        yield _Searched(folder, depth, frozenset(entry.name for entry in inside))
        if depth < DEPTH:
            left += [
                (Path(entry.path), depth + 1)
                for entry in reversed(folders)
                if not entry.name.startswith(".") and not _is_inside(Path(entry.path))
            ]


def _is_inside(folder: Path) -> bool:
    """Whether a folder is part of a run or a solution; users may name theirs "flops", too."""
    named = folder.name == "flops" and (folder / MANIFEST).exists()
    return INSIDE.fullmatch(folder.name) is not None and not named


def _manifest(folder: Path) -> Any:
    """The content of a manifest; None: it cannot be read."""
    try:
        return json.loads((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def _is_shown(manifest: Any, depth: int) -> bool:
    """Whether a manifest is a solution's, or may have been before it was damaged.

    Other programs write files of that name as well: valid JSON with other contents. A set of spots
    whose spots are too deep to be found is not shown, either.
    """
    if manifest is None or not depth:
        return True
    ours = isinstance(manifest, dict) and "kind" in manifest and "schema" in manifest
    return ours and not (manifest["kind"] == "spots" and depth >= DEPTH)


def _spots(manifest: Any) -> frozenset[str]:
    """The folders of the spots of a set; none if it is something else, or damaged."""
    if not isinstance(manifest, dict) or manifest.get("kind") != "spots":
        return frozenset()
    entries = manifest.get("spots")
    known = (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )
    return frozenset(str(entry.get("folder")) for entry in known)


class LastOpened(Generic[Solution]):
    """Opens folders by `load` and keeps a few; one thread at a time may use it."""

    def __init__(self, load: Callable[[Path], Solution]) -> None:
        self._load = load
        self._opened: dict[Path, tuple[Signature | None, Solution]] = {}

    def open(self, folder: Path) -> Solution:
        """The solution in a folder; it is loaded again if the folder has changed."""
        signature = Signature.of(folder)
        opened = self._opened.pop(folder, None)
        if opened is None or opened[0] != signature:
            opened = signature, self._load(folder)
        self._opened[folder] = opened  # the last to be dropped
        while len(self._opened) > MOST_OPEN:
            del self._opened[next(iter(self._opened))]
        return opened[1]


def read_label(folder: Path) -> Label:
    """The label of a solution, an empty one where there is none; `InputError`: it is damaged."""
    try:
        stored = read_json_object(folder / LABEL)
        known = {key: stored[key] for key in Label.model_fields if key in stored}
        return typed_record(Label, known)
    except FileNotFoundError:
        return Label()
    except (OSError, DamagedFileError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"{LABEL} is damaged ({why}): repair it, or name the solution again"
        ) from None


def write_label(folder: Path, label: Label) -> None:
    """Store a label, whole or not at all; an empty one is removed.

    The folder may be deleted meanwhile; it is not made again.
    """
    name, note = label.name.strip(), label.note.strip()
    try:
        if not name and not note:
            (folder / LABEL).unlink(missing_ok=True)
            return
        text = json.dumps({"version": SCHEMA, "name": name, "note": note}, indent=1)
        write_atomic(folder / LABEL, lambda out: out.write(text.encode()), make_folder=False)
    except FileNotFoundError:
        raise MissingError("there is no such solution: it was moved or removed") from None
    except OSError as error:
        raise InputError(f"cannot write {folder / LABEL}: {error.strerror}") from None
