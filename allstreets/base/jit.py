"""The decorators that compile kernels: what Python calls, what only kernels call, parts of loops.

Kernels are compiled when first called, release the GIL, and are cached on disk. Numba looks only at
the file of the function itself when it decides whether a cached kernel is still good, not at the
kernels it calls; so the folder carries a hash of all kernel sources, and any edit starts afresh.

Where several processes need the same kernel at once, one compiles it and the others load
it. A process waits only for kernels below the one that it compiles itself, so that no two
wait for each other.
"""

import hashlib
import os
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
from allstreets.base.kernel_cache import keep_compiled
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
"""Where kernels stand: all that the machine code of any of them may depend on."""

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def compiled_folder() -> Path:
    """The folder of compiled kernels; another one for every state of the sources."""
    digest = hashlib.sha256(numba.__version__.encode())
    package = Path(__file__).parents[1]
    for pattern in KERNEL_SOURCES:
        for source in sorted(package.glob(pattern)):
            digest.update(source.read_bytes())
    return cache_folder() / f"kernels-{digest.hexdigest()[:16]}"


@cache
def can_keep() -> bool:
    """Whether compiled kernels can be cached; without a folder every process compiles them."""
    folder = compiled_folder()
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
    """Remove folders of compiled kernels that no process uses, or has begun to use for long.

    Every state of the sources has its folder, of up to hundreds of megabytes. Others than the
    newest may be those of another checkout or environment, so only time tells which are not.
    """
    for folder in cache.glob("kernels-*"):
        if now - folder.stat().st_mtime > UNUSED_SECONDS and not is_held(folder / IN_USE):
            shutil.rmtree(folder, ignore_errors=True)


def kernel(function: Function) -> Function:
    """Compile `function`: no GIL, no bounds checks, IEEE arithmetic, cached on disk."""
    return cast(Function, _compiled(function))


def inner_kernel(function: Function) -> Function:
    """As `kernel`, for functions that only kernels call.

    What unpacks Python's arguments is left out. Where these are tuples of dozens of arrays it takes
    longer to compile than the kernel itself.
    """
    return cast(Function, _closed(_compiled(function, no_cpython_wrapper=True)))


def inlined_kernel(function: Function) -> Function:
    """As `inner_kernel`, for a few lines of a hot loop: Numba writes them out in their callers.

    So the compiler sees the whole loop at once, with numbers of actions that are known there.
    """
    compiled = _compiled(function, no_cpython_wrapper=True, inline="always")
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
    if can_keep():
        config: Any = numba.config
        before = config.CACHE_DIR  # it is put back for the user's own functions
        try:
            keep_compiled(compiled, function, compiled_folder())
        finally:
            config.CACHE_DIR = before
        compiled.compile = _alone(
            compiled.compile, f"{function.__module__}.{function.__qualname__}"
        )
    return compiled


def _alone(compile: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`compile`, which looks for a cached kernel first, by one process at a time."""

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, _held_once(name):
            return compile(signature)

    return compile_alone


_names_held: set[str] = set()  # by this process: a kernel that calls itself is compiled once


@contextmanager
def _held_once(name: str) -> Iterator[None]:
    """Hold the lock of a kernel."""
    if name in _names_held:
        yield
        return
    _names_held.add(name)
    try:
        with held(compiled_folder() / f"{name}.lock"):
            yield
    finally:
        _names_held.remove(name)
