"""Checkpoints: one folder each, written whole or not at all, the last two kept.

    FOLDER/checkpoint-000000001000/manifest.json          facts, metrics by iteration, checksums
                                   arrays-000.safetensors  the solver's state, in parts
                                   flop-0017.safetensors   of a cluster: a flop, by its owner

A checkpoint is written under a temporary name, synced, and renamed: whenever the process or the
machine dies, a folder with the name `checkpoint-…` is complete. If the disk corrupts it afterwards,
the checksums show it, and the previous one is used. Other machines write their part into the same
folder; the manifest comes last. In an object store (`Remote`) nothing can be renamed: there a
checkpoint is complete when it has a manifest.

A solver fills half of a machine, and so does its checkpoint: both at once would not fit. So its
files are mapped, one at a time, while a solver copies from them, and a mapping is released when
none of its arrays is in use (`StoredArrays`). Files elsewhere are fetched when they are needed,
into a temporary folder that is removed with the arrays.
"""

import hashlib
import json
import re
import secrets
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, TypeVar
from weakref import finalize

from numpy.typing import NDArray

from allstreets.base import (
    Arrays,
    DamagedFileError,
    InputError,
    Place,
    Remote,
    checksum,
    sync_folder,
    write_atomic,
    write_checked_arrays,
)
from allstreets.storage.manifest import MANIFEST, require_schema
from allstreets.storage.mapped import array_names, map_arrays
from allstreets.storage.solution_files import drop
from allstreets.version import __version__

READERS = 16  # threads that read the heads of files elsewhere
SCHEMA = 3  # of the manifest; a change that old code would misread takes the next number
KEPT = 2
PART_BYTES = 256_000_000  # writing a part holds a copy of it in memory
_NAME = re.compile(r"checkpoint-(\d{12})")
_TEMPORARY = re.compile(r"\.checkpoint-\d{12}\.[0-9a-f]{8}\.(new|old)")
Folder = TypeVar("Folder", Path, Remote, Place)


class StoredArrays(Mapping[str, NDArray[Any]]):
    """Arrays by name, in the files of a folder that `write_checked_arrays` wrote.

    A file is verified when an array of it is first requested; `DamagedFileError` if it does not
    match its checksum. Requested in the order of the files, each is read from disk once.
    """

    def __init__(self, folder: Place, checksums: Mapping[str, str]) -> None:
        """`checksums`: file name → checksum. Reads the heads of the files only."""
        self._folder, self._checksums = folder, dict(checksums)
        self._verified: set[str] = set()
        self._mapped: tuple[str, Arrays] = "", {}  # the file at hand and its arrays
        self._fetched: Path | None = None
        with ThreadPoolExecutor(1 if isinstance(folder, Path) else READERS) as pool:
            names = pool.map(lambda file: array_names(folder / file), self._checksums)
            self._file_of = {
                name: file for file, own in zip(self._checksums, names, strict=True) for name in own
            }

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The array, mapped. Writing to it changes neither the file nor other readers."""
        return self._arrays(self._file_of[name])[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._file_of)

    def __len__(self) -> int:
        return len(self._file_of)

    def __contains__(self, name: object) -> bool:
        """Look up a name without reading any array, as the inherited method would."""
        return name in self._file_of

    @property
    def folder(self) -> Place:
        """The folder of the files."""
        return self._folder

    def files_of(self, names: Iterable[str]) -> dict[str, str]:
        """The files that hold these arrays, with their checksums, in the order of the files."""
        files = {self._file_of[name] for name in names}
        return {file: checksum for file, checksum in self._checksums.items() if file in files}

    def verified_elsewhere(self, files: Iterable[str]) -> None:
        """Mark files that others have read and compared with their checksums."""
        self._verified.update(files)

    def verify(self) -> None:
        """Read every file that has not been verified."""
        for file in self._checksums:
            if file not in self._verified:
                self._arrays(file)
        self._mapped = "", {}

    def _arrays(self, file: str) -> Arrays:
        if self._mapped[0] != file:
            self._mapped = "", {}  # the last file is released before the next one is mapped
            self._mapped = file, self._open(file)
        return self._mapped[1]

    def _open(self, file: str) -> Arrays:
        arrays, metadata = map_arrays(self._here(file))
        if file not in self._verified:
            computed = checksum(arrays, str(metadata.get("facts", "")))
            if not computed == metadata.get("checksum") == self._checksums[file]:
                raise DamagedFileError(f"{self._folder / file} fails its checksum")
            self._verified.add(file)
        return arrays

    def _here(self, file: str) -> Path:
        """A file of this machine to map."""
        if isinstance(self._folder, Path):
            return self._folder / file
        if self._fetched is None:
            self._fetched = Path(mkdtemp(prefix="allstreets-"))
            finalize(self, rmtree, self._fetched, ignore_errors=True)
        path = self._fetched / file
        if not path.exists():
            try:
                (self._folder / file).fetch(path)
            except OSError as error:
                raise DamagedFileError(f"{self._folder / file} cannot be read: {error}") from None
        return path


class CheckpointWarning(UserWarning):
    """A part of a run could not be read or written; the run continues without it."""


@dataclass(frozen=True)
class Checkpoint:
    """Everything that a run needs to resume."""

    identity: Mapping[str, Any]  # JSON facts: game, algorithm, seed, …
    iterations: int
    seconds: float
    arrays: Mapping[str, NDArray[Any]]
    history: tuple[Mapping[str, Any], ...] = ()  # metrics by iteration, JSON objects
    code_version: str = field(default=__version__)
    write_elsewhere: Callable[[Place], Mapping[str, str]] | None = None
    """Lets other owners write their arrays as files of a folder; returns names and checksums."""


def require_no_checkpoints(folder: Place) -> None:
    """Refuse to start a fresh run in the folder of another."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder for the checkpoints")
    for _, path in _checkpoints(folder)[:1]:
        raise InputError(
            f"{folder} already contains a run ({path.name}); "
            "continue it with --resume, or name another folder"
        )


def newest_checkpoint(folder: Place) -> int | None:
    """The iterations of the newest checkpoint; None: there is none to resume from."""
    checkpoints = _checkpoints(folder)
    return checkpoints[-1][0] if checkpoints else None


def has_checkpoints(folder: Place) -> bool:
    """Whether there is a checkpoint to resume from."""
    return bool(_checkpoints(folder))


def require_checkpoints(folder: Place) -> None:
    """Refuse to resume without a checkpoint."""
    if not has_checkpoints(folder):
        raise InputError(f"{folder} contains no checkpoint; start the run without --resume")


def save_checkpoint(folder: Folder, checkpoint: Checkpoint) -> Folder:
    """Write a checkpoint and drop all but the last two; return its path.

    On a full disk, or any other failure to write, an `InputError`; older ones stay as they are.
    """
    target = folder / f"checkpoint-{checkpoint.iterations:012d}"
    try:
        with _appearing(target) as new:
            _write(new, checkpoint)
    except OSError as error:
        size = sum(array.nbytes for array in checkpoint.arrays.values()) / 1e6
        raise InputError(
            f"cannot write the checkpoint of iteration {checkpoint.iterations:,} to {folder}: "
            f"{error.strerror or error}\nEarlier checkpoints are kept. Make room "
            f"({size:,.0f} MB is needed), then continue with --resume."
        ) from error
    _drop_old(folder, checkpoint.iterations)
    return target


@contextmanager
def _appearing(target: Place) -> Iterator[Place]:
    """A folder to write a checkpoint to, manifest last; it appears at `target` whole or not at all.

    A checkpoint already at `target` is damaged, and the resume has skipped it.
    """
    if isinstance(target, Remote):
        _remove(target)
        try:
            yield target
        except BaseException:
            drop(target)
            raise
        return
    new = _temporary(target, "new")
    try:
        new.mkdir(parents=True)
        yield new
        if target.exists():
            target.rename(_temporary(target, "old"))
        new.rename(target)
        sync_folder(target.parent)
    except BaseException:
        drop(new)
        raise


def latest_checkpoint(folder: Place, identity: Mapping[str, Any]) -> Checkpoint:
    """The newest good checkpoint of the run that `identity` describes. Changes nothing on disk.

    A damaged checkpoint is skipped with a `CheckpointWarning`. An `InputError` when there is
    none, when none is good, or when the newest good one belongs to another run.
    """
    return restore_latest(folder, identity, lambda _: None)


def restore_latest(
    folder: Place,
    identity: Mapping[str, Any],
    restore: Callable[[Mapping[str, NDArray[Any]]], None],
) -> Checkpoint:
    """`latest_checkpoint`, whose arrays `restore` copies while they are read and verified.

    If a part turns out to be damaged, `restore` is called again with the arrays of the previous
    checkpoint, and must copy all of them. After an error some may have been copied.
    """
    require_checkpoints(folder)
    damage: list[str] = []
    for _, path in reversed(_checkpoints(folder)):
        try:
            checkpoint, arrays = _open(path, identity)
            _take_over(arrays, restore)
        except DamagedFileError as error:
            damage.append(str(error))
            continue
        for problem in damage:
            warnings.warn(
                f"{problem}; resuming from iteration {checkpoint.iterations:,} instead",
                CheckpointWarning,
                stacklevel=2,
            )
        return checkpoint
    raise InputError(
        f"no checkpoint in {folder} can be read, and nothing was changed: {damage[0]}\n"
        "Restore the folder from a backup, or start again in another folder."
    )


def _take_over(arrays: StoredArrays, restore: Callable[[Mapping[str, NDArray[Any]]], None]) -> None:
    """Call `restore`; any error that a damaged checkpoint causes is a `DamagedFileError`."""
    try:
        restore(arrays)
    except DamagedFileError:
        raise
    except Exception:
        arrays.verify()
        raise
    arrays.verify()


def _write(folder: Place, checkpoint: Checkpoint) -> None:
    parts = {}
    for number, names in enumerate(_parts(checkpoint.arrays)):
        name = f"arrays-{number:03d}.safetensors"
        arrays = {key: checkpoint.arrays[key] for key in names}
        parts[name] = write_checked_arrays(folder / name, arrays)
    if checkpoint.write_elsewhere is not None:
        parts.update(checkpoint.write_elsewhere(folder))
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "code_version": checkpoint.code_version,
        "identity": dict(checkpoint.identity),
        "iterations": checkpoint.iterations,
        "seconds": checkpoint.seconds,
        "files": parts,
        "history": [dict(row) for row in checkpoint.history],
    }
    manifest["checksum"] = _manifest_checksum(manifest)
    text = json.dumps(manifest, indent=1, allow_nan=False)
    write_atomic(folder / MANIFEST, lambda file: file.write(text.encode()))


def _open(path: Place, identity: Mapping[str, Any]) -> tuple[Checkpoint, StoredArrays]:
    """A checkpoint whose arrays are not read yet."""
    manifest = _read_manifest(path / MANIFEST)
    _require_same_run(path, manifest["identity"], json.loads(json.dumps(dict(identity))))
    arrays = StoredArrays(path, manifest["files"])
    checkpoint = Checkpoint(
        identity=manifest["identity"],
        iterations=manifest["iterations"],
        seconds=manifest["seconds"],
        arrays=arrays,
        history=tuple(manifest["history"]),
        code_version=manifest["code_version"],
    )
    return checkpoint, arrays


def _read_manifest(path: Place) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except OSError as error:
        raise DamagedFileError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{path} is damaged") from error
    if not isinstance(manifest, dict) or manifest.get("checksum") != _manifest_checksum(manifest):
        raise DamagedFileError(f"{path} is damaged")
    require_schema(path.parent, manifest, SCHEMA)
    return manifest


def _manifest_checksum(manifest: Mapping[str, Any]) -> str:
    """SHA-256 of everything else in the manifest, in a canonical spelling."""
    facts = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _require_same_run(path: Place, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse a checkpoint of another run, and say how that differs."""
    differences = _differences(stored, wanted)
    if differences:
        raise InputError(
            f"{path} belongs to another run: {'; '.join(differences)}.\n"
            "Resume with the settings it was made with, or name another folder."
        )


def _differences(stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    theirs, ours = dict(_facts(stored)), dict(_facts(wanted))
    return [
        f"{key} {theirs.get(key, 'not given')} there, {ours.get(key, 'not given')} here"
        for key in sorted(theirs.keys() | ours.keys())
        if theirs.get(key) != ours.get(key)
    ]


def _facts(facts: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """(key, JSON text) of every fact, nested ones too; a long text ends in its hash."""
    for key, value in facts.items():
        if isinstance(value, dict) and value:
            yield from _facts(value, f"{above}{key}.")
            continue
        text = json.dumps(value, sort_keys=True)
        if len(text) > 80:
            text = text[:60] + f"… ({hashlib.sha256(text.encode()).hexdigest()[:8]})"
        yield f"{above}{key}", text


def _parts(arrays: Mapping[str, NDArray[Any]]) -> Iterator[list[str]]:
    """Names of arrays that share a file: small ones together, up to the size of a part."""
    names: list[str] = []
    size = 0
    for name, array in arrays.items():
        if names and size + array.nbytes > PART_BYTES:
            yield names
            names, size = [], 0
        names.append(name)
        size += array.nbytes
    if names:
        yield names


def _checkpoints(folder: Place) -> list[tuple[int, Place]]:
    """(iterations, path) of everything named as a checkpoint, oldest first."""
    try:
        return [(iterations, path) for iterations, path in _named(folder) if _is_complete(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"the folder {folder} cannot be read: {why}") from None


def _named(folder: Place) -> list[tuple[int, Place]]:
    entries: list[Place] = [*folder.iterdir()]
    matches = ((_NAME.fullmatch(path.name), path) for path in entries)
    named = [(int(match[1]), path) for match, path in matches if match]
    return sorted(named, key=lambda each: each[0])


def _is_complete(path: Place) -> bool:
    return isinstance(path, Path) or (path / MANIFEST).exists()


def _temporary(target: Path, kind: str) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.{kind}")


def _drop_old(folder: Place, newest: int) -> None:
    """Remove all but the last two, and unfinished ones.

    Checkpoints beyond `newest` are damaged ones that a resume has skipped: a run only moves
    forward. A failure to remove costs disk space, not the run.
    """
    with suppress(OSError):
        checkpoints = _checkpoints(folder)
        good = [path for iterations, path in checkpoints if iterations <= newest]
        passed_over = [path for iterations, path in checkpoints if iterations > newest]
        for path in [*good[:-KEPT], *passed_over]:
            _remove(path)
    clear_unfinished_checkpoints(folder)


def clear_unfinished_checkpoints(folder: Place) -> None:
    """Remove the leftovers of interrupted writers; only for the folder's writer."""
    with suppress(OSError, InputError):
        if isinstance(folder, Remote):
            doomed = [path for _, path in _named(folder) if not _is_complete(path)]
        else:
            doomed = [path for path in folder.iterdir() if _TEMPORARY.fullmatch(path.name)]
        for path in doomed:
            drop(path)


def _remove(path: Place) -> None:
    """Remove its manifest first, so that no checkpoint is ever half removed."""
    if isinstance(path, Remote):
        (path / MANIFEST).unlink(missing_ok=True)
        path.remove()
        return
    doomed = _temporary(path, "old")
    path.rename(doomed)
    drop(doomed)
