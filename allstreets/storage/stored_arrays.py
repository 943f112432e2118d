"""The arrays of a checkpoint, read part by part while a solver copies from them.

A solver fills half of a machine, and so does its checkpoint: both at once would not fit. So the
files are mapped, one at a time, and a mapping is released when no array of it is in use any more.
Files elsewhere (`Remote`) are fetched when they are needed, into a temporary folder that goes with
the arrays.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any
from weakref import finalize

from numpy.typing import NDArray

from allstreets.base import Arrays, DamagedFileError, Place, checksum
from allstreets.storage.mapped import array_names, map_arrays

READERS = 16  # threads that read the heads of files elsewhere


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
        """Others have read these files, and compared them with their checksums."""
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
