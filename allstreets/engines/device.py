"""The owner of arrays that runs kernels: an NVIDIA GPU, through CuPy.

Engines know only the protocol; tests give them a processor that runs the same sources. CuPy is
imported only when a GPU is asked for.
"""

import gc
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allstreets.base import InputError, Singles

CPU = "cpu"
DEVICE_PATTERN = r"^(cpu|cuda(:\d+)?)$"

Buffer = Any
"""An array on a device."""

Ticket = Any
"""A moment on a device: everything launched before it is over."""


@dataclass(frozen=True)
class DeviceUse:
    """A job's use of a device."""

    name: str
    used_bytes: int  # memory that is taken
    peak: float  # bytes a second that its memory moves at best
    moved_bytes: int  # of stored numbers in an iteration: the least that it must move


def moved_bytes(stored: int) -> int:
    """Bytes of an iteration: two reads and a write of regrets, one of each of averages.

    >>> moved_bytes(4 + 4)
    20
    """
    return 5 * stored // 2


class Kernels(Protocol):
    """Compiled sources."""

    def launch(self, name: str, blocks: int, threads: int, shared: int, argument: int) -> None:
        """Run a kernel with one argument, an address; it is over when the next one begins.

        `shared` are bytes of shared memory for each block.
        """


class Device(Protocol):
    """Memory, and kernels that run one after the other."""

    @property
    def name(self) -> str:
        """The name of the device in messages."""

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a block may have."""

    @property
    def free_bytes(self) -> int:
        """Free memory."""

    def release(self) -> None:
        """Return memory that no array uses to the system, for other processes."""

    def use(self, stored: int) -> DeviceUse:
        """The use by a job that stores this many bytes, half regrets and half averages."""

    def put(self, array: NDArray[Any]) -> Buffer:
        """A copy there."""

    def zeros(self, size: int, dtype: Any = np.float32) -> Buffer:
        """An array of zeros there."""

    def address(self, buffer: Buffer) -> int:
        """The address of an array."""

    def write(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy into an array there."""

    def read(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy from an array there, when all kernels are done."""

    def copied(self, buffer: Buffer) -> Buffer:
        """A copy of an array there, as it is when all kernels are done."""

    def landing(self, shape: tuple[int, ...]) -> Singles:
        """A new array on this machine from and into which copies are fast; undefined numbers."""

    # Copies beside the kernels: those to the device in order, and those from it in order.

    def copy_in(self, buffer: Buffer, array: NDArray[Any], after: Sequence[Ticket]) -> Ticket:
        """Copy an array of `landing` there, not before some moments."""

    def copy_out(self, buffer: Buffer, array: NDArray[Any], after: Sequence[Ticket]) -> Ticket:
        """Copy into an array of `landing`."""

    def mark(self) -> Ticket:
        """Mark the moment when the kernels launched so far are over."""

    def wait(self, ticket: Ticket) -> None:
        """Make later kernels wait for a moment."""

    def finish(self, ticket: Ticket) -> None:
        """Wait for a moment, here."""

    def compile(self, source: str, defines: tuple[str, ...] = ()) -> Kernels:
        """Compile a source, or take it from an earlier time."""

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """A function that relaunches the kernels of `work`, all at once where the device can."""


class CudaKernels:
    """Kernels of a GPU."""

    def __init__(self, module: Any, guard: Callable[[], Any]) -> None:
        self._module, self._functions, self._guard = module, dict[str, Any](), guard

    def launch(self, name: str, blocks: int, threads: int, shared: int, argument: int) -> None:
        """Run a kernel."""
        function = self._functions.get(name)
        with self._guard():
            if function is None:
                function = self._functions[name] = self._module.get_function(name)
            if shared > function.max_dynamic_shared_size_bytes:
                function.max_dynamic_shared_size_bytes = shared
                function.preferred_shared_memory_carveout = 100  # as many blocks as have room
            function((blocks,), (threads,), (np.uint64(argument),), shared_mem=shared)


class CudaDevice:
    """An NVIDIA GPU."""

    def __init__(self, number: int = 0) -> None:
        self._cupy = _cupy()
        self.number, self._device = number, self._cupy.cuda.Device(number)
        with self._device:
            self._stream, self._coming, self._going = (
                self._cupy.cuda.Stream(non_blocking=True) for _ in range(3)
            )
        self._turn = threading.RLock()
        facts: Mapping[str, Any] = self._cupy.cuda.runtime.getDeviceProperties(number)
        self.name: str = facts["name"].decode()
        self.shared_bytes: int = int(facts["sharedMemPerBlockOptin"])
        self.memory_bytes: int = int(facts["totalGlobalMem"])
        ask = self._cupy.cuda.runtime.deviceGetAttribute
        # Kilohertz, twice a tick, and bits: attributes 36 and 37 of the CUDA runtime.
        self.peak = 2e3 * ask(36, number) * ask(37, number) / 8

    @property
    def free_bytes(self) -> int:
        """Free memory."""
        pool = self._cupy.get_default_memory_pool()
        return int(self._device.mem_info[0]) + int(pool.free_bytes())

    def release(self) -> None:
        """Return memory that no array uses to the system."""
        with self._guard():
            self._cupy.get_default_memory_pool().free_all_blocks()
            self._cupy.get_default_pinned_memory_pool().free_all_blocks()

    def use(self, stored: int) -> DeviceUse:
        """The use by a job."""
        return DeviceUse(
            self.name, self.memory_bytes - self.free_bytes, self.peak, moved_bytes(stored)
        )

    @contextmanager
    def _guard(self) -> Iterator[None]:
        """One thread at a time, on one stream; errors become messages of two lines."""
        cuda = self._cupy.cuda
        try:
            with self._turn, self._device, self._stream:
                yield
        except cuda.memory.OutOfMemoryError:
            raise InputError(
                f"the GPU has no memory left: {self.free_bytes / 1e9:.1f} GB are free now.\n"
                "Make the job smaller (precision: float16, fewer sizes or flops), or use the cpu"
            ) from None
        except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
            raise InputError(
                f"the GPU stopped working: {error}.\nThe last save is intact; continue with "
                "--resume, there or with device: cpu"
            ) from None

    def put(self, array: NDArray[Any]) -> Buffer:
        """A copy there; records are bytes to CuPy."""
        with self._guard():
            return self._cupy.asarray(array.view(np.uint8) if array.dtype.fields else array)

    def zeros(self, size: int, dtype: Any = np.float32) -> Buffer:
        """An array of zeros there."""
        with self._guard():
            return self._cupy.zeros(size, dtype)

    def address(self, buffer: Buffer) -> int:
        """The address of an array."""
        return int(buffer.data.ptr)

    def write(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy into an array there."""
        with self._guard():
            buffer.set(array)

    def read(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy from an array there."""
        with self._guard():
            buffer.get(out=array)

    def copied(self, buffer: Buffer) -> Buffer:
        """A copy there."""
        with self._guard():
            return buffer.copy()

    def copy_in(self, buffer: Buffer, array: NDArray[Any], after: Sequence[Ticket]) -> Ticket:
        """Copy there beside the kernels."""
        with self._guard():
            return self._copy(buffer.data.ptr, array.ctypes.data, array.nbytes, self._coming, after)

    def copy_out(self, buffer: Buffer, array: NDArray[Any], after: Sequence[Ticket]) -> Ticket:
        """Copy from there beside the kernels."""
        with self._guard():
            return self._copy(array.ctypes.data, buffer.data.ptr, array.nbytes, self._going, after)

    def _copy(
        self, to: int, source: int, size: int, stream: Any, after: Sequence[Ticket]
    ) -> Ticket:
        for ticket in after:
            stream.wait_event(ticket)
        runtime = self._cupy.cuda.runtime
        runtime.memcpyAsync(to, source, size, runtime.memcpyDefault, stream.ptr)
        return self._moment(stream)

    def _moment(self, stream: Any) -> Ticket:
        event = self._cupy.cuda.Event(disable_timing=True)
        event.record(stream)
        return event

    def mark(self) -> Ticket:
        """Mark the moment when the kernels so far are over."""
        with self._guard():
            return self._moment(self._stream)

    def wait(self, ticket: Ticket) -> None:
        """Let later kernels wait."""
        with self._guard():
            self._stream.wait_event(ticket)

    def finish(self, ticket: Ticket) -> None:
        """Wait here."""
        with self._guard():
            ticket.synchronize()

    def landing(self, shape: tuple[int, ...]) -> Singles:
        """Pinned memory, of a pool: written by the GPU itself, and paged in once."""
        from cupyx import empty_pinned

        buffer: Singles = empty_pinned(shape, np.float32)
        return buffer

    def compile(self, source: str, defines: tuple[str, ...] = ()) -> CudaKernels:
        """Compile a source; CuPy keeps what it compiled."""
        options = ("--std=c++17", *(f"-D{name}" for name in defines))
        with self._guard():
            return CudaKernels(self._cupy.RawModule(code=source, options=options), self._guard)

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """A CUDA graph: one launch instead of many."""
        with self._guard():
            self._stream.begin_capture()
            work()
            graph = self._stream.end_capture()

        def replay() -> None:
            with self._guard():
                graph.launch(self._stream)

        return replay


def _cupy() -> Any:
    """CuPy, or an error that says what is missing."""
    try:
        import cupy
    except ImportError as error:
        raise InputError(
            f"device: cuda needs CuPy, which cannot be imported here: {error}.\n"
            "Install it with: pip install 'allstreets[gpu]'; without a GPU use device: cpu"
        ) from None
    return cupy


def gpu_count() -> int:
    """GPUs of this machine; an `InputError` without CuPy or a driver."""
    cupy = _cupy()
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise InputError(
            f"device: cuda finds no GPU that works here: {error}.\n"
            "Look at nvidia-smi; without a GPU, or with an old driver, use device: cpu"
        ) from None


def gpu_names() -> list[str]:
    """The names of this machine's GPUs; none is opened."""
    runtime, count = _cupy().cuda.runtime, gpu_count()
    return [runtime.getDeviceProperties(number)["name"].decode() for number in range(count)]


@cache
def _opened(number: int) -> CudaDevice:
    return CudaDevice(number)


def named_device(name: str) -> str:
    """A valid device name, whether or not the device exists."""
    if not re.fullmatch(DEVICE_PATTERN, name):
        raise InputError(
            f"there is no device '{name}': cpu is the processor, cuda the first GPU of this "
            "machine, cuda:1 the second"
        )
    return name


def open_device(name: str) -> Device | None:
    """The device of a name: None for "cpu"; "cuda", "cuda:1" is a GPU of this machine."""
    if named_device(name) == CPU:
        return None
    number, count = int(name.partition(":")[2] or 0), gpu_count()
    if number >= count:
        raise InputError(
            f"device: there is no GPU number {number} here: there are {count}, from 0 on"
        )
    return _opened(number)


def release_memory(name: str) -> None:
    """Return unused memory of a GPU: other processes use it, too."""
    device = open_device(name)
    if device is not None:
        gc.collect()  # what garbage holds is not unused yet
        device.release()
