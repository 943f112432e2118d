"""A processor that stands in for a GPU: CUDA sources compiled as C++, few threads a block."""

import ctypes
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from harness.made_once import made_once
from numpy.typing import NDArray

from allstreets.engines.device import Device, DeviceUse, moved_bytes

LIBRARY = "kernels.so"
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
    name = hashlib.sha256((source + str(defines)).encode()).hexdigest()[:16]

    def build(folder: Path) -> None:
        found = compiler()
        assert found is not None
        folder.mkdir()
        file = folder / "kernels.cpp"
        file.write_text(source + LOOP, encoding="utf-8")
        subprocess.run(
            [
                found, "-std=c++17", "-O2", "-march=native", "-ffp-contract=off",
                "-shared", "-fPIC", "-w", "-pthread",
                *(f"-D{one}" for one in defines), str(file), "-o", str(folder / LIBRARY),
            ],
            check=True,
        )  # fmt: skip

    return ctypes.CDLL(str(made_once(f"cuda-{name}", build) / LIBRARY))


class Lane:
    """Copies one after the other, each as late as it may be: what does not wait for one, misses it.

    A moment is the lane and how many of its copies were asked for by then; None: it is over.
    """

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] = []
        self._done = 0

    def ask(self, copy: Callable[[], None], after: Sequence[Any]) -> tuple["Lane", int]:
        def work() -> None:
            for moment in after:
                reach(moment)
            copy()

        self._waiting.append(work)
        return self, self._done + len(self._waiting)

    def reach(self, count: int) -> None:
        while self._done < count:
            work = self._waiting.pop(0)
            work()
            self._done += 1


def reach(moment: Any) -> None:
    """Do what is to be done by then; kernels are over when they are launched."""
    if moment is not None:
        lane, count = moment
        lane.reach(count)


class HostDevice:
    """Memory and kernels of a processor; `team` threads work on a block."""

    name = "processor"
    shared_bytes = 227 * 1024

    def __init__(self, team: int = 1, free_bytes: int = 1 << 32) -> None:
        self._defines = (f"HOST_TEAM={team}",) if team > 1 else ()
        self.free_bytes = free_bytes
        self._coming, self._going = Lane(), Lane()

    def release(self) -> None:
        """Arrays here are the system's own."""

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

    def copied(self, buffer: NDArray[Any]) -> NDArray[Any]:
        return buffer.copy()

    def copy_in(self, buffer: NDArray[Any], array: NDArray[Any], after: Sequence[Any]) -> Any:
        return self._coming.ask(lambda: self.write(buffer, array), after)

    def copy_out(self, buffer: NDArray[Any], array: NDArray[Any], after: Sequence[Any]) -> Any:
        return self._going.ask(lambda: self.read(buffer, array), after)

    def mark(self) -> Any:
        return None

    def wait(self, ticket: Any) -> None:
        reach(ticket)

    def finish(self, ticket: Any) -> None:
        reach(ticket)

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
