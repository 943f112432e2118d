"""Who owns arrays and runs kernels: an NVIDIA GPU, through CuPy.

Engines know the protocol alone. Tests hand them a processor that runs the same sources.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Buffer = Any
"""An array on a device."""


class Kernels(Protocol):
    """Compiled sources."""

    def launch(self, name: str, blocks: int, threads: int, shared: int, argument: int) -> None:
        """Run a kernel with one argument, an address; it is over when the next one begins.

        `shared` are bytes of shared memory for each block.
        """


class Device(Protocol):
    """Memory, and kernels that run there one after the other."""

    @property
    def name(self) -> str:
        """As people know it."""

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a block may have."""

    def put(self, array: NDArray[Any]) -> Buffer:
        """A copy there."""

    def zeros(self, size: int, dtype: Any = np.float32) -> Buffer:
        """An array of zeros there."""

    def address(self, buffer: Buffer) -> int:
        """Where an array begins."""

    def write(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy into an array there."""

    def read(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy from an array there, when all kernels are done."""

    def landing(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """A new array on this machine into which `read` is fast; what it holds is undefined."""

    def compile(self, source: str, defines: tuple[str, ...] = ()) -> Kernels:
        """Compile a source, or take it from an earlier time."""

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """What launches the kernels of `work` again, all at once where the device can."""


class CudaKernels:
    """Kernels of a GPU."""

    def __init__(self, module: Any) -> None:
        self._module, self._functions = module, dict[str, Any]()

    def launch(self, name: str, blocks: int, threads: int, shared: int, argument: int) -> None:
        """Run a kernel."""
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._module.get_function(name)
        if shared > function.max_dynamic_shared_size_bytes:
            function.max_dynamic_shared_size_bytes = shared
            function.preferred_shared_memory_carveout = 100  # as many blocks as there is room for
        function((blocks,), (threads,), (np.uint64(argument),), shared_mem=shared)


class CudaDevice:
    """An NVIDIA GPU."""

    def __init__(self, number: int = 0) -> None:
        import cupy

        self._cupy, self._device = cupy, cupy.cuda.Device(number)
        self._device.use()
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._stream.use()
        properties: Mapping[str, Any] = cupy.cuda.runtime.getDeviceProperties(number)
        self.name: str = properties["name"].decode()
        self.shared_bytes: int = int(properties["sharedMemPerBlockOptin"])
        self.memory_bytes: int = int(properties["totalGlobalMem"])

    @property
    def free_bytes(self) -> int:
        """Memory that nobody has taken."""
        return int(self._device.mem_info[0])

    def put(self, array: NDArray[Any]) -> Buffer:
        """A copy there; records are bytes to CuPy."""
        return self._cupy.asarray(array.view(np.uint8) if array.dtype.fields else array)

    def zeros(self, size: int, dtype: Any = np.float32) -> Buffer:
        """An array of zeros there."""
        return self._cupy.zeros(size, dtype)

    def address(self, buffer: Buffer) -> int:
        """Where an array begins."""
        return int(buffer.data.ptr)

    def write(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy into an array there."""
        buffer.set(array)

    def read(self, buffer: Buffer, array: NDArray[Any]) -> None:
        """Copy from an array there."""
        buffer.get(out=array)

    def landing(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Pinned memory, of a pool: written by the GPU itself, and paged in once."""
        from cupyx import empty_pinned

        found: NDArray[np.float32] = empty_pinned(shape, np.float32)
        return found

    def compile(self, source: str, defines: tuple[str, ...] = ()) -> CudaKernels:
        """Compile a source; CuPy keeps what it compiled."""
        options = ("--std=c++17", *(f"-D{name}" for name in defines))
        return CudaKernels(self._cupy.RawModule(code=source, options=options))

    def recorded(self, work: Callable[[], None]) -> Callable[[], None]:
        """A CUDA graph: one launch in place of many."""
        self._stream.begin_capture()
        work()
        graph = self._stream.end_capture()

        def replay() -> None:
            graph.launch(self._stream)

        return replay


@cache
def cuda_device(number: int = 0) -> CudaDevice:
    """A GPU of this machine, opened once."""
    return CudaDevice(number)
