"""Packs: files of ready-made solutions, each the folder of a whole game in a few kilobytes.

    allstreets/library/hu-20bb.zip          hu-20bb/manifest.json, …
                       push-fold.zip        pf-1bb/manifest.json, …, pf-20bb/manifest.json, …

    NAME/manifest.json                      facts, figures, flops
         preflop-1f0a93c2.safetensors       strategies, values of the pots, entry ranges; compact
         certificate/certificate.json       its worth with real cards, and its leaks
         game.yaml                          the training file that it was made from
         pack.json                          the date, and the version that made it

A packed solution has a name instead of a folder. It is read through a copy, as one elsewhere is
(`mirror`), so that flops that are solved for its ranges can be kept beside it:

    CACHE/library/5b7e1f0a93c2/hu-20bb/     made when it is first opened
"""

import hashlib
import json
import re
import secrets
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from allstreets.base import InputError, cache_folder, write_atomic
from allstreets.solutions import Certificate
from allstreets.storage.manifest import CERTIFICATE, MANIFEST, MISFITS, cannot_write
from allstreets.version import __version__

LIBRARY = Path(__file__).parents[1] / "library"  # those that come with the package
PACK, GAME, NOTE = ".zip", "game.yaml", "pack.json"
NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")
LARGEST_FILE = 20_000_000  # bytes: a pack from elsewhere may claim to hold anything
WRITTEN = (1980, 1, 1, 0, 0, 0)  # the date of files in a pack, which has its own in `pack.json`


@dataclass(frozen=True, eq=False)
class Packed:
    """A solution in a pack."""

    file: Path
    name: str

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Its manifest."""
        return self._json(MANIFEST)

    @cached_property
    def note(self) -> dict[str, Any]:
        """When and by which version it was made."""
        return self._json(NOTE)

    @cached_property
    def certificate(self) -> Certificate | None:
        """Its certificate; None: it has none."""
        try:
            return Certificate.of(self._json(CERTIFICATE))
        except (InputError, *MISFITS):
            return None

    @cached_property
    def game(self) -> str:
        """The training file that it was made from."""
        return self._read(GAME).decode()

    def _json(self, member: str) -> dict[str, Any]:
        try:
            return dict(json.loads(self._read(member)))
        except MISFITS as error:
            raise _damaged(self.file, error) from None

    def _read(self, member: str) -> bytes:
        with _opened(self.file) as pack:
            return _member(pack, self.file, f"{self.name}/{member}")

    def folder(self) -> Path:
        """The folder of this machine to open it from, made where it is not there yet."""
        with _opened(self.file) as pack:
            infos = [info for info in pack.infolist() if info.filename.startswith(f"{self.name}/")]
            sums = sorted((info.filename, info.CRC) for info in infos)
            token = hashlib.sha256(json.dumps(sums).encode()).hexdigest()[:12]
            folder = _copies() / token / self.name
            if not (folder / MANIFEST).exists():
                files = {
                    info.filename: _member(pack, self.file, info.filename)
                    for info in infos
                    if not info.is_dir()
                }
                _make(folder, files)
        return folder


def packed_solutions(file: Path) -> list[Packed]:
    """The solutions of a pack, in their order."""
    with _opened(file) as pack:
        names = [name.partition("/") for name in pack.namelist()]
    found = dict.fromkeys(name for name, _, member in names if member == MANIFEST)
    if not found or not all(NAME.fullmatch(name) for name in found):
        raise InputError(f"{file} holds no solutions: it is no pack of allstreets library build")
    return [Packed(file, name) for name in found]


def library(folder: Path | None = None) -> dict[str, Packed]:
    """The ready-made solutions of a folder of packs, by name; by default those of the package."""
    files = sorted((folder or LIBRARY).glob(f"*{PACK}"))
    return {packed.name: packed for file in files for packed in packed_solutions(file)}


def unpacked(where: Path) -> Path:
    """The folder of a solution that is named by its folder, its pack or its name in the library."""
    if where.is_dir():
        return where
    if where.is_file() and where.suffix == PACK:
        solutions = packed_solutions(where)
        if len(solutions) > 1:
            raise InputError(
                f"{where} holds {len(solutions):,} solutions; name one of them: "
                f"{where / solutions[0].name}"
            )
        return solutions[0].folder()
    if where.parent.is_file() and where.parent.suffix == PACK:
        for packed in packed_solutions(where.parent):
            if packed.name == where.name:
                return packed.folder()
    if len(where.parts) == 1 and not where.exists() and NAME.fullmatch(where.name):
        ready = library().get(where.name)
        if ready is not None:
            return ready.folder()
    return where


def packed_name(folder: Path) -> str | None:
    """The name of the ready-made solution that a folder is a copy of; None: it is none."""
    folder = folder.resolve()
    return folder.name if folder.parent.parent == _copies() else None


def write_pack(file: Path, folders: Mapping[str, Path], games: Mapping[str, str]) -> None:
    """Write the solutions of folders into a pack, whole or not at all; `games` are their YAML."""
    made = datetime.now(UTC).date().isoformat()
    note = json.dumps({"date": made, "code_version": __version__})

    def write(out: Any) -> None:
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as pack:
            for name, folder in folders.items():
                manifest = json.loads((folder / MANIFEST).read_bytes())
                preflop = str(manifest["files"]["preflop"]["file"])
                members = {
                    MANIFEST: (folder / MANIFEST).read_bytes(),
                    preflop: (folder / preflop).read_bytes(),
                    GAME: games[name].encode(),
                    NOTE: note.encode(),
                }
                if (folder / CERTIFICATE).exists():
                    members[CERTIFICATE] = (folder / CERTIFICATE).read_bytes()
                for member, data in members.items():
                    info = zipfile.ZipInfo(f"{name}/{member}", WRITTEN)
                    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                    pack.writestr(info, data)

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, write)
    except OSError as error:
        raise cannot_write(file, error) from error


def _copies() -> Path:
    return (cache_folder() / "library").resolve()


def _make(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a packed solution and rename their folder into place."""
    temporary = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.tmp"
    try:
        for name, data in files.items():
            path = temporary / Path(*Path(name).parts[1:])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        with suppress(OSError):  # another process was faster, or one that died has left a part
            temporary.rename(folder)
        if not (folder / MANIFEST).exists():
            shutil.rmtree(folder, ignore_errors=True)
            temporary.rename(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as pack:
            yield pack
    except (OSError, zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise _damaged(file, error) from None


def _member(pack: zipfile.ZipFile, file: Path, name: str) -> bytes:
    parts = Path(name).parts
    if len(parts) > 3 or ".." in parts or "\\" in name or ":" in name:
        raise _damaged(file, ValueError(f"'{name}' leads out of its folder"))
    try:
        info = pack.getinfo(name)
    except KeyError:
        raise _damaged(file, ValueError(f"there is no {name}")) from None
    if info.file_size > LARGEST_FILE:
        raise _damaged(file, ValueError(f"{name} has {info.file_size:,} bytes"))
    return pack.read(info)


def _damaged(file: Path, error: Exception) -> InputError:
    return InputError(f"the pack {file} is damaged: {error}.\nGet it again, or build it again.")
