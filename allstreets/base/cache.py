"""Tables that are computed once and stored in the user's cache folder.

A table is identified by its name and version; a damaged file counts as absent and is rebuilt.
Where two processes need the same table at once, one builds it and the other reads it.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from allstreets.base.files import (
    Arrays,
    DamagedFileError,
    read_checked_arrays,
    write_checked_arrays,
)
from allstreets.base.locks import held

FOLDER_VARIABLE = "ALLSTREETS_CACHE"


def cache_folder() -> Path:
    """The folder of cached tables: $ALLSTREETS_CACHE, or the platform's usual one."""
    chosen = os.environ.get(FOLDER_VARIABLE)
    return Path(chosen) if chosen else user_cache_path("allstreets", appauthor=False)


def data_path(name: str) -> Path:
    """The path of a file or folder that belongs to the user: only the user removes it.

    The variable $ALLSTREETS_… with the name in capitals overrides the platform's data folder.
    """
    chosen = os.environ.get(f"ALLSTREETS_{Path(name).stem.upper()}")
    return Path(chosen) if chosen else user_data_path("allstreets", appauthor=False) / name


def cache_path(name: str, version: int) -> Path:
    """The file of a table's arrays."""
    return cache_folder() / f"{name}-v{version}.safetensors"


def cached_arrays(name: str, version: int, build: Callable[[], Arrays]) -> Arrays:
    """The arrays of table `name`, from the cache folder, or else from `build` and then stored.

    A cache folder that cannot be read or written costs time, never the result.
    """
    path = cache_path(name, version)
    with suppress(OSError, DamagedFileError):
        return read_checked_arrays(path)[0]
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    with held(path.with_suffix(".lock")):
        with suppress(OSError, DamagedFileError):
            return read_checked_arrays(path)[0]
        arrays = build()
        with suppress(OSError):
            write_checked_arrays(path, arrays, {"name": name, "version": version})
    return arrays
