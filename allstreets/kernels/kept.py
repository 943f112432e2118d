"""Compiled kernels on disk, loaded without waking the compiler.

Numba makes its compiler ready before it looks for a kept kernel: it imports all that can stand in
a kernel (and SciPy for its BLAS), and reads the code that other kernels would be linked with. That
takes longer than a river takes to solve. A kernel that is only called needs its machine code and
the names defined there; the rest waits until something is compiled, which makes Numba ready itself.
"""

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime.nrt import rtsys

EMPTY = ""  # the source of a module with nothing to link


class KeptKernel(CompileResultCacheImpl):
    """What is kept of a kernel: as Numba has it, and the names that its machine code defines."""

    def reduce(self, compiled: Any) -> Any:
        """As picklable data."""
        (name, kind, (machine_code, linked)), *rest = super().reduce(compiled)
        module = llvm.parse_bitcode(linked)
        symbols = (*module.functions, *module.global_variables)
        names = {symbol.name for symbol in symbols if not symbol.is_declaration}
        nothing = llvm.parse_assembly(EMPTY).as_bitcode()
        return (name, kind, (machine_code, nothing)), *rest, names, linked

    def rebuild(self, target: Any, payload: Any) -> Any:
        """The kernel, ready to be called; what others are linked with is read when they are."""
        *numbas, names, linked = payload
        target.codegen()._engine._defined_symbols.update(names)
        compiled = super().rebuild(target, tuple(numbas))
        library = compiled.library

        def read() -> Any:
            del library._get_module_for_linking
            library._shared_module = llvm.parse_bitcode(linked)
            return library._shared_module

        library._get_module_for_linking = read
        return compiled


class KeptKernels(FunctionCache):
    """The versions of one kernel that are kept, by the types of its arguments."""

    _impl_class = KeptKernel

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The kept version, or None."""
        rtsys.initialize(target)  # what kernels themselves call: memory and reference counts
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target)
