"""Files in object stores and elsewhere, by URL: s3://bucket/run, gs://…, file:///…, through fsspec.

A `Remote` has the few methods of `pathlib.Path` that storing a solution needs, so that one piece of
code writes to both. Writers must respect two differences:

- Nothing can be renamed. A file appears whole when it has been written, or not at all; several
  files belong together once the one that lists them, written last, is there.
- Nothing can be mapped into memory. A file is fetched as a whole (`fetch`), or in parts.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from allstreets.base.errors import InputError

# Where folders are parts of names, and need not be made.
OBJECT_STORES = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "memory"}
SIGN = ".writable"


@dataclass(frozen=True)
class Remote:
    """A file or a folder somewhere else."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> "Remote":
        return Remote(f"{self.url}/{name}")

    @property
    def name(self) -> str:
        """The last part of the URL."""
        return self.url.rpartition("/")[2]

    @property
    def parent(self) -> "Remote":
        """The folder that contains it."""
        return Remote(self.url.rpartition("/")[0])

    def with_name(self, name: str) -> "Remote":
        """Another file in the same folder."""
        return self.parent / name

    def resolve(self) -> "Remote":
        """The same from every machine."""
        return self

    def exists(self) -> bool:
        """Whether there is a file or a folder."""
        with self._system() as (files, path):
            return bool(files.exists(path))

    def is_dir(self) -> bool:
        """Whether it is a folder: there are files below it."""
        with self._system() as (files, path):
            return bool(files.isdir(path))

    def size(self) -> int:
        """Bytes of a file."""
        with self._system() as (files, path):
            return int(files.size(path))

    def iterdir(self) -> "Iterator[Remote]":
        """Iterate over the entries of a folder; a missing folder has none."""
        with self._system() as (files, path):
            entries = files.ls(path, detail=False) if files.exists(path) else []
        names = {str(each).rstrip("/").rpartition("/")[2] for each in entries}
        yield from (self / name for name in sorted(names - {"", self.name}))

    def read_bytes(self, start: int | None = None, end: int | None = None) -> bytes:
        """The bytes of a file, or some of them."""
        with self._system() as (files, path):
            return bytes(files.cat_file(path, start=start, end=end))

    def write_bytes(self, data: bytes) -> None:
        """Write a small file."""
        with self._system() as (files, path):
            self._make_room(files, path)
            files.pipe_file(path, data)

    def write_whole(self, write: Callable[[BinaryIO], object]) -> None:
        """Call `write` on a temporary file of this machine, then put it here."""
        with tempfile.NamedTemporaryFile() as here:
            write(here.file)  # type: ignore[arg-type]
            here.flush()
            with self._system() as (files, path):
                self._make_room(files, path)
                files.put_file(here.name, path)

    def fetch(self, target: Path) -> None:
        """Copy a file to this machine."""
        with self._system() as (files, path):
            files.get_file(path, str(target))

    def mkdir(self, *, parents: bool = False, exist_ok: bool = False) -> None:
        """Folders come into being with their files."""

    def touch(self) -> None:
        """An empty file."""
        self.write_bytes(b"")

    def unlink(self, missing_ok: bool = False) -> None:
        """Remove a file."""
        try:
            with self._system() as (files, path):
                files.rm_file(path)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def remove(self) -> None:
        """Remove a file, or a folder with its contents; entries that cannot be removed stay."""
        with suppress(OSError), self._system() as (files, path):
            if files.exists(path):
                files.rm(path, recursive=True)

    def require_writable(self) -> None:
        """Refuse a place where nothing can be written, with a message for the user."""
        _open(self.url)
        try:
            (self / SIGN).touch()
            (self / SIGN).unlink()
        except OSError as error:
            raise InputError(
                f"cannot write to {self.url}: {str(error).strip() or type(error).__name__}\n"
                "The bucket must exist, and you need the right to read, write and remove there."
            ) from None

    def _make_room(self, files: Any, path: str) -> None:
        if not OBJECT_STORES.intersection(_protocols(files)):
            files.makedirs(path.rpartition("/")[0], exist_ok=True)

    @contextmanager
    def _system(self) -> Iterator[tuple[Any, str]]:
        """The file system and the path in it; every failure is an `OSError`."""
        files, path = _open(self.url)
        try:
            yield files, path
        except (OSError, InputError):
            raise
        except Exception as error:  # each file system has its own
            raise OSError(f"{type(error).__name__}: {error}") from error


Place = Path | Remote


def place_of(where: "str | Place") -> Place:
    """A folder of this machine, or elsewhere if it is a URL."""
    if isinstance(where, Path | Remote):
        return where
    return Remote(where.rstrip("/")) if "://" in where else Path(where)


def _protocols(files: Any) -> tuple[str, ...]:
    protocol = files.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _open(url: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise InputError(
            f"{url} needs fsspec, which is not installed.\n"
            "Install it: pip install allstreets[cluster]"
        ) from None
    try:
        files, path = url_to_fs(url, use_listings_cache=False)
    except ImportError as error:
        raise InputError(
            f"{url} cannot be opened: {error}.\n"
            "Install it, on every machine of the cluster; for s3:// it is pip install s3fs"
        ) from None
    except ValueError as error:
        raise InputError(
            f"{url} cannot be opened: {error}.\nName a folder, or a URL such as s3://bucket/run"
        ) from None
    return files, str(path)
