"""One file per flop: how bundles write them and read them back.

    FOLDER/flops-1f0a93c2/AsKh7d.safetensors

A file takes about as long to reach the disk as to be computed. Each is synced by itself, by a few
threads side by side: that took 5.9 s for 1,755 files of 600 kB, where syncing them all at the end
took 8.8 s. They are written under their own names, since readers look only at what the manifest
names.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from allstreets.base import Arrays, Place, Remote, sync_folder
from allstreets.storage.manifest import AGAIN
from allstreets.storage.mapped import write_mapped
from allstreets.storage.solution_files import SUFFIX, open_file, write_new

THREADS = 4  # that pack and write flops
OPENED = 64  # flops whose files stay open

Entry = dict[str, Any]  # bytes and sha256 of a file
FolderType = TypeVar("FolderType", Path, Remote, Place)


def flops_folder(folder: FolderType, token: str) -> FolderType:
    """The folder of a bundle's flops."""
    return folder / f"flops-{token}"


def write_flops(
    folder: Place, token: str, names: Sequence[str], arrays: Callable[[int], Arrays]
) -> list[Entry]:
    """Write the file of every flop, with its arrays given by place; returns their entries."""
    target = flops_folder(folder, token)
    target.mkdir(exist_ok=True)

    def write(index: int) -> Entry:
        return write_flop(target, names[index], arrays(index))

    with ThreadPoolExecutor(THREADS) as pool:
        try:
            entries = list(pool.map(write, range(len(names))))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    sync_folder(target)
    return entries


def write_flop(target: Place, name: str, arrays: Arrays) -> Entry:
    """Write the file of a flop into the folder of a bundle's flops."""
    return write_mapped(target / f"{name}{SUFFIX}", arrays, write_new)


def without_files(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the manifest without the facts of its file."""
    return {key: value for key, value in row.items() if key not in ("bytes", "sha256")}


class FlopFiles:
    """The flops of a bundle, each opened and verified when it is first needed."""

    def __init__(
        self,
        folder: Path,
        token: str,
        entries: Iterable[Mapping[str, Any]],
        advice: str = AGAIN,
    ) -> None:
        self._folder, self._token, self._advice = folder, token, advice
        self._entries = {str(entry["flop"]): entry for entry in entries}
        self.arrays = lru_cache(OPENED)(self._open)

    def _open(self, flop: str) -> Arrays:
        """The arrays of a flop."""
        path = flops_folder(self._folder, self._token) / f"{flop}{SUFFIX}"
        return open_file(self._folder, self._token, path, self._entries[flop], self._advice)
