"""A processor in the place of a GPU: the CUDA sources compiled as C++, few threads a block."""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allstreets.kernels.cuda.device import Device, DeviceUse, moved_bytes

LOOP = """
#ifdef HOST_TEAM
#include <vector>
extern "C" void run(void (*kernel)(const void *), int blocks, const void *argument) {
    std::vector<std::thread> team;
    for (int number = 0; number < HOST_TEAM; number++)
        team.emplace_back([=] {
            thread_number = number;
            for (int block = 0; block < blocks; block++) {
                meet();
                if (number == 0) {
                    BLOCK = block; // and nothing is left of the block before
                    for (float &each : shared_memory) each = NAN;
                }
                meet();
                kernel(argument);
            }
        });
    for (std::thread &one : team) one.join();
}
#else
extern "C" void run(void (*kernel)(const void *), int blocks, const void *argument) {
    for (BLOCK = 0; BLOCK < blocks; BLOCK++) kernel(argument);
}
#endif
"""


def compiler() -> str | None:
    """A compiler of C++ on this machine, if there is one."""
    return next((found for name in ("g++", "clang++") if (found := shutil.which(name))), None)


class HostKernels:
    """Kernels of a processor."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def launch(self, name: str, blocks: int, threads: int, shared: int, argument: int) -> None:
        """Run a kernel, block after block."""
        del threads, shared
        kernel = ctypes.cast(getattr(self._library, name), ctypes.c_void_p)
        self._library.run(kernel, ctypes.c_int(blocks), ctypes.c_void_p(argument))


@cache
def _library(source: str, defines: tuple[str, ...]) -> ctypes.CDLL:
    found = compiler()
    assert found is not None
    name = hashlib.sha256((source + str(defines)).encode()).hexdigest()[:16]
    folder = Path(tempfile.mkdtemp(prefix="allstreets-host-"))
    file, built = folder / f"{name}.cpp", folder / f"{name}.so"
    file.write_text(source + LOOP, encoding="utf-8")
    subprocess.run(
        [
            found, "-std=c++17", "-O2", "-march=native", "-ffp-contract=off",
            "-shared", "-fPIC", "-w", "-pthread",
            *(f"-D{one}" for one in defines), str(file), "-o", str(built),
        ],
        check=True,
    )  # fmt: skip
    library = ctypes.CDLL(str(built))
    shutil.rmtree(folder)
    return library


class HostDevice:
    """Memory and kernels of a processor; `team` threads work on a block."""

    name = "processor"
    shared_bytes = 227 * 1024
    free_bytes = 1 << 32

    def __init__(self, team: int = 1) -> None:
        self._defines = (f"HOST_TEAM={team}",) if team > 1 else ()

    def use(self, stored: int) -> DeviceUse:
        return DeviceUse(self.name, 1 << 30, 1e12, moved_bytes(stored))

    def put(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy()

    def zeros(self, size: int, dtype: Any = np.float32) -> NDArray[Any]:
        return np.zeros(size, dtype)

    def address(self, buffer: NDArray[Any]) -> int:
        return buffer.ctypes.data

    def write(self, buffer: NDArray[Any], array: NDArray[Any]) -> None:
        buffer[:] = array

    def read(self, buffer: NDArray[Any], array: NDArray[Any]) -> None:
        array[:] = buffer

    def landing(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return np.full(shape, np.nan, np.float32)

    def compile(self, source: str, defines: tuple[str, ...] = ()) -> HostKernels:
        return HostKernels(_library(source, (*defines, *self._defines)))

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        return work


CURRENT: list[Device] = []


def tried_device() -> Device:
    """The device of the test that runs."""
    return CURRENT[-1]
