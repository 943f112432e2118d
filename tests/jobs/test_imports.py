"""The cost of starting: nothing heavy is imported before it is used."""

import subprocess
import sys

SCRIPT = """
import sys
import allstreets.jobs, allstreets.storage
heavy = {"numba", "matplotlib", "rich", "ruamel.yaml", "safetensors", "scipy", "PIL"}
print(sorted(heavy & sys.modules.keys()))
"""


def test_importing_jobs_is_light() -> None:
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"


SPOT_SCRIPT = """
import sys
from allstreets.jobs import read_spot
print([name for name in sys.modules if name.startswith("allstreets.solvers.whole_game")])
"""


def test_a_spot_is_read_without_whole_games() -> None:
    found = subprocess.run(
        [sys.executable, "-c", SPOT_SCRIPT], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"


def test_every_public_name_exists() -> None:
    import allstreets.jobs
    import allstreets.storage

    for package in (allstreets.storage, allstreets.jobs):
        assert sorted(package.__all__) == list(package.__all__)
        for name in package.__all__:
            assert hasattr(package, name)
