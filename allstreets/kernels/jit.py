"""The one decorator that compiles a kernel.

Kernels are compiled when first called, release the GIL, and are kept on disk. Numba looks only at
the file of the function itself when it decides whether a kept kernel is still good, not at the
kernels it calls; so the folder carries a hash of all kernel sources, and any edit starts afresh.
"""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from allstreets.base.cache import cache_folder

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
        compiled = numba.njit(nogil=True, cache=can_keep(), error_model="numpy")(function)
    finally:
        config.CACHE_DIR = before
    return cast(Function, compiled)
