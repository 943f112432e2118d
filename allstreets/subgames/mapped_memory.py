"""Arrays on disk that are used like memory (`memory: memmap`), for games larger than the machine.

The room is taken when an array is made, so that a disk that is too small is noticed at once and not
when a page is written. The files have no names any more once they are mapped: whatever ends the
process, nothing is left behind.
"""

import mmap
import os
from math import prod
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError


class MappedMemory:
    """Makes zeroed float32 arrays in nameless files of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.used = 0

    def __call__(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """An array of zeros."""
        size = 4 * prod(shape)
        if size == 0:
            return np.zeros(shape, np.float32)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder) as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    file.truncate(size)
                memory = mmap.mmap(file.fileno(), size)
        except OSError as error:
            raise InputError(
                f"memory memmap: {self.folder} has no room for {size / 1e6:,.0f} MB more "
                f"({error.strerror}); {self.used / 1e6:,.0f} MB are there. Use another disk, fewer "
                "flops or fewer sizes"
            ) from None
        self.used += size
        return np.frombuffer(memory, np.float32).reshape(shape)
