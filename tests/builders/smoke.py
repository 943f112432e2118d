"""The sample `smoke.yaml`, trained to its end once for all tests."""

import hashlib
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from harness.made_once import made_once

from allstreets.cli.main import main

SMOKE = Path(__file__).parents[2] / "sample_configurations" / "smoke.yaml"
SOLUTION, PRINTED = "solution", "printed.json"


def _train(folder: Path) -> None:
    folder.mkdir()
    printed = StringIO()
    with redirect_stdout(printed):
        code = main(["train", str(SMOKE), "--output", str(folder / SOLUTION), "--json"])
    assert code == 0
    (folder / PRINTED).write_text(printed.getvalue())


def _folder() -> Path:
    digest = hashlib.sha256(SMOKE.read_bytes()).hexdigest()[:8]
    return made_once(f"smoke {digest}", _train)


def smoke_solution() -> Path:
    """The folder of the solution; tests may not change it."""
    return _folder() / SOLUTION


def smoke_figures() -> dict[str, Any]:
    """The figures that the command printed with `--json`."""
    found: dict[str, Any] = json.loads((_folder() / PRINTED).read_text())
    return found
