"""The one decorator that compiles a kernel.

Kernels are compiled when first called, release the GIL, and are kept on disk. Numba looks only at
the file of the function itself when it decides whether a kept kernel is still good, not at the
kernels it calls; so the folder carries a hash of all kernel sources, and any edit starts afresh.

Where several processes need the same kernel at once, one compiles it and the others take what it
has kept. A process waits only for kernels below the one that it compiles itself, so that no two
wait for each other.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core.compiler_lock import global_compiler_lock

from allstreets.base.cache import cache_folder
from allstreets.base.locks import held

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def compiled_folder() -> Path:
    """Where compiled kernels are kept; another folder for every state of the sources."""
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return cache_folder() / f"kernels-{digest.hexdigest()[:16]}"


@cache
def can_keep() -> bool:
    """Whether compiled kernels can be kept; without a folder they are compiled in every process."""
    try:
        compiled_folder().mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(compiled_folder(), os.W_OK)


def kernel(function: Function) -> Function:
    """Compile `function`: no GIL, no bounds checks, IEEE arithmetic, kept on disk."""
    config: Any = numba.config
    before = config.CACHE_DIR
    # Numba reads the folder while it decorates. It is put back for the user's own functions.
    config.CACHE_DIR = str(compiled_folder())
    try:
        compiled: Any = numba.njit(nogil=True, cache=can_keep(), error_model="numpy")(function)
    finally:
        config.CACHE_DIR = before
    if can_keep():
        compiled.compile = _alone(
            compiled.compile, f"{function.__module__}.{function.__qualname__}"
        )
    return cast(Function, compiled)


def _alone(compile: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`compile`, which looks for a kept kernel first, by one process at a time."""

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
