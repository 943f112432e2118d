"""Tests of the CUDA kernels run on a GPU where there is one, and on a processor everywhere.

There the same sources are compiled as C++, with few threads a block (`builders.host_device`). What
only a GPU shows needs one.
"""

from collections.abc import Iterator

import pytest
from builders.host_device import CURRENT, HostDevice, compiler

from allstreets.base import InputError
from allstreets.engines.device import open_device


@pytest.fixture(params=["processor", "gpu"], autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let `builders.host_device.tried_device()` be one or the other."""
    if request.param == "processor":
        if compiler() is None:
            pytest.skip("no C++ compiler on this machine")
        CURRENT.append(HostDevice())
    else:
        try:
            found = open_device("cuda")
        except InputError as error:
            pytest.skip(f"no GPU on this machine: {error}")
        assert found is not None
        CURRENT.append(found)
    yield
    CURRENT.pop()
