"""A dozen mistakes, planted one at a time: do the tests of `make test` notice?

    python benchmarks/mutations.py              # all of them
    python benchmarks/mutations.py review       # those with this word in their name

1. The checkout is copied to a scratch folder, with a cache of its own.
2. A mistake is a few characters of the package that are replaced by others. It is found by its
   text, so that it moves along with the code.
3. Test files run from near to far (`tests/harness/quick.py`: the fewest imports between them and
   the changed file) until the first failure: the mistake is caught. One that is not takes as long
   as all tests.
4. The mistake is taken back, and the next is planted.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from allstreets.base.cache import FOLDER_VARIABLE, cache_folder

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "node_modules", "__pycache__", "site", "results")
NEAREST = """
import sys
from pathlib import Path
from harness.quick import nearest
print(*nearest([Path(sys.argv[1])]), sep="\\n")
"""


@dataclass(frozen=True)
class Mutation:
    """A mistake: what stands in the package, once, and what stands there instead."""

    name: str
    text: str
    instead: str

    def file(self, root: Path) -> Path:
        """The file it is planted in."""
        files = [
            path
            for path in (root / "allstreets").rglob("*.py")
            if path.read_text(encoding="utf-8").count(self.text) == 1
        ]
        if len(files) != 1:
            raise LookupError(f"{self.name}: its text stands in {len(files)} files, not in one")
        return files[0]


MUTATIONS = (
    Mutation(
        "engines, off by one: the exact showdown takes out one card of a hand twice",
        "return rest - load(rows, sums + 16 * pick(boards.own_cards, 2 * hand + 1))",
        "return rest - load(rows, sums + 16 * pick(boards.own_cards, 2 * hand))",
    ),
    Mutation(
        "engines, dropped discount: the running mean forgets nothing",
        "self.weights[player] = self.weights[player] * weights.average + weights.weight",
        "self.weights[player] = self.weights[player] + weights.weight",
    ),
    Mutation(
        "engines, wrong player: the best response of the exact engine is the opponent's",
        "game.best_response(player, opponent_reach[pot][hands])",
        "game.best_response(player.opponent, opponent_reach[pot][hands])",
    ),
    Mutation(
        "certify, factor: both players' gains are summed, not averaged",
        "self._unit = MBB_PER_CHIP / preflop.weight / 2",
        "self._unit = MBB_PER_CHIP / preflop.weight",
    ),
    Mutation(
        "certify, dropped player: only the last player deviates before the flop",
        "            gain += float(freely[0].sum() - kept[0].sum())\n        return gain",
        "            gain = float(freely[0].sum() - kept[0].sum())\n        return gain",
    ),
    Mutation(
        "certify, sign: a draw that is left out takes its weight along",
        "weights[left] += weights[gone]",
        "weights[left] -= weights[gone]",
    ),
    Mutation(
        "certify, dropped reach: a leak counts hands that do not get there",
        "reach[node] * response[node][place] * (values[child] - values[node])",
        "response[node][place] * (values[child] - values[node])",
    ),
    Mutation(
        "locks, wrong bound: a frequency that is too high is moved to the least one",
        "goal = most[action] if free > most[action] else least[action]",
        "goal = least[action] if free > most[action] else most[action]",
    ),
    Mutation(
        "simplify, off by one: one action too many is rounded up",
        "rounded: Floats = (whole + (rank < missing)) / steps",
        "rounded: Floats = (whole + (rank <= missing)) / steps",
    ),
    Mutation(
        "simplify, factor: a flop loses both players' gains, not their mean",
        "quotient(50 * self._gains, at_stake)",
        "quotient(100 * self._gains, at_stake)",
    ),
    Mutation(
        "review, sign: the better action loses",
        "loss = max(float(best) - float(evs[taken]), 0.0)",
        "loss = max(float(evs[taken]) - float(best), 0.0)",
    ),
    Mutation(
        "review, factor: better play gains once the exploitability at most",
        "return _rounded(2 * exploitability / share) if share > 0 else None",
        "return _rounded(exploitability / share) if share > 0 else None",
    ),
)


def main(arguments: list[str]) -> int:
    """Plant and test; how many were not caught."""
    chosen = [one for one in MUTATIONS if all(word in one.name for word in arguments)]
    with tempfile.TemporaryDirectory(prefix="allstreets-mutations-") as folder:
        scratch = copied_checkout(Path(folder))
        missed = [one for one in chosen if not told(one, scratch)]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} were caught")
    return len(missed)


def told(mutation: Mutation, scratch: Path) -> bool:
    """Try a mistake, and report the outcome."""
    began = time.monotonic()
    failure = caught_by(mutation, scratch)
    seconds = time.monotonic() - began
    print(f"{'caught' if failure else 'NOT CAUGHT'}: {mutation.name}", flush=True)
    print(f"    {failure or 'all tests passed'} ({seconds:.0f} s)", flush=True)
    return failure is not None


def copied_checkout(folder: Path) -> Path:
    """The sources in a folder, beside a cache with all that is compiled so far."""
    scratch = folder / "checkout"
    shutil.copytree(ROOT, scratch, ignore=LEFT_OUT)
    if cache_folder().is_dir():
        without = shutil.ignore_patterns("tests-*", "review", "remote")
        shutil.copytree(cache_folder(), folder / "cache", ignore=without)
    return scratch


def caught_by(mutation: Mutation, scratch: Path) -> str | None:
    """The first test that fails with a mistake planted; None: none does."""
    file = mutation.file(scratch)
    before = file.read_text(encoding="utf-8")
    file.write_text(before.replace(mutation.text, mutation.instead), encoding="utf-8")
    try:
        nearest = run(scratch, "-c", NEAREST, str(file)).stdout.splitlines()
        options = ["-m", "pytest", "-x", "-p", "no:randomly", "-p", "no:xdist", "--tb=no"]
        done = run(scratch, *options, *nearest)
    finally:
        file.write_text(before, encoding="utf-8")
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if failed:
        return failed[0]
    if done.returncode:
        raise RuntimeError(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return None


def run(scratch: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Python in the copy."""
    paths = os.pathsep.join([str(scratch), str(scratch / "tests")])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=scratch,
        env=os.environ | {"PYTHONPATH": paths, FOLDER_VARIABLE: str(scratch.parent / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
