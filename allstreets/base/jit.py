"""The decorators that compile kernels: what Python calls, what only kernels call, parts of loops.

Kernels are compiled when first called, release the GIL, and are cached on disk. Numba looks only at
the file of the function itself when it decides whether a cached kernel is still good, not at the
kernels it calls. So each file of kernels has a folder whose name carries a hash of that file and of
all files it imports: an edit compiles what depends on it, and nothing else.

Where several processes need the same kernel at once, one compiles it and the others load
it. A process waits only for kernels below the one that it compiles itself, so that no two
wait for each other.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.compiler_lock import global_compiler_lock

from allstreets.base.cache import cache_folder
from allstreets.base.kernel_cache import InnerCompiler, cache_compiled
from allstreets.base.locks import held, is_held, share

UNUSED_SECONDS = 14 * 24 * 3600
"""Compiled kernels that nothing has used for two weeks are removed when others are compiled."""
IN_USE = "in-use.lock"
"""In a folder of compiled kernels: shared by the processes that use it."""
KERNEL_SOURCES = (
    "base/jit.py",
    "base/kernel_cache.py",
    "*/kernels/*.py",
    "engines/simd/*.py",
    "engines/*/kernels/*.py",
)
"""The files that hold kernels."""
PACKAGE = Path(__file__).parents[1]
IMPORT = re.compile(r"^(?:from|import) allstreets\.([\w.]+)", re.MULTILINE)
DECORATORS = tuple(PACKAGE / "base" / name for name in ("jit.py", "kernel_cache.py"))
"""Files that define how kernels are compiled and stored: every kernel depends on them."""
INNER: dict[str, Any] = {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}
"""Options of kernels that only kernels call."""

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def compiled_folder() -> Path:
    """The folder of notes on all compiled kernels together, for their present sources."""
    sources = {path for pattern in KERNEL_SOURCES for path in PACKAGE.glob(pattern)}
    folder = _folder("all", sources)
    can_cache(folder)
    return folder


@cache
def module_folder(file: Path) -> Path:
    """The folder of the compiled kernels of the present version of a source file."""
    return _folder(file.stem, {*sources_below(file), *DECORATORS})


def sources_below(file: Path) -> set[Path]:
    """A source file and all files of this package that it imports, directly or not.

    Kernels import only kernels, at the top of their files, and `base`, which holds no numbers.
    """
    known, waiting = {file}, [file]
    while waiting:
        for module in IMPORT.findall(waiting.pop().read_text(encoding="utf-8")):
            path = PACKAGE.joinpath(*module.split("."))
            if path.name == "base":
                continue
            files = set(path.glob("*.py")) if path.is_dir() else {path.with_suffix(".py")}
            waiting += files - known
            known |= files
    return known


def _folder(name: str, sources: set[Path]) -> Path:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(sources):
        digest.update(source.read_bytes())
    return cache_folder() / f"kernels-{name}-{digest.hexdigest()[:16]}"


@cache
def can_cache(folder: Path) -> bool:
    """Whether compiled kernels can be cached there; without it every process compiles them."""
    try:
        new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        share(folder / IN_USE)
        if new:
            remove_unused(folder.parent, time.time())
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def remove_unused(cache: Path, now: float) -> None:
    """Remove folders of compiled kernels that no process uses or has opened for two weeks.

    Every version of a source file has its own folder. An older one may belong to another checkout
    or environment, so only its age shows that it is no longer needed.
    """
    for folder in cache.glob("kernels-*"):
        if now - folder.stat().st_mtime > UNUSED_SECONDS and not is_held(folder / IN_USE):
            shutil.rmtree(folder, ignore_errors=True)


def kernel(function: Function) -> Function:
    """Compile `function`: no GIL, no bounds checks, IEEE arithmetic, cached on disk."""
    return cast(Function, _compiled(function))


def inner_kernel(function: Function) -> Function:
    """Compile like `kernel`, for functions that only kernels call.

    The code that unpacks Python's arguments is left out: for tuples of dozens of arrays it takes
    longer to compile than the kernel itself.
    """
    return cast(Function, _closed(_compiled(function, **INNER)))


def inlined_kernel(function: Function) -> Function:
    """Compile like `inner_kernel`, for a few lines of a hot loop: Numba writes them out in callers.

    So the compiler sees the whole loop at once, with the number of actions known.
    """
    compiled = _compiled(function, inline="always", **INNER)
    return cast(Function, _closed(compiled))


def _closed(compiled: Any) -> Any:
    """A kernel that Python cannot call; without a wrapper Numba would jump to address 0."""

    def refuse(*_: Any, **__: Any) -> None:
        raise TypeError(f"{compiled.__qualname__} is an inner kernel: only kernels can call it")

    compiled._insert = lambda *_: None  # so that Python finds no compiled version and requests one
    compiled._compile_for_args = refuse
    return compiled


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    every: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,  # kernels are never passed to C
        **options,
    }
    compiled: Any = numba.njit(**every)(function)
    folder = module_folder(Path(function.__code__.co_filename))
    if can_cache(folder):
        config: Any = numba.config
        before = config.CACHE_DIR  # it is put back for the user's own functions
        try:
            cache_compiled(compiled, function, folder)
        finally:
            config.CACHE_DIR = before
        name = f"{function.__module__}.{function.__qualname__}"
        compiled.compile = _alone(compiled.compile, folder / f"{name}.lock")
    return compiled


def _alone(compile: Callable[..., Any], lock: Path) -> Callable[..., Any]:
    """`compile`, which looks for a cached kernel first, by one process at a time."""

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, _held_once(lock):
            return compile(signature)

    return compile_alone


_locks_held: set[Path] = set()  # by this process: a kernel that calls itself is compiled once


@contextmanager
def _held_once(lock: Path) -> Iterator[None]:
    """Hold the lock of a kernel."""
    if lock in _locks_held:
        yield
        return
    _locks_held.add(lock)
    try:
        with held(lock):
            yield
    finally:
        _locks_held.remove(lock)
