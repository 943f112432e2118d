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


def test_tab_completion_offers_the_public_names_before_they_are_used() -> None:
    script = "import sys, allstreets; print(*dir(allstreets)); assert 'numpy' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    offered = [name for name in done.stdout.split() if not name.startswith("_")]
    assert offered == sorted(allstreets.__all__)
