"""Kernels are compiled once, also where two processes need them at the same time."""

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

from allstreets.base.jit import (
    DECORATORS,
    IN_USE,
    KERNEL_SOURCES,
    PACKAGE,
    UNUSED_SECONDS,
    remove_unused,
    sources_below,
)
from allstreets.engines.matrix.kernels.passes import largest

NOW = 2_000_000_000.0

HOLDER = """
import sys
from pathlib import Path
from allstreets.base import share
share(Path(sys.argv[1]))
print("ready", flush=True)
input()
"""

SCRIPT = """
import numpy as np
from allstreets.cfr.kernels.external_sampling import random_number
print("ready", flush=True)
input()
random_number(np.uint64(1))
print(sum(random_number.stats.cache_misses.values()))
"""


def with_cache(folder: Path) -> dict[str, str]:
    """The environment of a process that keeps its kernels there."""
    places = os.pathsep.join(path for path in sys.path if path)
    return os.environ | {"ALLSTREETS_CACHE": str(folder), "PYTHONPATH": places}


EACH = """
import os, sys, traceback
import numba
for folder in sys.argv[2:]:
    if not (child := os.fork()):
        os.environ["ALLSTREETS_CACHE"] = folder
        try:
            exec(sys.argv[1], {})
            sys.stdout.flush()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    print("end", flush=True)
"""


def run_each(script: str, *folders: Path) -> list[list[str]]:
    """What a script prints in processes with these caches, one after the other.

    They are copies of one that has imported Numba, which takes longer than the rest.
    """
    done = subprocess.run(
        [sys.executable, "-c", EACH, script, *map(str, folders)],
        env=with_cache(folders[0]),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [part.split() for part in done.stdout.split("end\n")[:-1]]


def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env=with_cache(tmp_path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert sorted(process.communicate()[0] for process in processes) == ["0\n", "1\n"]


COMPILED_LATER = """
import sys
import numba
import numpy as np
from allstreets.cfr.kernels.external_sampling import random_number
first = random_number(np.uint64(1))
print(sum(random_number.stats.cache_hits.values()))
print("numba.np.arraymath" in sys.modules)
print(first == numba.njit(lambda state: random_number(state))(np.uint64(1)))
"""


def test_a_kept_kernel_is_loaded_without_the_compiler_and_linked_when_it_is_called(
    tmp_path: Path,
) -> None:
    outputs = run_each(COMPILED_LATER, tmp_path, tmp_path)
    assert outputs == [["0", "True", "True"], ["1", "False", "True"]]


ONCE = """
import numpy as np
from allstreets.cfr.kernels.external_sampling import random_number
print(random_number(np.uint64(1)))
print(sum(random_number.stats.cache_hits.values()))
"""


def flipped(data: bytes) -> bytes:
    """With another bit in the middle, where machine code stands."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache that holds one kernel, and what that answers."""
    folder = tmp_path_factory.mktemp("kept")
    ((answer, hits),) = run_each(ONCE, folder)
    assert hits == "0"
    return folder, answer


ALL_FILES, THE_CODE = ("nbi", "nbc"), ("nbc",)
DAMAGES = {
    "emptied": lambda _: b"",
    "cut": lambda data: data[: len(data) // 3],
    "garbage": lambda data: bytes(range(256)) * (len(data) // 256 + 1),
    "foreign": lambda _: pickle.dumps({"a foreign": "pickle"}),
    "flipped": flipped,
}
TRIED_ALWAYS = ("cut", ALL_FILES), ("flipped", THE_CODE)
"""The others are long: every damage is a process that compiles."""


@pytest.mark.parametrize(
    ("damage", "kinds"),
    [
        pytest.param(DAMAGES[name], kinds, marks=[pytest.mark.long] * (pair not in TRIED_ALWAYS))
        for name in DAMAGES
        for kinds in (ALL_FILES, THE_CODE)
        for pair in [(name, kinds)]
    ],
)
def test_a_damaged_kernel_is_compiled_again(
    kept: tuple[Path, str],
    damage: Callable[[bytes], bytes],
    kinds: tuple[str, ...],
    tmp_path: Path,
) -> None:
    folder = tmp_path / "cache"
    shutil.copytree(kept[0], folder)
    files = [path for kind in kinds for path in folder.rglob(f"*random_number*.{kind}")]
    assert len(files) == len(kinds)
    for path in files:
        path.write_bytes(damage(path.read_bytes()))
    again, whole = run_each(ONCE, folder, folder)
    assert again == [kept[1], "0"]
    assert whole == [kept[1], "1"]  # the file is whole again


CHANGES = {
    "another constructor": """
old = caching.IndexDataCacheFile.__init__
def begin(self, *, cache_path, filename_base, source_stamp):
    old(self, cache_path, filename_base, source_stamp)
caching.IndexDataCacheFile.__init__ = begin""",
    "another way to load": "caching.CompileResultCacheImpl.rebuild = None",
    "other data": "caching.CompileResultCacheImpl.reduce = lambda self, compiled: None",
}


@pytest.mark.parametrize(
    "change",
    [
        "another constructor",
        *(pytest.param(one, marks=pytest.mark.long) for one in list(CHANGES)[1:]),
    ],
)
def test_another_numba_compiles_again(kept: tuple[Path, str], change: str, tmp_path: Path) -> None:
    """The cache relies on private parts of Numba, which any release may change."""
    folders = tmp_path / "empty", tmp_path / "kept"
    shutil.copytree(kept[0], folders[1])
    script = f"import numba.core.caching as caching\n{CHANGES[change]}\n{ONCE}"
    assert [answer for answer, _ in run_each(script, *folders)] == [kept[1], kept[1]]


def test_a_kernel_is_as_old_as_what_it_imports(tmp_path: Path) -> None:
    """Every file whose names a file of kernels can see belongs to what it is compiled from."""
    script = """
import sys
from importlib import import_module
import allstreets.base.jit
before = {*sys.modules}
import_module(sys.argv[1])
print(*(sys.modules[name].__file__ for name in {*sys.modules} - before
        if name.startswith("allstreets") and ".base" not in name))
"""
    for file in ("engines/boards/kernels/rivers.py", "engines/matrix/kernels/pots.py"):
        module = f"allstreets.{file.removesuffix('.py').replace('/', '.')}"
        found = subprocess.run(
            [sys.executable, "-c", script, module],
            env=with_cache(tmp_path),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        loaded = {Path(path) for path in found.stdout.split()}
        packages = {path for path in loaded if path.name == "__init__.py"}
        assert sources_below(PACKAGE / file) == loaded - packages
        assert len(loaded - packages) > 5


def test_another_checkout_of_the_same_sources_finds_the_kernels(
    kept: tuple[Path, str], tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere"
    for name in ("base", "cfr"):
        shutil.copytree(PACKAGE / name, copy / "allstreets" / name)
    for name in ("__init__.py", "__init__.pyi", "version.py"):
        shutil.copy(PACKAGE / name, copy / "allstreets")
    environment = with_cache(kept[0])
    environment["PYTHONPATH"] = os.pathsep.join((str(copy), environment["PYTHONPATH"]))
    script = f"{ONCE}\nprint(random_number.__code__.co_filename)"
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=copy,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answer, hits, file = found.stdout.split()
    assert Path(file).is_relative_to(copy)
    assert (answer, hits) == (kept[1], "1")


def test_kernels_import_nothing_that_is_not_counted() -> None:
    sources = {path for pattern in KERNEL_SOURCES for path in PACKAGE.glob(pattern)}
    for source in sources - set(DECORATORS):
        assert sources_below(source) <= sources
    assert len(sources) > 30


def test_python_cannot_call_an_inner_kernel() -> None:
    row = np.array([1.0, 2.0], np.float32)
    with pytest.raises(TypeError, match="only kernels can call it"):
        largest(row)
    assert numba.njit(lambda numbers: largest(numbers))(row) == 2
    with pytest.raises(TypeError, match="only kernels can call it"):
        largest(row)  # also once it is compiled


LINKED = """
import numba
import numpy as np
from allstreets.engines.matrix.kernels.passes import largest
print(numba.njit(lambda numbers: largest(numbers))(np.array([1.0, 3.0], np.float32)))
print(sum(largest.stats.cache_hits.values()))
(compiled,) = largest.overloads.values()
print(type(compiled.library).__name__)
print(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cpython_wrapper_name))
"""


def test_an_inner_kernel_is_kept_without_machine_code_and_linked_into_its_callers(
    tmp_path: Path,
) -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", LINKED],
            env=with_cache(tmp_path),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert outputs == [["3.0", hits, "InnerLibrary", "0"] for hits in ("0", "1")]


def test_kernels_that_nothing_uses_are_removed(tmp_path: Path) -> None:
    ages = {"kernels-old": 1, "kernels-held": 1, "kernels-new": -1, "tables": 1}
    for name, more in ages.items():
        (tmp_path / name / "part").mkdir(parents=True)
        (tmp_path / name / IN_USE).touch()
        used = NOW - UNUSED_SECONDS - more
        os.utime(tmp_path / name, (used, used))
    script = (
        f"from allstreets.base import share; share({str(tmp_path / 'kernels-held' / IN_USE)!r})"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", f"{script}; print('ready', flush=True); input()"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    remove_unused(tmp_path, NOW)
    assert {path.name for path in tmp_path.iterdir()} == {*ages} - {"kernels-old"}
    process.communicate("\n")
    remove_unused(tmp_path, NOW)
    assert {path.name for path in tmp_path.iterdir()} == {"kernels-new", "tables"}
