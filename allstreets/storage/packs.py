"""Packs: files of ready-made solutions, each the folder of a whole game in a few kilobytes.

    allstreets/library/hu-20bb.zip          hu-20bb/manifest.json, …
                       push-fold.zip        pf-1bb/manifest.json, …, pf-20bb/manifest.json, …

    NAME/manifest.json                      facts, figures, flops
         preflop-1f0a93c2.safetensors       strategies, values of the pots, entry ranges; compact
         certificate/certificate.json       its worth with real cards, and its leaks
         game.yaml                          the training file that it was made from
         pack.json                          the date, and the version that made it

A packed solution has a name instead of a folder. It is read through a copy, as a remote one is
(`mirror`), so that flops solved for its ranges can be kept beside it:

    DATA/library/5b7e1f0a93c2/hu-20bb/      made when it is first opened
"""

import hashlib
import json
import re
import secrets
import shutil
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import cached_property, lru_cache
from math import log
from pathlib import Path
from typing import Any

from allstreets.base import InputError, data_path, write_atomic
from allstreets.betting import CHIPS_PER_BB
from allstreets.solutions import Certificate
from allstreets.storage.manifest import CERTIFICATE, MANIFEST, MISFITS, cannot_write
from allstreets.version import __version__

LIBRARY = Path(__file__).parents[1] / "library"  # those that come with the package
PACK, GAME, NOTE = ".zip", "game.yaml", "pack.json"
GAMES = "games"  # folder of the files that packs are made from
NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")
AT_STACK = re.compile(r"(.+)-(\d+(?:\.\d+)?)bb")  # "hu-ante-20bb": a series of games, and a stack
FURTHEST = log(1.5)  # of a stack: one further away is another game
NEAR = 5  # names that an error about an unknown name lists
LARGEST_FILE = 20_000_000  # bytes: a pack from elsewhere may claim to hold anything
WRITTEN = (1980, 1, 1, 0, 0, 0)  # the date of files in a pack, which has its own in `pack.json`


class NearestStackWarning(UserWarning):
    """The nearest stack is opened instead of the one that was named."""


@dataclass(frozen=True, eq=False)
class Packed:
    """A solution in a pack."""

    file: Path
    name: str

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The solution's manifest."""
        manifests = _manifests(self.file, _stamp(self.file))
        if self.name not in manifests:
            raise _damaged(self.file, ValueError(f"there is no {self.name}/{MANIFEST}"))
        return _object(self.file, manifests[self.name])

    @cached_property
    def note(self) -> dict[str, Any]:
        """The date and version of its making."""
        return self._json(NOTE)

    @cached_property
    def certificate(self) -> Certificate | None:
        """The solution's certificate; None: it has none."""
        try:
            return Certificate.of(self._json(CERTIFICATE))
        except (InputError, *MISFITS):
            return None

    @cached_property
    def game(self) -> str:
        """The training file that it was made from."""
        return self._read(GAME).decode()

    @property
    def stack(self) -> float:
        """The stack of both players, in bb."""
        return float(self.facts["game"]["preflop"]["stack"]) / CHIPS_PER_BB

    @property
    def format(self) -> str:
        """The kind of game: "Push or fold", "Heads-up tournaments without antes"."""
        return self._headline[0] or AT_STACK.sub(r"\1", self.name)

    @property
    def tree(self) -> str:
        """The tree before the flop in words, as its training file states it; "": not stated."""
        return self._headline[1]

    @cached_property
    def _headline(self) -> tuple[str, str]:
        """The first comment of its training file, "# FORMAT: TREE", in its two parts.

        Where it has none, the comment of its series in the library.
        """
        file = LIBRARY / GAMES / f"{series_of(self.name)[0]}.yaml"
        texts = [self.game, file.read_text(encoding="utf-8") if file.exists() else ""]
        heads = [text.lstrip().partition("\n")[0] for text in texts]
        first = next((head for head in heads if head.startswith("#")), None)
        if first is None:
            return "", ""
        kind, _, tree = first.lstrip("# ").partition(":")
        return kind.strip(), tree.strip()

    def _json(self, member: str) -> dict[str, Any]:
        return _object(self.file, self._read(member))

    def _read(self, member: str) -> bytes:
        with _opened(self.file) as pack:
            return _member(pack, self.file, f"{self.name}/{member}")

    @cached_property
    def _members(self) -> tuple[tuple[str, int], ...]:
        """The solution's files in the pack, each with its checksum."""
        with _opened(self.file) as pack:
            infos = [info for info in pack.infolist() if info.filename.startswith(f"{self.name}/")]
        return tuple(sorted((info.filename, info.CRC) for info in infos if not info.is_dir()))

    @property
    def copy(self) -> Path:
        """The folder of this machine that it is opened from, whether it is there or not."""
        token = hashlib.sha256(json.dumps(self._members).encode()).hexdigest()[:12]
        return _copies() / token / self.name

    def folder(self) -> Path:
        """The same folder, made where it is not there yet."""
        folder = self.copy
        if not (folder / MANIFEST).exists():
            with _opened(self.file) as pack:
                _make(folder, {name: _member(pack, self.file, name) for name, _ in self._members})
        return folder


def _object(file: Path, text: bytes) -> dict[str, Any]:
    """The JSON object of a member of a pack."""
    try:
        return dict(json.loads(text))
    except MISFITS as error:
        raise _damaged(file, error) from None


def _stamp(file: Path) -> tuple[int, int]:
    """The time and size of a pack: another one has others."""
    try:
        stat = file.stat()
    except OSError as error:
        raise _damaged(file, error) from None
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=16)
def _manifests(file: Path, stamp: tuple[int, int]) -> dict[str, bytes]:
    """The manifests of all solutions of a pack, by name: one opening reads them all."""
    del stamp
    with _opened(file) as pack:
        names = [name for name in pack.namelist() if name.endswith(f"/{MANIFEST}")]
        return {name.partition("/")[0]: _member(pack, file, name) for name in names}


def packed_solutions(file: Path) -> list[Packed]:
    """The solutions of a pack, in their order."""
    with _opened(file) as pack:
        names = [name.partition("/") for name in pack.namelist()]
    packed = dict.fromkeys(name for name, _, member in names if member == MANIFEST)
    if not packed or not all(NAME.fullmatch(name) for name in packed):
        raise InputError(
            f"{file} contains no solutions: it was not made by allstreets library build"
        )
    return [Packed(file, name) for name in packed]


def library(folder: Path | None = None) -> dict[str, Packed]:
    """The ready-made solutions of a folder of packs, by name; by default those of the package."""
    files = sorted((folder or LIBRARY).glob(f"*{PACK}"))
    return {packed.name: packed for file in files for packed in packed_solutions(file)}


def unpacked(where: Path) -> Path:
    """The folder of a solution that is named by its folder, its pack or its name in the library.

    A stack that the library lacks opens the nearest one of its series, with a warning that says so.
    """
    if where.is_dir():
        return where
    if where.is_file() and where.suffix == PACK:
        solutions = packed_solutions(where)
        if len(solutions) > 1:
            raise InputError(
                f"{where} contains {len(solutions):,} solutions; name one of them: "
                f"{where / solutions[0].name}"
            )
        return solutions[0].folder()
    if where.parent.is_file() and where.parent.suffix == PACK:
        for packed in packed_solutions(where.parent):
            if packed.name == where.name:
                return packed.folder()
    if len(where.parts) == 1 and not where.exists() and NAME.fullmatch(where.name):
        ready = find_packed(where.name, library())
        if ready is not None:
            return ready.folder()
    return where


def find_packed(name: str, ready: Mapping[str, Packed]) -> Packed | None:
    """The solution of a name, or that of the nearest stack; None: no name is similar.

    A warning names the nearest stack, and an error near names.
    """
    if name in ready:
        return ready[name]
    series, stack = series_of(name)
    nearest = nearest_stack([each for each in ready if series_of(each)[0] == series], stack)
    if nearest is not None:
        there = series_of(nearest)[1]
        way = "deeper" if there > stack else "shallower"
        warnings.warn(
            f"there is no ready-made {name}: this is {nearest}, the nearest stack, "
            f"{abs(there - stack):g} bb {way} ({there / stack - 1:+.0%})",
            NearestStackWarning,
            stacklevel=2,
        )
        return ready[nearest]
    near = get_close_matches(name, ready, NEAR)
    if not near:
        return None
    raise InputError(
        f"{name} is neither a folder nor a ready-made solution; similar names: {', '.join(near)}.\n"
        "allstreets library lists all of them."
    )


def series_of(name: str) -> tuple[str, float]:
    """The series of a name, and its stack in bb; 0: it names none.

    >>> series_of("hu-ante-12.5bb"), series_of("game")
    (('hu-ante', 12.5), ('game', 0.0))
    """
    match = AT_STACK.fullmatch(name)
    return (name, 0.0) if match is None else (match[1], float(match[2]))


def nearest_stack(names: Sequence[str], stack: float) -> str | None:
    """The name whose stack is nearest in ratio; None: none is near enough."""
    near = [
        (distance, name)
        for name in names
        if (there := series_of(name)[1]) > 0 < stack
        and (distance := abs(log(there / stack))) <= FURTHEST
    ]
    return min(near)[1] if near else None


def packed_name(folder: Path) -> str | None:
    """The name of the ready-made solution that a folder is a copy of; None: it is not a copy."""
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
    return data_path("library").resolve()


def _make(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a packed solution and rename their folder into place."""
    temporary = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.tmp"
    try:
        for name, data in files.items():
            path = temporary / Path(*Path(name).parts[1:])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        with suppress(OSError):  # another process was faster, or one that died left a part
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
    return InputError(f"the pack {file} is damaged: {error}.\nDownload it again, or rebuild it.")
