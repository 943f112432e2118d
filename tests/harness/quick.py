"""The tests nearest to what has changed, for 45 seconds: `make quick`.

1. Changed is what git sees: since the last commit, or in it where nothing has changed since.
2. A test is the nearer the fewer imports lie between it and a changed file; the test file of the
   same name comes first.
3. Tests run from near to far until the time is over; the rest is listed.
"""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness.import_graph import ROOT, distances, import_graph

SECONDS = 45


def main() -> int:
    """Run pytest; its exit code."""
    changed = changed_files()
    files = nearest(changed)
    names = ", ".join(str(path.relative_to(ROOT)) for path in changed)
    print(f"Changed: {names or 'nothing'}; {len(files)} test files are concerned.")
    if not files:
        return 0
    # One after the other, in one process: near ones first, and nothing is collected twice.
    options = ["-p", "no:randomly", "-p", "no:xdist", "-x", *map(str, files)]
    return int(pytest.main(options, plugins=[UntilLate(SECONDS)]))


def changed_files() -> list[Path]:
    """Files of the checkout that differ from the last commit, or that it changed."""
    found = _git("diff", "--name-only", "HEAD") + _git("ls-files", "--others", "--exclude-standard")
    found = found or _git("diff", "--name-only", "HEAD~1")
    return [ROOT / name for name in found]


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True
    )
    return done.stdout.splitlines()


def nearest(changed: list[Path]) -> list[Path]:
    """The test files that a change concerns, the nearest first."""
    found = distances(changed, import_graph())
    names = {f"test_{path.stem}.py" for path in changed}
    if any(path.suffix == ".md" or "sample" in path.parent.name for path in changed):
        found |= {ROOT / "tests" / name: 1 for name in ("test_docs.py", "test_examples.py")}
    tests = [path for path in found if path.name.startswith("test_") and path.is_file()]
    return sorted(tests, key=lambda path: (path.name not in names, found[path], path))


class UntilLate:
    """A plugin that leaves tests out once the time is over."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.left_out = 0

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Before a test, its fixtures not yet made."""
        del item
        if time.monotonic() > self.end:
            self.left_out += 1
            pytest.skip("further away")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the number of tests that were left out."""
        if self.left_out:
            terminalreporter.write_line(
                f"Left out: {self.left_out} tests that lie further away; make test runs them."
            )


if __name__ == "__main__":
    sys.exit(main())
