"""Kernels are compiled once, also where two processes need them at the same time."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from allstreets.kernels.matrix_pass import largest

SCRIPT = """
import numpy as np
from allstreets.kernels.external_sampling import random_number
print("ready", flush=True)
input()
random_number(np.uint64(1))
print(sum(random_number.stats.cache_misses.values()))
"""


def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    places = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"ALLSTREETS_CACHE": str(tmp_path), "PYTHONPATH": places}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT],
            env=environment,
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


def test_python_cannot_call_an_inner_kernel() -> None:
    row = np.array([1.0, 2.0], np.float32)
    with pytest.raises(TypeError, match="only kernels can call it"):
        largest(row)
    assert numba.njit(lambda numbers: largest(numbers))(row) == 2
    with pytest.raises(TypeError, match="only kernels can call it"):
        largest(row)  # also once it is compiled
