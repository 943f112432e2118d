"""Compiled kernels on disk, loaded without waking the compiler.

Functions that only kernels call have no machine code: they are compiled into their callers.

Numba prepares its compiler before it looks for a cached kernel: it imports everything that a kernel
may use (SciPy for its BLAS, too) and reads the code to link other kernels with. That takes longer
than solving a river. A kernel that is only called needs its machine code and the names defined
there; the rest waits until something is compiled.

Every file begins with its checksum: machine code that was damaged would not raise an error, it
would be run.

This is the only file that relies on private parts of Numba. Where a release has changed them,
kernels are compiled again, or cached as Numba does it: slower to start, and never wrong.
"""

import hashlib
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
from numba.core.runtime.nrt import rtsys

EMPTY = ""  # the source of a module with nothing to link
DIGEST_BYTES = hashlib.sha256().digest_size
CHANGED = (AttributeError, ImportError, KeyError, TypeError, ValueError)
"""Errors that show that a part of Numba has changed."""


class InnerLibrary(JITCodeLibrary):
    """The code of a kernel that only kernels call: linked into its callers, never run by itself.

    Numba would turn it into machine code as well, which takes a fifth of the time of compiling.
    """

    @property
    def codegen(self) -> "InnerLibrary":
        """Return nothing: the machine code has no environment to set."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Inner kernels work on numbers and arrays, without Python objects."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, str, tuple[None, bytes]]:
        """The code that callers are linked with."""
        return self.name, "object", (None, self._get_module_for_linking().as_bitcode())


class InnerCompiler(CompilerBase):
    """Numba's passes, into an `InnerLibrary`."""

    def define_pipelines(self) -> list[Any]:
        """Compile without Python's objects, or not at all."""
        state = self.state
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class CachedKernel(CompileResultCacheImpl):
    """A cached kernel: Numba's own data, and the names that its machine code defines."""

    def reduce(self, compiled: Any) -> Any:
        """The kernel as picklable data."""
        (name, kind, (machine_code, linked)), *rest = super().reduce(compiled)
        module = llvm.parse_bitcode(linked)
        symbols = (*module.functions, *module.global_variables)
        names = {symbol.name for symbol in symbols if not symbol.is_declaration}
        nothing = llvm.parse_assembly(EMPTY).as_bitcode()
        return (name, kind, (machine_code, nothing)), *rest, names, linked

    def rebuild(self, target: Any, payload: Any) -> Any:
        """The kernel, ready to be called; its code for linking is read when it is needed."""
        *numbas, names, linked = payload
        name, _, (machine_code, _) = numbas[0]
        if machine_code is None:
            compiled = rebuild_inner(target, name, *numbas[1:])
        else:
            target.codegen()._engine._defined_symbols.update(names)
            compiled = super().rebuild(target, tuple(numbas))
        library = compiled.library

        def read() -> Any:
            del library._get_module_for_linking
            library._shared_module = llvm.parse_bitcode(linked)
            return library._shared_module

        library._get_module_for_linking = read
        return compiled


def rebuild_inner(
    target: Any,
    name: str,
    fndesc: Any,
    environment: Any,
    signature: Any,
    objectmode: bool,
    lifted: Any,
    type_annotation: str,
    reload_init: Any,
    referenced_envs: Any,
) -> Any:
    """A cached inner kernel, rebuilt as Numba rebuilds kernels that have machine code."""
    library = InnerLibrary(target.codegen(), name)
    library._finalized = True
    return compile_result(
        target_context=target,
        typing_context=target.typing_context,
        library=library,
        environment=environment,
        entry_point=target.get_executable(library, fndesc, environment),
        fndesc=fndesc,
        type_annotation=type_annotation,
        signature=signature,
        objectmode=objectmode,
        lifted=lifted,
        reload_init=reload_init,
        referenced_envs=referenced_envs,
    )


class CheckedFiles(IndexDataCacheFile):
    """The files of a kernel: a damaged one counts as missing and is written again."""

    def _load_index(self) -> Any:
        """The file names of all versions; none if they were compiled from other sources."""
        index = self._read(self._index_path)
        if index is None or index[:2] != (self._version, self._source_stamp):
            return {}
        return index[2]

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        data = self._read(self._data_path(name))
        if data is None:
            raise OSError(f"{name} is damaged or missing")  # upon which it is compiled again
        return data

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        try:
            whole = Path(path).read_bytes()
        except OSError:
            return None
        digest, data = whole[:DIGEST_BYTES], whole[DIGEST_BYTES:]
        return pickle.loads(data) if hashlib.sha256(data).digest() == digest else None

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest())
            file.write(data)


class CachedKernels(FunctionCache):
    """The cached versions of one kernel, by the types of its arguments."""

    _impl_class = CachedKernel

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        super().__init__(function)
        # The folder stands for the sources, wherever they lie and however old their files are.
        self._cache_file = CheckedFiles(str(folder), self._impl.filename_base, folder.name)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The kept version, or None."""
        with suppress(*CHANGED), self._guard_against_spurious_io_errors():
            rtsys.initialize(target)  # what kernels themselves call: memory and reference counts
            return self._load_overload(signature, target)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Cache a version; if the disk is full, it is compiled again next time."""
        with suppress(OSError, *CHANGED):
            super().save_overload(signature, compiled)


def cache_compiled(compiled: Any, function: Callable[..., Any], folder: Path) -> None:
    """Load a kernel from the folder where it was compiled before.

    Numba takes the folder from its settings, which the caller puts back.
    """
    config: Any = numba.config
    config.CACHE_DIR = str(folder)
    try:
        compiled._cache = CachedKernels(function, folder)
    except CHANGED:
        config.CACHE_DIR = str(folder / "numba")  # its files have no checksums
        compiled.enable_caching()
