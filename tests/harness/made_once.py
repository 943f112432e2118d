"""Folders that take long to make, made once for all processes that run tests.

A folder is kept in the cache folder of the project under a hash of everything that it could depend
on: all sources of the package, the builders of tests, the processor and the versions of what the
numbers are computed with. Two processes that need the same folder at once wait for each other, and
the next run with the same sources finds it. It appears under its name when it is finished, so that
a process that is killed leaves nothing behind that looks like one.
"""

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np

from allstreets.base.cache import cache_folder
from allstreets.base.locks import held, is_held, share

ROOT = Path(__file__).parents[2]
ENDINGS = (".py", ".cu", ".cuh", ".yaml")
ELSEWHERE = {"web", "page", "__pycache__"}
"""Folders of the package in which nothing is solved."""
CACHE = cache_folder()
"""Where it is when tests begin; some of them let it be elsewhere for a while."""
UNUSED_SECONDS = 24 * 3600
"""Folders of other sources are removed once nobody has used them for a day."""
IN_USE = "in-use.lock"
UNFINISHED = "unfinished"


def made_once(name: str, make: Callable[[Path], Any], root: Path | None = None) -> Path:
    """The folder of this name, made by `make` if it is missing; it is read-only.

    `make` gets the path of a folder that does not exist yet.
    """
    folder = (root or _root()) / name.replace(" ", "-")
    if not folder.exists():
        with held(folder.with_suffix(".lock")):
            if not folder.exists():
                _make(folder, make)
    return folder


def copied(name: str, make: Callable[[Path], Any], to: Path) -> Path:
    """`to`, a copy of the folder of this name: for tests that might write to it."""
    shutil.copytree(made_once(name, make), to)
    return to


def _make(folder: Path, make: Callable[[Path], Any]) -> None:
    unfinished = folder.with_suffix(f".{UNFINISHED}")
    shutil.rmtree(unfinished, ignore_errors=True)  # of a process that was killed
    make(unfinished)
    unfinished.rename(folder)


def digest_of(files: Iterable[Path]) -> str:
    """A hash of what files are called and hold, and of what computes numbers here."""
    parts = [sys.version, np.__version__, numba.__version__, llvm.get_host_cpu_name()]
    found = hashlib.sha256(" ".join(parts).encode())
    for path in sorted(files):
        found.update(path.relative_to(ROOT).as_posix().encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def sources() -> Iterator[Path]:
    """The files that a solution could depend on."""
    yield Path(__file__)
    for top in (ROOT / "allstreets", ROOT / "tests" / "builders"):
        for folder, below, names in os.walk(top):
            below[:] = set(below) - ELSEWHERE
            yield from (Path(folder, name) for name in names if name.endswith(ENDINGS))


@cache
def _root() -> Path:
    root = CACHE / f"tests-{digest_of(sources())}"
    root.mkdir(parents=True, exist_ok=True)
    os.utime(root)
    share(root / IN_USE)
    remove_unused(CACHE, time.time())
    return root


def remove_unused(folder: Path, now: float) -> None:
    """Remove folders made from other sources that no process uses or has used for long."""
    for old in folder.glob("tests-*"):
        if now - old.stat().st_mtime > UNUSED_SECONDS and not is_held(old / IN_USE):
            shutil.rmtree(old, ignore_errors=True)
