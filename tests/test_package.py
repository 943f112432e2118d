"""The names that the package offers at its top."""

import subprocess
import sys

import pytest

import allstreets


def test_every_public_name_is_there() -> None:
    for name in allstreets.__all__:
        assert getattr(allstreets, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'solv'"):
        allstreets.solv  # noqa: B018


def test_importing_the_package_costs_nothing() -> None:
    script = "import sys, allstreets; print([m for m in ('numpy', 'numba') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
